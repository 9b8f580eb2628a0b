"""Functions of programs, and those that are their derivatives (docs/derivatives.md)."""

from relay._relay import Function
from relay.module import Module


def _function(f):
    if not isinstance(f, Function):
        text = f"a `{type(f).__name__}` is no function of Relay"
        name, owner = getattr(f, "__name__", None), getattr(f, "__self__", None)
        if isinstance(owner, Module) and name in dir(owner):
            text += f": it is `{name}` of every program; what a program defines by that name is `[{name!r}]` of it"
        raise TypeError(text)
    return f


def grad(f):
    """The gradient: of one argument, or a tuple for several."""
    return _function(f)._grad()


def value_and_grad(f):
    """The value with the gradient."""
    return _function(f)._value_and_grad()


def jvp(f):
    """The value with its tangent, of arguments and as many directions."""
    return _function(f)._jvp()


def vjp(f):
    """The value with the function that takes the adjoint of the value back to the arguments."""
    return _function(f)._vjp()


def linearize(f):
    """The value with the linear map of directions of the arguments to its tangent."""
    return _function(f)._linearize()


def hvp(f):
    """The Hessian times a direction, of arguments and as many directions."""
    return _function(f)._hvp()


def hessian(f):
    """The second derivatives."""
    return _function(f)._hessian()


def jacobian(f):
    """The derivatives of each element of the result."""
    return _function(f)._jacobian()


def check_grad(f):
    """True, or an error that names the element where the gradient and central differences disagree."""
    return _function(f)._check_grad()


def _repr(f):
    return f"<Relay function {getattr(f, '__name__', '')}: {f.type}>"


Function.__repr__ = _repr
