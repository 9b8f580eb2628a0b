"""What the expressions of the table of cases may use besides NumPy: operators that it does not have,
written for plainness. Arguments are NumPy arrays, floats in float64."""
import math

import numpy as np


def erf(a):
    return np.vectorize(math.erf, otypes=[float])(a)
