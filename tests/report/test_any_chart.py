"""Every chart draws any finite data: equal values, none, hundreds, ranges of 1e-16, names of 10 kB."""

import re
import xml.etree.ElementTree as ElementTree
from dataclasses import replace

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from report.example import example_report

from offsample.expected_error.sizing import CurvePoint
from offsample.report import charts
from offsample.report._metrics import Score
from offsample.report.charts._svg import nice_ticks, shown_range, tick_label
from offsample.report.sections.acting import ActedShare, RatedAlike
from offsample.report.sections.model import Alternative, SizePoint
from offsample.report.sections.sufficient import SizeError

# Near each other by rounding alone, at the ends, beyond them, and anywhere.
SHARES = st.one_of(
    st.sampled_from([0.0, 1.0, 0.1, 0.1 - 1e-16, 0.3, 0.3 + 1e-16, 1 - 1e-16, 1e-300, 5e-324]),
    st.floats(0, 1),
    st.floats(allow_nan=False, allow_infinity=False),
)
PROPER = st.one_of(st.sampled_from([0.0, 1.0, 0.1, 0.1 - 1e-16, 1e-300]), st.floats(0, 1))
MAYBE = st.one_of(st.none(), SHARES)
SIZES = st.integers(0, 10**7)
NAMES = st.one_of(
    st.text(max_size=60),
    st.sampled_from(["", "$\\frac{$", "\\x1b[31m\\x00"]),
    st.just(10_000).map("n".__mul__),  # not as such: hypothesis would write it out
)

QUICK = settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


def up_to_200(values):
    """A few of them, or 200 with repetitions."""
    return st.builds(
        lambda few, times: few * times, st.lists(values, max_size=4), st.sampled_from([1, 1, 50])
    )


def drawn(svg):
    """Well-formed, and without a number that no browser knows."""
    root = ElementTree.fromstring(str(svg))
    for element in root.iter():
        for name, value in element.attrib.items():
            if name in ("x", "y", "x1", "x2", "y1", "y2", "cx", "cy", "width", "height", "d"):
                assert not re.search("nan|inf", value), (element.tag, name, value)
    return root


@QUICK
@given(st.lists(MAYBE, max_size=5), st.lists(MAYBE, max_size=5))
def test_an_axis_has_ticks_that_differ_and_cover_what_it_must_show(shares, beside):
    low, high = shown_range(shares, beside)
    assert 0 <= low < high <= 1
    ticks = nice_ticks(low, high)
    assert 2 <= len({tick_label(tick) for tick in ticks}) == len(ticks) <= 7
    assert ticks == sorted(ticks)
    known = [min(max(share, 0), 1) for share in shares if share is not None]
    assert all(ticks[0] - 1e-9 <= share <= ticks[-1] + 1e-9 for share in known)


def test_what_is_shown_is_not_squeezed():
    assert shown_range([0.38, 0.44], beside=[0.0]) == (0.38, 0.44)
    assert shown_range([0.01, 0.02], beside=[0.48]) == pytest.approx((0.0, 0.02))
    assert shown_range([0.2, 0.4], beside=[0.1]) == (0.0, 0.4)
    low, high = shown_range([0.3, 0.3 + 1e-16])
    assert high - low == pytest.approx(0.03)


@QUICK
@given(SHARES, SHARES, SHARES, SHARES, st.none() | st.tuples(SHARES, SHARES, SHARES))
def test_verdict(error, low, high, baseline, other):
    verdict = replace(
        example_report().verdict,
        error=error,
        low=low,
        high=high,
        baseline_error=baseline,
        with_quarantined=None if other is None else Alternative("other", 1, "leaf", *other),
    )
    drawn(charts.verdict_chart(verdict))


COLUMNS = st.tuples(
    NAMES, SHARES, SHARES, SHARES, SHARES, st.booleans(), st.sampled_from([None, "no-evidence"])
)


