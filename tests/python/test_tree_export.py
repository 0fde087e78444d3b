"""Exported trees as arrays: of NumPy's points, and of points on a GPU."""

from __future__ import annotations

import math

import numpy as np
import pytest
from fake_cupy import STREAM, FakeArray, FakeCupy, install, memory
from test_index_from_tree import export

import kith
from kith import _kith, _tree_export

NONE = 2**32 - 1
SIX = np.array([[2, 3], [5, 4], [9, 6], [4, 7], [8, 1], [7, 2]], dtype=float)


@pytest.fixture(params=[np.float32, np.float64])
def places(request):
    """Many copies of few places, and one that is not finite."""
    points = np.random.default_rng(1).integers(-3, 4, (700, 3)).astype(request.param)
    points[5, 1] = np.nan
    return points


def test_the_six_points_of_the_docs():
    table = kith.export_tree(SIX)
    assert table.less.tolist() == [NONE, 0, NONE, 1, NONE, 4]
    assert table.greater.tolist() == [NONE, 2, NONE, 5, NONE, NONE]
    assert table[4:] == (3, 6, 2, 64, 0, 0, 0)
    tree = kith.export_tree(SIX.tolist(), layout="inorder", middle="left", split="cycle")
    assert sorted(tree.index) == [*range(6)] and tree.points.tolist() == SIX[tree.index].tolist()
    assert tree[3:] == (6, 2, 64, 1, 0, 1)


@pytest.mark.parametrize("layout", ["nodes", "inorder"])
@pytest.mark.parametrize("options", [{}, {"split": "cycle", "middle": "left", "unique": True}])
def test_the_arrays_of_the_command(tmp_path, places, layout, options):
    found = kith.export_tree(places, layout=layout, skip_nonfinite=True, **options)
    flags = [f"--{name}={value}" for name, value in options.items() if value is not True]
    flags += ["--unique"] if "unique" in options else []
    with np.load(export(tmp_path, places, "--layout", layout, "--skip-nonfinite", *flags)) as wanted:
        assert set(wanted) | {"middle"} == set(found._fields)
        for name in wanted:
            np.testing.assert_array_equal(getattr(found, name), wanted[name])
    np.savez(tmp_path / "ours.npz", **found._asdict())
    points = places if layout == "nodes" else None
    index = kith.Index.from_tree(tmp_path / "ours.npz", points)
    nearest = kith.Index(places, skip_nonfinite=True).knn(places[:3], k=1)[0]
    np.testing.assert_array_equal(index.knn(places[:3], k=1)[0], nearest)


def test_arguments_are_checked(places):
    for options, error in (
        ({}, ValueError),
        ({"layout": "table"}, ValueError),
        ({"split": "broad"}, ValueError),
        ({"middle": 1}, TypeError),
        ({"device": "tpu"}, ValueError),
        ({"threads": -1}, ValueError),
    ):
        with pytest.raises(error):
            kith.export_tree(places, **options)
    empty = kith.export_tree(np.empty((0, 2)))
    assert empty.root == NONE and empty.point.shape == (0,)


def export_there(points, point, split_dim, less, greater, coordinates, stream, **options):
    """kith::apps::export_tree_on_device, answered by the host."""
    assert stream == STREAM
    rows = points.rows
    arrays, root = _kith.export_tree(rows, "inorder" if coordinates else "nodes", "cpu", **options)
    kinds = [np.uint32] * 4
    addresses = [point, split_dim, less, greater]
    if coordinates:
        kinds, addresses = [np.uint32, rows.dtype, np.uint32], [point, coordinates, split_dim]
    for array, address, kind in zip(arrays, addresses, kinds, strict=True):
        memory(address, kind, math.prod(array.shape))[:] = array.ravel()
    return len(arrays[0]), root


@pytest.mark.parametrize("layout", ["nodes", "inorder"])
@pytest.mark.parametrize("unique", [False, True])
def test_arrays_on_a_gpu_stay_there(monkeypatch, places, layout, unique):
    install(monkeypatch, [_tree_export], export_tree=_kith.export_tree, export_tree_on_device=export_there)
    options = {"layout": layout, "unique": unique, "skip_nonfinite": True}
    wanted = kith.export_tree(places, **options)
    for device in ("auto", "cuda", "cuda:0", "cpu"):
        found = kith.export_tree(FakeArray(places), device=device, **options)
        assert FakeCupy.calls == ([] if device != "cpu" else ["synchronize stream", "to host"])
        for name, value in wanted._asdict().items():
            given = getattr(found, name)
            if isinstance(value, np.ndarray):
                assert isinstance(given, FakeArray) and given.dtype == value.dtype
                given = given.values
            np.testing.assert_array_equal(given, value)
    with pytest.raises(ValueError, match="shape"):
        kith.export_tree(FakeArray(places.reshape(7, 100, 3)))


def test_the_points_of_a_node_table_may_be_on_a_gpu(tmp_path, monkeypatch, cloud):
    install(monkeypatch, [])
    index = kith.Index.from_tree(export(tmp_path, cloud, "--layout", "nodes"), FakeArray(cloud))
    np.testing.assert_array_equal(index.points, cloud)
