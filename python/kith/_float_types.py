"""float32 and float64: which of them holds the numbers of a type, and what the library calls them."""

from __future__ import annotations

from typing import Any

import numpy as np

F32 = np.dtype(np.float32)
F64 = np.dtype(np.float64)


def library_name(dtype: np.dtype) -> str:
    """The library's name of float32 or float64."""
    return "f32" if dtype == F32 else "f64"


def as_library_name(dtype: Any) -> str:
    """The same of an argument `dtype`."""
    wanted = np.dtype(dtype)
    if wanted not in (F32, F64):
        raise TypeError(f"dtype must be float32 or float64, not {wanted}")
    return library_name(wanted)


def numpy_dtype(name: str) -> np.dtype:
    """The reverse of `library_name`."""
    return F32 if name == "f32" else F64


def float_type(dtype: np.dtype) -> np.dtype | None:
    """The type that holds the numbers of `dtype`, or None if they are no real numbers."""
    if dtype.kind == "f":
        return F32 if dtype.itemsize <= 4 else F64
    if dtype.kind in "iub":
        return F32 if dtype.itemsize <= 2 else F64
    return None
