"""The lemmas behind Theorems 1 to 4, each by enumeration or exactly on a grid (Sec. 4, Appendix A)."""

from __future__ import annotations

from itertools import product

import numpy as np
from scipy.special import bdtr
from scipy.stats import binom

from offsample.hypotheses import GiniRule
from papers._claims import judged, misprinted
from papers._experiments import Claim, Outcome, experiment
from papers._table import format_table
from papers.ginger._distributions import (
    all_tables,
    leave_one_out,
    random_distributions,
    uniform,
    vote_error,
)
from papers.ginger._parts import (
    compensated_concentration,
    medium_values,
    missing_masses,
    rare_values,
    three_sets,
)
from papers.ginger._rankings import Floats

_ROUNDING = 1e-12


def conditional_means(m: int = 5, n_distributions: int = 50) -> Claim:
    """Lemma 5: the mean of a value's share of Ginger over the samples that hold it k times."""
    rng = np.random.default_rng(0)
    tables = all_tables(2, m)
    share = GiniRule.loo_terms(tables)[:, 0] / m  # the sum over one value is that value's term
    size = tables[:, 0].sum(axis=-1)
    worst = 0.0
    for given in random_distributions(n_distributions, 2, rng):
        probability = given.probabilities(tables)
        for k in range(2, m + 1):
            at = size == k
            mean = probability[at] @ share[at] / probability[at].sum()
            worst = max(worst, abs(mean - k / m * given.gini[0]))
    return judged(
        "Lemma 5: E[Ginger of a value | k rows] = 2 q (1 - q) k/m, k > 1",
        "equality",
        f"off by at most {worst:.0e}: all samples of {m} rows, {n_distributions} distributions",
        worst < _ROUNDING,
        "the two sides differ",
    )


def mean_errors(m: int = 5, n_distributions: int = 50) -> Claim:
    """Eq. (16) and Lemma 6 summed over the values, against the mean over all samples."""
    rng = np.random.default_rng(1)
    tables = all_tables(3, m)
    estimate = leave_one_out(tables, GiniRule)
    worst = 0.0
    for given in random_distributions(n_distributions, 3, rng):
        probability = given.probabilities(tables)
        worst = max(
            worst,
            abs(probability @ estimate - given.expected_ginger(m)),
            abs(probability @ given.errors(tables, GiniRule) - given.expected_gini_error(m)),
        )
    return judged(
        "Eq. (16) and Lemma 6: E[Ginger] and E[error of the Gini rule] in closed form",
        "equality",
        f"off by at most {worst:.0e}: all samples of {m} rows, 3 values, {n_distributions} distributions; "
        "E[Ginger] is the expected error at m - 1 rows",
        worst < _ROUNDING,
        "the two sides differ",
    )


def bounded_difference(n_values: int = 3, max_rows: int = 6) -> Claim:
    """Lemma 8: by how much one changed row can change Ginger, over all samples."""
    largest = 0.0
    for m in range(2, max_rows + 1):
        tables = all_tables(n_values, m).reshape(-1, 2 * n_values)
        value = dict(
            zip(map(tuple, tables), leave_one_out(tables.reshape(-1, n_values, 2), GiniRule), strict=True)
        )
        for table in value:
            for out, into in product(range(2 * n_values), repeat=2):
                if table[out]:
                    changed = list(table)
                    changed[out] -= 1
                    changed[into] += 1
                    largest = max(largest, m * abs(value[tuple(changed)] - value[table]))
    holds = largest <= 12
    return judged(
        "Lemma 8: a changed row changes Ginger by at most 12/m",
        "12/m",
        f"at most {largest:.3f}/m, attained, over all samples of up to {max_rows} rows and {n_values} values",
        holds,
        "a larger change was found",
    )


def mcdiarmid(delta: float = 0.05) -> Claim:
    """Theorem 7 with the sum of the c_i instead of that of their squares."""
    m, scale = 100, 10.0  # a sum of coins worth 10 each: every c_i is 10
    printed = np.sqrt(0.5 * np.log(1 / delta) * m * scale)
    squared = np.sqrt(0.5 * np.log(1 / delta) * m * scale**2)
    risk = [float(binom.sf(np.floor((m * scale / 2 + t) / scale), m, 0.5)) for t in (printed, squared)]
    return misprinted(
        "Theorem 7 (McDiarmid): deviation at most sqrt(½ ln(1/δ) Σ c_i) with probability 1 - δ",
        f"δ = {delta}",
        f"{m} coins worth {scale:.0f}: exceeded with probability {risk[0]:.3f}; with Σ c_i² {risk[1]:.1e}",
        printed_fails=risk[0] > delta,
        corrected_holds=risk[1] <= delta,
        correction="Σ c_i² under the root, as Lemma 8 uses it",
    )


