"""What the tests of the Python package share."""

from __future__ import annotations

import numpy as np
import pytest


def plain_knn(points, queries, k):
    """The k nearest by (distance, index), computed in the obvious way in float64."""
    difference = queries[:, None, :].astype(np.float64) - points[None, :, :].astype(np.float64)
    distances = np.sqrt((difference**2).sum(axis=2))
    order = np.argsort(distances, axis=1, kind="stable")[:, :k]
    return np.take_along_axis(distances, order, axis=1), order


@pytest.fixture
def rng():
    return np.random.default_rng(20240607)


@pytest.fixture
def cloud(rng):
    return rng.random((500, 3))
