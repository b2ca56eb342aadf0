"""How far to trust a score, on the command line."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from offsample.cli._app import command
from offsample.cli._options import AsJson, option
from offsample.cli._screen import print_json, say
from offsample.tables._base import missing_column

if TYPE_CHECKING:
    from offsample.assessment import Audit


@command()
def audit(
    scores: Annotated[
        str | None,
        typer.Argument(
            metavar="SCORES",
            help="A CSV file with a header, one line for each configuration that you tried and one column "
            "for each fold; - reads it from standard input. Or predictions, see --predictions.",
        ),
    ] = None,
    accuracy: Annotated[
        float | None, option("SHARE", "Instead of a file: the accuracy that was reported.")
    ] = None,
    error: Annotated[float | None, option("SHARE", "Or the error rate that was reported.")] = None,
    score: Annotated[
        float | None,
        option("NUMBER", "Or another score, of --metric: auc with --n-positive, r2, log_loss, ..."),
    ] = None,
    n_positive: Annotated[int | None, option("ROWS", "Rows of the class that an AUC is of.")] = None,
    standard_error: Annotated[
        float | None, option("NUMBER", "Of --score, as from a bootstrap; that of auc and r2 can be computed.")
    ] = None,
    n_test: Annotated[int | None, option("ROWS", "Number of rows that it was measured on.")] = None,
    configurations: Annotated[
        float, option("NUMBER", "How many models or settings were tried on these rows.")
    ] = 1,
    baseline: Annotated[
        float | None,
        option("SHARE", "The score of a mere guess; by default that of picking a class at random."),
    ] = None,
    classes: Annotated[int, option("NUMBER", "Number of classes to guess from.")] = 2,
    lower_is_better: Annotated[
        bool, option("--lower-is-better", "The scores in the file are errors or losses.")
    ] = False,
    confidence: Annotated[float, option("SHARE", "How often an interval should hold the true score.")] = 0.95,
    as_json: AsJson = False,
    predictions: Annotated[
        bool,
        option(
            "--predictions",
            "The file (CSV, Parquet, ...) has a line for each row, and a column of predictions, made by "
            "models that had not seen the row, for each configuration.",
        ),
    ] = False,
    target: Annotated[
        str | None, option("--target -t COLUMN", "The true values, beside predictions.")
    ] = None,
    metric: Annotated[
        str | None, option("NAME", "How to score predictions: accuracy, auc, f1, log_loss, r2, mae, ...")
    ] = None,
    fold: Annotated[
        str | None, option("COLUMN", "The fold that tested a row; by default the column fold, if there.")
    ] = None,
    group: Annotated[
        str | None, option("COLUMN", "Predicted rows with the same value belong together: new groups count.")
    ] = None,
    time: Annotated[
        str | None, option("COLUMN", "When a predicted row was made: parts of the time vary, not rows.")
    ] = None,
    ignore: Annotated[
        list[str] | None, option("COLUMN", "This column has neither scores nor predictions. May be repeated.")
    ] = None,
    cv: Annotated[
        int | None,
        option("NUMBER", "Folds that test each row once; repeats have several times as many.", min=2),
    ] = None,
) -> None:
    """Say what the best of many scores is really worth on new rows.

    The best score of many tries is partly luck. Give the scores of all tries, or the best score with the
    number of tries, or what each of them predicted.

    Examples: offsample audit scores.csv;
    offsample audit oof.parquet --predictions --target sick --metric auc;
    offsample audit --n-test 1186 --accuracy .924 --configurations 64;
    offsample audit --n-test 500 --score .81 --metric auc --n-positive 40 --configurations 30
    """
    from offsample.assessment import trust_in_score

    rows = {"target": target, "metric": metric, "fold": fold, "group": group, "time": time}
    for name, value in rows.items():
        if value and not predictions and not (name == "metric" and score is not None):
            raise ValueError(f"--{name} is for predictions: say --predictions, if the file has them")
    reported = [value for value in (accuracy, error, score) if value is not None]
    if len(reported) + (scores is not None) != 1:
        raise ValueError("give one of: a file of scores, --accuracy, --error, --score with --metric")
    if (score is None) != (metric is None) and not predictions:
        raise ValueError("--score needs --metric: auc, r2, log_loss, ...")
    if score is None and (n_positive, standard_error) != (None, None):
        raise ValueError("--n-positive and --standard-error are for --score")
    if cv is not None and (scores is None or predictions):
        raise ValueError("--cv is for a file of scores: it says how many of them test each row once")
    if predictions:
        trust = trust_in_score(scores=_of_predictions(scores, confidence, rows, ignore), baseline=baseline)
    elif scores is None:
        trust = trust_in_score(
            reported[0],
            n_test=n_test,
            n_configurations=configurations,
            greater_is_better=error is None,
            metric=metric,
            n_positive=n_positive,
            standard_error=standard_error,
            baseline=baseline,
            n_classes=classes,
            confidence=confidence,
        )
    else:
        from offsample._frames import make_frame
        from offsample.assessment import audit_search

        found = audit_search(
            make_frame(_columns(scores, ignore)) if ignore else scores,
            n_samples=n_test,
            greater_is_better=not lower_is_better,
            confidence=confidence,
            cv=cv,
        )
        trust = trust_in_score(scores=found, baseline=baseline)
    if as_json:
        print_json(trust.to_dict())
    else:
        say(*trust.sentences)


def _columns(path: str, ignore: list[str] | None) -> dict[str, Any]:
    """Read the columns of a file but those to ignore."""
    from offsample.tables import TablePath, read_table

    table = read_table(TablePath(path))
    for name in ignore or ():
        if name not in table:
            raise missing_column(name, list(table), "ignored column")
    return {name: column for name, column in table.items() if name not in (ignore or ())}


def _of_predictions(
    path: str | None, confidence: float, rows: dict[str, Any], ignore: list[str] | None
) -> Audit:
    from offsample.assessment import audit_search

    if path is None:
        raise ValueError("--predictions is for a file: name it")
    for name in ("target", "metric"):
        if not rows[name]:
            raise ValueError(f"--{name} is missing: it says what the predictions are compared by")
    table = _columns(path, ignore)
    return audit_search(
        predictions=table,
        y=rows["target"],
        metric=rows["metric"],
        groups=rows["group"],
        time=rows["time"],
        fold=rows["fold"] or ("fold" if "fold" in table else None),
        confidence=confidence,
    )