@QUICK
@given(up_to_200(COLUMNS), SHARES)
def test_columns(made, baseline):
    columns = example_report().columns
    first = columns.columns[0]
    keys = ("name", "error", "low", "high", "training_error", "quarantined", "finding")
    made = tuple(replace(first, **dict(zip(keys, values, strict=True))) for values in made)
    root = drawn(charts.columns_chart(replace(columns, columns=made, baseline_error=baseline)))
    assert sum(element.get("class") == "point" for element in root.iter()) == min(len(made), charts.MOST_ROWS)


@QUICK
@given(
    up_to_200(st.tuples(SIZES, SHARES, SHARES, MAYBE)),
    SIZES,
    SHARES,
    st.sampled_from(["split", "leaf", "rule"]),
)
def test_sizes(path, size, baseline, unit):
    path = tuple(SizePoint(*values) for values in path)
    model = replace(example_report().model, path=path, size=size, baseline_error=baseline, unit=unit)
    drawn(charts.size_chart(model))


@QUICK
@given(up_to_200(st.tuples(SIZES, SHARES, SHARES)), SHARES)
def test_numbers_of_columns(sizes, baseline):
    sizes = tuple(SizeError(*values) for values in sorted(sizes, key=lambda values: values[0]))
    found = replace(example_report().sufficient, sizes=sizes, baseline_error=baseline)
    drawn(charts.sufficient_chart(found))


@QUICK
@given(up_to_200(st.tuples(SIZES, SHARES, SHARES, SHARES, st.booleans())), SIZES)
def test_learning_curves(curve, n_rows):
    curve = tuple(CurvePoint(*values) for values in sorted(curve, key=lambda values: values[0]))
    drawn(charts.learning_chart(replace(example_report().sizing, curve=curve, n_rows=n_rows)))


@QUICK
@given(SHARES, SHARES, SHARES, SHARES, MAYBE)
def test_scores(naive, corrected, low, high, baseline):
    trust = example_report().trust
    found = replace(trust.found, naive=naive, corrected=corrected, low=low, high=high, baseline=baseline)
    drawn(charts.trust_chart(replace(trust, found=found)))


CELLS = st.fixed_dictionaries(
    {
        "n_samples": SIZES,
        "counts": st.lists(SIZES, min_size=3, max_size=3),
        "prediction": NAMES,
        "estimated_error": SHARES,
        "condition": NAMES,
        "feature": NAMES,
        "values": st.lists(NAMES, max_size=12),
    },
    optional={"summary": NAMES},
)
TREES = st.recursive(
    CELLS,
    lambda below: st.builds(
        lambda cell, children: {**cell, "children": children}, CELLS, st.lists(below, max_size=15)
    ),
    max_leaves=30,
)


@QUICK
@given(TREES, st.lists(NAMES, max_size=3))
def test_trees(tree, classes):
    model = replace(example_report().model, tree=tree, classes=tuple(classes))
    drawn(charts.tree_chart(model))
    assert sum(colour == 8 for colour, _ in charts.class_colours(model)) <= 1


@given(SHARES, SHARES)
def test_bars(share, largest):
    drawn(charts.share_bar(share, largest))


@QUICK
@given(up_to_200(st.tuples(PROPER, PROPER, PROPER, PROPER)), st.integers(0, 1500))
def test_acting(shares, n_positive):
    points = [
        ActedShare(i / len(shares), Score(a, b, c), Score(d, a, b)) for i, (a, b, c, d) in enumerate(shares)
    ]
    bins = [RatedAlike(9, a, Score(b, c, d)) for a, b, c, d in shares] or [
        RatedAlike(9, 0.5, Score(0.5, 0, 1))
    ]
    acting = replace(
        example_report().acting, curve=tuple(points), calibration=tuple(bins), n_positive=n_positive
    )
    drawn(charts.acting_chart(acting))
    drawn(charts.calibration_chart(acting))
