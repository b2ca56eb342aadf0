"""Priors of hypotheses that were enumerated or drawn one by one."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from offsample._checks import check_count
from offsample._typing import Floats
from offsample.expected_error import ErrorPrior


def prior_of_all(errors: ArrayLike, n_rows: int | None = None) -> ErrorPrior:
    """Return the prior of a model whose hypotheses were all enumerated.

    Parameters
    ----------
    errors : array-like
        Error rate of every hypothesis or, with `n_rows`, its number of errors on that many rows.
    n_rows : int, optional

    Examples
    --------
    >>> from papers.expected_error._drawn import prior_of_all
    >>> prior = prior_of_all([0.5, 0.25, 0.5, 0.75])
    >>> prior.errors.tolist(), prior.mass.round(2).tolist()
    ([0.25, 0.5, 0.75], [0.25, 0.5, 0.25])
    """
    rates = np.asarray(errors, dtype=float) if n_rows is None else _rates(errors, n_rows)
    return _of_rates(rates)._with(source="enumeration", n_rows=n_rows)


def prior_of_draws(n_errors: ArrayLike, n_rows: int) -> ErrorPrior:
    """Return the plug-in prior: the errors on a sample of hypotheses drawn at random.

    It misses error rates rarer than one in the number of draws, and the counts scatter about the true
    rates; the diagnostics of `expected_error` say whether that matters.

    Parameters
    ----------
    n_errors : array-like of int
        Errors of each drawn hypothesis.
    n_rows : int
        Rows of the sample.
    """
    rates = _rates(n_errors, n_rows)
    return _of_rates(rates)._with(source="drawn hypotheses", n_rows=int(n_rows), n_draws=rates.size)


def _of_rates(rates: Floats) -> ErrorPrior:
    atoms, counts = np.unique(rates, return_counts=True)
    return ErrorPrior(atoms, log_mass=np.log(counts) - np.log(counts.sum()))


def _rates(n_errors: ArrayLike, n_rows: int) -> Floats:
    check_count("n_rows", n_rows, 1)
    counts = np.asarray(n_errors, dtype=float)
    if not ((counts >= 0) & (counts <= n_rows)).all():
        raise ValueError(f"numbers of errors must lie between 0 and n_rows = {n_rows}")
    return counts / n_rows
