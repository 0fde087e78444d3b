"""Names of options and types of arguments, for type checkers and editors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, TypedDict, Union

import numpy as np
import numpy.typing as npt

from ._progress import Progress

Engine = Literal["auto", "brute", "kdtree", "covertree"]
EngineInUse = Literal["brute", "kdtree", "covertree"]
#: "lp:P" is one for every P; `_kith.metric_names` has all of them.
Metric = Union[Literal["l2", "l1", "linf", "cosine", "angular", "ip"], str]
Split = Literal["widest", "cycle"]
Builder = Literal["auto", "histogram", "presort", "select", "segsort", "batch", "lists"]

Distances = npt.NDArray[np.floating[Any]]
Indices = npt.NDArray[np.int64]

#: One and several, as lists. Of an array only its shape tells.
Point = Sequence[float]
Points = Sequence[Sequence[float]]


class CoverTreeCountKeywords(TypedDict, total=False):
    """What every search takes."""

    exclude_self: bool
    allowed: Any
    earlier_only: bool
    index_below: Any
    threads: int
    progress: Progress


class CoverTreeRadiusKeywords(CoverTreeCountKeywords, total=False):
    max_neighbors: int


class CoverTreeKnnKeywords(CoverTreeCountKeywords, total=False):
    max_distance: float
    eps: float


class CountKeywords(CoverTreeCountKeywords, total=False):
    skip_nonfinite: bool


class RadiusKeywords(CountKeywords, CoverTreeRadiusKeywords, total=False):
    squared: bool


class KnnKeywords(CountKeywords, CoverTreeKnnKeywords, total=False):
    max_leaves: int
    squared: bool


class BoxKeywords(TypedDict, total=False):
    allowed: Any
    index_below: Any
    skip_nonfinite: bool
    threads: int
    progress: Progress
