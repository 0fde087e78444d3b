"""What each rank does in the tests of kith.mpi: python mpi_program.py NAME, run by mpirun."""

from __future__ import annotations

import os
import signal
import sys

import numpy as np
from mpi4py import MPI

import kith
import kith._mpi_ranks
import kith.mpi
import kith.neighbors

comm = MPI.COMM_WORLD
rank, ranks = comm.rank, comm.size


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


def cuts_of(rng, rows, emptiest):
    """Where the rows of each rank begin; some have none."""
    cuts = np.sort(rng.integers(0, rows + 1, ranks - 1))
    if emptiest and ranks > 1:
        cuts[0] = cuts[-1]
        cuts.sort()
    return np.concatenate([[0], cuts, [rows]])


def same(mine, theirs):
    for one, other in zip(mine, theirs, strict=True):
        np.testing.assert_array_equal(one, other)
        assert one.dtype == other.dtype, (one.dtype, other.dtype)


def part(lists, begin, end):
    low, high = lists.offsets[begin], lists.offsets[end]
    offsets = lists.offsets[begin : end + 1] - low
    return lists.distances[low:high], lists.indices[low:high], offsets


def parts(lists):
    return lists.distances, lists.indices, lists.offsets


def random_case(seed):
    rng = np.random.default_rng(seed)
    rows, dims = int(rng.integers(1, 400)), int(rng.integers(1, 6))
    shape = ["uniform", "grid", "equal", "line", "far"][seed % 5]
    dtype = np.float32 if rng.integers(2) else np.float64
    points = shaped(shape, rng, rows, dims).astype(dtype)
    queries = shaped(shape, rng, int(rng.integers(0, 90)), dims).astype(dtype)
    metric = ["l2", "l1", "linf", "lp:3", "cosine"][int(rng.integers(5))]
    if metric == "cosine":
        points, queries = np.abs(points) + 0.5, np.abs(queries) + 0.5
    firsts, asked = cuts_of(rng, rows, seed % 3 == 0), cuts_of(rng, len(queries), seed % 4 == 0)
    begin, end = firsts[rank], firsts[rank + 1]
    ask = slice(asked[rank], asked[rank + 1])
    index = kith.mpi.DistributedIndex(comm, points[begin:end], metric=metric)
    expected = kith.Index(points, metric=metric)
    assert len(index) == rows and index.dims == dims and index.dtype == dtype
    np.testing.assert_array_equal(index.offsets, firsts)
    k = int(rng.integers(1, 12))
    below = rng.integers(0, rows + 5, len(queries))
    allowed = rng.random(rows) < 0.6
    radius = float(np.median(expected.knn(points[:50], k=min(5, rows))[0]))
    radii = radius * rng.random(len(queries))
    for options, own in (
        ({}, {}),
        ({"allowed": allowed}, {}),
        ({"max_distance": radius, "squared": metric == "l2"}, {}),
        ({"index_below": below}, {"index_below": below[ask]}),
    ):
        theirs = expected.knn(queries, k, **options)
        same(index.knn(queries[ask], k, **{**options, **own}), [each[ask] for each in theirs])
    for r, own in ((radius, radius), (radii, radii[ask])):
        theirs = expected.radius(queries, r, max_neighbors=3)
        mine = index.radius(queries[ask], own, max_neighbors=3)
        same(parts(mine), part(theirs, asked[rank], asked[rank + 1]))
        theirs = expected.count(queries, r, allowed=allowed)
        same([index.count(queries[ask], own, allowed=allowed)], [theirs[ask]])
    for options in ({}, {"exclude_self": True}, {"earlier_only": True, "allowed": allowed}):
        theirs = expected.knn(k=k, **options)
        same(index.knn(k=k, **options), [each[begin:end] for each in theirs])
        theirs = expected.radius(radius=radius, **options)
        same(parts(index.radius(radius=radius, **options)), part(theirs, begin, end))
        theirs = expected.count(radius=radius, **options)
        same([index.count(radius=radius, **options)], [theirs[begin:end]])
    # Looking up what other ranks know
    labels = rng.integers(0, 5, rows)
    wanted = rng.integers(0, rows + 1, (7, 3)) if rank % 2 == 0 else np.empty((0, 3), int)
    known = np.concatenate([points, np.zeros((1, dims), dtype)])
    same([index.fetch(points[begin:end], wanted)], [known[wanted]])
    vote = min(k, rows)
    names = np.array(["ash", "beech", "elm", "lime", "oak"])[labels]
    name = {"linf": "chebyshev", "lp:3": "minkowski"}.get(metric, metric)
    for weights in ("uniform", "distance"):
        model = kith.neighbors.KNeighborsClassifier(vote, weights=weights, metric=name, p=3)
        theirs = model.fit(points, names).predict(queries) if len(queries) else names[:0]
        same([index.classify(names[begin:end], queries[ask], vote, weights=weights)], [theirs[ask]])


