"""kith.ShardedIndex and kith.StoredShards: points in several indexes, searched as one."""

from __future__ import annotations

import math
import os
import warnings
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from . import _kith
from ._arguments import (
    as_allowed,
    as_count,
    as_metric_params,
    as_number,
    as_period,
    as_radii,
    as_text,
    as_threads,
    require_index_below,
)
from ._arrays import as_queries, as_rows, numpy_dtype
from ._config import bytes_of
from ._lists import NeighborLists
from ._paths import existing_path, new_path
from ._progress import Progress, reporting
from ._types import Engine, Metric

if TYPE_CHECKING:
    from ._types import Distances, Indices


class _ShardSearches:
    """Searches of shards, wherever they are."""

    _low: _kith.ShardedIndex | _kith.StoredShards

    def __len__(self) -> int:
        return len(self._low)

    @property
    def dims(self) -> int:
        """How many coordinates a point has."""
        return self._low.dims

    @property
    def dtype(self) -> np.dtype:
        """The type of the points."""
        return numpy_dtype(self._low.dtype)

    @property
    def metric(self) -> str:
        """The name of the metric."""
        return self._low.metric

    @property
    def shards(self) -> int:
        """How many shards there are."""
        return self._low.shards

    @property
    def skipped(self) -> int:
        """How many rows were left out because of NaN or infinity."""
        return self._low.skipped

    def explain(self) -> str:
        """The shards with their devices, engines and counts, for people."""
        return self._low.explain()

    def knn(
        self, queries: Any = None, k: int = 8, *, exclude_self: bool = False,
        max_distance: float = math.inf, squared: bool = False, allowed: Any = None,
        earlier_only: bool = False, index_below: Any = None, skip_nonfinite: bool = False,
        threads: int = 0, progress: Progress = False,
    ) -> tuple[Distances, Indices]:
        """The k nearest points of each query, by distance, then by number.

        Parameters
        ----------
        queries : array_like of shape (..., dims), optional
            None takes the points themselves, where they are in memory.
        k, exclude_self, max_distance, squared, allowed, earlier_only, index_below
            As in `kith.Index.knn`.
        skip_nonfinite, threads, progress
            As there.

        Returns
        -------
        distances : ndarray of shape (..., k)
        indices : ndarray of int64, shape (..., k)
            A missing neighbour has the number of points, and an infinite distance.
        """
        rows, lead, options = self._asked(
            queries, exclude_self, earlier_only, skip_nonfinite, threads, allowed, index_below
        )
        options["squared"] = bool(squared)
        options["max_distance"] = as_number(max_distance, "max_distance")
        with reporting(progress) as report:
            distances, indices = self._low.knn(rows, as_count(k, "k"), options, report)
        shape = (*lead, distances.shape[1])
        return distances.reshape(shape), indices.reshape(shape)

    def radius(
        self, queries: Any = None, radius: Any = None, *, exclude_self: bool = False,
        max_neighbors: int = 0, squared: bool = False, allowed: Any = None,
        earlier_only: bool = False, index_below: Any = None, skip_nonfinite: bool = False,
        threads: int = 0, progress: Progress = False,
    ) -> NeighborLists:
        """All points within a radius of each query, as `kith.Index.radius` finds them."""
        rows, lead, options = self._asked(
            queries, exclude_self, earlier_only, skip_nonfinite, threads, allowed, index_below
        )
        options["squared"] = bool(squared)
        options["max_neighbors"] = as_count(max_neighbors, "max_neighbors")
        with reporting(progress) as report:
            return NeighborLists(*self._low.radius(rows, _radii(radius, lead), options, report))

    def count(
        self, queries: Any = None, radius: Any = None, *, exclude_self: bool = False,
        allowed: Any = None, earlier_only: bool = False, index_below: Any = None,
        skip_nonfinite: bool = False, threads: int = 0, progress: Progress = False,
    ) -> Any:
        """How many points lie within a radius of each query."""
        rows, lead, options = self._asked(
            queries, exclude_self, earlier_only, skip_nonfinite, threads, allowed, index_below
        )
        with reporting(progress) as report:
            counts = self._low.count(rows, _radii(radius, lead), options, report)
        return counts.reshape(lead)

    def _asked(
        self, queries: Any, exclude_self: bool, earlier_only: bool, skip_nonfinite: bool,
        threads: int, allowed: Any, index_below: Any,
    ) -> tuple[Any, tuple[int, ...], dict[str, Any]]:
        rows: Any = None
        lead: tuple[int, ...] = (len(self),)
        if queries is not None:
            rows, lead = as_queries(queries, self.dims, self.dtype)
        options: dict[str, Any] = {
            "exclude_self": bool(exclude_self), "earlier_only": bool(earlier_only),
            "skip_nonfinite": bool(skip_nonfinite), "threads": as_threads(threads),
        }
        words = None if allowed is None else as_allowed(allowed, len(self))
        if words is not None:
            options["allowed"] = words
        if index_below is not None:
            bounds = np.asarray(index_below)
            require_index_below(bounds.dtype, bounds.shape, lead)
            options["index_below"] = bounds.astype(np.uint64).ravel()
        return rows, lead, options


def _radii(radius: Any, lead: tuple[int, ...]) -> Any:
    if radius is None:
        raise TypeError("a radius is missing")
    return np.atleast_1d(as_radii(radius, lead)).ravel()


def _build_options(
    metric: Any, metric_params: Any, period: Any, dims: int, skip_nonfinite: bool, engine: Any,
    leaf_size: int, threads: int,
) -> dict[str, Any]:
    name = as_text(metric, "metric")
    return {
        "metric": name, "metric_params": as_metric_params(metric_params, name),
        "period": as_period(period, dims), "skip_nonfinite": bool(skip_nonfinite),
        "engine": as_text(engine, "engine"), "leaf_size": as_count(leaf_size, "leaf_size"),
        "threads": as_threads(threads),
    }


