#!/usr/bin/env python3
"""Keeps the README.md of every source folder: its table of files is made from the first comment of each file.

  tools/folder_readmes.py          write the tables; a folder without a README.md gets one
  tools/folder_readmes.py --check  fail if a table is not up to date

What stands above the table is written by hand and stays. Files that differ only in their extension share a row.
"""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
TREES = ("src", "cli", "python/src")
SUFFIXES = (".hpp", ".cuh", ".h", ".cpp", ".cu", ".cc", ".js")  # the first that says what the files are is quoted
BEGIN, END = "<!-- files -->", "<!-- end -->"


def first_sentence(path):
    """What the first comment of a file says, without a reference to its header: '' if that is all."""
    lines = []
    for line in path.read_text(encoding="utf-8").splitlines():
        text = re.match(r"//[ /]?(.*)", line)
        if text is None or not text.group(1).strip():
            break
        lines.append(text.group(1).strip())
    comment = re.sub(r"^See [\w./-]+[.:;,]?\s*(and\s)?", "", " ".join(lines))
    sentence = re.match(r".*?[.](?=\s|$)(?<!e\.g\.)(?<!i\.e\.)", comment)
    return sentence.group(0) if sentence else comment


def table(folder):
    """A row for each stem of the folder, and one for each folder inside."""
    files = [path for path in folder.iterdir() if path.suffix in SUFFIXES]
    rows = []
    for stem in sorted({path.stem for path in files}):
        group = sorted((path for path in files if path.stem == stem), key=lambda path: SUFFIXES.index(path.suffix))
        what = next((text for text in map(first_sentence, group) if text), "")
        name = group[0].name if len(group) == 1 else f"{stem}.*"
        if "_" not in what.split(" ")[0]:
            what = what[:1].upper() + what[1:]
        what = what.replace("|", "\\|")
        rows.append(f"| `{name}` | {what} |")
    inner = sorted(path for path in folder.iterdir() if path.is_dir() and has_sources(path))
    rows += [f"| [{path.name}/]({path.name}/README.md) | {title_of(path)} |" for path in inner]
    return "\n".join([BEGIN, "| file | what it is |", "|---|---|", *rows, END])


def has_sources(folder):
    return any(path.suffix in SUFFIXES for path in folder.rglob("*"))


def title_of(folder):
    """The first sentence below the heading of a folder's README.md."""
    readme = folder / "README.md"
    text = readme.read_text(encoding="utf-8") if readme.exists() else ""
    body = text.split(BEGIN)[0].partition("\n")[2].strip()
    return re.split(r"(?<=\.)\s", " ".join(body.split()), maxsplit=1)[0]


def updated(folder):
    """The README.md of a folder as it should be."""
    readme = folder / "README.md"
    text = readme.read_text(encoding="utf-8") if readme.exists() else f"# {folder.relative_to(ROOT)}\n\n{BEGIN}\n{END}\n"
    if BEGIN not in text:
        text = f"{text.rstrip()}\n\n{BEGIN}\n{END}\n"
    before, _, rest = text.partition(BEGIN)
    return before + table(folder) + rest.partition(END)[2]


def main():
    check = "--check" in sys.argv[1:]
    folders = [ROOT / tree for tree in TREES]
    folders += sorted(path for tree in TREES for path in (ROOT / tree).rglob("*") if path.is_dir())
    stale = []
    for folder in filter(has_sources, folders):
        readme = folder / "README.md"
        text = updated(folder)
        if readme.exists() and readme.read_text(encoding="utf-8") == text:
            continue
        stale.append(str(readme.relative_to(ROOT)))
        if not check:
            readme.write_text(text, encoding="utf-8")
    if check and stale:
        print(f"the tables of {', '.join(stale)} are not up to date; run tools/folder_readmes.py", file=sys.stderr)
        return 1
    print(f"{len(stale)} written" if not check else "the READMEs of all source folders are up to date")
    return 0


if __name__ == "__main__":
    sys.exit(main())
