"""kith.spatial against scipy.spatial: every method, on random points, norms, boxes and shapes."""

from __future__ import annotations

import copy
import os
import pickle

import numpy as np
import pytest
import scipy.spatial
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import kith
import kith.spatial

often = settings(
    deadline=None,
    max_examples=150,
    derandomize="CI" in os.environ,
    suppress_health_check=[HealthCheck.too_slow],
)

CLASSES = ["KDTree", "cKDTree"]
SHAPES = [(), (1,), (7,), (2, 3), (0,), (2, 0)]


class Case:
    """Points, queries and what trees are made with, from a seed."""

    def __init__(self, seed, n, m, kind, p, is_periodic, dtype):
        self.text = f"Case({seed}, {n}, {m}, {kind!r}, {p}, {is_periodic}, {dtype!r})"
        self.rng = np.random.default_rng(seed)
        self.p, self.kind, self.dtype, self.m = p, kind, dtype, m
        self.boxsize = None
        if is_periodic:
            self.boxsize = self.rng.choice([0.0, 8.0, 11.0], m)
            self.boxsize[0] = 8.0
        self.points = self.draw((n,))
        # On a grid radii are hit exactly, which only these norms do without rounding.
        self.radius = float(self.rng.integers(0, 5)) + (0.0 if p in (1, 2, np.inf) else 0.1234567)
        self.leafsize = int(self.rng.integers(1, 12))

    def __repr__(self):
        return self.text

    def draw(self, shape, is_query=False):
        if self.kind == "grid":
            values = self.rng.integers(0, 5, (*shape, self.m))
        elif self.kind == "equal":
            values = np.full((*shape, self.m), 3)
        else:
            values = self.rng.random((*shape, self.m)) * 7
        if is_query and self.boxsize is not None:
            values = values + 3 * self.boxsize  # a query may lie anywhere
        return values.astype(self.dtype)

    def trees(self, points=None, name="KDTree"):
        given = self.points if points is None else points
        options = {"leafsize": self.leafsize, "boxsize": self.boxsize}
        options["compact_nodes"], options["balanced_tree"] = self.rng.integers(0, 2, 2).astype(bool)
        return getattr(kith.spatial, name)(given, **options), getattr(scipy.spatial, name)(
            given, **options
        )

    def distances(self, queries, points):
        """All of them, in the obvious way."""
        way = np.abs(queries.astype(float)[:, None, :] - points.astype(float)[None, :, :])
        if self.boxsize is not None:
            for d, length in enumerate(self.boxsize):
                if length > 0:
                    way[..., d] %= length
                    way[..., d] = np.minimum(way[..., d], length - way[..., d])
        if np.isinf(self.p):
            return way.max(axis=-1)
        return (way**self.p).sum(axis=-1) ** (1 / self.p)


cases = st.builds(
    Case,
    seed=st.integers(0, 2**32),
    n=st.sampled_from([0, 1, 2, 9, 40, 150]),
    m=st.integers(1, 4),
    kind=st.sampled_from(["grid", "random", "random", "equal"]),
    p=st.sampled_from([1, 2, 2, np.inf, 1.5, 3]),
    is_periodic=st.booleans(),
    dtype=st.sampled_from(["f8", "f8", "f4", "i8", "u1"]),
)


def lists_of(found):
    return [sorted(mine) for mine in np.asarray(found, dtype=object).reshape(-1)]


