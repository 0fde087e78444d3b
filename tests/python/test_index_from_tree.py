"""Indexes of trees from kith export, and of trees that NumPy wrote."""

from __future__ import annotations

import pickle
import subprocess
import sys

import numpy as np
import pytest

import kith


def export(folder, points, *flags):
    np.save(folder / "points.npy", points)
    words = [sys.executable, "-m", "kith", "export", str(folder / "points.npy"), "-q", *flags]
    subprocess.run([*words, "--out", str(folder / "tree.npz")], check=True)
    return folder / "tree.npz"


def assert_same(found, expected):
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("layout", ["nodes", "inorder"])
@pytest.mark.parametrize("middle", ["left", "right"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_answers_are_those_of_the_points(tmp_path, rng, layout, middle, dtype):
    points = rng.integers(0, 20, (3000, 3)).astype(dtype)
    tree = export(tmp_path, points, "--layout", layout, "--middle", middle)
    index = kith.Index.from_tree(tree, points if layout == "nodes" else None)
    expected = kith.Index(points)
    assert index.engine == "kdtree" and index.dtype == dtype and len(index) == 3000
    queries = rng.random((40, 3)).astype(dtype) * 20
    assert_same(index.knn(queries, k=7), expected.knn(queries, k=7))
    assert_same(index.knn(k=3, exclude_self=True), expected.knn(k=3, exclude_self=True))
    assert_same(index.count(queries, 3.0), expected.count(queries, 3.0))
    np.testing.assert_array_equal(index.points, points)
    assert pickle.dumps(index) == pickle.dumps(expected)
    options = {"metric": "l1", "engine": "brute"}
    index = kith.Index.from_tree(tree, points if layout == "nodes" else None, **options)
    assert_same(index.knn(queries, k=2), kith.Index(points, **options).knn(queries, k=2))


def test_unique_trees_keep_the_numbers_of_their_points(tmp_path):
    points = np.array([[5.0], [1.0], [5.0], [1.0], [3.0]])
    index = kith.Index.from_tree(export(tmp_path, points, "--layout", "inorder", "--unique"))
    assert len(index) == 5 and index.skipped == 2
    assert index.knn([[4.0]], k=4)[1].tolist() == [[0, 4, 1, 5]]


def test_a_tree_by_numpy(tmp_path):
    path = tmp_path / "tree.npz"
    arrays = {
        "index": [1, 2, 0], "points": [[1.0, 0.0], [2.0, 2.0], [4.0, 0.0]], "split_dim": [0, 0, 0],
        "split": 0, "rows": 3, "dims": 2, "bits": 64, "unique": 0,
    }
    np.savez(path, **arrays)
    assert kith.Index.from_tree(path).knn([3.5, 0.0], k=1)[1].tolist() == [0]
    assert kith.Index.from_tree(path, period=[5, 0]).knn([0.1, 0.0], k=2)[1].tolist() == [1, 0]
    np.savez(path, **{**arrays, "points": [[1.0, 0.0], [5.0, 2.0], [4.0, 0.0]]})
    with pytest.raises(ValueError, match=r"the tree is wrong: position 1 \(point 2\): position 2"):
        kith.Index.from_tree(path)
    np.savez(path, **{**arrays, "index": [1, 2, 3]})
    with pytest.raises(ValueError, match="there is no point 3, the data has 3"):
        kith.Index.from_tree(path)


def test_points_are_for_node_tables(tmp_path, cloud):
    with pytest.raises(ValueError, match="points are for a node table"):
        kith.Index.from_tree(export(tmp_path, cloud, "--layout", "inorder"), cloud)
    table = export(tmp_path, cloud, "--layout", "nodes")
    with pytest.raises(ValueError, match="holds no coordinates"):
        kith.Index.from_tree(table)
    with pytest.raises(ValueError, match="made from"):
        kith.Index.from_tree(table, cloud[:-1])
    with pytest.raises(FileNotFoundError):
        kith.Index.from_tree(tmp_path / "absent.npz")
    with pytest.raises(ValueError, match="npz"):
        kith.Index.from_tree(tmp_path / "points.npy")
