"""What is found about how many columns suffice."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any, Literal

from offsample._frames import make_frame
from offsample._text import MAJORITY, visible

Method = Literal["simba", "gflip", "relief"]


@dataclass(frozen=True)
class SizeError:
    """Error on held-out rows with the best so many columns.

    Attributes
    ----------
    n_columns : int
    error : float
        Share of the rows that the nearest-neighbour rule gets wrong.
    standard_error : float
        Of that share.
    model_error : float or None
        Share that the given classifier gets wrong.
    model_standard_error : float or None
    """

    n_columns: int
    error: float
    standard_error: float
    model_error: float | None
    model_standard_error: float | None


@dataclass(frozen=True)
class ColumnStability:
    """How sure it is that a column belongs to the chosen ones.

    Attributes
    ----------
    name : str
    rank : int
        Among all columns, with all rows.
    weight : float
        That the method gave it; 1 or 0 for G-flip.
    chosen : bool
    share : float
        Of the resamples, in which it was among the best so many, or the best.
    """

    name: Any
    rank: int
    weight: float
    chosen: bool
    share: float


@dataclass(frozen=True)
class SufficientColumns:
    """The smallest set of columns that is as good as any, and how sure that is.

    Attributes
    ----------
    method : {"simba", "gflip", "relief"}
    n_samples, n_used : int
        Rows that were given, and those of the sample that was looked at.
    score : float
        Margin function e at the weights, or of the set that G-flip selects.
    baseline_error : float
        Of always predicting the most frequent class.
    sizes : tuple of SizeError
        By rising number of columns; the last is all of them.
    columns : tuple of ColumnStability
        By rank.
    n_chosen : int
        The smallest number of columns whose error is within one standard error of the smallest; 0 where that
        of always predicting the most frequent class is, too.
    judged_by : {"nearest neighbour", "model"}
        Whose errors these are: the classifier's, if there was one.
    stability : float
        Mean share of columns that two resamples choose in common (intersection over union).
    n_folds, n_resamples : int
    copies : dict
        Columns that were left out because they equal another one in every row: their names, and its name.
    """

    method: Method
    n_samples: int
    n_used: int
    score: float
    baseline_error: float
    sizes: tuple[SizeError, ...]
    columns: tuple[ColumnStability, ...]
    n_chosen: int
    judged_by: Literal["nearest neighbour", "model"]
    stability: float
    n_folds: int
    n_resamples: int
    copies: dict[Any, Any] = field(default_factory=dict)

    @property
    def chosen(self) -> list[Any]:
        """Names of the chosen columns, the best first."""
        return [column.name for column in self.columns if column.chosen]

    def to_frame(self) -> Any:
        """Errors by the number of columns."""
        names = ("n_columns", "error", "standard_error", "model_error", "model_standard_error")
        return make_frame({name: [getattr(size, name) for size in self.sizes] for name in names})

    def to_dict(self) -> dict[str, Any]:
        """Plain values, as for JSON."""
        return {**asdict(self), "chosen": self.chosen}

    def __repr__(self) -> str:
        rows = f"{self.n_samples:,} rows"
        if self.n_used < self.n_samples:
            rows = f"{self.n_used:,} of {rows}"
        lines = [
            f"{self.n_chosen or 'None'} of {len(self.columns)} columns "
            f"{'suffice' if self.n_chosen else 'is shown to help'}, by {self.method} on {rows} "
            f"(error of the {self.judged_by}; {MAJORITY} {self.baseline_error:.3f}):",
            ", ".join(map(str, self.chosen)),
            f"columns  error of 1-NN{'' if self.judged_by != 'model' else '  error of the model'}",
        ]
        for size in self.sizes:
            line = f"{size.n_columns:>7}  {size.error:.3f} ± {size.standard_error:.3f}"
            if size.model_error is not None:
                line += f"  {size.model_error:.3f} ± {size.model_standard_error:.3f}"
            lines.append(line + ("  <- chosen" if size.n_columns == self.n_chosen else ""))
        lines += [f"Left out: {visible(a)}, a copy of {visible(b)}." for a, b in self.copies.items()]
        lines.append(f"Two resamples choose {self.stability:.0%} of the columns in common.")
        return "\n".join(lines)