@often
@given(
    cases,
    st.sampled_from(SHAPES),
    st.sampled_from([1, 2, 5, [1], [3, 1, 3], np.array([2, 4]), 170]),
    st.booleans(),
)
def test_query(case, shape, k, is_bounded):
    mine, theirs = case.trees(name=case.rng.choice(CLASSES))
    queries = case.draw(shape, is_query=True)
    bound = case.radius if is_bounded else np.inf
    d, i = mine.query(queries, k, p=case.p, distance_upper_bound=bound)
    expected, theirs_i = theirs.query(queries, k, p=case.p, distance_upper_bound=bound)
    assert type(d) is type(expected) and type(i) is type(theirs_i)
    assert np.shape(d) == np.shape(expected) and np.shape(i) == np.shape(theirs_i)
    assert np.asarray(d).dtype == np.float64 and np.asarray(i).dtype == np.intp
    np.testing.assert_allclose(d, expected, rtol=1e-12, atol=1e-12)
    np.testing.assert_array_equal(np.asarray(i) == mine.n, np.asarray(theirs_i) == mine.n)
    flat_d, flat_i = np.reshape(d, (-1,)), np.reshape(i, (-1,))
    each = np.repeat(
        queries.reshape(-1, case.m), flat_d.size // max(1, int(np.prod(shape))), axis=0
    )
    for distance, number, query in zip(flat_d, flat_i, each):
        if number < mine.n:
            true = case.distances(query[None], case.points[[number]])[0, 0]
            assert abs(distance - true) <= 1e-12 * (1 + true)


@often
@given(cases, st.integers(1, 12))
def test_ties_come_by_number(case, k):
    mine, _ = case.trees()
    d, i = mine.query(case.draw((11,), is_query=True), k=np.arange(1, k + 1), p=case.p)
    for distances, numbers in zip(d, i):
        found = np.isfinite(distances)
        keys = list(zip(distances[found], numbers[found]))
        assert keys == sorted(set(keys))


@often
@given(cases, st.sampled_from([0.1, 0.5, 3.0]))
def test_query_with_eps_keeps_its_promise(case, eps):
    mine, _ = case.trees()
    queries = case.draw((20,), is_query=True)
    k = min(4, mine.n)
    if k == 0:
        return
    d, i = mine.query(queries, k=np.arange(1, k + 1), p=case.p, eps=eps)
    exact = np.sort(case.distances(queries, case.points), axis=1)[:, :k]
    assert (d <= exact * (1 + eps) + 1e-9).all() and (d >= exact - 1e-9).all()
    found = np.take_along_axis(case.distances(queries, case.points), i, axis=1)
    np.testing.assert_allclose(d, found, rtol=1e-12, atol=1e-12)


@often
@given(cases, st.sampled_from(SHAPES), st.booleans(), st.sampled_from([None, True, False]))
def test_query_ball_point(case, shape, has_radii, return_sorted):
    mine, theirs = case.trees(name=case.rng.choice(CLASSES))
    queries = case.draw(shape, is_query=True)
    radii = case.rng.integers(0, 4, shape) + case.radius % 1 if has_radii else case.radius
    options = {"p": case.p, "return_sorted": return_sorted}
    found = mine.query_ball_point(queries, radii, **options)
    expected = theirs.query_ball_point(queries, radii, **options)
    assert type(found) is type(expected) and np.shape(found) == np.shape(expected)
    if shape == ():
        assert sorted(found) == sorted(expected)
        assert all(type(number) is int for number in found)
    else:
        assert found.dtype == expected.dtype == object and found.shape == expected.shape
        assert lists_of(found) == lists_of(expected)
        if return_sorted is not False:
            assert all(list(a) == list(b) for a, b in zip(found.reshape(-1), expected.reshape(-1)))
    counts = mine.query_ball_point(queries, radii, return_length=True, **options)
    expected_counts = theirs.query_ball_point(queries, radii, return_length=True, **options)
    assert type(counts) is type(expected_counts) and np.asarray(counts).dtype == np.intp
    np.testing.assert_array_equal(counts, expected_counts)


