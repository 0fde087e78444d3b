"""A click picks the point that is meant; its neighbours are those that kith found."""

from __future__ import annotations

import numpy as np
import pytest

from conftest import PLAIN, color_of, near, places_of, write_csv
from page_maker import NO_ROW, Page

K = 6


@pytest.fixture(scope="module")
def cloud():
    return np.random.default_rng(11).normal(size=(400, 3))


@pytest.fixture(scope="module")
def lists(cloud):
    """The k nearest others of every point, in the obvious way."""
    distances = np.sqrt(((cloud[:, None] - cloud[None]) ** 2).sum(axis=2))
    order = np.argsort(distances, axis=1, kind="stable")[:, :K]
    return order, np.take_along_axis(distances, order, axis=1)


@pytest.fixture(scope="module")
def tab(kith, opened, cloud, tmp_path_factory):
    folder = tmp_path_factory.mktemp("picking")
    path = write_csv(folder / "cloud.csv", cloud, intensity=np.arange(400) / 7, kind=["a", "b"] * 200)
    kith("knn", path, "--columns", "x,y,z", "-k", K, "--out", folder / "near.npz")
    kith("view", path, "--neighbors", folder / "near.npz", "--out", folder / "page.html")
    tab = opened(folder / "page.html", size=(1000, 500))
    tab.run(f"kithView.set({PLAIN})")
    return tab


@pytest.fixture(autouse=True)
def fresh(tab):
    tab.run("kithView.clear()")
    tab.key("r")
    tab.rest()


def front(tab, cloud):
    """Rows that no other point and nothing of the page covers on the screen, and where all rows are."""
    places = places_of(tab, len(cloud))
    apart = np.sqrt(((places[:, None] - places[None]) ** 2).sum(axis=2))
    np.fill_diagonal(apart, np.inf)
    alone = apart.min(axis=1)
    alone[(places[:, 0] < 330) | (places[:, 0] > 620)] = 0  # below the card and the buttons
    return [int(row) for row in np.argsort(-alone)[:4]], places


def test_clicks_pick_points_with_their_neighbors(tab, cloud, lists):
    rows, places = front(tab, cloud)
    for row in rows:
        tab.click(*places[row])
        picked = tab.run("kithView.state().picked")
        assert (picked["cloud"], picked["row"]) == (0, row)
        assert picked["neighbors"] == lists[0][row].tolist()
        assert picked["distances"] == pytest.approx(lists[1][row], rel=1e-6)
    facts = tab.run("[...document.querySelectorAll('#card-facts dd')].map((e) => e.textContent)")
    row = rows[-1]
    assert [float(fact) for fact in facts[:4]] == [*cloud[row], row / 7]
    assert facts[4] == "ab"[row % 2]
    items = tab.run("[...document.querySelectorAll('#card-neighbors button')].map((e) => Number(e.dataset.row))")
    assert items == lists[0][row].tolist()


def test_the_picked_point_and_its_neighbors_are_marked(tab, cloud, lists):
    row = front(tab, cloud)[0][0]
    before = tab.picture()
    tab.run(f"kithView.pick(0, {row})")
    tab.rest()
    after = tab.picture()
    mark = (214, 36, 122)
    assert near(color_of(tab, 0, row, after), mark) and not near(color_of(tab, 0, row, before), mark)
    other = int(lists[0][row][-1])
    assert near(color_of(tab, 0, other, after), (37, 99, 216))
    tab.key("Escape")
    tab.rest()
    assert tab.run("kithView.state().picked") is None
    assert not near(color_of(tab, 0, row), mark)


def test_a_neighbor_in_the_list_picks_it(tab, lists):
    tab.run("kithView.pick(0, 42)")
    tab.run("document.querySelectorAll('#card-neighbors button')[2].click()")
    assert tab.run("kithView.state().picked.row") == lists[0][42][2]


