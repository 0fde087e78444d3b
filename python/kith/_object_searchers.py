"""Searches of what has no coordinates: rows of bits, strings, sets, and objects of any type."""

from __future__ import annotations

import math
import numbers
from collections.abc import Callable
from typing import Any

import numpy as np

from . import _kith
from ._arguments import as_allowed, as_count, as_number, as_radii, as_threads
from ._lists import NeighborLists
from ._progress import Progress, reporting
from ._types import EngineInUse

__all__ = ["BitSearcher", "MetricSearcher", "SequenceSearcher"]


class _LowSearcher:
    """The searches of `kith.Index` over an index of the extension whose queries are objects."""

    what = "objects"

    def __init__(self, low: Any) -> None:
        self.low = low

    def __len__(self) -> int:
        return self.low.size

    def _queries(self, queries: Any) -> tuple[Any, tuple[int, ...]]:
        """Queries for the extension, and their shape: () for a single one."""
        raise NotImplementedError

    def _asked(self, queries: Any) -> tuple[Any, tuple[int, ...]]:
        return (None, (len(self),)) if queries is None else self._queries(queries)

    def knn(
        self, queries: Any, k: int, *, return_exact: bool, progress: Progress, **options: Any
    ) -> Any:
        asked, lead = self._asked(queries)
        k = as_count(k, "k")
        for name in ("max_distance", "eps"):
            options[name] = as_number(options[name], name)
        with reporting(progress) as report:
            distances, indices, exact = self.low.knn(
                asked, k, progress=report, **self._checked(options)
            )
        found = distances.reshape(*lead, k), indices.reshape(*lead, k)
        if not return_exact:
            return found
        if exact is None:
            exact = np.ones(lead, dtype=bool)
        return (*found, exact.reshape(lead))

    def radius(self, queries: Any, radius: Any, *, progress: Progress, **options: Any) -> Any:
        asked, lead = self._asked(queries)
        options["max_neighbors"] = as_count(options["max_neighbors"], "max_neighbors")
        with reporting(progress) as report:
            found = self.low.radius(
                asked, self._one_radius(radius), progress=report, **self._checked(options)
            )
        lists = NeighborLists(*found)
        return lists[0] if lead == () else lists

    def count(self, queries: Any, radius: Any, *, progress: Progress, **options: Any) -> Any:
        asked, lead = self._asked(queries)
        with reporting(progress) as report:
            counts = self.low.count(
                asked, self._one_radius(radius), progress=report, **self._checked(options)
            )
        return int(counts[0]) if lead == () else counts.reshape(lead)

    def _one_radius(self, radius: Any) -> float:
        if np.ndim(radius) != 0:
            raise ValueError(f"radius must be one number for all queries of {self.what}")
        return as_number(radius, "radius")

    def _checked(self, options: dict[str, Any]) -> dict[str, Any]:
        """What all searches share."""
        for name in ("exclude_self", "earlier_only"):
            options[name] = bool(options[name])
        options["threads"] = as_threads(options["threads"])
        if options["allowed"] is not None:
            options["allowed"] = as_allowed(options["allowed"], len(self))
        return options


class BitSearcher(_LowSearcher):
    """Rows of bits by the Hamming distance."""

    what = "bits"
    metric = "hamming"

    @classmethod
    def build(cls, objects: Any, *, progress: Progress, **options: Any) -> BitSearcher:
        rows, bits, lead = _packed(objects, "objects")
        if len(lead) != 1:
            raise ValueError(f"rows of bits must have two dimensions, not {len(lead) + 1}")
        with reporting(progress) as report:
            low = _kith.BitIndex.build(_kith.BitRows(rows, bits), progress=report, **options)
        return cls(low)

    def _queries(self, queries: Any) -> tuple[Any, tuple[int, ...]]:
        rows, bits, lead = _packed(queries, "queries")
        if bits != self.low.bits:
            raise ValueError(
                f"queries have {bits} bits, the rows of the tree {self.low.bits}; they must agree"
            )
        return _kith.BitRows(rows, bits), lead

    @property
    def objects(self) -> np.ndarray:
        return self.low.packed_rows()


class SequenceSearcher(_LowSearcher):
    """Strings by edit and Hamming distance, sets by Jaccard distance."""

    what = "strings and sets"

    @classmethod
    def build(
        cls, objects: Any, metric: str, *, progress: Progress, **options: Any
    ) -> SequenceSearcher:
        if isinstance(objects, (str, bytes, bytearray)):
            raise TypeError("objects must be a list of strings, not a single one")
        given = _as_list(objects, "objects")
        kind = "sets" if metric == "jaccard" else _kind_of(given)
        if kind == "numbers":
            _require_order(given, "objects", metric)
        sequences = _kith.Sequences.make(given, kind, "objects")
        with reporting(progress) as report:
            low = _kith.SequenceIndex.build(sequences, metric, progress=report, **options)
        return cls(low)

    def _queries(self, queries: Any) -> tuple[Any, tuple[int, ...]]:
        is_one = self._is_one(queries)
        given = [queries] if is_one else _as_list(queries, "queries")
        if self.low.kind == "numbers":
            _require_order(given, "queries", self.metric)
        asked = _kith.Sequences.make(given, self.low.kind, "queries")
        return asked, () if is_one else (len(given),)

    def _is_one(self, queries: Any) -> bool:
        if isinstance(queries, (str, bytes, set, frozenset)):
            return True
        if self.low.kind not in ("sets", "numbers"):
            return False
        if isinstance(queries, np.ndarray):
            return queries.ndim == 1 and queries.dtype.kind in "iu"
        return (
            isinstance(queries, (list, tuple, range))
            and len(queries) > 0
            and isinstance(queries[0], numbers.Integral)
        )

    @property
    def metric(self) -> str:
        return self.low.metric

    @property
    def objects(self) -> list[Any]:
        return self.low.objects()


