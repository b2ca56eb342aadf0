"""What acting brings: precision and recall by the share of the rows, and ratings beside what happened."""

from __future__ import annotations

from markupsafe import Markup

from offsample.report._formats import amount, interval, is_missing, percent
from offsample.report.charts._curves import curves
from offsample.report.charts._plane import Plane
from offsample.report.charts._svg import disc, nice_ticks, square
from offsample.report.sections.acting import Acting


def acting_chart(acting: Acting) -> Markup:
    """Draw recall and precision against the share of the rows that is acted upon, each in its band."""
    curve = acting.curve
    numbers = [100 * p.share for p in curve]
    plane = Plane(numbers, [0.0, 1.0], logarithmic=False)
    base = acting.n_positive / acting.n_rows
    parts = [
        plane.band([(100 * p.share, p.recall.low, p.recall.high) for p in curve], "band"),
        plane.band([(100 * p.share, p.precision.low, p.precision.high) for p in curve], "band-validated"),
        plane.grid("% of the rows, those rated highest"),
        plane.baseline(base),
        plane.curve([(100 * p.share, p.precision.value) for p in curve], "curve-validated"),
        plane.curve([(100 * p.share, p.recall.value) for p in curve], "curve-estimate"),
    ]
    points = []
    for p in curve:
        x = plane.x(100 * p.share)
        marks = [
            plane.reach(100 * p.share),
            square(x, plane.y(p.precision.value)),
            disc(x, plane.y(p.recall.value), "mark-estimate", 4),
        ]
        tip = (
            f"The {percent(p.share)} of the rows that are rated highest\n"
            f"hold {percent(p.recall.value)} of the class ({interval(p.recall.low, p.recall.high)})\n"
            f"and are of it in {percent(p.precision.value)} ({interval(p.precision.low, p.precision.high)})"
        )
        points.append((tip, marks))
    description = (
        f"Share of the class that the rows hold which are rated highest, and share of it among them, for "
        f"{amount(len(curve), 'share')} of the rows. Of all rows {percent(base)} are of the class."
    )
    return curves("chart-acting", "Recall and precision by share of the rows", description, parts, points)


def calibration_chart(acting: Acting) -> Markup:
    """Draw the share of the class among rows that were rated alike, beside what they were told."""
    bins = acting.calibration
    most = max(
        share
        for p in bins
        for share in (p.predicted, p.observed.value, p.observed.high)
        if not is_missing(share)
    )
    ticks = nice_ticks(0.0, most)
    plane = Plane(
        ticks, [0.0, most], logarithmic=False, label=lambda share: percent(share).replace(".0 ", " ")
    )
    parts = [
        plane.grid("probability that was given"),
        plane.curve([(0.0, 0.0), (plane.ticks[-1], plane.ticks[-1])], "baseline"),
    ]
    points = []
    for p in bins:
        marks = [
            plane.error_bar(p.predicted, p.observed.low, p.observed.high, "error-estimate"),
            disc(plane.x(p.predicted), plane.y(p.observed.value), "mark-estimate", 4),
        ]
        tip = (
            f"{amount(p.n_rows, 'row')}\nGiven {percent(p.predicted)} on average\nFound "
            f"{percent(p.observed.value)}, 95 % interval {interval(p.observed.low, p.observed.high)}"
        )
        points.append((tip, marks))
    description = (
        f"Share of the class in {amount(len(bins), 'bin')} of rows held back, beside the mean probability "
        "that they were given; on the dashed line both are the same."
    )
    return curves("chart-calibration", "Probabilities beside what happened", description, parts, points)
