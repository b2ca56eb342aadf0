"""Trees beside their peers: speed and accuracy on generated problems, errors on real data."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np

from benchmarks._frame import Case, Tool, topic
from benchmarks._learners import Split, accuracy, fitting
from benchmarks._trees_real import real_cases, sign_tests
from offsample.induction import TreeClassifier

SEEDS = (0, 1, 2)
N_LEAVES = 50
Make = Callable[[], Callable[[], Any]]


# --- learners of others; each imports its package --------------------------------------------------------


def lightgbm(**options: Any) -> Callable[[], Any]:
    from lightgbm import LGBMClassifier

    return lambda: LGBMClassifier(verbose=-1, n_jobs=1, **options)


def lightgbm_without_id(**options: Any) -> Callable[[], Any]:
    from sklearn.compose import make_column_transformer
    from sklearn.pipeline import make_pipeline

    learner = lightgbm(**options)
    no_id = make_column_transformer(
        ("passthrough", [f"c{j}" for j in range(10)]), verbose_feature_names_out=False
    )
    no_id.set_output(transform="pandas")
    return lambda: make_pipeline(no_id, learner())


def catboost() -> Callable[[], Any]:
    from catboost import CatBoostClassifier

    columns = [*(f"c{j}" for j in range(10)), "id"]
    options = {"verbose": 0, "thread_count": 1, "allow_writing_files": False}
    return lambda: CatBoostClassifier(iterations=100, cat_features=columns, **options)


def cart() -> Callable[[], Any]:
    from sklearn.tree import DecisionTreeClassifier

    return lambda: DecisionTreeClassifier(max_leaf_nodes=N_LEAVES, random_state=0)


def hist_gradient_boosting() -> Callable[[], Any]:
    from sklearn.ensemble import HistGradientBoostingClassifier

    return lambda: HistGradientBoostingClassifier(
        max_iter=1, max_leaf_nodes=N_LEAVES, learning_rate=1, early_stopping=False
    )


def encoded_logistic() -> Callable[[], Any]:
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler, TargetEncoder

    return lambda: make_pipeline(TargetEncoder(random_state=0), StandardScaler(), LogisticRegression())


def encoded_tree() -> Callable[[], Any]:
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import TargetEncoder

    return lambda: make_pipeline(TargetEncoder(random_state=0), cart()())


def one_hot_tree() -> Callable[[], Any]:
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import OneHotEncoder

    return lambda: make_pipeline(OneHotEncoder(handle_unknown="ignore", min_frequency=20), cart()())


def ours(**options: Any) -> Callable[[], Any]:
    return lambda: TreeClassifier(**options)


def prepared(make: Make, splits: list[Split]) -> Callable[[], Any]:
    return fitting(make(), splits)


def tools(learners: dict[str, tuple[Make, str | None]], splits: list[Split]) -> list[Tool]:
    return [
        Tool(name, partial(prepared, make, splits), peer, accuracy) for name, (make, peer) in learners.items()
    ]


# --- numeric columns ----------------------------------------------------------------------------------


def numeric_problem(n: int, d: int, seed: int) -> tuple[Any, Any]:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    f = np.sin(2 * X[:, 0]) + X[:, 1] * X[:, 2] + 0.5 * X[:, 3] + (X[:, 4] > 0) * (X[:, 5] > 0.5)
    return X, (f + 0.7 * rng.normal(size=n) > 0.4).astype(int)


def numeric(n: int, d: int, n_new: int) -> Case:
    splits = [Split(*numeric_problem(n, d, seed), *numeric_problem(n_new, d, seed + 1000)) for seed in SEEDS]
    one = {"n_estimators": 1, "num_leaves": N_LEAVES, "learning_rate": 1}
    learners: dict[str, tuple[Make, str | None]] = {
        "offsample, default, 50 leaves": (partial(ours, max_splits=N_LEAVES - 1), None),
        "offsample, 50 leaves, no stopping": (partial(ours, max_splits=N_LEAVES - 1, stopping="none"), None),
        "offsample, default, no limit": (ours, None),
        "scikit-learn tree": (cart, "scikit-learn"),
        "LightGBM, one tree": (partial(lightgbm, **one), "LightGBM"),
        "HistGradientBoosting, one iteration": (hist_gradient_boosting, "scikit-learn"),
    }
    title = f"numeric, {n:,} × {d}, {N_LEAVES} leaves, fit"
    return Case(title, tools(learners, splits), "accuracy", "higher", n_new * len(SEEDS))


def prediction(n_new: int) -> Case:
    X, y = numeric_problem(20_000, 20, 0)
    X_new, _ = numeric_problem(n_new, 20, 1000)

    def predicting(make: Make) -> Callable[[], Any]:
        model = make()().fit(X, y)
        return lambda: model.predict(X_new)

    one = {"n_estimators": 1, "num_leaves": N_LEAVES, "learning_rate": 1}
    learners: dict[str, tuple[Make, str | None]] = {
        "offsample, default, 50 leaves": (partial(ours, max_splits=N_LEAVES - 1), None),
        "scikit-learn tree": (cart, "scikit-learn"),
        "LightGBM, one tree": (partial(lightgbm, **one), "LightGBM"),
        "HistGradientBoosting, one iteration": (hist_gradient_boosting, "scikit-learn"),
    }
    return Case(
        f"numeric, predict {n_new:,} × 20, {N_LEAVES} leaves",
        [Tool(name, partial(predicting, make), peer) for name, (make, peer) in learners.items()],
    )


# --- categorical columns ------------------------------------------------------------------------------


def categorical_problem(
    n: int,
    cardinalities: tuple[int, int],
    interaction: bool,
    effects: np.random.Generator,
    rows: np.random.Generator,
) -> tuple[Any, Any, float]:
    """Ten columns of 10 to 10,000 levels and an identifier; two are predictive. Also the Bayes accuracy."""
    import pandas as pd

    sizes = [*cardinalities, *np.geomspace(10, 10_000, 8).astype(int).tolist()]
    codes = [rows.integers(0, size, n) for size in sizes]
    a, b = (effects.normal(size=size) for size in cardinalities)
    u, v = a[codes[0]], b[codes[1]]
    logit = (0.7 * (u + v) + 1.6 * u * v) if interaction else 1.45 * (u + v)
    p = 1 / (1 + np.exp(-logit))
    table = pd.DataFrame({f"c{j}": pd.Categorical(code.astype(str)) for j, code in enumerate(codes)})
    table["id"] = np.array([f"r{i}" for i in rows.permutation(10 * n)[:n]])
    return table, (rows.random(n) < p).astype(int), float(np.maximum(p, 1 - p).mean())


def categorical_split(
    n: int, cardinalities: tuple[int, int], interaction: bool, seed: int
) -> tuple[Split, float]:
    effects = np.random.default_rng(seed)
    state = effects.bit_generator.state
    X, y, _ = categorical_problem(n, cardinalities, interaction, effects, np.random.default_rng(seed + 10))
    effects.bit_generator.state = state
    X_new, y_new, best = categorical_problem(
        n, cardinalities, interaction, effects, np.random.default_rng(seed + 20)
    )
    for name in X.columns[:-1]:  # the codes of a test column are those of the training column
        X_new[name] = X_new[name].cat.set_categories(X[name].cat.categories)
    return Split(X, y, X_new, y_new), best


def categorical(n: int, cardinalities: tuple[int, int], interaction: bool) -> Case:
    made = [categorical_split(n, cardinalities, interaction, seed) for seed in SEEDS]
    splits = [split for split, _ in made]
    as_text = [Split(s.X.astype(str), s.y, s.X_new.astype(str).fillna("a new one"), s.y_new) for s in splits]
    one = {"n_estimators": 1, "num_leaves": N_LEAVES, "learning_rate": 1}
    learners: dict[str, tuple[Make, str | None]] = {
        "offsample, default": (ours, None),
        "offsample, multiway": (partial(ours, categorical_split="multiway"), None),
        "offsample, ordered": (partial(ours, categorical_split="ordered"), None),
        "TargetEncoder + logistic": (encoded_logistic, "scikit-learn"),
        "TargetEncoder + tree": (encoded_tree, "scikit-learn"),
        "LightGBM categorical, 1 tree": (partial(lightgbm_without_id, **one), "LightGBM"),
        "LightGBM categorical, 100 trees": (lightgbm_without_id, "LightGBM"),
    }
    text: dict[str, tuple[Make, str | None]] = {
        "CatBoost, 100 trees": (catboost, "CatBoost"),
        "one-hot + tree": (one_hot_tree, "scikit-learn"),
    }
    best = np.mean([best for _, best in made])
    kind = "interaction" if interaction else "additive"
    low, high = cardinalities
    return Case(
        f"categorical, {n:,} rows, {low} & {high:,} levels, {kind}, best possible {best:.4f}",
        [*tools(learners, splits), *tools(text, as_text)],
        "accuracy",
        "higher",
        n * len(SEEDS),
    )


@topic(
    "trees",
    "Trees",
    "Fitting a tree to generated problems, each of three repeats to data of its own (accuracies are means "
    "over them; a tool with fewer repeats saw fewer), with one thread where nothing else is said; "
    "categorical problems hold ten columns of 10 to 10,000 levels and an identifier, two of them predictive. "
    "Then errors on a third of at most 6,000 rows of real data sets with categorical columns, the mean of "
    "five random divisions.",
    peers={
        "scikit-learn": "Use `HistGradientBoostingClassifier` when accuracy is all that counts; its trees "
        "with one-hot columns do as well as ours where categories are few.",
        "LightGBM": "Use it when accuracy of an ensemble counts and nobody will read the model: a single one "
        "of its trees is also fitted with fewer steps, at a price in accuracy.",
        "CatBoost": "Use it for accuracy with many categorical columns, at several times the CPU time.",
    },
    packages=("pandas", "lightgbm", "catboost"),
    patience=6.0,
    summary=sign_tests,
)
def cases(small: bool) -> Iterator[Case]:
    if small:
        yield numeric(500, 8, 500)
        yield prediction(1000)
        yield categorical(500, (20, 50), False)
        yield from real_cases(["tic_tac_toe"])
        return
    yield numeric(100_000, 50, 200_000)
    yield numeric(1_000_000, 20, 200_000)
    yield prediction(1_000_000)
    for cardinalities in ((20, 500), (500, 5000)):
        for interaction in (False, True):
            yield categorical(50_000, cardinalities, interaction)
    yield from real_cases()
