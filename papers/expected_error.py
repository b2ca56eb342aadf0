"""Expected error analysis: Chapters 3 and 4 of Scheffer (1999).

Run ``python -m papers.expected_error
[curves|prior|size|gaussians|selection|holdout|tail|regret|text|all]``. Our
numbers are printed beside the printed ones; ``all`` also writes them to
``papers/results/expected_error.txt``.

What the thesis leaves open, and what we do:

- *Figures* are printed without numbers; we give ours, and the truth, which has a closed form for Figs. 3.2
and 3.4–3.6.
- *Tables 3.1–3.3*: means and widths of the four Gaussians are not given. We put class 1 at x1 < 0 where
  x2 <= 2 (69 % of the rows) and at x1 > 0 elsewhere, with a noise of 10 %: as the printed errors have it.
- *Table 3.4* cannot come from targets of 2 to 6 attributes (no learner is below .070 at m = 50, .04 is
printed). We
  use 2 to 5 attributes, and models of any i of 6 attributes.
- *Section 3.8*: the greedy learner and the models over 500 attributes are run with fewer attributes; its
  multiplicative factor of log|H| is not given, and ours is the number of rules times the log of the bodies.

References
----------
T. Scheffer (1999). Error Estimation and Model Selection. Dissertation, TU Berlin.
"""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Callable
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from offsample import ExpectedErrorSearch, TreeClassifier
from offsample.bounds import no_free_lunch_floor
from offsample.expected_error import ErrorPrior, expected_error, holdout_selection, tail_aware_prior
from offsample.expected_error._fallbacks import leave_one_out
from offsample.expected_error.boolean import (
    all_functions_prior,
    prefix_priors,
    true_learning_curve,
)
from offsample.expected_error.languages import BooleanFunctions, DecisionLists, partition_counts
from papers._table import format_table

__all__ = ["curves", "gaussians", "holdout", "main", "prior", "regret", "selection", "size", "tail", "text"]

Floats = NDArray[np.float64]
RESULTS = Path(__file__).parent / "results"
LN2 = np.log(2)
DATASETS = (
    "german_credit",
    "pima",
    "car",
    "tic_tac_toe",
    "vote",
    "breast_wisconsin",
    "heart_statlog",
    "splice",
    "sick",
    "nursery",
)


def data_dir() -> Path:
    return Path(os.environ.get("OFFSAMPLE_DATA") or "../shared/data")


def prior() -> str:
    """Figure 3.1: standard deviation of the error rates of functions of the first i bits, target of 3."""
    rows = []
    for i in range(1, 7):
        parts = list(prefix_priors(i, 3))
        spread = np.sqrt(sum(w * (p.variance + (p.mean - 0.5) ** 2) for w, p in parts))
        rows.append([i, f"{spread:.4f}", f"{0.5 * 2 ** (-max(i, 3) / 2):.4f}"])
    table = format_table(["i", "sd of error rates", "sd of Bin(2^max(i,3), 1/2)/2^max(i,3)"], rows)
    return f"Figure 3.1: equal for i <= 3, then narrower\n{table}"


def exact_curve(i: int, m: int, method: str = "exact") -> float:
    """The theorem averaged over targets of three bits."""
    log_size = 2**i * LN2
    return float(sum(w * expected_error(p, log_size, m, method).mean for w, p in prefix_priors(i, 3)))  # type: ignore[arg-type]


