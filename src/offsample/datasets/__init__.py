"""Generated problems whose truth is known, and real data sets by name."""

from offsample.datasets._generated import make_customers, make_oblique_xor, make_parity_sample
from offsample.datasets._load import Dataset, load

__all__ = ["Dataset", "load", "make_customers", "make_oblique_xor", "make_parity_sample"]
