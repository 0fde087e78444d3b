"""A stand-in for CuPy and for the GPU, whose memory is the host's.

Everything but the kernels runs: what is allocated, which addresses, types, shapes and streams are
handed over, what is copied and what is not.
"""

from __future__ import annotations

import contextlib
import ctypes
import types

import numpy as np

from kith import _device_arrays, _kith

STREAM = 4711


class FakeDevice(contextlib.nullcontext):
    id = 0

    def synchronize(self):
        FakeCupy.calls.append("synchronize device")


class FakeStream:
    ptr = STREAM

    def synchronize(self):
        FakeCupy.calls.append("synchronize stream")


class FakeArray:
    """What the package uses of cupy.ndarray."""

    def __init__(self, values):
        self.values = values
        self.device = FakeDevice()

    data = property(lambda self: types.SimpleNamespace(ptr=self.values.ctypes.data))
    dtype = property(lambda self: self.values.dtype)
    shape = property(lambda self: self.values.shape)
    strides = property(lambda self: self.values.strides)
    itemsize = property(lambda self: self.values.itemsize)
    ndim = property(lambda self: self.values.ndim)
    __cuda_array_interface__ = property(lambda self: self.values.__array_interface__)

    def astype(self, dtype):
        return FakeArray(self.values.astype(dtype))

    def clip(self, low, high):
        return FakeArray(self.values.clip(low, high))

    def copy(self):
        return FakeArray(self.values.copy())

    def reshape(self, shape):
        return FakeArray(self.values.reshape(shape))

    def __len__(self):
        return len(self.values)

    def __getitem__(self, place):
        found = self.values[place]
        return FakeArray(found) if isinstance(found, np.ndarray) else found

    def __sub__(self, other):
        return FakeArray(self.values - other.values)


FakeArray.__module__ = "cupy"


class FakeCupy:
    """What the package uses of the module."""

    calls: list[str] = []  # noqa: RUF012
    cuda = types.SimpleNamespace(Device=lambda ordinal: FakeDevice(), get_current_stream=FakeStream)

    @staticmethod
    def empty(shape, dtype):
        return FakeArray(np.empty(shape, dtype))

    @staticmethod
    def asarray(values):
        return FakeArray(np.array(values))

    @staticmethod
    def ascontiguousarray(array):
        return FakeArray(np.ascontiguousarray(array.values))

    @staticmethod
    def broadcast_to(array, shape):
        return FakeArray(np.broadcast_to(array.values, shape))

    @staticmethod
    def asnumpy(array):
        FakeCupy.calls.append("to host")
        return array.values


def install(monkeypatch, places, **entries):
    """A machine with a GPU for the modules `places` of the package, by these entries of the extension."""
    module = types.SimpleNamespace(
        built_with_cuda=lambda: True,
        devices=lambda: [("cpu", "cpu", 1, 1), ("cuda:0", "GPU", 1, 1)],
        DeviceRows=FakeRows,
        **entries,
    )
    for where in (_device_arrays, *places):
        monkeypatch.setattr(where, "_kith", module)
    framework = _device_arrays.CupyFramework.__new__(_device_arrays.CupyFramework)
    framework._cupy = FakeCupy
    monkeypatch.setattr(_device_arrays, "_frameworks", {"cupy": framework})
    FakeCupy.calls.clear()


def memory(address, dtype, count):
    dtype = np.dtype(dtype)
    return np.frombuffer((ctypes.c_char * (count * dtype.itemsize)).from_address(address), dtype)


class FakeRows:
    def __init__(self, address, dtype, rows, dims, row_stride, ordinal):
        assert ordinal == 0
        kind = np.float32 if dtype == "f32" else np.float64
        flat = memory(address, kind, (rows - 1) * row_stride + dims if rows else 0)
        steps = (row_stride * flat.itemsize, flat.itemsize)
        self.rows = np.lib.stride_tricks.as_strided(flat, (rows, dims), steps)


