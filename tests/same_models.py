"""Fits every learner to twenty tables, the slow ones to half of them, and prints a line of JSON for each.

`test_same_models.py` runs it as on this processor and as on others. The tables are full of ties: columns that
say the same in other words, columns that are each other's mirror image, distances that are equal in exact
arithmetic. There the last bit of a logarithm decides, if no stated order does.
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
from numpy.typing import NDArray

import offsample
from offsample import boosting, induction, margin
from offsample.datasets import load
from offsample.expected_error import ExpectedErrorSearch

Table = tuple[str, dict[str, NDArray[Any]], NDArray[Any]]

# Small, as each table is fitted by every learner, as on several processors.
_ROWS = 160
_REAL = ("vote", "heart_statlog", "iris", "lymphography")
# Half of the time: each of these is fitted to every other table, and each table by every other one of these.
_SLOW = (
    *("list", "search", "flips", "list of threes", "oblique tree by entropy", "few columns", "oblique tree"),
    *("consistent list", "report"),
)


def _bits(rng: np.random.Generator, n_columns: int) -> NDArray[Any]:
    return rng.integers(0, 2, (_ROWS, n_columns))


def _noisy(rng: np.random.Generator, y: Any, share: float = 0.1) -> NDArray[Any]:
    return np.where(rng.random(len(y)) < share, rng.permutation(y), y)


def _named(X: Any) -> dict[str, NDArray[Any]]:
    return {f"c{j}": column for j, column in enumerate(np.asarray(X).T)}


def _letters(codes: Any) -> NDArray[Any]:
    return np.array([f"v{i:02d}" for i in range(26)])[np.asarray(codes)]


def _every_row(n_columns: int) -> NDArray[Any]:
    """Every row of bits, ten times: nothing tells the columns apart."""
    return np.tile([[i >> j & 1 for j in range(n_columns)] for i in range(2**n_columns)], (10, 1))


def generated() -> Iterator[Table]:
    """Twenty tables."""
    rng = np.random.default_rng(16)
    X = _bits(rng, 6)
    yield "conjunctions", _named(X), _noisy(rng, (X[:, 0] & X[:, 1]) | (X[:, 2] & X[:, 3]))
    yield "majority", _named(X), _noisy(rng, X[:, :3].sum(axis=1) >= 2)
    yield "mirrored", _named(np.column_stack([X[:, :3], 1 - X[:, :3]])), _noisy(rng, X[:, 0] ^ X[:, 1])
    yield "copies", _named(np.column_stack([X[:, :3], X[:, :3], X[:, :2]])), _noisy(rng, X[:, 0] | X[:, 1])
    yield "parity", _named(_every_row(4)), _every_row(4).sum(axis=1) % 2
    yield "cycle", _named(_every_row(4)), _every_row(4).sum(axis=1) % 3
    few = rng.integers(0, 4, (_ROWS, 5))
    yield "three classes", _named(few), _noisy(rng, few[:, 0] % 3)
    yield "grid", _named(few / 3), _noisy(rng, few[:, 0] + few[:, 1] > 3)
    wide = rng.integers(0, 8, (_ROWS, 21)) / 7
    yield "wide grid", _named(wide), _noisy(rng, wide[:, 0] + wide[:, 20] > 1)
    yield "letters", _named(_letters(few)), _noisy(rng, _letters(few[:, 0] // 2))
    many = rng.integers(0, 12, (_ROWS, 3))
    yield "many letters", _named(_letters(many)), _noisy(rng, np.isin(many[:, 0], [0, 3, 5, 8, 11]))
    yield "many letters, four classes", _named(_letters(many)), _noisy(rng, many[:, 0] // 3)
    yield (
        "letters and bits",
        {**_named(X), "letter": _letters(many[:, 0])},
        _noisy(rng, X[:, 0] & (many[:, 0] < 9)),
    )
    numbers = rng.normal(size=(_ROWS, 4))
    yield "oblique", _named(numbers), _noisy(rng, numbers[:, 0] + numbers[:, 1] > 0.2)
    yield "product", _named(numbers), _noisy(rng, numbers[:, 0] * numbers[:, 1] > 0, 0.05)
    yield "rare", _named(np.round(numbers, 1)), _noisy(rng, numbers[:, 0] > 1.3, 0.02)
    turned = numbers + 1.5 * (np.arange(_ROWS) % 3)[:, None] * [1.0, -1.0, 0.5, 0.0]
    yield "blobs", _named(turned), np.array(["a", "b", "c"])[np.arange(_ROWS) % 3]
    missing = np.where(rng.random((_ROWS, 4)) < 0.2, np.nan, np.round(numbers, 1))
    mixed = {**_named(missing), "letter": _letters(many[:, 0])}
    yield "missing", mixed, _noisy(rng, (np.nan_to_num(missing[:, 0]) > 0) ^ (many[:, 0] > 8))
    yield "noise", _named(_bits(rng, 5)), rng.integers(0, 2, _ROWS)
    yield "identifier", {**_named(X[:, :3]), "row": np.arange(_ROWS)}, _noisy(rng, X[:, 0])


def real(folder: Path) -> Iterator[Table]:
    """Rows of real tables, of those that are there."""
    for name in _REAL:
        if (folder / f"{name}.parquet").is_file():
            data = load(name, folder)
            X, y = data.X, np.asarray(data.y)
            rows = np.sort(np.random.default_rng(0).permutation(len(y))[:_ROWS])
            yield name, {str(column): X[column].to_numpy()[rows] for column in X.columns}, y[rows]


def words(folder: Path) -> tuple[Any, list[str], NDArray[Any]] | None:
    """Which of the frequent words the texts of Reuters have, and which are about grain."""
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
    """Every learner, with options that choose in other ways, and how to read what it learned."""
    for criterion in ("ginger", "bayes_loo", "entropy", "matsushita", "gain_ratio"):
        yield f"tree by {criterion}", induction.TreeClassifier(criterion=criterion, max_splits=12), _tree
    ordered = induction.TreeClassifier(categorical_split="ordered", stopping="none", max_splits=6)
    yield "tree, ordered", ordered, _tree
    lists = induction.DecisionListClassifier
    rules: list[tuple[str, Any]] = [
        ("list", lists()),
        ("list by entropy", lists(criterion="entropy", max_size=4)),
        ("list of threes", lists(literals=3, max_size=1, n_thresholds=3)),
        ("consistent list", lists(strategy="consistent", max_size=3, n_thresholds=5)),
        ("covering list", lists(strategy="cover", max_size=3, n_thresholds=5)),
        ("symmetric function", induction.SymmetricFunctionClassifier()),
    ]
    if n_classes == 2:
        programs = induction.BranchingProgramClassifier
        rules += [
            ("monomial", induction.MonomialClassifier(criterion="information_gain")),
            ("formula", induction.DNFClassifier()),
            ("formula by entropy", induction.DNFClassifier(criterion="entropy", max_size=5)),
            ("program", programs()),
            ("program by matsushita", programs(criterion="matsushita", max_size=12)),
            ("committee", induction.CommitteeClassifier()),
            ("committee by entropy", induction.CommitteeClassifier(criterion="entropy", max_size=4)),
        ]
        published = induction.StochasticTreeClassifier(published=True, max_splits=2)
        yield "oblique tree, as published", published, _tree
    yield from ((name, model, _rules) for name, model in rules)
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
    yield "flips by counts", margin.GFlip(random_state=0, n_restarts=2, utility="zero_one"), _weights
    tree = induction.TreeClassifier(stopping="none")
    yield "search", ExpectedErrorSearch(tree, {"max_splits": [0, 1, 2, 4, 8]}, n_draws=100), _search


def outcomes(number: int, table: dict[str, NDArray[Any]], y: NDArray[Any]) -> Iterator[tuple[str, Any]]:
    """What is learned from one table, by all but half of the slow learners."""
    left_out = _SLOW[number % 2 :: 2]
    for name, model, read in learners(len(np.unique(y))):
        if name not in left_out:
            yield name, read(model.fit(table, y))
    numbers = [x for x in table.values() if x.dtype.kind in "iuf" and not np.isnan(x).any()]
    if len(numbers) > 1:
        model = boosting.BoostedPerceptronClassifier(n_estimators=20)
        yield "perceptrons", _boosted(model.fit(np.column_stack(numbers), y))
    for criterion, order in (("ginger", "auto"), ("bayes_loo", "lower_bound"), ("gain_ratio", "estimate")):
        ranking = offsample.rank_features({**table, "y": y}, "y", criterion=criterion, order=order)
        yield f"ranking by {criterion}", ranking.to_dict()
    if "few columns" not in left_out:
        yield "few columns", margin.sufficient_columns(table, y, n_resamples=2).to_dict()
    if "report" not in left_out:
        shown = offsample.report({**table, "y": y}, "y", fast=True).to_dict()
        shown["method"] = {k: v for k, v in shown["method"].items() if k not in ("created", "timings")}
        yield "report", shown


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


def main(folder: Path, some: bool) -> None:
    """Print a line for each table, or for two of each four, and learner: [table, learner, outcome]."""
    warnings.simplefilter("ignore")
    sys.stdout.reconfigure(encoding="utf-8")  # type: ignore[union-attr]
    for number, (name, table, y) in enumerate([*generated(), *real(folder)]):
        if some and number % 4 > 1:
            continue
        for learner, outcome in outcomes(number, table, y):
            sys.stdout.write(json.dumps([name, learner, _plain(outcome)]) + "\n")
    found = words(folder)
    if found is not None:
        X, names, y = found
        card = induction.DNFClassifier().fit(X, y)
        sys.stdout.write(
            json.dumps(["reuters", "formula", _plain([card.to_text(names), _rules(card)])]) + "\n"
        )
        ranking = offsample.rank_features({**dict(zip(names, X.toarray().T, strict=True)), "y": y}, "y")
        sys.stdout.write(json.dumps(["reuters", "ranking", _plain(ranking.to_dict())]) + "\n")


if __name__ == "__main__":
    main(Path(os.environ.get("OFFSAMPLE_DATA") or "../shared/data"), "some" in sys.argv)
