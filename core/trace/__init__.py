"""A PyTorch profiler trace, read: where a GPU's time went, what its idle time waited on, and the limit that this names.

`reading` turns files into columns, `split` divides the time, `launches` and `kernels` look closer, `verdict` names the
limit. Nothing here loads torch or pandas.
"""
