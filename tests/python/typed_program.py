"""A program for type checkers; it is not run. Each ignored error must be one, or the checker complains of the comment."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
import numpy.typing as npt
from typing_extensions import assert_type

import kith
import kith.spatial

points = np.zeros((10, 3))
index = kith.Index(points, engine="kdtree", metric="lp:3", split="widest", builder="presort")
assert_type(index.engine, Literal["brute", "kdtree", "covertree"])
assert_type(len(index), int)

# Results
distances, indices = index.knn(points, k=2)
assert_type(distances, npt.NDArray[np.floating[Any]])
assert_type(indices, npt.NDArray[np.int64])
found = index.knn(points, k=2, max_leaves=3, return_exact=True)
assert_type(found[2], npt.NDArray[np.bool_])
assert_type(index.radius(None, 1.0), kith.NeighborLists)
assert_type(index.radius([[0.0, 0.0, 0.0]], 1.0), kith.NeighborLists)
near, numbers = index.radius([0.0, 0.0, 0.0], 1.0)
assert_type(numbers, npt.NDArray[np.int64])
assert_type(index.count([0.0, 0.0, 0.0], 1.0), int)
assert_type(index.count([[0.0, 0.0, 0.0]], 1.0), npt.NDArray[np.int64])
assert_type(index.box_count([0.0, 0.0, 0.0], [1.0, 1.0, 1.0]), int)
assert_type(index.box([[0.0]], [[1.0]]), kith.PointLists)
for pair in index.radius(None, 1.0):
    assert_type(pair, tuple[Any, Any])
assert_type(kith.plan(10, 3).engine, Literal["brute", "kdtree", "covertree"])
assert_type(kith.dedupe(points, tolerance=0.1).skipped, int)
kith.write_pose("pose.txt", np.eye(4))
kith.transform(points, kith.read_pose("pose.txt"), inverse=True)
assert_type(kith.downsample(points, voxel=0.1, keep="nearest").skipped, int)
assert_type(kith.outliers(points, neighbors=3).mean, float)
assert_type(kith.distance(points, points).forward, kith.DirectedDistance)
assert_type(kith.register(points, points, initial="centroid").converged, bool)
assert_type(kith.register_pairs([points], points), list[kith.Registration])
assert_type(kith.RegistrationTarget(points).align(points).weak, list[kith.WeakDirection])
kith.normals(points, viewpoint=[0, 0, 0]).curvature
assert_type(kith.export_tree(points), kith.NodeTable)
assert_type(kith.export_tree(points, layout="inorder"), kith.InOrderTree)
assert_type(kith.Index.load("points.kith"), kith.Index)

words = kith.CoverTree(["cat", "dog"], metric="edit")
length, number = words.knn("cow", k=1)
assert_type(words.radius("cow", 2)[1], npt.NDArray[np.int64])

tree = kith.spatial.KDTree(points)
assert_type(tree.query_pairs(0.1), set[tuple[int, int]])
assert_type(tree.query_pairs(0.1, output_type="ndarray"), npt.NDArray[np.intp])

# What must not pass
kith.Indx(points)  # type: ignore[attr-defined]  # pyright: ignore[reportAttributeAccessIssue]
kith.Index(points, engine="kd_tree")  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
kith.Index(points, split="broad")  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
index.knn(points, neighbors=3)  # type: ignore[call-overload]  # pyright: ignore[reportCallIssue]
index.radius(points)  # type: ignore[call-overload]  # pyright: ignore[reportCallIssue]
tree.query_pairs(0.1, output_type="list")  # type: ignore[call-overload]  # pyright: ignore[reportCallIssue,reportArgumentType]
tree.query_ball(points, 1.0)  # type: ignore[attr-defined]  # pyright: ignore[reportAttributeAccessIssue]
