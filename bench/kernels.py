#!/usr/bin/env python3
"""What networks are made of, products and convolutions first: Relay against PyTorch.

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


def rows(name, text, theirs, *more):
    return (f"{name} 4096 x 1024", [(4096, 1024), *more], text, theirs)


def mlp(batch):
    """784-512-256-10, forwards."""
    layers = "{0}"
    for i in (1, 3, 5):
        layers = f"nn.dense({layers}, {{{i}}}) + {{{i + 1}}}"
        layers = f"nn.relu({layers})" if i < 5 else layers

    def theirs(torch, x, *parameters):
        linear = torch.nn.functional.linear
        for i in (0, 2, 4):
            x = linear(x, parameters[i], parameters[i + 1])
            x = torch.relu(x) if i < 4 else x
        return x
    shapes = [(batch, 784), (512, 784), (512,), (256, 512), (256,), (10, 256), (10,)]
    return (f"MLP 784-512-256-10, {batch} rows", shapes, layers, theirs, (1, 3, 5))


def lstm(steps, width):
    """One layer, one row; the state of the last step."""
    definition = (
        "def lstm(h, c, n, xs, wx, wh, b) {{ if n == " f"{steps}" " {{ h }} else {{ "
        "let g = nn.dense(reshape(xs[n], newshape=[1, " f"{width}" "]), wx) + b + nn.dense(h, wh); "
        "let (i, f, u, o) = split(g, indices_or_sections=4, axis=1); "
        "let next = sigmoid(f) * c + sigmoid(i) * tanh(u); "
        "lstm(sigmoid(o) * tanh(next), next, n + 1, xs, wx, wh, b) }} }}")
    zeros = f"zeros(shape=[1, {width}], dtype=\"float32\")"

    def theirs(torch, xs, wx, wh, b):
        if theirs.module is None:
            theirs.module = torch.nn.LSTM(width, width)
            own = theirs.module
            for parameter, value in ((own.weight_ih_l0, wx), (own.weight_hh_l0, wh), (own.bias_ih_l0, b),
                                     (own.bias_hh_l0, b * 0.0)):
                parameter.copy_(value)
        start = torch.zeros(1, 1, width)
        return theirs.module(xs[:, None], (start, start))[1][0]
    theirs.module = None
    return (f"LSTM {steps} steps of {width}, 1 row", [(steps, width), (4 * width, width), (4 * width, width), (4 * width,)],
            f"lstm({zeros}, {zeros}, 0, {{0}}, {{1}}, {{2}}, {{3}})", theirs, (1, 2), definition)


def attention(heads, length, width):
    shape = (heads, length, width)
    return (f"attention {heads} x {length} x {width}", [shape] * 3,
            f"nn.batch_matmul(nn.softmax(nn.batch_matmul({{0}}, {{1}}, transpose_b=True) / {width ** 0.5}), {{2}}, "
            "transpose_b=False)",
            lambda torch, q, k, v: torch.bmm(torch.softmax(torch.bmm(q, k.transpose(1, 2)) / width ** 0.5, -1), v))


NETWORKS = [
    rows("softmax", "nn.softmax({0})", lambda torch, x: torch.softmax(x, -1)),
    rows("layer norm", "nn.layer_norm({0}, {1}, {2})",
         lambda torch, x, gamma, beta: torch.nn.functional.layer_norm(x, (1024,), gamma, beta), (1024,), (1024,)),
    mlp(64), lstm(100, 128), attention(8, 512, 64)] + [batched(1000, n, n, n) for n in (4, 8, 16, 32, 64)]

CASES = NETWORKS + [dense(256), dense(512), dense(1024), batched(64, 128, 128, 64), batched(16, 256, 64, 256),
         conv(1, 3, 64, 224, 7, 2), conv(1, 64, 64, 56), conv(1, 64, 128, 56, 3, 2), conv(1, 128, 128, 28),
         conv(1, 256, 256, 14), conv(1, 512, 512, 7), conv(1, 256, 64, 56, 1), conv(8, 64, 64, 56),
         conv(8, 128, 128, 28), conv(8, 256, 256, 14), conv(8, 512, 512, 7), conv_gradient(8, 64, 64, 56),
         conv_gradient(8, 256, 256, 14)]


SMALL = 16.0  # what weights are divided by


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

    def prepare(self, name, shapes, text, small=(), definition=None):
        if definition:
            self.send(definition.format())
        for i, shape in enumerate(shapes):
            count = 1
            for extent in shape:
                count *= extent
            self.send(f"let {name}{i} = reshape(for i < {count} {{ cast(mod(i * {7 + i}, 2003), dtype=\"float32\") "
                      f"/ 1001.0 - 1.0 }}, newshape={list(shape)})" + (f" / {SMALL}" if i in small else ""))
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

    def prepare(self, shapes, function, small=()):
        self.args = []
        for i, shape in enumerate(shapes):
            count = 1
            for extent in shape:
                count *= extent
            numbers = (self.torch.arange(count) * (7 + i) % 2003).float() / 1001.0 - 1.0
            self.args.append(numbers.reshape(shape) / (SMALL if i in small else 1.0))
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
    for number, (name, shapes, text, function, *more) in enumerate(CASES):
        if options.only not in name:
            continue
        mine = ours.prepare(f"t{number}x", shapes, text, *more)
        other = theirs.prepare(shapes, function, *more[:1])
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
