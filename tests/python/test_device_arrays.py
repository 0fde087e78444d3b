"""The way of arrays on a GPU through the Python code, with a stand-in for CuPy and for the GPU."""

from __future__ import annotations

import copy

import numpy as np
import pytest
from fake_cupy import (
    FakeArray,
    FakeBitIndex,
    FakeBitSearch,
    FakeBits,
    FakeBuild,
    FakeCupy,
    install,
    FakeSearch,
)

import kith
from kith import _device_search, _kith


@pytest.fixture
def cupy(monkeypatch):
    install(
        monkeypatch,
        [_device_search, kith._index, kith._objects],
        DeviceSearch=FakeSearch,
        DeviceBits=FakeBits,
        DeviceBitSearch=FakeBitSearch,
        Index=FakeBuild,
        BitIndex=FakeBitIndex,
        BitRows=_kith.BitRows,
    )
    return FakeCupy


@pytest.fixture(params=[np.float32, np.float64])
def both(request, cupy, cloud):
    """The same points on both sides."""
    points = cloud.astype(request.param)
    return kith.Index(points), kith.Index(FakeArray(points)), points


def same(found, wanted):
    assert isinstance(found, FakeArray)
    assert found.values.dtype == wanted.dtype
    np.testing.assert_array_equal(found.values, wanted)


def test_points_on_a_gpu_are_indexed_there(both):
    host, device, _ = both
    assert host.device == "cpu" and device.device == "cuda:0"
    assert FakeCupy.calls[0] == "synchronize stream"
    assert device._asked_device == "auto"  # a pickle may be read where there is no GPU
    same(copy.copy(device).knn(k=2)[1], host.knn(k=2)[1])


def test_knn(both):
    host, device, points = both
    FakeCupy.calls.clear()
    mask = np.arange(500) % 2 == 0
    every = np.ones(500, dtype=bool)
    masks = ({"allowed": mask}, {"allowed": every})
    for options in ({}, {"squared": True}, {"max_distance": 0.1}, {"eps": 0}, *masks):
        for found, wanted in zip(
            device.knn(FakeArray(points), 3, **options), host.knn(points, 3, **options), strict=True
        ):
            same(found, wanted)
    for found, wanted in zip(
        device.knn(k=2, exclude_self=True), host.knn(k=2, exclude_self=True), strict=True
    ):
        same(found, wanted)
    below = np.arange(500)
    same(
        device.knn(FakeArray(points), 2, index_below=below)[1],
        host.knn(points, 2, index_below=below)[1],
    )
    assert FakeCupy.calls == []  # no wait, and nothing went through the host


def test_shapes_and_layouts(both):
    host, device, points = both
    same(device.knn(FakeArray(points[4]), 3)[1], host.knn(points[4], 3)[1])
    same(
        device.knn(FakeArray(points.reshape(5, 100, 3)), 3)[0],
        host.knn(points.reshape(5, 100, 3), 3)[0],
    )
    same(device.knn(FakeArray(np.asfortranarray(points)), 3)[1], host.knn(points, 3)[1])
    same(device.knn(FakeArray(points[::2]), 3)[1], host.knn(points[::2], 3)[1])
    same(device.knn(FakeArray(points[:0]), 3)[1], host.knn(points[:0], 3)[1])
    with pytest.raises(ValueError, match=r"shape \(..., 3\)"):
        device.knn(FakeArray(points[:, :2].copy()), 3)
    with pytest.raises(ValueError, match="shape"):
        kith.Index(FakeArray(points[0]))


def test_conversions(cupy, cloud):
    device = kith.Index(FakeArray(cloud.astype(np.float32)))
    with pytest.warns(kith.DataConversionNote, match="rounded to float32"):
        device.knn(FakeArray(cloud), 2)
    with pytest.warns(kith.DataConversionNote, match="converted to float32"):
        kith.Index(FakeArray(cloud.astype(np.float16)))
    with pytest.raises(TypeError, match="real numbers"):
        kith.Index(FakeArray(cloud.astype(complex)))


