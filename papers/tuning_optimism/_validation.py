"""Secs. 2.4.3, 2.5 and 5.6: what hold-out sets, cross-validation, the bootstrap and paired tests estimate.

The learner takes the nearer of two class means, of rows drawn from two normal distributions, so that its true
error is a formula.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr
from scipy.stats import binom, t

from offsample.assessment import best_of_mean, paired_test
from papers._claims import above, judged
from papers._experiments import CORRECTED, NOT_REPRODUCED, Claim, Outcome, experiment, verdict
from papers._table import format_table

__all__ = ["cross_validation", "paired", "triple"]

Floats = NDArray[np.float64]
# Columns, and half the distance of the class means in each: a learner that hardly overfits, and another.
DESIGNS = {"5 columns": (5, 0.4), "40 columns": (40, 0.1)}
N_ROWS, N_FOLDS = 100, 10
REPEATS = (1, 5, 20)


def _draw(n_columns: int, shift: float | Floats, rng: np.random.Generator) -> tuple[Floats, NDArray[Any]]:
    y = rng.permutation(N_ROWS) % 2
    return rng.normal(size=(N_ROWS, n_columns)) + shift * (2 * y[:, None] - 1), y


def _learn(X: Floats, y: NDArray[Any]) -> tuple[Floats, float]:
    one, zero = X[y == 1].mean(axis=0), X[y == 0].mean(axis=0)
    return one - zero, float(one @ one - zero @ zero) / 2


def _losses(model: tuple[Floats, float], X: Floats, y: NDArray[Any]) -> Floats:
    weights, threshold = model
    return ((X @ weights > threshold) != y).astype(float)


def true_error(model: tuple[Floats, float], shift: float | Floats) -> float:
    """Probability of an error on new rows."""
    weights, threshold = model
    length, mean = float(np.linalg.norm(weights)), float(np.sum(shift * weights))
    return float(ndtr((threshold - mean) / length) + ndtr((-mean - threshold) / length)) / 2


def _folds(X: Floats, y: NDArray[Any], rng: np.random.Generator) -> Floats:
    """Errors on the folds of one cross-validation."""
    fold = rng.permutation(len(y)) % N_FOLDS
    return np.array(
        [
            _losses(_learn(X[fold != k], y[fold != k]), X[fold == k], y[fold == k]).mean()
            for k in range(N_FOLDS)
        ]
    )


def _one(n_columns: int, shift: float, rng: np.random.Generator) -> dict[str, float]:
    """One sample: its true error, and what each way of estimating says."""
    X, y = _draw(n_columns, shift, rng)
    model = _learn(X, y)
    found = {"truth": true_error(model, shift), "training": float(_losses(model, X, y).mean())}
    part = N_ROWS * 2 // 3
    held = _learn(X[:part], y[:part])
    n_held = N_ROWS - part
    error = float(_losses(held, X[part:], y[part:]).mean())
    found |= {"hold-out": error, "hold-out model": true_error(held, shift)}
    found["hold-out radius"] = 1.96 * float(np.sqrt(error * (1 - error) / n_held))
    errors = np.concatenate([_folds(X, y, rng) for _ in range(max(REPEATS))])
    for repeats in REPEATS:
        folds = errors[: repeats * N_FOLDS]
        n = len(folds)
        found[f"cv {repeats}"] = float(folds.mean())
        found[f"cv {repeats} variance"] = float(folds.var(ddof=1)) / n
        found[f"cv {repeats} radius"] = float(t.ppf(0.975, n - 1)) * found[f"cv {repeats} variance"] ** 0.5
    left_out, distinct = [], []
    for _ in range(25):
        drawn = rng.integers(0, N_ROWS, N_ROWS)
        out = np.setdiff1d(np.arange(N_ROWS), drawn)
        left_out.append(_losses(_learn(X[drawn], y[drawn]), X[out], y[out]).mean())
        distinct.append(1 - len(out) / N_ROWS)
    return found | {"bootstrap": float(np.mean(left_out)), "distinct": float(np.mean(distinct))}


@experiment(
    "tuning_optimism.sec2_4_3", "Sec. 2.4.3: bias and variance of hold-out sets, cross-validation, bootstrap"
)
def cross_validation(n_samples: int = 500) -> Outcome:
    """Biases, and how often the intervals of the text hold the error that they are for, in two designs."""
    claims, tables = [], []
    for name, design in DESIGNS.items():
        found = _of_design(name, *design, n_samples)
        claims += found.claims
        tables.append(f"{name}, {N_ROWS} rows, {n_samples} samples\n{found.tables}")
    share = (N_FOLDS - 2) / (N_FOLDS - 1)
    same = round(share, 2) == 0.9
    claims.append(
        Claim(
            "two training sets of ten-fold cross-validation have 90 % of their rows in common",
            "90 %",
            f"{share:.1%}",
            verdict(True) if same else CORRECTED,
            "" if same else "8/9: each lacks one tenth of the rows, another one",
        )
    )
    return Outcome(claims, "\n\n".join(tables))


def _covered_by_normal(n: int, error: float) -> float:
    """Probability that the error on n rows is within 1.96 estimated standard deviations of the truth."""
    share = np.arange(n + 1) / n
    inside = np.abs(share - error) <= 1.96 * np.sqrt(share * (1 - share) / n)
    return float(binom.pmf(np.arange(n + 1), n, error)[inside].sum())


def _of_design(design: str, n_columns: int, shift: float, n_samples: int) -> Outcome:
    rng = np.random.default_rng(1)
    samples = [_one(n_columns, shift, rng) for _ in range(n_samples)]
    found = {name: np.array([sample[name] for sample in samples]) for name in samples[0]}
    root = np.sqrt(n_samples)
    expected = float(found["truth"].mean())  # what cross-validation is said to estimate

    def bias(name: str) -> tuple[float, float]:
        off = found[name] - found["truth"]
        return float(off.mean()), float(off.std(ddof=1) / root)

    def said(name: str) -> str:
        return "{:+.4f} ± {:.4f}".format(*bias(name))

    covered = np.abs(found["hold-out"] - found["hold-out model"]) <= found["hold-out radius"]
    holds = {n: np.abs(found[f"cv {n}"] - expected) <= found[f"cv {n} radius"] for n in REPEATS}
    ratio = {n: found[f"cv {n} variance"].mean() / found[f"cv {n}"].var(ddof=1) for n in REPEATS}
    rows = [
        [f"{n} times", f"{ratio[n]:.3f}", f"{holds[n].mean():.3f}", f"{found[f'cv {n} variance'].mean():.2e}"]
        for n in REPEATS
    ]
    training, hold_out, left_out = bias("training"), bias("hold-out"), bias("bootstrap")
    # The standard error of a variance of n normal errors is √(2/n) of it.
    spread = ratio[1] * np.sqrt(2 / n_samples)
    n_held = N_ROWS - N_ROWS * 2 // 3
    alone = np.mean([_covered_by_normal(n_held, error) for error in found["hold-out model"]])
    worse = ratio[1] > ratio[5] > ratio[20] and holds[1].mean() > holds[5].mean() > holds[20].mean()
    claims = [
        Claim(
            f"{design}: the error on the training rows is strongly optimistic",
            "no number",
            said("training"),
            verdict(training[0] + 3 * training[1] < 0),
            "" if training[0] + 3 * training[1] < 0 else "not beyond three standard errors",
        ),
        Claim(
            f"{design}: a hold-out error is off by at most 1.96 standard deviations with 95 % confidence",
            "95 %",
            f"{covered.mean():.1%} with {n_held} rows; {alone:.1%} exactly, at these models' errors",
            verdict(abs(covered.mean() - 0.95) < 0.02),
            ""
            if abs(covered.mean() - 0.95) < 0.02
            else f"{n_held} rows are few for the normal distribution: few errors show a spread that is too "
            f"small; with 1,000 rows it would be {_covered_by_normal(1000, expected):.1%}",
        ),
        above(
            f"{design}: a hold-out error is pessimistic, as its rows are not learned from",
            "no number",
            hold_out,
        ),
        above(
            f"{design}: the variance that folds show is below that of the cross-validation error",
            "no number",
            (1 - ratio[1], spread),
            ours=f"{ratio[1]:.3f} ± {spread:.3f} of it; the t interval holds {holds[1].mean():.1%}, not 95 %",
        ),
        Claim(
            f"{design}: repeating cross-validation makes it worse: the variance shown goes towards 0",
            "no number",
            f"5 times {ratio[5]:.3f}, 20 times {ratio[20]:.3f} of it; the interval holds "
            f"{holds[5].mean():.1%} and {holds[20].mean():.1%}",
            verdict(worse),
            "" if worse else "not in this order",
        ),
        Claim(
            f"{design}: a bootstrap sample holds .632 of the rows",
            ".632",
            f"{found['distinct'].mean():.4f} (1 - (1 - 1/m)^m = {1 - (1 - 1 / N_ROWS) ** N_ROWS:.4f})",
            verdict(abs(found["distinct"].mean() - 0.632) < 0.01),
            "" if abs(found["distinct"].mean() - 0.632) < 0.01 else "for so few rows it is more",
        ),
        Claim(
            f"{design}: the error on rows left out by bootstrap samples is optimistic",
            "optimistic",
            said("bootstrap"),
            verdict(left_out[0] + 2 * left_out[1] < 0),
            ""
            if left_out[0] + 2 * left_out[1] < 0
            else "it is pessimistic: models learn from .632 of the rows, and are judged on others",
        ),
    ]
    header = ["cross-validation", "variance shown / variance", "coverage of t", "variance shown"]
    biases = [[name, said(name)] for name in ("training", "hold-out", "cv 1", "cv 20", "bootstrap")]
    tables = f"{format_table(header, rows)}\n\n{format_table(['estimate', 'bias'], biases)}"
    return Outcome(claims, tables)


@experiment("tuning_optimism.sec2_5", "Sec. 2.5: the paired t-test, and the lowest of several errors")
def paired(n_tests: int = 2000, n_rows: int = 100) -> Outcome:
    """Level and direction of the test as printed and as corrected."""
    rng = np.random.default_rng(2)
    equal, better, printed_denominator = [], [], 0.0
    for _ in range(n_tests):
        # Two hypotheses of error .3, and one of .15, that err on the same hard rows more often than not.
        hard, own = rng.normal(size=n_rows), rng.normal(size=(3, n_rows))
        losses = (np.sqrt(0.5) * (hard + own) < np.array([[-0.5244], [-0.5244], [-1.0364]])).astype(float)
        delta = losses[0].mean() - losses[1].mean()
        printed_denominator = max(printed_denominator, abs((losses[0].mean() - losses[1].mean()) - delta))
        equal.append(paired_test(losses[0], losses[1], method="t").p_value <= 0.05)
        better.append(paired_test(losses[2], losses[0], method="t", alternative="less"))
    level = float(np.mean(equal))
    error = np.sqrt(level * (1 - level) / n_tests)
    negative = float(np.mean([test.statistic < 0 for test in better]))
    power = float(np.mean([test.p_value <= 0.05 for test in better]))
    lowest = 1 - best_of_mean(n_rows, 0.7, 20)
    right = abs(level - 0.05) <= 0.02
    claims = [
        Claim(
            "T divides by the spread of the differences",
            "sum over rows of ((E_S(h1) - E_S(h2)) - Δ)²",
            f"that is {printed_denominator:.0f} for every sample",
            CORRECTED if printed_denominator == 0 and right else NOT_REPRODUCED,
            "the summand must be the difference of the losses of row i",
        ),
        Claim(
            "corrected, T follows Student's distribution if both are equally good",
            "level .05",
            f"{level:.4f} ± {error:.4f}",
            verdict(right),
            "" if right else "more than .02 off",
        ),
        Claim(
            "L1 is better where T is at least the quantile of t",
            "large T",
            f"T < 0 in {negative:.1%} of the samples in which L1 is better (found by T < 0: {power:.1%})",
            CORRECTED if negative > 0.95 else NOT_REPRODUCED,
            "Δ is an error of L1 less one of L2: L1 is better where T is negative"
            if negative > 0.95
            else "the sign is undecided",
        ),
        Claim(
            "the lowest error of several settings is no unbiased estimate",
            "no number",
            f"best of 20 that all err on 30 % of new rows: {lowest:.4f} on {n_rows} rows",
            verdict(lowest < 0.29),
            "" if lowest < 0.29 else "it is",
        ),
    ]
    table = format_table(
        ["differences", "share with p ≤ .05"],
        [["none, two-sided", f"{level:.4f}"], ["L1 better by .15, one-sided", f"{power:.4f}"]],
    )
    return Outcome(claims, table)


# Settings: how many of 40 columns are used, of which the first six tell the classes apart.
_SETTINGS = (1, 2, 4, 6, 10, 20, 40)
_SHIFT = np.where(np.arange(40) < 6, 0.3, 0.0)


def _used(X: Floats, y: NDArray[Any], n_used: int) -> tuple[Floats, float]:
    weights, threshold = _learn(X[:, :n_used], y)
    return np.append(weights, np.zeros(X.shape[1] - n_used)), threshold


def _chosen(X: Floats, y: NDArray[Any], train: Any, test: Any) -> tuple[Floats, float]:
    """The hypothesis of the setting with the fewest errors on rows held out, ties by the first."""
    models = [_used(X[train], y[train], n) for n in _SETTINGS]
    return models[int(np.argmin([_losses(model, X[test], y[test]).mean() for model in models]))]


@experiment("tuning_optimism.triple", "Sec. 5.6: triple and n²-fold cross-validation of a tuned learner")
def triple(n_samples: int = 500) -> Outcome:
    """Biases of three estimates for the error of a learner that is tuned, by hold-out and by folds."""
    rng, everything = np.random.default_rng(3), np.ones(N_ROWS, bool)
    found: dict[str, list[float]] = {}

    def add(name: str, value: float) -> None:
        found.setdefault(name, []).append(value)

    def of_setting(X: Floats, y: NDArray[Any], fold: NDArray[Any], rows: Any) -> Floats:
        """Errors of the settings over the folds of some rows."""
        wrong = np.zeros(len(_SETTINGS))
        for k in np.unique(fold[rows]):
            train, test = rows & (fold != k), rows & (fold == k)
            wrong += [_losses(_used(X[train], y[train], n), X[test], y[test]).sum() for n in _SETTINGS]
        return wrong / rows.sum()

    for _ in range(n_samples):
        X, y = _draw(40, _SHIFT, rng)
        fold = rng.permutation(N_ROWS) % N_FOLDS
        add("tuned by hold-out", true_error(_chosen(X, y, fold != 0, fold == 0), _SHIFT))
        errors = of_setting(X, y, fold, everything)
        add("least error of the folds", float(errors.min()))
        add("tuned by folds", true_error(_used(X, y, _SETTINGS[int(errors.argmin())]), _SHIFT))
        third, nested = [], []
        for k in range(N_FOLDS):
            second, first = fold == k, fold == (k + 1) % N_FOLDS
            third.append(_losses(_chosen(X, y, ~second & ~first, first), X[second], y[second]).mean())
            inner = of_setting(X, y, fold, ~second)
            model = _used(X[~second], y[~second], _SETTINGS[int(inner.argmin())])
            nested.append(_losses(model, X[second], y[second]).mean())
        add("triple", float(np.mean(third)))
        add("n²-fold", float(np.mean(nested)))

    def bias(name: str, truth: str) -> tuple[float, float]:
        off = np.array(found[name]) - np.array(found[truth])
        return float(off.mean()), float(off.std(ddof=1) / np.sqrt(n_samples))

    pairs = {
        "triple": bias("triple", "tuned by hold-out"),
        "n²-fold": bias("n²-fold", "tuned by folds"),
        "least error of the folds": bias("least error of the folds", "tuned by folds"),
    }
    better = bias("tuned by hold-out", "tuned by folds")
    said = {name: "{:+.4f} ± {:.4f}".format(*pair) for name, pair in {**pairs, "better": better}.items()}
    claims = [
        judged(
            "triple cross-validation has only a small bias",
            "no number",
            f"{said['triple']} for the learner that is tuned on one tenth",
            abs(pairs["triple"][0]) + 2 * pairs["triple"][1] < 0.02,
            "it is larger than two points",
        ),
        above("and it is pessimistic", "> 0", pairs["triple"]),
        judged(
            "n²-fold cross-validation is almost unbiased for the learner that is tuned by folds",
            "no number",
            f"{said['n²-fold']}; the least error of the folds {said['least error of the folds']}",
            abs(pairs["n²-fold"][0]) < 0.01 and pairs["least error of the folds"][0] < 0,
            "it is biased",
        ),
        judged(
            "folds find better settings than one hold-out set",
            "no number",
            f"{said['better']} more errors with hold-out",
            better[0] > 3 * better[1],
            "not beyond three standard errors",
        ),
    ]
    fits = {"triple": N_FOLDS * len(_SETTINGS), "n²-fold": N_FOLDS**2 * len(_SETTINGS)}
    rows = [[name, said[name], fits.get(name, N_FOLDS * len(_SETTINGS))] for name in pairs]
    return Outcome(claims, format_table(["estimate", "bias", "fits"], rows))
