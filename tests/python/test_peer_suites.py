"""The test suites of SciPy's trees and of scikit-learn's neighbours and their users, run on kith's classes.

They come with the installed wheels; peer_suites/patched_peers.py puts kith's classes in. What may fail is listed with its
reason in peer_suites/expected_failures.py; anything else that fails, and anything listed that passes, fails here. By
default the tests that take long are left out; ``pytest tests/python/test_peer_suites.py --whole-peer-suites`` runs all.
"""

from __future__ import annotations

import importlib.util
import os
import pathlib
import re
import subprocess
import sys

import pytest

import kith

PLUGIN = pathlib.Path(__file__).parent / "peer_suites"
PACKAGE = pathlib.Path(kith.__file__).parents[1]

#: Modules of tests that are always run, and how many of their tests pass at least.
CHOSEN = {
    "scipy.spatial.tests.test_kdtree": 200,
    "sklearn.neighbors.tests.test_neighbors": 400,
    "sklearn.neighbors.tests.test_graph": 3,
    "sklearn.neighbors.tests.test_lof": 20,
    "sklearn.neighbors.tests.test_nearest_centroid": 10,
    "sklearn.neighbors.tests.test_neighbors_pipeline": 5,
    "sklearn.cluster.tests.test_dbscan": 20,
    "sklearn.manifold.tests.test_isomap": 40,
    "sklearn.impute.tests.test_knn": 30,
}
#: Of these: tests that take long, or that search by scikit-learn's own code only.
SLOW = "not brute_backend and not tsne and not sparse and not estimator"
REST = [
    "sklearn.neighbors.tests",
    "sklearn.cluster.tests.test_hdbscan",
    "sklearn.cluster.tests.test_hierarchical",
    "sklearn.cluster.tests.test_mean_shift",
    "sklearn.cluster.tests.test_optics",
    "sklearn.cluster.tests.test_spectral",
    "sklearn.ensemble.tests.test_bagging",
    "sklearn.ensemble.tests.test_stacking",
    "sklearn.ensemble.tests.test_voting",
    "sklearn.feature_selection.tests.test_mutual_info",
    "sklearn.feature_selection.tests.test_sequential",
    "sklearn.inspection.tests.test_partial_dependence",
    "sklearn.manifold.tests.test_locally_linear",
    "sklearn.manifold.tests.test_spectral_embedding",
    "sklearn.manifold.tests.test_t_sne",
    "sklearn.semi_supervised.tests.test_label_propagation",
    "sklearn.semi_supervised.tests.test_self_training",
    "sklearn.tests.test_multiclass",
    "sklearn.tests.test_pipeline",
    "sklearn.utils.tests.test_graph",
]


def run_suite(modules, tmp_path, *options):
    """Runs modules of tests of the peers on kith's classes; returns how many passed."""
    present = [module for module in modules if importlib.util.find_spec(module) is not None]
    if not present:
        pytest.skip(f"this installation comes without {modules[0]}")
    command = [sys.executable, "-m", "pytest", "-q", "--no-header", "--tb=short", "-W", "ignore"]
    command += ["-p", "patched_peers", "-p", "no:cacheprovider", "-c", os.devnull]
    paths = os.pathsep.join([str(PACKAGE), str(PLUGIN)])
    found = subprocess.run(
        [*command, *options, "--pyargs", *present],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": paths},
        capture_output=True,
        text=True,
    )
    assert found.returncode == 0, found.stdout[-6000:] + found.stderr[-2000:]
    return int(re.findall(r"(\d+) passed", found.stdout)[-1])


@pytest.mark.parametrize("package", ["scipy", "sklearn"])
def test_chosen_tests_of_the_peers(package, tmp_path):
    pytest.importorskip("sklearn")
    chosen = {name: least for name, least in CHOSEN.items() if name.startswith(package)}
    passed = run_suite(chosen, tmp_path, *(["-k", SLOW] if package == "sklearn" else []))
    assert passed >= sum(chosen.values()), "the peers' tests are collected no more"


@pytest.mark.parametrize("module", [*CHOSEN, *REST])
def test_whole_suites_of_the_peers(module, tmp_path):
    pytest.importorskip("sklearn")
    run_suite([module], tmp_path)
