"""How large a tree should be, and what more rows would bring."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.stats import chi2
from sklearn.base import clone
from sklearn.utils import check_consistent_length

from offsample import _folds
from offsample._frames import make_frame
from offsample._held_out_counts import unit_parts
from offsample._squared_losses import ratio_interval
from offsample._text import MAJORITY, digits
from offsample._ties import best_of, rounded
from offsample._typing import Floats, Ints
from offsample._unit_intervals import first_as_good, loss_interval
from offsample.induction.by_groups import chosen_by_groups, class_counts, guessing
from offsample.induction.by_time import Blocks
from offsample.induction.tree.classifier import TreeClassifier
from offsample.induction.tree.regressor import TreeRegressor
from offsample.tables import Task, Units, is_dataframe, joined_groups, take_rows, unit_codes
from offsample.tables._columns import given_column
from offsample.tables._targets import check_task, numbers_of

_SHARES = (1 / 16, 1 / 8, 1 / 4, 1 / 2)
_AHEAD = (1, 2, 4)
_EXPONENTS = np.linspace(0.1, 2.0, 20)
_FACTORS = np.linspace(0.8, 1.2, 9)


@dataclass(frozen=True)
class SizePoint:
    """Expected error of a tree of `n_splits` splits."""

    n_splits: int
    error: float  # on new rows by cross-validation of the growth path, with its 95 % interval
    low: float
    high: float
    training_error: float


@dataclass(frozen=True)
class CurvePoint:
    """Expected error of a model grown on `n_rows` rows, with its 95 % interval."""

    n_rows: int
    error: float
    low: float
    high: float
    measured: bool  # whether models were grown on this many rows; otherwise the curve was extrapolated


@dataclass(frozen=True)
class SizeForecast:
    """How large a tree should be, and what more rows would bring."""

    sizes: tuple[SizePoint, ...]
    best: SizePoint  # the smallest tree within one standard error of the least error
    # Of the tree that stops by itself: measured, then extrapolated, if it can be.
    curve: tuple[CurvePoint, ...]
    gain_of_doubling: tuple[float, float]  # interval for the decrease of the error with twice the rows
    method: str
    statement: str  # the same in words
    n_rows: int
    new_rows: str = "new rows"  # what the errors are for, in words
    task: str = "classification"  # of "regression", errors are mean squared ones

    def to_dict(self) -> dict[str, Any]:
        """Return plain numbers, strings and lists, for JSON."""
        plain = asdict(self)
        return plain | {name: list(plain[name]) for name in ("sizes", "curve", "gain_of_doubling")}

    def to_frame(self) -> Any:
        """Return a dataframe with one row per size, of the library that is installed."""
        names = ("n_splits", "error", "low", "high", "training_error")
        return make_frame({name: [getattr(point, name) for point in self.sizes] for name in names})

    def __repr__(self) -> str:
        def line(first: int, at: Any, more: str) -> str:
            return f"{first:>7} {at.error:>7.4f} {at.low:>7.4f}–{at.high:<7.4f}{more}"

        lines = [f"{'splits':>7} {'error':>7} {'95% interval':>15} {'training':>9}"]
        for point in self.sizes:
            mark = "  the smallest that is about as good as the best" * (point == self.best)
            lines.append(line(point.n_splits, point, f" {point.training_error:>9.4f}{mark}"))
        lines.append(f"{'rows':>7} {'error':>7} {'95% interval':>15}")
        lines += [line(at.n_rows, at, "  projected" * (not at.measured)) for at in self.curve]
        lines.append(self.statement)
        return "\n".join(line.rstrip() for line in lines)


def size_forecast(
    X: Any,
    y: ArrayLike,
    *,
    sizes: Sequence[int] = (0, 1, 2, 4, 8, 16, 32, 64, 128, 256),
    n_folds: int = 3,
    random_state: int = 0,
    groups: ArrayLike | None = None,
    time: ArrayLike | None = None,
    new_rows: str | None = None,
    task: Task = "auto",
) -> SizeForecast:
    """Estimate the error of trees against their number of splits and against the number of rows.

    Trees are greedy and do not minimise their errors on the sample, so the expected error analysis does not
    apply to them: the errors of all sizes are read off one growth path per fold. The learning curve is
    measured on random parts of the rows and, where it falls ever more slowly, extrapolated by ``a + b n^-c``;
    its interval covers all curves of this form that fit the measurements (95 %).

    Parameters
    ----------
    X : array, dataframe or dict of columns, of n_samples rows
    y : array-like of shape (n_samples,)
        Classes, or numbers: errors are then mean squared ones.
    sizes : sequence of int
        Numbers of splits; those beyond the largest tree are shown once.
    n_folds, random_state : int
    groups : array-like of shape (n_samples,), optional
        Rows that belong together: trees are tested on other groups than they were grown on, and intervals
        have groups as their units. What more rows would bring is then not said: it takes more groups. Of
        shape (n_samples, 2) they cross, as users and items do: tested rows share neither.
    time : array-like of shape (n_samples,), optional
        When a row was made: trees are tested on later rows than they were grown on, and the units of
        intervals are thirty parts of the time. What more rows would bring is then not said either.
    new_rows : str, optional
        What the errors are for, in words, such as "rows with a new 'patient'".
    task : {"auto", "classification", "regression"}
        Whether the target is classes or a number; see `rank_features`.

    Examples
    --------
    >>> import numpy as np
    >>> from offsample.expected_error import size_forecast
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(800, 4))
    >>> y = ((X[:, 0] > 0) & (X[:, 1] > 0)) ^ (rng.random(800) < 0.1)
    >>> found = size_forecast(X, y, sizes=[0, 1, 2, 4, 64])
    >>> found.best.n_splits
    2
    """
    check_task(task)
    numbers = numbers_of(given_column(y), task, "y")
    labels, of_numbers = (np.asarray(y), False) if numbers is None else (numbers, True)
    is_dataframe(X)  # refuses two columns of one name
    check_consistent_length(next(iter(X.values()), ()) if isinstance(X, Mapping) else X, labels)
    n_rows = len(labels)
    wanted = sorted({int(size) for size in sizes})
    if not wanted or wanted[0] < 0:
        raise ValueError(f"sizes must be numbers of splits of at least 0, got {list(sizes)}")
    classes, counts = np.unique(labels, return_counts=True)
    if of_numbers and len(classes) < 2:
        raise ValueError("y has one value only: expected two or more")
    if not of_numbers and (len(classes) < 2 or counts.min() < n_folds):
        rarest = f"class {classes[counts.argmin()]!s} has {counts.min()}"
        raise ValueError(
            f"two classes or more with {n_folds} rows each are needed to cross-validate: "
            f"{rarest if len(classes) > 1 else 'there is one'}"
        )
    kind: Any = TreeRegressor if of_numbers else TreeClassifier
    grower = kind(stopping="none", max_splits=wanted[-1], random_state=random_state)
    unit = float(labels.var()) if of_numbers else 1.0
    of = joined_groups(groups, n_rows)
    when = None if time is None else unit_codes(time, "time", n_rows)
    codes: NDArray[Any] = labels if of_numbers else np.searchsorted(classes, labels)
    said, blocks = np.zeros((len(wanted), n_rows), codes.dtype), None
    tested = np.zeros(n_rows, bool)  # all, but the first of those in time, and a part if groups cross
    if when is None and not isinstance(of, tuple):
        splits = _folds.shuffled(labels, n_folds, random_state, stratify=not of_numbers, groups=of)
    else:
        blocks = Blocks.of(codes, of, when, random_state, n_folds=n_folds)
        splits = blocks.splits
    reach = wanted[-1]
    training = np.zeros(len(wanted))
    for train, test in splits:
        tree = grower.fit(take_rows(X, train), labels[train])
        reach, tested[test] = min(reach, len(tree.path_) - 1), True
        stages = [
            min(size, len(tree.path_) - 1) if of_numbers else tree.path_.kept_within(size) for size in wanted
        ]
        training += [tree.path_[stage].training_error / len(splits) for stage in stages]
        predicted = np.asarray(tree.staged_predict(take_rows(X, test), stages))
        said[:, test] = predicted if of_numbers else np.searchsorted(classes, predicted)
    units, guesses = unit_parts(of, when), wanted[0] == 0 and not of_numbers
    if guesses and when is None:  # the same guess in all folds
        said[0] = counts.argmax()
    # Of the sizes that no tree reaches, the first stands for the largest tree of each fold.
    n_shown = 1 + sum(size < reach for size in wanted[:-1])
    said, codes, units = said[:n_shown, tested], codes[tested], [one[tested] for one in units]
    losses = (said - codes) ** 2 if of_numbers else (said != codes).astype(float)
    # Models of folds share most of their units, and differ from that of all (Nadeau & Bengio 2003).
    times = 1 + n_folds / (n_folds - 1) if units or of_numbers else 1.0
    found = [
        (
            float(row.mean()),
            ratio_interval(row, None, units, times) if of_numbers else loss_interval(row, units, times=times),
        )
        for row in losses
    ]
    if guesses and of is not None:
        of_kinds = [guessing(class_counts(one[tested], codes, len(classes))) for one in unit_parts(of, None)]
        errors, ends = zip(*of_kinds, (found[0][0], loss_interval(losses[0], units)), strict=True)
        found[0] = max(errors), (min(low for low, _ in ends), max(high for _, high in ends))
    elif guesses and blocks is not None:
        found[0] = found[0][0], loss_interval(losses[0], units)
    points = tuple(
        SizePoint(max(min(size, reach), wanted[0]), error, *ends, float(of_training))
        for size, (error, ends), of_training in zip(wanted, found, training, strict=False)
    )
    if blocks is not None and wanted[0] == 0:
        best = points[blocks.chosen(losses, said)]
    elif units and guesses:
        best = points[chosen_by_groups(losses, said, codes, units[0], times)]
    else:
        best = points[first_as_good(losses / unit, units)]
    curve: tuple[CurvePoint, ...] = ()
    gain, whom = (0.0, 1.0), new_rows or Units.of(groups, time).new_rows
    outlook = f"What more rows would bring is not said: {why_no_curve(whom, of is not None)}."
    if not units:

        def squared(model: Any, rows: Ints) -> Floats:  # as shares of the variance
            return np.asarray((model.predict(take_rows(X, rows)) - labels[rows]) ** 2 / unit)

        asked: Any = {"losses": squared} if of_numbers else {}
        learner = kind(random_state=random_state)
        curve, gain = learning_curve(X, labels, learner=learner, random_state=random_state, **asked)
        curve = tuple(
            replace(at, error=at.error * unit, low=at.low * unit, high=at.high * unit) for at in curve
        )
        gain = gain[0] * unit, gain[1] * unit
        outlook = _outlook(curve, gain, of_numbers)
    method = f"{len(splits)}-fold cross-validation of the growth path"
    statement = f"{_recommendation(points, best, whom, of_numbers)} {outlook}"
    named = "regression" if of_numbers else "classification"
    return SizeForecast(points, best, curve, gain, method, statement, n_rows, whom, named)


def why_no_curve(new_rows: str, by_groups: bool) -> str:
    """Say why parts of the rows do not tell what is asked of new groups, or later rows."""
    more = "more groups" if by_groups else "a longer time"
    return f"a curve over rows does not say what {more} would bring for {new_rows}"


def _recommendation(points: Sequence[SizePoint], best: SizePoint, new_rows: str, of_numbers: bool) -> str:
    tree = f"A tree with {best.n_splits:,} split{'s' * (best.n_splits != 1)}"
    if best.n_splits == 0:
        tree = f"No tree is shown to help: {'the mean' if of_numbers else MAJORITY}"
    others = "" if len(points) == 1 else "; no other size that was tried is clearly better"
    ends = best.error, best.low, best.high
    error, low, high = (digits(end**0.5) if of_numbers else f"{end:.1%}" for end in ends)
    told = f"off by {error} on {new_rows} (root of the mean squared error, " * of_numbers
    told = told or f"wrong on {error} of {new_rows} ("
    return f"{tree} should be {told}95% interval {low} to {high}){others}."


def _outlook(curve: Sequence[CurvePoint], gain: tuple[float, float], of_numbers: bool) -> str:
    if not curve:
        return "There are too few rows to say what more of them would bring."
    if curve[-1].measured:
        return (
            "What more rows would bring cannot be told: with more of them the error has not fallen so far, "
            "or ever faster, and such a curve may drop at last."
        )
    low, high = (f"{100 * max(0.0, value):.1f}" for value in gain)
    if of_numbers:  # in shares of the squared error with these rows, which the curve says
        now = next(at.error for at in curve if not at.measured)
        low, high = (f"{100 * min(1.0, max(0.0, value) / max(now, 1e-300)):.1f}" for value in gain)
    if high == "0.0":
        return "Twice as many rows would not make a tree better."
    by = f"about {low}" if low == high else f"at most {high}" if low == "0.0" else f"{low} to {high}"
    perhaps = ", perhaps not at all" if low == "0.0" else ""
    if of_numbers:
        return f"Twice as many rows would lower the mean squared error of a tree by {by} %{perhaps}."
    return f"Twice as many rows would lower the error of a tree by {by} percentage points{perhaps}."


def learning_curve(
    X: Any,
    labels: NDArray[Any],
    *,
    learner: Any,
    known: tuple[int, float] | None = None,
    deviation_known: float = 0.0,
    n_repeats: int = 3,
    random_state: int = 0,
    losses: Callable[[Any, Ints], Floats] | None = None,
) -> tuple[tuple[CurvePoint, ...], tuple[float, float]]:
    """Measure the errors of models of parts of the rows; return the curve, extrapolated, and its gain.

    `known` has the number of rows and the error of a fit elsewhere, for example in cross-validation of all
    rows, and `deviation_known` the least standard error that this has; `n_repeats`, at least 2, is the
    number of parts of each size. The gain is that of doubling the rows. Other `losses` than errors are those
    of a model on some rows.
    """
    rng = np.random.default_rng(random_state)
    n_rows = len(labels)
    sizes, errors, spreads = [], [], []
    for share in _SHARES:
        size, spread = int(n_rows * share), 0.0
        found: list[float] = []
        for _ in range(n_repeats):
            order = rng.permutation(n_rows)
            part, rest = order[:size], order[size : size + 10_000]
            n_classes = len(np.unique(labels[part]))
            # with one row in most classes there is nothing to learn
            if size < 20 or n_classes < 2 or (n_classes > size // 2 and labels.dtype.kind != "f"):
                break
            part = np.sort(part)
            model = clone(learner).fit(take_rows(X, part), labels[part])
            lost = (
                model.predict(take_rows(X, rest)) != labels[rest] if losses is None else losses(model, rest)
            )
            found.append(float(lost.mean()))
            spread += float(lost.var()) / n_repeats
        if len(found) == n_repeats:
            sizes.append(size)
            errors.append(np.array(found))
            spreads.append(spread)
    if len(sizes) < 3:
        return (), (0.0, 1.0)
    mean = np.array([e.mean() for e in errors])
    # Scatter over the parts, pooled, in units of that of a part's test rows: next to none of a guess.
    tests = np.minimum(n_rows - np.array(sizes), 10_000).astype(float)
    variance, most = (mean * (1 - mean), 1.0) if losses is None else (np.array(spreads), np.inf)
    sampling = np.sqrt(variance / tests + 1e-6)
    pooled = np.sqrt(np.sum([e.var(ddof=1) for e in errors]) / (sampling**2).sum())
    deviation = sampling * max(1.0, float(pooled)) / np.sqrt(n_repeats)
    if known is not None:  # every row was tested once
        size, error = known
        sizes.append(size)
        mean = np.append(mean, error)
        own = error * (1 - error) if losses is None else spreads[-1]
        last = np.sqrt(own / n_rows + 1e-6) * max(1.0, float(pooled))
        deviation = np.append(deviation, max(last, deviation_known))
    measured = tuple(
        CurvePoint(n, float(e), float(max(0, e - 1.96 * d)), float(min(most, e + 1.96 * d)), True)
        for n, e, d in zip(sizes, mean, deviation, strict=True)
    )
    if not _slows_down(np.array(sizes), mean, deviation):
        return measured, (0.0, 1.0)
    ahead = np.array([n_rows * k for k in _AHEAD])
    *bands, gain = _extrapolate(np.array(sizes), mean, deviation, ahead, goes_on=known is not None)
    beyond = tuple(
        CurvePoint(int(n), float(e), float(a), float(b), False)
        for n, e, a, b in zip(ahead, *bands, strict=True)
        if known is None or n > n_rows
    )
    return measured + beyond, gain


def _slows_down(sizes: Ints, errors: Floats, deviations: Floats) -> bool:
    """Whether the error falls, and by less with each doubling: only then does a curve tell how it goes on.

    A flat curve may drop at last, as where an interaction is found; one that falls ever faster, or at its
    last point alone, has begun to. Flat is what a chi-squared test does not reject at 95 %, with the last
    point or without; faster is by half a standard error (``python -m tests.statistical.prolonged_curves``).
    """
    for n in (len(errors), len(errors) - 1):
        level = np.average(errors[:n], weights=deviations[:n] ** -2.0)
        if (((errors[:n] - level) / deviations[:n]) ** 2).sum() <= chi2.ppf(0.95, n - 1):
            return False
    steps = np.diff(np.log(sizes))[-2:]
    weights = np.array([1 / steps[0], -1 / steps[0] - 1 / steps[1], 1 / steps[1]])
    faster = -float(weights @ errors[-3:])  # fall per step, the last less the one before
    limit = 0.5 * float(np.sqrt(weights**2 @ deviations[-3:] ** 2))
    return bool(errors[-1] < errors[0] and rounded(faster) <= rounded(limit))


def _extrapolate(
    sizes: Ints, errors: Floats, deviations: Floats, ahead: Ints, *, goes_on: bool
) -> tuple[Floats, Floats, Floats, tuple[float, float]]:
    """Return the best curve ``a + b n^-c`` with a, b >= 0, and the envelope and gains of all not rejected.

    Curves are rejected at 95 % by all measurements and by the last three: a curve often begins with another
    slope. If it `goes_on`, the best curve is moved to begin at the last measurement.
    """
    scale = sizes.min()
    floors = np.linspace(0.0, errors.max() + 2 * deviations.max(), 81)
    c, a, factor = (grid.ravel() for grid in np.meshgrid(_EXPONENTS, floors, _FACTORS, indexing="ij"))
    basis = (sizes / scale) ** -c[:, None]
    beyond = (ahead / scale) ** -c[:, None]
    best, low, high = None, np.full(len(ahead), np.inf), np.full(len(ahead), -np.inf)
    gains = []
    for last in {len(sizes), 3}:
        u, e, d = basis[:, -last:], errors[-last:], deviations[-last:]
        b = factor * np.maximum(0.0, ((e - a[:, None]) * u / d**2).sum(axis=1) / (u**2 / d**2).sum(axis=1))
        misfit = (((e - a[:, None] - b[:, None] * u) / d) ** 2).sum(axis=1)
        curves = a[:, None] + b[:, None] * beyond
        least = best_of(-misfit)
        if last == len(sizes):
            fall = a[least] + b[least] * basis[least, -1] - curves[least]
            best = np.maximum(errors[-1] - fall, 0.0) if goes_on else curves[least]
        # 3 free parameters: the 95 % quantile of chi-squared; a bad best fit widens the band.
        most = misfit[least] + 7.815 * max(1.0, misfit[least] / max(1, last - 2))
        kept = rounded(misfit) <= rounded(most)
        low, high = np.minimum(low, curves[kept].min(axis=0)), np.maximum(high, curves[kept].max(axis=0))
        gains.append((curves[:, 0] - curves[:, 1])[kept])
    assert best is not None
    gain = np.concatenate(gains)
    low, high = np.minimum(low, best), np.maximum(high, best)
    return best, low, high, (float(gain.min()), float(gain.max()))
