"""The verdict in a sentence or two, in the words of its metric."""

from __future__ import annotations

from dataclasses import astuple
from typing import Any, NamedTuple

import numpy as np

from offsample._losses import rare_class
from offsample.report._formats import (
    MISSING,
    amount,
    auc_text,
    decimal,
    interval,
    is_missing,
    listed,
    percent,
    quantity,
    r2_text,
    short_name,
)
from offsample.report._metrics import ERROR, METRICS, PER, TOP, UNKNOWN, Rated, Score
from offsample.report._study import Study
from offsample.report.findings import Finding, leak
from offsample.report.sections._honest import HonestError
from offsample.report.sections._validation import gained
from offsample.report.sections.model import Alternative, Model, cheapest


class Signals(NamedTuple):
    """What columns say although no model that can be read is shown to be better than a guess."""

    n: int  # columns that have evidence of their own
    ordering: Alternative | None = None  # a tree that orders rows
    together: tuple[str, Score] | None = None  # what all columns do that nobody reads: who, and its AUC

    def about(self, target: Any) -> str:
        """Say how many columns carry a signal."""
        return f"{amount(self.n, 'column')} carr{'ies' if self.n == 1 else 'y'} a signal about {target}"

    @property
    def ordered(self) -> str:
        """Say that together they order rows."""
        if self.together is None:
            return ""
        name, (value, low, high) = self.together[0], (auc_text(end) for end in astuple(self.together[1]))
        they = "it orders" if self.n == 1 else "together they order"
        return f"; {they} rows better than chance: {name} AUC {value} ({low} – {high})"


_NONE = "no model that can be read is shown to"
_NO_MORE = 0.005  # of what the class shares lose; so little more is not worth a figure


def sentence(
    model: Model, study: Study, quarantined: tuple[Finding, ...], rated: Any, signals: Signals
) -> str:
    """Say what to expect on new rows, and of what else the table gives evidence."""
    target, always = str(study.target), f"wrong in {percent(model.baseline_error)}"
    if model.is_constant and study.is_out_of_time:
        told = f"guessing {study.guess_name} of {target} is {always} of the rows"
        if study.task == "regression":
            off = quantity(rated.mean_absolute_error().value)
            told = f"guessing {study.guess_name} of {target} is off by {off} on average"
        limit = f"The time limit of {study.options.time_limit:g} s"
        return f"{limit} was reached before a model was found. Always {told}."
    if model.is_constant:
        return _nothing(study, model, quarantined, signals, rated)
    looks = f"On {study.new_rows}, {model.name} that looks at {amount(len(model.columns), 'column')}"
    if model.score is not None and rated is not None:
        doubt = (
            ""
            if model.beats_baseline
            else f" That is not clearly better than to know no column{_saved(study, rated)}."
        )
        if study.task == "regression":
            return f"{looks} {_numbers(study, rated)}{doubt}"
        led = f"{_led_by(study, model.score, rated)}{doubt}{_column_ahead(study, model)}"
        return f"{looks} {led}{_on_top(study, rated)}{_signals(study, model, rated, signals)}"
    if study.task == "regression":
        return f"{looks}: there were too few rows to hold some back, and to say how far it is off."
    is_known = study.new_rows.doubt(study.tested, ERROR) is None
    within = f"95 % interval {percent(model.low)} to {percent(model.high)}" if is_known else UNKNOWN
    expected = f"{looks} should be wrong in about {percent(model.error)} of cases ({within}); "
    expected += f"always guessing the most frequent class is {always}."
    doubt = " That is not clearly better than the guess: the table does not show that the model helps."
    return expected if model.beats_baseline else expected + doubt


