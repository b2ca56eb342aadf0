"""Charts are well-formed, accessible, escaped, and show the numbers that they are given."""

import re
import xml.etree.ElementTree as ElementTree
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from report.example import example_report, with_many_columns, with_names
from report.strangers import STRANGE_NAMES

from offsample.report._metrics import METRICS, OFF_BY, Score
from offsample.report._scales import scale_of
from offsample.report.charts import (
    class_colours,
    columns_chart,
    learning_chart,
    legend_mark,
    share_bar,
    size_chart,
    sufficient_chart,
    tree_chart,
    trust_chart,
    verdict_chart,
)
from offsample.report.charts._svg import Axis, nice_ticks, tag
from offsample.report.charts._tree import MOST_CELLS

CHARTS = {
    "verdict": lambda report: verdict_chart(report.verdict),
    "columns": lambda report: columns_chart(report.columns),
    "size": lambda report: size_chart(report.model),
    "sufficient": lambda report: sufficient_chart(report.sufficient),
    "learning": lambda report: learning_chart(report.sizing),
    "trust": lambda report: trust_chart(report.trust),
}


def TREE(report):
    """Not a picture, but boxes of the page."""
    return tree_chart(report.model)


def parse(svg):
    return ElementTree.fromstring(str(svg))


def of_class(svg, name):
    return [element for element in parse(svg).iter() if name in element.get("class", "").split()]


@pytest.mark.parametrize("draw", CHARTS.values(), ids=CHARTS)
def test_a_chart_is_named_and_described(draw):
    chart = parse(draw(example_report()))
    names = {element.get("id"): element.text for element in chart if element.tag in ("title", "desc")}
    assert chart.get("role") == "img"
    assert chart.get("aria-labelledby").split() == list(names)
    assert all(names.values())


@pytest.mark.parametrize("draw", CHARTS.values(), ids=CHARTS)
def test_every_point_has_a_tooltip_and_one_is_reached_by_tab(draw):
    points = of_class(draw(example_report()), "point")
    assert all(point.find("title").text for point in points)
    assert [point.get("tabindex") for point in points] == ["0"] + ["-1"] * (len(points) - 1)


@pytest.mark.parametrize("name", STRANGE_NAMES.values(), ids=STRANGE_NAMES)
@pytest.mark.parametrize("draw", [*CHARTS.values(), TREE], ids=[*CHARTS, "tree"])
def test_strange_names_stay_text(draw, name):
    svg = draw(with_names(example_report(), name))
    assert {element.tag for element in parse(svg).iter()} <= {
        "svg", "title", "desc", "g", "rect", "line", "text", "tspan", "circle", "path",
        *(("div", "span", "bdi", "details", "summary", "p") if draw is TREE else ()),
    }  # fmt: skip
    assert svg.encode()


def test_a_chart_of_columns_tells_kinds_apart_by_their_marks():
    report = example_report()
    svg = columns_chart(report.columns)
    assert len(of_class(svg, "point")) == 11
    assert len(of_class(svg, "mark-quarantined")) == 3
    assert len(of_class(svg, "mark-no-evidence")) == 3
    assert len(of_class(svg, "mark-estimate")) == 5
    assert len(of_class(svg, "mark-training")) == 11
    assert {element.tag for element in of_class(svg, "mark-quarantined")} == {"path"}


def test_a_copy_of_a_column_without_evidence_has_none():
    columns = example_report().columns
    one = next(column for column in columns.columns if column.finding == "no-evidence")
    for significant, class_ in ((False, "mark-no-evidence"), (True, "mark-estimate")):
        copy = replace(one, finding="near-copy", significant=significant)
        assert len(of_class(columns_chart(replace(columns, columns=(copy,))), class_)) == 1


def test_what_is_not_known_has_no_figure_on_any_scale():
    for name in METRICS:
        assert np.isnan(scale_of(METRICS[name], 1.0, 1.0)(np.nan))


