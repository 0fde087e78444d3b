"""Arrays in the memory of a GPU: CuPy's and PyTorch's, and those that either of them can share.

A `Framework` knows where an array lies, which stream its owner works in, and how to make arrays for
the answers. Nothing here waits for the GPU unless it says so.
"""

from __future__ import annotations

import contextlib
import functools
import importlib
import math
from collections.abc import Callable
from typing import Any, ClassVar, Protocol

import numpy as np

from . import _kith
from ._arrays import answers_like, as_rows, float_type, library_name, note, unchanged

_DLPACK_CUDA = (2, 13)  # device types of DLPack: memory of a GPU, memory managed by CUDA


class Framework(Protocol):
    """What the searches need of CuPy or PyTorch. `ordinal` is the number of a GPU."""

    def describe(self, array: Any) -> tuple[int, np.dtype, tuple[int, ...], tuple[int, ...], int]:
        """Address, dtype, shape, strides in elements, and number of the GPU."""

    def astype(self, array: Any, dtype: np.dtype) -> Any: ...
    def contiguous(self, array: Any) -> Any: ...
    def widened(self, array: Any) -> Any:
        """An array that `empty` made for uint32, as int64."""

    def broadcast(self, array: Any, shape: tuple[int, ...]) -> Any: ...
    def address(self, array: Any) -> int: ...
    def empty(self, shape: tuple[int, ...], dtype: Any, ordinal: int) -> Any: ...
    def from_numpy(self, array: np.ndarray, ordinal: int) -> Any: ...
    def to_numpy(self, array: Any) -> np.ndarray: ...

    def on(self, ordinal: int) -> Any:
        """A context in which that GPU is the current one."""

    def stream(self, ordinal: int) -> int:
        """The caller's stream, as CUDA's handle."""

    def synchronize(self, ordinal: int) -> None:
        """Waits for the caller's stream."""

    def synchronize_device(self, ordinal: int) -> None:
        """Waits for everything on that GPU."""


