"""Operators of images and boxes for the table of cases: loops over single elements."""
import itertools
import math

import numpy as np


def _position(x, size, target, mode, start=0.0, end=1.0):
    if mode == "half_pixel":
        return (x + 0.5) * size / target - 0.5
    if mode == "align_corners":
        return x * (size - 1) / (target - 1) if target > 1 else 0.0
    if mode == "asymmetric":
        return x * size / target
    if mode == "pytorch_half_pixel":
        return (x + 0.5) * size / target - 0.5 if target > 1 else 0.0
    if mode == "tf_half_pixel_for_nn":
        return (x + 0.5) * size / target
    if target == 1:
        return 0.5 * (start + end) * (size - 1)
    return start * (size - 1) + x * (end - start) * (size - 1) / (target - 1)


def _round(x, how):
    return {"round": lambda: math.floor(abs(x) + 0.5) * (1 if x >= 0 else -1),
            "round_prefer_floor": lambda: math.ceil(x - 0.5),
            "round_prefer_ceil": lambda: math.floor(x + 0.5),
            "floor": lambda: math.floor(x + 1e-5), "ceil": lambda: math.ceil(x - 1e-5)}[how]()


def _cubic(distance, alpha):
    d = abs(distance)
    if d < 1:
        return (alpha + 2) * d**3 - (alpha + 3) * d**2 + 1
    if d < 2:
        return alpha * d**3 - 5 * alpha * d**2 + 8 * alpha * d - 4 * alpha
    return 0.0


def _taps(x, size, method, rounding, alpha, exclude):
    """Pairs of a place and a weight."""
    if method == "nearest_neighbor":
        return [(min(max(_round(x, rounding), 0), size - 1), 1.0)]
    low = math.floor(x)
    if method == "linear":
        taps = [(low, 1 - (x - low)), (low + 1, x - low)]
    else:
        taps = [(low + k, _cubic(x - low - k, alpha)) for k in (-1, 0, 1, 2)]
        if exclude:
            taps = [(p, w if 0 <= p < size else 0.0) for p, w in taps]
            total = sum(w for _, w in taps)
            taps = [(p, w / total) for p, w in taps]
    return [(min(max(p, 0), size - 1), w) for p, w in taps]


def resize(data, size, axes, method="linear", mode="half_pixel", rounding="round", alpha=-0.5,
           exclude=False, roi=None, outside=0.0):
    if rounding == "":
        rounding = "round" if mode == "align_corners" else "floor"
    shape = list(data.shape)
    for axis, extent in zip(axes, size):
        shape[axis] = extent
    result = np.zeros(shape)
    for index in np.ndindex(*shape):
        taps, is_inside = [], True
        for k, axis in enumerate(axes):
            ends = (roi[k], roi[k + len(axes)]) if roi else (0.0, 1.0)
            x = _position(index[axis], data.shape[axis], shape[axis], mode, *ends)
            is_inside = is_inside and 0 <= x <= data.shape[axis] - 1
            taps.append(_taps(x, data.shape[axis], method, rounding, alpha, exclude))
        if mode == "tf_crop_and_resize" and not is_inside:
            result[index] = outside
            continue
        for chosen in itertools.product(*taps):
            place, weight = list(index), 1.0
            for axis, (p, w) in zip(axes, chosen):
                place[axis] = p
                weight *= w
            result[index] += weight * data[tuple(place)]
    return result


def crop_and_resize(data, boxes, images, size, method="linear", outside=0.0):
    """Data in the layout NCHW."""
    result = np.zeros((len(boxes), data.shape[1], *size))
    for k, (y1, x1, y2, x2) in enumerate(boxes):
        if not 0 <= images[k] < len(data):
            result[k] = outside
            continue
        result[k] = resize(data[images[k]:images[k] + 1], size, (2, 3), method,
                           "tf_crop_and_resize", roi=(y1, x1, y2, x2), outside=outside)[0]
    return result


def affine_grid(data, height, width):
    y, x = np.meshgrid(np.linspace(-1, 1, height), np.linspace(-1, 1, width), indexing="ij")
    return np.einsum("nij,jhw->nihw", data, np.stack([x, y, np.ones_like(x)]))


def _mirror(x, low, high):
    if high <= low:
        return low
    while not low <= x <= high:
        x = 2 * low - x if x < low else 2 * high - x
    return x


def grid_sample(data, grid, method="bilinear", padding="zeros", align_corners=True):
    count = data.ndim - 2
    result = np.zeros((len(data), data.shape[1], *grid.shape[2:]))
    for n, c, *point in np.ndindex(*result.shape):
        taps = []
        for k in range(count):
            size = data.shape[k + 2]
            g = grid[(n, count - 1 - k, *point)]
            x = (g + 1) * (size - 1) / 2 if align_corners else (g + 1) * size / 2 - 0.5

            def inside(place, size=size):
                if padding == "reflection":
                    place = _mirror(place, 0, size - 1) if align_corners else _mirror(place, -0.5, size - 0.5)
                return min(max(place, 0), size - 1) if padding != "zeros" else place

            if method != "bicubic":
                x = inside(x)
            low = math.floor(x)
            if method == "nearest":
                taps.append([(round(x), 1.0)])
            elif method == "bilinear":
                taps.append([(low, 1 - (x - low)), (low + 1, x - low)])
            else:
                taps.append([(int(inside(low + j)), _cubic(x - low - j, -0.75)) for j in (-1, 0, 1, 2)])
        for chosen in itertools.product(*taps):
            if all(0 <= p < size for (p, _), size in zip(chosen, data.shape[2:])):
                weight = math.prod(w for _, w in chosen)
                result[(n, c, *point)] += weight * data[(n, c, *(p for p, _ in chosen))]
    return result


