"""Chapter 6: boosted perceptrons end, boosted shallow trees do not. Theorems 16 to 20."""

from __future__ import annotations

import warnings
from itertools import combinations
from typing import Any

import numpy as np

from offsample.boosting import BoostedPerceptronClassifier
from offsample.bounds import adaboost_rounds
from offsample.datasets import make_parity_sample
from papers._experiments import CORRECTED, REPRODUCED, Claim, Outcome, experiment, unavailable, verdict
from papers._table import format_table
from papers.expected_error._drawing import finished, new_figure, plot_curves

__all__ = ["boosted_exact_trees", "observation1", "theorem16", "theorem17", "theorem19", "theorem20"]


def noise(kind: str, m: int, rng: np.random.Generator) -> tuple[Any, Any]:
    """M different points with classes that have nothing to do with them."""
    if kind == "line":
        return rng.permutation(m)[:, None].astype(float), rng.integers(0, 2, m)
    if kind == "bits":  # m of the points of a cube with twice as many corners
        width = int(np.ceil(np.log2(2 * m)))
        corners = rng.choice(2**width, m, replace=False)
        return ((corners[:, None] >> np.arange(width)) & 1).astype(float), rng.integers(0, 2, m)
    return rng.normal(size=(m, 3)), rng.integers(0, 2, m)


@experiment(
    "expected_error.theorem16", "Theorem 16: a perceptron with a weighted error of at most (m - 1)/2m"
)
def theorem16(n_problems: int = 15, m: int = 40) -> Outcome:
    """Every round of boosting, on points whose classes are noise: its error against what is guaranteed."""
    rng = np.random.default_rng(0)
    rows, excess, n_rounds = [], -np.inf, 0
    for kind in ("line", "bits", "normal"):
        slack, tightest = [], np.inf
        for _ in range(n_problems):
            X, y = noise(kind, m, rng)
            model = BoostedPerceptronClassifier(n_estimators=200).fit(X, y)
            errors, bounds = np.asarray(model.estimator_errors_), np.asarray(model.estimator_bounds_)
            excess = max(excess, float((errors - bounds).max()), float((bounds - (m - 1) / (2 * m)).max()))
            slack.append(float((bounds - errors).mean()))
            tightest = min(tightest, float((bounds - errors).min()))
            n_rounds += len(errors)
        rows.append([kind, f"{np.mean(slack):.4f}", f"{tightest:.1e}"])
    holds = excess < 1e-9
    X, y = np.zeros((2, 1)), np.array([0, 1])
    conflict = BoostedPerceptronClassifier().fit(X, y).training_error_
    claims = [
        Claim(
            "some perceptron has a weighted error of at most (m - 1)/2m",
            f"{(m - 1) / (2 * m):.4f} at m = {m}",
            f"in {n_rounds:,} rounds never exceeded by more than {max(excess, 0):.0e}",
            verdict(holds),
            "" if holds else "it was exceeded",
        ),
        Claim(
            "for any set of points (criterion: two at one place, of different classes)",
            "0.25",
            f"{conflict:.2f}",
            REPRODUCED if conflict <= 0.25 else CORRECTED,
            "" if conflict <= 0.25 else "the points must differ in place, or conflicting weight be netted",
        ),
    ]
    table = format_table(["points", "bound less error, mean", "least"], rows)
    return Outcome(claims, f"{table}\n{n_problems} problems each, {m} points; classes are noise.")


@experiment(
    "expected_error.observation1", "Observation 1: no boosting learner needs fewer than m - 1 perceptrons"
)
def observation1(sizes: tuple[int, ...] = (5, 9, 15, 25, 41)) -> Outcome:
    """Points on a line whose classes alternate."""
    rounds, first, rows = [], [], []
    for m in sizes:
        X, y = np.arange(float(m))[:, None], np.arange(m) % 2
        model = BoostedPerceptronClassifier(n_estimators=adaboost_rounds(m)).fit(X, y)
        rounds.append(len(model.estimators_) if model.training_error_ == 0 else np.inf)
        cuts = [
            ((X[:, 0] >= c) != y).mean() for c in range(m + 1)
        ]  # all perceptrons there are, and opposites
        first.append(float(min(*cuts, *(1 - error for error in cuts))))
        rows.append(
            [m, m - 1, rounds[-1], f"{first[-1]:.4f}", f"{(m - 1) / (2 * m):.4f}", adaboost_rounds(m)]
        )
    enough = all(r >= m - 1 for r, m in zip(rounds, sizes, strict=True)) and np.isfinite(rounds).all()
    tight = all(abs(e - (m - 1) / (2 * m)) < 1e-9 for e, m in zip(first, sizes, strict=True))
    claims = [
        Claim(
            "at least m - 1 rounds are needed",
            ", ".join(str(m - 1) for m in sizes),
            ", ".join(f"{r:.0f}" for r in rounds),
            verdict(bool(enough)),
            "" if enough else "fewer were enough",
        ),
        Claim(
            "no perceptron errs less than (m - 1)/2m under equal weights",
            "no number",
            ", ".join(f"{e:.4f}" for e in first),
            verdict(tight),
            "" if tight else "another error was found",
        ),
    ]
    header = ["m", "m - 1", "rounds", "least error of all", "(m - 1)/2m", "Corollary 4"]
    return Outcome(claims, format_table(header, rows))