def if_known(study: Study, model: Model, quarantined: tuple[Finding, ...], other: Alternative | None) -> str:
    """Say what suspected leaks would reach if they are none, where no model without them is shown to help."""
    suspects = [str(finding.column) for finding in quarantined if finding.code == leak.CODE]
    if model.beats_baseline or other is None or not suspects:
        return ""
    metric = study.metric
    does = f"{metric.told(other, str(study.new_rows))}: "
    if other.mean_absolute_error is not None:
        off, low, high = (quantity(end) for end in astuple(other.mean_absolute_error))
        does = f"off by about {off} on average (95 % interval {low} to {high}), with {does}"
    is_known = f"if {listed(suspects)} {'is' if len(suspects) == 1 else 'are'} known before {study.target} is"
    return (
        f" With {listed([finding.column for finding in quarantined])} a tree would be {does}{is_known}, and "
        "no leak, say so (known=, --known), and the page is about such a model."
    )


def _saved(study: Study, rated: Any) -> str:
    """Say what decisions save on the same rows, which may be nothing although their cost seems to be less."""
    if study.metric.name != "cost" or not rated.is_known:
        return ""
    gain, clear = gained(study.guess_losses, study.choice.validation.of(study.choice.stage), study)
    saved, low, high = map(decimal, (gain, gain - clear, gain + clear))
    return f": what it saves on the same rows is {saved} ({low} to {high})"


def _nothing(
    study: Study, model: Model, quarantined: tuple[Finding, ...], signals: Signals, rated: Any
) -> str:
    """Say that no model is shown to help, and what the columns say all the same."""
    metric, (n, ordering, _) = study.metric, signals
    names = ", ".join(str(finding.column) for finding in quarantined[:3])
    names += f" and {len(quarantined) - 3} more" if len(quarantined) > 3 else ""
    without = f"Without the quarantined column{'s' * (len(quarantined) > 1)} ({names}), " * bool(quarantined)
    base, but = "the class shares", ""
    if study.task == "regression":
        base = study.guess_name.replace("the", "its")
        if rated is not None:
            of_mean = rated.mean_absolute_error(rated.guess).value
            known = {"the mean": of_mean, "the median": rated.blind_error}
            off, (rival, other) = quantity(known.pop(study.guess_name)), known.popitem()
            base += f", which is off by {off} on average"
            base += f" ({rival} by {quantity(other)})" * (off != quantity(other))
    elif metric.is_error:
        of_rows, on_new, here = str(study.new_rows), percent(model.error), percent(model.baseline_error)
        of_rows = "the rows" if of_rows == "new rows" else of_rows
        if not model.columns and on_new != here:
            here += f" of these rows, and by estimate in {on_new}"
            of_rows += ", where another may be most frequent"
        base = f"always guessing its most frequent class, which is wrong in {here} of {of_rows}"
        but = f"no group of rows is shown to be more likely of another class than “{cheapest(study)}”"
    elif metric.is_of_decisions:
        base = f"always deciding alike, which costs {decimal(baseline_score(study))} per {PER:,} rows"
        but = f"{_NONE} be cheaper than {base}"
    if not n:
        none = f"{without}{_NONE}" if without else _NONE.capitalize()
        return f"{none} predict {study.target} better than {base}.{_few_first(study)}"
    if ordering is not None:
        within = METRICS["auc"].likely(ordering).removeprefix("95 % interval ")
        order = f"AUC {METRICS['auc'].figure(ordering)} ({within})"
        but = f"; {ordering.name} orders rows better than chance, {order}, but {but}"
    elif metric.is_of_decisions:
        but = f"{signals.ordered}, but {but}"
    else:  # a column may show more by itself, on all rows, than a model on those held back
        best = next((f for f in study.ranking if f.significant and (f.r2 or f.auc) is not None), None)
        does = f"be closer than {base}" if metric.name == "r2" else "order rows better than chance"
        alone = "" if best is None else f" ({best.name} by itself orders rows with AUC {auc_text(best.auc)})"
        if best is not None and metric.name == "r2":
            alone = "" if _few_first(study) else f" ({best.name} by itself has R² {r2_text(best.r2)})"
        of = "it" if n == 1 else "them"
        but = f"{alone}{signals.ordered}"
        but += f", but a model of {of} that can be read is not shown, on rows held back, to {does}"
    told = f"{without}{signals.about(study.target)}{but}."
    if metric.is_error:
        return f"{told} {_NONE.capitalize()} be wrong less often than {base}."
    return told + (_column_ahead(study, model) if metric.name == "cost" else _few_first(study))


