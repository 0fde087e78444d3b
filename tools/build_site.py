#!/usr/bin/env python3
"""Builds the documentation site in build-docs/html from the pages of the project, by Sphinx; a warning is an error.

The pages stay as they are, readable without Sphinx. They are copied to build-docs/source, where a gallery (the programs of
examples/python with the pictures that they draw), a page of C++ examples and references of the Python package and of the C++ headers are
added. docs/site/index.md is the landing page; a line <!-- picture NAME --> in it becomes the picture of that program.
`kith` must be importable; `--no-gallery` leaves the pictures as they were made before.
"""
import argparse
import ast
import importlib
import os
import pathlib
import re
import shutil
import subprocess
import sys

import cpp_reference

ROOT = pathlib.Path(__file__).resolve().parent.parent
OUT = ROOT / "build-docs"
SOURCE = OUT / "source"
PICTURES = OUT / "pictures"
LINK = re.compile(r"(\]\()([^)\s#]+)((?:#[^)\s]*)?\))")
EXAMPLE_SECONDS = 300

REFERENCE = {"kith": "kith: Index, CoverTree, files"} | {name: name for name in ("kith.spatial", "kith.neighbors", "kith.plot")}


def stage_page(page, name=None):
    """Copies a page; what it links to in the project must be there too, or have a page instead."""
    target = SOURCE / (name or page.relative_to(ROOT))
    target.parent.mkdir(parents=True, exist_ok=True)

    def linked(match):
        before, path, after = match.groups()
        if re.match(r"[a-z]+:", path):
            return match.group(0)
        file = (page.parent / path).resolve()
        if not file.exists():
            return match.group(0)  # code that looks like a link, or for Sphinx to complain of
        if file == ROOT / "README.md":
            file = ROOT / "index.md"
        elif file == ROOT / "examples":
            file = ROOT / "examples" / "README.md"
        elif file.is_file() and file.suffix != ".md":
            copy = SOURCE / file.relative_to(ROOT)
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(file, copy)
        return before + os.path.relpath(SOURCE / file.relative_to(ROOT), target.parent) + after

    target.write_text(LINK.sub(linked, page.read_text(encoding="utf-8")), encoding="utf-8")
    return target


def in_order(folder):
    """The pages of a folder: in the order of the links in its README.md, then the others."""
    readme = (folder / "README.md").read_text(encoding="utf-8")
    named = [folder / match.group(2) for match in LINK.finditer(readme) if "/" not in match.group(2)]
    pages = [folder / "README.md", *dict.fromkeys(named), *sorted(folder.glob("*.md"))]
    return [page for page in dict.fromkeys(pages) if page.suffix == ".md" and page.exists()]


def toctree(caption, pages):
    entries = "\n".join(page.relative_to(SOURCE).as_posix().removesuffix(page.suffix) for page in pages)
    return f"\n```{{toctree}}\n:hidden:\n:caption: {caption}\n\n{entries}\n```\n"


def examples_page():
    """The C++ programs of examples/, each with what its first line says."""
    page = SOURCE / "examples" / "README.md"
    page.parent.mkdir(parents=True, exist_ok=True)
    lines = ["# Examples in C++", "", "Programs that are built and run with the tests.", ""]
    for program in sorted((ROOT / "examples").glob("*.cpp")):
        lines += [f"## {program.stem.replace('_', ' ').capitalize()}", "", "```cpp",
                  program.read_text(encoding="utf-8").rstrip(), "```", ""]
    page.write_text("\n".join(lines), encoding="utf-8")
    return page


def result_of(program):
    """What an example makes: a page if its name says that it is to look at, else a picture."""
    return PICTURES / (program.stem + (".html" if program.stem.startswith("view_") else ".png"))


def draw(program):
    """Runs an example, which draws its picture or writes its page."""
    PICTURES.mkdir(parents=True, exist_ok=True)
    picture = result_of(program)
    environment = {**os.environ, "MPLBACKEND": "Agg"}
    done = subprocess.run([sys.executable, program, picture], cwd=PICTURES, env=environment, timeout=EXAMPLE_SECONDS,
                          check=False)
    if done.returncode != 0:
        sys.exit(f"{program.relative_to(ROOT)} failed with {done.returncode}")


def gallery(run):
    """A page for each example, and one with all that they show."""
    folder = SOURCE / "gallery"
    folder.mkdir(parents=True)
    pages, overview = [], ["# Gallery", "", "Each picture is drawn by the program on its page.", ""]
    for program in sorted((ROOT / "examples" / "python").glob("*.py")):
        if run or not result_of(program).exists():
            draw(program)
        code = program.read_text(encoding="utf-8")
        title, _, text = ast.get_docstring(ast.parse(code)).partition("\n")
        body = code.split('"""', 2)[2].lstrip()
        page = folder / f"{program.stem}.md"
        if result_of(program).suffix == ".png":
            shutil.copyfile(result_of(program), folder / f"{program.stem}.png")
            shown = f"![{title}]({program.stem}.png)"
            small = f"[{shown}]({page.name})"
        else:
            pages_there = SOURCE / "_static" / "pages"
            pages_there.mkdir(exist_ok=True)
            shutil.copyfile(result_of(program), pages_there / f"{program.stem}.html")
            small = shown = f'<iframe class="shown" src="../_static/pages/{program.stem}.html" title="{title}" loading="lazy"></iframe>'
        page.write_text(f"# {title}\n{text}\n\n{shown}\n\n```python\n{body}```\n", encoding="utf-8")
        overview += [f"## [{title}]({page.name})", "", small, ""]
        pages.append(page)
    (folder / "README.md").write_text("\n".join(overview), encoding="utf-8")
    return [folder / "README.md", *pages]


