"""Errors as curves: against the size of the model, the number of columns and the number of rows."""

from __future__ import annotations

from markupsafe import Markup

from offsample.report._formats import amount, interval, is_missing, percent, units
from offsample.report.charts._plane import HEIGHT, Plane
from offsample.report.charts._svg import chart, diamond, disc, point, square
from offsample.report.sections.model import Model
from offsample.report.sections.sizing import Sizing
from offsample.report.sections.sufficient import FewColumns

_MANY = 40  # more numbers than this are placed by their ratios


def size_chart(model: Model) -> Markup:
    """Draw three curves over the sizes that were compared, and the size that was chosen."""
    path = sorted(model.path, key=lambda size_point: size_point.size)
    sizes = [p.size for p in path]
    shares = [share for p in path for share in (p.estimated_error, p.validated_error)]
    plane = Plane(
        sizes,
        [*shares, model.baseline_error],
        beside=[p.training_error for p in path],
        logarithmic=bool(sizes) and sizes[-1] > _MANY,
    )
    plural = units(model.unit)
    chosen = amount(model.size, model.unit, plural)
    parts = [
        plane.grid(plural, model.baseline_error),
        plane.baseline(model.baseline_error),
        plane.highlight(model.size, f"chosen: {chosen}"),
        plane.curve([(p.size, p.training_error) for p in path], "curve-training"),
        plane.curve([(p.size, p.validated_error) for p in path], "curve-validated"),
        plane.curve([(p.size, p.estimated_error) for p in path], "curve-estimate"),
    ]
    points = []
    for p in path:
        place = plane.x(p.size)
        marks = [plane.reach(p.size)]
        if plane.holds(p.training_error):
            marks.append(diamond(place, plane.y(p.training_error), size=4.5))
        if p.validated_error is not None and not is_missing(p.validated_error):
            marks.append(square(place, plane.y(p.validated_error)))
        if not is_missing(p.estimated_error):
            marks.append(disc(place, plane.y(p.estimated_error), "mark-estimate", 4))
        validated = "" if p.validated_error is None else f"\nRows held back {percent(p.validated_error)}"
        tip = (
            f"{amount(p.size, model.unit, plural)}{', chosen' if p.size == model.size else ''}\n"
            f"Its own estimate {percent(p.estimated_error)}{validated}\nTraining {percent(p.training_error)}"
        )
        points.append((tip, marks))
    description = (
        f"Error in training, by its own estimate and on rows held back, at {amount(len(path), 'size')}; "
        f"{chosen} chosen. Always guessing the most frequent class: {percent(model.baseline_error)}."
    )
    return _curves("chart-size", "Error against size of the model", description, parts, points)


def sufficient_chart(found: FewColumns) -> Markup:
    """Draw the errors of the recommended kind of model with fewer columns, with standard errors."""
    ends = [(s.error - s.standard_error, s.error + s.standard_error) for s in found.sizes]
    numbers = [s.n_columns for s in found.sizes]
    reached = [end for pair in ends for end in pair]
    many = max(numbers, default=0) > _MANY
    plane = Plane(numbers, reached, beside=[found.baseline_error], logarithmic=many)
    chosen = amount(found.n_chosen, "column")
    parts = [
        plane.grid("columns", found.baseline_error),
        plane.baseline(found.baseline_error),
        plane.highlight(found.n_chosen, f"chosen: {chosen}"),
        plane.curve([(s.n_columns, s.error) for s in found.sizes], "curve-validated"),
    ]
    points = []
    for s, (low, high) in zip(found.sizes, ends, strict=True):
        marks = [
            plane.reach(s.n_columns),
            plane.error_bar(s.n_columns, low, high, "error-validated"),
            disc(plane.x(s.n_columns), plane.y(s.error), "mark-validated", 4),
        ]
        tip = f"{amount(s.n_columns, 'column')}\nError {percent(s.error)} ± {percent(s.standard_error)}"
        points.append((tip, marks))
    description = (
        f"Error on rows held back, with the first {chosen} and with fewer. Always guessing the most frequent "
        f"class: {percent(found.baseline_error)}."
    )
    return _curves("chart-sufficient", "Error against number of columns", description, parts, points)


def learning_chart(forecast: Sizing) -> Markup:
    """Draw measured points with their intervals, then the extrapolated curve, dashed, in its band."""
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
    points = []
    for p in curve:
        marks = [plane.reach(p.n_rows)]
        if p.measured:
            marks.append(plane.error_bar(p.n_rows, p.low, p.high, "error-estimate"))
        class_ = "mark-estimate" if p.measured else "mark-extrapolated"
        marks.append(disc(plane.x(p.n_rows), plane.y(p.error), class_, 4))
        tip = (
            f"{amount(p.n_rows, 'row')}, {'measured' if p.measured else 'extrapolated'}\n"
            f"Error {percent(p.error)}, 95 % interval {interval(p.low, p.high)}"
        )
        points.append((tip, marks))
    description = (
        f"Error of a model fitted to {amount(len(measured), 'part')} of the rows, and extrapolated to "
        f"{amount(max(numbers, default=0), 'row')}."
    )
    return _curves("chart-learning", "Error against number of rows", description, parts, points)


def _curves(
    name: str, title: str, description: str, parts: list[Markup], points: list[tuple[str, list[Markup]]]
) -> Markup:
    marked = [point(tip, *marks, first=i == 0) for i, (tip, marks) in enumerate(points)]
    return chart(name, title, description, *parts, *marked, height=HEIGHT)
