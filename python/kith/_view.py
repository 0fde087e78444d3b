"""Pages that show point clouds in a browser and in notebooks."""

from __future__ import annotations

import html
import os
import tempfile
import webbrowser
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from . import _kith
from ._arguments import as_count, as_text, as_threads
from ._arrays import as_rows
from ._device_arrays import on_host
from ._index import Index
from ._paths import new_path
from ._progress import Progress, reporting
from ._transform import _as_pose

_HEIGHT = 560  # of the frame in a notebook, in pixels


class View:
    """A page that shows point clouds. Notebooks show it as it is.

    Attributes
    ----------
    html : str
        The whole page; it needs nothing else.
    """

    def __init__(self, page: str) -> None:
        self.html = page

    def save(self, path: Any) -> None:
        """Write the page to a file, whole or not at all."""
        _kith.write_text(new_path(path), self.html)

    def show(self) -> None:
        """Open the page in the browser, from a temporary file."""
        handle, path = tempfile.mkstemp(prefix="kith-", suffix=".html")
        os.close(handle)
        self.save(path)
        webbrowser.open(Path(path).as_uri())

    def _repr_html_(self) -> str:
        return (
            f'<iframe srcdoc="{html.escape(self.html)}" width="100%" height="{_HEIGHT}" '
            'style="border: 0" allowfullscreen></iframe>'
        )

    def __repr__(self) -> str:
        return f"<kith.View of {len(self.html):,} bytes; show() opens it, save(path) writes it>"


def view(
    *clouds: Any,
    names: Sequence[str] | None = None,
    columns: Mapping[str, Any] | Sequence[Mapping[str, Any]] | None = None,
    neighbors: Any = None,
    k: int | None = None,
    pose: Any = None,
    color: str | None = None,
    title: str | None = None,
    exact: bool = False,
    threads: int = 0,
    progress: Progress = False,
) -> View:
    """Show point clouds: a page to turn, zoom and pick in, as `kith view` writes it.

    Parameters
    ----------
    clouds : array_like of shape (n, 1), (n, 2) or (n, 3)
        One or several; also arrays on a GPU. Rows with NaN or infinity are not shown.
    names : sequence of str, optional
        What the clouds are called.
    columns : mapping of str to array_like, or a sequence of such mappings, optional
        What is known of the points of the first cloud, or of each: a value per point, numbers or
        texts. "red", "green", "blue" become a colour; "nx", "ny", "nz" directions. A value per point
        with three components may be called "rgb" or "normal".
    neighbors : tuple of distances and indices, optional
        Of the points of the first cloud among themselves, as `Index.knn` returns them; a picked point
        shows them.
    k : int, optional
        Find the k nearest others of every point of each cloud and show them.
    pose : array_like of shape (4, 4), or a sequence of them or None, one per cloud, optional
        Moves the first cloud, or each of them; the page has a slider from before to after.
    color : str, optional
        "cloud", "x", "y", "z", "rgb", "normal", "label" or the name of a column.
    title : str, optional
        By default the names.
    exact : bool
        Round nothing; otherwise more than a million numbers are rounded to 65,535 steps.
    threads, progress
        As in `Index`.

    Returns
    -------
    View

    Examples
    --------
    >>> import numpy as np, kith
    >>> page = kith.view(np.zeros((5, 3)), columns={"height": [1, 2, 3, 4, 5]}, color="height")
    >>> page.html[:15]
    '<!doctype html>'
    """
    if not clouds:
        raise ValueError("there is no cloud to show")
    if neighbors is not None and k is not None:
        raise ValueError("neighbors and k are two ways to get neighbours; give one of them")
    rows = [as_rows(on_host(cloud, "cloud")) for cloud in clouds]
    poses = _poses(pose, len(rows))
    tables = _tables(columns, len(rows))
    called = list(names) if names is not None else _usual_names(len(rows))
    if len(called) != len(rows):
        raise ValueError(f"{len(called)} names for {len(rows)} clouds")
    given: list[dict[str, Any]] = []
    for place, cloud in enumerate(rows):
        found = neighbors if place == 0 else None
        if k is not None:
            index = Index(cloud, skip_nonfinite=True, threads=threads)
            found = index.knn(k=as_count(k, "k"), exclude_self=True, skip_nonfinite=True, threads=threads)
        given.append(
            {
                "name": as_text(called[place], "names"),
                "points": cloud,
                "columns": _columns(tables[place], len(cloud)),
                "pose": None if poses[place] is None else _as_pose(poses[place]),
                **_neighbors(found, len(cloud), place),
            }
        )
    with reporting(progress) as report:
        return View(
            _kith.view_page(
                given,
                title="" if title is None else as_text(title, "title"),
                color="" if color is None else as_text(color, "color"),
                exact=bool(exact),
                threads=as_threads(threads),
                progress=report,
            )
        )


