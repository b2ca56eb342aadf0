"""Whether to choose a model by hold-out, or to learn in the union of all models."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.special import logsumexp

from offsample.expected_error import BestSplit, ErrorPrior, best_split, expected_error
from offsample.expected_error.analysis import Method


@dataclass(frozen=True)
class SelectionVerdict:
    """Whether choosing a model by hold-out beats learning in all models at once.

    Attributes
    ----------
    selection_error : float
        Expected error of hold-out selection at its best split.
    union_error : float
        Expected error of minimising the errors over the union of the models.
    worthwhile, split
    """

    worthwhile: bool
    selection_error: float
    union_error: float
    split: BestSplit

    def __bool__(self) -> bool:
        return self.worthwhile


def is_selection_worthwhile(
    priors: Sequence[ErrorPrior],
    log_sizes: Sequence[float],
    n_samples: int,
    *,
    nested: bool = False,
    method: Method = "exact",
) -> SelectionVerdict:
    """Compare choosing a model by hold-out with minimising the errors over all models together.

    Parameters
    ----------
    priors, log_sizes, method
        As in `holdout_selection`.
    n_samples : int
    nested : bool
        Whether each model contains those before it, so that their union is the last. Otherwise they are taken
        as disjoint, and the prior of the union is their mixture by size.

    Examples
    --------
    >>> from offsample.expected_error import ErrorPrior
    >>> from papers.expected_error._union import is_selection_worthwhile
    >>> small, large = ErrorPrior([0.1, 0.5], [0.5, 0.5]), ErrorPrior([0.3, 0.5], [1e-3, 1 - 1e-3])
    >>> verdict = is_selection_worthwhile([small, large], [0.7, 40.0], 30)
    >>> bool(verdict), round(verdict.selection_error, 3), round(verdict.union_error, 3)
    (True, 0.102, 0.308)
    """
    split = best_split(priors, log_sizes, n_samples, method)
    prior, log_size = (priors[-1], float(log_sizes[-1])) if nested else union_prior(priors, log_sizes)
    together = expected_error(prior, log_size, n_samples, method).mean
    return SelectionVerdict(split.mean < together, split.mean, together, split)


def union_prior(priors: Sequence[ErrorPrior], log_sizes: Sequence[float]) -> tuple[ErrorPrior, float]:
    """Return the prior and the log size of the union of disjoint models."""
    log_size = float(logsumexp(np.asarray(log_sizes, dtype=float)))
    errors = np.concatenate([prior.errors for prior in priors])
    logs = np.concatenate([p.log_mass + (s - log_size) for p, s in zip(priors, log_sizes, strict=True)])
    atoms, place = np.unique(errors, return_inverse=True)
    merged = np.full(len(atoms), -np.inf)
    np.logaddexp.at(merged, place, logs)
    return ErrorPrior(atoms, log_mass=merged), log_size
