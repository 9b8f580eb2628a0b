"""What a call costs from Python over the function: microseconds, the least of several rounds.

    PYTHONPATH=build/release/python python3 bench/api/call_overhead.py
"""

import time

import numpy as np

import relay

m = relay.program("""
def same(x: Tensor[(4), float32]) { x }
def more(x: Tensor[(4), float32]) { x + 1.0 }
def number(x: float32) { x + 1.0 }
""")
array = np.ones(4, dtype="float32")
tensor = m.same(array)
scalar = relay.tensor(1.0)
for what, f, x in [("x, a tensor", m.same, tensor), ("x + 1, a tensor", m.more, tensor),
                   ("x + 1, a number", m.number, scalar), ("x + 1, an array", m.more, array),
                   ("x + 1, 1.0 of Python", m.number, 1.0)]:
    best = float("inf")
    for _ in range(15):
        begin = time.perf_counter()
        for _ in range(5000):
            f(x)
        best = min(best, (time.perf_counter() - begin) / 5000)
    print(f"{what:28} {best * 1e6:8.2f} us")
