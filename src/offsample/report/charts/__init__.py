"""Charts of the report: plain data in, SVG out."""

from offsample.report.charts._acting import acting_chart, calibration_chart
from offsample.report.charts._columns import MOST_ROWS, columns_chart
from offsample.report.charts._curves import learning_chart, size_chart, sufficient_chart
from offsample.report.charts._in_text import legend_mark, picture_bars, picture_ends, share_bar
from offsample.report.charts._intervals import trust_chart, verdict_chart
from offsample.report.charts._tree import class_colours, tree_chart

__all__ = [
    "MOST_ROWS",
    "acting_chart",
    "calibration_chart",
    "class_colours",
    "columns_chart",
    "learning_chart",
    "legend_mark",
    "picture_bars",
    "picture_ends",
    "share_bar",
    "size_chart",
    "sufficient_chart",
    "tree_chart",
    "trust_chart",
    "verdict_chart",
]