def curves(n_runs: int = 12) -> str:
    """Figures 3.2 and 3.4 to 3.6."""
    rng = np.random.default_rng(0)
    parts = []
    for m in (10, 50, 100):
        rows = []
        for i in range(1, 7):
            found: dict[str, list[float]] = {name: [] for name in ("plug-in", "npmle", "1000", "loo")}
            for _ in range(n_runs):
                X = rng.integers(0, 2, (m, 6))
                target = rng.integers(0, 2, 8)
                y = target[X[:, :3] @ [1, 2, 4]]
                language = BooleanFunctions(i)
                law = language.count_law(X, y)
                log_size = language.log_size()
                found["plug-in"].append(expected_error(law, log_size, m).mean)
                found["npmle"].append(expected_error(law.deconvolved(max_iter=100), log_size, m).mean)
                drawn = rng.choice(len(law.errors), 1000, p=law.mass)
                few = ErrorPrior.from_draws(np.rint(law.errors[drawn] * m), m)
                found["1000"].append(expected_error(few, log_size, m).mean)
                exact = leave_one_out(language, X, y, 2)
                found["loo"].append(exact.error if exact else np.nan)
            mean = {name: float(np.mean(values)) for name, values in found.items()}
            rows.append([i, *(f"{x:.4f}" for x in (
                true_learning_curve(i, 3, m), exact_curve(i, m), exact_curve(i, m, "theorem7"),
                mean["plug-in"],
                mean["npmle"], mean["1000"], mean["loo"],
            ))])  # fmt: skip
        header = [
            "i",
            "truth",
            "Thm 6",
            "Thm 7",
            "estimated prior",
            "deconvolved",
            "1000 draws",
            "leave-one-out",
        ]
        parts.append(f"m = {m}\n{format_table(header, rows)}")
    verdict = (
        "Verdict: with the exact prior Theorem 6 is right where ties are few, and up to .035 too large\n"
        "in the middle (hypotheses do not err independently on one sample). With the estimated prior it\n"
        "is far too small for m = 10, and for i = 6 still at m = 50. 1,000 draws miss the tail of i >= 4.\n"
        "Exact leave-one-out costs less and follows the truth everywhere."
    )
    return (
        "Figures 3.2, 3.4-3.6: target of 3 bits, functions of the first i\n"
        + "\n\n".join(parts)
        + f"\n{verdict}"
    )


def size() -> str:
    """Figure 3.3: the size of the model taken 2 or 4 times too large."""
    rows = []
    small = all_functions_prior(4)
    for bits in (16, 18, 20, 24, 30, 40):
        means = [expected_error(small, bits * LN2 + np.log(c), 50, "theorem7").mean for c in (1, 2, 4)]
        exact = [expected_error(small, bits * LN2 + np.log(c), 50).mean for c in (1, 2, 4)]
        rows.append([bits, *(f"{x:.5f}" for x in (*means, *exact))])
    limit = expected_error(small, 16 * LN2, 50, "limit").mean
    header = ["log2 N", "Thm 7", "2N", "4N", "Thm 6", "2N", "4N"]
    return (
        "Figure 3.3: prior of 4 bits, m = 50 (the thesis's prior is not printed)\n"
        f"{format_table(header, rows)}\nlimit {limit:.5f}\n"
        "Verdict: by Theorem 7, which the thesis plots, the size does not matter here; by exact Theorem "
        "6 the error rises\n"
        "by two fifths on its way to the limit, and comes to it from below, not from above."
    )


