#!/usr/bin/env python3
"""Five graphs of NNVM and MXNet, and what PyTorch computes for the same layers, with gradients.

Usage: tests/models/nnvm/record.py, with PyTorch. Writes beside itself NAME-symbol.json, NAME.params,
and NAME.npz: the inputs, the results, a weighting of them, and the gradients of the weighted sum by
each weight; and NAME_check.relay, which compares. PyTorch computes in float64, with weights and inputs that float32 holds.
"""
from pathlib import Path

import numpy as np
import torch
import torch.nn.functional as F

from graphs import Graph, write_mxnet, write_nnvm

FOLDER = Path(__file__).resolve().parent
SOURCE = np.random.default_rng(2019)


def numbers(*shape, scale=0.5):
    return SOURCE.normal(0.0, scale, shape).astype(np.float32)


def positive(*shape):
    return (0.5 + SOURCE.random(shape)).astype(np.float32)


class Weights(dict):
    """What has been asked for, as float64 with gradients."""

    def __call__(self, name, *shape, scale=0.3, make=numbers):
        self[name] = make(*shape, **({"scale": scale} if make is numbers else {}))
        return torch.tensor(self[name]).double().requires_grad_()


def save(name, inputs, weights, result, is_open=False):
    tensors = weights.tensors
    weighting = numbers(*result.shape)
    total = (result * torch.tensor(weighting).double()).sum()
    names = [n for n in tensors if tensors[n].requires_grad]
    found = torch.autograd.grad(total, [tensors[n] for n in names], allow_unused=True)
    arrays = {**inputs, "result": result.detach().numpy().astype(np.float32), "weighting": weighting}
    for key, gradient in zip(names, found):
        if gradient is not None:
            arrays[f"grad.{key}"] = gradient.numpy().astype(np.float32)
    np.savez_compressed(FOLDER / f"{name}.npz", **arrays)
    write_check(name, list(inputs), [key[5:] for key in arrays if key.startswith("grad.")], is_open)


def write_check(name, inputs, weights, is_open):
    """The program that compares an imported NAME.relay with all that was recorded."""
    recorded = lambda key: f'load("{name}.npz", "{key}")'
    lines = ["// Written by record.py.", 'import "close.relay"', f'import "{name}.relay"', ""]
    lines += [f"let {key} = {recorded(key)}" for key in [*inputs, "weighting"]]
    lines.append(f'assert(close(main({", ".join(inputs)}), {recorded("result")}), message="result");')
    if is_open:  # the weights are arguments
        lines.append(f'let g = grad(fn ({", ".join(weights)}) {{ sum(main({", ".join(inputs)}) * weighting) }})'
                     f'({", ".join(weights)})')
    else:
        lines.append(f'let g = grad(fn (w) {{ sum(model(w, {", ".join(inputs)}) * weighting) }})(weights)')
    for i, key in enumerate(weights):
        field = i if is_open else key
        lines.append(f'assert(close(g.{field}, {recorded("grad." + key)}), message="grad.{key}");')
    lines.append(f"{len(weights)}  // gradients agree")
    with open(FOLDER / f"{name}_check.relay", "w") as file:
        file.write("\n".join(lines) + "\n")


class Model:
    """The graph and PyTorch's computation, side by side: `var` gives both ends of a weight."""

    def __init__(self, dialect, version=None):
        self.graph = Graph(dialect, version)
        self.weights = Weights()
        self.tensors = {}

    def var(self, name, *shape, **how):
        self.tensors[name] = self.weights(name, *shape, **how)
        return self.graph.variable(name), self.tensors[name]

    def hidden(self, name, *shape, **how):
        """A weight that the graph does not show: auxiliary states of old files."""
        self.tensors[name] = self.weights(name, *shape, **how)
        return self.tensors[name]


