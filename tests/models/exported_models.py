#!/usr/bin/python3
"""Has ONNX's own checker read what `relay export` writes, and ONNX Runtime run it.

  exported_models.py RUNNER FILE...             the checker and its inference of shapes, over the functions of these files
  exported_models.py --runtime RUNNER FILE...   runs the models, too, in a folder where `npm i --ignore-scripts onnxruntime-node` has been run

Exit codes: 0, 1 a model is refused or differs, 77 there is no `onnx` for Python, or this build has no ONNX.
"""
import glob, os, subprocess, sys, tempfile

sys.path.pop(0)  # the folder of this file, in which `onnx` is one of tests
try:
    import numpy as np
    import onnx
    import onnx.checker, onnx.shape_inference
except ImportError:
    sys.exit(77)

SKIPPED = 77
TOLERANCE = 2e-6


def refused(model):
    """Empty, or why."""
    try:
        onnx.checker.check_model(model, full_check=True)
        onnx.shape_inference.infer_shapes(model, strict_mode=True, data_prop=True)
        return ""
    except Exception as error:
        return str(error)


def difference(found, wanted):
    """Empty, or what differs."""
    if found.shape != wanted.shape:
        return f"shape {found.shape}, not {wanted.shape}"
    found, wanted = found.astype(float), wanted.astype(float)
    same = (found == wanted) | (np.isnan(found) & np.isnan(wanted))
    with np.errstate(invalid="ignore"):
        near = np.abs(found - wanted) <= TOLERANCE * (1 + np.abs(wanted))
    wrong = ~(same | near)
    return f"{found[wrong][0]}, not {wanted[wrong][0]}" if wrong.any() else ""


def run_differs(path, model):
    sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
    from quantized_models import run
    data = np.load(path[:-5] + ".npz")
    try:
        found = run(path, {each.name: data[f"in_{k}"] for k, each in enumerate(model.graph.input)})
    except subprocess.CalledProcessError:
        return "ONNX Runtime refuses it"
    for k, each in enumerate(found):
        differs = difference(each, data[f"out_{k}"])
        if differs:
            return f"result {k}: {differs}"
    return ""


def main(arguments):
    with_runtime = arguments[:1] == ["--runtime"]
    runner, *files = arguments[with_runtime:]
    with tempfile.TemporaryDirectory() as folder:
        code = subprocess.run([runner, "--write", folder, *files]).returncode
        if code:
            return code
        wrong = 0
        models = sorted(glob.glob(folder + "/*.onnx"))
        for path in models:
            model = onnx.load(path)
            problem = refused(model) or (run_differs(path, model) if with_runtime else "")
            if problem:
                wrong += 1
                print(f"{os.path.basename(path)}: {problem}")
        print(f"{len(models) - wrong} of {len(models)} models are right")
        return 1 if wrong or not models else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
