"""What README and docs show is what runs print."""

import contextlib
import io
import re
from pathlib import Path

import pytest
from typer.testing import CliRunner

from offsample.cli import app

ROOT = Path(__file__).parent.parent
BLOCK = re.compile(r"```(\w+)\n(.*?)```", re.DOTALL)


def blocks(path: str) -> list[tuple[str, str]]:
    return BLOCK.findall((ROOT / path).read_text())


@pytest.mark.parametrize(
    "path",
    [
        "docs/choosing-columns.md",
        "docs/choosing-a-model-size.md",
        "docs/choosing-a-split.md",
        "docs/whether-to-believe-a-score.md",
        "docs/choosing-a-feature-set.md",
        "docs/stochastic-trees.md",
        "docs/rules.md",
        *sorted(f"docs/findings/{page.name}" for page in (ROOT / "docs/findings").glob("*.md")),
    ],
)
def test_python_blocks_run_and_print_what_follows(path):
    namespace: dict = {}
    printed = None
    for language, text in blocks(path):
        if language == "python":
            out = io.StringIO()
            with contextlib.redirect_stdout(out):
                exec(text, namespace)
            printed = out.getvalue()
        elif language == "text":
            assert printed is not None
            assert text.strip() == printed.strip()
            printed = None


def test_readme_shows_the_demo_as_it_is():
    shown = next(text for language, text in blocks("README.md") if language == "text")
    printed = CliRunner().invoke(app, ["rank", "--demo"]).output
    assert [line.rstrip() for line in shown.splitlines()] == [line.rstrip() for line in printed.splitlines()]