@often
@given(cases, st.sampled_from([0.2, 1.0]))
def test_balls_with_eps_keep_their_promise(case, eps):
    mine, _ = case.trees()
    queries = case.draw((9,), is_query=True)
    found = mine.query_ball_point(queries, case.radius, p=case.p, eps=eps)
    for numbers, distances in zip(found, case.distances(queries, case.points)):
        inside = set(np.flatnonzero(distances <= case.radius / (1 + eps) - 1e-9))
        near = set(np.flatnonzero(distances <= case.radius * (1 + eps) + 1e-9))
        assert inside <= set(numbers) <= near


@often
@given(cases, st.sampled_from([0, 1, 30]))
def test_query_ball_tree(case, n):
    mine, theirs = case.trees()
    others = case.trees(case.draw((n,)), name="cKDTree")
    found = mine.query_ball_tree(others[0], case.radius, p=case.p)
    expected = theirs.query_ball_tree(others[1], case.radius, p=case.p)
    assert type(found) is list and [list(row) for row in found] == [sorted(row) for row in expected]


@often
@given(cases)
def test_query_pairs(case):
    mine, theirs = case.trees()
    found = mine.query_pairs(case.radius, p=case.p)
    assert found == theirs.query_pairs(case.radius, p=case.p)
    assert all(type(i) is int and i < j for i, j in found)
    array = mine.query_pairs(case.radius, p=case.p, output_type="ndarray")
    assert array.dtype == np.intp and array.shape == (len(found), 2)
    assert [tuple(pair) for pair in array.tolist()] == sorted(found)


@often
@given(
    cases,
    st.sampled_from([0, 1, 30]),
    st.sampled_from(["none", "both", "first", "second"]),
    st.booleans(),
)
def test_count_neighbors(case, n, weighted, cumulative):
    mine, theirs = case.trees()
    others = case.trees(case.draw((n,)))
    radii = np.array([0, 0.5, 1, 1, 2, 30]) + case.radius % 1
    if cumulative:
        case.rng.shuffle(radii)
    weights = None
    if weighted != "none" and n and mine.n:
        here, there = case.rng.normal(size=mine.n), case.rng.integers(0, 9, n)
        weights = (None if weighted == "second" else here, None if weighted == "first" else there)
    options = {"p": case.p, "weights": weights, "cumulative": cumulative}
    for r in (radii, radii[0], np.empty(0)):
        found = mine.count_neighbors(others[0], r, **options)
        expected = theirs.count_neighbors(others[1], r, **options)
        assert type(found) is type(expected)
        assert np.asarray(found).dtype == np.asarray(expected).dtype
        np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-9)


@often
@given(cases)
def test_count_neighbors_of_one_tree_by_one_array_of_weights(case):
    mine, theirs = case.trees()
    if mine.n:
        weights = case.rng.random(mine.n)
        found = mine.count_neighbors(mine, case.radius, p=case.p, weights=weights)
        assert found == pytest.approx(
            theirs.count_neighbors(theirs, case.radius, p=case.p, weights=weights)
        )


@pytest.mark.parametrize("p", [1.5, 2.7, 3, 7])
def test_bug_pairs_at_the_radius_are_counted_by_other_powers_than_searches_use(p):
    rng = np.random.default_rng(17)
    for _ in range(20):
        points = rng.integers(0, 6, (60, 3)) / 10
        tree, index = kith.spatial.KDTree(points), kith.Index(points, metric=f"lp:{p}")
        for radius in np.unique(index.knn(points, k=60)[0])[1:12]:
            assert tree.count_neighbors(tree, radius, p=p) == index.count(points, radius).sum()


@often
@given(cases, st.sampled_from([0, 1, 30]))
def test_sparse_distance_matrix(case, n):
    mine, theirs = case.trees()
    others = case.trees(case.draw((n,)))
    for kind in ("dict", "ndarray", "dok_matrix", "coo_matrix"):
        found = mine.sparse_distance_matrix(others[0], case.radius, case.p, kind)
        expected = theirs.sparse_distance_matrix(others[1], case.radius, case.p, kind)
        assert type(found) is type(expected)
        if kind == "dict":
            assert found == {
                key: pytest.approx(value, rel=1e-12) for key, value in expected.items()
            }
        elif kind == "ndarray":
            assert found.dtype == expected.dtype
            np.testing.assert_array_equal(
                np.sort(found, order=["i", "j"])["j"], np.sort(expected, order=["i", "j"])["j"]
            )
        else:
            assert found.shape == expected.shape and found.nnz == expected.nnz
            np.testing.assert_allclose(found.toarray(), expected.toarray(), rtol=1e-12)


