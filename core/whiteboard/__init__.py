"""The sums of the whiteboard, by topic: plain numbers in base units, one function a question, on top of the formulas.

A function here is what a card names as ``topic.function``. Where a formula module has the formula, it is called; what
is only ever worked on a whiteboard (Amdahl, queueing, a budget of milliseconds) has its one home here.
"""
