"""The ceiling: what a strong model that nobody can read reaches on the same rows, and what to read costs."""

from __future__ import annotations

import warnings
from collections.abc import Collection, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np
from scipy.special import stdtr
from sklearn.exceptions import ConvergenceWarning
from threadpoolctl import threadpool_limits

from offsample._held_out_counts import deviation_by
from offsample._losses import decide
from offsample._ties import best_first, best_of
from offsample._typing import Floats, Ints
from offsample._unit_intervals import student
from offsample.evidence import discoveries
from offsample.report._encoded import compared_rows
from offsample.report._formats import listed, percent, points, quantity
from offsample.report._metrics import PER, Metric, Score
from offsample.report._study import Study
from offsample.report._units import folds_factor
from offsample.report.sections._words import baseline_score

WHAT = "how far the best opaque model is ahead"
NAME = "gradient boosting"
LINEAR = {"classification": "logistic regression", "regression": "ridge regression"}
_MOST_VALUES, _MOST_STEPS = 50, 300  # of a category that have a weight, and of finding the weights
_FEWEST_TO_CHOOSE = 3  # folds, for each to be told by the others which is better
_MOST_ROWS = 30_000  # that it is fitted to: more change little
MOST_COLUMNS = 500  # that boosting is fitted to: those that say most by the rows that it learns from
_FEW_VALUES = 1_000_000  # rows times columns, for which one thread is as fast
_MOST_ASKED = 200  # columns, as they are ranked, whether it uses them
_MOST_TESTED = 5_000  # rows of a fold whose values are shuffled
_MOST_CODES = 255  # values of a category; of more, their codes are taken as numbers
_SECONDS = 2.5e-6  # that a value takes when 50 trees are fitted to it, about
_FAR = 0.2  # of what it gains over guessing, that the readable model does not


@dataclass(frozen=True)
class Reference:
    """A model that nobody can read, on the same rows held back, beside the recommended one."""

    name: str
    error: float  # with its 95 % interval
    low: float
    high: float
    score: Score | None  # by another metric of the report than the error, with its 95 % interval
    cost_of_reading: float  # by how much it is better by the metric; of numbers, closer on average
    cost_low: float  # of its 95 % interval, rows or units being paired
    cost_high: float
    is_far_ahead: bool  # clearly, and by a fifth or more of what it gains over guessing
    columns: tuple[str, ...]  # that it uses and the recommended model does not, if it is far ahead
    sentence: str = ""
    auc: Score | None = None  # of classes, whatever the metric is, with its 95 % interval
    mean_absolute_error: Score | None = None  # of a target of numbers, with its 95 % interval


