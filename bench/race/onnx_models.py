"""Cases as ONNX models: what is constant stands in the graph, where ONNX Runtime may pack and fold it."""
import numpy
import onnx
from onnx import TensorProto, helper, numpy_helper

from numbers_of import numbers

OPSET = 17  # has LayerNormalization


class Graph:
    """Calling it adds a node and gives the name of its first result."""

    def __init__(self, case):
        self.case = case
        self.nodes = []
        self.constants = []

    def __call__(self, operator, *inputs, **attributes):
        return self.node(operator, *inputs, **attributes)[0]

    def node(self, operator, *inputs, outputs=1, **attributes):
        names = [f"n{len(self.nodes)}_{i}" for i in range(outputs)]
        self.nodes.append(helper.make_node(operator, inputs, names, **attributes))
        return names

    def array(self, value, name=None):
        name = name or f"c{len(self.constants)}"
        self.constants.append(numpy_helper.from_array(numpy.ascontiguousarray(value), name))
        return name

    def constant(self, value):
        return self.array(numpy.array(value, dtype="int64" if isinstance(value, list) else "float32"))

    def numbers(self, name):
        return numbers(self.case, int(name[1:]))

    @staticmethod
    def concatenated(arrays):
        return numpy.concatenate(arrays)


def model_of(case):
    """The bytes of its model."""
    graph = Graph(case)
    result = case.onnx(graph)
    used = {name for node in graph.nodes for name in node.input}
    given = []
    for i, one in enumerate(case.inputs):
        name = f"x{i}"
        if one.is_constant and name in used:
            graph.array(numbers(case, i), name)
        elif not one.is_constant:
            given.append(helper.make_tensor_value_info(name, TensorProto.FLOAT, one.shape))
    graph.nodes.append(helper.make_node("Identity", [result], ["result"]))
    results = [helper.make_tensor_value_info("result", TensorProto.FLOAT, case.outputs[0])]
    made = helper.make_model(helper.make_graph(graph.nodes, "case", given, results, graph.constants),
                             opset_imports=[helper.make_opsetid("", OPSET)])
    made.ir_version = 8
    onnx.checker.check_model(made)
    return made.SerializeToString()
