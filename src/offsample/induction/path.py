"""The path of a growing tree: what every split did to the errors."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from math import hypot
from typing import Any

import numpy as np
from scipy.special import chdtri

from offsample._frames import make_frame
from offsample._proportions import wilson
from offsample._ties import best_of
from offsample._typing import Floats, Ints
from offsample.criteria import Criterion


@dataclass(frozen=True)
class PathStep:
    """A tree on the path."""

    n_splits: int
    feature: Any  # the column of the last split; None for the root alone
    criterion: float  # on the sample
    training_error: float  # share of the training rows that `predict` gets wrong, with raw leaf frequencies
    estimated_error: float  # the same for new rows: with the optimism of majorities and of chosen splits
    # The criterion, corrected for the choice of the splits: what the stopping rule minimises. The criterion
    # itself if that does not estimate an error off the sample, or without a stopping rule.
    corrected: float


@dataclass(frozen=True, repr=False)
class GrowthPath:
    """The trees of 0, 1, 2, … splits that growing went through."""

    steps: tuple[PathStep, ...]
    n_splits: int  # of the tree that was kept
    criterion: str  # what the values of the steps are of
    is_index: bool = True  # whether the criterion is an index function
    is_cut: bool = False  # whether the tree with the least corrected criterion was kept, not the last one
    kept: tuple[int, ...] = ()  # where left-out rows chose, splits that are kept of at most 0, 1, 2, …
    grown_by: str | None = None  # the criterion that chose the splits, if that is another one

    def __iter__(self) -> Iterator[PathStep]:
        return iter(self.steps)

    def __len__(self) -> int:
        return len(self.steps)

    def __getitem__(self, n_splits: int) -> PathStep:
        return self.steps[n_splits]

    def kept_within(self, n_splits: int) -> int:
        """Return the number of splits of this path that are kept if there may be at most `n_splits`."""
        steps = self.steps[: n_splits + 1]
        if self.kept:
            return self.kept[len(steps) - 1]
        return best_of([-step.corrected for step in steps]) if self.is_cut else len(steps) - 1

    def validated(self, errors: Floats, kept: tuple[int, ...], grown_by: str | None = None) -> GrowthPath:
        """Return the path with errors that were estimated otherwise, and the splits that are kept by them."""
        pairs = zip(self.steps, errors.tolist(), strict=True)
        steps = tuple(replace(step, estimated_error=error, corrected=error) for step, error in pairs)
        return replace(self, steps=steps, kept=kept, grown_by=grown_by)

    def to_frame(self) -> Any:
        """One row per number of splits, as a dataframe of the library that is installed."""
        names = ("n_splits", "feature", "criterion", "training_error", "estimated_error", "corrected")
        return make_frame({name: [getattr(step, name) for step in self] for name in names})

    def __repr__(self) -> str:
        by = self.criterion if self.grown_by is None else f"{self.grown_by}, measured by {self.criterion}"
        lines = [
            f"GrowthPath by {by}: {len(self) - 1} splits, {self.n_splits} kept",
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


def score_interval(
    naive: float, estimate: float, m: float, n_alike: int = 1, deviation: float = 0.0
) -> tuple[float, float]:
    """Score interval, from the estimate without to that with a correction for choice, also of `n_alike`.

    It is wider by what it may be off by a standard deviation of something else.
    """
    low, high = wilson(naive, m)[0], wilson(estimate, m, float(chdtri(1, 0.05 / n_alike)))[1]
    if not deviation:
        return low, high
    apart = 1.96 * deviation
    return max(0.0, naive - hypot(naive - low, apart)), min(1.0, estimate + hypot(high - estimate, apart))


def largest_by_chance(counts: Ints) -> int:
    """Number of classes that may be the largest by chance: not smaller by more than two standard errors."""
    return int((counts.max() - counts <= 2 * np.sqrt(counts.max() + counts)).sum())


def growth_path(
    measures: Sequence[Any],
    features: Sequence[Any],
    n_splits: int,
    size: int,
    criterion: Criterion,
    is_cut: bool,
) -> GrowthPath:
    """Make the path of what was measured after each step, in rows of a sample of this size."""
    steps = tuple(
        PathStep(
            n,
            feature,
            measure.criterion,
            measure.training_errors / size,
            float(np.clip(measure.estimated_errors / size, 0.0, 1.0)),
            measure.corrected / size,
        )
        for n, (feature, measure) in enumerate(zip(features, measures, strict=True))
    )
    return GrowthPath(steps, n_splits, criterion.name, criterion.is_index, is_cut)
