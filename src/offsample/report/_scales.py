"""How the loss that models are chosen by is shown."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import inf, isnan, nan
from typing import Any

from offsample.report._formats import interval, percent, points
from offsample.report._metrics import ERROR, METRICS, PER, Metric


@dataclass(frozen=True)
class Scale:
    """How the loss that models are chosen by is shown: in the units of the metric."""

    name: str = ERROR  # within a sentence
    write: Callable[[float | None], str] = percent
    unit: float = 1.0  # of losses that are shares of what guessing loses
    is_turned: bool = False  # pairs in order are shown, losses are those that are not
    least: float = -inf  # figure that there can be

    @property
    def title(self) -> str:
        """The name as a sentence begins."""
        return self.name[:1].upper() + self.name[1:]

    @property
    def is_share(self) -> bool:
        """Whether figures are shown in percent."""
        return self.write is percent

    def __call__(self, loss: float | None) -> float:
        """Return the figure of a loss."""
        if loss is None or isnan(loss):
            return nan
        return max(self.least, 1 - loss) if self.is_turned else self.unit * loss

    def text(self, loss: float | None) -> str:
        """Write the figure of a loss."""
        return self.write(self(loss))

    def within(self, low: float, high: float) -> str:
        """Write the figures of the ends of an interval."""
        ends = sorted((self(low), self(high)))
        return interval(*ends) if self.is_share else f"{self.write(ends[0])} – {self.write(ends[1])}"

    def deviation(self, found: Any) -> str:
        """Write the standard error of something that has one."""
        return percent(found.standard_error) if self.is_share else self.size(found.standard_error)

    def size(self, difference: float) -> str:
        """Write the size of a difference of two losses."""
        if self.is_share:
            return points(abs(difference)).lstrip("+")
        return self.write(abs(self.unit * difference))


ERRORS = Scale()


def scale_of(metric: Metric, base: float | None, base_log_loss: float | None) -> Scale:
    """Return the scale of a report, given what is lost without any column."""
    if metric.is_error:
        return ERRORS
    if metric.by_pairs or metric.name == "r2":
        return Scale(metric.title, metric.write, is_turned=True, least=0.0 if metric.by_pairs else -inf)
    by = METRICS["log_loss"] if metric.name == "auc" else metric
    unit = base_log_loss if by.name == "log_loss" else base
    if not unit:
        return Scale(f"{metric.loss}, of that of guessing")
    return Scale(f"cost per {PER:,} rows" if by.name == "cost" else by.loss, by.write, unit)
