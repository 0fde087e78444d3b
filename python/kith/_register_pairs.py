"""Registration of many pairs of clouds in one call."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from . import _kith
from ._arrays import as_rows, library_name
from ._device_arrays import DeviceRows, on_host, placed_rows
from ._progress import Progress, reporting
from ._registration import Kernel, Method, Registration, _all_options, _result_of, _target_options
from ._transform import _as_pose


class _Cloud:
    """One cloud where it lies: rows for the extension, and a copy on the host if that is needed."""

    def __init__(self, rows: Any, there: DeviceRows | None, array: Any, dims: int) -> None:
        self.rows = rows
        self.there = there  # the array on a GPU that holds it
        self.array = array
        self.dims = dims
        self._here: dict[str, np.ndarray] = {}

    @property
    def dtype(self) -> np.dtype:
        return self.rows.dtype if self.there is None else self.there.dtype

    def on_host(self, dtype: np.dtype) -> np.ndarray:
        if dtype.name not in self._here:
            rows = self.rows
            if self.there is not None:
                self.there.framework.synchronize(self.there.ordinal)
                rows = as_rows(self.there.framework.to_numpy(self.array))
            self._here[dtype.name] = rows.astype(dtype, copy=False)
        return self._here[dtype.name]


def _cloud(array: Any, device: str) -> _Cloud:
    there, rows, _ = placed_rows(array, device)
    if there is None:
        return _Cloud(rows, None, rows, rows.shape[1])
    return _Cloud(there.view, there, there.array, there.shape[1])


def _slices(array: Any, offsets: Any, device: str, name: str) -> list[_Cloud]:
    """The clouds of an array in which they lie one after the other."""
    places = np.asarray(on_host(offsets, f"{name}_offsets"))
    if places.ndim != 1 or places.size == 0 or places.dtype.kind not in "iu":
        raise ValueError(
            f"{name}_offsets must be whole numbers of shape (pairs + 1,), not {places.dtype} of "
            f"shape {places.shape}"
        )
    whole = _cloud(array, device)
    count = len(whole.array)
    bounds = [int(place) for place in places]
    if any(a > b for a, b in zip(bounds, bounds[1:], strict=False)) or bounds[0] < 0 or bounds[-1] > count:
        raise ValueError(
            f"{name}_offsets must ascend from 0 or more to at most {count}, the rows of {name}s"
        )
    steps = zip(bounds, bounds[1:], strict=False)
    if whole.there is None:
        return [_Cloud(whole.rows[a:b], None, None, whole.dims) for a, b in steps]
    framework, there = whole.there.framework, whole.there
    address, _, shape, strides, ordinal = framework.describe(whole.array)
    stride = strides[0] if shape[0] > 1 else shape[1]
    row_bytes = stride * there.dtype.itemsize
    kind = library_name(there.dtype)
    return [
        _Cloud(
            _kith.DeviceRows(address + a * row_bytes, kind, b - a, whole.dims, stride, ordinal),
            there,
            whole.array[a:b],
            whole.dims,
        )
        for a, b in steps
    ]


def _clouds(given: Any, offsets: Any, device: str, name: str) -> list[_Cloud] | _Cloud:
    """The clouds of one side; a single one that is meant for all pairs by itself."""
    if offsets is not None:
        return _slices(given, offsets, device, name)
    if getattr(given, "ndim", None) == 2:
        return _cloud(given, device)
    arrays = [given[i] for i in range(len(given))]
    known: dict[int, _Cloud] = {}  # an array that is named several times is one cloud
    for array in arrays:
        if id(array) not in known:
            known[id(array)] = _cloud(array, device)
    return [known[id(array)] for array in arrays]


def _paired(sources: list[_Cloud] | _Cloud, targets: list[_Cloud] | _Cloud) -> list[tuple[_Cloud, _Cloud]]:
    if isinstance(sources, _Cloud):
        sources = [sources] * (len(targets) if isinstance(targets, list) else 1)
    if isinstance(targets, _Cloud):
        targets = [targets] * len(sources)
    if len(sources) != len(targets):
        raise ValueError(f"{len(sources)} sources, but {len(targets)} targets; pairs need as many")
    return list(zip(sources, targets, strict=True))


def _starts(initial: Any, pairs: int) -> tuple[Any, list[list[float] | None]]:
    """What all pairs begin with, and the pose of each pair that has its own."""
    if getattr(initial, "ndim", None) == 3:
        initial = list(np.asarray(on_host(initial, "initial"), dtype=np.float64))
    is_each = isinstance(initial, (list, tuple)) and all(
        pose is None or np.ndim(on_host(pose, "initial")) == 2 for pose in initial
    )
    if not is_each:
        return initial, [None] * pairs
    if len(initial) != pairs:
        raise ValueError(f"{len(initial)} initial poses for {pairs} pairs; give one for each, or one for all")
    return None, [None if pose is None else _as_pose(pose) for pose in initial]


def register_pairs(
    sources: Any,
    targets: Any,
    *,
    source_offsets: npt.ArrayLike | None = None,
    target_offsets: npt.ArrayLike | None = None,
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
) -> list[Registration]:
    """Register many pairs of clouds: what `register` returns for each, byte by byte.

    On the CPU threads take whole pairs. On a GPU all pairs of up to 4096 points a cloud run at once.

    Parameters
    ----------
    sources, targets : sequences of array_like of shape (n, 2) or (n, 3)
        Source i is registered with target i. An array of two dimensions is one cloud for all pairs,
        prepared once. Pairs whose arrays are on one GPU are registered there; if there are several
        GPUs, on that of the first such pair, and the others through the host.
    source_offsets, target_offsets : array_like of int of shape (pairs + 1,), optional
        The clouds lie one after the other in one array: cloud i has the rows from offsets[i] to
        offsets[i + 1].
    initial : array_like, "identity", "centroid" or a sequence of poses, optional
        As in `register`, for all pairs; or one pose, or None, for each.
    correspondences : bool
        Whether `correspondence_set` is needed; results are smaller without.
    method, max_distance, keep, reciprocal, kernel, kernel_scale, voxels, degrees_of_freedom, scale
        As in `register`, for all pairs.
    neighbors, max_iterations, rotation_tolerance, translation_tolerance, skip_nonfinite, device
        As in `register`, for all pairs.
    threads, progress
        As in `Index`.

    Returns
    -------
    list of Registration

    Raises
    ------
    ValueError
        As `register`, for the first pair that fails, and names its number.

    Examples
    --------
    >>> import kith, numpy as np
    >>> model = kith.generate("surface", 500, seed=1)
    >>> scans = [model + np.float32([0.01, 0, 0]), model - np.float32([0, 0.01, 0])]
    >>> for found in kith.register_pairs(scans, model):
    ...     print(found.converged, found.transformation[:2, 3].round(4) + 0.0)
    True [-0.01  0.  ]
    True [0.   0.01]

    Clouds of any size that lie one after the other:

    >>> found = kith.register_pairs(
    ...     np.concatenate(scans), model, source_offsets=[0, 500, 1000], correspondences=False
    ... )
    >>> len(found), found[1].fitness
    (2, 1.0)
    """
    target_options = _target_options(method, voxels, neighbors, skip_nonfinite, device, threads)
    pairs = _paired(
        _clouds(sources, source_offsets, target_options["device"], "source"),
        _clouds(targets, target_offsets, target_options["device"], "target"),
    )
    common_start, starts = _starts(initial, len(pairs))
    options = _all_options(
        target_options,
        common_start,
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
    there: DeviceRows | None = None  # on the GPU that works, and whose owner's stream is waited for
    frameworks: list[Any] = []
    from_rows: list[Any] = []
    to_rows: list[Any] = []
    for source, target in pairs:
        moved, fixed = source.there, target.there
        if (
            moved is not None
            and fixed is not None
            and moved.dtype == fixed.dtype
            and moved.ordinal == fixed.ordinal == (there or moved).ordinal
        ):
            there = there or moved
            frameworks += [each.framework for each in (moved, fixed) if each.framework not in frameworks]
            from_rows.append(source.rows)
            to_rows.append(target.rows)
        else:
            dtype = source.dtype if source.dtype == target.dtype else np.dtype(np.float64)
            from_rows.append(source.on_host(dtype))
            to_rows.append(target.on_host(dtype))
    with reporting(progress) as report:
        if there is None:
            results = _kith.register_pairs(from_rows, to_rows, starts, 0, report, **options)
        else:
            for framework in frameworks:
                if framework is not there.framework:
                    framework.synchronize(there.ordinal)
            with there.framework.on(there.ordinal):
                stream = there.framework.stream(there.ordinal)
                results = _kith.register_pairs(from_rows, to_rows, starts, stream, report, **options)
    return [_result_of(found, source.dims) for found, (source, _) in zip(results, pairs, strict=True)]
