"""Pictures of trees and neighbours in the plane, with matplotlib (``pip install kith[plot]``)."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from ._arguments import as_count
from ._arrays import as_queries, as_rows
from ._index import Index
from ._tree_export import export_tree
from ._types import Split

__all__ = ["neighbors", "tree"]

_MARGIN = 0.05  # of the width of the points, around them
_CELL_COLORS = ("#dbe9f6", "#fde8d3", "#dff1db", "#f8dcdc", "#e8e0f0", "#efe5dd")


class _Box(NamedTuple):
    """An axis-aligned rectangle."""

    lower: tuple[float, float]
    upper: tuple[float, float]

    def cut(self, dim: int, at: float) -> tuple[_Box, _Box]:
        upper = (at, self.upper[1]) if dim == 0 else (self.upper[0], at)
        lower = (at, self.lower[1]) if dim == 0 else (self.lower[0], at)
        return _Box(self.lower, upper), _Box(lower, self.upper)

    def line(self, dim: int, at: float) -> list[tuple[float, float]]:
        if dim == 0:
            return [(at, self.lower[1]), (at, self.upper[1])]
        return [(self.lower[0], at), (self.upper[0], at)]


def tree(
    points: Any,
    *,
    leaf_size: int = 0,
    max_depth: int | None = None,
    split: Split = "widest",
    fill: bool = True,
    show_points: bool = True,
    ax: Any = None,
) -> Any:
    """Draw the cells of a k-d tree of points in the plane.

    The tree is the one that ``kith export`` writes: each node is the median point of its cell,
    and the line through it cuts the cell in two.

    Parameters
    ----------
    points : array_like of shape (n, 2), or Index, or KDTree
        The points.
    leaf_size : int
        Cells of up to so many points are not cut; 0 cuts through every point.
    max_depth : int, optional
        Cut no more often than this.
    split : {"widest", "cycle"}
        Across the widest side of the points in a cell, or by turns.
    fill : bool
        Give the cells light colours.
    show_points : bool
        Draw the points too.
    ax : matplotlib.axes.Axes, optional
        Where to draw; a new figure if None.

    Returns
    -------
    matplotlib.axes.Axes
        Its collections are the cells, then the lines.

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("Agg")
    >>> import kith
    >>> ax = kith.plot.tree(kith.generate("uniform", 15, 2))
    >>> cells, lines = ax.collections
    >>> len(cells.get_paths()), len(lines.get_segments())
    (16, 15)
    """
    rows = _plane(points)
    least = as_count(leaf_size, "leaf_size")
    deepest = math.inf if max_depth is None else as_count(max_depth, "max_depth")
    found = export_tree(rows, layout="inorder", split=split)
    cells: list[_Box] = []
    lines: list[tuple[int, list[tuple[float, float]]]] = []
    for step in _cells_and_cuts(found.points, found.split_dim, _box_around(rows), least, deepest):
        if isinstance(step, _Box):
            cells.append(step)
        else:
            lines.append(step)

    ax, collections = _axes(ax)
    corners = [[(x0, y0), (x1, y0), (x1, y1), (x0, y1)] for (x0, y0), (x1, y1) in cells]
    colors = [_CELL_COLORS[i % len(_CELL_COLORS)] for i in range(len(cells))] if fill else "none"
    ax.add_collection(
        collections.PolyCollection(corners, facecolors=colors, edgecolors="none", zorder=0)
    )
    ax.add_collection(
        collections.LineCollection(
            [line for _, line in lines],
            linewidths=[max(0.4, 2.0 * 0.8**depth) for depth, _ in lines],
            colors="#30475e",
            capstyle="butt",
            zorder=1,
        )
    )
    if show_points:
        ax.plot(rows[:, 0], rows[:, 1], ".", color="#c8553d", markersize=_marker(rows), zorder=2)
    ax.autoscale_view()
    ax.set_aspect("equal")
    return ax


def neighbors(
    points: Any,
    queries: Any,
    k: int | None = None,
    *,
    radius: float | None = None,
    metric: str = "l2",
    ax: Any = None,
) -> Any:
    """Draw queries in the plane with lines to what they find.

    Parameters
    ----------
    points : array_like of shape (n, 2), or Index, or KDTree
        The points. An `Index` is searched as it is.
    queries : array_like of shape (q, 2) or (2,)
        Whose neighbours to show.
    k : int, optional
        The nearest so many; 5 unless a radius is given.
    radius : float, optional
        All within it, or of the k nearest those within it.
    metric : str
        As in `Index`.
    ax : matplotlib.axes.Axes, optional
        Where to draw; a new figure if None.

    Returns
    -------
    matplotlib.axes.Axes
        Its first collection are the lines. For "l2" its patches are circles: of the radius, or as
        far as the k-th neighbour.

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("Agg")
    >>> import kith
    >>> ax = kith.plot.neighbors(kith.generate("uniform", 100, 2), [0.5, 0.5], k=3)
    >>> len(ax.collections[0].get_segments()), len(ax.patches)
    (3, 1)
    """
    index = points if isinstance(points, Index) else Index(_plane(points), metric=metric)
    rows = _plane(points)
    asked, _ = as_queries(queries, 2, rows.dtype)
    found = _found(index, asked, k, radius)

    ax, collections = _axes(ax)
    from matplotlib.patches import Circle

    lines = [
        [tuple(query), tuple(rows[number])]
        for query, (_, numbers) in zip(asked, found)
        for number in numbers
    ]
    ax.add_collection(collections.LineCollection(lines, colors="#c8553d", linewidths=1.2, zorder=1))
    near = np.unique(np.concatenate([numbers for _, numbers in found] or [np.empty(0, int)]))
    ax.plot(rows[:, 0], rows[:, 1], ".", color="#9fb1c1", markersize=_marker(rows), zorder=0)
    ax.plot(rows[near, 0], rows[near, 1], "o", color="#30475e", markersize=5, zorder=2)
    ax.plot(asked[:, 0], asked[:, 1], "*", color="#c8553d", markersize=12, zorder=3)
    if index.metric == "l2":
        for query, (distances, _) in zip(asked, found):
            reach = radius if k is None else distances[-1] if len(distances) else None
            if reach is not None:
                ax.add_patch(
                    Circle(tuple(query), reach, fill=False, edgecolor="#c8553d", alpha=0.5)
                )
    ax.autoscale_view()
    ax.set_aspect("equal")
    return ax


def _found(index: Index, queries: Any, k: int | None, radius: float | None) -> list[Any]:
    """Distances and numbers for each query, without those that are missing."""
    if k is None and radius is not None:
        return list(index.radius(queries, radius))
    most = 5 if k is None else k
    distances, numbers = index.knn(
        queries, most, max_distance=math.inf if radius is None else radius
    )
    here = numbers < len(index)
    return [(d[h], n[h]) for d, n, h in zip(distances, numbers, here)]


def _cells_and_cuts(
    ordered: np.ndarray, dims: np.ndarray, box: _Box, least: int, deepest: float
) -> Iterator[_Box | tuple[int, list[tuple[float, float]]]]:
    """Each cell that is not cut, and each cut as (depth, line). `ordered` are points in order."""
    todo = [(0, len(ordered), 0, box)]
    while todo:
        first, end, depth, cell = todo.pop()
        if end - first <= least or depth >= deepest:
            yield cell
            continue
        middle = (first + end) // 2
        dim = int(dims[middle])
        at = float(ordered[middle, dim])
        yield depth, cell.line(dim, at)
        less, greater = cell.cut(dim, at)
        todo.append((middle + 1, end, depth + 1, greater))
        todo.append((first, middle, depth + 1, less))


def _plane(points: Any) -> np.ndarray:
    """Points as rows of two coordinates, all of them finite."""
    if isinstance(points, Index):
        points = points.points
    elif not isinstance(points, np.ndarray) and isinstance(
        getattr(points, "data", None), np.ndarray
    ):
        points = points.data
    rows = as_rows(points)
    if rows.shape[1] != 2:
        raise ValueError(
            f"only points in the plane can be drawn, not of {rows.shape[1]} dimensions; "
            "choose two columns, e.g. points[:, :2]"
        )
    return rows


def _box_around(rows: np.ndarray) -> _Box:
    if len(rows) == 0:
        return _Box((0.0, 0.0), (1.0, 1.0))
    lower = rows.min(axis=0).astype(float)
    upper = rows.max(axis=0).astype(float)
    margin = _MARGIN * (float((upper - lower).max()) or 1.0)
    return _Box(
        (float(lower[0]) - margin, float(lower[1]) - margin),
        (float(upper[0]) + margin, float(upper[1]) + margin),
    )


def _marker(rows: np.ndarray) -> float:
    return float(np.clip(60 / math.sqrt(len(rows) + 1), 0.5, 6))


def _axes(ax: Any) -> tuple[Any, Any]:
    """Where to draw, and matplotlib.collections."""
    try:
        from matplotlib import collections
    except ImportError:
        raise ImportError("kith.plot draws with matplotlib; pip install kith[plot]") from None
    if ax is None:
        import matplotlib.pyplot as plt

        ax = plt.subplots()[1]
    return ax, collections
