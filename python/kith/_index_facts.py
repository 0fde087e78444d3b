"""What kith.Index says of itself."""

from __future__ import annotations

import numpy as np

from . import _kith
from ._types import EngineInUse

__all__ = ["IndexFacts"]


class IndexFacts:
    """Its size, properties and text."""

    _low: _kith.Index
    _columns: list[str] | None
    _dims: int
    _dtype: np.dtype

    def __len__(self) -> int:
        return self._low.size

    def __repr__(self) -> str:
        if not hasattr(self, "_low"):
            return "kith.Index(not built)"  # looked at before the build, or after it failed
        return (
            f"kith.Index({len(self)} points, {self.dims} dims, {self.dtype}, "
            f"metric={self.metric!r}, engine={self.engine!r}, device={self.device!r})"
        )

    @property
    def dims(self) -> int:
        """Coordinates of a point."""
        return self._dims

    @property
    def dtype(self) -> np.dtype:
        """float32 or float64, of points and distances."""
        return self._dtype

    @property
    def metric(self) -> str:
        """The metric's name."""
        return self._low.metric

    @property
    def engine(self) -> EngineInUse:
        """The engine that was taken: "brute", "kdtree" or "covertree"."""
        return self._low.engine

    @property
    def device(self) -> str:
        """The device that was taken: "cpu" or "cuda:N"."""
        return self._low.device

    @property
    def skipped(self) -> int:
        """Points left out because of NaN or infinity."""
        return self._low.skipped

    @property
    def memory(self) -> int:
        """Bytes that the index holds, on the device and on the host."""
        return self._low.memory_bytes

    @property
    def columns(self) -> list[str] | None:
        """The names of the coordinates, if the points were a table that has some."""
        return None if self._columns is None else list(self._columns)

    @property
    def points(self) -> np.ndarray:
        """A copy of the points, of shape (n, dims). Rows that were left out hold NaN."""
        return self._low.points()

    def explain(self) -> str:
        """Why this engine and device, and what the index holds, in a few lines."""
        return self._low.explain()
