"""Tables of known making: columns, class codes and, for those with an order, its name."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

Table = tuple[dict[str, np.ndarray], np.ndarray]


def _classes(random: np.random.Generator, score: np.ndarray) -> np.ndarray:
    """A noisy class that a score decides in part."""
    score = (score - score.mean()) / max(score.std(), 1e-9)
    return (random.random(len(score)) < 1 / (1 + np.exp(-1.5 * score))).astype(np.int64)


def few_valued(random: np.random.Generator) -> Table:
    n_rows = int(random.integers(200, 1500))
    columns = {}
    for j in range(int(random.integers(3, 9))):
        n_values = int(random.integers(2, 7))
        columns[f"c{j}"] = random.choice(n_values, n_rows, p=random.dirichlet(np.ones(n_values)))
    return columns, _classes(random, columns["c0"] + columns["c1"].astype(float))


def latent_classes(random: np.random.Generator) -> Table:
    """Few-valued columns that depend on each other strongly, as symptoms of diseases do."""
    n_rows, n_kinds = int(random.integers(200, 1500)), int(random.integers(3, 12))
    kind = random.choice(n_kinds, n_rows, p=random.dirichlet(np.ones(n_kinds)))
    columns = {}
    for j in range(int(random.integers(6, 15))):
        shares = random.dirichlet(np.full(int(random.integers(2, 13)), 0.2), n_kinds)
        columns[f"c{j}"] = (random.random(n_rows)[:, None] > np.cumsum(shares, axis=1)[kind][:, :-1]).sum(
            axis=1
        )
    return columns, _classes(random, kind.astype(float))


def chain(random: np.random.Generator) -> Table:
    """Each column is the one before but for one row in ten."""
    n_rows, n_values = int(random.integers(200, 1500)), int(random.integers(2, 30))
    column = random.integers(0, n_values, n_rows)
    columns = {}
    for j in range(int(random.integers(4, 10))):
        columns[f"c{j}"] = column
        column = np.where(random.random(n_rows) < 0.1, random.integers(0, n_values, n_rows), column)
    return columns, _classes(random, column.astype(float))


def rounded(random: np.random.Generator) -> Table:
    """Correlated measurements, rounded, some derived from others: a price in another currency, a sum."""
    n_rows, n_columns = int(random.integers(200, 1500)), int(random.integers(2, 7))
    mixed = random.normal(size=(n_rows, n_columns)) @ random.normal(size=(n_columns, n_columns))
    step = random.choice([0.05, 0.3, 1.0], n_columns)
    measured = np.round(mixed / step) * step
    columns = {f"x{j}": measured[:, j] for j in range(n_columns)}
    columns["currency"] = np.round(measured[:, 0] * 1.1, 2)
    columns["sum"] = measured[:, 0] + measured[:, 1]
    return columns, _classes(random, mixed[:, 0])


def sparse(random: np.random.Generator) -> Table:
    """Counts that are nearly all zero, together: most rows are the same."""
    n_rows = int(random.integers(200, 1500))
    busy = random.random(n_rows) < 0.2
    columns = {
        f"n{j}": np.where(busy, random.poisson(random.gamma(0.3), n_rows), 0).astype(float)
        for j in range(int(random.integers(5, 20)))
    }
    return columns, _classes(random, busy + columns["n0"])


def measured(random: np.random.Generator) -> Table:
    """One of the above, with a number that was measured of each row, more or less exactly."""
    make = random.choice(np.array([few_valued, latent_classes, chain, rounded, sparse]))
    columns, y = make(random)
    return {**columns, "measure": random.normal(size=len(y)).round(random.choice([2, 15]))}, y


def cities(random: np.random.Generator) -> Table:
    """An honest city of many, with its region, beside a person's age, hour, job and income."""
    n_rows, n_cities = int(random.integers(600, 1500)), int(random.integers(30, 200))
    share = 1 / np.arange(1, n_cities + 1)
    city = random.choice(n_cities, n_rows, p=share / share.sum())
    age = random.integers(18, 90, n_rows).astype(float)
    job = random.integers(0, 14, n_rows)
    columns = {
        "city": random.permutation(n_cities)[city],
        "region": random.integers(0, 6, n_cities)[city],
        "age": age,
        "married": (random.random(n_rows) < age / 100).astype(np.int64),
        "job": job,
        "income": np.round(random.lognormal(3 + 0.3 * (job % 3), 0.5, n_rows)),
        "hour": random.integers(0, 24, n_rows).astype(float),
    }
    return columns, _classes(random, random.normal(size=n_cities)[city] + age / 20)


INDEPENDENT: dict[str, Callable[[np.random.Generator], Table]] = {
    make.__name__: make for make in (few_valued, latent_classes, chain, rounded, sparse, measured, cities)
}


def patients(random: np.random.Generator, n_patients: int = 60, n_each: int = 40) -> Table:
    """Sixty patients with forty rows each, in no order: a label by coin flip, and columns that stay alike."""
    patient = random.permutation(np.repeat(np.arange(n_patients), n_each))
    level = random.normal(size=(n_patients, 5))[patient]
    columns = {f"x{j}": column for j, column in enumerate((level + 0.3 * random.normal(size=level.shape)).T)}
    return {"nr": patient.astype(float), **columns}, random.integers(0, 2, n_patients)[patient]


def five_times(random: np.random.Generator, n_rows: int = 300) -> Table:
    """Noise, every row five times."""
    row = random.permutation(np.repeat(np.arange(n_rows), 5))
    noise = random.normal(size=(n_rows, 4))[row]
    columns = {f"x{j}": column for j, column in enumerate(noise.T)}
    return {**columns, "kind": random.integers(0, 3, n_rows)[row]}, random.integers(0, 2, n_rows)[row]


def drifting(random: np.random.Generator, n_rows: int = 2000) -> Table:
    """A class more and more frequent along a running number, and a column that works in its first part."""
    number = random.permutation(n_rows)
    y = (random.random(n_rows) < 0.35 + 0.3 * number / n_rows).astype(np.int64)
    noise = random.integers(0, 2, n_rows)
    sign = np.where((number < 0.7 * n_rows) & (random.random(n_rows) < 0.8), y, noise)
    return {"number": number.astype(float), "sign": sign, "noise": noise, "x": random.normal(size=n_rows)}, y
