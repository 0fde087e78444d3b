"""How far one point cloud is from another."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from . import _kith
from ._arguments import as_number, as_text, as_threads
from ._clouds_on_device import distance_there, rows_on_one_gpu
from ._device_arrays import placed_rows
from ._progress import Progress, reporting


class DirectedDistance(NamedTuple):
    """Distances from each point of a cloud to the nearest one of another, and their figures."""

    distances: Any
    nearest: Any
    matched: int
    unmatched: int
    skipped: int
    mean: float
    mean_squared: float
    rms: float
    max: float
    max_row: int
    percentiles: list[float]


class CloudDistance(NamedTuple):
    """Both directions, if they were asked for, and what they have in common."""

    forward: DirectedDistance
    backward: DirectedDistance | None
    chamfer: float
    chamfer_squared: float
    hausdorff: float


def distance(
    first: Any,
    second: Any,
    *,
    symmetric: bool = False,
    max_distance: float = float("inf"),
    percentiles: Sequence[float] = (),
    skip_nonfinite: bool = False,
    device: str = "auto",
    threads: int = 0,
    progress: Progress = False,
) -> CloudDistance:
    """Measure how far the points of one cloud are from those of another.

    Distances are exact and Euclidean; the answer is the same on every device and with any number of
    threads.

    Parameters
    ----------
    first, second : array_like of shape (n, dims) and (m, dims)
        As in `Index`. If one is of float32 and the other of float64, both are compared in float64.
        Two arrays of one type on one GPU are compared there. Arrays of the answer lie where those
        clouds are.
    symmetric : bool
        Also measure from `second` to `first`; `chamfer`, `chamfer_squared` and `hausdorff` need it.
    max_distance : float
        Points farther than this from the other cloud are unmatched, and count in no other figure.
    percentiles : sequence of float
        From 0 to 100, by nearest rank.
    skip_nonfinite : bool
        Leave out points with NaN or infinity instead of raising ValueError.
    device : {"auto", "cpu", "cuda", "cuda:N"}
        Where to work. "auto" is the GPU that holds the clouds, and for others the fastest one.
    threads, progress
        As in `Index`.

    Returns
    -------
    CloudDistance
        A named tuple of `forward`, `backward` (or None), `chamfer`, the sum of both means,
        `chamfer_squared`, the sum of both means of squared distances, and `hausdorff`, the larger
        maximum. A direction has `distances` (infinity where a point is unmatched, NaN where it was
        left out), `nearest` (2**32 - 1 if there is none), `matched`, `unmatched`, `skipped`, `mean`,
        `mean_squared`, `rms`, `max`, `max_row` and `percentiles`. Figures of no points are NaN.

    Examples
    --------
    >>> import kith
    >>> found = kith.distance([[0.0, 0.0], [3.0, 4.0]], [[0.0, 0.0]], symmetric=True)
    >>> found.forward.distances, found.forward.mean, found.hausdorff
    (array([0., 5.]), 2.5, 5.0)
    """
    options: dict[str, Any] = {
        "symmetric": bool(symmetric),
        "max_distance": as_number(max_distance, "max_distance"),
        "percentiles": [as_number(p, "percentiles") for p in percentiles],
        "skip_nonfinite": bool(skip_nonfinite),
        "threads": as_threads(threads),
    }
    device = as_text(device, "device")
    on_gpu = rows_on_one_gpu(first, second, device)
    if on_gpu is not None:
        with reporting(progress) as report:
            forward, backward, *both = distance_there(*on_gpu, report, options)
        back = None if backward is None else DirectedDistance(**backward)
        return CloudDistance(DirectedDistance(**forward), back, *both)
    _, a, give_first = placed_rows(first, "cpu")
    _, b, give_second = placed_rows(second, "cpu")
    if a.dtype != b.dtype:
        a, b = a.astype(np.float64, copy=False), b.astype(np.float64, copy=False)
    with reporting(progress) as report:
        forward, backward, *both = _kith.cloud_distance(
            a, b, device=device, progress=report, **options
        )
    return CloudDistance(
        _placed(forward, give_first), backward and _placed(backward, give_second), *both
    )


def _placed(figures: dict[str, Any], give: Any) -> DirectedDistance:
    for name in ("distances", "nearest"):
        figures[name] = give(figures[name])
    return DirectedDistance(**figures)
