"""kith.Index: build once, search many times."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from . import _kith
from ._arguments import (
    as_allowed,
    as_count,
    as_index_below,
    as_number,
    as_period,
    as_radii,
    as_text,
    as_threads,
)
from ._arrays import as_queries, as_rows, library_name, numpy_dtype
from ._device_arrays import DeviceRows, Framework, framework_of, shared_array
from ._device_search import DeviceSearch, SharedSearch
from ._lists import NeighborLists, PointLists, from_numpy
from ._paths import existing_path, new_path
from ._progress import Progress, reporting

__all__ = ["BuildPlan", "Index", "plan"]


class BuildPlan(NamedTuple):
    """What a build will take."""

    engine: str
    device: str
    index_bytes: int
    peak_bytes: int
    reason: str


class Index:
    """Points prepared for search. It never changes, and threads may share it.

    Answers are exact unless asked otherwise, and the same bytes on every engine, device and number
    of threads: neighbours are ordered by distance, and by number where distances are equal.

    Parameters
    ----------
    points : array_like of shape (n, dims)
        float32 or float64; other real numbers are converted, with a note. The points are copied.
        An array on a GPU (CuPy, PyTorch, or any with DLPack or ``__cuda_array_interface__``) is
        indexed there unless `device` says otherwise.
    engine : {"auto", "brute", "kdtree", "covertree"}
        How to search. "auto" takes the fastest one for the data.
    device : {"auto", "cpu", "cuda", "cuda:N"}
        Where to search. "auto" takes a GPU if one is there and the work is large enough.
    metric : str
        "l2", "l1", "linf", "lp:P" (Minkowski with exponent P), "cosine", "angular", "ip" (the
        negative inner product).
    leaf_size : int
        Trees only: the most points in a leaf; 0 takes a good one.
    split : {"widest", "cycle"}
        k-d tree only: which side a node splits.
    builder : {"batch", "lists"}
        Cover tree only: how it is built.
    period : float or sequence of float, optional
        The lengths of periodic axes, 0 for one that does not wrap. Points must lie in [0, length).
    expected_queries : int
        How many queries will come in all, if known: for a few, "auto" builds no tree.
    skip_nonfinite : bool
        Leave out points with NaN or infinity instead of raising ValueError. Others keep their
        numbers.
    threads : int
        Threads on the CPU; 0 takes all cores.
    progress : bool or callable
        True shows a bar; a function is called with (stage, done, total).

    Examples
    --------
    >>> import numpy as np, kith
    >>> points = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 2.0]])
    >>> index = kith.Index(points)
    >>> distances, indices = index.knn([[0.9, 0.1]], k=2)
    >>> indices
    array([[1, 0]])
    >>> index.count([[0.0, 0.0]], 1.5)
    array([2])
    """

    _low: _kith.Index
    _asked_device: str
    _framework: Framework | None
    _ordinal: int
    _searched_on: int | None
    _searcher: SharedSearch | None
    _dims: int
    _dtype: np.dtype

    def __init__(
        self,
        points: Any,
        engine: str = "auto",
        device: str = "auto",
        metric: str = "l2",
        *,
        leaf_size: int = 0,
        split: str = "widest",
        builder: str = "batch",
        period: Any = None,
        expected_queries: int = 0,
        skip_nonfinite: bool = False,
        threads: int = 0,
        progress: Progress = False,
    ) -> None:
        framework = framework_of(points, "points")
        device = asked_device = as_text(device, "device")
        ordinal = 0
        rows: Any
        if framework is None:
            rows = as_rows(points)
            shape = rows.shape
        else:
            on_device = DeviceRows(framework, points, "points")
            if on_device.ndim != 2:
                shape = (*on_device.lead, on_device.shape[1])
                raise ValueError(f"points must have the shape (n, dims), not {shape}")
            ordinal = on_device.ordinal
            if device == "auto":
                device = f"cuda:{ordinal}"
            framework.synchronize(ordinal)
            rows, shape = on_device.view, on_device.shape
        with reporting(progress) as report:
            low = _kith.Index.build(
                rows,
                device=device,
                skip_nonfinite=bool(skip_nonfinite),
                progress=report,
                **build_options(
                    engine, metric, leaf_size, split, builder, period, shape[1], expected_queries
                ),
                threads=as_threads(threads),
            )
        self._take(low, asked_device, framework, ordinal)

    def _take(
        self,
        low: _kith.Index,
        asked_device: str,
        framework: Framework | None = None,
        ordinal: int = 0,
    ) -> None:
        self._low = low
        self._asked_device = asked_device
        self._framework = framework  # whose array the points were, and on which GPU
        self._ordinal = ordinal
        self._dims = low.dims
        self._dtype = numpy_dtype(low.dtype)
        self._searcher = None
        # The GPU that searches arrays which lie there; None if the host must see them.
        is_whole = low.device.startswith("cuda") and low.skipped == 0
        self._searched_on = int(low.device.partition(":")[2]) if is_whole else None

    @classmethod
    def _wrap(cls, low: _kith.Index, asked_device: str) -> Index:
        self = cls.__new__(cls)
        self._take(low, asked_device)
        return self

    # Searches

    def knn(
        self,
        queries: Any = None,
        k: int = 8,
        *,
        exclude_self: bool = False,
        max_distance: float = math.inf,
        eps: float = 0.0,
        max_leaves: int = 0,
        squared: bool = False,
        allowed: Any = None,
        earlier_only: bool = False,
        index_below: Any = None,
        skip_nonfinite: bool = False,
        return_exact: bool = False,
        threads: int = 0,
        progress: Progress = False,
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
        threads : int
            Threads on the CPU; 0 takes all cores.
        progress : bool or callable
            True shows a bar; a function is called with (stage, done, total).

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
            type(queries) is np.ndarray
            and queries.ndim == 1
            and queries.dtype == self._dtype
            and queries.flags.c_contiguous
            and allowed is None
            and index_below is None
            and not (exclude_self or earlier_only or skip_nonfinite or return_exact)
        ):
            if queries.shape[0] != self._dims:
                as_queries(queries, self._dims, self._dtype)  # raises
            return self._low.knn_one(queries, as_count(k, "k"), **options)
        if exclude_self:
            options["exclude_self"] = True
        return self._nearest(
            queries,
            as_count(k, "k"),
            options,
            return_exact,
            _Rest(allowed, earlier_only, index_below, skip_nonfinite, threads, progress),
        )

    def _nearest(
        self, queries: Any, k: int, options: dict[str, Any], return_exact: bool, rest: _Rest
    ) -> Any:
        framework = self._framework_for(queries)
        if framework is not None:
            searcher = self._device_searcher(framework, queries, options, rest)
            if searcher is not None:
                found = searcher.knn(k)
                if not return_exact:
                    return found
                ones = np.ones(searcher.lead, dtype=bool)
                return (*found, framework.from_numpy(ones, searcher.ordinal))
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

    def radius(
        self,
        queries: Any,
        radius: Any,
        *,
        exclude_self: bool = False,
        max_neighbors: int = 0,
        squared: bool = False,
        allowed: Any = None,
        earlier_only: bool = False,
        index_below: Any = None,
        skip_nonfinite: bool = False,
        threads: int = 0,
        progress: Progress = False,
    ) -> Any:
        """All points within a radius of each query, by distance, then by number.

        Parameters
        ----------
        queries : array_like of shape (..., dims) or None
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
            itself.

        Examples
        --------
        >>> import numpy as np, kith
        >>> index = kith.Index(np.array([[0.0], [1.0], [3.0]]))
        >>> index.radius([0.0], 1.0)
        (array([0., 1.]), array([0, 1]))
        >>> [indices.tolist() for distances, indices in index.radius(None, 2.0)]
        [[0, 1], [1, 0, 2], [2, 1]]
        """
        options: dict[str, Any] = {}
        if squared:
            options["squared"] = True
        if exclude_self:
            options["exclude_self"] = True
        if max_neighbors != 0:
            options["max_neighbors"] = as_count(max_neighbors, "max_neighbors")
        rest = _Rest(allowed, earlier_only, index_below, skip_nonfinite, threads, progress)
        framework = self._framework_for(queries)
        if framework is not None and np.ndim(radius) == 0:
            searcher = self._device_searcher(framework, queries, options, rest)
            if searcher is not None:
                lists = searcher.radius(float(radius))
                return lists[0] if searcher.lead == () else lists
        rows, lead, convert = self._host_queries(queries, framework)
        rest.add_to(options, len(self), lead)
        with reporting(progress) as report:
            found = self._low.radius(rows, as_radii(radius, lead), progress=report, **options)
        lists = NeighborLists(*found)
        if framework is not None:
            lists = from_numpy(lists, convert)
        return lists[0] if lead == () else lists

    def count(
        self,
        queries: Any,
        radius: Any,
        *,
        exclude_self: bool = False,
        allowed: Any = None,
        earlier_only: bool = False,
        index_below: Any = None,
        skip_nonfinite: bool = False,
        threads: int = 0,
        progress: Progress = False,
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
        rest = _Rest(allowed, earlier_only, index_below, skip_nonfinite, threads, progress)
        framework = self._framework_for(queries)
        if framework is not None and np.ndim(radius) == 0:
            searcher = self._device_searcher(framework, queries, options, rest)
            if searcher is not None:
                return searcher.count(float(radius))
        rows, lead, convert = self._host_queries(queries, framework)
        rest.add_to(options, len(self), lead)
        with reporting(progress) as report:
            counts = self._low.count(rows, as_radii(radius, lead), progress=report, **options)
        if lead == () and framework is None:
            return int(counts[0])
        return convert(counts.reshape(lead))

    def box(
        self,
        lower: Any,
        upper: Any,
        *,
        allowed: Any = None,
        index_below: Any = None,
        skip_nonfinite: bool = False,
        threads: int = 0,
        progress: Progress = False,
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
        rest = _Rest(allowed, False, index_below, skip_nonfinite, threads, progress)
        return self._in_boxes(lower, upper, rest, counted=False)

    def box_count(
        self,
        lower: Any,
        upper: Any,
        *,
        allowed: Any = None,
        index_below: Any = None,
        skip_nonfinite: bool = False,
        threads: int = 0,
        progress: Progress = False,
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
        rest = _Rest(allowed, False, index_below, skip_nonfinite, threads, progress)
        return self._in_boxes(lower, upper, rest, counted=True)

    def _in_boxes(self, lower: Any, upper: Any, rest: _Rest, counted: bool) -> Any:
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
                lists = searcher.box()
                return lists[0] if searcher.lead == () else lists
        low, lead, convert = self._host_queries(lower, framework, "lower")
        high, high_lead, _ = self._host_queries(upper, framework, "upper")
        if lead != high_lead:
            raise ValueError(
                f"lower and upper must have one shape; there are {lead} and {high_lead} boxes"
            )
        options: dict[str, Any] = {}
        rest.add_to(options, len(self), lead)
        with reporting(rest.progress) as report:
            if counted:
                counts = self._low.box_count(low, high, progress=report, **options)
                if lead == () and framework is None:
                    return int(counts[0])
                return convert(counts.reshape(lead))
            found = PointLists(*self._low.box(low, high, progress=report, **options))
        if framework is not None:
            found = from_numpy(found, convert)
        return found[0] if lead == () else found

    # Queries on the host and on a GPU

    def _framework_for(self, queries: Any) -> Framework | None:
        """Whose arrays the answers are; None for NumPy's."""
        if queries is None:
            return self._framework
        return framework_of(queries, "queries")

    def _host_queries(
        self, queries: Any, framework: Framework | None, name: str = "queries"
    ) -> tuple[Any, tuple[int, ...], Any]:
        """Queries for the host's searches, their shape, what makes answers of NumPy's arrays."""
        if framework is None:
            if queries is None:
                return None, (len(self),), _unchanged
            rows, lead = as_queries(queries, self._dims, self._dtype, name)
            return rows, lead, _unchanged
        if queries is None:
            return None, (len(self),), lambda array: framework.from_numpy(array, self._ordinal)
        on_device = DeviceRows(framework, queries, name, self._dtype)
        self._require_dims(on_device, name)
        framework.synchronize(on_device.ordinal)
        rows = np.ascontiguousarray(framework.to_numpy(on_device.array))
        return rows, on_device.lead, lambda array: framework.from_numpy(array, on_device.ordinal)

    def _require_dims(self, rows: DeviceRows, name: str) -> None:
        if rows.shape[1] != self._dims:
            raise ValueError(
                f"{name} must have the shape (..., {self._dims}), because the points have "
                f"{self._dims} coordinates, not {(*rows.lead, rows.shape[1])}"
            )

    def _device_searcher(
        self,
        framework: Framework,
        queries: Any,
        options: dict[str, Any],
        rest: _Rest,
        upper: Any = None,
    ) -> DeviceSearch | None:
        """The search where the arrays lie; None if it must go through the host."""
        ordinal = self._searched_on
        if ordinal is None or "eps" in options or "max_leaves" in options or "max_neighbors" in options:
            return None
        rows = []
        for array, name in ((queries, "queries"), (upper, "upper")):
            if array is None:
                continue
            rows.append(DeviceRows(framework, array, name, self._dtype))
            self._require_dims(rows[-1], name)
            if rows[-1].ordinal != ordinal:
                return None
        lead = rows[0].lead if rows else (len(self),)
        if upper is not None and rows[1].lead != lead:
            raise ValueError(
                f"lower and upper must have one shape; there are {lead} and {rows[1].lead} boxes"
            )
        rest.add_filters_to(options, len(self), lead, framework)
        if self._searcher is None:
            self._searcher = SharedSearch(self._low, framework, ordinal)
        return DeviceSearch(self._searcher, framework, ordinal, self._dtype, rows, lead, options)

    # Files and copies

    def save(self, path: Any, *, threads: int = 0, progress: Progress = False) -> None:
        """Write the index to a file, whole or not at all.

        Parameters
        ----------
        path : str or path-like
            On any error an old file of that name is untouched.
        """
        with reporting(progress) as report:
            self._low.save(new_path(path), threads=as_threads(threads), progress=report)

    @classmethod
    def load(
        cls,
        path: Any,
        *,
        device: str = "cpu",
        map: bool = False,
        threads: int = 0,
        progress: Progress = False,
    ) -> Index:
        """Read an index that `save` wrote, and check all of it.

        Parameters
        ----------
        path : str or path-like
            ValueError is raised if the file is damaged.
        device : {"cpu", "auto", "cuda", "cuda:N"}
            Where to search it.
        map : bool
            Search the file where it lies, unchecked: for files that you trust and that nobody
            changes.

        Examples
        --------
        >>> import numpy as np, kith, os, tempfile
        >>> path = os.path.join(tempfile.mkdtemp(), "points.kith")
        >>> kith.Index(np.eye(3)).save(path)
        >>> kith.Index.load(path)
        kith.Index(3 points, 3 dims, float64, metric='l2', engine='brute', device='cpu')
        """
        name = existing_path(path)
        content = _kith.index_content(name)
        if content != "points":
            raise ValueError(f"{name} is an index of {content}; load it with kith.CoverTree.load")
        with reporting(progress) as report:
            low = _kith.Index.load(
                name,
                device=as_text(device, "device"),
                map=bool(map),
                threads=as_threads(threads),
                progress=report,
            )
        return cls._wrap(low, device)

    def to_bytes(self, *, threads: int = 0) -> bytes:
        """The bytes that `save` writes."""
        return self._low.to_bytes(threads=as_threads(threads))

    @classmethod
    def from_bytes(cls, content: bytes, *, device: str = "cpu", threads: int = 0) -> Index:
        """An index from what `to_bytes` gave; checked as by `load`."""
        try:
            held = bytes(memoryview(content))
        except TypeError:
            raise TypeError(f"content must be bytes, not {type(content).__name__}") from None
        low = _kith.Index.from_bytes(
            held, device=as_text(device, "device"), threads=as_threads(threads)
        )
        return cls._wrap(low, device)

    def __reduce__(self) -> Any:
        return _from_bytes, (type(self), self.to_bytes(), self._asked_device)

    def __copy__(self) -> Index:
        other = type(self).__new__(type(self))
        other._take(self._low, self._asked_device, self._framework, self._ordinal)
        return other

    def __deepcopy__(self, memo: Any) -> Index:
        return self.__copy__()  # it never changes

    # What it says of itself

    def __len__(self) -> int:
        return self._low.size

    def __repr__(self) -> str:
        if not hasattr(self, "_low"):
            return "kith.Index(not built)"  # a debugger may look before the build, or after it failed
        return (
            f"kith.Index({len(self)} points, {self.dims} dims, {self.dtype}, "
            f"metric={self.metric!r}, engine={self.engine!r}, device={self.device!r})"
        )

    @property
    def dims(self) -> int:
        """Coordinates of a point."""
        return self._dims

    @property
    def dtype(self) -> np.dtype:
        """float32 or float64, of points and distances."""
        return self._dtype

    @property
    def metric(self) -> str:
        """The metric's name."""
        return self._low.metric

    @property
    def engine(self) -> str:
        """The engine that was taken: "brute", "kdtree" or "covertree"."""
        return self._low.engine

    @property
    def device(self) -> str:
        """The device that was taken: "cpu" or "cuda:N"."""
        return self._low.device

    @property
    def skipped(self) -> int:
        """Points left out because of NaN or infinity."""
        return self._low.skipped

    @property
    def memory(self) -> int:
        """Bytes that the index holds, on the device and on the host."""
        return self._low.memory_bytes

    @property
    def points(self) -> np.ndarray:
        """A copy of the points, of shape (n, dims). Rows that were left out hold NaN."""
        return self._low.points()

    def explain(self) -> str:
        """Why this engine and device, and what the index holds, in a few lines."""
        return self._low.explain()


