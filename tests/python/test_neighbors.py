"""kith.neighbors against scikit-learn's estimators of the same names, and what is ours."""

from __future__ import annotations

import pickle
import warnings

import numpy as np
import pandas as pd
import pytest
import sklearn.neighbors as sk
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array
from scipy.spatial.distance import cdist
from sklearn.base import clone
from sklearn.inspection import DecisionBoundaryDisplay
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import kith
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
        self.queries = queries[apart & clear]
        assume(len(self.queries) > 0)
        self.rtol = 1e-3 if self.dtype == np.float32 else 1e-9
        self.atol = 1e-6 if self.dtype == np.float32 else 1e-12
        self.labels = random.integers(0, data.draw(st.integers(1, 5)), n)
        self.two_labels = np.column_stack([self.labels, random.integers(0, 3, n)])
        self.values = random.normal(size=n)
        self.two_values = random.normal(size=(n, 2))
        self.weights = data.draw(st.sampled_from(["uniform", "distance", None, _gauss]))

    def close(self, ours, theirs):
        np.testing.assert_allclose(ours, theirs, rtol=self.rtol, atol=self.atol)


def _gauss(distances):
    if distances.dtype == object:
        each = np.empty(len(distances), dtype=object)
        each[:] = [np.exp(-distance) for distance in distances]
        return each
    return np.exp(-distances)


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
        {"metric": "canberra"},
        {"metric": lambda a, b: float(np.abs(a - b).sum())},
        {"metric": "minkowski", "metric_params": {"w": np.array([1.0, 2.0, 3.0])}},
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


@pytest.mark.parametrize("name", ALL)
def test_parameters_are_those_of_scikit_learn_and_two_more(name):
    ours, theirs = both(name)
    mine = ours.get_params()
    assert {key: mine.pop(key) for key in ("engine", "device")} == {
        "engine": "auto",
        "device": "auto",
    }
    assert mine == theirs.get_params()
    assert isinstance(ours, getattr(sk, name))
    copy = clone(ours.set_params(engine="kdtree", leaf_size=7))
    assert copy.get_params() == ours.get_params()


WRONG = [
    {"n_neighbors": 0},
    {"radius": -1.0},
    {"algorithm": "fastest"},
    {"leaf_size": 0},
    {"p": 0},
    {"metric": "nonsense"},
    {"metric": "cosine", "algorithm": "kd_tree"},
    {"metric": "euclidean", "metric_params": {"wrong": 1}, "algorithm": "kd_tree"},
    {"p": 0.5, "algorithm": "kd_tree"},
    {"weights": "heavy"},
    {"n_jobs": 1.5},
]


@pytest.mark.parametrize(
    ("name", "parameters"),
    [
        (name, parameters)
        for name in ALL
        for parameters in WRONG
        if parameters.keys() <= getattr(sk, name)().get_params().keys()
    ],
)
def test_wrong_parameters_raise_what_scikit_learn_raises(cloud, name, parameters):
    ours, theirs = both(name, **parameters)
    messages = []
    for model in (ours, theirs):
        with pytest.raises((ValueError, TypeError)) as raised:
            model.fit(cloud, np.zeros(len(cloud), dtype=int))
        messages.append((raised.type, str(raised.value)))
    assert messages[0] == messages[1]


@pytest.mark.parametrize(
    "call",
    [
        lambda model, X: model.kneighbors(X[:, :2]),
        lambda model, X: model.kneighbors(X[0]),
        lambda model, X: model.kneighbors(X, n_neighbors=0),
        lambda model, X: model.kneighbors(X, n_neighbors=2.5),
        lambda model, X: model.kneighbors(X, n_neighbors=501),
        lambda model, X: model.kneighbors(n_neighbors=500),
        lambda model, X: model.kneighbors(X[:0]),
        lambda model, X: model.kneighbors(X * np.nan),
        lambda model, X: model.kneighbors(X.astype(str)[:, :1] + "x"),
        lambda model, X: model.kneighbors_graph(X, mode="wrong"),
        lambda model, X: model.radius_neighbors(X, sort_results=True, return_distance=False),
        lambda model, X: model.radius_neighbors_graph(X, mode="wrong"),
        lambda model, X: model.fit(X * np.inf),
        lambda model, X: model.fit(X[:0]),
        lambda model, X: clone(model).kneighbors(X),
        lambda model, X: clone(model).radius_neighbors(X),
    ],
)
def test_wrong_calls_raise_what_scikit_learn_raises(cloud, call):
    messages = []
    for model in both("NearestNeighbors"):
        with pytest.raises((ValueError, TypeError, AttributeError)) as raised:
            call(model.fit(cloud), cloud)
        messages.append((raised.type, str(raised.value)))
    assert messages[0] == messages[1]


