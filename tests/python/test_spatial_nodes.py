"""`tree` of kith.spatial's trees: its nodes are those of SciPy."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.spatial

import kith.spatial


def nodes_of(root):
    """All nodes by the way to them: level, cut, range, and the points of the range."""
    nodes = {}
    pending = [("", root)]
    while pending:
        way, node = pending.pop()
        is_leaf = node.split_dim == -1
        cut = None if is_leaf else node.split
        points = sorted(node.indices.tolist())
        nodes[way] = (node.level, node.split_dim, cut, node.start_idx, node.end_idx, points)
        if not is_leaf:
            pending += [(way + "L", node.lesser), (way + "G", node.greater)]
    return nodes


def clouds(seed):
    rng = np.random.default_rng(seed)
    yield rng.random((50, 3))
    yield np.round(rng.random((50, 3)) * 3)  # ties everywhere
    yield np.column_stack([rng.random(30), np.zeros(30)])
    yield rng.random((20, 1))
    yield np.ones((12, 2))


@pytest.mark.parametrize("is_compact", [True, False])
@pytest.mark.parametrize("is_balanced", [True, False])
def test_cells_are_cut_where_scipy_cuts_them(is_compact, is_balanced):
    for seed in range(20):
        for number, points in enumerate(clouds(seed)):
            for leafsize in (1, 3, 10):
                options = {
                    "leafsize": leafsize,
                    "compact_nodes": is_compact,
                    "balanced_tree": is_balanced,
                }
                found = nodes_of(kith.spatial.cKDTree(points, **options).tree)
                expected = nodes_of(scipy.spatial.cKDTree(points, **options).tree)
                assert found == expected, f"seed {seed}, cloud {number}, {options}"
