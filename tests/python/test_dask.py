"""Dask: the bytes of one process, whatever the chunks, the shards and the scheduler."""

from __future__ import annotations

import numpy as np
import pytest

import kith

da = pytest.importorskip("dask.array")
dask = pytest.importorskip("dask")
kith_dask = pytest.importorskip("kith.dask")


@pytest.fixture(autouse=True)
def in_this_thread():
    with dask.config.set(scheduler="synchronous"):
        yield


def shaped(shape, rng, rows, dims):
    """Points of the kinds that break searches by parts: ties, duplicates, all equal, far away."""
    if shape == "grid":
        return rng.integers(-3, 4, (rows, dims)).astype(np.float64)
    if shape == "equal":
        return np.full((rows, dims), 2.5)
    if shape == "line":
        return np.repeat(rng.random((rows, 1)), dims, axis=1)
    if shape == "far":
        return 1e6 + rng.random((rows, dims))
    return rng.random((rows, dims))


def assert_same_lists(found, expected):
    for name in ("distances", "indices", "offsets"):
        np.testing.assert_array_equal(getattr(found, name), getattr(expected, name))
    assert found.distances.dtype == expected.distances.dtype


@pytest.mark.parametrize("seed", range(25))
def test_random_cases(seed):
    rng = np.random.default_rng(seed)
    rows, dims = int(rng.integers(1, 600)), int(rng.integers(1, 6))
    shape = ["uniform", "grid", "equal", "line", "far"][seed % 5]
    dtype = np.float32 if rng.integers(2) else np.float64
    points = shaped(shape, rng, rows, dims).astype(dtype)
    queries = shaped(shape, rng, int(rng.integers(1, 90)), dims).astype(dtype)
    metric = ["l2", "l1", "linf", "cosine", "lp:3"][int(rng.integers(5))]
    if shape == "equal" and metric == "cosine":
        points += 0.25 * np.arange(dims)
    if shape == "grid" and metric == "cosine":
        points, queries = points + 3.5, queries + 3.5
    period = 2e6 if metric in ("l2", "l1") and shape == "far" else None
    index = kith_dask.Index(
        da.from_array(points, chunks=(int(rng.integers(rows // 5 + 1, rows + 1)), dims)),
        shards=int(rng.integers(1, 10)), metric=metric, period=period,
    )
    expected = kith.Index(points, metric=metric, period=period)
    assert len(index) == rows and index.dims == dims and index.dtype == dtype
    k = int(rng.integers(1, 12))
    below = rng.integers(0, rows + 5, len(queries))
    allowed = rng.random(rows) < 0.6
    radius = float(np.median(expected.knn(queries, k=min(5, rows))[0]))
    radii = radius * rng.random(len(queries))
    chunks = (int(rng.integers(len(queries) // 4 + 1, len(queries) + 1)), dims)
    asked = da.from_array(queries, chunks=chunks)
    for options in ({}, {"allowed": allowed}, {"index_below": below}, {"max_distance": radius}):
        found = dask.compute(*index.knn(asked, k, **options))
        for mine, theirs in zip(found, expected.knn(queries, k, **options), strict=True):
            np.testing.assert_array_equal(mine, theirs)
            assert mine.dtype == theirs.dtype
    assert_same_lists(index.radius(asked, radius).compute(), expected.radius(queries, radius))
    assert_same_lists(
        index.radius(asked, radii, max_neighbors=3).compute(),
        expected.radius(queries, radii, max_neighbors=3),
    )
    counts = index.count(asked, radii, allowed=allowed)
    np.testing.assert_array_equal(counts, expected.count(queries, radii, allowed=allowed))
    # The points among themselves
    for options in ({}, {"exclude_self": True}, {"earlier_only": True, "allowed": allowed}):
        found = dask.compute(*index.knn(k=k, **options))
        for mine, theirs in zip(found, expected.knn(k=k, **options), strict=True):
            np.testing.assert_array_equal(mine, theirs)
        assert_same_lists(
            index.radius(radius=radius, **options).compute(),
            expected.radius(radius=radius, **options),
        )
    np.testing.assert_array_equal(index.count(radius=radius), expected.count(radius=radius))


def test_lists_are_lazy_arrays(cloud):
    index = kith_dask.Index(da.from_array(cloud, chunks=(99, 3)), shards=3)
    lists = index.radius(da.from_array(cloud[:50], chunks=(20, 3)), 0.2)
    expected = kith.Index(cloud).radius(cloud[:50], 0.2)
    np.testing.assert_array_equal(lists.distances, expected.distances)
    np.testing.assert_array_equal(lists.indices, expected.indices)
    np.testing.assert_array_equal(lists.counts, expected.counts)
    assert lists.counts.chunks == ((20, 20, 10),)


def test_rows_that_are_left_out_keep_their_numbers(cloud):
    cloud[[3, 250]] = np.nan
    with pytest.raises(ValueError, match="row 3"):
        kith_dask.Index(da.from_array(cloud, chunks=(200, 3)), shards=2)
    index = kith_dask.Index(da.from_array(cloud, chunks=(200, 3)), shards=4, skip_nonfinite=True)
    expected = kith.Index(cloud, skip_nonfinite=True)
    assert index.skipped == 2
    for mine, theirs in zip(index.knn(k=4), expected.knn(k=4), strict=True):
        np.testing.assert_array_equal(mine, theirs)
    assert_same_lists(index.radius(radius=0.1).compute(), expected.radius(radius=0.1))
    np.testing.assert_array_equal(index.count(radius=0.1), expected.count(radius=0.1))


def test_data_frames_and_lists(cloud):
    frames = pytest.importorskip("dask.dataframe")
    pandas = pytest.importorskip("pandas")
    frame = frames.from_pandas(pandas.DataFrame(cloud, columns=list("xyz")), npartitions=3)
    index = kith_dask.Index(frame, shards=2)
    expected = kith.Index(cloud).knn(cloud[:7], k=3)
    for queries in (cloud[:7], cloud[:7].tolist(), frame.loc[:6]):
        for mine, theirs in zip(index.knn(queries, k=3), expected, strict=True):
            np.testing.assert_array_equal(mine, theirs)


def test_whole_numbers_are_converted_with_a_note():
    points = np.arange(30).reshape(10, 3)
    with pytest.warns(kith.DataConversionNote, match="int64 was converted to float64"):
        index = kith_dask.Index(da.from_array(points, chunks=(4, 3)), shards=2)
    found = index.knn(points[:2].astype(np.float64), k=2)[1].compute()
    assert found.tolist() == [[0, 1], [1, 0]]


def test_more_shards_than_points():
    points = np.array([[0.0], [1.0], [3.0]])
    index = kith_dask.Index(points, shards=8)
    assert index.knn([[2.5]], k=4)[1].compute().tolist() == [[2, 1, 0, 3]]
    assert repr(index) == "kith.dask.Index(3 x 1 float64, l2, 8 shards)"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"shards": 0}, "shards"),
        ({"shards": 5000}, "shards"),
        ({"metric": "mahalanobis"}, "metric_params"),
        ({"metric": "nearest"}, "nearest"),
        ({"engine": "fast"}, "fast"),
    ],
)
def test_what_makes_no_sense_is_refused(arguments, message):
    with pytest.raises(ValueError, match=message):
        kith_dask.Index(np.zeros((5, 2)), **arguments)


def test_searches_refuse_what_makes_no_sense(cloud):
    index = kith_dask.Index(cloud, shards=2)
    with pytest.raises(ValueError, match="3 coordinates"):
        index.knn(da.zeros((4, 2)))
    with pytest.raises(TypeError, match="radius"):
        index.radius(cloud)
    with pytest.raises(ValueError, match="one radius and no bounds"):
        index.count(radius=np.ones(500))
    with pytest.raises(ValueError, match="from 0 to"):
        index.knn(cloud, k=-1)
    with pytest.raises(ValueError, match="allowed has the shape"):
        index.knn(cloud, allowed=np.ones(3, bool))
    bad = cloud[:5].copy()
    bad[2] = np.inf
    with pytest.raises(ValueError, match="row 2"):
        dask.compute(*index.knn(bad, k=1))
    found = dask.compute(*index.knn(bad, k=1, skip_nonfinite=True))
    assert found[1][2] == len(cloud)


@pytest.mark.parametrize("weights", ["uniform", "distance"])
def test_classes_are_those_of_the_estimator(rng, weights):
    neighbors = pytest.importorskip("kith.neighbors")
    points = rng.integers(0, 6, (400, 2)).astype(np.float64)
    labels = np.array(["red", "green", "blue", "grey"])[rng.integers(0, 4, 400)]
    queries = rng.integers(0, 6, (80, 2)) + 0.5 * rng.integers(0, 2, (80, 2))
    expected = neighbors.KNeighborsClassifier(7, weights=weights).fit(points, labels)
    model = kith_dask.KNeighborsClassifier(7, weights=weights, shards=3)
    model.fit(da.from_array(points, chunks=(150, 2)), da.from_array(labels, chunks=90))
    asked = da.from_array(queries, chunks=(33, 2))
    np.testing.assert_array_equal(model.classes_, expected.classes_)
    np.testing.assert_array_equal(model.predict(asked), expected.predict(queries))
    np.testing.assert_array_equal(model.predict_proba(asked), expected.predict_proba(queries))


def test_classifiers_refuse_what_does_not_fit(cloud):
    with pytest.raises(ValueError, match="weights"):
        kith_dask.KNeighborsClassifier(weights="none")
    with pytest.raises(ValueError, match="y has the shape"):
        kith_dask.KNeighborsClassifier().fit(cloud, np.zeros(3))
    with pytest.raises(ValueError, match="n_neighbors"):
        kith_dask.KNeighborsClassifier(501).fit(cloud, np.zeros(500))