def gaussians(n_runs: int = 20) -> str:
    """Tables 3.1 to 3.3, reconstructed."""
    printed = {
        10: (".42 .41 .20 .26", ".45 .44 .18 .25", ".41 .31 .18 .25"),
        50: (".35 .35 .12 .12", ".43 .36 .11 .13", ".37 .34 .11 .12"),
        100: (".38 .35 .10 .10", ".41 .35 .11 .11", ".39 .34 .11 .10"),
        200: (".34 .34 .10 .10", ".40 .36 .10 .11", ".38 .31 .10 .11"),
    }
    rng = np.random.default_rng(0)
    cuts = np.linspace(-2, 2, 10)

    def sample(n: int) -> tuple[Floats, NDArray[np.int64], NDArray[np.int64]]:
        x2 = rng.choice([1, 2, 3, 4], n, p=[0.345, 0.345, 0.155, 0.155])
        y = rng.integers(0, 2, n)
        centre = np.where((x2 <= 2) == (y == 1), -1.0, 1.0)
        return centre + rng.normal(0, 0.78, n), x2, y

    def partitions(model: int, x1: Floats, x2: NDArray[np.int64]) -> list[NDArray[np.int64]]:
        if model == 1:
            return [(x1 > 0).astype(np.int64)]
        if model == 2:
            return [(x1 > c).astype(np.int64) for c in cuts]
        if model == 3:
            return [(x1 > c) + 2 * (x2 > 2).astype(np.int64) for c in cuts]
        return [(x1 > c) + 2 * x2 for c in cuts]

    log_sizes = [np.log(4), np.log(40), np.log(160), np.log(2560)]
    rows = []
    for m in (10, 50, 100, 200):
        truth, cv, eea = (np.zeros((n_runs, 4)) for _ in range(3))
        for run in range(n_runs):
            x1, x2, y = sample(m)
            t1, t2, ty = sample(4000)
            for j in range(4):
                cells, test = partitions(j + 1, x1, x2), partitions(j + 1, t1, t2)
                truth[run, j] = _minimised(cells, y, test, ty, rng)
                folds = rng.permutation(m) % 10
                wrong = 0.0
                for fold in range(10):
                    train, held = folds != fold, folds == fold
                    wrong += held.sum() * _minimised(
                        [c[train] for c in cells], y[train], [c[held] for c in cells], y[held], rng
                    )
                cv[run, j] = wrong / m
                law = ErrorPrior.from_partitions((partition_counts(c, y, 2) for c in cells), drawn=False)
                eea[run, j] = expected_error(law, log_sizes[j], m).mean
        for name, values, old in zip(
            ("true (3.1)", "10-fold CV (3.2)", "forecast (3.3)"), (truth, cv, eea), printed[m], strict=True
        ):
            ours = "  ".join(f"{a:.2f}±{s:.2f}" for a, s in zip(values.mean(0), values.std(0), strict=True))
            rows.append([m, name, ours, old])
    return (
        "Tables 3.1-3.3 (reconstructed problem; H1 to H4)\n"
        + format_table(["m", "", "ours", "printed"], rows)
        + "\nVerdict: errors and their order are reproduced from m = 50; at m = 10 the forecast is\n"
        "optimistic, as printed. Its spread is smaller than that of 10-fold cross-validation. Printed\n"
        "H3/H4 at m = 10 repeat Table 3.2."
    )


def _minimised(
    cells: list[Any], y: Any, test_cells: list[Any], test_y: Any, rng: np.random.Generator
) -> float:
    """Error on other rows of a hypothesis with the fewest errors, ties at random."""
    best, found = np.inf, (0, np.zeros(1))
    for place in rng.permutation(len(cells)):
        codes = np.asarray(cells[place])
        counts = np.zeros((int(max(codes.max(), np.max(test_cells[place], initial=0))) + 1, 2))
        np.add.at(counts, (codes, y), 1)
        wrong = counts.min(axis=1).sum()
        if wrong < best:
            labels = np.where(
                counts[:, 0] == counts[:, 1], rng.integers(0, 2, len(counts)), counts[:, 1] > counts[:, 0]
            )
            best, found = wrong, (place, labels)
    place, labels = found
    return float((labels[np.asarray(test_cells[place])] != test_y).mean()) if len(test_y) else 0.0


