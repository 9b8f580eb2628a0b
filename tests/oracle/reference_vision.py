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


def multibox_prior(data, sizes=(1.0,), ratios=(1.0,), steps=(-1, -1), offsets=(0.5, 0.5), clip=False):
    h, w = data.shape[2:]
    steps = [s if s > 0 else 1 / extent for s, extent in zip(steps, (h, w))]
    boxes = []
    for i, j in np.ndindex(h, w):
        y, x = (i + offsets[0]) * steps[0], (j + offsets[1]) * steps[1]
        kinds = [(s * h / w / 2, s / 2) for s in sizes]
        kinds += [(sizes[0] * h / w * math.sqrt(r) / 2, sizes[0] / math.sqrt(r) / 2) for r in ratios[1:]]
        boxes += [(x - a, y - b, x + a, y + b) for a, b in kinds]
    result = np.array(boxes).reshape(1, -1, 4)
    return np.clip(result, 0, 1) if clip else result


def multibox_transform_loc(scores, moves, anchors, clip=True, threshold=0.01, variances=(0.1, 0.1, 0.2, 0.2)):
    batch, classes, count = scores.shape
    result, counts = np.full((batch, count, 6), -1.0), np.zeros(batch, np.int32)
    for b, j in np.ndindex(batch, count):
        best = int(np.argmax(scores[b, 1:, j])) + 1
        if scores[b, best, j] < threshold:
            continue
        x1, y1, x2, y2 = anchors[0, j]
        dx, dy, dw, dh = moves[b, 4 * j:4 * j + 4] * variances
        x, y = dx * (x2 - x1) + (x1 + x2) / 2, dy * (y2 - y1) + (y1 + y2) / 2
        w, h = math.exp(dw) * (x2 - x1) / 2, math.exp(dh) * (y2 - y1) / 2
        box = np.array([x - w, y - h, x + w, y + h])
        result[b, counts[b]] = [best - 1, scores[b, best, j], *(np.clip(box, 0, 1) if clip else box)]
        counts[b] += 1
    return result, counts


def get_valid_counts(data, threshold, id_index=0, score_index=1):
    boxes = np.full(data.shape, -1.0)
    counts, places = np.zeros(len(data), np.int32), np.full(data.shape[:2], -1, np.int32)
    for b, j in np.ndindex(*data.shape[:2]):
        if data[b, j, score_index] > threshold and (id_index < 0 or data[b, j, id_index] >= 0):
            boxes[b, counts[b]], places[b, counts[b]] = data[b, j], j
            counts[b] += 1
    return counts, boxes, places


def _shared(a, b, more=0.0):
    """The area of intersection over that of the union, of boxes x1, y1, x2, y2 in any order."""
    a = [min(a[0], a[2]), min(a[1], a[3]), max(a[0], a[2]), max(a[1], a[3])]
    b = [min(b[0], b[2]), min(b[1], b[3]), max(b[0], b[2]), max(b[1], b[3])]
    w = max(0.0, min(a[2], b[2]) - max(a[0], b[0]) + more)
    h = max(0.0, min(a[3], b[3]) - max(a[1], b[1]) + more)
    union = ((a[2] - a[0] + more) * (a[3] - a[1] + more)
             + (b[2] - b[0] + more) * (b[3] - b[1] + more) - w * h)
    return w * h / union if union > 0 else 0.0


def nms(data, counts, indices, most, threshold, force=False, top_k=-1, corners=2, score=1, label=0,
        return_indices=True, to_bottom=False):
    batch, n, _ = data.shape
    boxes, found = np.full(data.shape, -1.0), np.full((batch, n), -1, np.int32)
    for b in range(batch):
        valid = int(counts[b])
        if threshold <= 0:
            boxes[b, :valid], found[b, :valid] = data[b, :valid], np.arange(valid)
            continue
        order = sorted(range(valid), key=lambda j: -data[b, j, score])
        kept = 0
        for place, j in enumerate(order[:top_k] if top_k > 0 else order):
            if kept == most:
                break
            box = data[b, j]
            if box[score] > 0:
                def drops(k):
                    other = data[b, k]
                    same = force or label < 0 or other[label] == box[label]
                    return (other[score] > 0 and (label < 0 or other[label] >= 0) and same and
                            _shared(box[corners:corners + 4], other[corners:corners + 4]) >= threshold)
                if any(drops(k) for k in found[b, :place] if k >= 0):
                    continue
                kept += 1
            boxes[b, place], found[b, place] = box, j
    if not return_indices:
        if to_bottom:
            for b in range(batch):
                rows = [r.copy() for r in boxes[b] if r[0] >= 0]
                boxes[b] = -1
                boxes[b, :len(rows)] = np.array(rows).reshape(len(rows), -1)
        return boxes
    out, numbers = np.full((batch, n), -1, np.int32), np.zeros((batch, 1), np.int32)
    for b in range(batch):
        given = [indices[b, j] for j in found[b] if j >= 0]
        given = [i for i in given if i >= 0]
        out[b, :len(given)], numbers[b] = given, len(given)
    return out, numbers


