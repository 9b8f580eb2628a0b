#!/usr/bin/env python3
"""Each operator of NNVM's and MXNet's tables, in the ways it is used, and what PyTorch or NumPy gives.

Usage: tests/models/nnvm/record_operators.py, with PyTorch. Writes for both dialects one graph with a
head for each case, OPERATORS-symbol.json, its inputs OPERATORS.params, the results OPERATORS.npz and the
program that compares, OPERATORS_check.relay.
"""
from pathlib import Path

import numpy as np
import torch
import torch.nn.functional as F

from graphs import Graph, write_mxnet, write_nnvm

FOLDER = Path(__file__).resolve().parent
SOURCE = np.random.default_rng(2018)


def numbers(*shape):
    return SOURCE.normal(0.0, 1.0, shape).astype(np.float32)


INPUTS = {
    "x": numbers(2, 3, 4), "y": numbers(2, 3, 4), "row": numbers(1, 3, 1),
    "p": (0.25 + SOURCE.random((2, 3, 4)) * 0.5).astype(np.float32), "q": (1 + SOURCE.random((2, 3, 4))).astype(np.float32),
    "m": numbers(3, 4), "n": numbers(4, 5), "u": numbers(4), "v": numbers(4), "b1": numbers(2, 3, 4),
    "b2": numbers(2, 4, 5), "im": numbers(1, 4, 7, 6), "line": numbers(2, 4, 9), "cube": numbers(1, 2, 4, 5, 4),
    "k": numbers(6, 4, 3, 3), "kg": numbers(6, 2, 3, 3), "k1": numbers(3, 4, 3), "k3": numbers(3, 2, 2, 2, 2),
    "t": numbers(4, 6, 3, 3), "tg": numbers(4, 3, 2, 2), "c6": numbers(6), "c3": numbers(3), "c4": numbers(4),
    "g4": (1 + SOURCE.random(4)).astype(np.float32), "v4": (1 + SOURCE.random(4)).astype(np.float32), "h4": numbers(4),
    "g2": numbers(2), "h2": numbers(2), "dense": numbers(5, 12), "dense4": numbers(5, 4), "c5": numbers(5),
    "table": numbers(7, 3), "ids": np.array([[1, 0, 6], [3, 3, 2]], np.float32), "iid": np.array([1, 0, 6], np.int32),
    "where": np.array([[[1, 0, 0, 1]] * 3, [[0, 1, 0, 1]] * 3], np.float32), "rows": np.array([0, 1], np.float32),
    "pick": np.array([[1, 0, 3], [2, 2, 1]], np.float32), "len": np.array([1, 2, 2], np.float32),
    "nd": np.array([[1, 0], [2, 0]], np.float32), "i32": np.arange(6, dtype=np.int32).reshape(2, 3),
    "step": numbers(4, 3, 2), "steplen": np.array([2, 4, 1], np.float32), "up": numbers(4, 1, 4, 4),
    "nhwc": numbers(1, 5, 5, 4), "grid": numbers(1, 1, 4, 6), "ohwi": numbers(3, 2, 2, 4), "o": np.round(numbers(2, 3, 4) * 4) / 2,
}
T = {key: torch.tensor(value).double() if value.dtype == np.float32 else torch.tensor(value) for key, value in INPUTS.items()}


def recurrent(kind, layers, both):
    """A layer of PyTorch, with its weights as MXNet packs them and its states, among the inputs."""
    key = f"{kind}{layers}{'b' if both else ''}"
    args = {"nonlinearity": "relu"} if kind == "rnn_relu" else {}
    make = {"lstm": torch.nn.LSTM, "gru": torch.nn.GRU}.get(kind, torch.nn.RNN)
    layer = make(2, 3, layers, bidirectional=both, **args).double()
    ends = [f"_l{i}{tail}" for i in range(layers) for tail in (("", "_reverse") if both else ("",))]
    packed = []
    for what in ("weight", "bias"):
        for end in ends:
            for side in ("ih", "hh"):
                packed.append(numbers(*getattr(layer, f"{what}_{side}{end}").shape).flatten() * 0.5)
                getattr(layer, f"{what}_{side}{end}").data = torch.tensor(packed[-1]).double().reshape(
                    getattr(layer, f"{what}_{side}{end}").shape)
    INPUTS[f"{key}_w"] = np.concatenate(packed)
    names = [f"{key}_h"] + ([f"{key}_c"] if kind == "lstm" else [])
    for name in names:
        INPUTS[name] = numbers(len(ends), 3, 3)
    states = tuple(torch.tensor(INPUTS[name]).double() for name in names)
    result, last = layer(T["step"], states if kind == "lstm" else states[0])
    last = last if kind == "lstm" else (last,)
    return f"step {key}_w {' '.join(names)}", [a.detach() for a in (result, *last)]


