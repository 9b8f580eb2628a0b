#!/usr/bin/env python3
"""How soon the prompt answers: definitions and gradients, first and later native code, keys and Ctrl-C while it is busy."""
import argparse
import os
import pty
import re
import select
import signal
import statistics
import tempfile
import termios
import time
from pathlib import Path

PROGRAM = Path(__file__).resolve().parent.parent / "build" / "release" / "relay"
PROMPT = b"relay> "
LONG = 20.0  # seconds


class Prompt:
    """The program on a pseudo-terminal."""

    def __init__(self, *arguments, cache="off"):
        self.process, self.terminal = pty.fork()
        if self.process == 0:
            os.environ.update(RELAY_CACHE=cache, TERM="xterm", NO_COLOR="1")
            os.execv(str(PROGRAM), [str(PROGRAM), *arguments])
        attributes = termios.tcgetattr(self.terminal)
        attributes[1] &= ~termios.OPOST
        termios.tcsetattr(self.terminal, termios.TCSANOW, attributes)
        self.until(PROMPT)

    def until(self, text):
        """Reads until the text has come; the time that took."""
        start = time.perf_counter()
        seen = b""
        while text not in seen:
            left = start + LONG - time.perf_counter()
            if left <= 0 or not select.select([self.terminal], [], [], left)[0]:
                raise SystemExit(f"no {text!r} in {LONG:.0f} s, but {seen[-300:]!r}")
            seen += os.read(self.terminal, 65536)
        self.seen = seen
        return time.perf_counter() - start

    def drain(self):
        while select.select([self.terminal], [], [], 0)[0]:
            os.read(self.terminal, 65536)

    def type(self, text):
        os.write(self.terminal, text.encode())

    def entry(self, text):
        """The time from the last key to the next prompt."""
        self.type(text)
        self.until(text[-8:].encode())
        self.type("\n")
        return self.until(PROMPT)

    def close(self):
        os.kill(self.process, signal.SIGKILL)
        os.waitpid(self.process, 0)
        os.close(self.terminal)


def told(what, seconds, bar):
    print(f"{what:<58} {statistics.median(seconds) * 1e3:7.2f} ms, at most {max(seconds) * 1e3:7.2f}   (bar {bar} ms)",
          flush=True)


DEFINITIONS = [
    ("scalars", "def f{0}(x: float32) {{ sin(x) * x + exp(x / {1}.0) }}", "grad(f{0})(0.5)"),
    ("layers", "def g{0}(w: Tensor[(8, 4), float32], v: Tensor[(3, 8), float32]) "
               "{{ sum(nn.softmax(nn.dense(tanh(nn.dense(ones([2, 4]), w)), v)) * {1}.0) }}",
     "grad(g{0})(ones([8, 4]), ones([3, 8]))"),
    ("a loop", "def h{0}(x: float32, n: int32) -> float32 {{ if n == 0 {{ x }} else {{ h{0}(x * 0.9 + {1}.0, n - 1) }} }}",
     "grad(fn (x) {{ h{0}(x, 10) }})(0.5)"),
]


def definitions(count):
    for name, definition, gradient in DEFINITIONS:
        times = []
        prompt = Prompt()
        for i in range(count):
            times.append(prompt.entry(definition.format(i, i + 2)) + prompt.entry(gradient.format(i)))
        prompt.close()
        told(f"a definition and its gradient ({name})", times, 10)


def first_kernels(count):
    kernel = "sum(for i < 4000 { sin(cast(i, dtype=\"float32\")) * 0.5 })"
    with tempfile.TemporaryDirectory() as folder:
        for what, cache, bar in (("no cache", "off", 40), ("warm cache", folder, 15)):
            times = []
            for _ in range(count + (cache != "off")):
                prompt = Prompt("--jit=always", cache=cache)
                prompt.entry("1 + 1")
                times.append(prompt.entry(kernel))
                prompt.close()
            told(f"the first kernel of a process ({what})", times[cache != "off":], bar)


def later_functions(count):
    prompt = Prompt()
    times = []
    for i in range(count + 1):
        prompt.entry(f"def f{i}(n: int32, x: float32) -> float32 {{ if n == 0 {{ x }} else {{ f{i}(n - 1, x * 0.5 + {i}.0) }} }}")
        for _ in range(100):
            prompt.entry(f"f{i}(100000, 1.0)")
            prompt.entry(f":jit f{i}")
            took = re.search(rb"compiled in ([\d.]+) ms", prompt.seen)
            if took:
                break
        times.append(float(took[1]) / 1e3)
    prompt.close()
    told("native code of a later small function, as `:jit` tells", times[1:], 5)


def long_function(steps):
    lines = "".join(f"let a{i} = if a{i - 1} > 0.5 {{ sin(a{i - 1}) + b }} else {{ a{i - 1} * {i}.0 - b }}; " for i in range(1, steps))
    return f"def long(n: int32, a0: float64, b: float64) -> float64 {{ if n == 0 {{ a0 }} else {{ {lines}long(n - 1, a{steps - 1}, b) }} }}"


