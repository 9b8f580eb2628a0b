"""Relay, a functional tensor language, in Python.

    m = relay.load("model.relay")
    loss, gradient = relay.value_and_grad(m.loss)(m.Params(w=w, b=b), x, y)

docs/python.md has examples of all there is.
"""

from relay import _relay, convert
from relay._relay import Function, Tensor
from relay._relay import version as __version__
from relay.data import Data
from relay.error import Error
from relay.functions import check_grad, grad, hessian, hvp, jacobian, jvp, linearize, value_and_grad, vjp
from relay.module import Module, eval, load, program
from relay.tensor import tensor
from relay.torch import as_torch

__all__ = [
    "Data", "Error", "Function", "Module", "Tensor", "as_torch", "check_grad", "eval", "grad", "hessian", "hvp", "jacobian",
    "jvp", "linearize", "load", "program", "tensor", "value_and_grad", "vjp",
]

_relay.set_hooks(Error, convert.to_value, convert.from_value)