def _rho(delta: float, p: Floats, m: float) -> Floats:
    return np.asarray(m * p - np.sqrt(m * p * 3 * np.log(2 / delta)))


def typical_counts() -> Claim:
    """Lemma 10: all likely values are seen often, exactly for equally likely ones."""
    worst, least = 0.0, np.inf
    for m, delta in product((100, 1000, 10_000, 100_000), (0.01, 0.05, 0.5, 0.9)):
        floor = 6 * np.log(2 * m / delta) / m
        for n in np.unique(np.geomspace(1, max(1, 1 / floor), 30).astype(int)) if floor <= 1 else ():
            rho = float(_rho(delta / m, np.array(1 / n), m))
            worst = max(worst, n * float(binom.cdf(np.ceil(rho) - 1, m, 1 / n)) / delta)
            least = min(least, rho)
    holds = worst <= 1 and least > 1
    return judged(
        "Lemma 10: c_v >= ρ(δ/m, p_v, m) > 1 for all values with p_v >= 6 ln(2m/δ)/m, with probability 1 - δ",
        "δ",
        f"fails with probability at most {worst:.0e} δ (union bound, exact binomials); least ρ {least:.2f}",
        holds,
        "fails more often than δ",
    )


def compensated_mean() -> Claim:
    """Lemma 11: the two rules differ in expectation only through likely values that were not seen."""
    worst = 0.0
    for m, delta in product((50, 100, 1000, 10_000), (0.01, 0.05, 0.5, 0.9)):
        floor = 6 * np.log(2 * m / delta) / m
        n = int(1 / floor)
        # Given c rows both rules have mean q, but for c = 0, where the Gini rule says 1/2.
        if n >= 1:
            worst = max(worst, m * 0.5 * (1 - 1 / n) ** m)
    holds = worst <= 1
    return judged(
        "Lemma 11: |E[error of the Gini rule] - E[error of the compensated rule]| <= 1/m",
        "1/m",
        f"at most {worst:.0e}/m: half the missing mass of the likely values, in closed form",
        holds,
        "a larger difference was found",
    )


def compensated_change(m: int = 200, delta: float = 0.05) -> Claim:
    """Lemma 12: by how much one changed row changes the error of the compensated rule."""
    bound = 12 * np.log(2 * m / delta) / m
    floor = 6 * np.log(2 * m / delta) / m
    # A removal changes the prediction for a rare value by at most 1/2, from one row to none.
    largest = floor / 2
    size = np.arange(m + 1)[:, None]
    positives = np.arange(m + 1)[None, :]
    for p, q in product(np.linspace(floor, 1, 20), (0.0, 0.25, 0.5, 0.75, 1.0)):
        rho = float(_rho(delta / m, np.array(p), m))
        whole = np.ceil(rho)
        h = np.where(size >= rho, positives / np.maximum(size, 1), (positives + q * (whole - size)) / whole)
        possible = positives < size  # a row of class 0 is left to take out
        change = np.abs(h[1:] - h[:-1])[possible[1:]]
        largest = max(largest, p * abs(1 - 2 * q) * float(change.max()))
    holds, step = 2 * largest <= bound, 2 / (np.sqrt(2) - 1)
    right = np.sqrt(2) / (np.sqrt(2) - 1)
    return misprinted(
        "Lemma 12: a changed row changes the error of the compensated rule by at most 12 ln(2m/δ)/m; "
        "its last step is 2/(√2 - 1) <= 4",
        f"{bound:.3f} at m = {m}; 4",
        f"at most {2 * largest:.3f}; 2/(√2 - 1) = {step:.2f}, √6/(√6 - √3) = {right:.2f}",
        printed_fails=step > 4,
        corrected_holds=holds and right <= 4,
        correction="the last step is √2/(√2 - 1) <= 4; the bound stands",
    )


