"""Downsampling, outliers and distances of clouds against NumPy and SciPy, and arrays on a GPU."""

from __future__ import annotations

import numpy as np
import pytest
from fake_cupy import FakeArray, install

import kith
from kith import _distance, _downsample, _kith, _outliers, _transform

LEFT_OUT = 2**32 - 1


@pytest.fixture(params=[np.float32, np.float64])
def cloud(request):
    random = np.random.default_rng(3)
    return (random.normal(size=(2000, 3)) + [4e5, 5e6, 100]).astype(request.param)


def plain_voxels(points, size):
    """For each voxel, by its first point, the rows of its points."""
    voxels = {}
    for row, cell in enumerate(np.floor(points.astype(np.float64) / size).astype(np.int64).tolist()):
        voxels.setdefault(tuple(cell), []).append(row)
    return list(voxels.values())


def test_voxels(cloud):
    members = plain_voxels(cloud, 0.5)
    means, rows = [], []
    for voxel in members:
        total = np.zeros(3)
        for row in voxel:  # fewer than 1024
            total = total + cloud[row].astype(np.float64)
        means.append((total / len(voxel)).astype(cloud.dtype))
        rows.append(voxel[0])
    for threads in (1, 2, 5):
        found = kith.downsample(cloud, voxel=0.5, return_map=True, threads=threads)
        np.testing.assert_array_equal(found.points, means)
        assert found.points.dtype == cloud.dtype
        assert found.counts.tolist() == [len(voxel) for voxel in members]
        assert all(row in voxel for row, voxel in zip(found.rows.tolist(), members, strict=True))
        for place, voxel in enumerate(members):
            assert (found.map[voxel] == place).all()
    assert kith.downsample(cloud, voxel=0.5, keep="first").rows.tolist() == rows
    nearest = kith.downsample(cloud, voxel=0.5, keep="nearest")
    np.testing.assert_array_equal(nearest.points, cloud[nearest.rows])
    np.testing.assert_array_equal(nearest.rows, kith.downsample(cloud, voxel=0.5).rows)


def test_farthest_points():
    points = np.random.default_rng(4).integers(0, 50, (500, 2)).astype(np.float64)
    best = np.full(500, np.inf)
    taken = [7]
    for _ in range(39):
        best = np.minimum(best, ((points - points[taken[-1]]) ** 2).sum(axis=1))
        left = best.copy()
        left[taken] = -1
        taken.append(int(left.argmax()))
    found = kith.downsample(points, farthest=40, start=7, return_map=True)
    assert found.rows.tolist() == taken
    apart = ((points[:, None] - points[taken]) ** 2).sum(axis=2)
    np.testing.assert_array_equal(np.take_along_axis(apart, found.map[:, None], 1)[:, 0], apart.min(axis=1))
    assert found.counts.sum() == 500
    assert len(kith.downsample(points, farthest=1000).rows) == 500
    assert kith.downsample(points, farthest=3).counts is None


def test_a_distance(cloud):
    found = kith.downsample(cloud, distance=0.5)
    assert found.rows.tolist() == kith.dedupe(cloud, tolerance=0.5).kept.tolist()


def test_statistical_outliers(cloud):
    distances, _ = kith.Index(cloud).knn(k=6, exclude_self=True)
    means = distances.astype(np.float64).cumsum(axis=1)[:, -1] / 6
    threshold = means.mean() + 1.5 * means.std(ddof=1)
    for threads in (1, 2, 5):
        found = kith.outliers(cloud, neighbors=6, ratio=1.5, threads=threads)
        np.testing.assert_array_equal(found.values, means)
        np.testing.assert_allclose(found.threshold, threshold, rtol=1e-12)
        np.testing.assert_array_equal(found.flags, means > found.threshold)
        np.testing.assert_array_equal(found.kept, np.flatnonzero(~found.flags))


def test_outliers_by_radius(cloud):
    counts = kith.Index(cloud).count(None, 0.3, exclude_self=True)
    found = kith.outliers(cloud, radius=0.3, min_neighbors=4)
    np.testing.assert_array_equal(found.values, counts)
    np.testing.assert_array_equal(found.flags, counts < 4)