def keys_with_definitions(count):
    """In a session of 10,000 definitions: each key of a line until it is shown, and candidates with their types."""
    with tempfile.NamedTemporaryFile("w", suffix=".relay") as file:
        file.write("type Params { Params { w: Tensor[(4, 3), float32], b: Tensor[(3), float32] } }\n")
        for i in range(5000):
            file.write(f"def plain_{i}(x, y) {{ x * {i}.0 + y }}\n"
                       f"def typed_{i}(q: Params, x: Tensor[(3), float32]) {{ q.b + x }}\n")
        file.flush()
        prompt = Prompt("-i", file.name)
    echoes, candidates = [], []
    for _ in range(count):
        for key in "let y = plain_17(1.0, 2.0) + cast(7, dtype=":
            start = time.perf_counter()
            prompt.type(key)
            prompt.until(key.encode())
            echoes.append(time.perf_counter() - start)
            time.sleep(0.01)
            prompt.drain()
        for begun in ("plain_12", "typed_4", "nn.so"):
            prompt.type("\x15")
            time.sleep(0.02)
            prompt.drain()
            start = time.perf_counter()
            prompt.type(begun)
            prompt.until(begun.encode() + b"  " if begun == "plain_12" else b"  ")
            candidates.append(time.perf_counter() - start)
        prompt.type("\x15")
        time.sleep(0.02)
        prompt.drain()
    prompt.close()
    told("a key's echo with 10,000 definitions", echoes, 10)
    told("candidates for a word that is begun, with as many", candidates, 30)


def starts(count):
    """From starting the program to its prompt, on a terminal."""
    times = []
    for _ in range(count):
        start = time.perf_counter()
        prompt = Prompt()
        times.append(time.perf_counter() - start)
        prompt.close()
    told("the first prompt", times, 8)


def keys_while_compiling(count):
    with tempfile.NamedTemporaryFile("w", suffix=".relay") as file:
        file.write(long_function(200))
        file.flush()
        prompt = Prompt()
        prompt.entry(f":load {file.name}")
        prompt.entry("long(30200, 0.3, 0.1)")  # hot now, and LLVM is loaded
        prompt.entry("long(3000, 0.3, 0.1)")
    times = []
    for i in range(count):
        key = "abcdefgh"[i % 8]
        start = time.perf_counter()
        prompt.type(key)
        prompt.until(key.encode())
        times.append(time.perf_counter() - start)
        time.sleep(0.02)
    prompt.type("\x15")
    for _ in range(100):
        prompt.entry(":jit long")
        if b"compiled in" in prompt.seen:
            break
        time.sleep(0.1)
    if not re.search(rb"compiled in \d{3,}[.\d]* ms", prompt.seen):
        raise SystemExit(f"that was no long compilation: {prompt.seen!r}")
    prompt.close()
    told("a key's echo while LLVM compiles", times, 50)


BUSY = [
    ("the interpreter", "--jit=off", ["def f(n: int64, x: float64) -> float64 { if n == 0i64 { x } else { f(n - 1i64, x * 0.5) } }"],
     "f(100000000000i64, 1.0)"),
    ("a native loop", "--jit=always", ["def f(n: int64, x: float64) -> float64 { if n == 0i64 { x } else { f(n - 1i64, x * 0.5 + 1.0) } }"],
     "f(100000000000i64, 1.0)"),
    ("a kernel", "--jit=always", ["let big = ones([4000000], dtype=\"float64\")"],
     "sum(for i < 100000 { sum(sin(big * cast(i, dtype=\"float64\"))) })"),
    ("a library", "--jit=auto", ["let m = ones([6000, 6000])", "def f(n: int32, a: Tensor[(6000, 6000), float32]) -> Tensor[(6000, 6000), float32] "
                                  "{ if n == 0 { a } else { f(n - 1, a @ m) } }"], "f(100, m)[0][0]"),
]


def interrupts(count):
    for name, mode, before, entry in BUSY:
        prompt = Prompt(mode)
        for line in before:
            prompt.entry(line)
        times = []
        for i in range(count):
            prompt.type(entry + "\n")
            time.sleep(0.35 + 0.013 * (i % 7))
            prompt.drain()
            prompt.type("\x03")
            times.append(prompt.until(PROMPT))
            if b"Interrupted" not in prompt.seen:
                raise SystemExit(f"{name}: {prompt.seen!r}")
        prompt.close()
        told(f"Ctrl-C in {name}", times, 100)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=9)
    rounds = parser.parse_args().rounds
    starts(5 * rounds)
    keys_with_definitions(rounds)
    definitions(rounds)
    first_kernels(rounds)
    later_functions(rounds)
    keys_while_compiling(5 * rounds)
    interrupts(rounds)


if __name__ == "__main__":
    main()
