"""Who races: each is a process that prepares a case, tells a sum over its result, and gives the seconds of runs."""
import ctypes
import math
import os
import shutil
import subprocess
import sys
import tempfile
from math import prod
from pathlib import Path

from prompt import ROOT, Child, Prompt

HERE = Path(__file__).resolve().parent


def skipped(why):
    print(f"skipped: {why}", flush=True)


class Relay:
    """The prompt, a new one for each case."""
    name = "relay"

    def __init__(self, threads, jit="always", options=()):
        self.start = lambda: Prompt(threads, jit, options)

    def is_able(self, case):
        return True

    def prepare(self, case):
        self.prompt = self.start()
        for i, one in enumerate(case.inputs):
            self.prompt.enter(f"let x{i} = reshape(for i < {prod(one.shape)} {{ cast(mod(i * {7 + i}, 2003), dtype=\"float32\") "
                            f"/ 1001.0 - 1.0 }}, newshape={list(one.shape)}) / {one.divisor}")
        for line in case.relay.strip().splitlines():
            self.prompt.enter(line)
        given = [f"x{i}" for i, one in enumerate(case.inputs) if not one.is_constant]
        self.timed = "run()" if "def run()" in case.relay else (
            "run({})".format(", ".join(given[-case.relay.split("def run(")[1].split(")")[0].count(",") - 1:])))
        names = [f"r{i}" for i in range(case.results)]
        self.prompt.enter(f"let {'(' + ', '.join(names) + ')' if case.results > 1 else 'r0'} = {self.timed}")
        means = (f"mean(abs(cast({each}, dtype=\"float64\")))" for each in names)
        return float(self.prompt.asked(" + ".join(means)).split()[0].removesuffix("f64"))

    def prepare_program(self, source):
        text = source.read_text()
        (self.timed,) = (line.removeprefix("// time: ") for line in text.splitlines() if line.startswith("// time: "))
        self.prompt = self.start()
        self.prompt.enter(text)

    def run(self, count):
        return self.prompt.seconds(count, self.timed)

    def end(self):
        self.prompt.close()


class Torch:
    name = "torch"

    def __init__(self, threads):
        self.child = Child(["/usr/bin/python3", HERE / "torch_side.py", threads])

    def is_able(self, case):
        return True

    def prepare(self, case):
        return float(self.child.ask(f"prepare {case.index}"))

    def run(self, count):
        return [float(each) for each in self.child.ask(f"run {count}").split()]

    def end(self):
        pass


class Onnx:
    name = "onnx"

    def __init__(self, threads, modules, folder):
        self.child = Child(["node", HERE / "onnx_side.js", modules, threads])
        self.folder = folder

    def is_able(self, case):
        return case.onnx is not None

    def prepare(self, case):
        file = self.folder / f"{case.index}.onnx"
        if not file.exists():
            from onnx_models import model_of
            file.write_bytes(model_of(case))
        shapes = ",".join("x".join(map(str, one.shape)) for one in case.inputs if not one.is_constant)
        return float(self.child.ask(f"prepare {file} {shapes}"))

    def run(self, count):
        return [float(each) for each in self.child.ask(f"run {count}").split()]

    def end(self):
        pass


class Cpp:
    """A program of bench/race, compiled with -O2; on one thread."""
    name = "C++"

    def __init__(self, folder):
        self.folder = folder

    def prepare_program(self, source):
        self.program = self.folder / source.stem
        subprocess.run(["c++", "-O2", "-std=c++20", "-I", ROOT, "-o", self.program, source.with_suffix(".cpp")],
                       check=True)

    def run(self, count):
        run = subprocess.run([self.program, str(count)], capture_output=True, text=True, check=True)
        return [float(each) for each in run.stdout.split()]

    def end(self):
        pass


def onnx_modules():
    """The folder of Node's modules with ONNX Runtime; none where it cannot be had."""
    folder = ROOT / "build" / "onnxruntime"
    modules = folder / "node_modules"
    if shutil.which("node") is None or shutil.which("npm") is None:
        skipped("ONNX Runtime, as there is no node or no npm")
        return None
    try:
        import onnx  # noqa: F401
    except ImportError:
        skipped("ONNX Runtime, as python3-onnx is not installed, which makes its models")
        return None
    if not (modules / "onnxruntime-node" / "package.json").exists():
        folder.mkdir(parents=True, exist_ok=True)
        # Its script would fetch what is for graphics cards only.
        command = ["npm", "i", "--ignore-scripts", "--no-audit", "--no-fund", "--prefix", str(folder), "onnxruntime-node@1"]
        try:
            subprocess.run(command, check=True, capture_output=True, timeout=180)
        except (subprocess.SubprocessError, OSError):
            skipped("ONNX Runtime, as npm cannot fetch onnxruntime-node")
            return None
    return modules


def openblas_core():
    try:
        name = ctypes.CDLL("libopenblas.so.0").openblas_get_corename
    except (OSError, AttributeError):
        return "none"
    name.restype = ctypes.c_char_p
    return name().decode()


class Limits:
    """What the machine can do on so many threads: measured, in operations and bytes of a second."""

    def __init__(self, folder, threads):
        program = folder / "limits"
        if not program.exists():
            subprocess.run(["c++", "-O2", "-std=c++20", "-pthread", "-I", ROOT, "-o", program, HERE / "limits.cpp",
                            ROOT / "repl" / "machine_limits.cpp"],
                           check=True)
        lines = subprocess.run([program, str(threads)], capture_output=True, text=True, check=True).stdout.splitlines()
        self.operations = float(lines[0].split()[1])
        self.bytes = [(int(size), float(rate)) for _, size, rate in (line.split() for line in lines[1:])]

    def seconds(self, case):
        """The least that the case can take: its operations, or its bytes at the rate of what is as large."""
        nearest = min(self.bytes, key=lambda each: abs(math.log(each[0] / case.working_set())))
        return max(case.operations / self.operations, case.least_bytes() / nearest[1])


def environment(prefix="race-"):
    os.environ.pop("OPENBLAS_CORETYPE", None)  # an older core than the machine's would halve everybody's products
    return Path(tempfile.mkdtemp(prefix=prefix))
