"""Sec. 5.1, the xor of three features among ten: Figures 1 to 3."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from offsample.margin import Relief, Simba, margin_score
from papers._experiments import Claim, Outcome, experiment, verdict
from papers._table import format_table

Floats = NDArray[np.float64]

N_RELEVANT, N_FEATURES = 3, 10
CORRECT = np.array([1.0] * N_RELEVANT + [0.0] * (N_FEATURES - N_RELEVANT))
DISTRIBUTIONS = ("uniform", "normal", "corners")
STEPS = (50, 100, 150, 200, 250, *range(300, 701, 100), 750, 800, 900, 1000)
FEW_STEPS = (100, 150, 250, 500, 750, 1000)


def xor_sample(distribution: str, seed: int, n_rows: int = 1000) -> tuple[Floats, NDArray[np.bool_]]:
    """Ten features, and the parity of the signs of the first three."""
    random = np.random.default_rng(seed)
    shape = (n_rows, N_FEATURES)
    X = {
        "uniform": lambda: random.uniform(-1, 1, shape),
        "normal": lambda: random.normal(size=shape),
        "corners": lambda: random.choice([-1.0, 1.0], shape) + random.normal(0, 0.1, shape),
    }[distribution]()
    return X, np.prod(X[:, :N_RELEVANT], axis=1) > 0


def angle(weights: Floats) -> float:
    """Radians between the weights, negative ones as 0, and the correct vector."""
    clipped = np.maximum(weights, 0)
    length = np.linalg.norm(clipped) * np.sqrt(N_RELEVANT)
    return float(np.arccos(min(1.0, clipped[:N_RELEVANT].sum() / length))) if length else np.pi / 2


@cache
def path(distribution: str, seed: int, steps: tuple[int, ...]) -> dict[str, Floats]:
    """After each number of steps, e(w) and the angle of Simba and of Relief: of shape (n_steps, 2)."""
    X, y = xor_sample(distribution, seed)
    points: dict[str, list[list[float]]] = {"Simba": [], "Relief": []}
    for n in steps:
        # One seed, one order of the rows: a shorter run is the beginning of a longer one.
        for name, selector in (
            (
                "Simba",
                Simba(
                    n_iter=n,
                    n_restarts=1,
                    step=1.0,
                    batch_size=1,
                    n_features_to_select=1,
                    scale=None,
                    random_state=seed,
                ),
            ),
            ("Relief", Relief(n_iter=n, n_features_to_select=1, scale=None, random_state=seed)),
        ):
            weights = np.maximum(selector.fit(X, y).feature_weights_, 0)
            score = margin_score(X, y, np.sqrt(weights / max(weights.max(), 1e-300)))
            points[name].append([score, angle(weights)])
    return {name: np.array(values) for name, values in points.items()}


def steps_for(distribution: str) -> tuple[int, ...]:
    return STEPS if distribution == "uniform" else FEW_STEPS


def _mean(values: Sequence[float] | Floats, digits: int = 3) -> str:
    error = np.std(values, ddof=1) / np.sqrt(len(values))
    return f"{np.mean(values):.{digits}f} ± {error:.{digits}f}"


@experiment("margin_selection.fig1", "Xor: the margin function and the angle to the correct vector, by step")
def fig1(n_seeds: int = 20) -> Outcome:
    runs = [path("uniform", seed, STEPS) for seed in range(n_seeds)]
    correct = np.array([margin_score(*xor_sample("uniform", seed), CORRECT) for seed in range(n_seeds)])
    equal = np.array(
        [margin_score(*xor_sample("uniform", seed), np.ones(N_FEATURES)) for seed in range(n_seeds)]
    )
    final = {name: np.array([run[name][-1, 0] for run in runs]) for name in ("Simba", "Relief")}
    share = final["Simba"] / correct
    grown = final["Relief"] - equal
    claims = [
        Claim(
            "Simba's e(w) comes up to that of the correct vector (criterion: 95 % of it)",
            "no number",
            f"{_mean(share)} of it after 1000 steps",
            verdict(bool(np.mean(share) >= 0.95)),
            "" if np.mean(share) >= 0.95 else "it stays below",
        ),
        Claim(
            "Relief increases the margin as well",
            "no number",
            f"e of its weights less e of equal ones: {_mean(grown, 1)}",
            verdict(bool(np.mean(grown) > 2 * np.std(grown, ddof=1) / np.sqrt(n_seeds))),
            "" if np.mean(grown) > 0 else "it does not",
        ),
    ]
    rows = [
        [n, *(_mean([run[name][i, k] for run in runs], 1 if k == 0 else 3) for k in (0, 1) for name in final)]
        for i, n in enumerate(STEPS)
        if n in (100, 250, 500, 750, 1000)
    ]
    header = ["steps", "e: Simba", "e: Relief", "angle: Simba", "angle: Relief"]
    text = (
        f"Uniform features, 1000 rows, mean ± standard error of {n_seeds} samples; e of the correct vector "
        f"{_mean(correct, 1)}, of equal weights {_mean(equal, 1)}\n\n"
    )
    return Outcome(claims, text + format_table(header, rows), {"": _draw_paths(runs[0], correct[0])})


def _draw_paths(run: dict[str, Floats], correct: float) -> Any:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(6, 6), layout="constrained")
    above, below = figure.subplots(2, 1, sharex=True)
    for name, colour, style in (("Simba", "#0072b2", "-"), ("Relief", "#d55e00", ":")):
        above.plot(STEPS, run[name][:, 0], style, color=colour, label=name)
        below.plot(STEPS, run[name][:, 1], style, color=colour, label=name)
    above.axhline(correct, color="0.4", linestyle="--", label="correct vector")
    above.set(ylabel="e(w)", title="xor of three of ten uniform features, one sample")
    below.set(xlabel="steps", ylabel="angle to the correct vector (rad)", ylim=(0, None))
    above.legend()
    return figure


@experiment("margin_selection.fig2", "Xor: the weights that Simba and Relief give the ten features")
def fig2(n_seeds: int = 20) -> Outcome:
    shown_steps = (100, 500, 1000)
    rows, claims = [], []
    for distribution in DISTRIBUTIONS:
        steps = steps_for(distribution)
        runs = [path(distribution, seed, steps) for seed in range(n_seeds)]
        angles = {
            name: np.array([[run[name][steps.index(n), 1] for n in shown_steps] for run in runs])
            for name in ("Simba", "Relief")
        }
        rows += [
            [distribution, name, *(_mean(column) for column in values.T)] for name, values in angles.items()
        ]
        ahead = angles["Relief"] - angles["Simba"]
        errors = ahead.std(axis=0, ddof=1) / np.sqrt(n_seeds)
        holds = bool((ahead.mean(axis=0) > 2 * errors).all())
        claims.append(
            Claim(
                f"Simba is nearer to the correct weights than Relief ({distribution} features)",
                "no number",
                "angle smaller by "
                + ", ".join(
                    f"{mean:.3f} ± {error:.3f} ({n})"
                    for mean, error, n in zip(ahead.mean(axis=0), errors, shown_steps, strict=True)
                ),
                verdict(holds),
                "" if holds else "the difference is within two standard errors at some number of steps",
            )
        )
    header = ["features", "method", *(f"angle, {n} steps" for n in shown_steps)]
    text = f"Mean ± standard error of {n_seeds} samples, in radians\n\n"
    return Outcome(claims, text + format_table(header, rows), {"": _draw_weights()})


def _draw_weights() -> Any:
    from matplotlib.figure import Figure

    X, y = xor_sample("uniform", 0)
    figure = Figure(figsize=(8, 5), layout="constrained")
    axes = figure.subplots(2, 2, sharex=True)
    for name, row, make in (("Simba", axes[0], Simba), ("Relief", axes[1], Relief)):
        options = {"n_restarts": 1} if make is Simba else {}
        for ax, n in zip(row, (100, 500), strict=True):
            weights = make(n_iter=n, scale=None, random_state=0, **options).fit(X, y).feature_weights_
            colours = ["#0072b2"] * N_RELEVANT + ["0.6"] * (N_FEATURES - N_RELEVANT)
            ax.bar(range(1, N_FEATURES + 1), weights / np.abs(weights).max(), color=colours)
            ax.axhline(0, color="0.3", linewidth=0.8)
            ax.set(title=f"{name}, {n} steps", ylabel="weight / largest", xticks=range(1, N_FEATURES + 1))
    for ax in axes[1]:
        ax.set_xlabel("feature (the first three are relevant)")
    return figure


@experiment("margin_selection.fig3", "Xor: the angle as a function of the margin function")
def fig3(n_seeds: int = 20) -> Outcome:
    rows, claims = [], []
    for distribution in DISTRIBUTIONS:
        steps = steps_for(distribution)
        late = [i for i, n in enumerate(steps) if n >= 150]
        correlations = [
            float(np.corrcoef(path(distribution, seed, steps)["Simba"][late].T)[0, 1])
            for seed in range(n_seeds)
        ]
        holds = float(np.mean(correlations)) <= -0.8
        rows.append(
            [distribution, _mean(correlations), f"{min(correlations):.2f}", f"{max(correlations):.2f}"]
        )
        claims.append(
            Claim(
                f"e(w) and the angle are linearly related, steps 150 to 1000 ({distribution} features; "
                "criterion: a mean correlation of -.8 or below)",
                "no number",
                f"correlation {_mean(correlations)}",
                verdict(holds),
                ""
                if holds
                else "once the angle is small, steps move the weights around the best ones: both vary little",
            )
        )
    header = ["features", "correlation of e(w) and the angle", "lowest", "highest"]
    text = f"Simba, steps 150 to 1000, mean ± standard error of {n_seeds} samples\n\n"
    return Outcome(claims, text + format_table(header, rows), {"": _draw_scatter()})


def _draw_scatter() -> Any:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(9, 3.4), layout="constrained")
    for ax, distribution in zip(figure.subplots(1, 3), DISTRIBUTIONS, strict=True):
        steps = steps_for(distribution)
        late = [i for i, n in enumerate(steps) if n >= 150]
        for seed, (marker, colour) in enumerate((("o", "#0072b2"), ("^", "#d55e00"), ("s", "#009e73"))):
            points = path(distribution, seed, steps)["Simba"][late]
            ax.plot(points[:, 0], points[:, 1], marker, color=colour, label=f"sample {seed + 1}")
        ax.set(title=f"{distribution} features", xlabel="e(w)", ylabel="angle (rad)")
    figure.axes[0].legend()
    return figure
