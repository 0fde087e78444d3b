"""What a result must say of where it was measured."""

import os
import platform
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def commit():
    """Of the sources; a copy of them without their history is told by KITH_COMMIT."""
    if told := os.environ.get("KITH_COMMIT"):
        return told
    found = subprocess.run(["git", "-C", ROOT, "rev-parse", "--short", "HEAD"], capture_output=True, text=True, check=False)
    return found.stdout.strip()


def machine():
    model = platform.processor() or platform.machine()
    for line in subprocess.run(["lscpu"], capture_output=True, text=True, check=False).stdout.splitlines():
        if line.startswith("Model name"):
            model = line.split(":", 1)[1].strip()
    return {"cpu": model, "cores": os.cpu_count(), "system": platform.system(), "commit": commit()}