def compare(
    study: Study, features: Sequence[Any], rated: Any, used: Collection[Any], beside: Any = None
) -> Reference | None:
    """The better of boosting and a linear model on the report's folds; a model beside may be near it."""
    if not study.options.reference:
        return None
    if study.options.fast:
        study.leave_out(WHAT, "a fast report does without")
        return None
    if rated is None or not study.folds or not features:
        study.leave_out(WHAT, "there was no cross-validation" if features else "there is no column to use")
        return None
    X = np.column_stack([np.asarray(study.encoded[name], float) for name in features])
    tried: dict[str, list[Any]] = {NAME: [], LINEAR[study.task]: []}
    said = {name: study.guesses[0].copy() for name in tried}
    n_values = min(len(X), _MOST_ROWS) * min(X.shape[1], MOST_COLUMNS)
    if len(features) > MOST_COLUMNS:
        why = "in each fold it is told those that say most, each by itself, of the rows that it learns from"
        study.leave_out(f"all but {MOST_COLUMNS} of {len(features):,} columns for {NAME}", why)
    import sklearn.ensemble  # noqa: F401  # its threads can be held back once they are loaded

    # Threads that wait for few values spin: five times the time on a machine that is busy.
    with threadpool_limits(None if n_values > _FEW_VALUES else 1, "openmp"):
        for name, models in tried.items():
            for train, test in study.folds:
                if not study.has_time_for(WHAT, study.mean_seconds("fit", name) or _SECONDS * n_values):
                    return None
                with study.timed("fit", name):
                    models.append(fitted(study, X, study.sample_of(train, _MOST_ROWS), features, name))
                said[name][study.place(test)] = _says(study, models[-1], X[test])
    n_folds, metric = len(study.folds), study.metric
    rivals = {name: replace(_saying(study, rated, said[name]), n_folds=n_folds) for name in tried}
    best = _better(study, rivals)
    models, mixed = list(tried[best]), said[best].copy()
    for number in range(n_folds):  # each is told by the other folds which is better, so that no luck counts
        here = study.fold_of == number
        known = {name: _some(one, np.flatnonzero(~here)) for name, one in rivals.items()}
        told_by = _better(study, known) if n_folds >= _FEWEST_TO_CHOOSE else best
        mixed[here], models[number] = said[told_by][here], tried[told_by][number]
    found = replace(_saying(study, rated, mixed), n_folds=n_folds)
    wrong = found.mistakes
    of_numbers = study.task == "regression"
    cost, deviation = ahead(study, rated, found, _closeness if of_numbers else None)
    value = metric.parts(found, study.costs)[0]
    off = found.mean_absolute_error() if of_numbers else None  # with which the page leads
    gain = abs(value - (study.majority_error if metric.is_error else baseline_score(study)))
    gain = gain if off is None else abs(rated.blind_error - off.value)
    radius = student(0.975, rated.n_units) * deviation
    is_far = rated.is_known and cost > radius and cost >= _FAR * gain
    others = [place for place, name in enumerate(features) if name not in used][:_MOST_ASKED]
    reference = Reference(
        best,
        float(wrong.mean()),
        *study.error_interval(wrong, n_folds),
        score=None if metric.is_error else metric.measure(found, study.costs),
        cost_of_reading=cost,
        cost_low=cost - radius,
        cost_high=cost + radius,
        is_far_ahead=is_far,
        auc=None if of_numbers else found.auc(),
        mean_absolute_error=off,
        columns=tuple(str(features[i]) for i in _used(study, X, models, found, others)) if is_far else (),
    )
    told = _sentence(
        metric, reference, cost / gain if gain else 0.0, bool(used), rated.is_known, len(features)
    )
    if beside is not None and beside.validated and off is None and cost > radius:
        near, own = metric.ends(beside)[1], metric.parts(rated, study.costs)[0]
        closed, errs = (own - near) / (own - value), "it errs in" if metric.is_error else metric.word
        if closed > 0.5:
            much = "most of" if closed < 1 else "all of"
            told += f" Listed below, {beside.name}, closes {much} that gap: {errs} {metric.figure(beside)}."
    return replace(reference, sentence=told)


def _better(study: Study, rivals: dict[str, Any]) -> str:
    """Name the one with the better figure; of equals the first."""
    sign = 1.0 if study.metric.higher_is_better else -1.0
    return list(rivals)[best_of([sign * study.metric.parts(one, study.costs)[0] for one in rivals.values()])]


def _some(rated: Any, place: Ints) -> Any:
    """Return what was said of some of the rows."""
    rows = {one.name: getattr(rated, one.name) for one in fields(rated)}
    taken = {name: value[place] for name, value in rows.items() if isinstance(value, np.ndarray)}
    units = [np.unique(unit[place], return_inverse=True)[1] for unit in rated.units]
    return replace(rated, **taken, units=units)