def test_the_interval_is_drawn_where_it_is():
    column = replace(example_report().columns.columns[1], error=0.3, low=0.2, high=0.4, training_error=0.1)
    columns = replace(example_report().columns, columns=(column,), baseline_error=0.5)
    [bar] = of_class(columns_chart(columns), "bar")
    ends = [float(bar.get(key)[:-1]) for key in ("x1", "x2")]
    assert ends == pytest.approx([33 + 63 * 0.4, 33 + 63 * 0.8], abs=0.01)


def test_a_chart_of_columns_shows_the_first_60():
    assert len(of_class(columns_chart(with_many_columns(example_report(), 500).columns), "point")) == 60


def test_columns_without_numbers_keep_their_row():
    nan = float("nan")
    column = replace(example_report().columns.columns[0], error=nan, low=nan, high=nan, training_error=nan)
    svg = columns_chart(replace(example_report().columns, columns=(column,)))
    assert "nan" not in svg.lower()
    assert "–" in svg


def test_a_tree_shows_every_cell():
    model = example_report().model
    svg = tree_chart(model)
    assert len(of_class(svg, "cell-leaf")) == int(model.name.split()[-2])
    rows = of_class(svg, "cell")
    assert all(row.get("title") for row in rows)
    assert [row.get("tabindex") for row in rows] == ["0"] + ["-1"] * (len(rows) - 1)
    texts = "".join(parse(svg).itertext())
    assert f"{model.tree['n_samples']:,}" in texts
    assert model.tree["children"][0]["condition"].replace("<=", "≤") in texts


def test_cells_of_a_tree_are_indented_below_what_they_refine():
    rows = of_class(tree_chart(example_report().model), "cell")
    ends = {"rail-branch", "rail-end"}
    for row in rows:
        rails = [rail.get("class").split()[1] for rail in row.find("span")]
        assert len(rails) == int(row.get("aria-level")) - 1
        assert set(rails[:-1]) <= {"rail-through", "rail-none"}
        assert not rails or rails[-1] in ends

    def depth(node):
        return 1 + max((depth(child) for child in node.get("children", [])), default=0)

    assert max(int(row.get("aria-level")) for row in rows) == depth(example_report().model.tree)


def test_the_most_frequent_of_many_classes_have_colours_and_come_first():
    n_classes = 40
    counts = [1 + (7 * i) % n_classes for i in range(n_classes)]
    tree = {"n_samples": sum(counts), "counts": counts, "prediction": "class 17", "estimated_error": 0.9}
    model = replace(example_report().model, tree=tree, classes=tuple(f"class {i}" for i in range(n_classes)))
    frequent = sorted(range(n_classes), key=lambda i: -counts[i])
    *named, other = class_colours(model)
    assert named == [(colour, f"class {i}") for colour, i in enumerate(frequent[:8])]
    assert other == (8, "32 other classes")
    widths = dict.fromkeys(range(9), 0.0)
    for bar in parse(tree_chart(model)).iter("rect"):
        widths[int(bar.get("class").removeprefix("class-"))] += float(bar.get("width")[:-1])
    for colour, i in enumerate(frequent[:8]):
        assert widths[colour] == pytest.approx(100 * counts[i] / sum(counts), abs=0.01)
    assert sum(widths.values()) == pytest.approx(100, abs=0.1)


def test_many_values_are_summarised_with_all_of_them_a_click_away():
    values = [f"value {i}" for i in range(500)]
    many = {**leaf(10, f"x in {{{', '.join(values[:6])}, … 494 more}}"), "values": values}
    drawn = tree_chart(replace(example_report().model, tree=split(many, leaf(5))))
    [fold] = parse(drawn).iter("details")
    assert "".join(fold.find("summary").itertext()) == "x: value 0, value 1, value 2 or 497 more"
    assert fold.find("p").text == ", ".join(values)
    said = {**many, "summary": "x is one of 500 values, 1 % to 3 % no"}
    drawn = tree_chart(replace(example_report().model, tree=split(said, leaf(5))))
    assert "".join(next(parse(drawn).iter("summary")).itertext()) == said["summary"]
    endless = {**many, "values": [f"{i} " * 90 for i in range(5000)]}
    assert len(tree_chart(replace(example_report().model, tree=split(endless, leaf(5))))) < 60_000


