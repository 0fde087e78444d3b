"""KDTree and cKDTree: the interface of SciPy's trees over kith's searches."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import numpy.typing as npt

from .. import _kith
from . import _nodes
from ._arguments import (
    Floats,
    as_eps,
    as_exponent,
    as_float,
    as_leafsize,
    as_query_points,
    as_ranks,
    as_threads,
    broadcast,
    real_floats,
    require_no_overflow,
)
from ._count import count_neighbors
from ._searches import IndexSearches, Searches
from ._sparse import sparse_distances
from ._torus import TorusSearches, wrapped

__all__ = ["KDTree", "cKDTree"]


class cKDTree:
    """The same as `KDTree`, by the name and with the default `leafsize` of SciPy's older class.

    `query` of a single point with ``k=1`` returns an int where `KDTree` returns a NumPy integer,
    and `tree` is a `cKDTreeNode`.

    Parameters
    ----------
    data, leafsize, compact_nodes, copy_data, balanced_tree, boxsize
        As in `KDTree`.

    Examples
    --------
    >>> from kith.spatial import cKDTree
    >>> cKDTree([[0, 0], [3, 4]]).query([0, 1])
    (1.0, 0)
    """

    def __init__(
        self,
        data: npt.ArrayLike,
        leafsize: int = 16,
        compact_nodes: bool = True,
        copy_data: bool = False,
        balanced_tree: bool = True,
        boxsize: npt.ArrayLike | None = None,
    ) -> None:
        points = real_floats(data) if np.ndim(data) else np.empty(0)
        if points.ndim != 2:
            raise ValueError(
                "data must be of shape (n, m), where there are n points of dimension m"
            )
        if points.shape[1] == 0:
            raise ValueError("data must be of shape (n, m) with at least one dimension m")
        if copy_data and np.may_share_memory(points, data):
            points = points.copy()
        if not np.isfinite(points).all():
            raise ValueError("data must be finite, check for nan or inf values")
        self._take(points, as_leafsize(leafsize), bool(compact_nodes), bool(balanced_tree), boxsize)

    def _take(
        self, points: Floats, leafsize: int, compact: bool, balanced: bool, boxsize: Any
    ) -> None:
        self._data = points
        self._leafsize, self._compact, self._balanced = leafsize, compact, balanced
        self._boxsize = self._period = None
        if boxsize is not None:
            self._boxsize = broadcast(boxsize, (self.m,))
            self._period = _period(self._boxsize, self._data)
        empty = np.zeros(self.m)
        self._maxes = points.max(axis=0) if self.n else empty
        self._mins = points.min(axis=0) if self.n else empty.copy()
        self._arrays: _nodes.TreeArrays | None = None
        self._low_tree: _kith.SpatialTree | None = None
        self._by_norm: dict[float, Searches] = {}
        self._searches(2.0)

    n = property(lambda self: self._data.shape[0], doc="The number of points.")
    m = property(lambda self: self._data.shape[1], doc="The number of dimensions.")
    data = property(lambda self: self._data, doc="The points, of shape (n, m).")
    maxes = property(lambda self: self._maxes, doc="The largest value in each dimension.")
    mins = property(lambda self: self._mins, doc="The least value in each dimension.")
    leafsize = property(lambda self: self._leafsize, doc="The most points in a leaf of `tree`.")
    boxsize = property(lambda self: self._boxsize, doc="The lengths of periodic axes, or None.")
    size = property(lambda self: self._spatial_tree().size, doc="The number of nodes of `tree`.")
    indices = property(lambda self: self._nodes().indices, doc="The points in the order of `tree`.")

    @property
    def tree(self) -> Any:
        """The root of the tree, made on first use."""
        return _nodes.cKDTreeNode._of(self._nodes(), 0, 0)

    def _spatial_tree(self) -> _kith.SpatialTree:
        if self._low_tree is None:
            self._low_tree = _kith.SpatialTree(
                self._data, self._leafsize, self._balanced, self._compact
            )
        return self._low_tree

    def _nodes(self) -> _nodes.TreeArrays:
        if self._arrays is None:
            self._arrays = _nodes.TreeArrays(self._spatial_tree(), self._data)
        return self._arrays

    def _searches(self, p: float) -> Searches:
        """The searches under one norm; what is built stays."""
        if p not in self._by_norm:
            period = [] if self._period is None else self._period.tolist()
            if any(period) and p not in (1.0, 2.0, math.inf):
                self._by_norm[p] = TorusSearches(self._data, p, period, self._searches(math.inf))
            else:
                self._by_norm[p] = IndexSearches(self._data, p, period)
        return self._by_norm[p]

    def _partner(self, other: Any, method: str) -> cKDTree:
        """The other tree, with the periodic axes of this one."""
        if not isinstance(other, cKDTree):
            given = type(other)
            raise TypeError(
                "Argument 'other' has incorrect type (expected kith.spatial.cKDTree, "
                f"got {given.__module__}.{given.__qualname__})"
            )
        if self.m != other.m:
            raise ValueError(f"Trees passed to {method} have different dimensionality")
        mine, others = self._period, other._period
        if (mine is None and others is None) or (
            mine is not None and others is not None and np.array_equal(mine, others)
        ):
            return other
        data = other.data if mine is None else wrapped(other.data, mine)
        return cKDTree(data, other.leafsize, boxsize=mine)

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
        x : array_like of shape (..., m)
            The queries.
        k : int or sequence of int
            How many neighbours, or which: 1 is the nearest one.
        eps : float
            Each distance may be up to (1 + eps) times the true one.
        p : float
            The norm: 1 <= p <= inf. An index is built on the first use of each p but 2.
        distance_upper_bound : float
            Only neighbours nearer than this (not as far) are returned.
        workers : int
            The number of threads; -1 takes all cores.

        Returns
        -------
        d : float or ndarray
            Distances, of shape (..., k); the last axis is missing for the integer ``k=1``, not for
            ``k=[1]``. Where there is no such neighbour, inf.
        i : int or ndarray of intp
            The numbers of the points, of the same shape; n where there is none.

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
        ranks, is_nearest = as_ranks(k)
        points = as_query_points(x, self.m)
        threads = as_threads(workers)
        exponent, slack = as_exponent(p), as_eps(eps)
        bound = as_float(distance_upper_bound)
        rows = points if points.ndim == 2 else points.reshape(-1, self.m)
        self._require_no_overflow(rows, exponent)
        if bound > 0 and len(rows) and self.n:
            most = np.nextafter(bound, 0.0) if bound < math.inf else math.inf  # nearer, not as near
            distances, numbers = self._searches(exponent).nearest(rows, ranks, slack, most, threads)
        else:
            distances = np.full((len(rows), len(ranks)), np.inf)
            numbers = np.full(distances.shape, self.n, dtype=np.intp)
        if is_nearest and points.ndim == 1:
            return distances.item(), numbers.item()
        shape = points.shape[:-1] + (() if is_nearest else (len(ranks),))
        return distances.reshape(shape), numbers.reshape(shape)

    def _require_no_overflow(self, rows: Floats, p: float) -> None:
        if p not in (1.0, 2.0, math.inf) and len(rows):
            require_no_overflow(p, self._mins, self._maxes, rows.min(axis=0), rows.max(axis=0))

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
        x : array_like of shape (..., m)
            The queries.
        r : array_like
            The distance, one or for each query: it is broadcast to the shape of x without the last
            axis. Nothing lies within a negative one or NaN.
        p : float
            The norm: 1 <= p <= inf.
        eps : float
            Allows SciPy to be less exact; the answer here is exact in any case.
        workers : int
            The number of threads; -1 takes all cores.
        return_sorted : bool, optional
            True: by number. False: by distance, then by number (SciPy: in any order). None: True
            for several queries, False for one.
        return_length : bool
            How many there are, instead of which.

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

    def query_ball_tree(
        self, other: cKDTree, r: float, p: float = 2.0, eps: float = 0.0
    ) -> list[list[int]]:
        """For each point of this tree the points of another one within a distance.

        Parameters
        ----------
        other : KDTree
            The tree whose points are found; the periodic axes of this tree count.
        r : float
            The distance.
        p : float
            The norm: 1 <= p <= inf.
        eps : float
            Allows SciPy to be less exact; the answer here is exact in any case.

        Returns
        -------
        list of lists
            For point ``i`` of this tree the numbers of its neighbours in the other one, ascending.

        Examples
        --------
        >>> from kith.spatial import KDTree
        >>> KDTree([[0], [5]]).query_ball_tree(KDTree([[1], [2], [9]]), 2)
        [[0, 1], []]
        """
        partner = self._partner(other, "query_ball_tree")
        radius, exponent = as_float(r), as_exponent(p)
        as_eps(eps)
        require_no_overflow(exponent, self._mins, self._maxes, partner._mins, partner._maxes)
        if not radius >= 0:
            return [[] for _ in range(self.n)]
        return partner._searches(exponent).balls(self._data, radius, True, 0)

    def query_pairs(
        self, r: float, p: float = 2.0, eps: float = 0.0, output_type: str = "set"
    ) -> Any:
        """All pairs of points within a distance of each other.

        Parameters
        ----------
        r : float
            The distance.
        p : float
            The norm: 1 <= p <= inf.
        eps : float
            Allows SciPy to be less exact; the answer here is exact in any case.
        output_type : {"set", "ndarray"}
            What to return.

        Returns
        -------
        set or ndarray
            Tuples ``(i, j)`` with ``i < j``, or an array of shape (pairs, 2) in ascending order.

        Examples
        --------
        >>> from kith.spatial import KDTree
        >>> KDTree([[0], [1], [3]]).query_pairs(2, output_type="ndarray")
        array([[0, 1],
               [1, 2]])
        """
        radius, exponent = as_float(r), as_exponent(p)
        as_eps(eps)
        if output_type not in ("set", "ndarray"):
            raise ValueError("Invalid output type")
        require_no_overflow(exponent, self._mins, self._maxes)
        if not radius >= 0:
            return set() if output_type == "set" else np.empty((0, 2), dtype=np.intp)
        return self._searches(exponent).pairs(radius, output_type == "set")

    def count_neighbors(
        self,
        other: cKDTree,
        r: npt.ArrayLike,
        p: float = 2.0,
        weights: Any = None,
        cumulative: bool = True,
    ) -> Any:
        """How many pairs of a point here and a point there lie within a distance.

        Two trees are walked at once, and whole cells are counted where they can be: the time grows
        with the radii, not with the pairs.

        Parameters
        ----------
        other : KDTree
            The other tree, or this one; the periodic axes of this tree count.
        r : float or array_like of shape (radii,)
            The distances. Nothing lies within a negative one or NaN.
        p : float
            The norm: 1 <= p <= inf.
        weights : array_like of shape (n,) or tuple of two, optional
            A pair counts as the product of the weights of its points. A tuple has the weights here
            and there, None for 1; one array is for both, if `other` is this tree.
        cumulative : bool
            False counts for each radius those pairs that are not within the one before it; radii
            must not decrease.

        Returns
        -------
        int, float or ndarray
            As many as radii; integers without weights.

        Examples
        --------
        >>> from kith.spatial import KDTree
        >>> one, other = KDTree([[0], [5]]), KDTree([[1], [2], [9]])
        >>> one.count_neighbors(other, [1, 2, 4])
        array([1, 2, 5])
        >>> one.count_neighbors(other, [1, 2, 4], cumulative=False)
        array([1, 1, 3])
        """
        return count_neighbors(
            self, self._partner(other, "count_neighbors"), other, r, p, weights, cumulative
        )

    def sparse_distance_matrix(
        self, other: cKDTree, max_distance: float, p: float = 2.0, output_type: str = "dok_matrix"
    ) -> Any:
        """The distances of all pairs of a point here and a point there up to a largest one.

        Parameters
        ----------
        other : KDTree
            The other tree, or this one; the periodic axes of this tree count.
        max_distance : float
            Larger distances are left out.
        p : float
            The norm: 1 <= p <= inf.
        output_type : {"dok_matrix", "coo_matrix", "dok_array", "coo_array", "dict", "ndarray"}
            What to return. The first four need SciPy.

        Returns
        -------
        sparse matrix or array, dict or ndarray
            A dict has keys ``(i, j)``; an array of records has the fields i, j and v, and is
            ordered by i, then by v, then by j.

        Examples
        --------
        >>> from kith.spatial import KDTree
        >>> one, other = KDTree([[0], [5]]), KDTree([[1], [2], [9]])
        >>> one.sparse_distance_matrix(other, 3, output_type="dict")
        {(0, 0): 1.0, (0, 1): 2.0, (1, 1): 3.0}
        """
        partner = self._partner(other, "sparse_distance_matrix")
        return sparse_distances(self, partner, as_float(max_distance), as_exponent(p), output_type)

    def _build_weights(self, weights: npt.ArrayLike) -> Floats:
        """The sum of the weights of each node's points, as SciPy's private method of that name."""
        values = real_floats(weights)
        if len(values) != self.n:
            raise ValueError("Number of weights differ from the number of data points")
        arrays = self._nodes()
        sums = np.concatenate([[0.0], np.cumsum(values[arrays.indices])])
        return sums[arrays.fields["end"]] - sums[arrays.fields["start"]]

    def __getstate__(self) -> tuple[Any, ...]:
        return (self._data.copy(), self._leafsize, self._compact, self._balanced, self._boxsize)

    def __setstate__(self, state: tuple[Any, ...]) -> None:
        self._take(*state)


class KDTree(cKDTree):
    """A k-d tree for quick lookup of neighbours, with the interface of ``scipy.spatial.KDTree``.

    Answers are those of SciPy's class, with these promises on top: neighbours at the same distance
    come in the order of their numbers; lists within a radius and arrays of pairs are ordered, too;
    the answer does not depend on the number of workers. Distances are within a few units in the
    last place of SciPy's, and what lies at a radius is decided by the distance as it is reported.

    Where SciPy does something by accident, this class is strict: a negative radius finds nothing
    (there it counts as positive under some norms), exponents p below 1, negative eps and ranks
    below 1 are ValueErrors everywhere.

    Parameters
    ----------
    data : array_like of shape (n, m)
        The points: real numbers, all finite, searched as float64. `data` holds them without a copy
        if they are contiguous float64; searches have a copy of their own. Do not change them.
    leafsize : int
        The most points in a leaf of `tree`. Searches choose their own.
    compact_nodes, balanced_tree : bool
        How `tree` is split: cells shrunk to their points or not, at the median or in the middle.
        Searches do not depend on it.
    copy_data : bool
        Whether `data` is always a copy.
    boxsize : array_like, optional
        The lengths of periodic axes, 0 for one that does not wrap. Points must lie in [0, length);
        queries are wrapped into it.

    Attributes
    ----------
    data : ndarray of shape (n, m)
        The points.
    n, m : int
        How many points, of how many dimensions.
    maxes, mins : ndarray of shape (m,)
        The largest and least value in each dimension.
    leafsize : int
        As given.
    boxsize : ndarray of shape (m,) or None
        As given, for each axis.
    tree : KDTree.innernode or KDTree.leafnode
        A tree to look at; made on first use, as are `indices` and `size`.
    indices : ndarray of intp
        The numbers of the points in the order of that tree.
    size : int
        How many nodes it has.

    Examples
    --------
    >>> import numpy as np
    >>> from kith.spatial import KDTree
    >>> tree = KDTree(np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 2.0]]))
    >>> distances, numbers = tree.query([[0.9, 0.1]], k=2)
    >>> numbers
    array([[1, 0]])
    """

    node = _nodes.node
    leafnode = _nodes.leafnode
    innernode = _nodes.innernode

    def __init__(
        self,
        data: npt.ArrayLike,
        leafsize: int = 10,
        compact_nodes: bool = True,
        copy_data: bool = False,
        balanced_tree: bool = True,
        boxsize: npt.ArrayLike | None = None,
    ) -> None:
        super().__init__(data, leafsize, compact_nodes, copy_data, balanced_tree, boxsize)

    @property
    def tree(self) -> _nodes.node:
        """The root of the tree, made on first use."""
        if not hasattr(self, "_tree"):
            self._tree = _nodes.node._create(super().tree)
        return self._tree

    def query(
        self,
        x: npt.ArrayLike,
        k: Any = 1,
        eps: float = 0.0,
        p: float = 2.0,
        distance_upper_bound: float = np.inf,
        workers: int | None = 1,
    ) -> tuple[Any, Any]:
        distances, numbers = super().query(x, k, eps, p, distance_upper_bound, workers)
        return distances, np.intp(numbers) if isinstance(numbers, int) else numbers

    query.__doc__ = cKDTree.query.__doc__


def _period(boxsize: Floats, data: Floats) -> Floats:
    """The lengths for the library; points outside are refused."""
    if np.isnan(boxsize).any():
        raise ValueError("boxsize must not be NaN")
    wraps = boxsize > 0
    if (data >= boxsize)[:, wraps].any():
        raise ValueError("Some input data are greater than the size of the periodic box.")
    if (data < 0)[:, wraps].any():
        raise ValueError("Negative input data are outside of the periodic box.")
    return np.where(wraps & np.isfinite(boxsize), boxsize, 0.0)


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
