"""Results of searches whose lists differ in length."""

from __future__ import annotations

import dis
import operator
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from types import FrameType
from typing import Any

from ._arrays import unchanged

_UNPACK_SEQUENCE = dis.opmap["UNPACK_SEQUENCE"]


@dataclass(frozen=True, eq=False)
class NeighborLists:
    """The neighbours of each query, lists of any length, one behind the other.

    ``lists[q]`` is ``(distances, indices)`` of query ``q``, views without a copy; ``len(lists)``
    the number of queries. Loops go from query to query: ``for distances, indices in lists``.
    ``distances, indices = lists`` is a TypeError: with two queries it would name their two lists so.

    Attributes
    ----------
    distances : ndarray
        All distances, query by query.
    indices : ndarray of int64
        The numbers of the points, in the same order.
    offsets : ndarray of int64
        The list of query ``q`` is ``offsets[q]`` to ``offsets[q + 1]``.

    Examples
    --------
    >>> import numpy as np, kith
    >>> index = kith.Index(np.array([[0.0], [1.0], [3.0]]))
    >>> lists = index.radius(np.array([[0.0], [9.0]]), 1.5)
    >>> lists.offsets
    array([0, 2, 2])
    >>> distances, indices = lists[0]
    >>> indices
    array([0, 1])
    """

    distances: Any
    indices: Any
    offsets: Any

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def __getitem__(self, query: int) -> tuple[Any, Any]:
        place = _place(self.offsets, query)
        return self.distances[place], self.indices[place]

    def __iter__(self) -> Iterator[tuple[Any, Any]]:
        if _is_unpacked(sys._getframe().f_back):
            raise TypeError(
                f"the neighbours of {len(self)} queries are not a pair of distances and indices: "
                "take lists[q] for query q, a loop over the lists, or lists.distances, "
                "lists.indices and lists.offsets for all"
            )
        return (self[query] for query in range(len(self)))

    def __repr__(self) -> str:
        return f"kith.NeighborLists({len(self)} lists, {len(self.indices)} neighbours)"

    @property
    def counts(self) -> Any:
        """The length of each list."""
        return self.offsets[1:] - self.offsets[:-1]


@dataclass(frozen=True, eq=False)
class PointLists:
    """The points inside each box, lists of any length, by ascending number.

    ``lists[b]`` is the array of numbers of box ``b``, a view without a copy.

    Attributes
    ----------
    indices : ndarray of int64
        The numbers of the points, box by box.
    offsets : ndarray of int64
        The list of box ``b`` is ``offsets[b]`` to ``offsets[b + 1]``.
    """

    indices: Any
    offsets: Any

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def __getitem__(self, box: int) -> Any:
        return self.indices[_place(self.offsets, box)]

    def __iter__(self) -> Iterator[Any]:
        return (self[box] for box in range(len(self)))

    def __repr__(self) -> str:
        return f"kith.PointLists({len(self)} lists, {len(self.indices)} points)"

    @property
    def counts(self) -> Any:
        """The length of each list."""
        return self.offsets[1:] - self.offsets[:-1]


def _is_unpacked(caller: FrameType | None) -> bool:
    """Whether the caller is at ``a, b = lists``.

    With two queries that would put a list of neighbours where distances are expected, without an
    error. Iteration looks the same from inside; only the instruction that is running tells.
    """
    if caller is None or caller.f_lasti < 0:
        return False
    return caller.f_code.co_code[caller.f_lasti] == _UNPACK_SEQUENCE


def _place(offsets: Any, which: int) -> slice:
    try:
        which = operator.index(which)
    except TypeError:
        raise TypeError(
            f"lists are numbered: give a whole number, not {type(which).__name__}"
        ) from None
    count = len(offsets) - 1
    if not -count <= which < count:
        raise IndexError(f"there are {count} lists, no list {which}")
    which %= count
    return slice(int(offsets[which]), int(offsets[which + 1]))


def lists_as_asked(
    lists: NeighborLists | PointLists, lead: tuple[int, ...], convert: Any = unchanged
) -> Any:
    """The lists with each array converted; for a single query what is in its list."""
    if convert is not unchanged:
        lists = type(lists)(*map(convert, vars(lists).values()))
    return lists[0] if lead == () else lists


def counts_as_asked(counts: Any, lead: tuple[int, ...], convert: Any, framework: Any) -> Any:
    """The lengths of lists in the shape of the queries; for a single one of the host an int."""
    if lead == () and framework is None:
        return int(counts[0])
    return convert(counts.reshape(lead))
