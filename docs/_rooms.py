"""Draw the rooms of the house from the imports of the source: ``python -m docs._rooms``.

An arrow points from a room to one whose values it takes, unless the way through another room says so already.
Modules whose names begin with an underscore are tools: they are not drawn, but what goes through them is.
"""

from __future__ import annotations

import ast
import textwrap
from functools import cache
from html import escape
from pathlib import Path

ROOT = Path(__file__).parent.parent
SOURCE = ROOT / "src" / "offsample"
DRAWING = ROOT / "docs" / "images" / "rooms.svg"
# Packages whose parts are drawn one by one.
_OPENED = ("induction",)
_WIDTH, _BOX, _HEIGHT, _GAP, _BETWEEN = 1060, 196, 74, 14, 44


def rooms() -> dict[str, Path]:
    """Name of each room, and its file or folder."""
    found: dict[str, Path] = {}
    for folder in (SOURCE, *(SOURCE / name for name in _OPENED)):
        for path in sorted(folder.iterdir()):
            name = ".".join(path.relative_to(SOURCE).with_suffix("").parts)
            is_package = (path / "__init__.py").is_file()
            is_room = is_package if folder != SOURCE else is_package or path.suffix == ".py"
            if is_room and not path.name.startswith("_") and name not in _OPENED:
                found[name] = path
    return found | {name: SOURCE / name for name in _OPENED}


@cache
def edges() -> dict[str, frozenset[str]]:
    """Rooms that each room imports from."""
    known = rooms()
    tools = {path.stem: path for path in SOURCE.glob("_[a-z]*.py")}
    found: dict[str, set[str]] = {name: set() for name in known}
    for path in SOURCE.rglob("*.py"):
        room = _room_of(".".join(path.relative_to(SOURCE).with_suffix("").parts), known)
        if room is None or path.name == "__init__.py":  # which only lists names
            continue
        todo, seen = [path], {path}
        while todo:
            for module in _imported(todo.pop()):
                tool, other = tools.get(module.split(".")[0]), _room_of(module, known)
                if tool is not None and tool not in seen:
                    todo.append(tool)
                    seen.add(tool)
                if other not in (None, room):
                    found[room].add(str(other))
    return {name: frozenset(others) for name, others in found.items()}


def _imported(path: Path) -> set[str]:
    modules: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("offsample"):
            inner = (node.module or "").removeprefix("offsample").lstrip(".")
            modules |= {f"{inner}.{alias.name}".lstrip(".") for alias in node.names}
    return modules


def _room_of(module: str, known: dict[str, Path]) -> str | None:
    """The innermost room that a module, or a name in one, belongs to."""
    parts = module.split(".")
    names = (".".join(parts[:n]) for n in range(len(parts), 0, -1))
    return next((name for name in names if name in known), None)


@cache
def reach(room: str) -> frozenset[str]:
    """All rooms that a room's values come from."""
    return frozenset().union(edges()[room], *(reach(other) for other in edges()[room]))


@cache
def storey(room: str) -> int:
    """How many rooms lie below, one on top of the other."""
    return 1 + max((storey(other) for other in edges()[room]), default=-1)


def arrows() -> list[tuple[str, str]]:
    """The edges that do not follow from others."""
    return [
        (room, other)
        for room, others in sorted(edges().items())
        for other in sorted(others)
        if not any(other in reach(between) for between in others - {other})
    ]


def drawing() -> str:
    """The rooms as SVG, those that everything comes from at the bottom."""
    storeys: dict[int, list[str]] = {}
    for room in rooms():
        storeys.setdefault(storey(room), []).append(room)
    place: dict[str, tuple[float, float]] = {}
    for level, names in storeys.items():
        y = (max(storeys) - level) * (_HEIGHT + _BETWEEN) + 10
        start = (_WIDTH - len(names) * (_BOX + _GAP) + _GAP) / 2
        place |= {name: (start + i * (_BOX + _GAP), y) for i, name in enumerate(names)}
    parts = [
        f'<path d="M{place[a][0] + _BOX / 2:.0f} {place[a][1] + _HEIGHT:.0f} L{place[b][0] + _BOX / 2:.0f} '
        f'{place[b][1] - 3:.0f}" fill="none" stroke="#8a99a8" marker-end="url(#end)"/>'
        for a, b in arrows()
    ]
    for name, (x, y) in place.items():
        parts.append(
            f'<rect x="{x:.0f}" y="{y:.0f}" width="{_BOX}" height="{_HEIGHT}" rx="6" fill="#eef4fa" '
            'stroke="#0b5fa5"/>'
            f'<text x="{x + 10:.0f}" y="{y + 19:.0f}" font-weight="bold" fill="#10212f">{escape(name)}</text>'
        )
        for i, line in enumerate(textwrap.wrap(_purpose(rooms()[name]), 31, max_lines=3, placeholder=" …")):
            parts.append(
                f'<text x="{x + 10:.0f}" y="{y + 35 + 14 * i:.0f}" font-size="11" fill="#37474f">'
                f"{escape(line)}</text>"
            )
    height = (max(storeys) + 1) * (_HEIGHT + _BETWEEN) - _BETWEEN + 20
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {height}" role="img" '
        'font-family="sans-serif" font-size="13"><title>The rooms of the house</title>\n'
        f'<rect width="{_WIDTH}" height="{height}" fill="#ffffff"/>\n'
        '<marker id="end" viewBox="0 0 6 6" refX="6" refY="3" markerWidth="7" markerHeight="7" orient="auto">'
        '<path d="M0 0 L6 3 L0 6 z" fill="#8a99a8"/></marker>\n' + "\n".join(parts) + "\n</svg>\n"
    )


def _purpose(path: Path) -> str:
    """First sentence of the room's docstring."""
    file = path / "__init__.py" if path.is_dir() else path
    text = ast.get_docstring(ast.parse(file.read_text(encoding="utf-8"))) or ""
    return text.split("\n\n")[0].replace("\n", " ").split(". ")[0].rstrip(".")


if __name__ == "__main__":
    DRAWING.write_text(drawing(), encoding="utf-8")
