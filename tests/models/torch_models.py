#!/usr/bin/python3
"""Writes models of PyTorch (python3-torch) as NAME.onnx, with an input and what PyTorch gives of it in NAME.npz.

  torch_models.py FOLDER [OPSET]
"""
import os, sys, warnings
warnings.filterwarnings("ignore")
import numpy as np
import torch
from torch import nn
import torch.nn.functional as F

torch.manual_seed(0)


class Mlp(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc1, self.fc2 = nn.Linear(6, 8), nn.Linear(8, 3)

    def forward(self, x):
        return torch.log_softmax(self.fc2(torch.tanh(self.fc1(x))), dim=-1)


class LeNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1, self.conv2 = nn.Conv2d(1, 4, 5, padding=2), nn.Conv2d(4, 6, 3)
        self.fc1, self.fc2 = nn.Linear(6 * 2 * 2, 12), nn.Linear(12, 5)

    def forward(self, x):
        x = F.max_pool2d(F.relu(self.conv1(x)), 2)
        x = F.avg_pool2d(F.relu(self.conv2(x)), 2)
        return self.fc2(F.relu(self.fc1(x.view(x.size(0), -1))))


class ResBlock(nn.Module):
    def __init__(self, c):
        super().__init__()
        self.conv1, self.bn1 = nn.Conv2d(c, c, 3, padding=1, bias=False), nn.BatchNorm2d(c)
        self.conv2, self.bn2 = nn.Conv2d(c, c, 3, padding=1, bias=False), nn.BatchNorm2d(c)

    def forward(self, x):
        y = F.relu(self.bn1(self.conv1(x)))
        return F.relu(self.bn2(self.conv2(y)) + x)


class ResNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.blocks = nn.Sequential(*[ResBlock(4) for _ in range(3)])
        self.head = nn.Linear(4, 3)
        for m in self.modules():
            if isinstance(m, nn.BatchNorm2d):
                m.running_mean.normal_(), m.running_var.uniform_(0.5, 2.0)

    def forward(self, x):
        return self.head(F.adaptive_avg_pool2d(self.blocks(x), 1).flatten(1))


class Depthwise(nn.Module):
    def __init__(self):
        super().__init__()
        self.depth = nn.Conv2d(4, 4, 3, stride=2, padding=1, groups=4)
        self.point = nn.Conv2d(4, 6, 1)
        self.up = nn.ConvTranspose2d(6, 3, 4, stride=2, padding=1)

    def forward(self, x):
        return torch.sigmoid(self.up(F.silu(self.point(F.elu(self.depth(x))))))


class Attention(nn.Module):
    def __init__(self, d=8, heads=2):
        super().__init__()
        self.norm, self.heads = nn.LayerNorm(d), heads
        self.qkv, self.out = nn.Linear(d, 3 * d), nn.Linear(d, d)
        self.up, self.down = nn.Linear(d, 16), nn.Linear(16, d)

    def forward(self, x):
        b, t, d = x.shape
        q, k, v = self.qkv(self.norm(x)).view(b, t, 3, self.heads, d // self.heads).permute(2, 0, 3, 1, 4)
        p = torch.softmax(q @ k.transpose(-2, -1) / (d // self.heads) ** 0.5, dim=-1)
        x = x + self.out((p @ v).transpose(1, 2).reshape(b, t, d))
        return x + self.down(F.gelu(self.up(x)))


class Recurrent(nn.Module):
    def __init__(self, kind, both):
        super().__init__()
        self.rnn = getattr(nn, kind)(5, 4, bidirectional=both)
        self.fc = nn.Linear(8 if both else 4, 2)

    def forward(self, x):
        y, h = self.rnn(x)
        return self.fc(y), (h[0] if isinstance(h, tuple) else h)


class If(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.b = nn.Linear(4, 4), nn.Linear(4, 4)

    def forward(self, x):
        if x.sum() > 0:
            y = self.a(x)
        else:
            y = self.b(x) * 2
        return y


class Overhang(nn.Module):
    """Windows that would begin behind the data, along all axes and along one."""
    def forward(self, x):
        return F.max_pool1d(x, 2, 3, 1, ceil_mode=True), F.max_pool2d(x.unsqueeze(1), (2, 3), (3, 2), 1, ceil_mode=True)


class Squeeze(nn.Module):
    """Drops an axis in `local_response_norm`, by an `If` of its extent, which is known."""
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(5, 3)

    def forward(self, x):
        return F.local_response_norm(self.fc(x), 3)


class Loop(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.a = nn.Linear(4, 4)

    def forward(self, x, n: int):
        for i in range(n):
            x = torch.tanh(self.a(x)) + 0.1 * i
        return x


def export(folder, name, model, inputs, opset=13, script=False, dynamic=None, names=None):
    model.eval()
    with torch.no_grad():
        outputs = model(*inputs)
    outputs = outputs if isinstance(outputs, tuple) else (outputs,)
    path = os.path.join(folder, name + ".onnx")
    torch.onnx.export(torch.jit.script(model) if script else model, inputs, path, opset_version=opset,
                      input_names=names or ["x"], dynamic_axes=dynamic, do_constant_folding=True)
    arrays = {f"in_{k}": np.asarray(each) for k, each in enumerate(inputs)}
    arrays.update({f"out_{k}": each.numpy() for k, each in enumerate(outputs)})
    np.savez(os.path.join(folder, name + ".npz"), **arrays)


def main(folder, opset):
    os.makedirs(folder, exist_ok=True)
    batch = {"x": {0: "batch"}}
    export(folder, "mlp", Mlp(), (torch.randn(3, 6),), opset, dynamic=batch)
    export(folder, "lenet", LeNet(), (torch.randn(2, 1, 12, 12),), opset, dynamic=batch)
    export(folder, "resnet", ResNet(), (torch.randn(2, 4, 6, 6),), opset, dynamic=batch)
    export(folder, "depthwise", Depthwise(), (torch.randn(1, 4, 8, 8),), opset)
    export(folder, "attention", Attention(), (torch.randn(2, 5, 8),), opset, dynamic={"x": {0: "batch", 1: "time"}})
    export(folder, "lstm", Recurrent("LSTM", True), (torch.randn(6, 2, 5),), opset)
    export(folder, "lstm_forward", Recurrent("LSTM", False), (torch.randn(6, 2, 5),), opset, dynamic={"x": {0: "time", 1: "batch"}})
    export(folder, "gru", Recurrent("GRU", True), (torch.randn(6, 2, 5),), opset)
    export(folder, "rnn", Recurrent("RNN", True), (torch.randn(6, 2, 5),), opset)
    export(folder, "if", If(), (torch.randn(2, 4),), opset, script=True)
    export(folder, "overhang", Overhang(), (torch.randn(2, 4, 4),), opset)
    export(folder, "squeeze", Squeeze(), (torch.randn(2, 4, 3, 5),), opset, dynamic={"x": {0: "batch"}})
    export(folder, "loop", Loop(), (torch.randn(2, 4), torch.tensor(3)), opset, script=True, names=["x", "n"])


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 13)
