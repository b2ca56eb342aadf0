"""The far left tail of an error prior, by multilevel splitting over partitions."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import logsumexp

from offsample._typing import Floats, Ints
from offsample.expected_error._labelings import log_labeling_law
from offsample.expected_error.languages import Language, as_sample, partition_counts
from offsample.expected_error.prior import ErrorPrior

__all__ = ["Tape", "tail_aware_prior"]


class Tape:
    """A random generator that records its numbers, so that one can be changed and the rest kept.

    It has the methods of `numpy.random.Generator` that a `Language` may use. Changing a number is a symmetric
    step in the space of all tapes, whatever the language makes of them.
    """

    def __init__(self, numbers: Floats, source: np.random.Generator) -> None:
        self.numbers, self._source, self._position = numbers, source, 0

    @property
    def used(self) -> int:
        """Count of the numbers read."""
        return self._position

    def random(self, size: int | None = None) -> Any:
        """Draw uniform numbers from 0 to 1."""
        n = 1 if size is None else int(size)
        end = self._position + n
        if end > len(self.numbers):
            more = self._source.random(max(64, end - len(self.numbers)))
            self.numbers = np.concatenate([self.numbers, more])
        read = self.numbers[self._position : end]
        self._position = end
        return float(read[0]) if size is None else read

    def integers(self, low: int, high: int | None = None, size: int | None = None) -> Any:
        """Draw uniform integers, `high` excluded."""
        low, high = (0, low) if high is None else (low, high)
        drawn = self.random(size)
        if size is None:
            return low + int(drawn * (high - low))
        return low + (drawn * (high - low)).astype(np.int64)

    def permutation(self, n: int) -> Ints:
        """Return the numbers from 0 to n - 1 in random order."""
        return np.argsort(self.random(n), kind="stable")

    def choice(self, a: Any, size: int | None = None, replace: bool = True) -> Any:
        """Draw elements of a list, or of the numbers up to `a`."""
        pool = np.arange(a) if np.ndim(a) == 0 else np.asarray(a)
        if size is None:
            return pool[self.integers(len(pool))]
        if replace:
            return pool[self.integers(len(pool), size=size)]
        # One number per element: changing it exchanges one element.
        left = list(range(len(pool)))
        drawn = [left.pop(int(number * len(left))) for number in self.random(size)]
        return pool[drawn]


@dataclass
class _Particle:
    """A partition: its tape, and the law of errors over its labelings."""

    numbers: Floats
    used: int
    log_law: Floats
    log_reach: Floats  # log of the share of labelings with at most s errors


def tail_aware_prior(
    language: Language,
    X: ArrayLike,
    y: ArrayLike,
    *,
    n_particles: int = 200,
    n_moves: int = 10,
    n_runs: int = 4,
    keep: float = 0.3,
    random_state: int = 0,
) -> ErrorPrior:
    """Plug-in prior that includes rare good partitions, with the standard errors of its log masses.

    Multilevel splitting [1]_ over partitions, labelings counted exactly. The number of errors falls in steps
    from m to 0, each to where about the share `keep` of the hypotheses is left; partitions are copied in
    proportion to their labelings that are left, then changed one random choice at a time. The product of the
    shares is unbiased for the mass of the tail.

    Parameters
    ----------
    language : Language
    X, y : array-like
        Rows and classes.
    n_particles : int
        Partitions kept at each level.
    n_moves : int
        Changes of each partition between two levels.
    n_runs : int
        Independent repetitions, whose scatter is the error estimate.
    keep : float
        Share of the mass that a level keeps, between 0 and 1.
    random_state : int

    Returns
    -------
    ErrorPrior
        With `log_mass_error`, the standard error of each log mass over the runs; with few runs it is itself
        uncertain (Student's t with ``n_runs - 1`` degrees of freedom), and neighbouring ones agree.

    References
    ----------
    .. [1] H. Kahn, T. E. Harris (1951). Estimation of particle transmission by random sampling. For the
       adaptive form, F. Cérou, A. Guyader (2007). Adaptive multilevel splitting for rare event analysis.
    """
    if not isinstance(language, Language):
        raise TypeError(f"language must be a Language, got {type(language).__name__}")
    if n_particles < 2 or n_moves < 1 or n_runs < 2 or not 0 < keep < 1:
        raise ValueError("expected n_particles >= 2, n_moves >= 1, n_runs >= 2 and 0 < keep < 1")
    rows, labels, n_classes = as_sample(X, y)

    def law_of(tape: Tape) -> Floats:
        cells = language.sample_partition(rows, tape)  # type: ignore[arg-type]
        return log_labeling_law(partition_counts(cells, labels, n_classes))

    seeds = np.random.SeedSequence(random_state).spawn(n_runs)
    runs = [_run(law_of, np.random.default_rng(seed), n_particles, n_moves, keep) for seed in seeds]
    stack = np.stack(runs)
    log_mass = logsumexp(stack, axis=0) - np.log(n_runs)
    seen = np.isfinite(log_mass)
    # Relative scatter of the masses; a run that missed a value counts as mass 0.
    relative = np.exp(stack[:, seen] - log_mass[seen])
    error = relative.std(axis=0, ddof=1) / np.sqrt(n_runs)
    errors = np.arange(len(log_mass))[seen] / len(labels)
    prior = ErrorPrior(errors, log_mass=log_mass[seen] - logsumexp(log_mass[seen]))
    return prior._with(source="multilevel splitting", n_rows=len(labels), log_mass_error=error)


def _run(
    law_of: Callable[[Tape], Floats], rng: np.random.Generator, n_particles: int, n_moves: int, keep: float
) -> Floats:
    """Return the log mass of each number of errors, from one population."""

    def make(numbers: Floats) -> _Particle:
        tape = Tape(numbers, rng)
        law = law_of(tape)
        with np.errstate(divide="ignore"):
            reach = np.logaddexp.accumulate(law)
        return _Particle(tape.numbers, tape.used, law, reach)

    particles = [make(rng.random(64)) for _ in range(n_particles)]
    answer = np.full(len(particles[0].log_law), -np.inf)
    level, log_reached = len(answer) - 1, 0.0  # P(at most `level` errors)
    while True:
        reach = np.stack([p.log_reach for p in particles])
        here = reach[:, level][:, None]
        # Mean share of a particle's labelings that make at most s errors, of those within the level
        share = logsumexp(reach[:, : level + 1] - here, axis=0) - np.log(n_particles)
        below = np.flatnonzero(share[:level] >= np.log(keep))
        following = int(below[0]) if len(below) else level - 1
        if following < 0 or not np.isfinite(share[following]):
            following = -1
        laws = np.stack([p.log_law for p in particles])[:, following + 1 : level + 1]
        part = logsumexp(laws - here, axis=0) - np.log(n_particles)
        answer[following + 1 : level + 1] = log_reached + part
        if following < 0:
            return answer
        log_reached += float(share[following])
        weights = np.exp(reach[:, following] - here[:, 0] - share[following]) / n_particles
        # Systematic resampling
        places = (rng.random() + np.arange(n_particles)) / n_particles * weights.sum()
        chosen = np.minimum(np.searchsorted(np.cumsum(weights), places), n_particles - 1)
        level = following
        particles = [_moved(particles[i], level, n_moves, make, rng) for i in chosen]


def _moved(particle: _Particle, level: int, n_moves: int, make: Any, rng: np.random.Generator) -> _Particle:
    """Change single numbers of the tape; accept in proportion to the labelings within the level."""
    for _ in range(n_moves):
        if not particle.used:
            break
        numbers = particle.numbers.copy()
        n_changed = 1 + int(rng.random() < 0.2)
        places = rng.integers(particle.used, size=n_changed)
        numbers[places] = rng.random(n_changed)
        proposed = make(numbers)
        if places.max() >= proposed.used:
            continue  # the reverse step would be impossible
        gain = proposed.log_reach[level] - particle.log_reach[level]
        # The number of places to draw from may differ before and after.
        gain += n_changed * np.log(particle.used / max(1, proposed.used))
        if np.log(rng.random()) < gain:
            particle = proposed
    return particle