def dilation2d(data, weight, strides=(1, 1), padding=(0, 0, 0, 0), dilations=(1, 1)):
    """Data in the layout NCHW, weight in IHW."""
    padded = np.pad(data, ((0, 0), (0, 0), (padding[0], padding[2]), (padding[1], padding[3])),
                    constant_values=-math.inf)
    kh, kw = weight.shape[1:]
    height = (padded.shape[2] - (kh - 1) * dilations[0] - 1) // strides[0] + 1
    width = (padded.shape[3] - (kw - 1) * dilations[1] - 1) // strides[1] + 1
    result = np.full((*data.shape[:2], height, width), -math.inf)
    for y, x, i, j in np.ndindex(height, width, kh, kw):
        tap = padded[:, :, y * strides[0] + i * dilations[0], x * strides[1] + j * dilations[1]]
        result[:, :, y, x] = np.maximum(result[:, :, y, x], tap + weight[:, i, j])
    return result


def depth_to_space(data, block, mode="DCR"):
    n, c, h, w = data.shape
    if mode == "DCR":
        parts = data.reshape(n, block, block, c // block**2, h, w).transpose(0, 3, 4, 1, 5, 2)
    else:
        parts = data.reshape(n, c // block**2, block, block, h, w).transpose(0, 1, 4, 2, 5, 3)
    return parts.reshape(n, c // block**2, h * block, w * block)


def space_to_depth(data, block):
    n, c, h, w = data.shape
    parts = data.reshape(n, c, h // block, block, w // block, block).transpose(0, 3, 5, 1, 2, 4)
    return parts.reshape(n, c * block**2, h // block, w // block)


def batch_to_space(data, block, crops):
    count = math.prod(block)
    rest = data.shape[1 + len(block):]
    parts = data.reshape(*block, len(data) // count, *data.shape[1:])
    m = len(block)
    order = [m] + [axis for i in range(m) for axis in (m + 1 + i, i)]
    parts = parts.transpose(*order, *range(2 * m + 1, parts.ndim))
    whole = parts.reshape(len(data) // count, *(s * b for s, b in zip(data.shape[1:], block)), *rest)
    kept = tuple(slice(c[0], s - c[1]) for s, c in zip(whole.shape[1:], crops))
    return whole[(slice(None), *kept)]


def space_to_batch(data, block, paddings, value=0.0):
    padded = np.pad(data, [(0, 0), *paddings] + [(0, 0)] * (data.ndim - 1 - len(block)),
                    constant_values=value)
    parts = []
    for offset in np.ndindex(*block):
        parts.append(padded[(slice(None), *(slice(o, None, b) for o, b in zip(offset, block)))])
    return np.concatenate(parts)


def yolo_reorg(data, stride):
    """Darknet's reorg_cpu, without `forward`."""
    batch, c, h, w = data.shape
    flat = data.reshape(-1)
    result = np.zeros_like(flat)
    out_c = c // stride**2
    for b, k, j, i in np.ndindex(batch, c, h, w):
        inner, offset = k % out_c, k // out_c
        x, y = i * stride + offset % stride, j * stride + offset // stride
        result[i + w * (j + h * (k + c * b))] = flat[
            x + w * stride * (y + h * stride * (inner + out_c * b))]
    return result.reshape(batch, c * stride**2, h // stride, w // stride)


def correlation(a, b, kernel, displacement, stride1, stride2, pad, multiply=True):
    a, b = (np.pad(x, ((0, 0), (0, 0), (pad, pad), (pad, pad))) for x in (a, b))
    radius = displacement // stride2
    border = displacement + (kernel - 1) // 2
    height, width = (-(-(extent - 2 * border) // stride1) for extent in a.shape[2:])
    shifts = [(dy * stride2, dx * stride2) for dy in range(-radius, radius + 1)
              for dx in range(-radius, radius + 1)]
    result = np.zeros((len(a), len(shifts), height, width))
    for q, i, j in np.ndindex(*result.shape[1:]):
        y, x = i * stride1 + displacement, j * stride1 + displacement
        dy, dx = shifts[q]
        one = a[:, :, y:y + kernel, x:x + kernel]
        other = b[:, :, y + dy:y + dy + kernel, x + dx:x + dx + kernel]
        result[:, q, i, j] = (one * other if multiply else abs(one - other)).mean((1, 2, 3))
    return result


def deformable(data, offset, weight, strides=(1, 1), padding=(0, 0), dilation=(1, 1), parts=1, groups=1):
    """Layouts NCHW and OIHW; `parts`: deformable groups."""
    n, channels, h, w = data.shape
    outputs, inputs, kh, kw = weight.shape
    result = np.zeros((n, outputs, *offset.shape[2:]))
    for b, f, i, j in np.ndindex(*result.shape):
        for k, p, q in np.ndindex(inputs, kh, kw):
            c = f // (outputs // groups) * inputs + k
            tap = (c // (channels // parts) * kh + p) * kw + q
            y = i * strides[0] - padding[0] + p * dilation[0] + offset[b, 2 * tap, i, j]
            x = j * strides[1] - padding[1] + q * dilation[1] + offset[b, 2 * tap + 1, i, j]
            if not (0 <= y < h and 0 <= x < w):
                continue
            y0, x0 = math.floor(y), math.floor(x)
            y1, x1 = min(y0 + 1, h - 1), min(x0 + 1, w - 1)
            top = data[b, c, y0, x0] * (1 - x + x0) + data[b, c, y0, x1] * (x - x0)
            bottom = data[b, c, y1, x0] * (1 - x + x0) + data[b, c, y1, x1] * (x - x0)
            result[b, f, i, j] += weight[f, k, p, q] * (top * (1 - y + y0) + bottom * (y - y0))
    return result
