"""What this installation can do."""

from __future__ import annotations

import operator
import os
import platform
import re
from collections.abc import Iterator
from contextlib import contextmanager
from fractions import Fraction
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


def bytes_of(limit: int | str, name: str = "memory_limit") -> int:
    """The bytes of an argument that limits memory."""
    if isinstance(limit, str):
        parts = re.fullmatch(r"\s*((?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:e[+-]?[0-9]{1,3})?)\s*(?:([kmgt])(i?))?b?\s*", limit.lower())
        if parts is None:
            raise ValueError(f'{name}: "{limit}" is no size of a memory, such as 500MB or 16GiB')
        factor = (1024 if parts[3] else 1000) ** " kmgt".index(parts[2] or " ")
        bytes_ = int(Fraction(parts[1]) * factor)
    elif isinstance(limit, float):
        if not limit.is_integer():
            raise ValueError(f"{name}: a whole number of bytes, not {limit}")
        bytes_ = int(limit)
    else:
        try:
            bytes_ = operator.index(limit)
        except TypeError:
            raise TypeError(f"{name}: bytes, or text such as 2GB, not {type(limit).__name__}") from None
    if bytes_ < 1:
        raise ValueError(f"{name}: at least 1 byte, not {limit}")
    if bytes_ >= 2**64:
        raise ValueError(f"{name}: must be below 2**64 bytes")
    return bytes_


@contextmanager
def memory_limit(limit: int | str) -> Iterator[None]:
    """Let no build or search of this thread take more memory than this, in a ``with`` statement.

    Work is done in smaller chunks, or MemoryError says how many bytes it needs. It is a limit for the memory of the
    device that does the work, as :func:`plan` counts it: arrays of the caller do not count.

    Parameters
    ----------
    limit : int or str
        Bytes, or text with a unit: ``"500MB"``, ``"16GiB"``, ``"4G"``.

    Limits may overlap, as those of generators and coroutines do: while several are open the smallest one counts, for
    all that the thread does. A limit must end on the thread on which it began; anything else is a RuntimeError.

    Examples
    --------
    >>> import kith, numpy
    >>> with kith.memory_limit("1GB"):
    ...     index = kith.Index(numpy.zeros((10, 3)))
    """
    open_limit = _kith.MemoryLimit(bytes_of(limit))
    try:
        yield
    finally:
        open_limit.end()


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
