"""Colours of plots and drawings for a light and a dark page; all pairs that mean different things are told apart by all eyes.

A picture is drawn in the light colours. The style sheet inside it exchanges each of them where the page, or else the system, is
dark; programs that read no style sheets show the light picture. The background is painted, so that it is legible anywhere.
"""

BACK, INK, FAINT, GRID, FINE_GRID, PALE = "#ffffff", "#222222", "#595959", "#d4d4d4", "#eeeeee", "#d9d9d9"
BLUE, ORANGE, GREEN, PURPLE, GOLD, SLATE = "#0072b2", "#d55e00", "#009e73", "#a2458c", "#b58900", "#444444"
BLUE_TINT, ORANGE_TINT, GREEN_TINT, PURPLE_TINT, GOLD_TINT = "#d6e8f5", "#fbe0cf", "#d3efe5", "#f0dcea", "#f6ebc8"
GREY_TINT = "#ebebe9"
DOT = "#8b8f94"  # a point that is not what the picture is about

DARK = {
    BACK: "#15181c", INK: "#e8e6e1", FAINT: "#a7adb5", GRID: "#3b424b", FINE_GRID: "#252a31", PALE: "#464d56",
    BLUE: "#56b4e9", ORANGE: "#ff8c4d", GREEN: "#35c89b", PURPLE: "#dc8fca", GOLD: "#e3bd45", SLATE: "#bcc2ca",
    BLUE_TINT: "#17364b", ORANGE_TINT: "#4c2c19", GREEN_TINT: "#143b2f", PURPLE_TINT: "#43283c", GOLD_TINT: "#40361a",
    GREY_TINT: "#282d34", DOT: "#7d848d",
}


def style_sheet(parts):
    """The style sheet for these parts of a picture: what each of the colours in them is on a dark page."""
    text = "".join(parts)
    rules = "".join(
        f'[{what}="{light}"]{{{what}:{dark}}}' for light, dark in DARK.items() for what in ("fill", "stroke")
        if f'{what}="{light}"' in text
    )
    return f"<style>@media (prefers-color-scheme:dark){{{rules}}}</style>"


RAMP = [(62, 84, 168), (38, 134, 168), (60, 168, 132), (160, 178, 70), (226, 158, 52), (214, 96, 58)]


def ramp(part, whole):
    """A colour for place `part` of `whole`, from blue over green to orange; legible on light and dark alike."""
    place = (2 * part + 1) * (len(RAMP) - 1)
    step, rest = min(place // (2 * whole), len(RAMP) - 2), 2 * whole
    weight = place - step * rest
    low, high = RAMP[step], RAMP[step + 1]
    return "#" + "".join(f"{(a * (rest - weight) + b * weight) // rest:02x}" for a, b in zip(low, high))
