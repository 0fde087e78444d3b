"""kith.neighbors beside scikit-learn: put in its place, its trees and graphs, n_jobs."""

from __future__ import annotations

import pickle

import joblib
import numpy as np
import pytest
import sklearn.neighbors as sk
from scipy.sparse import csr_matrix

import kith
from kith import neighbors
from kith.neighbors import _parameters

POINTS = np.random.default_rng(7).random((300, 3))
QUERIES = np.random.default_rng(8).random((20, 3))


def test_every_public_name_of_scikit_learn_is_there():
    assert set(sk.__all__) <= set(neighbors.__all__)
    assert neighbors.VALID_METRICS is sk.VALID_METRICS


def test_cosine_ends_when_put_into_scikit_learn(monkeypatch):
    for name in sk.__all__:
        monkeypatch.setattr(sk, name, getattr(neighbors, name))
    model = sk.NearestNeighbors(n_neighbors=2, metric="cosine", algorithm="brute").fit(POINTS)
    queries = np.vstack([np.zeros(3), POINTS[:2]])  # kith has no direction of zeros
    distances, _ = model.kneighbors(queries)
    assert distances[0].tolist() == [1.0, 1.0]
    assert len(model.radius_neighbors(queries, 2.0)[0][0]) == 300


def test_sparse_queries_of_dense_points():
    for algorithm in ("kd_tree", "ball_tree"):
        model = neighbors.NearestNeighbors(algorithm=algorithm).fit(POINTS)
        with pytest.raises(ValueError, match=f"{algorithm} does not work with sparse matrices"):
            model.kneighbors(csr_matrix(QUERIES))
    model = neighbors.NearestNeighbors().fit(POINTS)
    with pytest.warns(kith.DataConversionNote, match="made dense"):
        _, indices = model.kneighbors(csr_matrix(QUERIES))
    assert np.array_equal(indices, model.kneighbors(QUERIES)[1])


def test_n_jobs_means_what_it_means_in_scikit_learn(monkeypatch):
    assert _parameters.threads_for(None) == 1
    assert _parameters.threads_for(3) == 3
    assert _parameters.threads_for(-1) == joblib.cpu_count()
    with joblib.parallel_config("threading", n_jobs=2):
        assert _parameters.threads_for(None) == 2
    monkeypatch.setenv("OMP_NUM_THREADS", "7")
    assert _parameters.threads_for(None) == 1


@pytest.mark.parametrize("include_self", [True, False, "auto"])
@pytest.mark.parametrize("mode", ["connectivity", "distance"])
def test_graphs_are_those_of_scikit_learn(mode, include_self):
    how = {"mode": mode, "include_self": include_self, "metric": "manhattan"}
    for ours, theirs in (
        (neighbors.kneighbors_graph(POINTS, 4, **how), sk.kneighbors_graph(POINTS, 4, **how)),
        (
            neighbors.radius_neighbors_graph(POINTS, 0.2, **how),
            sk.radius_neighbors_graph(POINTS, 0.2, **how),
        ),
    ):
        assert ours.format == theirs.format == "csr"
        np.testing.assert_allclose(ours.toarray(), theirs.toarray(), rtol=1e-12)
    with pytest.raises(ValueError, match="'mode' parameter of kneighbors_graph"):
        neighbors.kneighbors_graph(POINTS, 4, mode="ones")
    model = neighbors.NearestNeighbors(n_neighbors=4).fit(POINTS)
    found = neighbors.kneighbors_graph(model, 4)
    assert (found != sk.kneighbors_graph(POINTS, 4)).nnz == 0


@pytest.mark.parametrize("mode", ["connectivity", "distance"])
def test_radius_neighbors_transformer_is_that_of_scikit_learn(mode):
    ours = neighbors.RadiusNeighborsTransformer(mode=mode, radius=0.2)
    theirs = sk.RadiusNeighborsTransformer(mode=mode, radius=0.2)
    np.testing.assert_allclose(
        ours.fit_transform(POINTS).toarray(), theirs.fit_transform(POINTS).toarray(), rtol=1e-12
    )
    np.testing.assert_allclose(
        ours.transform(QUERIES).toarray(), theirs.transform(QUERIES).toarray(), rtol=1e-12
    )
    assert ours.index_ is not None
    assert list(ours.get_feature_names_out()[:1]) == ["radiusneighborstransformer0"]