class Table:
    def __init__(self, name, version):
        self.name = name
        self.graph = Graph("attrs", version)
        self.nodes = {}
        self.heads = []
        self.results = []

    def case(self, op, inputs, results, outputs=None, **attributes):
        """`results`: an array, or the first of the outputs that there are, in a tuple."""
        for name in inputs.split():
            if name not in self.nodes:
                self.nodes[name] = self.graph.variable(name)
        results = results if isinstance(results, (tuple, list)) else (results,)
        node = self.graph.op(op, f"{op.strip('_').lower()}_{len(self.heads)}", *(self.nodes[n] for n in inputs.split()),
                             outputs=outputs or len(results), **attributes)
        for output, result in enumerate(results):
            self.heads.append((node, output))
            self.results.append((f"{op}_{len(self.results)}", np.asarray(result)))

    def write(self, write_params):
        path = FOLDER / self.name
        self.graph.write(f"{path}-symbol.json", *self.heads)
        write_params(f"{path}.params", {name: INPUTS[name] for name in self.nodes})
        flat = np.concatenate([result.astype(np.float32).flatten() for _, result in self.results])
        np.savez_compressed(f"{path}.npz", results=flat)
        lines = ["// Written by record_operators.py.", 'import "close.relay"', f'import "{self.name}.relay"', "",
                 f'let recorded = load("{self.name}.npz")', "let r = main()"]
        begin = 0
        for i, (name, result) in enumerate(self.results):
            end = begin + result.size
            dtype = "float32" if result.dtype == np.float64 else result.dtype.name
            lines.append(f"let c{i}: Tensor[({', '.join(map(str, result.shape))}), {dtype}] = r.{i}")
            lines.append(f'assert(close(c{i}, strided_slice(recorded, begin=[{begin}], end=[{end}])), message="{name}");')
            begin = end
        lines.append(f"{len(self.results)}  // results agree")
        with open(f"{path}_check.relay", "w") as file:
            file.write("\n".join(lines) + "\n")


def both(c, is_mx):
    """What both dialects call alike."""
    x, y, row, m, im = T["x"], T["y"], T["row"], T["m"], T["im"]
    for op in ("sigmoid", "tanh", "exp", "floor", "ceil", "trunc", "abs", "negative"):
        c.case(op, "x", getattr(torch, op)(x))
    c.case("relu", "x", torch.relu(x))
    c.case("log", "p", torch.log(T["p"]))
    c.case("sqrt", "p", torch.sqrt(T["p"]))
    c.case("elemwise_add", "x y", x + y)
    c.case("elemwise_sub", "x y", x - y)
    c.case("elemwise_mul", "x y", x * y)
    c.case("elemwise_div", "x y", x / y)
    c.case("broadcast_add", "x row", x + row)
    c.case("broadcast_sub", "x row", x - row)
    c.case("broadcast_mul", "x row", x * row)
    c.case("broadcast_div", "x row", x / row)
    c.case("broadcast_greater", "x row", (x > row).double())
    c.case("broadcast_equal", "x x", torch.ones_like(x))
    c.case("clip", "x", torch.clip(x, -0.5, 1), a_min="-0.5", a_max=1)
    c.case("softmax", "x", torch.softmax(x, -1))
    c.case("log_softmax", "x", torch.log_softmax(x, 1), axis=1)
    c.case("sum", "x", x.sum().reshape(1))
    c.case("sum", "x", x.sum((0, 2)), axis="(0, 2)")
    c.case("sum", "x", x.sum((0, 2)), axis="(1,)", exclude=True)
    c.case("sum", "x", x.sum((0, 1, 2), keepdim=True), keepdims=True)
    c.case("sum", "x", x.sum().reshape(1), axis="(0, 1, 2)")
    c.case("mean", "x", x.mean(-1), axis="(-1,)")
    c.case("mean", "x", x.mean((1, 2), keepdim=True), axis="[1, 2]", keepdims=1)
    c.case("prod", "x", x.prod(2), axis=2)
    c.case("max", "x", x.amax((1, 2)), axis=0, exclude="True")
    c.case("min", "x", x.amin(1, keepdim=True), axis="(1L,)", keepdims="true")
    c.case("transpose", "x", x.permute(2, 1, 0))
    c.case("transpose", "x", x.permute(1, 0, 2), axes="(1, 0, 2)")
    c.case("reshape", "x", x.reshape(2, 12), shape="(0, -1)")
    c.case("reshape", "x", x.reshape(6, 4), shape="(-3, -2)")
    c.case("reshape", "x", x.reshape(2, 3, 2, 2), shape="(0, 0, -4, -1, 2)")
    c.case("reshape", "im", im.reshape(1, 4, 42), shape="(0, 0, -3)")
    c.case("reshape_like", "x b1", x)
    c.case("expand_dims", "x", x.unsqueeze(1), axis=1)
    c.case("squeeze", "row", T["row"].squeeze(2), axis="(2,)")
    c.case("squeeze", "row", T["row"].squeeze())
    c.case("flatten", "x", x.flatten(1))
    c.case("flip", "x", x.flip(1), axis=1)
    c.case("take", "table iid", T["table"][T["iid"].long()], axis=0)
    c.case("gather_nd", "x nd", x[[1, 0], [2, 0]])
    c.case("where", "where x y", torch.where(T["where"] > 0, x, y))
    c.case("broadcast_to", "row", row.expand(2, 3, 4), shape="(2, 0, 4)")
    c.case("zeros_like", "x", torch.zeros_like(x))
    c.case("ones_like", "x", torch.ones_like(x))
    c.case("split", "x", x.split(1, 1), axis=1, **{"num_outputs" if is_mx else "indices_or_sections": 3})