@experiment("expected_error.theorem17", "Theorem 17 and Corollary 4: rounds until no training error is left")
def theorem17(sizes: tuple[int, ...] = (10, 20, 40, 80), n_problems: int = 10) -> Outcome:
    """Rounds of AdaBoost with perceptrons on noise, against 2 m² ln m."""
    rng = np.random.default_rng(0)
    found = {kind: np.empty((len(sizes), n_problems)) for kind in ("line", "bits", "normal")}
    for kind, rounds in found.items():
        for row, m in enumerate(sizes):
            for run in range(n_problems):
                X, y = noise(kind, m, rng)
                model = BoostedPerceptronClassifier(n_estimators=adaboost_rounds(m)).fit(X, y)
                rounds[row, run] = len(model.estimators_) if model.training_error_ == 0 else np.inf
    bounds = np.array([adaboost_rounds(m) for m in sizes])
    most = {kind: rounds.max(axis=1) for kind, rounds in found.items()}
    holds = all((values <= bounds).all() for values in most.values())
    share = max(float((values / bounds).max()) for values in most.values())
    slope = np.polyfit(np.log(sizes), np.log(found["line"].mean(axis=1)), 1)[0]
    claims = [
        Claim(
            "no training error after at most 2 m² ln m rounds (Corollary 4)",
            ", ".join(f"{b:,}" for b in bounds) + f" at m = {', '.join(map(str, sizes))}",
            "at most " + ", ".join(f"{max(v[j] for v in most.values()):.0f}" for j in range(len(sizes))),
            verdict(holds),
            "" if holds else "a run took more",
        ),
    ]
    rows = [
        [m, *(f"{found[k][j].mean():.0f} (at most {most[k][j]:.0f})" for k in found), f"{bounds[j]:,}"]
        for j, m in enumerate(sizes)
    ]
    figure, ax = new_figure()
    plot_curves(ax, sizes, {**{k: v.mean(axis=1) for k, v in found.items()}, "Corollary 4": bounds,
                            "Observation 1: m - 1": np.array(sizes) - 1})  # fmt: skip
    ax.set_xscale("log")
    ax.set_yscale("log")
    finished(ax, "points m, classes are noise", "rounds to no training error", zero=False)
    table = format_table(["m", *found, "Corollary 4"], rows)
    note = f"Mean of {n_problems} problems; at most {share:.2g} of the bound; on a line like m^{slope:.1f}."
    return Outcome(claims, f"{table}\n{note}", {"": figure})


def boosted_trees(n_bits: int, depth: int, n_rounds: int = 50) -> tuple[float, float, int]:
    """Training error of AdaBoost over trees on parity, least weighted error of a tree, and rounds."""
    from sklearn.ensemble import AdaBoostClassifier
    from sklearn.tree import DecisionTreeClassifier

    X, y = make_parity_sample(n_bits)
    tree = DecisionTreeClassifier(max_depth=depth, random_state=0)
    first = float((tree.fit(X, y).predict(X) != y).mean())
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model = AdaBoostClassifier(tree, n_estimators=n_rounds).fit(X, y)
    except ValueError:  # scikit-learn refuses to go on with a tree no better than chance
        return 0.5, first, 0
    return float((model.predict(X) != y).mean()), first, len(model.estimators_)


@experiment("expected_error.theorem19", "Theorem 19: boosted trees of depth below log m do not end")
def theorem19(sizes: tuple[int, ...] = (3, 4, 5, 6, 7)) -> Outcome:
    """Parity of n bits, all 2^n points: trees of every depth, and perceptrons."""
    rows, shallow, deep, perceptrons = [], [], [], []
    for n in sizes:
        X, y = make_parity_sample(n)
        model = BoostedPerceptronClassifier(n_estimators=adaboost_rounds(2**n)).fit(X, y)
        perceptrons.append(model.training_error_)
        for depth in range(1, n + 1):
            error, first, rounds = boosted_trees(n, depth)
            (shallow if depth < n else deep).append((error, first))
            rows.append([n, 2**n, depth, f"{first:.3f}", f"{error:.3f}", rounds])
        rows.append([n, 2**n, "perceptrons", f"{model.estimator_errors_[0]:.3f}",
                     f"{model.training_error_:.3f}", len(model.estimators_)])  # fmt: skip
    stalls = all(error == 0.5 and first == 0.5 for error, first in shallow)
    ends = all(error == 0 for error, _ in deep)
    claims = [
        Claim(
            "no tree of depth below log2 m errs less than one half, and boosting stalls",
            "1/2",
            f"all {len(shallow)} at {min(first for _, first in shallow):.2f}, boosted "
            f"{min(error for error, _ in shallow):.2f}",
            verdict(stalls),
            "" if stalls else "some tree does better",
        ),
        Claim(
            "trees of depth n are consistent",
            "0",
            f"{max(error for error, _ in deep):.2f}",
            verdict(ends),
            "" if ends else "they are not",
        ),
        Claim(
            "boosted perceptrons are consistent on the same sample (Theorem 17)",
            "0",
            f"{max(perceptrons):.2f}",
            verdict(max(perceptrons) == 0),
            "" if max(perceptrons) == 0 else "they are not",
        ),
    ]
    header = ["bits", "m", "depth", "error of the first", "training error, boosted", "rounds"]
    return Outcome(claims, format_table(header, rows))


