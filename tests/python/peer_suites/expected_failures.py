"""Tests of SciPy and scikit-learn that fail on kith's classes, and why. One that passes must leave this list."""

from __future__ import annotations

import scipy

__all__ = ["EXPECTED_FAILURES"]

_EXACT = "eps lets SciPy return pairs that are too far apart; kith's answer is exact under any eps"
_ORDER = "expects lists within a radius by number; kith's are sorted by distance, then by number, with any sort_results"
_ENGINE = "looks at a private attribute that names scikit-learn's algorithm; kith chooses an engine of its own"
_FLOAT32 = "expects one list for float32 and float64; kith searches float32 in float32, where other distances are equal"

#: Patterns of "file::test" with the reason.
EXPECTED_FAILURES = {
    "test_kdtree.py::test_query_pairs_eps[[]*": _EXACT,
    "test_neighbors.py::test_k_and_radius_neighbors_train_is_not_query": _ORDER,
    "test_neighbors.py::test_k_and_radius_neighbors_duplicates[[]*": _ORDER
    + "; and of three equal points it expects the third to find the second, kith's ties go to the lowest number",
    "test_neighbors.py::test_auto_algorithm[[]X[123]-euclidean-*": _ENGINE,
    "test_neighbors.py::test_auto_algorithm[[]X4-seuclidean-*": _ENGINE,
    "test_lof.py::test_lof_dtype_equivalence[[]*-True-*": _FLOAT32,
}
if tuple(map(int, scipy.__version__.split(".")[:2])) < (1, 18):
    EXPECTED_FAILURES["test_kdtree.py::test_kdtree_attributes"] = (
        "data is a view for reading only, as SciPy has it since 1.18; before, it was the caller's own array"
    )
