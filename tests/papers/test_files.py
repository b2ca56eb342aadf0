"""Pictures of results: one light file each, that shows what matplotlib drew."""

from __future__ import annotations

import io
import re
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest

from papers import _files
from papers._files import draw, slim, use_palette

mpl = pytest.importorskip("matplotlib")
NUMBER = re.compile(r"-?\d+\.?\d*")
LINK = "{http://www.w3.org/1999/xlink}href"


def figure() -> Any:
    """Curves, markers (also translucent ones, of one and of several colours), powers, rotated text."""
    from matplotlib.figure import Figure

    rng = np.random.default_rng(0)
    made = Figure(figsize=(5, 3), layout="constrained")
    left, right = made.subplots(1, 2)
    left.semilogx(np.geomspace(1, 1e4, 30), rng.normal(size=30), marker="o", label="a < b & c -- d")
    left.set(ylabel="two\nlines", title="$x^2$ and more")
    left.legend(fontsize=8)
    right.scatter(rng.normal(size=40), rng.normal(size=40), c=np.arange(40), alpha=0.4)
    right.plot(rng.normal(size=9), rng.normal(size=9), "s", alpha=0.3)
    right.fill_between([0, 1], [0, 1], [1, 2], color="C2")
    right.bar(np.arange(5), np.arange(5) - 2, color="C3")
    right.bar(np.arange(5), np.arange(5) + 1, color="C4", alpha=0.3)
    return made


def as_drawn(made: Any) -> str:
    drawn = io.StringIO()
    with mpl.rc_context({"svg.hashsalt": "offsample", "svg.fonttype": "none"}):
        made.savefig(drawn, format="svg", metadata={"Date": None})
    return drawn.getvalue()


def absolute(path: str) -> str:
    """A path of relative steps (lower case; a letter that is left out is the one before) in points."""
    if not re.search("[a-y]", path):
        return " ".join(re.sub("[A-Za-z]", r" \g<0> ", path).split())
    sizes = {"m": 1, "M": 1, "l": 1, "c": 3, "q": 2}
    words, at, start = [], np.zeros(2), np.zeros(2)
    for letter, text in re.findall(r"([mMlcqz])([^mMlcqz]*)", path):
        steps = np.array([float(n) for n in NUMBER.findall(text)]).reshape(-1, 2)
        for i in range(0, len(steps), sizes.get(letter, 1)):
            points = (0 if letter == "M" else at) + steps[i : i + sizes[letter]]
            at = points[-1]
            words += [letter.upper(), *(f"{n:.6f}" for n in points.ravel())]
        if letter == "z":
            at = start
            words.append("z")
        start = at if letter in "mM" else start
    return " ".join(words)


def shapes(svg: str) -> list[tuple[Any, ...]]:
    """Every shape and text with the properties that hold for it, its letters, and its numbers."""
    found = []

    def visit(element: Any, held: dict[str, str]) -> None:
        style = element.get("style", "") or rules.get(element.get("class"), "")
        own = dict(part.split(": ") for part in style.split("; ") if part)
        own.pop("font-family", None)
        held = {**held, **own}
        tag = element.tag.split("}")[1]
        if tag in ("path", "use", "text", "tspan", "rect"):
            parts_of_it = (element.get(name, "") for name in ("x", "y", "transform"))
            placed = " ".join(parts_of_it)
            # Opacity is no property that is handed down: it has to stand where it stood.
            link = (element.get(LINK) or element.get("href") or "#").removeprefix("#")
            parts = (own.get("opacity"), link and markers.index(link), (element.text or "").strip())
            # A path of several parts is several shapes, as one may have been made of several.
            for geometry in re.split(r"(?<=\S)\s+(?=M )", absolute(element.get("d", ""))):
                turned = re.sub(r"rotate\(-?0 [^)]*\)", "", f"{geometry} {placed}")
                numbers = [float(number) for number in NUMBER.findall(turned)]
                found.append((tag, held, parts, re.findall("[A-Za-z]+", turned), numbers))
        for child in element:
            visit(child, held)

    tree = ElementTree.fromstring(svg)
    rules = dict(re.findall(r"\.(\w+)\{([^}]*)\}", svg))
    markers = [one.get("id") for one in tree.iter() if one.get("id") and one.get("d")]
    visit(tree, {})
    return found


def test_a_slim_file_has_the_same_shapes() -> None:
    before = as_drawn(figure())
    after = slim(before)
    assert len(after) < 0.7 * len(before)
    there, here = shapes(before), shapes(after)
    assert len(there) > 150
    # Four sides of two axes and five bars are a path each; translucent bars stay apart.
    assert after.count("<path ") == before.count("<path ") - 2 * 3 - 4
    assert [shape[:-1] for shape in here] == [shape[:-1] for shape in there]
    for one, other in zip(there, here, strict=True):
        np.testing.assert_allclose(other[-1], one[-1], rtol=0, atol=0.051 if "C" not in one[3] else 0.0051)


@pytest.mark.parametrize(
    ("style", "slimmed"),
    [("fill-opacity: 0.5", True), ("opacity: 0.5", False), ("fill: red; opacity: 1", False)],
)
def test_overlaps_of_translucent_markers_still_show(style: str, slimmed: bool) -> None:
    """A group is translucent once, its members one above the other."""
    marker = f'<use xlink:href="#m" x="1" y="2" style="{style}"/>'
    group = f"<g>\n{marker}\n{marker}\n</g>"
    assert ("<g style=" in slim(group)) == slimmed
    assert slim(group).count(style) == (1 if slimmed else 2)


def test_slimming_twice_changes_nothing() -> None:
    once = slim(as_drawn(figure()))
    assert slim(once) == once


def test_text_can_be_searched(tmp_path: Path) -> None:
    text = (tmp_path / draw(figure(), tmp_path / "a.fig1")).read_text(encoding="utf-8")
    assert ">a &lt; b &amp; c -- d</text>" in text
    assert "Matplotlib v" not in text  # another version is no other picture


def test_a_heavy_figure_is_a_png_and_the_other_file_goes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert draw(figure(), tmp_path / "a.fig1") == "a.fig1.svg"
    weight = (tmp_path / "a.fig1.svg").stat().st_size
    monkeypatch.setattr(_files, "HEAVIEST_SVG", weight - 1)
    assert draw(figure(), tmp_path / "a.fig1") == "a.fig1.png"
    assert [path.name for path in tmp_path.iterdir()] == ["a.fig1.png"]
    assert (tmp_path / "a.fig1.png").read_bytes().startswith(b"\x89PNG")
    monkeypatch.setattr(_files, "HEAVIEST_SVG", weight)
    draw(figure(), tmp_path / "a.fig1")
    assert [path.name for path in tmp_path.iterdir()] == ["a.fig1.svg"]


def test_a_palette_keeps_the_look(tmp_path: Path) -> None:
    from PIL import Image

    path = tmp_path / "a.png"
    figure().savefig(path, dpi=110)
    before, weight = np.asarray(Image.open(path).convert("RGB")).astype(int), path.stat().st_size
    use_palette(path)
    assert path.stat().st_size < 0.6 * weight
    after = np.asarray(Image.open(path).convert("RGB")).astype(int)
    assert np.abs(after - before).max() <= 12  # of 255
