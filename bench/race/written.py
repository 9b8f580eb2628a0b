"""What a person writes in index notation, as one body, beside the operators of PyTorch that compute it, and its gradients."""
from case import Case, Input


def written(name, shapes, text, theirs, operations, outputs):
    """`text`: the body of `def run`, of parameters x, y, z."""
    parameters = ", ".join("xyz"[:len(shapes)])
    return Case(f"written: {name}", [Input(shape) for shape in shapes], f"def run({parameters}) {{ {text} }}", theirs,
                operations, outputs)


def gradient(name, shapes, text, theirs, operations):
    """By all parameters, of `text`, a scalar."""
    parameters = ", ".join("xyz"[:len(shapes)])

    def differentiated(torch, *args):
        return torch.autograd.grad(theirs(torch, *args), args)
    return Case(f"written: gradient of {name}", [Input(shape, 2.0) for shape in shapes],
                f"def value({parameters}) {{ {text} }}\ndef run({parameters}) {{ grad(value)({parameters}) }}", differentiated,
                operations, list(shapes), results=len(shapes), needs_gradients=True)


def both(name, shapes, text, theirs, operations, output, scale=1.0):
    """A tensor, and the gradient of the sum of the sines of `scale` times it."""
    indices = ", ".join("ijkl"[:len(output)])
    return [
        written(name, shapes, text, theirs, operations, [output]),
        gradient(name, shapes, f"let t = {text}; sum {indices} {{ sin({scale} * t[{indices}]) }}",
                 lambda torch, *args: torch.sin(scale * theirs(torch, *args)).sum(), 3 * operations),
    ]


def attention(torch, q, k, v):
    return torch.softmax(q @ k.T / 8.0, -1) @ v


def covariance(torch, x):
    x = x - x.mean(0)
    return x.T @ x / 999.0


WRITTEN = [
    *both("scaled product of 512", [(512, 512), (512, 512)], "for i, j { sum k { 0.01 * x[i, k] * y[k, j] } }",
          lambda torch, x, y: 0.01 * (x @ y), 2.0 * 512 ** 3, (512, 512)),
    *both("covariance of 1000 x 64", [(1000, 64)],
          "{ let m = for i { (sum k { x[k, i] }) / 1000.0 }; for i, j { (sum k { (x[k, i] - m[i]) * (x[k, j] - m[j]) }) / 999.0 } }",
          covariance, 2.0 * 1000 * 64 ** 2, (64, 64)),
    *both("attention 512 x 64", [(512, 64)] * 3,
          "for i, d { (sum j { exp(sum e { x[i, e] * y[j, e] } / 8.0) * z[j, d] }) / sum j { exp(sum e { x[i, e] * y[j, e] } / 8.0) } }",
          attention, 4.0 * 512 ** 2 * 64, (512, 64)),
    *both("softmax 1024 x 1024", [(1024, 1024)], "for i, j { exp(x[i, j]) / sum k { exp(x[i, k]) } }",
          lambda torch, x: torch.softmax(x, -1), 5.0 * 1024 ** 2, (1024, 1024), scale=1000.0),
    *both("three matrices of 256", [(256, 256)] * 3, "for i, l { sum j, k { x[i, j] * y[j, k] * z[k, l] / 256.0 } }",
          lambda torch, x, y, z: torch.einsum("ij,jk,kl->il", x, y, z) / 256.0, 4.0 * 256 ** 3, (256, 256)),
    *both("relu and product of 512", [(512, 512), (512, 512)],
          "for i, j { sum k { maximum(x[i, k], 0.0) * y[k, j] } }",
          lambda torch, x, y: torch.where(x >= 0, x, torch.zeros(())) @ y, 2.0 * 512 ** 3, (512, 512), scale=0.01),
    gradient("squared residuals, 1000 x 64 to 64", [(1000, 64), (64, 64), (1000, 64)],
             "sum i, j { let r = (sum k { x[i, k] * y[k, j] }) - z[i, j]; r * r }",
             lambda torch, x, y, z: ((x @ y - z) ** 2).sum(), 6.0 * 1000 * 64 ** 2),
    *both("Gaussian kernel 512 x 64", [(512, 64), (512, 64)],
          "for i, j { exp(-0.02 * sum k { power(x[i, k] - y[j, k], 2.0) }) }",
          lambda torch, x, y: torch.exp(-0.02 * ((x[:, None] - y[None]) ** 2).sum(-1)), 3.0 * 512 ** 2 * 64, (512, 512)),
]