def test_our_own_parameters_are_checked(cloud):
    with pytest.raises(ValueError, match="'engine' parameter of NearestNeighbors"):
        neighbors.NearestNeighbors(engine="quick").fit(cloud)
    with pytest.raises(ValueError, match="device"):
        neighbors.NearestNeighbors(device="abacus").fit(cloud)


def test_outliers_of_a_radius(cloud):
    y = np.where(cloud[:, 0] > 0.3, "b", "a")
    far = np.array([[9.0, 9.0, 9.0], [0.9, 0.5, 0.5]])
    messages = []
    for model in both("RadiusNeighborsClassifier", radius=0.3):
        with pytest.raises(ValueError, match="No neighbors found") as raised:
            model.fit(cloud, y).predict(far)
        messages.append(str(raised.value))
    assert messages[0] == messages[1]
    for label in ("most_frequent", "a"):
        ours, theirs = both("RadiusNeighborsClassifier", radius=0.3, outlier_label=label)
        assert (
            ours.fit(cloud, y).predict(far).tolist() == theirs.fit(cloud, y).predict(far).tolist()
        )
    ours, theirs = both("RadiusNeighborsClassifier", radius=0.3, outlier_label="c")
    ours.fit(cloud, y)
    theirs.fit(cloud, y)
    with pytest.warns(UserWarning, match="Outlier label c is not in training classes"):
        assert ours.predict(far).tolist() == ["c", "b"]
    with pytest.warns(UserWarning, match="no neighbors within specified radius; predicting NaN"):
        values = neighbors.RadiusNeighborsRegressor(radius=0.3).fit(cloud, cloud[:, 0]).predict(far)
    assert np.isnan(values).tolist() == [True, False]


def test_a_radius_for_each_query(cloud):
    radii = np.linspace(0.05, 0.4, 10)
    ours, theirs = both("NearestNeighbors", algorithm="kd_tree")
    found = ours.fit(cloud).radius_neighbors(cloud[:10], radii)[1]
    wanted = theirs.fit(cloud).radius_neighbors(cloud[:10], radii, sort_results=True)[1]
    for each, wanted_each in zip(found, wanted, strict=True):
        np.testing.assert_array_equal(each, wanted_each)
    everything = ours.radius_neighbors(cloud[:2], np.inf, return_distance=False)
    assert [len(each) for each in everything] == [500, 500]


def test_weights_that_are_all_zero(cloud):
    y = (cloud[:, 0] > 0.5).astype(int)
    model = neighbors.KNeighborsClassifier(weights=np.zeros_like).fit(cloud, y)
    for method in (model.predict, model.predict_proba):
        with pytest.raises(ValueError, match="getting zero weights"):
            method(cloud)


def test_none_predicts_for_the_points_without_themselves(cloud):
    y = (cloud[:, 0] > 0.5).astype(int)
    for name in CLASSIFIERS + REGRESSORS:
        ours, theirs = both(name)
        np.testing.assert_allclose(
            ours.fit(cloud, y).predict(None), theirs.fit(cloud, y).predict(None)
        )
    assert ours.fit(cloud, y).score(None, y) == pytest.approx(theirs.score(None, y))


def test_data_frames_and_their_names(cloud):
    frame = pd.DataFrame(cloud, columns=["x", "y", "z"])
    y = pd.Series(np.where(cloud[:, 0] > 0.5, "right", "left"))
    model = neighbors.KNeighborsClassifier().fit(frame, y)
    assert model.feature_names_in_.tolist() == ["x", "y", "z"] and model.n_features_in_ == 3
    assert set(model.predict(frame)) == {"left", "right"}
    with pytest.raises(ValueError, match="feature names should match"):
        model.predict(frame[["z", "y", "x"]])
    with pytest.warns(UserWarning, match="does not have valid feature names"):
        model.predict(cloud)
    sequential = neighbors.SequentialKNeighborsClassifier().fit(frame, y)
    assert sequential.feature_names_in_.tolist() == ["x", "y", "z"]
    assert set(sequential.predict(frame)) == {"left", "right"}


