"""Convolutions and pools for the table of cases, position by position."""
import math
from itertools import product

import numpy as np


def _axes(text, count):
    """One number for all axes, or one for each."""
    return [text] * count if isinstance(text, int) else list(text)


def _pads(padding, count):
    pads = _axes(padding, count)
    return (pads * 2)[: 2 * count]


def relayout(a, source, target):
    return np.transpose(a, [source.index(letter) for letter in target])


def _letters(count):
    return "DHW"[3 - count:]


def _steps(position, strides):
    return [p * s for p, s in zip(position, strides)]


def _window(origin, size, dilation):
    return tuple(slice(o, o + (k - 1) * d + 1, d) for o, k, d in zip(origin, size, dilation))


def conv(data, weight, strides=1, padding=0, dilation=1, groups=1, layout="", kernel_layout="", out_layout=""):
    count = data.ndim - 2
    layout = layout or "NC" + _letters(count)
    x = relayout(data, layout, "NC" + _letters(count))
    w = relayout(weight, kernel_layout or "OI" + _letters(count), "OI" + _letters(count))
    strides, dilation, pads = _axes(strides, count), _axes(dilation, count), _pads(padding, count)
    x = np.pad(x, [(0, 0), (0, 0)] + list(zip(pads[:count], pads[count:])))
    size = w.shape[2:]
    extents = [(x.shape[2 + i] - dilation[i] * (size[i] - 1) - 1) // strides[i] + 1 for i in range(count)]
    out = np.zeros([x.shape[0], w.shape[0]] + extents, np.result_type(x, w))
    per_group = w.shape[0] // groups
    for channel in range(w.shape[0]):
        first = channel // per_group * w.shape[1]
        for position in product(*map(range, extents)):
            window = x[(slice(None), slice(first, first + w.shape[1])) + _window(_steps(position, strides), size, dilation)]
            out[(slice(None), channel) + position] = (window * w[channel]).sum(tuple(range(1, x.ndim)))
    return relayout(out, "NC" + _letters(count), out_layout or layout)


def conv_transpose(data, weight, strides=1, padding=0, output_padding=0, dilation=1, groups=1, layout="", kernel_layout="", out_layout=""):
    count = data.ndim - 2
    layout = layout or "NC" + _letters(count)
    x = relayout(data, layout, "NC" + _letters(count))
    w = relayout(weight, kernel_layout or "IO" + _letters(count), "IO" + _letters(count))
    strides, dilation, pads = _axes(strides, count), _axes(dilation, count), _pads(padding, count)
    more = _axes(output_padding, count)
    size = w.shape[2:]
    full = [(x.shape[2 + i] - 1) * strides[i] + dilation[i] * (size[i] - 1) + 1 + more[i] for i in range(count)]
    out = np.zeros([x.shape[0], w.shape[1] * groups] + full)
    per_group = x.shape[1] // groups
    for batch, channel in product(range(x.shape[0]), range(x.shape[1])):
        first = channel // per_group * w.shape[1]
        for position in product(*map(range, x.shape[2:])):
            target = (batch, slice(first, first + w.shape[1])) + _window(_steps(position, strides), size, dilation)
            out[target] += x[(batch, channel) + position] * w[channel]
    kept = tuple(slice(pads[i], full[i] - pads[count + i]) for i in range(count))
    return relayout(out[(slice(None), slice(None)) + kept], "NC" + _letters(count), out_layout or layout)


def conv_weight_grad(grad, data, kernel_size, strides=1, padding=0, dilation=1, groups=1):
    """The adjoint of the weight of a convolution in NCHW and OIHW."""
    count = data.ndim - 2
    strides, dilation, pads = _axes(strides, count), _axes(dilation, count), _pads(padding, count)
    x = np.pad(data, [(0, 0), (0, 0)] + list(zip(pads[:count], pads[count:])))
    inputs = data.shape[1] // groups
    out = np.zeros([grad.shape[1], inputs] + list(kernel_size))
    for batch, channel in product(range(grad.shape[0]), range(grad.shape[1])):
        first = channel // (grad.shape[1] // groups) * inputs
        for position in product(*map(range, grad.shape[2:])):
            window = x[(batch, slice(first, first + inputs)) + _window(_steps(position, strides), kernel_size, dilation)]
            out[channel] += grad[(batch, channel) + position] * window
    return out


def _pool_positions(shape, size, strides, dilation, pads, ceil_mode):
    """For each position of the result the indices of its window that are inside the data, for each axis."""
    rounded = math.ceil if ceil_mode else math.floor
    axes = []
    for i, extent in enumerate(shape):
        reach = extent + pads[i] + pads[len(shape) + i] - dilation[i] * (size[i] - 1) - 1
        windows = []
        for position in range(rounded(reach / strides[i]) + 1):
            taps = [position * strides[i] - pads[i] + k * dilation[i] for k in range(size[i])]
            windows.append([tap for tap in taps if 0 <= tap < extent])
        axes.append(windows)
    return axes


def _each_window(x, axes, reduce):
    out = np.zeros(list(x.shape[:2]) + [len(windows) for windows in axes])
    for position in product(*(range(len(windows)) for windows in axes)):
        taps = [axes[i][p] for i, p in enumerate(position)]
        window = x[np.ix_(range(x.shape[0]), range(x.shape[1]), *taps)]
        out[(slice(None), slice(None)) + position] = reduce(window.reshape(x.shape[0], x.shape[1], -1))
    return out


def pool(kind, data, size, strides=1, padding=0, dilation=1, ceil_mode=False, count_include_pad=False, layout="", out_layout=""):
    count = data.ndim - 2
    layout = layout or "NC" + _letters(count)
    x = relayout(data, layout, "NC" + _letters(count))
    size, strides, dilation = _axes(size, count), _axes(strides, count), _axes(dilation, count)
    axes = _pool_positions(x.shape[2:], size, strides, dilation, _pads(padding, count), ceil_mode)
    if kind == "max":
        out = _each_window(x, axes, lambda window: window.max(-1))
    elif count_include_pad:
        out = _each_window(x, axes, lambda window: window.sum(-1) / math.prod(size))
    else:
        out = _each_window(x, axes, lambda window: window.mean(-1))
    return relayout(out, "NC" + _letters(count), out_layout or layout)


def adaptive_pool(kind, data, size, layout="", out_layout=""):
    count = data.ndim - 2
    layout = layout or "NC" + _letters(count)
    x = relayout(data, layout, "NC" + _letters(count))
    axes = []
    for extent, parts in zip(x.shape[2:], _axes(size, count)):
        axes.append([list(range(p * extent // parts, -(-(p + 1) * extent // parts))) for p in range(parts)])
    out = _each_window(x, axes, lambda window: window.max(-1) if kind == "max" else window.mean(-1))
    return relayout(out, "NC" + _letters(count), out_layout or layout)


def pool_grad(kind, grad, data, size, strides=1, padding=0):
    """The adjoint of the data of a pool in NCHW; of a largest element that comes twice, the first one's."""
    size, strides = _axes(size, 2), _axes(strides, 2)
    axes = _pool_positions(data.shape[2:], size, strides, [1, 1], _pads(padding, 2), False)
    out = np.zeros(data.shape)
    for batch, channel in product(range(data.shape[0]), range(data.shape[1])):
        for i, j in product(range(grad.shape[2]), range(grad.shape[3])):
            taps = list(product(axes[0][i], axes[1][j]))
            if kind == "max":
                taps = [max(taps, key=lambda tap: data[(batch, channel) + tap])]
            for tap in taps:
                out[(batch, channel) + tap] += grad[batch, channel, i, j] / len(taps)
    return out
