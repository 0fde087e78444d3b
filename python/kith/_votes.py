"""The votes of neighbours whose labels were looked up elsewhere, as kith.dask and kith.mpi do."""

from __future__ import annotations

import numpy as np

from . import _kith


def require_weights(weights: str) -> None:
    if weights not in ("uniform", "distance"):
        raise ValueError(f'weights must be "uniform" or "distance", not {weights!r}')


def codes_of(labels: np.ndarray, classes: np.ndarray) -> np.ndarray:
    """The places of labels among all classes, in as few bytes as they need."""
    return np.searchsorted(classes, labels).astype(np.min_scalar_type(max(0, len(classes) - 1)))


def _weights_of(distances: np.ndarray, weights: str) -> np.ndarray | None:
    """By inverse distances; where some are 0, only those count."""
    if weights == "uniform":
        return None
    with np.errstate(divide="ignore"):
        inverse = 1.0 / distances
    at_zero = np.isinf(inverse)
    rows = at_zero.any(axis=1)
    inverse[rows] = at_zero[rows]
    return inverse.astype(np.float64)


def winners(distances: np.ndarray, codes: np.ndarray, classes: int, weights: str) -> np.ndarray:
    """The class with the most weight in each row, of several the first. `codes` are (m, k)."""
    labels = codes.astype(np.int64)
    places = np.arange(labels.size).reshape(labels.shape)
    return _kith.winning_classes(
        labels.ravel(), classes, places, _weights_of(distances, weights), ties="lowest", threads=1
    )


def shares(distances: np.ndarray, codes: np.ndarray, classes: int, weights: str) -> np.ndarray:
    """The share of the weight that each class has in each row."""
    weight = _weights_of(distances, weights)
    rows, k = codes.shape
    places = np.arange(rows).repeat(k) * classes + codes.ravel()
    votes = np.bincount(places, None if weight is None else weight.ravel(), rows * classes)
    votes = votes.reshape(rows, classes)
    return votes / votes.sum(axis=1, keepdims=True)
