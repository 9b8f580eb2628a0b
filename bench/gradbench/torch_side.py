"""PyTorch's side of GradBench, told what to do line by line as gradbench.h says. Usage: torch_side.py EVALUATION"""
import os
import sys
import time
from pathlib import Path

os.environ["OPENBLAS_NUM_THREADS"] = "1"  # Debian's PyTorch does not tell it
import numpy as np  # noqa: E402
import torch  # noqa: E402
from evaluations import BY_NAME  # noqa: E402
from torch_programs import FUNCTIONS  # noqa: E402


def main():
    torch.set_num_threads(1)
    evaluation, inputs = sys.argv[1], {}

    def run(name):
        with torch.set_grad_enabled(bool(BY_NAME[evaluation].functions[name].of)):
            return FUNCTIONS[evaluation][name](**inputs)

    for line in sys.stdin:
        command, argument, *name = line.strip().split(" ", 2)
        if command == "prepare":
            inputs = {file.stem: torch.from_numpy(np.load(file)) for file in Path(argument).glob("*.npy")}
            print("ready", flush=True)
        elif command == "save":
            result = run(name[0])
            parts = result if isinstance(result, tuple) else (result,)
            np.concatenate([part.detach().numpy().astype(np.float64).ravel() for part in parts]).tofile(argument)
            print("saved", flush=True)
        else:
            times = []
            for _ in range(int(argument)):
                start = time.perf_counter()
                run(name[0])
                times.append(time.perf_counter() - start)
            print(*times, flush=True)


main()
