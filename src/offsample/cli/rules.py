"""`offsample rules`: a small model that reads as rules, and the error to expect of it."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Literal

from offsample.cli._app import command
from offsample.cli._costs import Cost, Costs, Positive, cost_matrix
from offsample.cli._options import Asked, Expected, option
from offsample.cli._output import check_plot, draw
from offsample.cli._screen import named, print_model, say
from offsample.criteria import listed
from offsample.induction.scoring import RULE_CRITERIA

_OF_A_STEP = ("n_splits", "feature", "training_error", "estimated_error")


_CLASSES = {
    "list": "DecisionListClassifier",
    "dnf": "DNFClassifier",
    "monomial": "MonomialClassifier",
    "program": "BranchingProgramClassifier",
    "committee": "CommitteeClassifier",
    "symmetric": "SymmetricFunctionClassifier",
}


@command()
def rules(
    asked: Asked,
    kind: Annotated[
        Literal["list", "dnf", "monomial", "program", "committee", "symmetric"],
        option(
            "",
            "list: if, else if, else. dnf: any of several conditions. monomial: all of several "
            "conditions. program: questions that lead to each other. committee: conditions that "
            "vote. symmetric: how many of several conditions hold.",
        ),
    ] = "list",
    criterion: Annotated[
        str, option("NAME", f"The measure that a rule should improve: {listed(RULE_CRITERIA.values())}.")
    ] = "ginger",
    costs: Costs = None,
    positive: Positive = None,
    literals: Annotated[
        int | None, option("NUMBER", "Combine at most this many conditions in one rule.")
    ] = None,
    max_size: Annotated[int | None, option("NUMBER", "Learn at most this many rules.")] = None,
    svg: Annotated[Path | None, option("FILE", "With --kind program: draw it into this SVG file.")] = None,
) -> None:
    """Learn rules, and stop where more would not help on new rows.

    Example: offsample rules customers.parquet --target churned --kind dnf
    """
    import offsample

    if svg is not None and kind != "program":
        raise ValueError(f"--svg draws a program: expected --kind program, got {kind}")
    check_plot(asked.source, svg)
    rows = asked.rows()
    options: dict[str, Any] = {} if literals is None else {"literals": literals}
    matrix = cost_matrix(costs, positive, rows)
    options |= {} if matrix is None else {"costs": matrix}
    learner = getattr(offsample, _CLASSES[kind])(
        criterion=criterion,
        max_size=max_size,
        categorical_features=asked.categorical_features,
        random_state=asked.seed,
        **options,
    )
    model = rows.fit(learner)
    draw("plot_program", model, svg)
    expected = Expected.of(model, rows, asked)
    cost = None if matrix is None else Cost.of(model, rows, matrix, asked.seed)

    def result() -> dict[str, Any]:
        return {
            "target": asked.to_predict,
            "n_samples": len(rows.y),
            "n_dropped": rows.n_dropped,
            **model.to_dict(),
            "baseline_error": expected.baseline,
            "unsplit_error": expected.baseline if expected.unsplit is None else expected.unsplit,
            "estimated_error": expected.error,
            "estimated_error_interval": (expected.low, expected.high),
            "new_rows": expected.new_rows,
            "n_units": rows.n_units,
            **({} if cost is None else cost._asdict()),
            "path": [{name: getattr(step, name) for name in _OF_A_STEP} for step in model.path_],
        }

    def text() -> None:
        say(
            f"Rules that predict {named(asked.to_predict)}, learned from {len(rows.y):,} rows of "
            f"{asked.source_name}.",
            expected.sentence(model, "the rules were learned from"),
            *([] if cost is None else [cost.sentence]),
        )
        rows.say_units()
        say("")
        print_model(model.to_text())
        asked.say_dropped(rows.n_dropped, gap=True)

    asked.show(rows, result, text)
