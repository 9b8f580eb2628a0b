"""Who runs the evaluations of GradBench: Relay, C++ and PyTorch, each a process that reads the inputs from a folder.

Of each: `prepare(evaluation, folder)`, `run(function, count)` for the seconds of so many runs, `results(function)` for all numbers of
its results, one behind the other, and `close()`.
"""
import subprocess
from pathlib import Path

import numpy as np
from prompt import ROOT, Child, Prompt

HERE = Path(__file__).resolve().parent


def write_inputs(inputs, folder):
    folder.mkdir(parents=True, exist_ok=True)
    for name, value in inputs.items():
        value = np.asarray(value)
        np.save(folder / f"{name}.npy", value.astype(np.int64 if value.dtype.kind in "iu" else np.float64, order="C"))


class Relay:
    name = "relay"

    def __init__(self, folder, jit="always", threads=1):
        self.folder, self.jit, self.threads = folder, jit, threads

    def prepare(self, evaluation, inputs):
        self.functions = evaluation.functions
        self.prompt = Prompt(self.threads, self.jit)
        self.prompt.loaded(HERE / f"{evaluation.name}.relay")
        for file in sorted(inputs.glob("*.npy")):
            self.prompt.enter(f'let {file.stem} = load("{file}")')
        if evaluation.setup:
            self.prompt.enter(evaluation.setup)
        self.prompt.settle()

    def run(self, function, count):
        return self.prompt.seconds(count, self.functions[function].relay)

    def arrays(self, function):
        """The tensors of its result."""
        known = self.functions[function]
        self.prompt.enter(f"let r = {known.relay}")
        files = [self.folder / f"result{i}.npy" for i in range(len(known.results))]
        for file, result in zip(files, known.results):
            file.unlink(missing_ok=True)
            self.prompt.enter(f'save({result}, path="{file}")')
        self.prompt.settle()
        return [np.load(file) for file in files]

    def results(self, function):
        return np.concatenate([each.astype(np.float64).ravel() for each in self.arrays(function)])

    def close(self):
        self.prompt.close()


class Programs:
    """A program that is told what to do line by line, as gradbench.h says."""

    def __init__(self, folder):
        self.folder = folder

    def run(self, function, count):
        return [float(each) for each in self.child.ask(f"run {count} {function}").split()]

    def results(self, function):
        file = self.folder / f"{self.name}.raw"
        self.child.ask(f"save {file} {function}")
        return np.fromfile(file)

    def load(self, inputs):
        self.child.ask(f"prepare {inputs}")

    def close(self):
        self.child.close()


class Cpp(Programs):
    """Written by hand, its derivatives too, and compiled as GradBench compiles C++."""
    name = "C++"

    def prepare(self, evaluation, inputs):
        program = self.folder / evaluation.name
        if not program.exists():
            subprocess.run(["c++", "-O3", "-march=native", "-std=c++20", "-I", ROOT, "-o", program, HERE / f"{evaluation.name}.cpp"],
                           check=True)
        self.child = Child([program])
        self.load(inputs)


class Torch(Programs):
    name = "torch"

    def prepare(self, evaluation, inputs):
        self.child = Child(["/usr/bin/python3", HERE / "torch_side.py", evaluation.name])
        self.load(inputs)
