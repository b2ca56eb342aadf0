"""Hook of mkdocs: pages of the site that are kept elsewhere in the repository.

The verdicts on the papers (``papers/RESULTS.md``, written by ``python -m papers``) with their figures, and
``CONTRIBUTING.md``. Nothing is copied into ``docs/``. Every page is
also published as Markdown, which is what ``llms.txt`` links to.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parent.parent
_FIGURE = re.compile(r"\[figure\]\((results/([^)]+)\.svg)\)")


def on_files(files: Any, config: Any) -> Any:
    """Add the pages, and the files that they refer to."""
    from mkdocs.structure.files import File

    verdicts = papers_page((ROOT / "papers" / "RESULTS.md").read_text(encoding="utf-8"))
    contributing = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    files.append(File.generated(config, "papers.md", content=verdicts))
    files.append(File.generated(config, "contributing.md", content=contributing))
    for path in sorted((ROOT / "papers" / "results").iterdir()):
        if path.suffix in (".svg", ".txt"):
            files.append(File.generated(config, f"papers/results/{path.name}", abs_src_path=str(path)))
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
        ``papers/RESULTS.md``, in which figures are called ``[figure](results/name.svg)``.
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
