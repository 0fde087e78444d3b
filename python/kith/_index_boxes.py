"""Searches of kith.Index for the points in boxes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, overload

from ._device_arrays import framework_of
from ._index_facts import IndexFacts
from ._lists import PointLists, counts_as_asked, lists_as_asked
from ._progress import Progress, reporting
from ._shared_arguments import SharedArguments

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from ._types import BoxKeywords, Indices, Point, Points


class IndexBoxes(IndexFacts):
    """`box` and `box_count`."""

    @overload
    def box(self, lower: Point, upper: Point, **options: Unpack[BoxKeywords]) -> Indices: ...
    @overload
    def box(self, lower: Points, upper: Points, **options: Unpack[BoxKeywords]) -> PointLists: ...
    @overload
    def box(self, lower: Any, upper: Any, **options: Unpack[BoxKeywords]) -> Any: ...
    def box(
        self, lower: Any, upper: Any, *, allowed: Any = None, index_below: Any = None,
        skip_nonfinite: bool = False, threads: int = 0, progress: Progress = False,
    ) -> Any:
        """The points inside boxes, faces included, by ascending number.

        Parameters
        ----------
        lower, upper : array_like of shape (b, dims) or (dims,)
            The corners. Infinite faces are allowed; a box with lower > upper is empty.
        allowed, index_below, skip_nonfinite, threads, progress
            As in `knn`.

        Returns
        -------
        PointLists
            ``lists[b]`` is the array of numbers of box b. For one box of shape (dims,) that array
            itself.

        Examples
        --------
        >>> import numpy as np, kith
        >>> index = kith.Index(np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 2.0]]))
        >>> index.box([0, 0], [1, 1])
        array([0, 1])
        """
        rest = SharedArguments(allowed, False, index_below, skip_nonfinite, threads, progress)
        return self._in_boxes(lower, upper, rest, counted=False)

    @overload
    def box_count(self, lower: Point, upper: Point, **options: Unpack[BoxKeywords]) -> int: ...
    @overload
    def box_count(
        self, lower: Points, upper: Points, **options: Unpack[BoxKeywords]
    ) -> Indices: ...
    @overload
    def box_count(self, lower: Any, upper: Any, **options: Unpack[BoxKeywords]) -> Any: ...
    def box_count(
        self, lower: Any, upper: Any, *, allowed: Any = None, index_below: Any = None,
        skip_nonfinite: bool = False, threads: int = 0, progress: Progress = False,
    ) -> Any:
        """How many points lie inside boxes; arguments as in `box`.

        Returns
        -------
        ndarray of int64, shape (b,)
            An int for one box of shape (dims,).

        Examples
        --------
        >>> import numpy as np, kith
        >>> index = kith.Index(np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 2.0]]))
        >>> index.box_count([[0, 0], [5, 5]], [[1, 1], [6, 6]])
        array([2, 0])
        """
        rest = SharedArguments(allowed, False, index_below, skip_nonfinite, threads, progress)
        return self._in_boxes(lower, upper, rest, counted=True)

    def _in_boxes(self, lower: Any, upper: Any, rest: SharedArguments, counted: bool) -> Any:
        if self._objects is not None:
            raise TypeError(f"boxes are for points, not for {self._objects.what}")
        for corners, name in ((lower, "lower"), (upper, "upper")):
            if corners is None:
                raise TypeError(f"{name} must be an array of corners, not None")
        framework = framework_of(lower, "lower")
        if (framework is None) != (framework_of(upper, "upper") is None):
            raise ValueError("lower and upper must both be on a GPU, or neither")
        if framework is not None:
            searcher = self._device_searcher(framework, lower, {}, rest, upper)
            if searcher is not None:
                if counted:
                    return searcher.box_count()
                return lists_as_asked(searcher.box(), searcher.lead)
        low, lead, convert = self._host_queries(lower, framework, "lower")
        high, high_lead, _ = self._host_queries(upper, framework, "upper")
        if lead != high_lead:
            raise ValueError(
                f"lower and upper must have one shape; there are {lead} and {high_lead} boxes"
            )
        options: dict[str, Any] = {}
        rest.add_to(options, len(self), lead)
        search = self._low.box_count if counted else self._low.box
        with reporting(rest.progress) as report:
            found = search(low, high, progress=report, **options)
        if counted:
            return counts_as_asked(found, lead, convert, framework)
        return lists_as_asked(PointLists(*found), lead, convert)