def lenet():
    """LeNet, as MXNet 1.6 writes it."""
    m, x = Model("attrs", 10600), numbers(2, 1, 28, 28, scale=1.0)
    g = m.graph
    node, t = g.variable("data"), torch.tensor(x).double()
    channels = 1
    for i, filters in ((1, 6), (2, 8)):
        w, wt = m.var(f"conv{i}_weight", filters, channels, 5, 5)
        b, bt = m.var(f"conv{i}_bias", filters)
        node = g.op("Convolution", f"conv{i}", node, w, b, kernel="(5, 5)", num_filter=filters, no_bias="False",
                    workspace=1024)
        node = g.op("Activation", f"act{i}", node, act_type="tanh")
        node = g.op("Pooling", f"pool{i}", node, kernel="(2, 2)", stride="(2, 2)", pool_type="max",
                    pooling_convention="valid")
        t = F.max_pool2d(torch.tanh(F.conv2d(t, wt, bt)), 2)
        channels = filters
    node, t = g.op("Flatten", "flatten0", node), t.flatten(1)
    for i, units in ((1, 32), (2, 10)):
        w, wt = m.var(f"fc{i}_weight", units, t.shape[1], scale=0.1)
        b, bt = m.var(f"fc{i}_bias", units)
        node = g.op("FullyConnected", f"fc{i}", node, w, b, num_hidden=units)
        t = F.linear(t, wt, bt)
        if i == 1:
            node, t = g.op("Activation", "act3", node, act_type="relu"), torch.relu(t)
    label = g.variable("softmax_label")
    node, t = g.op("SoftmaxOutput", "softmax", node, label), torch.softmax(t, 1)
    g.write(FOLDER / "lenet-symbol.json", node)
    write_mxnet(FOLDER / "lenet.params", m.weights, 2)
    save("lenet", {"data": x}, m, t)


def mx_norm(m, name, channels, node, t, fix_gamma, auxiliary, eps=2e-5, shows=True):
    gamma, gt = m.var(f"{name}_gamma", channels, make=positive)
    beta, bt = m.var(f"{name}_beta", channels)
    var = m.var if shows else (lambda *a, **k: (None, m.hidden(*a, **k)))
    mean, mt = var(f"{name}_moving_mean", channels)
    variance, vt = var(f"{name}_moving_var", channels, make=positive)
    auxiliary += [f"{name}_moving_mean", f"{name}_moving_var"]
    inputs = [i for i in (node, gamma, beta, mean, variance) if i is not None]
    node = m.graph.op("BatchNorm", name, *inputs, eps=eps, fix_gamma=fix_gamma, momentum=0.9)
    shape = (1, -1, *([1] * (t.dim() - 2)))
    scale = 1.0 if fix_gamma else gt.reshape(shape)
    t = (t - mt.reshape(shape)) / torch.sqrt(vt.reshape(shape) + eps) * scale + bt.reshape(shape)
    return node, t


def resnet():
    """A block of a residual network, as MXNet 0.11 writes it."""
    m, x, auxiliary = Model("attr", 1100), numbers(2, 3, 8, 8, scale=1.0), []
    g = m.graph
    data, d = g.variable("data"), torch.tensor(x).double()
    first, t = mx_norm(m, "bn_data", 3, data, d, True, auxiliary)
    first, t = g.op("Activation", "relu0", first, act_type="relu"), torch.relu(t)
    w, wt = m.var("sc_weight", 8, 3, 1, 1)
    shortcut = g.op("Convolution", "sc", first, w, kernel="(1,1)", stride="(2,2)", num_filter=8, no_bias=True)
    s = F.conv2d(t, wt, stride=2)
    w, wt = m.var("conv1_weight", 8, 3, 3, 3)
    node = g.op("Convolution", "conv1", first, w, kernel="(3L, 3L)", stride="(2L, 2L)", pad="(1L, 1L)", num_filter=8,
                no_bias=True)
    t = F.conv2d(t, wt, stride=2, padding=1)
    node, t = mx_norm(m, "bn1", 8, node, t, False, auxiliary)
    node, t = g.op("Activation", "relu1", node, act_type="relu"), torch.relu(t)
    w, wt = m.var("conv2_weight", 8, 8, 3, 3)
    node = g.op("Convolution", "conv2", node, w, kernel="(3,3)", pad="(1,1)", num_filter=8, no_bias=True)
    t = F.conv2d(t, wt, padding=1)
    node, t = g.op("_Plus", "plus0", node, shortcut), t + s
    node = g.op("Pooling", "pool1", node, global_pool=True, kernel="(7, 7)", pool_type="avg")
    node, t = g.op("Flatten", "flatten0", node), t.mean((2, 3))
    w, wt = m.var("fc1_weight", 5, 8)
    b, bt = m.var("fc1_bias", 5)
    node, t = g.op("FullyConnected", "fc1", node, w, b, num_hidden=5), F.linear(t, wt, bt)
    node, t = g.op("log_softmax", "softmax", node), torch.log_softmax(t, 1)
    g.write(FOLDER / "resnet-symbol.json", node)
    write_mxnet(FOLDER / "resnet.params", m.weights, 1, auxiliary)
    save("resnet", {"data": x}, m, t)


