"""Near-copy: two columns that say the same."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np

from offsample.counts import CellCounts, count_cells
from offsample.criteria import bayes_loo
from offsample.report._study import Study
from offsample.report.findings._finding import Finding

RULE = (
    "Each of two columns (numbers cut into 16 ranges of as many rows) predicts the other on new rows with "
    "less than 5 % of the error of guessing its most frequent value; the 95 % limit of that error, corrected "
    "for the number of pairs, is used. At most 5 % of tables without near-copies get such a finding."
)

_SHARE = 0.05
_MAX_COLUMNS = 200
_MAX_TABLE = 2_000_000


def find(study: Study, without: frozenset[Any]) -> dict[Any, Finding]:
    """Columns that repeat a better one."""
    found = {}
    for better, worse in copies(study, [f.name for f in study.ranking if f.name not in without], _SHARE):
        if worse not in found and better not in found:
            found[worse] = Finding(
                "near-copy", str(worse), f"{worse} says almost the same as {better}.", (str(better),)
            )
    return found


def copies(study: Study, names: list[Any], share: float) -> list[tuple[Any, Any]]:
    """Pairs of columns that predict each other with at most a share of the error of guessing.

    The first of a pair is the one that comes first in `names`.
    """
    if len(names) > _MAX_COLUMNS:
        study.skipped.append(
            f"near-copies: only the first {_MAX_COLUMNS} of {len(names)} columns were compared"
        )
        names = names[:_MAX_COLUMNS]
    n_pairs = max(1, len(names) * (len(names) - 1))
    return [
        (a, b) for a, b in combinations(names, 2) if _predicts(study, a, b, share, n_pairs)
        and _predicts(study, b, a, share, n_pairs)
    ]  # fmt: skip


def _predicts(study: Study, cause: Any, effect: Any, share: float, n_pairs: int) -> bool:
    (given, n_given), (wanted, n_wanted) = study.cells(cause), study.cells(effect)
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
    return bool(error + _slack(error, m, n_pairs) <= share * guess)


def _slack(error: float, m: int, n_pairs: int) -> float:
    """Distance to the upper limit of a share of m rows, by Bernstein's inequality, for any of the pairs."""
    log = float(np.log(n_pairs / 0.05))
    return float(np.sqrt(2 * error * (1 - error) * log / m) + 2 * log / (3 * m))
