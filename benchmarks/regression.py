"""Numbers to predict: what ranking and growing take, errors on real tables, and which signals are found."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Iterator
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks._frame import Case, Tool, topic
from benchmarks._measure import Quality
from benchmarks.ranking import make_codes, to_frame
from benchmarks.ranking_designs import SHAPES, spread
from offsample import TreeRegressor, rank_features

# Tables by which no option of ours was chosen; see tests/statistical/regression_trees.py.
TABLES = {
    **dict.fromkeys(("autoMPG6", "laser", "winequality_red", "real_estate_valuation", "puma32h"), "target"),
    "forest_fires": "area",
}
# Categories of hundreds of values, and titles of which each occurs once.
WIDE = {"movies": "rating", "employee_salaries": "target"}
MOST_ROWS, MOST_WIDE_ROWS, N_HALVES = 2_000, 4_000, 3
ORDERS = ("default", "F-test", "mutual information", "target encoder")
LAWS: dict[str, Callable[[Any], Any]] = {"normal": lambda y: y, "log-normal": np.exp}
EFFECTS = {"weak": 3.0, "clear": 6.0}


# --- what it takes ------------------------------------------------------------------------------------


def table(n_rows: int, kind: str) -> tuple[Any, Any]:
    """Codes of 20 columns, and classes or numbers that are noise."""
    codes, y = make_codes(n_rows)
    return codes, y if kind == "classes" else np.random.default_rng(1).normal(size=n_rows)


def rank(n_rows: int, kind: str) -> Callable[[], Any]:
    frame = to_frame(*table(n_rows, kind))
    return lambda: rank_features(frame, "y", categorical_features="all")


def by_scikit_learn(n_rows: int, name: str) -> Callable[[], Any]:
    from sklearn import feature_selection

    codes, y = table(n_rows, "numbers")
    more = {"discrete_features": True} if name == "mutual_info_regression" else {}
    return lambda: getattr(feature_selection, name)(codes, y, **more)


def numbers(n_rows: int, n_columns: int) -> tuple[Any, Any]:
    """Columns of numbers, five of which say something."""
    random = np.random.default_rng(0)
    X = random.normal(size=(n_rows, n_columns))
    return X, np.sin(3 * X[:, 0]) + np.abs(X[:, 1]) * (X[:, 2] > 0) + X[:, 3:5].sum(1) + random.normal(
        size=n_rows
    )


def grow(model: Any, n_rows: int, n_columns: int) -> Callable[[], Any]:
    X, y = numbers(n_rows, n_columns)
    return lambda: model().fit(X, y)


def error_of(n_rows: int, n_columns: int, model: Any) -> float:
    """Mean squared error on the rows that the tree was grown on."""
    X, y = numbers(n_rows, n_columns)
    return float(np.mean((model.predict(X) - y) ** 2))


def best_first() -> Any:
    from sklearn.tree import DecisionTreeRegressor

    return DecisionTreeRegressor(max_leaf_nodes=50)


def one_boosted() -> Any:
    from sklearn.ensemble import HistGradientBoostingRegressor

    return HistGradientBoostingRegressor(
        max_iter=1, max_leaf_nodes=50, learning_rate=1.0, early_stopping=False
    )


def one_of_lightgbm() -> Any:
    from lightgbm import LGBMRegressor

    return LGBMRegressor(
        n_estimators=1, num_leaves=50, learning_rate=1.0, min_child_samples=1, n_jobs=1, verbose=-1
    )


# --- real tables --------------------------------------------------------------------------------------


def encoded(model: Any, *, one_hot: bool = False, by_target: bool = False) -> Any:
    """The model behind codes of the categories, a column for each of them, or means of the target."""
    from sklearn.compose import make_column_selector, make_column_transformer
    from sklearn.impute import SimpleImputer
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import OneHotEncoder, OrdinalEncoder, StandardScaler, TargetEncoder

    coder = (
        OneHotEncoder(handle_unknown="ignore")
        if one_hot
        else OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=-1)
    )
    if by_target:
        coder = TargetEncoder(target_type="continuous", random_state=0)
    rest = make_pipeline(SimpleImputer(), StandardScaler()) if one_hot else "passthrough"
    return make_pipeline(
        make_column_transformer((coder, make_column_selector(dtype_exclude="number")), remainder=rest), model
    )


def learner(name: str) -> Any:
    from sklearn.ensemble import HistGradientBoostingRegressor
    from sklearn.linear_model import RidgeCV
    from sklearn.model_selection import GridSearchCV, KFold

    if name.startswith("TreeRegressor"):
        return TreeRegressor(leaf="linear" if "lines" in name else "mean")
    if name in (LEARNERS[1], "TargetEncoder + that tree"):
        leaves = {"max_leaf_nodes": [2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256, 384, 512]}
        tree = best_first().set_params(max_leaf_nodes=None, random_state=0)
        search = GridSearchCV(tree, leaves, cv=KFold(5, shuffle=True, random_state=0))
        return encoded(search, by_target=name != LEARNERS[1])
    if name == "LightGBM":
        from lightgbm import LGBMRegressor

        return encoded(LGBMRegressor(random_state=0, n_jobs=1, verbose=-1))
    if name == "ridge regression":
        return encoded(RidgeCV(np.logspace(-2, 4, 7)), one_hot=True)
    return encoded(HistGradientBoostingRegressor(random_state=0))


LEARNERS = ("TreeRegressor", "CART, leaves by 5 folds", "gradient boosting", "ridge regression", "LightGBM")
LEARNERS += ("TreeRegressor, lines", "TargetEncoder + that tree")
PEERS = dict.fromkeys(LEARNERS, "scikit-learn") | {"LightGBM": "LightGBM"}
PEERS |= dict.fromkeys(("TreeRegressor", "TreeRegressor, lines"), None)


def unexplained(table_name: str, name: str, n_halves: int) -> Callable[[], list[float]]:
    """Squared errors on the other half of a table, as a share of its variance."""
    import pandas as pd

    folder = os.environ.get("OFFSAMPLE_DATA")
    if not folder:
        raise FileNotFoundError("OFFSAMPLE_DATA does not say where the shared tables are")
    path = Path(folder) / ("" if table_name == "employee_salaries" else "numeric")
    frame = pd.read_parquet(path / f"{table_name}.parquet")
    y = frame.pop((TABLES | WIDE)[table_name]).to_numpy(float)
    most = MOST_WIDE_ROWS if table_name in WIDE else MOST_ROWS

    def run() -> list[float]:
        found = []
        for seed in range(n_halves):
            rows = np.random.default_rng(seed).permutation(len(y))[:most]
            train, test = rows[: len(rows) // 2], rows[len(rows) // 2 :]
            model = learner(name).fit(frame.iloc[train], y[train])
            found.append(float(np.mean((model.predict(frame.iloc[test]) - y[test]) ** 2) / y[test].var()))
        return found

    return run


def mean_share(found: list[float]) -> Quality:
    return Quality(float(np.mean(found)), details=tuple(round(one, 4) for one in found))


# --- signals among noise ------------------------------------------------------------------------------


def planted(n_rows: int, law: str, evidence: float, seed: int) -> tuple[dict[str, Any], Any]:
    """Signals of 2, 12 and 60 values among noise of 2 to thousands, and an identifier.

    The sum of squares between the values of a signal is expected to exceed that of noise by so many
    standard deviations.
    """
    random = np.random.default_rng(seed)
    columns = {f"n{i}": random.integers(0, c, n_rows) for i, c in enumerate(spread(2, n_rows / 3, 12))}
    columns["id"] = random.permutation(n_rows)
    y = random.normal(size=n_rows)
    for i, (c, shape) in enumerate(((2, "halves"), (12, "heavy"), (60, "few"))):
        code, effect = random.integers(0, c, n_rows), SHAPES[shape](c, random)
        effect = (effect - effect.mean()) / max(effect.std(), 1e-12)
        columns[f"s{i}"] = code
        y += effect[code] * np.sqrt(evidence * np.sqrt(2 * (c - 1)) / n_rows)
    return columns, LAWS[law](y)


def orders(columns: dict[str, Any], y: Any) -> dict[str, list[str]]:
    """Columns in the order of each way to rank them."""
    from scipy.stats import f as f_law
    from sklearn.feature_selection import mutual_info_regression
    from sklearn.preprocessing import TargetEncoder

    names, n = list(columns), len(y)
    p_value, r2 = {}, {}
    for name, code in columns.items():
        _, cell = np.unique(code, return_inverse=True)
        size, total = np.bincount(cell), np.bincount(cell, y)
        between = float((total**2 / size).sum() - y.sum() ** 2 / n)
        within, k = float(((y - y.mean()) ** 2).sum()) - between, len(size)
        p_value[name] = f_law.sf(between / (k - 1) / (within / (n - k)), k - 1, n - k) if k < n else 1.0
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", FutureWarning)
            encoder = TargetEncoder(target_type="continuous", random_state=0)
            coded = encoder.fit_transform(code.reshape(-1, 1), y)[:, 0]
        r2[name] = 1 - float(((y - coded) ** 2).mean()) / y.var()
    repeated = [name for name in names if np.bincount(columns[name]).max() > 1]  # of others it knows nothing
    codes = np.column_stack([columns[name] for name in repeated])
    shared = mutual_info_regression(codes, y, discrete_features=True)
    ranked = rank_features(columns, y, categorical_features="all", task="regression")
    return {
        "default": [feature.name for feature in ranked],
        "F-test": sorted(names, key=lambda name: p_value[name]),
        "mutual information": [repeated[i] for i in np.argsort(-shared, kind="stable")],
        "target encoder": sorted(names, key=lambda name: -r2[name]),
    }


def found_first(name: str, all_orders: list[dict[str, list[str]]]) -> Quality:
    """Share of the tables with all signals first; how often the identifier came first."""
    first = np.mean([{*one[name][:3]} == {"s0", "s1", "s2"} for one in all_orders])
    identifier = np.mean([one[name][0] == "id" for one in all_orders])
    return Quality(float(first), f"identifier first in {identifier:.0%}")


# --- the cases ----------------------------------------------------------------------------------------


def means(cases: list[dict[str, Any]]) -> list[str]:
    """Say that the machine was busy, and the means over the tables."""
    lines = [
        "The machine had other work: seconds are more than they would be, ratios of CPU seconds less so."
    ]
    for title, what in (("half of", "mean share of the variance"), ("signals", "mean share of tables")):
        values: dict[str, list[float]] = {}
        for case in cases:
            for found in case["measurements"] if title in case["name"] else ():
                values.setdefault(found["tool"], []).append(found["quality"])
        if values:
            said = ", ".join(f"{name} {np.mean(of):.3f}" for name, of in values.items())
            lines.append(f"{what.capitalize()} over the cases “{title} …”: {said}.")
            if title == "half of":
                ours, cart = (np.array(values[name]) for name in LEARNERS[:2])
                lines.append(f"TreeRegressor over CART, mean of the ratios: {np.mean(ours / cart):.3f}.")
    return lines


@topic(
    "regression",
    "Numbers to predict",
    "Ranking 20 columns for a number beside ranking them for two classes; a tree of 50 leaves beside one "
    "tree of LightGBM, of scikit-learn's boosting and its best-first tree; what is left of the variance on "
    "the other half of tables by which no option was chosen, two of them with categories of hundreds of "
    "values, or titles of which each occurs once; and the share of made-up tables in which signals of 2, 12 "
    "and 60 values come before twelve noise columns and an identifier.",
    peers={
        "scikit-learn": "Boosting or a linear model has the smaller error where it need not be read; "
        "`f_regression` is for columns of numbers whose effect is a line.",
        "LightGBM": "Its forest of trees has the smaller error where it need not be read.",
        "SciPy": "The F-test is as good where noise is normal and columns have few values.",
    },
    limit=150.0,
    patience=3.0,
    summary=means,
)
def cases(small: bool) -> Iterator[Case]:
    n_rows = 2_000 if small else 1_000_000
    yield Case(
        f"ranking {n_rows:,} × 20",
        [
            Tool("rank_features, a number", partial(rank, n_rows, "numbers")),
            Tool("rank_features, two classes", partial(rank, n_rows, "classes")),
            *(
                Tool(name, partial(by_scikit_learn, n_rows, name), "scikit-learn")
                for name in ("f_regression", "mutual_info_regression")
            ),
        ],
    )
    models = {"TreeRegressor": partial(TreeRegressor, max_size=50, stopping="none", shrinkage=None)}
    models |= {"one boosted tree": one_boosted, "best-first tree": best_first}
    models |= {"one tree of LightGBM": one_of_lightgbm}
    by = {"TreeRegressor": None, "one tree of LightGBM": "LightGBM"}
    for n_rows, n_columns in ((1_000, 5),) if small else ((100_000, 50), (1_000_000, 20)):
        yield Case(
            f"a tree of 50 leaves, {n_rows:,} × {n_columns}",
            [
                Tool(name, partial(grow, model, n_rows, n_columns), by.get(name, "scikit-learn"),
                     partial(error_of, n_rows, n_columns), repeats=1)
                for name, model in models.items()
            ],
            "squared error on the sample",
            "lower",
        )  # fmt: skip
    for name in [*TABLES, *WIDE][: 1 if small else None]:
        tools = [
            Tool(one, partial(unexplained, name, one, 1 if small else N_HALVES), PEERS[one], mean_share,
                 timed=False)
            for one in LEARNERS
        ]  # fmt: skip
        yield Case(f"half of {name}", tools, "share of the variance that is left", "lower")
    for n_rows, n_tables in ((500, 2),) if small else ((500, 20), (2_000, 20)):
        for law in LAWS:
            for effect, evidence in EFFECTS.items():
                run = cache(
                    lambda n_rows=n_rows, n_tables=n_tables, law=law, evidence=evidence: [
                        orders(*planted(n_rows, law, evidence, seed)) for seed in range(n_tables)
                    ]
                )
                peers = (None, "SciPy", "scikit-learn", "scikit-learn")
                tools = [
                    Tool(name, lambda run=run: run, peer, partial(found_first, name), timed=False)
                    for name, peer in zip(ORDERS, peers, strict=True)
                ]
                what = "share of tables with all signals first"
                yield Case(f"{effect} signals, {law}, {n_rows:,} rows", tools, what, "higher", n_tables)
