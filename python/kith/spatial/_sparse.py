"""Sparse matrices of distances."""

from __future__ import annotations

from typing import Any

import numpy as np

from ._arguments import require_no_overflow

_RECORD = np.dtype([("i", np.intp), ("j", np.intp), ("v", np.float64)], align=True)
_KINDS = ("dok_matrix", "coo_matrix", "dok_array", "coo_array", "dict", "ndarray")


def sparse_distances(first: Any, second: Any, most: float, p: float, output_type: str) -> Any:
    """The distances of at most `most` from the points of `first` to those of `second`."""
    if output_type not in _KINDS:
        raise ValueError("Invalid output type")
    require_no_overflow(p, first.mins, first.maxes, second.mins, second.maxes)
    distances, numbers, offsets = np.empty(0), np.empty(0, np.intp), np.zeros(first.n + 1, np.intp)
    if most >= 0 and first.n and second.n:
        distances, numbers, offsets = second._searches(p).within(first.data, most, 0)
    rows = np.repeat(np.arange(first.n, dtype=np.intp), np.diff(offsets))
    if output_type == "dict":
        return dict(zip(zip(rows.tolist(), numbers.tolist()), distances.tolist()))
    if output_type == "ndarray":
        records = np.empty(len(rows), dtype=_RECORD)
        records["i"], records["j"], records["v"] = rows, numbers, distances
        return records
    import scipy.sparse

    kind = scipy.sparse.coo_array if output_type.endswith("array") else scipy.sparse.coo_matrix
    matrix = kind((distances, (rows, numbers)), shape=(first.n, second.n))
    return matrix.todok() if output_type.startswith("dok") else matrix
