"""Fixed-point arithmetic, for the table of cases."""
import numpy as np


def fixed_point(a, multiplier, shift):
    """a * multiplier / 2^31 * 2^shift, a half rounded up, exactly."""
    from fractions import Fraction
    import math

    def one(x, m, s):
        exact = Fraction(int(x)) * int(m) * Fraction(2) ** (int(s) - 31)
        return math.floor(exact + Fraction(1, 2))
    return np.vectorize(one, otypes=[int])(a, multiplier, shift)
