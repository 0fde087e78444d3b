"""Mouse, wheel, touch and keys move the camera as people expect."""

from __future__ import annotations

import math

import numpy as np
import pytest

from conftest import places_of, write_csv


@pytest.fixture(scope="module")
def path(kith, tmp_path_factory):
    folder = tmp_path_factory.mktemp("input")
    points = write_csv(folder / "cloud.csv", np.random.default_rng(3).random((300, 3)) * [4, 3, 2])
    kith("view", points, "--out", folder / "page.html")
    return folder / "page.html"


@pytest.fixture(scope="module")
def tab(opened, path):
    return opened(path)


@pytest.fixture
def camera(tab):
    tab.run("document.activeElement.blur()")
    tab.key("r")
    tab.rest()
    return tab.run("kithView.state().camera")


def same(camera):
    """Compares cameras but for rounding."""
    return {name: pytest.approx(value) for name, value in camera.items()}


def now(tab):
    tab.rest()
    return tab.run("kithView.state().camera")


def test_drag_turns(tab, camera):
    tab.drag((250, 250), (310, 270))
    after = now(tab)
    assert after["yaw"] < camera["yaw"] and after["pitch"] > camera["pitch"]
    assert after["target"] == camera["target"] and after["distance"] == camera["distance"]
    tab.drag((250, 100), (250, 480))
    tab.drag((250, 100), (250, 480))
    assert now(tab)["pitch"] == pytest.approx(math.pi / 2)  # not beyond


@pytest.mark.parametrize("how", [{"button": "right"}, {"button": "middle"}, {"modifiers": 8}])
def test_drag_moves(tab, camera, how):
    before = tab.run("kithView.project(0, 0)")
    tab.drag((250, 250), (280, 240), **how)
    after = now(tab)
    assert (after["yaw"], after["pitch"], after["distance"]) == (camera["yaw"], camera["pitch"], camera["distance"])
    assert after["target"] != camera["target"]
    moved = tab.run("kithView.project(0, 0)")
    assert moved["x"] - before["x"] == pytest.approx(30, rel=0.4)
    assert moved["y"] - before["y"] == pytest.approx(-10, rel=0.4)


@pytest.mark.parametrize("perspective", [True, False])
def test_wheel_zooms_towards_the_cursor(tab, camera, perspective):
    tab.run(f"kithView.set({{camera: {{perspective: {str(perspective).lower()}, target: [1, 2, 1]}}}})")
    tab.rest()
    before = tab.run("kithView.state().camera.distance")
    # A point of the target's plane, at the cursor, stays there: here the one that a first zoom brings there.
    tab.wheel(330, 180, -240)
    tab.wait_for(f"kithView.state().camera.distance < {before}")
    after = now(tab)
    factor = before / after["distance"]
    assert factor == pytest.approx(math.exp(240 * 0.0016), rel=1e-6)
    right = np.array([-math.sin(after["yaw"]), math.cos(after["yaw"]), 0])
    rise, turned = math.sin(after["pitch"]), after["yaw"]
    up = np.array([-rise * math.cos(turned), -rise * math.sin(turned), math.cos(after["pitch"])])
    half = math.tan(math.pi / 8) / 250  # of the smaller side, per pixel

    def at_cursor(target, distance):
        return np.array(target) + distance * half * (80 * right + 70 * up)

    assert at_cursor(after["target"], after["distance"]) == pytest.approx(at_cursor([1, 2, 1], before), abs=1e-9)
    tab.wheel(330, 180, 240)
    tab.wait_for(f"kithView.state().camera.distance > {after['distance']}")
    assert now(tab)["distance"] == pytest.approx(before)


def test_keys(tab, camera):
    tab.key("ArrowLeft")
    assert now(tab)["yaw"] > camera["yaw"]
    tab.key("ArrowDown")
    assert now(tab)["pitch"] > camera["pitch"]
    tab.key("ArrowRight", modifiers=8)
    assert now(tab)["target"] != camera["target"]
    tab.key("+")
    assert now(tab)["distance"] < camera["distance"]
    tab.key("-")
    tab.key("-")
    assert now(tab)["distance"] > camera["distance"]
    tab.key("p")
    assert now(tab)["perspective"] is False
    size = tab.run("kithView.state().size")
    tab.key("]")
    assert tab.run("kithView.state().size") == size + 0.5
    tab.key("[")
    tab.key("1", code="Digit1")
    assert now(tab)["pitch"] == pytest.approx(math.pi / 2)
    tab.key("2", code="Digit2")
    assert (now(tab)["pitch"], now(tab)["yaw"]) == pytest.approx((0, -math.pi / 2))
    tab.key("3", code="Digit3")
    assert (now(tab)["pitch"], now(tab)["yaw"]) == pytest.approx((0, 0))
    tab.key("#", code="Digit3", modifiers=8)
    assert now(tab)["eye"][0] < 0
    tab.key("f")
    tab.key("Home")
    assert now(tab) == same(camera)


