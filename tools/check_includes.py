#!/usr/bin/env python3
"""Checks that #include lines follow the direction of the design, and that no headers include each other in a circle.

  tools/check_includes.py              check this project
  tools/check_includes.py --root DIR   check another tree of the same layout
  tools/check_includes.py --self-test  check that every kind of violation is found
"""
import argparse
import pathlib
import re
import sys
import tempfile

INCLUDE = re.compile(r'^\s*#\s*include\s*(<([^>]+)>|"([^"]+)")')
SUFFIXES = {".hpp", ".cpp", ".cc", ".cu", ".cuh", ".h"}

# Who may include whom: folder -> folders under src/ whose files it may name in quotes. Public headers are open to all.
MAY_INCLUDE = {
    "src/core": {"core"},
    "src/runtime": {"runtime"},
    "src/split": {"split", "runtime"},
    "src/engine": {"engine", "core", "runtime"},
    "src/cpu": {"cpu", "core", "runtime", "split", "engine"},
    "src/cuda": {"cuda", "core", "runtime", "engine"},
    "src/apps": {"apps", "core", "runtime", "split"},
    "src/shards": {"shards", "core", "runtime"},
    "src/mpi": {"mpi", "apps"},  # of apps what is in headers: it is a library of its own
    "src/io": {"io", "runtime"},
}
# The engines of a backend know nothing of each other; what several need lies beside them.
ENGINES = {"brute_force", "kd_tree", "cover_tree"}
# What engines on a GPU share includes none of them.
SHARED_BY_ENGINES = {"primitives", "queries", "runtime"}
# What the Python package calls of the command.
COMMAND_HEADERS = {"interrupt.hpp", "run_command.hpp"}
# Where MPI is known.
MPI_FOLDERS = ("include/kith/mpi/", "src/mpi/", "cli/mpi/")
GPU_HEADER = re.compile(r"^(cuda|cub/|thrust/|curand|nv/|cooperative_groups)")
# A public header brings nothing but the standard library: its headers have no dot and no slash.
STANDARD_HEADER = re.compile(r"^[a-z0-9_]+$")


def read_includes(path):
    """Yields (line number, header, is quoted)."""
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        match = INCLUDE.match(line)
        if match:
            yield number, match.group(2) or match.group(3), match.group(3) is not None


def folder_of(relative):
    """The folder whose rules a file follows, e.g. src/cpu for src/cpu/brute_force/scan.cpp."""
    parts = relative.parts
    if parts[0] == "src":
        return "/".join(parts[:2])
    return parts[0]


def problem_with(folder, header, quoted, path, root):
    """Why this include is forbidden, or None."""
    if GPU_HEADER.match(header) and folder != "src/cuda":
        return "headers of CUDA belong into src/cuda only"
    relative = path.relative_to(root).as_posix()
    if header == "mpi.h":
        return None if relative.startswith(MPI_FOLDERS) else "mpi.h belongs into the folders mpi only"
    if header.startswith("kith/mpi/") and not relative.startswith(MPI_FOLDERS):
        return "what needs MPI stays in the folders mpi"
    if header.startswith("kith/"):
        return "public headers are included as <kith/...>" if quoted else None
    if folder == "include":
        if quoted or not STANDARD_HEADER.match(header):
            return "public headers include <kith/...> and the standard library only"
        return None
    if not quoted:
        return None
    beside = (path.parent / header).is_file()
    if folder == "cli":
        inside = (root / "cli" / header).is_file() or beside
        return None if inside else "cli includes public headers and its own files only"
    if folder == "python":
        inside = beside or header in COMMAND_HEADERS
        return None if inside else "python includes public headers, its own files and the entry of the command only"
    target = header.split("/")[0]
    engine = header.split("/")[1] if header.count("/") > 1 else ""
    parts = path.relative_to(root).parts
    if target in {"cpu", "cuda"} and engine in ENGINES and parts[1] == target and len(parts) > 3:
        if parts[2] in SHARED_BY_ENGINES:
            return "what engines share includes none of them"
        if parts[2] in ENGINES - {engine}:
            return "engines do not include each other"
    if "/" not in header and beside:
        return f'name the file from src/: "{folder.removeprefix("src/")}/..."'
    if target not in MAY_INCLUDE.get(folder, set()):
        allowed = ", ".join(sorted(MAY_INCLUDE.get(folder, set()))) or "nothing"
        return f"{folder} may include only: {allowed} and <kith/...>"
    return None


