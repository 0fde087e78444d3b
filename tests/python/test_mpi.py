"""MPI: the bytes of one process on any number of ranks, and no rank that waits for ever."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("mpi4py")
PROGRAM = Path(__file__).with_name("mpi_program.py")
PAGE = Path(__file__).resolve().parents[2] / "docs" / "python" / "mpi.md"


@pytest.fixture(scope="module")
def mpirun():
    found = shutil.which("mpirun")
    if found is None:
        pytest.skip("mpirun is not installed")
    words = subprocess.run([found, "--version"], capture_output=True, text=True, check=True).stdout
    if "Open MPI" not in words:
        return [found]
    return [
        found, "--oversubscribe", "--allow-run-as-root", "--bind-to", "none",
        # Ranks that wait leave the cores to those that work; containers may forbid to read from other processes.
        "--mca", "mpi_yield_when_idle", "1", "--mca", "btl_vader_single_copy_mechanism", "none",
    ]  # fmt: skip


def run(mpirun, ranks, name, *python, program=PROGRAM):
    return subprocess.run(
        [*mpirun, "-n", str(ranks), sys.executable, *python, str(program), name],
        capture_output=True, text=True, timeout=300, check=False,
        env={**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"},
    )


@pytest.mark.parametrize("ranks", [1, 2, 3, 4])
def test_answers_are_those_of_one_process(mpirun, ranks):
    ended = run(mpirun, ranks, "cases")
    assert ended.returncode == 0, ended.stderr
    assert ended.stdout.endswith(f" cases on {ranks} ranks\n"), ended.stdout


def test_long_messages_travel_in_pieces(mpirun):
    ended = run(mpirun, 3, "pieces")
    assert (ended.returncode, ended.stdout) == (0, "pieces\n"), ended.stderr


def test_an_error_of_one_rank_is_raised_by_all(mpirun):
    ended = run(mpirun, 3, "errors")
    assert (ended.returncode, ended.stdout) == (0, "errors\n"), ended.stderr


def test_a_rank_that_dies_ends_the_others(mpirun):
    ended = run(mpirun, 3, "killed")
    assert ended.returncode != 0
    assert "not reached" not in ended.stdout


def test_a_rank_that_raises_ends_the_others(mpirun):
    ended = run(mpirun, 3, "raising", "-m", "mpi4py")
    assert ended.returncode != 0
    assert "no more" in ended.stderr
    assert "not reached" not in ended.stdout


def test_the_page_runs(mpirun, tmp_path):
    code = "".join(re.findall(r"^```python\n(.*?)^```$", PAGE.read_text(), re.MULTILINE | re.DOTALL))
    program = tmp_path / "page.py"
    program.write_text(code + "\nprint('the end')\n")
    ended = run(mpirun, 2, "", "-m", "mpi4py", program=program)
    assert (ended.returncode, ended.stdout) == (0, "the end\nthe end\n"), ended.stderr
