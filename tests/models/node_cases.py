#!/usr/bin/python3
"""The node cases of ONNX's own package (python3-onnx): one tiny model for each operator and way to use
it, with results that NumPy gave.

  node_cases.py --measure RELAY [PATTERN]   imports and runs all of them, and says how many agree
  node_cases.py --choose FOLDER MEASURED    writes some of each operator, but for those that are in the list of what differs
  node_cases.py --write FOLDER [NAME...]    writes those as NAME.onnx and NAME.npz, for the tests

Inputs that are shapes, axes and the like are constants in a model that anybody exports: integers of at
most one axis that are no data become weights here (`--inputs` leaves them inputs).
"""
import os, subprocess, sys, tempfile, warnings
warnings.filterwarnings("ignore")
import numpy as np
for _name, _type in {"float": float, "bool": bool, "int": int, "object": object}.items():  # names that NumPy has no more
    if _name not in np.__dict__:
        setattr(np, _name, _type)
import onnx
from onnx import numpy_helper
from onnx.backend.test.case.node import collect_testcases

FIRST, LAST = 9, 17
# Inputs, by operator and place, that stand for attributes.
STATIC = {
    "Reshape": [1], "Expand": [1], "Tile": [1], "Slice": [1, 2, 3, 4], "Pad": [1, 2], "Squeeze": [1], "Unsqueeze": [1],
    "ReduceSum": [1], "Split": [1], "TopK": [1], "OneHot": [1], "Resize": [1, 2, 3], "Upsample": [1], "ConstantOfShape": [0],
    "CumSum": [1], "Range": [0, 1, 2], "HannWindow": [0], "HammingWindow": [0], "BlackmanWindow": [0], "DFT": [1], "STFT": [1, 3],
    "Trilu": [1], "Loop": [0], "MelWeightMatrix": [0, 1, 2, 3, 4], "Dropout": [1, 2], "SplitToSequence": [1], "SequenceAt": [1],
}

# Operators with several ways to use them.
VARIED = {"Conv", "ConvTranspose", "MaxPool", "AveragePool", "Resize", "Slice", "LSTM", "GRU", "RNN", "Scan", "Gemm", "Pad",
          "Reshape", "Gather", "Softmax", "ReduceSum", "NegativeLogLikelihoodLoss", "SoftmaxCrossEntropyLoss", "OneHot", "TopK",
          "LayerNormalization", "BatchNormalization", "Einsum", "ScatterND", "Split", "Squeeze", "Unsqueeze", "Cast", "GridSample",
          "NonMaxSuppression", "Trilu", "CumSum", "Mod", "QuantizeLinear", "DequantizeLinear", "Loop", "If", "Clip"}


def cases():
    for case in collect_testcases(None):
        model = case.model
        version = {each.domain: each.version for each in model.opset_import}
        yield case, model, version


def with_constants(model, inputs):
    """The model, and the inputs that are left."""
    if len(model.graph.node) != 1:
        return model, inputs
    node = model.graph.node[0]
    static = {node.input[k] for k in STATIC.get(node.op_type, []) if k < len(node.input)}
    left = []
    kept = []
    for value, data in zip(model.graph.input, inputs):
        if value.name in static and isinstance(data, np.ndarray):
            model.graph.initializer.append(numpy_helper.from_array(data, value.name))
        else:
            kept.append(value)
            left.append(data)
    del model.graph.input[:]
    model.graph.input.extend(kept)
    return model, left


def prepared(case, model, keep_inputs=False):
    inputs, outputs = ([np.asarray(each) if isinstance(each, (np.generic, float, int)) else each for each in list_]
                       for list_ in case.data_sets[0])
    if not keep_inputs:
        model, inputs = with_constants(model, list(inputs))
    return model, inputs, outputs


def is_plain(data):
    return isinstance(data, np.ndarray) and data.dtype.kind in "fiub"


def save(folder, name, model, inputs, outputs):
    onnx.save(model, os.path.join(folder, name + ".onnx"))
    arrays = {f"in_{k}": each for k, each in enumerate(inputs)}
    arrays.update({f"out_{k}": each for k, each in enumerate(outputs)})
    np.savez_compressed(os.path.join(folder, name + ".npz"), **arrays)


