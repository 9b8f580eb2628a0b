"""The evaluations' inputs and outputs as GradBench's messages have them, which are JSON."""
import numpy as np


def floats(inputs, *integers):
    return {name: np.asarray(value, dtype=np.int64 if name in integers else np.float64) for name, value in inputs.items()}


def read_ba(message):
    n, m, p = message["n"], message["m"], message["p"]
    return floats({"cameras": np.tile(message["cam"], (n, 1)), "points": np.tile(message["x"], (m, 1)),
                   "weights": np.full(p, message["w"]), "features": np.tile(message["feat"], (p, 1))})


def read_ht(message):
    model, data = message["data"]["model"], message["data"]
    us = np.asarray(message["us"], dtype=np.float64).reshape(-1, 2)  # none in the simple variant
    return floats({"parents": model["parents"], "relatives": model["base_relatives"], "inverses": model["inverse_base_absolutes"],
                   "positions": model["base_positions"], "weights": model["weights"], "triangles": model["triangles"],
                   "theta": message["theta"], "us": us, "correspondences": data["correspondences"], "points": data["points"]},
                  "parents", "triangles", "correspondences")


def read(evaluation, message):
    """The inputs, by the names that our programs have for them."""
    if evaluation == "hello":
        return floats({"x": message})
    if evaluation == "ba":
        return read_ba(message)
    if evaluation == "ht":
        return read_ht(message)
    names = {
        "gmm": ("x", "alpha", "mu", "q", "l", "gamma", "m"), "kmeans": ("points", "centroids"), "lse": ("x",), "llsq": ("x", "n"),
        "ode": ("x", "s"), "saddle": ("start",), "particle": ("w",),
        "lstm": ("main_params", "extra_params", "state", "sequence"), "det": ("A",)}[evaluation]
    own = {"main_params": "main", "extra_params": "extra", "A": "a"}
    inputs = {own.get(name, name): message[name] for name in names}
    if evaluation == "det":
        inputs["a"] = np.reshape(inputs["a"], (message["ell"], message["ell"]))
    return floats(inputs, "m" if evaluation == "gmm" else "n", "s")


def function_of(evaluation, function, message):
    """The name that we have for a function: the hand's has variants."""
    return f"simple {function}" if evaluation == "ht" and not message["us"] else function


def write(evaluation, function, arrays):
    """What is answered: numbers and lists, but for the parts of a record and of a sparse matrix."""
    if (evaluation, function) == ("gmm", "jacobian"):
        return dict(zip(("alpha", "mu", "q", "l"), (each.tolist() for each in arrays)))
    if (evaluation, function) == ("ba", "objective"):
        errors, own = arrays  # all observations are one, and are answered once
        return {"reproj_error": {"elements": errors[0].tolist(), "repeated": len(errors)},
                "w_err": {"element": float(own[0]), "repeated": len(own)}}
    if (evaluation, function) == ("ba", "jacobian"):
        return {name: each[:30].tolist() + each[-1:].tolist() for name, each in zip(("rows", "cols", "vals"), arrays)}
    if evaluation == "ht" and function.endswith("objective") or (evaluation, function) in (("lstm", "jacobian"), ("det", "gradient")):
        return np.concatenate([each.ravel() for each in arrays]).tolist()
    (array,) = arrays
    return array.tolist()
