"""The programs of examples/python run, and draw a picture or write a page."""

from __future__ import annotations

import pathlib
import runpy
import sys

import pytest

matplotlib = pytest.importorskip("matplotlib")
pytest.importorskip("sklearn")
pytest.importorskip("scipy")
matplotlib.use("Agg")
import matplotlib.pyplot as plt  # noqa: E402

EXAMPLES = sorted((pathlib.Path(__file__).resolve().parents[2] / "examples/python").glob("*.py"))


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_example_draws(path, tmp_path, monkeypatch):
    is_page = path.stem.startswith("view_")
    picture = tmp_path / ("page.html" if is_page else "picture.png")
    monkeypatch.setattr(sys, "argv", [str(path), str(picture)])
    runpy.run_path(str(path), run_name="__main__")
    plt.close("all")
    assert picture.read_bytes().startswith(b"<!doctype html>" if is_page else b"\x89PNG") and picture.stat().st_size > 10_000


def test_there_are_examples():
    assert len(EXAMPLES) >= 5
