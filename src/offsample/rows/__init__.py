"""Who are the rows? Copies of each other, rows of the same patient, or one after the other in time.

Each function asks one question of columns as arrays, by a rule that its documentation states with all
thresholds, and returns plain numbers; nothing is decided. On tables of independent rows each finds something
in fewer than 5 %.
"""

from offsample.rows._alikeness import alikeness
from offsample.rows._clusters import Clusters, suspect_clusters
from offsample.rows._drift import Drift, find_drift
from offsample.rows._entities import Carried, Entity, suspect_entities
from offsample.rows._order import Order, neighbours_alike, suspect_orders
from offsample.rows._repeats import Repeats, find_repeats

__all__ = [
    "Carried",
    "Clusters",
    "Drift",
    "Entity",
    "Order",
    "Repeats",
    "alikeness",
    "find_drift",
    "find_repeats",
    "neighbours_alike",
    "suspect_clusters",
    "suspect_entities",
    "suspect_orders",
]
