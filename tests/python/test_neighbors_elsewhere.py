"""kith.neighbors among others: data frames, pipelines, searches, plots, pickles."""

from __future__ import annotations

import pickle

import numpy as np
import pandas as pd
import pytest
import sklearn.neighbors as sk
from sklearn.inspection import DecisionBoundaryDisplay
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn_cases import both

from kith import neighbors


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
            "metric": ["l1", "cosine", "braycurtis"],
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
    refitted = model.set_params(metric="braycurtis").fit(cloud)
    assert refitted.index_ is None and refitted.kneighbors(cloud[:9])[1].shape == (9, 5)
    assert model.set_params(metric="l1").fit(cloud).index_ is not None