def selection(n_runs: int = 20) -> str:
    """Table 3.4 and Figure 3.7: error after choosing the number of attributes."""
    printed = {
        10: (".29", ".28", ".27"), 20: (".15", ".16", ".17"), 30: (".07", ".10", ".10"),
        40: (".05", ".09", ".06"), 50: (".04", ".06", ".04"), 100: (".006", ".004", ".004"),
    }  # fmt: skip
    rng = np.random.default_rng(0)
    grid = ((np.arange(64)[:, None] >> np.arange(6)) & 1).astype(np.int64)
    subsets = {i: [list(s) for s in combinations(range(6), i)] for i in range(1, 7)}
    every = {i: [grid[:, s] @ (1 << np.arange(i)) for s in subsets[i]] for i in subsets}
    rows = []
    for m in (10, 20, 30, 40, 50, 100):
        found: dict[str, list[float]] = {name: [] for name in ("EEA", "EEA-1000", "10-CV", "LOO", "best")}
        cpu = dict.fromkeys(found, 0.0)
        for _ in range(n_runs):
            n = rng.integers(2, 6)
            target = rng.integers(0, 2, 2**n)[grid[:, :n] @ (1 << np.arange(n))]
            row = rng.integers(0, 64, m)
            y = target[row]
            final = {}
            scores: dict[str, list[float]] = {name: [] for name in ("EEA", "EEA-1000", "10-CV", "LOO")}
            folds = rng.permutation(m) % 10
            for i in range(1, 7):
                cells = [codes[row] for codes in every[i]]
                final[i] = _minimised(cells, y, every[i], target, rng)
                start = time.process_time()
                law = ErrorPrior.from_partitions((partition_counts(c, y, 2) for c in cells), drawn=False)
                log_size = np.log(len(cells)) + 2**i * LN2
                scores["EEA"].append(expected_error(law, log_size, m).mean)
                cpu["EEA"] += time.process_time() - start
                start = time.process_time()
                drawn = np.rint(law.errors[rng.choice(len(law.errors), 1000, p=law.mass)] * m)
                scores["EEA-1000"].append(expected_error(ErrorPrior.from_draws(drawn, m), log_size, m).mean)
                cpu["EEA-1000"] += time.process_time() - start
                start = time.process_time()
                wrong = 0.0
                for fold in range(10):
                    a, b = folds != fold, folds == fold
                    if b.any():
                        wrong += b.sum() * _minimised(
                            [c[a] for c in cells], y[a], [c[b] for c in cells], y[b], rng
                        )
                scores["10-CV"].append(wrong / m)
                cpu["10-CV"] += time.process_time() - start
                start = time.process_time()
                wrong = 0.0
                for row_out in range(m):
                    a = np.arange(m) != row_out
                    b = ~a
                    wrong += _minimised([c[a] for c in cells], y[a], [c[b] for c in cells], y[b], rng)
                scores["LOO"].append(wrong / m)
                cpu["LOO"] += time.process_time() - start
            for name, values in scores.items():
                found[name].append(final[1 + int(np.argmin(values))])
            found["best"].append(min(final.values()))
        errors = [f"{np.mean(v):.3f}±{np.std(v) / np.sqrt(n_runs):.3f}" for v in found.values()]
        floor = np.mean([no_free_lunch_floor(d, m) for d in range(2, 6)])
        seconds = " ".join(f"{cpu[name] / n_runs:.2f}" for name in ("EEA", "EEA-1000", "10-CV", "LOO"))
        rows.append([m, *errors, f"{floor:.3f}", " ".join(printed[m]), seconds])
    header = ["m", *found, "floor", "printed EEA, EEA-1000, 10-CV", "CPU s of the four"]
    return (
        f"Table 3.4: any i of 6 attributes, targets of 2 to 5, {n_runs} runs\n{format_table(header, rows)}\n"
        "EEA-1000 includes no time for drawing. The printed ±.001 is no standard error of 200 runs.\n"
        "Verdict: EEA chooses as well as 10-fold cross-validation and leave-one-out, in more time than\n"
        "10-fold cross-validation of so cheap a learner; EEA-1000 misses the tail, and is worse from m = 30."
    )


