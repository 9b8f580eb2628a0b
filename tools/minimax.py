#!/usr/bin/env python3
"""Prints the polynomial coefficients of loops/math.h and loops/math64.h (needs mpmath).

Each fit below is the minimax polynomial of its function: Remez exchange on a grid of Chebyshev
points, in 70 digits. Coefficients become float32 or float64 one by one from the highest power down,
and those below are fitted again each time, so that they make up for the rounding. (Not from the
lowest up: x, x^2, ... alone is no Haar system on an interval around 0, and Remez needs one.)
The error printed is that of the rounded polynomial in exact arithmetic, under the fit's weight.
"""
import struct

from mpmath import asin, atan, atanh, cos, cospi, erf, erfc, exp, expm1, log, log1p, lu_solve, matrix, mp, mpf
from mpmath import pi, sin, sinh, sqrt

mp.dps = 70


def to_float32(x):
    return mpf(struct.unpack("f", struct.pack("f", float(x)))[0])


def to_float64(x):
    return mpf(float(x))


def evaluate(coefficients, x):
    result = mpf(0)
    for c in reversed(coefficients):
        result = result * x + c
    return result


def remez(points, targets, weights, count):
    """Coefficients of 1, x, .., x^(count-1) that minimise max |weight * (p - target)|."""
    n = len(points)
    reference = [round(i * (n - 1) / count) for i in range(count + 1)]
    for _ in range(60):
        system, rhs = matrix(count + 1, count + 1), matrix(count + 1, 1)
        for row, i in enumerate(reference):
            for k in range(count):
                system[row, k] = points[i] ** k
            system[row, count] = (-1) ** row / weights[i]
            rhs[row] = targets[i]
        solution = lu_solve(system, rhs)
        coefficients, level = [solution[k] for k in range(count)], abs(solution[count])
        error = [weights[i] * (evaluate(coefficients, x) - targets[i])
                 for i, x in enumerate(points)]
        # The new reference: the extreme of each run of errors of one sign, the largest runs kept.
        runs = []
        for i in range(n):
            if runs and (error[i] > 0) == (error[runs[-1]] > 0):
                if abs(error[i]) > abs(error[runs[-1]]):
                    runs[-1] = i
            else:
                runs.append(i)
        while len(runs) > count + 1:
            runs.pop(0 if abs(error[runs[0]]) < abs(error[runs[-1]]) else -1)
        worst = max(abs(e) for e in error)
        if len(runs) < count + 1 or worst - level < worst * mpf("1e-3"):
            break
        reference = runs
    return coefficients


def fit(name, function, weight, low, high, degree, rounding):
    low, high = mpf(low), mpf(high)
    n = 60 * (degree + 2)
    # Chebyshev points, off centre so that none is the removable singularity at 0.
    points = [(low + high) / 2 - (high - low) / 2 * cospi((mpf(i) + mpf("0.37")) / n)
              for i in range(n)]
    exact = [function(x) for x in points]
    weights = [abs(weight(x)) for x in points]
    done = []
    for power in range(degree, -1, -1):
        rest = [exact[i] - x ** (power + 1) * evaluate(done, x) for i, x in enumerate(points)]
        done.insert(0, rounding(remez(points, rest, weights, power + 1)[power]))
    error = max(weights[i] * abs(evaluate(done, x) - exact[i]) for i, x in enumerate(points))
    print(f"{name}: error 2^{float(log(error, 2)):.1f}")
    digits, suffix = (9, "f") if rounding is to_float32 else (17, "")
    print("  {" + ", ".join(f"{float(c):.{digits}g}{suffix}" for c in done) + "}")


def odd_tail(name, function, high, degree, rounding=to_float32):
    """function(x) = x + x^3 p(x^2) for x^2 <= high; the error is relative."""
    fit(name, lambda z: (function(sqrt(z)) / sqrt(z) - 1) / z, lambda z: z * sqrt(z) / function(sqrt(z)),
        0, high, degree, rounding)


def split(name, value, ends):
    """`value` as a sum: the i-th part holds its bits down to 2^-ends[i], the last the rest."""
    parts = []
    for end in ends:
        parts.append(mp.floor(value * mpf(2) ** end) / mpf(2) ** end)
        value -= parts[-1]
    print(f"{name}: " + ", ".join(float(p).hex() for p in parts + [value]))


ln2 = log(mpf(2))
root_half = sqrt(mpf(1) / 2)
half = ln2 / 2 + mpf("1e-4")

split("ln 2, float32", ln2, (15,))
# The first piece starts below the bits whose product with a float32 from `smallest` on is a multiple of 4.
for smallest, top in ((0, 0), (25, -1), (51, -27), (77, -53), (103, -79)):
    kept = 2 / pi - mp.floor(2 / pi / mpf(2) ** (top + 1)) * mpf(2) ** (top + 1)
    split(f"2/pi from 2^{smallest}, float64", kept, (28 - top, 57 - top))

# e^r = 1 + r + r^2 p(r); the error is relative to expm1.
fit("exp_tail", lambda r: (expm1(r) - r) / r**2, lambda r: r**2 / expm1(r),
    -half, half, 4, to_float32)

