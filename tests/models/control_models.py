#!/usr/bin/python3
"""Writes models with control flow that PyTorch's exporter does not write, with what they give.

  control_models.py FOLDER
"""
import os, sys
import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

node = helper.make_node
f32 = np.float32


def info(name, shape, dtype=TensorProto.FLOAT):
    return helper.make_tensor_value_info(name, dtype, shape)


def constant(name, array):
    return node("Constant", [], [name], value=numpy_helper.from_array(np.asarray(array)))


def save(folder, name, nodes, inputs, outputs, data, results, weights=(), opset=13):
    graph = helper.make_graph(nodes, name, inputs, outputs, list(weights))
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)]), os.path.join(folder, name + ".onnx"))
    arrays = {f"in_{k}": each for k, each in enumerate(data)}
    arrays.update({f"out_{k}": each for k, each in enumerate(results)})
    np.savez_compressed(os.path.join(folder, name + ".npz"), **arrays)


def branches(folder):
    """Constants of both branches have one name."""
    def graph(name, factor, output):
        return helper.make_graph([constant("c", factor * np.arange(20, dtype=f32)), node("Add", ["x", "c"], [output])], name, [], [info(output, [20])])
    x = np.linspace(-3, 1, 20, dtype=f32)
    save(folder, "branches", [node("ReduceSum", ["x"], ["s"], keepdims=0), constant("zero", f32(0)), node("Greater", ["s", "zero"], ["p"]),
                              node("If", ["p"], ["y"], then_branch=graph("yes", f32(1), "t"), else_branch=graph("no", f32(2), "e"))],
         [info("x", [20])], [info("y", [20])], [x], [x + 2 * np.arange(20, dtype=f32)])


def while_loop(folder):
    """Halves until the sum is small, and keeps each step; stops before the count is over."""
    body = helper.make_graph([constant("half", f32(0.5)), node("Mul", ["h", "half"], ["h2"]), node("ReduceSum", ["h2"], ["s"], keepdims=0),
                              constant("small", f32(1)), node("Greater", ["s", "small"], ["goes"]), node("Identity", ["h2"], ["kept"])],
                             "body", [info("i", [], TensorProto.INT64), info("c", [], TensorProto.BOOL), info("h", [3])],
                             [info("goes", [], TensorProto.BOOL), info("h2", [3]), info("kept", [3])])
    x = np.array([8, 4, 2], f32)
    steps = [x / 2 ** k for k in range(1, 5)]
    save(folder, "while", [constant("n", np.int64(10)), constant("true", np.bool_(True)), node("Loop", ["n", "true", "x"], ["last", "all"], body=body)],
         [info("x", [3])], [info("last", [3]), info("all", [None, 3])], [x], [steps[-1], np.stack(steps)])


def nested(folder):
    """A loop in a loop, which both read a value from outside."""
    inner = helper.make_graph([node("Add", ["u", "x"], ["u2"]), node("Identity", ["c2"], ["c3"])], "inner",
                              [info("j", [], TensorProto.INT64), info("c2", [], TensorProto.BOOL), info("u", [2])],
                              [info("c3", [], TensorProto.BOOL), info("u2", [2])])
    outer = helper.make_graph([node("Add", ["i", "one"], ["m"]), node("Loop", ["m", "", "v"], ["v2"], body=inner), node("Mul", ["v2", "half"], ["v3"]),
                               node("Identity", ["c"], ["c4"])], "outer",
                              [info("i", [], TensorProto.INT64), info("c", [], TensorProto.BOOL), info("v", [2])],
                              [info("c4", [], TensorProto.BOOL), info("v3", [2])])
    x = np.array([1, -2], f32)
    v = np.zeros(2, f32)
    for i in range(4):
        v = (v + (i + 1) * x) * f32(0.5)
    save(folder, "nested", [constant("one", np.int64(1)), constant("half", f32(0.5)), constant("zero", np.zeros(2, f32)),
                            node("Loop", ["n", "", "zero"], ["y"], body=outer)],
         [info("x", [2]), info("n", [], TensorProto.INT64)], [info("y", [2])], [x, np.asarray(4, np.int64)], [v])


def scan(folder):
    """A running sum over rows, and over another input from its end."""
    body = helper.make_graph([node("Add", ["s", "a"], ["t"]), node("Add", ["t", "b"], ["s2"]), node("Mul", ["s2", "w"], ["y"])], "body",
                             [info("s", [3]), info("a", [3]), info("b", [3])], [info("s2", [3]), info("y", [3])])
    a = np.arange(12, dtype=f32).reshape(4, 3)
    b = np.sin(np.arange(12, dtype=f32)).reshape(3, 4)
    w = np.array([1, 2, -1], f32)
    s, ys = np.zeros(3, f32), []
    for k in range(4):
        s = s + a[k] + b[:, 3 - k]
        ys.append(s * w)
    save(folder, "scan", [constant("s0", np.zeros(3, f32)), node("Scan", ["s0", "a", "b"], ["last", "ys"], body=body, num_scan_inputs=2,
                                                                 scan_input_axes=[0, 1], scan_input_directions=[0, 1])],
         [info("a", ["steps", 3]), info("b", [3, "steps"])], [info("last", [3]), info("ys", ["steps", 3])], [a, b], [s, np.stack(ys)],
         [numpy_helper.from_array(w, "w")])


if __name__ == "__main__":
    os.makedirs(sys.argv[1], exist_ok=True)
    for write in (branches, while_loop, nested, scan):
        write(sys.argv[1])
