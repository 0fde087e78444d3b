"""Paths of files."""

from __future__ import annotations

import errno
import os
from typing import Any


def existing_path(path: Any) -> str:
    """The path as str; FileNotFoundError if there is nothing."""
    text = new_path(path)
    if text != "-" and not os.path.exists(text):
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), text)
    return text


def new_path(path: Any) -> str:
    """The path of a file to write, as str."""
    return os.fsdecode(os.fspath(path))