class CupyFramework:
    def __init__(self) -> None:
        self._cupy = importlib.import_module("cupy")

    def describe(self, array: Any) -> tuple[int, np.dtype, tuple[int, ...], tuple[int, ...], int]:
        strides = tuple(stride // array.itemsize for stride in array.strides)
        return array.data.ptr, np.dtype(array.dtype), array.shape, strides, array.device.id

    def astype(self, array: Any, dtype: np.dtype) -> Any:
        return array.astype(dtype)

    def contiguous(self, array: Any) -> Any:
        return self._cupy.ascontiguousarray(array)

    def widened(self, array: Any) -> Any:
        return array.astype(np.int64)

    def broadcast(self, array: Any, shape: tuple[int, ...]) -> Any:
        return self._cupy.broadcast_to(array, shape)

    def address(self, array: Any) -> int:
        return array.data.ptr

    def empty(self, shape: tuple[int, ...], dtype: Any, ordinal: int) -> Any:
        return self._cupy.empty(shape, dtype)

    def from_numpy(self, array: np.ndarray, ordinal: int) -> Any:
        with self.on(ordinal):
            return self._cupy.asarray(array)

    def to_numpy(self, array: Any) -> np.ndarray:
        return self._cupy.asnumpy(array)

    def on(self, ordinal: int) -> Any:
        return self._cupy.cuda.Device(ordinal)

    def stream(self, ordinal: int) -> int:
        return self._cupy.cuda.get_current_stream().ptr

    def synchronize(self, ordinal: int) -> None:
        with self.on(ordinal):
            self._cupy.cuda.get_current_stream().synchronize()

    def synchronize_device(self, ordinal: int) -> None:
        self._cupy.cuda.Device(ordinal).synchronize()


class TorchFramework:
    # PyTorch does little with unsigned numbers: their bits are kept in signed ones.
    _SIGNED: ClassVar = {np.dtype(np.uint32): "int32", np.dtype(np.uint64): "int64"}

    def __init__(self) -> None:
        self._torch = importlib.import_module("torch")

    def _dtype(self, dtype: Any) -> Any:
        dtype = np.dtype(dtype)
        return getattr(self._torch, self._SIGNED.get(dtype, dtype.name))

    def _device(self, ordinal: int) -> Any:
        return self._torch.device("cuda", ordinal)

    def describe(self, array: Any) -> tuple[int, np.dtype, tuple[int, ...], tuple[int, ...], int]:
        name = str(array.dtype).removeprefix("torch.")
        dtype = np.dtype(np.float16) if name == "bfloat16" else np.dtype(name)
        return (
            array.data_ptr(),
            dtype,
            tuple(array.shape),
            tuple(array.stride()),
            array.device.index,
        )

    def astype(self, array: Any, dtype: np.dtype) -> Any:
        return array.to(self._dtype(dtype))

    def contiguous(self, array: Any) -> Any:
        return array.contiguous()

    def widened(self, array: Any) -> Any:
        return array.to(self._torch.int64) & 0xFFFFFFFF

    def broadcast(self, array: Any, shape: tuple[int, ...]) -> Any:
        return array.expand(shape)

    def address(self, array: Any) -> int:
        return array.data_ptr()

    def empty(self, shape: tuple[int, ...], dtype: Any, ordinal: int) -> Any:
        return self._torch.empty(shape, dtype=self._dtype(dtype), device=self._device(ordinal))

    def from_numpy(self, array: np.ndarray, ordinal: int) -> Any:
        signed = self._SIGNED.get(array.dtype)
        values = np.ascontiguousarray(array if signed is None else array.view(signed))
        return self._torch.from_numpy(values).to(self._device(ordinal))

    def to_numpy(self, array: Any) -> np.ndarray:
        return array.detach().cpu().numpy()

    def on(self, ordinal: int) -> Any:
        return self._torch.cuda.device(ordinal)

    def stream(self, ordinal: int) -> int:
        return self._torch.cuda.current_stream(self._device(ordinal)).cuda_stream

    def synchronize(self, ordinal: int) -> None:
        self._torch.cuda.current_stream(self._device(ordinal)).synchronize()

    def synchronize_device(self, ordinal: int) -> None:
        self._torch.cuda.synchronize(self._device(ordinal))


_frameworks: dict[str, Framework] = {}


def _framework(name: str) -> Framework:
    if name not in _frameworks:
        _frameworks[name] = CupyFramework() if name == "cupy" else TorchFramework()
    return _frameworks[name]


def is_on_gpu(array: Any) -> bool:
    if isinstance(array, (np.ndarray, list, tuple, np.generic)):
        return False
    if _owner(array) == "torch":
        return bool(getattr(array, "is_cuda", False))
    if hasattr(array, "__cuda_array_interface__"):
        return True
    device = getattr(array, "__dlpack_device__", None)
    return device is not None and int(device()[0]) in _DLPACK_CUDA


def _owner(array: Any) -> str:
    return type(array).__module__.partition(".")[0]


def framework_of(array: Any, name: str) -> Framework | None:
    """Who owns an array on a GPU; None for everything that is not there.

    Raises RuntimeError if there is no way to search it.
    """
    if not is_on_gpu(array):
        return None
    owner = _owner(array)
    if owner in _frameworks:  # there was a way before
        return _frameworks[owner]
    if not _kith.built_with_cuda():
        raise RuntimeError(
            f"{name} lies on a GPU, but this kith was built without CUDA; build it where nvcc is "
            "on the PATH, or pass a NumPy array (cupy.asnumpy(a), tensor.cpu())"
        )
    if all(device[0] == "cpu" for device in _kith.devices()):
        raise RuntimeError(
            f"{name} lies on a GPU, but kith finds none that it can use; kith.show_config() tells "
            "what it sees, and NumPy arrays are searched on the CPU"
        )
    if owner in ("cupy", "torch"):
        return _framework(owner)
    for candidate in ("cupy", "torch"):
        with contextlib.suppress(ImportError):
            return _framework(candidate)
    raise RuntimeError(
        f"{name} is an array of {owner} on a GPU; answers are made by CuPy or PyTorch, and "
        "neither is installed: pip install cupy-cuda12x, or pass a NumPy array"
    )


def shared_array(framework: Framework, array: Any) -> Any:
    """The same memory as an array of the framework. The producer's protocol orders the streams."""
    if isinstance(framework, CupyFramework):
        if _owner(array) == "cupy":
            return array
        cupy = framework._cupy
        if hasattr(array, "__cuda_array_interface__"):
            return cupy.asarray(array)
        return cupy.from_dlpack(array)
    if _owner(array) == "torch":
        return array.detach()
    torch = framework._torch  # type: ignore[attr-defined]
    if hasattr(array, "__cuda_array_interface__"):
        return torch.as_tensor(array, device="cuda")
    return torch.from_dlpack(array)


class DeviceArray:
    """An array of any kind on a GPU, as one of the framework."""

    def __init__(self, framework: Framework, array: Any) -> None:
        self.array = shared_array(framework, array)
        _, self.dtype, self.shape, _, self.ordinal = framework.describe(self.array)


def array_on(
    framework: Framework | None, array: Any, ordinal: int, name: str
) -> DeviceArray | None:
    """The array, if it lies on that GPU, where a search by the framework runs; else None."""
    if framework is None or framework_of(array, name) is None:
        return None
    there = DeviceArray(framework, array)
    return there if there.ordinal == ordinal else None


def on_host(array: Any, name: str) -> Any:
    """The array itself, or a copy on the host of one that lies on a GPU."""
    framework = framework_of(array, name)
    return array if framework is None else framework.to_numpy(shared_array(framework, array))


class DeviceRows:
    """Rows of float32 or float64 on a GPU, kept alive, with the view that the extension takes."""

    def __init__(
        self, framework: Framework, array: Any, name: str, dtype: np.dtype | None = None
    ) -> None:
        array = shared_array(framework, array)
        address, own, shape, strides, ordinal = framework.describe(array)
        wanted = float_type(own)
        if wanted is None:
            raise TypeError(f"{name} must hold real numbers, not {own}; convert it first")
        wanted = dtype or wanted
        if own != wanted:
            if own.kind != "f" or own.itemsize not in (4, 8):
                note(f"{name}: {own} was converted to {wanted}")
            elif own.itemsize > wanted.itemsize:
                note(f"{name}: {own} was rounded to {wanted}, the type of the points")
            with framework.on(ordinal):
                array = framework.astype(array, wanted)
            address, _, shape, strides, _ = framework.describe(array)
        if len(shape) == 0:
            raise ValueError(f"{name} must have the shape (n, dims), not ()")
        self.lead = tuple(shape[:-1])
        self.ndim = len(shape)
        if len(shape) != 2:
            with framework.on(ordinal):
                array = array.reshape((math.prod(self.lead), shape[-1]))
            address, _, shape, strides, _ = framework.describe(array)
        if (shape[1] > 1 and strides[1] != 1) or (shape[0] > 1 and strides[0] < shape[1]):
            with framework.on(ordinal):
                array = framework.contiguous(array)
            address, _, shape, strides, _ = framework.describe(array)
        self.framework = framework
        self.array = array
        self.ordinal = ordinal
        self.dtype = wanted
        self.shape = (int(shape[0]), int(shape[1]))
        stride = strides[0] if shape[0] > 1 else shape[1]
        self.view = _kith.DeviceRows(address, library_name(wanted), *self.shape, stride, ordinal)


def placed_rows(points: Any, device: str) -> tuple[DeviceRows | None, Any, Callable[[Any], Any]]:
    """Where a job on points runs that is to run on `device`; "auto" is the GPU that holds them.

    The rows if they are on that GPU, else None and rows for the extension; and what puts answers of
    NumPy where the points are.
    """
    framework = framework_of(points, "points")
    if framework is None:
        return None, as_rows(points), answers_like(points)
    there = DeviceRows(framework, points, "points")
    if there.ndim != 2:
        raise ValueError(f"points must have the shape (n, dims), not {(*there.lead, there.shape[1])}")
    if device in ("auto", f"cuda:{there.ordinal}") or (device, there.ordinal) == ("cuda", 0):
        return there, None, unchanged
    framework.synchronize(there.ordinal)
    rows = as_rows(framework.to_numpy(there.array))
    return None, rows, functools.partial(framework.from_numpy, ordinal=there.ordinal)


class DeviceBits:
    """Packed rows of bits on a GPU, kept alive, with the view that the extension takes."""

    def __init__(self, framework: Framework, array: DeviceArray, name: str) -> None:
        if not array.shape or array.dtype.kind != "u":
            raise TypeError(
                f"{name}: rows of bits on a GPU must be bool or unsigned integers (8 to 64 bits in "
                f"each), not {array.dtype} of shape {array.shape}"
            )
        self.lead = tuple(array.shape[:-1])
        self.ordinal = array.ordinal
        bytes_per_row = array.dtype.itemsize * array.shape[-1]
        self.bits = 8 * bytes_per_row
        with framework.on(array.ordinal):
            self.array = framework.contiguous(array.array)
        rows = math.prod(self.lead)
        address = framework.address(self.array)
        self.view = _kith.DeviceBits(address, rows, self.bits, bytes_per_row)
