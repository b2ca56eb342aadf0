"""The page in a browser: it sorts, filters, explains itself, and asks nobody for anything."""

from dataclasses import replace

import pytest
from report.example import example_report, with_many_columns, with_names
from report.strangers import STRANGE_NAMES

from offsample.report._html import render_page

pytestmark = pytest.mark.xdist_group("browser")


@pytest.fixture
def page(open_page):
    return open_page(render_page(example_report()))


def names(page):
    return page.locator(".columns-table tbody tr:visible th").all_inner_texts()


def background(page):
    return page.evaluate("getComputedStyle(document.querySelector('.offsample')).backgroundColor")


def test_nothing_is_wider_than_the_page(page):
    for width in (1280, 768, 400):
        page.set_viewport_size({"width": width, "height": 900})
        assert page.evaluate("document.documentElement.scrollWidth") == width


@pytest.mark.parametrize("width", [1280, 400])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_screenshot(open_page, tmp_path, width, scheme):
    page = open_page(render_page(example_report()), width, color_scheme=scheme)
    path = tmp_path / f"{width}-{scheme}.png"
    page.screenshot(path=path, full_page=True)
    assert path.stat().st_size > 50_000


def test_sorting_by_mouse(page):
    before = names(page)
    heading = page.locator(".columns-table thead th").nth(2)
    assert heading.get_attribute("aria-sort") is None
    heading.get_by_role("button").click()
    assert heading.get_attribute("aria-sort") == "ascending"
    errors = {column.name: column.error for column in example_report().columns.columns}
    assert names(page) == sorted(before, key=errors.get)
    heading.get_by_role("button").click()
    assert heading.get_attribute("aria-sort") == "descending"
    assert names(page) == sorted(before, key=errors.get, reverse=True)


def test_sorting_by_keyboard(page):
    page.get_by_role("button", name="Column", exact=True).focus()
    page.keyboard.press("Enter")
    assert names(page) == sorted(names(page))
    page.keyboard.press("Space")
    assert names(page) == sorted(names(page), reverse=True)
    assert page.locator("th[aria-sort]").count() == 1


def test_missing_values_are_sorted_last(open_page):
    report = example_report()
    columns = (replace(report.columns.columns[0], n_values=None), *report.columns.columns[1:])
    page = open_page(render_page(replace(report, columns=replace(report.columns, columns=columns))))
    for _ in range(2):
        page.get_by_role("button", name="Values").click()
        assert names(page)[-1] == columns[0].name


def test_filtering_by_name_and_finding(page):
    page.get_by_label("Find", exact=True).fill("NUMBER")
    assert sorted(names(page)) == ["invoice_number", "lucky_number"]
    assert page.locator(".filter-count").inner_text() == "2 of 11 columns"
    page.get_by_label("Finding", exact=True).select_option("identifier")
    assert names(page) == ["invoice_number"]
    page.get_by_label("Find", exact=True).fill("nothing like it")
    assert names(page) == []
    assert page.get_by_text("No column matches.").is_visible()
    page.get_by_label("Find", exact=True).fill("")
    page.get_by_label("Finding", exact=True).select_option("none")
    assert sorted(names(page)) == ["age", "plan", "support_calls", "tenure_months"]


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_theme_is_the_systems_until_it_is_switched(open_page, scheme):
    page = open_page(render_page(example_report()), color_scheme=scheme)
    first = background(page)
    assert first == {"light": "rgb(255, 255, 255)", "dark": "rgb(18, 22, 28)"}[scheme]
    button = page.get_by_role("button", name="Switch between light and dark")
    assert button.get_attribute("aria-pressed") == str(scheme == "dark").lower()
    button.click()
    assert background(page) != first
    button.click()
    assert background(page) == first


def test_a_tooltip_on_hover(page):
    tooltip = page.get_by_role("tooltip")
    assert not tooltip.is_visible()
    page.locator(".chart-columns .point").nth(1).hover()
    assert tooltip.is_visible()
    column = example_report().columns.columns[1]
    assert column.name in tooltip.inner_text()
    assert f"Estimated error {100 * column.error:.1f} %" in tooltip.inner_text()
    box = tooltip.bounding_box()
    assert box["x"] >= 0
    assert box["x"] + box["width"] <= 1280


def test_tooltips_by_keyboard(page):
    tooltip = page.get_by_role("tooltip")
    page.locator(".chart-tree .point").first.focus()
    assert "all rows" in tooltip.inner_text()
    page.keyboard.press("ArrowDown")
    assert "all rows" not in tooltip.inner_text()
    assert "no: " in tooltip.inner_text()
    page.keyboard.press("End")
    assert page.locator(".chart-tree .point").last.get_attribute("tabindex") == "0"
    assert page.locator(".chart-tree .point[tabindex='0']").count() == 1
    assert tooltip.is_visible()  # after the page has scrolled to it
    page.keyboard.press("Escape")
    assert not tooltip.is_visible()


@pytest.mark.parametrize(
    ("chart", "first", "last"),
    [
        ("sufficient", "1 column\nTree", "8 columns\nTree"),
        ("learning", "125 rows, measured", "8,000 rows, prolonged"),
        ("trust", "with 95 % confidence", "Reported: 85.0 %"),
    ],
)
def test_tooltips_of_the_charts_of_the_optional_sections(page, chart, first, last):
    tooltip = page.get_by_role("tooltip")
    page.locator(f".chart-{chart} .point").first.focus()
    assert first in tooltip.inner_text()
    page.keyboard.press("End")
    assert last in tooltip.inner_text()


def test_a_badge_leads_to_its_rule(page):
    page.locator(".columns-table .badge-leak").click()
    assert page.url.endswith("#finding-leak")
    assert "is-target" in page.locator("#finding-leak").get_attribute("class")


def test_the_command_is_copied(page):
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.get_by_role("button", name="Copy").click()
    page.get_by_role("button", name="Copied").wait_for()
    assert page.evaluate("navigator.clipboard.readText()") == example_report().method.command


def test_without_script_everything_is_there(open_page):
    page = open_page(render_page(example_report()), java_script_enabled=False)
    assert page.locator(".columns-table tbody tr").count() == 11
    assert not page.locator(".tools").is_visible()
    assert not page.locator(".theme-toggle").is_visible()
    assert page.locator(".chart-columns .point title").count() == 11


def test_print_is_light_and_has_no_buttons(open_page):
    page = open_page(render_page(example_report()), 700, color_scheme="dark")
    page.emulate_media(media="print", color_scheme="dark")
    assert background(page) == "rgb(255, 255, 255)"
    assert not page.locator(".theme-toggle").is_visible()
    assert not page.locator(".tools").is_visible()
    assert page.evaluate("document.documentElement.scrollWidth") <= 700


@pytest.mark.parametrize("name", STRANGE_NAMES.values(), ids=STRANGE_NAMES)
def test_strange_names_do_nothing(open_page, name):
    page = open_page(render_page(with_names(example_report(), name)), 400)
    assert page.locator(".columns-table tbody tr").count() == 11
    assert page.locator("script").count() == 1
    assert page.locator("img").count() == 0
    assert page.evaluate("document.documentElement.scrollWidth") == 400


def test_many_columns_stay_usable(open_page):
    page = open_page(render_page(with_many_columns(example_report(), 5000)))
    page.get_by_label("Find", exact=True).fill("column 1999")
    assert names(page) == ["column 1999"]
    page.get_by_role("button", name="Column", exact=True).click()
    assert page.locator(".chart-columns .point").count() == 60