def mlp():
    """A perceptron of MXNet 0.8: `param`, no auxiliary states in the graph, arrays without a version."""
    m, x, auxiliary = Model("param"), numbers(4, 12, scale=1.0), []
    g = m.graph
    data, t = g.variable("data"), torch.tensor(x).double()
    w, wt = m.var("fc1_weight", 16, 12)
    b, bt = m.var("fc1_bias", 16)
    node, t = g.op("FullyConnected", "fc1", data, w, b, no_bias=False, num_hidden=16), F.linear(t, wt, bt)
    node, t = mx_norm(m, "bn1", 16, node, t, False, auxiliary, eps=0.001, shows=False)
    left, l = g.op("LeakyReLU", "leaky1", node, act_type="leaky", slope=0.1), F.leaky_relu(t, 0.1)
    right, r = g.op("Activation", "softplus1", node, act_type="softrelu"), F.softplus(t)
    node, t = g.op("Concat", "concat1", left, right, dim=1, num_args=2), torch.cat([l, r], 1)
    node = g.op("Dropout", "drop1", node, p=0.5)
    w, wt = m.var("fc2_weight", 3, 32)
    node, t = g.op("FullyConnected", "fc2", node, w, no_bias=True, num_hidden=3), F.linear(t, wt)
    label = g.variable("softmax_label")
    node, t = g.op("SoftmaxOutput", "softmax", node, label, grad_scale=1), torch.softmax(t, 1)
    g.write(FOLDER / "mlp-symbol.json", node)
    write_mxnet(FOLDER / "mlp.params", m.weights, 0, auxiliary)
    save("mlp", {"data": x}, m, t)


