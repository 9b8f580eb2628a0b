#!/usr/bin/python3
"""Writes models that are refused.

  bad_models.py FOLDER
"""
import os, sys
import onnx
from onnx import TensorProto, helper


def model(name, nodes, inputs, outputs, initializers=(), opset=13):
    graph = helper.make_graph(nodes, name, inputs, outputs, list(initializers))
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], producer_name="bad_models.py")


def value(name, shape, dtype=TensorProto.FLOAT):
    return helper.make_tensor_value_info(name, dtype, shape)


def main(folder):
    os.makedirs(folder, exist_ok=True)
    save = lambda made, name: onnx.save(made, os.path.join(folder, name + ".onnx"))
    node = helper.make_node
    save(model("unsupported", [
        node("Relu", ["x"], ["a"], name="relu"),
        node("Det", ["a"], ["b"], name="det"),
        node("Add", ["b", "b"], ["c"], name="sum"),
        node("StringNormalizer", ["s"], ["t"], name="words"),
        node("Attention", ["x"], ["d"], name="attention", domain="com.microsoft"),
    ], [value("x", [2, 2]), value("s", [2], TensorProto.INT64)], [value("c", []), value("d", [2, 2])]), "unsupported")
    save(model("mismatch", [
        node("MatMul", ["x", "w"], ["a"], name="first"),
        node("Add", ["a", "missing"], ["b"], name="second"),
        node("Transpose", ["x"], ["c"], name="third", perm=[0, 1, 2]),
    ], [value("x", ["batch", 3])], [value("b", [2, 2]), value("c", [2, 2])],
        [helper.make_tensor("w", TensorProto.FLOAT, [4, 2], [0.0] * 8)]), "mismatch")
    save(model("no_shape", [node("Relu", ["x"], ["y"])], [value("x", None)], [value("y", None)]), "no_shape")
    save(model("old", [node("Relu", ["x"], ["y"])], [value("x", [2])], [value("y", [2])], opset=7), "old")
    # What operators have that is not supported.
    x, xyz = value("x", [1, 1, 4, 4]), value("xyz", [2, 3])
    number = lambda name, *numbers: helper.make_tensor(name, TensorProto.FLOAT, [len(numbers)], numbers)
    whole = lambda name, *numbers: helper.make_tensor(name, TensorProto.INT64, [len(numbers)], numbers)
    save(model("limits", [
        node("Resize", ["x", "", "scales"], ["a"], name="resize"),
        node("Resize", ["x", "region", "", "sizes"], ["b"], name="crop", coordinate_transformation_mode="tf_crop_and_resize"),
        node("RoiAlign", ["x", "rois", "places"], ["c"], name="align"),
        node("MaxPool", ["x"], ["d", "e"], name="pool", kernel_shape=[2, 2]),
        node("Dropout", ["x", "ratio", "training"], ["f"], name="dropout"),
        node("Unique", ["xyz"], ["g"], name="unique", axis=0),
        node("ReduceSum", ["x", "axes"], ["h"], name="axes_of_data"),
        node("TopK", ["x", "count"], ["i", "j"], name="count_of_data"),
        node("SequenceConstruct", ["x", "x"], ["k"], name="sequence"),
        node("StringNormalizer", ["x"], ["l"], name="strings"),
        node("DFT", ["x"], ["m"], name="fourier"),
    ], [x, xyz, value("axes", [2], TensorProto.INT64), value("count", [1], TensorProto.INT64)], [value("a", None)],
        [number("scales", 1, 1, 0.6, 0.6), number("region", 0, 0, 0, 0, 1, 1, 1, 1), whole("sizes", 1, 1, 3, 3), whole("places", 0),
         helper.make_tensor("rois", TensorProto.FLOAT, [1, 4], [0.0, 0.0, 2.0, 2.0]), helper.make_tensor("ratio", TensorProto.FLOAT, [], [0.5]),
         helper.make_tensor("training", TensorProto.BOOL, [], [True])], opset=16), "limits")
    # A weight whose shape asks for more than is there, and one whose data stand elsewhere.
    large = helper.make_tensor("w", TensorProto.FLOAT, [2], [0.0, 1.0])
    large.dims[0] = 1 << 40
    save(model("large", [node("Add", ["x", "w"], ["y"])], [value("x", [2])], [value("y", [2])], [large]), "large")
    # Two nodes that make the same, and an output shape of too few numbers.
    save(model("twice", [node("Relu", ["x"], ["a"]), node("Tanh", ["x"], ["a"])], [value("x", [2])], [value("a", [2])]), "twice")
    save(model("shape", [node("ConvTranspose", ["x", "w"], ["y"], name="up", output_shape=[5])], [x], [value("y", None)],
               [helper.make_tensor("w", TensorProto.FLOAT, [1, 1, 2, 2], [1.0] * 4)]), "shape")
    outside = TensorProto(name="w", data_type=TensorProto.FLOAT, dims=[2], data_location=TensorProto.EXTERNAL)
    for key, text in (("location", "../../../../../etc/passwd"), ("offset", "0"), ("length", "8")):
        outside.external_data.add(key=key, value=text)
    save(model("outside", [node("Add", ["x", "w"], ["y"])], [value("x", [2])], [value("y", [2])], [outside]), "outside")


if __name__ == "__main__":
    main(sys.argv[1])
