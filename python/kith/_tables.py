"""Tables of pandas, polars and Arrow as rows of numbers, columns by name. None of these packages is imported here."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any, NamedTuple, Protocol

import numpy as np


class Column(NamedTuple):
    """A column; `dtype` is NumPy's type of its numbers, None if it holds none."""

    name: Any
    kind: str
    dtype: np.dtype | None


class Table(Protocol):
    """What is needed of a table."""

    length: int
    columns: list[Column]

    def values(self, place: int, dtype: np.dtype) -> np.ndarray:
        """A column of numbers; what is missing is NaN."""

    def advice(self, names: Sequence[str]) -> str:
        """How to take only these columns."""


def _numpy_dtype(name: Any) -> np.dtype | None:
    try:
        return np.dtype(name)
    except TypeError:
        return None


class _PandasTable:
    def __init__(self, frame: Any) -> None:
        self._frame = frame
        self.length = len(frame)
        self.columns = [
            Column(name, str(dtype), self._dtype(dtype))
            for name, dtype in zip(frame.columns, frame.dtypes)
        ]

    @staticmethod
    def _dtype(dtype: Any) -> np.dtype | None:
        if isinstance(dtype, np.dtype):
            return dtype
        if type(dtype).__name__ == "SparseDtype":
            return _numpy_dtype(dtype.subtype)
        return getattr(dtype, "numpy_dtype", None)  # of nullable types and of Arrow's

    def values(self, place: int, dtype: np.dtype) -> np.ndarray:
        column = self._frame.iloc[:, place]
        if isinstance(column.dtype, np.dtype):
            return column.to_numpy()
        return column.to_numpy(dtype=dtype, na_value=np.nan)

    def advice(self, names: Sequence[str]) -> str:
        return f"table[{list(names)!r}]"


class _PolarsTable:
    _OTHERS = {"Boolean": "bool", "Decimal": "float64", "Int128": "float64"}

    def __init__(self, frame: Any) -> None:
        self._frame = frame
        self.length = frame.height
        self.columns = [
            Column(name, str(dtype), self._dtype(dtype)) for name, dtype in frame.schema.items()
        ]

    def _dtype(self, dtype: Any) -> np.dtype | None:
        name = str(dtype).partition("(")[0]
        if name not in self._OTHERS and not dtype.is_numeric():
            return None
        return _numpy_dtype(self._OTHERS.get(name, name.lower()))

    def values(self, place: int, dtype: np.dtype) -> np.ndarray:
        import polars

        column = self._frame.to_series(place)
        if column.null_count() or self.columns[place].kind not in ("Float32", "Float64"):
            column = column.cast(polars.Float32 if dtype.itemsize == 4 else polars.Float64)
        return column.to_numpy()

    def advice(self, names: Sequence[str]) -> str:
        return f"table.select({list(names)!r})"


class _ArrowTable:
    def __init__(self, table: Any) -> None:
        self._table = table
        self.length = table.num_rows
        self.columns = [
            Column(field.name, str(field.type), self._dtype(field.type)) for field in table.schema
        ]

    @staticmethod
    def _dtype(type_: Any) -> np.dtype | None:
        if str(type_).startswith("decimal"):
            return np.dtype(np.float64)
        try:
            return _numpy_dtype(type_.to_pandas_dtype())
        except NotImplementedError:
            return None

    def values(self, place: int, dtype: np.dtype) -> np.ndarray:
        column = self._table.column(place)
        if column.null_count or self.columns[place].kind not in ("float", "double"):
            if self.columns[place].kind == "bool":
                column = column.cast("uint8")
            column = column.cast("float32" if dtype.itemsize == 4 else "float64", safe=False)
        return np.asarray(column)

    def advice(self, names: Sequence[str]) -> str:
        return f"table.select({list(names)!r})"


_KINDS: list[tuple[str, tuple[str, ...], Any]] = [
    ("pandas", ("DataFrame",), _PandasTable),
    ("polars", ("DataFrame",), _PolarsTable),
    ("pyarrow", ("Table", "RecordBatch"), _ArrowTable),
]


def table_of(array: Any) -> Table | None:
    """The table that an argument is; None for everything else."""
    if type(array) is np.ndarray or isinstance(array, (list, tuple)):
        return None
    for package, names, kind in _KINDS:
        module = sys.modules.get(package)  # a table of that package exists only if it was imported
        if module is not None and isinstance(
            array, tuple(getattr(module, name, ()) for name in names)
        ):
            return kind(array)
    return None
