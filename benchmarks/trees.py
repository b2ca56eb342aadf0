"""`python -m benchmarks.trees [numeric|categorical|real]`: trees beside their peers, in CPU seconds."""

from __future__ import annotations

import argparse
import os
import time
import tracemalloc
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from scipy.stats import binomtest
from scipy.stats import t as student_t
from sklearn.compose import make_column_selector, make_column_transformer
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, StratifiedShuffleSplit
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler, TargetEncoder
from sklearn.tree import DecisionTreeClassifier

from benchmarks._timing import print_versions
from offsample.induction import TreeClassifier

SEEDS = (0, 1, 2)
N_LEAVES = 50

# Data sets with categorical columns. The stopping rule was chosen on the first group, not on the second.
REAL = {
    "used to choose the stopping rule": (
        "adult",
        "amazon_employee_access",
        "kdd_census_income",
        "midwest_survey",
        "traffic_violations_12k",
    ),
    "not used": (
        "anneal",
        "breast_cancer_ljubljana",
        "dermatology",
        "employee_salaries",
        "heart_hungarian",
        "hypothyroid",
        "internet_usage",
        "nycflights13_100k",
        "tic_tac_toe",
        "vote",
    ),
}
MAX_ROWS = 6_000
N_SPLITS = 5


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
        X, y = numeric_problem(n, d, 0)
        for name, options in (("50 leaves", {"max_splits": N_LEAVES - 1}), ("no limit", {})):
            tree, peak = _peak_memory(lambda o=options, X=X, y=y: TreeClassifier(**o).fit(X, y))
            leaves = tree.tree_.n_leaves
            print(f"peak memory of fit, {name} ({leaves:,} leaves): {peak / (n * d):.1f} × the codes")
        for n_jobs in (1, 2):
            start = time.perf_counter()
            TreeClassifier(max_splits=N_LEAVES - 1, n_jobs=n_jobs).fit(X, y)
            print(f"n_jobs = {n_jobs}: {time.perf_counter() - start:.2f} s on the clock, 50 leaves")
        print()


def _peak_memory(function: Callable[[], Any]) -> tuple[Any, int]:
    """Result, and the most bytes that were allocated at once on the way."""
    tracemalloc.start()
    try:
        result = function()
        return result, tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


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

OURS = "ours"
HEADER = (OURS, "one-hot, pruned", "LightGBM tree", "multiway", "naive multiway", "ordered")


def real_table(folder: Path, name: str) -> tuple[pd.DataFrame, np.ndarray]:
    """Columns and classes; two regression problems are cut into two classes, without columns that tell."""
    data = pd.read_parquet(folder / f"{name}.parquet").drop(columns="split", errors="ignore")
    data = data.sample(min(len(data), MAX_ROWS), random_state=0).reset_index(drop=True)
    target = data.pop("target")
    if name == "employee_salaries":
        return data, (target > 69_390).astype(str).to_numpy()  # the median
    if name == "nycflights13_100k":
        return data.drop(columns=["dep_delay", "dep_time"]), (target > 15).astype(str).to_numpy()
    y = target.astype(str).to_numpy()
    often = pd.Series(y).map(pd.Series(y).value_counts()).to_numpy() >= 6
    return data[often].reset_index(drop=True), y[often]