def holdout(n_targets: int = 6) -> str:
    """Figures 4.1 and 4.2: hold-out selection against learning with all attributes."""
    rng = np.random.default_rng(0)

    def models(n_relevant: int, n_total: int) -> tuple[list[ErrorPrior], list[float]]:
        target = rng.integers(0, 2, 2**n_relevant)
        rows = np.arange(2**n_relevant)
        priors = []
        for i in range(1, n_total + 1):
            if i >= n_relevant:
                priors.append(all_functions_prior(i))
            else:
                ones = np.bincount(rows % 2**i, weights=target, minlength=2**i).astype(np.int64)
                each = 2 ** (n_relevant - i)
                priors.append(ErrorPrior.from_partitions([np.column_stack([ones, each - ones])], drawn=False))
        return priors, [2**i * LN2 for i in range(1, n_total + 1)]

    lines = []
    for n, m in ((4, 30), (4, 50), (5, 50), (5, 100)):
        shares = (0.1, 0.3, 0.5, 0.7, 0.9)
        drawn = [models(n, n) for _ in range(n_targets)]
        means = []
        for share in shares:
            held = max(1, int(m * share))
            means.append(np.mean([holdout_selection(p, s, m - held, held).mean for p, s in drawn]))
        alone = np.mean([expected_error(p[-1], s[-1], m).mean for p, s in drawn])
        lines.append([n, m, *(f"{x:.3f}" for x in means), f"{alone:.3f}"])
    first = format_table(["n", "m", *(f"hold-out {s:.0%}" for s in shares), "all attributes"], lines)
    lines = []
    for total in (3, 4, 5, 6, 7):
        drawn = [models(3, total) for _ in range(n_targets)]
        chosen = np.mean([holdout_selection(p, s, 70, 30).mean for p, s in drawn])
        alone = expected_error(all_functions_prior(total), 2**total * LN2, 100).mean
        lines.append([total, f"{chosen:.4f}", f"{alone:.4f}", f"{true_learning_curve(total, 3, 100):.4f}"])
    second = format_table(
        ["attributes, 3 relevant", "hold-out selection", "all attributes", "truth of all"], lines
    )
    return (
        f"Figure 4.1: no irrelevant attributes\n{first}\nVerdict: selection never helps here, as printed.\n\n"
        f"Figure 4.2: m = 100, 30 held out\n{second}\nVerdict: nearly independent of the irrelevant "
        f"attributes, as printed."
    )


def tail(n_runs: int = 1) -> str:
    """Beyond the thesis: one good partition in 27,405, which 1,000 draws do not see."""
    rows = []
    for seed in range(n_runs):
        rng = np.random.default_rng(seed)
        X = rng.integers(0, 2, (60, 30))
        y = rng.integers(0, 2, 16)[X[:, :4] @ [1, 2, 4, 8]]
        language = BooleanFunctions(4, 30, "any")
        log_size = language.log_size()
        all_cells = (X[:, list(s)] @ [1, 2, 4, 8] for s in combinations(range(30), 4))
        truth = ErrorPrior.from_partitions((partition_counts(c, y, 2) for c in all_cells), drawn=False)
        drawn = language.count_law(X, y, n_draws=1000, random_state=seed)
        split = tail_aware_prior(language, X, y, n_particles=100, n_moves=8, random_state=seed)
        cells = []
        for p in (truth, drawn, split):
            forecast = expected_error(p, log_size, 60)
            none = p.log_mass[p.errors == 0]
            cells += [f"{forecast.mean:.4f}", f"{none[0]:.2f}" if len(none) else "none"]
        error = split.log_mass_error
        cells.append(f"{error[0]:.2f}" if error is not None else "")
        doubts = expected_error(drawn, log_size, 60).diagnostics.tail_draws
        rows.append([seed, *cells, f"{doubts:.0f}"])
    header = ["seed", "all: mean", "log P(0)", "1000: mean", "log P(0)", "splitting: mean", "log P(0)", "se",
              "tail draws of 1000"]  # fmt: skip
    return (
        f"Tail-aware prior: functions of any 4 of 30 bits, target of 4, 60 "
        f"rows\n{format_table(header, rows)}\n"
        "Verdict: 1,000 draws of partitions, all labelings counted, forecast an error several times too "
        "large, and the\n"
        "diagnostics say so; multilevel splitting gives the forecast of all 27,405 partitions."
    )


