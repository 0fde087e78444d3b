"""Reports of benchmarks in benchmarks/results, and how their times and machines are written."""

import json
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
RESULTS = ROOT / "benchmarks/results"


def milliseconds(value):
    return f"{value:.0f}" if value >= 100 else f"{value:.1f}" if value >= 1 else f"{value:.3f}"


def fine_milliseconds(value):
    """Three digits: for times where a tenth of a millisecond counts."""
    return f"{value:.2f}" if 1 <= value < 10 else milliseconds(value)


def machine_line(report):
    machine = report["machine"]
    versions = ", ".join(f"{name} {version}" for name, version in report.get("versions", {}).items())
    line = f"{machine['cpu']}, {machine['cores']} cores, commit {machine['commit']}"
    return f"\n{line}{'; ' + versions if versions else ''}.\n"


def gpu_report(name):
    """What a timer measured on a GPU, or None before it was run."""
    path = RESULTS / f"{name}.json"
    return json.loads(path.read_text()) if path.exists() else None


def gpu_line(report):
    machine = report["machine"]
    return f"\n{machine['gpu']}, CUDA {machine['cuda']}, commit {machine['commit']}.\n"
