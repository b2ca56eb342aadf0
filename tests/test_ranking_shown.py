"""How a ranking looks as text and in a notebook."""

from html.parser import HTMLParser
from types import SimpleNamespace

import numpy as np
import pytest
from rich.cells import cell_len

from offsample import _ranking_shown, rank_features

HOSTILE = [
    "<script>alert(1)</script>",
    '"><img src=x onerror=y>',
    "\x1b]0;x\x07",
    "a\nb",
    "名前" * 40,
    "x" * 5000,
    "",
]


@pytest.fixture(scope="module")
def ranking():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 300)
    noise = {name: rng.choice(list("abc"), 300) for name in HOSTILE}
    return rank_features({"good": y ^ (rng.random(300) < 0.1), **noise, "y": y}, "y")


def test_text_fits_into_eighty_columns(ranking):
    lines = repr(ranking).splitlines()
    assert all(cell_len(line) <= 80 for line in lines)
    table, _, repeats = repr(ranking).partition(
        f"\n{ranking.n_duplicates:,} of 300 rows equal an earlier one"
    )
    assert len(table.splitlines()) == 3 + len(ranking)
    assert repeats
    assert r"\x1b]0;x\x07" in repr(ranking)
    assert r"a\nb" in repr(ranking)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({}, "sorted by the gain to expect; columns without clear evidence last, by p-value"),
        ({"order": "estimate"}, "sorted by ginger\n"),
        ({"order": "lower_bound"}, "sorted by the gain that is certain"),
        ({"criterion": "information_gain"}, "sorted by information_gain\n"),
        ({"criterion": "bayes_loo"}, "sorted by the gain to expect"),
    ],
)
def test_the_head_says_what_the_list_is_sorted_by(options, said):
    table = {"x": list("aabb") * 20, "z": list("abab") * 20, "y": list("nnpp") * 20}
    assert said in repr(rank_features(table, "y", **options))


class _Page(HTMLParser):
    def __init__(self):
        super().__init__()
        self.open, self.tags, self.text = [], [], []

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        if tag != "br":
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text.append(data)


def test_a_notebook_shows_a_table_with_bars_and_no_name_acts(ranking):
    page = _Page()
    page.feed(ranking._repr_html_())
    assert page.open == []
    tags = [tag for tag, _ in page.tags]
    assert set(tags) == {"div", "p", "br", "table", "thead", "tbody", "tr", "th", "td", "bdi"}
    assert not [name for _, attrs in page.tags for name in attrs if name.startswith("on")]
    assert tags.count("tr") == 1 + len(ranking)
    assert "<script>alert(1)</script>" in page.text
    assert "Sorted by the gain to expect" in " ".join(page.text)
    bars = [attrs for _, attrs in page.tags if attrs.get("role") == "img"]
    assert [bar["aria-label"].split(",")[0] for bar in bars] == [f"error {f.error:.4f}" for f in ranking]
    assert max(map(len, page.text)) < 500


def test_a_notebook_shows_no_more_than_it_can_bear():
    wide = {f"c{i}": [0, 1] * 4 for i in range(250)} | {"y": [0, 1] * 4}
    html = rank_features(wide, "y")._repr_html_()
    assert html.count("<tr") == 201
    assert "… and 50 more" in html


def test_zero_has_no_sign():
    feature = SimpleNamespace(low=-0.00001, high=0.25, interval_is_known=True, significant=True)
    feature.expected_gain = -0.00004
    assert (_ranking_shown._interval(feature), _ranking_shown._gain(feature)) == ("0.0000–0.2500", "0.0000")
    feature.expected_gain = 0.000016162  # of a class of .3 %: the first of a table is not shown as none
    assert _ranking_shown._gain(feature) == "1.6e-05"
