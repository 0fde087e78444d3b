"""Compares kith's classification on the CPU with scikit-learn's KNeighborsClassifier in one run, times as JSON.

Both get the same arrays, k and threads, each in a process of its own, and take turns: one run of the one, one of the other. A
run is everything from arrays in memory to labels (fit and predict); reading files is not in it. Times are medians, by the clock
and of the processor (all threads together), to which other programs mean less.

Where labels differ, the run looks at the neighbours itself and fails unless they allow both: two classes have the most votes
(scikit-learn takes the lower class, kith the one whose nearest member comes first), or others at the same distance could be
the k-th neighbour. The table in docs/classification.md is made from the result by tools/make_tables.py.

The real data is not part of the project: a case whose file is missing under --data is left out.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from machine import ROOT, machine

K = 5


def table(path, label):
    """The numbers and the class of each row; letters are numbered from A on."""
    import numpy as np

    rows = [line.replace(" ", "").split(",") for line in path.read_text().splitlines()]
    codes = np.array([ord(row[label]) - ord("A") if row[label].isalpha() else int(row[label]) for row in rows])
    columns = [c for c in range(len(rows[0])) if c != label % len(rows[0])]
    return np.array([[float(row[c]) for c in columns] for row in rows]), codes


def cut(rows, codes, train):
    return rows[:train], codes[:train], rows[train:], codes[train:]


def pendigits(data):
    train, test = (table(data / f"uci/pendigits.{part}.data", -1) for part in ("train", "test"))
    return *train, *test


def letter(data):
    return cut(*table(data / "uci/letter-recognition.data", 0), 16_000)


def covtype(data):
    return cut(*table(data / "covtype/covtype.20k.data", -1), 15_120)


def clusters(data):
    """Twenty classes, each a normal cluster that is wide enough to reach into the others."""
    import numpy as np

    random = np.random.default_rng(1)
    codes = random.integers(0, 20, 50_000)
    return cut(random.uniform(-1, 1, (20, 16))[codes] + random.normal(0, 0.4, (50_000, 16)), codes, 40_000)


def uniform(data):
    """Twenty classes that have nothing to do with where points lie."""
    import numpy as np

    random = np.random.default_rng(2)
    return cut(random.uniform(-100, 100, (50_000, 16)), random.integers(0, 20, 50_000), 40_000)


CASES = [
    ("pendigits", pendigits),
    ("letter", letter),
    ("covtype", covtype),
    ("clusters in 16 dims", clusters),
    ("uniform in 16 dims", uniform),
]


def serve_peer(kind, train, labels, test, threads, answers):
    """Does what classify_timer does. Runs in a process of its own, whose environment sets the threads."""
    import numpy as np
    from sklearn.neighbors import KNeighborsClassifier

    points, queries = np.load(train).astype(kind), np.load(test).astype(kind)
    codes = np.load(labels).ravel().astype(int)
    found = None
    for _ in sys.stdin:
        start, start_of_work = time.perf_counter(), time.process_time()
        found = KNeighborsClassifier(n_neighbors=K, n_jobs=int(threads)).fit(points, codes).predict(queries)
        work, whole = time.process_time() - start_of_work, time.perf_counter() - start
        print(json.dumps({"ms": whole * 1e3, "processor_ms": work * 1e3}), flush=True)
    found.astype(np.uint32).tofile(answers)


def start(command, threads):
    environment = dict(os.environ)
    for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
        environment[variable] = str(threads)
    command = [str(part) for part in command]
    return subprocess.Popen(command, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)


def ask(process):
    process.stdin.write("run\n")
    process.stdin.flush()
    line = process.stdout.readline()
    if not line:
        sys.exit(f"{process.args[0]} ended early")
    return json.loads(line)


def take_turns(processes, repeats):
    """{who: the medians of what it said}, after one run of each that does not count."""
    runs = {who: [] for who in processes}
    for turn in range(repeats + 1):
        for who, process in processes.items():
            answer = ask(process)
            if turn > 0:
                runs[who].append(answer)
    for process in processes.values():
        process.stdin.close()
        if process.wait() != 0:
            sys.exit(f"{process.args[0]} failed")
    figures = {}
    for who, answers in runs.items():
        figures[who] = {}
        for key, value in answers[0].items():
            values = [answer[key] for answer in answers]
            figures[who][key] = value if isinstance(value, str) else round(statistics.median(values), 3)
    return figures


def can_have_most(sure, unsure, places, label):
    """Whether so many of the unsure votes can be chosen that no class has more than this one."""
    import numpy as np

    own = sure[label] + min(places, unsure[label])
    others = np.arange(len(sure)) != label
    room = np.minimum(unsure, own - sure)[others]  # of the other classes, until they have as many
    return own > 0 and room.min() >= 0 and room.sum() >= places - (own - sure[label])


def explain(train, codes, query, ours, theirs):
    """Why two labels of a query differ: "votes", "distance", or None if they must not."""
    import numpy as np

    distances = np.sqrt(((train - query) ** 2).sum(axis=1))
    order = np.argsort(distances, kind="stable")
    last = distances[order[K - 1]]
    near = 1e-12 * last  # how far rounding can move a distance
    if distances[order[K]] - last <= near:
        sure = np.bincount(codes[distances < last - near], minlength=codes.max() + 1)
        unsure = np.bincount(codes[np.abs(distances - last) <= near], minlength=codes.max() + 1)
        could_win = (can_have_most(sure, unsure, K - sure.sum(), label) for label in (ours, theirs))
        return "distance" if all(could_win) else None
    votes = np.bincount(codes[order[:K]])
    return "votes" if votes[ours] == votes[theirs] == votes.max() else None


def measure_case(arguments, name, arrays, folder):
    import numpy as np

    train, codes, test, truth = arrays
    files = {part: folder / f"{part}.npy" for part in ("train", "labels", "test")}
    np.save(files["train"], train)
    np.save(files["labels"], codes.astype(np.float64).reshape(-1, 1))
    np.save(files["test"], test)
    measured = []
    for kind, threads in [(kind, threads) for kind in ("f64", "f32") for threads in arguments.threads]:
        paths = [files[part] for part in ("train", "labels", "test")]
        answers = {who: folder / f"{who} {kind} {threads}" for who in ("kith", "scikit-learn")}
        peer = [sys.executable, __file__, "--peer", f"float{kind[1:]}", *paths, threads, answers["scikit-learn"]]
        ours = [arguments.timer, kind, *paths, K, threads, answers["kith"]]
        processes = {"kith": start(ours, threads), "scikit-learn": start(peer, threads)}
        figures = take_turns(processes, arguments.repeats)
        found = {who: np.fromfile(path, np.uint32).astype(int) for who, path in answers.items()}
        rows = train.astype(f"float{kind[1:]}").astype(float), test.astype(f"float{kind[1:]}").astype(float)
        reasons = {"votes": 0, "distance": 0}
        for i in np.flatnonzero(found["kith"] != found["scikit-learn"]):
            reason = explain(rows[0], codes, rows[1][i], found["kith"][i], found["scikit-learn"][i])
            if reason is None:
                sys.exit(f"{name}, {kind}: row {i} differs without a tie")
            reasons[reason] += 1
        row = {"data": name, "train": len(train), "test": len(test), "dims": train.shape[1], "k": K, "dtype": kind}
        row |= {"threads": threads, "differences": reasons}
        for who, answer in found.items():
            row[who] = figures[who] | {"right": int(np.count_nonzero(answer == truth))}
        measured.append(row)
        print(json.dumps(row), flush=True)
    return measured


def compare(arguments):
    measured = []
    for name, make in CASES:
        if arguments.only and not any(part in name for part in arguments.only):
            continue
        try:
            arrays = make(arguments.data)
        except FileNotFoundError as missing:
            print(f"{name} is left out: {missing}", file=sys.stderr)
            continue
        with tempfile.TemporaryDirectory() as folder:
            measured += measure_case(arguments, name, arrays, Path(folder))
        write(arguments.out, measured)
    print(f"written to {arguments.out}")


def write(path, rows):
    import importlib.metadata as metadata

    versions = {name: metadata.version(name) for name in ("scikit-learn", "numpy")}
    report = {"what": "classification on the CPU", "machine": machine(), "versions": versions, "rows": rows}
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(report, indent=1) + "\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--timer", type=Path, default=ROOT / "build/bin/classify_timer")
    parser.add_argument("--data", type=Path, default=ROOT / "../shared/data")
    parser.add_argument("--out", type=Path, default=ROOT / "benchmarks/results/classify_cpu.json")
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--threads", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--only", nargs="+", help="parts of the names of cases to run; all without it")
    parser.add_argument("--peer", nargs=6, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.peer:
        serve_peer(*arguments.peer)
    else:
        compare(arguments)


if __name__ == "__main__":
    main()