def test_radius_count_and_boxes(both):
    host, device, points = both
    wanted = host.radius(points, 0.2)
    found = device.radius(FakeArray(points), 0.2)
    same(found.indices, wanted.indices)
    same(found.distances, wanted.distances)
    same(found.offsets, wanted.offsets)
    same(found.counts, wanted.counts)
    same(
        device.radius(None, 0.2, exclude_self=True).indices,
        host.radius(None, 0.2, exclude_self=True).indices,
    )
    same(device.radius(FakeArray(points[3]), 0.2)[1], host.radius(points[3], 0.2)[1])
    same(device.count(FakeArray(points), 0.2), host.count(points, 0.2))
    same(device.count(None, 0.2), host.count(None, 0.2))
    for mask in (np.arange(500) % 2 == 0, np.ones(500, dtype=bool)):
        wanted = host.radius(points, 0.2, allowed=mask)
        same(device.radius(FakeArray(points), 0.2, allowed=mask).indices, wanted.indices)
        same(device.count(FakeArray(points), 0.2, allowed=mask), wanted.counts)
    lower, upper = points[:9] - 0.1, points[:9] + 0.1
    same(device.box(FakeArray(lower), FakeArray(upper)).indices, host.box(lower, upper).indices)
    same(device.box_count(FakeArray(lower), FakeArray(upper)), host.box_count(lower, upper))
    with pytest.raises(ValueError, match="both be on a GPU"):
        device.box(FakeArray(lower), upper)


def test_approximate_searches_stay_on_the_gpu(both):
    host, device, points = both
    FakeCupy.calls.clear()
    there = FakeArray(points)
    for options in ({"eps": 0.5}, {"max_leaves": 2}, {"max_leaves": 1, "eps": 0.1}, {}):
        wanted = host.knn(points, 3, return_exact=True, **options)
        for found, one in zip(device.knn(there, 3, return_exact=True, **options), wanted, strict=True):
            same(found, one)
        same(device.knn(k=3, return_exact=True, **options)[2], host.knn(k=3, return_exact=True, **options)[2])
        assert len(device.knn(there, 3, **options)) == 2
    same(device.knn(there, 0, return_exact=True)[2], host.knn(points, 0, return_exact=True)[2])
    assert FakeCupy.calls == []


def test_a_radius_per_query_stays_on_the_gpu(both):
    host, device, points = both
    FakeCupy.calls.clear()
    there = FakeArray(points)
    radii = np.linspace(0, 0.2, 500)
    for on_gpu in (radii, FakeArray(radii), FakeArray(radii.repeat(2))[::2]):
        found, wanted = device.radius(there, on_gpu), host.radius(points, radii)
        same(found.indices, wanted.indices)
        same(found.offsets, wanted.offsets)
        same(device.count(there, on_gpu), wanted.counts)
        same(device.count(None, on_gpu), host.count(None, radii))
    in_f32 = radii.astype(np.float32)
    same(device.count(there, FakeArray(in_f32)), host.count(points, in_f32))
    cube, per_row = points.reshape(5, 100, 3), np.linspace(0, 0.2, 100)
    same(device.count(FakeArray(cube), FakeArray(per_row)), host.count(cube, per_row))
    same(device.count(FakeArray(points[:0]), FakeArray(radii[:0])), host.count(points[:0], radii[:0]))
    assert FakeCupy.calls == []
    for bad in (radii - 0.1, np.full(500, np.nan)):
        with pytest.raises(ValueError, match="at least 0"):
            device.count(there, bad)
    for wrong in (FakeArray(radii[:7]), radii[:7]):
        with pytest.raises(ValueError, match="one for each query"):
            device.radius(there, wrong)
    with pytest.raises(TypeError, match="must hold numbers"):
        device.radius(there, FakeArray(radii.astype(complex)))
    with pytest.raises(TypeError, match="must be a number"):
        device.radius(there)
    FakeCupy.calls.clear()
    np.testing.assert_array_equal(host.count(points, FakeArray(radii)), host.count(points, radii))
    assert FakeCupy.calls == ["to host"]


def test_filters_on_the_gpu_stay_there(both):
    host, device, points = both
    FakeCupy.calls.clear()
    there = FakeArray(points)
    mask = np.arange(500) % 3 == 0
    for flags in (FakeArray(mask), FakeArray(mask.repeat(2))[::2]):
        same(device.knn(there, 3, allowed=flags)[1], host.knn(points, 3, allowed=mask)[1])
        same(device.knn(k=3, allowed=flags)[1], host.knn(k=3, allowed=mask)[1])
        same(device.count(there, 0.2, allowed=flags), host.count(points, 0.2, allowed=mask))
    for below in (np.arange(500), np.arange(500, dtype=np.int16), np.full(500, 2**40), np.full(500, 2**63)):
        wanted = host.knn(points, 2, index_below=below)[1]
        same(device.knn(there, 2, index_below=FakeArray(below))[1], wanted)
    lower = points[:9] - 0.1
    few = np.arange(9) * 50
    found = device.box(FakeArray(lower), FakeArray(lower + 0.2), allowed=FakeArray(mask))
    same(found.indices, host.box(lower, lower + 0.2, allowed=mask).indices)
    found = device.knn(FakeArray(lower), 2, index_below=FakeArray(few - 100))[1]  # below 0 is 0
    same(found, host.knn(lower, 2, index_below=(few - 100).clip(0))[1])
    assert FakeCupy.calls == []
    with pytest.raises(TypeError, match="bool for each point"):
        device.knn(there, 2, allowed=FakeArray(below))
    with pytest.raises(ValueError, match="a bool per point"):
        device.knn(there, 2, allowed=FakeArray(mask[:4]))
    with pytest.raises(TypeError, match="whole numbers"):
        device.knn(there, 2, index_below=FakeArray(points))
    with pytest.raises(ValueError, match="give one for each"):
        device.knn(there, 2, index_below=FakeArray(below[:4]))


