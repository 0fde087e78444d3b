"""Pages that show clouds: what they hold, and what is refused."""

from __future__ import annotations

import base64
import html
import json
import re
import zlib

import kith
import numpy as np
import pytest


def scene_of(page):
    text = re.search(r'id="scene">(.*?)</script>', page.html, re.S).group(1)
    return json.loads(text)


def values_of(page, array):
    blocks = re.findall(r'class="block">([^<]*)</script>', page.html)
    raw = zlib.decompress(base64.b64decode(blocks[array["block"]]))
    kind = {"u8": "<u1", "u16": "<u2", "u32": "<u4", "f32": "<f4", "f64": "<f8"}[array["type"]]
    size = np.dtype(kind).itemsize
    planes = np.frombuffer(raw, np.uint8).reshape(size, array["count"])
    values = np.ascontiguousarray(planes.T).view(kind).ravel()
    if array.get("delta"):
        values = np.cumsum(values, dtype=values.dtype)
    if "step" in array:
        given = array["low"] + array["step"] * values.astype(float)
        return np.where(values == array["missing"], np.nan, given) if "missing" in array else given
    return values.astype(float)


def test_holds_points_columns_and_poses():
    points = np.random.default_rng(1).normal(size=(50, 3))
    points[4, 1] = np.nan
    turned = np.eye(4)
    turned[:3, 3] = [1, 2, 3]
    page = kith.view(
        points,
        points[:, :2],
        names=["<b>", "flat"],
        columns=[{"amount": np.arange(50), "kind": ["a", "b"] * 25, "rgb": np.full((50, 3), 0.5)}, {"w": points[:, 0]}],
        pose=turned,
        color="kind",
        title="two",
    )
    scene = scene_of(page)
    assert scene["title"] == "two"
    assert scene["color"] == {"by": "column", "name": "kind"}
    first, second = scene["clouds"]
    assert first["name"] == "<b>"
    assert first["count"] == second["count"] == 49
    assert np.array_equal(values_of(page, first["axes"][2]), np.delete(points[:, 2], 4))
    assert np.array_equal(values_of(page, first["rows"]), np.delete(np.arange(50), 4))
    columns = {column["name"]: column for column in first["columns"]}
    assert np.array_equal(values_of(page, columns["amount"]["values"]), np.delete(np.arange(50), 4))
    assert columns["kind"]["words"] == ["a", "b"]
    assert np.array_equal(values_of(page, columns["rgb"]["parts"][1]), np.full(49, 128))
    assert first["pose"] == turned.ravel().tolist()
    assert "pose" not in second
    assert "<b>" not in page.html.split('id="scene"')[0]


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_neighbors_are_those_of_the_index(dtype):
    points = np.random.default_rng(2).random((40, 3)).astype(dtype)
    distances, indices = kith.Index(points).knn(k=5, exclude_self=True)
    for page in (kith.view(points, neighbors=(distances, indices)), kith.view(points, k=5)):
        found = scene_of(page)["clouds"][0]["neighbors"]
        assert found["k"] == 5
        assert np.array_equal(values_of(page, found["indices"]), indices.ravel())
        assert np.array_equal(values_of(page, found["distances"]), distances.ravel())


def test_shows_itself_in_notebooks_and_as_a_file(tmp_path):
    page = kith.view([[0.0, 1.0], [1.0, 2.0]])
    frame = page._repr_html_()
    assert frame.startswith("<iframe ")
    assert html.unescape(re.search(r'srcdoc="([^"]*)"', frame).group(1)) == page.html
    page.save(tmp_path / "page.html")
    assert (tmp_path / "page.html").read_text() == page.html
    assert "save(path)" in repr(page)


def test_refuses_what_does_not_fit():
    points = np.zeros((3, 3))
    with pytest.raises(ValueError, match="no cloud"):
        kith.view()
    with pytest.raises(ValueError, match="4 dims"):
        kith.view(np.zeros((3, 4)))
    with pytest.raises(ValueError, match="one value for each of 3 points"):
        kith.view(points, columns={"a": [1, 2]})
    with pytest.raises(ValueError, match="only rgb and normal"):
        kith.view(points, columns={"a": np.zeros((3, 3))})
    with pytest.raises(TypeError, match="complex"):
        kith.view(points, columns={"a": np.zeros(3, complex)})
    with pytest.raises(ValueError, match="2 names for 1"):
        kith.view(points, names=["a", "b"])
    with pytest.raises(ValueError, match="2 poses for 1"):
        kith.view(points, pose=[np.eye(4), np.eye(4)])
    with pytest.raises(ValueError, match="one of them"):
        kith.view(points, k=1, neighbors=(np.zeros((3, 1)), np.zeros((3, 1), int)))
    with pytest.raises(ValueError, match="not those of 3 points"):
        kith.view(points, neighbors=(np.zeros((2, 1)), np.zeros((2, 1), int)))
    with pytest.raises(ValueError, match="from 0 to 3"):
        kith.view(points, neighbors=(np.zeros((3, 1)), np.full((3, 1), 4)))
    with pytest.raises(ValueError, match='no column "b"'):
        kith.view(points, color="b")


def test_counts_dead_and_empty_clouds():
    page = kith.view(np.zeros((0, 3)), np.full((4, 2), np.nan))
    assert [cloud["count"] for cloud in scene_of(page)["clouds"]] == [0, 0]
    assert scene_of(page)["notes"] == ["4 points of cloud 2 with NaN or infinity are not shown"]
