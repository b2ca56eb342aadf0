"""Hook of mkdocs: pages of the site that are kept elsewhere in the repository.

The verdicts on the papers (``papers/RESULTS.md``, written by ``python -m papers --record``), the benchmarks
and where a peer is better in them (``benchmarks/RESULTS.md``, written by ``python -m benchmarks``), with the
figures of both, and ``CONTRIBUTING.md``. Nothing is copied into ``docs/``. Every page is also published as
Markdown, which is what ``llms.txt`` links to.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parent.parent
_FIGURE = re.compile(r"\[figure\]\((results/([^)]+)\.(?:svg|png))\)")


def pages() -> dict[str, str]:
    """The pages in Markdown, by their path in the site."""
    papers, benchmarks, contributing = (
        (ROOT / path).read_text(encoding="utf-8")
        for path in ("papers/RESULTS.md", "benchmarks/RESULTS.md", "CONTRIBUTING.md")
    )
    return {
        "papers.md": papers_page(papers),
        **benchmark_pages(benchmarks),
        "contributing.md": contributing.replace("](docs/", "]("),
    }


def on_files(files: Any, config: Any) -> Any:
    """Add the pages, and the files that they refer to."""
    from mkdocs.structure.files import File

    for path, text in pages().items():
        files.append(File.generated(config, path, content=text))
    for folder in ("papers/results", "benchmarks/results"):
        for file in sorted((ROOT / folder).iterdir()):
            if file.suffix in (".svg", ".png", ".txt"):
                files.append(File.generated(config, f"{folder}/{file.name}", abs_src_path=str(file)))
    return files


def on_page_markdown(markdown: str, page: Any, config: Any, **_: Any) -> None:
    """Publish the source of a page beside it."""
    path = Path(config["site_dir"]) / page.file.src_uri
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(markdown, encoding="utf-8")


def papers_page(results: str) -> str:
    """The verdicts as a page of the site: figures shown, not linked to, and links that work there.

    Parameters
    ----------
    results : str
        ``papers/RESULTS.md``, in which figures are called ``[figure](results/name.svg)`` or ``.png``.
    """
    lines: list[str] = []
    pending: list[str] = []
    for line in [*results.splitlines(), "### "]:
        if line.startswith("#") and pending:  # the end of a section: its figures
            lines += [*pending, ""]
            pending = []
        pending += [f"![{name}](papers/{path}){{ loading=lazy }}\n" for path, name in _FIGURE.findall(line)]
        line = _FIGURE.sub("", line)
        lines.append(re.sub(r"(, )+(?=[;,.])", "", line).replace("](results/", "](papers/results/"))
    return "\n".join(lines[:-1]) + "\n"


def benchmark_pages(results: str) -> dict[str, str]:
    """The benchmarks as two pages of the site: what was measured, and where a peer is better.

    Parameters
    ----------
    results : str
        ``benchmarks/RESULTS.md``, whose last section is on where a peer is better.
    """
    measured, better = results.split("\n## Where a peer is better\n\n")
    _title, _written, measured = measured.split("\n\n", 2)
    return {
        "benchmarks.md": "# Benchmarks\n\nWhere a peer is the better choice has [a page of its own]"
        "(when-to-use-something-else.md).\n\n" + measured.replace("](results/", "](benchmarks/results/"),
        "when-to-use-something-else.md": "# When to use something else\n\nEvery case of the "
        f"[benchmarks](benchmarks.md) in which a peer is better than we are.\n\n{better}",
    }
