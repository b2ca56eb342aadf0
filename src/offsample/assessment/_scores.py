"""The scores of a finished search, configurations × folds, and which configuration is the simplest."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import rankdata

from offsample._typing import Floats
from offsample.assessment._metrics import title_of
from offsample.tables import is_dataframe, lists_of, read_table
from offsample.tables._columns import as_column

# Beyond this, squares of scores are infinite.
_LARGEST = 1e100
_FOLD_COLUMN = re.compile(r"^(split|fold)[\s_-]?\d+(_test_\w+)?$", re.IGNORECASE)
# Columns of runs that are no scores.
_NO_SCORE = re.compile(
    r"^(params?|tags?)[._]|(^|[\s._])(id|uuid|seed|trial|epoch|step|date|time|duration|seconds|timestamp"
    r"|learning_rate|lr|rank|std)$|^(std|rank)_",
    re.IGNORECASE,
)
_SCORE = re.compile("acc|auc|score|loss|error|f1|r2|mse|mae|brier", re.IGNORECASE)
# Parameters of which more makes a larger or less regular model, and of which less does.
_MORE = {
    "max_depth", "max_leaf_nodes", "num_leaves", "n_estimators", "max_iter", "degree", "C", "gamma", "k",
    "n_features_to_select", "n_components", "max_features", "max_splits",
}  # fmt: skip
_LESS = {
    "min_samples_leaf", "min_samples_split", "min_child_weight", "min_impurity_decrease", "ccp_alpha",
    "alpha", "n_neighbors", "l1_ratio", "l2_regularization", "reg_alpha", "reg_lambda", "var_smoothing",
}  # fmt: skip


@dataclass(frozen=True)
class SearchScores:
    """Scores of configurations on folds."""

    scores: Floats  # configurations × folds
    labels: tuple[Any, ...]  # parameters or name of each configuration
    positions: tuple[int, ...]  # its row in what was read
    greater_is_better: bool
    n_failed: int  # configurations left out because a score is missing
    n_tried: int  # all, including those that failed or were dropped on the way
    title: str = "score"  # what it is, in a sentence
    assumed: str = ""  # what is taken for granted of scores without a name

    @property
    def losses(self) -> Floats:
        """Scores turned so that smaller is better."""
        return -self.scores if self.greater_is_better else self.scores


def read_scores(
    search: Any, greater_is_better: bool | None = None, fold_scores: str = "fold_scores", metric: Any = None
) -> SearchScores:
    """Read a fitted search, a study or a table of scores, as `audit_search` accepts them."""
    if is_dataframe(search) and "params" in (columns := lists_of(search)):
        search = columns if all(isinstance(params, Mapping) for params in columns["params"]) else search
    if hasattr(search, "cv_results_") or (
        isinstance(search, Mapping) and "params" in search and any(map(_FOLD_COLUMN.match, map(str, search)))
    ):
        return _of_search(search, metric)
    if metric is not None:
        raise ValueError("metric is for predictions, or says which of several in cv_results_: leave it out")
    if hasattr(search, "trials") and (hasattr(search, "direction") or hasattr(search, "directions")):
        return _of_study(search, fold_scores)
    if hasattr(search, "param_grid") or hasattr(search, "param_distributions"):
        raise ValueError(f"{type(search).__name__} is not fitted yet: audit_search needs its cv_results_")
    labels, table = _of_table(search)
    return checked(table, labels, True if greater_is_better is None else greater_is_better)


def _of_search(search: Any, metric: Any) -> SearchScores:
    """Read `cv_results_`, or a search that has it and knows its scorer."""
    results = search if isinstance(search, Mapping) else search.cv_results_
    refit, scorer = getattr(search, "refit", True), getattr(search, "scorer_", None)
    kinds = [name.removeprefix("split0_test_") for name in results if name.startswith("split0_test_")]
    kind = metric or (str(refit) if refit in kinds else kinds[0] if len(kinds) == 1 else "score")
    if kind not in kinds:
        several = "the search has several metrics and none to choose by: give metric"
        raise ValueError(f"{'the search has no ' + kind if metric else several}, {' or '.join(kinds)}")
    scorer = scorer[kind] if isinstance(scorer, Mapping) and kind in scorer else scorer
    n_folds = sum(bool(re.fullmatch(rf"split\d+_test_{re.escape(kind)}", name)) for name in results)
    folds = [results[f"split{k}_test_{kind}"] for k in range(n_folds)]
    table, labels = np.column_stack(folds).astype(float), tuple(results["params"])
    rows = np.arange(len(table))
    if "iter" in results:  # successive halving: earlier rounds had fewer rows, and are not comparable
        rows = np.flatnonzero(np.asarray(results["iter"]) == np.max(results["iter"]))
    n_tried = len({repr(sorted(params.items())) for params in labels})
    # Scorers of scikit-learn are greater for better models: losses come negated, and are turned back.
    is_nameless = results is search and kind == "score" and bool(np.nanmax(table) < 0)
    is_loss = kind.startswith("neg_") or getattr(scorer, "_sign", 1) < 0 or is_nameless
    assumed = (
        "The scores are all negative, and taken as losses that scikit-learn turns." if is_nameless else ""
    )
    table = -table[rows] if is_loss else table[rows]
    found = checked(table, tuple(labels[i] for i in rows), not is_loss, rows, n_tried)
    name = getattr(search, "scoring", None) if kind == "score" else kind
    return replace(found, title=title_of(name) if isinstance(name, str) else "score", assumed=assumed)


def _of_study(study: Any, fold_scores: str) -> SearchScores:
    directions = list(getattr(study, "directions", None) or [study.direction])
    if len(directions) != 1:
        raise ValueError(f"the study has {len(directions)} objectives, expected one")
    trials = [trial for trial in study.trials if getattr(trial.state, "name", "COMPLETE") == "COMPLETE"]
    if not trials:
        raise ValueError("the study has no completed trial")
    table = [_folds_of_trial(trial, fold_scores) for trial in trials]
    positions = [trial.number for trial in trials]
    greater = getattr(directions[0], "name", str(directions[0])).upper() == "MAXIMIZE"
    labels = tuple(dict(trial.params) for trial in trials)
    return checked(_rectangle(table, positions), labels, greater, np.array(positions), len(study.trials))


def _folds_of_trial(trial: Any, fold_scores: str) -> list[float]:
    """Return the fold scores, from a user attribute or from steps; else the one value of the trial."""
    if fold_scores in trial.user_attrs:
        return [float(score) for score in trial.user_attrs[fold_scores]]
    steps = trial.intermediate_values
    values = [float(steps[step]) for step in sorted(steps)]
    # Steps may be a learning curve or anything else: they are folds if the trial's value is their mean.
    if len(values) > 1 and np.isclose(np.mean(values), trial.value):
        return values
    return [float(trial.value)]


def _of_table(table: Any) -> tuple[tuple[Any, ...], Floats]:
    if isinstance(table, str | Path):
        return _of_columns({name: as_column(column).tolist() for name, column in read_table(table).items()})
    if is_dataframe(table):
        return _of_columns(lists_of(table))
    if isinstance(table, Mapping):
        return tuple(table), _rectangle([np.atleast_1d(row) for row in table.values()], list(table))
    if isinstance(table, Sequence):
        table = _rectangle([np.atleast_1d(row) for row in table], list(range(len(table))))
    array = np.asarray(table)
    if array.ndim == 1:
        array = array[:, None]
    if array.ndim != 2 or not np.issubdtype(array.dtype, np.number):
        raise TypeError(
            "expected a fitted search with cv_results_, a study with trials, or a table of scores "
            f"(configurations × folds), got {type(table).__name__}"
        )
    return tuple(range(len(array))), array.astype(float)


def _of_columns(columns: dict[str, list[Any]]) -> tuple[tuple[Any, ...], Floats]:
    """Take the columns named like folds (split0_test_score, fold 1, auc_3), or else all columns of numbers.

    Parameters, identifiers and times of runs are never folds.
    """
    numbers = {name: values for name, column in columns.items() if (values := _numbers(column)) is not None}
    folds = _fold_columns([name for name in numbers if not _is_no_score(str(name))], list(columns))
    names = [name for name in columns if name not in numbers] or [n for n in numbers if n not in folds]
    names = [name for name in columns if str(name).startswith("params.")] or names
    labels: Iterable[Any] = range(len(columns[folds[0]]))
    if len(names) == 1:
        labels = map(str, columns[names[0]])
    elif names:
        labels = [{str(n).removeprefix("params."): columns[n][i] for n in names} for i in labels]
    return tuple(labels), np.column_stack([numbers[name] for name in folds])


def _is_no_score(name: str) -> bool:
    return bool(_NO_SCORE.search(name)) or name.rsplit("__", 1)[-1] in _MORE | _LESS


def _fold_columns(scored: list[str], columns: list[str]) -> list[str]:
    """Return the columns that have the scores of folds, among those that have scores."""
    kinds: dict[str, list[str]] = {}  # by the name without its number
    for name in scored:
        if _FOLD_COLUMN.match(short := str(name).removeprefix("metrics.")):
            kinds.setdefault(re.sub(r"\d+", "", short, count=1), []).append(name)
    if not kinds:
        for name in scored:
            if found := re.fullmatch(r"(.*?)[\s_.-]?\d+", str(name)):
                kinds.setdefault(found[1], []).append(name)
        kinds = {stem: names for stem, names in kinds.items() if len(names) > 1}
        kinds = {stem: of for stem, of in kinds.items() if re.search("fold|split|cv", stem.lower())} or kinds
    if not scored:
        raise ValueError(f"no column of scores among {columns}: expected one column of numbers per fold")
    is_tracked = any(str(name).startswith("metrics.") for name in columns)
    if len(kinds) > 1 or (is_tracked and not kinds and len(scored) > 1):
        several = [str(name) for names in kinds.values() or [scored] for name in names]
        raise ValueError(
            f"the columns {', '.join(several)} are scores of several kinds: keep those of one, a column "
            "for each fold (--ignore on the command line leaves one out)"
        )
    if not kinds and len(scored) > 1 and (named := [name for name in scored if _SCORE.search(str(name))]):
        raise ValueError(
            f"the columns {', '.join(map(str, scored))} are no folds of one score: keep {named[0]} alone, or "
            "number those of folds, as in fold1 (--ignore on the command line leaves one out)"
        )
    return next(iter(kinds.values()), scored)


def _numbers(column: list[Any]) -> Floats | None:
    if any(isinstance(value, bool) for value in column):
        return None
    try:
        return np.array([np.nan if value in ("", None) else float(value) for value in column])
    except (TypeError, ValueError):
        return None


def _rectangle(rows: Sequence[Any], names: Sequence[Any]) -> Floats:
    lengths = [len(row) for row in rows]
    for name, length in zip(names, lengths, strict=True):
        if length != lengths[0]:
            raise ValueError(
                f"configuration {name!r} has {length} fold scores and the first one {lengths[0]}: "
                "expected the same folds for all"
            )
    return np.array([list(row) for row in rows], dtype=float).reshape(len(rows), -1)


def checked(
    table: Floats,
    labels: tuple[Any, ...],
    greater_is_better: bool,
    positions: NDArray[Any] | None = None,
    n_tried: int | None = None,
) -> SearchScores:
    if table.size == 0:
        raise ValueError("the table of scores is empty")
    whole = np.asarray(np.isfinite(table).all(axis=1), dtype=bool)
    if not whole.any():
        raise ValueError(f"none of the {len(table)} configurations has a finite score on every fold")
    if (largest := float(np.abs(table[whole]).max())) > _LARGEST:
        raise ValueError(f"scores must lie between -{_LARGEST:g} and {_LARGEST:g}, got one of {largest:g}")
    positions = np.arange(len(table)) if positions is None else positions
    return SearchScores(
        scores=table[whole],
        labels=tuple(label for label, kept in zip(labels, whole.tolist(), strict=True) if kept),
        positions=tuple(int(i) for i in positions[whole]),
        greater_is_better=greater_is_better,
        n_failed=int((~whole).sum()),
        n_tried=len(table) if n_tried is None else n_tried,
    )


def complexity_of(found: SearchScores, complexity: Any) -> Floats | None:
    """Return a number for each configuration, smaller for a simpler one; None where nothing tells it."""
    labels = found.labels
    if complexity is None:
        return _from_known_parameters(labels)
    if isinstance(complexity, str):
        for label in labels:
            if not isinstance(label, Mapping) or complexity not in label:
                raise ValueError(f"complexity {complexity!r} is not a parameter of configuration {label!r}")
        return np.array([_number(label[complexity]) for label in labels])
    if callable(complexity):
        return np.array([float(complexity(label)) for label in labels])
    values = np.asarray(complexity, dtype=float)
    if values.ndim != 1 or len(values) <= max(found.positions):
        raise ValueError(
            f"complexity has shape {values.shape}, expected a number for each configuration that was tried"
        )
    return np.asarray(values[list(found.positions)])


def _from_known_parameters(labels: tuple[Any, ...]) -> Floats | None:
    if not all(isinstance(label, Mapping) for label in labels):
        return None
    total, known = np.zeros(len(labels)), False
    for name in sorted({name for label in labels for name in label}):
        last = name.rsplit("__", 1)[-1]
        if last not in _MORE | _LESS:
            continue
        try:
            values = np.array([_number(label.get(name)) for label in labels])
        except (TypeError, ValueError):  # "scale", "sqrt", …: no order
            continue
        known = True
        ranks = rankdata(values if last in _MORE else -values, method="dense")
        total += (ranks - 1) / max(1, ranks.max() - 1)
    return total if known else None


def _number(value: Any) -> float:
    """Return the value of a parameter; None and "all" mean no limit."""
    return np.inf if value is None or value == "all" else float(value)