def entry(name, value):
    """What Sphinx is told of a class or function."""
    if not isinstance(value, type):
        return [f".. autofunction:: {name}", ""]
    # scikit-learn adds methods whose docstrings refer to its own pages.
    foreign = [member for member in dir(value) if re.fullmatch(r"(get|set)_\w+_(request|routing)", member)]
    is_ours = all(base.__module__.startswith("kith.") for base in value.__mro__[:-1])  # made of classes of the package alone
    inherited = ["   :inherited-members:"] if is_ours else []
    return [f".. autoclass:: {name}", "   :members:", *inherited, f"   :exclude-members: {', '.join(foreign)}", ""]


def reference():
    """Pages made of the docstrings of the package."""
    folder = SOURCE / "reference"
    folder.mkdir(parents=True)
    pages = []
    for name, title in REFERENCE.items():
        module = importlib.import_module(name)
        lines = [title, "=" * len(title), "", f".. currentmodule:: {name}", ""]
        for member in module.__all__:
            value = getattr(module, member)
            if getattr(value, "__module__", "").partition(".")[0] == "kith":  # not what scikit-learn documents
                lines += entry(member, value)
        pages.append(folder / f"{name}.rst")
        pages[-1].write_text("\n".join(lines), encoding="utf-8")
    return pages


def cpp_pages():
    """Pages made of the comments of the public headers."""
    folder = SOURCE / "cpp_reference"
    folder.mkdir(parents=True)
    pages = []
    for title, text in cpp_reference.pages(ROOT / "include" / "kith"):
        name = re.sub(r"\W+", "_", title.partition(": ")[0])
        pages.append(folder / f"{name}.md")
        pages[-1].write_text(text, encoding="utf-8")
    return pages


def landing_page():
    """The first page of the site, with pictures of the gallery."""
    page = stage_page(ROOT / "docs" / "site" / "index.md", "index.md")
    picture = r"![A lidar scan, each point coloured by the distance to its neighbours](gallery/\1.png)"
    page.write_text(re.sub(r"<!-- picture (\w+) -->", picture, page.read_text(encoding="utf-8")), encoding="utf-8")
    return page


def folder_pages():
    """The READMEs of source folders, which HACKING.md leads to: no entries of the menu."""
    for tree in ("src", "cli", "python"):
        for readme in sorted((ROOT / tree).rglob("README.md")):
            page = stage_page(readme)
            page.write_text("---\norphan: true\n---\n" + page.read_text(encoding="utf-8"), encoding="utf-8")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--no-gallery", action="store_true", help="take the pictures of the last time")
    arguments = parser.parse_args()
    for old in (SOURCE, OUT / "html"):
        shutil.rmtree(old, ignore_errors=True)
    SOURCE.mkdir(parents=True)
    shutil.copyfile(ROOT / "docs" / "conf.py", SOURCE / "conf.py")
    (SOURCE / "_static").mkdir()
    shutil.copyfile(ROOT / "docs" / "site" / "site.css", SOURCE / "_static" / "site.css")
    index = landing_page()
    guide = [stage_page(page) for page in in_order(ROOT / "docs")]
    python = [stage_page(page) for page in in_order(ROOT / "docs" / "python")]
    commands = [stage_page(page) for page in in_order(ROOT / "docs" / "commands")]
    folder_pages()
    project = [stage_page(ROOT / name) for name in ("HACKING.md", "CONTRIBUTING.md", "SECURITY.md", "CHANGELOG.md")]
    tree = [
        toctree("Guide", guide),
        toctree("The command", commands),
        toctree("Python", python),
        toctree("Gallery", gallery(not arguments.no_gallery)),
        toctree("Python reference", reference()),
        toctree("C++ reference", cpp_pages()),
        toctree("Project", [examples_page(), *project]),
    ]
    index.write_text(index.read_text(encoding="utf-8") + "".join(tree), encoding="utf-8")
    command = [sys.executable, "-m", "sphinx", "-W", "--keep-going", "-q", "-b", "html", "-d", OUT / "doctrees", SOURCE,
               OUT / "html"]
    done = subprocess.run(command, check=False)
    if done.returncode == 0:
        print(f"{OUT.relative_to(ROOT) / 'html' / 'index.html'}")
    return done.returncode


if __name__ == "__main__":
    sys.exit(main())
