"""kith.CoverTree in files, pickles and copies."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from . import _kith
from ._cover_tree_searches import Searcher
from ._index import Index
from ._metric_searcher import MetricSearcher
from ._progress import Progress

if TYPE_CHECKING:
    from ._cover_tree import CoverTree


class CoverTreeFiles:
    """`save`, `load`, and what pickle and copy ask for."""

    _searcher: Searcher
    _asked_device: str

    @classmethod
    def _wrap(cls, searcher: Searcher, asked_device: str = "auto") -> CoverTree:
        self: Any = cls.__new__(cls)
        self._searcher = searcher
        self._asked_device = asked_device
        return self

    def save(self, path: Any, *, threads: int = 0, progress: Progress = False) -> None:
        """Write the tree to a file as `Index.save` does. Not for a metric of your own."""
        if isinstance(self._searcher, MetricSearcher):
            raise TypeError("a function cannot be saved to an index file; pickle the tree instead")
        self._searcher.save(path, threads=threads, progress=progress)

    @classmethod
    def load(
        cls, path: Any, *, device: str = "auto", threads: int = 0, progress: Progress = False
    ) -> CoverTree:
        """Read a tree that `save`, or the command kith, wrote, and check all of it.

        Parameters
        ----------
        path, device
            As in `Index.load`.

        Examples
        --------
        >>> import kith, os, tempfile
        >>> path = os.path.join(tempfile.mkdtemp(), "words.kith")
        >>> kith.CoverTree(["cat", "dog"], metric="edit").save(path)
        >>> kith.CoverTree.load(path)
        kith.CoverTree(2 objects, metric='edit', engine='covertree', device='cpu')
        """
        index = Index.load(path, device=device, threads=threads, progress=progress)
        return cls._wrap(index, device)

    def __reduce_ex__(self, protocol: Any) -> Any:
        searcher = self._searcher
        if isinstance(searcher, MetricSearcher):
            low = searcher.low
            numbers = low.numbers().tolist()
            objects = [low.object(number) for number in numbers]
            return _from_objects, (
                type(self),
                low.function,
                low.rounding,
                numbers,
                objects,
                low.next,
            )
        return _from_index, (type(self), searcher, self._asked_device)

    def __copy__(self) -> CoverTree:
        searcher = self._searcher
        if isinstance(searcher, MetricSearcher):
            searcher = MetricSearcher(searcher.low.copy())
        return self._wrap(searcher, self._asked_device)


def _from_index(cls: type[CoverTree], index: Index, device: str) -> CoverTree:
    return cls._wrap(index, device)


def _from_objects(
    cls: type[CoverTree],
    metric: Callable[[Any, Any], float],
    rounding: tuple[float, float],
    numbers: list[int],
    objects: list[Any],
    next_number: int,
) -> CoverTree:
    low = _kith.MetricTree(metric, rounding)
    for number, each in zip(numbers, objects):
        low.insert_as(each, number)
    low.number_from(next_number)
    return cls._wrap(MetricSearcher(low))
