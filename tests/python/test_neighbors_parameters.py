"""Parameters and arguments of kith.neighbors: what scikit-learn takes, and its errors."""

from __future__ import annotations

import numpy as np
import pytest
import sklearn.neighbors as sk
from scipy.sparse import csr_matrix
from sklearn.base import clone
from sklearn_cases import ALL, CLASSIFIERS, REGRESSORS, both

from kith import neighbors


@pytest.mark.parametrize("name", ALL)
def test_parameters_are_those_of_scikit_learn_and_a_few_more(name):
    ours, theirs = both(name)
    mine = ours.get_params()
    own = {"engine": "auto", "device": "auto"}
    if name == "KNeighborsClassifier":
        own["ties"] = "lowest"
    assert {key: mine.pop(key) for key in own} == own
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
    for model in (neighbors.KNeighborsClassifier, neighbors.SequentialKNeighborsClassifier):
        with pytest.raises(ValueError, match="'ties' parameter of .*'lowest'"):
            model(ties="first").fit(cloud, np.zeros(len(cloud), dtype=int))


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


@pytest.mark.parametrize("nothing", [-1, np.nan, -np.inf])
def test_nothing_lies_within_a_negative_radius(cloud, nothing):
    ours, theirs = both("NearestNeighbors", algorithm="kd_tree")
    ours.fit(cloud)
    theirs.fit(cloud)
    for queries in (cloud[:3], None):
        found = ours.radius_neighbors(queries, nothing)
        wanted = theirs.radius_neighbors(queries, nothing)
        for each, wanted_each in zip(found, wanted, strict=True):
            assert [one.tolist() for one in each] == [one.tolist() for one in wanted_each]
            assert {len(one) for one in each} == {0} and each[0].dtype == wanted_each[0].dtype
    distances, indices = ours.radius_neighbors(cloud[:3], [0.1, nothing, 0.0])
    assert [one[0] for one in (indices[0], indices[2])] == [0, 2]
    assert len(indices[1]) == len(distances[1]) == 0
    assert ours.radius_neighbors_graph(cloud[:3], nothing).nnz == 0


def test_a_model_without_a_radius(cloud):
    for model in both("NearestNeighbors", radius=None):
        model.fit(cloud)
        assert model.kneighbors(cloud[:2])[1].shape == (2, 5)
        assert [len(each) for each in model.radius_neighbors(cloud[:2])[1]] == [0, 0]
    by_angle = neighbors.NearestNeighbors(metric="cosine", radius=None).fit(cloud)
    assert [len(each) for each in by_angle.radius_neighbors(np.zeros((2, 3)))[1]] == [0, 0]
    messages = []
    for model in both("RadiusNeighborsClassifier", radius=None):
        with pytest.raises(ValueError, match="No neighbors found") as raised:
            model.fit(cloud, cloud[:, 0] > 0.5).predict(cloud[:2])
        messages.append(str(raised.value))
    assert messages[0] == messages[1]


@pytest.mark.filterwarnings("ignore:Parameter p is found")
@pytest.mark.parametrize("name", CLASSIFIERS)
def test_the_parameters_of_a_metric_stay_as_they_were(cloud, name):
    given = {"p": 3}
    model = getattr(neighbors, name)(metric_params=given)
    model.fit(cloud, cloud[:, 0] > 0.5)
    model.predict_proba(cloud[:2])
    model.predict(cloud[:2])
    assert given == {"p": 3} and model.fit(cloud, cloud[:, 0] > 0.5).index_.metric == "lp:3"


def test_sparse_values_are_left_to_scikit_learn(cloud):
    y = csr_matrix(cloud[:, :2].round())
    models = both("RadiusNeighborsRegressor")
    found, wanted = (model.fit(cloud, y).predict(cloud[:2]) for model in models)
    assert type(found) is type(wanted) and found.shape == wanted.shape
