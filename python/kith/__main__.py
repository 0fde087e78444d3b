"""The command kith: ``python -m kith`` and the script that pip installs."""

from __future__ import annotations

import sys

from . import _kith


def main() -> int:
    """Run the command with the words of this process, and return its exit code."""
    return _kith.run_command(sys.argv[1:])


if __name__ == "__main__":
    sys.exit(main())