def nnvm():
    c = Table("nnvm_operators", None)
    both(c, False)
    x, y, row, im, p, q, m, n = (T[k] for k in ("x", "y", "row", "im", "p", "q", "m", "n"))
    c.case("round", "x", torch.round(x))
    c.case("copy", "x", x)
    c.case("block_grad", "x", x)
    c.case("cast", "x", x.int(), dtype="int32")
    c.case("elemwise_mod", "p q", torch.fmod(p, q))
    c.case("elemwise_pow", "p q", p ** q)
    c.case("elemwise_sum", "x y b1", x + y + T["b1"], num_args=3)
    c.case("greater", "x y", (x > y).double())
    c.case("less", "x y", (x < y).double())
    for name, result in (("max", torch.maximum(x, row)), ("min", torch.minimum(x, row)), ("less", (x < row).double()),
                         ("not_equal", (x != row).double()), ("greater_equal", (x >= row).double()),
                         ("less_equal", (x <= row).double())):
        c.case(f"broadcast_{name}", "x row", result)
    c.case("broadcast_pow", "p x", p ** x)
    c.case("broadcast_mod", "x row", torch.fmod(x, row))
    c.case("logical_not", "where", 1 - T["where"])
    c.case("logical_and", "x where", T["where"])
    c.case("logical_or", "x where", torch.ones_like(x))
    c.case("broadcast_left_shift", "i32 i32", T["i32"] << T["i32"])
    c.case("broadcast_right_shift", "i32 i32", T["i32"] >> T["i32"])
    c.case("__rshift_scalar__", "i32", T["i32"] >> 1, scalar=1)
    c.case("__add_symbol__", "x row", x + row)
    for name, result in (("add", x + 1.5), ("sub", x - 1.5), ("rsub", 1.5 - x), ("mul", x * 1.5), ("div", x / 1.5),
                         ("rdiv", 1.5 / x), ("rpow", 1.5 ** x)):
        c.case(f"__{name}_scalar__", "x", result, scalar="1.5")
    c.case("__pow_scalar__", "p", p ** 1.5, scalar="1.5")
    c.case("__mul_scalar__", "i32", T["i32"] * -2, scalar="-2.0")
    c.case("__lshift_scalar__", "i32", T["i32"] << 2, scalar=2)
    c.case("dense", "m dense4 c5", F.linear(m, T["dense4"], T["c5"]), units=5)
    c.case("dense", "m dense4", F.linear(m, T["dense4"]), units=5, use_bias=False)
    c.case("conv2d", "im k c6", F.conv2d(im, T["k"], T["c6"], stride=2, padding=1), channels=6, kernel_size="(3, 3)",
           strides="(2, 2)", padding="(1, 1)")
    c.case("conv2d", "im kg", F.conv2d(im, T["kg"], dilation=(2, 1), groups=2), channels=6, kernel_size="(3, 3)",
           dilation="(2, 1)", groups=2, use_bias=False)
    c.case("conv2d", "nhwc ohwi", F.conv2d(T["nhwc"].permute(0, 3, 1, 2), T["ohwi"].permute(0, 3, 1, 2)).permute(0, 2, 3, 1),
           channels=3, kernel_size="(2, 2)", layout="NHWC", kernel_layout="OHWI", use_bias=False)
    c.case("conv2d_transpose", "im t c6", F.conv_transpose2d(im, T["t"], T["c6"], stride=2, padding=1, output_padding=1),
           channels=6, kernel_size="(3, 3)", strides="(2, 2)", padding="(1, 1)", output_padding="(1, 1)")
    norm = [a.reshape(1, 4, 1, 1) for a in (T["h4"], T["v4"], T["g4"], T["c4"])]
    normal = (im - norm[0]) / torch.sqrt(norm[1] + 1e-3)
    c.case("batch_norm", "im g4 c4 h4 v4", normal * norm[2] + norm[3], outputs=3, epsilon="0.001")
    c.case("batch_norm", "im g4 c4 h4 v4", normal, outputs=3, epsilon="0.001", scale=False, center=False)
    c.case("max_pool2d", "im", F.max_pool2d(im, 2, 2), pool_size="(2, 2)", strides="(2, 2)")
    c.case("max_pool2d", "im", F.max_pool2d(im, 3, 2, 1, ceil_mode=True), pool_size="(3, 3)", strides="(2, 2)",
           padding="(1, 1)", ceil_mode=True)
    c.case("avg_pool2d", "im", F.avg_pool2d(im, 3, 2, 1, count_include_pad=False), pool_size="(3, 3)",
           strides="(2, 2)", padding="(1, 1)")
    c.case("avg_pool2d", "im", F.avg_pool2d(im, 3, 2, 1), pool_size="(3, 3)", strides="(2, 2)", padding="(1, 1)",
           count_include_pad=True)
    c.case("global_max_pool2d", "im", im.amax((2, 3), keepdim=True))
    c.case("global_avg_pool2d", "im", im.mean((2, 3), keepdim=True))
    c.case("upsampling", "im", F.interpolate(im, scale_factor=2), scale=2)
    c.case("dropout", "x", x, outputs=2, rate=0.5)
    c.case("leaky_relu", "x", F.leaky_relu(x, 0.1), alpha="0.1")
    c.case("prelu", "im c4", F.prelu(im, T["c4"]))
    c.case("pad", "x", F.pad(x, (2, 0, 0, 1), value=1.5), pad_width="((0, 0), (0, 1), (2, 0))", pad_value="1.5")
    c.case("lrn", "im", F.local_response_norm(im, 3, 0.01, 0.5, 2), size=3, axis=1, bias=2, alpha="0.01", beta="0.5")
    c.case("l2_normalize", "x", F.normalize(x, dim=1), eps="1e-10", axis=1)
    c.case("__layout_transform__", "im", im.permute(0, 2, 3, 1), src_layout="NCHW", dst_layout="NHWC")
    c.case("expand_dims", "m", m.reshape(3, 1, 1, 4), axis=1, num_newaxis=2)
    c.case("concatenate", "x y", torch.cat([x, y], 2), axis=2)
    c.case("split", "x", x.tensor_split([1], 1), indices_or_sections="(1,)", axis=1)
    c.case("take", "x iid", x.flatten()[T["iid"].long()])
    c.case("slice_like", "im x", im[:, :3, :4], axis="(1, 2)")
    c.case("strided_slice", "x", x[:, 1:3, ::2], begin="(0, 1, 0)", end="(2, 3, 4)", stride="(1, 1, 2)")
    c.case("strided_slice", "x", x[-1:, 0:-1], begin="(-1, 0)", end="(2, -1)")
    c.case("collapse_sum", "x row", x.sum((0, 2)).reshape(1, 3, 1))
    c.case("full", "", np.full((2, 2), 2.5), shape="(2, 2)", dtype="float32", fill_value="2.5")
    c.case("zeros", "", np.zeros((2, 2), np.int32), shape="(2, 2)", dtype="int32")
    c.case("ones", "", np.ones((3,)), shape="(3,)", dtype="float32")
    c.case("full_like", "x", torch.full_like(x, 0.5), fill_value="0.5")
    c.case("argmax", "x", x.argmax(1).int(), axis="(1,)")
    c.case("argmin", "x", x.argmin(2, keepdim=True).int(), axis=2, keepdims=True)
    c.case("matmul", "m n", m @ n)
    c.case("matmul", "n m", T["n"].T @ m.T, transpose_a=True, transpose_b=True)
    c.case("expand_like", "u x", T["u"].expand(2, 3, 4), axis="(2,)", exclude=True)
    c.case("expand_like", "c3 x", T["c3"].reshape(1, 3, 1).expand(2, 3, 4), axis="(0, 2)")
    c.write(write_nnvm)