def test_transformer_names_and_output(cloud):
    ours, theirs = both("KNeighborsTransformer", n_neighbors=3)
    for mode in ("distance", "connectivity"):
        graph = ours.set_params(mode=mode).fit_transform(cloud)
        wanted = theirs.set_params(mode=mode).fit_transform(cloud)
        assert type(graph) is type(wanted) and graph.nnz == wanted.nnz
        np.testing.assert_allclose(graph.toarray(), wanted.toarray())
    np.testing.assert_array_equal(ours.get_feature_names_out(), theirs.get_feature_names_out())
    ours.set_output(transform="default").fit_transform(cloud)
    messages = []
    for model in (ours, theirs):
        with pytest.raises(ValueError) as raised:
            model.set_output(transform="pandas").fit_transform(cloud)
        messages.append(str(raised.value))
    assert messages[0] == messages[1]


def test_pipelines_searches_and_plots(cloud):
    import matplotlib

    matplotlib.use("Agg")
    y = (cloud[:, 0] + cloud[:, 1] > 1).astype(int)
    pipeline = make_pipeline(StandardScaler(), neighbors.KNeighborsClassifier())
    assert cross_val_score(pipeline, cloud, y, cv=3).mean() > 0.8
    grid = GridSearchCV(
        neighbors.KNeighborsClassifier(),
        {
            "n_neighbors": [1, 5],
            "weights": ["uniform", "distance"],
            "metric": ["l1", "cosine", "canberra"],
        },
        cv=3,
    ).fit(cloud, y)
    wanted = GridSearchCV(sk.KNeighborsClassifier(), grid.param_grid, cv=3).fit(cloud, y)
    np.testing.assert_allclose(
        grid.cv_results_["mean_test_score"], wanted.cv_results_["mean_test_score"]
    )
    for model in (neighbors.KNeighborsClassifier(), neighbors.SequentialKNeighborsClassifier()):
        model.fit(cloud[:, :2], y)
        shown = DecisionBoundaryDisplay.from_estimator(
            model, cloud[:, :2], grid_resolution=20, response_method="predict"
        )
        assert shown.response.shape == (20, 20)
    matplotlib.pyplot.close("all")


def test_estimators_travel_as_pickles_and_fit_each_other(cloud):
    model = neighbors.NearestNeighbors(n_neighbors=3).fit(cloud)
    wanted = model.kneighbors(cloud[:9])
    again = pickle.loads(pickle.dumps(model))
    assert again.kneighbors(cloud[:9])[1].tobytes() == wanted[1].tobytes()
    other = neighbors.NearestNeighbors(n_neighbors=3).fit(model)
    assert other.index_ is model.index_
    assert other.kneighbors(cloud[:9])[0].tobytes() == wanted[0].tobytes()
    by_tree = neighbors.NearestNeighbors(n_neighbors=3).fit(sk.KDTree(cloud))
    assert by_tree.index_ is None
    np.testing.assert_array_equal(by_tree.kneighbors(cloud[:9])[1], wanted[1])
    graph = sk.kneighbors_graph(model, 3, include_self=True)
    assert graph.nnz == 3 * len(cloud)


def test_a_fit_that_fails_leaves_the_model_as_it_was(cloud):
    model = neighbors.NearestNeighbors().fit(cloud)
    wanted = model.kneighbors(cloud[:9])[1]
    with pytest.raises(ValueError, match="NaN"):
        model.fit(np.full((9, 3), np.nan))
    np.testing.assert_array_equal(model.kneighbors(cloud[:9])[1], wanted)
    refitted = model.set_params(metric="canberra").fit(cloud)
    assert refitted.index_ is None and refitted.kneighbors(cloud[:9])[1].shape == (9, 5)
    assert model.set_params(metric="l1").fit(cloud).index_ is not None


