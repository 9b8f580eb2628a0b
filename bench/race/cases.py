"""What the race runs on tensors (bench/race/case.py): operators, networks and their gradients. What is written in index
notation: bench/race/written.py."""
from case import SMALL, Case, Input, plain, weight
from written import WRITTEN


# --- Products ---

def dense(n, is_extra=False):
    return Case(f"dense {n}", [plain(n, n), Input((n, n), is_constant=True)], "def run(x) { nn.dense(x, x1) }",
                lambda torch, x, w: torch.nn.functional.linear(x, w), 2.0 * n ** 3, [(n, n)],
                onnx=lambda g: g("Gemm", "x0", "x1", transB=1), is_extra=is_extra)


def products(count, n):
    return Case(f"{count} products of {n}^3", [plain(count, n, n), plain(count, n, n)],
                "def run(x, y) { nn.batch_matmul(x, y, transpose_b=False) }", lambda torch, x, y: torch.bmm(x, y),
                2.0 * count * n ** 3, [(count, n, n)], onnx=lambda g: g("MatMul", "x0", "x1"))


def batched(batch, m, n, k):
    return Case(f"batch_matmul {batch} x {m} x {n} x {k}", [plain(batch, m, k), plain(batch, n, k)],
                "def run(x, y) { nn.batch_matmul(x, y, transpose_b=True) }",
                lambda torch, x, y: torch.bmm(x, y.transpose(1, 2)), 2.0 * batch * m * n * k, [(batch, m, n)],
                onnx=lambda g: g("MatMul", "x0", g("Transpose", "x1", perm=[0, 2, 1])), is_extra=True)


def attention(heads, length, width):
    shape = (heads, length, width)

    def graph(g):
        scores = g("MatMul", "x0", g("Transpose", "x1", perm=[0, 2, 1]))
        return g("MatMul", g("Softmax", g("Mul", scores, g.constant(width ** -0.5)), axis=-1), "x2")
    return Case(f"attention {heads} x {length} x {width}", [Input(shape)] * 3,
                "def run(q, k, v) { nn.batch_matmul(nn.softmax(nn.batch_matmul(q, k, transpose_b=True) * "
                f"{width ** -0.5}), v, transpose_b=False) }}",
                lambda torch, q, k, v: torch.bmm(torch.softmax(torch.bmm(q, k.transpose(1, 2)) * width ** -0.5, -1), v),
                4.0 * heads * length ** 2 * width, [shape], onnx=graph)


# --- Convolutions ---

def conv(batch, channels, outputs, size, kernel=3, stride=1, is_extra=True):
    pad = kernel // 2
    out = (size + 2 * pad - kernel) // stride + 1
    return Case(f"conv2d {kernel}x{kernel}/{stride} {batch} x {channels} -> {outputs}, {size}",
                [plain(batch, channels, size, size), weight(outputs, channels, kernel, kernel)],
                f"def run(x) {{ nn.conv2d(x, x1, padding=[{pad}, {pad}], strides=[{stride}, {stride}]) }}",
                lambda torch, x, w: torch.nn.functional.conv2d(x, w, padding=pad, stride=stride),
                2.0 * batch * outputs * channels * kernel ** 2 * out ** 2, [(batch, outputs, out, out)],
                onnx=lambda g: g("Conv", "x0", "x1", pads=[pad] * 4, strides=[stride] * 2), is_extra=is_extra)


def conv_gradient(batch, channels, outputs, size):
    """The adjoints of data and weight, together."""
    def theirs(torch, x, w, dy):
        return tuple(torch.ops.aten.convolution_backward(dy, x, w, None, [1, 1], [1, 1], [1, 1], False, [0, 0], 1,
                                                         [True, True, False])[:2])
    return Case(f"conv2d gradient {batch} x {channels} -> {outputs}, {size}",
                [plain(batch, channels, size, size), Input((outputs, channels, 3, 3), SMALL), plain(batch, outputs, size, size)],
                "def run(x, w, dy) { grad(fn (x, w) { sum(nn.conv2d(x, w, padding=[1, 1]) * dy) })(x, w) }", theirs,
                4.0 * batch * outputs * channels * 9 * size ** 2,
                [(batch, channels, size, size), (outputs, channels, 3, 3)], results=2, is_extra=True)


# --- Rows ---