def pool_full(im, k, s, p, includes):
    """Sums over the cells inside; the number of cells of the data or of the padding, by a loop."""
    n, ch, h, w = im.shape
    oh, ow = -(-(h + 2 * p - k) // s) + 1, -(-(w + 2 * p - k) // s) + 1
    out = np.zeros((n, ch, oh, ow))
    for i in range(oh):
        for j in range(ow):
            top, left = i * s - p, j * s - p
            bottom, right = min(top + k, h + p), min(left + k, w + p)
            count = (bottom - top) * (right - left)
            top, left, bottom, right = max(top, 0), max(left, 0), min(bottom, h), min(right, w)
            count = count if includes else (bottom - top) * (right - left)
            out[:, :, i, j] = im[:, :, top:bottom, left:right].numpy().sum((2, 3)) / count
    return out


def mxnet():
    c = Table("mxnet_operators", 10900)
    both(c, True)
    x, y, row, im, p, q, m, n = (T[k] for k in ("x", "y", "row", "im", "p", "q", "m", "n"))
    # layers
    c.case("Convolution", "im k c6", F.conv2d(im, T["k"], T["c6"], stride=2, padding=1), kernel="(3, 3)", num_filter=6,
           stride="(2, 2)", pad="(1, 1)")
    c.case("Convolution", "im kg", F.conv2d(im, T["kg"], dilation=(2, 1), groups=2), kernel="(3, 3)", num_filter=6,
           dilate="(2, 1)", num_group=2, no_bias=True)
    c.case("Convolution", "line k1 c3", F.conv1d(T["line"], T["k1"], T["c3"], stride=2), kernel="(3,)", num_filter=3,
           stride="(2,)", layout="NCW")
    c.case("Convolution", "cube k3 c3", F.conv3d(T["cube"], T["k3"], T["c3"], padding=1), kernel="(2, 2, 2)", num_filter=3,
           pad="(1, 1, 1)")
    c.case("Convolution", "nhwc ohwi c3", (F.conv2d(T["nhwc"].permute(0, 3, 1, 2), T["ohwi"].permute(0, 3, 1, 2)).permute(
        0, 2, 3, 1) + T["c3"]), kernel="(2, 2)", num_filter=3, layout="NHWC")
    c.case("Deconvolution", "im t", F.conv_transpose2d(im, T["t"], stride=2, padding=1, output_padding=1), kernel="(3, 3)",
           num_filter=6, stride="(2, 2)", pad="(1, 1)", adj="(1, 1)")
    c.case("Deconvolution", "im tg c6", F.conv_transpose2d(im, T["tg"], T["c6"], groups=2), kernel="(2, 2)", num_filter=6,
           num_group=2, no_bias=False)
    c.case("Deconvolution", "im t", F.conv_transpose2d(im, T["t"], stride=2, padding=1, output_padding=1), kernel="(3, 3)",
           num_filter=6, stride="(2, 2)", target_shape="(14, 12)")
    c.case("FullyConnected", "x dense c5", F.linear(x.flatten(1), T["dense"], T["c5"]), num_hidden=5)
    c.case("FullyConnected", "x dense4", F.linear(x, T["dense4"]), num_hidden=5, no_bias=True, flatten=False)
    norm = [a.reshape(1, 4, 1, 1) for a in (T["h4"], T["v4"], T["g4"], T["c4"])]
    normal = (im - norm[0]) / torch.sqrt(norm[1] + 1e-3)
    c.case("BatchNorm", "im g4 c4 h4 v4", normal + norm[3], outputs=3)
    c.case("BatchNorm", "im g4 c4 h4 v4", normal * norm[2] + norm[3], outputs=3, fix_gamma=False, use_global_stats=True)
    c.case("InstanceNorm", "im g4 c4", F.instance_norm(im, weight=T["g4"], bias=T["c4"], eps=1e-3))
    c.case("LayerNorm", "x g4 c4", F.layer_norm(x, (4,), T["g4"], T["c4"]))
    c.case("LayerNorm", "im g4 c4", F.layer_norm(im.permute(0, 2, 3, 1), (4,), T["g4"], T["c4"]).permute(0, 3, 1, 2), axis=1)
    c.case("GroupNorm", "im g4 c4", F.group_norm(im, 2, T["g4"], T["c4"]), outputs=3, num_groups=2)
    groups = F.group_norm(im, 2).reshape(1, 2, 2, 7, 6) * T["g2"].reshape(2, 1, 1, 1) + T["h2"].reshape(2, 1, 1, 1)
    c.case("GroupNorm", "im g2 h2", groups.reshape(im.shape), outputs=3, num_groups=2)
    for mode, axes in (("instance", (1, 2, 3)), ("channel", 1), ("spatial", (2, 3))):
        c.case("L2Normalization", "im", im / torch.sqrt((im * im).sum(axes, keepdim=True) + 1e-3), mode=mode, eps=0.001)
    c.case("LRN", "im", F.local_response_norm(im, 3, 0.01, 0.5, 1), outputs=2, nsize=3, alpha=0.01, beta=0.5, knorm=1)
    c.case("Pooling", "im", F.max_pool2d(im, 2, 2), kernel="(2, 2)", stride="(2, 2)", pool_type="max")
    c.case("Pooling", "im", F.avg_pool2d(im, 3, 2, 1), kernel="(3, 3)", stride="(2, 2)", pad="(1, 1)", pool_type="avg")
    c.case("Pooling", "im", F.avg_pool2d(im, 3, 2, 1, count_include_pad=False), kernel="(3, 3)", stride="(2, 2)",
           pad="(1, 1)", pool_type="avg", count_include_pad=False)
    for includes in (True, False):
        c.case("Pooling", "im", pool_full(im, 3, 2, 1, includes), kernel="(3, 3)", stride="(2, 2)", pad="(1, 1)",
               pool_type="avg", pooling_convention="full", count_include_pad=includes)
        c.case("Pooling", "im", pool_full(im, 4, 3, 1, includes), kernel="(4, 4)", stride="(3, 3)", pad="(1, 1)",
               pool_type="avg", pooling_convention="full", count_include_pad=includes)
    c.case("Pooling", "im", F.avg_pool2d(im, 2, 2) * 4, kernel="(2, 2)", stride="(2, 2)", pool_type="sum")
    c.case("Pooling", "im", im.amax((2, 3), keepdim=True), kernel="(2, 2)", global_pool=True, pool_type="max")
    c.case("Pooling", "line", T["line"].mean(2, keepdim=True), global_pool=True, pool_type="avg")
    c.case("Pooling", "line", F.max_pool1d(T["line"], 3, 2), kernel="(3,)", stride="(2,)", pool_type="max")
    c.case("Pooling", "cube", F.avg_pool3d(T["cube"], 2), kernel="(2, 2, 2)", stride="(2, 2, 2)", pool_type="avg")
    c.case("_contrib_AdaptiveAvgPooling2D", "im", F.adaptive_avg_pool2d(im, (3, 2)), output_size="(3, 2)")
    for kind, result in (("relu", torch.relu(x)), ("sigmoid", torch.sigmoid(x)), ("tanh", torch.tanh(x)),
                         ("softrelu", F.softplus(x)), ("softsign", F.softsign(x))):
        c.case("Activation", "x", result, act_type=kind)
    for kind, result in (("leaky", F.leaky_relu(x, 0.25)), ("elu", F.elu(x, 0.25)), ("selu", F.selu(x)), ("gelu", F.gelu(x)),
                         ("rrelu", F.leaky_relu(x, 0.2295))):
        c.case("LeakyReLU", "x", result, act_type=kind)
    c.case("LeakyReLU", "im c4", F.prelu(im, T["c4"]), act_type="prelu")
    c.case("UpSampling", "im", F.interpolate(im, scale_factor=2), scale=2, sample_type="nearest", num_args=1)
    c.case("UpSampling", "im up", F.conv_transpose2d(im, T["up"], stride=2, padding=1, groups=4), scale=2,
           sample_type="bilinear", num_args=2, num_filter=4)
    c.case("Dropout", "x", x, outputs=2, p=0.5)
    c.case("Embedding", "ids table", T["table"][T["ids"].long()], input_dim=7, output_dim=3)
    c.case("Flatten", "im", im.flatten(1))
    c.case("softmax", "x", torch.softmax(x / 2, -1), temperature=2)
    c.case("softmin", "x", torch.softmax(-x, -1))
    c.case("SoftmaxActivation", "im", torch.softmax(im, 1), mode="channel")
    c.case("SoftmaxActivation", "m", torch.softmax(m, 1))
    c.case("SoftmaxOutput", "im ids", torch.softmax(im, 1), multi_output=True)
    c.case("SoftmaxOutput", "x ids", torch.softmax(x, 2), preserve_shape=True)
    c.case("SoftmaxOutput", "x ids", torch.softmax(x.flatten(1), 1).reshape(x.shape))
    c.case("LinearRegressionOutput", "x y", x)
    c.case("LogisticRegressionOutput", "x y", torch.sigmoid(x))
    c.case("MakeLoss", "x", x)
    c.case("hard_sigmoid", "x", torch.clip(x * 0.2 + 0.5, 0, 1))
    c.case("smooth_l1", "x", F.smooth_l1_loss(x, torch.zeros_like(x), beta=0.25, reduction="none"), scalar=2)
    # elements
    for op, torch_op in (("log2", "log2"), ("log10", "log10"), ("log1p", "log1p"), ("rsqrt", "rsqrt"), ("arcsin", "asin"),
                         ("arccos", "acos"), ("arctanh", "atanh"), ("reciprocal", "reciprocal")):
        c.case(op, "p", getattr(torch, torch_op)(T["p"]))
    for op, torch_op in (("expm1", "expm1"), ("square", "square"), ("erf", "erf"), ("sin", "sin"), ("cos", "cos"), ("tan", "tan"),
                         ("sinh", "sinh"), ("cosh", "cosh"), ("arctan", "atan"), ("arcsinh", "asinh"), ("fix", "trunc"),
                         ("sign", "sign"), ("degrees", "rad2deg"), ("radians", "deg2rad")):
        c.case(op, "x", getattr(torch, torch_op)(x))
    c.case("arccosh", "q", torch.acosh(q))
    c.case("round", "o", torch.sign(T["o"]) * torch.floor(T["o"].abs() + 0.5))
    c.case("rint", "o", torch.ceil(T["o"] - 0.5))  # a half goes down
    c.case("cbrt", "x", np.cbrt(x))
    c.case("softsign", "x", F.softsign(x))
    c.case("log_sigmoid", "x", F.logsigmoid(x))
    c.case("mish", "x", F.mish(x))
    c.case("logical_not", "where", 1 - T["where"])
    c.case("BlockGrad", "x", x)
    c.case("Cast", "x", x.int(), dtype="int32")
    for op, result in (("_mod", np.mod(p, q)), ("_power", p ** q), ("_maximum", torch.maximum(p, q)),
                       ("_minimum", torch.minimum(p, q)), ("_hypot", torch.hypot(p, q)), ("_equal", (p == q).double()),
                       ("_lesser", (p < q).double()), ("_greater_equal", (p >= q).double()),
                       ("_greater", (p > q).double()), ("_not_equal", (p != q).double()),
                       ("_lesser_equal", (p <= q).double())):
        c.case(op, "p q", result)
    c.case("add_n", "x y b1", x + y + T["b1"], num_args=3)
    for op, result in (("maximum", torch.maximum(x, row)), ("minimum", torch.minimum(x, row)), ("lesser", (x < row).double()),
                       ("lesser_equal", (x <= row).double()), ("greater_equal", (x >= row).double()), ("not_equal", (x != row).double()), ("mod", np.mod(x, row)),
                       ("hypot", torch.hypot(x, row))):
        c.case(f"broadcast_{op}", "x row", result)
    c.case("broadcast_logical_and", "x where", T["where"])
    c.case("broadcast_logical_or", "x where", torch.ones_like(x))
    c.case("broadcast_logical_xor", "x where", 1 - T["where"])
    c.case("broadcast_power", "p x", p ** x)
    for op, result in (("_plus", x + 1.5), ("_minus", x - 1.5), ("_rminus", 1.5 - x), ("_mul", x * 1.5), ("_div", x / 1.5),
                       ("_rdiv", 1.5 / x), ("_mod", np.mod(x, 1.5)), ("_rmod", np.mod(1.5, x)), ("_rpower", 1.5 ** x),
                       ("_maximum", torch.clip(x, min=1.5)), ("_minimum", torch.clip(x, max=1.5)),
                       ("_greater", (x > 1.5).double()), ("_lesser_equal", (x <= 1.5).double())):
        c.case(f"{op}_scalar", "x", result, scalar="1.5")
    o = T["o"]
    for op, result in (("equal", o == 0.5), ("not_equal", o != 0.5), ("greater_equal", o >= 0.5), ("lesser", o < 0.5)):
        c.case(f"_{op}_scalar", "o", result.double(), scalar="0.5")
    c.case("_power_scalar", "p", p ** 1.5, scalar="1.5")
    # shapes
    c.case("Reshape", "x", x.reshape(2, 12), target_shape="(0, 12)")
    c.case("Reshape", "x", x.reshape(6, 4), shape="(-1, 0)", reverse=True)
    c.case("Reshape", "im", im.reshape(1, 4, 7, 2, 3), shape="(0, 0, 0, -4, 2, 3)")
    c.case("SwapAxis", "x", x.transpose(0, 2), dim1=0, dim2=2)
    c.case("Concat", "x y", torch.cat([x, y], 1), num_args=2)
    c.case("Concat", "x y", torch.cat([x, y], 0), dim=0, num_args=2)
    c.case("stack", "x y", torch.stack([x, y], 1), axis=1, num_args=2)
    c.case("SliceChannel", "x", [a.squeeze(2) for a in x.split(1, 2)], num_outputs=4, axis=2, squeeze_axis=True)
    c.case("_split_v2", "x", x.tensor_split([1, 3], 2), indices="(0, 1, 3)", axis=2)
    c.case("_split_v2", "x", x.split(2, 2), sections=2, axis=2)
    c.case("slice", "x", x[:, 1:], begin="(None, 1)", end="(None, None)")
    c.case("slice", "x", x.flip(2)[:, :2, ::2], begin="(0, 0, None)", end="(2, 2, None)", step="(1, 1, -2)")
    c.case("slice_axis", "x", x[:, 1:3], axis=1, begin=1, end=None)
    c.case("slice_axis", "x", x[:, :, 1:-1], axis="-1", begin=1, end=-1)
    c.case("slice_like", "im x", im[:, :, :4], axes="(2,)")
    c.case("Crop", "im", im[:, :, 1:4, 2:5], num_args=1, offset="(1, 2)", h_w="(3, 3)")
    c.case("Crop", "im nhwc", im[:, :, 1:6, 1:5], num_args=2, center_crop=True)
    c.case("tile", "m", m.repeat(2, 3), reps="(2, 3)")
    c.case("repeat", "m", m.repeat_interleave(2, 1), repeats=2, axis=1)
    c.case("repeat", "m", m.flatten().repeat_interleave(2), repeats=2)
    c.case("reverse", "x", x.flip(0, 2), axis="(0, 2)")
    c.case("Pad", "im", F.pad(im, (1, 2, 0, 1), value=2.5), mode="constant", pad_width="(0, 0, 0, 0, 0, 1, 1, 2)",
           constant_value=2.5)
    c.case("Pad", "im", F.pad(im, (1, 2, 1, 1), mode="reflect"), mode="reflect", pad_width="(0, 0, 0, 0, 1, 1, 1, 2)")
    c.case("Pad", "im", F.pad(im, (1, 2, 1, 1), mode="replicate"), mode="edge", pad_width="(0, 0, 0, 0, 1, 1, 1, 2)")
    c.case("broadcast_like", "row x", row.expand(2, 3, 4))
    c.case("broadcast_axis", "row", row.expand(2, 3, 5), axis="(0, 2)", size="(2, 5)")
    deep = im.reshape(1, 2, 2, 1, 7, 6).permute(0, 3, 4, 1, 5, 2)
    c.case("depth_to_space", "im", deep.reshape(1, 1, 14, 12), block_size=2)
    c.case("space_to_depth", "grid", T["grid"].reshape(1, 1, 2, 2, 3, 2).permute(0, 3, 5, 1, 2, 4).reshape(1, 4, 2, 3),
           block_size=2)
    # places
    c.case("take", "x rows", x[:, [0, 1]], axis=1)
    c.case("take", "table ids", T["table"][T["ids"].long() % 7], mode="wrap")
    c.case("pick", "x pick", x.gather(2, T["pick"].long().unsqueeze(2)).squeeze(2))
    c.case("pick", "x pick", x.gather(2, T["pick"].long().unsqueeze(2)), axis=2, keepdims=True)
    c.case("batch_take", "m len", T["m"].gather(1, T["len"].long().unsqueeze(1)).squeeze(1))
    c.case("one_hot", "ids", F.one_hot(T["ids"].long(), 7).double() * 3 - 1, depth=7, on_value=2, off_value=-1)
    c.case("where", "rows x y", torch.stack([y[0], x[1]]))
    c.case("topk", "x", x.topk(2, 2).indices.double(), k=2)
    c.case("topk", "x", x.topk(2, 2, largest=False).values, k=2, ret_typ="value", is_ascend=True)
    values = x.topk(2, 1)
    c.case("topk", "x", [values.values, values.indices.int()], k=2, axis=1, ret_typ="both", dtype="int32")
    c.case("argsort", "x", x.argsort(1).double(), axis=1)
    c.case("sort", "x", x.sort(2, descending=True).values, is_ascend=False)
    c.case("argmax", "x", x.argmax(1).double(), axis=1)
    c.case("argmin", "x", x.argmin().reshape(1).double())
    step, lengths = T["step"], T["steplen"].long()
    inside = (torch.arange(4).reshape(4, 1) < lengths).unsqueeze(2)
    c.case("SequenceMask", "step steplen", torch.where(inside, step, -1.0), use_sequence_length=True, value=-1)
    c.case("SequenceMask", "step", step)
    c.case("SequenceLast", "step steplen", step[lengths - 1, [0, 1, 2]], use_sequence_length=True)
    c.case("SequenceLast", "step", step[-1])
    c.case("SequenceReverse", "step", step.flip(0))
    turned = torch.stack([torch.cat([step[:l, i].flip(0), step[l:, i]]) for i, l in enumerate(lengths)], 1)
    c.case("SequenceReverse", "step steplen", turned, use_sequence_length=True)
    for kind, layers, both_ways in (("rnn_tanh", 1, False), ("rnn_relu", 1, False), ("lstm", 2, True), ("gru", 2, False)):
        inputs, results = recurrent(kind, layers, both_ways)
        c.case("RNN", inputs, results, mode=kind, state_size=3, num_layers=layers, bidirectional=both_ways,
               state_outputs=True)
    # sums and products
    c.case("norm", "x", x.norm().reshape(1))
    c.case("norm", "x", x.abs().sum(2), ord=1, axis=2)
    c.case("dot", "m n", m @ n)
    c.case("dot", "n m", n.T @ m.T, transpose_a=True, transpose_b=True)
    c.case("dot", "x n", x @ n)
    c.case("dot", "u v", (T["u"] * T["v"]).sum().reshape(1))
    c.case("batch_dot", "b1 b2", T["b1"] @ T["b2"])
    c.case("batch_dot", "x y", x @ y.transpose(1, 2), transpose_b=True)
    c.case("_linalg_gemm2", "m n", m @ n * 0.5, alpha=0.5)
    # new tensors
    c.case("_zeros", "", np.zeros((2, 2)), shape="(2, 2)")
    c.case("_ones", "", np.ones((2,), np.int32), shape="(2,)", dtype="int32")
    c.case("_full", "", np.full((2, 2), 2.5), shape="(2, 2)", value="2.5", dtype="float32")
    c.case("_arange", "", np.repeat(np.arange(1, 3, 0.5), 2), start=1, stop=3, step=0.5, repeat=2)
    c.case("_arange", "", np.arange(4.0), start=4)
    c.write(lambda path, arrays: write_mxnet(path, arrays, 3))


nnvm()
mxnet()
