"""What the scripts of the page must keep to so that they can be joined, and so that strangers' texts stay texts."""

from __future__ import annotations

import re

from page_maker import FOLDER, joined_script

ORDER = (FOLDER / "order.txt").read_text().split()
SCRIPTS = {path.name: path.read_text() for path in FOLDER.glob("*.js")}


def test_every_script_is_in_the_order_once():
    assert sorted(ORDER) == sorted(SCRIPTS)
    assert ORDER[-1] == "main.js"


def test_imports_name_earlier_scripts_and_what_they_export():
    for name, text in SCRIPTS.items():
        for line in text.splitlines():
            if not line.startswith("import "):
                assert not re.match(r"\s+import\b|export (default|\{|\*)", line), (name, line)
                continue
            found = re.fullmatch(r"import \{([\w, ]+)\} from '\./([\w.]+)';", line)
            assert found, (name, line)
            assert ORDER.index(found[2]) < ORDER.index(name), (name, line)
            for imported in found[1].split(", "):
                export = rf"^export (async )?(function|const) {imported}\b"
                assert re.search(export, SCRIPTS[found[2]], re.M), (name, imported)


def test_no_name_is_there_twice():
    names = re.findall(r"^(?:async )?(?:function|const|let|class) (\w+)", joined_script(), re.M)
    assert sorted(names) == sorted(set(names))


def test_sources_are_ascii_and_end_no_script():
    for path in FOLDER.iterdir():
        if path.suffix in (".js", ".css", ".html"):
            assert path.read_bytes().isascii(), path
    assert not re.search(r"</script|<!--", joined_script())


def test_nothing_makes_elements_or_code_of_texts():
    ways = r"innerHTML|outerHTML|insertAdjacent|document\.write|DOMParser|\beval\b|new Function|srcdoc"
    assert not re.search(ways, joined_script())
    assert not re.search(r"fetch\(|XMLHttp|WebSocket|import\(|sendBeacon|EventSource", joined_script())
    assert not re.search(r"\sstyle=|\son\w+=", (FOLDER / "body.html").read_text())


def test_scripts_stay_small():
    assert len(joined_script()) < 110_000
