"""How far to trust a score that was measured elsewhere, and how large a hold-out set would have to be."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from offsample.assessment._plan import HoldoutPlan, plan_holdout
from offsample.assessment._trust import ScoreTrust, score_sentences, trust_in_score
from offsample.report._formats import percent, points
from offsample.report._study import Study

PRECISIONS = (0.01, 0.02, 0.05)


@dataclass(frozen=True)
class Trust:
    """A score, what is left of it on new rows, and what it would take to be surer."""

    found: ScoreTrust  # naive and corrected score, interval and baseline: see `assessment.trust_in_score`
    in_shares: bool  # whether score and interval lie between 0 and 1, as accuracies do
    sentences: tuple[str, ...]  # the same in words
    # Hold-out sets of this table on which the best of as many configurations looks too good by at most 1, 2
    # and 5 percentage points.
    plans: tuple[HoldoutPlan, ...]
    n_rows: int  # of this table


def check(score: Any, scores: Any, n_test: int | None, n_configurations: float) -> None:
    """Refuse what does not go together, before anything is computed."""
    if score is not None and scores is not None:
        raise ValueError("score and scores are given: expected the one or the other")
    if score is not None and n_test is None:
        raise ValueError("n_test is missing: on how many rows was the score measured?")
    if score is None and scores is None and n_test is not None:
        raise ValueError(f"n_test is {n_test}, but there is no score: expected score or scores with it")
    if score is None and n_configurations != 1:
        raise ValueError(
            f"n_configurations is {n_configurations:g}, but there is no score: expected score with it "
            "(scores tell by themselves how many there are)"
        )


def describe(study: Study, score: float | None, scores: Any) -> Trust | None:
    """Correct the score for the choice of the best; None where none was given, or no time is left."""
    if (score is None and scores is None) or not study.has_time_for("how far to trust the score"):
        return None
    options = study.options
    found = trust_in_score(
        score,
        n_test=options.n_test,
        n_configurations=options.n_configurations,
        scores=scores,
        baseline=1 - study.majority_error,
        n_classes=int(study.labels.max()) + 1,
    )
    # Scores of a file need not be accuracies: what they say of the error is then unknown.
    expected = 1 - found.corrected if score is not None and found.corrected > 0 else None
    n_rows, n = study.ranking.n_samples, found.n_configurations
    sentences = found.sentences
    if score is not None:
        right = percent(1 - study.majority_error)
        base = f"always guessing the most frequent class is right in {right} of the rows"
        sentences = score_sentences(found, percent, lambda gain: f"{points(gain).lstrip('+')} points", base)
    of_rows = "rows like those it was measured on" if study.new_rows else "new rows"
    sentences = tuple(re.sub(r"(?<=\d)%", " %", one).replace("new rows", of_rows) for one in sentences)
    return Trust(
        found=found,
        in_shares=all(0 <= value <= 1 for value in (found.low, found.naive, found.corrected, found.high)),
        sentences=sentences,
        plans=tuple(plan_holdout(n_rows, n, precision, expected_error=expected) for precision in PRECISIONS),
        n_rows=n_rows,
    )


def planned(trust: Trust) -> list[tuple[float, HoldoutPlan]]:
    """Return each hold-out set with the precision that it was planned for."""
    return list(zip(PRECISIONS, trust.plans, strict=True))
