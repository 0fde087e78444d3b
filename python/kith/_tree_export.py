"""Balanced k-d trees with one node per point, as arrays."""

from __future__ import annotations

from typing import Any, Literal, NamedTuple, overload

import numpy as np

from . import _kith
from ._arguments import as_text, as_threads
from ._device_arrays import DeviceRows, placed_rows
from ._progress import Progress, reporting
from ._types import Split


class NodeTable(NamedTuple):
    """A tree as a table of nodes; `_asdict()` has the names and numbers of the files of ``kith export``."""

    point: Any
    split_dim: Any
    less: Any
    greater: Any
    root: int
    rows: int
    dims: int
    bits: int
    split: int
    unique: int
    middle: int


class InOrderTree(NamedTuple):
    """A tree as points in its order; `_asdict()` has the names and numbers of the files of ``kith export``."""

    index: Any
    points: Any
    split_dim: Any
    rows: int
    dims: int
    bits: int
    split: int
    unique: int
    middle: int


@overload
def export_tree(
    points: Any, *, layout: Literal["nodes"] = ..., split: Split = ..., middle: Literal["right", "left"] = ...,
    unique: bool = ..., skip_nonfinite: bool = ..., device: str = ..., threads: int = ..., progress: Progress = ...,
) -> NodeTable: ...
@overload
def export_tree(
    points: Any, *, layout: Literal["inorder"], split: Split = ..., middle: Literal["right", "left"] = ...,
    unique: bool = ..., skip_nonfinite: bool = ..., device: str = ..., threads: int = ..., progress: Progress = ...,
) -> InOrderTree: ...
def export_tree(
    points: Any,
    *,
    layout: Literal["nodes", "inorder"] = "nodes",
    split: Split = "widest",
    middle: Literal["right", "left"] = "right",
    unique: bool = False,
    skip_nonfinite: bool = False,
    device: str = "auto",
    threads: int = 0,
    progress: Progress = False,
) -> NodeTable | InOrderTree:
    """Build a balanced k-d tree with one node per point, as arrays.

    The tree is unique: the same on every device and with any number of threads. `numpy.savez` writes
    it to a file that the command and `Index.from_tree` read.

    Parameters
    ----------
    points : array_like of shape (n, dims)
        As in `Index`. From arrays on a GPU the tree is built there.
    layout : {"nodes", "inorder"}
        A table of nodes with children, or the points in the order of the tree, whose node of the
        range [lo, hi) is at (lo + hi) // 2, with the left middle at (lo + hi - 1) // 2.
    split : {"widest", "cycle"}
        The dimension that a node splits: the widest of its range, or level by level in turn.
    middle : {"right", "left"}
        Which of two points in the middle of a range is its node.
    unique : bool
        Keep only the first of equal points.
    skip_nonfinite : bool
        Leave out points with NaN or infinity instead of raising ValueError.
    device : {"auto", "cpu", "cuda", "cuda:N"}
        Where to build. "auto" is the GPU that holds the points, and the CPU for others.
    threads, progress
        As in `Index`.

    Returns
    -------
    NodeTable or InOrderTree
        A named tuple. A table has for each node its `point`, the dimension `split_dim`, and the
        children `less` and `greater`, 2**32 - 1 where there is none; and the node `root`. A tree in
        order has at each position the number of its point (`index`), its coordinates (`points`) and
        `split_dim`. Both end with what a file says of the tree: `rows`, `dims`, `bits`, `split`,
        `unique` and `middle`. Numbers are of int64; arrays are where the points are.

    Examples
    --------
    >>> import numpy as np, kith
    >>> points = np.array([[2, 3], [5, 4], [9, 6], [4, 7], [8, 1], [7, 2]], dtype=float)
    >>> tree = kith.export_tree(points)
    >>> tree.root, tree.point, tree.split_dim
    (3, array([0, 1, 3, 5, 4, 2]), array([0, 1, 0, 0, 0, 1]))
    >>> kith.export_tree(points, layout="inorder").points[3]
    array([7., 2.])
    """
    if layout not in ("nodes", "inorder"):
        raise ValueError(f'layout must be "nodes" or "inorder", not {layout!r}')
    device = as_text(device, "device")
    there, rows, give = placed_rows(points, device)
    options: dict[str, Any] = {
        "split": as_text(split, "split"),
        "middle": as_text(middle, "middle"),
        "unique": bool(unique),
        "skip_nonfinite": bool(skip_nonfinite),
        "threads": as_threads(threads),
    }
    held = rows if there is None else there
    facts: Any = (
        *held.shape, 8 * held.dtype.itemsize, int(split == "cycle"), int(options["unique"]), int(middle == "left"),
    )
    arrays: Any
    with reporting(progress) as report:
        options["progress"] = report
        if there is not None:
            arrays, root = _on_gpu(there, layout, options)
        else:
            arrays, root = _kith.export_tree(rows, layout, device, **options)
            arrays = [give(array) for array in arrays]
    return NodeTable(*(*arrays, root, *facts)) if layout == "nodes" else InOrderTree(*(*arrays, *facts))


def _on_gpu(points: DeviceRows, layout: str, options: dict[str, Any]) -> tuple[list[Any], int]:
    framework, ordinal, (rows, dims) = points.framework, points.ordinal, points.shape
    with framework.on(ordinal):
        if layout == "nodes":
            arrays = [framework.empty((rows,), np.uint32, ordinal) for _ in range(4)]
            point, split_dim, less, greater = (framework.address(array) for array in arrays)
            coordinates = 0
        else:
            shapes = (((rows,), np.uint32), ((rows, dims), points.dtype), ((rows,), np.uint32))
            arrays = [framework.empty(shape, dtype, ordinal) for shape, dtype in shapes]
            point, coordinates, split_dim = (framework.address(array) for array in arrays)
            less = greater = 0
        nodes, root = _kith.export_tree_on_device(
            points.view, point, split_dim, less, greater, coordinates, framework.stream(ordinal), **options
        )
        return [
            array[:nodes] if len(array.shape) == 2 else framework.widened(array[:nodes]) for array in arrays
        ], root
