"""Arguments that all searches of an index share."""

from __future__ import annotations

from typing import Any

from ._arguments import as_allowed, as_index_below, as_threads
from ._device_arrays import framework_of, shared_array
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

    def add_filters_to(self, options: dict[str, Any], points: int, lead: tuple[int, ...]) -> None:
        """For searches of arrays on a GPU, which take nothing else."""
        if self.allowed is not None:
            words = as_allowed(_on_host(self.allowed), points)
            if words is not None:  # not all of them are
                options["allowed"] = words
        if self.index_below is not None:
            options["index_below"] = as_index_below(_on_host(self.index_below), lead)
        if self.earlier_only:
            options["earlier_only"] = True


def _on_host(array: Any) -> Any:
    framework = framework_of(array, "a filter")
    return array if framework is None else framework.to_numpy(shared_array(framework, array))
