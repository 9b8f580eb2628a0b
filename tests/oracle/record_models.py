#!/usr/bin/env python3
"""Records what PyTorch gives for the models of the examples, with gradients.

Usage: ./dev oracle models. Writes tests/oracle/models/NAME.npz: weights and inputs, which
tests/oracle/models/NAME.relay reads too, and the results. Models are written for plainness, and not
after ours. PyTorch computes in float64, with weights and inputs that float32 holds.
"""
from pathlib import Path

import numpy as np
import torch

FOLDER = Path(__file__).resolve().parent / "models"
ROOT = FOLDER.parents[2]
SOURCE = np.random.default_rng(2017)


def numbers(*shape, scale=0.5):
    """Random numbers that float32 holds, as float64."""
    return torch.tensor(SOURCE.normal(0.0, scale, shape).astype(np.float32)).double()


def gradients(value, parameters):
    """By name, of a dictionary of parameters."""
    found = torch.autograd.grad(value, list(parameters.values()))
    return {f"{name}.grad": gradient for name, gradient in zip(parameters, found)}


def parameters(**values):
    return {name: value.requires_grad_() for name, value in values.items()}


def save(name, dtype=np.float32, **arrays):
    found = {}
    for key, value in arrays.items():
        array = value.detach().numpy() if torch.is_tensor(value) else np.asarray(value)
        found[key] = array.astype(dtype) if array.dtype.kind == "f" else array
    np.savez_compressed(FOLDER / f"{name}.npz", **found)


def mlp():
    p = parameters(w1=numbers(64, 64, scale=0.1), b1=numbers(64, scale=0.1),
                   w2=numbers(10, 64, scale=0.2), b2=numbers(10, scale=0.1))
    x = torch.tensor(SOURCE.random((20, 64)).astype(np.float32)).double()
    digits = torch.tensor(SOURCE.integers(0, 10, 20))
    hidden = torch.relu(torch.nn.functional.linear(x, p["w1"], p["b1"]))
    logits = torch.nn.functional.linear(hidden, p["w2"], p["b2"])
    loss = torch.nn.functional.cross_entropy(logits, digits)
    save("mlp", **p, x=x, digits=digits.int(), loss=loss, **gradients(loss, p))


def rnn():
    p = parameters(input=numbers(16, 2), state=numbers(16, 16), bias=numbers(16), output=numbers(1, 16))
    digits = torch.tensor(SOURCE.integers(0, 2, (4, 100, 2))).double()
    linear = torch.nn.functional.linear
    state = torch.zeros(100, 16, dtype=torch.float64)
    number = torch.zeros(100, dtype=torch.int64)
    losses = []
    logits = []
    for place, pair in enumerate(digits):
        state = torch.tanh(linear(pair, p["input"], p["bias"]) + linear(state, p["state"]))
        logits.append(linear(state, p["output"])[:, 0])
        number += pair.sum(1).long() << place
    for place, logit in enumerate(logits):
        digit = ((number >> place) & 1).double()
        losses.append(torch.nn.functional.binary_cross_entropy_with_logits(logit, digit))
    loss = sum(losses) / len(losses)
    save("rnn", **p, digits=digits, loss=loss, **gradients(loss, p))


def phrases(depth):
    if depth == 0:
        return [(2, 1.0), (3, -1.0)]
    shorter = phrases(depth - 1)
    return shorter + [((0, tree), -truth) for tree, truth in shorter] + [((1, tree), truth) for tree, truth in shorter]


def treelstm():
    p = parameters(words=numbers(4, 8), gates=numbers(5, 8, 16), answer=numbers(8))

    def read(tree):
        if isinstance(tree, int):
            return torch.tanh(p["words"][tree]), p["words"][tree]
        (left, left_memory), (right, right_memory) = map(read, tree)
        gates = p["gates"] @ torch.cat((left, right))
        take, keep_left, keep_right, give = torch.sigmoid(gates[[0, 2, 3, 4]])
        memory = take * torch.tanh(gates[1]) + keep_left * left_memory + keep_right * right_memory
        return give * torch.tanh(memory), memory

    def opinion(tree):
        return read(tree)[0] @ p["answer"]

    lesson = phrases(2)
    loss = sum(torch.nn.functional.softplus(-truth * opinion(tree)) for tree, truth in lesson) / len(lesson)
    one = opinion(((0, 3), (1, 2)))
    save("treelstm", **p, loss=loss, **gradients(loss, p), opinion=one,
         **{"opinion.gates.grad": torch.autograd.grad(one, p["gates"])[0]})


