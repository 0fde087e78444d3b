"""Searches of kith.Index for the k nearest points."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal, overload

import numpy as np
import numpy.typing as npt

from ._arguments import as_count, as_number, as_threads
from ._index_facts import IndexFacts
from ._progress import Progress, reporting
from ._shared_arguments import SharedArguments

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from ._types import Distances, Indices, KnnKeywords


class IndexKnn(IndexFacts):
    """`knn`."""

    # Queries of NumPy and lists give arrays of NumPy, those of others arrays of theirs.
    @overload
    def knn(
        self, queries: npt.NDArray[Any] | Sequence[Any], k: int = 8, *,
        return_exact: Literal[False] = False, **options: Unpack[KnnKeywords],
    ) -> tuple[Distances, Indices]: ...
    @overload
    def knn(
        self, queries: npt.NDArray[Any] | Sequence[Any], k: int = 8, *,
        return_exact: Literal[True], **options: Unpack[KnnKeywords],
    ) -> tuple[Distances, Indices, npt.NDArray[np.bool_]]: ...
    @overload
    def knn(
        self, queries: Any = None, k: int = 8, *,
        return_exact: Literal[False] = False, **options: Unpack[KnnKeywords],
    ) -> tuple[Any, Any]: ...
    @overload
    def knn(
        self, queries: Any = None, k: int = 8, *,
        return_exact: Literal[True], **options: Unpack[KnnKeywords],
    ) -> tuple[Any, Any, Any]: ...
    @overload
    def knn(
        self, queries: Any = None, k: int = 8, *,
        return_exact: bool, **options: Unpack[KnnKeywords],
    ) -> Any: ...
    def knn(
        self, queries: Any = None, k: int = 8, *, exclude_self: bool = False,
        max_distance: float = math.inf, eps: float = 0.0, max_leaves: int = 0,
        squared: bool = False, allowed: Any = None, earlier_only: bool = False,
        index_below: Any = None, skip_nonfinite: bool = False, return_exact: bool = False,
        threads: int = 0, progress: Progress = False,
    ) -> Any:
        """The k nearest points of each query, by distance, then by number.

        Parameters
        ----------
        queries : array_like of shape (..., dims), optional
            None takes the points themselves. Arrays on a GPU stay there.
        k : int
            How many neighbours.
        exclude_self : bool
            With ``queries=None``: a point is not its own neighbour. Its duplicates still are.
        max_distance : float
            Neighbours farther than this are missing.
        eps : float
            Trees only: each distance may be up to (1 + eps) times the true one.
        max_leaves : int
            k-d tree only: a query looks at no more leaves than this; 0 sets no bound.
        squared : bool
            L2 only: squared distances.
        allowed : array_like of bool, shape (n,), optional
            Find only these points.
        earlier_only : bool
            With ``queries=None``: point i finds only points before i.
        index_below : array_like of int, one for each query, optional
            Query q finds only points before ``index_below[q]``.
        skip_nonfinite : bool
            Queries with NaN or infinity find nothing instead of raising ValueError. Queries on a
            GPU, which are not looked at, always do so.
        return_exact : bool
            Also return for each query whether its answer is certainly exact.
        threads, progress
            As in `Index`.

        Returns
        -------
        distances : ndarray of shape (..., k)
            Of the type of the points; infinity where there is no neighbour.
        indices : ndarray of int64, shape (..., k)
            The number of points where there is no neighbour.
        exact : ndarray of bool, shape (...)
            If `return_exact`.

        Examples
        --------
        >>> import numpy as np, kith
        >>> index = kith.Index(np.array([[0.0], [1.0], [3.0]]))
        >>> distances, indices = index.knn(k=1, exclude_self=True)
        >>> indices.ravel()
        array([1, 0, 1])
        >>> index.knn([2.5], k=4)
        (array([0.5, 1.5, 2.5, inf]), array([2, 1, 0, 3]))
        """
        options: dict[str, Any] = {}
        if squared:
            options["squared"] = True
        if max_distance is not math.inf:
            options["max_distance"] = as_number(max_distance, "max_distance")
        if (type(eps) is not float or eps != 0.0) and (slack := as_number(eps, "eps")) != 0.0:
            options["eps"] = slack
        if type(max_leaves) is not int or max_leaves != 0:
            options["max_leaves"] = as_count(max_leaves, "max_leaves")
        # One query after another: as little as possible lies between the caller and the library.
        if (
            self._is_plain_query(queries) and allowed is None and index_below is None
            and not (exclude_self or earlier_only or skip_nonfinite or return_exact)
        ):
            if threads != 0:
                as_threads(threads)  # one query takes one thread; raises if this is not a number of them
            return self._low.knn_one(queries, as_count(k, "k"), **options)
        if exclude_self:
            options["exclude_self"] = True
        rest = SharedArguments(
            allowed, earlier_only, index_below, skip_nonfinite, threads, progress
        )
        return self._nearest(queries, as_count(k, "k"), options, return_exact, rest)

    def _nearest(
        self, queries: Any, k: int, options: dict[str, Any], return_exact: bool,
        rest: SharedArguments,
    ) -> Any:
        framework = self._framework_for(queries)
        if framework is not None:
            searcher = self._device_searcher(framework, queries, options, rest)
            if searcher is not None:
                return searcher.knn(k, return_exact)
        rows, lead, convert = self._host_queries(queries, framework)
        rest.add_to(options, len(self), lead)
        with reporting(rest.progress) as report:
            distances, indices, exact = self._low.knn(rows, k, progress=report, **options)
        if len(lead) != 1:
            distances = distances.reshape(*lead, k)
            indices = indices.reshape(*lead, k)
        if not return_exact:
            return convert(distances), convert(indices)
        if exact is None:
            exact = np.ones(lead, dtype=bool)
        return convert(distances), convert(indices), convert(exact.reshape(lead))
