"""Answers that no machine can hold raise MemoryError, and numbers of threads below 0 ValueError, on every path."""

from __future__ import annotations

import numpy as np
import pytest

import kith
from kith.spatial import KDTree, cKDTree

POINTS = np.random.default_rng(0).random((100, 3))
HUGE = 2**32 - 1
WORDS = ["cat", "dog"]
BITS = np.eye(64, dtype=bool)


def apart(a, b):
    return abs(a - b)


SEARCHES = {
    "one query": lambda k: kith.Index(POINTS).knn(np.zeros(3), k=k),
    "one query of float32": lambda k: kith.Index(POINTS.astype("f4")).knn(np.zeros(3, "f4"), k=k),
    "one query as a list": lambda k: kith.Index(POINTS).knn([0.0, 0.0, 0.0], k=k),
    "a batch": lambda k: kith.Index(POINTS).knn(np.zeros((2, 3)), k=k),
    "the points": lambda k: kith.Index(POINTS).knn(k=k),
    "vectors in a cover tree": lambda k: kith.CoverTree(POINTS).knn(np.zeros(3), k=k),
    "one word": lambda k: kith.CoverTree(WORDS, metric="edit").knn("cat", k=k),
    "words": lambda k: kith.CoverTree(WORDS, metric="edit").knn(WORDS, k=k),
    "one row of bits": lambda k: kith.CoverTree(BITS, metric="hamming").knn(BITS[0], k=k),
    "rows of bits": lambda k: kith.CoverTree(BITS, metric="hamming").knn(k=k),
    "a metric of one's own": lambda k: kith.CoverTree([1, 2], metric=apart).knn(1, k=k),
    "KDTree, one query": lambda k: KDTree(POINTS).query(np.zeros(3), k=k),
    "KDTree, a batch": lambda k: KDTree(POINTS).query(np.zeros((2, 3)), k=k),
    "cKDTree under p=3": lambda k: cKDTree(POINTS).query(np.zeros(3), k=k, p=3),
    "KDTree on a torus under p=3": lambda k: KDTree(POINTS, boxsize=2).query(POINTS[0], k=k, p=3),
    "KDTree without room": lambda k: KDTree(POINTS).query(POINTS, k=k, distance_upper_bound=0),
}


@pytest.mark.skipif(
    kith.devices()[0].memory_bytes > 2**35, reason="this machine may hold even such an answer"
)
@pytest.mark.parametrize("search", SEARCHES.values(), ids=SEARCHES)
def test_a_huge_k_raises_on_every_path(search):
    with pytest.raises(MemoryError, match="not enough memory"):
        search(HUGE)
    with pytest.raises(ValueError, match=r"k must be from 0 to 2\*\*32 - 1"):
        search(2**40)


def test_single_ranks_beyond_the_points_need_no_room():
    for boxsize, p in ((None, 2), (2, 3)):
        tree = KDTree(POINTS, boxsize=boxsize)
        distances, numbers = tree.query(POINTS[:2], k=[1, 2**40], p=p)
        assert numbers.tolist() == [[0, 100], [1, 100]]
        assert np.isinf(distances[:, 1]).all()


THREADS = {
    "one query": lambda threads: kith.Index(POINTS).knn(np.zeros(3), threads=threads),
    "a batch": lambda threads: kith.Index(POINTS).knn(POINTS, threads=threads),
    "radius": lambda threads: kith.Index(POINTS).radius(np.zeros(3), 1.0, threads=threads),
    "count": lambda threads: kith.Index(POINTS).count(np.zeros(3), 1.0, threads=threads),
    "box": lambda threads: kith.Index(POINTS).box([0, 0, 0], [1, 1, 1], threads=threads),
    "build": lambda threads: kith.Index(POINTS, threads=threads),
    "to_bytes": lambda threads: kith.Index(POINTS).to_bytes(threads=threads),
    "dedupe": lambda threads: kith.dedupe(POINTS, threads=threads),
    "transform": lambda threads: kith.transform(POINTS, np.eye(4), threads=threads),
    "downsample": lambda threads: kith.downsample(POINTS, voxel=1, threads=threads),
    "outliers": lambda threads: kith.outliers(POINTS, neighbors=2, threads=threads),
    "distance": lambda threads: kith.distance(POINTS, POINTS, threads=threads),
    "normals": lambda threads: kith.normals(POINTS, threads=threads),
    "register": lambda threads: kith.register(POINTS, POINTS, threads=threads),
    "register pairs": lambda threads: kith.register_pairs([POINTS], POINTS, threads=threads),
    "target": lambda threads: kith.RegistrationTarget(POINTS, threads=threads),
    "plan": lambda threads: kith.plan(10, 3, threads=threads),
    "words": lambda threads: kith.CoverTree(WORDS, metric="edit").knn("cat", threads=threads),
    "own": lambda threads: kith.CoverTree([1, 2], metric=apart, threads=threads),
    "own knn": lambda threads: kith.CoverTree([1, 2], metric=apart).knn(1, threads=threads),
    "own radius": lambda threads: kith.CoverTree([1], metric=apart).radius(1, 1, threads=threads),
    "own count": lambda threads: kith.CoverTree([1], metric=apart).count(1, 1, threads=threads),
}


@pytest.mark.parametrize("call", THREADS.values(), ids=THREADS)
def test_threads_below_zero_are_refused_everywhere(call):
    call(0)
    call(1)
    with pytest.raises(ValueError, match="threads must be at least 0, not -5"):
        call(-5)
    with pytest.raises(TypeError, match="threads must be a whole number"):
        call(1.5)


def test_lists_of_two_queries_do_not_unpack_as_a_pair():
    index = kith.Index(POINTS)
    lists = index.radius(POINTS[:2], 0.3)
    with pytest.raises(TypeError, match="neighbours of 2 queries are not a pair"):
        distances, indices = lists
    with pytest.raises(TypeError, match="not a pair"):
        [distances, indices] = index.radius(POINTS[:2], 0.3)
    for number, (distances, indices) in enumerate(lists):
        assert indices[0] == number
        assert distances[0] == 0
    assert len(list(lists)) == len(tuple(lists)) == len([*lists]) == 2
    assert [indices[0] for distances, indices in lists] == [0, 1]
    first, *rest = lists
    assert first[1][0] == 0
    assert len(rest) == 1
    distances, indices = index.radius(POINTS[0], 0.3)
    assert indices[0] == 0
