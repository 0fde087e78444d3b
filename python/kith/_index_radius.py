"""Searches of kith.Index for all points within a radius."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, overload

from ._arguments import as_count, as_radii
from ._device_arrays import on_host
from ._index_facts import IndexFacts
from ._lists import NeighborLists, counts_as_asked, lists_as_asked
from ._progress import Progress, reporting
from ._shared_arguments import SharedArguments

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from ._types import CountKeywords, Distances, Indices, Point, Points, RadiusKeywords


class IndexRadius(IndexFacts):
    """`radius` and `count`."""

    @overload
    def radius(
        self, queries: None = None, radius: Any = ..., **options: Unpack[RadiusKeywords]
    ) -> NeighborLists: ...
    @overload
    def radius(
        self, queries: Point, radius: float, **options: Unpack[RadiusKeywords]
    ) -> tuple[Distances, Indices]: ...
    @overload
    def radius(
        self, queries: Points, radius: Any, **options: Unpack[RadiusKeywords]
    ) -> NeighborLists: ...
    @overload
    def radius(self, queries: Any, radius: Any, **options: Unpack[RadiusKeywords]) -> Any: ...
    def radius(
        self, queries: Any = None, radius: Any = None, *, exclude_self: bool = False,
        max_neighbors: int = 0, squared: bool = False, allowed: Any = None,
        earlier_only: bool = False, index_below: Any = None, skip_nonfinite: bool = False,
        threads: int = 0, progress: Progress = False,
    ) -> Any:
        """All points within a radius of each query, by distance, then by number.

        Parameters
        ----------
        queries : array_like of shape (..., dims), optional
            None takes the points themselves. Arrays on a GPU stay there.
        radius : float or array_like
            Points at exactly this distance belong to the list. One for all queries, or one for
            each.
        max_neighbors : int
            Keep the nearest so many of each list; 0 keeps all.
        squared : bool
            L2 only: squared distances. The radius stays a plain one.
        exclude_self, allowed, earlier_only, index_below, skip_nonfinite, threads, progress
            As in `knn`.

        Returns
        -------
        NeighborLists
            ``lists[q]`` is ``(distances, indices)``. For a single query of shape (dims,) that pair
            itself; ``distances, indices = …`` of several queries raises TypeError.

        Examples
        --------
        >>> import numpy as np, kith
        >>> index = kith.Index(np.array([[0.0], [1.0], [3.0]]))
        >>> index.radius([0.0], 1.0)
        (array([0., 1.]), array([0, 1]))
        >>> [indices.tolist() for distances, indices in index.radius(radius=2.0)]
        [[0, 1], [1, 0, 2], [2, 1]]
        """
        options: dict[str, Any] = {}
        if squared:
            options["squared"] = True
        if exclude_self:
            options["exclude_self"] = True
        if max_neighbors != 0:
            options["max_neighbors"] = as_count(max_neighbors, "max_neighbors")
        if (
            self._is_plain_query(queries) and isinstance(radius, (float, int))
            and allowed is None and index_below is None
            and not (exclude_self or earlier_only or skip_nonfinite or progress or threads != 0)
        ):
            return self._low.radius_one(queries, radius, **options)
        rest = SharedArguments(
            allowed, earlier_only, index_below, skip_nonfinite, threads, progress
        )
        return self._within(queries, radius, options, rest, counted=False)

    @overload
    def count(self, queries: Point, radius: float, **options: Unpack[CountKeywords]) -> int: ...
    @overload
    def count(self, queries: Points, radius: Any, **options: Unpack[CountKeywords]) -> Indices: ...
    @overload
    def count(
        self, queries: Any = None, radius: Any = ..., **options: Unpack[CountKeywords]
    ) -> Any: ...
    def count(
        self, queries: Any = None, radius: Any = None, *, exclude_self: bool = False,
        allowed: Any = None, earlier_only: bool = False, index_below: Any = None,
        skip_nonfinite: bool = False, threads: int = 0, progress: Progress = False,
    ) -> Any:
        """How many points lie within a radius of each query.

        Parameters
        ----------
        queries, radius
            As in `radius`.
        exclude_self, allowed, earlier_only, index_below, skip_nonfinite, threads, progress
            As in `knn`.

        Returns
        -------
        ndarray of int64, shape (...)
            An int for a single query of shape (dims,).

        Examples
        --------
        >>> import numpy as np, kith
        >>> kith.Index(np.array([[0.0], [1.0], [3.0]])).count(None, 1.0)
        array([2, 2, 1])
        """
        options: dict[str, Any] = {}
        if exclude_self:
            options["exclude_self"] = True
        if (
            self._is_plain_query(queries) and isinstance(radius, (float, int))
            and allowed is None and index_below is None
            and not (exclude_self or earlier_only or skip_nonfinite or progress or threads != 0)
        ):
            return self._low.count_one(queries, radius)
        rest = SharedArguments(
            allowed, earlier_only, index_below, skip_nonfinite, threads, progress
        )
        return self._within(queries, radius, options, rest, counted=True)

    def _within(
        self, queries: Any, radius: Any, options: dict[str, Any], rest: SharedArguments,
        counted: bool,
    ) -> Any:
        framework = self._framework_for(queries)
        if framework is not None:
            searcher = self._device_searcher(framework, queries, options, rest)
            if searcher is not None:
                if counted:
                    return searcher.count(radius)
                return lists_as_asked(searcher.radius(radius), searcher.lead)
        rows, lead, convert = self._host_queries(queries, framework)
        rest.add_to(options, len(self), lead)
        search = self._low.count if counted else self._low.radius
        with reporting(rest.progress) as report:
            found = search(rows, as_radii(on_host(radius, "radius"), lead), progress=report, **options)
        if counted:
            return counts_as_asked(found, lead, convert, framework)
        return lists_as_asked(NeighborLists(*found), lead, convert)
