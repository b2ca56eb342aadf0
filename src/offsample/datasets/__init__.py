"""Generated problems whose truth is known."""

from offsample.datasets._customers import CUSTOMER_ROLES, make_customers

__all__ = ["CUSTOMER_ROLES", "make_customers"]
