"""The path of a growing tree: what every split did to the errors."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from offsample._frames import make_frame
from offsample._proportions import wilson

__all__ = ["GrowthPath", "PathStep"]


@dataclass(frozen=True)
class PathStep:
    """A tree on the path.

    Attributes
    ----------
    n_splits : int
    feature : str or None
        Column of the last split; None for the root alone.
    criterion : float
        Value of the criterion on the sample.
    training_error : float
        Share of the training rows that `predict` gets wrong, with raw leaf frequencies.
    estimated_error : float
        The same for new rows: with the expected optimism of the majorities, and of the choice of the splits.
    corrected : float
        The criterion, corrected for the choice of the splits: what the stopping rule minimises. (For criteria
        that do not estimate an error off the sample, and without a stopping rule, the criterion itself.)
    """

    n_splits: int
    feature: Any
    criterion: float
    training_error: float
    estimated_error: float
    corrected: float


@dataclass(frozen=True, repr=False)
class GrowthPath:
    """The trees of 0, 1, 2, … splits that growing went through.

    Attributes
    ----------
    steps : tuple of PathStep
    n_splits : int
        Of the tree that was kept.
    criterion : str
    is_index : bool
        Whether the criterion is an index function.
    """

    steps: tuple[PathStep, ...]
    n_splits: int
    criterion: str
    is_index: bool = True

    def __iter__(self) -> Iterator[PathStep]:
        return iter(self.steps)

    def __len__(self) -> int:
        return len(self.steps)

    def __getitem__(self, n_splits: int) -> PathStep:
        return self.steps[n_splits]

    def to_frame(self) -> Any:
        """One row per number of splits, as a dataframe of the library that is installed."""
        names = ("n_splits", "feature", "criterion", "training_error", "estimated_error", "corrected")
        return make_frame({name: [getattr(step, name) for step in self] for name in names})

    def __repr__(self) -> str:
        lines = [
            f"GrowthPath by {self.criterion}: {len(self) - 1} splits, {self.n_splits} kept",
            f"{'splits':>6} {'criterion':>10} {'training':>9} {'estimated':>10}  feature",
        ]
        shown = self.steps if len(self) <= 21 else (*self.steps[:10], None, *self.steps[-10:])
        for step in shown:
            if step is None:
                lines.append("     …")
                continue
            kept = " (kept)" if step.n_splits == self.n_splits else ""
            lines.append(
                f"{step.n_splits:>6} {step.criterion:>10.4f} {step.training_error:>9.4f} "
                f"{step.estimated_error:>10.4f}  {'' if step.feature is None else step.feature}{kept}"
            )
        return "\n".join(lines)


def score_interval(naive: float, estimate: float, m: int) -> tuple[float, float]:
    """Score interval of a proportion, from the estimate without to the one with the correction for choice."""
    return wilson(naive, m)[0], wilson(estimate, m)[1]