def resolve(header, quoted, path, root):
    """The file of this project that an include names, or None."""
    candidates = [root / "include" / header]
    if quoted:
        candidates += [path.parent / header, root / "src" / header, root / "cli" / header]
    return next((c.resolve() for c in candidates if c.is_file()), None)


def find_cycle(graph):
    """One circle of includes as a list of files, or None."""
    done, path = set(), []

    def visit(node):
        if node in done:
            return None
        if node in path:
            return path[path.index(node):] + [node]
        path.append(node)
        for following in graph.get(node, ()):
            cycle = visit(following)
            if cycle:
                return cycle
        path.pop()
        done.add(node)
        return None

    for start in sorted(graph):
        cycle = visit(start)
        if cycle:
            return cycle
    return None


def check(root):
    """All violations below `root`, as lines of text, and the number of files looked at."""
    root = root.resolve()
    violations, graph, files = [], {}, 0
    for top in ("include", "src", "cli", "python"):
        for path in sorted((root / top).rglob("*")):
            if path.suffix not in SUFFIXES or not path.is_file():
                continue
            files += 1
            relative = path.relative_to(root)
            folder = folder_of(relative)
            for number, header, quoted in read_includes(path):
                problem = problem_with(folder, header, quoted, path, root)
                if problem:
                    violations.append(f"{relative}:{number}: includes {header}: {problem}")
                target = resolve(header, quoted, path, root)
                # Files that Highway compiles once per target include themselves on purpose.
                if target and target != path.resolve():
                    graph.setdefault(path.resolve(), []).append(target)
    cycle = find_cycle(graph)
    if cycle:
        violations.append("a circle of includes: " + " -> ".join(str(p.relative_to(root)) for p in cycle))
    return violations, files


