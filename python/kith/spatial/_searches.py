"""The searches under one norm that KDTree's methods are made of."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import numpy.typing as npt

from .. import _kith
from ._arguments import Floats

Ints = npt.NDArray[np.int64]
Radii = Any  # a float or an array with one for each query

_MOST_AT_ONCE = 1 << 24


def metric_of(p: float) -> str:
    return {1.0: "l1", 2.0: "l2", math.inf: "linf"}.get(p) or f"lp:{p!r}"


class IndexSearches:
    """By an index of the library; a missing neighbour is (inf, number of points)."""

    def __init__(self, data: Floats, p: float, period: list[float]) -> None:
        self.data = data
        metric = metric_of(p)
        engine = "kdtree" if metric.startswith("lp:") else "auto"  # powers are dear: none to spare
        self.low = _kith.Index.build(
            data, engine=engine, device="cpu", metric=metric, period=period
        )

    def nearest(
        self, rows: Floats, ranks: int | Ints, eps: float, most: float, threads: int
    ) -> tuple[Floats, Ints]:
        """So many neighbours, or those of these ranks (from 1), that are not farther than `most`."""
        if isinstance(ranks, int):
            return self._first(rows, ranks, eps, most, threads)
        ranks = np.minimum(ranks, len(self.data) + 1)  # the first of those that are missing
        k = int(ranks.max())
        # Only these ranks are kept: rows of all of them exist for a part of the queries at a time.
        distances = np.empty((len(rows), len(ranks)))
        numbers = np.empty((len(rows), len(ranks)), dtype=np.int64)
        step = max(1, _MOST_AT_ONCE // k)
        for first in range(0, len(rows), step):
            part = slice(first, first + step)
            d, i = self._first(rows[part], k, eps, most, threads)
            distances[part], numbers[part] = d[:, ranks - 1], i[:, ranks - 1]
        return distances, numbers

    def _first(
        self, rows: Floats, k: int, eps: float, most: float, threads: int
    ) -> tuple[Floats, Ints]:
        """All ranks up to k."""
        options: dict[str, Any] = {"eps": eps, "max_distance": most}
        if len(rows) == 1:
            distances, numbers = self.low.knn_one(rows[0], k, **options)
            return distances[None], numbers[None]
        queries = None if is_same_memory(rows, self.data) else rows
        return self.low.knn(queries, k, threads=threads, **options)[:2]

    def within(self, rows: Floats, radii: Radii, threads: int) -> tuple[Floats, Ints, Ints]:
        """Distances, numbers and offsets of lists, each by (distance, number)."""
        return self.low.radius(rows, radii, threads=threads)

    def balls(self, rows: Floats, radii: Radii, ascending: bool, threads: int) -> list[list[int]]:
        return _kith.ball_lists(self.low, rows, radii, ascending, threads)

    def ball(self, query: Floats, radius: float, ascending: bool, counted: bool) -> Any:
        """Of one query."""
        if counted:
            return np.intp(self.low.count_one(query, radius))
        return _kith.ball_list(self.low, query, radius, ascending)

    def counts(self, rows: Floats, radii: Radii, threads: int) -> Ints:
        return self.low.count(rows, radii, threads=threads)

    def pairs(self, radius: float, as_set: bool) -> Any:
        return _kith.pairs(self.low, radius, as_set)


def is_same_memory(rows: Floats, data: Floats) -> bool:
    """Whether two contiguous arrays are one: then points search for themselves, which is faster."""
    return rows is data or (
        rows.shape == data.shape
        and rows.__array_interface__["data"][0] == data.__array_interface__["data"][0]
    )
