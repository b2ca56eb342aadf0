"""Forecasts from the errors of functions on one sample: the algorithm of Appendix B, the normal prior."""

from __future__ import annotations

from typing import Literal

import numpy as np
from scipy.special import logsumexp
from scipy.stats import norm

from offsample._typing import Floats
from offsample.expected_error import ErrorPrior, expected_error
from offsample.expected_error._binomial import log_pmf
from offsample.expected_error._labelings import log_labeling_law
from papers._claims import judged
from papers._experiments import NOT_REPRODUCED, REPRODUCED, Claim, Outcome, experiment
from papers._table import format_table
from papers.expected_error._functions import all_functions_prior, true_learning_curve

__all__ = ["appendix_b", "histogram_forecast", "moments", "normal_prior", "sec3_4"]


def histogram_forecast(
    shares: Floats, log_size: float, form: Literal["printed", "mended", "normalised"] = "normalised"
) -> float:
    """Return the estimate of Appendix B from the shares of hypotheses that make 0, 1, … m errors.

    As printed, step 2(d) adds the same share again and again, and 2(f) takes numbers of errors for rates.
    With both mended, the weights of the rates are still divided by a sum over the histogram, to which they do
    not add up; "normalised" divides by what they add up to.

    Examples
    --------
    Two hypotheses, each of which makes no error on two rows or errs on both:

    >>> import numpy as np
    >>> from papers.expected_error._from_histograms import histogram_forecast
    >>> round(histogram_forecast(np.array([0.5, 0.0, 0.5]), np.log(2)), 4)
    0.3333
    """
    m, as_printed = len(shares) - 1, form == "printed"
    below = np.concatenate([[0.0], np.cumsum(shares)[:-1]])
    at_least = np.clip(1 - below, 0.0, 1.0)
    if as_printed:
        at_least = np.minimum((m + 1 - np.arange(m + 1)) * shares, 1.0)
    with np.errstate(divide="ignore", invalid="ignore"):
        # of few, 1 - x loses the digits that a power of 2^64 needs
        logs = np.where((below < 0.5) & (not as_printed), np.log1p(-below), np.log(at_least))
        best = np.exp(np.expm1(log_size) * logs) if log_size > 0 else np.ones(m + 1)
    errors = np.arange(m + 1)
    reached = np.exp(log_pmf(errors[None, :], m, errors[:, None] / m)) @ best
    rates = errors if as_printed else errors / m
    weights = reached * shares
    return float(rates @ weights / (weights.sum() if form == "normalised" else best @ shares))


def moments(shares: Floats) -> tuple[float, float]:
    """Return mean and variance of the true error rates, from the shares of hypotheses by errors on m rows.

    Counts scatter about their rates: the variance of shares of errors is σ² (1 - 1/m) + μ (1 - μ)/m.
    """
    m = len(shares) - 1
    rates = np.arange(m + 1) / m
    mean = float(shares @ rates)
    return mean, (float(shares @ (rates - mean) ** 2) - mean * (1 - mean) / m) / (1 - 1 / m)


def normal_prior(shares: Floats, n_atoms: int = 400) -> ErrorPrior:
    """Return the normal law with these moments, cut off at 0 and 1."""
    mean, variance = moments(shares)
    if variance <= 0:
        return ErrorPrior(np.array([mean]), log_mass=np.zeros(1))
    atoms = np.arange(n_atoms + 1) / n_atoms
    logs = norm.logpdf(atoms, mean, np.sqrt(variance))
    return ErrorPrior(atoms, log_mass=logs - logsumexp(logs))


def observed(n_bits: int, m: int, rng: np.random.Generator) -> Floats:
    """Shares of all functions of some bits that make 0, 1, … m errors on a sample of one of them."""
    cells, ones = rng.integers(0, 2**n_bits, m), rng.integers(0, 2, 2**n_bits)
    counts = np.bincount(cells, minlength=2**n_bits)
    law = log_labeling_law(np.column_stack([counts * ones, counts * (1 - ones)]))
    return np.exp(np.concatenate([law, np.full(m + 1 - len(law), -np.inf)]))


def _mean(values: list[float]) -> tuple[float, float]:
    return float(np.mean(values)), float(np.std(values, ddof=1) / np.sqrt(len(values)))


