"""Paths of files that must exist."""

from __future__ import annotations

import errno
import os
from typing import Any

__all__ = ["existing_path"]


def existing_path(path: Any) -> str:
    """The path as str; FileNotFoundError if there is nothing."""
    text = os.fsdecode(os.fspath(path))
    if text != "-" and not os.path.exists(text):
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), text)
    return text