def leaf(n, condition="x = 1"):
    node = {"n_samples": n, "counts": [n, 0], "prediction": "no", "estimated_error": 0.1}
    return {**node, "condition": condition, "values": [1]}


def split(*children):
    n = sum(child["n_samples"] for child in children)
    return {**leaf(n), "feature": "x", "children": list(children)}


def test_of_very_many_cells_the_first_are_drawn():
    model = replace(example_report().model, tree=split(*(leaf(i, f"x = value{i}.") for i in range(1, 301))))
    texts = "".join(parse(tree_chart(model)).itertext())
    assert f"{301 - MOST_CELLS} cells, not drawn" in texts
    assert "value1." in texts
    assert "value300." not in texts


def test_a_chain_longer_than_the_stack_is_drawn_in_part():
    tree = leaf(1)
    for _ in range(3000):
        tree = split(leaf(1), tree)
    svg = tree_chart(replace(example_report().model, tree=tree))
    assert len(of_class(svg, "cell")) == MOST_CELLS + 1
    assert "not drawn" in svg


def test_the_curves_skip_sizes_that_were_not_validated():
    model = example_report().model
    svg = size_chart(model)
    n_validated = sum(p.validated_error is not None for p in model.path)
    assert len(of_class(svg, "mark-validated")) == n_validated
    assert len(of_class(svg, "curve-validated")) == n_validated - 1
    assert len(of_class(svg, "curve-training")) == len(model.path) - 1
    assert f"chosen: {model.size} leaves" in svg


def test_a_single_size_and_a_perfect_model_are_drawn():
    model = example_report().model
    point = replace(model.path[0], size=0, training_error=0.0, estimated_error=0.0, validated_error=None)
    assert parse(size_chart(replace(model, path=(point,), size=0, baseline_error=0.0))) is not None
    verdict = replace(
        example_report().verdict, error=0.0, low=0.0, high=0.0, baseline_error=0.0, with_quarantined=None
    )
    assert parse(verdict_chart(verdict)) is not None


def test_a_verdict_without_quarantine_has_one_interval():
    verdict = replace(example_report().verdict, with_quarantined=None)
    assert len(of_class(verdict_chart(verdict), "interval")) == 1
    assert not of_class(verdict_chart(verdict), "interval-quarantined")


def test_a_verdict_by_absolute_errors_is_drawn_in_their_unit():
    """Where a few rows decide R², the figure is how far it is off: so are all bars, and nothing by R²."""
    verdict, off = example_report().verdict, Score(900.0, 800.0, 1000.0)
    other = replace(verdict.with_quarantined, score=Score(0.9, 0.8, 0.95), mean_absolute_error=off)
    honest = tuple(
        replace(one, score=Score(0.1, 0.0, 0.2), mean_absolute_error=off) for one in verdict.honest
    )
    verdict = replace(
        verdict,
        metric="r2",
        score=Score(0.2, 0.1, 0.3),
        baseline_score=0.0,
        with_quarantined=other,
        honest=honest,
        mean_absolute_error=1200.0,
        mean_absolute_error_low=1100.0,
        mean_absolute_error_high=1300.0,
        baseline_mean_absolute_error=1500.0,
    )
    text = "".join(parse(verdict_chart(verdict, None, OFF_BY)).itertext())
    assert "Off by 1,200 on new rows, 95 % interval 1,100 – 1,300" in text
    assert "Off by 900 on new rows" in text
    assert "Without any column: Off by 1,500" in text
    assert "R²" not in text
    assert "R²" in "".join(parse(verdict_chart(verdict)).itertext())


def test_numbers_of_columns_have_a_curve_with_standard_errors():
    found = example_report().sufficient
    svg = sufficient_chart(found)
    assert len(of_class(svg, "point")) == len(found.sizes)
    assert len(of_class(svg, "error-validated")) == len(found.sizes)
    assert len(of_class(svg, "curve-validated")) == len(found.sizes) - 1
    assert f"chosen: {found.n_chosen} columns" in svg
    assert parse(sufficient_chart(replace(found, sizes=found.sizes[:1], columns=()))) is not None


