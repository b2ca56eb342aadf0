"""How often the interval of a `TreeRegressor` holds its mean squared error on new rows.

``python -m tests.statistical.number_intervals 200`` draws 200 tables of each kind, of 1,000 rows 100 and of
5,000 rows 16: five laws of the target, 100 to 5,000 rows, with a signal and without; then 10, 30 and 100
groups of ten rows, whose rows share an offset and two columns. It prints the share of the intervals that
hold the error of the very tree that was grown. That error needs no draws of the target: it is the squared
distance of the prediction to the mean of the law plus the variance of the law, over the columns of 5,000 new
rows. With ``crossed`` after the number, the signal is what two columns say together, and neither alone; with
``fresh``, of other seeds than those by which the rule about folds was judged while it was made.
"""

from __future__ import annotations

import sys
from typing import Any

import numpy as np

from offsample import TreeRegressor

SIZES, GROUPS = (100, 300, 1_000, 5_000), (10, 30, 100)
N_NEW, PER_GROUP = 5_000, 10
FIRST = 1_000  # widths were chosen by seeds below


def normal(mean: np.ndarray, random: Any) -> tuple[np.ndarray, ...]:
    """Draw with the deviation 1; return the draws, their means and their variances, as all of these do."""
    return mean + random.normal(size=len(mean)), mean, np.ones(len(mean))


def poisson(mean: np.ndarray, random: Any) -> tuple[np.ndarray, ...]:
    """Draw counts of 3 on average without a signal."""
    rate = 3 * np.exp(mean / 2)
    return random.poisson(rate).astype(float), rate, rate


def lognormal(mean: np.ndarray, random: Any) -> tuple[np.ndarray, ...]:
    """Draw what is normal by its logarithm."""
    centre = np.exp(mean / 2 + 0.5)
    return np.exp(mean / 2 + random.normal(size=len(mean))), centre, centre**2 * (np.e - 1)


def zeros(mean: np.ndarray, random: Any) -> tuple[np.ndarray, ...]:
    """Draw seven zeros in ten, and otherwise from an exponential law."""
    scale = np.exp(mean / 2)
    drawn = random.exponential(scale) * (random.random(len(mean)) < 0.3)
    return drawn, 0.3 * scale, scale**2 * (0.6 - 0.09)


def t3(mean: np.ndarray, random: Any) -> tuple[np.ndarray, ...]:
    """Draw from Student's law of three degrees of freedom."""
    return mean + random.standard_t(3, len(mean)), mean, np.full(len(mean), 3.0)


LAWS = {"normal": normal, "Poisson": poisson, "log-normal": lognormal, "zero-inflated": zeros, "t3": t3}


def columns(n: int, random: Any, group: np.ndarray | None = None) -> tuple[dict[str, Any], np.ndarray]:
    """Draw five columns, of which a number and a category matter; two are the same within a group."""
    unit = np.arange(n) if group is None else group
    x, city = random.normal(size=unit.max() + 1)[unit], random.integers(0, 8, unit.max() + 1)[unit]
    other, third = random.normal(size=(2, n))
    table = {"x": x, "city": city.astype(str), "other": other, "third": third}
    table["day"] = random.integers(0, 7, n).astype(str)
    return table, np.clip(x, -1, 1) + 0.5 * (other > 0) + np.where(city < 3, 0.8, 0.0)


def crossed(n: int, random: Any, _: None = None) -> tuple[dict[str, Any], np.ndarray]:
    """Draw six numbers, of which two matter together."""
    x = random.normal(size=(6, n))
    return dict(zip("abcdef", x, strict=True)), 3 * np.sign(x[0] * x[1])


def held(
    law: str, n: int, seed: int, *, signal: bool, groups: int = 0, drawn: Any = columns
) -> tuple[bool, float]:
    """Grow a tree, and say whether its interval holds its error on new rows, and how wide it is."""
    random = np.random.default_rng([seed, n, groups, signal])
    group = np.repeat(np.arange(groups), PER_GROUP) if groups else None
    new_group = np.repeat(np.arange(N_NEW // PER_GROUP), PER_GROUP) if groups else None
    (table, mean), (new, new_mean) = drawn(n, random, group), drawn(N_NEW, random, new_group)
    offset = random.normal(size=groups)[group] if groups else 0.0
    y = LAWS[law](signal * mean + offset, random)[0]
    tree = TreeRegressor(random_state=seed).fit(table, y, groups=group)
    new_offset = random.normal(size=N_NEW // PER_GROUP)[new_group] if groups else 0.0
    _, centre, variance = LAWS[law](signal * new_mean + new_offset, random)
    error = float(((tree.predict(new) - centre) ** 2 + variance).mean())
    low, high = tree.estimated_error_interval_
    return low <= error <= high, float(np.sqrt(high / low))


def main(n_seeds: int, *only: str) -> None:
    """Print a line for each law, number of rows or groups, and signal."""
    if "crossed" in only:
        first = 5_000 if "fresh" in only else FIRST
        for n in SIZES[:3]:
            seeds = range(first, first + max(10, n_seeds // max(1, n // 400)))
            found = np.array([held("normal", n, seed, signal=True, drawn=crossed) for seed in seeds])
            sys.stdout.write(f"crossed {n:>6,} rows  {found[:, 0].mean():.3f}\n")
        return
    for law in only or LAWS:
        for n, groups in [*((n, 0) for n in SIZES), *((g * PER_GROUP, g) for g in GROUPS)]:
            told = []
            for signal in (True, False):
                seeds = range(FIRST, FIRST + max(10, n_seeds // max(1, n // 400)))
                found = np.array([held(law, n, seed, signal=signal, groups=groups) for seed in seeds])
                told.append(f"{found[:, 0].mean():.3f} (factor {np.median(found[:, 1]):.2f})")
            what = f"{groups} groups" if groups else f"{n:,} rows"
            sys.stdout.write(f"{law:14} {what:>11}  signal {told[0]}  noise {told[1]}\n")
            sys.stdout.flush()


if __name__ == "__main__":
    main(int(sys.argv[1]), *sys.argv[2:])