def _few_first(study: Study) -> str:
    """Say that a few rows decide what the mean is off by, where no model is shown."""
    return _by_few(study, "the mean and all squares: look at these first.")


def _column_ahead(study: Study, model: Model) -> str:
    """Say why a column is not recommended that is said to do better by itself than the model."""
    metric = study.metric
    for f in study.ranking:
        score, finding = study.score_of(f), study.findings.get(f.name)
        if not f.significant or score is None or (finding and finding.quarantines):
            continue
        low, known, high = metric.ends(model) if model.columns else (baseline_score(study),) * 3
        is_alone = model.columns == (str(f.name),)  # ahead beyond doubt if it is read otherwise
        known = (high if metric.higher_is_better else low) if is_alone and not is_missing(low) else known
        is_ahead = (score.value > known) == metric.higher_is_better
        if not is_ahead or metric.write(score.value) == metric.write(known):
            return ""
        within = f" ({metric.write(score.low)} – {metric.write(score.high)})" * (not is_missing(score.low))
        if is_alone:
            values, is_told = study.encoded[f.name], f.name in study.options.types
            if is_told or f.kind != "numeric" or (np.isfinite(values) & (values != np.round(values))).any():
                return ""
            return (
                f" {f.name} seems to do better value by value, {metric.write(score.value)}{within}: if its "
                f"numbers are codes, say so (--categorical {f.name}, in Python categorical_features=)."
            )
        picked = f"it is the best of {len(study.ranking)} columns on the rows that judge it, and "
        return (
            f" {f.name} alone seems to do better, {metric.write(score.value)}{within}; but "
            f"{picked * (len(study.ranking) > 1)}rows held back do not show it to be ahead."
        )
    return ""


def _numbers(study: Study, rated: Any) -> str:
    """Say by how much a model of numbers is off, in their units and as a share of the variance."""
    off, explained = rated.mean_absolute_error(), rated.r2()
    ends = " to ".join(quantity(end, off.value) for end in (off.low, off.high))
    within, of_r2 = f"95 % interval {ends}", f" ({r2_text(explained.low)} to {r2_text(explained.high)})"
    if not rated.is_known:
        within, of_r2 = UNKNOWN, ""
    nothing = quantity(rated.blind_error)
    closer = ", by the median, which is closer" if off.value > rated.blind_error else ""
    what = "R² and the squared error, which so few cannot tell: go by how far it is off on average."
    return (
        f"should be off by about {quantity(off.value)} on average ({within}); knowing nothing, {nothing}"
        f"{closer}. It explains {r2_text(explained.value)}{of_r2} of the variance of {study.target} (R²)."
        + _by_few(study, what)
    )


def _by_few(study: Study, what: str) -> str:
    """Say what a few rows decide, where they do, and what to do."""
    few, n = study.ranking.few_decide, study.ranking.n_samples
    return "" if few is None else f" A few rows far away, which weigh like {few:,} of {n:,}, decide {what}"