def run(relay, folder, name, inputs, outputs):
    """None if it agrees, else what went wrong."""
    def call(*arguments):
        return subprocess.run([relay, *arguments], cwd=folder, capture_output=True, text=True, timeout=60)
    imported = call("import", name + ".onnx")
    if imported.returncode != 0:
        return "import: " + imported.stderr.strip().replace("\n", " ")[:300]
    loads = ", ".join(f'load("{name}.npz", key="in_{k}")' for k in range(len(inputs)))
    text = open(os.path.join(folder, name + ".relay")).read()
    result = "result" if len(outputs) > 1 else "(result,)"
    text += f"\nlet result = main({loads})\n"
    for k in range(len(outputs)):
        text += f'save({result}.{k}, path="{name}_{k}.npy")\n'
    with open(os.path.join(folder, name + "_run.relay"), "w") as file:
        file.write(text)
    ran = call("--jit=off", name + "_run.relay")
    if ran.returncode != 0:
        return "run: " + ran.stderr.strip().replace("\n", " ")[:300]
    for k, wanted in enumerate(outputs):
        got = np.load(os.path.join(folder, f"{name}_{k}.npy"))
        if got.shape != wanted.shape:
            return f"shape: output {k} is {got.shape}, not {wanted.shape}"
        if got.dtype != wanted.dtype:
            return f"dtype: output {k} is {got.dtype}, not {wanted.dtype}"
        tolerance = 2e-3 if wanted.dtype == np.float16 else 1e-5
        if not np.allclose(got.astype(np.float64), wanted.astype(np.float64), rtol=tolerance, atol=tolerance, equal_nan=True):
            return f"value: output {k} differs by {np.nanmax(np.abs(got.astype(np.float64) - wanted.astype(np.float64))):g}"
    return None


def measure(relay, pattern, keep_inputs):
    good, bad = {}, {}
    for case, model, version in cases():
        if pattern and pattern not in case.name:
            continue
        if not FIRST <= version.get("", LAST) <= LAST or "ai.onnx.preview.training" in version or "ai.onnx.ml" in version:
            continue
        op = model.graph.node[0].op_type
        model, inputs, outputs = prepared(case, model, keep_inputs)
        if not all(is_plain(each) for each in [*inputs, *outputs]):
            bad.setdefault(op, []).append((case.name, "data: no tensors of numbers"))
            continue
        with tempfile.TemporaryDirectory() as folder:
            save(folder, case.name, model, inputs, outputs)
            try:
                wrong = run(relay, folder, case.name, inputs, outputs)
            except subprocess.TimeoutExpired:
                wrong = "time: more than a minute"
        if wrong:
            bad.setdefault(op, []).append((case.name, wrong))
            print(f"{op}\t{case.name}\t{wrong}", flush=True)
        else:
            good.setdefault(op, []).append(case.name)
    for op in sorted({*good, *bad}):
        print(f"= {op}: {len(good.get(op, []))} of {len(good.get(op, [])) + len(bad.get(op, []))}")
    print(f"= operators with a case that agrees: {len(good)} of {len({*good, *bad})}")
    print(f"= cases: {sum(map(len, good.values()))} of {sum(map(len, good.values())) + sum(map(len, bad.values()))}")


def choose(folder, bad, most, extra):
    """Of each operator the smallest cases that agree: one, or `most` of those that are listed."""
    chosen = {}
    for case, model, version in cases():
        op = model.graph.node[0].op_type
        if case.name in bad or case.name.endswith("_expanded") or not FIRST <= version.get("", LAST) <= LAST:
            continue
        if "ai.onnx.preview.training" in version or "ai.onnx.ml" in version:
            continue
        model, inputs, outputs = prepared(case, model)
        if not all(is_plain(each) for each in [*inputs, *outputs]):
            continue
        size = len(model.SerializeToString()) + sum(each.nbytes for each in [*inputs, *outputs])
        chosen.setdefault(op, []).append((size, case.name, model, inputs, outputs))
    for op, list_ in chosen.items():
        list_.sort(key=lambda each: each[:2])
        kept = [each for k, each in enumerate(list_) if k == 0 or each[0] < 12000]
        count = most if op in extra else 1
        step = max(1, len(kept) // count)
        for size, name, model, inputs, outputs in kept[::step][:count]:
            if size < 40000:
                save(folder, name, model, inputs, outputs)


def write(folder, names):
    os.makedirs(folder, exist_ok=True)
    for case, model, version in cases():
        if case.name not in names:
            continue
        model, inputs, outputs = prepared(case, model)
        save(folder, case.name, model, inputs, outputs)


if __name__ == "__main__":
    keep = "--inputs" in sys.argv
    arguments = [each for each in sys.argv[1:] if each != "--inputs"]
    if arguments[0] == "--choose":
        bad = {line.split("\t")[1] for line in open(arguments[2]) if "\t" in line}
        os.makedirs(arguments[1], exist_ok=True)
        choose(arguments[1], bad, 4, VARIED)
    elif arguments[0] == "--measure":
        measure(os.path.abspath(arguments[1]), arguments[2] if len(arguments) > 2 else "", keep)
    else:
        write(arguments[1], set(arguments[2:]))
