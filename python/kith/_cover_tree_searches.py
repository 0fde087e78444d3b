"""The searches of kith.CoverTree, whatever its objects are."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Literal, Union, overload

from ._index import Index
from ._lists import NeighborLists
from ._metric_searcher import MetricSearcher
from ._progress import Progress

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from ._types import CoverTreeKnnKeywords, CoverTreeRadiusKeywords, Distances, Indices

#: Which searches depends on the objects.
Searcher = Union[Index, MetricSearcher]


class CoverTreeSearches:
    """`knn`, `radius` and `count`."""

    _searcher: Searcher

    @overload
    def knn(
        self, queries: Any = None, k: int = 8, *,
        return_exact: Literal[False] = False, **options: Unpack[CoverTreeKnnKeywords],
    ) -> tuple[Any, Any]: ...
    @overload
    def knn(
        self, queries: Any = None, k: int = 8, *,
        return_exact: Literal[True], **options: Unpack[CoverTreeKnnKeywords],
    ) -> tuple[Any, Any, Any]: ...
    @overload
    def knn(
        self, queries: Any = None, k: int = 8, *,
        return_exact: bool, **options: Unpack[CoverTreeKnnKeywords],
    ) -> Any: ...
    def knn(
        self, queries: Any = None, k: int = 8, *, exclude_self: bool = False,
        max_distance: float = math.inf, eps: float = 0.0, allowed: Any = None,
        earlier_only: bool = False, index_below: Any = None, return_exact: bool = False,
        threads: int = 0, progress: Progress = False,
    ) -> Any:
        """The k nearest objects of each query, by distance, then by number.

        Parameters
        ----------
        queries : array_like, list or a single object, optional
            None takes the objects themselves. For a metric of your own a list, or the rows of an
            array, are queries, and anything else is a single one.
        k : int
            How many neighbours.
        exclude_self, max_distance, eps, return_exact, threads, progress
            As in `Index.knn`.
        allowed, earlier_only, index_below
            As in `Index.knn`; not for a metric of your own.

        Returns
        -------
        distances : ndarray of shape (..., k)
            float32 for bits, strings and sets, float64 for a metric of your own, else the type of
            the vectors. Infinity where there is no neighbour.
        indices : ndarray of int64, shape (..., k)
            The numbers of the objects; where there is no neighbour one more than the highest ever.
        exact : ndarray of bool, shape (...)
            If `return_exact`.

        Examples
        --------
        >>> import numpy as np, kith
        >>> codes = np.array([[0b0000], [0b0001], [0b1111]], dtype=np.uint8)
        >>> tree = kith.CoverTree(codes, metric="hamming")
        >>> tree.knn(k=1, exclude_self=True)[0].ravel()
        array([1., 1., 3.], dtype=float32)
        """
        return self._searcher.knn(
            queries, k, exclude_self=exclude_self, max_distance=max_distance, eps=eps,
            allowed=allowed, earlier_only=earlier_only, index_below=index_below,
            return_exact=return_exact, threads=threads, progress=progress,
        )

    @overload
    def radius(
        self, queries: None = None, radius: Any = ..., **options: Unpack[CoverTreeRadiusKeywords]
    ) -> NeighborLists: ...
    @overload
    def radius(
        self, queries: str | bytes, radius: float, **options: Unpack[CoverTreeRadiusKeywords]
    ) -> tuple[Distances, Indices]: ...
    @overload
    def radius(
        self, queries: Any, radius: Any, **options: Unpack[CoverTreeRadiusKeywords]
    ) -> Any: ...
    def radius(
        self, queries: Any = None, radius: Any = None, *, exclude_self: bool = False,
        max_neighbors: int = 0, allowed: Any = None, earlier_only: bool = False,
        index_below: Any = None, threads: int = 0, progress: Progress = False,
    ) -> Any:
        """All objects within a radius of each query, by distance, then by number.

        Parameters
        ----------
        queries
            As in `knn`.
        radius : float or array_like
            Objects at exactly this distance belong to the list. One for all queries, or one for
            each.
        max_neighbors : int
            Keep the nearest so many of each list; 0 keeps all.
        exclude_self, allowed, earlier_only, index_below, threads, progress
            As in `knn`.

        Returns
        -------
        NeighborLists
            ``lists[q]`` is ``(distances, indices)``. For a single query that pair itself.

        Examples
        --------
        >>> import kith
        >>> tree = kith.CoverTree(["cat", "cart", "dog"], metric="edit")
        >>> distances, indices = tree.radius("bat", 2)
        >>> indices
        array([0, 1])
        """
        return self._searcher.radius(
            queries, radius, exclude_self=exclude_self, max_neighbors=max_neighbors,
            allowed=allowed, earlier_only=earlier_only, index_below=index_below,
            threads=threads, progress=progress,
        )

    def count(
        self, queries: Any = None, radius: Any = None, *, exclude_self: bool = False,
        allowed: Any = None, earlier_only: bool = False, index_below: Any = None,
        threads: int = 0, progress: Progress = False,
    ) -> Any:
        """How many objects lie within a radius of each query; arguments as in `radius`.

        Returns
        -------
        ndarray of int64, shape (...)
            An int for a single query.

        Examples
        --------
        >>> import kith
        >>> kith.CoverTree(["cat", "cart", "dog"], metric="edit").count(["bat", "fog"], 1)
        array([1, 1])
        """
        return self._searcher.count(
            queries, radius, exclude_self=exclude_self, allowed=allowed,
            earlier_only=earlier_only, index_below=index_below, threads=threads,
            progress=progress,
        )
