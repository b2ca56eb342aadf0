"""Fits every learner to twenty tables and prints what came out as JSON: run by `test_same_models.py`.

Most tables are full of ties: columns that say the same in other words, columns that are each other's mirror
image, distances that are equal in exact arithmetic. There the last bit of a logarithm decides, if anything
but a stated order does.
"""

from __future__ import annotations

import json
import os
import sys
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

import offsample
from offsample import boosting, induction, margin
from offsample.datasets import load
from offsample.expected_error import ExpectedErrorSearch

# Columns and rows of the tables: small, as each is fitted by every learner in every configuration.
_ROWS = 160
_SHARED = ("vote", "heart_statlog", "iris", "lymphography", "breast_cancer_ljubljana")


def _bits(rng: np.random.Generator, n_columns: int, n_rows: int = _ROWS) -> np.ndarray:
    return rng.integers(0, 2, (n_rows, n_columns))


def _noisy(rng: np.random.Generator, y: Any, share: float = 0.1) -> np.ndarray:
    y = np.asarray(y)
    wrong = rng.random(len(y)) < share
    return np.where(wrong, rng.permutation(y), y)


def _named(X: Any) -> dict[str, np.ndarray]:
    return {f"c{j}": column for j, column in enumerate(np.asarray(X).T)}


def _letters(codes: Any, n_values: int = 26) -> np.ndarray:
    return np.array([f"v{i:02d}" for i in range(n_values)])[np.asarray(codes) % n_values]


