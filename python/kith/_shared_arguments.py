"""Arguments that all searches of an index share."""

from __future__ import annotations

from typing import Any

from ._arguments import (
    as_allowed,
    as_index_below,
    as_threads,
    require_allowed,
    require_index_below,
)
from ._device_arrays import Framework, array_on, on_host
from ._progress import Progress


class SharedArguments:
    """Arguments that all searches share."""

    __slots__ = ("allowed", "earlier_only", "index_below", "progress", "skip_nonfinite", "threads")

    def __init__(
        self, allowed: Any, earlier_only: bool, index_below: Any, skip_nonfinite: bool,
        threads: int, progress: Progress,
    ) -> None:
        self.allowed, self.earlier_only, self.index_below = allowed, earlier_only, index_below
        self.skip_nonfinite, self.threads, self.progress = skip_nonfinite, threads, progress

    def add_to(self, options: dict[str, Any], points: int, lead: tuple[int, ...]) -> None:
        """For searches of the host."""
        self.add_filters_to(options, points, lead)
        if self.skip_nonfinite:
            options["skip_nonfinite"] = True
        if (threads := as_threads(self.threads)) != 0:
            options["threads"] = threads

    def add_filters_to(
        self, options: dict[str, Any], points: int, lead: tuple[int, ...],
        framework: Framework | None = None, ordinal: int = 0,
    ) -> None:
        """For searches of arrays on a GPU, which take nothing else; filters that lie there stay."""
        if self.allowed is not None:
            flags = array_on(framework, self.allowed, ordinal, "allowed")
            if flags is not None:
                require_allowed(flags.dtype, flags.shape, points)
                options["allowed"] = flags
            elif (words := as_allowed(on_host(self.allowed, "allowed"), points)) is not None:
                options["allowed"] = words
        if self.index_below is not None:
            numbers = array_on(framework, self.index_below, ordinal, "index_below")
            if numbers is not None:
                require_index_below(numbers.dtype, numbers.shape, lead)
                options["index_below"] = numbers
            else:
                below = on_host(self.index_below, "index_below")
                options["index_below"] = as_index_below(below, lead)
        if self.earlier_only:
            options["earlier_only"] = True