def regret(names: tuple[str, ...] = DATASETS, max_rows: int = 300) -> str:
    """Ten data sets: choosing the number of splits of a tree."""
    import pandas as pd
    from sklearn.experimental import enable_halving_search_cv  # noqa: F401
    from sklearn.model_selection import GridSearchCV, HalvingGridSearchCV, train_test_split

    sizes = [1, 2, 4, 8, 16, 32, 64]
    learner = TreeClassifier(stopping="none", random_state=0)
    grid = {"max_splits": sizes}
    searches: dict[str, Callable[[], Any]] = {
        "auto": lambda: ExpectedErrorSearch(learner, grid, random_state=0),
        "forecast": lambda: ExpectedErrorSearch(
            learner, grid, method="forecast", n_draws=200, random_state=0
        ),
        "grid, 10-fold": lambda: GridSearchCV(learner, grid, cv=10),
        "halving": lambda: HalvingGridSearchCV(learner, grid, cv=5, random_state=0),
    }
    rows, total = [], {name: [0.0, 0.0] for name in searches}
    for dataset in names:
        frame = pd.read_parquet(data_dir() / f"{dataset}.parquet")
        y = frame.pop("target").astype(str).to_numpy()
        frame = frame.drop(columns=[c for c in ("split",) if c in frame])
        kept = np.random.default_rng(0).permutation(len(y))[: 2 * max_rows]
        frame, y = frame.iloc[kept], y[kept]
        common = pd.Series(y).map(pd.Series(y).value_counts()).to_numpy() >= 40
        X_a, X_b, y_a, y_b = train_test_split(
            frame[common], y[common], test_size=0.5, random_state=0, stratify=y[common]
        )
        errors = {
            s: float(
                (
                    TreeClassifier(stopping="none", random_state=0, max_splits=s).fit(X_a, y_a).predict(X_b)
                    != y_b
                ).mean()
            )
            for s in sizes
        }
        cells = []
        for name, make in searches.items():
            start = time.process_time()
            search = make().fit(X_a, y_a)
            seconds = time.process_time() - start
            lost = errors[search.best_params_["max_splits"]] - min(errors.values())
            total[name][0] += lost / len(names)
            total[name][1] += seconds
            cells += [search.best_params_["max_splits"], f"{lost:.3f}", f"{seconds:.1f}"]
        rows.append([dataset, len(y_a), f"{min(errors.values()):.3f}", *cells])
    rows.append(
        ["mean / sum", "", "", *(x for v in total.values() for x in ("", f"{v[0]:.4f}", f"{v[1]:.1f}"))]
    )
    header = ["data", "rows", "best error"]
    for name in searches:
        header += [name, "regret", "CPU s"]
    return "Regret of choosing the number of splits (test error less that of the best size)\n" + format_table(
        header, rows
    )


def text(n_attributes: int = 100, n_topics: int = 10, thresholds: tuple[int, ...] = (10, 30, 100)) -> str:
    """Section 3.8: 2-decision lists on Reuters-21578, ModApte split."""
    import pandas as pd
    from sklearn.feature_extraction.text import CountVectorizer

    frame = pd.read_parquet(data_dir() / "reuters21578.parquet")
    frame = frame[frame["split"].isin(["train", "test"])]
    words = CountVectorizer(binary=True, min_df=20, max_features=4000, stop_words="english")
    documents = (frame["title"].fillna("") + " " + frame["text"].fillna("")).to_numpy()
    train = (frame["split"] == "train").to_numpy()
    matrix = words.fit(documents[train]).transform(documents)
    topics = frame["topics"].map(set)
    counts = pd.Series([t for ts in topics[train] for t in ts]).value_counts()
    rows = []
    sums = np.zeros((2, len(thresholds)))
    agree = 0
    for topic in counts.index[:n_topics]:
        y = topics.map(lambda ts, t=topic: t in ts).to_numpy().astype(np.int64)
        chosen = _informative(matrix[train], y[train], n_attributes)
        bits = np.asarray(matrix[:, chosen].todense(), dtype=bool)
        errors, forecasts = [], []
        for p in thresholds:
            rules = _greedy_list(bits[train], y[train], p)
            errors.append(float((_apply_list(rules, bits[~train]) != y[~train]).mean()))
            sub = np.random.default_rng(0).choice(int(train.sum()), 1000, replace=False)
            scaled = max(1, round(p * 1000 / train.sum()))
            language = DecisionLists(n_attributes, min_coverage=scaled, max_tries=20)
            law = language.count_law(bits[train][sub], y[train][sub], n_draws=15)
            rng = np.random.default_rng(1)
            n_rules = int(np.max(language.sample_partition(bits[train][sub], rng))) + 1
            log_size = n_rules * np.log(2 * n_attributes**2)
            forecasts.append(expected_error(law, log_size, int(train.sum())).mean)
        agree += int(np.argmin(errors) == np.argmin(forecasts))
        sums += np.array([errors, forecasts]) / n_topics
        rows.append([topic, *(f"{e:.4f}" for e in errors), *(f"{f:.4f}" for f in forecasts)])
    rows.append(["average", *(f"{e:.4f}" for e in sums.ravel())])
    header = ["topic", *(f"hold-out {p}" for p in thresholds), *(f"forecast {p}" for p in thresholds)]
    return (
        f"Section 3.8 (Tables 3.5, 3.6): 2-decision lists over {n_attributes} words, least coverage of "
        f"a rule\n"
        f"{format_table(header, rows)}\n"
        "Printed averages: hold-out .0204 (10), .0199 (30), .0255 (100); forecast .0548, .0520, .0557.\n"
        f"Forecast and hold-out choose the same coverage in {agree} of {n_topics} topics."
    )


