"""Text of strangers on a screen: nothing in it acts, nothing is wider than the screen."""

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from offsample._text import Field, fit_table, plain, shorten, visible

WORDS = st.text(st.characters(codec=None), max_size=60)  # surrogates as well


@given(WORDS)
def test_no_character_acts_on_the_screen(text):
    shown = visible(text)
    assert not {unicodedata.category(c) for c in shown} & {"Cc", "Cs", "Zl", "Zp"}
    assert not set(shown) & set("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\u200e\u200f\ufeff")
    assert shown.strip()  # also where nothing is there
    shown.encode()


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("\x1b]0;title\x07", r"\x1b]0;title\x07"),
        ("\x9b31m", r"\x9b31m"),
        ("a\r\nb\tc", r"a\r\nb\tc"),
        ("\u202eevil", r"\u202eevil"),
        ("\udc80", r"\udc80"),
        ("\U000e0041", r"\U000e0041"),
        ("naïve 👩\u200d🔬 می\u200cخواهم 東京\u3000", "naïve 👩\u200d🔬 می\u200cخواهم 東京\u3000"),
        ("[bold]C:\\new[/bold]", "[bold]C:\\new[/bold]"),
        ("   ", '"   "'),
        (3.5, "3.5"),
    ],
)
def test_what_is_shown(text, shown):
    assert visible(text) == shown


def test_lines_of_ours_stay():
    assert visible("a\n\x1bb\n", lines=True) == "a\n\\x1bb\n"


@given(WORDS, st.sampled_from(["ascii", "latin-1", "cp1252", "utf-8"]))
def test_every_encoding_takes_the_text(text, encoding):
    plain(visible(text), encoding).encode(encoding)


@given(WORDS.map(visible), st.integers(1, 40))
def test_shortened_text_fits(text, width):
    assert cell_len(shorten(text, width)) <= width
    assert shorten(text, 10_000) == text


@given(
    st.lists(st.tuples(WORDS, WORDS, WORDS), max_size=6),
    st.integers(1, 120),
    st.sampled_from(["ascii", "utf-8"]),
)
def test_no_line_of_a_table_is_wider_than_the_screen(rows, width, encoding):
    columns = list(zip(*rows, strict=True)) or [(), (), ()]
    cells = [[visible(cell) for cell in column] for column in columns]
    ranks = (0, 1, 0)
    fields = [
        Field(title, list(c), rank=r) for title, c, r in zip(("name", "█", "n"), cells, ranks, strict=True)
    ]
    lines = fit_table(fields, width, encoding)
    assert len(lines) == 1 + len(rows)
    assert all(cell_len(line) <= width and "\n" not in line for line in lines)


def test_the_lowest_rank_goes_first_and_names_are_cut_in_the_middle():
    names = [f"measurement_of_something_rather_long_number_{i}" for i in range(3)]
    fields = [
        Field("column", names, right=False),
        Field("", ["#" * 20] * 3, rank=1),
        Field("b", ["22222222"] * 3, rank=3),
        Field("a", ["11111111"] * 3, rank=2),
        Field("gain", ["0.1"] * 3),
    ]
    assert "#" in fit_table(fields, 130)[1]
    assert [len(line.split()) for line in fit_table(fields, 70)] == [4, 4, 4, 4]  # without the chart
    assert fit_table(fields, 50)[0].split() == ["column", "b", "gain"]
    lines = fit_table(fields, 40)
    assert lines[0].split() == ["column", "gain"]
    assert [line.split()[0][-2:] for line in lines[1:]] == ["_0", "_1", "_2"]
    assert {line.split()[0][:5] for line in lines[1:]} == {"measu"}
