"""Searches of objects of any type, measured by a function of Python."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from . import _kith
from ._arguments import as_count, as_number, as_radii, as_threads
from ._lists import NeighborLists, lists_as_asked
from ._objects import as_list
from ._progress import Progress, reporting
from ._types import EngineInUse


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
        given = as_list(objects, "objects")
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
        filters = [options.pop(name, None) for name in ("allowed", "earlier_only", "index_below")]
        if any(each is not None and each is not False for each in filters):
            raise ValueError("allowed, earlier_only, index_below: not for a metric of your own")
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
        self, queries: Any, k: int, *, exclude_self: bool, max_distance: float, eps: float,
        return_exact: bool, **options: Any,
    ) -> Any:
        asked, lead, but = self._asked(queries, exclude_self, options)
        k = as_count(k, "k")
        eps, most = as_number(eps, "eps"), as_number(max_distance, "max_distance")
        distances, indices = self.low.knn(asked, k, eps, most, but)
        found = distances.reshape(*lead, k), indices.reshape(*lead, k)
        return (*found, np.full(lead, eps == 0)) if return_exact else found

    def radius(
        self, queries: Any, radius: Any, *, exclude_self: bool, max_neighbors: int, **options: Any
    ) -> Any:
        asked, lead, but = self._asked(queries, exclude_self, options)
        most = as_count(max_neighbors, "max_neighbors")
        lists = NeighborLists(*self.low.radius(asked, _radii(radius, lead), most, but))
        return lists_as_asked(lists, lead)

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

    def explain(self) -> str:
        return (
            f"cover tree on cpu: {self.low.size} objects measured by {name_of(self.metric)}\n"
            f"the metric was called {self.low.evaluations} times since the tree was made"
        )

    def check(self) -> str:
        return self.low.first_violation()


def name_of(function: Any) -> str:
    return getattr(function, "__name__", None) or type(function).__name__


def _rounding(given: Any) -> tuple[float, float] | None:
    if given is None:
        return None
    if np.shape(given) != (2,):
        raise TypeError("rounding must be two numbers, (relative, absolute)")
    relative, absolute = given
    return as_number(relative, "rounding"), as_number(absolute, "rounding")


def _radii(radius: Any, lead: tuple[int, ...]) -> np.ndarray:
    radii = as_radii(radius, lead)
    if isinstance(radii, float):
        return np.full(math.prod(lead), radii)
    return radii