def test_what_the_gpu_cannot_do_goes_through_the_host(both):
    host, device, points = both
    found = device.radius(FakeArray(points), 0.2, max_neighbors=2)
    same(found.indices, host.radius(points, 0.2, max_neighbors=2).indices)
    same(host.knn(FakeArray(points), 2)[1], host.knn(points, 2)[1])  # the index is on the CPU
    assert "to host" in FakeCupy.calls
    on_host = kith.Index(FakeArray(points), device="cpu")
    assert on_host.device == "cpu"
    same(on_host.knn(k=2)[1], host.knn(k=2)[1])


def test_numpy_queries_of_an_index_on_a_gpu_give_numpy(both):
    host, device, points = both
    found = device.knn(points, 2)[1]
    assert isinstance(found, np.ndarray)
    np.testing.assert_array_equal(found, host.knn(points, 2)[1])


def test_an_index_goes_when_its_gpu_is_done(cupy, cloud):
    device = kith.Index(FakeArray(cloud))
    device.knn(FakeArray(cloud), 2)
    FakeCupy.calls.clear()
    del device
    assert FakeCupy.calls == ["synchronize device"]


@pytest.mark.parametrize("dtype", [np.uint8, np.uint16, np.uint64])
def test_rows_of_bits(cupy, dtype):
    rows = np.random.default_rng(1).integers(0, 2**8, (300, 16), np.uint8).view(dtype)
    host, device = kith.Index(rows, metric="hamming"), kith.Index(FakeArray(rows), metric="hamming")
    assert host.device == "cpu" and device.device == "cuda:0" and device.dims == 128
    FakeCupy.calls.clear()
    queries = rows[:40]
    for options in ({}, {"max_distance": 50}, {"allowed": np.arange(300) % 2 == 0}):
        wanted = host.knn(queries, 5, return_exact=True, **options)
        found = device.knn(FakeArray(queries), 5, return_exact=True, **options)
        for one, other in zip(found, wanted, strict=True):
            same(one, other)
    same(device.knn(k=3, exclude_self=True)[1], host.knn(k=3, exclude_self=True)[1])
    same(device.knn(FakeArray(rows[0]), 3)[0], host.knn(rows[0], 3)[0])
    cube = rows.reshape(3, 100, -1)
    same(device.knn(FakeArray(cube), 3)[0], host.knn(cube, 3)[0])
    radii = np.linspace(30, 60, 40)
    lists, wanted = device.radius(FakeArray(queries), FakeArray(radii)), host.radius(queries, radii)
    same(lists.indices, wanted.indices)
    same(lists.distances, wanted.distances)
    same(device.count(FakeArray(queries), 50), host.count(queries, 50))
    assert FakeCupy.calls == []
    with pytest.raises(ValueError, match="they must agree"):
        device.knn(FakeArray(rows[:, :1].copy()), 3)
    with pytest.raises(TypeError, match="unsigned integers"):
        device.knn(FakeArray(np.zeros((3, 16))), 3)
    np.testing.assert_array_equal(device.knn(queries, 3)[1], host.knn(queries, 3)[1])


def test_bools_are_packed_by_the_host(cupy):
    bits = np.random.default_rng(1).random((200, 100)) < 0.5
    host, device = kith.Index(bits, metric="hamming"), kith.Index(FakeArray(bits), metric="hamming")
    FakeCupy.calls.clear()
    same(device.knn(FakeArray(bits[:9]), 3)[1], host.knn(bits[:9], 3)[1])
    assert FakeCupy.calls == ["to host"]
    same(device.knn(k=3)[1], host.knn(k=3)[1])
    same(host.knn(FakeArray(bits[:9]), 3)[1], host.knn(bits[:9], 3)[1])
    on_host = kith.Index(FakeArray(bits), metric="hamming", device="cpu")
    assert on_host.device == "cpu"
    same(on_host.knn(k=3)[1], host.knn(k=3)[1])
