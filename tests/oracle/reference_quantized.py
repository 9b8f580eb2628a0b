"""Quantized operators as Relay defines them, on Python's integers and NumPy's float32."""
import math
from fractions import Fraction

import numpy as np

_F = np.float32


def _along(parameter, axis, rank):
    parameter = np.asarray(parameter)
    if parameter.ndim == 0 or rank == 0:
        return parameter.reshape(())
    return parameter.reshape([-1 if i == axis % rank else 1 for i in range(rank)])


def _limits(dtype):
    info = np.iinfo(dtype)
    return int(info.min), int(info.max)


def _clipped(values, dtype):
    low, high = _limits(dtype)
    flat = [high if v != v else min(max(v, low), high) for v in np.asarray(values, object).ravel()]
    return np.array([int(v) for v in flat], np.int64).reshape(np.shape(values)).astype(dtype)


def quantize(a, scale, zero, dtype, axis=-1):
    a = _F(a)
    scale, zero = _F(_along(scale, axis, a.ndim)), _F(_along(zero, axis, a.ndim))
    return _clipped((np.round(_F(a / scale)) + zero).astype(np.float64), dtype)


def dequantize(a, scale, zero, axis=-1):
    a = np.asarray(a).astype(np.int64)
    return _F(_F(a - _along(zero, axis, a.ndim)) * _F(_along(scale, axis, a.ndim)))


def _fixed(factor):
    """The factor as Relay's fixed-point number, exactly."""
    fraction, exponent = math.frexp(factor)
    digits = math.floor(abs(fraction) * 2**31 + 0.5)
    return Fraction(int(math.copysign(digits, fraction)), 2**31) * Fraction(2) ** exponent


def _rounded(value, rounding):
    if rounding == "UPWARD" or value >= 0:
        return math.floor(value + Fraction(1, 2))
    return -math.floor(-value + Fraction(1, 2))


def requantize(a, scale, zero, out_scale, out_zero, dtype, axis=-1, rounding="UPWARD", compute="int64"):
    a = np.asarray(a).astype(np.int64)
    scale, zero = (np.broadcast_to(_along(p, axis, a.ndim), a.shape) for p in (scale, zero))
    result = []
    for x, s, z in zip(a.ravel(), scale.ravel(), zero.ravel()):
        factor = float(s) / float(out_scale)
        if compute == "int64":
            value = _rounded((int(x) - int(z)) * _fixed(factor), rounding) + int(out_zero)
        else:
            f = _F if compute == "float32" else np.float64
            moved = f(f(out_zero) + f(f(factor) * (f(x) - f(z))))
            value = math.floor(f(moved + f(0.5))) if rounding == "UPWARD" else \
                _rounded(Fraction(float(moved)), rounding)
        result.append(value)
    return _clipped(np.array(result, object).reshape(a.shape), dtype)


def qadd(a, b, sa, za, sb, zb, so, zo, axis=-1, sign=1):
    wide = [requantize(x, s, z, so, zo, np.int32, axis).astype(np.int64)
            for x, s, z in ((a, sa, za), (b, sb, zb))]
    return _clipped(wide[0] + sign * (wide[1] - int(zo)), a.dtype)


def qmul(a, b, sa, za, sb, zb, so, zo, axis=-1):
    product = (a.astype(np.int64) - _along(za, axis, a.ndim)) * (b.astype(np.int64) - _along(zb, axis, b.ndim))
    return requantize(product, _F(sa) * _F(sb), 0, so, zo, a.dtype, axis)


def qconcatenate(parts, scales, zeros, so, zo, axis):
    return np.concatenate([requantize(x, s, z, so, zo, x.dtype) for x, s, z in zip(parts, scales, zeros)], axis)


def qunary(f, a, s, z, so, zo):
    with np.errstate(all="ignore"):
        return quantize(f(dequantize(a, s, z)), so, zo, a.dtype)


def hardswish(x):
    return x * np.clip(x + 3, 0, 6) / 6


def qleaky_relu(a, s, z, so, zo, alpha=0.25):
    moved = requantize(a, s, z, so, zo, np.int32)
    scaled = np.array([_rounded(int(m) * _fixed(alpha), "UPWARD") +
                       _rounded(int(zo) * _fixed(1 - alpha), "UPWARD") for m in moved.ravel()])
    return _clipped(np.where(a.astype(np.int64) < int(z), scaled.reshape(a.shape), moved), a.dtype)


def qsoftmax(a, s, z, so, zo, axis=-1):
    x = a.astype(np.int64)
    x = x - x.max(axis, keepdims=True)
    unit = int(np.round(_F(1) / _F(s)))
    p = x + (x >> 1) - (x >> 4)
    q = p // -unit
    q = np.where(p % -unit != 0, (-p) // unit, q)
    powers = ((p + q * unit >> 1) + unit << 8) >> q
    shares = ((1 << 30) // powers.sum(axis, keepdims=True) * powers) >> 23
    return requantize(shares, 1 / 128, 0, so, zo, np.int8)


def qproduct(f, a, b, za, zb, axis=None):
    w = b.astype(np.int64)
    return f(a.astype(np.int64) - int(za), w - (_along(zb, axis, w.ndim) if axis is not None else int(zb)))


def simulated(a, code, scale, zero, axis=-1):
    if code == 0:
        return a
    dtype = {1: np.int8, 2: np.uint8, 3: np.int32}[int(code)]
    low, high = _limits(dtype)
    return np.clip(np.round(a / _along(scale, axis, a.ndim)) + _along(zero, axis, a.ndim), low, high)


def unblocked(x, letters, plain):
    """A tensor in a layout such as `NCHW2c` in the plain one."""
    axes, number = [], ""
    for c in letters:
        if c.isdigit():
            number += c
        else:
            axes.append(c)
    order, shape = [], []
    for c in plain:
        parts = [axes.index(c)] + ([axes.index(c.lower())] if c.lower() in axes else [])
        order += parts
        shape.append(int(np.prod([x.shape[i] for i in parts])))
    return x.transpose(order).reshape(shape)


def blocked_channels(x, block):
    n, c, h, w = x.shape
    return x.reshape(n, c // block, block, h, w).transpose(0, 1, 3, 4, 2)


def bitpack(a, bits, pack_axis, bit_axis, width):
    a = np.moveaxis(a.astype(np.int64), pack_axis, -1)
    a = a.reshape(a.shape[:-1] + (-1, width))
    planes = []
    for bit in range(bits):
        places = [1 << (width - 1 - k) for k in range(width)]
        words = ((a >> bit & 1).astype(object) * np.array(places, object)).sum(-1)
        planes.append(np.moveaxis(words, -1, pack_axis))
    return np.stack(planes, bit_axis).astype(f"uint{width}")


def bits_value(a, bits, unipolar=False):
    low = a.astype(np.int64) & ((1 << bits) - 1)
    return 2 * low - ((1 << bits) - 1) if unipolar else low
