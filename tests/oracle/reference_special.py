"""Special functions and activations, from Python's math module, the C library and plain series."""
import ctypes
import ctypes.util
import math

import numpy as np


def _each(f):
    return np.vectorize(f, otypes=[float])


def _safe(f, at_pole):
    """f, and what stands in for it where it raises."""
    def value(x):
        try:
            return f(x)
        except (ValueError, OverflowError):
            return at_pole(x)
    return value


log1p = _each(_safe(math.log1p, lambda x: -math.inf if x == -1 else math.nan))
expm1 = _each(_safe(math.expm1, lambda x: math.inf))
erfc = _each(math.erfc)

# Python's own loses the digits around 1 and 2.
_C = ctypes.CDLL(ctypes.util.find_library("m"))
_C.lgamma.argtypes, _C.lgamma.restype = [ctypes.c_double], ctypes.c_double
lgamma = _each(_C.lgamma)


def _tail(y, s):
    """What the sum of k ** -s over all k = y, y + 1, ... is for s > 1, for a large y."""
    return y**(1 - s) / (s - 1) + y**-s / 2 + s * y**(-s - 1) / 12


def _digamma(x):
    if math.isinf(x):
        return math.inf if x > 0 else math.nan
    if x <= 0 and x == math.floor(x):
        return -math.inf if x == 0 else math.nan
    steps = 1000
    y = x + steps
    return math.log(y) - 1 / (2 * y) - 1 / (12 * y * y) - math.fsum(1 / (x + k) for k in range(steps))


def _polygamma(x, n):
    if x <= 0 and x == math.floor(x):
        return math.inf if n % 2 else (-math.inf if x == 0 else math.nan)
    steps = 1000
    powers = math.fsum((x + k)**-(n + 1) for k in range(steps))
    return (-1)**(n + 1) * math.factorial(n) * (powers + _tail(x + steps, n + 1))


digamma = _each(_digamma)


def polygamma(a, n):
    return _each(lambda x: _polygamma(x, n))(a)


def gelu(a):
    return _each(lambda x: 0.0 if x == -math.inf else x * math.erfc(-x / math.sqrt(2)) / 2)(a)


def _exp(x):
    return math.inf if x > 700 else math.exp(x)


def silu(a):
    return _each(lambda x: 0.0 if x == -math.inf else x / (1 + _exp(-x)))(a)


def softplus(a):
    return _each(lambda x: x + math.log1p(_exp(-x)) if x > 0 else math.log1p(_exp(x)))(a)