def fitted(study: Study, X: Floats, rows: Ints, features: Sequence[Any], name: str = NAME) -> Any:
    """Fit boosting, or a linear model of scaled numbers and values, to some rows."""
    known = X[rows]
    known[:, np.isnan(known).all(axis=0)] = 0.0  # neither takes a column that has no value yet
    if name != NAME and np.ptp(study.outcome[rows]):  # of one class there is nothing to weigh
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)  # weights that are nearly found will do
            return _linear(study, features).fit(known, study.outcome[rows])
    from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor

    places, of_numbers = _telling(study, rows, features), study.task == "regression"
    n_trees = len(study.classes) if len(study.classes) > 2 and not of_numbers else 1
    categories = [
        study.encoded.kind(features[i]) == "categorical" and X[:, i].max(initial=0) < _MOST_CODES
        for i in places
    ]
    model = (HistGradientBoostingRegressor if of_numbers else HistGradientBoostingClassifier)(
        max_iter=int(np.clip(150 // n_trees, 10, 50)),
        learning_rate=0.2,  # twice as steep as usual: half as many trees reach the same within the noise
        max_leaf_nodes=15,
        min_samples_leaf=int(np.clip(len(rows) // 50, 5, 20)),
        l2_regularization=1.0,
        early_stopping=False,
        categorical_features=categories,
        random_state=study.options.random_state,
    )
    if len(places) < len(features):
        from sklearn.compose import make_column_transformer
        from sklearn.pipeline import make_pipeline

        model = make_pipeline(make_column_transformer(("passthrough", places)), model)
    return model.fit(known, study.outcome[rows])


def _telling(study: Study, rows: Ints, features: Sequence[Any]) -> list[int]:
    """Places of the columns whose cells differ most, by some rows alone: the squares within are least.

    Those of n rows of a cell count n / (n - 1) times, as in a variance, and a row alone for two of all rows.
    """
    if len(features) <= MOST_COLUMNS:
        return list(range(len(features)))
    step = compared_rows(len(study.y)).step
    rows, y = rows[rows % step == 0], study.outcome
    of = np.eye(len(study.classes))[y[rows]] if study.task != "regression" else y[rows, None] - y[rows].mean()
    squares, explained = (of**2).sum(axis=1), np.zeros(len(features))
    for i, name in enumerate(features):
        cells = study.cells(name)[0][rows // step]
        n = np.bincount(cells)
        of_means = sum(np.bincount(cells, one) ** 2 for one in of.T) / np.maximum(n, 1)
        within = n / np.maximum(n - 1, 1) * (np.bincount(cells, squares) - of_means)
        explained[i] = -np.where(n > 1, within, n * 2 * squares.mean()).sum()
    return sorted(best_first(explained)[:MOST_COLUMNS].tolist())


def _linear(study: Study, features: Sequence[Any]) -> Any:
    from sklearn.compose import make_column_transformer
    from sklearn.impute import SimpleImputer
    from sklearn.linear_model import LogisticRegression, Ridge
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import OneHotEncoder, StandardScaler

    categories = [i for i, name in enumerate(features) if study.encoded.kind(name) == "categorical"]
    values = OneHotEncoder(handle_unknown="infrequent_if_exist", max_categories=_MOST_VALUES)
    numbers = make_pipeline(SimpleImputer(keep_empty_features=True), StandardScaler())
    columns = make_column_transformer((values, categories), remainder=numbers)
    of_numbers = study.task == "regression"
    return make_pipeline(columns, Ridge() if of_numbers else LogisticRegression(max_iter=_MOST_STEPS))


def _saying(study: Study, rated: Any, said: Floats) -> Any:
    """Return the same rows with something else said of them."""
    if study.task == "regression":
        return replace(rated, predicted=said)
    return replace(rated, proba=said, predicted=decide(said, study.costs))


def _says(study: Study, model: Any, X: Floats) -> Floats:
    """Numbers, or probabilities of all classes: a part of the rows may lack some."""
    if study.task == "regression":
        return np.asarray(model.predict(X))
    proba = np.zeros((len(X), len(study.classes)))
    proba[:, model.classes_] = model.predict_proba(X) if len(model.classes_) > 1 else 1.0
    return proba


def _closeness(rated: Any) -> tuple[float, Floats]:
    """Minus the mean absolute error, and each row's part in it."""
    off = -np.abs(rated.numbers - rated.predicted)
    return float(off.mean()), off / len(off)


def ahead(study: Study, rated: Any, found: Any, of: Any = None) -> tuple[float, float]:
    """By how much the second figure is better, and its standard error: rows, or units, are paired."""
    metric, of = study.metric, of or (lambda one: study.metric.parts(one, study.costs))
    (value, parts), (other, others) = of(rated), of(found)
    n = len(parts)
    deviation = deviation_by(rated.units or [np.arange(n)], n * (others - parts))
    difference = other - value if metric.higher_is_better else value - other
    return difference, deviation * float(np.sqrt(folds_factor(found.n_folds)))


def _used(study: Study, X: Floats, models: Sequence[Any], found: Any, columns: Sequence[int]) -> list[int]:
    """Columns without whose values, shuffled among a fold's rows, ratings are worse than luck explains."""
    random = np.random.default_rng(study.options.random_state)
    tests = [study.sample_of(test, _MOST_TESTED) for _, test in study.folds]
    place = study.place(np.concatenate(tests))
    known = _some(found, place)
    worse, p_values = np.zeros((2, len(columns)))
    for i, column in enumerate(columns):
        said = []
        for model, test in zip(models, tests, strict=True):
            shuffled = X[test]
            shuffled[:, column] = random.permutation(shuffled[:, column])
            said.append(_says(study, model, shuffled))
        rival = _saying(study, known, np.concatenate(said))
        worse[i], deviation = ahead(study, rival, known, _closeness if study.task == "regression" else None)
        p_values[i] = stdtr(known.n_units - 1, -worse[i] / deviation) if deviation > 0 else 1.0
        if not study.has_time_for("which columns the opaque model uses"):
            return []
    is_used = discoveries(p_values, 0.05)
    return [columns[i] for i in best_first(worse) if is_used[i]]


def _sentence(metric: Metric, found: Reference, share: float, has_rival: bool, is_known: bool, n: int) -> str:
    """Say how good it is, and what it costs to do without it."""
    figure = metric.figure(found)
    errs = f"errs in {figure}" if metric.is_error else f"has {metric.word} {figure}"
    errs = f"costs {figure} per {PER:,} rows" if metric.name == "cost" else errs
    off = found.mean_absolute_error
    if off is not None:
        ends = f" ({quantity(off.low, off.value)} – {quantity(off.high, off.value)})" * is_known
        errs = f"is off by {quantity(off.value)} on average{ends}, R² {figure}"
    told = f"The best opaque model that was tried, {found.name}, {errs}"
    if not is_known and has_rival:
        ahead = "ahead of" if found.cost_of_reading > 0 else "not ahead of"
        return f"{told}, {ahead} the model here; with so few groups, or times, nobody can know by how much."
    told += f" ({metric.within(found)})" * is_known
    write = points if metric.is_error else metric.write if off is None else quantity
    costs = found.cost_of_reading, found.cost_low, found.cost_high
    cost, low, high = (write(abs(end)).lstrip("+") for end in costs)
    unit = " points" if metric.is_error else "" if off is None else " on average"
    if found.cost_high < 0:
        is_ahead = "is ahead of it" if off is None else "is closer"
        return f"{told}: the model here {is_ahead} by {cost}{unit} ({high} – {low})."
    if found.cost_low <= 0 and not has_rival:
        guess = "a guess" if metric.name == "r2" else "the class shares"
        return f"{told}: it is not shown to know more than {guess} either."
    if found.cost_low <= 0:
        return f"{told}: to be readable is not shown to cost anything, at most {high}{unit}."
    told = f"{told}: to be readable costs {cost}{unit} ({low} – {high})."
    if not found.is_far_ahead:
        return told
    told += f" It is far ahead: of what it gains over guessing, a model to read loses {percent(share)}."
    if found.columns:
        return f"{told} It {'also ' * has_rival}uses {listed(found.columns, 5)}."
    if found.name == NAME:
        return f"{told} It {'cuts finer' if n == 1 else 'combines more columns, or cuts them finer'}."
    return f"{told} It {'weighs the column' if n == 1 else 'weighs columns'}, where a tree cuts."