unavailable(
    "expected_error.theorem18",
    "Theorem 18: training a network of two hidden units is NP-complete",
    "a statement about all algorithms, with no number that a run could check.",
)


def boosted_exact_trees(X: Any, y: Any, depth: int, most: int) -> tuple[int, float]:
    """Rounds of AdaBoost with the best trees of a depth until no training error is left, and the least edge.

    The edge of a tree is one half less its error. Rounds are `most` + 1 if errors are left.
    """
    bits, sign = np.asarray(X, bool), np.where(np.asarray(y) > 0, 1.0, -1.0)
    weight, votes, least = np.full(len(sign), 1 / len(sign)), np.zeros(len(sign)), 0.5
    for rounds in range(1, most + 1):
        said = _best_tree(bits, weight * sign, depth)
        edge = float(weight @ (said * sign)) / 2
        least = min(least, edge)
        if edge < 1e-12:
            return most + 1, edge
        if edge > 0.5 - 1e-12:
            return rounds, least
        alpha = 0.5 * np.log((0.5 + edge) / (0.5 - edge))
        votes += alpha * said
        if (votes * sign > 0).all():
            return rounds, least
        weight *= np.exp(-alpha * said * sign)
        weight /= weight.sum()
    return most + 1, least


def _best_tree(bits: Any, net: Any, depth: int) -> Any:
    """What the tree of a depth with the least weighted error says of each row, 1 or -1."""
    known: dict[tuple[bytes, int], tuple[float, Any]] = {}

    def best(rows: Any, left: int) -> tuple[float, Any]:
        key = rows.tobytes(), left
        if key not in known:
            total = float(net[rows].sum())
            found = abs(total), np.where(rows, 1.0 if total >= 0 else -1.0, 0.0)
            for one in bits.T if left else ():
                inside = rows & one
                if inside.any() and (inside != rows).any():
                    parts = [best(part, left - 1) for part in (inside, rows & ~one)]
                    value = parts[0][0] + parts[1][0]
                    if value > found[0] + 1e-15:
                        found = value, parts[0][1] + parts[1][1]
            known[key] = found
        return known[key]

    return best(np.ones(len(net), bool), depth)[1]


@experiment("expected_error.theorem20", "Theorem 20: trees of depth log m in m^(2 log m + 1) rounds")
def theorem20(n_random: int = 20) -> Outcome:
    """AdaBoost with the best trees of depth log2 m: all sets of 4 of 8 points, and hard sets of 8 and 16."""
    rng = np.random.default_rng(0)
    cube = (np.arange(8)[:, None] >> np.arange(3)) & 1
    problems: list[tuple[str, int, list[Any]]] = [
        ("all sets and labels", 4, [
            (cube[list(chosen)], (labels >> np.arange(4)) & 1)
            for chosen in combinations(range(8), 4) for labels in range(1, 15)
        ]),
    ]  # fmt: skip
    for m in (8, 16):
        star = np.vstack([np.zeros((1, m - 1), int), np.eye(m - 1, dtype=int)])
        few = int(np.log2(m)) + 1
        sparse = [
            ((rng.choice(2**few, m, replace=False)[:, None] >> np.arange(few)) & 1, rng.integers(0, 2, m))
            for _ in range(n_random)
        ]
        problems.append(("0 and unit vectors", m, [(star, rng.integers(0, 2, m)) for _ in range(n_random)]))
        problems.append((f"half of {few} bits", m, sparse))
    rows, holds = [], True
    for name, m, given in problems:
        bound = m ** (2 * int(np.log2(m)) + 1)
        found = [boosted_exact_trees(X, y, int(np.log2(m)), min(bound, 5000)) for X, y in given]
        most, edge = max(one[0] for one in found), min(one[1] for one in found)
        holds &= most <= min(bound, 5000)
        rows.append([name, m, len(given), most, f"{edge:.4f}", f"{bound:,}"])
    claim = Claim(
        "AdaBoost with trees of depth log2 m has no training error after m^(2 log m + 1) rounds",
        "1,024; 2,097,152; 6.9e10 rounds for m = 4, 8, 16",
        "at most "
        + "; ".join(f"{max(r[3] for r in rows if r[1] == m)} of m = {m}" for m in (4, 8, 16))
        + f"; no tree has an edge below {min(float(r[4]) for r in rows):.3f}",
        verdict(holds),
        "" if holds else "some run does not end",
    )
    header = ["points", "m", "problems", "most rounds", "least edge of a tree", "bound"]
    return Outcome([claim], format_table(header, rows))
