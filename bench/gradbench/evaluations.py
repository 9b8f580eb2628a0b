"""The evaluations of GradBench: what goes in, at each size, and what Relay runs.

Inputs have the names that they have in the files that all sides read, one `.npy` each. They are drawn anew from one seed for each
evaluation, as GradBench draws them, but for the hand, which is none of real bones, and the cameras, which are not all the same.
"""
from dataclasses import dataclass
from typing import Callable

import numpy as np

SEED = 31337


@dataclass(frozen=True)
class Function:
    """What Relay evaluates, the function that it is a derivative of, and the tensors of its value `r`."""
    relay: str
    of: str = ""
    results: tuple = ("r",)


@dataclass(frozen=True)
class Evaluation:
    name: str
    draw: Callable  # a generator and the numbers of a size give the inputs
    sizes: dict  # small, default and large: those numbers
    functions: dict  # by GradBench's names
    setup: str = ""  # what Relay binds besides the inputs
    torch: bool = True  # is it in PyTorch, too?

    def inputs(self, size):
        drawn = self.draw(np.random.default_rng(SEED), **self.sizes[size])
        return {name: np.asarray(value) for name, value in drawn.items()}


def hello(rng):
    return {"x": 3.0}


def gmm(rng, n, d, k):
    drawn = {"x": rng.normal(size=(n, d)), "alpha": rng.normal(size=k), "mu": rng.uniform(size=(k, d)),
             "q": rng.normal(size=(k, d)), "l": rng.normal(size=(k, d * (d - 1) // 2))}
    return drawn | {"gamma": 1.0, "m": 0}


CAMERA = [-0.758453, -1.109613, -0.845551, 34.556073, 39.676747, 53.881673, 419.194514, 5.864426, -8.51887, 0.087812, 0.002739]
POINT = [7.203245, 0.001144, 3.023326]
WEIGHT = 0.417022
FEATURE = [271.760969, 834.209256]


def ba(rng, n, m, p):
    def near(numbers, *shape):
        return np.array(numbers) * rng.uniform(0.99, 1.01, size=shape)
    return {"cameras": near(CAMERA, n, 11), "points": near(POINT, m, 3), "weights": near(WEIGHT, p), "features": near(FEATURE, p, 2)}


def ht(rng, vertices, triangles, c):
    parents = [-1]  # the wrist, five fingers of four bones, the forearm
    for finger in range(5):
        parents += [0, 1 + 4 * finger, 2 + 4 * finger, 3 + 4 * finger]
    parents += [0]
    bones = len(parents)
    positions = np.concatenate([rng.normal(size=(vertices, 3)), np.ones((vertices, 1))], axis=1)
    return {"parents": parents, "relatives": 0.5 * rng.normal(size=(bones, 4, 4)), "inverses": 0.5 * rng.normal(size=(bones, 4, 4)),
            "positions": positions, "weights": rng.uniform(size=(vertices, bones)),
            "triangles": rng.integers(0, vertices, size=(triangles, 3)), "theta": rng.normal(size=26),
            "us": rng.uniform(size=(c, 2)), "correspondences": rng.integers(0, min(triangles, vertices), size=c), "points": rng.normal(size=(c, 3))}


def lstm(rng, layers, width, c):
    return {"main": rng.uniform(size=(2 * layers, 4 * width)), "extra": rng.uniform(size=(3, width)),
            "state": rng.uniform(size=(2 * layers, width)), "sequence": rng.integers(0, 2, size=(c, width)).astype(float)}


def kmeans(rng, k, n, d):
    points = rng.uniform(size=(n, d))
    return {"points": points, "centroids": points[n - k:]}


def lse(rng, n):
    return {"x": rng.uniform(size=n)}


def llsq(rng, n, m):
    return {"x": rng.uniform(size=m), "n": n}


def ode(rng, n, s):
    return {"x": rng.uniform(size=n), "s": s}


def det(rng, n):
    return {"a": rng.uniform(size=(n, n))}


def saddle(rng):
    return {"start": [1.0, 1.0]}


def particle(rng):
    return {"w": 0.0}


GMM = "x, gamma, m"
BA = "cameras, points, weights, features"
HT = "us, correspondences, points"
LSTM = "state, sequence"
SAME = {"small": {}, "default": {}, "large": {}}

EVALUATIONS = [
    Evaluation("hello", hello, SAME, {"square": Function("squared(x)"), "double": Function("doubled(x)", "square")}),
    Evaluation(
        "gmm", gmm, {"small": {"n": 8, "d": 3, "k": 4}, "default": {"n": 1000, "d": 10, "k": 25},
                     "large": {"n": 1000, "d": 64, "k": 50}},
        {"objective": Function(f"objective(p, {GMM})"),
         "jacobian": Function(f"gradient(p, {GMM})", "objective", ("r.alpha", "r.mu", "r.q", "r.l"))},
        "let p = Params(alpha, mu, q, l)"),
    Evaluation(
        "ba", ba, {"small": {"n": 3, "m": 4, "p": 10}, "default": {"n": 49, "m": 7776, "p": 31843},
                   "large": {"n": 257, "m": 65132, "p": 225911}},
        {"objective": Function(f"objective({BA})", results=("r.0", "r.1")),
         "jacobian": Function(f"sparse_jacobian({BA})", "objective", ("r.0", "r.1", "r.2"))}),
    Evaluation(
        "ht", ht, {"small": {"vertices": 9, "triangles": 5, "c": 6}, "default": {"vertices": 544, "triangles": 1084, "c": 400},
                   "large": {"vertices": 10000, "triangles": 1084, "c": 3200}},
        {"objective": Function(f"complicated(model, theta, {HT})"),
         "jacobian": Function(f"complicated_jacobian(model, theta, {HT})", "objective"),
         "simple objective": Function("simple(model, theta, correspondences, points)"),
         "simple jacobian": Function("simple_jacobian(model, theta, correspondences, points)", "simple objective")},
        "let model = Model(parents, relatives, inverses, positions, weights, triangles)"),
    Evaluation(
        "lstm", lstm, {"small": {"layers": 2, "width": 3, "c": 6}, "default": {"layers": 2, "width": 14, "c": 1024},
                       "large": {"layers": 6, "width": 14, "c": 4096}},
        {"objective": Function(f"objective(main, extra, {LSTM})"),
         "jacobian": Function(f"gradient(main, extra, {LSTM})", "objective", ("r.0", "r.1"))}),
    Evaluation(
        "kmeans", kmeans, {"small": {"k": 3, "n": 20, "d": 2}, "default": {"k": 100, "n": 10000, "d": 8},
                           "large": {"k": 1000, "n": 10000, "d": 16}},
        {"cost": Function("cost(points, centroids)"), "dir": Function("dir(points, centroids)", "cost")}),
    Evaluation("lse", lse, {"small": {"n": 7}, "default": {"n": 80000}, "large": {"n": 1280000}},
               {"primal": Function("primal(x)"), "gradient": Function("gradient(x)", "primal")}),
    Evaluation("llsq", llsq, {"small": {"n": 16, "m": 5}, "default": {"n": 1024, "m": 128}, "large": {"n": 16392, "m": 128}},
               {"primal": Function("primal(x, n)"), "gradient": Function("gradient(x, n)", "primal")}),
    Evaluation("ode", ode, {"small": {"n": 12, "s": 50}, "default": {"n": 10000, "s": 10}, "large": {"n": 100000, "s": 10}},
               {"primal": Function("primal(x, s)"), "gradient": Function("gradient(x, s)", "primal")}),
    Evaluation("det", det, {"small": {"n": 4}, "default": {"n": 8}, "large": {"n": 10}},
               {"primal": Function("primal(a)"), "gradient": Function("gradient(a)", "primal")}),
    Evaluation("saddle", saddle, SAME, {name: Function(f"{name}(start)") for name in ("rr", "rf", "fr", "ff")}, torch=False),
    Evaluation("particle", particle, SAME, {name: Function(f"{name}(w)") for name in ("rr", "rf", "fr", "ff")}, torch=False),
]
BY_NAME = {each.name: each for each in EVALUATIONS}