def _informative(matrix: Any, y: NDArray[np.int64], n: int) -> NDArray[np.int64]:
    """Words with the largest information gain."""
    m, pos = matrix.shape[0], y.sum()
    with_word = np.asarray(matrix.sum(axis=0)).ravel().astype(float)
    both = np.asarray(matrix[y == 1].sum(axis=0)).ravel().astype(float)

    def entropy(a: Any, b: Any) -> Any:
        total = np.maximum(a + b, 1e-12)
        q = np.clip(a / total, 1e-12, 1 - 1e-12)
        return -total * (q * np.log(q) + (1 - q) * np.log(1 - q))

    inside = entropy(both, with_word - both) + entropy(pos - both, (m - with_word) - (pos - both))
    return np.argsort(inside, kind="stable")[:n]


def _greedy_list(
    bits: NDArray[np.bool_], y: NDArray[np.int64], p: int, c: int = 20
) -> list[tuple[int, int, int]]:
    """DL_1: rules with the smallest errors first, each covering p rows or more; then a default."""
    left = np.ones(len(y), bool)
    rules = []
    for bound in np.arange(0, 0.5 + 1e-9, 1 / c):
        a = bits[left].astype(np.float32)
        covered = a.T @ a
        positive = a[y[left] == 1].T @ a[y[left] == 1]
        wrong = np.minimum(positive, covered - positive)
        good = np.triu((covered >= p) & (wrong <= bound * covered))
        pairs = np.argwhere(good)
        for i, j in pairs[np.argsort(-covered[good], kind="stable")]:
            rows = np.flatnonzero(left & bits[:, i] & bits[:, j])
            if len(rows) < p:
                continue
            ones = int(y[rows].sum())
            if min(ones, len(rows) - ones) <= bound * len(rows):
                rules.append((int(i), int(j), int(2 * ones > len(rows))))
                left[rows] = False
    rules.append((-1, -1, int(2 * y[left].sum() > left.sum())))
    return rules


def _apply_list(rules: list[tuple[int, int, int]], bits: NDArray[np.bool_]) -> NDArray[np.int64]:
    answer = np.full(len(bits), rules[-1][2])
    left = np.ones(len(bits), bool)
    for i, j, label in rules[:-1]:
        rows = left & bits[:, i] & bits[:, j]
        answer[rows] = label
        left &= ~rows
    return answer


EXPERIMENTS: dict[str, Callable[[], str]] = {
    "prior": prior, "curves": curves, "size": size, "gaussians": gaussians, "selection": selection,
    "holdout": holdout, "tail": tail, "regret": regret, "text": text,
}  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("experiment", choices=[*EXPERIMENTS, "all"], nargs="?", default="all")
    wanted = parser.parse_args().experiment
    parts = []
    for name, experiment in EXPERIMENTS.items():
        if wanted in (name, "all"):
            start = time.process_time()
            part = experiment()
            parts.append(f"{part}\n[{name}: {time.process_time() - start:.0f} s CPU]")
            print(parts[-1] + "\n", flush=True)
    if wanted == "all":
        RESULTS.mkdir(exist_ok=True)
        (RESULTS / "expected_error.txt").write_text("\n\n".join(parts) + "\n")


if __name__ == "__main__":
    main()
