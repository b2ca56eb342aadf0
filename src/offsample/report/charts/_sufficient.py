"""Error against the number of columns."""

from __future__ import annotations

from markupsafe import Markup

from offsample.report._formats import amount, percent
from offsample.report.charts._plane import HEIGHT, Plane
from offsample.report.charts._svg import chart, disc, point
from offsample.report.sections.sufficient import FewColumns


def sufficient_chart(found: FewColumns) -> Markup:
    """Errors of the recommended kind of model with fewer columns, with standard errors."""
    sizes = found.sizes
    reached = [end for s in sizes for end in (s.error - s.standard_error, s.error + s.standard_error)]
    numbers = [s.n_columns for s in sizes]
    plane = Plane(numbers, reached, beside=[found.baseline_error], logarithmic=max(numbers, default=0) > 40)
    parts = [
        plane.grid("columns", found.baseline_error),
        plane.baseline(found.baseline_error),
        plane.highlight(found.n_chosen, f"chosen: {amount(found.n_chosen, 'column')}"),
        plane.curve([(s.n_columns, s.error) for s in sizes], "curve-validated"),
    ]
    for i, s in enumerate(sizes):
        n = s.n_columns
        ends = s.error - s.standard_error, s.error + s.standard_error
        tip = f"{amount(n, 'column')}\nError {percent(s.error)} ± {percent(s.standard_error)}"
        marks = [
            plane.reach(n),
            plane.error_bar(n, *ends, "error-validated"),
            disc(plane.x(n), plane.y(s.error), "mark-validated", 4),
        ]
        parts.append(point(tip, *marks, first=i == 0))
    return chart(
        "chart-sufficient",
        "Error against number of columns",
        f"Error on rows held back, with the first {amount(found.n_chosen, 'column')} and "
        f"with fewer. Always guessing the most frequent class: {percent(found.baseline_error)}.",
        *parts,
        width="100%",
        height=HEIGHT,
    )
