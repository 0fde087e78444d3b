"""Metrics with parameters: SciPy and scikit-learn are the reference."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial.distance import cdist

import kith
from kith.neighbors import KNeighborsClassifier, NearestNeighbors

sklearn_neighbors = pytest.importorskip("sklearn.neighbors")
RANDOM = np.random.default_rng(11)
POINTS = RANDOM.normal(size=(300, 4)) * [1, 5, 0.1, 2] + [0, 3, 1, -2]
QUERIES = RANDOM.normal(size=(40, 4)) * [1, 5, 0.1, 2]
WEIGHTS = np.array([0.5, 2, 0, 3])
VARIANCES = np.array([0.3, 4, 1, 2])
INVERSE = np.linalg.inv(np.cov(POINTS.T))
INVERSE = (INVERSE + INVERSE.T) / 2

CASES = {
    "weighted l1": ("l1", {"w": WEIGHTS}, ("cityblock", {"w": WEIGHTS})),
    "weighted l2": ("euclidean", {"w": WEIGHTS}, ("euclidean", {"w": WEIGHTS})),
    "weighted linf": ("chebyshev", {"w": WEIGHTS}, ("chebyshev", {"w": (WEIGHTS > 0) * 1.0})),
    "weighted lp": ("lp:2.5", {"w": WEIGHTS}, ("minkowski", {"p": 2.5, "w": WEIGHTS})),
    "seuclidean": ("seuclidean", {"V": VARIANCES}, ("seuclidean", {"V": VARIANCES})),
    "seuclidean of the points": ("seuclidean", None, ("seuclidean", {"V": POINTS.var(0, ddof=1)})),
    "mahalanobis": ("mahalanobis", {"VI": INVERSE}, ("mahalanobis", {"VI": INVERSE})),
    "mahalanobis of the points": ("mahalanobis", None, ("mahalanobis", {"VI": INVERSE})),
}


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("engine", ["auto", "brute", "kdtree", "covertree"])
def test_distances_are_those_of_scipy(name: str, engine: str) -> None:
    metric, params, (peer, peer_params) = CASES[name]
    try:
        index = kith.Index(POINTS, engine, "cpu", metric, metric_params=params)
    except ValueError as error:  # lp in cover trees, braycurtis in trees
        assert f"engine {engine}" in str(error)
        return
    distances, indices = index.knn(QUERIES, k=7)
    expected = cdist(QUERIES, POINTS, peer, **peer_params)
    np.testing.assert_allclose(distances, np.sort(expected, axis=1)[:, :7], rtol=1e-11)
    np.testing.assert_allclose(distances, np.take_along_axis(expected, indices, 1), rtol=1e-11)
    radius = float(np.median(expected))
    assert np.array_equal(index.count(QUERIES, radius), (expected <= radius).sum(1))


def test_haversine_is_that_of_scikit_learn() -> None:
    degrees = np.column_stack([RANDOM.uniform(-90, 90, 500), RANDOM.uniform(-180, 180, 500)])
    expected, neighbors = (
        sklearn_neighbors.BallTree(np.radians(degrees), metric="haversine").query(np.radians(degrees[:50]), k=6)
    )
    for metric, rows, scale in (
        ("haversine", np.radians(degrees), 1.0),
        ("haversine:degrees", degrees, np.degrees(1)),
        ("haversine:metres", degrees, 6371008.8),
        ("haversine:radians-metres", np.radians(degrees), 6371008.8),
    ):
        index = kith.Index(rows, metric=metric)
        distances, indices = index.knn(rows[:50], k=6)
        np.testing.assert_allclose(distances, expected * scale, rtol=1e-9, atol=scale * 3e-8)
        assert np.array_equal(indices[:, 0], np.arange(50))
        assert np.mean(indices == neighbors) > 0.99
        assert (index.dims, index.metric, index.points.shape) == (2, metric, (500, 3))
        again = kith.Index.from_bytes(index.to_bytes()) if hasattr(index, "to_bytes") else index
        assert np.array_equal(again.knn(rows[:50], k=6)[1], indices)


@pytest.mark.parametrize(
    ("metric", "params"),
    [
        ("seuclidean", {"V": VARIANCES}),
        ("mahalanobis", {"VI": INVERSE}),
        ("minkowski", {"w": WEIGHTS}),
    ],
)
def test_estimators_take_metric_params(metric: str, params: dict[str, np.ndarray]) -> None:
    how = {"metric": metric, "metric_params": params, "algorithm": "brute"}
    ours = NearestNeighbors(n_neighbors=5, **how).fit(POINTS)
    theirs = sklearn_neighbors.NearestNeighbors(n_neighbors=5, **how).fit(POINTS)
    assert ours.index_ is not None
    for found, expected in zip(ours.kneighbors(QUERIES), theirs.kneighbors(QUERIES)):
        np.testing.assert_allclose(found, expected, rtol=1e-9)
    labels = (POINTS[:, 0] > 0).astype(int)
    ours, theirs = KNeighborsClassifier(3, **how), sklearn_neighbors.KNeighborsClassifier(3, **how)
    assert np.array_equal(
        ours.fit(POINTS, labels).predict(QUERIES), theirs.fit(POINTS, labels).predict(QUERIES)
    )


def test_trees_take_params() -> None:
    for metric, params in (
        ("seuclidean", {"V": VARIANCES}),
        ("mahalanobis", {"VI": INVERSE}),
        ("minkowski", {"w": WEIGHTS}),
    ):
        ours = kith.neighbors.BallTree(POINTS, metric=metric, **params)
        theirs = sklearn_neighbors.BallTree(POINTS, metric=metric, **params)
        assert ours.index is not None
        np.testing.assert_allclose(ours.query(QUERIES, 4)[0], theirs.query(QUERIES, 4)[0], rtol=1e-9)
    assert kith.neighbors.KDTree(POINTS, metric="minkowski", w=WEIGHTS).index is None
    assert kith.neighbors.BallTree(QUERIES[:, :2], metric="haversine").index is None


def test_haversine_out_of_range_is_left_to_scikit_learn() -> None:
    rows = RANDOM.uniform(-3, 3, (50, 2))  # latitudes beyond the poles
    ours = NearestNeighbors(n_neighbors=3, metric="haversine").fit(rows)
    theirs = sklearn_neighbors.NearestNeighbors(n_neighbors=3, metric="haversine").fit(rows)
    assert ours.index_ is None
    assert np.array_equal(ours.kneighbors(rows)[1], theirs.kneighbors(rows)[1])


def test_params_are_checked_and_told() -> None:
    index = kith.Index(POINTS, metric="seuclidean")
    np.testing.assert_allclose(index.metric_params, POINTS.var(0, ddof=1), rtol=1e-12)
    assert kith.Index(POINTS).metric_params == []
    covariance = kith.Index(POINTS, metric="mahalanobis", metric_params={"V": np.cov(POINTS.T)})
    np.testing.assert_allclose(covariance.metric_params, INVERSE.ravel(), rtol=1e-9)
    for bad in ({"q": [1]}, {}, {"w": [1], "V": [1]}, {"V": VARIANCES}):
        with pytest.raises(ValueError, match="metric_params of l2: give w"):
            kith.Index(POINTS, metric_params=bad)
    with pytest.raises(ValueError, match="metric_params of seuclidean: give V, not w"):
        kith.Index(POINTS, metric="seuclidean", metric_params={"w": WEIGHTS})
    with pytest.raises(ValueError, match="3 for 4 dimensions"):
        kith.Index(POINTS, metric_params=[1, 2, 3])
    with pytest.raises(TypeError, match="must hold numbers"):
        kith.Index(POINTS, metric_params=["a"])
    with pytest.raises(ValueError, match="metric_params is for points"):
        kith.Index(["a", "b"], metric="edit", metric_params=[1])
    assert kith.plan(1000, 2, metric="haversine").engine in ("brute", "kdtree")