class MetricSearcher:
    """Objects of any type, measured by a function of Python."""

    engine: EngineInUse = "covertree"
    device = "cpu"

    def __init__(self, low: _kith.MetricTree) -> None:
        self.low = low

    @classmethod
    def build(
        cls,
        objects: Any,
        metric: Callable[[Any, Any], float],
        rounding: tuple[float, float] | None,
        progress: Progress,
    ) -> MetricSearcher:
        low = _kith.MetricTree(metric, _rounding(rounding))
        given = _as_list(objects, "objects")
        with reporting(progress) as report:
            for number, each in enumerate(given):
                low.insert(each)
                if report is not None and number % 64 == 63:
                    report("build", number + 1, len(given))
        return cls(low)

    def __len__(self) -> int:
        return self.low.size

    def _asked(
        self, queries: Any, exclude_self: bool, options: dict[str, Any]
    ) -> tuple[tuple[Any, ...], tuple[int, ...], Any]:
        """Queries, out of reach of the metric, their shape, and whom each must not find."""
        if options.pop("allowed", None) is not None or options.pop("earlier_only", False):
            raise ValueError("allowed and earlier_only do not go with a metric of your own")
        as_threads(options.pop("threads", 0))
        if queries is None:
            numbers_of_all = self.low.numbers()
            asked = tuple(self.low.object(int(number)) for number in numbers_of_all)
            return asked, (len(asked),), numbers_of_all if exclude_self else None
        if exclude_self:
            raise ValueError("exclude_self is for searches with queries=None")
        if isinstance(queries, list):
            return tuple(queries), (len(queries),), None
        if isinstance(queries, np.ndarray) and queries.ndim > 1:
            return tuple(queries), (len(queries),), None
        return (queries,), (), None

    def knn(
        self,
        queries: Any,
        k: int,
        *,
        exclude_self: bool,
        max_distance: float,
        eps: float,
        return_exact: bool,
        **options: Any,
    ) -> Any:
        asked, lead, but = self._asked(queries, exclude_self, options)
        k = as_count(k, "k")
        eps, most = as_number(eps, "eps"), as_number(max_distance, "max_distance")
        distances, indices = self.low.knn(asked, k, eps, most, but)
        found = distances.reshape(*lead, k), indices.reshape(*lead, k)
        return (*found, np.full(lead, eps == 0)) if return_exact else found

    def radius(
        self,
        queries: Any,
        radius: Any,
        *,
        exclude_self: bool,
        max_neighbors: int,
        **options: Any,
    ) -> Any:
        asked, lead, but = self._asked(queries, exclude_self, options)
        most = as_count(max_neighbors, "max_neighbors")
        lists = NeighborLists(*self.low.radius(asked, _radii(radius, lead), most, but))
        return lists[0] if lead == () else lists

    def count(self, queries: Any, radius: Any, *, exclude_self: bool, **options: Any) -> Any:
        asked, lead, but = self._asked(queries, exclude_self, options)
        if but is not None:
            found = self.low.radius(asked, _radii(radius, lead), 0, but)[2]
            return np.diff(found)
        counts = self.low.count(asked, _radii(radius, lead))
        return int(counts[0]) if lead == () else counts

    @property
    def metric(self) -> Any:
        return self.low.function

    @property
    def objects(self) -> list[Any]:
        return [self.low.object(int(number)) for number in self.low.numbers()]


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


def _as_list(objects: Any, name: str) -> list[Any]:
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


def _rounding(given: Any) -> tuple[float, float] | None:
    if given is None:
        return None
    if np.shape(given) != (2,):
        raise TypeError("rounding must be two numbers, (relative, absolute)")
    relative, absolute = given
    return as_number(relative, "rounding"), as_number(absolute, "rounding")


def _kind_of(objects: list[Any]) -> str:
    if not objects or isinstance(objects[0], str):
        return "text"
    return "bytes" if isinstance(objects[0], bytes) else "numbers"


def _radii(radius: Any, lead: tuple[int, ...]) -> np.ndarray:
    radii = as_radii(radius, lead)
    if isinstance(radii, float):
        return np.full(math.prod(lead), radii)
    return radii
