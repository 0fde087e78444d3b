"""How much the neighbours within a radius count, for all lists at once."""

from __future__ import annotations

import numpy as np

from .._lists import NeighborLists


def owners_of(lists: NeighborLists) -> np.ndarray:
    """For each neighbour the query whose list it is in."""
    return np.repeat(np.arange(len(lists)), lists.counts)


def inverse_distances(lists: NeighborLists, owners: np.ndarray) -> np.ndarray:
    """1 / distance; in lists with a distance of 0 only those at 0 count, each 1."""
    at_zero = lists.distances == 0.0
    has_zero = np.zeros(len(lists), dtype=bool)
    has_zero[owners[at_zero]] = True
    with np.errstate(divide="ignore", over="ignore"):
        return np.where(has_zero[owners], at_zero, 1.0 / lists.distances)