# (e^2r - 1) / 2 = r + r^2 p(r)
fit("half_expm1_tail", lambda r: (expm1(2 * r) / 2 - r) / r**2, lambda r: 2 * r**2 / expm1(2 * r),
    -half / 2, half / 2, 4, to_float32)

# log(1 + f) = f - f^2/2 + f^3 p(f)
fit("log_tail", lambda f: (log1p(f) - f + f**2 / 2) / f**3, lambda f: f**3 / log1p(f),
    root_half - 1, 2 * root_half - 1, 8, to_float32)

# erf(x) = x + x p(x^2) for |x| < 1, and 1 - 2^q(x) up to 4, with 2^f = 1 + f p(f).
fit("erf_low", lambda z: erf(sqrt(z)) / sqrt(z) - 1, lambda z: sqrt(z) / erf(sqrt(z)),
    0, 1, 6, to_float32)
fit("erf_high", lambda a: log(erfc(a), 2), lambda a: erfc(a) * ln2, 1, 4, 6, to_float32)
fit("exp2_low", lambda f: expm1(f * ln2) / f, lambda f: f * exp(-f * ln2),
    "-0.5001", "0.5001", 4, to_float32)

odd_tail("asin_tail", asin, mpf("0.25"), 4)
odd_tail("atan_tail", atan, (sqrt(mpf(2)) - 1) ** 2, 4)
odd_tail("atanh_tail", atanh, mpf("0.0825"), 4)
odd_tail("sinh_tail", sinh, 1, 3)

# sin as above, cos(x) = 1 - x^2/2 + x^4 p(x^2), for an eighth of a turn
eighth = (pi / 4 * mpf("1.0004")) ** 2
odd_tail("sin_tail", sin, eighth, 2)
fit("cos_tail", lambda z: ((cos(sqrt(z)) - 1) / z + mpf(1) / 2) / z, lambda z: z**2 / cos(sqrt(z)),
    0, eighth, 2, to_float32)

# log((1 + s) / (1 - s)) = 2s + 2s^3 p(s^2)
s_max = (1 - root_half) / (1 + root_half)
fit("dlog_tail", lambda z: (log((1 + sqrt(z)) / (1 - sqrt(z))) / (2 * sqrt(z)) - 1) / z,
    lambda z: z, 0, s_max**2, 5, to_float64)
# 2^f = 1 + f p(f)
fit("dexp2", lambda f: expm1(f * ln2) / f, lambda f: f * exp(-f * ln2),
    "-0.5001", "0.5001", 7, to_float64)

# --- loops/math64.h ---

split("ln 2, float64", ln2, (42,))
split("ln 2, half", ln2, (27,))
split("log2 e, half", 1 / ln2, (26,))
split("log10 e, half", 1 / log(mpf(10)), (28,))
split("log10 2, float64", ln2 / log(mpf(10)), (43,))
split("2/3 log2 e, half", 2 / ln2 / 3, (26,))
split("pi/2", pi / 2, (52,))
split("pi/2 in 37 bits", pi / 2, (36, 74))
split("atan 1/2", atan(mpf(1) / 2), (54,))
mp.dps = 500
two_over_pi = int(mp.floor(2 / pi * mpf(2) ** 1280))
print("2/pi: " + ", ".join(f"0x{two_over_pi >> (1248 - 32 * i) & 0xffffffff:08x}" for i in range(40)))
mp.dps = 70

fit("exp_tail, float64", lambda r: (expm1(r) - r) / r**2, lambda r: r**2 / expm1(r),
    -half, half, 10, to_float64)
# log((1 + s) / (1 - s)) = 2s + s^3 p(s^2), and 2/3 s (3 + s^2 + s^4 p(s^2))
fit("log_tail, float64", lambda z: (log((1 + sqrt(z)) / (1 - sqrt(z))) / sqrt(z) - 2) / z,
    lambda z: z * sqrt(z) / log((1 + sqrt(z)) / (1 - sqrt(z))), 0, s_max**2, 6, to_float64)
fit("log_tail of powers", lambda z: (log((1 + sqrt(z)) / (1 - sqrt(z))) * 3 / 2 / sqrt(z) - 3 - z) / z**2,
    lambda z: z**2 / 3, 0, s_max**2, 7, to_float64)
odd_tail("sin_tail, float64", sin, eighth, 5, to_float64)
fit("cos_tail, float64", lambda z: ((cos(sqrt(z)) - 1) / z + mpf(1) / 2) / z, lambda z: z**2 / cos(sqrt(z)),
    0, eighth, 5, to_float64)
odd_tail("asin_tail, float64", asin, mpf("0.25"), 12, to_float64)
odd_tail("atan_tail, float64", atan, mpf("0.1915"), 11, to_float64)
odd_tail("sinh_tail, float64", sinh, 1, 7, to_float64)
fit("erf_low, float64", lambda z: erf(sqrt(z)) / sqrt(z) - 1, lambda z: sqrt(z) / erf(sqrt(z)),
    0, 1, 12, to_float64)
fit("erf_high, float64", lambda a: log(erfc(a), 2), lambda a: erfc(a) * ln2, 1, 6, 18, to_float64)
