"""Random cases on which kith.neighbors and sklearn.neighbors must agree."""

from __future__ import annotations

import numpy as np
import sklearn.neighbors as sk
from hypothesis import assume
from hypothesis import strategies as st
from scipy.spatial.distance import cdist

from kith import neighbors

METRICS = [
    {"metric": "euclidean"},
    {"metric": "l2"},
    {"metric": "manhattan"},
    {"metric": "cityblock"},
    {"metric": "l1"},
    {"metric": "chebyshev"},
    {"metric": "minkowski"},
    {"metric": "minkowski", "p": 1},
    {"metric": "minkowski", "p": 3.5},
    {"metric": "minkowski", "p": np.inf},
    {"metric": "cosine", "algorithm": "brute"},
]
CLASSIFIERS = ["KNeighborsClassifier", "RadiusNeighborsClassifier"]
REGRESSORS = ["KNeighborsRegressor", "RadiusNeighborsRegressor"]
ALL = [*CLASSIFIERS, *REGRESSORS, "NearestNeighbors", "KNeighborsTransformer"]


def both(name, **parameters):
    return getattr(neighbors, name)(**parameters), getattr(sk, name)(**parameters)


def pair_distances(queries, points, metric, p=2, algorithm=None):
    name = {"l2": "euclidean", "manhattan": "cityblock", "l1": "cityblock"}.get(metric, metric)
    options = {}
    if metric == "minkowski":
        name, options = ("chebyshev", {}) if p == np.inf else ("minkowski", {"p": p})
    return cdist(queries.astype(np.float64), points.astype(np.float64), name, **options)


class Case:
    """Random points, queries without near ties, and a metric."""

    def __init__(self, data):
        seed = data.draw(st.integers(0, 2**32 - 1), label="seed")
        random = np.random.default_rng(seed)
        n = data.draw(st.integers(3, 60), label="points")
        dims = data.draw(st.integers(1, 6), label="dims")
        self.dtype = data.draw(st.sampled_from([np.float32, np.float64]), label="dtype")
        self.metric = data.draw(st.sampled_from(METRICS), label="metric")
        assume(self.metric["metric"] != "cosine" or dims > 1)
        if "algorithm" not in self.metric:
            algorithm = st.sampled_from(["auto", "ball_tree", "kd_tree", "brute"])
            self.metric = {**self.metric, "algorithm": data.draw(algorithm, label="algorithm")}
        self.k = data.draw(st.integers(1, n - 1), label="k")
        self.X = random.normal(size=(n, dims)).astype(self.dtype)
        queries = random.normal(size=(20, dims)).astype(self.dtype)
        every = pair_distances(queries, self.X, **self.metric)
        self.radius = float(np.quantile(every, data.draw(st.sampled_from([0.05, 0.3, 0.9]))))
        ordered = np.sort(every, axis=1)
        apart = np.all(np.diff(ordered, axis=1) > 1e-4 * ordered[:, 1:], axis=1)
        clear = np.all(np.abs(every - self.radius) > 1e-4 * self.radius, axis=1)
        # Of a small cosine distance 1 - cos in float32 only a few digits are left.
        is_lossy = self.metric["metric"] == "cosine" and self.dtype == np.float32
        sure = ordered[:, 0] > (1e-3 if is_lossy else 0.0)
        self.queries = queries[apart & clear & sure]
        assume(len(self.queries) > 0)
        self.rtol = 1e-3 if self.dtype == np.float32 else 1e-9
        self.atol = 1e-6 if self.dtype == np.float32 else 1e-12
        self.labels = random.integers(0, data.draw(st.integers(1, 5)), n)
        self.two_labels = np.column_stack([self.labels, random.integers(0, 3, n)])
        self.two_labels[0] = self.labels[0] = 0  # the label of outliers is one of the labels
        self.values = random.normal(size=n)
        self.two_values = random.normal(size=(n, 2))
        self.weights = data.draw(st.sampled_from(["uniform", "distance", None, gauss]))

    def close(self, ours, theirs):
        np.testing.assert_allclose(ours, theirs, rtol=self.rtol, atol=self.atol)


def gauss(distances):
    if distances.dtype == object:
        each = np.empty(len(distances), dtype=object)
        each[:] = [np.exp(-distance) for distance in distances]
        return each
    return np.exp(-distances)
