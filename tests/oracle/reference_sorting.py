"""Sorting: what NumPy gives in another form."""
import numpy as np


def unique(a, in_order=False, counted=False):
    """The distinct values, their first places, which of them each element is, how many there are,
    how often each occurs; padded with zeros."""
    values, first, inverse, counts = np.unique(
        a, return_index=True, return_inverse=True, return_counts=True)
    if in_order:
        order = np.argsort(first, kind="stable")
        inverse = np.argsort(order, kind="stable")[inverse]
        values, first, counts = values[order], first[order], counts[order]

    def padded(x):
        return np.concatenate([x, np.zeros(len(a) - len(x), x.dtype)])

    fields = (padded(values), padded(first), inverse, np.array([len(values)]))
    return fields + (padded(counts),) if counted else fields


def searchsorted(rows, values, side="left"):
    flat = [np.searchsorted(r, v, side) for r, v in
            zip(rows.reshape(-1, rows.shape[-1]), values.reshape(-1, values.shape[-1]))]
    return np.stack(flat).reshape(values.shape)
