"""Searches of a tree for pairs of points: with another tree, or among its own."""

from __future__ import annotations

from typing import Any, Literal, overload

import numpy as np
import numpy.typing as npt

from ._arguments import as_eps, as_exponent, as_float, require_no_overflow
from ._count import count_neighbors
from ._sparse import sparse_distances
from ._tree import Tree


class PairQueries(Tree):
    """`query_ball_tree`, `query_pairs`, `count_neighbors` and `sparse_distance_matrix`."""

    def query_ball_tree(
        self, other: Tree, r: float, p: float = 2.0, eps: float = 0.0
    ) -> list[list[int]]:
        """For each point of this tree the points of another one within a distance.

        Parameters
        ----------
        other : KDTree, of kith.spatial or of SciPy
            The tree whose points are found; the periodic axes of this tree count.
        r, p : float
            The distance and the norm: 1 <= p <= inf.
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
        require_no_overflow(exponent, self.mins, self.maxes, partner.mins, partner.maxes)
        if not radius >= 0:
            return [[] for _ in range(self.n)]
        return partner._searches(exponent).balls(self._data, radius, True, 0)

    @overload
    def query_pairs(
        self, r: float, p: float = 2.0, eps: float = 0.0, output_type: Literal["set"] = "set"
    ) -> set[tuple[int, int]]: ...
    @overload
    def query_pairs(
        self, r: float, p: float = 2.0, eps: float = 0.0, *, output_type: Literal["ndarray"]
    ) -> npt.NDArray[np.intp]: ...
    def query_pairs(
        self, r: float, p: float = 2.0, eps: float = 0.0, output_type: str = "set"
    ) -> Any:
        """All pairs of points within a distance of each other.

        Parameters
        ----------
        r, p, eps
            As in `query_ball_tree`.
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
        require_no_overflow(exponent, self.mins, self.maxes)
        if not radius >= 0:
            return set() if output_type == "set" else np.empty((0, 2), dtype=np.intp)
        return self._searches(exponent).pairs(radius, output_type == "set")

    def count_neighbors(
        self,
        other: Tree,
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
        other : KDTree, of kith.spatial or of SciPy
            The other tree, or this one; the periodic axes of this tree count.
        r, p, weights, cumulative
            As in ``scipy.spatial.KDTree.count_neighbors``. Nothing lies within a negative distance
            or NaN.

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
        self, other: Tree, max_distance: float, p: float = 2.0, output_type: str = "dok_matrix"
    ) -> Any:
        """The distances of all pairs of a point here and a point there up to a largest one.

        Parameters
        ----------
        other
            As in `count_neighbors`.
        max_distance, p, output_type
            As in SciPy. All types of output but "dict" and "ndarray" need it.

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
