"""Arguments beside the points and queries. What is wrong is named, with what to give instead."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np
import numpy.typing as npt


def as_text(value: Any, name: str) -> str:
    if not isinstance(value, str):
        raise TypeError(f"{name} must be a str, not {type(value).__name__}")
    return value


def flat_bytes(content: Any) -> memoryview:
    """The memory of bytes, or of anything that holds them, without a copy if it lies side by side."""
    try:
        view = memoryview(content)
    except TypeError:
        raise TypeError(f"content must be bytes, not {type(content).__name__}") from None
    return view.cast("B") if view.c_contiguous else memoryview(view.tobytes())


def as_whole(number: Any, name: str) -> int:
    """A whole number of any size."""
    try:
        return operator.index(number)
    except TypeError:
        raise TypeError(f"{name} must be a whole number, not {type(number).__name__}") from None


def as_count(number: Any, name: str, bits: int = 32) -> int:
    """A whole number from 0 to 2**32 - 1, or of more bits."""
    value = number if type(number) is int else as_whole(number, name)
    if not 0 <= value < 2**bits:
        raise ValueError(f"{name} must be from 0 to 2**{bits} - 1, not {value}")
    return value


def as_threads(threads: Any) -> int:
    """How many threads; 0 stands for all cores."""
    count = as_whole(threads, "threads")
    if count < 0:
        raise ValueError(f"threads must be at least 0, not {count}; 0 means all cores")
    return min(count, 2**31 - 1)


def as_number(value: Any, name: str) -> float:
    """A real number, also NaN and infinity."""
    if type(value) is float:
        return value
    if not isinstance(value, (str, bytes)) and np.ndim(value) == 0:
        try:
            return float(value)
        except (TypeError, ValueError):
            pass
    raise TypeError(f"{name} must be a number, not {type(value).__name__}")


def as_metric_params(params: Any, metric: Any) -> list[float]:
    """The numbers of a metric, a matrix row by row; of a dict the only value, by SciPy's name."""
    if params is None:
        return []
    if isinstance(params, dict):
        named = {"seuclidean": ["V"], "mahalanobis": ["VI", "V"]}.get(metric, ["w"])
        if len(params) != 1 or next(iter(params)) not in named:
            given = ", ".join(map(str, params)) or "nothing"
            raise ValueError(f"metric_params of {metric}: give {' or '.join(named)}, not {given}")
        ((name, params),) = params.items()
        if name == "V" and metric == "mahalanobis":
            params = np.linalg.inv(np.asarray(params, np.float64))
            params = (params + params.T) / 2
    values = np.asarray(params)
    if values.dtype.kind not in "fiub":
        raise TypeError(f"metric_params must hold numbers, not {values.dtype}")
    return values.astype(np.float64).ravel().tolist()


def as_period(period: Any, dims: int) -> list[float]:
    """A length for each axis; none at all if there is no period."""
    if period is None:
        return []
    if np.ndim(period) == 0:
        return [as_number(period, "period")] * dims
    lengths = [as_number(length, "a length of period") for length in period]
    if len(lengths) != dims:
        raise ValueError(
            f"period: {len(lengths)} length{'s' * (len(lengths) != 1)} for {dims} "
            f"dimension{'s' * (dims != 1)}; give one for each, 0 for an axis that does not wrap"
        )
    return lengths


def require_radii(dtype: np.dtype, shape: tuple[int, ...], lead: tuple[int, ...]) -> None:
    """Raises unless such an array has a radius for each query, or some for all of them."""
    if dtype.kind not in "fiub":
        raise TypeError(f"radius must hold numbers, not {dtype}")
    try:
        is_fitting = np.broadcast_shapes(shape, lead) == lead
    except ValueError:
        is_fitting = False
    if not is_fitting:
        raise ValueError(
            f"radius has the shape {shape}, the queries {lead}: give one radius, or one for "
            "each query"
        )


def as_radii(radius: Any, lead: tuple[int, ...]) -> float | npt.NDArray[np.float64]:
    """One radius, or one for each query."""
    if np.ndim(radius) == 0:
        return as_number(radius, "radius")
    radii = np.asarray(radius)
    require_radii(radii.dtype, radii.shape, lead)
    radii = np.broadcast_to(radii.astype(np.float64, copy=False), lead)
    return np.require(radii, requirements=["C", "A"]).reshape(-1)


def require_allowed(dtype: np.dtype, shape: tuple[int, ...], count: int) -> None:
    """Raises unless such an array has a bool for each point."""
    if dtype != np.bool_:
        raise TypeError(
            f"allowed must be a bool for each point, not {dtype}; "
            "from numbers of points make it by mask = numpy.zeros(n, bool); mask[numbers] = True"
        )
    if shape != (count,):
        raise ValueError(
            f"allowed has the shape {shape}, but ({count},) is needed: a bool per point"
        )


def as_allowed(mask: Any, count: int) -> npt.NDArray[np.uint64] | None:
    """A bool for each point as the library's words of 64 bits; None if all are allowed."""
    values = np.asarray(mask)
    require_allowed(values.dtype, values.shape, count)
    if values.all():
        return None
    words = np.zeros((count + 63) // 64, dtype="<u8")
    packed = np.packbits(values, bitorder="little")
    words.view(np.uint8)[: packed.size] = packed
    return words


def require_index_below(dtype: np.dtype, shape: tuple[int, ...], lead: tuple[int, ...]) -> None:
    """Raises unless such an array has a whole number for each query."""
    if dtype.kind not in "iu":
        raise TypeError(f"index_below must hold whole numbers, not {dtype}")
    if shape != lead:
        raise ValueError(
            f"index_below has the shape {shape}, the queries {lead}: give one for each"
        )


def as_index_below(bounds: Any, lead: tuple[int, ...]) -> npt.NDArray[np.uint32]:
    """A bound for each query."""
    values = np.asarray(bounds)
    require_index_below(values.dtype, values.shape, lead)
    if values.size and values.min() < 0:
        raise ValueError("index_below must not be negative")
    bounded = np.minimum(values.astype(np.uint64), np.uint64(2**32 - 1))
    return bounded.astype(np.uint32).reshape(-1)
