"""One page that says what to expect of a table on new rows. Call it: ``offsample.report(table, target)``."""

from typing import TYPE_CHECKING

from offsample._lazy import lazy_names, make_callable

if TYPE_CHECKING:  # all public names; each is loaded on first use
    from offsample.report._build import report as report
    from offsample.report._result import Report as Report
    from offsample.report._saved import load_model as load_model
    from offsample.report._saved import save_model as save_model
    from offsample.report._saved import scored as scored
    from offsample.report._schema import report_schema as report_schema

__all__, __getattr__, __dir__ = lazy_names(__name__)
make_callable(__name__, "report")
