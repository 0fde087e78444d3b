"""Pages come up, whatever is in them, and do nothing that pages must not do."""

from __future__ import annotations

import re

import numpy as np
import pytest

from conftest import PLAIN, color_of, near, write_csv
from page_maker import Page

EVIL = "</script><img src=x onerror=document.title='broken'><script>document.title='broken'</script><!--"


def page_of(kith, folder, *arguments):
    kith("view", *arguments, "--out", folder / "page.html")
    return folder / "page.html"


@pytest.mark.parametrize("count, dims", [(0, 3), (1, 3), (2, 1), (1000, 1), (1000, 2), (1000, 3)])
def test_any_number_of_points_and_dims(kith, opened, tmp_path, count, dims):
    points = np.random.default_rng(count + dims).normal(size=(count, dims))
    tab = opened(page_of(kith, tmp_path, write_csv(tmp_path / "points.csv", points)))
    assert tab.run("document.documentElement.dataset.state") == "ready"
    state = tab.run("kithView.state()")
    assert (state["drawn"], state["total"]) == (count, count)
    assert state["camera"]["perspective"] == (dims == 3)
    assert tab.run("document.getElementById('summary').textContent") == f"{count:,} point{'s' if count != 1 else ''}".replace(",", "\u2009")
    assert tab.run("document.getElementById('status').hidden") == (count > 0)
    for row in range(0, count, 499):
        place = tab.run(f"kithView.project(0, {row})")
        assert 60 < place["x"] < 440 and 0 < place["y"] < 500
    if count:
        tab.run(f"kithView.set({PLAIN})")
        tab.run("kithView.set({size: 8, color: {by: 'cloud'}})")
        tab.rest()
        assert near(color_of(tab, 0, 0), (79, 143, 247), 2)


def test_equal_points(kith, opened, tmp_path):
    tab = opened(page_of(kith, tmp_path, write_csv(tmp_path / "points.csv", np.full((50, 3), 7.25))))
    place = tab.run("kithView.project(0, 49)")
    assert place == pytest.approx({"x": 250, "y": 250})
    tab.run("kithView.pick(0, 49)")
    assert "7.25" in tab.run("document.getElementById('card').textContent")


def test_two_million_points(kith, opened, tmp_path):
    count = 2_000_000
    side = 1600
    rows = np.arange(count)
    x, y = rows % side, rows // side
    np.save(tmp_path / "scan.npy", np.c_[x, y, 60 * np.sin(x / 150) * np.cos(y / 180)].astype(np.float32))
    tab = opened(page_of(kith, tmp_path, tmp_path / "scan.npy", "--color", "z"))
    assert tab.run("document.documentElement.dataset.state") == "ready"
    assert tab.run("kithView.state().drawn") == count
    assert tab.run("document.querySelectorAll('script.block').length") == 0  # their texts are freed
    # While something moves a part of the points is drawn, at rest all of them.
    tab.drag((200, 200), (260, 230))
    tab.rest()
    assert tab.run("kithView.state().drawn") == count
    # Where nothing hides it, a point is picked exactly: its coordinates are on the card, rounded as the page says.
    above = "{pitch: Math.PI / 2, yaw: -Math.PI / 2, perspective: false, target: [400, 600, 0], distance: 40}"
    tab.run(f"kithView.set({{camera: {above}}})")
    tab.rest()
    row = 600 * side + 400
    place = tab.run(f"kithView.project(0, {row})")
    assert place == pytest.approx({"x": 250, "y": 250}, abs=0.1)
    tab.click(place["x"], place["y"])
    assert tab.run("kithView.state().picked")["row"] == row


def test_rows_without_coordinates_are_left_out(kith, opened, tmp_path):
    points = np.random.default_rng(5).normal(size=(60, 3))
    points[[0, 7, 31], [0, 1, 2]] = np.nan
    tab = opened(page_of(kith, tmp_path, write_csv(tmp_path / "holes.csv", points)))
    assert tab.run("kithView.state().total") == 57
    assert "3 points" in tab.run("document.getElementById('notes').textContent")
    assert tab.run("kithView.pick(0, 7)") is False
    assert tab.run("kithView.project(0, 31)") is None
    assert tab.run("kithView.pick(0, 8)") is True
    assert tab.run("kithView.state().picked.row") == 8
    text = tab.run("document.getElementById('card-facts').textContent")
    assert re.findall(r"-?\d+\.\d+", text)[:3] == [repr(value) for value in points[8].tolist()]