def generated() -> Iterator[tuple[str, dict[str, np.ndarray], np.ndarray]]:
    """Fifteen tables; with the five real ones twenty."""
    rng = np.random.default_rng(16)
    X = _bits(rng, 6)
    yield "conjunctions", _named(X), _noisy(rng, (X[:, 0] & X[:, 1]) | (X[:, 2] & X[:, 3]))
    yield "majority", _named(X), _noisy(rng, X[:, :3].sum(axis=1) >= 2)
    yield "mirrored", _named(np.column_stack([X[:, :3], 1 - X[:, :3]])), _noisy(rng, X[:, 0] ^ X[:, 1])
    yield "copies", _named(np.column_stack([X[:, :3], X[:, :3], X[:, :2]])), _noisy(rng, X[:, 0] | X[:, 1])
    yield "parity", _named(_full(4)), np.tile(_full(4).sum(axis=1) % 2, 1)
    few = rng.integers(0, 4, (_ROWS, 5))
    yield "three classes", _named(few), _noisy(rng, few[:, 0] % 3)
    yield "grid", _named(few / 3), _noisy(rng, few[:, 0] + few[:, 1] > 3)
    yield "letters", _named(_letters(few)), _noisy(rng, _letters(few[:, 0] // 2))
    many = rng.integers(0, 12, (_ROWS, 3))
    yield "many letters", _named(_letters(many)), _noisy(rng, np.isin(many[:, 0], [0, 3, 5, 8, 11]))
    yield "many letters, four classes", _named(_letters(many)), _noisy(rng, many[:, 0] // 3)
    numbers = rng.normal(size=(_ROWS, 4))
    yield "oblique", _named(numbers), _noisy(rng, numbers[:, 0] + numbers[:, 1] > 0.2)
    yield "product", _named(numbers), _noisy(rng, numbers[:, 0] * numbers[:, 1] > 0, 0.05)
    blobs = numbers + 1.5 * (np.arange(_ROWS) % 3)[:, None] * [1.0, -1.0, 0.5, 0.0]
    yield "blobs", _named(blobs), np.array(["a", "b", "c"])[np.arange(_ROWS) % 3]
    missing = np.where(rng.random((_ROWS, 4)) < 0.2, np.nan, np.round(numbers, 1))
    mixed = {**_named(missing), "letter": _letters(many[:, 0])}
    yield "missing", mixed, _noisy(rng, (np.nan_to_num(missing[:, 0]) > 0) ^ (many[:, 0] > 8))
    yield "noise", _named(_bits(rng, 5)), rng.integers(0, 2, _ROWS)


def _full(n_columns: int) -> np.ndarray:
    """Every row of bits, ten times: nothing tells the columns apart."""
    rows = np.array([[i >> j & 1 for j in range(n_columns)] for i in range(2**n_columns)])
    return np.tile(rows, (10, 1))


def shared(folder: Path) -> Iterator[tuple[str, dict[str, np.ndarray], np.ndarray]]:
    """Real tables, those that are there: the first rows of each."""
    for name in _SHARED:
        if (folder / f"{name}.parquet").is_file():
            data = load(name, folder)
            X = data.X.iloc[: 2 * _ROWS]
            yield name, {str(c): X[c].to_numpy() for c in X.columns}, np.asarray(data.y)[: 2 * _ROWS]


def words(folder: Path) -> tuple[Any, list[str], np.ndarray] | None:
    """Which of the most frequent words the texts of Reuters have, and which are about grain."""
    from sklearn.feature_extraction.text import CountVectorizer

    if not (folder / "reuters21578.parquet").is_file():
        return None
    news = load("reuters21578", folder)
    train = news.split == "train"
    reader = CountVectorizer(binary=True, min_df=0.02, stop_words="english", token_pattern="[a-z]{3,}")
    X = reader.fit_transform(news.X.loc[train, "text"])
    about = np.array(["grain" in topics for topics in news.X.loc[train, "topics"]])
    return X, list(reader.get_feature_names_out()), np.where(about, "grain", "other")


def _rules(model: Any) -> Any:
    return model.to_text(), model.estimated_error_interval_, [vars(step) for step in model.path_]


def _tree(model: Any) -> Any:
    path = [vars(step) for step in model.path_]
    return model.export_text(), model.to_dict(), model.estimated_error_interval_, path


def _weights(model: Any) -> Any:
    return model.ranking_, model.support_, model.feature_weights_, model.score_, model.history_


def _boosted(model: Any) -> Any:
    return model.to_text(), model.estimator_weights_, model.estimator_errors_


def _search(model: Any) -> Any:
    return model.best_params_, model.method_, [vars(one) for one in model.forecast_]


def learners(n_classes: int) -> Iterator[tuple[str, Any, Callable[[Any], Any]]]:
    """Every learner, with the options that choose in other ways, and how to read what it learned."""
    for criterion in ("ginger", "bayes_loo", "entropy", "matsushita", "gain_ratio"):
        yield f"tree by {criterion}", induction.TreeClassifier(criterion=criterion), _tree
    yield "tree, held out", induction.TreeClassifier(stopping="holdout"), _tree
    yield (
        "tree, ordered",
        induction.TreeClassifier(categorical_split="ordered", stopping="none", max_splits=6),
        _tree,
    )
    lists = [
        ("list", induction.DecisionListClassifier()),
        ("list by entropy", induction.DecisionListClassifier(criterion="entropy", max_size=5)),
        ("list of sets", induction.DecisionListClassifier(value_sets=True, stopping="holdout")),
        ("list of threes", induction.DecisionListClassifier(literals=3, max_size=2)),
        ("consistent list", induction.DecisionListClassifier(strategy="consistent", max_size=4)),
        ("symmetric function", induction.SymmetricFunctionClassifier()),
    ]
    if n_classes == 2:
        lists += [
            ("monomial", induction.MonomialClassifier(criterion="information_gain")),
            ("formula", induction.DNFClassifier()),
            ("formula by entropy", induction.DNFClassifier(criterion="entropy", max_size=5)),
            ("program", induction.BranchingProgramClassifier()),
            (
                "program by matsushita",
                induction.BranchingProgramClassifier(criterion="matsushita", max_size=12),
            ),
            ("committee", induction.CommitteeClassifier()),
            ("committee by entropy", induction.CommitteeClassifier(criterion="entropy", max_size=4)),
        ]
    for name, model in lists:
        yield name, model, _rules
    yield "oblique tree", induction.StochasticTreeClassifier(max_splits=6), _tree
    yield (
        "oblique tree by entropy",
        induction.StochasticTreeClassifier(criterion="entropy", max_splits=3),
        _tree,
    )
    yield "relief", margin.Relief(n_neighbors=1), _weights
    yield "relief of ten", margin.Relief(n_neighbors=10), _weights
    yield "simba", margin.Simba(random_state=0, n_restarts=2), _weights
    yield "flips", margin.GFlip(random_state=0, n_restarts=3), _weights
    tree = induction.TreeClassifier(stopping="none")
    yield "search", ExpectedErrorSearch(tree, {"max_splits": [0, 1, 2, 4, 8]}, n_draws=100), _search


def outcomes(table: dict[str, np.ndarray], y: np.ndarray) -> Iterator[tuple[str, Any]]:
    """What is learned from one table."""
    for name, model, read in learners(len(np.unique(y))):
        yield name, read(model.fit(table, y))
    numeric = [
        column for column in table.values() if column.dtype.kind in "iuf" and not np.isnan(column).any()
    ]
    if len(numeric) > 1:
        model = boosting.BoostedPerceptronClassifier(n_estimators=20)
        yield "perceptrons", _boosted(model.fit(np.column_stack(numeric), y))
    for criterion, order in (("ginger", "auto"), ("ginger", "lower_bound"), ("information_gain", "estimate")):
        ranking = offsample.rank_features({**table, "y": y}, "y", criterion=criterion, order=order)
        yield f"ranking by {criterion}, {order}", ranking.to_dict()
    yield "few columns", margin.sufficient_columns(table, y, n_resamples=2).to_dict()
    report = offsample.report({**table, "y": y}, "y", fast=True)
    found = report.to_dict()
    found["method"] = {key: found["method"][key] for key in found["method"] if key not in ("created", "timings")}
    yield "report", found


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {str(key): _plain(one) for key, one in value.items()}
    if isinstance(value, np.ndarray):
        return _plain(value.tolist())
    if isinstance(value, (list, tuple)):
        return [_plain(one) for one in value]
    if isinstance(value, np.generic):
        return value.item()
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    return _plain(vars(value)) if hasattr(value, "__dict__") else repr(value)


def main(folder: Path) -> None:
    """Print one JSON object per table and learner."""
    warnings.simplefilter("ignore")
    import time

    for name, table, y in (*generated(), *shared(folder)):
        t = time.perf_counter()
        for learner, outcome in outcomes(table, y):
            print(json.dumps([name, learner, _plain(outcome)]), flush=True)
            if time.perf_counter() - t > 1:
                print(name, learner, time.perf_counter() - t, file=sys.stderr)
            t = time.perf_counter()
    found = words(folder)
    if found is not None:
        X, names, y = found
        card = induction.DNFClassifier().fit(X, y)
        print(json.dumps(["reuters", "formula", _plain([card.to_text(names), *_rules(card)])]))
        table = {**dict(zip(names, X.toarray().T, strict=True)), "y": y}
        ranking = offsample.rank_features(table, "y")
        print(json.dumps(["reuters", "ranking", _plain(ranking.to_dict())]))
        print(name, learner, time.perf_counter() - t, file=sys.stderr)


if __name__ == "__main__":
    main(Path(os.environ.get("OFFSAMPLE_DATA") or "../shared/data"))
