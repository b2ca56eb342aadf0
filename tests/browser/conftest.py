"""A browser, where there is one."""

import shutil

import pytest


@pytest.fixture(scope="session")
def browser():
    """Headless Chromium through Playwright."""
    playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    chromium = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if chromium is None:
        pytest.skip("no chromium on the path")
    with playwright.sync_playwright() as started:
        no_names = (
            "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE localhost"  # tests/offline is for Python only
        )
        launched = started.chromium.launch(executable_path=chromium, args=["--no-sandbox", no_names])
        yield launched
        launched.close()


@pytest.fixture
def open_page(browser, tmp_path):
    """Opens HTML from a file; what the page complains of or asks for is an error at the end of the test."""
    pages, complaints = [], []

    def open_html(html, width=1280, **options):
        path = tmp_path / f"page{len(pages)}.html"
        path.write_text(html, encoding="utf-8")
        page = browser.new_page(viewport={"width": width, "height": 900}, **options)
        page.set_default_timeout(10_000)
        page.on("console", lambda message: complaints.append(message.text))
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.on("request", lambda request: request.url == path.as_uri() or complaints.append(request.url))
        page.on("dialog", lambda dialog: (complaints.append(dialog.message), dialog.dismiss()))
        page.goto(path.as_uri())
        pages.append(page)
        return page

    yield open_html
    for page in pages:
        page.close()
    assert complaints == []