class _Rest:
    """Arguments that all searches share."""

    __slots__ = ("allowed", "earlier_only", "index_below", "progress", "skip_nonfinite", "threads")

    def __init__(
        self,
        allowed: Any,
        earlier_only: bool,
        index_below: Any,
        skip_nonfinite: bool,
        threads: int,
        progress: Progress,
    ) -> None:
        self.allowed = allowed
        self.earlier_only = earlier_only
        self.index_below = index_below
        self.skip_nonfinite = skip_nonfinite
        self.threads = threads
        self.progress = progress

    def add_to(self, options: dict[str, Any], points: int, lead: tuple[int, ...]) -> None:
        """For searches of the host."""
        if self.allowed is not None:
            options["allowed"] = as_allowed(_on_host(self.allowed), points)
        if self.index_below is not None:
            options["index_below"] = as_index_below(_on_host(self.index_below), lead)
        if self.earlier_only:
            options["earlier_only"] = True
        if self.skip_nonfinite:
            options["skip_nonfinite"] = True
        if (threads := as_threads(self.threads)) != 0:
            options["threads"] = threads

    def add_filters_to(
        self, options: dict[str, Any], points: int, lead: tuple[int, ...], framework: Framework
    ) -> None:
        """For searches of arrays on a GPU, which take the filters there."""
        if self.allowed is not None:
            options["allowed"] = as_allowed(_on_host(self.allowed), points)
        if self.index_below is not None:
            options["index_below"] = as_index_below(_on_host(self.index_below), lead)
        if self.earlier_only:
            options["earlier_only"] = True


