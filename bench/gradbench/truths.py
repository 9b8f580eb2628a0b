"""What derivatives must be, at small sizes: closed forms, or central differences of the function as C++ computes it."""
import numpy as np
from racers import write_inputs

STEP = 1e-5


def differences(side, folder, inputs, function, names):
    """The dense Jacobian of a function by the inputs that are named, by central differences."""
    columns = []
    for name in names:
        for place in range(inputs[name].size):
            ends = []
            for step in (STEP, -STEP):
                moved = np.array(inputs[name], dtype=np.float64)
                moved.ravel()[place] += step
                write_inputs(inputs | {name: moved}, folder)
                side.load(folder)
                ends.append(side.results(function))
            columns.append((ends[0] - ends[1]) / (2 * STEP))
    return np.stack(columns, axis=-1)


def ba(inputs, found):
    """Dense, from compressed rows."""
    p = inputs["weights"].size
    starts, columns, entries = np.split(found, [3 * p + 1, 34 * p + 1])
    dense = np.zeros((3 * p, sum(inputs[name].size for name in ("cameras", "points", "weights"))))
    for row in range(3 * p):
        own = slice(int(starts[row]), int(starts[row + 1]))
        dense[row, columns[own].astype(int)] = entries[own]
    return dense


def ht(inputs, found):
    """The columns of each point's own coordinates, apart."""
    c = inputs["us"].shape[0]
    rows = found.reshape(c, 3, 28)
    dense = np.zeros((c, 3, c, 2))
    for i in range(c):
        dense[i, :, i] = rows[i, :, :2]
    return np.concatenate([dense.reshape(3 * c, 2 * c), rows[:, :, 2:].reshape(3 * c, 26)], axis=1)


def kmeans(inputs):
    points, centroids = inputs["points"], inputs["centroids"]
    nearest = ((points[:, None] - centroids) ** 2).sum(axis=2).argmin(axis=1)
    return np.stack([centroids[j] - points[nearest == j].mean(axis=0) for j in range(len(centroids))])


def det(inputs):
    a = inputs["a"]
    return np.linalg.det(a) * np.linalg.inv(a).T


def lse(inputs):
    e = np.exp(inputs["x"] - inputs["x"].max())
    return e / e.sum()


# A closed form.
CLOSED = {
    ("hello", "double"): lambda inputs: 2 * inputs["x"],
    ("kmeans", "dir"): kmeans,
    ("lse", "gradient"): lse,
    ("det", "gradient"): det,
} | {("saddle", name): lambda inputs: np.full(4, 8.246324826140356e-06) for name in ("rr", "rf", "fr", "ff")} | {
    ("particle", name): lambda inputs: np.array(0.2071918746486116) for name in ("rr", "rf", "fr", "ff")}
# Whose differences by which inputs, and what makes them and the result comparable.
DIFFERENCES = {
    ("gmm", "jacobian"): ("objective", ("alpha", "mu", "q", "l")),
    ("ba", "jacobian"): ("objective", ("cameras", "points", "weights")),
    ("ht", "jacobian"): ("objective", ("us", "theta")),
    ("ht", "simple jacobian"): ("simple objective", ("theta",)),
    ("lstm", "jacobian"): ("objective", ("main", "extra")),
    ("llsq", "gradient"): ("primal", ("x",)),
    ("ode", "gradient"): ("primal", ("x",)),
}
DENSE = {("ba", "jacobian"): ba, ("ht", "jacobian"): ht}


def truth(evaluation, function, inputs, found, side, folder):
    """The true derivative and the one that was found, as arrays of one shape; nothing if `function` is none. `side` is C++."""
    key = (evaluation.name, function)
    if key in CLOSED:
        return CLOSED[key](inputs).ravel(), found
    if key not in DIFFERENCES:
        return None
    primal, names = DIFFERENCES[key]
    true = differences(side, folder, inputs, primal, names)
    if key == ("ode", "gradient"):
        true = true[-1]  # of the last element
    return true, DENSE[key](inputs, found) if key in DENSE else found.reshape(true.shape)
