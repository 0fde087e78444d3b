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


def pytest_addoption(parser):
    parser.addoption(
        "--whole-peer-suites",
        action="store_true",
        help="all of the tests of SciPy and scikit-learn that concern kith's classes, not the chosen ones",
    )


def pytest_collection_modifyitems(config, items):
    if not config.getoption("--whole-peer-suites"):
        whole = [item for item in items if item.originalname == "test_whole_suites_of_the_peers"]
        config.hook.pytest_deselected(items=whole)
        items[:] = [item for item in items if item not in whole]


@pytest.fixture
def rng():
    return np.random.default_rng(20240607)


@pytest.fixture
def cloud(rng):
    return rng.random((500, 3))