def test_distances_of_clouds(cloud):
    spatial = pytest.importorskip("scipy.spatial")
    other = cloud[::3] + cloud.dtype.type(0.25)
    found = kith.distance(cloud, other, symmetric=True, percentiles=[50, 95])
    for direction, points, against in ((found.forward, cloud, other), (found.backward, other, cloud)):
        expected = spatial.KDTree(against.astype(np.float64)).query(points.astype(np.float64))[0]
        np.testing.assert_allclose(direction.distances, expected, rtol=1e-5)
        assert direction.distances.dtype == cloud.dtype and direction.matched == len(points)
        wide = direction.distances.astype(np.float64)
        np.testing.assert_allclose(direction.mean, wide.mean(), rtol=1e-12)
        np.testing.assert_allclose(direction.rms, np.sqrt((wide**2).mean()), rtol=1e-12)
        assert direction.max == wide.max() and direction.max_row == wide.argmax()
        assert direction.percentiles == np.percentile(wide, [50, 95], method="inverted_cdf").tolist()
    assert found.chamfer == found.forward.mean + found.backward.mean
    assert found.chamfer_squared == found.forward.mean_squared + found.backward.mean_squared
    assert found.hausdorff == max(found.forward.max, found.backward.max)
    again = [kith.distance(cloud, other, threads=threads).forward for threads in (1, 2, 5)]
    assert len({(figures.mean, figures.rms) for figures in again}) == 1


def test_distances_of_different_types_and_of_nothing():
    narrow, wide = np.zeros((2, 3), np.float32), np.ones((3, 3))
    assert kith.distance(narrow, wide).forward.distances.dtype == np.float64
    none = kith.distance(narrow, np.empty((0, 3), np.float32))
    assert none.forward.unmatched == 2 and np.isnan(none.forward.mean) and none.backward is None
    far = kith.distance(narrow, wide, max_distance=1).forward
    assert far.matched == 0 and np.isinf(far.distances).all() and (far.nearest == LEFT_OUT).all()


def test_bad_rows_are_named_or_left_out(cloud):
    cloud[5, 2] = np.nan
    for call in (
        lambda **options: kith.downsample(cloud, voxel=1, **options),
        lambda **options: kith.outliers(cloud, neighbors=3, **options),
        lambda **options: kith.outliers(cloud, radius=3, **options),
        lambda **options: kith.distance(cloud, cloud, **options).forward,
    ):
        with pytest.raises(ValueError, match="row 5, column 2"):
            call()
        assert call(skip_nonfinite=True).skipped == 1


def test_arguments_are_checked(cloud):
    for call, error in (
        (lambda: kith.downsample(cloud), ValueError),
        (lambda: kith.downsample(cloud, voxel=1, distance=1), ValueError),
        (lambda: kith.downsample(cloud, voxel=0), ValueError),
        (lambda: kith.downsample(cloud, voxel="1"), TypeError),
        (lambda: kith.downsample(cloud, voxel=1, keep="last"), ValueError),
        (lambda: kith.downsample(cloud, farthest=-1), ValueError),
        (lambda: kith.downsample(cloud, farthest=1, start=2000), ValueError),
        (lambda: kith.outliers(cloud), ValueError),
        (lambda: kith.outliers(cloud, neighbors=0), ValueError),
        (lambda: kith.outliers(cloud, radius=-1), ValueError),
        (lambda: kith.distance(cloud, cloud[:, :2]), ValueError),
        (lambda: kith.distance(cloud, cloud, percentiles=[101]), ValueError),
        (lambda: kith.distance(cloud, cloud, max_distance=-1), ValueError),
    ):
        with pytest.raises(error):
            call()


def test_arrays_on_a_gpu_go_through_the_host_to_the_cpu(cloud, monkeypatch):
    names = ("transform", "downsample", "outliers", "cloud_distance")
    entries = {name: getattr(_kith, name) for name in names}
    install(monkeypatch, [_transform, _downsample, _outliers, _distance], **entries)
    there = FakeArray(cloud)
    moved = kith.transform(there, np.eye(4), device="cpu")
    np.testing.assert_array_equal(moved.values, cloud)
    sampled = kith.downsample(there, voxel=1, return_map=True, device="cpu")
    assert all(isinstance(array, FakeArray) for array in sampled[:4])
    np.testing.assert_array_equal(sampled.points.values, kith.downsample(cloud, voxel=1).points)
    assert isinstance(kith.outliers(there, neighbors=3, device="cpu").flags, FakeArray)
    found = kith.distance(there, cloud, symmetric=True, device="cpu")
    assert isinstance(found.forward.distances, FakeArray)
    assert isinstance(found.backward.distances, np.ndarray)