def self_test():
    """Every rule once, broken and kept."""
    good = {
        "include/kith/a.hpp": "#include <kith/b.hpp>\n#include <vector>\n",
        "include/kith/b.hpp": "#include <cstdint>\n",
        "src/core/chain.hpp": '#include "core/box.hpp"\n#include <kith/a.hpp>\n#include <cmath>\n',
        "src/core/box.hpp": "",
        "src/runtime/parallel.hpp": "#include <omp.h>\n",
        "src/engine/index.cpp": '#include "engine/e.hpp"\n#include "core/box.hpp"\n#include "runtime/parallel.hpp"\n',
        "src/engine/e.hpp": "",
        "src/cpu/brute_force/scan.cpp": '#include "cpu/brute_force/scan.hpp"\n#include "engine/e.hpp"\n',
        "src/cpu/brute_force/scan.hpp": '#include "core/chain.hpp"\n',
        "src/cuda/scan.cu": '#include "core/chain.hpp"\n#include <cuda_runtime.h>\n',
        "src/cuda/queries/q.hpp": "",
        "src/cuda/kd_tree/search/knn.cuh": '#include "cuda/queries/q.hpp"\n',
        "src/cuda/cover_tree/c.cpp": '#include "cuda/queries/boxes_among_rows.hpp"\n',
        "src/apps/generate.cpp": '#include "core/box.hpp"\n#include "runtime/parallel.hpp"\n#include <kith/a.hpp>\n',
        "src/io/npy.cpp": '#include "runtime/parallel.hpp"\n',
        "src/shards/cut.cpp": '#include "core/box.hpp"\n#include "runtime/parallel.hpp"\n#include <kith/a.hpp>\n',
        "include/kith/mpi/index.hpp": "#include <kith/a.hpp>\n#include <mpi.h>\n",
        "src/mpi/index.cpp": '#include <kith/mpi/index.hpp>\n#include "mpi/ranks.hpp"\n#include "apps/votes.hpp"\n',
        "cli/mpi/main.cpp": '#include "flags.hpp"\n#include <kith/mpi/index.hpp>\n#include <mpi.h>\n',
        "cli/main.cpp": '#include "flags.hpp"\n#include <kith/a.hpp>\n#include <CLI/CLI.hpp>\n',
        "cli/flags.hpp": "",
        "python/src/module.cpp": '#include "module.hpp"\n#include "run_command.hpp"\n#include <kith/a.hpp>\n',
        "python/src/module.hpp": "",
    }
    bad = {
        "include/kith/a.hpp": ['#include "core/box.hpp"\n', "#include <fmt/format.h>\n", "#include <kith/a2.hpp>\n"],
        "include/kith/b.hpp": ["#include <omp.h>\n"],
        "src/core/chain.hpp": ['#include "engine/e.hpp"\n', '#include "runtime/parallel.hpp"\n', "#include <cub/cub.cuh>\n"],
        "src/core/box.hpp": ['#include "core/chain.hpp"\n'],  # a circle
        "src/runtime/parallel.hpp": ['#include "core/box.hpp"\n'],
        "src/engine/index.cpp": ['#include "cpu/brute_force/scan.hpp"\n', '#include "io/npy.hpp"\n'],
        "src/cpu/brute_force/scan.cpp": ['#include "cuda/x.hpp"\n', '#include "scan.hpp"\n', '#include "apps/x.hpp"\n'],
        "src/cuda/scan.cu": ['#include "cpu/brute_force/scan.hpp"\n'],
        "src/cuda/queries/q.hpp": ['#include "cuda/cover_tree/x.hpp"\n'],
        "src/cuda/kd_tree/search/knn.cuh": ['#include "cuda/brute_force/scan/scan_search.hpp"\n'],
        "src/cuda/cover_tree/c.cpp": ['#include "cuda/kd_tree/search/knn.cuh"\n'],
        "include/kith/mpi/index.hpp": ["#include <omp.h>\n"],
        "src/mpi/index.cpp": ['#include "shards/row_blocks.hpp"\n', '#include "runtime/parallel.hpp"\n'],
        "src/shards/cut.cpp": ['#include "engine/e.hpp"\n', '#include "cpu/x.hpp"\n', "#include <mpi.h>\n", '#include "mpi/ranks.hpp"\n'],
        "src/apps/generate.cpp": ["#include <kith/mpi/index.hpp>\n", '#include "io/x.hpp"\n', '#include "engine/e.hpp"\n'],
        "src/io/npy.cpp": ['#include "apps/x.hpp"\n', '#include "kith/a.hpp"\n'],
        "cli/main.cpp": ['#include "core/box.hpp"\n', '#include "runtime/parallel.hpp"\n', "#include <cuda.h>\n"],
        "python/src/module.cpp": ['#include "core/box.hpp"\n', '#include "flags.hpp"\n', "#include <cuda.h>\n"],
    }
    failures = []

    def violations_of(tree):
        with tempfile.TemporaryDirectory() as folder:
            root = pathlib.Path(folder)
            for name, text in tree.items():
                (root / name).parent.mkdir(parents=True, exist_ok=True)
                (root / name).write_text(text)
            return check(root)[0]

    if violations_of(good):
        failures.append(f"a good tree was refused: {violations_of(good)}")
    cases = 0
    for name, lines in bad.items():
        for line in lines:
            if "a2.hpp" in line:  # a public circle takes a second file
                tree = good | {name: good[name] + line, "include/kith/a2.hpp": "#include <kith/a.hpp>\n"}
            else:
                tree = good | {name: good[name] + line}
            cases += 1
            if len(violations_of(tree)) != 1:
                failures.append(f"{name} with {line.strip()}: {violations_of(tree) or 'not found'}")
    for failure in failures:
        print(failure, file=sys.stderr)
    print(f"self-test: {cases + 1 - len(failures)} of {cases + 1} cases right")
    return 1 if failures else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--root", type=pathlib.Path, default=pathlib.Path(__file__).resolve().parent.parent)
    parser.add_argument("--self-test", action="store_true")
    arguments = parser.parse_args()
    if arguments.self_test:
        return self_test()
    violations, files = check(arguments.root)
    for violation in violations:
        print(violation, file=sys.stderr)
    print(f"{files} files, {len(violations)} includes in the wrong direction")
    return 1 if violations else 0


if __name__ == "__main__":
    sys.exit(main())
