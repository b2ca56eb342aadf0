"""Error against the number of columns."""

from __future__ import annotations

from markupsafe import Markup

from offsample.report._formats import amount, percent
from offsample.report.charts._plane import HEIGHT, Plane
from offsample.report.charts._svg import at, chart, disc, point, tag
from offsample.report.sections.sufficient import SufficientColumns, helps

_APART = 3.5  # pixels by which the two rules stand apart


def sufficient_chart(found: SufficientColumns) -> Markup:
    """The nearest-neighbour rule and, where it was tried, the model, with standard errors; and the choice."""
    sizes = found.sizes
    with_model = found.judged_by == "model"
    reached = [end for s in sizes for end in (s.error - s.standard_error, s.error + s.standard_error)]
    for s in sizes:
        if s.model_error is not None and s.model_standard_error is not None:
            reached += [s.model_error - s.model_standard_error, s.model_error + s.model_standard_error]
    numbers = [s.n_columns for s in sizes]
    plane = Plane(numbers, reached, beside=[found.baseline_error], logarithmic=max(numbers, default=0) > 40)
    chosen = bool(sizes) and helps(found)
    parts = [
        plane.grid("columns", found.baseline_error),
        plane.baseline(found.baseline_error),
        plane.highlight(found.n_chosen, f"chosen: {amount(found.n_chosen, 'column')}")
        if chosen
        else Markup(""),
        plane.curve([(s.n_columns, s.error) for s in sizes], "curve-validated"),
        plane.curve([(s.n_columns, s.model_error) for s in sizes], "curve-estimate"),
    ]
    for i, s in enumerate(sizes):
        n = s.n_columns
        shift = _APART if with_model else 0.0
        ends = s.error - s.standard_error, s.error + s.standard_error
        square = tag("rect", x=shift - 3.5, y=-3.5, width=7, height=7, class_="mark-validated")
        marks = [
            plane.reach(n),
            plane.error_bar(n, *ends, "error-validated", shift),
            at(plane.x(n), plane.y(s.error), square),
        ]
        tip = f"{amount(n, 'column')}{', chosen' if chosen and n == found.n_chosen else ''}"
        if s.model_error is not None and s.model_standard_error is not None:
            ends = s.model_error - s.model_standard_error, s.model_error + s.model_standard_error
            marks.append(plane.error_bar(n, *ends, "error-estimate"))
            marks.append(disc(plane.x(n), plane.y(s.model_error), "mark-estimate", 4))
            tip += f"\nTree {percent(s.model_error)} ± {percent(s.model_standard_error)}"
        tip += f"\nNearest neighbour {percent(s.error)} ± {percent(s.standard_error)}"
        parts.append(point(tip, *marks, first=i == 0))
    return chart(
        "chart-sufficient",
        "Error against number of columns",
        f"Error on rows that took no part in the choice, for {amount(len(sizes), 'number')} of columns; "
        f"{amount(found.n_chosen, 'column') if chosen else 'none'} chosen. Always guessing the most "
        f"frequent class: {percent(found.baseline_error)}.",
        *parts,
        width="100%",
        height=HEIGHT,
    )
