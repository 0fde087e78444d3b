"""Arrays as the library wants them: rows of float32 or float64, each row side by side in memory."""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Callable, Sequence
from types import FrameType
from typing import Any

import numpy as np

from ._float_types import F64, float_type, library_name, numpy_dtype
from ._table_rows import rows_of_table
from ._tables import table_of

__all__ = [
    "DataConversionNote",
    "answers_like",
    "as_queries",
    "as_rows",
    "float_type",
    "library_name",
    "note",
    "numpy_dtype",
    "unchanged",
]

_PACKAGE = os.path.dirname(os.path.abspath(__file__)) + os.sep


class DataConversionNote(UserWarning):
    """Numbers were converted to another type before they were searched.

    The library computes in float32 and float64. Arrays of other types are converted, and float64
    queries of a float32 index are rounded. To be rid of the note, convert them yourself or filter
    it: ``warnings.simplefilter("ignore", kith.DataConversionNote)``.
    """


def note(message: str) -> None:
    """Warn at the line outside of this package that led here."""
    level = 2
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and frame.f_code.co_filename.startswith(_PACKAGE):
        frame = frame.f_back
        level += 1
    warnings.warn(message, DataConversionNote, stacklevel=level)


def unchanged(array: Any) -> Any:
    return array


def answers_like(array: Any) -> Callable[[Any], Any]:
    """What makes of NumPy's arrays such as the caller gave, for arrays on the host: PyTorch's, or NumPy's."""
    if type(array).__module__.partition(".")[0] == "torch":
        return sys.modules["torch"].from_numpy
    return unchanged


def _refuse(array: np.ndarray, name: str, given: Any) -> TypeError:
    if array.ndim == 0 and array.dtype.kind == "O":
        return TypeError(f"{name} must be an array or a list of rows, not {type(given).__name__}")
    kinds = {
        "O": "objects",
        "c": "complex numbers",
        "U": "text",
        "S": "bytes",
        "T": "text",
        "M": "dates",
        "m": "time spans",
        "V": "records",
    }
    what = kinds.get(array.dtype.kind, str(array.dtype))
    if array.dtype.kind == "c":
        advice = "pass real and imaginary parts as columns, e.g. np.column_stack([z.real, z.imag])"
    elif array.dtype.kind == "V":
        advice = "pass the columns, e.g. numpy.lib.recfunctions.structured_to_unstructured(a)"
    else:
        advice = "convert it first, e.g. with numpy.asarray(a, dtype=numpy.float64)"
    return TypeError(f"{name} must hold numbers, not {what} (dtype {array.dtype}); {advice}")


def _to_numpy(array: Any, name: str) -> np.ndarray:
    if isinstance(array, np.ma.MaskedArray):
        if np.ma.is_masked(array):
            raise TypeError(
                f"{name} is a masked array with masked values; pass {name}.filled(numpy.nan) "
                "and skip_nonfinite=True to leave these rows out"
            )
        return np.asarray(array.data)
    if isinstance(array, np.ndarray):
        return np.asarray(array)
    if hasattr(array, "toarray") and hasattr(array, "nnz"):
        raise TypeError(
            f"{name} is a sparse matrix, which kith does not search; use {name}.toarray()"
        )
    if hasattr(array, "detach") and hasattr(array, "requires_grad"):
        array = array.detach()
        if str(array.dtype) == "torch.bfloat16":  # which NumPy does not have
            note(f"{name}: bfloat16 was converted to float32")
            array = array.float()
    if hasattr(array, "__dlpack__") and not hasattr(array, "__array__"):
        return np.from_dlpack(array)
    try:
        return np.asarray(array)
    except ValueError as error:
        raise ValueError(
            f"{name}: rows of different lengths cannot be searched ({error})"
        ) from None


def _without_missing(array: Any) -> Any:
    """A column of one of pandas' nullable types, with NaN for what is missing; others as they are."""
    dtype = getattr(array, "dtype", None)
    numpy_type = getattr(dtype, "numpy_dtype", None)
    if not hasattr(dtype, "na_value") or numpy_type is None:
        return array
    if array.isna().any() and float_type(numpy_type) is not None:
        return array.to_numpy(dtype=float_type(numpy_type), na_value=np.nan)
    return array.to_numpy(dtype=numpy_type)


def as_floats(
    array: Any, name: str, dtype: np.dtype | None = None, columns: Sequence[str] | None = None
) -> np.ndarray:
    """A NumPy array of float32 or float64, of any shape.

    Copies only what has another type; `dtype` says which of the two it must be. Of a table with
    names `columns` are taken.
    """
    table = table_of(array)
    if table is not None:
        rows, notes = rows_of_table(table, name, dtype, columns)
        for each in notes:
            note(each)
        return rows
    was_array = hasattr(array, "dtype")
    values = _to_numpy(_without_missing(array), name)
    wanted = float_type(values.dtype)
    if wanted is None:
        if values.size == 0 and not was_array:
            return np.empty(values.shape, dtype or F64)
        raise _refuse(values, name, array)
    if dtype is not None:
        wanted = dtype
    if values.dtype == wanted and values.dtype.isnative:
        return values
    if was_array and (values.dtype.kind != "f" or values.dtype.itemsize not in (4, 8)):
        note(f"{name}: {values.dtype} was converted to {wanted}")
    elif was_array and values.dtype.itemsize > wanted.itemsize:
        note(f"{name}: {values.dtype} was rounded to {wanted}, the type of the points")
    with np.errstate(over="ignore"):
        return values.astype(wanted)


def _side_by_side(rows: np.ndarray) -> np.ndarray:
    """The same rows, copied unless each lies side by side and they follow each other upwards."""
    count, dims = rows.shape
    size = rows.itemsize
    across, along = rows.strides
    if dims > 1 and along != size:
        return np.ascontiguousarray(rows)
    if count > 1 and (across < dims * size or across % size != 0):
        return np.ascontiguousarray(rows)
    if not rows.flags.aligned:
        return np.ascontiguousarray(rows) if not rows.flags.c_contiguous else rows.copy()
    return rows


def as_rows(
    array: Any,
    name: str = "points",
    dtype: np.dtype | None = None,
    columns: Sequence[str] | None = None,
) -> np.ndarray:
    """A NumPy array of shape (n, dims) that the extension takes without a copy."""
    values = as_floats(array, name, dtype, columns)
    if values.ndim != 2:
        advice = ""
        if values.shape == (0,):
            advice = "; use numpy.empty((0, dims)) for no points"
        elif values.ndim == 1:
            advice = (
                f"; use {name}.reshape(-1, 1) for points with one coordinate "
                f"or {name}.reshape(1, -1) for a single point"
            )
        elif values.ndim > 2:
            advice = f"; use {name}.reshape(-1, {values.shape[-1]})"
        raise ValueError(f"{name} must have the shape (n, dims), not {values.shape}{advice}")
    return _side_by_side(values)


def as_queries(
    array: Any,
    dims: int,
    dtype: np.dtype,
    name: str = "queries",
    columns: Sequence[str] | None = None,
) -> tuple[np.ndarray, tuple[int, ...]]:
    """Queries of shape (..., dims) as rows, and the shape before the last axis."""
    values = as_floats(array, name, dtype, columns)
    if values.ndim == 0 or values.shape[-1] != dims:
        raise ValueError(
            f"{name} must have the shape (..., {dims}), because the points have {dims} "
            f"coordinates, not {values.shape}"
        )
    lead = values.shape[:-1]
    if values.ndim != 2:
        values = values.reshape(int(np.prod(lead)), dims)
    return _side_by_side(values), lead
