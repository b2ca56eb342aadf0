"""Classes or numbers: what a target holds, and the numbers of one that holds numbers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, NamedTuple, get_args

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from offsample._typing import Floats
from offsample.tables._base import IN_DAYS, ColumnError
from offsample.tables._columns import as_column, hash_errors
from offsample.tables._encode import as_floats, plain
from offsample.tables._kinds import as_quantities
from offsample.tables._meaning import recognised

Task = Literal["auto", "classification", "regression"]
TASKS: tuple[Task, ...] = get_args(Task)
# Whole numbers of at most so many different values are classes, unless the user says otherwise.
MOST_CLASSES = 20
# Fourth powers of larger distances are infinite.
_LARGEST = 1e75
_FIRST_ROWS = 10_000


class Center(NamedTuple):
    """Where the numbers of a target lie: sums are about this mean, in units of a power of two."""

    mean: float = 0.0
    scale: float = 1.0

    @classmethod
    def of(cls, numbers: Sequence[float], name: str, n_rows: int, n_dropped: int) -> Center:
        """Centre of numbers with this mean, least and largest; raise unless they can be predicted."""
        mean, low, high = numbers
        if n_rows == 0:
            if not n_dropped:
                raise ValueError("the table has no rows: expected at least two rows with different targets")
            raise ValueError(
                f"target {name} is missing in all {n_dropped} rows: expected two or more numbers"
            )
        if endless := [end for end in (low, high) if not np.isfinite(end)]:
            raise ValueError(f"target {name} has the value {endless[0]}: expected classes, or finite numbers")
        if low == high:
            raise ValueError(f"target {name} has one value only, {low:g}: expected two or more")
        furthest = max(high - mean, mean - low)
        if not 1 / _LARGEST < furthest < _LARGEST:
            change = "multiply" if furthest < 1 else "divide"
            raise ValueError(
                f"target {name} has numbers from {low:g} to {high:g}, whose squares cannot be added up: "
                f"{change} it by a power of ten first"
            )
        return cls(mean, float(2.0 ** np.ceil(np.log2(furthest))))


def check_task(task: str) -> None:
    """Raise unless a task has this name."""
    if task not in TASKS:
        raise ValueError(f"task must be one of {', '.join(map(repr, TASKS))}, got {task!r}")


def numbers_of(column: NDArray[Any] | nw.Series[Any], task: Task, name: str) -> Floats | None:
    """Numbers of a target in memory, NaN where one is missing; None for a target of classes."""
    if task == "classification":
        return None
    with hash_errors("target", name):
        if task == "regression":
            if isinstance(column, nw.Series) and column.dtype in (nw.Categorical, nw.Enum):
                column = as_column(column.to_list())
            column = recognised(column, name.strip("'"), "number")[0]  # text such as "$1,200"
        quantities = as_quantities(column)
        if isinstance(quantities, np.ndarray):
            is_number, is_truth = quantities.dtype.kind in "iuf", quantities.dtype.kind == "b"
        else:
            is_number, is_truth = quantities.dtype.is_numeric(), quantities.dtype == nw.Boolean
        if not is_number and (task == "auto" or not is_truth):
            if task == "regression":
                raise not_numbers(name, column.dtype)
            return None
        numbers = as_floats(plain(quantities, as_number=True))
    return numbers if task == "regression" or not are_classes(numbers) else None


def are_classes(numbers: Floats) -> bool:
    """Whether these are whole numbers of few different values, where they are not missing."""
    for some in (numbers[:_FIRST_ROWS], numbers):  # the first few mostly say it
        known = some[~np.isnan(some)]
        if not (np.isfinite(known).all() and (known == np.rint(known)).all()):
            return False
        if len(np.unique(known)) > MOST_CLASSES:
            return False
    return True


def not_numbers(name: str, kind: Any) -> ColumnError:
    """Error for a target that cannot be read as numbers."""
    return ColumnError(
        f"target {name} holds {kind} values: expected numbers for task='regression'; {IN_DAYS}; "
        "task='classification' takes few different values as classes"
    )
