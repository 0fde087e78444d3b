"""Neighbours within a radius as arrays of Dask's that are still to be computed."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import dask
import dask.array as da
import numpy as np

from ._lists import NeighborLists


class LazyLists:
    """The neighbours of each query, lists of any length, which are still to be computed.

    Attributes
    ----------
    distances, indices : dask.array.Array
        Of all lists, one behind the other; their chunks are those of the queries, and have sizes
        that nobody knows yet.
    counts : dask.array.Array
        The length of each list.
    """

    def __init__(self, chunks: Sequence[Any], sizes: Sequence[int], dtype: np.dtype) -> None:
        self._chunks = chunks
        unknown = (math.nan,)
        get = dask.delayed(_lists_part)
        self.distances = joined([da.from_delayed(get(c, 0), unknown, dtype) for c in chunks])
        self.indices = joined([da.from_delayed(get(c, 1), unknown, np.int64) for c in chunks])
        self.counts = joined(
            [
                da.from_delayed(get(c, 2), (size,), np.int64)
                for c, size in zip(chunks, sizes, strict=True)
            ]
        )

    def compute(self, **keywords: Any) -> NeighborLists:
        """The lists of all queries as those of `kith.Index.radius`."""
        parts = dask.compute(*self._chunks, **keywords)
        lengths = np.concatenate([np.diff(part[2]) for part in parts])
        return NeighborLists(
            np.concatenate([part[0] for part in parts]),
            np.concatenate([part[1] for part in parts]),
            np.concatenate([[0], np.cumsum(lengths)]),
        )


def _lists_part(found: tuple[Any, ...], place: int) -> Any:
    return np.diff(found[2]) if place == 2 else found[place]


def joined(arrays: Sequence[Any]) -> Any:
    return arrays[0] if len(arrays) == 1 else da.concatenate(arrays, allow_unknown_chunksizes=True)
