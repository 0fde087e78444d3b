"""The numbers of a table as rows, with notes on what was converted and errors that name the columns."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ._float_types import F64, float_type
from ._tables import Column, Table


def column_names(table: Table, columns: Sequence[str] | None = None) -> list[str] | None:
    """The names of its columns, or those that are chosen; None if they are only numbered."""
    if columns is not None:
        return list(columns)
    names = [column.name for column in table.columns]
    return names if names and all(isinstance(name, str) for name in names) else None


def rows_of_table(
    table: Table, name: str, dtype: np.dtype | None, columns: Sequence[str] | None
) -> tuple[np.ndarray, list[str]]:
    """Rows of float32 or float64, and what is to be said of the conversion. `columns` are taken by name."""
    places = list(range(len(table.columns)))
    if columns is not None and column_names(table) is not None:
        places = _places(table, name, columns)
    chosen = [table.columns[place] for place in places]
    floats = [each for column in chosen if (each := _float_type(column)) is not None]
    if len(floats) < len(chosen):
        raise _refuse(table, chosen, name)
    wanted = dtype
    if wanted is None:
        wanted = np.result_type(*floats) if floats else F64
    rows = np.empty((table.length, len(chosen)), wanted)
    with np.errstate(over="ignore"):
        for column, place in enumerate(places):
            rows[:, column] = table.values(place, wanted)
    return rows, _notes(chosen, name, wanted)


def _places(table: Table, name: str, columns: Sequence[str]) -> list[int]:
    names = [column.name for column in table.columns]
    for wanted in columns:
        if names.count(wanted) > 1:
            raise ValueError(f"{name}: several columns are called {wanted!r}")
        if wanted not in names:
            raise ValueError(
                f"{name} has no column {wanted!r}; it has {', '.join(map(repr, names))}, and "
                f"{', '.join(map(repr, columns))} are needed (an array is taken by position)"
            )
    return [names.index(wanted) for wanted in columns]


def _float_type(column: Column) -> np.dtype | None:
    return None if column.dtype is None else float_type(column.dtype)


def _refuse(table: Table, chosen: list[Column], name: str) -> TypeError:
    bad = ", ".join(f"{each.name!r} ({each.kind})" for each in chosen if _float_type(each) is None)
    good = [str(each.name) for each in chosen if _float_type(each) is not None]
    advice = f"; take the others: {table.advice(good)}" if good else ""
    return TypeError(f"{name} must hold numbers, but these columns do not: {bad}{advice}")


def _notes(chosen: list[Column], name: str, wanted: np.dtype) -> list[str]:
    converted, rounded = [], []
    for column in chosen:
        own = column.dtype
        if own is None or own == wanted:
            continue
        if own.kind != "f" or own.itemsize not in (4, 8):
            converted.append(f"{column.name} ({column.kind})")
        elif own.itemsize > wanted.itemsize:
            rounded.append(f"{column.name} ({column.kind})")
    notes = []
    if converted:
        notes.append(f"{name}: converted to {wanted}: {', '.join(converted)}")
    if rounded:
        notes.append(f"{name}: rounded to {wanted}, the type of the points: {', '.join(rounded)}")
    return notes
