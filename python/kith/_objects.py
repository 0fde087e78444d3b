"""Rows of bits, strings and sets as kith.Index takes them."""

from __future__ import annotations

import math
import numbers
from typing import Any

import numpy as np

from . import _kith
from ._device_arrays import is_on_gpu


class Bits:
    """Rows of bits by the Hamming distance."""

    what = "rows of bits"
    Low = _kith.BitIndex

    @staticmethod
    def build(objects: Any, metric: str, **options: Any) -> _kith.BitIndex:
        rows, bits, lead = _packed(objects, "points")
        if len(lead) != 1:
            raise ValueError(f"rows of bits must have two dimensions, not {len(lead) + 1}")
        return _kith.BitIndex.build(_kith.BitRows(rows, bits), **options)

    @staticmethod
    def queries(low: _kith.BitIndex, queries: Any) -> tuple[Any, tuple[int, ...]]:
        """Queries for the extension, and their shape: () for a single one."""
        rows, bits, lead = _packed(queries, "queries")
        Bits.require_bits(low, bits)
        return _kith.BitRows(rows, bits), lead

    @staticmethod
    def require_bits(low: _kith.BitIndex, bits: int) -> None:
        if bits != low.bits:
            raise ValueError(
                f"queries have {bits} bits, the rows of the index {low.bits}; they must agree"
            )

    @staticmethod
    def objects(low: _kith.BitIndex) -> np.ndarray:
        return low.packed_rows()


class Sequences:
    """Strings by edit and Hamming distance, sets by Jaccard distance."""

    what = "strings or sets"
    Low = _kith.SequenceIndex

    @staticmethod
    def build(objects: Any, metric: str, **options: Any) -> _kith.SequenceIndex:
        if isinstance(objects, (str, bytes, bytearray)):
            raise TypeError("objects must be a list of strings, not a single one")
        given = as_list(objects, "objects")
        kind = "sets" if metric == "jaccard" else _kind_of(given)
        if kind == "numbers":
            _require_order(given, "objects", metric)
        sequences = _kith.Sequences.make(given, kind, "objects")
        return _kith.SequenceIndex.build(sequences, metric, **options)

    @staticmethod
    def queries(low: _kith.SequenceIndex, queries: Any) -> tuple[Any, tuple[int, ...]]:
        is_one = _is_one(queries, low.kind)
        given = [queries] if is_one else as_list(queries, "queries")
        if low.kind == "numbers":
            _require_order(given, "queries", low.metric)
        asked = _kith.Sequences.make(given, low.kind, "queries")
        return asked, () if is_one else (len(given),)

    @staticmethod
    def objects(low: _kith.SequenceIndex) -> list[Any]:
        return low.objects()


def content_for(metric: Any, objects: Any) -> type[Bits] | type[Sequences] | None:
    """What the objects are under a metric; None for points."""
    if metric == "hamming" and (
        is_on_gpu(objects)
        or (isinstance(objects, np.ndarray) and objects.dtype.kind not in "USTO")
    ):
        return Bits
    if metric in ("edit", "levenshtein", "hamming", "jaccard"):
        return Sequences
    return None


def _is_one(queries: Any, kind: str) -> bool:
    if isinstance(queries, (str, bytes, set, frozenset)):
        return True
    if kind not in ("sets", "numbers"):
        return False
    if isinstance(queries, np.ndarray):
        return queries.ndim == 1 and queries.dtype.kind in "iu"
    return (
        isinstance(queries, (list, tuple, range))
        and len(queries) > 0
        and isinstance(queries[0], numbers.Integral)
    )


def _packed(array: Any, name: str) -> tuple[np.ndarray, int, tuple[int, ...]]:
    """Rows of bits as bytes, how many bits each has, and the shape before the last axis."""
    values = np.asarray(array)
    if values.ndim == 0:
        raise ValueError(f"{name} must be rows of bits, not a single value")
    if values.dtype == np.bool_:
        bits = values.shape[-1]
        packed = np.packbits(values, axis=-1)
    elif values.dtype.kind == "u":
        bits = 8 * values.dtype.itemsize * values.shape[-1]
        native = np.ascontiguousarray(values, dtype=values.dtype.newbyteorder("="))
        packed = native.view(np.uint8)
    else:
        raise TypeError(
            f"{name}: rows of bits must be bool or unsigned integers (8 to 64 bits in each), not "
            f"{values.dtype}; convert 0 and 1 by .astype(bool), packed bytes by .astype(np.uint8)"
        )
    lead = values.shape[:-1]
    packed = np.ascontiguousarray(packed).reshape(math.prod(lead), packed.shape[-1])
    return packed, bits, lead


def as_list(objects: Any, name: str) -> list[Any]:
    if isinstance(objects, np.ndarray) and objects.dtype.kind in "USTO":
        return objects.tolist()
    try:
        return list(objects)
    except TypeError:
        raise TypeError(f"{name} must be a list, not {type(objects).__name__}") from None


def _require_order(items: list[Any], name: str, metric: str) -> None:
    for number, each in enumerate(items):
        if isinstance(each, (set, frozenset)):
            raise TypeError(
                f"{name}: number {number} is a set, which has no order; {metric} compares lists of "
                "whole numbers, jaccard compares sets"
            )


def _kind_of(objects: list[Any]) -> str:
    if not objects or isinstance(objects[0], str):
        return "text"
    return "bytes" if isinstance(objects[0], bytes) else "numbers"
