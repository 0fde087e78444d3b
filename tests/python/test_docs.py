"""Runs the code of docs/python: the blocks of a page in order, in one namespace."""

from __future__ import annotations

import doctest
import importlib.util
import pathlib
import re
import warnings

import pytest

import kith

ROOT = pathlib.Path(__file__).resolve().parents[2]
PAGES = sorted((ROOT / "docs" / "python").glob("*.md"))
RUN_BY_MPI = {"mpi.md"}  # by test_mpi.py
BLOCK = re.compile(r"^(<!-- gpu -->\n)?```(python|pycon)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
NEEDED = {"dask.md": "dask", "sklearn.md": "sklearn", "scipy.md": "scipy", "README.md": "matplotlib"}


def has_gpu(code):
    module = "torch" if "import torch" in code else "cupy"
    on_gpu = any(device.device.startswith("cuda") for device in kith.devices())
    return on_gpu and importlib.util.find_spec(module) is not None


def blocks(page):
    """(line, language, code, whether it needs a GPU) of each block."""
    text = page.read_text(encoding="utf-8")
    for match in BLOCK.finditer(text):
        line = text.count("\n", 0, match.start(3)) + 1
        yield line, match.group(2), match.group(3), match.group(1) is not None


def run_console(code, names, page, line):
    test = doctest.DocTestParser().get_doctest(code, names, page.name, str(page), line - 1)
    runner = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE)
    problems = []
    runner.run(test, out=problems.append, clear_globs=False)
    assert not problems, "".join(problems)
    names.update(test.globs)


@pytest.mark.parametrize(
    "page", [page for page in PAGES if page.name not in RUN_BY_MPI], ids=lambda page: page.stem
)
def test_examples_run(page, tmp_path, monkeypatch):
    if page.name in NEEDED:
        pytest.importorskip(NEEDED[page.name])
    monkeypatch.chdir(tmp_path)
    names = {"__name__": "__main__"}
    ran = 0
    for line, language, code, needs_gpu in blocks(page):
        if needs_gpu and not has_gpu(code):
            compile(code, str(page), "exec")
            continue
        ran += 1
        if language == "pycon":
            run_console(code, names, page, line)
            continue
        with warnings.catch_warnings():
            warnings.simplefilter("error", kith.DataConversionNote)
            exec(compile("\n" * (line - 1) + code, str(page), "exec"), names)
    assert ran > 0, "a page of docs/python has an example"


def test_there_are_pages():
    assert len(PAGES) >= 4
