"""Strings and sets from files."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from . import _kith
from ._arguments import as_count, as_text
from ._paths import existing_path
from ._progress import Progress, reporting


@dataclass(frozen=True, eq=False)
class SequenceFile:
    """What `read_sequences` found.

    Attributes
    ----------
    sequences : list
        Of str, of bytes, or of sets of int.
    names : list of str
        One for each sequence of FASTA and PHYLIP, else empty.
    format : str
        "lines", "fasta", "phylip" or "sets".
    notes : list of str
        What a person should know of the file.
    strings : list
        Those that sets of shingles or words were made of, else empty.
    """

    sequences: list[Any]
    names: list[str]
    format: str
    notes: list[str] = field(default_factory=list)
    strings: list[Any] = field(default_factory=list)

    def __len__(self) -> int:
        return len(self.sequences)

    def __repr__(self) -> str:
        return f"kith.SequenceFile({len(self)} sequences, format={self.format!r})"


def read_sequences(
    path: Any,
    *,
    format: str = "auto",
    kind: str = "text",
    text_column: str | int | None = None,
    shingle: int = 0,
    words: bool = False,
    progress: Progress = False,
) -> SequenceFile:
    """Read strings or sets from a text file, also a gzipped one.

    Parameters
    ----------
    path : str or path-like
        The file.
    format : {"auto", "lines", "fasta", "phylip", "sets"}
        "auto" goes by extension and first line. "sets" has whole numbers in each line.
    kind : {"text", "bytes"}
        Whether strings are str or bytes.
    text_column : str or int, optional
        The file is a table of text (CSV, TSV), and this column, by name or position from 1, holds
        the strings.
    shingle : int
        Above 0: each string becomes the set of its shingles: all runs of so many letters, for the Jaccard
        distance.
    words : bool
        Each string becomes the set of its words.
    progress : bool or callable
        True shows a bar.

    Returns
    -------
    SequenceFile

    Examples
    --------
    >>> import kith, os, tempfile
    >>> path = os.path.join(tempfile.mkdtemp(), "dna.fa")
    >>> _ = open(path, "w").write(">a\\nACGT\\n>b\\nACGA\\n")
    >>> file = kith.read_sequences(path)
    >>> file.names, file.sequences
    (['a', 'b'], ['ACGT', 'ACGA'])
    >>> kith.CoverTree(file.sequences, metric="hamming").knn("ACGG", k=1)[0]
    array([1.], dtype=float32)
    >>> table = os.path.join(tempfile.mkdtemp(), "firms.csv")
    >>> _ = open(table, "w").write("id,name\\n1,Smith Ltd\\n2,Smith Limited\\n3,Jones\\n")
    >>> names = kith.read_sequences(table, text_column="name", shingle=3)
    >>> names.strings[1], len(names.sequences[1])
    ('Smith Limited', 10)
    """
    with reporting(progress) as report:
        found = _kith.read_sequences(
            existing_path(path),
            format=as_text(format, "format"),
            kind=as_text(kind, "kind"),
            text_column="" if text_column is None else str(text_column),
            shingle=as_count(shingle, "shingle"),
            words=bool(words),
            progress=report,
        )
    return SequenceFile(*found)
