"""What workers of kith.dask and ranks of kith.mpi do, with chunks of rows, shards and messages.

Each is a function of its arguments alone, so that a scheduler may run it again on another worker.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from . import _kith
from ._arguments import as_count, as_metric_params, as_period, as_text
from ._arrays import as_rows

# Rules of a cut, as the extension takes them: shards, metric, metric_params, period, skip_nonfinite.
Rules = dict[str, Any]


def rules_of(
    shards: Any, metric: Any, metric_params: Any, period: Any, skip_nonfinite: Any, dims: int
) -> Rules:
    """What all participants must agree on, from a caller's arguments."""
    name = as_text(metric, "metric")
    return {
        "shards": as_count(shards, "shards"),
        "metric": name,
        "metric_params": as_metric_params(metric_params, name),
        "period": as_period(period, dims),
        "skip_nonfinite": bool(skip_nonfinite),
    }


# What a shard was asked: {shard: message}.
Requests = dict[int, bytes]


class Shard:
    """A shard on the worker that has it. What travels are its points, which are indexed anew."""

    __slots__ = ("low", "options", "rules")

    def __init__(self, parts: Sequence[bytes | bytearray], rules: Rules, options: dict[str, Any]) -> None:
        self.low = _kith.Shard.build(list(parts), rules, **options)
        self.rules, self.options = rules, options

    def __reduce__(self) -> tuple[Any, ...]:
        points = self.low.points_message(self.options["threads"])
        return Shard, ([points], self.rules, self.options)

    def __sizeof__(self) -> int:
        return self.low.memory_bytes


def facts_of(rows: Any, first: int, rules: Rules, threads: int) -> bytes:
    return _kith.point_facts(as_rows(rows), first, rules, threads)


# Cutters of chunks between two rounds, by build and chunk: without them a round would read all points again. Those of
# builds that broke off are dropped by later builds.
_cutters: dict[str, dict[int, Any]] = {}
_MOST_BUILDS = 4


def _cutter(rows: Any, first: int, rules: Rules, threads: int, build: str) -> Any:
    while build not in _cutters and len(_cutters) >= _MOST_BUILDS:
        _cutters.pop(next(iter(_cutters)), None)
    cutters = _cutters.setdefault(build, {})
    if first not in cutters:
        cutters[first] = _kith.ChunkCutter(as_rows(rows), first, rules, threads)
    return cutters[first]


def counts_of(
    rows: Any, first: int, rules: Rules, threads: int, build: str, plan: bytes
) -> np.ndarray:
    """What a chunk adds to the sums of one round."""
    counts = _cutter(rows, first, rules, threads, build).counts(_kith.CutPlan.from_bytes(plan))
    return counts.astype(np.uint64)


def dealt(
    rows: Any, first: int, rules: Rules, threads: int, build: str, plan: bytes
) -> list[bytes]:
    """The points of a chunk for each shard."""
    parts = _cutter(rows, first, rules, threads, build).points(_kith.CutPlan.from_bytes(plan))
    cutters = _cutters.get(build, {})
    cutters.pop(first, None)
    if not cutters:
        _cutters.pop(build, None)
    return parts


def facts_of_shard(shard: Shard) -> bytes:
    return shard.low.facts()


class Search(NamedTuple):
    """What a search looks for, beside its queries."""

    map: bytes
    kind: str
    options: dict[str, Any]
    dtype: Any
    k: int = 0

    @property
    def rounds(self) -> int:
        """kNN asks the nearest shard, and then those that the neighbours found leave in reach."""
        return 2 if self.kind == "knn" else 1


def search_of(search: Search, queries: Any, number: int, own: dict[str, Any]) -> Any:
    """A search before its first round. `own` is what each of its queries has."""
    options = search.options
    if "index_below" in own:
        options = {**options, "index_below": own["index_below"]}
    return _kith.QuerySearch(
        search.map, search.kind,
        queries.low if isinstance(queries, Shard) else as_rows(queries, "queries", search.dtype),
        number=number, k=search.k, radii=own.get("radii"), options=options,
    )


def _after(
    search: Search, queries: Any, number: int, own: dict[str, Any],
    rounds: Sequence[Sequence[bytes | None]],
) -> Any:
    """A search after the rounds whose replies are here."""
    low = search_of(search, queries, number, own)
    for replies in rounds:
        low.next()
        for reply in replies:
            if reply is not None:
                low.take(reply)
    return low


def requests_of(
    search: Search, queries: Any, number: int, own: dict[str, Any],
    rounds: Sequence[Sequence[bytes | None]],
) -> Requests:
    """What a chunk of queries asks in the next round."""
    return _after(search, queries, number, own, rounds).next()


def request_for(requests: Requests, number: int) -> bytes | None:
    return requests.get(number)


def answer_of(shard: Shard, request: bytes | None, allowed: Any, threads: int) -> bytes | None:
    return None if request is None else shard.low.answer(request, allowed, threads)


def result_of(
    search: Search, queries: Any, number: int, own: dict[str, Any],
    rounds: Sequence[Sequence[bytes | None]],
) -> tuple[Any, ...]:
    return end_of(search, _after(search, queries, number, own, rounds))


def end_of(search: Search, low: Any) -> tuple[Any, ...]:
    """What a search has found, after its last round."""
    if low.next():
        raise RuntimeError("a search has not come to its end")
    found = low.result()
    if search.kind == "knn":
        distances, numbers = found
        return distances, numbers.reshape(distances.shape)
    return found


def numbered_result(shard: Shard, found: tuple[Any, ...]) -> tuple[Any, ...]:
    """What the points of a shard found, behind their numbers."""
    return shard.low.numbers(), *found


def of_chunk(
    first: int, count: int, search: Search, missing: int, parts: Sequence[tuple[Any, ...]]
) -> tuple[Any, ...]:
    """What the points of a chunk found, out of what the points of each shard found.

    Rows that are left out found nothing.
    """
    places = []
    for part in parts:
        begin, end = np.searchsorted(part[0], [first, first + count])
        places.append((part[0][begin:end] - first, begin, end))
    if search.kind == "count":
        counts = np.zeros(count, dtype=np.int64)
        for (rows, begin, end), (_, found) in zip(places, parts, strict=True):
            counts[rows] = found[begin:end]
        return (counts,)
    if search.kind == "knn":
        distances = np.full((count, search.k), np.inf, dtype=search.dtype)
        numbers = np.full((count, search.k), missing, dtype=np.int64)
        for (rows, begin, end), (_, near, found) in zip(places, parts, strict=True):
            distances[rows] = near[begin:end]
            numbers[rows] = found[begin:end]
        return distances, numbers
    lengths = np.zeros(count, dtype=np.int64)
    for (rows, begin, end), part in zip(places, parts, strict=True):
        lengths[rows] = np.diff(part[3][begin : end + 1])
    offsets = np.concatenate([[0], np.cumsum(lengths)])
    distances = np.empty(offsets[-1], dtype=search.dtype)
    numbers = np.empty(offsets[-1], dtype=np.int64)
    for (rows, begin, end), (_, near, found, starts) in zip(places, parts, strict=True):
        low, high = starts[begin], starts[end]
        own = lengths[rows]
        to = np.repeat(offsets[rows], own) + np.arange(high - low)
        to -= np.repeat(starts[begin:end] - low, own)
        distances[to], numbers[to] = near[low:high], found[low:high]
    return distances, numbers, offsets
