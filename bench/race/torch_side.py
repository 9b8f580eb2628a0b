"""PyTorch's side of the race: a process with its own number of threads that is asked, line by line.

`prepare I` makes the inputs of case I and answers the sum of the means of its results' magnitudes; `run N` answers the
seconds of N runs. Usage: torch_side.py THREADS
"""
import os
import sys
import time

THREADS = int(sys.argv[1])
os.environ["OPENBLAS_NUM_THREADS"] = str(THREADS)  # Debian's PyTorch does not tell it
import torch  # noqa: E402

from cases import CASES  # noqa: E402
from numbers_of import numbers  # noqa: E402


def prepared(case):
    """A function without arguments that runs it."""
    args = [torch.from_numpy(numbers(case, i)) for i in range(len(case.inputs))]
    if case.needs_gradients:
        for each, one in zip(args, case.inputs):
            each.requires_grad_(one.divisor != 1.0)
        return lambda: case.torch(torch, *args)

    def run():
        with torch.no_grad():
            return case.torch(torch, *args)
    return run


def main():
    torch.set_num_threads(THREADS)
    run = None
    for line in sys.stdin:
        command, number = line.split()
        if command == "prepare":
            run = prepared(CASES[int(number)])
            result = run()
            parts = result if isinstance(result, tuple) else (result,)
            print(float(sum(part.detach().abs().double().mean() for part in parts)), flush=True)
            continue
        times = []
        for _ in range(int(number)):
            start = time.perf_counter()
            run()
            times.append(time.perf_counter() - start)
        print(*times, flush=True)


main()
