"""The expected error analysis: the error of a learner's hypothesis, without running the learner."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, Literal, get_args

import numpy as np
from scipy.special import logsumexp

from offsample._frames import make_frame
from offsample._typing import Floats
from offsample.expected_error import _theorems
from offsample.expected_error._binomial import log_pmf
from offsample.expected_error.prior import ErrorPrior

Method = Literal["exact", "theorem5", "theorem5_exact", "theorem7", "limit"]
METHODS: tuple[Method, ...] = get_args(Method)

_FEW_DRAWS = 30
_FEW_ROWS = 50


@dataclass(frozen=True)
class ForecastDiagnostics:
    """How far a forecast can be trusted."""

    method: str  # the one asked for, or "theorem5_exact" where the model is smaller than its prior
    training_error: float  # expected error of the learner's hypothesis on the sample
    tail_draws: float | None  # effective number of draws behind the answer; None if the prior was not drawn
    limit_applies: bool  # whether so many hypotheses make no error that the size of the model does not matter
    bias: str  # direction in which it is more likely wrong: "optimistic", "pessimistic", or "none known"
    warnings: tuple[str, ...]  # reasons to doubt it

    @property
    def trusted(self) -> bool:
        """Whether there is no reason to doubt the forecast."""
        return not self.warnings

    def to_dict(self) -> dict[str, Any]:
        """Return plain values."""
        return {**asdict(self), "warnings": list(self.warnings), "trusted": self.trusted}


@dataclass(frozen=True, eq=False, repr=False)
class ErrorForecast:
    """Distribution of the true error of the hypothesis that an error-minimising learner returns."""

    prior: ErrorPrior
    posterior: Floats  # probability that the returned hypothesis has each of ``prior.errors``
    log_size: float
    n_samples: int
    diagnostics: ForecastDiagnostics

    @property
    def mean(self) -> float:
        """Expected error (Corollary 1)."""
        return float(self.posterior @ self.prior.errors)

    def exceeds(self, error: float) -> float:
        """Return the probability that the true error is larger than `error` (Corollary 2)."""
        return float(self.posterior[self.prior.errors > error].sum())

    def quantile(self, q: float) -> float:
        """Return the smallest error rate that is not exceeded with probability `q` or more."""
        if not 0 <= q <= 1:
            raise ValueError(f"q must lie between 0 and 1, got {q}")
        order = np.argsort(self.prior.errors, kind="stable")
        posterior = self.posterior[order]
        place = int(np.searchsorted(np.cumsum(posterior), q * (1 - 1e-12)))
        if q == 0:
            place = int(np.flatnonzero(posterior > 0)[0])
        return float(self.prior.errors[order][min(place, len(order) - 1)])

    def interval(self, confidence: float = 0.95) -> tuple[float, float]:
        """Return the central interval of the posterior."""
        return self.quantile((1 - confidence) / 2), self.quantile((1 + confidence) / 2)

    def to_frame(self) -> Any:
        """Return a dataframe of the atoms with their prior and posterior masses."""
        atoms = {"error": self.prior.errors, "log_prior": self.prior.log_mass, "posterior": self.posterior}
        return make_frame({name: list(values) for name, values in atoms.items()})

    def to_dict(self) -> dict[str, Any]:
        """Return plain values, without the atoms."""
        low, high = self.interval()
        size = {"log_size": self.log_size, "n_samples": self.n_samples}
        return {"mean": self.mean, "low": low, "high": high, **size, **self.diagnostics.to_dict()}

    def __repr__(self) -> str:
        low, high = self.interval()
        doubt = "" if self.diagnostics.trusted else f", {len(self.diagnostics.warnings)} warnings"
        return (
            f"ErrorForecast(mean={self.mean:.4g}, 95% {low:.4g} to {high:.4g}, n_samples={self.n_samples}, "
            f"log_size={self.log_size:.6g}, {self.diagnostics.method}{doubt})"
        )


def expected_error(
    prior: ErrorPrior, log_size: float, n_samples: int, method: Method = "exact"
) -> ErrorForecast:
    """Predict the true error of a hypothesis with the fewest errors on a sample, ties broken at random.

    Nothing is learned: the answer depends only on the size of the model, the size of the sample and the
    distribution of error rates in the model (Theorems 5 to 8 of Scheffer 1999). Hypotheses are assumed to
    make their errors on the sample independently of each other, which is wrong where they disagree on few
    rows.

    Parameters
    ----------
    prior : ErrorPrior
        Error rates of the hypotheses of the model.
    log_size : float
        Natural logarithm of the number of hypotheses, at least 0.
    n_samples : int
        Rows of the sample that the learner will get.
    method : {"exact", "theorem5", "theorem5_exact", "theorem7", "limit"}
        "exact" is Theorem 6, with its sum over all subsets of the model as an integral. The others are
        approximations: "theorem5" takes the true error rates as drawn independently and ignores how ties are
        broken, "theorem5_exact" does not ignore it, "theorem7" takes the number of ties as the same for all
        hypotheses and may be twice too large, "limit" is Theorem 8, for an infinite model. Where an atom
        stands for less than one hypothesis, Theorems 6 and 7 do not apply: "exact" then means
        "theorem5_exact", and the diagnostics say so.

    Examples
    --------
    All Boolean functions of six attributes, one of which is the target, from 50 rows:

    >>> import numpy as np
    >>> from scipy.special import comb
    >>> from offsample.expected_error import ErrorPrior, expected_error
    >>> k = np.arange(65)
    >>> prior = ErrorPrior(k / 64, log_mass=np.log(comb(64, k)) - 64 * np.log(2))
    >>> forecast = expected_error(prior, log_size=64 * np.log(2), n_samples=50)
    >>> round(forecast.mean, 4), round(forecast.exceeds(0.3), 4)
    (0.2572, 0.163)
    """
    if not isinstance(prior, ErrorPrior):
        raise TypeError(f"prior must be an ErrorPrior, got {type(prior).__name__}")
    if method not in METHODS:
        raise ValueError(f"method must be one of {', '.join(METHODS)}, got {method!r}")
    check_whole("n_samples", n_samples, 1)
    if not 0 <= log_size < np.inf:
        raise ValueError(f"log_size must be a finite number of at least 0, got {log_size}")
    m, used = int(n_samples), np.flatnonzero(np.isfinite(prior.log_mass))
    errors, log_p, size = prior.errors[used], prior.log_mass[used], float(log_size)
    taken: str = method
    if method in ("exact", "theorem7") and float(log_p.min()) + size < -1e-6:
        if method == "theorem7":
            raise ValueError(
                "theorem7 needs whole hypotheses, and an atom of the prior stands for less than one: "
                "use method='theorem5_exact'"
            )
        taken = "theorem5_exact"
    if taken == "limit":
        answer = _theorems.limit(errors, log_p, m)
    elif size == 0:  # one hypothesis
        answer = _theorems.Answer(np.exp(log_p), float(m * (errors @ np.exp(log_p))))
    else:
        function = _theorems.theorem6 if taken == "exact" else getattr(_theorems, taken)
        answer = function(errors, log_p, size, m)
    posterior = np.zeros(len(prior.errors))
    posterior[used] = answer.posterior
    return ErrorForecast(prior, posterior, size, m, _diagnose(prior, posterior, size, m, taken, answer))


def check_whole(name: str, value: float, least: int) -> None:
    """Refuse a number of rows that is not whole or too small."""
    if int(value) != value or value < least:
        raise ValueError(f"{name} must be a whole number of at least {least}, got {value}")


def _diagnose(
    prior: ErrorPrior, posterior: Floats, log_size: float, m: int, method: str, answer: _theorems.Answer
) -> ForecastDiagnostics:
    log_none = float(logsumexp(prior.log_mass + log_pmf(np.zeros(len(prior.errors)), m, prior.errors)))
    draws = _tail_draws(prior, posterior)
    doubts, bias = [], "pessimistic" if method in ("theorem5", "theorem7") else "none known"
    if prior.n_rows is not None and prior.n_rows < _FEW_ROWS:
        bias = "optimistic"
        doubts.append(
            f"the prior was counted on {prior.n_rows} rows, fewer than {_FEW_ROWS}: their chance errors look "
            "like good hypotheses"
        )
    if draws is not None and draws < _FEW_DRAWS:
        bias = "pessimistic" if bias == "none known" else bias
        doubts.append(
            f"the answer rests on {draws:.1f} draws in the left tail of the prior, fewer than {_FEW_DRAWS}"
        )
    limit = bool(log_size + log_none > np.log(50.0))
    training = float(answer.n_errors / m)
    return ForecastDiagnostics(method, training, draws, limit, bias, tuple(doubts))


def _tail_draws(prior: ErrorPrior, posterior: Floats) -> float | None:
    """Return Kish's effective number of draws, weighted by their contribution to the posterior."""
    if prior.n_draws is None:
        return None
    with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
        if prior.draw_laws is not None:
            weights = np.exp(prior.draw_laws - prior.log_mass) @ posterior / prior.n_draws
            return float(weights.sum() ** 2 / (weights**2).sum())
        shares = np.where(posterior > 0, posterior**2 * np.exp(-prior.log_mass), 0.0)
        return float(min(prior.n_draws, prior.n_draws / shares.sum()))
