"""Error against size: on the sample, estimated off it, and cross-validated."""

from __future__ import annotations

from markupsafe import Markup

from offsample.report._formats import amount, is_missing, percent, units
from offsample.report.charts._plane import HEIGHT, Plane
from offsample.report.charts._svg import chart, diamond, disc, point, square
from offsample.report.sections.model import Model

_SERIES = (
    ("training_error", "training"),
    ("validated_error", "validated"),
    ("estimated_error", "estimate"),
)


def size_chart(model: Model) -> Markup:
    """Three curves over the sizes that were compared, and the size that was chosen."""
    path = sorted(model.path, key=lambda size_point: size_point.size)
    sizes = [p.size for p in path]
    shares = [share for p in path for share in (p.estimated_error, p.validated_error)]
    plane = Plane(
        sizes,
        [*shares, model.baseline_error],
        beside=[p.training_error for p in path],
        logarithmic=bool(sizes) and sizes[-1] > 40,
    )
    plural = units(model.unit)
    parts = [
        plane.grid(plural, model.baseline_error),
        plane.baseline(model.baseline_error),
        plane.highlight(model.size, f"chosen: {amount(model.size, model.unit, plural)}"),
    ]
    parts += [
        plane.curve([(p.size, getattr(p, attribute)) for p in path], f"curve-{series}")
        for attribute, series in _SERIES
    ]
    for i, p in enumerate(path):
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
        parts.append(point(tip, *marks, first=i == 0))
    return chart(
        "chart-size",
        "Error against size of the model",
        f"Error in training, by its own estimate and on rows held back, at {amount(len(path), 'size')}; "
        f"{amount(model.size, model.unit, plural)} chosen. Always guessing the most frequent class: "
        f"{percent(model.baseline_error)}.",
        *parts,
        width="100%",
        height=HEIGHT,
    )
