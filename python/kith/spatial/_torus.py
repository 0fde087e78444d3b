"""Searches on periodic axes under norms for which the library knows none: p other than 1, 2, inf.

No distance under p is below that under p = inf: whatever lies within a radius lies within it there,
too. So candidates are found under that norm and measured here.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ._arguments import Floats
from ._searches import Ints, Radii, Searches

_ROWS_AT_ONCE = 4096


class TorusSearches:
    def __init__(self, data: Floats, p: float, period: list[float], largest: Searches) -> None:
        self._data = data
        self._p = p
        self._lengths = np.array([length if length > 0 else np.inf for length in period])
        self._largest = largest

    def _wrapped(self, rows: Floats) -> Floats:
        return wrapped(rows, self._lengths)

    def _measure(self, rows: Floats, numbers: Ints) -> Floats:
        """From each row to the point of that number."""
        way = np.abs(rows - self._data[numbers])
        way = np.minimum(way, self._lengths - way)
        return np.sum(way**self._p, axis=-1) ** (1 / self._p)

    def within(self, rows: Floats, radii: Radii, threads: int) -> tuple[Floats, Ints, Ints]:
        parts = [
            self._part_within(part, reach, threads)
            for part, reach in _cut(self._wrapped(rows), radii)
        ]
        counts = np.concatenate([np.empty(0, np.int64), *(counts for _, _, counts in parts)])
        return (
            np.concatenate([np.empty(0), *(distances for distances, _, _ in parts)]),
            np.concatenate([np.empty(0, np.int64), *(numbers for _, numbers, _ in parts)]),
            np.concatenate([[0], np.cumsum(counts)]),
        )

    def _part_within(self, rows: Floats, reach: Floats, threads: int) -> tuple[Floats, Ints, Ints]:
        wide = np.nextafter(reach * (1 + 1e-12), np.inf)  # whatever rounding does
        _, numbers, offsets = self._largest.within(rows, wide, threads)
        of = np.repeat(np.arange(len(rows)), np.diff(offsets))
        distances = self._measure(rows[of], numbers)
        keep = distances <= reach[of]
        of, numbers, distances = of[keep], numbers[keep], distances[keep]
        order = np.lexsort((numbers, distances, of))
        return distances[order], numbers[order], np.bincount(of, minlength=len(rows))

    def nearest(
        self, rows: Floats, ranks: int | Ints, eps: float, most: float, threads: int
    ) -> tuple[Floats, Ints]:
        n = len(self._data)
        if not isinstance(ranks, int):
            ranks = np.minimum(ranks, n + 1)  # the first of those that are missing
        k = int(np.max(ranks))
        distances = np.full((len(rows), k), np.inf)
        numbers = np.full((len(rows), k), n, dtype=np.int64)
        for first in range(0, len(rows), _ROWS_AT_ONCE):
            part = self._wrapped(rows[first : first + _ROWS_AT_ONCE])
            reach = np.full(len(part), most)
            if k <= n:
                _, some = self._largest.nearest(part, k, 0.0, np.inf, threads)
                reach = np.minimum(reach, self._measure(part[:, None, :], some).max(axis=1))
            found, who, counts = self._part_within(part, reach, threads)
            of = np.repeat(np.arange(len(part)), counts)
            rank = np.arange(len(of)) - np.repeat(np.cumsum(counts) - counts, counts)
            keep = rank < k
            distances[first + of[keep], rank[keep]] = found[keep]
            numbers[first + of[keep], rank[keep]] = who[keep]
        if isinstance(ranks, int):
            return distances, numbers
        return distances[:, ranks - 1], numbers[:, ranks - 1]

    def balls(self, rows: Floats, radii: Radii, ascending: bool, threads: int) -> list[list[int]]:
        _, numbers, offsets = self.within(rows, radii, threads)
        lists = [numbers[first:end].tolist() for first, end in zip(offsets[:-1], offsets[1:])]
        return [sorted(mine) for mine in lists] if ascending else lists

    def counts(self, rows: Floats, radii: Radii, threads: int) -> Ints:
        return np.diff(self.within(rows, radii, threads)[2])

    def pairs(self, radius: float, as_set: bool) -> Any:
        _, second, offsets = self.within(self._data, radius, 0)
        first = np.repeat(np.arange(len(self._data)), np.diff(offsets))
        keep = first < second
        pairs = np.column_stack([first[keep], second[keep]])
        pairs = pairs[np.lexsort((pairs[:, 1], pairs[:, 0]))]
        return set(map(tuple, pairs.tolist())) if as_set else pairs


def wrapped(rows: Floats, lengths: Floats) -> Floats:
    """Rows moved into [0, length) of each axis with a finite length."""
    wraps = np.isfinite(lengths) & (lengths > 0)
    moved = np.array(rows, dtype=np.float64)
    inside = np.mod(moved[:, wraps], lengths[wraps])
    moved[:, wraps] = np.where(
        inside >= lengths[wraps], 0.0, inside
    )  # a tiny negative number rounds to it
    return moved


def _cut(rows: Floats, radii: Radii) -> list[tuple[Floats, Floats]]:
    reach = np.broadcast_to(np.asarray(radii, dtype=np.float64), (len(rows),))
    places = [slice(first, first + _ROWS_AT_ONCE) for first in range(0, len(rows), _ROWS_AT_ONCE)]
    return [(rows[place], reach[place]) for place in places]
