"""Chapter 5: hold-out sizes, and what parameters that tell labels gain on five benchmark problems."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

from offsample.assessment import optimism_probability, optimism_probability_folds
from offsample.bounds import tuned_holdout_size
from offsample.datasets import load
from papers._experiments import CORRECTED, NOT_REPRODUCED, REPRODUCED, Claim, Outcome, experiment, verdict
from papers._table import format_table

__all__ = ["entropies", "examples", "greedy", "theorem15"]


@experiment("tuning_optimism.theorem15", "Sec. 5.1: hold-out sizes of Theorem 15 for p binary parameters")
def theorem15() -> Outcome:
    """The six lines after Theorem 15, for no parameter and per parameter."""
    printed = {
        (0.05, 0.05): (139, 600),
        (0.05, 0.02): (867, 3745),
        (0.05, 0.01): (3466, 14978),
        (0.02, 0.05): (139, 783),
        (0.02, 0.02): (867, 4890),
        (0.02, 0.01): (3466, 19560),
    }
    claims, rows = [], []
    for (risk, deviation), (slope, size) in printed.items():
        ours = tuned_holdout_size(0, deviation, 1 - risk)
        per_bit = math.log(2) / (2 * deviation**2)
        enough = all(tuned_holdout_size(p, deviation, 1 - risk) <= slope * p + size for p in range(65))
        same = ours == size and abs(per_bit - slope) < 1
        claims.append(
            Claim(
                f"δ = {risk}, ε = {deviation}",
                f"{slope} p + {size}",
                f"{per_bit:.2f} p + {ours}",
                REPRODUCED if same else CORRECTED if abs(ours - size) == 1 else NOT_REPRODUCED,
                "" if same else "a size must be rounded up: one row more",
            )
        )
        rows.append([risk, deviation, f"{slope} p + {size}", f"{per_bit:.2f} p + {ours}", enough])
    header = ["risk", "deviation", "printed", "recomputed", "printed suffices for 0 to 64 bits"]
    return Outcome(claims, format_table(header, rows))


@dataclass(frozen=True)
class _Setting:
    """A benchmark problem as the thesis states it: hits per fold, bits per label."""

    name: str
    n_classes: int
    entropy: float
    n_folds: int
    n_rows: int
    n_hits: int
    majority_rate: float | None = None

    def probability(self, n_known: int, n_extra: int) -> float:
        if self.n_folds == 1:
            return optimism_probability(self.n_rows, self.n_hits, n_known, n_extra)
        shared: dict[str, Any] = (
            {}
            if self.majority_rate is None
            else {"shared_parameters": True, "majority_rate": self.majority_rate}
        )
        size, hits = self.n_rows / self.n_folds, self.n_hits / self.n_folds
        return optimism_probability_folds(self.n_folds, size, hits, n_known, n_extra, **shared)

    def fewest(self, n_extra: int, probability: float) -> int | None:
        """The fewest labels with which so many hits are gained with this probability."""
        # With shared parameters more labels may gain fewer hits: one number after the other.
        possible = range(self.n_rows // self.n_folds + 1)
        return next((c for c in possible if self.probability(c, n_extra) >= probability), None)


LANDSAT = _Setting("Landsat", 6, 2.5, 1, 2000, 1700)
DNA = _Setting("DNA", 3, 1.4908, 1, 1186, 1096)
MESH = _Setting("mesh", 13, 2.87, 5, 277, 59)
DIABETES = _Setting("diabetes, parameters per fold", 2, 0.9331, 12, 768, 561)
SHARED = _Setting("diabetes, shared parameters", 2, 0.9331, 12, 768, 561, 500 / 768)
HEART = _Setting("heart, k-NN, shared parameters", 2, 0.991, 9, 270, 9 * 16, 150 / 270)
# problem, extra hits, labels, probability, bits and trials as printed
PRINTED = (
    (LANDSAT, 6, 60, "> .90", 150, 360),
    (LANDSAT, 6, 16, ".02", 40, 96),
    (DNA, 4, 85, "> .90", 126, 255),
    (MESH, 14, 5, ".99", 14, 65),
    (MESH, 28, 8, ".93", 23, 104),
    (DIABETES, 6, 4, ".92", 3.7, 8),
    (SHARED, 6, 7, ".02", None, None),
    (HEART, 6, 9, ".90", 8, 18),
)


@experiment("tuning_optimism.examples", "Secs. 5.3 to 5.5: Landsat, DNA, mesh, diabetes and heart")
def examples() -> Outcome:
    """Every printed number of the affected benchmark problems beside what its inputs give."""
    claims, rows = [], []
    for setting, n_extra, n_known, printed, bits, trials in PRINTED:
        found = setting.probability(n_known, n_extra)
        claims.append(_probability_claim(setting, n_extra, n_known, printed, found))
        needed = n_known * setting.entropy
        rows.append([setting.name, n_extra, n_known, printed, f"{found:.4f}", bits or "–", f"{needed:.2f}",
                     trials or "–", n_known * setting.n_classes])  # fmt: skip
        if bits is not None:
            claims.append(_capacity_claim(setting, n_known, needed, bits, trials))
    claims += [*_fewest_claims(), *_further_claims(), *entropies()]
    header = ["problem", "extra hits", "labels c", "printed", "recomputed", "bits printed", "c H",
              "trials printed", "c classes"]  # fmt: skip
    tables = f"{format_table(header, rows)}\n\nOther readings of what was not reproduced\n\n{_readings()}"
    return Outcome(claims, tables, {"": _figure()})


def _probability_claim(setting: _Setting, n_extra: int, n_known: int, printed: str, found: float) -> Claim:
    value = float(printed.lstrip("> "))
    # As printed: to two decimals, cut or rounded; "> .90" at most a percent above.
    agrees = 0 <= found - value < 0.01 if printed.startswith(">") else abs(found - value) <= 0.0051
    near = not agrees and abs(found - value) <= 0.02
    why = {
        (MESH, 14): "5 % of 277 rows are 2.8 hits per fold; with three whole hits per fold (15) it is .993, "
        "printed .99",
        (MESH, 28): "with 55 rows and 12 hits in every fold, instead of 277 rows and 59 hits spread, .936",
        (DIABETES, 6): "neither c = 3 (.952) nor c = 4 gives .92 with 6 extra hits; one whole extra hit per "
        "fold (12) with c = 5 gives .924",
        (HEART, 6): "3 extra hits give .917 with c = 9, the fewest labels for 90 %; 6 need c = 13",
    }.get((setting, n_extra), "")
    judged = REPRODUCED if agrees else CORRECTED if near else NOT_REPRODUCED
    return Claim(
        f"{setting.name}: {n_known} labels gain {n_extra} hits with probability",
        printed,
        f"{found:.4f}",
        judged,
        "" if agrees else why or "the stated inputs give another number",
    )


def _capacity_claim(setting: _Setting, n_known: int, needed: float, bits: float, trials: int | None) -> Claim:
    whole = bits == int(bits)
    same = bits == math.ceil(needed - 1e-9) if whole else abs(bits - needed) < 0.05
    close = whole and bits == math.floor(needed)
    return Claim(
        f"{setting.name}: bits and trials for {n_known} labels",
        f"{bits:g} bits, {trials} trials",
        f"{needed:.1f} bits, {n_known * setting.n_classes} trials",
        NOT_REPRODUCED
        if trials != n_known * setting.n_classes or not (same or close)
        else REPRODUCED
        if same
        else CORRECTED,
        "" if same else f"bits must be rounded up: {math.ceil(needed)}",
    )


def _fewest_claims() -> list[Claim]:
    """Whether the printed number of labels is the fewest that will do."""
    claims = []
    for setting, n_extra, level, printed in (
        (LANDSAT, 6, 0.9, 60),
        (DNA, 4, 0.9, 85),
        (MESH, 14, 0.99, 5),
        (MESH, 28, 0.93, 8),
        (DIABETES, 6, 0.92, 4),
        (HEART, 6, 0.9, 9),
    ):
        fewest = setting.fewest(n_extra, level)
        claims.append(
            Claim(
                f"{setting.name}: fewest labels for {n_extra} extra hits with {level:.0%}",
                str(printed),
                str(fewest),
                verdict(fewest == printed),
                "" if fewest == printed else "see the probability above",
            )
        )
    return claims


def _further_claims() -> list[Claim]:
    shared = [SHARED.probability(c, 6) for c in range(1, 33)]
    top = int(np.argmax(shared)) + 1
    falls = all(a >= b for a, b in zip(shared[top - 1 :], shared[top:], strict=False))
    enough = [h for h in range(16) if _heart(h, 2, 1) > 0.9]
    costs = {name: tuple(30 * (1 - lost) for lost in found) for name, found in statlog_costs().items()}
    c45 = round(costs["a tree"][1]) <= max(enough)
    claims = [
        Claim(
            "diabetes, shared parameters: more than 7 labels decrease the probability",
            "largest at c = 7",
            f"largest at c = {top}: {max(shared):.4f} (c = 6: {shared[5]:.4f}, c = 8: {shared[7]:.4f})",
            verdict(falls and top in (6, 7)),
            "" if falls and top in (6, 7) else "the largest probability is elsewhere",
        ),
        Claim(
            "heart, C4.5, shared parameters: c = 2 labels, 2 bits and 4 trials suffice with > 90 %",
            "> .90",
            f"for one extra hit, if C4.5 has at most {max(enough)} hits in a fold of 30; "
            + ", ".join(
                f"{name} has {hits:.1f}, less its costs {left:.1f}" for name, (hits, left) in costs.items()
            ),
            CORRECTED if c45 else NOT_REPRODUCED,
            "if costs of StatLog, where a missed disease costs 5, are read as errors: 30 less the costs of a "
            "fold. The 16 hits of k-NN are such a number too: fewer than the 16.7 of the more frequent class",
        ),
    ]
    for name, n, bits in (("Landsat", 45, 150), ("DNA", 37, 126)):
        carried = n * math.log2(10)
        claims.append(
            Claim(
                f"{name}: {n} parameters with 10 values each carry {bits} bits",
                f"{bits} bits",
                f"{carried:.1f} bits",
                REPRODUCED if carried >= bits else CORRECTED,
                "" if carried >= bits else f"{math.ceil(bits / math.log2(10))} are needed",
            )
        )
    return claims


def entropies() -> list[Claim]:
    """Entropies and default rates that the thesis states, from the data sets that are public."""
    claims = []
    for name, data, printed in (
        ("Landsat", "satimage", 2.5),
        ("DNA", "splice", 1.4908),
        ("diabetes", "pima", 0.9331),
        ("heart", "heart_statlog", 0.991),
    ):
        rates = np.unique(np.asarray(load(data).y), return_counts=True)[1] / len(load(data).y)
        found = float(-(rates * np.log2(rates)).sum())
        decimals = len(str(printed).split(".")[1])
        agrees = abs(found - printed) <= 0.51 * 10**-decimals
        near = abs(found - printed) < 0.02
        claims.append(
            Claim(
                f"{name}: entropy of the classes",
                f"{printed:g}",
                f"{found:.4f}",
                REPRODUCED if agrees else CORRECTED if near else NOT_REPRODUCED,
                "" if agrees else "of the whole data set as it is public today",
            )
        )
    data = load("satimage")
    labels = np.asarray(data.y) if data.split is None else np.asarray(data.y)[data.split == "test"]
    rate = float(np.unique(labels, return_counts=True)[1].max() / len(labels))
    claims.append(
        Claim(
            "Landsat: default error rate",
            ".231",
            f"{1 - rate:.3f}",
            CORRECTED if abs(rate - 0.231) < 0.01 else NOT_REPRODUCED,
            f"the rate of the most frequent class is {rate:.3f}: an accuracy, not an error",
        )
    )
    return claims


@cache
def statlog_costs() -> dict[str, tuple[float, float]]:
    """Error and mean cost on heart in nine folds, of learners like C4.5 and k-NN; a missed case costs 5."""
    from sklearn.model_selection import StratifiedKFold, cross_val_predict
    from sklearn.neighbors import KNeighborsClassifier
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler
    from sklearn.tree import DecisionTreeClassifier

    data = load("heart_statlog")
    y, sick = np.asarray(data.y), "2"
    X, folds = data.X.astype(float).to_numpy(), StratifiedKFold(9, shuffle=True, random_state=0)
    models = {
        "a tree": DecisionTreeClassifier(criterion="entropy", min_samples_leaf=2, random_state=0),
        "11-NN": make_pipeline(StandardScaler(), KNeighborsClassifier(11)),
    }
    found = {}
    for name, model in models.items():
        wrong = cross_val_predict(model, X, y, cv=folds) != y
        found[name] = float(wrong.mean()), float((wrong * np.where(y == sick, 5, 1)).mean())
    return found


def _heart(hits: int, n_known: int, n_extra: int) -> float:
    return optimism_probability_folds(
        9, 30, hits, n_known, n_extra, shared_parameters=True, majority_rate=150 / 270
    )


def _readings() -> str:
    folds = optimism_probability_folds
    rows = [
        ["mesh, 26 %", "13 extra hits (up to 26 %), c = 5", MESH.probability(5, 13), ".99"],
        ["", "15 extra hits (three per fold), c = 5", MESH.probability(5, 15), ".99"],
        ["mesh, 31 %", "28 extra hits, folds of 55 rows and 12 hits, c = 8", folds(5, 55, 12, 8, 28), ".93"],
        ["diabetes", "6 extra hits, c = 3", DIABETES.probability(3, 6), ".92"],
        ["", "9 extra hits, 47 hits in every fold, c = 4", folds(12, 64, 47, 4, 9), ".92"],
        ["", "12 extra hits (one per fold), c = 5", DIABETES.probability(5, 12), ".92"],
        ["heart, k-NN", "3 extra hits, c = 9", _heart(16, 9, 3), ".90"],
        ["", "3 extra hits, c = 8", _heart(16, 8, 3), ".90"],
        ["", "6 extra hits, c = 13", _heart(16, 13, 6), ".90"],
    ]  # fmt: skip
    return format_table(
        ["example", "reading", "probability", "printed"], [[a, b, f"{p:.4f}", q] for a, b, p, q in rows]
    )


def _figure() -> Any:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(9, 4), layout="constrained")
    left, right = figure.subplots(1, 2, sharey=True)
    colours = ["#0072B2", "#D55E00", "#009E73", "#CC79A7", "#000000"]
    for ax, chosen, most in (
        (left, [(LANDSAT, 6), (DNA, 4)], 120),
        (right, [(MESH, 14), (MESH, 28), (DIABETES, 6), (SHARED, 6), (HEART, 6)], 14),
    ):
        for colour, (setting, n_extra) in zip(colours, chosen, strict=False):
            labels = range(1, most + 1)
            label = f"{setting.name}, {n_extra} hits"
            ax.plot(labels, [setting.probability(c, n_extra) for c in labels], color=colour, label=label)
            marks = [(c, float(p.lstrip("> "))) for s, z, c, p, *_ in PRINTED if (s, z) == (setting, n_extra)]
            ax.plot(*zip(*marks, strict=True), "o", color=colour, mfc="none")
        ax.set(xlabel="labels that the parameters tell (per fold)", ylim=(0, 1.02))
        ax.legend(fontsize=8, title="line: recomputed, circle: printed", title_fontsize=8)
    left.set(ylabel="probability of the extra hits", title="one hold-out set")
    right.set(title="cross-validation")
    return figure


@experiment("tuning_optimism.greedy", "Sec. 5.2.1: the greedy search for parameters that tell labels")
def greedy(n_repetitions: int = 2000) -> Outcome:
    """Tune as the thesis says, label by label, and count trials and hits."""
    claims, rows = [], []
    for setting, n_extra, n_known in ((LANDSAT, 6, 60), (DNA, 4, 85)):
        rng = np.random.default_rng(0)
        gains = [_tune(setting, n_known, rng) for _ in range(n_repetitions)]
        trials = n_known * setting.n_classes
        reached = float(np.mean([gain >= n_extra for gain, _ in gains]))
        error = math.sqrt(reached * (1 - reached) / n_repetitions)
        exact = setting.probability(n_known, n_extra)
        all_found = all(count == trials for _, count in gains)
        claims += [
            Claim(
                f"{setting.name}: {n_known} labels are found in c |Y| trials",
                str(trials),
                str(gains[0][1]),
                verdict(all_found),
                "" if all_found else "other numbers of trials occurred",
            ),
            Claim(
                f"{setting.name}: the search gains {n_extra} hits with the probability of Eq. (5.10)",
                "> .90",
                f"{reached:.4f} ± {error:.4f}, exactly {exact:.4f}",
                verdict(abs(reached - exact) < 3 * error),
                "" if abs(reached - exact) < 3 * error else "more than three standard errors away",
            ),
        ]
        rows.append(
            [setting.name, n_known, trials, f"{np.mean([g for g, _ in gains]):.2f}", f"{reached:.4f}"]
        )
    return Outcome(claims, format_table(["problem", "labels", "trials", "mean gain", "reached"], rows))


def _tune(setting: _Setting, n_known: int, rng: np.random.Generator) -> tuple[int, int]:
    """Extra hits and trials of one greedy search on a random hold-out set."""
    truth = rng.integers(0, setting.n_classes, setting.n_rows)
    predicted = truth.copy()
    wrong = rng.permutation(setting.n_rows)[: setting.n_rows - setting.n_hits]
    predicted[wrong] = (truth[wrong] + rng.integers(1, setting.n_classes, len(wrong))) % setting.n_classes
    n_trials = 0
    for row in range(n_known):
        errors = _errors_if(predicted, truth, row, range(setting.n_classes))
        n_trials += len(errors)
        predicted[row] = int(np.argmin(errors))
    return int((predicted == truth).sum()) - setting.n_hits, n_trials


def _errors_if(predicted: Any, truth: Any, row: int, labels: Sequence[int]) -> list[int]:
    """Errors on the hold-out set with each label for one of its rows."""
    others = int((predicted != truth).sum()) - int(predicted[row] != truth[row])
    return [others + int(label != truth[row]) for label in labels]
