"""`python -m benchmarks.trees [numeric|categorical|real]`: trees beside their peers, in CPU seconds."""

from __future__ import annotations

import argparse
import os
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from scipy.stats import wilcoxon
from sklearn.compose import make_column_selector, make_column_transformer
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler, TargetEncoder
from sklearn.tree import DecisionTreeClassifier

from benchmarks._timing import print_versions
from offsample.induction import TreeClassifier

SEEDS = (0, 1, 2)
N_LEAVES = 50

# Data sets with categorical columns; the rows used are at most MAX_ROWS.
REAL = (
    "adult",
    "amazon_employee_access",
    "car",
    "cmc",
    "german_credit",
    "kdd_census_income",
    "midwest_survey",
    "mushroom",
    "nursery",
    "soybean",
    "splice",
    "traffic_violations_12k",
)
MAX_ROWS = 20_000


def cpu_seconds(function: Callable[[], Any]) -> tuple[Any, float]:
    start = time.process_time()
    result = function()
    return result, time.process_time() - start


def warm_up() -> None:
    """Compile or load the kernels, and report the time apart."""
    rng = np.random.default_rng(0)
    start = time.perf_counter()
    table = pd.DataFrame({"a": rng.normal(size=3000), "b": rng.integers(0, 40, 3000).astype(str)})
    table["id"] = np.arange(3000).astype(str)
    y = ((table["a"] > 0) ^ (rng.random(3000) < 0.2)).astype(int)
    for X in (table, table[["a"]].to_numpy()):
        TreeClassifier().fit(X, y).predict(X)
    print(f"first use (compilation or its cache): {time.perf_counter() - start:.1f} s\n")


# --- numeric columns ----------------------------------------------------------------------------------