def chain():
    n = 16 * 1024 * 1024

    def graph(g):
        return g("Sub", g("Mul", g("Tanh", g("Add", g("Mul", "x0", "x1"), "x2")), g("Sigmoid", "x0")), "x1")
    return Case("chain of 6, 16 Mi", [plain(n)] * 3, "def run(x, y, z) { tanh(x * y + z) * sigmoid(x) - y }",
                lambda torch, x, y, z: torch.tanh(x * y + z) * torch.sigmoid(x) - y, 6.0 * n, [(n,)], onnx=graph)


def softmax():
    return Case("softmax 4096 x 1024", [plain(4096, 1024)], "def run(x) { nn.softmax(x) }",
                lambda torch, x: torch.softmax(x, -1), 5.0 * 4096 * 1024, [(4096, 1024)],
                onnx=lambda g: g("Softmax", "x0", axis=-1))


def layer_norm():
    return Case("layer norm 4096 x 1024", [plain(4096, 1024), weight(1024), weight(1024)],
                "def run(x) { nn.layer_norm(x, x1, x2) }",
                lambda torch, x, gamma, beta: torch.nn.functional.layer_norm(x, (1024,), gamma, beta),
                8.0 * 4096 * 1024, [(4096, 1024)],
                onnx=lambda g: g("LayerNormalization", "x0", "x1", "x2", axis=-1, epsilon=1e-5))


# --- Networks ---

MLP = [784, 512, 256, 10]
MLP_ROWS = 64
MLP_PRODUCTS = 2.0 * MLP_ROWS * sum(m * n for m, n in zip(MLP, MLP[1:]))


def mlp_inputs(first):
    return [each for m, n in zip(MLP, MLP[1:]) for each in (Input((n, m), SMALL, first), Input((n,), SMALL, first))]


def mlp_text(names):
    text = "x"
    for i in range(0, 6, 2):
        text = f"nn.dense({text}, {names[i]}) + {names[i + 1]}"
        text = f"nn.relu({text})" if i < 4 else text
    return text


def mlp_of_torch(torch, x, parameters):
    for i in (0, 2, 4):
        x = torch.nn.functional.linear(x, parameters[i], parameters[i + 1])
        x = torch.relu(x) if i < 4 else x
    return x


def mlp_graph(g):
    x = "x0"
    for i in (1, 3, 5):
        x = g("Gemm", x, f"x{i}", f"x{i + 1}", transB=1)
        x = g("Relu", x) if i < 5 else x
    return x


def mlp():
    return Case(f"MLP 784-512-256-10, {MLP_ROWS} rows", [plain(MLP_ROWS, 784)] + mlp_inputs(True),
                f"def run(x) {{ {mlp_text(['x1', 'x2', 'x3', 'x4', 'x5', 'x6'])} }}",
                lambda torch, x, *parameters: mlp_of_torch(torch, x, parameters), MLP_PRODUCTS, [(MLP_ROWS, 10)],
                onnx=mlp_graph)


def mlp_gradients():
    names = ["w", "b", "v", "c", "u", "d"]

    def theirs(torch, x, t, *parameters):
        loss = -(torch.log_softmax(mlp_of_torch(torch, x, parameters), -1) * t).sum() / MLP_ROWS
        return (loss, *torch.autograd.grad(loss, parameters))
    inner = f"-sum(nn.log_softmax({mlp_text(names)}) * t) / {MLP_ROWS}.0"
    parameters = mlp_inputs(False)
    return Case("MLP gradients", [plain(MLP_ROWS, 784), plain(MLP_ROWS, 10)] + parameters,
                f"def loss(x, t, {', '.join(names)}) {{ {inner} }}\n"
                f"def run(x, t, {', '.join(names)}) {{ let (l, ({', '.join('g' + each for each in names)})) = "
                f"value_and_grad(fn ({', '.join(names)}) {{ loss(x, t, {', '.join(names)}) }})({', '.join(names)}); "
                f"(l, {', '.join('g' + each for each in names)}) }}",
                theirs, 3.0 * MLP_PRODUCTS - 2.0 * MLP_ROWS * 784 * 512, [each.shape for each in parameters], results=7,
                needs_gradients=True)


STEPS, WIDTH = 100, 128


def lstm_inputs(is_constant):
    return [plain(STEPS, WIDTH), Input((4 * WIDTH, WIDTH), SMALL, is_constant), Input((4 * WIDTH, WIDTH), SMALL, is_constant),
            Input((4 * WIDTH,), SMALL, is_constant)]


