"""Jobs on clouds whose arrays are on a GPU, by a stand-in for it: what is handed over, and what comes back."""

from __future__ import annotations

import numpy as np
import pytest
from fake_cupy import STREAM, FakeArray, FakeCupy, install, memory

import kith
from kith import _clouds_on_device, _distance, _downsample, _kith, _normals, _outliers, _transform


def put(address, values, dtype):
    memory(address, dtype, np.size(values))[:] = np.ravel(values)


def normals_there(points, normals, curvature, progress, stream, **options):
    assert stream == STREAM
    found = _kith.normals(points.rows, device="cpu", progress=progress, **options)
    put(normals, found[0], points.rows.dtype)
    put(curvature, found[1], points.rows.dtype)


def transform_there(points, pose, moved, progress, stream, **options):
    assert stream == STREAM
    put(
        moved,
        _kith.transform(points.rows, pose, device="cpu", progress=progress, **options),
        points.rows.dtype,
    )


def downsample_there(points, sample, rows, counts, map, progress, stream, **options):  # noqa: A002
    assert stream == STREAM
    found = _kith.downsample(points.rows, want_map=True, device="cpu", progress=progress, **options)
    put(sample, found[0], points.rows.dtype)
    for address, values in ((rows, found[1]), (counts, found[2]), (map, found[3])):
        if address:
            put(address, values, np.uint32)
    return len(found[1]), found[4]


def distance_there(first, second, arrays, progress, stream, **options):
    assert stream == STREAM
    found = _kith.cloud_distance(first.rows, second.rows, device="cpu", progress=progress, **options)
    for figures, distances, nearest in zip(found, arrays[::2], arrays[1::2], strict=False):
        if figures is not None:
            put(distances, figures.pop("distances"), np.float64)
            put(nearest, figures.pop("nearest"), np.uint32)
    return found


def outliers_there(points, flags, kept, values, progress, stream, **options):
    assert stream == STREAM
    found = _kith.outliers(points.rows, device="cpu", progress=progress, **options)
    put(flags, found["flags"], np.uint8)
    put(kept, found["kept"], np.uint32)
    put(values, found["values"], np.float64 if options["neighbors"] is not None else np.uint32)
    names = ("mean", "deviation", "threshold", "skipped")
    return (len(found["kept"]), *(found[name] for name in names))


@pytest.fixture(params=[np.float32, np.float64], ids=["f32", "f64"])
def cloud(request, monkeypatch):
    install(
        monkeypatch,
        [_clouds_on_device, _distance, _downsample, _normals, _outliers, _transform],
        normals=_kith.normals,
        normals_on_device=normals_there,
        transform=_kith.transform,
        transform_on_device=transform_there,
        downsample=_kith.downsample,
        downsample_on_device=downsample_there,
        cloud_distance=_kith.cloud_distance,
        cloud_distance_on_device=distance_there,
        outliers=_kith.outliers,
        outliers_on_device=outliers_there,
    )
    return np.random.default_rng(5).random((300, 3)).astype(request.param)


def same(found, wanted):
    """Arrays there of the type and values of those here; all else is equal."""
    if isinstance(wanted, np.ndarray):
        assert isinstance(found, FakeArray) and found.dtype == wanted.dtype
        np.testing.assert_array_equal(found.values, wanted)
    elif isinstance(wanted, tuple):
        assert type(found) is type(wanted)
        for a, b in zip(found, wanted, strict=True):
            same(a, b)
    else:
        np.testing.assert_equal(found, wanted)


POSE = [[0, -1, 0, 1], [1, 0, 0, 2], [0, 0, 1, 3]]
JOBS = {
    "normals": lambda a, **o: kith.normals(a, neighbors=8, **o),
    "viewpoint": lambda a, **o: kith.normals(a, viewpoint=[0, 0, 9], **o),
    "radius": lambda a, **o: kith.normals(a, radius=0.2, **o),
    "transform": lambda a, **o: kith.transform(a, POSE, **o),
    "inverse": lambda a, **o: kith.transform(a, POSE, inverse=True, directions=True, **o),
    "mean": lambda a, **o: kith.downsample(a, voxel=0.3, **o),
    "nearest": lambda a, **o: kith.downsample(a, voxel=0.3, keep="nearest", return_map=True, **o),
    "farthest": lambda a, **o: kith.downsample(a, farthest=9, **o),
    "distance": lambda a, **o: kith.downsample(a, distance=0.2, return_map=True, **o),
    "statistical": lambda a, **o: kith.outliers(a, neighbors=4, ratio=1, **o),
    "density": lambda a, **o: kith.outliers(a, radius=0.1, min_neighbors=2, **o),
}


@pytest.mark.parametrize("job", JOBS)
def test_arrays_on_a_gpu_stay_there(job, cloud):
    wanted = JOBS[job](cloud)
    for device in ("auto", "cuda", "cuda:0"):
        same(JOBS[job](FakeArray(cloud), device=device), wanted)
    wide = np.full((300, 5), np.nan, cloud.dtype)
    wide[:, :3] = cloud
    same(JOBS[job](FakeArray(wide)[:, :3]), wanted)
    assert FakeCupy.calls == []
    same(JOBS[job](FakeArray(cloud), device="cpu"), wanted)
    assert "to host" in FakeCupy.calls
    with pytest.raises(ValueError, match="shape"):
        JOBS[job](FakeArray(cloud.reshape(3, 100, 3)))


@pytest.mark.parametrize("symmetric", [False, True])
def test_two_clouds_on_a_gpu_are_compared_there(symmetric, cloud):
    other = cloud[:100] + cloud.dtype.type(0.01)
    options = {"symmetric": symmetric, "percentiles": [50], "max_distance": 0.2}
    wanted = kith.distance(cloud, other, **options)
    same(kith.distance(FakeArray(cloud), FakeArray(other), **options), wanted)
    assert FakeCupy.calls == []
    found = kith.distance(FakeArray(cloud), other, **options)  # through the host
    same(found.forward, wanted.forward)
    half = FakeArray(other.astype(np.float16).astype(np.float64))
    kith.distance(FakeArray(cloud.astype(np.float32)), half)  # of two types: through the host
    assert FakeCupy.calls.count("to host") == 3