def numeric_problem(n: int, d: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    f = np.sin(2 * X[:, 0]) + X[:, 1] * X[:, 2] + 0.5 * X[:, 3] + (X[:, 4] > 0) * (X[:, 5] > 0.5)
    return X, (f + 0.7 * rng.normal(size=n) > 0.4).astype(int)


def numeric_learners() -> dict[str, Any]:
    from lightgbm import LGBMClassifier

    return {
        "offsample, no stopping": TreeClassifier(max_splits=N_LEAVES - 1, stopping="none"),
        "offsample, default": TreeClassifier(max_splits=N_LEAVES - 1),
        "offsample, default, no limit": TreeClassifier(),
        "scikit-learn tree": DecisionTreeClassifier(max_leaf_nodes=N_LEAVES, random_state=0),
        "LightGBM, one tree": LGBMClassifier(
            n_estimators=1, num_leaves=N_LEAVES, learning_rate=1, verbose=-1, n_jobs=1
        ),
        "HistGradientBoosting, one iteration": HistGradientBoostingClassifier(
            max_iter=1, max_leaf_nodes=N_LEAVES, learning_rate=1, early_stopping=False
        ),
    }


def numeric() -> None:
    for n, d in ((100_000, 50), (1_000_000, 20)):
        print(f"numeric: n = {n:,}, d = {d}, {N_LEAVES} leaves; mean of {len(SEEDS)} seeds")
        print(f"{'':<36} {'fit cpu s':>9} {'ratio':>7} {'accuracy':>9} {'predict rows/s':>15}")
        results: dict[str, list[tuple[float, float, float]]] = {}
        for seed in SEEDS:
            X, y = numeric_problem(n, d, seed)
            X_test, y_test = numeric_problem(200_000, d, seed + 1000)
            for name, learner in numeric_learners().items():
                _, fit = cpu_seconds(lambda learner=learner, X=X, y=y: learner.fit(X, y))
                predicted, predict = cpu_seconds(lambda learner=learner, X=X_test: learner.predict(X))
                accuracy = float((predicted == y_test).mean())
                results.setdefault(name, []).append((fit, accuracy, len(X_test) / predict))
        _print_results(results)


def _print_results(results: dict[str, list[tuple[float, ...]]]) -> None:
    ours = None
    for name, rows in results.items():
        fit, accuracy, *speed = np.mean(rows, axis=0)
        ours = ours or fit
        rest = "".join(f" {value:>15,.0f}" for value in speed)
        print(f"{name:<36} {fit:>9.3f} {fit / ours:>7.1f} {accuracy:>9.4f}{rest}", flush=True)
    print()


# --- categorical columns ------------------------------------------------------------------------------


def categorical_problem(
    n: int,
    cardinalities: tuple[int, int],
    interaction: bool,
    effects: np.random.Generator,
    rows: np.random.Generator,
) -> tuple[pd.DataFrame, np.ndarray, float]:
    """Ten columns of 10 to 10,000 levels and an identifier; two are predictive. Also the Bayes accuracy."""
    sizes = [*cardinalities, *np.geomspace(10, 10_000, 8).astype(int).tolist()]
    codes = [rows.integers(0, size, n) for size in sizes]
    a, b = (effects.normal(size=size) for size in cardinalities)
    u, v = a[codes[0]], b[codes[1]]
    logit = (0.7 * (u + v) + 1.6 * u * v) if interaction else 1.45 * (u + v)
    p = 1 / (1 + np.exp(-logit))
    table = pd.DataFrame({f"c{j}": pd.Categorical(code.astype(str)) for j, code in enumerate(codes)})
    table["id"] = np.array([f"r{i}" for i in rows.permutation(10 * n)[:n]])
    return table, (rows.random(n) < p).astype(int), float(np.maximum(p, 1 - p).mean())


def categorical_learners() -> dict[str, Any]:
    from catboost import CatBoostClassifier
    from lightgbm import LGBMClassifier

    columns = [f"c{j}" for j in range(10)]
    no_id = make_column_transformer(("passthrough", columns), verbose_feature_names_out=False)
    no_id.set_output(transform="pandas")
    return {
        "offsample, default": TreeClassifier(),
        "offsample, multiway": TreeClassifier(categorical_split="multiway"),
        "offsample, ordered": TreeClassifier(categorical_split="ordered"),
        "TargetEncoder + logistic": make_pipeline(
            TargetEncoder(random_state=0), StandardScaler(), LogisticRegression()
        ),
        "TargetEncoder + tree": make_pipeline(
            TargetEncoder(random_state=0), DecisionTreeClassifier(max_leaf_nodes=N_LEAVES, random_state=0)
        ),
        "LightGBM categorical, 1 tree": make_pipeline(
            no_id, LGBMClassifier(n_estimators=1, num_leaves=N_LEAVES, learning_rate=1, verbose=-1, n_jobs=1)
        ),
        "LightGBM categorical, 100 trees": make_pipeline(no_id, LGBMClassifier(verbose=-1, n_jobs=1)),
        "CatBoost, 100 trees": CatBoostClassifier(
            iterations=100,
            cat_features=[*columns, "id"],
            verbose=0,
            thread_count=1,
            allow_writing_files=False,
        ),
        "one-hot + tree": make_pipeline(
            OneHotEncoder(handle_unknown="ignore", min_frequency=20),
            DecisionTreeClassifier(max_leaf_nodes=N_LEAVES, random_state=0),
        ),
    }


def categorical(n: int = 100_000) -> None:
    for cardinalities in ((20, 500), (500, 5000)):
        for interaction in (False, True):
            results: dict[str, list[tuple[float, ...]]] = {}
            bayes = []
            for seed in SEEDS:
                effects = np.random.default_rng(seed)
                state = effects.bit_generator.state
                X, y, _ = categorical_problem(
                    n, cardinalities, interaction, effects, np.random.default_rng(seed + 10)
                )
                effects.bit_generator.state = state
                X_test, y_test, best = categorical_problem(
                    n, cardinalities, interaction, effects, np.random.default_rng(seed + 20)
                )
                for name in X.columns[:-1]:  # the codes of a test column are those of the training column
                    X_test[name] = pd.Categorical(X_test[name], categories=X[name].cat.categories)
                bayes.append(best)
                for name, learner in categorical_learners().items():
                    if seed and name.startswith(("CatBoost", "one-hot")):  # slow: one seed
                        continue
                    table, test = (
                        (X.astype(str), X_test.astype(str))
                        if name.startswith(("CatBoost", "one-hot"))
                        else (X, X_test)
                    )
                    _, fit = cpu_seconds(lambda learner=learner, X=table, y=y: learner.fit(X, y))
                    accuracy = float((np.asarray(learner.predict(test)).ravel() == y_test).mean())
                    results.setdefault(name, []).append((fit, accuracy))
            kind = "interaction" if interaction else "additive"
            print(
                f"categorical: {cardinalities[0]} & {cardinalities[1]} levels, {kind}; "
                f"best possible {np.mean(bayes):.4f}"
            )
            print(f"{'':<36} {'fit cpu s':>9} {'ratio':>7} {'accuracy':>9}")
            _print_results(results)


# --- real data ----------------------------------------------------------------------------------------


def real() -> None:
    folder = Path(os.environ.get("OFFSAMPLE_DATA") or "../shared/data")
    print(f"real data: accuracy in 3-fold cross-validation, at most {MAX_ROWS:,} rows")
    header = ("one-hot, pruned", "LightGBM tree", "multiway", "ordered", "estimated")
    print(f"{'':<24} {'default':>8}" + "".join(f" {name:>15}" for name in header))
    table = []
    for name in REAL:
        data = pd.read_parquet(folder / f"{name}.parquet").drop(columns="split", errors="ignore")
        data = data.sample(min(len(data), MAX_ROWS), random_state=0).reset_index(drop=True)
        y = data.pop("target").astype(str).to_numpy()
        keep = pd.Series(y).map(pd.Series(y).value_counts()).to_numpy() >= 3
        scores = _cross_validated(data[keep].reset_index(drop=True), y[keep])
        table.append(scores)
        print(
            f"{name:<24} {scores[0]:>8.4f}" + "".join(f" {score:>15.4f}" for score in scores[1:]), flush=True
        )
    scores = np.array(table)
    for i, name in enumerate(header[:-1], start=1):
        difference = scores[:, 0] - scores[:, i]
        p = wilcoxon(difference).pvalue if (difference != 0).sum() > 1 else 1.0
        print(f"default less {name}: mean {difference.mean():+.4f}, Wilcoxon p = {p:.3f}")
    calibration = scores[:, 0] - scores[:, -1]
    print(f"accuracy less estimate: mean {calibration.mean():+.4f}, largest {np.abs(calibration).max():.4f}")


def _cross_validated(X: pd.DataFrame, y: np.ndarray) -> np.ndarray:
    from lightgbm import LGBMClassifier

    text = make_column_selector(dtype_include=["category", object, "string"])
    one_hot = make_column_transformer(
        (OneHotEncoder(handle_unknown="ignore", min_frequency=3), text), remainder=SimpleImputer()
    )
    pruned = GridSearchCV(
        make_pipeline(one_hot, DecisionTreeClassifier(random_state=0)),
        {"decisiontreeclassifier__ccp_alpha": [0, *np.geomspace(1e-5, 1e-2, 7)]},
        cv=3,
    )
    learners = [
        TreeClassifier(),
        pruned,
        LGBMClassifier(n_estimators=1, learning_rate=1, verbose=-1, n_jobs=1),
        TreeClassifier(categorical_split="multiway"),
        TreeClassifier(categorical_split="ordered"),
    ]
    as_category = X.copy()
    for name in text(X):
        as_category[name] = X[name].astype("category")
    as_category.columns = [f"f{j}" for j in range(X.shape[1])]
    folds = list(StratifiedKFold(3, shuffle=True, random_state=0).split(X, y))
    scores, estimates = [], []
    for learner in learners:
        table = as_category if isinstance(learner, LGBMClassifier) else X
        hits = []
        for train, test in folds:
            learner.fit(table.iloc[train], y[train])
            hits.append(float((learner.predict(table.iloc[test]) == y[test]).mean()))
            if learner is learners[0]:
                estimates.append(1 - learner.estimated_error_)
        scores.append(np.mean(hits))
    return np.array([*scores, np.mean(estimates)])


def main() -> None:
    warnings.simplefilter("ignore")
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("part", nargs="?", choices=("numeric", "categorical", "real", "all"), default="all")
    part = parser.parse_args().part
    print_versions("numpy", "numba", "scikit-learn", "lightgbm", "catboost")
    warm_up()
    for name, run in (("numeric", numeric), ("categorical", categorical), ("real", real)):
        if part in (name, "all"):
            run()


if __name__ == "__main__":
    main()