LSTM = (
    f"def lstm(n: int32, h, c, xs: Tensor[({STEPS}, {WIDTH}), float32], wx, wh, b) {{ if n == {STEPS} {{ h }} else {{ "
    f"let g = nn.dense(reshape(xs[n], newshape=[1, {WIDTH}]), wx) + b + nn.dense(h, wh); "
    "let (i, f, u, o) = split(g, indices_or_sections=4, axis=1); "
    "let next = sigmoid(f) * c + sigmoid(i) * tanh(u); "
    "lstm(n + 1, sigmoid(o) * tanh(next), next, xs, wx, wh, b) } }\n"
    f"let start = zeros(shape=[1, {WIDTH}], dtype=\"float32\")\n")


class TorchLstm:
    """PyTorch's own module, with our weights."""

    def __init__(self):
        self.module = None

    def __call__(self, torch, xs, wx, wh, b):
        if self.module is None:
            self.module = torch.nn.LSTM(WIDTH, WIDTH)
            own = self.module
            with torch.no_grad():
                for parameter, value in ((own.weight_ih_l0, wx), (own.weight_hh_l0, wh), (own.bias_ih_l0, b),
                                         (own.bias_hh_l0, b * 0.0)):
                    parameter.copy_(value)
        start = torch.zeros(1, 1, WIDTH)
        return self.module(xs[:, None], (start, start))[1][0][0]


class TorchLstmGradients(TorchLstm):
    def __call__(self, torch, *inputs):
        h = super().__call__(torch, *inputs)
        own = self.module
        loss = (h * h).mean()
        return (loss, *torch.autograd.grad(loss, [own.weight_ih_l0, own.weight_hh_l0, own.bias_ih_l0]))


def lstm_graph(g):
    """The node has its gates in the order input, output, forget, cell."""
    def gates(name):
        i, f, u, o = g.numbers(name).reshape(4, WIDTH, -1)
        return g.concatenated([i, o, f, u])
    bias = gates("x3").reshape(-1)
    node = g.node("LSTM", g("Reshape", "x0", g.constant([STEPS, 1, WIDTH])), g.array(gates("x1").reshape(1, 4 * WIDTH, WIDTH)),
                  g.array(gates("x2").reshape(1, 4 * WIDTH, WIDTH)),
                  g.array(g.concatenated([bias, bias * 0]).reshape(1, 8 * WIDTH)), outputs=3, hidden_size=WIDTH)
    return node[1]


# The products with the inputs can be one, of all steps; those with the state read the matrix again at each step.
LSTM_PRODUCTS = 2.0 * STEPS * 2 * 4 * WIDTH * WIDTH
LSTM_BYTES = 4.0 * (STEPS * 4 * WIDTH * WIDTH + 4 * WIDTH * WIDTH + STEPS * WIDTH)


def lstm():
    return Case(f"LSTM {STEPS} steps of {WIDTH}, 1 row", lstm_inputs(True),
                LSTM + "def run(xs) { lstm(0, start, start, xs, x1, x2, x3) }", TorchLstm(), LSTM_PRODUCTS, [(1, 1, WIDTH)],
                onnx=lstm_graph, bytes=LSTM_BYTES)


def lstm_gradients():
    return Case("LSTM gradients", lstm_inputs(False),
                LSTM + "def run(xs, wx, wh, b) { let (l, (gx, gh, gb)) = value_and_grad(fn (wx, wh, b) { "
                "let h = lstm(0, start, start, xs, wx, wh, b); mean(h * h) })(wx, wh, b); (l, gx, gh, gb) }",
                TorchLstmGradients(), 3.0 * LSTM_PRODUCTS - LSTM_PRODUCTS / 2, [(4 * WIDTH, WIDTH)] * 2, results=4,
                needs_gradients=True, bytes=2 * LSTM_BYTES)


LEAVES, CELL = 128, 64


def tree_inputs(is_constant):
    return [plain(LEAVES, CELL)] + [Input(shape, SMALL, is_constant) for shape in
                                    ((3 * CELL, CELL), (3 * CELL,), (5 * CELL, CELL), (5 * CELL, CELL), (5 * CELL,))]