def newton():
    table = torch.tensor(np.loadtxt(ROOT / "examples/data/iris.csv", delimiter=",", skiprows=1))[50:]
    features = torch.cat((table[:, :4], torch.ones(100, 1)), 1).float().double()
    targets = table[:, 4] - 1.0

    def loss(w):
        return torch.nn.functional.binary_cross_entropy_with_logits(features @ w, targets)

    p = parameters(w=numbers(5, scale=0.2))
    value = loss(p["w"])
    hessian = torch.autograd.functional.hessian(loss, p["w"])
    save("newton", np.float64, **p, loss=value, **gradients(value, p), **{"w.hessian": hessian})


def solve(f, y, time, h):
    """Bogacki and Shampine with the step control of the example."""
    while time > 0.0:
        now = min(h, time)
        k1 = f(y)
        k2 = f(y + now / 2 * k1)
        k3 = f(y + 3 * now / 4 * k2)
        third = y + now * (2 / 9 * k1 + 1 / 3 * k2 + 4 / 9 * k3)
        second = y + now * (7 / 24 * k1 + 1 / 4 * k2 + 1 / 3 * k3 + 1 / 8 * f(third))
        excess = float((third - second).detach().norm()) / 1e-8 + 1e-6
        h = now * min(max(0.9 * excess ** (-1 / 3), 0.2), 5.0)
        if excess <= 1.0:
            y, time = third, time - now
    return y


def ode():
    p = torch.tensor([0.5, 1.2, 4.0], dtype=torch.float64, requires_grad=True)
    growth = solve(lambda y: p[1] * y * (1 - y / p[2]), p[0], 3.0, 0.1)
    speed = torch.tensor(1.7, dtype=torch.float64, requires_grad=True)
    start = torch.stack((torch.zeros_like(speed), speed))
    angle = solve(lambda y: torch.stack((y[1], -torch.sin(y[0]))), start, 3.0, 0.1)[0]
    save("ode", np.float64, growth=growth, angle=angle, **gradients(growth, {"growth": p}),
         **gradients(angle, {"angle": speed}))


def maml():
    p = parameters(w1=numbers(32, 1, scale=1.0), b1=numbers(32), w2=numbers(32, 32, scale=0.2),
                   w3=numbers(1, 32, scale=0.3))
    points = {"x": numbers(10, 1, scale=2.0), "test_x": numbers(10, 1, scale=2.0)}
    points["y"] = torch.sin(points["x"] + 0.5).float().double()
    points["test_y"] = torch.sin(points["test_x"] + 0.5).float().double()

    def loss(net, x, y):
        linear = torch.nn.functional.linear
        hidden = torch.tanh(linear(x, net["w1"], net["b1"]))
        return ((linear(torch.tanh(linear(hidden, net["w2"])), net["w3"]) - y) ** 2).mean()

    inner = torch.autograd.grad(loss(p, points["x"], points["y"]), list(p.values()), create_graph=True)
    adapted = {name: value - 0.1 * gradient for (name, value), gradient in zip(p.items(), inner)}
    value = loss(adapted, points["test_x"], points["test_y"])
    save("maml", **p, **points, loss=value, **gradients(value, p))


def hmc():
    given = {"x": numbers(2), "momentum": numbers(2, scale=1.0), "mean": numbers(2, scale=1.0)}
    factor = numbers(2, 2, scale=1.0)
    given["precision"] = (factor @ factor.T + torch.eye(2)).float().double()

    def gaussian(x):
        d = x - given["mean"]
        return -0.5 * d @ given["precision"] @ d

    def valley(x):
        return -0.5 * (x[0] ** 2 + (x[1] - x[0] ** 2) ** 2)

    found = {}
    for name, density in (("gaussian", gaussian), ("valley", valley)):

        def force(x, density=density):
            x = x.detach().requires_grad_()
            return torch.autograd.grad(density(x), x)[0]

        found[name] = density(given["x"])
        found[f"{name}.grad"] = force(given["x"])
        x, momentum = given["x"], given["momentum"]  # which has had its first half push
        for step in range(8):
            x = x + 0.3 * momentum
            momentum = momentum + (0.3 if step < 7 else 0.15) * force(x)
        found[f"{name}.there"], found[f"{name}.end"] = x, momentum
    save("hmc", **given, **found)


for model in (mlp, rnn, treelstm, newton, ode, maml, hmc):
    model()
    print(f"tests/oracle/models/{model.__name__}.npz")
