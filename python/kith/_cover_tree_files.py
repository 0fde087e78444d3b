"""kith.CoverTree in files, pickles and copies."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from . import _kith
from ._arguments import as_text, as_threads, flat_bytes
from ._cover_tree_searches import Searcher
from ._index import Index
from ._object_searchers import BitSearcher, MetricSearcher, SequenceSearcher
from ._paths import existing_path, new_path
from ._progress import Progress, reporting

if TYPE_CHECKING:
    from ._cover_tree import CoverTree

__all__ = ["CoverTreeFiles"]


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
        """Write the tree to a file, whole or not at all. Not for a metric of your own.

        Parameters
        ----------
        path : str or path-like
            On any error an old file of that name is untouched.
        """
        if isinstance(self._searcher, MetricSearcher):
            raise TypeError("a function cannot be saved to an index file; pickle the tree instead")
        if isinstance(self._searcher, Index):
            self._searcher.save(path, threads=threads, progress=progress)
            return
        with reporting(progress) as report:
            self._searcher.low.save(new_path(path), threads=as_threads(threads), progress=report)

    @classmethod
    def load(
        cls, path: Any, *, device: str = "cpu", threads: int = 0, progress: Progress = False
    ) -> CoverTree:
        """Read a tree that `save`, or the command kith, wrote, and check all of it.

        Parameters
        ----------
        path : str or path-like
            ValueError is raised if the file is damaged.
        device : {"cpu", "auto", "cuda", "cuda:N"}
            Where to search it.

        Examples
        --------
        >>> import kith, os, tempfile
        >>> path = os.path.join(tempfile.mkdtemp(), "words.kith")
        >>> kith.CoverTree(["cat", "dog"], metric="edit").save(path)
        >>> kith.CoverTree.load(path)
        kith.CoverTree(2 objects, metric='edit', engine='covertree', device='cpu')
        """
        name = existing_path(path)
        content = _kith.index_content(name)
        searcher: Searcher
        if content == "points":
            searcher = Index.load(name, device=device, threads=threads, progress=progress)
            return cls._wrap(searcher, device)
        options: dict[str, Any] = {"device": as_text(device, "device"), "threads": as_threads(threads)}
        with reporting(progress) as report:
            if content == "bits":
                searcher = BitSearcher(_kith.BitIndex.load(name, progress=report, **options))
            else:
                searcher = SequenceSearcher(
                    _kith.SequenceIndex.load(name, progress=report, **options)
                )
        return cls._wrap(searcher, device)

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
        if isinstance(searcher, Index):
            return _from_index, (type(self), searcher, self._asked_device)
        content: Any = searcher.low.to_bytes()
        if protocol >= 5:
            content = pickle.PickleBuffer(content)  # out of band, if the pickler can do so
        return _from_bytes, (type(self), type(searcher), content, self._asked_device)

    def __copy__(self) -> CoverTree:
        searcher = self._searcher
        if isinstance(searcher, MetricSearcher):
            searcher = MetricSearcher(searcher.low.copy())
        return self._wrap(searcher, self._asked_device)


def _from_index(cls: type[CoverTree], index: Index, device: str) -> CoverTree:
    return cls._wrap(index, device)


def _from_bytes(cls: type[CoverTree], kind: Any, content: Any, device: str) -> CoverTree:
    low = _kith.BitIndex if kind is BitSearcher else _kith.SequenceIndex
    return cls._wrap(kind(low.from_bytes(flat_bytes(content), device=device)), device)


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
