"""Scatters and sparse matrices, for the table of cases."""
import numpy as np

COMBINE = {"update": lambda old, new: new, "add": lambda old, new: old + new,
           "mul": lambda old, new: old * new, "mean": lambda old, new: (old + new) / 2,
           "min": np.minimum, "max": np.maximum}


def scatter_elements(data, indices, updates, axis=0, mode="update"):
    result = data.copy()
    for i in np.ndindex(*indices.shape):
        place = list(i)
        place[axis] = indices[i]
        result[tuple(place)] = COMBINE[mode](result[tuple(place)], updates[i])
    return result


def scatter_nd(data, indices, updates, mode="update"):
    result = data.copy()
    for i in np.ndindex(*indices.shape[1:]):
        place = tuple(indices[(slice(None),) + i])
        result[place] = COMBINE[mode](result[place], updates[i])
    return result


def compressed(values, columns, starts, width):
    """The dense matrix of compressed rows, or rows of blocks."""
    blocks = values.reshape(len(values), *(values.shape[1:] or (1, 1)))
    high, wide = blocks.shape[1:]
    result = np.zeros(((len(starts) - 1) * high, width))
    for row in range(len(starts) - 1):
        for e in range(starts[row], starts[row + 1]):
            column = int(columns[e]) * wide
            result[row * high:(row + 1) * high, column:column + wide] += blocks[e]
    return result


def transposed(values, columns, starts):
    rows = np.repeat(np.arange(len(starts) - 1), np.diff(starts))
    order = np.argsort(columns, kind="stable")
    counts = np.searchsorted(columns[order], np.arange(len(starts)))
    return values[order], rows[order], counts
