"""The evaluations of GradBench in PyTorch, as a person writes them: tensors whole, gradients by autograd.

FUNCTIONS[evaluation][function] takes the inputs by name, as tensors, and gives a tensor or a tuple of them. What would go step by step
through tens of thousands of numbers (saddle, particle) is not here.
"""
import math

import torch
from torch.autograd.functional import hvp, jacobian


def gradient(f, *args):
    args = [each.clone().requires_grad_() for each in args]
    return torch.autograd.grad(f(*args), args)


# --- gmm ---

def factors(q, l):
    d = q.shape[1]
    below = torch.tril_indices(d, d, -1)
    order = torch.argsort(below[1] * d + below[0])  # column by column
    result = torch.diag_embed(torch.exp(q))
    return result.index_put((torch.arange(len(q))[:, None], below[0][order], below[1][order]), l)


def gmm(alpha, mu, q, l, x, gamma, m):
    (n, d), k = x.shape, len(alpha)
    factor = factors(q, l)
    y = torch.einsum("kij,nkj->nki", factor, x[:, None] - mu)
    beta = alpha + q.sum(1) - 0.5 * (y * y).sum(2)
    freedom = d + m + 1
    constant = freedom * d * torch.log(gamma / math.sqrt(2)) - torch.special.multigammaln(0.5 * freedom, d)
    return (torch.logsumexp(beta, 1).sum() - n * (0.5 * d * math.log(2 * math.pi) + torch.logsumexp(alpha, 0)) + k * constant
            - 0.5 * gamma * gamma * (factor * factor).sum() + m * q.sum())


def gmm_objective(alpha, mu, q, l, x, gamma, m):
    return gmm(alpha, mu, q, l, x, gamma, m)


def gmm_gradient(alpha, mu, q, l, x, gamma, m):
    return gradient(lambda *p: gmm(*p, x, gamma, m), alpha, mu, q, l)


# --- ba ---

def turned(r, y):
    angle = r.norm(dim=1, keepdim=True)
    u = r / angle
    along = (u * y).sum(1, keepdim=True)
    return y * torch.cos(angle) + torch.cross(u, y, dim=1) * torch.sin(angle) + u * along * (1 - torch.cos(angle))


def residuals(camera, point, weight, features):
    y = turned(camera[:, :3], point - camera[:, 3:6])
    g = y[:, :2] / y[:, 2:]
    s = (g * g).sum(1, keepdim=True)
    bent = g * (1 + camera[:, 9:10] * s + camera[:, 10:] * s * s)
    return weight[:, None] * (bent * camera[:, 6:7] + camera[:, 7:9] - features)


def of_observations(cameras, points, weights):
    i = torch.arange(len(weights))
    return cameras[i % len(cameras)], points[i % len(points)]


def ba_objective(cameras, points, weights, features):
    return residuals(*of_observations(cameras, points, weights), weights, features), 1 - weights * weights


def ba_jacobian(cameras, points, weights, features):
    n, m, p = len(cameras), len(points), len(weights)
    args = [each.requires_grad_() for each in of_observations(cameras, points, weights)] + [weights.clone().requires_grad_()]
    errors = residuals(*args, features)
    # No observation knows of another one, so that the gradient of a sum has the rows of all.
    rows = []
    for row in range(2):
        by_camera, by_point, by_weight = torch.autograd.grad(errors[:, row].sum(), args, retain_graph=row == 0)
        rows.append(torch.cat([by_camera, by_point, by_weight[:, None]], 1))
    entries = torch.cat([torch.stack(rows, 1).ravel(), gradient(lambda w: (1 - w * w).sum(), weights)[0]])
    i = torch.arange(p)
    own = torch.cat([(i % n * 11)[:, None] + torch.arange(11), (11 * n + i % m * 3)[:, None] + torch.arange(3),
                     (11 * n + 3 * m + i)[:, None]], 1)
    columns = torch.cat([torch.stack([own, own], 1).ravel(), 11 * n + 3 * m + i])
    starts = torch.cat([15 * torch.arange(2 * p), 30 * p + torch.arange(p + 1)])
    return starts, columns, entries


# --- ht ---

def about(axis, angle):
    i, j = (axis + 1) % 3, (axis + 2) % 3
    result = torch.eye(4, dtype=torch.float64)
    cells = torch.stack([torch.cos(angle), -torch.sin(angle), torch.sin(angle), torch.cos(angle)])
    return result.index_put((torch.tensor([i, i, j, j]), torch.tensor([i, j, i, j])), cells)


def rotation(r):
    angle = torch.sqrt((r * r).sum())
    if angle < 1e-4:
        return torch.eye(3, dtype=torch.float64)
    u = r / angle
    zero = torch.zeros((), dtype=torch.float64)
    cross = torch.stack([zero, -u[2], u[1], u[2], zero, -u[0], -u[1], u[0], zero]).reshape(3, 3)
    return torch.cos(angle) * torch.eye(3, dtype=torch.float64) + (1 - torch.cos(angle)) * torch.outer(u, u) + torch.sin(angle) * cross


