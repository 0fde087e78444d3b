"""Registration of clouds: the pose that moves one onto another."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from . import _kith
from ._arguments import as_count, as_number, as_text, as_threads
from ._arrays import note
from ._device_arrays import DeviceRows, placed_rows
from ._progress import Progress, reporting
from ._transform import _as_pose

Method = Literal["auto", "point", "plane", "gicp"]
Kernel = Literal["none", "huber", "cauchy", "tukey", "geman-mcclure"]


class RegistrationIteration(NamedTuple):
    """What one iteration found, before its step, and how large that was."""

    stage: int
    pairs: int
    fitness: float
    inlier_rmse: float
    error: float
    turned: float
    shifted: float
    max_distance: float


class GlobalStart(NamedTuple):
    """What a global start found.

    If it found no pose, which `found` says, the means of the clouds were put together. `source_points`
    and `target_points` are the means of voxels of the side `voxel`, of which `matches` pairs look alike
    and `consistent` agree on the pose. `overlap` says, from 0 to 1, how much of the source lies on the
    target by it, and `runner_up` the same of the next best pose: if they are close, either may be right.
    """

    found: bool
    pose: npt.NDArray[np.float64]
    voxel: float
    source_points: int
    target_points: int
    matches: int
    consistent: int
    overlap: float
    runner_up: float
    milliseconds: float


class WeakDirection(NamedTuple):
    """A direction in which the clouds can slide or turn without much change of the error."""

    eigenvalue: float
    relative: float
    turn: npt.NDArray[np.float64]
    shift: npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False, repr=False)
class Registration:
    """The result of a registration, with Open3D's names where it has them.

    Attributes
    ----------
    transformation : array of float64 of shape (4, 4), in 2 dimensions (3, 3)
        Moves the source onto the target: ``kith.transform(source, found.transformation)``.
    fitness : float
        The share of the source's points that have a match.
    inlier_rmse : float
        The root of the mean squared distance of pairs.
    correspondence_set : array of int64 of shape (m, 2)
        A point of the source and its match in each row; empty with correspondences=False.
    converged : bool
    reason : str
        How it ended, in words.
    iterations : list of RegistrationIteration
    information : array of float64 of shape (6, 6)
        A turn about x, y, z, then a shift along them, of the moved source about `centre`.
    centre : array of float64 of shape (3,)
    weak : list of WeakDirection
        Directions whose eigenvalue is below a thousandth of the largest, weakest first.
    scale : float
    inliers : int
    skipped_source, skipped_target : int
        Points with NaN or infinity that were left out.
    global_start : GlobalStart or None
        What ``initial="global"`` found.
    """

    transformation: npt.NDArray[np.float64]
    fitness: float
    inlier_rmse: float
    correspondence_set: npt.NDArray[np.int64]
    converged: bool
    reason: str
    iterations: list[RegistrationIteration]
    information: npt.NDArray[np.float64]
    centre: npt.NDArray[np.float64]
    weak: list[WeakDirection]
    scale: float
    inliers: int
    skipped_source: int
    skipped_target: int
    global_start: GlobalStart | None = None

    def __repr__(self) -> str:
        return (
            f"Registration({self.reason}; {len(self.iterations)} iterations, "
            f"fitness {self.fitness:.4g}, inlier_rmse {self.inlier_rmse:.4g})"
        )


def _host_rows(points: Any) -> np.ndarray:
    rows: np.ndarray = placed_rows(points, "cpu")[1]
    return rows


def _rows_on_gpu(source: Any, target: Any, device: str) -> tuple[DeviceRows, DeviceRows] | None:
    """Both clouds, if they are on one GPU, of one type, and are to be registered there."""
    moved, fixed = placed_rows(source, device)[0], placed_rows(target, device)[0]
    if moved is None or fixed is None or moved.ordinal != fixed.ordinal:
        return None
    if moved.dtype != fixed.dtype:
        return None
    if moved.framework is not fixed.framework:
        fixed.framework.synchronize(fixed.ordinal)  # only the stream of the source's is waited for
    return moved, fixed


def _in_plane(pose: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    return np.ascontiguousarray(pose[np.ix_([0, 1, 3], [0, 1, 3])])


def _result_of(found: dict[str, Any], dims: int) -> Registration:
    found["iterations"] = [RegistrationIteration(*each) for each in found["iterations"]]
    found["weak"] = [WeakDirection(*each) for each in found["weak"]]
    if found["global_start"] is not None:
        found["global_start"] = GlobalStart(*found["global_start"])
    if dims == 2:
        found["transformation"] = _in_plane(found["transformation"])
        if found["global_start"] is not None:
            found["global_start"] = found["global_start"]._replace(pose=_in_plane(found["global_start"].pose))
    return Registration(**found)


def _target_options(
    method: Any, voxels: Any, neighbors: Any, skip_nonfinite: Any, device: Any, threads: Any
) -> dict[str, Any]:
    sides = [voxels] if np.ndim(voxels) == 0 else voxels  # one stage, or several
    return {
        "method": as_text(method, "method"),
        "voxels": [as_number(side, "a side of voxels") for side in sides],
        "neighbors": as_count(neighbors, "neighbors"),
        "skip_nonfinite": bool(skip_nonfinite),
        "device": as_text(device, "device"),
        "threads": as_threads(threads),
    }


def _all_options(
    target: dict[str, Any],
    initial: Any,
    global_voxel: Any,
    max_distance: Any,
    keep: Any,
    reciprocal: Any,
    kernel: Any,
    kernel_scale: Any,
    degrees_of_freedom: Any,
    scale: Any,
    max_iterations: Any,
    rotation_tolerance: Any,
    translation_tolerance: Any,
    correspondences: Any,
) -> dict[str, Any]:
    options = {
        **target,
        "global_voxel": 0.0 if global_voxel is None else as_number(global_voxel, "global_voxel"),
        "max_distance": 0.0 if max_distance is None else as_number(max_distance, "max_distance"),
        "keep": as_number(keep, "keep"),
        "reciprocal": bool(reciprocal),
        "kernel": as_text(kernel, "kernel"),
        "kernel_scale": 0.0 if kernel_scale is None else as_number(kernel_scale, "kernel_scale"),
        "degrees_of_freedom": as_count(degrees_of_freedom, "degrees_of_freedom"),
        "scale": bool(scale),
        "max_iterations": as_count(max_iterations, "max_iterations"),
        "rotation_tolerance": as_number(rotation_tolerance, "rotation_tolerance"),
        "translation_tolerance": as_number(translation_tolerance, "translation_tolerance"),
        "want_pairs": bool(correspondences),
    }
    if isinstance(initial, str):
        options["initial"] = initial
    elif initial is not None:
        options["initial_pose"] = _as_pose(initial)
    return options


def register(
    source: Any,
    target: Any,
    *,
    method: Method = "auto",
    initial: Any = None,
    global_voxel: float | None = None,
    max_distance: float | None = None,
    keep: float = 1.0,
    reciprocal: bool = False,
    kernel: Kernel = "none",
    kernel_scale: float | None = None,
    voxels: float | Sequence[float] = (),
    degrees_of_freedom: int = 6,
    scale: bool = False,
    neighbors: int = 16,
    max_iterations: int = 64,
    rotation_tolerance: float = 1e-6,
    translation_tolerance: float = 0.0,
    correspondences: bool = True,
    skip_nonfinite: bool = False,
    device: str = "auto",
    threads: int = 0,
    progress: Progress = False,
) -> Registration:
    """Find the pose that moves the source onto the target, by iterative closest points.

    Neighbours are exact, and sums are added in a fixed order: the pose has the same bytes on every
    device and with any number of threads.

    Parameters
    ----------
    source, target : array_like of shape (n, 2) or (n, 3)
        As in `Index`. Two arrays on one GPU are registered there. If one is of float64, both are taken
        as such.
    method : {"auto", "point", "plane", "gicp"}
        What is minimised: distances, distances along the target's normals, or distances weighed by
        the surfaces of both (generalized ICP), which is "auto".
    initial : array_like, "identity", "centroid" or "global", optional
        Where to begin: a pose of shape (4, 4) or (3, 4), in 2 dimensions (3, 3) or (2, 3); the
        clouds as they lie, which is the default; with their means put together; or at a pose that is
        found by features, whatever it is.
    global_voxel : float, optional
        The side of the voxels whose means ``initial="global"`` compares; by default such that the
        smaller cloud has about 6 000.
    max_distance : float, optional
        Points farther than this from the target are no pairs. By default a tenth of the diagonal
        of the target's box, then three times the RMSE of the last pairs.
    keep : float
        Of all pairs only this share, the nearest ones, counts.
    reciprocal : bool
        Only pairs count that are nearest to each other.
    kernel : {"none", "huber", "cauchy", "tukey", "geman-mcclure"}
        Lets pairs count less the larger their error is, at the scale `kernel_scale`.
    kernel_scale : float, optional
        In the units of the coordinates.
    voxels : float or sequence of float
        Coarse to fine: one stage per entry, with the means of the points in voxels of that side; 0
        is all points.
    degrees_of_freedom : {6, 4, 3}
        What may move: all; a turn about z and any shift; a turn about z and a shift in x and y.
    scale : bool
        Find the scale, too.
    neighbors : int
        Planes are fitted to so many nearest points.
    max_iterations : int
        Of each stage.
    rotation_tolerance, translation_tolerance : float
        Converged is a step that turns by at most so many radians and shifts by at most so much;
        0 for the shift is 1e-6 of the diagonal of the target's box.
    correspondences : bool
        Whether `correspondence_set` is needed.
    skip_nonfinite : bool
        Leave out points with NaN or infinity instead of raising ValueError.
    device : {"auto", "cpu", "cuda", "cuda:N"}
        Where to work; the answer is the same. "auto" is the GPU that holds both clouds, if one does.
    threads, progress
        As in `Index`.

    Returns
    -------
    Registration

    Examples
    --------
    >>> import kith, numpy as np
    >>> target = kith.generate("surface", 2000, seed=1)
    >>> turn = np.array([[840, -41, 0], [41, 840, 0], [0, 0, 841]]) / 841
    >>> found = kith.register(target @ turn, target)  # rows times a matrix: turned the other way
    >>> found.converged, found.fitness
    (True, 1.0)
    >>> np.allclose(found.transformation[:3, :3], turn, atol=1e-5)
    True
    """
    options = _all_options(
        _target_options(method, voxels, neighbors, skip_nonfinite, device, threads),
        initial,
        global_voxel,
        max_distance,
        keep,
        reciprocal,
        kernel,
        kernel_scale,
        degrees_of_freedom,
        scale,
        max_iterations,
        rotation_tolerance,
        translation_tolerance,
        correspondences,
    )
    on_gpu = _rows_on_gpu(source, target, options["device"])
    with reporting(progress) as report:
        if on_gpu is not None:
            framework, ordinal = on_gpu[0].framework, on_gpu[0].ordinal
            with framework.on(ordinal):
                stream = framework.stream(ordinal)
                found = _kith.register_on_device(on_gpu[0].view, on_gpu[1].view, stream, report, **options)
            return _result_of(found, on_gpu[0].shape[1])
        rows, fixed = _host_rows(source), _host_rows(target)
        if rows.dtype != fixed.dtype:
            rows, fixed = rows.astype(np.float64), fixed.astype(np.float64)
        found = _kith.register_clouds(rows, fixed, report, **options)
    return _result_of(found, rows.shape[1])


class RegistrationTarget:
    """A target that is prepared once and registered with any number of sources.

    Index and normals are made when it is; `align` may be called by several threads at a time and
    gives what `register` does, byte by byte.

    Parameters
    ----------
    points : array_like of shape (n, 2) or (n, 3)
    method, voxels, neighbors, skip_nonfinite, device, threads, progress
        As in `register`: what `align` uses unless it is given others.

    Examples
    --------
    >>> import kith
    >>> model = kith.RegistrationTarget(kith.generate("surface", 2000, seed=1))
    >>> model.align(kith.generate("surface", 2000, seed=1)).inlier_rmse
    0.0
    """

    def __init__(
        self,
        points: Any,
        *,
        method: Method = "auto",
        voxels: float | Sequence[float] = (),
        neighbors: int = 16,
        skip_nonfinite: bool = False,
        device: str = "auto",
        threads: int = 0,
        progress: Progress = False,
    ) -> None:
        self._options = _target_options(method, voxels, neighbors, skip_nonfinite, device, threads)
        with reporting(progress) as report:
            self._target = _kith.RegistrationTarget(_host_rows(points), report, **self._options)

    def align(
        self,
        source: Any,
        *,
        method: Method | None = None,
        initial: Any = None,
        global_voxel: float | None = None,
        max_distance: float | None = None,
        keep: float = 1.0,
        reciprocal: bool = False,
        kernel: Kernel = "none",
        kernel_scale: float | None = None,
        degrees_of_freedom: int = 6,
        scale: bool = False,
        max_iterations: int = 64,
        rotation_tolerance: float = 1e-6,
        translation_tolerance: float = 0.0,
        correspondences: bool = True,
        threads: int | None = None,
        progress: Progress = False,
    ) -> Registration:
        """Register a source with this target; parameters and result are those of `register`.

        The source is an array or another `RegistrationTarget`, whose index and normals are then
        used again: each frame of a drive is the source once and the target once.
        """
        target = dict(self._options)
        if method is not None:
            target["method"] = as_text(method, "method")
        if threads is not None:
            target["threads"] = as_threads(threads)
        is_prepared = isinstance(source, RegistrationTarget)
        rows = source._target if is_prepared else _host_rows(source)
        dtype = np.dtype(np.float32 if self._target.dtype == "f32" else np.float64)
        if not is_prepared and rows.dtype != dtype:
            if rows.dtype.itemsize > dtype.itemsize and hasattr(source, "dtype"):
                note(f"source: {rows.dtype} was rounded to {dtype}, the type of the target")
            rows = rows.astype(dtype)
        options = _all_options(
            target,
            initial,
            global_voxel,
            max_distance,
            keep,
            reciprocal,
            kernel,
            kernel_scale,
            degrees_of_freedom,
            scale,
            max_iterations,
            rotation_tolerance,
            translation_tolerance,
            correspondences,
        )
        with reporting(progress) as report:
            align = self._target.align_target if is_prepared else self._target.align
            found = align(rows, report, **options)
        return _result_of(found, self._target.dims)

    def __len__(self) -> int:
        return self._target.rows

    def __repr__(self) -> str:
        return f"RegistrationTarget({self._target.rows} points, {self._target.dims} dims)"
