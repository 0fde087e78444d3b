"""The nodes of a tree, for those who look at it."""

from __future__ import annotations

from functools import cached_property, total_ordering
from typing import Any

import numpy as np
import numpy.typing as npt

from .. import _kith


class TreeArrays:
    """All nodes of one tree, field by field, and the order of its points."""

    def __init__(self, low: _kith.SpatialTree, data: npt.NDArray[np.float64]) -> None:
        self.data = data
        self.indices = low.indices()
        self._low = low

    @cached_property
    def fields(self) -> dict[str, npt.NDArray[Any]]:
        return self._low.nodes()


class cKDTreeNode:
    """A node of a `cKDTree`: SciPy's class of that name tells its attributes, all for reading.

    Points with a value below `split` are in `lesser`, the others in `greater`.
    """

    __slots__ = ("_arrays", "_number", "_halves", "level")

    def __init__(self) -> None:
        self._arrays: TreeArrays | None = None
        self._number = 0
        self._halves: dict[str, cKDTreeNode] = {}
        self.level = 0

    @classmethod
    def _of(cls, arrays: TreeArrays, number: int, level: int) -> cKDTreeNode:
        node = cls()
        node._arrays, node._number, node.level = arrays, number, level
        return node

    def _field(self, name: str, otherwise: Any) -> Any:
        return otherwise if self._arrays is None else self._arrays.fields[name][self._number].item()

    def _half(self, name: str) -> cKDTreeNode | None:
        number = self._field(name, -1)
        if self._arrays is None or number < 0:
            return None
        if name not in self._halves:
            self._halves[name] = cKDTreeNode._of(self._arrays, number, self.level + 1)
        return self._halves[name]

    split_dim = property(lambda self: self._field("split_dim", 0))
    split = property(lambda self: self._field("split", 0.0))
    start_idx = property(lambda self: self._field("start", 0))
    end_idx = property(lambda self: self._field("end", 0))
    children = property(lambda self: self.end_idx - self.start_idx)
    lesser = property(lambda self: self._half("lesser"))
    greater = property(lambda self: self._half("greater"))

    @property
    def indices(self) -> npt.NDArray[np.intp]:
        if self._arrays is None:
            return np.empty(0, dtype=np.intp)
        return self._arrays.indices[self.start_idx : self.end_idx]

    @property
    def data_points(self) -> npt.NDArray[np.float64]:
        if self._arrays is None:
            return np.empty((0, 0))
        return self._arrays.data[self.indices, :]


@total_ordering
class node:
    """A node of a `KDTree`: an `innernode` or a `leafnode`."""

    @staticmethod
    def _create(ckdtree_node: cKDTreeNode | None = None) -> node:
        if ckdtree_node is None:
            return node(None)
        return leafnode(ckdtree_node) if ckdtree_node.split_dim == -1 else innernode(ckdtree_node)

    def __init__(self, ckdtree_node: cKDTreeNode | None = None) -> None:
        self._node = cKDTreeNode() if ckdtree_node is None else ckdtree_node

    def __lt__(self, other: Any) -> bool:
        return id(self) < id(other)

    @property
    def children(self) -> int:
        return self._node.children


class leafnode(node):
    """A node that is not split: `idx` are the numbers of its points, `children` how many."""

    @property
    def idx(self) -> npt.NDArray[np.intp]:
        return self._node.indices


class innernode(node):
    """A node with two halves, `less` and `greater`, parted at `split` in dimension `split_dim`."""

    def __init__(self, ckdtreenode: cKDTreeNode) -> None:
        assert isinstance(ckdtreenode, cKDTreeNode)
        super().__init__(ckdtreenode)
        self._wrapped: dict[str, node] = {}

    def _half(self, name: str) -> node:
        if name not in self._wrapped:
            self._wrapped[name] = node._create(getattr(self._node, name))
        return self._wrapped[name]

    less = property(lambda self: self._half("lesser"))
    greater = property(lambda self: self._half("greater"))
    split_dim = property(lambda self: self._node.split_dim)
    split = property(lambda self: self._node.split)