TREE = f"""
type Tree {{ Leaf(Tensor[(1, {CELL}), float32]), Node(Tree, Tree) }}
def planted(from: int32, to: int32, xs: Tensor[({LEAVES}, {CELL}), float32]) -> Tree {{ \
if to - from == 1 {{ Leaf(reshape(xs[from], newshape=[1, {CELL}])) }} else {{ let middle = (from + to) / 2; \
Node(planted(from, middle, xs), planted(middle, to, xs)) }} }}
def cell(tree: Tree, wx: Tensor[({3 * CELL}, {CELL}), float32], bx, ul, ur, b) -> \
(Tensor[(1, {CELL}), float32], Tensor[(1, {CELL}), float32]) {{ match tree {{ \
Leaf(x) => {{ let (i, o, u) = split(nn.dense(x, wx) + bx, indices_or_sections=3, axis=1); \
let c = sigmoid(i) * tanh(u); (sigmoid(o) * tanh(c), c) }}, \
Node(l, r) => {{ let (hl, cl) = cell(l, wx, bx, ul, ur, b); let (hr, cr) = cell(r, wx, bx, ul, ur, b); \
let (i, f, g, o, u) = split(nn.dense(hl, ul) + b + nn.dense(hr, ur), indices_or_sections=5, axis=1); \
let c = sigmoid(i) * tanh(u) + sigmoid(f) * cl + sigmoid(g) * cr; (sigmoid(o) * tanh(c), c) }} }} }}
let tree = planted(0, {LEAVES}, x0)
"""


def torch_tree(torch, xs, wx, bx, ul, ur, b):
    linear, sigmoid, tanh = torch.nn.functional.linear, torch.sigmoid, torch.tanh

    def cell(first, last):
        if last - first == 1:
            i, o, u = linear(xs[first:last], wx, bx).chunk(3, -1)
            c = sigmoid(i) * tanh(u)
        else:
            middle = (first + last) // 2
            (hl, cl), (hr, cr) = cell(first, middle), cell(middle, last)
            i, f, g, o, u = (linear(hl, ul, b) + linear(hr, ur)).chunk(5, -1)
            c = sigmoid(i) * tanh(u) + sigmoid(f) * cl + sigmoid(g) * cr
        return sigmoid(o) * tanh(c), c
    return cell(0, LEAVES)[0]


def torch_tree_gradients(torch, xs, *parameters):
    h = torch_tree(torch, xs, *parameters)
    loss = (h * h).mean()
    return (loss, *torch.autograd.grad(loss, parameters))


TREE_PRODUCTS = 2.0 * CELL * CELL * (3 * LEAVES + 10 * (LEAVES - 1))


def tree():
    return Case(f"TreeLSTM {2 * LEAVES - 1} nodes of {CELL}", tree_inputs(True),
                TREE + "def run() { cell(tree, x1, x2, x3, x4, x5).0 }", torch_tree, TREE_PRODUCTS, [(1, CELL)],
                bytes=2 * TREE_PRODUCTS)


def tree_gradients():
    return Case("TreeLSTM gradients", tree_inputs(False),
                TREE + "def run(wx, bx, ul, ur, b) { let (l, (g0, g1, g2, g3, g4)) = value_and_grad(fn (wx, bx, ul, ur, b) { "
                "let (h, _) = cell(tree, wx, bx, ul, ur, b); mean(h * h) })(wx, bx, ul, ur, b); (l, g0, g1, g2, g3, g4) }",
                torch_tree_gradients, 3 * TREE_PRODUCTS, results=6, needs_gradients=True, bytes=4 * TREE_PRODUCTS)


CASES = [
    dense(512), dense(1024), chain(), softmax(), layer_norm(), mlp(), mlp_gradients(),
    conv(1, 64, 64, 56, is_extra=False), lstm(), lstm_gradients(), tree(), tree_gradients(), attention(8, 512, 64),
    *(products(1000, n) for n in (4, 8, 16, 32, 64)),
    dense(256, is_extra=True), batched(64, 128, 128, 64), batched(16, 256, 64, 256), conv(1, 3, 64, 224, 7, 2),
    conv(1, 64, 128, 56, 3, 2), conv(1, 128, 128, 28), conv(1, 256, 256, 14), conv(1, 512, 512, 7), conv(1, 256, 64, 56, 1),
    conv(8, 64, 64, 56), conv(8, 128, 128, 28), conv(8, 256, 256, 14), conv(8, 512, 512, 7), conv_gradient(8, 64, 64, 56),
    conv_gradient(8, 256, 256, 14), *WRITTEN,
]
