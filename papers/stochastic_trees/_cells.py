"""Appendices C and G: the weighted Gini index as a function of (P, Q), and of w."""

from __future__ import annotations

import numpy as np

from papers._claims import judged, misprinted
from papers._experiments import Outcome, experiment
from papers._table import format_table
from papers.stochastic_trees._common import Floats
from papers.stochastic_trees._geometry import weighted_gini

# Region: range of p, and the lower and the upper bound of q, for ρ >= 1/2.
REGIONS = {
    "b,l": (lambda r: (0.0, 1 - r), lambda p, _: 0 * p, lambda p, r: r * p, 48),
    "b,r": (lambda r: (1 - r, 1.0), lambda p, r: p + r - 1, lambda p, r: r * p, 84),
    "a,l": (lambda r: (0.0, r), lambda p, r: r * p, lambda p, _: p, 50),
    "a,r": (lambda r: (r, 1.0), lambda p, r: r * p, lambda p, r: r + 0 * p, 44),
}


def _variation(region: str, rho: float, epsilon: float, n_points: int = 9) -> float:
    """Largest difference of WGI within one cell of a region."""
    span, lower, upper, _ = REGIONS[region]
    start, stop = span(rho)
    worst = 0.0
    for left in np.arange(start, stop - 1e-12, epsilon):
        p = np.linspace(max(left, 1e-9), min(left + epsilon, stop, 1 - 1e-9), n_points)[:, None]
        for alpha in np.arange(epsilon, 1 + 1e-12, epsilon):
            share = np.linspace(alpha - epsilon, alpha, n_points)[None]
            values = weighted_gini(p + 0 * share, share * upper(p, rho) + (1 - share) * lower(p, rho), rho)
            worst = max(worst, float(values.max() - values.min()))
    return worst


def _slopes(rho: float, above: bool, n: int = 60) -> tuple[Floats, Floats]:
    """Differences of WGI in p and in q over the part of the domain above or below q = ρp."""
    step = 1e-6
    p = np.linspace(0.01, 0.99, n)[:, None]
    low = rho * p if above else np.maximum(0.0, p + rho - 1)
    high = np.minimum(rho, p) if above else rho * p
    q = low + (high - low) * np.linspace(0.02, 0.98, n)[None]
    p = p + 0 * q
    by_p = weighted_gini(p + step, q, rho) - weighted_gini(p - step, q, rho)
    by_q = weighted_gini(p, q + step, rho) - weighted_gini(p, q - step, rho)
    return np.asarray(by_p), np.asarray(by_q)


@experiment("stochastic_trees.appendix_c", "Appendix C and Theorem 6.3: WGI in regions and cells")
def appendix_c(epsilons: tuple[float, ...] = (0.1, 0.05), n_shares: int = 8) -> Outcome:
    shares = np.linspace(0.5, 0.98, n_shares)
    wrong = 0
    for rho in np.concatenate([shares, 1 - shares]):
        for above in (True, False):
            by_p, by_q = _slopes(float(rho), above)
            sign = 1 if above else -1
            wrong += int((sign * by_p < -1e-13).sum() + (sign * by_q > 1e-13).sum())
    rows, worst = [], {}
    for region, (*_, printed) in REGIONS.items():
        ratios = [max(_variation(region, float(rho), e) / e for rho in shares) for e in epsilons]
        worst[region] = max(ratios)
        rows.append([region, f"{printed} ε", *(f"{ratio:.2f} ε" for ratio in ratios)])
    low, high = 0.0, 0.0
    for rho in np.linspace(0.01, 0.99, 99):
        for delta in (1e-4, 1e-3, 0.01, 0.05, 0.1, 0.25):
            for p, at_zero in ((delta, True), (1 - delta, False)):
                q = np.linspace(max(0.0, p + rho - 1), min(rho, p), 101)
                away = (
                    float(np.abs(weighted_gini(np.full(101, p), q, rho) - 4 * rho * (1 - rho)).max()) / delta
                )
                low, high = (max(low, away), high) if at_zero else (low, max(high, away))
    claims = [
        judged(
            "Lemma C.1: WGI is monotone in p and in q on either side of q = ρp",
            "always",
            f"{wrong} slopes of the wrong sign",
            wrong == 0,
            "it is not",
        ),
        *(
            judged(
                f"WGI varies in a cell of R_{region} by at most",
                f"{REGIONS[region][3]} ε",
                f"{worst[region]:.2f} ε",
                worst[region] <= REGIONS[region][3],
                "more",
            )
            for region in REGIONS
        ),
        judged(
            "Theorem 6.3: so does it with C = 100",
            "100 ε",
            f"{max(worst.values()):.2f} ε",
            max(worst.values()) <= 100,
            "more",
        ),
        judged("Lemma C.2: |WGI - 4ρ(1 - ρ)| for p <= δ", "6 δ", f"up to {low:.2f} δ", low <= 6, "more"),
        misprinted(
            "Lemma C.3: the same for p >= 1 - δ",
            "3 δ",
            f"up to {high:.2f} δ",
            printed_fails=high > 3,
            corrected_holds=max(low, high) <= 4 + 1e-9,
            correction="4 δ on both sides, which are alike: WGI(1 - p, ρ - q) = WGI(p, q)",
        ),
    ]
    header = ["region", "printed", *(f"ε = {e}" for e in epsilons)]
    return Outcome(claims, "Largest variation of WGI within a cell\n" + format_table(header, rows))


@experiment("stochastic_trees.appendix_g", "Appendix G: WGI is not convex in w")
def appendix_g(steps: tuple[float, ...] = (0.05, 0.1, 0.2, 0.3, 0.4, 0.5)) -> Outcome:
    rows, off, convex = [], 0.0, 0
    for x in steps:
        # Opposite in the first coordinate, the same in the others, one of each class.
        rest = np.sqrt(1 - 4 * x**2)
        X, y, D = np.array([[2 * x, rest], [-2 * x, rest]]), np.array([1, 0]), np.array([0.5, 0.5])
        values = []
        for first in (0.0, 1.0, 0.5):
            p = (1 + X @ [first, 0.0]) / 2
            values.append(float(weighted_gini(D @ p, (D * y) @ p, 0.5)))
        printed = (1.0, 1 - 4 * x**2, 1 - x**2)
        off = max(off, *(abs(v - c) for v, c in zip(values, printed, strict=True)))
        convex += values[2] <= (values[0] + values[1]) / 2
        rows.append([x, *(f"{v:.4f}" for v in values)])
    claims = [
        judged(
            "WGI in the middle exceeds the mean of the ends",
            "always",
            f"in {len(steps) - convex} of {len(steps)}",
            convex == 0,
            "not always",
        ),
        judged(
            "its values at w_0, w_1 and w_m",
            "1, 1 - 4x², 1 - x²",
            f"the same to {off:.0e}",
            off < 1e-12,
            "other values",
        ),
    ]
    return Outcome(claims, format_table(["x", "WGI(w_0)", "WGI(w_1)", "WGI(w_m)"], rows))
