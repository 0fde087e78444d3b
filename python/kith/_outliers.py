"""Points of a cloud that lie apart from the others."""

from __future__ import annotations

from typing import Any, NamedTuple

from . import _kith
from ._arguments import as_count, as_number, as_text, as_threads
from ._clouds_on_device import outliers_there
from ._device_arrays import placed_rows
from ._progress import Progress, reporting


class Outliers(NamedTuple):
    """Which points are outliers, which are not, and the numbers that decided."""

    flags: Any
    kept: Any
    values: Any
    mean: float
    deviation: float
    threshold: float
    skipped: int


def outliers(
    points: Any,
    *,
    neighbors: int | None = None,
    ratio: float = 2.0,
    radius: float | None = None,
    min_neighbors: int = 1,
    skip_nonfinite: bool = False,
    device: str = "auto",
    threads: int = 0,
    progress: Progress = False,
) -> Outliers:
    """Find the points that lie apart from the others; give either `neighbors` or `radius`.

    The answer is the same on every device and with any number of threads.

    Parameters
    ----------
    points : array_like of shape (n, dims)
        As in `Index`. Arrays on a GPU are searched there, and the answer is there, too.
    neighbors, ratio
        Points whose mean distance to their so many nearest others is above mean + ratio * standard
        deviation (of a sample) of those of all points are outliers.
    radius, min_neighbors
        Points with fewer than `min_neighbors` others within `radius` are outliers.
    skip_nonfinite : bool
        Leave out points with NaN or infinity instead of raising ValueError.
    device : {"auto", "cpu", "cuda", "cuda:N"}
        Where to work. "auto" is the GPU that holds the points, and for others the fastest one.
    threads, progress
        As in `Index`.

    Returns
    -------
    Outliers
        A named tuple of `flags`, True for outliers and points that were left out; `kept`, the numbers
        of the others; `values`, for each point the mean distance or the number of others within the
        radius; `mean`, `deviation` and `threshold` of the mean distances (0 with `radius`); and
        `skipped`, how many were left out.

    Examples
    --------
    >>> import kith
    >>> kith.outliers([[0.0], [0.1], [0.2], [0.3], [9.0]], neighbors=2, ratio=1).kept
    array([0, 1, 2, 3])
    >>> kith.outliers([[0.0], [0.1], [0.2], [0.3], [9.0]], radius=0.15, min_neighbors=2).kept
    array([1, 2])
    """
    options: dict[str, Any] = {
        "neighbors": None if neighbors is None else as_count(neighbors, "neighbors"),
        "ratio": as_number(ratio, "ratio"),
        "radius": None if radius is None else as_number(radius, "radius"),
        "min_neighbors": as_count(min_neighbors, "min_neighbors"),
        "skip_nonfinite": bool(skip_nonfinite),
        "threads": as_threads(threads),
    }
    device = as_text(device, "device")
    there, rows, give = placed_rows(points, device)
    with reporting(progress) as report:
        if there is not None:
            return Outliers(**outliers_there(there, report, options))
        found = _kith.outliers(rows, device=device, progress=report, **options)
    for name in ("flags", "kept", "values"):
        found[name] = give(found[name])
    return Outliers(**found)
