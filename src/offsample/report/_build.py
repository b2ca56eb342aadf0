"""From a table to a report, stage by stage."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields, replace
from math import nan
from pathlib import Path
from typing import Any, Literal

import numpy as np

from offsample._checks import check_count
from offsample.ranking import assumed
from offsample.report._encoded import FEWEST
from offsample.report._estimator import reported
from offsample.report._metrics import Score, check_metric
from offsample.report._numbers import NumberStudy
from offsample.report._reading import holds_numbers, with_column
from offsample.report._result import Report
from offsample.report._study import Options, Study
from offsample.report.findings import ABOUT_ROWS, AFTER_MODEL, BEFORE_MODEL, constant, kind_of
from offsample.report.sections import (
    _choice,
    acting,
    card,
    columns,
    in_time,
    log_scale,
    method,
    model,
    rows,
    sizing,
    sufficient,
    trust,
    verdict,
)
from offsample.report.sections._honest import honest_errors
from offsample.report.sections._words import about_one_class
from offsample.report.sections.model import Alternative
from offsample.report.sections.reference import compare
from offsample.tables import Task, read_table
from offsample.tables._meaning import check_types
from offsample.tables._targets import check_task
from offsample.tables._units import Units, is_a_name

STAGES = (
    "counting columns",
    "reading rows",
    "checking the score",
    "comparing columns",
    "growing trees",
    "trying other models",
    "leaving out columns",
    "looking for the ceiling",
    "asking who the rows are",
    "measuring the learning curve",
)
_SHORT = 50_000_000  # bytes of text
_IN_MEMORY = "(in memory)"
_LARGEST_SIZE = 1000
_SHOWN = (0.0, 0.05, 0.25, 0.5, 0.75, 0.95, 1.0)  # quantiles of a target of numbers


def report(
    table: Any,
    target: Any,
    *,
    group: Any = None,
    time: Any = None,
    gap: int = 0,
    copies: Literal["auto", "keep"] = "auto",
    categorical_features: Sequence[Any] = (),
    types: Mapping[Any, str] | None = None,
    ignore: Sequence[Any] = (),
    known: Sequence[Any] = (),
    positive: Any = None,
    metric: str = "auto",
    costs: Any = None,
    capacity: float | None = None,
    max_rows: int = 100_000,
    max_size: int | None = None,
    random_state: int = 0,
    fast: bool = False,
    time_limit: float | None = None,
    engine: str | None = None,
    score: float | None = None,
    n_test: int | None = None,
    n_configurations: float = 1,
    scores: Any = None,
    reference: bool = True,
    show_rows: bool = False,
    task: Task = "auto",
    title: str | None = None,
    command: str | None = None,
    on_stage: Callable[[str], None] = lambda _: None,
) -> Report:
    """Report what a table says about a target, for new rows.

    Parameters
    ----------
    table : path, dict of columns, dataframe, relation
        Anything that `tables.open_table` reads.
    target : name, or array of n_samples classes or numbers
        The column to predict, or its values beside a table in memory. Rows where it is missing are left out.
    group : name, list of names, or array of n_samples values, optional
        Rows that belong together, such as those of one customer: all errors are for new customers, and their
        intervals count customers. Of columns that lie within each other the coarsest counts; with columns
        that cross, such as users and items, rows are left out that share either. A group is no feature.
    time : name, or array of n_samples values, optional
        When a row was made: all errors are for later rows. It is no feature, as new rows have later values;
        the month, weekday and hour of dates are, where they come again: columns such as "when: weekday".
    gap : int
        How many different times before a row were not known yet when it is to be predicted: no model learns
        from rows of these. With a row for each day, 30 are thirty days. Columns are ranked without it.
    copies : {"auto", "keep"}
        Whether of rows that seem to be copies of each other one is kept, or all.
    categorical_features : list of names
        Columns to read as categorical although they hold numbers.
    types : dict from names to types, optional
        What columns are, where that is not to be found out from their text; see `rank_features`.
    ignore : list of names
        Columns to leave out.
    known : list of names
        Columns whose value is known before the target is: however well they predict it, none is a leak.
    positive : class, optional
        The class of interest; by default the rarer one of two. Of more classes, AUC, captured share and the
        section on acting are of this class against the rest if it is named, and otherwise of all classes.
    metric : {"auto", "error", "auc", "log_loss", "brier", "cost"}
        What the report leads with, and models are chosen by. "auto" is the cost where there are costs; where
        the most frequent class has 80 % of the rows or more, and the error says little, or where a model
        orders rows but none is wrong less often than a guess, the AUC; and otherwise the error.
    costs : dict or array-like of shape (n_classes, n_classes), optional
        Of mistakes: ``{"fn": 10, "fp": 1}``, about the class of interest, or ``costs[true, predicted]`` with
        the classes sorted as `Report.classes` has them.
    capacity : float, optional
        Share of the rows that can be acted upon.
    max_rows : int
        Most rows that models are fitted to, each class with its share; columns are counted on all.
    max_size : int, optional
        Most leaves, rules or terms of the recommended model, at most 1,000: nobody reads more. By default 12,
        or as many as there are classes if they are more.
    random_state : int
        Seed of everything random.
    fast : bool
        Try trees only, on at most 30,000 rows with fewer folds of cross-validation, and leave out larger
        models and the learning curve.
    time_limit : float, optional
        Seconds that the report may take. It names what was left out to keep the limit; models that are still
        growing are kept as they are.
    engine : {"duckdb", "polars", "dask", "spark"}, optional
        What reads a path; see `tables.open_table`.
    score : float, optional
        Accuracy that you measured elsewhere, for the section that says how far to trust it.
    n_test : int, optional
        Rows that the score, or the scores, were measured on.
    n_configurations : float
        Configurations that the score is the best of.
    scores : table or path, optional
        Instead of a score: accuracies of all configurations on all folds; see `assessment.audit_search`.
    reference : bool
        Whether to measure how far a strong opaque model is ahead on the same rows: the better of gradient
        boosting or a linear model. A fast report does without.
    show_rows : bool
        Whether to name values that fewer than five rows have, and the least and largest number of a target.
        A page is sent around, and people are in it: by default such values are "(rare)".
    task : {"auto", "classification", "regression"}
        Whether the target is classes or a number. "auto": text, Booleans, categories and whole numbers of at
        most 20 different values are classes, other numbers are numbers; `Report.assumed` says so where it
        could be either. For a number, the report says by how much predictions are off and R².
    title : str, optional
        By default the name of the file.
    command : str, optional
        Makes the report again; by default the call in Python.
    on_stage : callable
        Told the name of each stage when it begins.

    Returns
    -------
    Report
        Shows itself in a notebook; see `Report.to_html`, `Report.to_markdown`, `Report.to_dict`.

    Examples
    --------
    >>> import offsample
    >>> from offsample.datasets import make_customers
    >>> report = offsample.report(make_customers(), target="churned", fast=True)
    >>> report.verdict.beats_baseline, [finding.column for finding in report.verdict.quarantined]
    (True, ['exit_survey_sent', 'invoice_number', 'customer_id'])
    """
    given = dict(locals())
    if max_rows < 2:
        raise ValueError(f"max_rows must be at least 2, got {max_rows}")
    if max_size is not None:
        check_count("max_size", max_size, 2, _LARGEST_SIZE)
    if time_limit is not None and not time_limit > 0:
        raise ValueError(f"time_limit must be positive, got {time_limit}")
    if copies not in ("auto", "keep"):
        raise ValueError(f"copies must be 'auto' or 'keep', got {copies!r}")
    check_count("gap", gap, 0)
    if gap and time is None:
        raise ValueError("gap is given, but no time says what is earlier: expected time= too")
    trust.check(score, scores, n_test, n_configurations)
    check_metric(metric, costs, capacity)
    check_task(task)
    changed: dict[str, Any] = {
        "group": (),  # see below
        "categorical_features": tuple(categorical_features),
        "types": check_types(types),
        "ignore": tuple(ignore),
        "known": tuple(known),
        "costs": costs if costs is None or isinstance(costs, Mapping) else np.asarray(costs, float).tolist(),
        "scores": None if scores is None else str(scores) if isinstance(scores, (str, Path)) else _IN_MEMORY,
    }
    options = Options(**{option.name: given[option.name] for option in fields(Options)} | changed)
    title = title or table_title(table)
    source = table
    if isinstance(table, (str, Path)) and (str(table) == "-" or (engine is None and _is_short_text(table))):
        source = read_table(table, engine=engine)  # what cannot be read twice, or is parsed once rather
        options = replace(options, engine=None)
    if not isinstance(target, (str, int, tuple)) and target is not None:
        source, target = with_column(source, target, "target")
    source, units = _with_units(source, Units.of(group, time))
    options = replace(options, group=units.groups, time=units.time)
    of_numbers = holds_numbers(source, target, options)
    if of_numbers:
        _only_for_classes(options)
    study = (NumberStudy if of_numbers else Study)(source, target, options, on_stage=on_stage)
    with study.stage("counting columns"):
        _ = study.new_rows, study.ranking  # groups first, so that wrong ones say so at once
        for name in {*known} - {feature.name for feature in study.ranking}:
            raise ValueError(f"column {name!r} that is known is not one of those to predict by")
    with study.stage("reading rows"):
        study.group_copies()
        of_interest = study.class_of_interest
        if capacity is not None and not study.is_named:
            raise ValueError(
                f"capacity is for one class of {len(study.classes)}: name it with positive (--positive CLASS)"
            )
    with study.stage("checking the score"):  # first, so that one that cannot be says so at once
        shown_trust = trust.describe(study, score, scores)
    trusted, choice, tempting = _modelled(study)
    with study.stage("trying other models"):
        ordering = _choice.ordering(study, choice)
    by_order = None if ordering is None else _by_order(study)
    if by_order is not None:
        (study, (trusted, choice, tempting)), ordering = by_order, None
    with study.stage("leaving out columns"):
        choice, shown_sufficient = sufficient.fewest(study, choice)
        rated = _choice.rated_as(study, choice)
        figure = Score(nan, nan, nan) if of_numbers else None
        if rated is not None and not study.metric.is_error:
            figure = study.metric.measure(rated, study.costs)
        shown_model = model.describe(study, choice, figure)
        study.model, study.allowed = choice.model, trusted
        look_for(AFTER_MODEL, study)
        shown_in_time = in_time.describe(study, choice, rated)
    with study.stage("looking for the ceiling"):
        logarithm = log_scale.describe(study, trusted, rated)
        ceiling = compare(study, trusted, rated, choice.model.used_columns_, choice.larger)
    with study.stage("asking who the rows are"):
        study.choice, study.shown = choice, shown_model
        study.of_rows += [f for code in ABOUT_ROWS for f in kind_of(code).find(study).values()]
        asked = {f.column for f in study.of_rows}  # told whose they are, a model may know far more
        kept = {name: f for name, f in study.findings.items() if f.code != "masked" or str(name) not in asked}
        study.findings = kept
        honest = honest_errors(study, choice, (shown_model.error, shown_model.low, shown_model.high), figure)
    with study.stage("measuring the learning curve"):
        shown_sizing = sizing.describe(study, choice, shown_model)
    shown_columns = columns.describe(study)
    undecided = _choice.undecided(study, choice)
    found = verdict.conclude(
        study, shown_columns, shown_model, tempting, honest, rated, ordering, ceiling, undecided
    )
    if by_order is not None and not ("no group of rows" in found.sentence and len(study.classes) == 2):
        none = f"no group of rows is shown to be more likely of another class than “{model.cheapest(study)}”."
        hint = about_one_class(study)
        found = replace(found, sentence=f"{found.sentence.removesuffix(hint)} But {none}{hint}")
    shown_acting = None if rated is None or of_numbers else acting.describe(study, rated, ordering)
    handed_over = choice.undecided if undecided and choice.undecided else choice
    estimator = reported(study, handed_over.model, choice.features, handed_over is not choice)
    return Report(
        title=title,
        target=str(target),
        classes=() if of_numbers else tuple(map(str, study.classes)),
        class_counts=() if of_numbers else tuple(map(int, study.class_counts)),
        task=study.task,
        assumed=assumed(of_numbers, study.ranking.classes, str(target)) if task == "auto" else None,
        quantiles=_quantiles(study) if of_numbers else (),
        positive=str(study.classes[of_interest]) if study.is_named else None,
        verdict=found,
        columns=shown_columns,
        rows=rows.describe(study),
        sufficient=shown_sufficient,
        in_time=shown_in_time,
        card=card.describe(study, shown_model, found, estimator, title),
        model=shown_model,
        reference=ceiling,
        log_scale=logarithm,
        acting=shown_acting,
        sizing=shown_sizing,
        trust=shown_trust,
        method=method.describe(study, command or _call(table, target, options)),
        estimator=estimator,
    )


def _modelled(study: Study) -> tuple[list[Any], _choice.Choice, Alternative | None]:
    """Return the columns that may be used, the model that is chosen, and one of quarantined columns too."""
    with study.stage("comparing columns"):
        look_for(BEFORE_MODEL, study)
    left_out = {name for name, f in study.findings.items() if f.quarantines or f.code == constant.CODE}
    trusted = [f.name for f in study.ranking if f.name not in left_out]
    with study.stage("growing trees"):
        choice, tempting = _choice.choose(study, trusted), _with_quarantined(study)
    with study.stage("trying other models"):
        if not study.options.fast:
            choice = _choice.with_others(study, choice)
    return trusted, choice, tempting


def _by_order(study: Study) -> tuple[Study, Any] | None:
    """Choose by how well rows are ordered, where no model decides better than a guess but one does that.

    None if there is no time for it, or no such model is shown.
    """
    auto = study.options.metric == "auto" and study.metric.is_error
    if not (auto and study.has_time_for("a page by how well rows are ordered", sum(study.timings.values()))):
        return None
    other = study.by_order()
    found = _modelled(other)
    return (other, found) if _choice.orders(other, found[1]) and not other.is_out_of_time else None


def _quantiles(study: Study) -> tuple[float, ...]:
    """Quantiles of a target of numbers; the ends are numbers that few rows are beyond, unless asked for."""
    found = np.quantile(study.y, _SHOWN)
    place = 0 if study.options.show_rows else min(FEWEST, len(study.y) // 4)
    found[[0, -1]] = np.sort(study.y)[[place, -1 - place]]
    return tuple(found.tolist())


def _is_short_text(path: str | Path) -> bool:
    """Whether a path names a CSV file that easily fits into memory."""
    file = Path(path)
    return file.suffix.lower() in (".csv", ".tsv", ".txt") and file.is_file() and file.stat().st_size < _SHORT


def _with_units(source: Any, units: Units) -> tuple[Any, Units]:
    """Make columns of groups and times that were given as arrays, so that all are known by name."""
    groups, time = [], units.time
    for group in units.groups:
        if not is_a_name(group):
            source, group = with_column(source, group, "group")
        groups.append(group)
    if time is not None and not is_a_name(time):
        source, time = with_column(source, time, "time")
    return source, Units(tuple(groups), time)


def _only_for_classes(options: Options) -> None:
    """Raise if something was asked for that a target of numbers does not have."""
    names = ("positive", "costs", "capacity", "score", "scores")
    asked = [name for name in names if getattr(options, name) is not None]
    for what in (*asked, *([] if options.metric == "auto" else [f"metric {options.metric!r}"])):
        raise ValueError(
            f"{what} is for classes, and the target is a number: leave it out, or give task='classification'"
        )


def look_for(codes: Sequence[str], study: Study) -> None:
    """Note what can be said of columns; the first finding about a column stands."""
    for code in codes:
        study.findings = kind_of(code).find(study) | study.findings


def _with_quarantined(study: Study) -> Alternative | None:
    """Measure what the same learner would seem to reach with the columns that it must not use."""
    if not any(finding.quarantines for finding in study.findings.values()):
        return None
    constants = {name for name, finding in study.findings.items() if finding.code == constant.CODE}
    features = [f.name for f in study.ranking if f.name not in constants]
    found = _choice.as_validated(study, study.tree(features), features, "a tree with the quarantined columns")
    is_no_better = found.score is not None and found.score.low == found.score.high  # all are rated alike
    return None if is_no_better else found


def table_title(table: Any) -> str:
    if isinstance(table, (str, Path)):
        return "standard input" if str(table) == "-" else Path(str(table)).name
    return "table"


def _call(table: Any, target: Any, options: Options) -> str:
    changed = {name: value for name, value in options.__dict__.items() if value != getattr(Options(), name)}
    if options.group:  # a tuple is the name of one column
        changed["group"] = options.group[0] if len(options.group) == 1 else list(options.group)
    written = {name: "scores" if value == _IN_MEMORY else repr(value) for name, value in changed.items()}
    listed = "".join(f", {name}={value}" for name, value in written.items())
    source = repr(str(table)) if isinstance(table, (str, Path)) else "table"
    return f"offsample.report({source}, target={target!r}{listed})"
