"""Points moved by a pose, and poses in files."""

from __future__ import annotations

import numpy as np
import pytest

import kith


def plain(points, pose):
    """The formula, one operation at a time in float64."""
    wide = points.astype(np.float64)
    dims = points.shape[1]
    moved = np.empty_like(wide)
    for i in range(dims):
        total = pose[i, 0] * wide[:, 0]
        for j in range(1, dims):
            total = total + pose[i, j] * wide[:, j]
        moved[:, i] = total + pose[i, 3]
    return moved.astype(points.dtype)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("dims", [2, 3])
def test_follows_the_formula(dtype, dims):
    random = np.random.default_rng(dims)
    points = (random.uniform(-50, 50, (5000, dims)) + 4e5).astype(dtype)
    pose = np.eye(4)
    pose[:3] = random.uniform(-1, 1, (3, 4))
    for threads in (1, 2, 5):
        moved = kith.transform(points, pose, threads=threads)
        assert moved.dtype == dtype
        np.testing.assert_array_equal(moved, plain(points, pose))
    np.testing.assert_array_equal(kith.transform(points[::-2], pose[:3]), plain(points[::-2], pose))
    back = kith.transform(kith.transform(points.astype(float), pose), pose, inverse=True)
    if dims == 3:
        np.testing.assert_allclose(back, points, rtol=1e-9)


def test_poses_of_a_plane():
    pose = [[0, -1, 10], [1, 0, 20], [0, 0, 1]]
    assert kith.transform([[1.0, 2.0]], pose).tolist() == [[8, 21]]
    assert kith.transform([[1.0, 2.0]], pose[:2]).tolist() == [[8, 21]]
    assert kith.transform([[1.0, 2.0, 3.0]], pose).tolist() == [[8, 21, 3]]


def test_directions_keep_their_length():
    pose = np.diag([2.0, 2, 2, 1])
    pose[:3, 3] = 7
    assert kith.transform([[0.0, 0.6, 0.8]], pose, directions=True).tolist() == [[0, 0.6, 0.8]]


def test_bad_rows():
    points = np.array([[0.0, 1], [np.nan, 2], [3, 4]])
    with pytest.raises(ValueError, match="row 1, column 0"):
        kith.transform(points, np.eye(4))
    moved = kith.transform(points, np.eye(4), skip_nonfinite=True)
    np.testing.assert_array_equal(moved, [[0, 1], [np.nan, np.nan], [3, 4]])
    assert kith.transform(np.empty((0, 3)), np.eye(4)).shape == (0, 3)


def test_arguments_are_checked():
    points = np.zeros((2, 3))
    for pose in (np.eye(3) + 1, np.eye(4) + 1, np.zeros(16), np.full((4, 4), np.nan), np.zeros((4, 4))):
        with pytest.raises(ValueError, match="pose"):
            kith.transform(points, pose)
    with pytest.raises(ValueError, match="no inverse"):
        kith.transform(points, np.diag([1.0, 1, 0, 1]), inverse=True)
    with pytest.raises(ValueError, match="dims"):
        kith.transform(np.zeros((2, 4)), np.eye(4))
    with pytest.raises(ValueError, match="threads"):
        kith.transform(points, np.eye(4), threads=-1)


def test_pose_files(tmp_path):
    pose = np.eye(4)
    pose[:3] = np.random.default_rng(1).normal(size=(3, 4))
    for name in ("pose.txt", "pose.npy", "pose.json"):
        kith.write_pose(tmp_path / name, pose)
        np.testing.assert_array_equal(kith.read_pose(tmp_path / name), pose)
    np.testing.assert_array_equal(np.load(tmp_path / "pose.npy"), pose)
    np.testing.assert_array_equal(np.loadtxt(tmp_path / "pose.txt"), pose)
    np.savetxt(tmp_path / "kitti.txt", pose[:3].reshape(1, 12), fmt="%.17g")
    np.testing.assert_array_equal(kith.read_pose(tmp_path / "kitti.txt"), pose)
    with pytest.raises(FileNotFoundError):
        kith.read_pose(tmp_path / "absent.txt")
    (tmp_path / "bad.txt").write_text("1 2 3\n")
    with pytest.raises(ValueError, match="a pose is 4 rows"):
        kith.read_pose(tmp_path / "bad.txt")
