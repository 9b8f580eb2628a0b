"""Norms, losses and what else nn has, for the table of cases."""
import numpy as np


def logsumexp(a, axis=None, keepdims=False):
    largest = np.max(a, axis=axis, keepdims=True)
    shift = np.where(np.isfinite(largest), largest, 0)
    total = np.log(np.sum(np.exp(a - shift), axis=axis, keepdims=True)) + shift
    return total if keepdims else np.squeeze(total, axis)


def along(vector, axis, rank):
    """A vector as a tensor of that rank, along one axis."""
    shape = [1] * rank
    shape[axis] = -1
    return vector.reshape(shape)


def normalised(a, axes, epsilon):
    mean = a.mean(axes, keepdims=True)
    return (a - mean) / np.sqrt(((a - mean) ** 2).mean(axes, keepdims=True) + epsilon)


def group_norm(a, gamma, beta, groups, epsilon=1e-5):
    x = a.reshape((a.shape[0], groups, -1))
    x = normalised(x, (2,), epsilon).reshape(a.shape)
    return x * along(gamma, 1, a.ndim) + along(beta, 1, a.ndim)


def softmax(a, axis=-1):
    powers = np.exp(a - a.max(axis, keepdims=True))
    return powers / powers.sum(axis, keepdims=True)


def log_softmax(a, axis=-1):
    return a - logsumexp(a, axis, keepdims=True)


def lrn(a, size=5, axis=1, bias=2.0, alpha=0.0001, beta=0.75):
    out = np.empty(a.shape)
    x, y = np.moveaxis(a, axis, 0), np.moveaxis(out, axis, 0)
    for i in range(x.shape[0]):
        near = x[max(0, i - size // 2): i + size // 2 + 1]
        y[i] = x[i] / (bias + alpha / size * (near ** 2).sum(0)) ** beta
    return out


def nll_loss(predictions, targets, weights, reduction="mean", ignore_index=-100):
    losses, total = np.zeros(targets.shape), 0.0
    for place in np.ndindex(targets.shape):
        target = targets[place]
        if target != ignore_index:
            losses[place] = -predictions[(place[0], target) + place[1:]] * weights[target]
            total += weights[target]
    return losses if reduction == "none" else losses.sum() / (total if reduction == "mean" else 1)