def walk(node, tree, level=0):
    """Checks all of a tree and returns how many nodes it has."""
    assert node.level == level
    assert node.children == node.end_idx - node.start_idx == len(node.indices)
    np.testing.assert_array_equal(node.indices, tree.indices[node.start_idx : node.end_idx])
    np.testing.assert_array_equal(node.data_points, tree.data[node.indices])
    if node.split_dim == -1:
        assert node.lesser is None and node.greater is None
        assert node.children <= tree.leafsize or (node.data_points == node.data_points[0]).all()
        return 1
    assert node.lesser is node.lesser and node.lesser.children > 0 and node.greater.children > 0
    assert (node.lesser.data_points[:, node.split_dim] < node.split).all()
    assert (node.greater.data_points[:, node.split_dim] >= node.split).all()
    assert (node.start_idx, node.lesser.end_idx) == (node.lesser.start_idx, node.greater.start_idx)
    assert node.greater.end_idx == node.end_idx
    return 1 + walk(node.lesser, tree, level + 1) + walk(node.greater, tree, level + 1)


@often
@given(cases)
def test_the_tree_is_one(case):
    mine, _ = case.trees(name="cKDTree")
    assert walk(mine.tree, mine) == mine.size
    assert sorted(mine.indices) == list(range(mine.n))
    assert mine.indices.dtype == np.intp


@pytest.mark.parametrize("options", [{}, {"balanced_tree": False}, {"compact_nodes": False}])
@pytest.mark.parametrize("shape", [(40, 4), (300, 9), (3000, 1), (20_000, 1), (20_000, 3), (20_000, 8)])
@pytest.mark.parametrize("levels", [None, 9, 1])  # how many values the coordinates have; None: all differ
def test_nodes_equal_those_of_scipy(shape, levels, options):
    rng = np.random.default_rng(shape[0])
    data = rng.standard_normal(shape) if levels is None else rng.integers(levels, size=shape) * 1.0
    mine = kith.spatial.cKDTree(data, **options)
    pairs = [(mine.tree, scipy.spatial.cKDTree(data, **options).tree)]
    while pairs:
        found, expected = pairs.pop()
        assert (found.split_dim, found.split) == (expected.split_dim, expected.split)
        assert (found.start_idx, found.end_idx) == (expected.start_idx, expected.end_idx)
        if expected.split_dim != -1:
            pairs += [(found.lesser, expected.lesser), (found.greater, expected.greater)]
        else:
            np.testing.assert_array_equal(found.indices, np.sort(expected.indices))


@often
@given(cases, st.sampled_from(CLASSES))
def test_attributes_and_copies(case, name):
    mine, theirs = case.trees(name=name)
    queries = case.draw((5,), is_query=True)
    for tree in (mine, pickle.loads(pickle.dumps(mine)), copy.copy(mine), copy.deepcopy(mine)):
        assert type(tree) is type(mine)
        for attribute in ("n", "m", "leafsize", "boxsize", "data", "maxes", "mins"):
            found, expected = getattr(tree, attribute), getattr(theirs, attribute)
            assert type(found) is type(expected)
            np.testing.assert_array_equal(found, expected)
        assert [a.tolist() for a in tree.query(queries, 3)] == [
            a.tolist() for a in mine.query(queries, 3)
        ]
        assert tree.size == mine.size