def test_help(tab):
    tab.key("?", code="Slash", modifiers=8)
    assert tab.run("document.getElementById('help').open") is True
    assert "Perspective" in tab.run("document.getElementById('help').innerText")
    yaw = tab.run("kithView.state().camera.yaw")
    tab.key("ArrowLeft")
    assert tab.run("kithView.state().camera.yaw") == yaw
    tab.key("Escape")
    tab.wait_for("!document.getElementById('help').open")


def test_fields_keep_their_keys(tab, camera):
    tab.run("document.getElementById('point-size').focus()")
    size = tab.run("kithView.state().size")
    tab.key("ArrowRight")
    assert tab.run("kithView.state().size") > size
    assert now(tab) == same(camera)
    tab.run("document.getElementById('points').focus()")


def test_tab_goes_through_the_page_and_shows_where_it_is(tab):
    tab.run("document.getElementById('points').focus()")
    seen = []
    for _ in range(14):
        tab.key("Tab")
        seen.append(tab.run("(({id, dataset, type}) => id || dataset.action || type)(document.activeElement)"))
        assert tab.run("getComputedStyle(document.activeElement).outlineStyle") != "none", seen[-1]
    assert seen[:3] == ["reset", "frame", "perspective"]
    assert "color-by" in seen
    unnamed = "[...document.querySelectorAll('button, input, select')].filter((e) => "
    unnamed += "!e.ariaLabel && !e.labels?.length && !e.textContent.trim()).map((e) => e.outerHTML)"
    assert tab.run(unnamed) == []
    tab.run("document.activeElement.blur()")


def test_motion_is_smooth_unless_that_is_not_wanted(tab, camera):
    press = "globalThis.dispatchEvent(new KeyboardEvent('keydown', {key: '1', code: 'Digit1'}));"
    press += "kithView.state().camera.pitch"
    tab.emulate(reduced_motion=False)
    assert tab.run(press) == camera["pitch"]
    assert now(tab)["pitch"] == pytest.approx(math.pi / 2)
    tab.key("r")
    assert now(tab) == same(camera)
    tab.emulate(reduced_motion=True)
    assert tab.run(press) == pytest.approx(math.pi / 2)


def test_fingers(opened, path):
    tab = opened(path, size=(400, 640), touch=True)
    before = now(tab)
    tab.touch("touchStart", (200, 300))
    tab.touch("touchMove", (230, 300))
    tab.touch("touchMove", (260, 310))
    tab.touch("touchEnd")
    after = now(tab)
    assert after["yaw"] != before["yaw"] and after["distance"] == before["distance"]
    assert tab.run("kithView.state().picked") is None
    tab.touch("touchStart", (150, 300), (250, 300))
    tab.touch("touchMove", (125, 300), (275, 300))
    tab.touch("touchMove", (100, 320), (300, 320))
    tab.touch("touchEnd")
    last = now(tab)
    assert last["distance"] == pytest.approx(after["distance"] / 2, rel=0.01)
    assert last["target"] != after["target"] and last["yaw"] == after["yaw"]
    places = places_of(tab, 300)
    place = min(places.tolist(), key=lambda place: math.dist(place, (200, 320)))
    tab.touch("touchStart", place)
    tab.touch("touchEnd")
    tab.wait_for("kithView.state().picked !== null")


def test_flat_clouds_are_seen_from_above(kith, opened, tmp_path):
    points = np.array([[0.0, 0], [4, 0], [0, 3], [4, 3]])
    kith("view", write_csv(tmp_path / "flat.csv", points), "--out", tmp_path / "page.html")
    tab = opened(tmp_path / "page.html")
    a, b, c = (tab.run(f"kithView.project(0, {row})") for row in range(3))
    assert b["x"] - a["x"] == pytest.approx((a["y"] - c["y"]) * 4 / 3)
    assert a["y"] == pytest.approx(b["y"]) and a["x"] == pytest.approx(c["x"])
    before = now(tab)
    tab.drag((250, 250), (290, 250))  # moves
    after = now(tab)
    assert after["yaw"] == before["yaw"] and after["target"][0] < before["target"][0]
    tab.run("document.getElementById('turning').click()")
    tab.drag((250, 250), (290, 200))
    assert now(tab)["pitch"] < before["pitch"]
    tab.run("document.getElementById('turning').click()")
    assert now(tab)["pitch"] == before["pitch"]
