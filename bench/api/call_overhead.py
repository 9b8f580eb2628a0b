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
measured = [("x, a tensor", lambda f=m.same: f(tensor)), ("x + 1, a tensor", lambda f=m.more: f(tensor)),
            ("x + 1, a number", lambda f=m.number: f(scalar)), ("x + 1, an array", lambda f=m.more: f(array)),
            ("x + 1, 1.0 of Python", lambda f=m.number: f(1.0)), ("m.more(x), an array", lambda: m.more(array)),
            ("m.more(x).numpy()", lambda: m.more(array).numpy())]
try:
    import torch

    torch.set_num_threads(1)
    ones = torch.ones(4)
    measured += [("x + 1, of PyTorch", lambda f=m.more: f(ones)), ("and back", lambda f=m.more: torch.from_dlpack(f(ones)))]
except ImportError:
    pass
best = [float("inf")] * len(measured)
for _ in range(150):
    for k, (_, run) in enumerate(measured):
        begin = time.perf_counter()
        for _ in range(150):
            run()
        best[k] = min(best[k], (time.perf_counter() - begin) / 150)
for (what, _), seconds in zip(measured, best):
    print(f"{what:28} {seconds * 1e6:8.2f} us")
