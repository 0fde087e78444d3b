"""Colours, legends, switches, the slider of poses, pictures, light and dark, narrow screens."""

from __future__ import annotations

import base64

import numpy as np
import pytest

from browser import Picture
from conftest import PLAIN, color_of, near, places_of, write_csv

CORNERS = np.array([[x, y, z] for x in (0.0, 1) for y in (0.0, 1) for z in (0.0, 1)])
COLORS = np.array([[r, g, b] for r in (20, 230) for g in (20, 230) for b in (20, 230)])

SET_VALUE = "(field, value) => { field.value = value; field.dispatchEvent(new Event('input')); }"
HANDLES = [f"document.querySelectorAll('.handle')[{end}]" for end in (0, 1)]


@pytest.fixture(scope="module")
def tab(kith, opened, tmp_path_factory):
    """A page of the corners of a cube."""
    folder = tmp_path_factory.mktemp("controls")
    columns = {"red": COLORS[:, 0], "green": COLORS[:, 1], "blue": COLORS[:, 2]}
    columns |= {"nx": CORNERS[:, 0] * 2 - 1, "ny": CORNERS[:, 1] * 0, "nz": CORNERS[:, 2] * 0}
    columns |= {"amount": [0.0, 1, 2, 3, 4, 5, float("nan"), 10], "kind": list("aabbbccc")}
    path = write_csv(folder / "corners.csv", CORNERS, **columns)
    kith("view", path, "--out", folder / "page.html")
    return opened(folder / "page.html")


@pytest.fixture(autouse=True)
def fresh(tab):
    tab.run("kithView.clear()")
    tab.run(f"kithView.set({PLAIN})")
    tab.run("kithView.set({size: 16, color: {by: 'cloud'}, map: 'viridis', visible: [true], theme: 'light'})")
    tab.key("r")
    tab.rest()


def choose(tab, text):
    tab.run(f"kithView.set({{color: {text}}})")
    tab.rest()
    return tab.picture()


def test_starts_with_the_colours_of_the_points(tab):
    assert tab.run("document.getElementById('color-by').options.length") >= 7
    picture = choose(tab, "{by: 'column', name: 'rgb'}")
    for row in range(8):
        assert near(color_of(tab, 0, row, picture), COLORS[row], 2)


def test_directions_and_axes(tab):
    picture = choose(tab, "{by: 'column', name: 'normal'}")
    assert near(color_of(tab, 0, 0, picture), (0, 127, 127), 2)
    assert near(color_of(tab, 0, 7, picture), (255, 127, 127), 2)
    picture = choose(tab, "{by: 'axis', axis: 2}")
    low, high = ({color_of(tab, 0, row, picture) for row in rows} for rows in ((0, 2, 4, 6), (1, 3, 5, 7)))
    assert len(low) == len(high) == 1
    assert near(low.pop(), (75, 26, 120), 2) and near(high.pop(), (253, 231, 37), 2)


def test_numbers_and_missing_ones(tab):
    picture = choose(tab, "{by: 'column', name: 'amount'}")
    state = tab.run("kithView.state()")
    assert (state["kind"], state["domain"], state["range"]) == ("number", [0, 10], [0, 10])
    assert near(color_of(tab, 0, 6, picture), (140, 144, 152), 2)
    assert near(color_of(tab, 0, 7, picture), (253, 231, 37), 2)
    assert near(color_of(tab, 0, 5, picture), (33, 145, 140), 2)  # the middle of the map
    # Values outside of the range have the colours of its ends.
    tab.run("kithView.set({range: [2, 4]})")
    tab.rest()
    picture = tab.picture()
    assert color_of(tab, 0, 0, picture) == color_of(tab, 0, 2, picture)
    assert color_of(tab, 0, 4, picture) == color_of(tab, 0, 7, picture)
    assert near(color_of(tab, 0, 3, picture), (33, 145, 140), 2)
    tab.run("kithView.set({map: 'grey'})")
    tab.rest()
    assert len(set(color_of(tab, 0, 3))) == 1


def test_the_ends_of_the_colours_are_dragged(tab):
    choose(tab, "{by: 'column', name: 'amount'}")
    before = color_of(tab, 0, 4)
    middle = "(({left, top, width}) => [left + width / 2, top + 20])"
    start, end = (tab.run(f"{middle}({handle}.getBoundingClientRect())") for handle in HANDLES)
    tab.drag(start, [start[0] + 0.3 * (end[0] - start[0]), start[1]])
    tab.rest()
    assert tab.run("kithView.state().range") == pytest.approx([3, 10], abs=0.1)
    assert color_of(tab, 0, 4) != before
    tab.drag(end, [start[0], start[1]])  # the ends do not pass each other
    low, high = tab.run("kithView.state().range")
    assert low == high
    tab.run("document.querySelector('.histogram button.text').click()")
    tab.rest()
    assert tab.run("kithView.state().range") == [0, 10]
    assert color_of(tab, 0, 4) == before