def vertices(theta, parents, relatives, inverses, positions, weights):
    turns = [torch.eye(4, dtype=torch.float64)] * len(parents)
    for finger in range(5):
        angles = theta[6 + 4 * finger:10 + 4 * finger]
        turns[2 + 4 * finger] = about(2, angles[1]) @ about(0, angles[0])
        turns[3 + 4 * finger] = about(0, angles[2])
        turns[4 + 4 * finger] = about(0, angles[3])
    own = relatives @ torch.stack(turns)
    absolutes = []
    for bone, parent in enumerate(parents.tolist()):
        absolutes.append(own[bone] if parent < 0 else absolutes[parent] @ own[bone])
    transforms = torch.stack(absolutes) @ inverses
    skin = torch.einsum("vb,bij,vj->vi", weights, transforms[:, :3], positions)
    return skin @ rotation(theta[:3]).T + theta[3:6]


def within(hand, us, correspondences, points, triangles):
    corners = hand[triangles[correspondences]]
    shares = torch.cat([us, 1 - us.sum(1, keepdim=True)], 1)
    return points - (shares[:, :, None] * corners).sum(1)


def ht_objective(theta, us, correspondences, points, triangles, **model):
    return within(vertices(theta, **model), us, correspondences, points, triangles)


def ht_jacobian(theta, us, correspondences, points, triangles, **model):
    posed = jacobian(lambda t: within(vertices(t, **model), us, correspondences, points, triangles), theta, vectorize=True,
                     strategy="forward-mode")
    corners = vertices(theta, **model)[triangles[correspondences]]
    own = torch.stack([corners[:, 2] - corners[:, 0], corners[:, 2] - corners[:, 1]], 2)
    return torch.cat([own, posed], 2).reshape(-1, 28)


def simple_objective(theta, us, correspondences, points, triangles, **model):
    return points - vertices(theta, **model)[correspondences]


def simple_jacobian(theta, us, correspondences, points, triangles, **model):
    return jacobian(lambda t: points - vertices(t, **model)[correspondences], theta, vectorize=True,
                    strategy="forward-mode").reshape(-1, 26)


# --- lstm ---

def lstm_objective(main, extra, state, sequence):
    layers = len(main) // 2
    hidden, cell = list(state[0::2]), list(state[1::2])
    total = 0
    for t in range(len(sequence) - 1):
        x = sequence[t] * extra[0]
        for i in range(layers):
            wf, wi, wo, wg = main[2 * i].chunk(4)
            bf, bi, bo, bg = main[2 * i + 1].chunk(4)
            change = torch.sigmoid(hidden[i] * wi + bi) * torch.tanh(hidden[i] * wg + bg)
            cell[i] = cell[i] * torch.sigmoid(x * wf + bf) + change
            x = hidden[i] = torch.sigmoid(x * wo + bo) * torch.tanh(cell[i])
        y = x * extra[1] + extra[2]
        total = total + (sequence[t + 1] * (y - torch.log(2 + torch.exp(y).sum()))).sum()
    return -total / (sequence.shape[1] * (len(sequence) - 1))


def lstm_gradient(main, extra, state, sequence):
    return gradient(lambda *p: lstm_objective(*p, state, sequence), main, extra)


# --- the small ones ---

def kmeans_cost(points, centroids):
    return ((points[:, None] - centroids) ** 2).sum(2).min(1).values.sum()


def kmeans_dir(points, centroids):
    def cost(centroids):
        return kmeans_cost(points, centroids)
    return gradient(cost, centroids)[0] / hvp(cost, centroids, torch.ones_like(centroids))[1]


def lse(x):
    largest = x.max()
    return largest + torch.log(torch.exp(x - largest).sum())


def llsq(x, n):
    t = -1 + 2 * torch.arange(int(n), dtype=torch.float64) / (int(n) - 1)
    powers = t[:, None] ** torch.arange(len(x), dtype=torch.float64)
    return 0.5 * ((torch.sign(t) - powers @ x) ** 2).sum()


def ode(x, s):
    def slope(y):
        return torch.cat([x[:1], x[1:] * y[:-1]])
    y, h = torch.zeros_like(x), 2 / int(s)
    for _ in range(int(s)):
        k1 = slope(y)
        k2 = slope(y + h / 2 * k1)
        k3 = slope(y + h / 2 * k2)
        k4 = slope(y + h * k3)
        y = y + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
    return y


def det(a):
    if len(a) == 1:
        return a[0, 0]
    columns = torch.arange(len(a))
    return sum((-1) ** j * a[0, j] * det(a[1:, columns != j]) for j in range(len(a)))


FUNCTIONS = {
    "hello": {"square": lambda x: x * x, "double": lambda x: gradient(lambda x: x * x, x)},
    "gmm": {"objective": gmm_objective, "jacobian": gmm_gradient},
    "ba": {"objective": ba_objective, "jacobian": ba_jacobian},
    "ht": {"objective": ht_objective, "jacobian": ht_jacobian, "simple objective": simple_objective,
           "simple jacobian": simple_jacobian},
    "lstm": {"objective": lstm_objective, "jacobian": lstm_gradient},
    "kmeans": {"cost": kmeans_cost, "dir": kmeans_dir},
    "lse": {"primal": lse, "gradient": lambda x: gradient(lse, x)},
    "llsq": {"primal": llsq, "gradient": lambda x, n: gradient(lambda x: llsq(x, n), x)},
    "ode": {"primal": ode, "gradient": lambda x, s: gradient(lambda x: ode(x, s)[-1], x)},
    "det": {"primal": det, "gradient": lambda a: gradient(det, a)},
}
