"""threads=0 takes no more threads than OMP_NUM_THREADS and threadpoolctl allow."""

from __future__ import annotations

import os
import pathlib
import subprocess
import sys

import pytest

import kith

PROGRAM = """
import numpy as np, sys
import kith
from kith.spatial import KDTree

def threads():
    return int(next(line for line in open("/proc/self/status") if line.startswith("Threads")).split()[1])

points = np.random.default_rng(0).random((300_000, 3))
before = threads()

def work():
    index = kith.Index(points)
    index.knn(k=8)
    index.radius(None, 0.02)
    KDTree(points[:20_000]).query_ball_tree(KDTree(points[:20_000]), 0.02)

if sys.argv[1:] == ["threadpoolctl"]:
    import threadpoolctl
    with threadpoolctl.threadpool_limits(1):
        work()
else:
    work()
print(threads() - before)
"""


def threads_started(*words, **environment):
    """How many threads a program has after its work more than before."""
    paths = str(pathlib.Path(kith.__file__).parents[1])
    found = subprocess.run(
        [sys.executable, "-c", PROGRAM, *words],
        env={**os.environ, "PYTHONPATH": paths, **environment},
        capture_output=True,
        text=True,
        check=True,
    )
    return int(found.stdout)


pytestmark = pytest.mark.skipif(
    not os.path.exists("/proc/self/status") or len(os.sched_getaffinity(0)) < 2,
    reason="counts threads in /proc, on several cores",
)


def test_omp_num_threads_is_obeyed():
    assert threads_started(OMP_NUM_THREADS="1") == 0
    assert threads_started(OMP_NUM_THREADS="2") == 1


def test_limits_of_threadpoolctl_are_obeyed():
    pytest.importorskip("threadpoolctl")
    environment = {"OMP_NUM_THREADS": "2"}
    assert threads_started(**environment) == 1
    assert threads_started("threadpoolctl", **environment) == 0
