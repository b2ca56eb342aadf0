"""What a ranking of columns holds."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass, fields
from typing import Any, Literal

from offsample._frames import make_frame
from offsample.tables import Source

# Columns are ordered by gain where noise would show their evidence in one of a hundred tables at most; below
# that, by evidence: a large gain that is not beyond doubt is rather the chance of a column with rare values.
_DOUBT = 0.01


def doubt_of(n_columns: int) -> float:
    """P-value above which the evidence of one of so many columns is not clear."""
    return _DOUBT / max(1, n_columns)


@dataclass(frozen=True)
class RankedFeature:
    """What one column is worth.

    All errors are of the rule that predicts from the column alone: with the class frequencies of the row's
    value or bin (criterion "bayes_loo": their majority). For a numeric target they are mean squared errors of
    the mean (criterion "absolute_error_loo": mean absolute errors of the median).

    Attributes
    ----------
    name : str
    kind : {"categorical", "numeric"}
    n_values : int or None
        Distinct values, a missing one included; None where an engine would need another pass to count them.
    n_missing : int
        Rows where it is missing: a value of its own.
    n_cells : int
        Values or bins that the estimate rests on.
    score : float
        Value of the criterion; for a loss and a numeric column corrected as the error is.
    error : float
        Estimated error off the sample: Ginger, or the leave-one-out error of the majority. Where a numeric
        column was cut in several ways, it is corrected for the choice (see `evidence.choose_refinement`).
    low, high : float
        Interval for that error. It is right for each column; the error of the column that turns out
        best of many is rather in its upper half.
    training_error : float
        Error on the sample.
    optimism : float
        ``error - training_error``.
    missing_mass : float
        Estimated probability that a new row has a value not seen before.
    gain, gain_low : float
        ``baseline_error - error``, and its lower confidence limit. By a loss, what it falls below that of
        knowing no column; by AUC, what is above ½.
    expected_gain : float
        The gain, shrunk for having been looked at among p columns: times ``max(0, 1 - ln(p) / z²)``, with z
        the normal quantile of the p-value. Never below 0 and never above a positive gain.
    p_value : float
        Of independence of column and target, whatever the number of its values.
    significant : bool
        Whether the column survives a false-discovery control over all columns.
    interval_is_known : bool
        False where rows come in fewer than ten groups (or parts of the time), or most of the error is on
        values that one group has alone: then nobody can say how far the estimate may be off.
    errors_alone : tuple of float
        Where groups cross, the errors on rows that are new in one of `Ranking.crossed` alone.
    score_low, score_high : float or None
        Interval of the score; None for a criterion of the sample itself.
    auc : float or None
        Estimated probability that a new row of the one class is rated above one of the other
        (`criteria.auc_lpo`): how well the column orders, whatever the shares are. None unless there are two
        classes, and for a large table on an engine in time.
    bits : float or None
        Information on the class of a new row (`criteria.information_gain_loo`); 0 or less if there is none.
    r2, r2_low, r2_high : float or None
        For a numeric target: share of its variance, on new rows, that the mean of the rows with the same
        value explains, and its interval; 0 or less if the column says nothing. None for classes.
    training_r2 : float or None
        The same on the sample.
    """

    name: Any
    kind: Literal["categorical", "numeric"]
    n_values: int | None
    n_missing: int
    n_cells: int
    score: float
    error: float
    low: float
    high: float
    training_error: float
    optimism: float
    missing_mass: float
    gain: float
    gain_low: float
    expected_gain: float
    p_value: float
    significant: bool
    interval_is_known: bool = True
    errors_alone: tuple[float, ...] = ()
    score_low: float | None = None
    score_high: float | None = None
    auc: float | None = None
    bits: float | None = None
    r2: float | None = None
    r2_low: float | None = None
    r2_high: float | None = None
    training_r2: float | None = None

    @property
    def n_present_values(self) -> int | None:
        """Distinct values without the missing one."""
        return None if self.n_values is None else self.n_values - (self.n_missing > 0)


@dataclass(frozen=True, repr=False)
class Ranking:
    """Columns in order, the best first.

    Attributes
    ----------
    features : tuple of RankedFeature
    baseline_error : float
        Estimated error of the same rule without any column.
    n_samples : int
    n_dropped : int
        Rows left out because their target is missing.
    classes : tuple
    criterion, order : str
    confidence : float
    source : Source or None
        The files that were read, and their rows; None for a table that was handed over.
    left_out : tuple of str
        A sentence for each column that could not be read.
    new_rows : str
        What the errors are for: "new rows", "rows with a new 'customer'", "later rows".
    crossed : tuple of str
        Groups that cross, such as users and items; none where there is one kind.
    baselines_alone : tuple of float
        The baseline errors on rows that are new in one of them alone.
    baseline_score : float or None
        The loss without any column, where the criterion is one; ½ for AUC.
    positive : object
        The class that costs are asked of: the rarer of two. None with more classes.
    task : {"classification", "regression"}
        Whether the target is classes or a number.
    few_decide : int or None
        Where a few rows decide all squares of a numeric target, as many as would weigh alike: intervals of
        squared errors may then be too short, and "absolute_error_loo" is the safer criterion.
    assumed : str or None
        What the target was taken for, where it could be either and nobody said, in a sentence.
    rare_class : object
        The rarest of three classes or more, if it has less than half of an equal share and none is named.
    n_duplicates, n_conflicting : int or None
        Rows that equal an earlier one in all these columns and in the target, and rows that do so in the
        columns, but with none of the same target. They count as rows. None where they were not counted.
    """

    features: tuple[RankedFeature, ...]
    baseline_error: float
    n_samples: int
    n_dropped: int
    classes: tuple[Any, ...]
    criterion: str
    order: str
    confidence: float
    source: Source | None = None
    left_out: tuple[str, ...] = ()
    new_rows: str = "new rows"
    crossed: tuple[str, ...] = ()
    baselines_alone: tuple[float, ...] = ()
    baseline_score: float | None = None
    positive: Any = None
    task: Literal["classification", "regression"] = "classification"
    assumed: str | None = None
    few_decide: int | None = None
    n_duplicates: int | None = None
    n_conflicting: int | None = None
    rare_class: Any = None

    def __iter__(self) -> Iterator[RankedFeature]:
        return iter(self.features)

    def __len__(self) -> int:
        return len(self.features)

    def __getitem__(self, name: Any) -> RankedFeature:
        for feature in self.features:
            if feature.name == name:
                return feature
        raise KeyError(f"{name!r} is not among the {len(self)} ranked columns")

    def to_frame(self) -> Any:
        """One row per column, in order, as a dataframe of the library that is installed."""
        names = [field.name for field in fields(RankedFeature)]
        return make_frame({name: [getattr(feature, name) for feature in self] for name in names})

    def to_dict(self) -> dict[str, Any]:
        """Plain numbers, strings and lists, for JSON."""
        return asdict(self)

    def __repr__(self) -> str:
        from offsample._ranking_shown import ranking_text

        return ranking_text(self)

    def _repr_html_(self) -> str:
        from offsample._ranking_shown import ranking_html

        return ranking_html(self)
