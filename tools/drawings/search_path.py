"""From files to answers, and what happens to one search on its way: the parts of the source as a diagram."""

from svg_theme import BLUE, BLUE_TINT, FAINT, GREEN_TINT, GREY_TINT, GOLD_TINT, INK, ORANGE_TINT, PURPLE_TINT

from .canvas import SIZE, SMALL, Drawing

LINE = 12
LEFT, TOP = 16, 40
WIDTH, GAP, HIGH = 112, 22, 112

FLOW = [
    ("files, arrays", ["PLY, LAS, CSV …", "NumPy, CuPy,", "PyTorch"], GREY_TINT),
    ("points", ["bits, strings,", "sets; in memory", "or on a GPU"], GOLD_TINT),
    ("index", ["brute force", "k-d tree", "cover tree"], BLUE_TINT),
    ("neighbours", ["by (distance,", "index), the", "same bytes"], GREEN_TINT),
    ("applications", ["registration,", "classification,", "normals …"], PURPLE_TINT),
]
BEFORE = [
    "checks the options", "chooses engine and device", "leaves out rows with NaN", "normalises for cosine", "limits to reduced distances",
]
AFTER = ["reduced distances", "to those of the metric;", "numbers from 0", "to rows of the caller"]
ENGINES = ["brute force", "k-d tree", "cover tree"]


def box(svg, left, top, width, height, fill, title, lines):
    svg.rect(left, top, width, height, fill, FAINT, 0.8, round_by=8)
    svg.text(left + width / 2, top + 25, title, size=SIZE, weight="bold", anchor="middle")
    for i, line in enumerate(lines):
        svg.text(left + width / 2, top + 50 + 19 * i, line, size=LINE, anchor="middle")


def draw():
    lower = TOP + HIGH + 62
    svg = Drawing(
        lower + 214, "From files to answers",
        "Files and arrays become points, points an index, an index answers with neighbours, which applications use. A search is "
        "prepared by the facade, run by the searcher of one engine on one device, and converted back by the facade.",
    )
    svg.heading(LEFT, TOP - 14, "What becomes of data")
    for i, (title, lines, fill) in enumerate(FLOW):
        left = LEFT + i * (WIDTH + GAP)
        box(svg, left, TOP, WIDTH, HIGH, fill, title, lines)
        if i:
            svg.arrow((left - GAP + 2, TOP + HIGH / 2), (left - 2, TOP + HIGH / 2), INK, 2, 9)
    svg.heading(LEFT, lower - 14, "What becomes of one search")
    index = LEFT + 2 * (WIDTH + GAP)
    for x in (index, index + WIDTH):
        svg.line([(x, TOP + HIGH + 4), (x, lower - 4)], BLUE, 1.4, "3 4")
    box(svg, LEFT, lower, 182, 160, GREY_TINT, "facade", BEFORE)
    middle = LEFT + 206
    svg.rect(middle, lower, 236, 160, BLUE_TINT, FAINT, 0.8, round_by=8)
    svg.text(middle + 118, lower + 25, "searcher", size=SIZE, weight="bold", anchor="middle")
    for row, engine in enumerate(ENGINES):
        y = lower + 44 + row * 35
        svg.note(middle + 14, y + 18, engine, fill=INK)
        for column, device in enumerate(("CPU", "GPU")):
            left = middle + 104 + column * 62
            svg.rect(left, y, 54, 27, ORANGE_TINT if column else GREEN_TINT, FAINT, 0.8, round_by=5)
            svg.text(left + 27, y + 18, device, size=SMALL, anchor="middle")
    svg.arrow((LEFT + 184, lower + 80), (middle - 2, lower + 80), INK, 2, 9)
    last = middle + 236 + 24
    svg.arrow((last - 22, lower + 80), (last - 2, lower + 80), INK, 2, 9)
    box(svg, last, lower, svg.width - LEFT - last, 160, GREY_TINT, "facade", AFTER)
    svg.note(LEFT, lower + 186, "A searcher sees clean points numbered from 0: no files, no skipped rows, no roots.")
    return svg.whole()
