"""Measure an accelerator with PyTorch: ``python -m core.microbench --out result.json``; see docs/microbench.md.

What runs beside the accelerator needs torch and the standard library only, and imports torch inside functions. Only
:mod:`core.microbench.result`, which reads a result back and checks it, needs pydantic.
"""
