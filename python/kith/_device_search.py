"""One search whose queries and answers lie on the GPU that holds the index."""

from __future__ import annotations

import contextlib
import math
from typing import Any

import numpy as np

from . import _kith
from ._arguments import as_radii, require_radii
from ._device_arrays import DeviceArray, DeviceBits, DeviceRows, Framework, array_on, on_host
from ._lists import NeighborLists, PointLists


class SharedSearch:
    """The searches of an index on a GPU. Goes only when the GPU has done the work it was given."""

    def __init__(self, index: Any, of_bits: bool, framework: Framework, ordinal: int) -> None:
        self.low = _kith.DeviceBitSearch(index) if of_bits else _kith.DeviceSearch(index)
        self._framework = framework
        self._ordinal = ordinal

    def __del__(self) -> None:
        with contextlib.suppress(Exception):  # the interpreter may be at its end
            self._framework.synchronize_device(self._ordinal)


class DeviceSearch:
    """Work goes into the caller's stream; nothing waits but the lists, whose size must be known.

    `rows` holds the queries, or the two corners of boxes; nothing if the points are the queries.
    `options` become its own.
    """

    def __init__(
        self,
        search: SharedSearch,
        framework: Framework,
        ordinal: int,
        dtype: np.dtype,
        rows: list[DeviceRows] | list[DeviceBits],
        lead: tuple[int, ...],
        options: dict[str, Any],
    ) -> None:
        self.lead = lead
        self.ordinal = ordinal
        self._shared = search
        self._search = search.low
        self._framework = framework
        self._dtype = dtype
        self._rows = rows
        self._options = options
        self._count = math.prod(lead)

    def _empty(self, shape: tuple[int, ...], dtype: Any) -> Any:
        return self._framework.empty(shape, dtype, self.ordinal)

    def _require_memory(self, neighbors: int) -> None:
        """Raises before the framework does, whose errors are of types of their own."""
        needed = neighbors * (self._dtype.itemsize + np.dtype(np.int64).itemsize)
        if needed > 2**28:
            memory = {name: size for name, _, size, *_ in _kith.devices()}[f"cuda:{self.ordinal}"]
            if needed > memory:
                raise MemoryError(
                    f"not enough memory: the answer needs about {needed / 1e9:.0f} GB, but the GPU "
                    f"has {memory / 1e9:.0f}; choose a lower k"
                )

    def _prepared(self) -> tuple[dict[str, Any], list[Any]]:
        """Options with addresses, and the arrays that must live until the work is in the stream."""
        options = self._options
        options["stream"] = self._framework.stream(self.ordinal)
        kept = []
        for name in ("allowed", "index_below"):
            if name in options:
                kept.append(self._filter(options[name], options["stream"]))
                options[name] = self._framework.address(kept[-1])
        return options, kept

    def _filter(self, given: np.ndarray | DeviceArray, stream: int) -> Any:
        """The words of `allowed`, or the numbers of `index_below`, on the GPU."""
        framework = self._framework
        if isinstance(given, np.ndarray):
            return framework.from_numpy(given, self.ordinal)
        if given.dtype == np.bool_:
            flags = framework.contiguous(given.array)
            (count,) = given.shape
            words = self._empty(((count + 63) // 64,), np.uint64)
            if count:
                address = framework.address
                self._search.pack(address(flags), count, address(words), stream=stream)
            return words
        numbers = given.array
        if given.dtype.itemsize < 8:  # else the limit would not fit
            numbers = framework.astype(numbers, np.dtype(np.int64))
        numbers = framework.astype(numbers.clip(0, 2**32 - 1), np.dtype(np.uint32))
        return framework.contiguous(numbers)

    def _radii(self, radius: Any) -> tuple[float, Any]:
        """One radius and no array, or an array of float64 on the GPU with one for each query."""
        framework = self._framework
        there = None if np.ndim(radius) == 0 else array_on(framework, radius, self.ordinal, "radius")
        if there is None:
            radii = as_radii(on_host(radius, "radius"), self.lead)
            if isinstance(radii, float):
                return radii, None
            if not (radii >= 0).all():
                raise ValueError("radius: a radius must be at least 0, but one is not")
            return 0.0, framework.from_numpy(radii, self.ordinal)
        require_radii(there.dtype, there.shape, self.lead)
        values = framework.astype(there.array, np.dtype(np.float64))
        if there.shape != self.lead:
            values = framework.broadcast(values, self.lead)
        return 0.0, framework.contiguous(values)

    def _address(self, array: Any) -> int:
        return 0 if array is None else self._framework.address(array)

    def _widened(self, numbers: Any, stream: int) -> Any:
        """uint32 as int64, in the caller's stream."""
        wide = self._empty(tuple(numbers.shape), np.int64)
        count = math.prod(wide.shape)
        if count:
            address = self._framework.address
            self._search.widen(address(numbers), count, address(wide), stream=stream)
        return wide

    def knn(self, k: int, return_exact: bool = False) -> tuple[Any, ...]:
        framework = self._framework
        with framework.on(self.ordinal):
            options, _kept = self._prepared()
            shape = (*self.lead, k)
            self._require_memory(self._count * k)
            distances = self._empty(shape, self._dtype)
            indices = self._empty(shape, np.int64)
            exact = self._empty(self.lead, np.bool_) if return_exact else None
            if self._count:
                queries = self._rows[0].view if self._rows else None
                self._search.knn(
                    queries, k, framework.address(indices), framework.address(distances),
                    self._address(exact), **options,
                )
            return (distances, indices, exact) if return_exact else (distances, indices)

    def _counts(self, radius: float, radii: Any, options: dict[str, Any]) -> Any:
        counts = self._empty((self._count,), np.uint32)
        if self._count:
            queries = self._rows[0].view if self._rows else None
            options = {name: value for name, value in options.items() if name != "squared"}
            self._search.count(
                queries, radius, self._address(radii), self._framework.address(counts), **options
            )
        return counts

    def count(self, radius: Any) -> Any:
        with self._framework.on(self.ordinal):
            options, _kept = self._prepared()
            counts = self._widened(
                self._counts(*self._radii(radius), options), options["stream"]
            )
            return counts.reshape(self.lead)

    def _offsets(self, counts: Any, stream: int) -> tuple[Any, int]:
        """Sums of the counts, and the last of them, for which the host waits."""
        offsets = self._empty((self._count + 1,), np.int64)
        self._search.offsets(
            self._framework.address(counts),
            self._count,
            self._framework.address(offsets),
            stream=stream,
        )
        return offsets, int(offsets[-1])

    def radius(self, radius: Any) -> NeighborLists:
        framework = self._framework
        with framework.on(self.ordinal):
            options, _kept = self._prepared()
            distance, radii = self._radii(radius)
            counts = self._counts(distance, radii, options)
            offsets, total = self._offsets(counts, options["stream"])
            distances = self._empty((total,), self._dtype)
            indices = self._empty((total,), np.int64)
            if total:
                queries = self._rows[0].view if self._rows else None
                self._search.radius(
                    queries,
                    distance,
                    self._address(radii),
                    framework.address(offsets),
                    framework.address(indices),
                    framework.address(distances),
                    **options,
                )
            return NeighborLists(distances, indices, offsets)

    def _boxes_counted(self, options: dict[str, Any]) -> Any:
        counts = self._empty((self._count,), np.uint32)
        if self._count:
            self._search.box_count(
                self._rows[0].view, self._rows[1].view, self._framework.address(counts), **options
            )
        return counts

    def box_count(self) -> Any:
        with self._framework.on(self.ordinal):
            options, _kept = self._prepared()
            counts = self._widened(self._boxes_counted(options), options["stream"])
            return counts.reshape(self.lead)

    def box(self) -> PointLists:
        framework = self._framework
        with framework.on(self.ordinal):
            options, _kept = self._prepared()
            counts = self._boxes_counted(options)
            offsets, total = self._offsets(counts, options["stream"])
            indices = self._empty((total,), np.uint32)
            if total:
                self._search.box(
                    self._rows[0].view,
                    self._rows[1].view,
                    framework.address(offsets),
                    framework.address(indices),
                    **options,
                )
            return PointLists(self._widened(indices, options["stream"]), offsets)
