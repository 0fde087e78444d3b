"""What the tests in a browser share: the browser, and clouds written to pages by the command `kith view`."""

from __future__ import annotations

import csv
import os
import pathlib
import subprocess

import numpy as np
import pytest

from browser import Browser, find_browser

ROOT = pathlib.Path(__file__).resolve().parents[2]


@pytest.fixture(scope="session")
def browser():
    path = find_browser()
    if path is None:
        pytest.skip("no chromium was found; KITH_BROWSER names one")
    browser = Browser(path)
    yield browser
    browser.close()


@pytest.fixture(scope="session")
def kith():
    """Runs the command: of KITH_TEST_COMMAND or build/bin/kith."""
    command = pathlib.Path(os.environ.get("KITH_TEST_COMMAND", ROOT / "build" / "bin" / "kith"))
    if not command.exists():
        pytest.skip(f"{command} is not built; KITH_TEST_COMMAND names another command")

    def run(*arguments):
        done = subprocess.run([command, *map(str, arguments)], capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        return done.stdout

    return run


def write_csv(path, points, **columns):
    """A table of coordinates and columns, which read back as they are."""
    names = [*"xyz"[: points.shape[1]], *columns]
    with open(path, "w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(names)
        for values in zip(*points.T.tolist(), *(np.asarray(column).tolist() for column in columns.values())):
            writer.writerow([repr(value) if isinstance(value, float) else value for value in values])
    return path


@pytest.fixture(scope="module")
def opened(browser):
    """Opens pages, and at the end of the module sees that none of them did what pages must not."""
    tabs = []

    def open_page(path, **options):
        options.setdefault("size", (800, 500))
        tabs.append(browser.open(path, **options))
        return tabs[-1]

    yield open_page
    complaints = [tab.complaints() for tab in tabs]
    for tab in tabs:
        tab.close()
    assert complaints == [[] for _ in complaints]


PLAIN = "{shading: false, axes: false}"  # colours on the screen are those of the points


def color_of(tab, cloud, row, picture=None):
    """The colour on the screen where a point is."""
    place = tab.run(f"kithView.project({cloud}, {row})")
    return (picture or tab.picture()).at(place["x"], place["y"])


def places_of(tab, count, cloud=0):
    """Where the points of a cloud are on the screen: count x 2."""
    place = f"(row) => Object.values(kithView.project({cloud}, row))"
    return np.array(tab.run(f"Array.from({{length: {count}}}, (_, row) => ({place})(row))"))


def near(color, expected, within=6):
    return all(abs(a - b) <= within for a, b in zip(color, expected))
