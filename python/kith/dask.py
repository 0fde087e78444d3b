"""Nearest neighbours of Dask's arrays and data frames: exact, with the bytes of one process.

Points are cut into shards at exact medians, one for each worker unless you say otherwise, and each
shard is indexed where it lies. Queries go through them chunk by chunk, as ordinary tasks: the
scheduler may run them anywhere, and runs them again if a worker is lost.

>>> import dask.array as da, numpy as np
>>> import kith.dask
>>> points = da.from_array(np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 2.0]]), chunks=(2, 2))
>>> index = kith.dask.Index(points, shards=2)
>>> distances, indices = index.knn(np.array([[0.9, 0.1]]), k=2)
>>> indices.compute()
array([[1, 0]])
"""

from __future__ import annotations

import itertools
import math
import uuid
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import dask
import dask.array as da
import numpy as np

from . import _kith, _shards
from ._arguments import (
    as_allowed,
    as_count,
    as_number,
    as_radii,
    as_text,
    as_threads,
    require_index_below,
)
from ._arrays import as_queries, float_type, note, numpy_dtype
from ._lazy_lists import LazyLists, joined
from ._votes import codes_of, require_weights, shares, winners

__all__ = ["Index", "KNeighborsClassifier", "LazyLists"]

# A shard has at most 2^32 - 2 points; builds need memory besides.
_MOST_IN_A_SHARD = 2**31


def _workers() -> int:
    """How many workers the scheduler in use has; 1 for those of one process."""
    try:
        from distributed import get_client

        return max(1, len(get_client().nthreads()))
    except (ImportError, ValueError):
        return 1


def _known(array: Any) -> Any:
    """With sizes of chunks that are known, computed if need be, and whole rows in each chunk."""
    if any(math.isnan(size) for size in array.chunks[0]):
        array = array.compute_chunk_sizes()
    return array.rechunk({1: -1}) if array.ndim == 2 else array


def _rows(given: Any, name: str) -> Any:
    """Anything with rows as an array of Dask's in the library's types."""
    if hasattr(given, "to_dask_array"):
        given = given.to_dask_array(lengths=True)
    array = given if isinstance(given, da.Array) else da.from_array(np.asarray(given))
    if array.ndim != 2:
        raise ValueError(f"{name} must have the shape (n, dims), not {array.shape}")
    wanted = float_type(array.dtype)
    if wanted is None:
        raise TypeError(f"{name} must hold numbers, not {array.dtype}")
    if array.dtype != wanted:
        if array.dtype.kind != "f":
            note(f"{name}: {array.dtype} was converted to {wanted}")
        array = array.astype(wanted)
    return _known(array)


def _chunks(array: Any) -> list[tuple[Any, int, int]]:
    """(rows to come, first row, number of rows) of each chunk."""
    sizes = array.chunks[0]
    firsts = itertools.accumulate(sizes, initial=0)
    blocks = array.to_delayed().ravel()
    return list(zip(blocks, firsts, sizes, strict=False))


