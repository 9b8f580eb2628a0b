"""Scans, and what is written over a region, for the table of cases."""
import numpy as np


def linear_recurrence(factors, terms):
    result, last = [], 0.0
    for factor, term in zip(factors, terms):
        last = term + factor * last
        result.append(last)
    return np.array(result)


def product_of_others(a):
    return np.array([np.prod(np.delete(a, i), dtype=a.dtype) for i in range(len(a))])


def strided_set(a, values, place):
    result = a.copy()
    result[place] = values
    return result


def matrix_set_diag(a, diagonals, k1=0, k2=0, right_above=True, right_below=False):
    result = a.copy()
    rows, columns = a.shape[-2:]
    for k in range(k1, k2 + 1):
        length = min(rows + min(k, 0), columns - max(k, 0))
        row = diagonals if k1 == k2 else diagonals[..., k2 - k, :]
        right = right_above if k >= 0 else right_below
        first = row.shape[-1] - length if right else 0
        for n in range(length):
            result[..., n - min(k, 0), n + max(k, 0)] = row[..., first + n]
    return result
