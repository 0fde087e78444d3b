"""One query takes a shorter path than many, to the same answer and the same errors."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
import scipy.spatial

import kith
from kith.spatial import KDTree

POINTS = np.random.default_rng(3).random((2000, 3))
QUERIES = np.random.default_rng(4).random((20, 3))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize(
    ("metric", "engine"),
    [
        *itertools.product(["l2", "l1", "linf"], ["brute", "kdtree", "covertree"]),
        ("lp:3", "brute"),
        ("lp:3", "kdtree"),
        ("cosine", "brute"),
        ("cosine", "covertree"),
    ],
)
def test_radius_and_count_of_one_query_are_those_of_a_batch(metric, engine, dtype):
    radius = 0.01 if metric == "cosine" else 0.12
    index = kith.Index(POINTS.astype(dtype), engine=engine, metric=metric)
    queries = QUERIES.astype(dtype)
    lists = index.radius(queries, radius)
    counts = index.count(queries, radius)
    assert counts.sum() > 20
    for number, query in enumerate(queries):
        distances, indices = index.radius(query, radius)
        assert distances.dtype == dtype
        assert indices.dtype == np.int64
        assert np.array_equal(distances, lists[number][0])
        assert np.array_equal(indices, lists[number][1])
        few = index.radius(query, radius, max_neighbors=2)[1]
        assert np.array_equal(few, indices[:2])
        count = index.count(query, radius)
        assert type(count) is int
        assert count == counts[number]
        assert index.count(query, radius, threads=2) == count
        assert index.count(query.tolist(), radius) >= 0


def test_one_query_raises_what_a_batch_raises():
    index = kith.Index(POINTS)
    bad = np.array([0.0, np.nan, 0.0])
    for call in (index.radius, index.count):
        for query in (bad, bad[None]):
            with pytest.raises(ValueError, match="NaN"):
                call(query, 0.1)
        for query in (QUERIES[0], QUERIES):
            with pytest.raises(ValueError, match="radius"):
                call(query, -1.0)
            with pytest.raises(TypeError, match="radius must be a number"):
                call(query, "far")
        with pytest.raises(ValueError, match=r"queries must have the shape \(..., 3\)"):
            call(np.zeros(2), 0.1)
    assert len(index.radius(bad, 0.1, skip_nonfinite=True)[1]) == 0


@pytest.mark.parametrize("p", [1, 1.5, 2, 3, np.inf])
@pytest.mark.parametrize("boxsize", [None, 1.0])
def test_ball_of_one_point_is_that_of_scipy(p, boxsize):
    ours, theirs = KDTree(POINTS, boxsize=boxsize), scipy.spatial.KDTree(POINTS, boxsize=boxsize)
    for query in QUERIES:
        for again in range(2):  # the index of a norm is there the second time
            found = ours.query_ball_point(query, 0.15, p=p)
            assert type(found) is list
            assert all(type(number) is int for number in found)
            expected = theirs.query_ball_point(query, 0.15, p=p, return_sorted=True)
            assert sorted(found) == expected
            assert ours.query_ball_point(query, 0.15, p=p, return_sorted=True) == expected
            length = ours.query_ball_point(query, 0.15, p=p, return_length=True)
            assert length == len(expected)
            assert isinstance(length, np.intp)


@pytest.mark.parametrize(
    "call",
    [
        lambda tree: tree.query_ball_point(np.array([0, np.nan, 0.0]), 1),
        lambda tree: tree.query_ball_point(np.zeros(2), 1),
        lambda tree: tree.query_ball_point(np.zeros(3), 1, workers=0),
    ],
)
def test_one_point_raises_what_scipy_raises(call):
    with pytest.raises(ValueError) as theirs:
        call(scipy.spatial.KDTree(POINTS))
    with pytest.raises(ValueError) as ours:
        call(KDTree(POINTS))
    assert str(ours.value) == str(theirs.value)


def test_bounds_of_a_tree_cannot_be_set():
    tree = KDTree(POINTS)
    assert np.array_equal(tree.mins, POINTS.min(axis=0))
    assert np.array_equal(tree.maxes, POINTS.max(axis=0))
    with pytest.raises(AttributeError):
        tree.maxes = 1