def test_the_ends_of_the_colours_follow_keys(tab):
    choose(tab, "{by: 'column', name: 'amount'}")
    tab.run(f"{HANDLES[1]}.focus()")
    tab.key("PageDown")
    tab.key("ArrowLeft")
    assert tab.run("kithView.state().range") == pytest.approx([0, 8.9])
    assert float(tab.run(f"{HANDLES[1]}.getAttribute('aria-valuenow')")) == pytest.approx(8.9)
    tab.key("End")
    assert tab.run("kithView.state().range") == [0, 10]
    tab.run("document.activeElement.blur()")


def test_the_ends_of_the_colours_follow_a_finger(tab):
    choose(tab, "{by: 'column', name: 'amount'}")
    tab.resize(800, 500, touch=True)
    boxes = [tab.run(f"{handle}.getBoundingClientRect().toJSON()") for handle in HANDLES]
    left, right = (box["left"] + box["width"] / 2 for box in boxes)
    top = boxes[1]["top"] + 50
    tab.touch("touchStart", (right, top))
    for share in (0.8, 0.5):
        tab.touch("touchMove", (left + share * (right - left), top + 5))
    tab.touch("touchEnd")
    tab.resize(800, 500)
    assert tab.run("kithView.state().range") == pytest.approx([0, 5], abs=0.1)


def test_classes_are_switched_off(tab):
    picture = choose(tab, "{by: 'column', name: 'kind'}")
    colors = [color_of(tab, 0, row, picture) for row in range(8)]
    assert [len(set(colors[a:b])) for a, b in ((0, 2), (2, 5), (5, 8))] == [1, 1, 1] and len(set(colors)) == 3
    legend = tab.run("[...document.querySelectorAll('.classes li')].map((e) => e.innerText.split(/\\s+/))")
    assert legend == [["a", "2"], ["b", "3"], ["c", "3"]]
    tab.run("document.querySelectorAll('.classes input')[1].click()")
    tab.rest()
    assert tab.run("kithView.state().hidden") == ["b"]
    picture = tab.picture()
    assert color_of(tab, 0, 0, picture) == colors[0]
    assert color_of(tab, 0, 3, picture) != colors[3]
    tab.run("document.querySelector('.legend .row button').click()")
    tab.rest()
    assert color_of(tab, 0, 3) == colors[3]


def test_clouds_are_switched_off_and_coloured(tab):
    before = color_of(tab, 0, 0)
    tab.run("document.querySelector('#clouds input').click()")
    tab.rest()
    assert tab.run("kithView.state().visible") == [False]
    assert tab.run("kithView.state().drawn") == 0
    assert color_of(tab, 0, 0) != before
    tab.run("document.querySelector('#clouds input').click()")
    tab.run(f"({SET_VALUE})(document.querySelector('#clouds [type=color]'), '#12c43a')")
    tab.rest()
    assert near(color_of(tab, 0, 0), (0x12, 0xC4, 0x3A), 2)


def test_shading_and_box_are_switched(tab):
    plain = tab.picture()
    tab.run("document.getElementById('axes').click()")
    tab.rest()
    boxed = tab.picture()
    assert (plain.rows != boxed.rows).any()
    tab.run("document.getElementById('axes').click()")
    tab.run("document.getElementById('shading').click()")
    tab.rest()
    assert (plain.rows != tab.picture().rows).any()


def test_light_and_dark(tab):
    def ground():
        tab.rest()
        return sum(tab.picture().at(20, 20))

    tab.run("kithView.set({theme: 'system'})")
    tab.emulate(dark=True)
    assert ground() < 150
    tab.emulate(dark=False)
    assert ground() > 600
    tab.run("document.querySelector('[data-action=theme]').click()")
    assert ground() < 150
    assert tab.run("getComputedStyle(document.getElementById('panel')).backgroundColor") == "rgb(20, 26, 36)"
    tab.key("t")
    assert ground() > 600


def test_pictures_are_saved(tab, tmp_path):
    choose(tab, "{by: 'column', name: 'amount'}")
    shown = tab.picture()
    for factor in (1, 2):
        bytes_of = f"kithView.picture({factor}).then((blob) => blob.arrayBuffer()).then((data) => new Uint8Array(data))"
        text_of = "(bytes) => btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(''))"
        data = tab.run(f"{bytes_of}.then({text_of})")
        picture = Picture(base64.b64decode(data))
        assert (picture.width, picture.height) == (500 * factor, 500 * factor)
        place = tab.run("kithView.project(0, 7)")
        assert near(picture.at(place["x"] * factor, place["y"] * factor), color_of(tab, 0, 7, shown), 2)
    assert tab.run("document.getElementById('points').width") == 500
    tab.browser.send("Browser.setDownloadBehavior", behavior="allow", downloadPath=str(tmp_path))
    tab.run("document.querySelector('[data-action=save]').click()")
    for _ in range(400):
        saved = list(tmp_path.glob("*.png"))
        if saved and saved[0].stat().st_size > 0:
            break
        tab.run("new Promise((done) => setTimeout(done, 50))")
    assert saved[0].name == "corners.csv.png"
    assert Picture(saved[0].read_bytes()).width == 500