def test_of_points_behind_each_other_the_one_in_front(tab, cloud):
    tab.run("kithView.set({size: 12, camera: {perspective: false}})")
    tab.rest()
    camera = tab.run("kithView.state().camera")
    towards = np.array(camera["eye"]) - camera["target"]
    depth = -(cloud @ towards)
    places = front(tab, cloud)[1]
    checked = 0
    for row, place in enumerate(places):
        apart = np.hypot(*(places - place).T)
        covering = np.flatnonzero(apart < 4.5)
        is_clear = not ((apart >= 4.5) & (apart < 7.5)).any()  # no point near the rim of its disc of 6 pixels
        if is_clear and len(covering) > 1 and 330 < place[0] < 620:
            tab.click(*place)
            assert tab.run("kithView.state().picked.row") == min(covering, key=lambda other: depth[other])
            checked += 1
        if checked == 12:
            break
    tab.run("kithView.set({size: 5})")
    assert checked == 12


def test_clicks_beside_all_points_clear_and_drags_do_not_pick(tab):
    tab.run("kithView.pick(0, 3)")
    tab.drag((400, 250), (450, 260))
    assert tab.run("kithView.state().picked.row") == 3
    tab.click(340, 490)
    assert tab.run("kithView.state().picked") is None
    assert tab.run("document.getElementById('card').hidden") is True


def test_go_to_row(tab):
    tab.run("document.getElementById('goto-row').focus()")
    for letter in "107":
        tab.key(letter)
    tab.key("Enter", text="\r")
    assert tab.run("kithView.state().picked.row") == 107
    for wrong in ("400", "-1", "1.5", "x"):
        tab.run(f"document.getElementById('goto-row').value = {wrong!r}")
        tab.run("document.getElementById('goto').requestSubmit()")
        assert wrong in tab.run("document.getElementById('goto-answer').textContent")
        assert tab.run("kithView.state().picked.row") == 107


def test_switched_off_points_are_not_picked(tab, cloud):
    row = front(tab, cloud)[0][0]
    place = tab.run(f"kithView.project(0, {row})")
    tab.run("kithView.set({color: {by: 'column', name: 'kind'}})")
    tab.run(f"kithView.set({{hidden: ['{'ab'[row % 2]}']}})")
    tab.click(place["x"], place["y"])
    assert (tab.run("kithView.state().picked") or {"row": -1})["row"] != row
    tab.run("kithView.set({hidden: []})")
    tab.click(place["x"], place["y"])
    assert tab.run("kithView.state().picked.row") == row
    tab.run("kithView.set({visible: [false]})")
    tab.click(place["x"], place["y"])
    assert tab.run("kithView.state().picked") is None
    tab.run("kithView.set({visible: [true]})")


def test_double_click_turns_around_the_point(tab, cloud):
    row = front(tab, cloud)[0][1]
    place = tab.run(f"kithView.project(0, {row})")
    tab.click(place["x"], place["y"], count=2)
    tab.rest()
    assert tab.run("kithView.state().camera.target") == pytest.approx(cloud[row].tolist(), abs=1e-6)
    assert tab.run(f"kithView.project(0, {row})") == pytest.approx({"x": 350, "y": 250}, abs=0.01)


def test_neighbors_in_another_cloud_without_distances(opened, tmp_path):
    """Distances are then measured between the places that are shown, and rows that are not shown cannot be picked."""
    page = Page("two")
    page.cloud("queries", np.array([[0.0, 0, 0], [1, 1, 1]]))
    page.neighbors([[12, 10, NO_ROW], [11, 99, 10]], of=1)
    page.cloud("points", np.array([[1.0, 0, 0], [1, 2, 1], [0, 0, 3]]), rows=[10, 11, 12])
    tab = opened(page.write(tmp_path / "page.html"))
    tab.run("kithView.pick(0, 1)")
    picked = tab.run("kithView.state().picked")
    assert (picked["of"], picked["neighbors"]) == (1, [11, 99, 10])
    assert [picked["distances"][0], picked["distances"][2]] == pytest.approx([1, 2**0.5])
    items = "[...document.querySelectorAll('#card-neighbors li')].map((e) => e.innerText.split(/\\n+/))"
    assert tab.run(items) == [["row 11", "\u2248 1"], ["row 99"], ["row 10", "\u2248 1.414"]]
    tab.run("kithView.pick(0, 0)")
    assert tab.run("kithView.state().picked.neighbors") == [12, 10]
    tab.run("document.querySelector('#card-neighbors button').click()")
    assert tab.run("kithView.state().picked") == {"cloud": 1, "row": 12, "of": 1, "neighbors": [], "distances": []}
