#!/usr/bin/python3
"""Writes quantized models with an input and what ONNX Runtime gives of it.

  quantized_models.py FOLDER      in a folder where `npm i --ignore-scripts onnxruntime-node` has been run
"""
import json, os, subprocess, sys, tempfile
import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

HERE = os.path.dirname(os.path.abspath(__file__))
random = np.random.default_rng(0)


def run(path, inputs):
    with tempfile.TemporaryDirectory() as folder:
        feeds = {name: {"type": str(each.dtype), "dims": list(each.shape), "data": each.ravel().tolist()} for name, each in inputs.items()}
        json.dump(feeds, open(folder + "/feeds", "w"))
        subprocess.run(["node", os.path.join(HERE, "onnx_runtime.mjs"), os.path.abspath(path), folder + "/feeds", folder + "/results"], check=True)
        results = json.load(open(folder + "/results"))
    model = onnx.load(path)
    found = [results[each.name] for each in model.graph.output]
    return [np.array(each["data"], dtype=each["type"]).reshape(each["dims"]) for each in found]


def write(folder, name, nodes, inputs, outputs, weights, opset=13):
    info = lambda n, a: helper.make_tensor_value_info(n, helper.np_dtype_to_tensor_dtype(a.dtype) if hasattr(helper, "np_dtype_to_tensor_dtype")
                                                      else onnx.mapping.NP_TYPE_TO_TENSOR_TYPE[a.dtype], a.shape)
    graph = helper.make_graph(nodes, name, [info(n, a) for n, a in inputs.items()],
                              [helper.make_tensor_value_info(n, t, None) for n, t in outputs.items()],
                              [numpy_helper.from_array(np.asarray(a), n) for n, a in weights.items()])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset), helper.make_opsetid("com.microsoft", 1)])
    model.ir_version = 7
    path = os.path.join(folder, name + ".onnx")
    onnx.save(model, path)
    arrays = {f"in_{k}": each for k, each in enumerate(inputs.values())}
    arrays.update({f"out_{k}": each for k, each in enumerate(run(path, inputs))})
    np.savez_compressed(os.path.join(folder, name + ".npz"), **arrays)


f32 = np.float32
u8 = lambda *shape: random.integers(0, 256, shape).astype(np.uint8)
# Seven bits: on processors without VNNI, ONNX Runtime adds products in pairs of 16 bits, which saturate.
i8 = lambda *shape: random.integers(-63, 64, shape).astype(np.int8)


def main(folder):
    os.makedirs(folder, exist_ok=True)
    node = helper.make_node
    x = random.standard_normal((2, 3, 6, 6)).astype(f32)
    # Whole numbers all the way, as ONNX Runtime's static quantization writes (QOperator).
    write(folder, "qlinear", [
        node("QuantizeLinear", ["x", "xs", "xz"], ["q"]),
        node("QLinearConv", ["q", "xs", "xz", "w", "ws", "wz", "ys", "yz", "b"], ["c"], pads=[1, 1, 1, 1], kernel_shape=[3, 3], name="conv"),
        node("QLinearGlobalAveragePool", ["c", "ys", "yz", "ps", "pz"], ["p"], domain="com.microsoft"),
        node("Flatten", ["p"], ["f"]),
        node("QLinearMatMul", ["f", "ps", "pz", "m", "ms", "mz", "os", "oz"], ["o"], name="fc"),
        node("DequantizeLinear", ["o", "os", "oz"], ["y"]),
    ], {"x": x}, {"y": TensorProto.FLOAT}, {
        "xs": f32(0.03), "xz": np.uint8(121), "w": i8(4, 3, 3, 3), "ws": np.array([0.01, 0.02, 0.005, 0.015], f32), "wz": np.zeros(4, np.int8),
        "ys": f32(0.2), "yz": np.uint8(128), "b": random.integers(-500, 500, 4).astype(np.int32), "ps": f32(0.05), "pz": np.uint8(128),
        "m": i8(4, 5), "ms": f32(0.02), "mz": np.int8(0), "os": f32(0.1), "oz": np.uint8(100)})
    # Floats between steps of quantization (QDQ), a scale for each channel of the weight.
    write(folder, "qdq", [
        node("QuantizeLinear", ["x", "xs", "xz"], ["q"]), node("DequantizeLinear", ["q", "xs", "xz"], ["xd"]),
        node("DequantizeLinear", ["w", "ws", "wz"], ["wd"], axis=0),
        node("Conv", ["xd", "wd"], ["c"], strides=[2, 2], name="conv"), node("Relu", ["c"], ["r"]),
        node("QuantizeLinear", ["r", "rs", "rz"], ["rq"]), node("DequantizeLinear", ["rq", "rs", "rz"], ["y"]),
    ], {"x": x}, {"y": TensorProto.FLOAT}, {
        "xs": f32(0.03), "xz": np.uint8(121), "w": i8(4, 3, 3, 3), "ws": np.array([0.01, 0.02, 0.005, 0.015], f32), "wz": np.zeros(4, np.int8),
        "rs": f32(0.1), "rz": np.uint8(0)})
    # Quantized while it runs, as ONNX Runtime's dynamic quantization writes.
    write(folder, "dynamic", [
        node("DynamicQuantizeLinear", ["x"], ["q", "s", "z"]),
        node("MatMulInteger", ["q", "m", "z", "mz"], ["i"], name="fc"), node("Cast", ["i"], ["f"], to=TensorProto.FLOAT),
        node("Mul", ["s", "ms"], ["k"]), node("Mul", ["f", "k"], ["g"]), node("Add", ["g", "b"], ["y"]),
    ], {"x": random.standard_normal((3, 6)).astype(f32)}, {"y": TensorProto.FLOAT}, {
        "m": u8(6, 4), "mz": np.uint8(130), "ms": f32(0.01), "b": random.standard_normal(4).astype(f32)})
    a, b = u8(2, 5), u8(2, 5)
    scales = {"as": f32(0.02), "az": np.uint8(100), "bs": f32(0.05), "bz": np.uint8(90), "cs": f32(0.08), "cz": np.uint8(120)}
    for op in ("QLinearAdd", "QLinearMul"):
        write(folder, op.lower(), [node(op, ["a", "as", "az", "b", "bs", "bz", "cs", "cz"], ["c"], domain="com.microsoft")],
              {"a": a, "b": b}, {"c": TensorProto.UINT8}, scales)
    for op in ("QLinearSigmoid", "QLinearLeakyRelu"):
        write(folder, op.lower(), [node(op, ["a", "as", "az", "bs", "bz"], ["c"], domain="com.microsoft")],
              {"a": a}, {"c": TensorProto.UINT8}, {k: scales[k] for k in ("as", "az")} | {"bs": f32(0.01), "bz": np.uint8(10)})
    write(folder, "convinteger", [node("ConvInteger", ["x", "w", "xz"], ["y"])], {"x": u8(1, 2, 5, 5), "w": u8(3, 2, 3, 3)},
          {"y": TensorProto.INT32}, {"xz": np.uint8(7)})


if __name__ == "__main__":
    main(sys.argv[1])
