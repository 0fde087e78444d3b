"""What an index is built with, and what the build will take."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from . import _kith
from ._arguments import as_count, as_metric_params, as_period, as_text, as_threads
from ._float_types import as_library_name
from ._types import Builder, Engine, EngineInUse, Metric, Split


class BuildPlan(NamedTuple):
    """What a build will take."""

    engine: EngineInUse
    device: str
    index_bytes: int
    peak_bytes: int
    reason: str


def build_options(
    engine: str, metric: str, leaf_size: int, split: str, builder: str, period: Any, dims: int,
    expected_queries: int, metric_params: Any = None,
) -> dict[str, Any]:
    """What a build and a plan of one share, checked."""
    return {
        "engine": as_text(engine, "engine"),
        "metric": as_text(metric, "metric"),
        "leaf_size": as_count(leaf_size, "leaf_size"),
        "split": as_text(split, "split"),
        "builder": as_text(builder, "builder"),
        "metric_params": as_metric_params(metric_params, metric),
        "period": as_period(period, dims),
        "expected_queries": as_count(expected_queries, "expected_queries", bits=64),
    }


def plan(
    rows: int, dims: int, dtype: Any = np.float32, *, engine: Engine = "auto",
    device: str = "auto", metric: Metric = "l2", leaf_size: int = 0, split: Split = "widest",
    builder: Builder = "auto", period: Any = None, expected_queries: int = 0, threads: int = 0,
    metric_params: Any = None,
) -> BuildPlan:
    """What building an index of so many points would take, before it begins.

    Parameters
    ----------
    rows, dims : int
        The shape of the points.
    dtype : float32 or float64
        Their type.
    engine, device, metric, leaf_size, split, builder, period, expected_queries, threads, metric_params
        As in `Index`.

    Returns
    -------
    BuildPlan
        A named tuple of `engine`, `device`, `index_bytes`, `peak_bytes` and `reason`.

    Examples
    --------
    >>> import kith
    >>> kith.plan(1_000_000, 3, device="cpu").engine
    'kdtree'
    """
    name = as_library_name(dtype)
    found = _kith.plan(
        as_count(rows, "rows"),
        as_count(dims, "dims"),
        name,
        device=as_text(device, "device"),
        threads=as_threads(threads),
        **build_options(engine, metric, leaf_size, split, builder, period, dims, expected_queries, metric_params),
    )
    return BuildPlan(*found)
