"""Which learning curves are prolonged, and how often the interval then holds their course.

``python -m tests.statistical.prolonged_curves [curves]`` measures curves of known form on 100 to 800 rows,
each point with a standard error of .012, and looks at 1,600, 3,200 and 6,400 rows.
"""

from __future__ import annotations

import sys
from functools import partial

import numpy as np

from offsample.expected_error.sizing import _extrapolate, _slows_down

SIZES, AHEAD, ERROR = 100 * np.array([1, 2, 4, 8]), 100 * np.array([16, 32, 64]), 0.012


def power(exponent, n):
    return 0.1 + 0.3 * (n / 100) ** -exponent


def drop(rows, steepness, n):
    """Flat, then a drop at so many rows."""
    return 0.1 + 0.35 / (1 + (n / rows) ** steepness)


CURVES = {f"power {c}": partial(power, c) for c in (0.3, 0.6, 1.0)}
CURVES |= {
    f"{'slow ' * (s < 4)}drop at {rows}": partial(drop, rows, s)
    for rows in (200, 400, 800, 1600, 3200, 6400)
    for s in (4.0, 2.0)
}


def prolonged(curve, n_curves, seed=0):
    """Whether each curve is prolonged, and whether the interval then holds at each number of rows."""
    rng = np.random.default_rng(seed)
    for _ in range(n_curves):
        errors, spread = curve(SIZES) + rng.normal(0, ERROR, 4), np.full(4, ERROR)
        held = np.zeros(3, dtype=bool)
        is_prolonged = _slows_down(SIZES, errors, spread)
        if is_prolonged:
            _, low, high, _ = _extrapolate(SIZES, errors, spread, AHEAD, goes_on=False)
            held = (low <= curve(AHEAD)) & (curve(AHEAD) <= high)
        yield is_prolonged, *held


def main(n_curves="100"):
    for name, curve in CURVES.items():
        found = np.array(list(prolonged(curve, int(n_curves))))
        said, held = found[:, 0].mean(), found[found[:, 0], 1:]
        ends = " ".join(f"{share:.0%}" for share in held.mean(axis=0)) if len(held) else "-"
        wrong = (found[:, :1] & ~found[:, 1:]).mean(axis=0).max()
        sys.stdout.write(f"{name:18} prolonged {said:4.0%}, holds {ends}; misled at most {wrong:.0%}\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
