"""Counts of pairs between two trees."""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import _kith
from ._arguments import Floats, as_exponent, real_floats, require_no_overflow
from ._searches import metric_of


def count_neighbors(
    first: Any, second: Any, given: Any, r: Any, p: Any, weights: Any, cumulative: Any
) -> Any:
    """What KDTree.count_neighbors returns; `second` is the given tree on the axes of `first`."""
    exponent = as_exponent(p)
    if np.ndim(r) > 1:
        raise ValueError("r must be either a single value or a one-dimensional array of values")
    radii = np.array(r, ndmin=1, dtype=np.float64)
    if not cumulative and (radii[:-1] > radii[1:]).any():
        raise ValueError("r must be non-decreasing for non-cumulative counting.")
    mine, others = _weights(first, given, weights)
    require_no_overflow(exponent, first.mins, first.maxes, second.mins, second.maxes)
    ascending, where_first, inverse = np.unique(
        np.where(np.isnan(radii), -1.0, radii), return_index=True, return_inverse=True
    )
    counts = _kith.pair_counts(
        first._spatial_tree(),
        second._spatial_tree(),
        ascending,
        metric_of(exponent),
        np.empty(0) if first._period is None else first._period,
        mine,
        others,
        0,
    )
    if cumulative:
        result = np.cumsum(counts)[inverse.reshape(-1)]
    else:
        result = np.zeros(len(radii), dtype=counts.dtype)
        result[where_first] = counts
    if np.ndim(r) > 0:
        return result
    return int(result[0]) if mine is None and others is None else result[0]


def _weights(first: Any, second: Any, weights: Any) -> tuple[Floats | None, Floats | None]:
    if weights is None:
        return None, None
    if isinstance(weights, tuple):
        mine, others = weights
        return _checked(first, mine), _checked(second, others)
    if second is not first:
        raise ValueError("Two different trees are used. Specify weights for both in a tuple.")
    both = _checked(first, weights)
    return both, both


def _checked(tree: Any, weights: Any) -> Floats | None:
    if weights is None:
        return None
    values = real_floats(weights)
    if values.ndim != 1:
        raise ValueError(f"Buffer has wrong number of dimensions (expected 1, got {values.ndim})")
    if len(values) != tree.n:
        raise ValueError("Number of weights differ from the number of data points")
    return values
