"""Normals of points, and how much their surface bends."""

from __future__ import annotations

from typing import Any, Literal, NamedTuple

import numpy as np

from . import _kith
from ._arguments import as_count, as_number, as_text, as_threads
from ._clouds_on_device import normals_there
from ._device_arrays import on_host, placed_rows
from ._progress import Progress, reporting


class Normals(NamedTuple):
    """A normal and a curvature per point."""

    normals: Any
    curvature: Any


def normals(
    points: Any,
    *,
    neighbors: int = 16,
    radius: float | None = None,
    orient: Literal["axis", "viewpoint", "consistent"] = "axis",
    viewpoint: Any = None,
    skip_nonfinite: bool = False,
    device: str = "auto",
    threads: int = 0,
    progress: Progress = False,
) -> Normals:
    """Fit a plane (in 2 dimensions a line) to the neighbours of each point.

    The answer has the same bytes on every device and with any number of threads.

    Parameters
    ----------
    points : array_like of shape (n, 2) or (n, 3)
        As in `Index`. Normals of arrays on a GPU are computed there; with `radius`, or
        orient="consistent", they go through the host. The answer lies where the points are.
    neighbors : int
        How many nearest points a plane is fitted to, the point itself included.
    radius : float, optional
        Take all points within this distance instead.
    orient : {"axis", "viewpoint", "consistent"}
        Which of its two directions a normal has: its largest component is positive, it looks
        towards `viewpoint`, or it agrees with its neighbours, beginning upwards at the highest
        point of each connected part.
    viewpoint : array_like of shape (dims,), optional
        Where the sensor was; the origin by default. Implies orient="viewpoint".
    skip_nonfinite : bool
        Give rows with NaN or infinity a normal of 0 instead of raising ValueError.
    device : {"auto", "cpu", "cuda", "cuda:N"}
        Where to work. "auto" is the GPU that holds the points, and for others the fastest one.
    threads, progress
        As in `Index`.

    Returns
    -------
    Normals
        A named tuple of `normals`, of the shape and type of the points: of length 1, or 0 where
        there are too few neighbours or all are in one place; and `curvature` of shape (n,): the
        share of the neighbours' spread along the normal, from 0 on a plane to 1/dims.

    Examples
    --------
    >>> import kith
    >>> found = kith.normals([[0, 0, 1], [1, 0, 1], [0, 1, 1], [1, 1, 1]], neighbors=4)
    >>> found.normals[0], float(found.curvature[0])
    (array([0., 0., 1.]), 0.0)
    """
    orient = as_text(orient, "orient")  # type: ignore[assignment]
    place = np.zeros(3)
    if viewpoint is not None:
        if orient == "consistent":
            raise ValueError('viewpoint goes with orient="viewpoint"')
        orient = "viewpoint"
        given = np.asarray(on_host(viewpoint, "viewpoint"), dtype=np.float64)
        if given.shape not in ((2,), (3,)):
            raise ValueError(f"viewpoint has the shape {given.shape}; give a number per dimension")
        place[: len(given)] = given
    options: dict[str, Any] = {
        "neighbors": as_count(neighbors, "neighbors"),
        "radius": None if radius is None else as_number(radius, "radius"),
        "orient": orient,
        "viewpoint": place.tolist(),
        "skip_nonfinite": bool(skip_nonfinite),
        "threads": as_threads(threads),
    }
    device = as_text(device, "device")
    there, rows, give = placed_rows(points, device)
    with reporting(progress) as report:
        if there is not None:
            return Normals(*normals_there(there, report, options))
        found, curvature = _kith.normals(rows, device=device, progress=report, **options)
    return Normals(give(found), give(curvature.reshape(-1)))