def test_a_lost_context_comes_back(tab):
    choose(tab, "{by: 'column', name: 'amount'}")
    before = color_of(tab, 0, 7)
    context = "document.getElementById('points').getContext('webgl2')"
    tab.run(f"globalThis.loser = {context}.getExtension('WEBGL_lose_context'); loser.loseContext()")
    tab.wait_for("!document.getElementById('status').hidden")
    tab.key("ArrowLeft")
    tab.run("loser.restoreContext()")
    tab.wait_for("document.getElementById('status').hidden")
    tab.key("r")
    tab.rest()
    assert color_of(tab, 0, 7) == before


def test_narrow_screens(tab):
    wide = tab.run("document.getElementById('stage').clientWidth")
    tab.resize(390, 700, 2, touch=True)
    tab.rest()
    visible = "getComputedStyle(document.getElementById('panel')).display"
    assert tab.run("document.getElementById('stage').clientWidth") == 390 > wide - 390
    assert tab.run(visible) == "none"
    assert tab.run("document.getElementById('points').width") == 780
    tab.run("document.getElementById('panel-button').click()")
    assert tab.run(visible) != "none"
    targets = "'#tools button, #panel-close, select, #goto button, #clouds label'"
    small = f"[...document.querySelectorAll({targets})].filter((e) => e.offsetParent && "
    small += "(e.offsetHeight < 40 || e.offsetWidth < 40)).map((e) => e.outerHTML)"
    assert tab.run(small) == []
    assert tab.run("document.documentElement.scrollWidth") == 390
    tab.run("document.getElementById('panel-close').click()")
    assert tab.run(visible) == "none"
    tab.run("kithView.pick(0, 0)")
    box = tab.run("document.getElementById('card').getBoundingClientRect().toJSON()")
    assert box["left"] >= 0 and box["right"] <= 390 and box["bottom"] <= 700
    tab.resize(800, 500)
    tab.run("delete document.body.dataset.panel")
    tab.rest()


def test_before_and_after_a_pose(kith, opened, tmp_path):
    target = np.random.default_rng(4).normal(size=(200, 3)) * [3, 2, 1]
    angle = 1.2
    turn = np.array([[np.cos(angle), -np.sin(angle), 0], [np.sin(angle), np.cos(angle), 0], [0, 0, 1]])
    pose = np.eye(4)
    pose[:3, :3], pose[:3, 3] = turn, [5, -3, 2]
    source = (target - pose[:3, 3]) @ turn  # which the pose moves onto the target
    np.savetxt(tmp_path / "pose.txt", pose)
    paths = [write_csv(tmp_path / f"{name}.csv", points) for name, points in (("source", source), ("target", target))]
    kith("view", *paths, "--pose", tmp_path / "pose.txt", "--color", "cloud", "--out", tmp_path / "page.html")
    tab = opened(tmp_path / "page.html")
    tab.run(f"kithView.set({PLAIN})")
    assert tab.run("kithView.state().slider") == 1
    assert tab.run("kithView.project(0, 9)") == pytest.approx(tab.run("kithView.project(1, 9)"), abs=0.01)
    tab.run(f"({SET_VALUE})(document.getElementById('pose-slider'), '0')")
    tab.rest()
    a, b = (places_of(tab, 10, cloud)[9] for cloud in (0, 1))
    assert np.hypot(*(a - b)) > 20
    # Half way: half of the angle around the centre of the cloud, which is half way itself.
    centre = (source.min(axis=0) + source.max(axis=0)) / 2
    half = np.array([[np.cos(angle / 2), -np.sin(angle / 2), 0], [np.sin(angle / 2), np.cos(angle / 2), 0], [0, 0, 1]])
    expected = half @ (source[9] - centre) + (centre + turn @ centre + pose[:3, 3]) / 2
    tab.run(f"kithView.set({{slider: 0.5, camera: {{target: {expected.tolist()}}}}})")
    assert tab.run("kithView.project(0, 9)") == pytest.approx({"x": 250, "y": 250}, abs=0.01)
    tab.run("kithView.pick(0, 9)")
    facts = tab.run("[...document.querySelectorAll('#card-facts dd')].map((e) => Number(e.textContent))")
    assert facts == pytest.approx([*source[9], *target[9]], abs=1e-4)
