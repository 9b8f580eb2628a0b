#!/usr/bin/env python3
"""Writes a Relay module of about LINES lines, for benchmarks of parsing and checking.

The same seed gives the same text. Definitions are small, annotated here and there, and call earlier ones; every shape
occurs that programs of people and of exporters have: let chains, graph bindings, calls with attributes, tuples, data
types and `match`, recursion, closures. Usage: bench/generate_module.py LINES [--strict] [--seed N]
"""
import argparse
import random

UNARY = ["tanh", "sigmoid", "exp", "nn.relu", "negative", "abs"]
BINARY = ["add", "multiply", "subtract", "maximum", "minimum"]
SIGNS = ["+", "*", "-"]
DIMS = [2, 3, 4, 8, 16, 32, 64, 128]


class Generator:
    """Makes one definition after another; `sigils` tells strict text from light."""

    def __init__(self, seed, strict):
        self.random = random.Random(seed)
        self.strict = strict
        self.count = 0
        self.blocks = {}  # by shape ("": any): earlier definitions that take a matrix and give one like it
        self.lines = []

    def local(self, name):
        return f"%{name}" if self.strict else name

    def of(self, name):
        return f"@{name}" if self.strict else name

    def number(self):
        value = self.random.choice(["0.5", "1.0", "2.0", "1e-05", "0.125", "3.1415927"])
        return value + "f" if self.strict else value

    def put(self, text):
        self.lines += text.split("\n")

    def condition(self, text):
        return f"({text})" if self.strict or self.random.random() < 0.3 else text

    def step(self, names, shape):
        """A right-hand side over variables that all have this shape, of rank 2."""
        a, b = (self.local(self.random.choice(names)) for _ in range(2))
        kind = self.random.randrange(8)
        callable_here = self.blocks.get(shape, []) + self.blocks.get("", [])
        if kind == 0 and callable_here:
            return f"{self.of(self.random.choice(callable_here))}({a})"
        if kind <= 1:
            return f"{self.random.choice(UNARY)}({a})"
        if kind == 2:
            return f"nn.softmax({a}, axis={self.random.choice([0, 1])})"
        if kind == 3:
            return f"transpose(transpose({a}, axes=[1, 0]), axes=[1, 0])"
        if kind == 4:
            return f"{self.random.choice(BINARY)}({a}, {b})"
        if kind == 5:
            return f"{a} {self.random.choice(SIGNS)} {b} * {self.number()}"
        if kind == 6:
            return f"subtract({a}, mean({a}, axis=[1], keepdims=True))"
        return f"({a}, {b}).{self.random.choice([0, 1])}"

    def let_chain(self):
        annotated = self.strict or self.random.random() < 0.5
        shape = f"({self.random.choice(DIMS)}, {self.random.choice(DIMS)})" if annotated else ""
        annotation = f": Tensor[{shape}, float32]" if annotated else ""
        result = f" -> Tensor[{shape}, float32]" if annotated else ""
        x, name = self.local("x"), f"block_{self.count}"
        self.put(f"def {self.of(name)}({x}{annotation}){result} {{")
        names = ["x"]
        for i in range(self.random.randrange(4, 12)):
            self.put(f"  let {self.local(f'x{i}')} = {self.step(names, shape)};")
            names.append(f"x{i}")
        self.put(f"  {self.local(names[-1])} + {x}\n}}")
        self.blocks[shape] = (self.blocks.get(shape, []) + [name])[-16:]

    def graph(self):
        """As an exporter prints a network: every step a graph binding, shapes written out."""
        n, k, m = (self.random.choice(DIMS) for _ in range(3))
        self.put(f"def {self.of(f'net_{self.count}')}(%x: Tensor[({n}, {k}), float32], "
                 f"%w: Tensor[({m}, {k}), float32], %b: Tensor[({m}), float32]) -> Tensor[({n}, {m}), float32] {{\n"
                 f"  %0 = nn.dense(%x, %w, units={m});\n"
                 f"  %1 = nn.bias_add(%0, %b, axis=1);")
        last = 1
        for _ in range(self.random.randrange(2, 8)):
            last += 1
            self.put(f"  %{last} = {self.random.choice(UNARY)}(%{last - 1}) /* ty=Tensor[({n}, {m}), float32] */;")
        self.put(f"  add(%{last}, %1)\n}}")

    def data(self):
        i, v = self.count, self.local
        tree, leaf, node = f"Tree{i}", f"Leaf{i}", f"Node{i}"
        f, t, left, right = v("f"), v("t"), v("left"), v("right")
        self.put(f"type {tree}[A] {{\n  {leaf}(A),\n  {node}({tree}[A], {tree}[A]),\n}}")
        params = f"{f}: fn (A) -> B, {t}: {tree}[A]" if self.strict else f"{f}, {t}"
        head = f"[A, B]({params}) -> {tree}[B]" if self.strict else f"({params})"
        walk = self.of(f"walk_{i}")
        self.put(f"def {walk}{head} {{\n"
                 f"  match ({t}) {{\n"
                 f"    {leaf}({v('value')}) => {leaf}({f}({v('value')})),\n"
                 f"    {node}({left}, {right}) => {node}({walk}({f}, {left}), {walk}({f}, {right})),\n"
                 f"  }}\n}}")

    def recursion(self):
        v, loop = self.local, self.of(f"loop_{self.count}")
        i, acc = v("i"), v("acc")
        annotated = self.strict or self.random.random() < 0.5
        head = f"({i}: int32, {acc}: float32) -> float32" if annotated else f"({i}, {acc})"
        self.put(f"def {loop}{head} {{\n"
                 f"  if {self.condition(f'{i} == 0')} {{\n    {acc}\n  }} else {{\n"
                 f"    {loop}({i} - 1, {acc} * {self.number()} + {self.number()})\n  }}\n}}")

    def closure(self):
        v = self.local
        f, x, y = v("f"), v("x"), v("y")
        head = f"[A]({f}: fn (A) -> A, {x}: A) -> (A, A)" if self.strict else f"({f}, {x})"
        self.put(f"def {self.of(f'twice_{self.count}')}{head} {{\n"
                 f"  let {v('g')} = fn ({y}) {{ {f}({f}({y})) }};\n"
                 f"  let {v('pair')} = ({v('g')}({x}), {f}({x}));\n"
                 f"  ({v('pair')}.1, {v('pair')}.0)\n}}")

    def index_notation(self):
        self.put(f"/// The product of two matrices, and a shift.\n"
                 f"def product_{self.count}(a, b) {{\n"
                 f"  let c = for i, j {{ sum k {{ a[i, k] * b[k, j] }} }};\n"
                 f"  c * {self.number()} + [[1.0, 2.0], [3.0, {self.number()}]]\n}}")

    def module(self, lines):
        if self.strict:
            self.put('#[version = "0.0.5"]')
        kinds = [self.let_chain] * 5 + [self.graph] * 3 + [self.data, self.recursion, self.closure]
        if not self.strict:
            kinds += [self.index_notation] * 2
        while len(self.lines) < lines:
            self.random.choice(kinds)()
            self.count += 1
            self.put("")
        return "\n".join(self.lines) + "\n"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("lines", type=int)
    parser.add_argument("--strict", action="store_true")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    print(Generator(options.seed, options.strict).module(options.lines), end="")


if __name__ == "__main__":
    main()