def run_cases():
    # Ranks that share cores wait for each other, the longer the more they are.
    count = {1: 20, 2: 15, 3: 10}.get(ranks, 5)
    for seed in range(count):
        random_case(seed + 100 * ranks)
    if rank == 0:
        print(f"{count} cases on {ranks} ranks")


def run_pieces():
    """Messages that are longer than a piece."""
    kith._mpi_ranks.MOST_IN_A_MESSAGE = 1000
    random_case(7)
    rng = np.random.default_rng(5)
    points = rng.random((5000, 3))
    index = kith.mpi.DistributedIndex(comm, points[rank::ranks])
    order = np.concatenate([np.arange(len(points))[r::ranks] for r in range(ranks)])
    expected = kith.Index(points[order]).knn(k=3)
    begin, end = index.offsets[rank : rank + 2]
    same(index.knn(k=3), [each[begin:end] for each in expected])
    if rank == 0:
        print("pieces")


def refused(kind, words, call):
    """Every rank raises; a failure of one rank names it at the others."""
    try:
        call()
    except Exception as error:
        assert type(error).__mro__.index(kind) >= 0, error
        assert words in str(error), str(error)
    else:
        raise AssertionError(f"nothing was raised instead of: {words}")


def run_errors():
    rng = np.random.default_rng(3)
    points = rng.random((50, 3))
    bad = points.copy()
    if rank == ranks - 1:
        bad[4, 1] = np.nan
    last = 50 * (ranks - 1) + 4
    refused(ValueError, f"row {last}", lambda: kith.mpi.DistributedIndex(comm, bad))
    mine = points if rank > 0 else points[:, :2]
    refused(ValueError, "dim", lambda: kith.mpi.DistributedIndex(comm, mine))
    mine = points if rank > 0 else points.astype(np.float32)
    refused(ValueError, "some are f32", lambda: kith.mpi.DistributedIndex(comm, mine))
    mine = points if rank > 0 else ["a"]
    words = "points must hold numbers" if rank == 0 else "rank 0: points must hold numbers"
    refused(TypeError, words, lambda: kith.mpi.DistributedIndex(comm, mine))
    metric = "l1" if rank == 0 else "l2"
    refused(ValueError, "differ", lambda: kith.mpi.DistributedIndex(comm, points, metric=metric))
    index = kith.mpi.DistributedIndex(comm, points)
    words = "queries" if rank == 1 else "rank 1: queries"
    refused(ValueError, words, lambda: index.knn(points[:, : 2 if rank == 1 else 3], 2))
    refused(ValueError, "missing", lambda: index.knn(None if rank == 0 else points, 2))
    refused(ValueError, "k", lambda: index.knn(points, -1 if rank == 0 else 2))
    refused(TypeError, "radius", lambda: index.count(points))
    refused(ValueError, "entries", lambda: index.fetch(points[:-1], [0]))
    refused(ValueError, "from 0", lambda: index.fetch(points, [50 * ranks + 1]))
    refused(ValueError, "weights", lambda: index.classify(points[:, 0], points, 1, weights="no"))
    same(index.knn(points, 1), kith.Index(np.tile(points, (ranks, 1))).knn(points, 1))
    if rank == 0:
        print("errors")


def run_killed():
    """One rank dies while the others wait for it."""
    index = kith.mpi.DistributedIndex(comm, np.random.default_rng(rank).random((100, 2)))
    index.knn(k=2)
    if rank == 1:
        os.kill(os.getpid(), signal.SIGKILL)
    index.knn(k=2)
    print("not reached")


def run_raising():
    """One rank raises in code of its own; mpi4py's runner ends the others."""
    index = kith.mpi.DistributedIndex(comm, np.random.default_rng(rank).random((100, 2)))
    if rank == 1:
        raise RuntimeError("no more")
    index.knn(k=2)
    print("not reached")


{
    "cases": run_cases, "pieces": run_pieces, "errors": run_errors, "killed": run_killed,
    "raising": run_raising,
}[sys.argv[1]]()
