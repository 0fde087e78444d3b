"""kith.CoverTree against loops over all pairs."""

from __future__ import annotations

import copy
import gc
import math
import pickle
import threading
import weakref

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import kith


def edit_distance(a, b):
    before = list(range(len(b) + 1))
    for i, x in enumerate(a, 1):
        row = [i]
        for j, y in enumerate(b, 1):
            row.append(min(before[j] + 1, row[-1] + 1, before[j - 1] + (x != y)))
        before = row
    return before[-1]


def differing_places(a, b):
    return sum(x != y for x, y in zip(a, b, strict=True))


def jaccard_distance(a, b):
    union = len(set(a) | set(b))
    return np.float32(union - len(set(a) & set(b))) / np.float32(union) if union else 0.0


def circle_distance(a, b):
    return min(abs(a - b), 24 - abs(a - b))


def loop(objects, queries, k, metric):
    """The k nearest by (distance, index) of each query."""
    found = []
    for query in queries:
        near = sorted((metric(query, each), i) for i, each in enumerate(objects))[:k]
        found.append(near + [(math.inf, len(objects))] * (k - len(near)))
    return (
        np.array([[d for d, _ in row] for row in found], dtype=float).reshape(len(found), k),
        np.array([[i for _, i in row] for row in found], dtype=int).reshape(len(found), k),
    )


def expect_as_loop(tree, objects, queries, k, metric):
    distances, indices = tree.knn(queries, k)
    wanted_distances, wanted_indices = loop(objects, queries, k, metric)
    np.testing.assert_array_equal(distances, wanted_distances)
    np.testing.assert_array_equal(indices, wanted_indices)
    assert indices.dtype == np.int64
    all_distances, all_indices = loop(objects, queries, len(objects), metric)
    for radius in (0.0, 1.0, 2.5):
        lists = tree.radius(queries, radius)
        for q, (near, numbers) in enumerate(lists):
            inside = all_distances[q] <= radius
            np.testing.assert_array_equal(near, all_distances[q][inside])
            np.testing.assert_array_equal(numbers, all_indices[q][inside])
        np.testing.assert_array_equal(tree.count(queries, radius), lists.counts)


words = st.text("abcä", max_size=6)
KINDS = {
    "edit": (words, edit_distance),
    "hamming": (st.text("ab", min_size=5, max_size=5), differing_places),
    "jaccard": (st.sets(st.integers(0, 9), max_size=6), jaccard_distance),
}


@pytest.mark.parametrize("engine", ["covertree", "brute"])
@pytest.mark.parametrize("metric", KINDS)
@settings(max_examples=40, deadline=None)
@given(data=st.data())
def test_sequences_are_found_as_by_a_loop(metric, engine, data):
    kind, measure = KINDS[metric]
    objects = data.draw(st.lists(kind, min_size=1, max_size=30))
    queries = data.draw(st.lists(kind, max_size=4))
    tree = kith.CoverTree(objects, metric=metric, engine=engine, leaf_size=2)
    expect_as_loop(tree, objects, queries, data.draw(st.integers(0, 5)), measure)
    assert tree.objects == objects and tree.check() == ""


def test_bytes_and_numbers_are_sequences_too():
    objects = [b"cat", b"cart", b"\xff\x00"]
    tree = kith.CoverTree(objects, metric="levenshtein")
    assert tree.objects == objects and tree.metric == "edit"
    expect_as_loop(tree, objects, [b"car", b""], 2, edit_distance)
    lists = [[1, 2, 3], [1, 3], np.array([2**32 - 1])]
    tree = kith.CoverTree(lists, metric="edit")
    assert tree.objects == [[1, 2, 3], [1, 3], [2**32 - 1]]
    assert tree.knn([1, 2], k=1)[1].tolist() == [0] and tree.knn([[1, 2]], k=1)[1].tolist() == [[0]]
    texts = kith.CoverTree(np.array(["tree", "three"]), metric="edit")
    assert texts.knn(np.array(["throe"]), k=1)[1].tolist() == [[1]]


@pytest.mark.parametrize("engine", ["covertree", "brute", "auto"])
@pytest.mark.parametrize("dtype", [bool, np.uint8, np.uint64, ">u4"])
def test_bits_are_found_as_by_a_loop(rng, dtype, engine):
    bits = rng.random((60, 128)) < 0.5
    given_bits = bits if dtype is bool else np.packbits(bits, axis=1).view(dtype)
    tree = kith.CoverTree(given_bits, metric="hamming", engine=engine)
    if dtype is bool:
        expect_as_loop(tree, bits, bits[:7], 3, differing_places)
    wanted = loop(bits, bits[:7], 3, differing_places)
    for got, want in zip(tree.knn(given_bits[:7], 3), wanted, strict=True):
        np.testing.assert_array_equal(got, want)
    assert tree.knn(given_bits[3], k=2)[1].shape == (2,)
    assert tree.knn(given_bits[3][None, None], k=2)[1].shape == (1, 1, 2)
    again = pickle.loads(pickle.dumps(tree))
    np.testing.assert_array_equal(again.knn(k=4)[1], tree.knn(k=4)[1])
    if dtype in (bool, np.uint8):
        np.testing.assert_array_equal(tree.objects, np.packbits(bits, axis=1))


