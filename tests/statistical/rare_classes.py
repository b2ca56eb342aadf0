"""Tables with a rare class, and what a verdict on half of the rows is worth on the other half.

``python -m tests.statistical.rare_classes 20`` holds out half of the rows of each table, 20 times over, and
prints how often AUC, log loss and captured share there lie in the intervals of the verdict, widened by two
standard errors of the held-out value. Names of tables after the number choose among them; `metric=error` and
the like ask for another metric. ``python -m tests.statistical.rare_classes noise 40`` prints how many of 40
tables without a signal have a model, and of how many a verdict claims that rows are ordered.
``python -m tests.statistical.rare_classes against 3`` prints AUC and log loss, on the other half, of pages,
of our default tree and of scikit-learn's tree of the same size tuned by AUC (`benchmarks.imbalanced`).
"""

from __future__ import annotations

import os
import sys
from functools import partial
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd

from offsample import report

FIGURES = ("auc", "log_loss", "captured")
TARGETS = {"attrition": "Attrition", "telco_churn": "churn", "ad_data": "Class", "email_spam": "spam"}
N_RESAMPLED = 80


def tables(directory: Path) -> dict[str, tuple[pd.DataFrame, str]]:
    """All shared tables with a rare class, with their targets."""
    paths = [*sorted((directory / "imbalanced").glob("*.parquet")), directory / "temporal/email_spam.parquet"]
    found = {path.stem: (pd.read_parquet(path), TARGETS.get(path.stem, "target")) for path in paths}
    spam, target = found["email_spam"]
    return found | {"email_spam": (spam.drop(columns="time"), target)}


def generated(seed: int, n_rows: int = 4000, rate: float = 0.03) -> tuple[pd.DataFrame, str]:
    """Rows of which few are positive: two columns tell which are likelier, three tell nothing."""
    random = np.random.default_rng(seed)
    frame = pd.DataFrame(random.normal(size=(n_rows, 5)), columns=list("abcde"))
    score = frame["a"] + 0.7 * (frame["b"] > 0.5)
    odds = np.exp(score - np.log(np.mean(np.exp(score)) / rate))
    frame["y"] = np.where(random.random(n_rows) < odds / (1 + odds), "yes", "no")
    return frame, "y"


def noise(seed: int, n_rows: int, rate: float) -> tuple[dict[str, np.ndarray], str]:
    """Numbers and categories that say nothing of a rare class."""
    random = np.random.default_rng((seed, 3))
    table = {f"x{j}": random.normal(size=n_rows) for j in range(5)}
    table |= {f"c{j}": random.integers(0, 4 + 20 * j, n_rows).astype(str) for j in range(3)}
    hits = random.permutation(n_rows) < round(rate * n_rows)
    return table | {"y": np.where(hits, "yes", "no")}, "y"


def claims(seed: int, n_rows: int, rate: float) -> tuple[bool, bool]:
    """Whether a verdict on noise has a model, and whether it claims that rows are ordered."""
    verdict = report(*noise(seed, n_rows, rate), fast=True, random_state=seed).verdict
    return bool(verdict.columns), verdict.beats_baseline or (verdict.auc_low or 0.0) > 0.5


NOISE = ((2000, 0.02), (4000, 0.003), (300, 0.05))  # rows, and share of the rare class


class Held(NamedTuple):
    """One figure of the verdict, and the truth on the other half with its standard error."""

    value: float
    low: float
    high: float
    truth: float
    deviation: float

    @property
    def is_inside(self) -> bool:
        """Whether the truth lies in the interval, widened by two of its standard errors."""
        return self.low - 2 * self.deviation <= self.truth <= self.high + 2 * self.deviation


