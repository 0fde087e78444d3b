"""Points moved by a pose, and poses in files."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from . import _kith
from ._arguments import as_text, as_threads
from ._clouds_on_device import transform_there
from ._device_arrays import on_host, placed_rows
from ._paths import existing_path, new_path
from ._progress import Progress, reporting


def transform(
    points: Any,
    pose: Any,
    *,
    inverse: bool = False,
    directions: bool = False,
    skip_nonfinite: bool = False,
    device: str = "auto",
    threads: int = 0,
    progress: Progress = False,
) -> Any:
    """Move points by a pose.

    Each coordinate is ``r0 * x + r1 * y + r2 * z + t``, computed in float64 from left to right and
    rounded once to the type of the points; the same bytes on every device and with any number of
    threads.

    Parameters
    ----------
    points : array_like of shape (n, 2) or (n, 3)
        As in `Index`. Arrays on a GPU are moved there.
    pose : array_like of shape (4, 4) or (3, 4); for a plane also (3, 3) or (2, 3)
        The matrix, its last row 0 0 0 1 (0 0 1) if it has one.
    inverse : bool
        Undo the pose instead.
    directions : bool
        The rows are directions, such as normals: they are turned, not translated, and keep their
        length.
    skip_nonfinite : bool
        Let rows with NaN or infinity become NaN instead of raising ValueError.
    device : {"auto", "cpu", "cuda", "cuda:N"}
        Where to work. "auto" is the GPU that holds the points, and the CPU for others.
    threads, progress
        As in `Index`.

    Returns
    -------
    array of the shape and type of `points`, where they are

    Examples
    --------
    >>> import kith
    >>> kith.transform([[1.0, 2.0]], [[0, -1, 10], [1, 0, 20]])
    array([[ 8., 21.]])
    """
    numbers = _as_pose(pose)
    options: dict[str, Any] = {
        "inverse": bool(inverse),
        "directions": bool(directions),
        "skip_nonfinite": bool(skip_nonfinite),
        "threads": as_threads(threads),
    }
    device = as_text(device, "device")
    there, rows, give = placed_rows(points, device)
    with reporting(progress) as report:
        if there is not None:
            return transform_there(there, numbers, report, options)
        return give(_kith.transform(rows, numbers, device=device, progress=report, **options))


def read_pose(path: Any) -> npt.NDArray[np.float64]:
    """Read a pose from a file: text, .npy or .json, as `kith transform --pose` takes it.

    Returns
    -------
    array of float64 of shape (4, 4)
    """
    return np.array(_kith.read_pose(existing_path(path)), dtype=np.float64).reshape(4, 4)


def write_pose(path: Any, pose: Any) -> None:
    """Write a pose to a file: text, or by its name .npy or .json; the numbers read back the same."""
    _kith.write_pose(new_path(path), _as_pose(pose))


def _as_pose(pose: Any) -> list[float]:
    """The 16 numbers of a pose, row by row."""
    given = np.asarray(on_host(pose, "pose"), dtype=np.float64)
    if given.shape not in ((4, 4), (3, 4), (3, 3), (2, 3)):
        raise ValueError(f"pose has the shape {given.shape}; give (4, 4), (3, 4), or (3, 3) in a plane")
    matrix = np.eye(4)
    rows = len(given)
    if given.shape[1] == 4:
        matrix[:rows] = given
    else:
        if rows == 3 and given[2].tolist() != [0, 0, 1]:
            raise ValueError(f"the last row of the pose is {given[2].tolist()}, but must be 0 0 1")
        matrix[:2, :2] = given[:2, :2]
        matrix[:2, 3] = given[:2, 2]
    return [float(value) for value in matrix.ravel()]
