"""Error against the number of rows: measured, and extrapolated."""

from __future__ import annotations

from markupsafe import Markup

from offsample.report._formats import amount, interval, percent
from offsample.report.charts._plane import HEIGHT, Plane
from offsample.report.charts._svg import chart, disc, point
from offsample.report.sections.sizing import Sizing


def learning_chart(forecast: Sizing) -> Markup:
    """Measured points with their intervals, then the extrapolated curve, dashed, in its band."""
    curve = forecast.curve
    numbers = [p.n_rows for p in curve]
    plane = Plane(numbers, [share for p in curve for share in (p.error, p.low, p.high)], logarithmic=True)
    measured = [p for p in curve if p.measured]
    beyond = [*measured[-1:], *(p for p in curve if not p.measured)]
    parts = [
        plane.band([(p.n_rows, p.low, p.high) for p in beyond], "band"),
        plane.grid("rows"),
        plane.highlight(forecast.n_rows, f"this table: {amount(forecast.n_rows, 'row')}"),
        plane.curve([(p.n_rows, p.error) for p in measured], "curve-estimate"),
        plane.curve([(p.n_rows, p.error) for p in beyond], "curve-extrapolated"),
    ]
    for i, p in enumerate(curve):
        marks = [plane.reach(p.n_rows)]
        if p.measured:
            marks.append(plane.error_bar(p.n_rows, p.low, p.high, "error-estimate"))
        marks.append(
            disc(
                plane.x(p.n_rows), plane.y(p.error), "mark-estimate" if p.measured else "mark-extrapolated", 4
            )
        )
        tip = (
            f"{amount(p.n_rows, 'row')}, {'measured' if p.measured else 'extrapolated'}\n"
            f"Error {percent(p.error)}, 95 % interval {interval(p.low, p.high)}"
        )
        parts.append(point(tip, *marks, first=i == 0))
    return chart(
        "chart-learning",
        "Error against number of rows",
        f"Error of a model fitted to {amount(len(measured), 'part')} of the rows, and extrapolated to "
        f"{amount(max(numbers, default=0), 'row')}.",
        *parts,
        width="100%",
        height=HEIGHT,
    )
