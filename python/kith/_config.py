"""What this installation can do."""

from __future__ import annotations

import platform
from typing import NamedTuple

import numpy as np

from . import _kith


class DeviceInfo(NamedTuple):
    """A device that can be searched on."""

    device: str
    name: str
    memory_bytes: int
    threads: int
    #: The SIMD instruction set that the CPU uses; empty for GPUs. The environment variable ``KITH_SIMD`` chooses another.
    instruction_set: str = ""


def devices() -> list[DeviceInfo]:
    """The CPU first, then every GPU that this build can use.

    Examples
    --------
    >>> import kith
    >>> kith.devices()[0].device
    'cpu'
    """
    return [DeviceInfo(*device) for device in _kith.devices()]


def show_config() -> None:
    """Print versions, how the package was built, and the devices.

    Examples
    --------
    >>> import kith
    >>> kith.show_config()  # doctest: +ELLIPSIS
    kith ...
    """
    print(f"kith {_kith.__version__}")
    print(f"Python {platform.python_version()}, NumPy {np.__version__}, {platform.machine()}")
    print(f"CUDA backend: {'built in' if _kith.built_with_cuda() else 'not built in'}")
    for info in devices():
        gib = info.memory_bytes / 2**30
        unit = "threads" if info.device == "cpu" else "multiprocessors"
        print(f"  {info.device}: {info.name}, {gib:.1f} GiB, {info.threads} {unit}{', ' + info.instruction_set if info.instruction_set else ''}")
