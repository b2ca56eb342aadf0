"""Rare classes: how well readable models order the rows, and what their probabilities lose."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks._frame import MEASURED, Case, Tool, topic
from benchmarks._learners import attempted, n_rows
from benchmarks._measure import Quality
from benchmarks._trees_real import text_columns

# How our model is tuned was chosen on the first group; the second was judged once.
GROUPS = {
    "used to choose": (
        "abalone-17_vs_7-8-9-10",
        "attrition",
        "ecoli-0-3-4-7_vs_5-6",
        "glass2",
        "page-blocks-1-3_vs_4",
        "telco_churn",
        "yeast-1-4-5-8_vs_7",
    ),
    "not used": (
        "ad_data",
        "dermatology-6",
        "email_spam",
        "flare-F",
        "kddcup-rootkit-imap_vs_back",
        "shuttle-c0-vs-c4",
        "winequality-red-8_vs_6",
    ),
}
TARGETS = {"ad_data": "Class", "attrition": "Attrition", "email_spam": "spam", "telco_churn": "churn"}
MAX_LEAVES = 12
MAX_ROWS = 8_000
N_SPLITS = 5
BOOSTED = "LightGBM" if find_spec("lightgbm") else "boosting of scikit-learn"
PAGE, DEFAULT = "offsample, the model of a report", "offsample, default tree for log loss"
OURS, CART = f"offsample, at most {MAX_LEAVES} leaves", f"scikit-learn tree, at most {MAX_LEAVES} leaves"


def rare(name: str) -> tuple[Any, Any]:
    """Columns, and whether a row is of the rarer class."""
    import pandas as pd

    folder = Path(os.environ.get("OFFSAMPLE_DATA", "../shared/data"))
    path = folder / ("temporal" if name == "email_spam" else "imbalanced") / f"{name}.parquet"
    if not path.exists():
        raise FileNotFoundError(f"no {path.name}: set OFFSAMPLE_DATA to the directory of the data sets")
    data = pd.read_parquet(path)
    data = data.sample(min(len(data), MAX_ROWS), random_state=0).reset_index(drop=True)
    target = data.pop(TARGETS.get(name, "target")).astype(str)
    times = data.select_dtypes("datetime").columns
    data[times] = data[times].astype("int64")
    return data, (target == target.value_counts().index[-1]).to_numpy().astype(int)


def folds() -> Any:
    from sklearn.model_selection import StratifiedKFold

    return StratifiedKFold(5, shuffle=True, random_state=0)


def ours(X: Any) -> Any:
    """Our tree, its probabilities off the sample; five folds choose by log loss how small leaves may be.

    Splits need not be evident: a weak one moves the probabilities little, but orders rows.
    """
    from sklearn.model_selection import GridSearchCV

    from offsample.induction import TreeClassifier

    del X
    tree = TreeClassifier(criterion="log_loss_loo", stopping="none", max_size=MAX_LEAVES)
    return GridSearchCV(tree, {"min_samples_leaf": [5, 20]}, scoring="neg_log_loss", cv=folds())


class Reported:
    """The estimator of a page, as a learner: of a size that is as good as any; half way if undecided."""

    def fit(self, X: Any, y: Any) -> Reported:
        """Report, and keep the model."""
        from offsample import report

        self.model = report(X.assign(_y=y), "_y", metric="auc", fast=True, copies="keep").estimator
        return self

    def predict_proba(self, X: Any) -> Any:
        """Probabilities of the classes."""
        return np.asarray(self.model.predict_proba(X))


def default(X: Any) -> Any:
    """Our tree as it is, by log loss: splits must be evident."""
    from offsample.induction import TreeClassifier

    del X
    return TreeClassifier(criterion="log_loss_loo", max_size=MAX_LEAVES)


def numbers(X: Any, model: Any) -> Any:
    """A pipeline that fills in and scales numbers, and makes one column of each category."""
    from sklearn.compose import make_column_transformer
    from sklearn.impute import SimpleImputer
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import OneHotEncoder, StandardScaler

    one_hot = (OneHotEncoder(handle_unknown="ignore"), text_columns(X))
    filled = make_pipeline(SimpleImputer(), StandardScaler())
    return make_pipeline(make_column_transformer(one_hot, remainder=filled), model)


def cart(X: Any) -> Any:
    """A tree of at most as many leaves; five folds choose by AUC how many, and their size."""
    from sklearn.model_selection import GridSearchCV
    from sklearn.tree import DecisionTreeClassifier

    grid = {"max_leaf_nodes": [2, 3, 4, 6, 8, 10, MAX_LEAVES], "min_samples_leaf": [1, 5, 20]}
    named = {f"decisiontreeclassifier__{name}": values for name, values in grid.items()}
    return GridSearchCV(
        numbers(X, DecisionTreeClassifier(random_state=0)), named, scoring="roc_auc", cv=folds()
    )


def logistic(X: Any) -> Any:
    from sklearn.linear_model import LogisticRegression

    return numbers(X, LogisticRegression(max_iter=2000))


def boosting(X: Any) -> Any:
    """LightGBM where it is installed, else scikit-learn's."""
    try:
        from lightgbm import LGBMClassifier

        return numbers(X, LGBMClassifier(verbose=-1, n_jobs=1, random_state=0))
    except ModuleNotFoundError:
        from sklearn.compose import make_column_transformer
        from sklearn.ensemble import HistGradientBoostingClassifier
        from sklearn.pipeline import make_pipeline
        from sklearn.preprocessing import OrdinalEncoder

        coded = OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=-1)
        columns = make_column_transformer((coded, text_columns(X)), remainder="passthrough")
        return make_pipeline(columns, HistGradientBoostingClassifier(random_state=0))