def test_local_outlier_factor_is_that_of_scikit_learn():
    ours = neighbors.LocalOutlierFactor(novelty=True).fit(POINTS)
    theirs = sk.LocalOutlierFactor(novelty=True).fit(POINTS)
    np.testing.assert_allclose(
        ours.negative_outlier_factor_, theirs.negative_outlier_factor_, rtol=1e-9
    )
    np.testing.assert_allclose(ours.score_samples(QUERIES), theirs.score_samples(QUERIES), rtol=1e-9)
    assert ours.index_ is not None


TREES = [
    ("KDTree", {}),
    ("KDTree", {"metric": "chebyshev"}),
    ("KDTree", {"metric": "minkowski", "p": 3}),
    ("BallTree", {"metric": "manhattan", "leaf_size": 5}),
    ("BallTree", {"metric": "braycurtis"}),  # which kith does not have
]


@pytest.mark.parametrize(("name", "how"), TREES)
def test_trees_are_those_of_scikit_learn(name, how):
    ours, theirs = getattr(neighbors, name)(POINTS, **how), getattr(sk, name)(POINTS, **how)
    assert (ours.index is None) == (how.get("metric") == "braycurtis")
    assert ours.valid_metrics == theirs.valid_metrics
    for tree in (ours, pickle.loads(pickle.dumps(ours))):
        distances, numbers = tree.query(QUERIES, k=5)
        expected, expected_numbers = theirs.query(QUERIES, k=5)
        np.testing.assert_allclose(distances, expected, rtol=1e-12)
        assert np.array_equal(numbers, expected_numbers)
        assert np.array_equal(tree.query(QUERIES, return_distance=False), expected_numbers[:, :1])
        radii = np.where(np.arange(20) % 5 == 0, -1.0, 0.3)  # within a negative one lies nothing
        found, lengths = tree.query_radius(QUERIES, radii, return_distance=True, sort_results=True)
        wanted, _ = theirs.query_radius(QUERIES, 0.3, return_distance=True, sort_results=True)
        for number in range(20):
            assert found[number].tolist() == (wanted[number].tolist() if number % 5 else [])
            assert len(lengths[number]) == len(found[number])
        counts = tree.query_radius(QUERIES, radii, count_only=True)
        assert counts.tolist() == [len(each) for each in found]
        radii = [0.1, 0.3, 0.9]
        assert np.array_equal(
            tree.two_point_correlation(QUERIES, radii), theirs.two_point_correlation(QUERIES, radii)
        )
        np.testing.assert_allclose(
            tree.kernel_density(QUERIES, 0.2), theirs.kernel_density(QUERIES, 0.2)
        )
    assert len(ours.get_arrays()) == len(theirs.get_arrays())


@pytest.mark.parametrize(
    "call",
    [
        lambda tree: tree(POINTS, leaf_size=0),
        lambda tree: tree(POINTS, metric="cosine"),
        lambda tree: tree(POINTS[0]),
        lambda tree: tree(np.full((3, 2), np.nan)),
        lambda tree: tree(POINTS, metric="euclidean", p=3),
        lambda tree: tree(POINTS).query(QUERIES, k=301),
        lambda tree: tree(POINTS).query(QUERIES[:, :2]),
        lambda tree: tree(POINTS).query_radius(QUERIES, [1.0, 2.0]),
        lambda tree: tree(POINTS).query_radius(QUERIES, 1, return_distance=True, count_only=True),
        lambda tree: tree(POINTS).query_radius(QUERIES, 1, sort_results=True),
    ],
)
@pytest.mark.parametrize("name", ["KDTree", "BallTree"])
def test_trees_raise_the_errors_of_scikit_learn(name, call):
    with pytest.raises((ValueError, TypeError)) as theirs:
        call(getattr(sk, name))
    with pytest.raises(type(theirs.value)) as ours:
        call(getattr(neighbors, name))
    assert str(ours.value) == str(theirs.value)


@pytest.mark.parametrize("name", ["KDTree", "BallTree"])
def test_estimators_take_trees(name):
    tree = getattr(neighbors, name)(POINTS)
    model = neighbors.NearestNeighbors(n_neighbors=3).fit(tree)
    assert model.index_ is tree.index
    assert np.array_equal(model.kneighbors(QUERIES)[1], tree.query(QUERIES, k=3)[1])
