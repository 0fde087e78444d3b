"""Fewer points of a cloud: by voxels, farthest points or a distance."""

from __future__ import annotations

from typing import Any, Literal, NamedTuple

from . import _kith
from ._arguments import as_count, as_number, as_text, as_threads
from ._clouds_on_device import downsample_there
from ._device_arrays import placed_rows
from ._progress import Progress, reporting


class Downsampled(NamedTuple):
    """The points that are left, their rows, how many each stands for, and the map from old to new."""

    points: Any
    rows: Any
    counts: Any
    map: Any
    skipped: int


def downsample(
    points: Any,
    *,
    voxel: float | None = None,
    keep: Literal["mean", "nearest", "first"] = "mean",
    farthest: int | None = None,
    start: int = 0,
    distance: float | None = None,
    return_map: bool = False,
    skip_nonfinite: bool = False,
    device: str = "auto",
    threads: int = 0,
    progress: Progress = False,
) -> Downsampled:
    """Take fewer points of a cloud; give one of `voxel`, `farthest` and `distance`.

    The answer is the same on every device and with any number of threads.

    Parameters
    ----------
    points : array_like of shape (n, dims)
        As in `Index`. Voxels of arrays on a GPU, in 2 or 3 dimensions, are made there; other samples go
        through the host. The answer lies where the points are.
    voxel : float, optional
        One point for each cube of this side. The grid begins at the origin of the coordinates.
    keep : {"mean", "nearest", "first"}
        With `voxel`: the mean of its points, the point nearest to it, or the first.
    farthest : int, optional
        So many points, each the farthest from those before it, ties to the lowest number.
    start : int
        The point that `farthest` begins with.
    distance : float, optional
        Points in order, each unless one within this distance was kept before.
    return_map : bool
        Whether `map` is needed.
    skip_nonfinite : bool
        Leave out points with NaN or infinity instead of raising ValueError.
    device : {"auto", "cpu", "cuda", "cuda:N"}
        Where to work. "auto" is the GPU that holds the points, and the CPU for others.
    threads, progress
        As in `Index`.

    Returns
    -------
    Downsampled
        A named tuple of `points`; `rows`, their numbers (of a mean, that of the point nearest to it);
        `counts`, how many points each stands for, or None (without `voxel` and `return_map`); `map`,
        for each point its place in `points` (2**32 - 1 if it was left out), or None; and `skipped`,
        how many were left out.

    Examples
    --------
    >>> import kith
    >>> found = kith.downsample([[0.25, 0.0], [0.75, 0.5], [5.0, 5.0]], voxel=1)
    >>> found.points, found.counts
    (array([[0.5 , 0.25],
           [5.  , 5.  ]]), array([2, 1]))
    """
    options: dict[str, Any] = {
        "voxel": None if voxel is None else as_number(voxel, "voxel"),
        "keep": as_text(keep, "keep"),
        "farthest": None if farthest is None else as_count(farthest, "farthest"),
        "start": as_count(start, "start"),
        "distance": None if distance is None else as_number(distance, "distance"),
        "want_map": bool(return_map),
        "skip_nonfinite": bool(skip_nonfinite),
        "threads": as_threads(threads),
    }
    device = as_text(device, "device")
    there, rows, give = placed_rows(points, device)
    with reporting(progress) as report:
        if there is not None:
            wants_map = options.pop("want_map")
            wants_counts = wants_map or voxel is not None
            return Downsampled(*downsample_there(there, wants_counts, wants_map, report, options))
        left, numbers, counts, places, skipped = _kith.downsample(
            rows, device=device, progress=report, **options
        )
    return Downsampled(
        give(left),
        give(numbers),
        None if counts is None else give(counts),
        None if places is None else give(places),
        skipped,
    )
