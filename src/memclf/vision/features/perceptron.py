"""A small perceptron made of plain arrays, taught and evaluated with numpy alone.

scikit-learn's MLPClassifier takes whole classes only, where a pixel at the edge of a stroke is a share of two, and its
Adam never slows down, which costs accuracy when teaching may take seconds only.
"""

from __future__ import annotations

import functools
from itertools import pairwise

import numpy as np
from scipy.linalg import block_diag

from memclf._numbers import Array

Layers = list[tuple[Array, Array]]

PACE = 1e-2  # the largest step


def evaluate(layers: Layers, rows: Array) -> Array:
    """Chances of each kind for each row."""
    for weights, bias in layers[:-1]:
        rows = rows @ weights
        rows += bias
        np.maximum(rows, 0, out=rows)
    return _softmax(rows @ layers[-1][0] + layers[-1][1])


def teach(
    rows: Array,
    shares: Array,
    weights: Array,
    rng: np.random.Generator,
    *,
    hidden: tuple[int, ...],
    steps: int,
    batch: int,
    decay: float,
) -> Layers:
    """Layers that turn rows into shares of each kind: steps of Adam on weighted cross-entropy.

    Each step looks at a batch of rows. `decay` draws the coefficients towards 0, the more so the less there is to
    learn from.
    """
    mean, scale = rows.mean(axis=0), rows.std(axis=0) + np.float32(1e-3)
    layers, flat, drawn = _start((rows.shape[1], *hidden, shares.shape[1]), rng)
    first, second = np.zeros_like(flat), np.zeros_like(flat)
    weights = (weights / weights.mean()).astype(np.float32)
    for step in range(1, steps + 1):
        pace = PACE * min(1.0, 10 * step / steps) * 0.5 * (1 + np.cos(np.pi * step / (steps + 1)))
        some = rng.integers(0, len(rows), batch)
        slope = _slope(layers, (rows[some] - mean) / scale, shares[some], weights[some])
        first += np.float32(0.1) * (slope - first)
        second += np.float32(0.01) * (slope**2 - second)
        flat -= np.float32(pace * decay) * drawn * flat
        size = np.sqrt(second / np.float32(1 - 0.99**step)) + np.float32(1e-8)
        flat -= np.float32(pace / (1 - 0.9**step)) * first / size
    weight, bias = layers[0]  # the scaling of its input becomes part of the first layer
    weight = weight / scale[:, None]
    return [(weight, bias - mean @ weight), *layers[1:]]


def join(several: list[Layers]) -> Layers:
    """One perceptron whose scores are the means of those of several: their layers side by side."""
    joined: Layers = []
    for k, layers in enumerate(zip(*several, strict=True)):
        weights, biases = [weight for weight, _ in layers], [bias for _, bias in layers]
        if k == 0:
            joined.append((np.hstack(weights), np.concatenate(biases)))
        elif k < len(several[0]) - 1:
            joined.append((block_diag(*weights).astype(np.float32), np.concatenate(biases)))
        else:
            share = np.float32(1 / len(several))
            joined.append((share * np.vstack(weights), share * np.sum(biases, axis=0)))
    return joined


def _start(sizes: tuple[int, ...], rng: np.random.Generator) -> tuple[Layers, Array, Array]:
    """Layers to begin with, the one array that holds them, and which numbers are weights.

    A step changes that array at once, which is several times as fast as each layer for itself.
    """
    shapes = [shape for given, made in pairwise(sizes) for shape in ((given, made), (made,))]
    ends = np.cumsum([np.prod(shape) for shape in shapes])
    flat = np.zeros(ends[-1], dtype=np.float32)
    parts = [part.reshape(shape) for part, shape in zip(np.split(flat, ends[:-1]), shapes, strict=True)]
    for weight in parts[::2]:
        weight[:] = rng.normal(0, np.sqrt(2 / len(weight)), weight.shape)
    is_weight = np.repeat([len(shape) == 2 for shape in shapes], [np.prod(shape) for shape in shapes])
    return list(zip(parts[::2], parts[1::2], strict=True)), flat, is_weight.astype(np.float32)


def _slope(layers: Layers, rows: Array, shares: Array, weights: Array) -> Array:
    """The derivative of the loss by each weight and bias, in the order of the layers."""
    seen = [rows]
    for weight, bias in layers[:-1]:
        seen.append(np.maximum(seen[-1] @ weight + bias, 0))
    off = _softmax(seen[-1] @ layers[-1][0] + layers[-1][1])
    off -= shares
    off *= weights[:, None] / np.float32(len(rows))
    slopes: list[Array] = []
    once = np.ones(len(rows), dtype=np.float32)
    for k in reversed(range(len(layers))):
        slopes[:0] = (seen[k].T @ off).ravel(), once @ off  # a product is faster than a sum along a short axis
        if k > 0:
            off = (off @ layers[k][0].T) * (seen[k] > 0)
    return np.concatenate(slopes)


def _softmax(scores: Array) -> Array:
    columns = list(scores.T)  # there are few of them, and numpy is slow along short rows
    scores -= functools.reduce(np.maximum, columns)[:, None]
    np.maximum(scores, -30, out=scores)  # numbers too small for a float's full precision are very slow
    np.exp(scores, out=scores)
    scores /= functools.reduce(np.add, columns)[:, None]
    return scores
