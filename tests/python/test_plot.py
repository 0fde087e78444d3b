"""What kith.plot draws."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest

import kith

matplotlib = pytest.importorskip("matplotlib")
matplotlib.use("Agg")
import matplotlib.pyplot as plt  # noqa: E402


@pytest.fixture(autouse=True)
def close_figures():
    yield
    plt.close("all")


def corners(cells):
    """(x0, y0, x1, y1) of each."""
    boxes = [path.get_extents() for path in cells.get_paths()]
    return np.array([[box.x0, box.y0, box.x1, box.y1] for box in boxes]).reshape(-1, 4)


def area(boxes):
    return ((boxes[:, 2] - boxes[:, 0]) * (boxes[:, 3] - boxes[:, 1])).sum()


@pytest.mark.parametrize("split", ["widest", "cycle"])
@pytest.mark.parametrize("count", [1, 2, 7, 100])
def test_every_point_cuts_a_cell(rng, count, split):
    points = rng.random((count, 2))
    ax = kith.plot.tree(points, split=split)
    cells, lines = ax.collections
    boxes = corners(cells)
    assert len(boxes) == count + 1 and len(lines.get_segments()) == count
    whole = np.array([[*boxes[:, :2].min(axis=0), *boxes[:, 2:].max(axis=0)]])
    assert area(boxes) == pytest.approx(area(whole))
    inside = (points[:, None] > boxes[None, :, :2]) & (points[:, None] < boxes[None, :, 2:])
    assert not inside.all(axis=2).any()  # all points lie on lines
    (drawn,) = ax.lines
    np.testing.assert_array_equal(drawn.get_xydata(), points)
    if split == "cycle":
        first = np.array(lines.get_segments()[0])
        assert (first[:, 0] == np.sort(points[:, 0])[count // 2]).all()


def test_leaves_hold_their_points(rng):
    points = rng.random((200, 2))
    cells, lines = kith.plot.tree(points, leaf_size=10, fill=False, show_points=False).collections
    boxes = corners(cells)
    inside = (points[:, None] > boxes[None, :, :2]) & (points[:, None] < boxes[None, :, 2:])
    held = inside.all(axis=2).sum(axis=0)
    assert held.max() <= 10 and held.sum() + len(lines.get_segments()) == 200
    cells, lines = kith.plot.tree(points, max_depth=3).collections
    assert len(cells.get_paths()) == 8 and len(lines.get_segments()) == 7


def test_trees_and_axes_are_taken(rng):
    points = rng.random((20, 2)).astype(np.float32)
    figure, axes = plt.subplots(1, 2)
    assert kith.plot.tree(kith.Index(points), ax=axes[0]) is axes[0]
    assert kith.plot.neighbors(kith.Index(points), points[:2], k=2, ax=axes[1]) is axes[1]
    assert len(plt.get_fignums()) == 1
    figure.canvas.draw()
    scipy_tree = pytest.importorskip("scipy.spatial").KDTree(points)
    assert len(kith.plot.tree(scipy_tree).collections[0].get_paths()) == 21


def test_lines_lead_to_neighbours(rng):
    points = rng.random((50, 2))
    queries = rng.random((4, 2))
    ax = kith.plot.neighbors(points, queries, k=3)
    distances, indices = kith.Index(points).knn(queries, 3)
    segments = np.array(ax.collections[0].get_segments())
    np.testing.assert_array_equal(segments[:, 0], np.repeat(queries, 3, axis=0))
    np.testing.assert_array_equal(segments[:, 1], points[indices.ravel()])
    assert [circle.radius for circle in ax.patches] == distances[:, -1].tolist()
    ax = kith.plot.neighbors(points, queries, radius=0.2)
    assert len(ax.collections[0].get_segments()) == kith.Index(points).count(queries, 0.2).sum()
    assert [circle.radius for circle in ax.patches] == [0.2] * 4
    ax = kith.plot.neighbors(points, queries[0], k=60, metric="l1")
    assert len(ax.collections[0].get_segments()) == 50 and not ax.patches
    ax = kith.plot.neighbors(points, [9.0, 9.0], k=2, radius=1.0)
    assert len(ax.collections[0].get_segments()) == 0


def test_nothing_and_equal_points_are_drawn():
    ax = kith.plot.tree(np.empty((0, 2)))
    assert len(ax.collections[0].get_paths()) == 1
    ax = kith.plot.tree(np.ones((5, 2)))
    assert len(ax.collections[0].get_paths()) == 6
    ax.figure.canvas.draw()


def test_what_is_not_in_the_plane_is_refused(rng):
    with pytest.raises(ValueError, match=r"points\[:, :2\]"):
        kith.plot.tree(rng.random((5, 3)))
    with pytest.raises(ValueError, match="NaN"):
        kith.plot.tree([[0.0, np.nan]])
    with pytest.raises(ValueError, match="split"):
        kith.plot.tree(rng.random((5, 2)), split="narrowest")
    with pytest.raises(TypeError, match="split must be a str"):
        kith.plot.tree(rng.random((5, 2)), split=None)


def test_without_matplotlib_the_error_says_what_to_install():
    code = (
        "import sys; sys.modules['matplotlib'] = None; import kith, numpy\n"
        "try: kith.plot.tree(numpy.eye(2))\n"
        "except ImportError as error: assert 'kith[plot]' in str(error)\n"
        "else: raise SystemExit(1)"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