def _usual_names(count: int) -> list[str]:
    return ["cloud"] if count == 1 else [f"cloud {place + 1}" for place in range(count)]


def _poses(pose: Any, count: int) -> list[Any]:
    """One per cloud, None where there is none."""
    is_list = isinstance(pose, (list, tuple)) and any(each is None or np.ndim(each) == 2 for each in pose)
    each = list(pose) if is_list else [pose]
    if len(each) > count:
        raise ValueError(f"{len(each)} poses for {count} clouds")
    return each + [None] * (count - len(each))


def _tables(columns: Any, count: int) -> list[Mapping[str, Any]]:
    each = [columns] if columns is None or isinstance(columns, Mapping) else list(columns)
    if len(each) > count:
        raise ValueError(f"columns of {len(each)} clouds, but there are {count}")
    return [table if table is not None else {} for table in each] + [{}] * (count - len(each))


def _columns(table: Mapping[str, Any], count: int) -> dict[str, Any]:
    """Columns as the extension takes them: int64, float32, float64, or a list of str."""
    taken: dict[str, Any] = {}
    for name, values in table.items():
        array = np.asarray(on_host(values, f"columns[{name!r}]"))
        if len(array.shape) == 0 or len(array) != count:
            raise ValueError(f"columns[{name!r}] has the shape {array.shape}; give one value for each of {count} points")
        parts = _parts_of(name, array)
        for part, numbers in parts:
            taken[part] = _column(part, numbers)
    return taken


def _parts_of(name: str, array: np.ndarray) -> Iterable[tuple[str, np.ndarray]]:
    if array.ndim == 1:
        return [(name, array)]
    if array.ndim == 2 and array.shape[1] in (2, 3):
        if name in ("rgb", "color", "colors") and array.shape[1] == 3:
            return zip(("red", "green", "blue"), array.T)
        if name in ("normal", "normals"):
            return zip(("nx", "ny", "nz"), array.T)
    raise ValueError(
        f"columns[{name!r}] has the shape {array.shape}; only rgb and normal have several components"
    )


def _column(name: str, values: np.ndarray) -> Any:
    kind = values.dtype.kind
    if kind in "biu" and not (kind == "u" and values.dtype.itemsize == 8):
        return np.ascontiguousarray(values, np.int64)
    if kind == "f" or kind == "u":
        return np.ascontiguousarray(values, np.float32 if values.dtype == np.float32 else np.float64)
    if kind in "UOS":
        return [each.decode() if isinstance(each, bytes) else str(each) for each in values.tolist()]
    raise TypeError(f"columns[{name!r}] holds {values.dtype}; give numbers or texts")


def _neighbors(found: Any, count: int, place: int) -> dict[str, Any]:
    if found is None:
        return {"indices": None, "distances": None}
    distances, indices = (np.asarray(on_host(each, "neighbors")) for each in found)
    if indices.ndim != 2 or indices.shape != distances.shape or len(indices) != count:
        raise ValueError(
            f"neighbors: distances of shape {distances.shape} and indices of shape {indices.shape} "
            f"are not those of {count} points"
        )
    if indices.size and (indices.min() < 0 or indices.max() > count):
        raise ValueError(f"neighbors: indices must be from 0 to {count} (none)")
    return {
        "indices": np.ascontiguousarray(indices, np.uint32),
        "distances": np.ascontiguousarray(distances, np.float64).ravel(),
        "searched": count,
        "neighbors_of": place,
    }