LEARNERS: dict[str, tuple[Callable[[Any], Any], str | None]] = {
    OURS: (ours, None),
    PAGE: (lambda _: Reported(), None),
    DEFAULT: (default, None),
    CART: (cart, "scikit-learn"),
    "logistic regression": (logistic, "scikit-learn"),
    BOOSTED: (boosting, "boosting"),
}


def judged(make: Callable[[Any], Any], data: Callable[[], Any], n_splits: int) -> Callable[[], Quality]:
    """A call that fits a learner to a half of the rows and judges it on the other, in several divisions."""
    from sklearn.metrics import log_loss, roc_auc_score
    from sklearn.model_selection import StratifiedShuffleSplit

    X, y = data()
    for name in text_columns(X):
        X[name] = X[name].astype(object).where(X[name].notna(), "missing").astype(str)
    divisions = list(StratifiedShuffleSplit(n_splits, test_size=0.5, random_state=0).split(X, y))

    def run() -> Quality:
        areas, losses = [], []
        for train, test in divisions:
            p = make(X).fit(X.iloc[train], y[train]).predict_proba(X.iloc[test])[:, 1]
            areas.append(float(roc_auc_score(y[test], p)))
            losses.append(float(log_loss(y[test], p, labels=[0, 1])))
        return Quality(float(np.mean(areas)), f"log loss {np.mean(losses):.4f}", (*areas, *losses))

    return run


def means(cases: list[dict[str, Any]]) -> list[str]:
    """Per group: mean area and log loss of each learner over the tables, and where ours are ahead of CART."""
    lines = []
    for group in GROUPS:
        found: dict[str, list[Any]] = {}
        for case in cases:
            if case["name"].endswith(f"({group})"):
                for one in case["measurements"]:
                    if one["status"] == MEASURED:
                        halves = np.reshape(one["details"], (2, -1)).mean(axis=1)
                        found.setdefault(one["tool"], []).append(halves)
        if {OURS, PAGE, CART} <= set(found) and len({len(found[tool]) for tool in (OURS, PAGE, CART)}) == 1:
            shown = (
                f"{tool} {mean[0]:.3f} and {mean[1]:.3f}"
                for tool, mean in ((tool, np.mean(values, axis=0)) for tool, values in found.items())
            )
            told = []
            for name, tool in (("ours", OURS), ("the model of a report", PAGE)):
                ahead = np.array(found[tool]) - np.array(found[CART])
                better, cheaper = int((ahead[:, 0] > 0).sum()), int((ahead[:, 1] < 0).sum())
                told.append(f"{name} orders better in {better} of {len(ahead)}, and loses less in {cheaper}")
            lines.append(
                f"Tables {group}: mean area under the curve and log loss of {'; '.join(shown)}. "
                f"Beside the other tree, {'; '.join(told)}."
            )
    return lines


@topic(
    "imbalanced",
    "Rare classes",
    "Thirteen tables with a rare class, and one of spam: area under the ROC curve, and log loss in nats, on "
    f"the half of the rows that was held out, means of {N_SPLITS} divisions. The two tuned trees have "
    f"at most {MAX_LEAVES} leaves; ours is tuned by log loss, the other by the area. The default tree shows "
    "only what is evident: with 8 to 15 rows of a class that may be nothing, and all rows are rated alike; a "
    "report then hands over what is undecided, half way to the class shares.",
    peers={
        "scikit-learn": "Logistic regression, where columns add up: it orders better, and a few can be read.",
        "boosting": "Where the order is all that counts, and nobody has to read the model.",
    },
    packages=("lightgbm", "pandas"),
    summary=means,
    limit=600.0,
)
def cases(small: bool) -> Iterator[Case]:
    for group, names in GROUPS.items():
        for name in names[:1] if small else names:
            data = attempted(partial(rare, name))
            tools = [
                Tool(
                    label,
                    partial(judged, make, data, 1 if small else N_SPLITS),
                    peer,
                    lambda found: found,
                    repeats=0,
                )
                for label, (make, peer) in LEARNERS.items()
            ]
            yield Case(f"{name} ({group})", tools, "area under the curve", "higher", n_rows(data))