def mobilenet():
    """An inverted residual block of NNVM, with a depthwise convolution."""
    m, x = Model("attrs"), numbers(1, 3, 12, 12, scale=1.0)
    g = m.graph
    node, t = g.variable("data"), torch.tensor(x).double()

    def convolution(name, node, t, channels, size, stride=1, padding=0, groups=1):
        w, wt = m.var(f"{name}_weight", channels, t.shape[1] // groups, size, size)
        node = g.op("conv2d", name, node, w, channels=channels, kernel_size=f"({size}, {size})",
                    strides=f"({stride}, {stride})", padding=f"({padding}, {padding})", groups=groups, use_bias=False)
        t = F.conv2d(t, wt, stride=stride, padding=padding, groups=groups)
        gamma, gt = m.var(f"{name}_bn_gamma", channels, make=positive)
        beta, bt = m.var(f"{name}_bn_beta", channels)
        mean, mt = m.var(f"{name}_bn_moving_mean", channels)
        variance, vt = m.var(f"{name}_bn_moving_var", channels, make=positive)
        node = g.op("batch_norm", f"{name}_bn", node, gamma, beta, mean, variance, outputs=3, epsilon="1e-05")
        gt, bt, mt, vt = (each.reshape(1, -1, 1, 1) for each in (gt, bt, mt, vt))
        return node, (t - mt) / torch.sqrt(vt + 1e-5) * gt + bt

    node, t = convolution("stem", node, t, 8, 3, stride=2, padding=1)
    node, t = g.op("relu", "stem_relu", node), torch.relu(t)
    skip, s = node, t
    node, t = convolution("expand", node, t, 24, 1)
    node, t = g.op("clip", "expand_relu6", node, a_min="0", a_max="6"), torch.clip(t, 0, 6)
    node, t = convolution("depthwise", node, t, 24, 3, padding=1, groups=24)
    node, t = g.op("clip", "depthwise_relu6", node, a_min="0", a_max="6"), torch.clip(t, 0, 6)
    node, t = convolution("project", node, t, 8, 1)
    node, t = g.op("elemwise_add", "residual", node, skip), t + s
    node, t = g.op("global_avg_pool2d", "pool", node), t.mean((2, 3), keepdim=True)
    node, t = g.op("flatten", "flatten0", node), t.flatten(1)
    w, wt = m.var("fc_weight", 10, 8)
    b, bt = m.var("fc_bias", 10)
    node, t = g.op("dense", "fc", node, w, b, units=10), F.linear(t, wt, bt)
    node, t = g.op("softmax", "prob", node, axis=1), torch.softmax(t, 1)
    g.write(FOLDER / "mobilenet-symbol.json", node)
    write_nnvm(FOLDER / "mobilenet.params", m.weights)
    save("mobilenet", {"data": x}, m, t)


def shapes():
    """A graph of NNVM that broadcasts, reduces, reshapes, and ends in a transposed convolution."""
    m, x = Model("attrs"), numbers(2, 4, 6, scale=1.0)
    g = m.graph
    node, t = g.variable("x"), torch.tensor(x).double()
    mean = g.op("mean", "mean0", node, axis="(2,)", keepdims=True)
    node, t = g.op("broadcast_sub", "centred", node, mean), t - t.mean(2, keepdim=True)
    top = g.op("max", "max0", node, axis="(1,)", keepdims=False, exclude=False)
    top, tt = g.op("expand_dims", "expand0", top, axis=1), t.amax(1).unsqueeze(1)
    node, t = g.op("broadcast_mul", "mul0", node, top), t * tt
    bias, bt = m.var("scale", 1, 4, 1)
    node, t = g.op("broadcast_add", "add0", node, bias), t + bt
    # (2, 4, 6) to (2, 4, 2, 3) to (2, 8, 3)
    node, t = g.op("reshape", "reshape0", node, shape="(0, 0, -4, 2, -1)"), t.reshape(2, 4, 2, 3)
    node, t = g.op("reshape", "reshape1", node, shape="(0, -3, -2)"), t.reshape(2, 8, 3)
    node, t = g.op("transpose", "transpose0", node, axes="(0, 2, 1)"), t.permute(0, 2, 1)
    parts = g.op("split", "split0", node, outputs=2, indices_or_sections=2, axis=2)
    left, right = t.split(4, 2)
    product = g.op("elemwise_mul", "product", (parts, 0), (parts, 1))
    node = g.op("concatenate", "concat0", (parts, 1), product, axis=1)
    t = torch.cat([right, left * right], 1)  # (2, 6, 4)
    node, t = g.op("reshape", "reshape2", node, shape="(0, 6, 2, 2)"), t.reshape(2, 6, 2, 2)
    node, t = g.op("__div_scalar__", "half", node, scalar="2.000000"), t / 2
    w, wt = m.var("up_weight", 6, 3, 3, 3)
    b, bt = m.var("up_bias", 3)
    node = g.op("conv2d_transpose", "up", node, w, b, channels=3, kernel_size="(3, 3)", strides="(2, 2)",
                padding="(1, 1)", output_padding="(1, 1)", use_bias=True)
    t = F.conv_transpose2d(t, wt, bt, stride=2, padding=1, output_padding=1)
    node, t = g.op("leaky_relu", "leaky0", node, alpha="0.2"), F.leaky_relu(t, 0.2)
    g.write(FOLDER / "shapes-symbol.json", node)
    # Its weights come as arguments.
    save("shapes", {"x": x, **m.weights}, m, t, is_open=True)


def blocks():
    """Four blocks that are the same but for their weights; the graph alone."""
    g = Graph("attrs", 10600)
    node = g.variable("x")
    for i in range(4):
        w, b = g.variable(f"b{i}_fc_weight"), g.variable(f"b{i}_fc_bias")
        inner = g.op("FullyConnected", f"b{i}_fc", node, w, b, num_hidden=8)
        inner = g.op("Activation", f"b{i}_act", inner, act_type="relu")
        node = g.op("elemwise_add", f"b{i}_plus", node, inner)
    g.write(FOLDER / "blocks-symbol.json", node)


for model in (lenet, resnet, mlp, mobilenet, shapes, blocks):
    model()
