"""What a learner has done, kept as one document that they own, and everything that is derived from it.

The log of attempts is the only truth: schedule, calibration, topic map and queue are computed from it each time.
"""
