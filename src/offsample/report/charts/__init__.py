"""Charts of the report: plain data in, SVG out."""

from offsample.report.charts._columns import MOST_ROWS, columns_chart
from offsample.report.charts._learning import learning_chart
from offsample.report.charts._legend import legend_mark
from offsample.report.charts._shares import share_bar
from offsample.report.charts._size import size_chart
from offsample.report.charts._sufficient import sufficient_chart
from offsample.report.charts._tree import class_colours, tree_chart
from offsample.report.charts._trust import trust_chart
from offsample.report.charts._verdict import verdict_chart

__all__ = [
    "MOST_ROWS",
    "class_colours",
    "columns_chart",
    "learning_chart",
    "legend_mark",
    "share_bar",
    "size_chart",
    "sufficient_chart",
    "tree_chart",
    "trust_chart",
    "verdict_chart",
]
