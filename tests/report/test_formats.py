"""Numbers and names as they are read."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from report.strangers import STRANGE_NAMES

from offsample.report import _formats


@pytest.mark.parametrize(
    ("share", "text"),
    [
        (0.5, "50.0 %"),
        (1.0, "100.0 %"),
        (0.0123, "1.2 %"),
        (0.0099, "1.0 %"),
        (0.0012, "0.12 %"),
        (-0.002, "−0.20 %"),
        (0.0, "0 %"),
        (math.nan, "–"),
        (None, "–"),
    ],
)
def test_percent(share, text):
    assert _formats.percent(share) == text


@given(st.floats(0, 1))
def test_percent_is_near_the_share(share):
    text = _formats.percent(share)
    if "<" not in text:
        assert float(text.removesuffix(" %")) / 100 == pytest.approx(share, abs=max(5.1e-4, 0.05 * share))


@pytest.mark.parametrize(
    ("p", "text"),
    [
        (0.05, "0.050"),
        (0.0001, "0.00010"),
        (0.00009, "< 0.0001"),
        (1.0, "1.00"),
        (0.0, "< 0.0001"),
        (math.nan, "–"),
    ],
)
def test_p_value(p, text):
    assert _formats.p_value(p) == text


def test_missing_numbers_are_dashes():
    for write in (_formats.count, _formats.points, _formats.seconds, _formats.p_value, _formats.plain_value):
        assert write(None) == "–"
    assert _formats.interval(math.nan, 0.3) == "–"


def test_counts_have_separators():
    assert _formats.count(1234567) == "1,234,567"
    assert _formats.amount(2000, "row") == "2,000 rows"


@pytest.mark.parametrize("name", STRANGE_NAMES.values(), ids=STRANGE_NAMES)
def test_names_are_one_visible_line(name):
    short = _formats.short_name(name)
    assert 0 < len(short.strip()) <= _formats.LONGEST_NAME
    assert short.encode()
    assert "\n" not in short
    assert all(character.isprintable() or character == "\u200d" for character in short)


@given(st.text(st.characters(), max_size=200))  # surrogates included
def test_any_text_becomes_printable(text):
    shown = _formats.printable(text)
    assert shown.encode().decode() == shown
    assert len(shown) == len(text)
    assert not set(shown) & {chr(code) for code in range(32) if code not in (9, 10)}


def test_long_names_are_shortened_within_a_sentence():
    name = "n" * 10_000
    sentence = _formats.shorten_names(f"{name} predicts well, {name}!", [name])
    assert len(sentence) < 120
    assert "predicts well" in sentence


def test_text_of_many_lines_is_cut_and_says_so():
    text = _formats.shorten_text("\n".join(["x" * 1000] * 1000))
    assert max(map(len, text.split("\n"))) == 240
    assert text.endswith("600 more lines")


ALIKE = st.builds(
    lambda start, middle, end: start + middle + end,
    st.sampled_from(["", "ab_" * 20, "x" * 70]),
    st.text(max_size=12),
    st.sampled_from(["", "_of_the_table" * 4, "x" * 70]),
)


@given(st.lists(ALIKE, max_size=20, unique=True), st.integers(10, 40))
def test_short_names_are_short_and_as_different_as_the_names(names, longest):
    short = _formats.short_names(names, longest)
    assert list(short) == names
    assert all(len(name) <= longest for name in short.values())
    assert len(set(short.values())) == len(names)


def test_names_that_begin_and_end_alike_show_where_they_differ():
    states = ("Illinois", "Indiana", "Iowa", "Ohio")
    names = [f"Do_you_consider_{state}_state_as_part_of_the_Midwest" for state in states]
    for state, short in zip(states, _formats.short_names(names, 16).values(), strict=True):
        assert state in short
