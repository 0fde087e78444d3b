"""What kith.Index says of itself."""

from __future__ import annotations

from typing import Any

import numpy as np

from ._arguments import as_count
from ._objects import Bits, Sequences
from ._shared_arguments import SharedArguments
from ._types import EngineInUse


class IndexFacts:
    """Its size, properties and text."""

    _low: Any  # _kith.Index, or the Low of _objects
    _objects: type[Bits] | type[Sequences] | None
    _columns: list[str] | None
    _dims: int
    _dtype: np.dtype

    # Of Index, for its searches:
    _framework_for: Any
    _host_queries: Any
    _device_searcher: Any
    _is_plain_query: Any

    def __len__(self) -> int:
        return self._low.size

    def __repr__(self) -> str:
        if not hasattr(self, "_low"):
            return "kith.Index(not built)"  # looked at before the build, or after it failed
        what = f"{len(self)} points, {self.dims} dims, {self.dtype}"
        if self._objects is not None:
            what = f"{len(self)} {self._objects.what}"
        return (
            f"kith.Index({what}, metric={self.metric!r}, engine={self.engine!r}, "
            f"device={self.device!r})"
        )

    @property
    def dims(self) -> int:
        """Coordinates of a point, bits of a row; 0 for strings and sets."""
        if self._objects is None:
            return self._dims
        return getattr(self._low, "bits", 0)

    @property
    def dtype(self) -> np.dtype:
        """float32 or float64, of points and distances; float32 for bits, strings and sets."""
        return self._dtype

    @property
    def metric(self) -> str:
        """The metric's name."""
        return self._low.metric

    @property
    def metric_params(self) -> list[float]:
        """The numbers of the metric, given or computed from the points; a matrix row by row."""
        return [] if self._objects is not None else self._low.metric_params

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
        return 0 if self._objects is not None else self._low.skipped

    @property
    def memory(self) -> int:
        """Bytes that the index holds, on the device and on the host."""
        return self._low.memory_bytes

    @property
    def columns(self) -> list[str] | None:
        """The names of the coordinates, if the points were a table that has some."""
        return None if self._columns is None else list(self._columns)

    @property
    def points(self) -> Any:
        """A copy of the points, of shape (n, dims); rows that were left out hold NaN. Under
        metrics that prepare rows, such as cosine, what became of the points. Of bits an
        array of packed rows, of strings and sets a list."""
        return self._low.points() if self._objects is None else self._objects.objects(self._low)

    def check(self) -> str:
        """Look for what is wrong with a cover tree; "" if nothing is."""
        return self._low.first_violation()

    def explain(
        self, *, k: int | None = None, radius: bool = False, queries: int | None = None,
        **options: Any,
    ) -> str:
        """Why this engine and device, and what the index holds, in a few lines.

        With `k`, or with ``radius=True``, a line says which path such a search takes on this
        device, and why a faster one does not apply: of so many `queries`, None for the points
        themselves, with the `options` of `knn` or `radius`. Nothing is searched.

        Examples
        --------
        >>> import numpy as np, kith
        >>> index = kith.Index(np.zeros((500, 3)), engine="kdtree")
        >>> index.explain(k=8, queries=1).splitlines()[-1][:35]
        'search: kdtree on cpu: one query, o'
        """
        text = self._low.explain()
        if k is None and not radius:
            if queries is not None or options:
                raise ValueError("which search is to be explained? give k, or radius=True")
            return text
        if k is not None and radius:
            raise ValueError("give k, or radius=True, not both")
        count = None if queries is None else as_count(queries, "queries", bits=64)
        rest = SharedArguments(
            options.pop("allowed", None), options.pop("earlier_only", False),
            options.pop("index_below", None), False, 0, False,
        )
        rest.add_to(options, len(self), () if count is None else (count,))
        wanted = None if k is None else as_count(k, "k")
        return f"{text}\n{self._low.explain_search(wanted, count, **options)}"
