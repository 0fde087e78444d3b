"""KDTree and cKDTree: the interface of SciPy's trees over kith's searches."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from . import _nodes
from ._pair_queries import PairQueries
from ._point_queries import PointQueries


class cKDTree(PointQueries, PairQueries):
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
    data, n, m, maxes, mins, leafsize, boxsize
        As in SciPy.
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
    _number_type = np.intp

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
