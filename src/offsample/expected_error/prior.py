"""The distribution of error rates in a model, from which the expected error analysis starts."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import logsumexp

from offsample._frames import make_frame
from offsample._typing import Floats
from offsample.expected_error._labelings import log_labeling_law

# Laws of single draws are kept up to this many numbers, to count the draws behind an answer.
_MAX_KEPT = 4_000_000


@dataclass(frozen=True, eq=False, repr=False, init=False)
class ErrorPrior:
    """Distribution of the error rates of the hypotheses of a model, as atoms with masses.

    Sections 3.1 and 3.4 of Scheffer (1999). Masses are kept as logarithms: hypotheses as rare as one in 2⁶⁴
    decide the answer.

    Parameters
    ----------
    errors : array-like of shape (n_atoms,)
        Error rates, between 0 and 1.
    mass : array-like of shape (n_atoms,), optional
        Share of the hypotheses with that error rate; the shares sum to 1.
    log_mass : array-like of shape (n_atoms,), optional
        Its natural logarithm, instead. With neither, all atoms have the same mass.

    Examples
    --------
    >>> from offsample.expected_error import ErrorPrior
    >>> ErrorPrior([0.0, 0.5], mass=[0.01, 0.99]).mean
    0.495
    """

    errors: Floats
    log_mass: Floats
    source: str = "given"  # where the prior comes from
    n_rows: int | None = None  # that the error rates were counted on; None for true error rates
    n_draws: int | None = None  # hypotheses or partitions drawn; None where all were counted
    draw_laws: Floats | None = None

    def __init__(
        self, errors: ArrayLike, mass: ArrayLike | None = None, log_mass: ArrayLike | None = None
    ) -> None:
        atoms = np.array(errors, dtype=float)
        if atoms.ndim != 1 or not len(atoms):
            raise ValueError(f"errors must be a list of error rates, got an array of shape {atoms.shape}")
        outside = ~((atoms >= 0) & (atoms <= 1))
        if outside.any():
            raise ValueError(f"errors must lie between 0 and 1, got {atoms[outside][0]:g}")
        if mass is not None and log_mass is not None:
            raise ValueError("mass and log_mass were both given: leave out the one or the other")
        if mass is not None:
            share = np.asarray(mass, dtype=float)
            if not (share >= 0).all():
                raise ValueError("mass must be at least 0 everywhere")
            with np.errstate(divide="ignore"):
                logs = np.log(share)
        elif log_mass is not None:
            logs = np.array(log_mass, dtype=float)
        else:
            logs = np.full(len(atoms), -np.log(len(atoms)))
        if logs.shape != atoms.shape:
            raise ValueError(f"errors has {len(atoms)} atoms and the masses {logs.shape}: expected as many")
        if np.isnan(logs).any() or (logs > 1e-9).any():
            raise ValueError("log_mass must be at most 0 everywhere")
        total = float(logsumexp(logs))
        if not abs(total) < 1e-6:
            raise ValueError(f"the masses must sum to 1, got {np.exp(total):.9g}")
        object.__setattr__(self, "errors", atoms)
        object.__setattr__(self, "log_mass", logs - total)

    def _with(self, **facts: Any) -> ErrorPrior:
        """Record where this prior comes from."""
        for name, value in facts.items():
            object.__setattr__(self, name, value)
        return self

    @property
    def mass(self) -> Floats:
        """Masses; those below 1e-308 are 0."""
        return np.exp(self.log_mass)

    @property
    def mean(self) -> float:
        """Mean error rate in the model."""
        return float(self.errors @ self.mass)

    @classmethod
    def from_partitions(cls, partitions: Iterable[ArrayLike], drawn: bool = True) -> ErrorPrior:
        """Return the plug-in prior of drawn partitions, with all labelings of each counted.

        Parameters
        ----------
        partitions : iterable of array-like of shape (n_cells, n_classes)
            Rows of each class in each cell, always of the same sample.
        drawn : bool
            Whether they were drawn; False if these are all partitions of the model.

        Examples
        --------
        >>> from offsample.expected_error import ErrorPrior
        >>> prior = ErrorPrior.from_partitions([[[3, 0], [0, 3]]], drawn=False)
        >>> prior.errors.tolist(), prior.mass.round(3).tolist()
        ([0.0, 0.5, 1.0], [0.25, 0.5, 0.25])
        """
        laws = [log_labeling_law(np.asarray(counts)) for counts in partitions]
        if not laws:
            raise ValueError("partitions is empty: draw at least one")
        if len({len(law) for law in laws}) > 1:
            raise ValueError("partitions have different numbers of rows: expected partitions of one sample")
        stack = np.stack(laws)
        n_rows = stack.shape[1] - 1
        log_mass = logsumexp(stack, axis=0) - np.log(len(stack))
        seen = np.isfinite(log_mass)
        prior = cls(np.arange(n_rows + 1)[seen] / n_rows, log_mass=log_mass[seen])
        kept = stack[:, seen] if drawn and stack.size <= _MAX_KEPT else None
        return prior._with(
            source="drawn partitions" if drawn else "all partitions",
            n_rows=n_rows,
            n_draws=len(stack) if drawn else None,
            draw_laws=kept,
        )

    def to_frame(self) -> Any:
        """Return a dataframe of the atoms and their masses."""
        atoms = {"error": self.errors, "log_mass": self.log_mass, "mass": self.mass}
        return make_frame({name: list(values) for name, values in atoms.items()})

    def __repr__(self) -> str:
        low, high = self.errors.min(), self.errors.max()
        return (
            f"ErrorPrior({len(self.errors)} atoms from {low:.4g} to {high:.4g}, mean {self.mean:.4g}, "
            f"{self.source})"
        )
