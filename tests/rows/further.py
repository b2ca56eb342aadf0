"""Tables written after the rules were mended, to judge them once more: see `unseen`."""

from __future__ import annotations

import numpy as np

from tests.rows.generators import Table, _classes
from tests.rows.unseen import Random, _zipf


def census(random: Random) -> Table:
    """People: a schooling in words and in years, a job, hours that are mostly 40, rare gains."""
    n_rows = int(random.integers(500, 3000))
    school = np.clip(np.round(random.normal(9, 3, n_rows)), 0, 15).astype(np.int64)
    columns = {
        "age": np.round(random.gamma(6, 7, n_rows)),
        "school": random.permutation(16)[school],
        "years": school.astype(float),
        "job": _zipf(random, 15, n_rows, 0.5),
        "hours": np.where(random.random(n_rows) < 0.5, 40.0, np.round(random.normal(40, 12, n_rows))),
        "gain": np.where(random.random(n_rows) < 0.08, np.round(random.lognormal(8, 1, n_rows), -2), 0.0),
        "country": _zipf(random, 42, n_rows, 2.0),
    }
    return columns, _classes(random, school + columns["age"] / 20)


def geography(random: Random) -> Table:
    """Postcodes with a latitude, a longitude and a population; the class depends on the latitude."""
    n_rows, n_codes = int(random.integers(800, 3000)), int(random.integers(50, 300))
    code = _zipf(random, n_codes, n_rows, 0.5)
    north = random.normal(size=n_codes)
    columns = {
        "code": code.astype(float) if random.random() < 0.5 else code,
        "north": north[code],
        "east": random.normal(size=n_codes)[code],
        "people": np.round(random.lognormal(8, 1, n_codes))[code],
        "age": random.integers(18, 90, n_rows).astype(float),
    }
    return columns, _classes(random, north[code] + columns["age"] / 30)


def words(random: Random) -> Table:
    """Rare words in short texts, and their length."""
    n_rows, n_words = int(random.integers(300, 2000)), int(random.integers(10, 40))
    length = 1 + random.poisson(6, n_rows)
    there = random.random((n_rows, n_words)) < length[:, None] * random.beta(1, 12, n_words) / 10
    columns = {f"w{j}": column.astype(np.int64) for j, column in enumerate(there.T)}
    return {**columns, "length": length.astype(float)}, _classes(random, there[:, :5].sum(axis=1) + 0.0)


def sensors(random: Random) -> Table:
    """Readings of few bits of five states that overlap."""
    n_rows, n_states = int(random.integers(300, 3000)), 5
    state = random.integers(0, n_states, n_rows)
    level = random.normal(size=(n_states, 6))[state] + random.normal(size=(n_rows, 6))
    steps = random.choice([0.01, 0.1, 0.5], 6)
    return {f"s{j}": np.round(level[:, j] / steps[j]) * steps[j] for j in range(6)}, state


def noisy_visits(random: Random) -> Table:
    """Patients with two to twelve visits; what is measured tells little of what makes them ill."""
    n_patients = int(random.integers(80, 400))
    patient = random.permutation(np.repeat(np.arange(n_patients), random.integers(2, 13, n_patients)))
    ill = random.normal(size=n_patients)[patient]
    columns = {
        "patient": patient.astype(float),
        "born": random.integers(1940, 2000, n_patients)[patient].astype(float),
        "drug": random.integers(0, 3, n_patients)[patient],
        "level": ill + random.normal(size=len(patient)),
    }
    return columns, (ill + 0.5 * random.normal(size=len(patient)) > 0.5).astype(np.int64)


def batches(random: Random) -> Table:
    """Parts of batches, which differ in what two sensors show and in how many fail."""
    batch = random.permutation(np.repeat(np.arange(int(random.integers(30, 80))), 25))
    n_batches = int(batch.max()) + 1
    shift = random.normal(size=(3, n_batches))[:, batch]
    columns = {
        "batch": batch,
        "heat": 2 * shift[0] + random.normal(size=len(batch)),
        "pressure": 2 * shift[1] + random.normal(size=len(batch)),
        "line": random.integers(0, 4, len(batch)),
    }
    return columns, (1.5 * shift[2] + random.normal(size=len(batch)) > 1).astype(np.int64)


def twins(random: Random) -> Table:
    """Two rows of each pair, of one age, sex and mother, who mostly share a disease."""
    pair = random.permutation(np.repeat(np.arange(int(random.integers(150, 500))), 2))
    n_pairs = int(pair.max()) + 1
    columns = {
        "pair": random.permutation(20 * n_pairs)[:n_pairs][pair].astype(float),
        "age": random.integers(5, 80, n_pairs)[pair].astype(float),
        "sex": random.integers(0, 2, n_pairs)[pair],
        "mother": random.integers(16, 45, n_pairs)[pair].astype(float),
        "weight": random.normal(size=len(pair)),
    }
    ill = random.random(n_pairs) < 0.3
    return columns, (ill[pair] ^ (random.random(len(pair)) < 0.1)).astype(np.int64)


HONEST = {make.__name__: make for make in (census, geography, words, sensors)}
BELONGING = {make.__name__: make for make in (noisy_visits, batches, twins)}
