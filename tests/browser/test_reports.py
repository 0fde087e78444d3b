"""Reports in a browser: no message, no request, tables that can be copied, nothing wider than a phone."""

import os
import pathlib
import subprocess

import pytest
from browser import Browser, find_browser

ROOT = pathlib.Path(__file__).resolve().parents[2]
KITH = os.environ.get("KITH_TEST_COMMAND", str(ROOT / "build/bin/kith"))

pytestmark = [
    pytest.mark.skipif(find_browser() is None, reason="there is no Chromium"),
    pytest.mark.skipif(not pathlib.Path(KITH).exists(), reason="the command is not built"),
]


def kith(*words, folder):
    subprocess.run([KITH, *map(str, words)], cwd=folder, check=True, capture_output=True)


@pytest.fixture(scope="module")
def reports(tmp_path_factory):
    """A report of each kind, by its name."""
    folder = tmp_path_factory.mktemp("reports")
    kith("generate", "--shape", "surface", "-n", 3000, "-o", "map.ply", "-q", folder=folder)
    kith("transform", "map.ply", "--rotate-z", 3, "--translate", "0.02,0,0", "-o", "scan.ply", "-q", folder=folder)
    (folder / "pairs.csv").write_text("source,target\nscan.ply,map.ply\nnone.ply,map.ply\n")
    rows = [f"{i % 7},{i % 5},{'</script><b>' if i % 3 else 'oak'}" for i in range(60)]
    (folder / "trees.csv").write_text("x,y,class\n" + "\n".join(rows) + "\n")
    search = ("--exclude-self", "--json", "--report")
    kith("register", "scan.ply", "map.ply", "--json", "--report", "register.html", folder=folder)
    kith("knn", "map.ply", "-k", 8, *search, "knn.html", folder=folder)
    kith("radius", "map.ply", "-r", 0.05, *search, "radius.html", folder=folder)
    trees = ("--train", "trees.csv", "--test", "trees.csv", "--label", "class", "--choose-k", "1..9")
    kith("classify", *trees, "--json", "--report", "classify.html", folder=folder)
    kith("bench", "--quick", "--report", "bench.html", folder=folder)
    kith("tune", "--seconds", 1, "--out", "profile.json", "--report", "tune.html", folder=folder)
    return {path.stem: path for path in folder.glob("*.html")}


@pytest.fixture(scope="module")
def browser():
    process = Browser(find_browser())
    yield process
    process.close()


@pytest.mark.parametrize("name", ["register", "knn", "radius", "classify", "bench", "tune"])
@pytest.mark.parametrize("width", [1200, 390])
def test_is_read_without_a_complaint(browser, reports, name, width):
    tab = browser.open(reports[name], size=(width, 900), dark=width == 390, wait=False)
    tab.wait_for("document.readyState === 'complete' && document.querySelectorAll('button.copy').length > 0")
    assert tab.run("document.documentElement.scrollWidth") <= width
    assert tab.run("Array.from(document.images).length + document.links.length") == 0
    tables = tab.run("document.querySelectorAll('figure.table').length")
    assert tab.run("document.querySelectorAll('button.copy').length") == tables
    if name == "register":
        inside = "document.querySelector('iframe').contentDocument.documentElement.dataset.state"
        tab.wait_for(f"['ready', 'failed'].includes({inside})")
        assert tab.run(inside) == "ready"
    assert tab.complaints() == []
    tab.close()


def test_tables_are_copied_with_all_digits(browser, reports):
    tab = browser.open(reports["knn"], size=(1200, 900), wait=False)
    tab.wait_for("document.readyState === 'complete' && document.querySelectorAll('button.copy').length > 0")
    tab.run("void document.addEventListener('copy', (event) => { window.copied = event.target.value; })")
    tab.run("void Object.defineProperty(navigator, 'clipboard', { value: undefined })")  # as in pages of files
    button = "document.querySelector('figure.facts button.copy')"
    tab.run(f"void {button}.scrollIntoView({{ block: 'center' }})")
    x, y = tab.run(f"(({{ x, y }}) => [x + 5, y + 5])({button}.getBoundingClientRect())")
    tab.click(x, y)  # only people may copy, not scripts
    tab.wait_for(f"{button}.textContent.includes('opied')")
    assert tab.run(f"{button}.textContent") == "Copied"
    rows = [line.split("\t") for line in tab.run("window.copied").splitlines()]
    facts = dict(row for row in rows if len(row) == 2)
    assert facts["queries"] == "3000" and facts["k"] == "8"
    tab.close()
