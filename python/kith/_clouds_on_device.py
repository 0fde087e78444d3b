"""Jobs on clouds of CuPy and PyTorch: arrays on a GPU in, arrays there out."""

from __future__ import annotations

from typing import Any

import numpy as np

from . import _kith
from ._device_arrays import DeviceRows, placed_rows


def normals_there(points: DeviceRows, report: Any, options: dict[str, Any]) -> tuple[Any, Any]:
    framework, ordinal = points.framework, points.ordinal
    with framework.on(ordinal):
        normals = framework.empty(points.shape, points.dtype, ordinal)
        curvature = framework.empty((points.shape[0],), points.dtype, ordinal)
        _kith.normals_on_device(
            points.view,
            framework.address(normals),
            framework.address(curvature),
            report,
            stream=framework.stream(ordinal),
            **options,
        )
    return normals, curvature


def transform_there(
    points: DeviceRows, pose: list[float], report: Any, options: dict[str, Any]
) -> Any:
    framework, ordinal = points.framework, points.ordinal
    with framework.on(ordinal):
        moved = framework.empty(points.shape, points.dtype, ordinal)
        _kith.transform_on_device(
            points.view,
            pose,
            framework.address(moved),
            report,
            stream=framework.stream(ordinal),
            **options,
        )
    return moved


def downsample_there(
    points: DeviceRows, wants_counts: bool, wants_map: bool, report: Any, options: dict[str, Any]
) -> tuple[Any, Any, Any, Any, int]:
    framework, ordinal, rows = points.framework, points.ordinal, points.shape[0]
    with framework.on(ordinal):
        sample = framework.empty(points.shape, points.dtype, ordinal)
        kept = framework.empty((rows,), np.uint32, ordinal)
        counts = framework.empty((rows,), np.uint32, ordinal) if wants_counts else None
        places = framework.empty((rows,), np.uint32, ordinal) if wants_map else None
        left, skipped = _kith.downsample_on_device(
            points.view,
            framework.address(sample),
            framework.address(kept),
            0 if counts is None else framework.address(counts),
            0 if places is None else framework.address(places),
            report,
            stream=framework.stream(ordinal),
            **options,
        )
        # A view would keep the memory of all points.
        taken = sample[:left].clone() if hasattr(sample, "clone") else sample[:left].copy()
        return (
            taken,
            framework.widened(kept[:left]),
            None if counts is None else framework.widened(counts[:left]),
            None if places is None else framework.widened(places),
            skipped,
        )


def rows_on_one_gpu(first: Any, second: Any, device: str) -> tuple[DeviceRows, DeviceRows] | None:
    """Both clouds, if they are on one GPU, of one type, and are to be compared there."""
    a, b = placed_rows(first, device)[0], placed_rows(second, device)[0]
    if a is None or b is None or a.ordinal != b.ordinal or a.dtype != b.dtype:
        return None
    return a, b


def distance_there(
    first: DeviceRows, second: DeviceRows, report: Any, options: dict[str, Any]
) -> tuple[Any, ...]:
    """As the extension's cloud_distance, with arrays of the frameworks."""
    ordinal = first.ordinal
    if second.framework is not first.framework:
        second.framework.synchronize(ordinal)  # only the first one's stream is waited for
    clouds = [first, second] if options["symmetric"] else [first]
    arrays = []
    for cloud in clouds:
        with cloud.framework.on(ordinal):
            rows = cloud.shape[0]
            distances = cloud.framework.empty((rows,), np.float64, ordinal)
            arrays.append((distances, cloud.framework.empty((rows,), np.uint32, ordinal)))
    addresses = [
        cloud.framework.address(array)
        for cloud, pair in zip(clouds, arrays, strict=True)
        for array in pair
    ]
    addresses += [0] * (4 - len(addresses))
    with first.framework.on(ordinal):
        stream = first.framework.stream(ordinal)
        figures = _kith.cloud_distance_on_device(
            first.view, second.view, addresses, report, stream=stream, **options
        )
    for cloud, found, (distances, nearest) in zip(clouds, figures, arrays, strict=False):
        with cloud.framework.on(ordinal):
            found["distances"] = cloud.framework.astype(distances, cloud.dtype)
            found["nearest"] = cloud.framework.widened(nearest)
    return tuple(figures)


def outliers_there(points: DeviceRows, report: Any, options: dict[str, Any]) -> dict[str, Any]:
    framework, ordinal, rows = points.framework, points.ordinal, points.shape[0]
    is_statistical = options["neighbors"] is not None
    with framework.on(ordinal):
        flags = framework.empty((rows,), np.uint8, ordinal)
        kept = framework.empty((rows,), np.uint32, ordinal)
        values = framework.empty((rows,), np.float64 if is_statistical else np.uint32, ordinal)
        left, mean, deviation, threshold, skipped = _kith.outliers_on_device(
            points.view,
            framework.address(flags),
            framework.address(kept),
            framework.address(values),
            report,
            stream=framework.stream(ordinal),
            **options,
        )
        return {
            "flags": framework.astype(flags, np.dtype(np.bool_)),
            "kept": framework.widened(kept[:left]),
            "values": values if is_statistical else framework.widened(values),
            "mean": mean,
            "deviation": deviation,
            "threshold": threshold,
            "skipped": skipped,
        }