class FakeSearch:
    """kith::DeviceSearch, answered by the host's index."""

    def __init__(self, index):
        self.index = index

    def options(self, stream, allowed=None, index_below=None, queries=0, **rest):
        assert stream == STREAM
        if allowed is not None:
            rest["allowed"] = memory(allowed, np.uint64, (self.index.size + 63) // 64)
        if index_below is not None:
            rest["index_below"] = memory(index_below, np.uint32, queries)
        return rest

    def rows(self, queries):
        return None if queries is None else queries.rows

    def size(self, queries):
        return self.index.size if queries is None else len(queries.rows)

    def knn(self, queries, k, indices, distances, exact, **options):
        options = self.options(queries=self.size(queries), **options)
        found = self.index.knn(self.rows(queries), k, **options)
        memory(distances, found[0].dtype, found[0].size)[:] = found[0].ravel()
        memory(indices, np.int64, found[1].size)[:] = found[1].ravel()
        if exact:
            flags = memory(exact, np.uint8, self.size(queries))
            flags[:] = 1 if found[2] is None else found[2].ravel()

    def radii(self, queries, radius, radii):
        return memory(radii, np.float64, self.size(queries)) if radii else radius

    def count(self, queries, radius, radii, counts, **options):
        options = self.options(queries=self.size(queries), **options)
        radius = self.radii(queries, radius, radii)
        found = self.index.count(self.rows(queries), radius, **options)
        memory(counts, np.uint32, len(found))[:] = found

    def offsets(self, counts, lists, offsets, stream):
        assert stream == STREAM
        sums = memory(offsets, np.uint64, lists + 1)
        sums[0] = 0
        sums[1:] = np.cumsum(memory(counts, np.uint32, lists))

    def widen(self, numbers, count, wide, stream):
        assert stream == STREAM
        memory(wide, np.int64, count)[:] = memory(numbers, np.uint32, count)

    def pack(self, flags, count, words, stream):
        assert stream == STREAM
        packed = np.packbits(memory(flags, bool, count), bitorder="little")
        to = memory(words, np.uint8, (count + 63) // 64 * 8)
        to[:] = 0
        to[: packed.size] = packed

    def radius(self, queries, radius, radii, offsets, indices, distances, **options):
        options = self.options(queries=self.size(queries), **options)
        radius = self.radii(queries, radius, radii)
        found = self.index.radius(self.rows(queries), radius, **options)
        assert memory(offsets, np.int64, len(found[2])).tolist() == found[2].tolist()
        memory(distances, found[0].dtype, found[0].size)[:] = found[0]
        memory(indices, np.int64, found[1].size)[:] = found[1]

    def box_count(self, lower, upper, counts, **options):
        found = self.index.box_count(lower.rows, upper.rows, **self.options(**options))
        memory(counts, np.uint32, len(found))[:] = found

    def box(self, lower, upper, offsets, indices, **options):
        found = self.index.box(lower.rows, upper.rows, **self.options(**options))
        memory(indices, np.uint32, found[0].size)[:] = found[0]


class FakeBits:
    """Rows of bits there, as the host's index takes them."""

    def __init__(self, address, rows, bits, row_bytes):
        assert row_bytes * 8 == bits
        flat = memory(address, np.uint8, rows * row_bytes)
        self.rows = _kith.BitRows(flat.reshape(rows, row_bytes), bits)
        self.count = rows

    def __len__(self):
        return self.count


class FakeBitSearch(FakeSearch):
    def size(self, queries):
        return self.index.size if queries is None else len(queries)


class FakeBuild:
    """kith::Index on a GPU, answered by one of the host."""

    def __init__(self, low, device):
        self._low = low
        self.device = device

    def __getattr__(self, name):
        return getattr(self._low, name)

    @staticmethod
    def build(points, *, device, **options):
        rows = points.rows if isinstance(points, FakeRows) else points
        return FakeBuild(
            _REAL_BUILD(rows, device="cpu", **options), "cpu" if device == "auto" else device
        )


_REAL_BUILD = _kith.Index.build


class FakeBitIndex(FakeBuild):
    """kith::BitIndex on a GPU, answered by one of the host."""

    @staticmethod
    def build(rows, *, device, **options):
        return FakeBitIndex(
            _kith.BitIndex.build(rows, device="cpu", **options), "cpu" if device == "auto" else device
        )