def held_out(frame: pd.DataFrame, target: str, seed: int, **options: object) -> dict[str, Held]:
    """Report on half of the rows, drawn at random, and measure on the other half."""
    random = np.random.default_rng((seed, 2))
    kept = random.permutation(len(frame)) < len(frame) // 2
    found = report(frame[kept], target, fast=True, random_state=seed, copies="keep", **options)
    rest = frame[~kept]
    place = found.estimator.classes_.astype(str).tolist().index(found.positive)
    proba = found.estimator.predict_proba(rest)[:, place]
    positive = (rest[target].astype(str) == found.positive).to_numpy()
    truth = measured(proba, positive)
    n = len(positive)
    drawn = [random.integers(0, n, n) for _ in range(N_RESAMPLED)]
    again = [measured(proba[rows], positive[rows]) for rows in drawn]
    spread = {name: float(np.std([one[name] for one in again])) for name in FIGURES}
    verdict = found.verdict
    return {
        name: Held(
            *(getattr(verdict, f"{name}{end}") for end in ("", "_low", "_high")), truth[name], spread[name]
        )
        for name in FIGURES
    }


def measured(proba: np.ndarray, positive: np.ndarray) -> dict[str, float]:
    """AUC, log loss and share of the positives in the top tenth, ties broken evenly."""
    rank = pd.Series(proba).rank().to_numpy()
    n, n_positive = len(positive), int(positive.sum())
    auc = (rank[positive].sum() - n_positive * (n_positive + 1) / 2) / max(1, n_positive * (n - n_positive))
    own = np.where(positive, proba, 1 - proba)
    by_rating = pd.DataFrame({"rows": 1.0, "positive": positive}).groupby(-proba).sum()
    captured = np.interp(
        n / 10, np.r_[0, by_rating["rows"].cumsum()], np.r_[0, by_rating["positive"].cumsum()]
    )
    return {
        "auc": float(auc) if 0 < n_positive < n else 0.5,
        "log_loss": float(-np.log(np.maximum(own, 1e-4)).mean()),
        "captured": float(captured / max(1, n_positive)),
    }


def main(n_splits: int, *asked: str) -> None:
    """Print a line for each table, and for all."""
    options = dict(one.split("=") for one in asked if "=" in one)
    names = [one for one in asked if "=" not in one]
    inside: dict[str, list[bool]] = {name: [] for name in FIGURES}
    print(f"{'table':30}" + "".join(f"{name:>10}{'truth':>8}{'inside':>8}" for name in FIGURES))
    for table, (frame, target) in tables(Path(os.environ["OFFSAMPLE_DATA"])).items():
        if names and table not in names:
            continue
        found = [held_out(frame, target, seed, **options) for seed in range(n_splits)]
        line = f"{table:30}"
        for name in FIGURES:
            held = [one[name] for one in found]
            inside[name] += [one.is_inside for one in held]
            means = np.mean([(one.value, one.truth, one.is_inside) for one in held], axis=0)
            line += f"{means[0]:10.3f}{means[1]:8.3f}{means[2]:8.2f}"
        print(line, flush=True)
    print(f"{'all':30}" + "".join(f"{np.mean(inside[name]):26.3f}" for name in FIGURES))


def main_of_noise(n_tables: int) -> None:
    """Print a line for each design."""
    for n_rows, rate in NOISE:
        shown, claimed = np.mean([claims(seed, n_rows, rate) for seed in range(n_tables)], axis=0)
        print(
            f"{n_rows} rows, {rate:.1%} of a class: a model in {shown:.1%}, claimed in {claimed:.1%}",
            flush=True,
        )


def main_against(n_splits: int) -> None:
    """Print a line for each table, and means: tables that the rule was chosen on, and others."""
    from benchmarks.imbalanced import GROUPS, Reported, cart, default, judged, rare

    for group, names in GROUPS.items():
        means = []
        for name in names:
            made = (lambda _: Reported(), default, cart)
            found = [judged(make, partial(rare, name), n_splits)() for make in made]
            means.append([np.reshape(one.details, (2, -1)).mean(axis=1) for one in found])
            print(f"{name:30}", *np.round(means[-1], 4).tolist(), flush=True)
        print(f"{group:30}", *np.mean(means, axis=0).round(4).tolist(), flush=True)


if __name__ == "__main__" and sys.argv[1:2] == ["against"]:
    main_against(int(sys.argv[2]))
elif __name__ == "__main__" and sys.argv[1:2] == ["noise"]:
    main_of_noise(int(sys.argv[2]))
elif __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 10, *sys.argv[2:])
