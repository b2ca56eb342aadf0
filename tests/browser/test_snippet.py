"""The snippet in a page of someone else, whose styles and its own stay apart."""

import pytest
from report.example import example_report

from offsample.report._html import render_snippet

SURROUNDINGS = """<!doctype html><html><head><meta charset="utf-8"><style>
* {{ color: rgb(255, 0, 0) !important; font-family: fantasy; letter-spacing: 1em }}
table, p {{ display: none }}
body {{ background: {colour} }}
</style></head><body><h1 id="outside">A notebook</h1><div id="cell">{content}</div></body></html>"""

# As a notebook does: set as text, where scripts do not run, then scripts made anew.
INSERT = """html => {
  const cell = document.getElementById("cell");
  cell.innerHTML = html;
  for (const old of cell.querySelectorAll("script")) {
    const script = document.createElement("script");
    script.textContent = old.textContent;
    old.replaceWith(script);
  }
}"""


@pytest.fixture(params=["parsed", "inserted"])
def page(request, open_page):
    snippet = render_snippet(example_report())
    if request.param == "parsed":
        return open_page(SURROUNDINGS.format(colour="white", content=snippet))
    page = open_page(SURROUNDINGS.format(colour="white", content=""))
    page.evaluate(INSERT, snippet)
    return page


def style(page, selector, name):
    return page.locator(selector).first.evaluate(f"element => getComputedStyle(element).{name}")


def test_styles_stay_apart(page):
    assert style(page, "#outside", "fontFamily") == "fantasy"
    assert style(page, "#outside", "color") == "rgb(255, 0, 0)"
    assert style(page, ".offsample h2", "color") == "rgb(28, 36, 48)"
    assert "fantasy" not in style(page, ".offsample h2", "fontFamily")
    assert style(page, ".offsample .lead", "letterSpacing") == "normal"
    assert page.locator(".columns-table").is_visible()


def test_it_works_as_the_page_does(page):
    page.get_by_label("Find", exact=True).fill("number")
    assert page.locator(".columns-table tbody tr:visible").count() == 2
    page.get_by_role("button", name="Column", exact=True).click()
    assert page.locator("th[aria-sort=ascending]").count() == 1
    page.locator(".chart-columns .point").first.hover()
    assert page.get_by_role("tooltip").is_visible()


def test_links_lead_to_places_within(page):
    page.locator(".columns-table .badge-leak").click()
    assert page.locator("#finding-leak").evaluate("element => element.getBoundingClientRect().top < 900")
    assert "is-target" in page.locator("#finding-leak").get_attribute("class")
    assert "#" not in page.url


def test_two_of_them_are_independent(open_page):
    snippet = render_snippet(example_report())
    page = open_page(SURROUNDINGS.format(colour="white", content=snippet + snippet))
    page.get_by_label("Find", exact=True).first.fill("number")
    assert page.locator(".columns-table").nth(0).locator("tbody tr:visible").count() == 2
    assert page.locator(".columns-table").nth(1).locator("tbody tr:visible").count() == 11
    page.get_by_role("button", name="Switch between light and dark").nth(1).click()
    themes = [page.locator(".offsample").nth(i).get_attribute("data-theme") for i in range(2)]
    assert themes == ["light", "dark"]


@pytest.mark.parametrize(("colour", "theme"), [("#111", "dark"), ("white", "light")])
def test_the_theme_is_that_of_the_notebook(open_page, colour, theme):
    page = open_page(SURROUNDINGS.format(colour=colour, content=render_snippet(example_report())))
    assert page.locator(".offsample").get_attribute("data-theme") == theme


def test_without_script_a_notebook_shows_all_of_it(open_page):
    page = open_page(
        '<!doctype html><meta charset="utf-8"><p id="outside">A notebook</p><div id="cell"></div>'
    )
    before = style(page, "#outside", "margin")
    page.evaluate(
        "html => { document.getElementById('cell').innerHTML = html }", render_snippet(example_report())
    )
    assert page.get_by_text(example_report().verdict.sentence).is_visible()
    assert page.locator(".columns-table").is_visible()
    assert page.locator("svg.chart").first.is_visible()
    assert style(page, ".offsample h2", "color") == "rgb(28, 36, 48)"  # its styles are there, and stay inside
    assert style(page, "#outside", "margin") == before
