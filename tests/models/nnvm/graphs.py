"""Writes graphs of NNVM and MXNet in their JSON, and their parameters, from the formats' descriptions."""
import json
import struct

import numpy as np


class Graph:
    """A graph in one of the three dialects: "param", "attr" or "attrs"."""

    def __init__(self, dialect, version=None):
        self.dialect = dialect
        self.version = version
        self.nodes = []
        self.outputs = []  # how many each node has

    def add(self, op, name, inputs, attributes, outputs=1):
        entries = [(i if isinstance(i, tuple) else (i, 0)) for i in inputs]
        tail = [0] if self.dialect == "attrs" else []
        node = {"op": op, "name": name, "inputs": [[n, o] + tail for n, o in entries]}
        if self.dialect == "param":
            node = {"op": op, "param": attributes, **node, "backward_source_id": -1}
        elif attributes:
            node[self.dialect] = attributes
        self.nodes.append(node)
        self.outputs.append(outputs)
        return len(self.nodes) - 1

    def variable(self, name, **attributes):
        return self.add("null", name, [], attributes)

    def op(self, op, name, *inputs, outputs=1, **attributes):
        return self.add(op, name, inputs, {k: str(v) for k, v in attributes.items()}, outputs)

    def write(self, path, *heads):
        tail = [0] if self.dialect == "attrs" else []
        heads = [(h if isinstance(h, tuple) else (h, 0)) for h in heads]
        graph = {"nodes": self.nodes,
                 "arg_nodes": [i for i, n in enumerate(self.nodes) if n["op"] == "null"],
                 "heads": [[n, o] + tail for n, o in heads]}
        if self.dialect == "attrs":
            graph["node_row_ptr"] = [0, *np.cumsum(self.outputs).tolist()]
        if self.version:
            graph["attrs"] = {"mxnet_version": ["int", self.version]}
        nodes = ",\n  ".join(json.dumps(node) for node in graph.pop("nodes"))
        rest = ",\n ".join(f"{json.dumps(key)}: {json.dumps(value)}" for key, value in graph.items())
        with open(path, "w") as file:
            file.write(f'{{"nodes": [\n  {nodes}],\n {rest}}}\n')


FLAGS = {"float32": 0, "float64": 1, "float16": 2, "uint8": 3, "int32": 4, "int8": 5, "int64": 6}


def ndarray(array, version):
    """An NDArray of MXNet as it was saved in the versions 0 (before there were any), 1, 2 and 3."""
    magic = {1: 0xF993FAC8, 2: 0xF993FAC9, 3: 0xF993FACA}
    extents = struct.pack(f"<{array.ndim}{'I' if version == 0 else 'q'}", *array.shape)
    head = struct.pack("<I", array.ndim) + extents
    if version > 0:
        head = struct.pack("<I", magic[version]) + (struct.pack("<i", 0) if version > 1 else b"") + head
    return head + struct.pack("<iii", 1, 0, FLAGS[array.dtype.name]) + array.tobytes()


def name_list(names):
    return struct.pack("<Q", len(names)) + b"".join(struct.pack("<Q", len(n)) + n.encode() for n in names)


def write_mxnet(path, arrays, version, auxiliary=()):
    """A list of NDArrays, `arg:` and `aux:` before their names."""
    names = [("aux:" if n in auxiliary else "arg:") + n for n in arrays]
    with open(path, "wb") as file:
        file.write(struct.pack("<QQQ", 0x112, 0, len(arrays)))
        file.write(b"".join(ndarray(a, version) for a in arrays.values()) + name_list(names))


def write_nnvm(path, arrays):
    """A parameter dictionary of NNVM."""
    with open(path, "wb") as file:
        file.write(struct.pack("<QQ", 0xF7E58D4F05049CB7, 0) + name_list(list(arrays)))
        file.write(struct.pack("<Q", len(arrays)))
        for array in arrays.values():
            code = {"f": 2, "i": 0, "u": 1}[array.dtype.kind]
            file.write(struct.pack("<QQiii", 0xDD5E40F096B4A13F, 0, 1, 0, array.ndim))
            file.write(struct.pack("<BBH", code, array.dtype.itemsize * 8, 1))
            file.write(struct.pack(f"<{array.ndim}q", *array.shape))
            file.write(struct.pack("<q", array.nbytes) + array.tobytes())
