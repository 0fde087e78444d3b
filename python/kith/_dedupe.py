"""Points that are equal to a kept one, or too close to it, removed."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from . import _kith
from ._arguments import as_metric_params, as_number, as_text, as_threads
from ._device_arrays import DeviceRows, array_on, on_host, placed_rows
from ._progress import Progress, reporting
from ._types import Metric


class Deduped(NamedTuple):
    """Which points are kept, and which of them stands for each of the others."""

    kept: Any
    map: Any
    skipped: int


def dedupe(
    points: Any,
    *,
    tolerance: float | None = None,
    metric: Metric = "l2",
    metric_params: Any = None,
    scores: Any = None,
    prefer_low: bool = False,
    skip_nonfinite: bool = False,
    return_map: bool = True,
    device: str = "auto",
    threads: int = 0,
    progress: Progress = False,
) -> Deduped:
    """Keep each point, in order, unless a kept one is equal to it or within a distance of it.

    The answer is the same on every device and with any number of threads.

    Parameters
    ----------
    points : array_like of shape (n, dims)
        As in `Index`. Arrays on a GPU are compared there.
    tolerance : float, optional
        Remove points within this distance of a kept one; by default only equal points. -0 equals +0.
    metric, metric_params
        With `tolerance`: how distances are measured, as in `Index`.
    scores : array_like of shape (n,), optional
        The point with the highest score comes first, ties by number; by default points come in the
        order of their numbers.
    prefer_low : bool
        The lowest score comes first.
    skip_nonfinite : bool
        Leave out points with NaN or infinity, or whose score is NaN, instead of raising ValueError.
    return_map : bool
        Whether `map` is needed.
    device : {"auto", "cpu", "cuda", "cuda:N"}
        Where to work. "auto" is the GPU that holds the points, and the CPU for others.
    threads, progress
        As in `Index`.

    Returns
    -------
    Deduped
        A named tuple of `kept`, the numbers of the kept points, ascending; `map`, for each point the
        place in `kept` of the one that stands for it (2**32 - 1 if it was left out), or None; and
        `skipped`, how many were left out. Arrays are of int64, and where the points are.

    Examples
    --------
    >>> import kith
    >>> found = kith.dedupe([[0, 0], [1, 1], [0, 0], [1, 1.25]])
    >>> found.kept, found.map
    (array([0, 1, 3]), array([0, 1, 0, 2]))
    >>> kith.dedupe([[0, 0], [1, 1], [0, 0], [1, 1.25]], tolerance=0.5).kept
    array([0, 1])
    """
    options: dict[str, Any] = {
        "tolerance": None if tolerance is None else as_number(tolerance, "tolerance"),
        "metric": as_text(metric, "metric"),
        "metric_params": as_metric_params(metric_params, metric),
        "prefer_low": bool(prefer_low),
        "skip_nonfinite": bool(skip_nonfinite),
        "threads": as_threads(threads),
    }
    device = as_text(device, "device")
    there, rows, give = placed_rows(points, device)
    with reporting(progress) as report:
        options["progress"] = report
        if there is not None:
            return _on_gpu(there, scores, bool(return_map), options)
        if scores is not None:
            scores = _as_scores(on_host(scores, "scores"), len(rows))
        kept, places, skipped = _kith.dedupe(rows, scores, bool(return_map), device, **options)
    return Deduped(give(kept), None if places is None else give(places), skipped)


def _as_scores(scores: Any, rows: int) -> np.ndarray:
    values = np.require(np.asarray(scores, dtype=np.float64), requirements=["C", "A"])
    _require_shape(values.shape, rows)
    return values


def _require_shape(shape: tuple[int, ...], rows: int) -> None:
    if tuple(shape) != (rows,):
        raise ValueError(f"scores has the shape {tuple(shape)} for {rows} points; give one per point")


def _on_gpu(points: DeviceRows, scores: Any, return_map: bool, options: dict[str, Any]) -> Deduped:
    framework = points.framework
    ordinal, rows = points.ordinal, points.shape[0]
    with framework.on(ordinal):
        if scores is not None:
            there = array_on(framework, scores, ordinal, "scores")
            if there is None:
                scores = framework.from_numpy(_as_scores(on_host(scores, "scores"), rows), ordinal)
            else:
                _require_shape(there.shape, rows)
                scores = framework.contiguous(framework.astype(there.array, np.dtype(np.float64)))
        kept = framework.empty((rows,), np.uint32, ordinal)
        places = framework.empty((rows,), np.uint32, ordinal) if return_map else None
        count, skipped = _kith.dedupe_on_device(
            points.view,
            0 if scores is None else framework.address(scores),
            framework.address(kept),
            0 if places is None else framework.address(places),
            framework.stream(ordinal),
            **options,
        )
        wide = None if places is None else framework.widened(places)
        return Deduped(framework.widened(kept[:count]), wide, skipped)
