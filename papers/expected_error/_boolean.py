"""Figures 3.1 and 3.2, 3.4 to 3.6: learning curves of Boolean functions, whose error prior is known."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from offsample.expected_error import expected_error
from offsample.expected_error._fallbacks import leave_one_out
from offsample.expected_error.analysis import Method
from papers._experiments import CORRECTED, NOT_REPRODUCED, REPRODUCED, Claim, Outcome, experiment, verdict
from papers._table import format_table
from papers.expected_error._deconvolution import deconvolved
from papers.expected_error._drawing import STYLES, finished, new_figure, plot_curves
from papers.expected_error._drawn import prior_of_draws
from papers.expected_error._functions import prefix_priors, true_learning_curve
from papers.expected_error._languages import BooleanFunctions
from papers.expected_error._splitting import tail_aware_prior

__all__ = ["curves", "fig3_1", "fig3_2", "fig3_4", "fig3_5", "fig3_6", "simulated_curve", "theorem_curve"]

Floats = NDArray[np.float64]

N_RELEVANT = 3
MODELS = range(1, 7)


def averaged_prior(i: int) -> dict[float, float]:
    """Masses of the error rates of functions of the first i bits, averaged over targets of three."""
    found: dict[float, float] = {}
    for weight, prior in prefix_priors(i, N_RELEVANT):
        for error, mass in zip(prior.errors, prior.mass, strict=True):
            found[float(error)] = found.get(float(error), 0.0) + weight * mass
    return dict(sorted(found.items()))


@experiment("expected_error.fig3_1", "Figure 3.1: error rates of functions of i attributes, 3 relevant")
def fig3_1() -> Outcome:
    """The distribution of error rates in each model."""
    laws = {i: averaged_prior(i) for i in MODELS}
    distance = max(
        0.5 * sum(abs(laws[3].get(e, 0.0) - laws[i].get(e, 0.0)) for e in {*laws[3], *laws[i]})
        for i in (1, 2)
    )
    spread = {
        i: np.sqrt(sum(p * e**2 for e, p in law.items()) - sum(p * e for e, p in law.items()) ** 2)
        for i, law in laws.items()
    }
    tails = {i: sum(p for e, p in law.items() if e <= 1 / 8) for i, law in laws.items()}
    claims = [
        Claim(
            "the distributions of H1, H2 and H3 are equal",
            "no number",
            f"largest total variation {distance:.1e}",
            verdict(distance < 1e-12),
            "" if distance < 1e-12 else "they differ",
        ),
        Claim(
            "from H4 to H6 the tails become thinner",
            "no number",
            "P(error ≤ 1/8): " + ", ".join(f"H{i} {tails[i]:.2g}" for i in (3, 4, 5, 6)),
            verdict(tails[3] > tails[4] > tails[5] > tails[6]),
            "" if tails[3] > tails[4] > tails[5] > tails[6] else "they do not",
        ),
    ]
    figure, ax = new_figure()
    for style, i in zip(STYLES, (3, 4, 5, 6), strict=False):
        errors, masses = list(laws[i]), np.array(list(laws[i].values()))
        label = "H1, H2 and H3" if i == N_RELEVANT else f"H{i}"
        # A density, so that models of different numbers of atoms can be compared
        ax.plot(errors, masses * 2**i, label=label, markersize=3, **style)
    finished(ax, "error rate of a hypothesis", "density")
    rows = [[i, f"{spread[i]:.4f}", f"{0.5 * 2 ** (-max(i, 3) / 2):.4f}", f"{tails[i]:.3g}"] for i in MODELS]
    table = format_table(["i", "sd of error rates", "0.5 · 2^(-max(i, 3)/2)", "P(error ≤ 1/8)"], rows)
    return Outcome(claims, table, {"": figure})


def theorem_curve(i: int, m: int, method: Method = "exact") -> float:
    """A theorem averaged over the targets, each with its own prior; never the theorem of the mean prior."""
    log_size = 2**i * np.log(2)
    return float(
        sum(w * expected_error(p, log_size, m, method).mean for w, p in prefix_priors(i, N_RELEVANT))
    )


def simulated_curve(i: int, m: int, n_targets: int, rng: np.random.Generator) -> tuple[float, float]:
    """Mean true error, and its standard error, of tables of majorities learned from m rows each."""
    width = max(i, N_RELEVANT)
    cells = 2**width
    found = np.empty(n_targets)
    for run in range(n_targets):
        target = rng.integers(0, 2, 2**N_RELEVANT)[np.arange(cells) % 2**N_RELEVANT]
        rows = rng.integers(0, cells, m)
        votes = np.bincount(rows % 2**i, weights=2 * target[rows] - 1, minlength=2**i)
        learned = np.where(votes == 0, rng.integers(0, 2, 2**i), votes > 0)
        found[run] = (learned[np.arange(cells) % 2**i] != target).mean()
    return float(found.mean()), float(found.std(ddof=1) / np.sqrt(n_targets))


@experiment("expected_error.fig3_2", "Figure 3.2: the learning curve, predicted and simulated")
def fig3_2(m: int = 50, n_targets: int = 200) -> Outcome:
    """Prediction from the exact prior beside 200 simulated targets; the thesis does not say m."""
    rng = np.random.default_rng(0)
    truth = np.array([true_learning_curve(i, N_RELEVANT, m) for i in MODELS])
    simulated = np.array([simulated_curve(i, m, n_targets, rng) for i in MODELS])
    sixth = np.array([theorem_curve(i, m) for i in MODELS])
    seventh = np.array([theorem_curve(i, m, "theorem7") for i in MODELS])
    worst = {"6": np.abs(sixth - truth).max(), "7": np.abs(seventh - truth).max()}
    bias = (sixth - truth).min()
    same_best = int(np.argmin(sixth)) == int(np.argmin(truth))
    z = np.abs(simulated[:, 0] - truth) / np.maximum(simulated[:, 1], 1e-3)
    claims = [
        Claim(
            "the learning curve is predicted very accurately (criterion: within .05 of the truth everywhere, "
            "with the same minimum)",
            "no number",
            f"largest deviation of Theorem 6 {worst['6']:.3f}, of Theorem 7 {worst['7']:.3f}",
            verdict(max(worst.values()) <= 0.05 and same_best),
            "" if max(worst.values()) <= 0.05 and same_best else "the deviation is larger",
        ),
        Claim(
            "Assumption 3 (Theorem 7 for Theorem 6) incurs a very small error (criterion: under a tenth)",
            "no number",
            f"i = 3: Theorem 6 {sixth[2]:.5f}, Theorem 7 {seventh[2]:.5f}, truth {truth[2]:.5f}",
            verdict(seventh[2] < 1.1 * sixth[2]),
            "" if seventh[2] < 1.1 * sixth[2] else "where ties are few, Theorem 7 is twice as large",
        ),
        Claim(
            "independence of the errors on the sample causes a modest bias",
            "no number",
            f"Theorem 6 less truth: {bias:+.4f} to {(sixth - truth).max():+.4f}",
            verdict(bias > -0.005 and worst["6"] > 0),
            "" if bias > -0.005 and worst["6"] > 0 else "it is optimistic",
        ),
    ]
    rows = [
        [i, *(f"{x:.4f}" for x in (truth[j], *simulated[j], sixth[j], seventh[j]))]
        for j, i in enumerate(MODELS)
    ]
    table = format_table(["i", "truth", "simulated", "its se", "Theorem 6", "Theorem 7"], rows)
    figure, ax = new_figure()
    plot_curves(
        ax, list(MODELS),
        {"truth": truth, f"simulation, {n_targets} targets": simulated[:, 0], "Theorem 6": sixth,
         "Theorem 7": seventh},
        {f"simulation, {n_targets} targets": simulated[:, 1]},
    )  # fmt: skip
    finished(ax, "attributes of the model, 3 of them relevant", f"expected error, m = {m}")
    note = f"m is not printed; here {m}. Largest |simulated - truth| in standard errors: {z.max():.1f}."
    return Outcome(claims, f"{table}\n{note}", {"": figure})


ESTIMATES = ("estimated prior", "deconvolved", "1000 draws", "tail-aware", "leave-one-out")


@lru_cache
def curves(m: int, n_runs: int) -> dict[str, Floats]:
    """Curves over i: truth, theorem with the exact prior; means (and errors of the means) of estimates."""
    rng = np.random.default_rng(m)
    found = np.full((len(ESTIMATES), len(MODELS), n_runs), np.nan)
    for column, i in enumerate(MODELS):
        language = BooleanFunctions(i)
        log_size = language.log_size()
        for run in range(n_runs):
            X = rng.integers(0, 2, (m, 6))
            y = rng.integers(0, 2, 2**N_RELEVANT)[X[:, :N_RELEVANT] @ [1, 2, 4]]
            law = language.count_law(X, y)
            drawn = np.rint(law.errors[rng.choice(len(law.errors), 1000, p=law.mass)] * m)
            tail = tail_aware_prior(language, X, y, n_particles=2, n_moves=1, n_runs=2)
            priors = (law, deconvolved(law, max_iter=100), prior_of_draws(drawn, m), tail)
            exact = leave_one_out(language, X, y, 2)
            assert exact is not None
            found[:, column, run] = [
                *(expected_error(prior, log_size, m).mean for prior in priors), exact.error
            ]  # fmt: skip
    mean = found.mean(axis=2)
    deviation = found.std(axis=2, ddof=1) / np.sqrt(n_runs)
    answer = {
        "truth": np.array([true_learning_curve(i, N_RELEVANT, m) for i in MODELS]),
        "exact prior": np.array([theorem_curve(i, m) for i in MODELS]),
    }
    for name, values, errors in zip(ESTIMATES, mean, deviation, strict=True):
        answer[name], answer[f"se of {name}"] = values, errors
    return answer


def _figure(m: int, n_runs: int, claims: list[Claim]) -> Outcome:
    found = curves(m, n_runs)
    names = ["truth", "exact prior", *ESTIMATES]
    rows = [
        [i]
        + [
            f"{found[n][j]:.4f}" + (f" ± {found[f'se of {n}'][j]:.4f}" if n in ESTIMATES else "")
            for n in names
        ]
        for j, i in enumerate(MODELS)
    ]
    table = format_table(["i", *names], rows)
    figure, ax = new_figure()
    # The tail-aware curve is the one of the estimated prior: there is one partition, its labelings counted.
    shown = [name for name in names if name != "tail-aware"]
    plot_curves(
        ax, list(MODELS), {n: found[n] for n in shown}, {n: found[f"se of {n}"] for n in shown[2:]}
    )  # fmt: skip
    finished(ax, "attributes of the model, 3 of them relevant", f"expected error, m = {m}")
    closest = min(shown[1:], key=lambda name: np.abs(found[name] - found["truth"]).mean())
    note = f"Mean of {n_runs} samples. Closest to the truth on average over i: {closest}."
    return Outcome(claims, f"{table}\n{note}", {"": figure})


def _exact_prior_claim(m: int, n_runs: int) -> Claim:
    found = curves(m, n_runs)
    excess = found["exact prior"] - found["truth"]
    holds = excess.min() > -0.01 and excess.max() < 0.05
    return Claim(
        "with the exact prior there is a small pessimistic bias (criterion: from -.01 to .05)",
        "about .03",
        f"{excess.min():+.4f} to {excess.max():+.4f}",
        verdict(holds),
        "" if holds else "it lies outside",
    )


def _minimum_claim(m: int, n_runs: int) -> Claim:
    found = curves(m, n_runs)
    best = {name: 1 + int(np.argmin(found[name])) for name in ("truth", "exact prior", "estimated prior")}
    holds = len(set(best.values())) == 1
    return Claim(
        "all three curves have their minimum at the relevant attributes",
        "3",
        ", ".join(f"{name} {i}" for name, i in best.items()),
        verdict(holds),
        "" if holds else "the estimated prior prefers another",
    )


def _draws_claim(m: int, n_runs: int) -> Claim:
    found = curves(m, n_runs)
    off = np.abs(found["1000 draws"] - found["estimated prior"])
    holds = off.max() < 0.02
    return Claim(
        "1,000 drawn hypotheses estimate the prior as well as all do (Sec. 3.7.2; criterion: within .02)",
        "no number",
        f"largest difference of the forecasts {off.max():.3f}, at i = {1 + int(off.argmax())}",
        verdict(holds),
        "" if holds else "the few good hypotheses that decide the answer are not among 1,000",
    )


@experiment("expected_error.fig3_4", "Figure 3.4: learning curves of Boolean functions, m = 10")
def fig3_4(n_runs: int = 60) -> Outcome:
    """A sample too small for its own prior."""
    found = curves(10, n_runs)
    short = found["truth"][2:] - found["estimated prior"][2:]
    sure = (short > 2 * found["se of estimated prior"][2:]).all()
    claim = Claim(
        "the estimated prior makes the prediction considerably optimistic",
        "no number",
        f"too small by {short.min():.3f} to {short.max():.3f} from i = 3",
        verdict(bool(sure)),
        "" if sure else "not everywhere by two standard errors",
    )
    return _figure(
        10, n_runs, [claim, _exact_prior_claim(10, n_runs), _minimum_claim(10, n_runs)]
    )  # fmt: skip


@experiment("expected_error.fig3_5", "Figure 3.5: learning curves of Boolean functions, m = 50")
def fig3_5(n_runs: int = 60) -> Outcome:
    """A middling sample."""
    return _figure(
        50,
        n_runs,
        [_exact_prior_claim(50, n_runs), _minimum_claim(50, n_runs), _draws_claim(50, n_runs)],
    )


@experiment("expected_error.fig3_6", "Figure 3.6: learning curves of Boolean functions, m = 100")
def fig3_6(n_runs: int = 60) -> Outcome:
    """A sample large enough, except for six attributes."""
    # From i = 3: below, the truth depends on the targets that were drawn.
    off = {
        m: np.abs(curves(m, n_runs)["estimated prior"] - curves(m, n_runs)["exact prior"])[2:]
        for m in (10, 50, 100)
    }
    worst = {m: float(values.max()) for m, values in off.items()}
    falls = worst[10] > worst[50] > worst[100]
    near = worst[100] < 0.02
    claim = Claim(
        "as the sample grows, the curve of the estimated prior converges to that of the exact one",
        "no number",
        "largest difference " + ", ".join(f"{value:.3f} (m = {m})" for m, value in worst.items()),
        REPRODUCED if falls and near else CORRECTED if falls else NOT_REPRODUCED,
        "" if falls and near else
        f"slowly: at m = 100 up to i = 5 it is {off[100][:3].max():.3f}, at i = 6 {off[100][3]:.3f}"
        if falls else "it does not shrink",
    )  # fmt: skip
    return _figure(
        100, n_runs, [claim, _exact_prior_claim(100, n_runs), _minimum_claim(100, n_runs),
                      _draws_claim(100, n_runs)]
    )  # fmt: skip
