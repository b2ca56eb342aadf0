"""The page in a browser: it sorts, filters, explains itself, and asks nobody for anything."""

import re
from dataclasses import replace

import pytest
from report.example import example_report, with_many_columns, with_names
from report.strangers import STRANGE_NAMES

from offsample.report._html import render_page


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
    assert f"Expected error {100 * column.error:.1f} %" in tooltip.inner_text()
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
        ("sufficient", "0 columns\nError", "4 columns\nError"),
        ("learning", "125 rows, measured", "8,000 rows, extrapolated"),
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
    page.locator("#method").get_by_role("button", name="Copy").click()
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
    # What can be clicked only, is not there; what is folded in a line or a cell, and the model in words, are.
    assert not page.get_by_text("As a table").first.is_visible()
    assert page.locator(".section-model > details .code").is_visible()


@pytest.mark.parametrize("name", STRANGE_NAMES.values(), ids=STRANGE_NAMES)
def test_strange_names_do_nothing(open_page, name):
    page = open_page(render_page(with_names(example_report(), name)), 400)
    assert page.locator(".columns-table tbody tr").count() == 11
    assert page.locator("script").count() == 1
    assert page.locator("img").count() == 0
    assert page.evaluate("document.documentElement.scrollWidth") == 400


def test_many_columns_stay_usable(open_page):
    page = open_page(render_page(with_many_columns(example_report(), 5000)))
    listed = names(page)
    assert len(listed) == page.locator(".chart-columns .point").count() == 50
    page.get_by_label("Find", exact=True).fill("column 49")
    assert names(page) == ["column 49"]
    page.get_by_label("Find", exact=True).fill("column 4999")
    assert page.get_by_text("No column that is listed here matches.").is_visible()
    page.get_by_label("Find", exact=True).fill("")
    page.get_by_role("button", name="Column", exact=True).click()
    assert sorted(names(page)) == sorted(listed)
    assert page.evaluate("document.querySelector('#columns').scrollHeight") < 5000
    page.emulate_media(media="print")
    assert page.get_by_text("50 of 5,000 columns are listed").is_visible()
    assert len(names(page)) == 50


def overprinted(page):
    """Pairs of texts in one chart whose boxes overlap."""
    return page.evaluate(
        """() => [...document.querySelectorAll("svg[role=img]")].flatMap((chart) => {
          const texts = [...chart.querySelectorAll("text")].filter((text) => text.getClientRects().length);
          const boxes = texts.map((text) => text.getBoundingClientRect());
          return texts.flatMap((text, i) => texts.slice(i + 1).filter((other, j) => {
            const [a, b] = [boxes[i], boxes[i + 1 + j]];
            const beside = a.right - 1 <= b.left || b.right - 1 <= a.left;
            return !beside && a.top < b.bottom - 3 && b.top < a.bottom - 3;
          }).map((other) => `${text.textContent} | ${other.textContent}`));
        })"""
    )


def at_baseline(report):
    """Nothing beats the baseline, and the chosen size is the largest: labels meet at the top right."""
    model = report.model
    base = model.baseline_error
    path = tuple(replace(p, estimated_error=base - 1e-3, training_error=base - 2e-3) for p in model.path)
    return replace(
        report,
        verdict=replace(report.verdict, error=base, low=base - 0.01, high=base + 0.01, beats_baseline=False),
        model=replace(model, path=path, size=path[-1].size, error=base),
    )


@pytest.mark.parametrize("width", [1280, 768, 400])
@pytest.mark.parametrize("change", [lambda report: report, at_baseline], ids=["usual", "at the baseline"])
def test_labels_never_overprint(open_page, change, width):
    page = open_page(render_page(change(example_report())), width)
    assert overprinted(page) == []
    right = "text => text.getBoundingClientRect().right"
    assert (
        page.evaluate(f"Math.max(...[...document.querySelectorAll('svg[role=img] text')].map({right}))")
        <= width
    )


