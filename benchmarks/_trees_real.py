"""Trees on real data sets with categorical columns."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any

import numpy as np

from benchmarks._frame import MEASURED, Case, Tool
from benchmarks._learners import attempted, n_rows
from benchmarks._measure import Quality
from offsample.datasets import load
from offsample.induction import TreeClassifier

__all__ = ["real_cases", "sign_tests"]

# The stopping rule was chosen on the first group, not on the second.
GROUPS = {
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
OURS = "offsample, default"


def real_table(name: str) -> tuple[Any, Any]:
    """Columns and classes; two regression problems are cut into two classes, without columns that tell."""
    import pandas as pd

    data = load(name).table
    data = data.sample(min(len(data), MAX_ROWS), random_state=0).reset_index(drop=True)
    target = data.pop("target")
    if name == "employee_salaries":
        return data, (target > 69_390).astype(str).to_numpy()  # the median
    if name == "nycflights13_100k":
        return data.drop(columns=["dep_delay", "dep_time"]), (target > 15).astype(str).to_numpy()
    y = target.astype(str).to_numpy()
    often = pd.Series(y).map(pd.Series(y).value_counts()).to_numpy() >= 6
    return data[often].reset_index(drop=True), y[often]


def text_columns(X: Any) -> list[str]:
    from sklearn.compose import make_column_selector

    return list(make_column_selector(dtype_include=["category", object, "string", bool])(X))


def pruned_one_hot(X: Any) -> tuple[Callable[[], Any], Any]:
    from sklearn.compose import make_column_transformer
    from sklearn.impute import SimpleImputer
    from sklearn.model_selection import GridSearchCV
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import OneHotEncoder
    from sklearn.tree import DecisionTreeClassifier

    one_hot = make_column_transformer(
        (OneHotEncoder(handle_unknown="ignore", min_frequency=3), text_columns(X)), remainder=SimpleImputer()
    )
    pipeline = make_pipeline(one_hot, DecisionTreeClassifier(random_state=0))
    strengths = {"decisiontreeclassifier__ccp_alpha": [0, 3e-4, 1e-3, 2e-3, 4e-3, 1e-2]}
    return lambda: GridSearchCV(pipeline, strengths, cv=3), X


def lightgbm_tree(X: Any) -> tuple[Callable[[], Any], Any]:
    from lightgbm import LGBMClassifier

    table = X.copy()
    for name in text_columns(X):
        table[name] = X[name].astype("category")
    table.columns = [f"f{j}" for j in range(X.shape[1])]
    return lambda: LGBMClassifier(n_estimators=1, learning_rate=1, verbose=-1, n_jobs=1), table


def ours(X: Any, **options: Any) -> tuple[Callable[[], Any], Any]:
    return lambda: TreeClassifier(**options), X


class NaiveMultiway:
    """As many splits as our multiway tree, one child per value, by the Gini index of the sample."""

    def fit(self, X: Any, y: Any) -> Any:
        n_splits = TreeClassifier(categorical_split="multiway").fit(X, y).n_splits_
        return TreeClassifier(
            criterion="gini", categorical_split="multiway", max_splits=n_splits, shrinkage=None
        ).fit(X, y)


def divided(
    make: Callable[[Any], tuple[Callable[[], Any], Any]], data: Callable[[], Any]
) -> Callable[[], Quality]:
    """A call that fits and judges a learner in each division."""
    from sklearn.model_selection import StratifiedShuffleSplit

    X, y = data()
    learner, table = make(X)
    divisions = list(StratifiedShuffleSplit(N_SPLITS, test_size=1 / 3, random_state=0).split(X, y))

    def run() -> Quality:
        errors, estimates = [], []
        for train, test in divisions:
            model = learner().fit(table.iloc[train], y[train])
            errors.append(float((model.predict(table.iloc[test]) != y[test]).mean()))
            estimates.append(getattr(model, "estimated_error_", np.nan))
        note = "" if np.isnan(estimates).any() else f"estimates {np.mean(estimates):.4f}"
        return Quality(float(np.mean(errors)), note, tuple(errors))

    return run


LEARNERS: dict[str, tuple[Callable[[Any], tuple[Callable[[], Any], Any]], str | None]] = {
    OURS: (ours, None),
    "offsample, multiway": (partial(ours, categorical_split="multiway"), None),
    "offsample, ordered": (partial(ours, categorical_split="ordered"), None),
    "offsample, naive multiway": (lambda X: (NaiveMultiway, X), None),
    "one-hot + tree, pruned in 3 folds": (pruned_one_hot, "scikit-learn"),
    "LightGBM categorical, 1 tree": (lightgbm_tree, "LightGBM"),
}


def real_cases(only: Sequence[str] | None = None) -> Iterator[Case]:
    """One case per data set, about errors: the five divisions are gone through once."""
    for group, names in GROUPS.items():
        for name in names:
            if only is not None and name not in only:
                continue
            data = attempted(partial(real_table, name))
            yield Case(
                f"real: {name} ({group})",
                [
                    Tool(label, partial(divided, make, data), peer, lambda found: found, repeats=0)
                    for label, (make, peer) in LEARNERS.items()
                ],
                "error",
                "lower",
                n_rows(data),
            )


def sign_tests(cases: list[dict[str, Any]]) -> list[str]:
    """Per group and learner: in how many data sets ours has the lower error; and how good our estimate is."""
    from scipy.stats import binomtest

    lines = []
    for group in GROUPS:
        errors: dict[str, dict[str, list[float]]] = {}
        for case in cases:
            if case["name"].startswith("real:") and case["name"].endswith(f"({group})"):
                for found in case["measurements"]:
                    if found["status"] == MEASURED:
                        errors.setdefault(found["tool"], {})[case["name"]] = found["details"]
        if OURS not in errors:
            continue
        said = []
        for tool, theirs in errors.items():
            common = [name for name in theirs if name in errors[OURS]]
            gap = np.array([np.mean(theirs[name]) - np.mean(errors[OURS][name]) for name in common])
            if tool == OURS:
                continue
            better, worse = int((gap > 1e-12).sum()), int((gap < -1e-12).sum())
            sure = [
                np.sign(gap[i]) for i, name in enumerate(common) if _differs(theirs[name], errors[OURS][name])
            ]
            p = binomtest(better, better + worse).pvalue if better + worse else 1.0
            said.append(
                f"than {tool} in {better} of {len(common)}, worse in {worse} (surely: {sure.count(1)} and "
                f"{sure.count(-1)}; sign test p = {p:.3f}; mean difference {gap.mean():+.4f})"
            )
        mean = np.mean([np.mean(values) for values in errors[OURS].values()])
        lines.append(
            f"Real data sets, {group}: mean error of ours {mean:.4f}; lower {'; '.join(said)}. *Surely*: by "
            "the corrected resampled t test (Nadeau & Bengio 2003) at 5 %."
        )
    return lines


def _differs(one: Sequence[float], other: Sequence[float]) -> bool:
    """Corrected resampled t test of the differences in divisions that share their rows."""
    from scipy.stats import t as student_t

    difference = np.subtract(one, other)
    n, spread = len(difference), difference.var(ddof=1)
    if spread == 0:
        return False
    statistic = abs(difference.mean()) / np.sqrt((1 / n + 1 / 2) * spread)  # a third tests, two thirds train
    return bool(2 * student_t.sf(statistic, n - 1) < 0.05)
