"""Operators of regions and boxes for the table of cases: loops over single elements."""
import itertools
import math

import numpy as np


def _bilinear(image, y, x):
    """image[c, h, w] at a point; 0 more than one element outside."""
    h, w = image.shape[1:]
    if y < -1 or x < -1 or y > h or x > w:
        return np.zeros(len(image))
    y, x = min(max(y, 0), h - 1), min(max(x, 0), w - 1)
    y0, x0 = math.floor(y), math.floor(x)
    y1, x1 = min(y0 + 1, h - 1), min(x0 + 1, w - 1)
    return (image[:, y0, x0] * (y0 + 1 - y) * (x0 + 1 - x) + image[:, y0, x1] * (y0 + 1 - y) * (x - x0)
            + image[:, y1, x0] * (y - y0) * (x0 + 1 - x) + image[:, y1, x1] * (y - y0) * (x - x0))


def roi_align(data, rois, size, scale, ratio=-1, mode="avg"):
    result = np.zeros((len(rois), data.shape[1], *size))
    for r, (image, *corners) in enumerate(rois):
        if not 0 <= int(image) < len(data):
            continue
        x1, y1, x2, y2 = (c * scale for c in corners)
        bin_h, bin_w = max(y2 - y1, 1.0) / size[0], max(x2 - x1, 1.0) / size[1]
        rows = ratio if ratio > 0 else math.ceil(bin_h)
        columns = ratio if ratio > 0 else math.ceil(bin_w)
        for i, j in np.ndindex(*size):
            samples = [_bilinear(data[int(image)], y1 + (i + (a + 0.5) / rows) * bin_h,
                                 x1 + (j + (b + 0.5) / columns) * bin_w)
                       for a, b in np.ndindex(rows, columns)]
            result[r, :, i, j] = np.mean(samples, 0) if mode == "avg" else np.max(samples, 0)
    return result


def _away(x):
    return int(math.floor(abs(x) + 0.5) * (1 if x >= 0 else -1))


def roi_pool(data, rois, size, scale):
    result = np.zeros((len(rois), data.shape[1], *size))
    h, w = data.shape[2:]
    for r, (image, *corners) in enumerate(rois):
        x1, y1, x2, y2 = (_away(c * scale) for c in corners)
        bin_h, bin_w = max(y2 - y1 + 1, 1) / size[0], max(x2 - x1 + 1, 1) / size[1]
        for i, j in np.ndindex(*size):
            top, bottom = math.floor(i * bin_h + 1e-5) + y1, math.ceil((i + 1) * bin_h - 1e-5) + y1
            left, right = math.floor(j * bin_w + 1e-5) + x1, math.ceil((j + 1) * bin_w - 1e-5) + x1
            part = data[int(image), :, max(top, 0):max(min(bottom, h), 0), max(left, 0):max(min(right, w), 0)]
            if part.size:
                result[r, :, i, j] = part.max((1, 2))
    return result