def real() -> None:
    folder = Path(os.environ.get("OFFSAMPLE_DATA") or "../shared/data")
    print(
        f"real data: error on a third of at most {MAX_ROWS:,} rows, mean of {N_SPLITS} random divisions; "
        "* differs from ours\nby the corrected resampled t test (Nadeau & Bengio 2003) at 5 %. naive: the "
        "same number of splits, one\nchild per value, chosen by the Gini index of the sample. estimate: "
        "estimated_error_ of ours\n"
    )
    for group, names in REAL.items():
        print(f"{group:<32}" + "".join(f" {name:>16}" for name in HEADER) + f" {'estimate':>9}")
        table = []
        for name in names:
            errors, estimate = _divided(*real_table(folder, name))
            stars = ["*" if _differs(errors[0] - row) else " " for row in errors]
            means = errors.mean(axis=1)
            cells = "".join(f" {mean:>15.4f}{star}" for mean, star in zip(means, stars, strict=True))
            print(f"{name:<32}{cells} {estimate:>9.4f}", flush=True)
            table.append([*means, estimate])
        scores = np.array(table)
        print(f"{'mean':<32}" + "".join(f" {mean:>15.4f} " for mean in scores.mean(axis=0)[:-1]), end="")
        print(f" {scores[:, -1].mean():>9.4f}")
        for i, name in list(enumerate(HEADER))[1:]:
            difference = scores[:, i] - scores[:, 0]
            better, worse = int((difference > 1e-12).sum()), int((difference < -1e-12).sum())
            p = binomtest(better, better + worse).pvalue if better + worse else 1.0
            print(
                f"  ours better than {name} in {better}, worse in {worse} of {len(names)} (sign test "
                f"p = {p:.3f}); mean difference {difference.mean():+.4f}"
            )
        gap = scores[:, -1] - scores[:, 0]
        print(f"  estimate less error: mean {gap.mean():+.4f}, from {gap.min():+.4f} to {gap.max():+.4f}\n")


def _differs(difference: np.ndarray) -> bool:
    """Corrected resampled t test of the differences in divisions that share their rows."""
    n, spread = len(difference), difference.var(ddof=1)
    if spread == 0:
        return False
    statistic = abs(difference.mean()) / np.sqrt((1 / n + 1 / 2) * spread)  # a third tests, two thirds train
    return bool(2 * student_t.sf(statistic, n - 1) < 0.05)


def _divided(X: pd.DataFrame, y: np.ndarray) -> tuple[np.ndarray, float]:
    """Errors per learner and division, and the mean of our estimate."""
    from lightgbm import LGBMClassifier

    text = make_column_selector(dtype_include=["category", object, "string", bool])
    one_hot = make_column_transformer(
        (OneHotEncoder(handle_unknown="ignore", min_frequency=3), text), remainder=SimpleImputer()
    )
    pruned = GridSearchCV(
        make_pipeline(one_hot, DecisionTreeClassifier(random_state=0)),
        {"decisiontreeclassifier__ccp_alpha": [0, 3e-4, 1e-3, 2e-3, 4e-3, 1e-2]},
        cv=3,
    )
    as_category = X.copy()
    for name in text(X):
        as_category[name] = X[name].astype("category")
    as_category.columns = [f"f{j}" for j in range(X.shape[1])]
    errors, estimates = [], []
    for train, test in StratifiedShuffleSplit(N_SPLITS, test_size=1 / 3, random_state=0).split(X, y):
        ours = TreeClassifier().fit(X.iloc[train], y[train])
        estimates.append(ours.estimated_error_)
        multiway = TreeClassifier(categorical_split="multiway").fit(X.iloc[train], y[train])
        naive = TreeClassifier(
            criterion="gini", categorical_split="multiway", max_splits=multiway.n_splits_, shrinkage=None
        )
        single = LGBMClassifier(n_estimators=1, learning_rate=1, verbose=-1, n_jobs=1)
        learners = [
            ours,
            pruned.fit(X.iloc[train], y[train]),
            single.fit(as_category.iloc[train], y[train]),
            multiway,
            naive.fit(X.iloc[train], y[train]),
            TreeClassifier(categorical_split="ordered").fit(X.iloc[train], y[train]),
        ]
        tables = [as_category if learner is single else X for learner in learners]
        errors.append(
            [
                float((learner.predict(table.iloc[test]) != y[test]).mean())
                for learner, table in zip(learners, tables, strict=True)
            ]
        )
    return np.array(errors).T, float(np.mean(estimates))


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
