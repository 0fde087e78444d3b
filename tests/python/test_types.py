"""py.typed is meant: mypy and pyright know the results of the package, and find misspelt names."""

from __future__ import annotations

import importlib.util
import json
import os
import pathlib
import shutil
import subprocess
import sys

import pytest

import kith

PROGRAM = pathlib.Path(__file__).with_name("typed_program.py")
PACKAGE = pathlib.Path(kith.__file__).parents[1]


def run_checker(words, tmp_path):
    environment = {**os.environ, "MYPYPATH": str(PACKAGE), "PYTHONPATH": str(PACKAGE)}
    found = subprocess.run(
        [sys.executable, "-m", *words], cwd=tmp_path, env=environment, capture_output=True, text=True
    )
    assert found.returncode == 0, found.stdout + found.stderr


def test_mypy_accepts_a_program_and_finds_its_mistakes(tmp_path):
    pytest.importorskip("mypy")
    silent = ["--follow-imports=silent", "--ignore-missing-imports", "--no-error-summary"]
    checks = ["--strict", "--warn-unused-ignores", f"--cache-dir={tmp_path}"]
    run_checker(["mypy", *silent, *checks, str(PROGRAM)], tmp_path)


def test_pyright_accepts_a_program_and_finds_its_mistakes(tmp_path):
    if importlib.util.find_spec("pyright") is None:
        pytest.skip("pyright is not installed; pip install pyright[nodejs]")
    shutil.copy(PROGRAM, tmp_path)
    config = {
        "include": [PROGRAM.name],
        "extraPaths": [str(PACKAGE)],
        "enableTypeIgnoreComments": False,
        "reportUnnecessaryTypeIgnoreComment": "error",
    }
    (tmp_path / "pyrightconfig.json").write_text(json.dumps(config))
    run_checker(["pyright", "--pythonpath", sys.executable], tmp_path)


def test_dir_tells_all_names():
    assert set(kith.__all__) <= set(dir(kith))
    assert {"neighbors", "plot", "spatial", "__version__"} <= set(dir(kith))
    assert not hasattr(kith, "Indx")
    with pytest.raises(AttributeError, match="has no attribute 'Indx'"):
        kith.Indx  # noqa: B018


def test_the_package_says_that_it_is_typed():
    assert (pathlib.Path(kith.__file__).parent / "py.typed").exists()
