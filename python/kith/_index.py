"""kith.Index: build once, search many times."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from . import _kith
from ._arguments import as_count, as_text, as_threads
from ._arrays import answers_like, as_queries, as_rows, numpy_dtype, unchanged
from ._build_plan import build_options
from ._device_arrays import (
    DeviceArray,
    DeviceBits,
    DeviceRows,
    Framework,
    framework_of,
    on_host,
)
from ._device_search import DeviceSearch, SharedSearch
from ._index_boxes import IndexBoxes
from ._index_files import IndexFiles
from ._index_knn import IndexKnn
from ._index_radius import IndexRadius
from ._objects import Bits, Sequences, content_for
from ._progress import Progress, reporting
from ._shared_arguments import SharedArguments
from ._table_rows import column_names
from ._tables import table_of
from ._types import Builder, Engine, Metric, Split


class Index(IndexKnn, IndexRadius, IndexBoxes, IndexFiles):
    """Points, bits, strings or sets prepared for search. It never changes; threads may share it.

    Answers are exact unless asked otherwise, and the same bytes on every engine, device and number
    of threads: neighbours are ordered by distance, and by number where distances are equal.

    Parameters
    ----------
    points : array_like of shape (n, dims)
        float32 or float64; other real numbers are converted, with a note. The points are copied.
        A table of pandas, polars or Arrow is taken by its columns; queries that are tables are then
        matched by name.
        An array on a GPU (CuPy, PyTorch, or any with DLPack or ``__cuda_array_interface__``) is
        indexed there unless `device` says otherwise.
        Under the metrics of bits, strings and sets: what the table at `metric` says.
    engine : {"auto", "brute", "kdtree", "covertree"}
        How to search. "auto" takes the fastest one for the data. "kdtree" is for points.
    device : {"auto", "cpu", "cuda", "cuda:N"}
        Where to search. "auto" takes a GPU if one is there and the work is large enough.
    metric : str
        ===========================  ===========================================================
        "l2" "l1" "linf" "lp:P"      points (P is the exponent of Minkowski)
        "cosine" "angular"           points by their directions
        "ip"                         points by the negative inner product
        "haversine:metres"           latitude and longitude in degrees, on the Earth; also
                                     "haversine" (radians) and "haversine:degrees"
        "seuclidean" "mahalanobis"   points, see `metric_params`
        ...                          and the other names of docs/metrics.md, such as "cityblock"
        "hamming"                    rows of bits: an array of bool, or of unsigned integers
                                     that hold 8 to 64 bits each (``numpy.packbits``); or strings
                                     of one length
        "edit" or "levenshtein"      a list of str or of bytes, or lists of whole numbers
        "jaccard"                    sets, or lists, of whole numbers from 0 to 2**32 - 1
        ===========================  ===========================================================

        `CoverTree` takes a function of your own.
    metric_params : array_like or dict, optional
        Weights of the dimensions for "l1", "l2", "linf" and "lp:P", variances for "seuclidean", an
        inverse covariance matrix for "mahalanobis"; also as SciPy's ``{"w": …}``, ``{"V": …}`` and
        ``{"VI": …}``. By default the last two are computed from the points.
    leaf_size : int
        Trees only: the most points in a leaf; 0 takes a good one.
    split : {"widest", "cycle"}
        k-d tree only: which side a node splits.
    builder : {"auto", "histogram", "presort", "select", "segsort", "batch", "lists"}
        How the tree of the named engine is built, for comparison; the answers are the same. k-d
        tree: "histogram" (the default), "presort", "select" or "segsort", all the same tree. Cover
        tree: "batch" (the default) or "lists".
    period : float or sequence of float, optional
        The lengths of periodic axes, 0 for one that does not wrap. Points must lie in [0, length).
    expected_queries : int
        How many queries will come in all, if known: for a few, "auto" builds no tree.
    columns : sequence of str, optional
        Of a table: only these, in this order.
    skip_nonfinite : bool
        Leave out points with NaN or infinity instead of raising ValueError. Others keep their
        numbers.
    threads : int
        At most this many CPU threads; 0 means all cores. Small jobs use fewer.
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
    >>> words = kith.Index(["cat", "cart", "dog"], metric="edit")
    >>> words.knn("car", k=2)
    (array([1., 1.], dtype=float32), array([0, 1]))
    """

    _convert: Any
    _searched_on: int | None
    _searcher: SharedSearch | None

    def __init__(
        self,
        points: Any,
        engine: Engine = "auto",
        device: str = "auto",
        metric: Metric = "l2",
        *,
        leaf_size: int = 0,
        split: Split = "widest",
        builder: Builder = "auto",
        period: Any = None,
        expected_queries: int = 0,
        columns: Sequence[str] | None = None,
        skip_nonfinite: bool = False,
        threads: int = 0,
        progress: Progress = False,
        metric_params: Any = None,
    ) -> None:
        if callable(metric):
            raise TypeError("kith.CoverTree takes a metric of your own; kith.Index the named ones")
        device = asked_device = as_text(device, "device")
        objects = content_for(metric, points)
        if objects is not None:
            for name, is_given in {
                "split": split != "widest",
                "builder": builder != "auto",
                "period": period is not None,
                "metric_params": metric_params is not None,
                "columns": columns is not None,
                "skip_nonfinite": skip_nonfinite,
            }.items():
                if is_given:
                    raise ValueError(f"{name} is for points, not for {objects.what}")
            owner = framework_of(points, "points") if objects is Bits else None
            on_gpu = 0
            if owner is not None:
                on_gpu = DeviceArray(owner, points).ordinal
                device = f"cuda:{on_gpu}" if device == "auto" else device
                points = on_host(points, "points")
            with reporting(progress) as report:
                low_objects = objects.build(
                    points,
                    metric,
                    engine=as_text(engine, "engine"),
                    device=device,
                    leaf_size=as_count(leaf_size, "leaf_size"),
                    expected_queries=as_count(expected_queries, "expected_queries", bits=64),
                    threads=as_threads(threads),
                    progress=report,
                )
            self._take(low_objects, asked_device, owner, on_gpu, objects=objects)
            return
        first = points[0] if isinstance(points, (list, tuple)) and points else None
        if isinstance(first, (str, set, frozenset)):
            kind, named = ("strings", "edit") if isinstance(first, str) else ("sets", "jaccard")
            raise TypeError(f'points are {kind}, not numbers; search them with metric="{named}"')
        framework = framework_of(points, "points")
        ordinal = 0
        rows: Any
        names: list[str] | None = None
        if framework is None:
            table = table_of(points)
            if columns is not None and (table is None or column_names(table) is None):
                raise TypeError("columns chooses columns of a table by name; points have no names")
            rows = as_rows(points, columns=columns)
            shape = rows.shape
            names = None if table is None else column_names(table, columns)
        else:
            if columns is not None:
                raise TypeError("columns is for tables of pandas, polars and Arrow")
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
                    engine, metric, leaf_size, split, builder, period, shape[1], expected_queries,
                    metric_params,
                ),
                threads=as_threads(threads),
            )
        self._take(low, asked_device, framework, ordinal, names)
        self._convert = answers_like(points)

    def _take(
        self,
        low: Any,
        asked_device: str,
        framework: Framework | None = None,
        ordinal: int = 0,
        columns: list[str] | None = None,
        objects: type[Bits] | type[Sequences] | None = None,
    ) -> None:
        self._low = low
        self._objects = objects  # what it holds instead of points
        self._asked_device = asked_device
        self._framework = framework  # whose array the points were, and on which GPU
        self._ordinal = ordinal
        self._columns = columns
        self._convert = unchanged  # makes answers of the points' kind, if they are the queries
        self._dims = low.dims if objects is None else -1  # no array is a plain query then
        self._dtype = numpy_dtype("f32" if objects is not None else low.dtype)
        self._searcher = None
        # The GPU that searches arrays which lie there; None if the host must see them.
        is_whole = objects is Bits or (objects is None and low.skipped == 0)
        is_whole = is_whole and low.device.startswith("cuda")
        self._searched_on = int(low.device.partition(":")[2]) if is_whole else None

    def _is_plain_query(self, queries: Any) -> bool:
        """Whether this is one query that the extension takes as it is."""
        return (
            type(queries) is np.ndarray
            and queries.shape == (self._dims,)
            and queries.dtype == self._dtype
            and (flags := queries.flags).c_contiguous
            and flags.aligned
        )

    # Queries on the host and on a GPU

    def _framework_for(self, queries: Any) -> Framework | None:
        """Whose arrays the answers are; None for NumPy's."""
        if self._objects is Sequences:
            return None
        if queries is None:
            return self._framework
        return framework_of(queries, "queries")

    def _host_queries(
        self, queries: Any, framework: Framework | None, name: str = "queries"
    ) -> tuple[Any, tuple[int, ...], Any]:
        """Queries for the host's searches, their shape, what makes answers of NumPy's arrays."""
        if framework is None:
            if queries is None:
                return None, (len(self),), self._convert
            if self._objects is not None:
                return (*self._objects.queries(self._low, queries), unchanged)
            rows, lead = as_queries(queries, self._dims, self._dtype, name, self._columns)
            return rows, lead, answers_like(queries)
        if queries is None:
            return None, (len(self),), lambda array: framework.from_numpy(array, self._ordinal)
        if self._objects is not None:
            ordinal = DeviceArray(framework, queries).ordinal
            rows, lead = self._objects.queries(self._low, on_host(queries, name))
            return rows, lead, lambda array: framework.from_numpy(array, ordinal)
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
        rest: SharedArguments,
        upper: Any = None,
    ) -> DeviceSearch | None:
        """The search where the arrays lie; None if it must go through the host."""
        ordinal = self._searched_on
        if ordinal is None or "max_neighbors" in options:
            return None
        rows: list[Any] = []
        if self._objects is Bits and queries is not None:
            given = DeviceArray(framework, queries)
            if given.dtype == np.bool_ or given.ordinal != ordinal:  # the host packs them
                return None
            rows.append(DeviceBits(framework, given, "queries"))
            Bits.require_bits(self._low, rows[0].bits)
            queries = None
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
        rest.add_filters_to(options, len(self), lead, framework, ordinal)
        if self._searcher is None:
            of_bits = self._objects is Bits
            self._searcher = SharedSearch(self._low, of_bits, framework, ordinal)
        return DeviceSearch(self._searcher, framework, ordinal, self._dtype, rows, lead, options)