def test_nodes_of_kdtree():
    data = np.random.default_rng(0).random((40, 2))
    tree = kith.spatial.KDTree(data, leafsize=5)
    root = tree.tree
    assert tree.tree is root and isinstance(root, kith.spatial.KDTree.innernode)
    assert root.children == 40 and root.split_dim in (0, 1) and isinstance(root.split, float)
    leaf = root
    while isinstance(leaf, kith.spatial.KDTree.innernode):
        leaf = leaf.less
    assert isinstance(leaf, kith.spatial.KDTree.leafnode) and len(leaf.idx) == leaf.children <= 5
    assert (root < leaf) != (root > leaf) and root == root and root <= root
    assert isinstance(kith.spatial.KDTree([[1.0]]).tree, kith.spatial.KDTree.leafnode)


def test_data_is_not_copied_unless_asked_for():
    data = np.random.default_rng(0).random((9, 2))
    assert kith.spatial.KDTree(data).data.base is data
    assert not np.shares_memory(kith.spatial.KDTree(data, copy_data=True).data, data)
    assert kith.spatial.KDTree(np.asfortranarray(data)).data.flags.c_contiguous
    assert kith.spatial.KDTree(data.tolist()).data.dtype == np.float64


def test_arrays_of_a_tree_are_for_reading():
    tree = kith.spatial.cKDTree(np.random.default_rng(0).random((40, 2)), boxsize=1)
    for name in ("data", "indices", "boxsize", "mins", "maxes"):
        with pytest.raises(ValueError, match="read-only"):
            getattr(tree, name)[:] = 0
        with pytest.raises(AttributeError):
            setattr(tree, name, None)
    assert tree.data is tree.data


def test_workers_do_not_change_the_answer():
    rng = np.random.default_rng(3)
    data, queries = rng.random((20_000, 3)).round(2), rng.random((30_000, 3))
    tree = kith.spatial.KDTree(data)
    one = tree.query(queries, 4), tree.query(data, 4), tree.query_ball_point(queries, 0.03)
    for workers in (2, 5, -1):
        for a, b in zip(
            one[0] + one[1],
            tree.query(queries, 4, workers=workers) + tree.query(data, 4, workers=workers),
        ):
            np.testing.assert_array_equal(a, b)
        assert (one[2] == tree.query_ball_point(queries, 0.03, workers=workers)).all()
    theirs = scipy.spatial.KDTree(data)
    np.testing.assert_allclose(one[0][0], theirs.query(queries, 4)[0], rtol=1e-13)
    assert (one[2] == theirs.query_ball_point(queries, 0.03)).all()
    assert tree.query_pairs(0.01) == theirs.query_pairs(0.01)
    radii = np.linspace(0.001, 0.1, 9)
    np.testing.assert_array_equal(
        tree.count_neighbors(tree, radii), theirs.count_neighbors(theirs, radii)
    )


def test_the_points_themselves_as_queries():
    data = np.random.default_rng(4).random((3000, 3)).round(1)
    tree = kith.spatial.KDTree(data)
    for k in (1, 3, [2, 3]):
        for a, b in zip(tree.query(data, k), tree.query(data.copy(), k)):
            np.testing.assert_array_equal(a, b)


def test_trees_with_different_boxes_meet_on_the_axes_of_the_first():
    data = np.random.default_rng(5).random((40, 2)) * 8
    plain, small, large = (kith.spatial.KDTree(data, boxsize=box) for box in (None, 8, [9, 0]))
    case = Case(0, 0, 2, "random", 2, False, "f8")
    for first in (plain, small, large):
        case.boxsize = first.boxsize
        within = case.distances(data, data) <= 1
        expected = [np.flatnonzero(row).tolist() for row in within]
        for second in (plain, small, large):
            assert first.query_ball_tree(second, 1) == expected
            assert first.count_neighbors(second, 1) == within.sum()
            assert len(first.sparse_distance_matrix(second, 1, output_type="dict")) == within.sum()
