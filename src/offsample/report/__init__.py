"""One page that says what to expect of a table on new rows. Call it: ``offsample.report(table, target)``."""

from offsample._lazy import lazy_names, make_callable

# Loaded on first use, as everything heavy here.
_HOME = {"Report": "offsample.report._result", "report": "offsample.report._build"}

__all__ = ["Report", "report"]

__getattr__, __dir__ = lazy_names(__name__, _HOME)
make_callable(__name__, "report")
