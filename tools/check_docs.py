#!/usr/bin/env python3
"""Checks the documentation: relative links of every *.md file resolve, and marked examples run.

An example is run if the line before its ```sh or ```console fence is <!-- run -->. It runs in an empty folder with `kith`
on the PATH; the examples of one page share the folder, in order, so that a later one can use the files of an earlier one.
A ```sh block is a script that must succeed. In a ```console block lines that start with "$ " are commands ("> " continues
one), and the lines below must be exactly what they print to standard output.
"""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
LINK = re.compile(r"(?<!!)\[[^\]]*\]\(([^)\s]+)(?:\s+\"[^\"]*\")?\)|!\[[^\]]*\]\(([^)\s]+)\)")
FENCE = re.compile(r"^(`{3,}|~{3,})(.*)$")
TIMEOUT_SECONDS = 120


def pages():
    skipped = re.compile(r"^(build[^/]*|\..*)$")
    for path in sorted(ROOT.rglob("*.md")):
        if not any(skipped.match(part) for part in path.relative_to(ROOT).parts[:-1]):
            yield path


def anchor_of(heading):
    """The anchor that GitHub gives a heading."""
    text = re.sub(r"[`*_]|\[([^\]]*)\]\([^)]*\)", lambda m: m.group(1) or "", heading.strip()).lower()
    return re.sub(r"[^\w\- ]", "", text).replace(" ", "-")


def split(path):
    """The lines outside code as (number, text), and the marked examples as (number, script, output or None)."""
    prose, examples = [], []
    fence, marked, script, start = None, False, [], 0
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        match = FENCE.match(line.strip())
        if fence is None and match:
            fence, script, start = match.group(1), [], number
            language = match.group(2).strip()
            marked = bool(prose) and prose[-1][1].strip() == "<!-- run -->" and language in ("sh", "console")
        elif fence is not None and line.strip().startswith(fence):
            if marked:
                examples += commands(start, script) if language == "console" else [(start, "\n".join(script), None)]
            fence = None
            prose.append((number, ""))
        elif fence is not None:
            script.append(line)
        else:
            prose.append((number, line))
    return prose, examples


def commands(start, lines):
    """The commands of a console block, each with what it must print."""
    found = []
    for number, line in enumerate(lines, start + 1):
        if line.startswith("$ "):
            found.append((number, line[2:], ""))
        elif not found:
            raise SystemExit(f"line {number}: a console block begins with a command, \"$ ...\"")
        elif line.startswith("> ") and not found[-1][2]:
            found[-1] = (found[-1][0], found[-1][1] + "\n" + line[2:], "")
        else:
            found[-1] = (*found[-1][:2], found[-1][2] + line + "\n")
    return found


def check_links(path, prose):
    for number, line in prose:
        for match in LINK.finditer(re.sub(r"`[^`]*`", "", line)):
            target = match.group(1) or match.group(2)
            if re.match(r"[a-z]+:", target):
                continue
            name, _, anchor = target.partition("#")
            file = (path.parent / name).resolve() if name else path
            if not file.exists():
                yield f"{path.relative_to(ROOT)}:{number}: the link {target} leads nowhere"
            elif anchor and file.suffix == ".md":
                headings = (text for _, text in split(file)[0] if text.startswith("#"))
                if anchor not in {anchor_of(text.lstrip("#")) for text in headings}:
                    yield f"{path.relative_to(ROOT)}:{number}: the link {target} names no heading"


def run_examples(path, examples):
    with tempfile.TemporaryDirectory() as folder:
        path_with_python = f"{os.path.dirname(sys.executable)}:{os.environ['PATH']}"
        for number, script, output in examples:
            try:
                done = subprocess.run(["bash", "-euo", "pipefail", "-c", script], cwd=folder, capture_output=True,
                                      text=True, timeout=TIMEOUT_SECONDS, check=False,
                                      env={**os.environ, "PATH": path_with_python})
            except subprocess.TimeoutExpired:
                yield f"{path.relative_to(ROOT)}:{number}: the example ran longer than {TIMEOUT_SECONDS} s"
                continue
            if done.returncode != 0:
                yield (f"{path.relative_to(ROOT)}:{number}: the example ended with {done.returncode}:\n"
                       f"{done.stderr.strip()}")
            elif output is not None and done.stdout != output:
                yield (f"{path.relative_to(ROOT)}:{number}: the page says\n{output}but the command prints\n"
                       f"{done.stdout}")


def main():
    problems, links, ran = [], 0, 0
    for path in pages():
        prose, examples = split(path)
        links += sum(len(LINK.findall(line)) for _, line in prose)
        problems += check_links(path, prose)
        if examples and not shutil.which("kith"):
            problems.append(f"{path.relative_to(ROOT)}: has examples to run, but kith is not on the PATH; make build")
            continue
        problems += run_examples(path, examples)
        ran += len(examples)
    for problem in problems:
        print(problem, file=sys.stderr)
    print(f"{links} links and {ran} examples looked at, {len(problems)} problems")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
