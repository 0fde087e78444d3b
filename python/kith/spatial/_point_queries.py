"""Searches of a tree around points: the nearest ones, and those within a distance."""

from __future__ import annotations

import contextlib
import math
from typing import Any

import numpy as np
import numpy.typing as npt

from .. import _kith
from ._arguments import (
    Floats,
    as_eps,
    as_exponent,
    as_float,
    as_query_points,
    as_ranks,
    as_threads,
    broadcast,
    is_far_from_overflow,
    require_no_overflow,
)
from ._tree import Tree

_PLAIN_NORMS = (2.0, 1.0, math.inf)  # under which nothing overflows
_FEW_NUMBERS = 32  # NumPy takes longer to begin than they take
_BYTES_PER_NEIGHBOR = 24  # its distance, its number, and the number as the library has it, rounded up


class PointQueries(Tree):
    """`query` and `query_ball_point`."""

    _number_type: type = int  # of the nearest point of a single query

    def query(
        self,
        x: npt.ArrayLike,
        k: Any = 1,
        eps: float = 0.0,
        p: float = 2.0,
        distance_upper_bound: float = np.inf,
        workers: int | None = 1,
    ) -> tuple[Any, Any]:
        """The nearest points of each query.

        Neighbours are ordered by distance, and those at the same distance by their number; SciPy's
        order of these is arbitrary.

        Parameters
        ----------
        x, k, eps, p, distance_upper_bound, workers
            As in ``scipy.spatial.KDTree.query``. An index is built on the first use of each p but 2.

        Returns
        -------
        d, i : float and int, or ndarrays of shape (..., k)
            Distances and numbers of points; inf and n where there is no such neighbour. The last
            axis is missing for the integer ``k=1``, not for ``k=[1]``.

        Examples
        --------
        >>> import numpy as np
        >>> from kith.spatial import KDTree
        >>> x, y = np.mgrid[0:5, 2:8]
        >>> tree = KDTree(np.c_[x.ravel(), y.ravel()])
        >>> distances, numbers = tree.query([[0, 0], [2.2, 2.9]], k=[1, 2])
        >>> numbers
        array([[ 0,  6],
               [13, 19]])
        >>> tree.query([[0, 0]], k=1)[1]
        array([0])
        """
        ranks = as_ranks(k)
        width = ranks if isinstance(ranks, int) else len(ranks)
        points = as_query_points(x, self.m)
        threads = as_threads(workers)
        exponent, slack = as_exponent(p), as_eps(eps)
        bound = as_float(distance_upper_bound)
        rows = points if points.ndim == 2 else points.reshape(-1, self.m)
        self._require_no_overflow(rows, exponent)
        _kith.require_answer_memory(len(rows), width, _BYTES_PER_NEIGHBOR)
        if bound > 0 and len(rows) and self.n:
            most = np.nextafter(bound, 0.0) if bound < math.inf else math.inf  # nearer, not as near
            distances, numbers = self._searches(exponent).nearest(rows, ranks, slack, most, threads)
        else:
            distances = np.full((len(rows), width), np.inf)
            numbers = np.full(distances.shape, self.n, dtype=np.intp)
        is_nearest = isinstance(ranks, int) and ranks == 1
        if is_nearest and points.ndim == 1:
            return distances.item(), self._number_type(numbers.item())
        shape = points.shape[:-1] + (() if is_nearest else (width,))
        return distances.reshape(shape), numbers.reshape(shape)

    def _is_plain_query(self, x: npt.NDArray[Any]) -> bool:
        """Whether this is one query that the extension takes as it is."""
        return (
            x.shape == (self.m,)
            and x.dtype == np.float64
            and (flags := x.flags).c_contiguous
            and flags.aligned
        )

    def _require_no_overflow(self, rows: Floats, p: float) -> None:
        if p in _PLAIN_NORMS or not len(rows):
            return
        if rows.size <= _FEW_NUMBERS:
            largest = max(self._largest, *map(abs, rows.ravel().tolist()))
        else:
            largest = max(self._largest, float(rows.max()), -float(rows.min()))
        if not is_far_from_overflow(p, largest, self.m):
            require_no_overflow(p, self.mins, self.maxes, rows.min(axis=0), rows.max(axis=0))

    def query_ball_point(
        self,
        x: npt.ArrayLike,
        r: npt.ArrayLike,
        p: float = 2.0,
        eps: float = 0.0,
        workers: int | None = 1,
        return_sorted: bool | None = None,
        return_length: bool = False,
    ) -> Any:
        """All points within a distance of each query, those at exactly that distance included.

        Parameters
        ----------
        x, r, p, workers, return_length
            As in ``scipy.spatial.KDTree.query_ball_point``. Nothing lies within a negative distance
            or NaN.
        eps : float
            Allows SciPy to be less exact; the answer here is exact in any case.
        return_sorted : bool, optional
            True: by number. False: by distance, then by number (SciPy: in any order). None: True
            for several queries, False for one.

        Returns
        -------
        list, or ndarray of lists
            The numbers of the points; for several queries an object array of such lists. With
            `return_length` an integer, or an array of them.

        Examples
        --------
        >>> import numpy as np
        >>> from kith.spatial import KDTree
        >>> x, y = np.mgrid[0:4, 0:4]
        >>> tree = KDTree(np.c_[x.ravel(), y.ravel()])
        >>> tree.query_ball_point([2, 0], 1, return_sorted=True)
        [4, 8, 9, 12]
        >>> tree.query_ball_point([[2, 0], [3, 3]], 1, return_length=True)
        array([4, 3])
        """
        if (
            type(x) is np.ndarray
            and self._is_plain_query(x)
            and isinstance(r, (float, int))
            and r >= 0
            and p in _PLAIN_NORMS
            and (searches := self._by_norm.get(p)) is not None
            and eps == 0
            and (workers == 1 or workers is None)
        ):
            # One query after another: as little as possible lies between the caller and the library.
            with contextlib.suppress(ValueError):  # raised below, in SciPy's words
                return searches.ball(x, r, bool(return_sorted), return_length)
        points = as_query_points(x, self.m)
        threads = as_threads(workers)
        exponent = as_exponent(p)
        as_eps(eps)
        is_single = points.ndim == 1
        rows = points.reshape(-1, self.m)
        self._require_no_overflow(rows, exponent)
        shape = points.shape[:-1]
        if np.ndim(r) == 0:
            radii = np.array(r, dtype=np.float64)
        else:
            radii = broadcast(r, shape).reshape(-1)
        searches = self._searches(exponent)
        radii[~(radii >= 0)] = -1.0
        if return_length:
            counts = np.zeros(len(rows), dtype=np.intp)
            some = _possible(radii, len(rows))
            counts[some] = searches.counts(rows[some], _of_these(radii, some), threads)
            return counts.reshape(shape)[()]
        ascending = not is_single if return_sorted is None else bool(return_sorted)
        some = _possible(radii, len(rows))
        lists = searches.balls(rows[some], _of_these(radii, some), ascending, threads)
        if is_single:
            return lists[0] if lists else []
        return _object_array(lists, some, shape)


def _possible(radii: Floats, count: int) -> Any:
    """Which queries have a radius that is one."""
    good = radii >= 0
    return slice(None) if good.all() else np.flatnonzero(np.broadcast_to(good, (count,)))


def _of_these(radii: Floats, some: Any) -> Any:
    if radii.ndim == 0:
        return max(radii.item(), 0.0)
    return radii[some]


def _object_array(
    lists: list[list[int]], some: Any, shape: tuple[int, ...]
) -> npt.NDArray[np.object_]:
    """The lists as an array of objects; those who have none get an empty one."""
    if isinstance(some, slice):
        return np.fromiter(lists, dtype=object, count=len(lists)).reshape(shape)
    result = np.fromiter(([] for _ in range(math.prod(shape))), dtype=object)
    for place, mine in zip(some.tolist(), lists):
        result[place] = mine
    return result.reshape(shape)
