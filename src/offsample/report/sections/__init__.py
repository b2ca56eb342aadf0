"""The sections of a report: one analysis, one dataclass, one template each."""