def _survivors(boxes, scores, takes_part, drops, most=None, more=0.0):
    """Indices of the boxes that stay, from the best score down; drops(shared part)."""
    order = [j for j in np.argsort(-scores, kind="stable") if takes_part(scores[j])]
    kept = []
    for j in order:
        if most is not None and 0 <= most <= len(kept):
            break
        if not any(drops(_shared(boxes[j], boxes[k], more)) for k in kept):
            kept.append(j)
    return kept


def all_class_nms(boxes, scores, most, share, least, onnx=True):
    batch, classes, n = scores.shape
    found = [[(c, j) for c in range(classes)
              for j in (_survivors(boxes[b], scores[b, c], lambda s: s > least, lambda p: p >= share, most)
                        if share > 0 else [])] for b in range(batch)]
    if onnx:
        rows = np.full((batch * classes * n, 3), -1, np.int64)
        all_rows = [(b, *pair) for b in range(batch) for pair in found[b]]
        rows[:len(all_rows)] = np.array(all_rows, np.int64).reshape(-1, 3)
        return rows, np.array([len(all_rows)])
    rows, values = np.full((batch, classes * n, 2), -1, np.int64), np.full((batch, classes * n), -1.0)
    for b in range(batch):
        for k, (c, j) in enumerate(found[b]):
            rows[b, k], values[b, k] = (c, j), scores[b, c, j]
    return rows, values, np.array([len(pairs) for pairs in found])


def regular_nms(boxes, scores, per_class, most, classes, share, least):
    batch = len(boxes)
    corners, labels = np.zeros((batch, most, 4)), np.zeros((batch, most))
    values, counts = np.zeros((batch, most)), np.zeros(batch)
    scores = scores[:, :, scores.shape[2] - classes:]
    for b in range(batch):
        found = [(-scores[b, j, c], c, k, j) for c in range(classes)
                 for k, j in enumerate(_survivors(boxes[b], scores[b, :, c], lambda s: s >= least,
                                                  lambda p: p > share, per_class))]
        found = sorted(found)[:most]
        counts[b] = len(found)
        for k, (score, c, _, j) in enumerate(found):
            corners[b, k], labels[b, k], values[b, k] = boxes[b, j], c, -score
    return corners, labels, values, counts


def proposal(scores, moves, info, scales=(4, 8, 16, 32), ratios=(0.5, 1, 2), stride=16, threshold=0.7,
             before=6000, after=300, least=16, iou_loss=False):
    batch, _, h, w = scores.shape
    kinds = len(scales) * len(ratios)
    result = np.zeros((batch * after, 5))
    for b in range(batch):
        boxes, values = [], []
        height, width, scale_of = info[b]
        for y, x, k in np.ndindex(h, w, kinds):
            ratio, scale = ratios[k // len(scales)], scales[k % len(scales)]
            centre = (stride - 1) / 2
            bw = math.floor(math.sqrt(math.floor(stride * stride / ratio)) + 0.5) * scale
            bh = math.floor(bw / scale * ratio + 0.5) * scale
            x1, y1 = centre - (bw - 1) / 2 + x * stride, centre - (bh - 1) / 2 + y * stride
            x2, y2 = centre + (bw - 1) / 2 + x * stride, centre + (bh - 1) / 2 + y * stride
            d = moves[b, 4 * k:4 * k + 4, y, x]
            if iou_loss:
                box = np.array([x1, y1, x2, y2]) + d
            else:
                ww, hh = x2 - x1 + 1, y2 - y1 + 1
                cx, cy = d[0] * ww + x1 + (ww - 1) / 2, d[1] * hh + y1 + (hh - 1) / 2
                pw, ph = math.exp(d[2]) * ww, math.exp(d[3]) * hh
                box = np.array([cx - (pw - 1) / 2, cy - (ph - 1) / 2, cx + (pw - 1) / 2, cy + (ph - 1) / 2])
            box = np.clip(box, 0, [width - 1, height - 1, width - 1, height - 1])
            value = scores[b, kinds + k, y, x]
            if y >= int(height / stride) or x >= int(width / stride):
                value = -1.0
            smallest = scale_of * least
            if box[2] - box[0] + 1 < smallest or box[3] - box[1] + 1 < smallest:
                box, value = box + np.array([-1, -1, 1, 1]) * smallest / 2, -1.0
            boxes.append(box)
            values.append(value)
        order = np.argsort(-np.array(values), kind="stable")[:before]
        kept = _survivors([boxes[j] for j in order], -np.arange(len(order), dtype=float), lambda s: True,
                          lambda p: p > threshold, None, 1.0)
        for i in range(after):
            result[b * after + i] = [b, *boxes[order[kept[i % min(len(kept), after)]]]]
    return result
