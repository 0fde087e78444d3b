"""kith.neighbors against scikit-learn's estimators of the same names."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
import sklearn.neighbors as sk
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array
from scipy.spatial.distance import cdist
from sklearn_cases import CLASSIFIERS, REGRESSORS, Case, both

import kith
from kith import neighbors


@settings(max_examples=80, deadline=None)
@given(st.data())
def test_searches_find_what_scikit_learn_finds(data):
    case = Case(data)
    ours, theirs = both("NearestNeighbors", n_neighbors=case.k, radius=case.radius, **case.metric)
    ours.fit(case.X)
    theirs.fit(case.X)
    assert isinstance(ours.index_, kith.Index)
    assert ours.effective_metric_ == theirs.effective_metric_
    assert ours.effective_metric_params_ == theirs.effective_metric_params_
    assert ours.n_samples_fit_ == theirs.n_samples_fit_
    distances, indices = ours.kneighbors(case.queries)
    wanted_distances, wanted = theirs.kneighbors(case.queries)
    assert distances.dtype == np.float64 and indices.dtype == wanted.dtype
    np.testing.assert_array_equal(indices, wanted)
    case.close(distances, wanted_distances)
    graph = ours.kneighbors_graph(case.queries, mode="distance")
    wanted_graph = theirs.kneighbors_graph(case.queries, mode="distance")
    assert type(graph) is type(wanted_graph)
    case.close(graph.toarray(), wanted_graph.toarray())

    distances, indices = ours.radius_neighbors(case.queries)
    wanted_distances, wanted = theirs.radius_neighbors(case.queries, sort_results=True)
    assert indices.shape == wanted.shape and indices.dtype == distances.dtype == object
    for query in range(len(case.queries)):
        np.testing.assert_array_equal(indices[query], wanted[query])
        case.close(distances[query], wanted_distances[query])
        assert indices[query].dtype == wanted[query].dtype
        assert distances[query].dtype == np.float64
    graph = ours.radius_neighbors_graph(case.queries)
    assert (graph != theirs.radius_neighbors_graph(case.queries)).nnz == 0


def test_an_exponent_among_the_parameters_of_the_metric(cloud):
    parameters = {"metric_params": {"p": 3}}
    for model in both("NearestNeighbors", **parameters):
        with pytest.warns(SyntaxWarning, match="Parameter p is found in metric_params"):
            model.fit(cloud)
        assert model.effective_metric_params_ == {"p": 3, "w": None}
    assert (
        both("NearestNeighbors", **parameters)[0].set_params(p=None).fit(cloud).index_.metric
        == "lp:3"
    )


@settings(max_examples=40, deadline=None)
@given(st.data())
def test_points_are_not_their_own_neighbours(data):
    case = Case(data)
    ours, theirs = both("NearestNeighbors", n_neighbors=case.k, **case.metric)
    distances, indices = ours.fit(case.X).kneighbors()
    wanted_distances, _ = theirs.fit(case.X).kneighbors()
    case.close(distances, wanted_distances)
    assert np.all(indices != np.arange(len(case.X))[:, None])
    for query, each in enumerate(ours.radius_neighbors(return_distance=False)):
        assert query not in each


@settings(max_examples=80, deadline=None)
@given(st.data())
def test_classifiers_label_as_scikit_learn_does(data):
    case = Case(data)
    name = data.draw(st.sampled_from(CLASSIFIERS))
    own = (
        {"n_neighbors": case.k}
        if name == CLASSIFIERS[0]
        else {"radius": case.radius, "outlier_label": 0}
    )
    ours, theirs = both(name, weights=case.weights, **own, **case.metric)
    y = data.draw(st.sampled_from([case.labels, case.two_labels]))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        ours.fit(case.X, y)
        theirs.fit(case.X, y)
        np.testing.assert_array_equal(ours.outputs_2d_, theirs.outputs_2d_)
        shares, wanted = ours.predict_proba(case.queries), theirs.predict_proba(case.queries)
        labels, wanted_labels = ours.predict(case.queries), theirs.predict(case.queries)
    if not ours.outputs_2d_:
        np.testing.assert_array_equal(ours.classes_, theirs.classes_)
        shares, wanted = [shares], [wanted]
    assert labels.dtype == wanted_labels.dtype and labels.shape == wanted_labels.shape
    labels, wanted_labels = labels.reshape(len(labels), -1), wanted_labels.reshape(len(labels), -1)
    for output, (share, wanted_share) in enumerate(zip(shares, wanted, strict=True)):
        case.close(share, wanted_share)
        best_two = np.sort(np.pad(wanted_share, ((0, 0), (1, 0))), axis=1)[:, -2:]
        # Where weights differ by rounding alone, rounding decides.
        certain = (case.weights in ("uniform", None)) | (best_two[:, 1] - best_two[:, 0] > 1e-3)
        np.testing.assert_array_equal(labels[certain, output], wanted_labels[certain, output])


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_regressors_give_the_values_of_scikit_learn(data):
    case = Case(data)
    name = data.draw(st.sampled_from(REGRESSORS))
    own = {"n_neighbors": case.k} if name == REGRESSORS[0] else {"radius": case.radius}
    ours, theirs = both(name, weights=case.weights, **own, **case.metric)
    y = data.draw(st.sampled_from([case.values, case.two_values, case.values.astype(np.float32)]))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        values = ours.fit(case.X, y).predict(case.queries)
        wanted = theirs.fit(case.X, y).predict(case.queries)
    assert values.shape == wanted.shape
    if case.metric["metric"] != "cosine":  # where scikit-learn's distances may be float32
        assert values.dtype == wanted.dtype
    rtol = 1e-4 if y.dtype == np.float32 else case.rtol
    np.testing.assert_allclose(values, wanted, rtol=rtol, atol=1e-5 if rtol > 1e-6 else 1e-12)


@settings(max_examples=40, deadline=None)
@given(st.data())
def test_equal_distances_come_by_number_and_the_smallest_class_wins(data):
    random = np.random.default_rng(data.draw(st.integers(0, 2**32 - 1), label="seed"))
    X = random.integers(0, 3, (30, 2)).astype(np.float64)
    queries = random.integers(0, 3, (10, 2)).astype(np.float64)
    y = random.integers(0, 3, 30)
    k = data.draw(st.integers(1, 8))
    model = neighbors.KNeighborsClassifier(k).fit(X, y)
    order = np.argsort(cdist(queries, X), axis=1, kind="stable")[:, :k]
    np.testing.assert_array_equal(model.kneighbors(queries, return_distance=False), order)
    counts = np.stack([np.bincount(row, minlength=3) for row in y[order]])
    np.testing.assert_array_equal(model.predict(queries), counts.argmax(axis=1))


def test_many_queries_are_counted_by_several_threads(rng):
    X, y = rng.random((200, 2)), rng.integers(0, 7, 200)
    queries = rng.random((60_000, 2))
    model = neighbors.KNeighborsClassifier(9, weights="distance", n_jobs=3).fit(X, y)
    np.testing.assert_array_equal(
        model.predict(queries), model.predict_proba(queries).argmax(axis=1)
    )
    assert np.array_equal(model.predict(queries), model.set_params(n_jobs=1).predict(queries))


@pytest.mark.parametrize("engine", ["auto", "brute", "kdtree", "covertree"])
@pytest.mark.parametrize("algorithm", ["auto", "ball_tree", "kd_tree", "brute"])
def test_every_engine_and_algorithm_give_the_same_bytes(cloud, engine, algorithm):
    first = neighbors.NearestNeighbors().fit(cloud).kneighbors(cloud[:20])
    model = neighbors.NearestNeighbors(engine=engine, algorithm=algorithm, device="cpu").fit(cloud)
    again = model.kneighbors(cloud[:20])
    assert first[0].tobytes() == again[0].tobytes() and first[1].tobytes() == again[1].tobytes()
    wanted = engine if engine != "auto" else {"brute": "brute", "kd_tree": "kdtree"}.get(algorithm)
    assert wanted is None or model.index_.engine == wanted


@pytest.mark.parametrize(
    "parameters",
    [
        {"metric": "braycurtis"},
        {"metric": lambda a, b: float(np.abs(a - b).sum())},
        {"metric": "sqeuclidean", "algorithm": "brute"},
        {"metric": "minkowski", "p": 0.5, "algorithm": "brute"},
        {"metric": "nan_euclidean", "algorithm": "brute"},
    ],
)
@pytest.mark.filterwarnings("ignore:Mind that for 0 < p < 1", "ignore:Parameter p is found")
@pytest.mark.filterwarnings(
    "ignore:invalid value encountered in cast", "ignore:One or more samples"
)
def test_what_kith_does_not_have_is_left_to_scikit_learn(cloud, parameters):
    ours, theirs = both("NearestNeighbors", **parameters)
    ours.fit(cloud[:60])
    assert ours.index_ is None
    for found, wanted in zip(
        ours.kneighbors(cloud[60:70]), theirs.fit(cloud[:60]).kneighbors(cloud[60:70]), strict=True
    ):
        np.testing.assert_array_equal(found, wanted)
    y = (cloud[:60, 0] > 0.5).astype(int)
    for name in CLASSIFIERS + REGRESSORS:
        reach = {"radius": 2.5} if name.startswith("Radius") else {}
        ours, theirs = both(name, **parameters, **reach)
        np.testing.assert_array_equal(
            ours.fit(cloud[:60], y).predict(cloud[60:70]),
            theirs.fit(cloud[:60], y).predict(cloud[60:70]),
        )


def test_precomputed_distances(cloud):
    y = (cloud[:, 0] > 0.5).astype(int)
    square, rows = cdist(cloud[:60], cloud[:60]), cdist(cloud[60:80], cloud[:60])
    ours, theirs = both("KNeighborsClassifier", metric="precomputed")
    assert ours.fit(square, y[:60]).index_ is None
    np.testing.assert_array_equal(ours.predict(rows), theirs.fit(square, y[:60]).predict(rows))
    graph = neighbors.KNeighborsTransformer(n_neighbors=10).fit_transform(cloud)
    by_graph = sk.KNeighborsClassifier(metric="precomputed").fit(graph, y)
    direct = neighbors.KNeighborsClassifier().fit(cloud, y)
    np.testing.assert_array_equal(by_graph.predict(graph), direct.predict(cloud))


def test_sparse_points_are_left_to_scikit_learn_and_sparse_queries_made_dense(cloud):
    sparse = csr_array(cloud)
    model = neighbors.NearestNeighbors().fit(sparse)
    assert model.index_ is None
    wanted = neighbors.NearestNeighbors().fit(cloud).kneighbors(cloud[:5])[1]
    np.testing.assert_array_equal(model.kneighbors(sparse[:5])[1], wanted)
    dense = neighbors.NearestNeighbors().fit(cloud)
    with pytest.warns(kith.DataConversionNote, match="sparse"):
        np.testing.assert_array_equal(dense.kneighbors(sparse[:5])[1], wanted)


def test_vectors_of_zeros_have_a_cosine_as_in_scikit_learn(rng):
    X, queries = rng.normal(size=(30, 3)), rng.normal(size=(6, 3))
    queries[2] = 0
    ours, theirs = both("NearestNeighbors", metric="cosine", radius=0.7)
    ours.fit(X)
    theirs.fit(X)
    assert ours.index_ is not None
    np.testing.assert_allclose(ours.kneighbors(queries)[0], theirs.kneighbors(queries)[0])
    for found, wanted in zip(
        ours.radius_neighbors(queries)[1],
        theirs.radius_neighbors(queries, sort_results=True)[1],
        strict=True,
    ):
        np.testing.assert_array_equal(found, wanted)
    X[4] = 0
    assert ours.fit(X).index_ is None
    np.testing.assert_allclose(ours.kneighbors(queries)[0], theirs.fit(X).kneighbors(queries)[0])


@pytest.mark.parametrize(
    "dtype", [np.int8, np.int64, np.uint16, np.bool_, np.float16, ">f8", object]
)
def test_other_numbers_are_searched_in_float64(rng, dtype):
    X = rng.integers(0, 2, (40, 6)).astype(dtype)
    model = neighbors.NearestNeighbors(n_neighbors=3).fit(X)
    assert model.index_.dtype == np.float64
    distances, _ = model.kneighbors(X)
    np.testing.assert_allclose(
        distances, sk.NearestNeighbors(n_neighbors=3).fit(X).kneighbors(X)[0]
    )


def test_float32_is_searched_in_float32(cloud):
    model = neighbors.NearestNeighbors().fit(cloud.astype(np.float32))
    assert model.index_.dtype == np.float32
    distances, _ = model.kneighbors(cloud[:3])
    assert distances.dtype == np.float64
    np.testing.assert_array_equal(distances, distances.astype(np.float32))