def _on_host(array: Any) -> Any:
    framework = framework_of(array, "a filter")
    return array if framework is None else framework.to_numpy(shared_array(framework, array))


def _unchanged(array: Any) -> Any:
    return array


def _from_bytes(cls: type[Index], content: bytes, device: str) -> Index:
    return cls.from_bytes(content, device=device)


def build_options(
    engine: str,
    metric: str,
    leaf_size: int,
    split: str,
    builder: str,
    period: Any,
    dims: int,
    expected_queries: int,
) -> dict[str, Any]:
    """What a build and a plan of one share, checked."""
    return {
        "engine": as_text(engine, "engine"),
        "metric": as_text(metric, "metric"),
        "leaf_size": as_count(leaf_size, "leaf_size"),
        "split": as_text(split, "split"),
        "builder": as_text(builder, "builder"),
        "period": as_period(period, dims),
        "expected_queries": as_count(expected_queries, "expected_queries", bits=64),
    }


def plan(
    rows: int,
    dims: int,
    dtype: Any = np.float32,
    *,
    engine: str = "auto",
    device: str = "auto",
    metric: str = "l2",
    leaf_size: int = 0,
    split: str = "widest",
    builder: str = "batch",
    period: Any = None,
    expected_queries: int = 0,
    threads: int = 0,
) -> BuildPlan:
    """What building an index of so many points would take, before it begins.

    Parameters
    ----------
    rows, dims : int
        The shape of the points.
    dtype : float32 or float64
        Their type.
    engine, device, metric, leaf_size, split, builder, period, expected_queries, threads
        As in `Index`.

    Returns
    -------
    BuildPlan
        A named tuple of `engine`, `device`, `index_bytes`, `peak_bytes` and `reason`.

    Examples
    --------
    >>> import kith
    >>> kith.plan(1_000_000, 3, device="cpu").engine
    'kdtree'
    """
    wanted = np.dtype(dtype)
    if wanted not in (np.dtype(np.float32), np.dtype(np.float64)):
        raise TypeError(f"dtype must be float32 or float64, not {wanted}")
    found = _kith.plan(
        as_count(rows, "rows"),
        as_count(dims, "dims"),
        library_name(wanted),
        device=as_text(device, "device"),
        threads=as_threads(threads),
        **build_options(engine, metric, leaf_size, split, builder, period, dims, expected_queries),
    )
    return BuildPlan(*found)