class ShardedIndex(_ShardSearches):
    """Points in several indexes on several devices, searched as one.

    Answers are those of `kith.Index`, byte for byte, whatever the shards and devices. All devices
    work at the same time; each has memory for its part of the points only.

    Parameters
    ----------
    points : array_like of shape (n, dims)
        In the memory of the host; they are copied.
    devices : sequence of str
        Where the shards lie, in turn, such as ``["cuda:0", "cuda:1"]``. One may be named twice.
    shards : int
        How many; 0 takes one for each device.
    metric, metric_params, period, skip_nonfinite, engine, leaf_size, threads, progress
        As in `kith.Index`.

    Examples
    --------
    >>> import numpy as np, kith
    >>> points = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 2.0]])
    >>> index = kith.ShardedIndex(points, devices=["cpu", "cpu"])
    >>> distances, indices = index.knn([[0.9, 0.1]], k=2)
    >>> indices
    array([[1, 0]])
    """

    _low: _kith.ShardedIndex

    def __init__(
        self, points: Any, devices: Sequence[str] = ("auto",), *, shards: int = 0,
        metric: Metric = "l2", metric_params: Any = None, period: Any = None,
        skip_nonfinite: bool = False, engine: Engine = "auto", leaf_size: int = 0,
        threads: int = 0, progress: Progress = False,
    ) -> None:
        rows = as_rows(points)
        if isinstance(devices, str):
            devices = [devices]
        options = _build_options(
            metric, metric_params, period, rows.shape[1], skip_nonfinite, engine, leaf_size, threads
        )
        with reporting(progress) as report:
            self._low = _kith.ShardedIndex.build(
                rows, shards=as_count(shards, "shards"),
                devices=[as_text(device, "a device") for device in devices], options=options,
                progress=report,
            )

    @property
    def devices(self) -> list[str]:
        """The device of each shard."""
        return self._low.devices

    @property
    def memory_bytes(self) -> int:
        """What the indexes take, on all devices together."""
        return self._low.memory_bytes

    def __repr__(self) -> str:
        return (
            f"kith.ShardedIndex({len(self)} x {self.dims} {self.dtype}, {self.metric}, "
            f"{self.shards} shards on {', '.join(dict.fromkeys(self.devices))})"
        )


class StoredShards(_ShardSearches):
    """Shards in a folder on the disk, for points that are larger than memory.

    Shards are loaded as searches need them, as many as the memory allows. `build` makes a folder
    from files of points.

    Parameters
    ----------
    folder : path
    memory : int or str
        The most bytes that a search takes, its result included, such as "2GB"; 0 takes half of the
        machine's memory.
    threads : int

    Examples
    --------
    >>> import numpy as np, kith, tempfile
    >>> with tempfile.TemporaryDirectory() as at:
    ...     np.save(f"{at}/points.npy", np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 2.0]]))
    ...     index = kith.StoredShards.build(f"{at}/points.npy", f"{at}/shards", shards=2)
    ...     index.knn([[0.9, 0.1]], k=2)[1]
    array([[1, 0]])
    """

    _low: _kith.StoredShards

    def __init__(self, folder: Any, *, memory: int | str = 0, threads: int = 0) -> None:
        self._low = _kith.StoredShards.open(
            existing_path(folder), memory=_memory(memory), threads=as_threads(threads)
        )

    @classmethod
    def build(
        cls, files: Any, folder: Any, *, shards: int = 0, memory: int | str = 0,
        metric: Metric = "l2", metric_params: Any = None, period: Sequence[float] | None = None,
        skip_nonfinite: bool = False, engine: Engine = "auto", leaf_size: int = 0,
        threads: int = 0, progress: Progress = False,
    ) -> StoredShards:
        """Cut the points of files into shards in a folder, with no more memory than allowed.

        A build that was interrupted or killed goes on where it was, if it is called again with the
        same files and options.

        Parameters
        ----------
        files : path or sequence of paths
            ``.npy`` files, of which one continues the other.
        folder : path
            New, empty, or what an earlier build left.
        shards : int
            0 takes as few as the memory allows.
        memory : int or str
            The most bytes that the build takes, such as "2GB"; 0 takes half of the machine's memory.
        metric, metric_params, period, skip_nonfinite, engine, leaf_size, threads, progress
            As in `kith.Index`; a period needs a length for each axis.
        """
        several = [files] if isinstance(files, (str, bytes, os.PathLike)) else list(files)
        lengths = [] if period is None else list(period)
        options = _build_options(
            metric, metric_params, period, len(lengths), skip_nonfinite, engine, leaf_size, threads
        )
        built = cls.__new__(cls)
        with reporting(progress) as report:
            built._low = _kith.StoredShards.build(
                [existing_path(file) for file in several], new_path(folder),
                shards=as_count(shards, "shards"), memory=_memory(memory), options=options,
                note=_warn, progress=report,
            )
        return built

    @property
    def folder(self) -> str:
        """Where the shards are."""
        return self._low.folder

    @property
    def file_bytes(self) -> int:
        """How large their files are."""
        return self._low.file_bytes

    def __repr__(self) -> str:
        return (
            f"kith.StoredShards({self.folder!r}: {len(self)} x {self.dims} {self.dtype}, "
            f"{self.metric}, {self.shards} shards)"
        )


def _warn(text: str) -> None:
    warnings.warn(text, UserWarning, stacklevel=3)


def _memory(memory: int | str) -> int:
    return 0 if memory == 0 else bytes_of(memory, "memory")
