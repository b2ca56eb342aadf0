"""What is found about how many columns suffice."""

from __future__ import annotations

from dataclasses import asdict, dataclass, fields
from typing import Any, Literal

from offsample._frames import make_frame
from offsample._text import MAJORITY, visible

# Standard errors by which the best of all sizes must beat the most frequent class: it is the best of many.
BEYOND_CHANCE = 2.5
Method = Literal["simba", "gflip", "relief"]


@dataclass(frozen=True)
class SizeError:
    """Error on held-out rows with the best `n_columns` columns."""

    n_columns: int
    error: float  # share of the rows (of the variance) that the nearest-neighbour rule gets wrong
    standard_error: float
    model_error: float | None  # share that the given classifier (or regressor) gets wrong
    model_standard_error: float | None


@dataclass(frozen=True)
class ColumnStability:
    """A column, and how sure it is that it belongs to the chosen ones."""

    name: Any
    rank: int  # among all columns, with all rows
    weight: float  # that the method gave it; 1 or 0 for G-flip
    chosen: bool
    share: float  # of the resamples in which it would have been chosen, or was the best if none is


@dataclass(frozen=True)
class SufficientColumns:
    """The smallest set of columns that is as good as any, and how sure that is."""

    method: Method
    n_samples: int  # rows that were given
    n_used: int  # rows of the sample that was used
    score: float  # margin function e at the weights, or of the set that G-flip selects
    baseline_error: float  # of always predicting the most frequent class
    sizes: tuple[SizeError, ...]  # by rising number of columns, up to all of them
    columns: tuple[ColumnStability, ...]  # all, by rank
    n_chosen: int  # fewest whose error is within one standard error of the smallest; 0 if none helps
    gain: float  # of the size with the smallest error, over always predicting the most frequent class
    gain_standard_error: float  # of that difference, on the same rows
    judged_by: Literal["nearest neighbour", "model"]  # whose errors decide: the classifier's, if given
    stability: float  # mean share of columns that two resamples choose in common: intersection over union
    n_folds: int
    n_resamples: int
    copies: dict[Any, Any]  # columns left out because they equal another in every row, and that one
    task: Literal["classification", "regression"] = "classification"

    @property
    def chosen(self) -> list[Any]:
        """The names of the chosen columns, the best first."""
        return [column.name for column in self.columns if column.chosen]

    @property
    def _guess(self) -> str:
        return "the mean" if self.task == "regression" else "the most frequent class"

    @property
    def not_shown(self) -> str:
        """Why no column is chosen: none is better than a guess, or not by enough to rule out chance."""
        if self.gain <= self.gain_standard_error:
            return f"guessing {self._guess} does as well"
        errors = [size.error if size.model_error is None else size.model_error for size in self.sizes]
        n = self.sizes[errors.index(min(errors))].n_columns
        return (
            f"with {n:,} column{'s' * (n > 1)} the error is smaller than that of guessing {self._guess} "
            f"by {self.gain:.4f} ± {self.gain_standard_error:.4f}, which may be chance: the best of "
            f"{len(errors):,} such differences must be {BEYOND_CHANCE:g} standard errors"
        )

    def to_frame(self) -> Any:
        """Return the errors by the number of columns as a dataframe."""
        return make_frame({f.name: [getattr(size, f.name) for size in self.sizes] for f in fields(SizeError)})

    def to_dict(self) -> dict[str, Any]:
        """Return plain values, as for JSON."""
        return {**asdict(self), "chosen": self.chosen}

    def __repr__(self) -> str:
        rows, by_model = f"{self.n_samples:,} rows", self.judged_by == "model"
        guess, near = ("the mean has", 10) if self.task == "regression" else (MAJORITY, 1)
        if self.n_used < self.n_samples:
            rows = f"{self.n_used:,} of {rows}"
        lines = [
            f"{self.n_chosen or 'None'} of {len(self.columns)} columns "
            f"{'suffice' if self.n_chosen else 'is shown to help'}, by {self.method} on {rows} "
            f"(error of the {self.judged_by}; {guess} {self.baseline_error:.3f}):",
            ", ".join(map(str, self.chosen)),
            f"columns  error of {near}-NN{'  error of the model' * by_model}",
        ]
        for size in self.sizes:
            line = f"{size.n_columns:>7}  {size.error:.3f} ± {size.standard_error:.3f}"
            if size.model_error is not None:
                line += f"  {size.model_error:.3f} ± {size.model_standard_error:.3f}"
            lines.append(line + ("  <- chosen" if size.n_columns == self.n_chosen else ""))
        lines += [f"Left out: {visible(a)}, a copy of {visible(b)}." for a, b in self.copies.items()]
        lines.append(f"Two resamples choose {self.stability:.0%} of the columns in common.")
        return "\n".join(lines)
