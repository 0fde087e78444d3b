"""What a tree of kith.spatial holds: points, periodic axes, nodes to look at, searches by norm."""

from __future__ import annotations

import sys
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from .. import _kith
from . import _nodes
from ._arguments import Floats, as_leafsize, broadcast, real_floats
from ._searches import IndexSearches


class Tree:
    """Points and what is built over them; `cKDTree` tells what the parameters mean."""

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
        try:
            self._take(
                points, as_leafsize(leafsize), bool(compact_nodes), bool(balanced_tree), boxsize
            )
        except ValueError:
            if not np.isfinite(points).all():  # the build finds them, too, and says so in other words
                raise ValueError("data must be finite, check for nan or inf values") from None
            raise

    def _take(
        self, points: Floats, leafsize: int, compact: bool, balanced: bool, boxsize: Any
    ) -> None:
        self._data = points
        self._leafsize, self._compact, self._balanced = leafsize, compact, balanced
        self._boxsize = self._period = None
        if boxsize is not None:
            self._boxsize = _read_only(broadcast(boxsize, (self.m,)))
            self._period = _period(self._boxsize, self._data)
        self._arrays: _nodes.TreeArrays | None = None
        self._low_tree: _kith.SpatialTree | None = None
        self._by_norm: dict[float, IndexSearches] = {}
        self._searches(2.0)

    n = property(lambda self: self._data.shape[0], doc="The number of points.")
    m = property(lambda self: self._data.shape[1], doc="The number of dimensions.")
    data = property(lambda self: self._shown, doc="The points, of shape (n, m), for reading.")
    leafsize = property(lambda self: self._leafsize, doc="The most points in a leaf of `tree`.")
    boxsize = property(lambda self: self._boxsize, doc="The lengths of periodic axes, or None.")
    size = property(lambda self: self._spatial_tree().size, doc="The number of nodes of `tree`.")
    indices = property(lambda self: self._nodes().indices, doc="The points in the order of `tree`.")

    mins = property(lambda self: self._bounds[0], doc="The least value in each dimension.")
    maxes = property(lambda self: self._bounds[1], doc="The largest value in each dimension.")

    @cached_property
    def _shown(self) -> Floats:
        return _read_only(self._data)

    @cached_property
    def _bounds(self) -> tuple[Floats, Floats]:
        if self.n == 0:
            return _read_only(np.zeros(self.m)), _read_only(np.zeros(self.m))
        return _read_only(self._data.min(axis=0)), _read_only(self._data.max(axis=0))

    @cached_property
    def _largest(self) -> float:
        """The largest value without its sign."""
        return float(max(self.maxes.max(), -self.mins.min()))

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
            self._arrays = _nodes.TreeArrays(self._spatial_tree(), self._shown)
            self._arrays.indices.flags.writeable = False
        return self._arrays

    def _searches(self, p: float) -> IndexSearches:
        """The searches under one norm; what is built stays."""
        if p not in self._by_norm:
            period = [] if self._period is None else self._period.tolist()
            self._by_norm[p] = IndexSearches(self._data, p, period)
        return self._by_norm[p]

    def _partner(self, other: Any, method: str) -> Tree:
        """The other tree, with the periodic axes of this one."""
        if _is_of_scipy(other):
            other = Tree(other.data, other.leafsize, boxsize=other.boxsize)
        if not isinstance(other, Tree):
            given = f"{type(other).__module__}.{type(other).__qualname__}"
            raise TypeError(
                "Argument 'other' has incorrect type (expected kith.spatial.cKDTree, "
                f"got {given.removeprefix('builtins.')})"
            )
        if self.m != other.m:
            raise ValueError(f"Trees passed to {method} have different dimensionality")
        mine, others = self._period, other._period
        if (mine is None and others is None) or (
            mine is not None and others is not None and np.array_equal(mine, others)
        ):
            return other
        data = other.data if mine is None else _wrapped(other.data, mine)
        return Tree(data, other.leafsize, boxsize=mine)

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


def _is_of_scipy(tree: Any) -> bool:
    module = sys.modules.get("scipy.spatial._ckdtree")  # one exists only if it was imported
    return module is not None and isinstance(tree, module.cKDTree)


def _read_only(array: Floats) -> Floats:
    """A view through which nothing can be written: searches would not know."""
    view = array.view()
    view.flags.writeable = False
    return view


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


def _wrapped(rows: Floats, lengths: Floats) -> Floats:
    """Rows moved into [0, length) of each axis with a finite length."""
    wraps = np.isfinite(lengths) & (lengths > 0)
    moved = np.array(rows, dtype=np.float64)
    inside = np.mod(moved[:, wraps], lengths[wraps])
    moved[:, wraps] = np.where(
        inside >= lengths[wraps], 0.0, inside
    )  # a tiny negative number rounds to it
    return moved