SIMILAR = {
    "sentences": [
        f"Do_you_consider_{state}_part_of_the_Midwest" for state in ("Illinois", "Indiana", "Iowa", "Ohio")
    ],
    "long": ["Q" * 5000 + 'é<b>&"' * 300 + "Z" * 4000 + str(i) for i in range(4)],
    "wide": ["W" * 30 + "M" * i + "@" * 20 for i in range(4)],
    "of other scripts": [letter * 40 for letter in "жШ列م"],
}


def with_similar_names(report, similar):
    columns = list(report.columns.columns)
    columns[:4] = [replace(column, name=name) for column, name in zip(columns[:4], similar, strict=True)]
    return replace(
        report,
        columns=replace(report.columns, columns=tuple(columns)),
        model=replace(report.model, columns=(*similar[:2], *report.model.columns[2:])),
    )


@pytest.mark.parametrize("width", [1280, 901, 768, 621, 400, 360])
@pytest.mark.parametrize("kind", SIMILAR)
def test_long_names_stay_apart_and_within_their_place(open_page, kind, width):
    page = open_page(render_page(with_similar_names(example_report(), SIMILAR[kind])), width)
    shown = page.evaluate(
        """() => [...document.querySelectorAll(".chart-columns .point")].map((point) => {
          const seen = (name) => name.getClientRects().length;
          const text = [...point.querySelectorAll("text.name")].filter(seen);
          const room = text[0].parentElement.width.baseVal.value;
          return [text.length, text[0].textContent, 6 + text[0].getComputedTextLength() <= room + 1];
        })"""
    )
    assert [n for n, _, _ in shown] == [1] * len(shown)
    assert len({name for _, name, _ in shown}) == len(shown)
    assert all(inside for _, _, inside in shown)
    listed = names(page)
    assert len(set(listed)) == len(listed)


def test_a_table_that_goes_on_says_so(open_page):
    from playwright.sync_api import expect

    wide = open_page(render_page(example_report()), 1280)
    assert wide.evaluate("document.querySelector('.columns-table').parentElement.matches('.is-cut')") is False
    assert not wide.locator(".columns-table").locator("xpath=../following-sibling::p[1]").is_visible()
    narrow = open_page(render_page(example_report()), 400)
    cue = narrow.locator(".table-block .scroll-cue")
    assert cue.is_visible()
    scroll = narrow.locator(".table-block .scroll")
    assert "is-cut" in scroll.get_attribute("class")
    scroll.evaluate("element => element.scrollTo(10000, 0)")
    # Asked from outside: the page's policy forbids the strings that `wait_for_function` would evaluate in it.
    expect(scroll).not_to_have_class(re.compile(r"\bis-cut\b"))


@pytest.mark.parametrize("width", [1280, 400])
def test_the_numbers_of_the_tree_and_long_rules_are_on_the_page(open_page, width):
    report = example_report()
    model = replace(report.model, text="if " + " and ".join(f"column_{i} = value" for i in range(40)))
    page = open_page(render_page(replace(report, model=model)), width)
    page.locator(".section-model > details > summary").click()
    right = page.evaluate(
        """() => Math.max(...[...document.querySelectorAll(".cell-body > div, .section-model .code > *")]
          .map((box) => box.getBoundingClientRect().right))"""
    )
    assert 0 < right <= width


def test_all_values_of_a_branch_are_a_click_away(open_page):
    report = example_report()
    tree = report.model.tree
    values = [f"city {i}" for i in range(300)]
    first, *others = tree["children"]
    tree = {**tree, "children": [{**first, "condition": f"c in {{{values}}}", "values": values}, *others]}
    page = open_page(render_page(replace(report, model=replace(report.model, tree=tree))), 400)
    fold = page.locator(".all-values").first
    assert not fold.get_by_text("city 299").is_visible()
    fold.locator("summary").click()
    assert fold.get_by_text("city 299").is_visible()
