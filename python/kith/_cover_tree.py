"""kith.CoverTree: neighbours of anything that has a distance."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from . import _kith
from ._arguments import as_text, as_threads, as_whole
from ._cover_tree_files import CoverTreeFiles
from ._cover_tree_searches import CoverTreeSearches
from ._index import Index
from ._metric_searcher import MetricSearcher, name_of
from ._objects import content_for
from ._progress import Progress
from ._types import Engine, EngineInUse


class CoverTree(CoverTreeSearches, CoverTreeFiles):
    """Neighbours of vectors, bits, strings, sets, or of anything that a function measures.

    A cover tree needs a metric and nothing else: at least 0, symmetric, and no way is shorter
    through a third object. Answers are exact, ordered by distance and then by number.

    Parameters
    ----------
    objects : array_like or iterable
        What to search; see `metric`. They are copied.
    metric : str or callable
        ===========================  ===========================================================
        "l2" "l1" "linf"             rows of an array: vectors, with real coordinates
        "cosine" "angular"           the same by their directions
        "hamming"                    rows of bits: an array of bool, or of unsigned integers
                                     that hold 8 to 64 bits each (``numpy.packbits``); or strings
                                     of one length
        "edit" or "levenshtein"      a list of str or of bytes, or lists of whole numbers
        "jaccard"                    sets, or lists, of whole numbers from 0 to 2**32 - 1
        a function                   any objects: ``metric(a, b)`` gives their distance
        ===========================  ===========================================================

        A function of Python is called for every distance, and it alone decides how long a search
        takes: microseconds for each call, where the metrics above take nanoseconds. It must be a
        true metric; ValueError is raised where it gives NaN, less than 0, or another value the
        other way round, and what it raises comes out of the call. `check` looks at all pairs.
    engine : {"covertree", "auto", "brute"}
        Not for a function: "auto" takes the fastest for the objects, which for vectors may be a
        k-d tree. Answers are the same.
    device : {"auto", "cpu", "cuda", "cuda:N"}
        Not for a function: where to search.
    leaf_size : int
        Not for a function: the most objects that stay together; 0 takes a good number.
    rounding : tuple of float, optional
        For a function: how far a computed distance d may be from the true one, as
        ``(relative, absolute)``: at most ``relative * d + absolute``. By default ``(2**-40,
        2**-511)``, which is right for float64; take ``(2**-11, 2**-63)`` for float32.
    threads, progress
        As in `Index`; a function is called by one thread.

    Examples
    --------
    >>> import kith
    >>> words = ["cat", "cart", "carton", "dog"]
    >>> tree = kith.CoverTree(words, metric="edit")
    >>> distances, indices = tree.knn("car", k=2)
    >>> [words[i] for i in indices], distances.tolist()
    (['cat', 'cart'], [1.0, 1.0])

    Sets by the share that they do not have in common:

    >>> baskets = kith.CoverTree([{1, 2, 3}, {2, 3, 4}, {9}], metric="jaccard")
    >>> baskets.knn([{1, 2}, {4}], k=1)[1].ravel()
    array([0, 1])

    Objects and a metric of your own, in a tree that grows and shrinks:

    >>> hours = kith.CoverTree([1, 5, 22], metric=lambda a, b: min(abs(a - b), 24 - abs(a - b)))
    >>> hours.knn(23, k=2)
    (array([1., 2.]), array([2, 0]))
    >>> hours.insert(0)
    3
    >>> hours.knn(23, k=2)
    (array([1., 1.]), array([2, 3]))
    >>> hours.remove(2)
    >>> len(hours)
    3
    """

    def __init__(
        self,
        objects: Any,
        metric: str | Callable[[Any, Any], float] = "l2",
        *,
        engine: Engine = "covertree",
        device: str = "auto",
        leaf_size: int = 0,
        rounding: tuple[float, float] | None = None,
        threads: int = 0,
        progress: Progress = False,
    ) -> None:
        self._asked_device = as_text(device, "device")
        if callable(metric):
            if engine not in ("covertree", "auto") or device not in ("cpu", "auto") or leaf_size:
                raise ValueError(
                    "engine, device and leaf_size do not go with a metric of your own, which a "
                    "cover tree on the CPU searches"
                )
            as_threads(threads)
            self._searcher = MetricSearcher.build(objects, metric, rounding, progress)
            return
        if not isinstance(metric, str):
            raise TypeError(f"metric must be a name or a function, not {type(metric).__name__}")
        if rounding is not None:
            raise ValueError("rounding is for a metric of your own; that of the others is known")
        _require_known_metric(metric, objects)
        self._searcher = Index(
            objects, engine, device, metric, leaf_size=leaf_size, threads=threads, progress=progress
        )

    # Growing and shrinking

    def insert(self, object: Any) -> int:
        """Add an object to a tree with a metric of your own.

        Returns
        -------
        int
            Its number: one more than the highest ever. It stays the same until it is removed.
        """
        return self._changing("insert").insert(object)

    def remove(self, index: int) -> None:
        """Remove the object of this number from a tree with a metric of your own.

        The others keep their numbers. KeyError is raised if there is none.
        """
        low = self._changing("remove")
        number = as_whole(index, "index")
        if number < 0 or not low.remove(number):
            raise KeyError(f"there is no object {index}; it was removed or never inserted")

    def _changing(self, what: str) -> _kith.MetricTree:
        if isinstance(self._searcher, MetricSearcher):
            return self._searcher.low
        raise TypeError(
            f"{what}: only a tree with a metric of your own, a function, changes; "
            "build another one from all objects"
        )

    # What it says of itself

    def __len__(self) -> int:
        return len(self._searcher)

    def __repr__(self) -> str:
        if not hasattr(self, "_searcher"):
            return "kith.CoverTree(not built)"
        metric = self.metric
        name = repr(metric) if isinstance(metric, str) else name_of(metric)
        return (
            f"kith.CoverTree({len(self)} objects, metric={name}, engine={self.engine!r}, "
            f"device={self.device!r})"
        )

    @property
    def metric(self) -> Any:
        """The metric's name, or the function."""
        return self._searcher.metric

    @property
    def engine(self) -> EngineInUse:
        """The engine that was taken: "covertree", "brute", or for vectors also "kdtree"."""
        return self._searcher.engine

    @property
    def device(self) -> str:
        """The device that was taken: "cpu" or "cuda:N"."""
        return self._searcher.device

    @property
    def objects(self) -> Any:
        """A copy of the objects, by their numbers: an array of vectors, an array of packed rows of
        bits, or a list."""
        if isinstance(self._searcher, Index):
            return self._searcher.points
        return self._searcher.objects

    @property
    def indices(self) -> np.ndarray:
        """The numbers of the objects, ascending: 0, 1, 2, … unless some were removed."""
        if isinstance(self._searcher, MetricSearcher):
            return self._searcher.low.numbers()
        return np.arange(len(self))

    def check(self) -> str:
        """Look for what is wrong with the tree and with its metric; "" if nothing is.

        Of a metric of your own all pairs are measured, several times: it must be symmetric, give
        the same again, and no way may be shorter through a third object.

        Examples
        --------
        >>> import kith
        >>> tree = kith.CoverTree([0, 1, 3], metric=lambda a, b: (a - b) ** 2)
        >>> "triangle" in tree.check()
        True
        """
        return self._searcher.check()

    def explain(self) -> str:
        """Why this engine and device, and what the tree holds, in a few lines."""
        return self._searcher.explain()


def _require_known_metric(metric: str, objects: Any) -> None:
    if content_for(metric, objects) is not None:
        return
    table = _kith.metric_names()
    names = {name.partition(":")[0] for pattern, aliases in table for name in (pattern, *aliases)}
    if metric.partition(":")[0] not in names:
        raise ValueError(
            f'unknown metric "{metric}"; choose {", ".join(pattern for pattern, _ in table)} for vectors, '
            "hamming for bits and strings, edit for strings, jaccard for sets, or a function"
        )
    if isinstance(objects, (list, tuple, set)) and any(
        isinstance(each, (str, bytes, set, frozenset)) for each in list(objects)[:1]
    ):
        raise TypeError(
            f'metric "{metric}" is for vectors; take edit or hamming for strings, jaccard for sets'
        )
