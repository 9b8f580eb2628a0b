"""A case of the race on tensors: in Relay and in PyTorch, and as an ONNX graph where there is one.

Element i of input number k is ((7 + k) * i mod 2003) / 1001 - 1, divided by the input's `divisor`: the same float32 numbers
on every side. A case's function takes what is not constant; `x0`, `x1`, … are its inputs. Its operations and bytes are the
least that it can do: multiplications and additions, and each input and result once through memory.
"""
from dataclasses import dataclass, field
from math import prod
from typing import Callable, Optional

SMALL = 16.0  # what weights are divided by


@dataclass
class Input:
    shape: tuple
    divisor: float = 1.0
    is_constant: bool = False  # a weight: ONNX Runtime has it in its graph, our function takes it from a `let`


@dataclass
class Case:
    name: str
    inputs: list
    relay: str  # definitions, among them `def run(…)`
    torch: Callable  # of torch and the inputs; gives a tensor or a tuple of them
    operations: float
    outputs: list = field(default_factory=list)  # their shapes
    results: int = 1
    onnx: Optional[Callable] = None  # of a Graph, gives the name of its result
    needs_gradients: bool = False
    bytes: Optional[float] = None
    is_extra: bool = False  # runs with --all only

    def least_bytes(self):
        if self.bytes is not None:
            return self.bytes
        return 4.0 * sum(prod(each) for each in [one.shape for one in self.inputs] + self.outputs)

    def working_set(self):
        return 4.0 * sum(prod(each) for each in [one.shape for one in self.inputs] + self.outputs)


def plain(*shape):
    return Input(shape)


def weight(*shape):
    return Input(shape, SMALL, True)
