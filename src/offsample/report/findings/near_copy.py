"""Near-copy: two columns that say the same."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np

from offsample._typing import Booleans, Ints
from offsample.counts import CellCounts, count_cells
from offsample.criteria import bayes_loo
from offsample.report._study import Study, compared_rows
from offsample.report.findings import Finding, Term

CODE = "near-copy"
TERM = Term(
    "Near-copy",
    "The column says nearly the same as another one.",
    "Keep the one that is easier to get; a model can use either.",
)
RULE = (
    "Each of two columns (numbers cut into 16 ranges of as many rows) predicts the other on new rows with "
    "less than 5 % of the error of guessing its most frequent value; the 95 % limit of that error, corrected "
    "for the number of pairs, is used. At most 5 % of tables without near-copies get such a finding. Missing "
    "counts as a value: where the two do not predict each other in the rows that have both, it is said that "
    "they are only missing together."
)
QUARANTINES = False

_SHARE = 0.05
_MAX_COLUMNS = 200
_MAX_TABLE = 2_000_000


def find(study: Study) -> dict[Any, Finding]:
    """Find columns that repeat a better one."""
    found = {}
    names = [f.name for f in study.ranking if f.name not in study.findings]
    for better, worse in copies(study, names, _SHARE):
        if worse not in found and better not in found:
            message = f"{worse} says almost the same as “{better}”."
            if only_missing_together(study, better, worse, _SHARE):
                same_rows = f"{worse} is missing in almost the same rows as “{better}”"
                message = f"{same_rows}; their values have little in common."
            found[worse] = Finding(CODE, str(worse), message, (str(better),))
    return found


def copies(study: Study, names: list[Any], share: float) -> list[tuple[Any, Any]]:
    """Find pairs of columns, in order, that predict each other with a share of the error of guessing."""
    if len(names) > _MAX_COLUMNS:
        study.leave_out("near-copies", f"only the first {_MAX_COLUMNS} of {len(names)} columns were compared")
        names = names[:_MAX_COLUMNS]
    n_pairs = max(1, len(names) * (len(names) - 1))
    return [
        (a, b)
        for a, b in combinations(names, 2)
        if _predict_each_other(study.cells(a), study.cells(b), share, n_pairs)
    ]


def only_missing_together(study: Study, one: Any, other: Any, share: float) -> bool:
    """Say whether two columns that predict each other no longer do where neither is missing."""
    missing = [_missing(study, name) for name in (one, other)]
    if not (missing[0].any() and missing[1].any()):
        return False
    both = ~(missing[0] | missing[1])
    cells = [np.unique(study.cells(name)[0][both], return_inverse=True) for name in (one, other)]
    (values, codes), (other_values, other_codes) = cells
    # That the pair is a copy is established; the estimate alone says of which kind.
    return not _predict_each_other((codes, len(values)), (other_codes, len(other_values)), share)


def _missing(study: Study, name: Any) -> Booleans:
    """Say which of the compared rows have no value."""
    column = study.encoded[name]
    if study.encoded.kind(name) == "numeric":
        missing = np.isnan(column)
    else:
        missing = column == len(study.encoded.known[name].values)
    return np.asarray(missing[compared_rows(len(missing))])


def _predict_each_other(
    one: tuple[Ints, int], other: tuple[Ints, int], share: float, n_pairs: int | None = None
) -> bool:
    """Compare by the estimates or, with `n_pairs`, by upper limits that hold for as many pairs at once."""
    return _predicts(one, other, share, n_pairs) and _predicts(other, one, share, n_pairs)


def _predicts(cause: tuple[Ints, int], effect: tuple[Ints, int], share: float, n_pairs: int | None) -> bool:
    (given, n_given), (wanted, n_wanted) = cause, effect
    # Fewer values cannot tell more of them apart.
    if min(n_given, n_wanted) < 2 or n_given * n_wanted > _MAX_TABLE:
        return False
    m = len(wanted)
    guess = 1 - np.bincount(wanted).max() / m
    counts = count_cells(given, wanted, n_given, n_wanted)
    # A cheap look first: the error on the sample is never above the estimate off it.
    if (m - counts.max(axis=1).sum()) / m > share * guess:
        return False
    error = bayes_loo(CellCounts(counts))
    if n_pairs is not None:  # the upper limit of the error, by Bernstein's inequality
        log = np.log(n_pairs / 0.05)
        error += np.sqrt(2 * error * (1 - error) * log / m) + 2 * log / (3 * m)
    return bool(error <= share * guess)
