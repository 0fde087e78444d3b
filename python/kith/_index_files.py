"""kith.Index in files, pickles and copies."""

from __future__ import annotations

import pickle
from typing import TYPE_CHECKING, Any

from . import _kith
from ._arguments import as_text, as_threads, flat_bytes
from ._paths import existing_path, new_path
from ._progress import Progress, reporting

if TYPE_CHECKING:
    from ._index import Index

__all__ = ["IndexFiles"]


class IndexFiles:
    """`save`, `load`, `to_bytes`, `from_bytes`, and what pickle and copy ask for."""

    _low: _kith.Index
    _asked_device: str
    _columns: list[str] | None

    @classmethod
    def _wrap(cls, low: _kith.Index, asked_device: str) -> Index:
        self: Any = cls.__new__(cls)
        self._take(low, asked_device)
        return self

    def save(self, path: Any, *, threads: int = 0, progress: Progress = False) -> None:
        """Write the index to a file, whole or not at all.

        Parameters
        ----------
        path : str or path-like
            On any error an old file of that name is untouched.
        """
        with reporting(progress) as report:
            self._low.save(new_path(path), threads=as_threads(threads), progress=report)

    @classmethod
    def load(
        cls,
        path: Any,
        *,
        device: str = "cpu",
        map: bool = False,
        threads: int = 0,
        progress: Progress = False,
    ) -> Index:
        """Read an index that `save` wrote, and check all of it.

        Parameters
        ----------
        path : str or path-like
            ValueError is raised if the file is damaged.
        device : {"cpu", "auto", "cuda", "cuda:N"}
            Where to search it.
        map : bool
            Search the file where it lies, unchecked: for files that you trust and that nobody
            changes.

        Examples
        --------
        >>> import numpy as np, kith, os, tempfile
        >>> path = os.path.join(tempfile.mkdtemp(), "points.kith")
        >>> kith.Index(np.eye(3)).save(path)
        >>> kith.Index.load(path)
        kith.Index(3 points, 3 dims, float64, metric='l2', engine='brute', device='cpu')
        """
        name = existing_path(path)
        content = _kith.index_content(name)
        if content != "points":
            raise ValueError(f"{name} is an index of {content}; load it with kith.CoverTree.load")
        with reporting(progress) as report:
            low = _kith.Index.load(
                name,
                device=as_text(device, "device"),
                map=bool(map),
                threads=as_threads(threads),
                progress=report,
            )
        return cls._wrap(low, device)

    def to_bytes(self, *, threads: int = 0) -> bytes:
        """The bytes that `save` writes."""
        return self._low.to_bytes(threads=as_threads(threads))

    @classmethod
    def from_bytes(cls, content: bytes, *, device: str = "cpu", threads: int = 0) -> Index:
        """An index from what `to_bytes` gave; checked as by `load`."""
        low = _kith.Index.from_bytes(
            flat_bytes(content), device=as_text(device, "device"), threads=as_threads(threads)
        )
        return cls._wrap(low, device)

    def __reduce_ex__(self, protocol: Any) -> Any:
        content: Any = self.to_bytes()
        if protocol >= 5:
            content = pickle.PickleBuffer(content)  # out of band, if the pickler can do so
        return _from_bytes, (type(self), content, self._asked_device, self._columns)

    def __copy__(self) -> Index:
        other: Any = type(self).__new__(type(self))
        other.__dict__.update(self.__dict__)
        return other

    def __deepcopy__(self, memo: Any) -> Index:
        return self.__copy__()  # it never changes


def _from_bytes(
    cls: type[Index], content: Any, device: str, columns: list[str] | None = None
) -> Index:
    index = cls.from_bytes(content, device=device)
    index._columns = columns
    return index