def test_huge_offsets_keep_their_digits(kith, opened, tmp_path):
    points = np.array([[5e6, 4e5, 120.0], [5e6 + 0.001, 4e5, 120.0], [5e6, 4e5 + 0.001, 120.0], [5e6, 4e5, 120.001]])
    tab = opened(page_of(kith, tmp_path, write_csv(tmp_path / "far.csv", points)))
    places = [tab.run(f"kithView.project(0, {row})") for row in range(4)]
    assert len({(round(place["x"], 3), round(place["y"], 3)) for place in places}) == 4
    for row, place in enumerate(places):
        tab.click(place["x"], place["y"])
        assert tab.run("kithView.state().picked.row") == row
    assert "5000000" in tab.run("document.getElementById('card-facts').textContent")


def test_texts_of_strangers_stay_texts(kith, opened, tmp_path):
    points = np.random.default_rng(2).normal(size=(40, 2))
    columns = {EVIL: np.arange(40.0), "class": [EVIL, "\u202eevil\u0007", "x" * 10000, "__proto__"] * 10}
    (tmp_path / "<img src=x onerror=alert(1)>").mkdir()
    path = write_csv(tmp_path / "<img src=x onerror=alert(1)>" / "<b>bold<b>.csv", points, **columns)
    tab = opened(page_of(kith, tmp_path, path, "--title", EVIL, "--color", "class"))
    assert tab.run("document.documentElement.dataset.state") == "ready"
    tab.run("kithView.pick(0, 3)")
    tab.rest()
    assert tab.run("document.title") == EVIL
    assert tab.run("document.querySelectorAll('img, b, main script, aside script').length") == 0
    assert EVIL[:30] in tab.run("document.getElementById('title').textContent")
    assert EVIL[:20] in tab.run("document.getElementById('card').textContent")
    # Long ones are cut, and nothing runs backwards.
    assert tab.run("document.body.innerText.includes('\\u202e')") is False
    lengths = "[...document.querySelectorAll('.name, dt, dd')].map((e) => e.textContent.length)"
    assert max(tab.run(lengths)) <= 100
    assert tab.run("document.documentElement.scrollWidth") <= 800


@pytest.mark.parametrize(
    "change, message",
    [
        ("delete globalThis.DecompressionStream", "too old"),
        ("HTMLCanvasElement.prototype.getContext = () => null", "WebGL 2"),
    ],
)
def test_it_says_what_a_browser_lacks(opened, tmp_path, change, message):
    page = Page()
    page.cloud("c", np.zeros((3, 3)))
    tab = opened(page.write(tmp_path / "page.html"), before=change)
    assert tab.run("document.documentElement.dataset.state") == "failed"
    assert message in tab.run("document.getElementById('status').textContent")
    assert tab.run("kithView.ready") is False


def test_damaged_pages_say_so(opened, tmp_path):
    page = Page()
    page.cloud("c", np.arange(9.0).reshape(3, 3))
    page.scene["clouds"][0]["axes"][1]["count"] = 4
    tab = opened(page.write(tmp_path / "page.html"))
    assert tab.run("document.documentElement.dataset.state") == "failed"
    assert "damaged" in tab.run("document.getElementById('status').textContent")


def test_the_format_as_it_is_described(kith, opened, tmp_path):
    """A page written from the description alone shows the same as one of the command."""
    rng = np.random.default_rng(9)
    points = rng.normal(size=(500, 3)) * [5, 2, 1]
    intensity = rng.random(500)
    words = np.array(["ground", "tree", "wall"])[rng.integers(0, 3, 500)]
    path = write_csv(tmp_path / "c.csv", points, intensity=intensity, kind=words)
    ours = opened(page_of(kith, tmp_path, path, "--color", "kind"))
    page = Page("c.csv", color={"by": "column", "name": "kind"})
    page.cloud("c.csv", points, rounded=True, columns=[("intensity", "number", intensity), ("kind", "label", words)])
    theirs = opened(page.write(tmp_path / "other.html"))
    for row in (0, 17, 499):
        a, b = (tab.run(f"kithView.project(0, {row})") for tab in (ours, theirs))
        assert a == pytest.approx(b, abs=0.05)
    a, b = (tab.run("kithView.state()") for tab in (ours, theirs))
    assert (a["color"], a["kind"], a["total"]) == (b["color"], b["kind"], b["total"])
    assert sorted(ours.run("document.querySelector('.classes').innerText").split()) == sorted(
        theirs.run("document.querySelector('.classes').innerText").split()
    )


def test_nothing_runs_at_rest(kith, opened, tmp_path):
    count = "globalThis.frames = 0; const ask = requestAnimationFrame.bind(globalThis);"
    count += "globalThis.requestAnimationFrame = (f) => { ++globalThis.frames; return ask(f); };"
    path = page_of(kith, tmp_path, write_csv(tmp_path / "c.csv", np.random.default_rng(1).normal(size=(100, 3))))
    tab = opened(path, before=count)
    tab.wait_for("kithView.isResting()")
    before = tab.run("frames")
    tab.run("new Promise((done) => setTimeout(done, 300))")
    assert tab.run("frames") == before
    tab.key("ArrowLeft")
    tab.wait_for(f"frames > {before}")