class Index:
    """Points of a Dask array or data frame, searched where they lie.

    Answers are those of `kith.Index` over all points, byte for byte, whatever the chunks, the
    shards and the workers. Building computes: the points are read once or twice for each doubling
    of the shards, and each moves once, to its shard. Searches return arrays of Dask's, which
    compute nothing until they are asked to.

    Parameters
    ----------
    points : dask array of shape (n, dims), dask data frame, or array_like
        Persisted while the index is built. A chunk that is computed again must be the same.
    shards : int, optional
        How many indexes; by default one for each worker of the client in use.
    metric, metric_params, period, skip_nonfinite, engine, device, leaf_size
        As in `kith.Index`, for points. "seuclidean" and "mahalanobis" need their `metric_params`.
        With ``device="auto"`` a worker that has a GPU takes it if the work is large enough.
    threads : int
        Of the CPU, for one task. Dask runs as many tasks at a time as its workers have threads, so
        it is 1 by default; 0 takes all cores.
    """

    def __init__(
        self, points: Any, *, shards: int | None = None, metric: str = "l2",
        metric_params: Any = None, period: Any = None, skip_nonfinite: bool = False,
        engine: str = "auto", device: str = "auto", leaf_size: int = 0, threads: int = 1,
    ) -> None:
        array = _rows(points, "points")
        count, dims = array.shape
        if shards is None:
            shards = max(_workers(), -(-count // _MOST_IN_A_SHARD))
        self._rules = _shards.rules_of(
            shards, metric, metric_params, period, skip_nonfinite, dims
        )
        self._threads = as_threads(threads)
        options = {
            "engine": as_text(engine, "engine"),
            "device": as_text(device, "device"),
            "leaf_size": as_count(leaf_size, "leaf_size"),
            "threads": self._threads,
        }
        array = array.persist()
        self._chunks = array.chunks[0]
        facts, parts = self._cut(_chunks(array))
        build = dask.delayed(_shards.Shard)
        self._shards = dask.persist(*(build(list(part), self._rules, options) for part in parts))
        told = dask.delayed(_shards.facts_of_shard)
        of_shards = dask.compute(*(told(shard) for shard in self._shards))
        self._map = _kith.shard_map(facts, self._rules, list(of_shards))
        name, self._dims, self._rows, self._searched = _kith.describe_facts(facts)
        self._dtype = numpy_dtype(name)

    def _cut(self, chunks: list[tuple[Any, int, int]]) -> tuple[bytes, Iterator[Any]]:
        """What is known of all points, and the tasks that deal them out, shard by shard."""
        rules, threads, name = self._rules, self._threads, uuid.uuid4().hex

        def each(task: Callable[..., Any], *more: Any) -> list[Any]:
            late = dask.delayed(task, pure=False)
            return [late(rows, first, rules, threads, *more) for rows, first, _ in chunks]

        facts = _kith.joined_facts(list(dask.compute(*each(_shards.facts_of))))
        plan = _kith.CutPlan.of(facts, rules)
        while not plan.is_done:
            plan.take(sum(dask.compute(*each(_shards.counts_of, name, plan.to_bytes()))))
        dealt = each(_shards.dealt, name, plan.to_bytes())
        return facts, ([part[s] for part in dealt] for s in range(rules["shards"]))

    def __len__(self) -> int:
        return self._rows

    @property
    def dims(self) -> int:
        """How many coordinates a point has."""
        return self._dims

    @property
    def dtype(self) -> np.dtype:
        """The type of the points."""
        return self._dtype

    @property
    def shards(self) -> int:
        """How many shards there are."""
        return len(self._shards)

    @property
    def skipped(self) -> int:
        """How many rows were left out because of NaN or infinity."""
        return self._rows - self._searched

    def __repr__(self) -> str:
        return (
            f"kith.dask.Index({self._rows} x {self._dims} {self._dtype}, "
            f"{self._rules['metric']}, {self.shards} shards)"
        )

    def knn(
        self, queries: Any = None, k: int = 8, *, exclude_self: bool = False,
        max_distance: float = math.inf, squared: bool = False, allowed: Any = None,
        earlier_only: bool = False, index_below: Any = None, skip_nonfinite: bool = False,
    ) -> tuple[Any, Any]:
        """The k nearest points of each query, by distance, then by number.

        Parameters
        ----------
        queries : dask array of shape (m, dims), dask data frame, or array_like; optional
            None takes the points themselves.
        k, exclude_self, max_distance, squared, allowed, earlier_only, index_below, skip_nonfinite
            As in `kith.Index.knn`. Bounds have an entry for each query.

        Returns
        -------
        distances : dask.array.Array of shape (m, k)
        indices : dask.array.Array of int64, shape (m, k)
        """
        search = self._search("knn", exclude_self, earlier_only, skip_nonfinite)
        search.options.update(squared=bool(squared))
        search.options.update(max_distance=as_number(max_distance, "max_distance"))
        search = search._replace(k=as_count(k, "k"))
        tasks, sizes = self._tasks(search, queries, None, allowed, index_below)
        get = dask.delayed(_part)
        distances, indices = (
            joined(
                [
                    da.from_delayed(get(found, place), (size, search.k), dtype)
                    for found, size in zip(tasks, sizes, strict=True)
                ]
            )
            for place, dtype in enumerate((self._dtype, np.int64))
        )
        return distances, indices

    def radius(
        self, queries: Any = None, radius: Any = None, *, exclude_self: bool = False,
        max_neighbors: int = 0, squared: bool = False, allowed: Any = None,
        earlier_only: bool = False, index_below: Any = None, skip_nonfinite: bool = False,
    ) -> LazyLists:
        """All points within a radius of each query, as `kith.Index.radius` finds them."""
        search = self._search("radius", exclude_self, earlier_only, skip_nonfinite)
        search.options.update(squared=bool(squared))
        search.options.update(max_neighbors=as_count(max_neighbors, "max_neighbors"))
        tasks, sizes = self._tasks(search, queries, radius, allowed, index_below)
        return LazyLists(tasks, sizes, self._dtype)

    def count(
        self, queries: Any = None, radius: Any = None, *, exclude_self: bool = False,
        allowed: Any = None, earlier_only: bool = False, index_below: Any = None,
        skip_nonfinite: bool = False,
    ) -> Any:
        """How many points lie within a radius of each query: a dask array of int64."""
        search = self._search("count", exclude_self, earlier_only, skip_nonfinite)
        tasks, sizes = self._tasks(search, queries, radius, allowed, index_below)
        get = dask.delayed(_part)
        return joined(
            [
                da.from_delayed(get(found, 0), (size,), np.int64)
                for found, size in zip(tasks, sizes, strict=True)
            ]
        )

    def _search(
        self, kind: str, exclude_self: bool, earlier_only: bool, skip_nonfinite: bool
    ) -> _shards.Search:
        options = {
            "exclude_self": bool(exclude_self), "earlier_only": bool(earlier_only),
            "skip_nonfinite": bool(skip_nonfinite), "threads": self._threads,
        }
        return _shards.Search(self._map, kind, options, self._dtype)

    def _tasks(
        self, search: _shards.Search, queries: Any, radius: Any, allowed: Any, index_below: Any
    ) -> tuple[list[Any], Sequence[int]]:
        """What each chunk of queries finds, still to be computed, and their sizes."""
        if search.kind != "knn" and radius is None:
            raise TypeError("a radius is missing")
        bounds = None if index_below is None else np.asarray(_here(index_below))
        words = None
        if allowed is not None:
            words = as_allowed(_here(allowed), len(self))
            words = None if words is None else dask.delayed(words)
        if queries is None:
            if bounds is not None or np.ndim(radius) != 0:
                raise ValueError("searches of the points themselves take one radius and no bounds")
            own = {} if radius is None else {"radii": np.array([as_number(radius, "radius")])}
            return self._self_tasks(search, own, words), self._chunks
        array = queries if isinstance(queries, da.Array) else None
        if array is None and not hasattr(queries, "to_dask_array"):
            rows, _ = as_queries(queries, self._dims, self._dtype)
            array = da.from_array(rows)
        array = _rows(queries if array is None else array, "queries")
        if array.shape[1] != self._dims:
            raise ValueError(
                f"queries must have {self._dims} coordinates, as the points, not {array.shape[1]}"
            )
        array = array.astype(self._dtype)
        chunks = _chunks(array)
        lead = (array.shape[0],)
        radii = None if radius is None else as_radii(radius, lead)
        if bounds is not None:
            require_index_below(bounds.dtype, bounds.shape, lead)
        tasks = []
        for rows, first, size in chunks:
            mine: dict[str, Any] = {}
            if radii is not None:
                one = np.ndim(radii) == 0
                mine["radii"] = np.atleast_1d(radii if one else radii[first : first + size])
            if bounds is not None:
                mine["index_below"] = bounds[first : first + size].astype(np.uint64)
            tasks.append(self._found(search, rows, 0, mine, words))
        return tasks, array.chunks[0]

    def _found(
        self, search: _shards.Search, queries: Any, number: int, own: dict[str, Any], allowed: Any
    ) -> Any:
        """The tasks of one chunk: ask, answer at each shard, ask again, and so on."""
        ask, pick = dask.delayed(_shards.requests_of), dask.delayed(_shards.request_for)
        answer, end = dask.delayed(_shards.answer_of), dask.delayed(_shards.result_of)
        rounds: list[list[Any]] = []
        for _ in range(search.rounds):
            requests = ask(search, queries, number, own, rounds)
            rounds = [
                *rounds,
                [
                    answer(shard, pick(requests, s), allowed, self._threads)
                    for s, shard in enumerate(self._shards)
                ],
            ]
        return end(search, queries, number, own, rounds)

    def _self_tasks(self, search: _shards.Search, own: dict[str, Any], allowed: Any) -> list[Any]:
        """The points of each shard ask; what they find goes back to the chunks that they came from."""
        named, chunk = dask.delayed(_shards.numbered_result), dask.delayed(_shards.of_chunk)
        parts = [
            named(shard, self._found(search, shard, s, own, allowed))
            for s, shard in enumerate(self._shards)
        ]
        firsts = itertools.accumulate(self._chunks, initial=0)
        return [
            chunk(first, size, search, len(self), parts)
            for first, size in zip(firsts, self._chunks, strict=False)
        ]


def _part(found: tuple[Any, ...], place: int) -> Any:
    return found[place]


def _here(array: Any) -> Any:
    return array.compute() if hasattr(array, "compute") else array


class KNeighborsClassifier:
    """Labels by the vote of the k nearest points, for arrays and data frames of Dask's.

    The rules are those of `kith.neighbors.KNeighborsClassifier`, and so are the labels: the class
    with the most weight wins, of several that of the smallest label.

    Parameters
    ----------
    n_neighbors : int
    weights : {"uniform", "distance"}
        "distance": a neighbour counts by the inverse of its distance.
    index
        Anything else is given to `Index`, such as ``shards=8`` or ``metric="l1"``.

    Attributes
    ----------
    classes_ : ndarray
        The labels.
    index_ : Index
    """

    def __init__(self, n_neighbors: int = 5, *, weights: str = "uniform", **index: Any) -> None:
        require_weights(weights)
        self.n_neighbors, self.weights, self._options = n_neighbors, weights, index

    def fit(self, X: Any, y: Any) -> KNeighborsClassifier:
        """Index the points; `y` has a label for each, as an array or a series."""
        array = _rows(X, "X")
        labels = y.to_dask_array(lengths=True) if hasattr(y, "to_dask_array") else y
        labels = labels if isinstance(labels, da.Array) else da.from_array(np.asarray(labels))
        labels = _known(labels)
        if labels.shape != array.shape[:1]:
            raise ValueError(f"y has the shape {labels.shape}, X {array.shape}")
        labels = labels.persist()
        blocks = labels.to_delayed().ravel()
        unique = dask.delayed(np.unique)
        self.classes_ = np.unique(np.concatenate(dask.compute(*map(unique, blocks))))
        code = dask.delayed(codes_of)
        join = dask.delayed(np.concatenate)
        (self._codes,) = dask.persist(join([code(block, self.classes_) for block in blocks]))
        self.index_ = Index(array, **self._options)
        most = len(self.index_) - self.index_.skipped
        if not 1 <= self.n_neighbors <= most:
            raise ValueError(
                f"n_neighbors must be from 1 to {most}, the number of points, "
                f"not {self.n_neighbors}"
            )
        return self

    def predict(self, X: Any) -> Any:
        """The label of each query: a dask array."""
        return self._voted(X, _winning_labels, (), self.classes_.dtype)

    def predict_proba(self, X: Any) -> Any:
        """The share of the weight that each class has among the neighbours of a query."""
        return self._voted(X, _shares, (len(self.classes_),), np.float64)

    def _voted(self, X: Any, vote: Callable[..., Any], each: tuple[int, ...], dtype: Any) -> Any:
        distances, indices = self.index_.knn(X, self.n_neighbors)
        late = dask.delayed(vote)
        pairs = zip(distances.to_delayed().ravel(), indices.to_delayed().ravel(), strict=True)
        parts = [late(d, i, self._codes, self.classes_, self.weights) for d, i in pairs]
        sizes = distances.chunks[0]
        return joined(
            [
                da.from_delayed(part, (size, *each), dtype)
                for part, size in zip(parts, sizes, strict=True)
            ]
        )


def _winning_labels(
    distances: np.ndarray, indices: np.ndarray, codes: np.ndarray, classes: np.ndarray, how: str
) -> np.ndarray:
    return classes.take(winners(distances, codes[indices], len(classes), how))


def _shares(
    distances: np.ndarray, indices: np.ndarray, codes: np.ndarray, classes: np.ndarray, how: str
) -> np.ndarray:
    return shares(distances, codes[indices], len(classes), how)
