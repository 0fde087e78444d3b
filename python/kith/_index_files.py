"""kith.Index in files, pickles and copies."""

from __future__ import annotations

import pickle
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from . import _kith
from ._arguments import as_text, as_threads, flat_bytes
from ._arrays import as_rows
from ._build_plan import build_options
from ._device_arrays import on_host
from ._objects import Bits, Sequences
from ._paths import existing_path, new_path
from ._progress import Progress, reporting
from ._types import Engine, Metric

if TYPE_CHECKING:
    from ._index import Index

_CONTENTS: dict[str, tuple[Any, Any]] = {
    "points": (_kith.Index, None),
    "bits": (_kith.BitIndex, Bits),
    "sequences": (_kith.SequenceIndex, Sequences),
}


class IndexFiles:
    """`save`, `load`, `from_tree`, `to_bytes`, `from_bytes`, and what pickle and copy ask for."""

    _low: Any
    _asked_device: str
    _columns: list[str] | None

    @classmethod
    def _read(cls, content: str, device: str, read: Any) -> Index:
        """What read(class of the extension, device=…) gives for a content."""
        low_type, objects = _CONTENTS[content]
        self: Any = cls.__new__(cls)
        self._take(read(low_type, device=as_text(device, "device")), device, objects=objects)
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
        device: str = "auto",
        map: bool = False,
        threads: int = 0,
        progress: Progress = False,
    ) -> Index:
        """Read an index that `save` wrote, and check all of it.

        Parameters
        ----------
        path : str or path-like
            ValueError is raised if the file is damaged.
        device : {"auto", "cpu", "cuda", "cuda:N"}
            Where to search it.
        map : bool
            Search the file where it lies, unchecked: for files that you trust and that no one
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
        options: dict[str, Any] = {"map": bool(map), "threads": as_threads(threads)}
        with reporting(progress) as report:
            return cls._read(
                _kith.index_content(name),
                device,
                lambda low, device: low.load(name, device=device, progress=report, **options),
            )

    @classmethod
    def from_tree(
        cls,
        path: Any,
        points: Any = None,
        *,
        engine: Engine = "auto",
        device: str = "auto",
        metric: Metric = "l2",
        leaf_size: int = 0,
        period: Sequence[float] | None = None,
        expected_queries: int = 0,
        threads: int = 0,
        progress: Progress = False,
        metric_params: Any = None,
    ) -> Index:
        """An index of the points of an exported tree in a file, with their original numbers.

        A k-d tree takes the order of that tree over, which is faster than building one. Answers
        are those of an index of the original points. The tree is checked first; ValueError names
        what is wrong with it.

        Parameters
        ----------
        path : str or path-like
            An .npz file, of either layout; also one that another program made.
        points : array_like of shape (n, dims), optional
            Those that a node table was made from, also on a GPU. A tree in order holds its own.
        period : sequence of float, optional
            One length for each axis.
        engine, device, metric, leaf_size, expected_queries, threads, progress, metric_params
            As in `Index`.

        Examples
        --------
        >>> import numpy as np, kith, os, tempfile
        >>> path = os.path.join(tempfile.mkdtemp(), "tree.npz")
        >>> np.savez(path, points=[[1.0, 0.0], [2.0, 2.0], [4.0, 0.0]], index=[1, 2, 0],
        ...          split_dim=[0, 0, 0], split=0, rows=3, dims=2, bits=64, unique=0)
        >>> kith.Index.from_tree(path).knn([3.5, 0.0], k=1)
        (array([0.5]), array([0]))
        """
        lengths = None if period is None else list(period)
        rows = None if points is None else as_rows(on_host(points, "points"))
        with reporting(progress) as report:
            low = _kith.Index.from_tree(
                existing_path(path),
                rows,
                device=as_text(device, "device"),
                progress=report,
                **build_options(
                    engine, metric, leaf_size, "widest", "auto", lengths, len(lengths or ()),
                    expected_queries, metric_params,
                ),
                threads=as_threads(threads),
            )
        self: Any = cls.__new__(cls)
        self._take(low, device)
        return self

    def to_bytes(self, *, threads: int = 0) -> bytes:
        """The bytes that `save` writes."""
        return self._low.to_bytes(threads=as_threads(threads))

    @classmethod
    def from_bytes(cls, content: bytes, *, device: str = "auto", threads: int = 0) -> Index:
        """An index from what `to_bytes` gave; checked as by `load`."""
        flat, count = flat_bytes(content), as_threads(threads)
        return cls._read(
            _kith.bytes_content(flat),
            device,
            lambda low, device: low.from_bytes(flat, device=device, threads=count),
        )

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
