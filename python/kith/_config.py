"""What this installation can do."""

from __future__ import annotations

import os
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


class Profile(NamedTuple):
    """What ``kith tune`` measured on this machine, as it is in use."""

    #: The file; empty if there is none, or if the values are built in.
    path: str
    #: Why nothing is taken from a file that is there; else empty.
    note: str
    #: The numbers in use, by name.
    values: dict[str, int]


def use_profile(path: str | os.PathLike[str] | None = None) -> Profile:
    """Work with the profile in this file from now on.

    Parameters
    ----------
    path
        A file from ``kith tune``; "none" for the built-in values; by default what is used without this
        call: the file that the environment variable ``KITH_PROFILE`` names, or the user's own profile.

    Answers are the same with every profile. One that was made for another device or version of kith is
    ignored, and ``note`` says so; one that cannot be read is a ``ValueError`` or an ``OSError``.

    Examples
    --------
    >>> import kith
    >>> kith.use_profile("none").values["tree_points"]
    1000
    """
    return Profile(*_kith.use_profile("" if path is None else os.fspath(path)))


def profile() -> Profile:
    """The profile in use.

    Examples
    --------
    >>> import kith
    >>> kith.profile().values["groups_per_task"] >= 1
    True
    """
    return Profile(*_kith.profile_in_use())


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