@pytest.mark.parametrize("metric", ["l2", "l1", "linf", "cosine", "angular"])
def test_vectors_are_found_as_by_an_index(rng, metric, tmp_path):
    points = rng.standard_normal((300, 5))
    tree = kith.CoverTree(points, metric=metric)
    assert tree.engine == "covertree" and tree.metric == metric and len(tree) == 300
    exact = kith.Index(points, engine="brute", metric=metric)
    for got, want in zip(tree.knn(points[:9] + 0.1, 4), exact.knn(points[:9] + 0.1, 4)):
        np.testing.assert_array_equal(got, want)
    np.testing.assert_array_equal(
        tree.radius(None, 0.5, exclude_self=True).indices,
        exact.radius(None, 0.5, exclude_self=True).indices,
    )
    np.testing.assert_array_equal(
        tree.count(points[:2], [0.5, 1]), exact.count(points[:2], [0.5, 1])
    )
    assert tree.check() == "" and "cover" in tree.explain()
    tree.save(tmp_path / "vectors.kith")
    again = kith.CoverTree.load(tmp_path / "vectors.kith")
    np.testing.assert_array_equal(again.objects, tree.objects)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(tree)).knn(k=2)[1], tree.knn(k=2)[1])


@settings(max_examples=60, deadline=None)
@given(st.lists(st.integers(0, 23), max_size=30), st.lists(st.integers(0, 23), max_size=4))
def test_a_function_is_a_metric(objects, queries):
    tree = kith.CoverTree(objects, metric=circle_distance)
    assert tree.check() == "" and tree.objects == objects
    if objects:
        expect_as_loop(tree, objects, queries, 3, circle_distance)
    distances, indices = tree.knn(k=2, exclude_self=True)
    for i, hour in enumerate(objects):
        others = sorted((circle_distance(hour, h), j) for j, h in enumerate(objects) if j != i)[:2]
        assert indices[i].tolist()[: len(others)] == [j for _, j in others]
        assert distances[i].tolist()[: len(others)] == [d for d, _ in others]
        assert indices[i].tolist()[len(others) :] == [len(objects)] * (2 - len(others))


@settings(max_examples=40, deadline=None)
@given(st.lists(st.tuples(st.booleans(), st.integers(0, 30)), max_size=40))
def test_a_tree_grows_and_shrinks(steps):
    tree = kith.CoverTree([], metric=lambda a, b: abs(a - b))
    here = {}
    for grows, value in steps:
        if grows or not here:
            here[tree.insert(value)] = value
        else:
            number = sorted(here)[value % len(here)]
            tree.remove(number)
            del here[number]
        assert len(tree) == len(here) and tree.indices.tolist() == sorted(here)
    assert tree.check() == ""
    for same in (tree, pickle.loads(pickle.dumps(_Picklable(tree))).tree(), copy.copy(tree)):
        distances, numbers = same.radius(15, 10)
        want = sorted((abs(v - 15), n) for n, v in here.items() if abs(v - 15) <= 10)
        assert list(zip(distances.tolist(), numbers.tolist())) == want
        near = same.knn([15], k=50)[1][0]
        assert (near[len(here) :] == tree._searcher.low.next).all()


class _Picklable:
    """A lambda does not pickle; its tree does by what it says of itself."""

    def __init__(self, tree):
        self.parts = tree.__reduce_ex__(4)[1][2:]

    def tree(self):
        from kith._cover_tree_files import _from_objects

        return _from_objects(kith.CoverTree, lambda a, b: abs(a - b), *self.parts)


def test_copies_change_by_themselves():
    tree = kith.CoverTree([1, 5, 22], metric=circle_distance)
    other = copy.copy(tree)
    deep = copy.deepcopy(tree)
    assert tree.insert(9) == 3 and tree.remove(0) is None
    assert other.objects == deep.objects == [1, 5, 22] and other.insert(7) == 3
    again = pickle.loads(pickle.dumps(tree))
    assert again.indices.tolist() == [1, 2, 3] and again.objects == [5, 22, 9]
    assert again.insert(0) == 4
    with pytest.raises(KeyError, match="no object 0"):
        again.remove(0)
    with pytest.raises(KeyError):
        again.remove(-1)
    words_tree = kith.CoverTree(["a"], metric="edit")
    for same in (copy.copy(words_tree), copy.deepcopy(words_tree)):
        assert same.objects == ["a"]
    with pytest.raises(TypeError, match="build another one"):
        words_tree.insert("b")


