"""Errors as curves: against the size of the model, the number of columns and the number of rows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from markupsafe import Markup

from offsample.report._formats import amount, is_missing, units
from offsample.report._metrics import ERROR
from offsample.report._scales import ERRORS, Scale
from offsample.report.charts._plane import HEIGHT, Plane
from offsample.report.charts._svg import chart, diamond, disc, number_label, point, square, tick_label
from offsample.report.sections.model import Model
from offsample.report.sections.sizing import Sizing
from offsample.report.sections.sufficient import FewColumns

_MANY = 40  # more numbers than this are placed by their ratios


def _plane(
    numbers: Sequence[float],
    figures: Sequence[float],
    scale: Scale,
    beside: Sequence[float] = (),
    **known: Any,
) -> Plane:
    """Return the plane of some figures; others than errors may be above 1."""
    most = 1.0 if scale.is_share and scale.name == ERROR else max([1.0, *_known(figures)])
    label = tick_label if scale.is_share else number_label
    least = max(-1.0, min([0.0, *_known(figures)]))  # R² may be below 0
    return Plane(numbers, figures, beside=beside, within=(least, most), upright_label=label, **known)


def _known(figures: Sequence[float]) -> list[float]:
    return [figure for figure in figures if not is_missing(figure)]


def size_chart(model: Model, scale: Scale = ERRORS) -> Markup:
    """Draw three curves over the sizes that were compared, and the size that was chosen."""
    path = sorted((p.shown for p in model.path), key=lambda size_point: size_point.size)
    sizes = [p.size for p in path]
    estimated, validated, trained = (
        [scale(getattr(p, f"{name}_error")) for p in path] for name in ("estimated", "validated", "training")
    )
    base = scale(model.baseline_error if model.baseline_loss is None else model.baseline_loss)
    many = bool(sizes) and sizes[-1] > _MANY
    plane = _plane(sizes, [*estimated, *validated, base], scale, trained, logarithmic=many)
    plural = units(model.unit)
    chosen = amount(model.size, model.unit, plural)
    parts = [
        plane.grid(plural, base),
        plane.baseline(base),
        plane.highlight(model.size, f"chosen: {chosen}"),
        plane.curve(zip(sizes, trained, strict=True), "curve-training"),
        plane.curve(zip(sizes, validated, strict=True), "curve-validated"),
        plane.curve(zip(sizes, estimated, strict=True), "curve-estimate"),
    ]
    points = []
    for size, own, held, training in zip(sizes, estimated, validated, trained, strict=True):
        place, told = plane.x(size), ""
        marks = [plane.reach(size)]
        if plane.holds(training):
            marks.append(diamond(place, plane.y(training), size=4.5))
        if not is_missing(held):
            marks.append(square(place, plane.y(held)))
            told = f"Rows held back {scale.write(held)}\n"
        if not is_missing(own):
            marks.append(disc(place, plane.y(own), "mark-estimate", 4))
            told = f"Its own estimate {scale.write(own)}\n{told}"
        is_chosen = ", chosen" * (size == model.size)
        tip = f"{amount(size, model.unit, plural)}{is_chosen}\n{told}Training {scale.write(training)}"
        points.append((tip, marks))
    description = (
        f"{scale.title} in training, by its own estimate and on rows held back, at "
        f"{amount(len(path), 'size')}; {chosen} chosen. Without any column: {scale.write(base)}."
    )
    return curves("chart-size", f"{scale.title} against size of the model", description, parts, points)


def sufficient_chart(found: FewColumns, scale: Scale = ERRORS) -> Markup:
    """Draw the errors of the recommended kind of model with fewer columns, with standard errors."""
    sizes = [s.shown for s in found.sizes]
    base = scale(found.baseline_error if scale.name == ERROR else found.baseline)
    ends = [sorted((scale(s.error - s.standard_error), scale(s.error + s.standard_error))) for s in sizes]
    numbers = [s.n_columns for s in sizes]
    reached = [end for pair in ends for end in pair]
    plane = _plane(numbers, reached, scale, [base], logarithmic=max(numbers, default=0) > _MANY)
    chosen = amount(found.n_chosen, "column")
    parts = [
        plane.grid("columns", base),
        plane.baseline(base),
        plane.highlight(found.n_chosen, f"chosen: {chosen}"),
        plane.curve([(s.n_columns, scale(s.error)) for s in sizes], "curve-validated"),
    ]
    points = []
    for s, (low, high) in zip(sizes, ends, strict=True):
        marks = [
            plane.reach(s.n_columns),
            plane.error_bar(s.n_columns, low, high, "error-validated"),
            disc(plane.x(s.n_columns), plane.y(scale(s.error)), "mark-validated", 4),
        ]
        tip = f"{amount(s.n_columns, 'column')}\n{scale.title} {scale.text(s.error)} ± {scale.deviation(s)}"
        points.append((tip, marks))
    description = (
        f"{scale.title} on rows held back, with the first {chosen} and with fewer. Without any column: "
        f"{scale.write(base)}."
    )
    title = f"{scale.title} against number of columns"
    return curves("chart-sufficient", title, description, parts, points)


def learning_chart(forecast: Sizing, scale: Scale = ERRORS) -> Markup:
    """Draw measured points with their intervals, then the extrapolated curve, dashed, in its band."""
    curve, figures = forecast.curve, {}
    for p in forecast.curve:
        low, high = sorted((scale(p.low), scale(p.high)))
        figures[p.n_rows] = low, scale(p.error), high
    numbers = [p.n_rows for p in curve]
    plane = _plane(numbers, [end for ends in figures.values() for end in ends], scale, logarithmic=True)
    measured = [p.n_rows for p in curve if p.measured]
    beyond = [*measured[-1:], *(p.n_rows for p in curve if not p.measured)]
    parts = [
        plane.band([(n, figures[n][0], figures[n][2]) for n in beyond], "band"),
        plane.grid("rows"),
        plane.highlight(forecast.n_rows, f"this table: {amount(forecast.n_rows, 'row')}"),
        plane.curve([(n, figures[n][1]) for n in measured], "curve-estimate"),
        plane.curve([(n, figures[n][1]) for n in beyond], "curve-extrapolated"),
    ]
    points = []
    for p in curve:
        (low, value, high), marks = figures[p.n_rows], [plane.reach(p.n_rows)]
        if p.measured:
            marks.append(plane.error_bar(p.n_rows, low, high, "error-estimate"))
        class_ = "mark-estimate" if p.measured else "mark-extrapolated"
        marks.append(disc(plane.x(p.n_rows), plane.y(value), class_, 4))
        tip = (
            f"{amount(p.n_rows, 'row')}, {'measured' if p.measured else 'extrapolated'}\n"
            f"{scale.title} {scale.text(p.error)}, 95 % interval {scale.within(p.low, p.high)}"
        )
        points.append((tip, marks))
    description = (
        f"{scale.title} of a model fitted to {amount(len(measured), 'part')} of the rows, and extrapolated "
        f"to {amount(max(numbers, default=0), 'row')}."
    )
    return curves("chart-learning", f"{scale.title} against number of rows", description, parts, points)


def curves(
    name: str, title: str, description: str, parts: list[Markup], points: list[tuple[str, list[Markup]]]
) -> Markup:
    """Put curves and their points together as a chart."""
    marked = [point(tip, *marks, first=i == 0) for i, (tip, marks) in enumerate(points)]
    return chart(name, title, description, *parts, *marked, height=HEIGHT)
