"""The page holds everything it needs and nothing that a stranger wrote as markup."""

import hashlib
import re
from base64 import b64encode
from dataclasses import replace
from html.parser import HTMLParser

import pytest
from report.example import example_report, with_many_columns, with_names
from report.strangers import STRANGE_NAMES

from offsample.report._html import render_page, render_snippet
from offsample.report._rendering import SECTIONS

VOID = {"meta", "input", "br", "img", "link", "hr"}


class Page(HTMLParser):
    """Elements, their attributes, and what is not closed."""

    def __init__(self, text):
        super().__init__()
        self.elements, self.open, self.text, self.errors = [], [], [], []
        self.seen_at_once = []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))

    def handle_endtag(self, tag):
        if not self.open or self.open.pop() != tag:
            self.errors.append(tag)

    def handle_data(self, data):
        self.text.append(data)
        if "details" not in self.open or "summary" in self.open:
            self.seen_at_once.append(data)

    def attributes(self, name):
        return [attributes[name] for _, attributes in self.elements if name in attributes]


def test_the_page_is_well_formed():
    page = Page(render_page(example_report()))
    assert page.errors == []
    assert page.open == []
    ids = page.attributes("id")
    assert len(ids) == len(set(ids))


def test_every_link_and_reference_is_on_the_page():
    page = Page(render_page(example_report()))
    ids = set(page.attributes("id"))
    links = page.attributes("href")
    assert links
    assert all(link.startswith("#") and link[1:] in ids for link in links)
    assert all(ids.issuperset(name.split()) for name in page.attributes("aria-labelledby"))


def test_sections_come_in_order():
    page = Page(render_page(example_report()))
    found = [attributes["id"] for tag, attributes in page.elements if tag == "section"]
    assert found == [attribute for attribute, _ in SECTIONS]


def test_nothing_is_fetched():
    html = render_page(example_report())
    page = Page(html)
    assert not page.attributes("src")
    assert "http://" not in html
    assert "https://" not in html
    assert "@import" not in html
    assert "url(" not in html


def test_the_policy_allows_the_page_its_own_script_and_style_only():
    html = render_page(example_report())
    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', html)[1].replace("&#39;", "'")
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    for tag in ("script", "style"):
        [content] = re.findall(rf"<{tag}>(.*?)</{tag}>", html, re.S)
        assert b64encode(hashlib.sha256(content.encode()).digest()).decode() in policy
    assert not Page(html).attributes("style")


@pytest.mark.parametrize("name", STRANGE_NAMES.values(), ids=STRANGE_NAMES)
def test_strange_names_stay_text(name):
    alike = "".join(character if character.isspace() else "u" for character in name)  # as long
    usual = Page(render_page(with_names(example_report(), alike)))
    html = render_page(with_names(example_report(), name))
    page = Page(html)
    assert page.errors == []
    assert page.open == []
    assert [tag for tag, _ in page.elements] == [tag for tag, _ in usual.elements]
    allowed = {attribute for _, attributes in usual.elements for attribute in attributes}
    assert {attribute for _, attributes in page.elements for attribute in attributes} <= allowed | {"title"}
    assert html.encode().decode() == html
    assert "\x00" not in html
    assert len(html) < 400_000


def test_template_syntax_in_names_is_not_run():
    html = render_page(with_names(example_report(), "{{ 7*191 }}"))
    assert "{{ 7*191 }}" in html
    assert "1337" not in html


def test_long_names_are_shortened_and_whole_in_their_title():
    name = "n" * 10_000
    page = Page(render_page(with_names(example_report(), name)))
    assert name in page.attributes("title")
    assert max(len(run) for text in page.seen_at_once for run in re.findall("n+", text)) <= 400


def test_names_keep_their_direction_to_themselves():
    html = render_page(with_names(example_report(), "שלום"))
    assert '<bdi class="name">שלום</bdi>' in html


@pytest.mark.parametrize(
    ("change", "banner"),
    [
        ({"n_modelled": 1500}, "1,500 of 2,000 rows"),
        ({"beats_baseline": False}, "Not shown to be better than guessing"),
    ],
)
def test_banners(change, banner):
    quiet = replace(example_report(), verdict=replace(example_report().verdict, n_modelled=2000))
    assert banner not in render_page(quiet)
    assert banner in render_page(replace(quiet, verdict=replace(quiet.verdict, **change)))


def test_the_verdict_says_what_was_found():
    report = example_report()
    text = " ".join("".join(Page(render_page(report)).text).split()).replace("\xa0", " ")
    assert f"Expected error on new rows {100 * report.verdict.error:.1f} %" in text
    assert f"95 % interval {100 * report.verdict.low:.1f} – {100 * report.verdict.high:.1f} %" in text
    for finding in report.verdict.quarantined:
        assert finding.message in text


def test_every_finding_has_its_rule():
    page = render_page(example_report())
    for code in ("leak", "identifier", "no-evidence", "masked"):
        assert f'id="finding-{code}"' in page
    assert 'id="finding-constant"' not in page


def test_a_report_without_findings_columns_or_splits():
    report = example_report()
    bare = replace(
        report,
        positive=None,
        rows=None,
        sufficient=None,
        in_time=None,
        card=(),
        acting=None,
        sizing=None,
        trust=None,
        verdict=replace(report.verdict, columns=(), quarantined=(), with_quarantined=None),
        columns=replace(report.columns, columns=(), findings=()),
        model=replace(
            report.model, columns=(), importances=(), path=(), alternatives=(), validated_error=None
        ),
        method=replace(report.method, options={}, timings={}, skipped=()),
    )
    page = Page(render_page(bare))
    assert page.errors == []
    assert "No column had to be quarantined." in "".join(page.text)
    sections = [attributes["id"] for tag, attributes in page.elements if tag == "section"]
    assert sections == ["verdict", "columns", "model", "method"]


def test_fifty_columns_make_less_than_a_megabyte():
    assert len(render_page(with_many_columns(example_report(), 50)).encode()) < 300_000


def test_of_very_many_columns_the_page_lists_some_and_says_so():
    report = with_many_columns(example_report(), 100_000)
    worst = replace(report.columns.columns[-1], quarantined=True, finding="leak", name="the very last")
    report = replace(report, columns=replace(report.columns, columns=(*report.columns.columns[:-1], worst)))
    html = render_page(report)
    assert "51 of 100,000 columns are listed" in html
    assert "the very last" in html
    assert html.count("data-finding=") == 51
    assert html.count('class="back-quarantined"') == 1
    assert html.index("columns are listed") < html.index("chart-columns")
    assert len(html) < 500_000
    few = render_page(with_many_columns(example_report(), 100))
    assert few.count("data-finding=") == 100
    assert "columns are listed" not in few


def test_a_snippet_keeps_to_itself():
    snippet = render_snippet(example_report())
    page = Page(snippet)
    assert page.errors == []
    assert page.open == []
    assert page.elements[0][0] == "div"
    assert page.elements[2][0] == "style"
    assert "<style>@scope (.offsample-inside) {" in snippet
    assert [tag for tag, _ in page.elements if tag in ("html", "head", "body", "meta", "title")] == [
        "title" for tag, _ in page.elements if tag == "title"
    ]
    assert "template" not in {tag for tag, _ in page.elements}  # where no script runs it could not be read


def test_the_same_report_makes_the_same_page():
    assert render_page(example_report()) == render_page(example_report())
    assert render_snippet(example_report()) == render_snippet(example_report())
    assert 'data-offsample=""' not in render_snippet(example_report())
