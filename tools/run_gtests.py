#!/usr/bin/env python3
"""Runs the tests of GoogleTest programs from one queue, each in a process of its own, slowest first where times are known.

run_gtests.py [--workers N] [--seconds N] [--share I/N] [--times FILE] [--write-times FILE] [--filter PATTERN] [--by WORDS] PROGRAM...

--by WORDS runs each process by these words (a tool such as compute-sanitizer). --times FILE, a JSON object of test and seconds,
orders the queue; --write-times makes such a file. --share 2/3 runs every third test from the second on. Tests that have not
begun when --seconds have passed are not run, those that run are ended; both fail. Prints what failed, then counts as GoogleTest does. Exit code: 0, 1 if a test failed, 124 if time ran out.
"""

import argparse
import json
import os
import re
import shlex
import signal
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path


def tests_of(program, pattern):
    """The full names of the tests of a program that a filter lets through."""
    listed = subprocess.run([program, "--gtest_list_tests", f"--gtest_filter={pattern}"], capture_output=True, text=True, check=True)
    suite, names = "", []
    for line in listed.stdout.splitlines():
        word = line.split("#")[0].strip()
        if line.startswith("  "):
            names.append(suite + word)
        elif word.endswith("."):
            suite = word
    return names


def run_test(program, name, by, deadline):
    """Outcome ("passed", "failed", "skipped", "timed out"), seconds and output of one test."""
    left = deadline - time.monotonic()
    if left <= 0:
        return "timed out", 0.0, ""
    start = time.monotonic()
    with tempfile.TemporaryFile("w+", errors="replace") as output:
        process = subprocess.Popen([*by, program, f"--gtest_filter={name}"], stdout=output, stderr=subprocess.STDOUT, start_new_session=True)
        try:
            code = process.wait(left)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            code = None
        output.seek(0)
        text = output.read()
    ran = re.search(r"^\[==========\] 1 test from 1 test suite ran", text, re.MULTILINE)
    if code is None:
        outcome = "timed out"
    elif code != 0 or not ran:
        outcome = "failed"
    else:
        outcome = "skipped" if re.search(r"^\[  SKIPPED \]", text, re.MULTILINE) else "passed"
    return outcome, time.monotonic() - start, text


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--workers", type=int, default=os.cpu_count())
    parser.add_argument("--seconds", type=float, default=3600)
    parser.add_argument("--share", default="1/1")
    parser.add_argument("--times", type=Path)
    parser.add_argument("--write-times", type=Path)
    parser.add_argument("--filter", default="*")
    parser.add_argument("--by", default="")
    parser.add_argument("programs", nargs="+")
    given = parser.parse_args()
    times = json.loads(given.times.read_text()) if given.times and given.times.exists() else {}
    queue = [(program, name) for program in given.programs for name in tests_of(program, given.filter)]
    if not queue:
        sys.exit("run_gtests.py: no test has such a name")
    queue.sort(key=lambda test: -times.get(test[1], float("inf")))  # unknown ones may be slow
    number, of = map(int, given.share.split("/"))
    queue = queue[number - 1 :: of]
    deadline = time.monotonic() + given.seconds
    with ThreadPoolExecutor(given.workers) as workers:
        results = list(workers.map(lambda test: (test[1], *run_test(*test, shlex.split(given.by), deadline)), queue))
    outcomes = [outcome for _, outcome, _, _ in results]
    errors = [int(count) for *_, text in results for count in re.findall(r"^========= (?:ERROR|RACECHECK) SUMMARY: (\d+)", text, re.MULTILINE)]
    for name, outcome, seconds, text in results:
        if outcome in ("failed", "timed out"):
            print(f"=== {name} {outcome} after {seconds:.0f} s")
            print("".join(f"  {line}\n" for line in text[-6000:].splitlines()))
    for name, _, seconds, _ in sorted(results, key=lambda result: -result[2])[:10]:
        print(f"{seconds:8.1f} s  {name}")
    print(f"[  PASSED  ] {outcomes.count('passed')} tests.")
    if "skipped" in outcomes:
        print(f"[  SKIPPED ] {outcomes.count('skipped')} tests, listed below:")
    for name in (name for name, outcome, *_ in results if outcome == "skipped"):
        print(f"[  SKIPPED ] {name}")
    if bad := outcomes.count("failed") + outcomes.count("timed out"):
        print(f"[  FAILED  ] {bad} tests, listed below:")
    for name, outcome, *_ in results:
        if outcome in ("failed", "timed out"):
            print(f"[  FAILED  ] {name} ({outcome})")
    if errors:
        print(f"========= ERROR SUMMARY: {sum(errors)} errors")
    if given.write_times:
        written = sorted(((name, round(seconds, 1)) for name, _, seconds, _ in results), key=lambda item: -item[1])
        given.write_times.write_text(json.dumps(dict(written), indent=1) + "\n")
    sys.exit(124 if "timed out" in outcomes else 1 if "failed" in outcomes else 0)


if __name__ == "__main__":
    main()
