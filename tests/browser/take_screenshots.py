"""Pictures of the report for the documentation: ``python -m tests.browser.take_screenshots`` from the top."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

from playwright.sync_api import sync_playwright

import offsample
from offsample.datasets import make_customers
from papers._files import use_palette

# Width of the window, and how much of the page is shown.
PAGES = {1280: 980, 400: 900}
SECTIONS = ("sufficient", "sizing")


def main(folder: Path, scheme: str) -> None:
    """Write the pictures into a folder."""
    report = offsample.report(
        make_customers(),
        target="churned",
        title="customers.parquet",
        command="offsample report customers.parquet --target churned --score .79 --configurations 50 "
        "--n-test 1000",
        score=0.79,
        n_test=1000,
        n_configurations=50,
    )
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        for width, height in PAGES.items():
            page = chromium.new_page(viewport={"width": width, "height": height}, color_scheme=scheme)
            page.set_content(report.to_html())
            page.screenshot(path=folder / f"report-{width}.png")
            if width > 1000:
                for name in SECTIONS:
                    page.locator(f"#{name}").screenshot(path=folder / f"report-{name}.png")
        chromium.close()
    for picture in folder.glob("report-*.png"):
        use_palette(picture, 24)


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "docs/images"), *(sys.argv[2:] or ["light"]))
