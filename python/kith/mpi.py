"""Nearest neighbours over the ranks of MPI: exact, with the bytes of one process.

Every rank has some of the points. They are cut into shards at exact medians, one for each rank,
which indexes it. All calls are collective: every rank makes them, with queries of its own or none.

Run it by ``mpirun -n 4 python program.py``:

>>> from mpi4py import MPI                                                     # doctest: +SKIP
>>> import kith.mpi                                                            # doctest: +SKIP
>>> index = kith.mpi.DistributedIndex(MPI.COMM_WORLD, my_points)               # doctest: +SKIP
>>> distances, indices = index.knn(my_queries, k=8)                            # doctest: +SKIP
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Sequence
from typing import Any

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
from ._arrays import as_queries, as_rows, numpy_dtype
from ._lists import NeighborLists
from ._mpi_ranks import Ranks
from ._votes import codes_of, require_weights, winners

__all__ = ["DistributedIndex"]


def _take(search: Any, replies: Sequence[bytes | bytearray]) -> None:
    for reply in filter(None, replies):
        search.take(bytes(reply))


class DistributedIndex:
    """Points that several ranks have, searched as one.

    Answers are those of `kith.Index` over the points of all ranks, one behind the other, byte for
    byte, whatever the number of ranks and the distribution of the points. The number of a point is that
    of its row, plus those of all rows at lower ranks.

    If a call fails at one rank, it raises at all of them, and none waits for ever. A rank that dies
    is the business of `mpirun`, which ends the others; let a program that may raise in its own code
    run by ``python -m mpi4py program.py``, which does the same.

    Parameters
    ----------
    comm : mpi4py.MPI.Comm
        Duplicated for the index.
    points : array_like of shape (n, dims)
        Those of this rank; n may be 0, and differ between ranks.
    metric, metric_params, period, skip_nonfinite, engine, device, leaf_size, threads
        As in `kith.Index`, for points, and the same at all ranks except for `engine`, `device`
        and `threads`. "seuclidean" and "mahalanobis" need their `metric_params`. `threads` is 1 by
        default, for one rank on each core; 0 takes all cores.
    """

    def __init__(
        self, comm: Any, points: Any, *, metric: str = "l2", metric_params: Any = None,
        period: Any = None, skip_nonfinite: bool = False, engine: str = "auto",
        device: str = "auto", leaf_size: int = 0, threads: int = 1,
    ) -> None:
        ranks = self._ranks = Ranks(comm)

        def own() -> tuple[Any, ...]:
            rows = as_rows(points)
            self._rules = _shards.rules_of(
                ranks.comm.size, metric, metric_params, period, skip_nonfinite, rows.shape[1]
            )
            self._threads = as_threads(threads)
            options = {
                "engine": as_text(engine, "engine"),
                "device": as_text(device, "device"),
                "leaf_size": as_count(leaf_size, "leaf_size"),
                "threads": self._threads,
            }
            return rows, options

        rows, options = ranks.together(own)
        counts = ranks.comm.allgather(len(rows))
        self._firsts = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
        first = self._first
        rules, self._each = self._rules, range(ranks.comm.size)
        told = ranks.comm.allgather(rules)
        if any(other != told[0] for other in told):
            raise ValueError("metric, metric_params, period and skip_nonfinite differ between ranks")
        mine = ranks.together(lambda: _kith.point_facts(rows, first, rules, self._threads))
        # Every rank joins the facts of all: all of them raise what is wrong with points, or none.
        facts = _kith.joined_facts(ranks.comm.allgather(mine))
        plan = _kith.CutPlan.of(facts, rules)
        cutter = ranks.together(lambda: _kith.ChunkCutter(rows, first, rules, self._threads))
        while not plan.is_done:
            counts = ranks.together(lambda: cutter.counts(plan).astype(np.uint64))
            plan.take(ranks.sum(counts))
        dealt = ranks.exchange(ranks.together(lambda: cutter.points(plan)))
        del cutter
        self._shard = ranks.together(lambda: _shards.Shard(dealt, rules, options))
        self._map = _kith.shard_map(facts, rules, ranks.comm.allgather(self._shard.low.facts()))
        name, self._dims, self._rows, self._searched = _kith.describe_facts(facts)
        self._dtype = numpy_dtype(name)
        # The numbers that the shard of this rank has of each rank's points.
        numbers = self._shard.low.numbers()
        self._places = np.searchsorted(numbers, self._firsts)

    @property
    def _first(self) -> int:
        return int(self._firsts[self._ranks.comm.rank])

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
    def skipped(self) -> int:
        """How many rows of all ranks were left out because of NaN or infinity."""
        return self._rows - self._searched

    @property
    def offsets(self) -> np.ndarray:
        """The number of the first point of each rank, and behind them that of all points."""
        return self._firsts.copy()

    def __repr__(self) -> str:
        return (
            f"kith.mpi.DistributedIndex({self._rows} x {self._dims} {self._dtype}, "
            f"{self._rules['metric']}, {len(self._each)} ranks)"
        )

    def knn(
        self, queries: Any = None, k: int = 8, *, exclude_self: bool = False,
        max_distance: float = math.inf, squared: bool = False, allowed: Any = None,
        earlier_only: bool = False, index_below: Any = None, skip_nonfinite: bool = False,
    ) -> tuple[np.ndarray, np.ndarray]:
        """The k nearest points of each query of this rank, by distance, then by number.

        Parameters
        ----------
        queries : array_like of shape (m, dims), optional
            Those of this rank; m may be 0. If all ranks leave them out, the points themselves ask,
            and each rank gets the answers of those that it handed in.
        k, exclude_self, max_distance, squared, allowed, earlier_only, index_below, skip_nonfinite
            As in `kith.Index.knn`, and the same at all ranks but for `index_below`, which has an
            entry for each query of this rank. `allowed` is a mask over the points of all ranks.

        Returns
        -------
        distances : ndarray of shape (m, k)
        indices : ndarray of int64, shape (m, k)
        """
        own = {"squared": bool(squared), "exclude_self": bool(exclude_self)}

        def search() -> _shards.Search:
            return self._search(
                "knn", earlier_only, skip_nonfinite, as_count(k, "k"),
                max_distance=as_number(max_distance, "max_distance"), **own,
            )

        distances, indices = self._found(search, queries, None, allowed, index_below)
        return distances, indices

    def radius(
        self, queries: Any = None, radius: Any = None, *, exclude_self: bool = False,
        max_neighbors: int = 0, squared: bool = False, allowed: Any = None,
        earlier_only: bool = False, index_below: Any = None, skip_nonfinite: bool = False,
    ) -> NeighborLists:
        """All points within a radius of each query of this rank, as `kith.Index.radius` finds them."""
        own = {"squared": bool(squared), "exclude_self": bool(exclude_self)}

        def search() -> _shards.Search:
            most = as_count(max_neighbors, "max_neighbors")
            return self._search(
                "radius", earlier_only, skip_nonfinite, 0, max_neighbors=most, **own
            )

        return NeighborLists(*self._found(search, queries, radius, allowed, index_below))

    def count(
        self, queries: Any = None, radius: Any = None, *, exclude_self: bool = False,
        allowed: Any = None, earlier_only: bool = False, index_below: Any = None,
        skip_nonfinite: bool = False,
    ) -> np.ndarray:
        """How many points lie within a radius of each query of this rank."""

        def search() -> _shards.Search:
            return self._search(
                "count", earlier_only, skip_nonfinite, 0, exclude_self=bool(exclude_self)
            )

        return self._found(search, queries, radius, allowed, index_below)[0]

    def fetch(self, values: Any, indices: Any) -> np.ndarray:
        """What other ranks know of points: labels of neighbours, say.

        Parameters
        ----------
        values : array_like of length n
            One entry, of any shape, for each point that this rank handed in.
        indices : array_like of int
            Numbers of points; those that stand for a missing neighbour get zeros.

        Returns
        -------
        ndarray of the shape of `indices`, and of the entries
        """
        ranks = self._ranks

        def check() -> tuple[np.ndarray, np.ndarray]:
            known, wanted = np.asarray(values), np.asarray(indices)
            if known.dtype.hasobject:
                raise TypeError(f"values must have a fixed size, not {known.dtype}")
            here = int(self._firsts[ranks.comm.rank + 1]) - self._first
            if known.shape[:1] != (here,):
                raise ValueError(f"values must have {here} entries, not {known.shape}")
            if wanted.dtype.kind not in "iu" and wanted.size > 0:
                raise TypeError(f"indices must be whole numbers, not {wanted.dtype}")
            if wanted.size > 0 and not (0 <= wanted.min() and wanted.max() <= self._rows):
                raise ValueError(f"indices must be from 0 to {self._rows}")
            return known, wanted

        known, wanted = ranks.together(check)
        kinds = ranks.comm.allgather((known.dtype.str, known.shape[1:]))
        if any(kind != kinds[0] for kind in kinds):
            raise ValueError(f"values differ in type or shape between ranks: {kinds}")
        numbers, back = np.unique(wanted.astype(np.int64).ravel(), return_inverse=True)
        cuts = np.searchsorted(numbers, self._firsts)
        asked = ranks.exchange_arrays([numbers[cuts[r] : cuts[r + 1]] for r in self._each])
        replies = ranks.exchange_arrays([known[one - self._first] for one in asked])
        found = np.zeros((len(numbers), *known.shape[1:]), known.dtype)
        found[: cuts[-1]] = np.concatenate(replies).reshape(cuts[-1], *known.shape[1:])
        return found[back.ravel()].reshape(wanted.shape + known.shape[1:])

    def classify(
        self, labels: Any, queries: Any, k: int = 5, *, weights: str = "uniform"
    ) -> np.ndarray:
        """The label with the most votes among the k nearest points of each query of this rank.

        Parameters
        ----------
        labels : array_like of length n
            One for each point that this rank handed in.
        queries : array_like of shape (m, dims)
        weights : {"uniform", "distance"}
            "distance": a neighbour counts by the inverse of its distance.

        Returns
        -------
        ndarray of length m
            Of several labels with equally many votes the smallest, as
            `kith.neighbors.KNeighborsClassifier` does.
        """
        ranks = self._ranks

        def own_classes() -> tuple[np.ndarray, np.ndarray]:
            require_weights(weights)
            if not 1 <= as_count(k, "k") <= self._searched:
                most = f"{self._searched}, the number of points"
                raise ValueError(f"k must be from 1 to {most}, not {k}")
            return np.unique(np.asarray(labels), return_inverse=True)

        mine, places = ranks.together(own_classes)
        classes = np.unique(np.concatenate(ranks.comm.allgather(mine)))
        codes = ranks.together(lambda: codes_of(mine, classes)[places.ravel()])
        distances, indices = self.knn(queries, k)
        near = self.fetch(codes, indices)
        return ranks.together(lambda: classes[winners(distances, near, len(classes), weights)])

    def _search(
        self, kind: str, earlier_only: bool, skip_nonfinite: bool, k: int, **options: Any
    ) -> _shards.Search:
        options.update(
            earlier_only=bool(earlier_only), skip_nonfinite=bool(skip_nonfinite),
            threads=self._threads,
        )
        return _shards.Search(self._map, kind, options, self._dtype, k)

    def _found(
        self, make: Callable[[], _shards.Search], queries: Any, radius: Any, allowed: Any,
        index_below: Any,
    ) -> tuple[np.ndarray, ...]:
        ranks = self._ranks
        with_queries = ranks.comm.allreduce(int(queries is not None))
        is_self = with_queries == 0

        def start() -> tuple[_shards.Search, Any, Any]:
            if queries is None and not is_self:
                raise ValueError(
                    "queries are missing here, but not at all ranks; one without any has 0 rows"
                )
            search = make()
            if search.kind != "knn" and radius is None:
                raise TypeError("a radius is missing")
            words = None if allowed is None else as_allowed(allowed, len(self))
            own: dict[str, Any] = {}
            asking: Any
            if is_self:
                if index_below is not None or np.ndim(radius) != 0:
                    raise ValueError(
                        "searches of the points themselves take one radius and no bounds"
                    )
                if radius is not None:
                    own["radii"] = np.array([as_number(radius, "radius")])
                asking = self._shard
            else:
                asking, lead = as_queries(queries, self._dims, self._dtype)
                if radius is not None:
                    own["radii"] = np.atleast_1d(as_radii(radius, lead)).ravel()
                if index_below is not None:
                    bounds = np.asarray(index_below)
                    require_index_below(bounds.dtype, bounds.shape, lead)
                    own["index_below"] = bounds.astype(np.uint64).ravel()
            return search, words, _shards.search_of(search, asking, ranks.comm.rank, own)

        search, words, low = ranks.together(start)
        for _ in range(search.rounds):
            requests = ranks.together(low.next)
            asked = ranks.exchange([requests.get(rank, b"") for rank in self._each])
            replies = ranks.exchange(ranks.together(functools.partial(self._answers, asked, words)))
            ranks.together(functools.partial(_take, low, replies))
        found = ranks.together(lambda: _shards.end_of(search, low))
        return self._sent_home(search, found) if is_self else found

    def _answers(self, requests: Sequence[bytes | bytearray], allowed: Any) -> list[bytes]:
        shard, threads = self._shard.low, self._threads
        return [
            shard.answer(bytes(request), allowed, threads) if request else b""
            for request in requests
        ]

    def _sent_home(
        self, search: _shards.Search, found: tuple[np.ndarray, ...]
    ) -> tuple[np.ndarray, ...]:
        """What the points of this shard found goes to the ranks that handed them in."""
        ranks = self._ranks
        numbers = self._shard.low.numbers()
        pairs = list(zip(self._places[:-1], self._places[1:], strict=True))

        def sent(column: np.ndarray, cuts: Sequence[tuple[Any, Any]]) -> list[np.ndarray]:
            return ranks.exchange_arrays([column[begin:end] for begin, end in cuts])

        own = sent(numbers, pairs)
        parts: list[tuple[np.ndarray, ...]]
        if search.kind == "radius":
            distances, indices, offsets = found
            lists = [(offsets[begin], offsets[end]) for begin, end in pairs]
            starts = [
                np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
                for lengths in sent(np.diff(offsets), pairs)
            ]
            parts = list(
                zip(own, sent(distances, lists), sent(indices, lists), starts, strict=True)
            )
        elif search.kind == "knn":
            lists_of = [
                [
                    column.reshape(len(rows), search.k)
                    for column, rows in zip(sent(each, pairs), own, strict=True)
                ]
                for each in found
            ]
            parts = list(zip(own, *lists_of, strict=True))
        else:
            parts = list(zip(own, sent(found[0], pairs), strict=True))
        count = int(self._firsts[ranks.comm.rank + 1]) - self._first
        return ranks.together(
            lambda: _shards.of_chunk(self._first, count, search, len(self), parts)
        )
