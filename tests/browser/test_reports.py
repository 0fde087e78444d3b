"""Reports in a browser: no message, no request, tables that can be copied, nothing wider than a phone."""

import pytest

READY = ("ready", "failed")


@pytest.fixture(scope="module")
def reports(kith, tmp_path_factory):
    """A report of each kind, by its name."""
    folder = tmp_path_factory.mktemp("reports")
    cloud, scan, trees = folder / "map.ply", folder / "scan.ply", folder / "trees.csv"
    kith("generate", "--shape", "surface", "-n", 3000, "-o", cloud, "-q")
    kith("transform", cloud, "--rotate-z", 3, "--translate", "0.02,0,0", "-o", scan, "-q")
    rows = [f"{i % 7},{i % 5},{'</script><b>' if i % 3 else 'oak'}" for i in range(60)]
    trees.write_text("x,y,class\n" + "\n".join(rows) + "\n")
    searched = (cloud, "--exclude-self", "--json", "--report")
    voted = ("--train", trees, "--test", trees, "--label", "class", "--choose-k", "1..9", "--json", "--report")
    pages = {name: folder / f"{name}.html" for name in ("register", "knn", "radius", "classify", "bench", "tune")}
    kith("register", scan, cloud, "--json", "--report", pages["register"])
    kith("knn", "-k", 8, *searched, pages["knn"])
    kith("radius", "-r", 0.05, *searched, pages["radius"])
    kith("classify", *voted, pages["classify"])
    kith("bench", "--quick", "--report", pages["bench"])
    kith("tune", "--seconds", 1, "--out", folder / "profile.json", "--report", pages["tune"])
    return pages


@pytest.mark.parametrize("name", ["register", "knn", "radius", "classify", "bench", "tune"])
@pytest.mark.parametrize("width", [1200, 390])
def test_is_read_without_a_complaint(browser, reports, name, width):
    tab = browser.open(reports[name], size=(width, 900), dark=width == 390)
    assert tab.run("document.documentElement.scrollWidth") <= width
    assert tab.run("Array.from(document.images).length + document.links.length") == 0
    tables = tab.run("document.querySelectorAll('figure.table').length")
    assert tab.run("document.querySelectorAll('button.copy').length") == tables
    if name == "register":
        inside = "document.querySelector('iframe').contentDocument.documentElement.dataset.state"
        tab.wait_for(f"{list(READY)}.includes({inside})")
        assert tab.run(inside) == "ready"
    assert tab.complaints() == []
    tab.close()


def test_tables_are_copied_with_all_digits(browser, reports):
    tab = browser.open(reports["knn"], size=(1200, 900))
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