@experiment(
    "expected_error.appendix_b", "Appendix B: the forecast from the histogram of errors on the sample"
)
def appendix_b(n_samples: int = 200, m: int = 50) -> Outcome:
    """All functions of 2 to 6 bits, of which the target is one: Appendix B and Theorem 5, from one sample."""
    rows, apart, most = [], {"mended": 0.0, "normalised": 0.0}, 0.0
    for bits in (2, 3, 4, 5, 6):
        rng = np.random.default_rng(bits)
        size, truth = 2**bits * np.log(2), true_learning_curve(bits, bits, m)
        found: dict[str, list[float]] = {"printed": [], "mended": [], "normalised": [], "Theorem 5": []}
        for _ in range(n_samples):
            shares = observed(bits, m, rng)
            used = shares > 0
            prior = ErrorPrior(np.flatnonzero(used) / m, log_mass=np.log(shares[used]))
            for form in ("printed", "mended", "normalised"):
                found[form].append(histogram_forecast(shares, size, form))  # type: ignore[arg-type]
            found["Theorem 5"].append(expected_error(prior, size, m, method="theorem5").mean)
        means = {name: _mean(values) for name, values in found.items()}
        for form, before in apart.items():
            apart[form] = max(before, abs(means[form][0] - means["Theorem 5"][0]))
        most = max(most, *found["printed"])
        rows.append([bits, f"{truth:.4f}", *("{:.4f} ± {:.4f}".format(*means[name]) for name in found)])
    is_same = apart["mended"] < 1e-3
    claims = [
        Claim(
            "the algorithm of Appendix B computes the expected error of Theorem 5 in O(m²)",
            "the same number",
            f"as printed up to {most:.1f}; with its misprints mended, up to {apart['mended']:.3g} away; "
            f"normalised, {apart['normalised']:.4f}",
            REPRODUCED if is_same else NOT_REPRODUCED,
            ""
            if is_same
            else "2(d) adds up P[e] for P[i], 2(f) lacks 1/m; and it takes the observed histogram for the "
            "law of errors on new samples, where Theorem 5 has its binomial smear: the weights do not add "
            "up to 1, and normalised they are another estimator",
        ),
    ]
    header = ["bits", "true error", "printed", "misprints mended", "normalised", "Theorem 5, same histogram"]
    return Outcome(claims, format_table(header, rows))


@experiment(
    "expected_error.sec3_4", "Sec. 3.4: a normal prior from the mean and variance of errors on the sample"
)
def sec3_4(n_samples: int = 200, m: int = 50) -> Outcome:
    """Functions of 2 to 7 bits: moments, distance of the laws, and forecasts with a normal prior."""
    rows, unbiased, distances, wrong = [], True, {}, {}
    for bits in (2, 3, 4, 5, 6, 7):
        rng = np.random.default_rng(bits)
        exact, size = all_functions_prior(bits), 2**bits * np.log(2)
        spread = 0.5 * 2 ** (-bits / 2)
        below = norm.cdf(exact.errors + 0.5 / 2**bits, 0.5, spread)
        distances[bits] = float(np.abs(below - np.cumsum(exact.mass)).max())
        variances, forecasts = [], []
        for _ in range(n_samples):
            shares = observed(bits, m, rng)
            variances.append(moments(shares)[1])
            forecasts.append(expected_error(normal_prior(shares), size, m).mean)
        truth = expected_error(exact, size, m).mean
        seen, error = _mean(variances)
        unbiased &= abs(seen - spread**2) < 4 * error
        forecast = _mean(forecasts)
        wrong[bits] = forecast[0] / truth
        rows.append([
            bits, f"{distances[bits]:.4f}", f"{spread**2:.5f}", f"{seen:.5f} ± {error:.5f}",
            f"{truth:.4f}", "{:.4f} ± {:.4f}".format(*forecast),
        ])  # fmt: skip
    near = max(distances[bits] for bits in (5, 6, 7))
    good = all(abs(wrong[bits] - 1) < 0.1 for bits in (5, 6, 7))
    claims = [
        judged(
            "μ and σ of a normal prior follow from the errors on the sample",
            "no number",
            "variance of all functions of 2 to 7 bits, less the binomial part: within 4 standard errors",
            unbiased,
            "the variance is biased",
        ),
        judged(
            "the error rates of functions of 5 bits or more are normal where rows are uniform",
            "no number",
            f"largest distance of the laws {near:.4f} from 5 bits on, {distances[3]:.4f} for 3",
            near < 0.02,
            "they are not",
        ),
        judged(
            "so that the forecast can be made with it",
            "no number",
            "forecast over that of the exact prior: "
            + ", ".join(f"{ratio:.2f} ({bits} bits)" for bits, ratio in wrong.items()),
            good,
            "the laws are near, their far ends are not: of 2^32 functions the best decide, and a sample of "
            f"{m} rows says little of them",
        ),
    ]
    header = [
        "bits",
        "distance of laws",
        "variance",
        "variance found",
        "forecast, exact prior",
        "normal prior",
    ]
    return Outcome(claims, format_table(header, rows))
