"""The arguments of KDTree's methods: what SciPy takes, and its messages where it does not."""

from __future__ import annotations

import math
import operator
import os
import sys
from typing import Any

import numpy as np
import numpy.typing as npt

from .._arguments import as_count, as_whole

Floats = npt.NDArray[np.float64]


def real_floats(values: Any) -> Floats:
    """Any real numbers as float64, side by side and aligned."""
    array = np.asarray(values)
    if array.dtype.kind == "c":
        raise TypeError("KDTree does not work with complex data")
    return np.require(np.ascontiguousarray(array, dtype=np.float64), requirements="A")


def as_float(value: Any) -> float:
    if not isinstance(value, (str, bytes)):
        try:
            return float(value)
        except TypeError:
            pass
    raise TypeError(f"must be real number, not {type(value).__name__}")


def as_query_points(x: Any, dims: int) -> Floats:
    """Finite points of shape (..., dims)."""
    points = real_floats(x)
    if points.ndim == 0 or points.shape[-1] != dims:
        raise ValueError(f"x must consist of vectors of length {dims} but has shape {points.shape}")
    if not np.isfinite(points).all():
        raise ValueError("'x' must be finite, check for nan or inf values")
    return points


def as_ranks(k: Any) -> int | npt.NDArray[np.int64]:
    """How many neighbours, or the ranks of those that are wanted, from 1."""
    if k is None:
        raise ValueError("k must be an integer or a sequence of integers")
    if isinstance(k, (str, bytes)):
        raise TypeError("k must be an integer or a sequence of integers")
    if np.isscalar(k):
        # SciPy counts 2.5 as 3 neighbours, because numpy.arange(1, 3.5) has as many.
        number: Any = k
        ranks = int(np.ceil(number)) if isinstance(k, (float, np.floating)) else as_whole(number, "k")
        if ranks < 1:
            raise ValueError("k must be an integer of at least 1 or a flat sequence of such")
        return as_count(ranks, "k")
    several = np.array(k, dtype=np.int64)
    if several.ndim == 0:
        raise TypeError("k must be an integer or a sequence of integers")
    if several.ndim != 1 or several.size == 0 or several.min() < 1:
        raise ValueError("k must be an integer of at least 1 or a flat sequence of such")
    return several


def as_exponent(p: Any) -> float:
    """The exponent of a Minkowski norm."""
    exponent = as_float(p)
    if not exponent >= 1:
        raise ValueError("Only p-norms with 1<=p<=infinity permitted")
    return exponent


def as_eps(eps: Any) -> float:
    """What the library takes, which is finite; under any that large every neighbour is near."""
    value = as_float(eps)
    if not value >= 0:
        raise ValueError(f"eps must be nonnegative, not {value}")
    return min(value, sys.float_info.max)


def as_threads(workers: Any) -> int:
    """The number of threads; -1 asks for all cores."""
    if workers is None:
        return 1
    count = operator.index(workers)
    if count == -1:
        cores = os.cpu_count()
        if cores is None:
            raise NotImplementedError(
                "Cannot determine the number of cores, which workers=-1 asks for"
            )
        return cores
    if count <= 0:
        raise ValueError(f"Invalid number of workers {workers}, must be -1 or > 0")
    return count


def as_leafsize(leafsize: Any) -> int:
    if isinstance(leafsize, (float, np.floating)):
        leafsize = int(leafsize)
    try:
        size = operator.index(leafsize)
    except TypeError:
        raise TypeError("an integer is required") from None
    if size < 1:
        raise ValueError("leafsize must be at least 1")
    return size


def broadcast(values: Any, shape: tuple[int, ...]) -> Floats:
    """Float64 values spread over a shape, contiguous."""
    spread = np.empty(shape, dtype=np.float64)
    spread[...] = values
    return spread


def is_far_from_overflow(p: float, largest: float, dims: int) -> bool:
    """Whether no two points with coordinates up to `largest` can be infinitely far apart."""
    try:
        return dims * (2 * largest) ** p < sys.float_info.max
    except OverflowError:
        return False


def require_no_overflow(p: float, *corners: Floats) -> None:
    """Refuses an exponent under which two points in the hull of `corners` are infinitely far."""
    if p in (1.0, 2.0, math.inf):
        return
    with np.errstate(over="ignore"):
        widths = np.max(corners, axis=0) - np.min(corners, axis=0)
        if np.isfinite(np.sum(widths**p)):
            return
    raise ValueError(
        "Encountering floating point overflow. The value of p too large for this dataset; "
        "For such large p, consider using the special case p=np.inf . "
    )
