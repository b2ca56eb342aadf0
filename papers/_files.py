"""Files of results, of the papers' experiments and of the benchmarks, and pictures of the documentation."""

from __future__ import annotations

import io
import re
from collections import Counter
from pathlib import Path
from typing import Any

__all__ = ["HEAVIEST_SVG", "draw", "slim", "use_palette", "write"]

HEAVIEST_SVG = 120_000  # bytes; what is heavier is recorded as PNG
_FONTS = "'DejaVu Sans', Verdana, Arial, Helvetica, sans-serif"


def write(path: Path, text: str) -> None:
    """Write a file beside, then rename it: an interruption leaves no half of one."""
    beside = path.with_name(path.name + ".part")
    beside.write_text(text, encoding="utf-8")
    beside.replace(path)


def draw(figure: Any, stem: Path) -> str:
    """Save a figure in one file, the same one from the same numbers, and return its name.

    It is an SVG with text that can be searched, or a PNG where the SVG would weigh more than `HEAVIEST_SVG`.
    """
    import matplotlib as mpl

    drawn = io.StringIO()
    with mpl.rc_context({"svg.hashsalt": "offsample", "svg.fonttype": "none"}):
        figure.savefig(drawn, format="svg", metadata=dict.fromkeys(("Creator", "Date", "Format", "Type")))
    text = slim(drawn.getvalue())
    svg, png = stem.with_name(f"{stem.name}.svg"), stem.with_name(f"{stem.name}.png")
    if len(text.encode()) <= HEAVIEST_SVG:
        write(svg, text)
        png.unlink(missing_ok=True)  # of an earlier run
        return svg.name
    figure.savefig(png, dpi=110)
    use_palette(png)
    svg.unlink(missing_ok=True)
    return png.name


def use_palette(png: Path, n_colours: int = 256) -> None:
    """Store a PNG with few colours, by default 256, a third of its size.

    The palette covers all colours that are there, so that flat areas, lines and letters look the same.
    """
    from PIL import Image

    with Image.open(png) as picture:
        colours = picture.convert("RGB")
    colours.quantize(n_colours, Image.Quantize.MAXCOVERAGE, dither=Image.Dither.NONE).save(png, optimize=True)


def slim(svg: str) -> str:
    """Say the same as a file of matplotlib with less: tenths of a point, steps for points, each style once.

    Parameters
    ----------
    svg : str
        What ``savefig`` wrote. What was slimmed before comes back unchanged.
    """
    svg = re.sub(r'(?<= d=")[^"]+', _path, svg)
    svg = re.sub(r'(?<= [xy]=")[^"]+', lambda found: _rounded(found, 1), svg)
    svg = re.sub(r"(?<=translate\()[^)]+|(?<=rotate\()[^)]+", _rounded, svg)
    svg = re.sub(r' transform="rotate\(-?0 [^)]*\)"', "", svg)
    # The list of fonts stands in every text; for all of them it is said once.
    svg = re.sub(r"; font-family: 'DejaVu Sans'(, [^;\"]*)?(?=[;\"])", "", svg)
    svg = svg.replace("linecap: butt}</style>", f"linecap: butt}} text{{font-family: {_FONTS}}}</style>")
    svg = re.sub(r"<g( [^>]*)?>\s*((?:<use [^>]*/>\s*)+)</g>", _markers, svg)
    # Groups that say nothing, with names to which nothing refers, from the innermost on.
    svg = re.sub(r'<g id="[^"]*"(?=[ >])', "<g", svg)
    found = 1
    while found:
        svg, found = re.subn(r"<g>\s*((?:(?!</?g\b).)*?)\s*</g>", r"\1", svg, flags=re.DOTALL)
    # Short names of markers and clips, of which there are thousands.
    for i, name in enumerate(dict.fromkeys(re.findall(r'(?<= id=")[mp][0-9a-f]{10}(?=")', svg))):
        svg = svg.replace(name, f"{name[0]}{i}")
    svg = svg.replace("xlink:href", "href")
    # Where the font is another one, letters keep their shape, and stand closer or wider.
    svg = svg.replace(' lengthAdjust="spacingAndGlyphs"', "")
    if "</style>" in svg:
        styles = Counter(re.findall(r'(?<= style=")[^"]+', svg))
        for i, style in enumerate(style for style, n in styles.items() if n > 1):
            svg = svg.replace(f' style="{style}"', f' class="s{i}"')
            svg = svg.replace("</style>", f" .s{i}{{{style}}}</style>", 1)
    # Without indentation, and an element a line: a change of a few numbers is a change of a few lines.
    return _joined(re.sub(r"\n\s*(?=<)", "\n", svg))


def _joined(svg: str) -> str:
    """Make one path of paths of one style that follow each other, but for translucent ones, which overlap."""
    clear = [name for name, style in re.findall(r"\.(s\d+)\{([^}]*)\}", svg) if "opacity" in style]

    def one(found: re.Match[str]) -> str:
        if "opacity" in found[1] or any(f'class="{name}"' in found[1] for name in clear):
            return found[0]
        first, *others = re.findall(r' d="m([^"]*)', found[0])
        return f'<path d="m{first}{"".join(f"M{path}" for path in others)}"{found[1]}/>'

    style = r'((?: (?:clip-path|class|style)="[^"]*")*)/>'
    return re.sub(rf'<path d="m[^"]*"{style}(?:\s*<path d="m[^"]*"\1/>)+', one, svg)


def _rounded(found: re.Match[str], digits: int = 2) -> str:
    return re.sub(
        r"-?\d*\.\d+",
        lambda n: f"{round(float(n[0]), digits) + 0.0:.{digits}f}".rstrip("0").rstrip("."),
        found[0],
    )


def _path(found: re.Match[str]) -> str:
    """Write each point as its distance from the one before: from the rounded one, so that nothing adds up.

    Lines are rounded to tenths of a point, curves, which are small markers, to hundredths.
    """
    if re.search("[a-y]", found[0]):
        return found[0]  # slimmed before
    unit = 100 if re.search("[CQ]", found[0]) else 10
    text, last, at, start = "", "", (0, 0), (0, 0)
    for command, numbers in re.findall(r"([MLCQz])([^A-Za-z]*)", found[0]):
        whole = [round(unit * float(n)) for n in numbers.split()]
        points = list(zip(whole[::2], whole[1::2], strict=True))
        steps = [n for x, y in points for n in (x - at[0], y - at[1])]
        text += (" " if command == last else command.lower()) + " ".join(f"{n / unit:g}" for n in steps)
        at = points[-1] if points else start
        start, last = at if command == "M" else start, command
    return text.replace(" -", "-")


def _markers(found: re.Match[str]) -> str:
    """Markers of one style, which then stands in their group.

    Not where each is translucent as a whole: the group would be so once, and overlaps would not show.
    """
    styles = re.findall(r' style="[^"]*"', found[2])
    alone = found[2].count("<use ") < 2 or "style=" in (found[1] or "")
    if (
        alone
        or len(styles) < found[2].count("<use ")
        or len({*styles}) > 1
        or re.search("(?<!-)opacity", styles[0])
    ):
        return found[0]
    return f"<g{found[1] or ''}{styles[0]}>{found[2].replace(styles[0], '')}</g>"
