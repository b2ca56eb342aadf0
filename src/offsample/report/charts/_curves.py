"""Errors as curves: against the size of the model, the number of columns and the number of rows."""

from __future__ import annotations

from collections.abc import Sequence

from markupsafe import Markup

from offsample.report._formats import amount, interval, is_missing, percent, units
from offsample.report._metrics import ERROR
from offsample.report.charts._plane import HEIGHT, Plane
from offsample.report.charts._svg import chart, diamond, disc, point, square
from offsample.report.sections.model import Model
from offsample.report.sections.sizing import Sizing
from offsample.report.sections.sufficient import FewColumns

_MANY = 40  # more numbers than this are placed by their ratios


def _most(loss: str, shares: Sequence[float | None]) -> float:
    """Return where an axis ends at most: more may be lost than by guessing, but not more than all."""
    known = [share for share in shares if share is not None and not is_missing(share)]
    return 1.0 if loss == ERROR else max([1.0, *known])


def _baseline(model: Model) -> float:
    return model.baseline_error if model.baseline_loss is None else model.baseline_loss


def size_chart(model: Model) -> Markup:
    """Draw three curves over the sizes that were compared, and the size that was chosen."""
    path = sorted((p.shown for p in model.path), key=lambda size_point: size_point.size)
    sizes = [p.size for p in path]
    shares = [share for p in path for share in (p.estimated_error, p.validated_error)]
    base, name = _baseline(model), model.loss[:1].upper() + model.loss[1:]
    plane = Plane(
        sizes,
        [*shares, base],
        beside=[p.training_error for p in path],
        logarithmic=bool(sizes) and sizes[-1] > _MANY,
        most=_most(model.loss, shares),
    )
    plural = units(model.unit)
    chosen = amount(model.size, model.unit, plural)
    parts = [
        plane.grid(plural, base),
        plane.baseline(base),
        plane.highlight(model.size, f"chosen: {chosen}"),
        plane.curve([(p.size, p.training_error) for p in path], "curve-training"),
        plane.curve([(p.size, p.validated_error) for p in path], "curve-validated"),
        plane.curve([(p.size, p.estimated_error) for p in path], "curve-estimate"),
    ]
    points = []
    for p in path:
        place, estimated, validated = plane.x(p.size), "", ""
        marks = [plane.reach(p.size)]
        if plane.holds(p.training_error):
            marks.append(diamond(place, plane.y(p.training_error), size=4.5))
        if p.validated_error is not None and not is_missing(p.validated_error):
            marks.append(square(place, plane.y(p.validated_error)))
            validated = f"Rows held back {percent(p.validated_error)}\n"
        if not is_missing(p.estimated_error):
            marks.append(disc(place, plane.y(p.estimated_error), "mark-estimate", 4))
            estimated = f"Its own estimate {percent(p.estimated_error)}\n"
        tip = (
            f"{amount(p.size, model.unit, plural)}{', chosen' if p.size == model.size else ''}\n"
            f"{estimated}{validated}Training {percent(p.training_error)}"
        )
        points.append((tip, marks))
    description = (
        f"{name} in training, by its own estimate and on rows held back, at {amount(len(path), 'size')}; "
        f"{chosen} chosen. Without any column: {percent(base)}."
    )
    return curves("chart-size", f"{name} against size of the model", description, parts, points)


def sufficient_chart(found: FewColumns, loss: str = ERROR) -> Markup:
    """Draw the errors of the recommended kind of model with fewer columns, with standard errors."""
    sizes, base = [s.shown for s in found.sizes], found.baseline if loss != ERROR else found.baseline_error
    ends = [(s.error - s.standard_error, s.error + s.standard_error) for s in sizes]
    numbers = [s.n_columns for s in sizes]
    reached = [end for pair in ends for end in pair]
    many = max(numbers, default=0) > _MANY
    plane = Plane(numbers, reached, beside=[base], logarithmic=many, most=_most(loss, reached))
    chosen, name = amount(found.n_chosen, "column"), loss[:1].upper() + loss[1:]
    parts = [
        plane.grid("columns", base),
        plane.baseline(base),
        plane.highlight(found.n_chosen, f"chosen: {chosen}"),
        plane.curve([(s.n_columns, s.error) for s in sizes], "curve-validated"),
    ]
    points = []
    for s, (low, high) in zip(sizes, ends, strict=True):
        marks = [
            plane.reach(s.n_columns),
            plane.error_bar(s.n_columns, low, high, "error-validated"),
            disc(plane.x(s.n_columns), plane.y(s.error), "mark-validated", 4),
        ]
        tip = f"{amount(s.n_columns, 'column')}\n{name} {percent(s.error)} ± {percent(s.standard_error)}"
        points.append((tip, marks))
    description = (
        f"{name} on rows held back, with the first {chosen} and with fewer. Without any column: "
        f"{percent(base)}."
    )
    return curves("chart-sufficient", f"{name} against number of columns", description, parts, points)


def learning_chart(forecast: Sizing) -> Markup:
    """Draw measured points with their intervals, then the extrapolated curve, dashed, in its band."""
    curve = forecast.curve
    numbers = [p.n_rows for p in curve]
    shares = [share for p in curve for share in (p.error, p.low, p.high)]
    plane = Plane(numbers, shares, logarithmic=True, most=_most(forecast.loss, shares))
    name = forecast.loss[:1].upper() + forecast.loss[1:]
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
            f"{name} {percent(p.error)}, 95 % interval {interval(p.low, p.high)}"
        )
        points.append((tip, marks))
    description = (
        f"{name} of a model fitted to {amount(len(measured), 'part')} of the rows, and extrapolated to "
        f"{amount(max(numbers, default=0), 'row')}."
    )
    return curves("chart-learning", f"{name} against number of rows", description, parts, points)


def curves(
    name: str, title: str, description: str, parts: list[Markup], points: list[tuple[str, list[Markup]]]
) -> Markup:
    """Put curves and their points together as a chart."""
    marked = [point(tip, *marks, first=i == 0) for i, (tip, marks) in enumerate(points)]
    return chart(name, title, description, *parts, *marked, height=HEIGHT)
