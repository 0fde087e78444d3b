"""Progress bars: tqdm's where it is installed, else a plain one on standard error."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable, Iterator
from typing import Any, TextIO, Union

#: False for none, True for a bar, or a function that is called with (stage, done, total).
Progress = Union[bool, Callable[[str, int, int], Any]]


class _PlainBar:
    """One line that is written over."""

    _WIDTH = 30

    def __init__(self, out: TextIO) -> None:
        self._out = out
        self._stage = ""

    def __call__(self, stage: str, done: int, total: int) -> None:
        if self._stage not in ("", stage):
            self._out.write("\n")
        self._stage = stage
        if total:
            filled = self._WIDTH * done // total
            bar = "#" * filled + "." * (self._WIDTH - filled)
            self._out.write(f"\r{stage} [{bar}] {100 * done // total:3d}%")
        else:
            self._out.write(f"\r{stage} {done}")
        self._out.flush()

    def close(self) -> None:
        if self._stage:
            self._out.write("\n")
            self._out.flush()


class _TqdmBar:
    def __init__(self, tqdm: Any) -> None:
        self._tqdm = tqdm
        self._stage = ""
        self._bar: Any = None

    def __call__(self, stage: str, done: int, total: int) -> None:
        if self._bar is None or self._stage != stage:
            self.close()
            self._stage = stage
            self._bar = self._tqdm(total=total or None, desc=stage, unit_scale=True)
        self._bar.update(done - self._bar.n)

    def close(self) -> None:
        if self._bar is not None:
            self._bar.close()
            self._bar = None


@contextlib.contextmanager
def reporting(progress: Progress) -> Iterator[Callable[[str, int, int], Any] | None]:
    """What to hand to the extension for an argument `progress`; closes the bar at the end."""
    if not progress:
        yield None
        return
    if callable(progress):
        yield progress
        return
    bar: _PlainBar | _TqdmBar
    try:
        from tqdm.auto import tqdm
    except ImportError:
        bar = _PlainBar(sys.stderr)
    else:
        bar = _TqdmBar(tqdm)
    try:
        yield bar
    finally:
        bar.close()
