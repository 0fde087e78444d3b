"""Points from files, to files, and made up."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from . import _kith
from ._arguments import as_count, as_text, as_threads
from ._arrays import as_rows
from ._float_types import as_library_name
from ._paths import existing_path, new_path
from ._progress import Progress, reporting
from ._table_rows import column_names
from ._tables import table_of


@dataclass(frozen=True, eq=False)
class PointFile:
    """What a file of points held.

    Attributes
    ----------
    points : ndarray of shape (n, dims)
        The coordinates.
    columns : list of str
        A name for each coordinate; empty if the file names none.
    labels : ndarray of str, shape (n,), or None
        If a label column was asked for.
    extras : ndarray of shape (n, e) or None
        The extra columns that were asked for.
    extra_columns : list of str
        Their names.
    format : str
        How it was read, by a name that `format` takes: "text", "npy", "ply", "pdb", …
    notes : list of str
        What a person should know, e.g. a conversion that loses digits.
    """

    points: np.ndarray
    columns: list[str] = field(default_factory=list)
    labels: np.ndarray | None = None
    extras: np.ndarray | None = None
    extra_columns: list[str] = field(default_factory=list)
    format: str = "text"
    notes: list[str] = field(default_factory=list)

    def __repr__(self) -> str:
        rows, dims = self.points.shape
        kind = self.points.dtype
        return f"kith.PointFile({rows} points, {dims} dims, {kind}, format={self.format!r})"


def _names(columns: Any) -> list[str]:
    if columns is None:
        return []
    if isinstance(columns, (str, int)):
        columns = [columns]
    return [str(column) for column in columns]


def read_points(
    path: Any,
    *,
    format: str = "auto",
    dtype: Any = None,
    columns: Any = None,
    label: Any = None,
    extras: Any = None,
    delimiter: str | None = None,
    decimal: str | None = None,
    header: bool | None = None,
    missing_as_nan: bool = False,
    array: str | None = None,
    layout: str | None = None,
    threads: int = 0,
    progress: Progress = False,
) -> PointFile:
    """Read points from any file that kith knows: text, NPY, NPZ, PLY, PCD, LAS, PDB, GRO, XYZ, LAMMPS, VTK, …

    Parameters
    ----------
    path : str or path-like
        "-" is standard input. Files of every format may be compressed by gzip or zstd.
    format : str
        "auto" recognises it by content, then by extension; a wrong name lists all there are.
    dtype : float32 or float64, optional
        Convert to this type; without it the file's own.
    columns : sequence of str or int, optional
        Only these, in this order: names of the header or positions from 1.
    label : str or int, optional
        The column that holds a label per row instead of a coordinate.
    extras : sequence of str or int, optional
        Columns to read beside the coordinates.
    delimiter : str, optional
        Text only: the character between fields.
    decimal : "." or ",", optional
        Text only: what stands before the decimals of a number; found out by default.
    header : bool, optional
        Text only: whether the first row names the columns.
    missing_as_nan : bool
        Missing values become NaN instead of ValueError.
    array : str, optional
        NPZ only: which array.
    layout : str, optional
        Plain numbers and Fortran records only: what lies in the file, e.g. "f32 x,y,z,i".
    threads, progress
        As in `Index`.

    Returns
    -------
    PointFile

    Examples
    --------
    >>> import kith, os, tempfile
    >>> path = os.path.join(tempfile.mkdtemp(), "points.csv")
    >>> _ = open(path, "w").write("x,y,kind\\n0,1,tree\\n2,3,house\\n")
    >>> file = kith.read_points(path, label="kind")
    >>> file.points
    array([[0., 1.],
           [2., 3.]])
    >>> file.labels.tolist()
    ['tree', 'house']
    """
    with reporting(progress) as report:
        found = _kith.read_points(
            existing_path(path),
            format=as_text(format, "format"),
            dtype=None if dtype is None else as_library_name(dtype),
            columns=_names(columns),
            label="" if label is None else str(label),
            extras=_names(extras),
            delimiter=as_text(delimiter or "", "delimiter"),
            decimal=as_text(decimal or "", "decimal"),
            header=None if header is None else bool(header),
            missing_as_nan=bool(missing_as_nan),
            array=as_text(array or "", "array"),
            layout=as_text(layout or "", "layout"),
            threads=as_threads(threads),
            progress=report,
        )
    if found["labels"] is not None:
        codes, names = found["labels"]
        found["labels"] = np.asarray(names, dtype=str)[codes] if names else np.empty(0, dtype=str)
    return PointFile(**found)


def write_points(
    path: Any,
    points: Any,
    *,
    format: str = "auto",
    columns: Any = None,
    labels: Any = None,
    ascii: bool = False,
    progress: Progress = False,
) -> None:
    """Write points to a file, whole or not at all: CSV, NPY, NPZ, PLY or PCD.

    Parameters
    ----------
    path : str or path-like
        Its extension says the format, unless `format` does.
    points : array_like of shape (n, dims)
        The coordinates; also a table of pandas, polars or Arrow.
    columns : sequence of str, optional
        A name for each; else those of a table, or x, y, z or c0, c1, …
    labels : array_like of shape (n,), optional
        CSV only: a last column "label".
    ascii : bool
        Text forms of PLY and PCD instead of the binary ones.
    progress : bool or callable
        True shows a bar.

    Examples
    --------
    >>> import numpy as np, kith, os, tempfile
    >>> path = os.path.join(tempfile.mkdtemp(), "points.ply")
    >>> kith.write_points(path, np.eye(3, dtype=np.float32))
    >>> kith.read_points(path)
    kith.PointFile(3 points, 3 dims, float32, format='ply')
    """
    codes = None
    names: list[str] = []
    if columns is None and (table := table_of(points)) is not None:
        columns = column_names(table)
    if labels is not None:
        texts, numbers = np.unique(np.asarray(labels).astype(str), return_inverse=True)
        codes = np.require(numbers.reshape(-1), np.uint32, ["C", "A"])
        names = [str(text) for text in texts]
    with reporting(progress) as report:
        _kith.write_points(
            new_path(path),
            as_rows(points),
            format=as_text(format, "format"),
            columns=_names(columns),
            codes=codes,
            names=names,
            ascii=bool(ascii),
            progress=report,
        )


def generate(
    shape: str = "uniform",
    points: int = 1000,
    dims: int = 3,
    *,
    seed: int = 1,
    dtype: Any = np.float32,
    classes: int = 10,
    threads: int = 0,
    progress: Progress = False,
) -> Any:
    """Made-up points for demonstrations and tests: the same bytes everywhere for one seed.

    Parameters
    ----------
    shape : str
        "uniform", "clusters", "surface", "lidar", "grid", "line", "duplicates" or "classes".
    points, dims : int
        How many, and of how many coordinates.
    seed : int
        Another seed, other points.
    dtype : float32 or float64
        Their type.
    classes : int
        "classes" only: how many.
    threads, progress
        As in `Index`; the points do not depend on them.

    Returns
    -------
    ndarray of shape (points, dims)
        For "classes" a tuple of these and of labels, an int64 for each point.

    Examples
    --------
    >>> import kith
    >>> kith.generate("uniform", 100, 2).shape
    (100, 2)
    >>> points, labels = kith.generate("classes", 100, 2, classes=3)
    >>> int(labels.max())
    2
    """
    with reporting(progress) as report:
        made, labels = _kith.generate(
            as_text(shape, "shape"),
            as_count(points, "points"),
            as_count(dims, "dims"),
            seed=as_count(seed, "seed", bits=64),
            dtype=None if dtype is None else as_library_name(dtype),
            classes=as_count(classes, "classes"),
            threads=as_threads(threads),
            progress=report,
        )
    return (made, labels) if shape == "classes" else made