def hoeffding_votes(max_votes: int = 400) -> tuple[Claim, Claim]:
    """Lemma 17 and the votes of Theorem 3, on a grid of all k and 2,001 q."""
    q = np.linspace(0.5, 1, 2001)
    first = second = tight = 0.0
    pair = 0.0
    for k in range(1, max_votes + 1):
        wrong = bdtr(k // 2, k, q)
        first = max(first, float((wrong / np.exp(-2 * (q - 0.5) ** 2 * k)).max()))
        second = max(second, float(((2 * q - 1) * wrong).max() * np.sqrt(np.e * k)))
        excess = np.array([vote_error(np.array([k]), x)[0] for x in q[:: 1 if k == 2 else 40]])
        known = np.minimum(q, 1 - q)[:: 1 if k == 2 else 40]
        tight = max(tight, float((excess - known).max() * np.sqrt(np.e * k)) if k >= 3 else 0.0)
        if k == 2:
            pair = float((excess - known).max())
            pair_printed = float(((2 * q - 1) * wrong).max())
    holds = first <= 1 + _ROUNDING and second <= 1
    return (
        judged(
            "Lemma 17: Pr[Σ Z <= k/2] <= exp(-2 (q - ½)² k), and (2q - 1) times it <= 1/√(ek)",
            "1/√(ek)",
            f"largest ratios to the bounds {first:.3f} and {second:.3f}; of the excess error of a vote "
            f"{tight:.3f}",
            holds,
            "a ratio is above 1",
        ),
        misprinted(
            "Theorem 3, proof, k = 2: largest (2q - 1) Pr[q̂ <= ½] is 1/8",
            "1/8",
            f"{pair_printed:.4f}; with half of the ties {pair:.4f}",
            printed_fails=pair_printed > 0.125 + 1e-9,
            corrected_holds=pair <= 0.125 + 1e-9,
            correction="a tie counts one half: (2q - 1)(1 - q) <= 1/8; Eq. (10) stands",
        ),
    )


def vote_deviation() -> Claim:
    """Lemma 18: a single vote's error is near its mean; the worst case on a grid."""
    worst_case, worst, corrected = (0, 0.0, 0.0, 0.0, 0.0), 0.0, 0.0
    for k, delta in product((10, 25, 50, 100, 200, 400, 800), (0.5, 0.2, 0.05, 0.01, 0.001)):
        printed = np.sqrt(2 * np.log(1 / delta) / (np.e * k))
        for q in np.linspace(0.5, 1, 401):
            below = float(bdtr(np.ceil(k / 2) - 1, k, q))
            tie = float(bdtr(k // 2, k, q)) - below
            mean = (1 - q) * (1 - below - tie) + q * below + tie / 2
            outcomes = ((1 - below - tie, 1 - q), (below, q), (tie, 0.5))
            for bound, is_printed in ((printed, True), (printed * np.sqrt(np.e), False)):
                # The deviation that is not exceeded with probability 1 - δ.
                needed = min(
                    t
                    for t in (abs(f - mean) for _, f in outcomes)
                    if sum(pr for pr, f in outcomes if abs(f - mean) > t) <= delta
                )
                if is_printed and needed / bound > worst:
                    worst, worst_case = needed / bound, (k, q, delta, needed, bound)
                elif not is_printed:
                    corrected = max(corrected, needed / bound)
    k, q, delta, needed, bound = worst_case
    return misprinted(
        "Lemma 18: |error of a vote - its mean| <= sqrt(2 ln(1/δ)/(ek)) with probability 1 - δ",
        f"{bound:.4f} at k = {k}, q = {q:.4f}, δ = {delta}",
        f"{needed:.4f} is needed there; largest ratio to sqrt(2 ln(1/δ)/k) {corrected:.3f}",
        printed_fails=worst > 1,
        corrected_holds=corrected <= 1,
        correction="without the e, which is all that its proof gives",
    )


def likely_values() -> Claim:
    """Lemma 19: the deviation of a likely value's error, by Lemma 18 as corrected and as printed."""
    m, delta = np.meshgrid(np.geomspace(4, 1e12, 200), [1e-6, 0.05, 0.5, 0.999])
    # Lemma 21 gives as many rows: c_v >= 3 ln(2m/δ) √m.
    rows = 3 * np.log(2 * m / delta) * np.sqrt(m)
    ratio = np.sqrt(2 * np.log(m / delta) / rows) * m**0.25
    p = 0.1
    return misprinted(
        "Lemma 19, proof: sqrt(2 ln(m/δ)/(e c_v)) <= p_v m^(-1/4)",
        f"{p} m^(-1/4) at p_v = {p}",
        f"up to {ratio.max() / np.sqrt(np.e):.3f} m^(-1/4); without the e of Lemma 18 {ratio.max():.3f}",
        printed_fails=ratio.max() / np.sqrt(np.e) > p,
        corrected_holds=ratio.max() <= 1,
        correction="no p_v on the right; with Lemma 18 corrected too the lemma stands, by a factor √(2/3)",
    )


def parity(max_votes: int = 20) -> Claim:
    """Lemma 20, proof: more labels do not always make a wrong or tied vote less likely."""
    case, largest = (0, 0, 0.0), 0.0
    for q, k in product(np.linspace(0.55, 0.95, 9), range(1, max_votes)):
        rise = float(bdtr((k + 1) // 2, k + 1, q) - bdtr(k // 2, k, q))
        if rise > largest:
            case, largest = (k, k + 1, float(q)), rise
    k, more, q = case
    bound = 1 / np.sqrt(np.e * np.arange(1, max_votes))
    values = [float(bdtr(n // 2, n, q)) for n in (k, more)]
    return misprinted(
        "Lemma 20, proof: Pr[Σ Z <= k/2] falls with k",
        "no number",
        f"q = {q:.2f}: {values[0]:.3f} at k = {k}, {values[1]:.3f} at k = {more}",
        printed_fails=largest > 0,
        corrected_holds=bool((np.diff(bound) < 0).all()),
        correction="false from odd to even k; its bound 1/√(ek) of Lemma 17 does fall, and the lemma stands",
    )


def conditional_error(n_samples: int = 2000, m: int = 10_000, delta: float = 0.05) -> Claim:
    """Lemma 20: the mean error given the counts, for equally likely values as rare as it allows."""
    n = int(1 / (6 * np.log(2 * m / delta) * m ** (-2 / 3)))
    rng = np.random.default_rng(0)
    sizes = rng.multinomial(m, np.full(n, 1 / n), size=n_samples)
    bound, worst = 1 / m + m ** (-1 / 6), 0.0
    for q in np.linspace(0.5, 0.6, 21):
        given = uniform("", n, q)
        conditional = vote_error(sizes, q) @ given.values
        worst = max(worst, float(np.quantile(abs(conditional - given.expected_bayes_error(m)), 1 - delta)))
    return judged(
        "Lemma 20: the mean error of the majority rule given the counts is within 1/m + m^(-1/6) of the mean",
        f"{bound:.3f} at m = {m:,}",
        f"{worst:.1e} at 95 % ({n} values, {n_samples:,} samples, q from 0.5 to 0.6)",
        worst <= bound,
        "a larger deviation was found",
    )


def likely_counts() -> tuple[Claim, Claim]:
    """Lemma 21: the bound on ρ, for which c, and whether ρ rises with p."""
    outside, inside = np.inf, np.inf
    for c, m, delta in product((0.25, 0.5, 0.75, 1.5, 2.0), (10, 100, 1000, 10**5), (0.9, 0.05, 1e-4)):
        if m < 2 ** (1 / (1 - c)):
            continue
        log = np.log(2 / delta)
        p = 6 * log * float(m) ** -c * np.array([1 + 1e-9, 1.5, 4])
        ratio = float((_rho(delta, p, m) / (3 * log * float(m) ** (1 - c))).min())
        if c < 1:
            inside = min(inside, ratio)
        else:
            outside = min(outside, ratio)
    m, delta = 100, 0.05
    p = np.linspace(0, 1, 1001)
    rho = _rho(delta, p, m)
    falls = p[np.flatnonzero(np.diff(rho) < 0)]
    rises_later = bool((np.diff(rho[m * p > 0.75 * np.log(2 / delta)]) > 0).all())
    return (
        misprinted(
            "Lemma 21: ρ(δ, p, m) >= 3 ln(2/δ) m^(1-c) for p > 6 ln(2/δ) m^(-c), any positive c",
            "ratio 1",
            f"least ratio {inside:.3f} for c < 1, {outside:.3f} for c > 1",
            printed_fails=outside < 1,
            corrected_holds=inside >= 1 - 1e-9,
            correction="c must lie below 1; Theorem 4 uses 1/2 and 2/3",
        ),
        misprinted(
            "Lemma 21, proof: ρ rises with p",
            "no number",
            f"falls from p = 0 to {falls.max() if len(falls) else 0:.3f} at m = {m}, δ = {delta}, then rises",
            printed_fails=len(falls) > 0,
            corrected_holds=rises_later,
            correction="only for mp > ¾ ln(2/δ), which the lemma's p exceed",
        ),
    )


@experiment(
    "ginger.lemmas", "Lemmas 5 to 21 (Sec. 4, Appendix A): the steps of the proofs, exactly or on a grid"
)
def lemmas() -> Outcome:
    votes = hoeffding_votes()
    counts = likely_counts()
    claims = [
        conditional_means(),
        mean_errors(),
        mcdiarmid(),
        bounded_difference(),
        compensated_concentration(),
        typical_counts(),
        compensated_mean(),
        compensated_change(),
        missing_masses(),
        three_sets(),
        rare_values(),
        medium_values(),
        *votes,
        vote_deviation(),
        likely_values(),
        parity(),
        conditional_error(),
        *counts,
    ]
    return Outcome(claims, "Weights of Theorem 3, and the largest excess error of k votes\n" + vote_weights())


def vote_weights() -> str:
    """The printed weights of Eq. (10) beside the least that are enough."""
    q = np.linspace(0.5, 1, 2001)
    rows = []
    for k in (0, 1, 2, 3, 4, 5, 10, 30, 100, 300):
        printed = {0: 0.5, 1: 0.125, 2: 0.125}.get(k) or 1 / np.sqrt(np.e * k)
        excess = max(float(vote_error(np.array([k]), x)[0]) - (1 - x) for x in q)
        rows.append([k, f"{printed:.4f}", f"{excess:.4f}", f"{printed / excess:.2f}"])
    return format_table(["k", "printed", "largest excess", "ratio"], rows)
