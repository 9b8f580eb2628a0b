#!/usr/bin/env python3
"""Matrix products and convolutions of networks: Relay's library kernels against PyTorch.

Both sides run each case in turn, round by round, in one go; the figure is the ratio of the medians. Usage:
./dev bench kernels [--threads N] [--rounds N] [--only PART-OF-A-NAME] [--loops]
"""
import argparse
import os
import select
import statistics
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def dense(n):
    return (f"dense {n}", [(n, n), (n, n)], "nn.dense({0}, {1})", lambda torch, x, w: torch.nn.functional.linear(x, w))


def batched(batch, m, n, k):
    return (f"batch_matmul {batch} x {m} x {n} x {k}", [(batch, m, k), (batch, n, k)],
            "nn.batch_matmul({0}, {1}, transpose_b=True)", lambda torch, x, y: torch.bmm(x, y.transpose(1, 2)))


def conv(batch, channels, outputs, size, kernel=3, stride=1):
    pad = kernel // 2
    return (f"conv2d {kernel}x{kernel}/{stride} {batch} x {channels} -> {outputs}, {size}",
            [(batch, channels, size, size), (outputs, channels, kernel, kernel)],
            f"nn.conv2d({{0}}, {{1}}, padding=[{pad}, {pad}], strides=[{stride}, {stride}])",
            lambda torch, x, w: torch.nn.functional.conv2d(x, w, padding=pad, stride=stride))


def conv_gradient(batch, channels, outputs, size):
    """The adjoints of data and weight, together."""
    def theirs(torch, x, w, dy):
        gradients = torch.ops.aten.convolution_backward(dy, x, w, None, [1, 1], [1, 1], [1, 1], False, [0, 0], 1,
                                                        [True, True, False])
        return tuple(gradients[:2])
    return (f"conv2d gradient {batch} x {channels} -> {outputs}, {size}",
            [(batch, channels, size, size), (outputs, channels, 3, 3), (batch, outputs, size, size)],
            "grad(fn (x, w) {{ sum(nn.conv2d(x, w, padding=[1, 1]) * {2}) }})({0}, {1})", theirs)


CASES = [dense(256), dense(512), dense(1024), batched(64, 128, 128, 64), batched(16, 256, 64, 256),
         conv(1, 3, 64, 224, 7, 2), conv(1, 64, 64, 56), conv(1, 64, 128, 56, 3, 2), conv(1, 128, 128, 28),
         conv(1, 256, 256, 14), conv(1, 512, 512, 7), conv(1, 256, 64, 56, 1), conv(8, 64, 64, 56),
         conv(8, 128, 128, 28), conv(8, 256, 256, 14), conv(8, 512, 512, 7), conv_gradient(8, 64, 64, 56),
         conv_gradient(8, 256, 256, 14)]


class Relay:
    """The prompt as a child process: `:seconds` lines in, seconds out."""

    def __init__(self, threads, loops):
        command = [str(ROOT / "build" / "release" / "relay"), "--jit=always", f"--threads={threads}"]
        self.process = subprocess.Popen(command + (["--kernels=off"] if loops else []), stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, text=True, bufsize=1)

    def send(self, line):
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()

    def answer(self):
        if not select.select([self.process.stdout], [], [], 120)[0]:
            sys.exit("relay does not answer")
        line = self.process.stdout.readline()
        if not line:
            sys.exit("relay ended early")
        return line

    def prepare(self, name, shapes, text):
        for i, shape in enumerate(shapes):
            count = 1
            for extent in shape:
                count *= extent
            self.send(f"let {name}{i} = reshape(for i < {count} {{ cast(mod(i * {7 + i}, 2003), dtype=\"float32\") "
                      f"/ 1001.0 - 1.0 }}, newshape={list(shape)})")
        self.text = text.format(*(f"{name}{i}" for i in range(len(shapes))))
        if text.startswith("grad("):  # of two arguments
            self.send(f"let ({name}_dx, {name}_dw) = {self.text}")
            self.send(f"mean(abs({name}_dx)) + mean(abs({name}_dw))")
        else:
            self.send(f"mean(abs({self.text}))")
        return float(self.answer().split()[0])

    def run(self, reps):
        self.send(f":seconds {reps} {self.text}")
        return [float(word) for word in self.answer().split()]


class Torch:
    def __init__(self, threads):
        os.environ["OPENBLAS_NUM_THREADS"] = str(threads)  # Debian's PyTorch does not tell it
        import torch
        torch.set_num_threads(threads)
        self.torch = torch

    def prepare(self, shapes, function):
        self.args = []
        for i, shape in enumerate(shapes):
            count = 1
            for extent in shape:
                count *= extent
            numbers = (self.torch.arange(count) * (7 + i) % 2003).float() / 1001.0 - 1.0
            self.args.append(numbers.reshape(shape))
        self.function = function
        with self.torch.no_grad():
            result = function(self.torch, *self.args)
            parts = result if isinstance(result, tuple) else (result,)
            return float(sum(part.abs().double().mean() for part in parts))

    def run(self, reps):
        times = []
        with self.torch.no_grad():
            for _ in range(reps):
                start = time.perf_counter()
                self.function(self.torch, *self.args)
                times.append(time.perf_counter() - start)
        return times


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--only", default="", help="cases whose name has this in it")
    parser.add_argument("--loops", action="store_true", help="our side without library kernels")
    options = parser.parse_args()
    ours, theirs = Relay(options.threads, options.loops), Torch(options.threads)
    print(f"float32, {options.threads} thread(s), medians of interleaved runs, ms")
    print(f"{'':34} {'relay':>8} {'torch':>8} {'relay / torch':>14}")
    for number, (name, shapes, text, function) in enumerate(CASES):
        if options.only not in name:
            continue
        mine, other = ours.prepare(f"t{number}x", shapes, text), theirs.prepare(shapes, function)
        if abs(mine - other) > 1e-4 * abs(other):
            sys.exit(f"{name}: the two sides disagree: mean |result| is {mine} and {other}")
        a, b = [], []
        ours.run(1), theirs.run(2)
        for _ in range(options.rounds):
            a += ours.run(3)
            b += theirs.run(3)
        relay, torch = statistics.median(a), statistics.median(b)
        print(f"{name:34} {relay * 1e3:8.3f} {torch * 1e3:8.3f} {relay / torch:14.2f}", flush=True)


if __name__ == "__main__":
    main()
