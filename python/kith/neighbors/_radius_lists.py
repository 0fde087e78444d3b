"""Lists of neighbours within a radius as scikit-learn has them: arrays of arrays, and radii that are none."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._lists import NeighborLists


def radii_of(radius: Any) -> tuple[Any, np.ndarray]:
    """Radii for the library, and which of them are none: negative or NaN."""
    given = np.asarray(radius, dtype=np.float64)
    is_none = ~(given >= 0)
    radii = np.where(is_none, 0.0, given)
    return (radii.item() if radii.ndim == 0 else radii), is_none


def emptied(lists: NeighborLists, is_empty: np.ndarray) -> NeighborLists:
    """The lists, of which these, or all, are empty."""
    keep = ~np.broadcast_to(is_empty, (len(lists),))
    is_kept = np.repeat(keep, lists.counts)
    offsets = np.concatenate([[0], np.cumsum(np.where(keep, lists.counts, 0))])
    return NeighborLists(lists.distances[is_kept], lists.indices[is_kept], offsets)


def as_objects(values: np.ndarray, offsets: np.ndarray) -> np.ndarray:
    """An array of arrays, one for each list."""
    bounds = offsets.tolist()
    objects = np.empty(len(bounds) - 1, dtype=object)
    for query in range(len(objects)):
        objects[query] = values[bounds[query] : bounds[query + 1]]
    return objects


def as_lists(found: tuple[np.ndarray, np.ndarray]) -> NeighborLists:
    """The reverse, for distances and numbers."""
    distances, indices = found
    offsets = np.zeros(len(indices) + 1, dtype=np.int64)
    np.cumsum([len(each) for each in indices], out=offsets[1:])
    return NeighborLists(np.concatenate(distances), np.concatenate(indices), offsets)