def _led_by(study: Study, score: Score, rated: Rated) -> str:
    """Say what the figure of the metric is, and how much it is better than without any column."""
    metric, base, costs = study.metric, study.metric.write(baseline_score(study)), study.costs
    value, low, high = map(metric.write, (score.value, score.low, score.high))
    within = f"95 % interval {low} to {high}" if rated.is_known else UNKNOWN
    if metric.name == "cost":
        constant = f"always deciding for “{cheapest(study)}”, the best that is always the same"
        return f"should cost {value} per {PER:,} rows ({within}); {constant}, costs {base}."
    by = METRICS["log_loss" if metric.name == "auc" else metric.name]
    found = rated.saved(*(by.losses(p, rated.labels, costs) for p in (rated.proba, study.guess_proba)))
    of_one = study.is_named and len(study.classes) > 2  # as the AUC is; losses are of all classes
    ends = (found.low, found.high) if found.value > 0 else (-found.high, -found.low)
    of_saved = f" ({interval(*ends)})" * rated.is_known
    saved = f"{percent(abs(found.value))}{of_saved} {'less' if found.value > 0 else 'more'}"
    saved = "no less" if 0 <= -found.value < _NO_MORE else saved
    if metric.name == "auc":
        likely = f"{study.target} is “{positive(study)}”"
        likely = likely if study.is_named else f"each class of {study.target} is"
        return (
            f"orders rows by how likely {likely}: AUC {value} ({within}; chance is .50),"
            f" with {saved} log loss{', of all classes,' * of_one} than the class shares."
        )
    return (
        f"has a {metric.loss} of {value} ({within}), {saved} than the class shares "
        f"({base}), and orders rows with an AUC of {auc_text(rated.auc().value)}"
        f"{f' (“{positive(study)}” against the rest)' * of_one}."
    )


def _signals(study: Study, model: Model, rated: Rated, signals: Signals) -> str:
    """Say how many columns carry a signal, what they do together, and if any row is likelier than not."""
    told = signals.about(study.target) if signals.n else ""
    if study.metric.is_of_decisions or not study.is_named:
        return f" {told}{signals.ordered}." if told and not model.beats_baseline else ""
    if not model.beats_baseline:
        return f" But {told}{signals.ordered}." if told else ""
    if (rated.predicted == rated.positive).any():
        return f" {told}." if told else ""
    none = f"no group of rows is more likely “{positive(study)}” than not"
    return f" {told}, but {none}." if told else f" But {none}."


def _on_top(study: Study, rated: Rated) -> str:
    """Say what those hold that are rated highest."""
    if not study.is_named or study.metric.name == "cost":
        return ""
    share = study.options.capacity or TOP
    found, name = rated.on_top(share)[1], positive(study)
    held, low, high = (f"{100 * end:.0f}" for end in (found.value, found.low, found.high))
    within = f" ({low} – {high} %)" * rated.is_known
    told = f" The {100 * share:.3g} % of rows that it rates highest hold {held} %{within} of all rows"
    return f"{told} where {study.target} is “{name}”."


def about_one_class(study: Study) -> str:
    """Say how to ask about a rare class of more than two against the others, where none is named."""
    rare = None if study.task == "regression" or study.is_named else rare_class(study.class_counts)
    if rare is None:
        return ""
    one = short_name(study.classes[rare])
    told = f" To ask about one class against the others, such as “{one}”, name it: --positive CLASS"
    return f"{told} (in Python positive=)."


def positive(study: Study) -> str:
    """Name the class of interest."""
    return short_name(study.classes[study.class_of_interest])


def baseline_score(study: Study) -> float:
    """Return the figure of the metric without any column."""
    if study.metric.higher_is_better:
        return 0.5 if study.metric.name == "auc" else 0.0
    return float(study.guess_losses.mean())


def contrast(study: Study, honest: tuple[HonestError, ...], model: Model) -> str:
    """Put the figures of the same learner on all kinds of new rows beside each other."""
    who, metric = "A model chosen for each" if model.is_constant else "The same learner", study.metric
    if len(honest) < 2:
        return ""
    if any(one.knows for one in honest):
        who += ", told which group a row is of where that is known"
        who += "," * (metric.is_error)
    is_known, told, words = study.new_rows.doubt(study.tested) is None, [], "95 % interval "
    for one in honest:
        within = metric.within(one)
        within = f" ({words}{within})" if is_known and within != MISSING else ""
        told.append((f"{metric.figure(one)}{within}", one.label))
        words = words if not within else ""
    if metric.is_error:
        return f" {who} is wrong in {', in '.join(f'{share} of {label}' for share, label in told)}."
    said = ", ".join(f"{figure} on {label}" for figure, label in told)
    return f" {who.removesuffix(',')}: {metric.title} {said}."