def loop(X, y, queries, k, weights):
    """What SequentialKNeighborsClassifier promises, one query after the other."""
    points, labels = list(X), list(y)
    for query in queries:
        distances = np.sqrt(((np.array(points) - query) ** 2).sum(axis=1))
        nearest = np.argsort(distances, kind="stable")[:k]
        votes: dict = {}
        for j in nearest:
            if weights == "uniform":
                weight = 1.0
            elif distances[nearest[0]] == 0:
                weight = float(distances[j] == 0)
            else:
                weight = distances[nearest[0]] / distances[j]
            votes[labels[j]] = votes.get(labels[j], 0.0) + weight  # in the order of the list
        labels.append(max(votes, key=votes.get))  # the first of several
        points.append(query)
    return labels[len(X) :]


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_sequential_labels_are_those_of_the_loop(data):
    random = np.random.default_rng(data.draw(st.integers(0, 2**32 - 1), label="seed"))
    n = data.draw(st.integers(1, 15))
    queries = random.integers(0, 6, (data.draw(st.integers(1, 25)), 2)).astype(np.float64)
    X, y = random.integers(0, 6, (n, 2)).astype(np.float64), random.choice(list("pqr"), n)
    k = data.draw(st.integers(1, n + len(queries) - 1))
    weights = data.draw(st.sampled_from(["uniform", "distance"]))
    engine = data.draw(st.sampled_from(["auto", "brute", "kdtree", "covertree"]))
    model = neighbors.SequentialKNeighborsClassifier(k, weights=weights, engine=engine).fit(X, y)
    assert model.predict(queries).tolist() == loop(X, y, queries, k, weights)
    assert 1 <= model.depth_ <= len(queries) and model.rounds_ >= 1


def test_sequential_attributes_and_errors(cloud):
    y = (cloud[:, 0] > 0.5).astype(int)
    model = neighbors.SequentialKNeighborsClassifier(n_neighbors=3)
    assert not hasattr(model, "depth_")
    model.fit(cloud[:50], y[:50])
    assert not hasattr(model, "depth_")
    labels = model.predict(cloud[50:])
    assert model.depth_ > 1 and model.rounds_ >= 1
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again.predict(cloud[50:]), labels)
    for metric in ("l1", "chebyshev", "cosine"):
        model.set_params(metric=metric).fit(cloud[:50], y[:50]).predict(cloud[50:])
    with pytest.raises(ValueError, match="metric='canberra'"):
        model.set_params(metric="canberra").fit(cloud, y)
    with pytest.raises(ValueError, match="n_neighbors must be from 0"):
        model.set_params(metric="l2", n_neighbors=2**40).fit(cloud, y).predict(cloud)
    with pytest.raises(ValueError, match="k is 900"):
        model.set_params(metric="l2", n_neighbors=900).fit(cloud[:50], y[:50]).predict(cloud[50:60])


def test_low_level_classify_follows_the_rule_of_the_library(cloud):
    codes = (cloud[:, 0] > 0.5).astype(np.uint32)
    found = kith._kith.classify(cloud, codes, 2, cloud[:20], k=4, shares=True)
    _, indices = kith.Index(cloud).knn(cloud[:20], k=4)
    for query, near in enumerate(codes[indices]):
        ones = int(near.sum())
        assert found["shares"][query].tolist() == [1 - ones / 4, ones / 4]
        assert found["codes"][query] == (near[0] if ones == 2 else ones > 2)
    with pytest.raises(ValueError):
        kith._kith.classify(cloud, codes, 1, cloud[:20], k=4)


def test_votes_are_checked():
    codes, lists = np.array([0, 1, 1]), np.array([[0, 1], [1, 2]])
    assert kith._kith.winning_classes(codes, 2, lists, None).tolist() == [0, 1]
    weights = np.array([[1.0, 1.5], [1.0, 1.0]])
    assert kith._kith.winning_classes(codes, 2, lists, weights).tolist() == [1, 1]
    for wrong in (
        (codes, 1, lists, None),
        (codes, 2, lists + 2, None),
        (codes, 2, lists - 1, None),
        (codes, 2, lists, weights[:1]),
        (codes, 2, lists[:, :0], None),
    ):
        with pytest.raises(ValueError):
            kith._kith.winning_classes(*wrong)
