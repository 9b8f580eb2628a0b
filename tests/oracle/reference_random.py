"""Relay's random numbers, in Python's integers: Threefry-4x64 as its kernels compute it."""
import math

import numpy as np

_ONES = (1 << 64) - 1
_TURNS = [(14, 16), (52, 57), (23, 40), (5, 37), (25, 33), (46, 12), (58, 22), (32, 32)]


def random_key(seed):
    return np.array([int(seed) & _ONES, 0, 0, 0, 0, 0, 0, 0, 1 << 63, 0], np.uint64)


def _hash(key, counter):
    key = key + [0x1BD11BDAA9FC1A22 ^ key[0] ^ key[1] ^ key[2] ^ key[3]]
    x = list(counter)
    for round in range(20):
        if round % 4 == 0:
            for j in range(4):
                x[j] += key[(round // 4 + j) % 5]
            x[3] += round // 4
        for left in (0, 2):
            b, turn = x[left + 1] & _ONES, _TURNS[round % 8][left // 2]
            x[left] = (x[left] + b) & _ONES
            x[left + 1] = ((x[left] + b) ^ (b << turn | b >> (64 - turn))) & _ONES
        x[1], x[3] = x[3], x[1]
    return x


def _step(high, low):
    step = (high << 64 | low) >> 1
    return [step >> 64, step & _ONES]


def _longer(words, one):
    path = [words[4] | words[8], words[5] | words[9]] if one else words[4:6]
    return path, _step(words[8], words[9])


def _draw(key, count):
    words = [int(word) for word in key]
    if words[7] >= _ONES - count:
        if words[8] == words[9] == 0:
            words = _hash(words[:4], [_ONES] * 4) + [0, 0, 0, 0, 1 << 63, 0]
        else:
            path, step = _longer(words, True)
            words = words[:4] + path + [0, 0] + step
    drawn = []
    for block in range(count // 4):
        drawn += _hash(words[:4], [(word + block) & _ONES for word in words[4:8]])
    words[7] = (words[7] + count // 4 * 4) & _ONES
    if count % 4:
        drawn += _hash(words[:4], words[4:8])[:count % 4]
        words[7] = (words[7] + 4) & _ONES
    words[6] = 0
    return np.array(words, np.uint64), drawn


def random_words(key, *shape):
    key, drawn = _draw(key, math.prod(shape))
    return key, np.array(drawn, np.uint64).reshape(shape)


def random_split(key):
    words = [int(word) for word in key]
    if words[8] == words[9] == 0:
        fresh = _hash(words[:4], words[4:8])
        halves = [fresh + [top, 0, 0, 0, 1 << 62, 0] for top in (0, 1 << 63)]
    else:
        halves = []
        for one in (False, True):
            path, step = _longer(words, one)
            halves.append(words[:4] + path + words[6:8] + step)
    return tuple(np.array(half, np.uint64) for half in halves)


def random_uniform(key, low, high, shape, bits):
    key, drawn = _draw(key, math.prod(shape))
    unit = np.array([(word >> (64 - bits)) / 2.0**bits for word in drawn]).reshape(shape)
    return key, unit * (high - low) + low


def random_normal(key, mean, scale, shape, bits):
    key, (u, v) = random_uniform(key, 0.0, 1.0, (2,) + shape, bits)
    return key, np.sqrt(-2 * np.log(1 - u)) * np.sin(2 * math.pi * v) * scale + mean


def random_multinomial(key, probs, samples):
    rows = np.maximum(probs, 0).reshape(-1, probs.shape[-1])
    key, unit = random_uniform(key, 0.0, 1.0, (len(rows), samples), 23)
    drawn = [[int(np.sum(np.cumsum(row / row.sum()) <= u)) for u in us]
             for row, us in zip(rows, unit)]
    return key, np.array(drawn, np.int32).reshape(probs.shape[:-1] + (samples,))


def dropout(data, key, rate):
    _, unit = random_uniform(key, 0.0, 1.0, data.shape, 23)
    mask = np.where(unit >= rate, 1 / (1 - rate), 0.0)
    return data * mask, mask


def _numbered(key, purpose, number):
    words = [int(word) for word in key]
    root = [word & _ONES for word in _hash(words[:4], words[4:6] + [words[6] ^ 1 << 63, words[7]])]
    made = _hash(root, words[8:] + [purpose, int(number) & _ONES])
    return [word & _ONES for word in made] + [0, 0, 0, 0, 1 << 63, 0]


def random_keys(key, n):
    return np.array([_numbered(key, (1 << 63) + 1, i) for i in range(n)], np.uint64).reshape(n, 10)


def random_fold_in(key, number):
    return np.array(_numbered(key, 1 << 63, number), np.uint64)


def random_randint(key, low, high, shape):
    key, drawn = _draw(key, 2 * math.prod(shape))
    low, count = int(low), max(0, int(high) - int(low))
    half = len(drawn) // 2
    values = [low + ((upper << 64 | lower) * count >> 128)
              for upper, lower in zip(drawn[:half], drawn[half:])]
    return key, np.array(values, np.int64).reshape(shape)


def random_bernoulli(key, p, shape):
    key, drawn = _draw(key, math.prod(shape))
    return key, np.array([(word >> 11) / 2.0**53 < p for word in drawn], bool).reshape(shape)


def random_permutation(key, n):
    key, drawn = _draw(key, n)
    return key, np.array(sorted(range(n), key=lambda i: drawn[i]), np.int32)


def random_shuffle(key, data):
    key, order = random_permutation(key, len(data))
    return key, data[order]


def random_categorical(key, logits, samples):
    powers = np.exp(logits - np.max(logits, -1, keepdims=True))
    return random_multinomial(key, powers, samples)