def test_the_error_bar_is_as_long_as_two_standard_errors():
    found = example_report().sufficient
    svg = sufficient_chart(found)
    grid = [float(line.get("y1")) for line in of_class(svg, "grid")]
    ticks = [float(text.text[:-2]) / 100 for text in of_class(svg, "tick") if "%" in text.text]
    per_share = (grid[0] - grid[-1]) / (ticks[-1] - ticks[0])
    bar = of_class(svg, "error-validated")[1]
    length = float(bar.get("y2")) - float(bar.get("y1"))
    assert length == pytest.approx(2 * found.sizes[1].standard_error * per_share, rel=0.01)


def test_the_extrapolated_part_of_a_learning_curve_is_told_apart():
    forecast = example_report().sizing
    svg = learning_chart(forecast)
    assert len(of_class(svg, "curve-estimate")) == 3
    assert len(of_class(svg, "curve-extrapolated")) == 3
    assert len(of_class(svg, "mark-extrapolated")) == 3
    assert len(of_class(svg, "error-estimate")) == 4
    assert len(of_class(svg, "band")) == 1
    assert "this table: 2,000 rows" in svg
    assert "8,000 rows, extrapolated" in svg


def test_a_score_and_its_correction_are_drawn_where_they_are():
    trust = example_report().trust
    found = replace(trust.found, naive=0.9, corrected=0.8, low=0.75, high=0.95, baseline=0.5)
    svg = trust_chart(replace(trust, found=found))
    first, last = 0.5, 1.0  # ticks
    at = {value: 2 + 94 * (value - first) / (last - first) for value in (0.8, 0.75, 0.95, 0.5)}
    [disc] = of_class(svg, "mark-estimate")
    assert float(disc.get("cx")[:-1]) == pytest.approx(at[0.8], abs=0.01)
    [bar] = of_class(svg, "interval")
    assert float(bar.get("x")[:-1]) == pytest.approx(at[0.75], abs=0.01)
    assert float(bar.get("width")[:-1]) == pytest.approx(at[0.95] - at[0.75], abs=0.01)
    [line] = of_class(svg, "baseline")
    assert float(line.get("x1")[:-1]) == pytest.approx(at[0.5], abs=0.01)
    assert not of_class(trust_chart(replace(trust, found=replace(found, baseline=None))), "baseline")


@pytest.mark.parametrize(
    ("smallest", "largest"), [(0, 0.42), (0, 1), (0, 0.003), (0.21, 0.26), (0.5, 0.5), (0.1 - 1e-16, 0.1)]
)
def test_ticks_cover_what_is_shown(largest, smallest):
    ticks = nice_ticks(smallest, largest)
    assert ticks[0] <= smallest + 1e-9
    assert ticks[-1] >= largest
    assert 2 <= len(ticks) <= 7


def test_an_axis_keeps_everything_inside():
    axis = Axis([0.0, 0.4], 30, 96)
    assert axis(-1) == "30.00%"
    assert axis(2) == "96.00%"


def test_bars_and_keys_are_not_read_aloud():
    assert parse(share_bar(0.3, 0.6)).get("aria-hidden") == "true"
    assert 'width="50.00%"' in share_bar(0.3, 0.6)
    assert parse(share_bar(0.0, 0.0)) is not None
    assert parse(legend_mark("class-2")).get("aria-hidden") == "true"


def test_attributes_and_children_are_escaped():
    assert tag("text", "<b>", x='"><script>') == '<text x="&#34;&gt;&lt;script&gt;">&lt;b&gt;</text>'


def test_a_wild_interval_of_the_opaque_model_does_not_stretch_the_axis():
    verdict = replace(example_report().verdict, metric="r2", score=Score(0.6, 0.5, 0.7), baseline_score=0.0)
    opaque = SimpleNamespace(name="boosting", error=0.1, score=Score(0.7, -100_000.0, 0.9))
    drawn = str(verdict_chart(verdict, opaque))
    assert "-100" not in re.sub(r"<(title|desc).*?</\1>", "", drawn).replace("−", "-")
