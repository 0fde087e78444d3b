"""Every metric of vectors against SciPy, by every engine that has it, under all of its names."""

from __future__ import annotations

import numpy as np
import pytest

import kith
from kith import _kith

distance = pytest.importorskip("scipy.spatial.distance")

# The library's name, and SciPy's with what it takes.
REFERENCES = [
    ("l2", "euclidean", {}),
    ("l1", "cityblock", {}),
    ("linf", "chebyshev", {}),
    ("lp:3", "minkowski", {"p": 3}),
    ("lp:1.5", "minkowski", {"p": 1.5}),
    ("lp:2.7", "minkowski", {"p": 2.7}),
    ("lp:77.7", "minkowski", {"p": 77.7}),
    ("cosine", "cosine", {}),
    ("canberra", "canberra", {}),
    ("braycurtis", "braycurtis", {}),
]


def points(rows: int, dims: int, seed: int) -> np.ndarray:
    return np.random.default_rng(seed).normal(size=(rows, dims))


@pytest.mark.parametrize("engine", ["brute", "kdtree", "covertree"])
@pytest.mark.parametrize(("ours", "theirs", "parameters"), REFERENCES)
def test_neighbours_are_those_of_scipy(engine: str, ours: str, theirs: str, parameters: dict) -> None:
    cloud, queries = points(400, 4, 1), points(30, 4, 2)
    if engine != "brute" and (ours == "braycurtis" or (engine == "covertree" and ours.startswith("lp:"))):
        with pytest.raises(ValueError, match=f"the metric {ours} needs engine"):
            kith.Index(cloud, metric=ours, engine=engine)
        return
    index = kith.Index(cloud, metric=ours, engine=engine)
    far = distance.cdist(queries, cloud, theirs, **parameters)
    distances, numbers = index.knn(queries, 10)
    np.testing.assert_array_equal(numbers, np.argsort(far, axis=1, kind="stable")[:, :10])
    np.testing.assert_allclose(distances, np.sort(far, axis=1)[:, :10], rtol=1e-12)
    radius = float(np.median(far))
    np.testing.assert_array_equal(index.count(queries, radius), np.sum(far <= radius, axis=1))


def test_every_metric_has_a_reference_and_answers_to_all_of_its_names() -> None:
    named = {name.partition(":")[0] for name, _, _ in REFERENCES}
    prepared = {"haversine", "seuclidean", "mahalanobis"}  # test_metric_params.py
    for pattern, aliases in _kith.metric_names():
        name = pattern.replace("P", "3")
        assert name.partition(":")[0] in named | {"ip", "angular"} | prepared, "give it a reference above"
        for alias in aliases:
            spelled = alias + name[len(name.partition(":")[0]) :]
            assert kith.Index(points(3, 2, 1), metric=spelled).metric == name


def test_canberra_counts_zeros_and_overflowing_sums() -> None:
    index = kith.Index(np.array([[0.0, 0.0], [0.0, 1.0], [1.7e308, 1.0]]), metric="canberra")
    distances, _ = index.knn(np.array([[0.0, 0.0], [-1.7e308, 1.0]]), 3)
    np.testing.assert_array_equal(distances, [[0, 1, 2], [1, 1, 2]])