def test_a_metric_that_is_none_is_refused():
    class Broken(Exception):
        pass

    def broken(a, b):
        raise Broken(f"{a} {b}")

    with pytest.raises(Broken, match="1 1"):
        kith.CoverTree([1], metric=broken)
    with pytest.raises(ValueError, match="NaN"):
        kith.CoverTree([1, 2], metric=lambda a, b: math.nan)
    with pytest.raises(ValueError, match="at least 0"):
        kith.CoverTree([1, 2], metric=lambda a, b: b - a - 1)
    with pytest.raises(ValueError, match="not symmetric"):
        kith.CoverTree([1, 2], metric=lambda a, b: max(a - b, 0) + 2 * max(b - a, 0))
    with pytest.raises(TypeError, match="return a number, not str"):
        kith.CoverTree([1, 2], metric=lambda a, b: "far")
    tree = kith.CoverTree([1, 2, 3], metric=lambda a, b: abs(a - b))
    with pytest.raises(TypeError, match="unsupported operand"):
        tree.knn("x", k=1)
    with pytest.raises(TypeError):
        tree.insert("x")
    assert len(tree) == 3 and tree.knn(2, k=1)[1].tolist() == [1]


def test_a_tree_in_use_does_not_change():
    trees = []

    def meddle(a, b):
        if trees:
            trees[0].insert(0)
        return abs(a - b)

    tree = kith.CoverTree([1, 2, 3], metric=meddle)
    trees.append(tree)
    with pytest.raises(RuntimeError, match="changes"):
        tree.knn(1, k=1)
    trees.clear()
    assert tree.knn(1, k=1)[1].tolist() == [0] and len(tree) == 3
    found = [None] * 4

    def search(number):
        found[number] = tree.knn(number, k=3)[1].tolist()

    threads = [threading.Thread(target=search, args=(i,)) for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [[0, 1, 2], [0, 1, 2], [1, 0, 2], [2, 1, 0]]


def test_a_metric_that_changes_the_queries_does_no_harm():
    queries = [1, 2]

    def greedy(a, b):
        if len(queries) < 1000:
            queries.extend([7] * 100)
        return abs(a - b)

    tree = kith.CoverTree([1, 2, 3], metric=greedy)
    del queries[2:]
    assert tree.knn(queries, k=1)[1].shape == (2, 1)


def test_cycles_are_collected():
    class Measure:
        def __call__(self, a, b):
            return abs(a - b)

    measure = Measure()
    measure.tree = kith.CoverTree([1, 2], metric=measure)
    gone = weakref.ref(measure)
    del measure
    gc.collect()
    assert gone() is None


def test_options_reach_the_search():
    tree = kith.CoverTree(["aa", "ab", "bb", "zz"], metric="edit")
    distances, indices = tree.knn(k=3, exclude_self=True, max_distance=1)
    assert indices[0].tolist() == [1, 4, 4] and distances[3].tolist() == [math.inf] * 3
    assert tree.knn("aa", k=1, allowed=[False, True, True, True])[1].tolist() == [1]
    assert tree.knn(k=1, earlier_only=True)[1].ravel().tolist() == [4, 0, 1, 0]
    assert tree.knn(["aa", "bb"], k=1, index_below=[0, 2])[1].ravel().tolist() == [4, 1]
    assert tree.count(radius=1).tolist() == tree.count(None, 1).tolist() == [2, 3, 2, 1]
    assert tree.radius(radius=1).counts.tolist() == [2, 3, 2, 1]
    assert tree.count(["ab"], 1, index_below=[1]).tolist() == [1]
    with pytest.raises(TypeError, match="radius must be a number"):
        tree.radius("aa")
    assert tree.radius("ab", 2, max_neighbors=2)[1].tolist() == [1, 0]
    near, numbers, exact = tree.knn(["ab"], k=1, eps=0.5, return_exact=True)
    assert exact.shape == (1,) and exact.dtype == bool
    own = kith.CoverTree([3, 1, 2], metric=lambda a, b: abs(a - b))
    assert own.knn([2], k=3, max_distance=0.5)[1].tolist() == [[2, 3, 3]]
    assert own.radius(None, [1, 0, 9], exclude_self=True, max_neighbors=1).counts.tolist() == [
        1,
        0,
        1,
    ]
    assert own.count(None, 1, exclude_self=True).tolist() == [1, 1, 2]
    assert own.knn(2, k=1, return_exact=True)[2].tolist() is True
    calls = []
    kith.CoverTree(
        range(200), metric=lambda a, b: abs(a - b), progress=lambda *now: calls.append(now)
    )
    assert calls[0] == ("build", 64, 200)
