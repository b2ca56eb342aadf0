"""Who are the rows? Copies of each other, of the same patient, or one after the other in time."""

from offsample.rows._entities import Entity, suspect_entities
from offsample.rows._repeats import Repeats, find_repeats

__all__ = ["Entity", "Repeats", "find_repeats", "suspect_entities"]
