"""More tables of known making, written before any rule was judged on them."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from tests.rows.generators import Table, _classes

Random = np.random.Generator


def _zipf(random: Random, n_values: int, n_rows: int, power: float = 1.0) -> np.ndarray:
    share = 1 / np.arange(1, n_values + 1) ** power
    return random.permutation(n_values)[random.choice(n_values, n_rows, p=share / share.sum())]


def questionnaire(random: Random) -> Table:
    """Answers from 1 to 5 that share a factor or two."""
    n_rows, n_items = int(random.integers(200, 1500)), int(random.integers(5, 25))
    factor = random.normal(size=(n_rows, 2)) @ random.normal(size=(2, n_items))
    answer = np.clip(np.round(3 + factor + random.normal(size=factor.shape)), 1, 5)
    return {f"q{j}": column for j, column in enumerate(answer.T)}, _classes(random, factor[:, 0])


def one_hot(random: Random) -> Table:
    """Categories as columns of 0 and 1."""
    n_rows, columns, score = int(random.integers(200, 1500)), {}, 0.0
    for j in range(int(random.integers(2, 6))):
        code = _zipf(random, n_values := int(random.integers(3, 15)), n_rows)
        columns |= {f"c{j}_{v}": (code == v).astype(float) for v in range(n_values)}
        score = score + random.normal(size=n_values)[code]
    return columns, _classes(random, score)


def skewed(random: Random) -> Table:
    """Categories of many values, few of them frequent, that the class depends on."""
    n_rows = int(random.integers(300, 2000))
    widths = random.integers(20, 400, int(random.integers(2, 6)))
    codes = {f"c{j}": _zipf(random, int(width), n_rows, 1.2) for j, width in enumerate(widths)}
    return codes, _classes(random, random.normal(size=400)[codes["c0"]] + random.normal(size=n_rows))


def correlated(random: Random) -> Table:
    """Continuous measurements of one factor, and an age in years."""
    n_rows, n_columns = int(random.integers(200, 1500)), int(random.integers(3, 12))
    factor = random.normal(size=n_rows)
    columns = {
        f"x{j}": factor + random.normal(size=n_rows) * random.uniform(0.1, 2) for j in range(n_columns)
    }
    return {**columns, "age": np.round(50 + 15 * factor)}, _classes(random, factor)


def mixture(random: Random) -> Table:
    """Clusters in space, of which the class, a colour and a size are a matter."""
    n_rows, n_clusters = int(random.integers(300, 1500)), int(random.integers(3, 40))
    cluster = random.integers(0, n_clusters, n_rows)
    place = random.normal(size=(n_clusters, 4))[cluster]
    columns = {f"x{j}": x for j, x in enumerate((place + 0.1 * random.normal(size=place.shape)).T)}
    columns["colour"] = random.integers(0, 6, n_clusters)[cluster]
    columns["size"] = np.round(random.gamma(2, 3, n_clusters)[cluster] + random.random(n_rows))
    return columns, _classes(random, random.normal(size=n_clusters)[cluster])


def heavy_ties(random: Random) -> Table:
    """Amounts that are zero mostly, round numbers, counts."""
    n_rows = int(random.integers(200, 2000))
    spends = random.random(n_rows) < 0.3
    amount = np.where(spends, np.round(random.lognormal(4, 1, n_rows), -1), 0.0)
    columns = {
        "amount": amount,
        "fee": np.round(amount * 0.03),
        "visits": random.geometric(0.3, n_rows).astype(float),
        "children": random.poisson(0.7, n_rows).astype(float),
        "rooms": np.clip(random.poisson(3, n_rows), 1, 8).astype(float),
    }
    return columns, _classes(random, np.log1p(amount) + columns["visits"])


def honest_city(random: Random) -> Table:
    """Three hundred cities that will all come again, on which the class depends, beside other columns."""
    n_rows = int(random.integers(2000, 4000))
    city = _zipf(random, 300, n_rows, random.choice([0.0, 0.5, 1.0]))
    columns = {
        "city": city,
        "age": random.integers(18, 90, n_rows).astype(float),
        "income": random.lognormal(3, 0.5, n_rows),
        "plan": random.integers(0, 4, n_rows),
    }
    return columns, _classes(random, 0.7 * random.normal(size=300)[city] + columns["age"] / 30)


def hierarchy(random: Random) -> Table:
    """Region, province and city, each a function of the next; the class depends on the region."""
    n_rows, n_cities = int(random.integers(600, 3000)), int(random.integers(40, 200))
    city = _zipf(random, n_cities, n_rows, 0.8)
    province = random.integers(0, n_cities // 5, n_cities)
    region = random.integers(0, 5, n_cities // 5)
    columns = {
        "region": region[province][city],
        "province": province[city],
        "city": city,
        "height": np.round(random.normal(170, 10, n_rows)),
        "job": random.integers(0, 9, n_rows),
    }
    return columns, _classes(random, random.normal(size=5)[columns["region"]] + columns["height"] / 20)


def products(random: Random) -> Table:
    """Sales of products, each with its price and colour, to customers who are seen once."""
    n_rows, n_products = int(random.integers(400, 2000)), int(random.integers(20, 80))
    product = _zipf(random, n_products, n_rows, 0.5)
    price = np.round(random.lognormal(3, 1, n_products), 2)
    columns = {
        "product": product,
        "price": price[product],
        "colour": random.integers(0, 5, n_products)[product],
        "age": random.integers(18, 90, n_rows).astype(float),
        "quantity": random.geometric(0.5, n_rows).astype(float),
        "paid": np.round(price[product] * random.choice([1, 1, 0.9], n_rows), 2),
    }
    return columns, _classes(random, columns["age"] / 15 - np.log(columns["paid"]))


def wide(random: Random) -> Table:
    """Few rows and many columns of all kinds that say nothing."""
    n_rows, columns = int(random.integers(100, 400)), {}
    for j in range(60):
        kind = j % 3
        columns[f"c{j}"] = (
            random.normal(size=n_rows)
            if kind == 0
            else random.integers(0, int(random.integers(2, 60)), n_rows)
            if kind == 1
            else np.round(random.gamma(1, 5, n_rows))
        )
    return columns, random.integers(0, 3, n_rows)


def keyed(random: Random) -> Table:
    """A key that says nothing, a year of birth and an age, a code of ten thousand, and a rare class."""
    n_rows = int(random.integers(300, 3000))
    born = random.integers(1930, 2005, n_rows).astype(float)
    columns = {
        "key": random.permutation(3 * n_rows)[:n_rows].astype(float),
        "born": born,
        "age": 2024 - born + random.integers(0, 2, n_rows),
        "code": random.integers(0, 10_000, n_rows),
        "sex": random.integers(0, 2, n_rows),
    }
    return columns, (random.random(n_rows) < 0.03 + 0.04 * (born > 1980)).astype(np.int64)


HONEST: dict[str, Callable[[Random], Table]] = {
    make.__name__: make
    for make in (
        questionnaire, one_hot, skewed, correlated, mixture, heavy_ties,
        honest_city, hierarchy, products, wide, keyed,
    )
}  # fmt: skip


def panel(random: Random, as_text: bool = False) -> Table:
    """People in each of some years: a sex, a schooling, a wage that moves slowly; a class that stays."""
    n_people, n_years = int(random.integers(60, 400)), int(random.integers(4, 12))
    person, year = np.repeat(np.arange(n_people), n_years), np.tile(np.arange(n_years), n_people)
    level = random.normal(size=n_people)
    columns = {
        "nr": (random.permutation(n_people) + 100)[person].astype(int if as_text else float),
        "year": 1980.0 + year,
        "sex": random.integers(0, 2, n_people)[person],
        "school": random.integers(8, 17, n_people)[person].astype(float),
        "wage": level[person] + 0.05 * year + 0.3 * random.normal(size=len(person)),
    }
    union = random.normal(size=n_people)[person] + 0.5 * random.normal(size=len(person)) > 0.5
    return columns, union.astype(np.int64)


def panel_of_text(random: Random) -> Table:
    return panel(random, as_text=True)


def visits(random: Random) -> Table:
    """Patients with two to twelve visits, whose health falls; rows in no order."""
    n_patients = int(random.integers(80, 400))
    patient = np.repeat(np.arange(n_patients), random.integers(2, 13, n_patients))
    turn = np.arange(len(patient)) - np.searchsorted(patient, patient)
    health = random.normal(size=n_patients)[patient] - 0.1 * turn
    columns = {
        "patient": patient.astype(float),
        "age": random.integers(30, 80, n_patients)[patient] + turn // 2.0,
        "drug": random.integers(0, 2, n_patients)[patient],
        "level": health + 0.2 * random.normal(size=len(patient)),
        "day": turn * 180.0 + random.integers(0, 60, len(patient)),
    }
    sick = health + 0.4 * random.normal(size=len(patient)) < -0.5
    order = random.permutation(len(patient))
    return {name: column[order] for name, column in columns.items()}, sick.astype(np.int64)[order]


def households(random: Random) -> Table:
    """Two to four rows of each household, which votes alike, with an income and a region in common."""
    n_homes = int(random.integers(200, 700))
    home = np.repeat(np.arange(n_homes), random.integers(2, 5, n_homes))
    columns = {
        "household": random.permutation(10_000)[:n_homes][home].astype(float),
        "income": np.round(random.lognormal(10, 0.5, n_homes), -2)[home],
        "region": random.integers(0, 12, n_homes)[home],
        "age": random.integers(18, 90, len(home)).astype(float),
        "sex": random.integers(0, 2, len(home)),
    }
    vote = random.normal(size=n_homes)[home] + 0.5 * random.normal(size=len(home)) > 0
    return columns, vote.astype(np.int64)


def sessions(random: Random) -> Table:
    """Clicks of users, who click much or little; nothing else of a user is known."""
    n_users, n_rows = int(random.integers(100, 400)), int(random.integers(2000, 5000))
    user = _zipf(random, n_users, n_rows, 0.7)
    columns = {
        "user": user,
        "hour": random.integers(0, 24, n_rows).astype(float),
        "device": random.integers(0, 3, n_rows),
        "page": _zipf(random, 40, n_rows),
    }
    return columns, (random.random(n_rows) < random.beta(0.3, 0.5, n_users)[user]).astype(np.int64)


def schools(random: Random) -> Table:
    """Pupils of schools, with the means and the kind of the school, which decides much of the class."""
    n_schools = int(random.integers(30, 120))
    school = np.repeat(np.arange(n_schools), random.integers(10, 40, n_schools))
    columns = {
        "school": school,
        "means": random.normal(size=n_schools)[school],
        "kind": random.integers(0, 3, n_schools)[school],
        "hours": random.normal(size=len(school)),
        "sex": random.integers(0, 2, len(school)),
    }
    passes = random.normal(size=n_schools)[school] + columns["hours"] + 0.5 * random.normal(size=len(school))
    return columns, (passes > 0).astype(np.int64)


def tracks(random: Random) -> Table:
    """Five takes of each song, nearly the same, one after the other; no column says which."""
    n_songs = int(random.integers(100, 300))
    song = np.repeat(np.arange(n_songs), 5)
    sound = random.normal(size=(n_songs, 6))[song]
    columns = {f"x{j}": x for j, x in enumerate((sound + 0.01 * random.normal(size=sound.shape)).T)}
    return columns, random.integers(0, 2, n_songs)[song]


def patients_in_order(random: Random, shuffled: bool = False) -> Table:
    """Sixty patients with forty rows each and no number; half of the columns stay the same."""
    patient = np.repeat(np.arange(60), 40)
    level = random.normal(size=(60, 6))[patient]
    level[:, 3:] += 0.3 * random.normal(size=(len(patient), 3))
    order = random.permutation(len(patient)) if shuffled else np.arange(len(patient))
    columns = {f"x{j}": x[order] for j, x in enumerate(level.T)}
    return columns, random.integers(0, 2, 60)[patient][order]


def patients_without_number(random: Random) -> Table:
    return patients_in_order(random, shuffled=True)


BELONGING: dict[str, Callable[[Random], Table]] = {
    make.__name__: make
    for make in (
        panel, panel_of_text, visits, households, sessions, schools,
        tracks, patients_in_order, patients_without_number,
    )
}  # fmt: skip


def copied(random: Random, make: Callable[[Random], Table], share: float, several: bool) -> Table:
    """A table of which a share of the rows are copies of others, each once or several times, in no order."""
    columns, y = make(random)
    n_rows = len(y)
    n_copies = int(share * n_rows / (1 - share))
    one = random.permutation(n_rows)[: max(1, n_copies // 4 if several else n_copies)]
    rows = np.append(np.arange(n_rows), np.resize(one, n_copies))
    rows = random.permutation(rows)
    return {name: column[rows] for name, column in columns.items()}, y[rows]


CONTINUOUS = ("correlated", "mixture", "honest_city", "wide")
"""Tables with a continuous column."""


def with_copies(share: float, several: bool) -> dict[str, Callable[[Random], Table]]:
    return {
        f"{name}, {share:.0%} copied{' several times' * several}": (
            lambda random, make=HONEST[name]: copied(random, make, share, several)
        )
        for name in CONTINUOUS
    }


def worn(random: Random) -> Table:
    """A column that is the class in most rows of the first two thirds, by their order, and nothing later."""
    n_rows = int(random.integers(800, 3000))
    y = random.integers(0, 2, n_rows)
    works = (np.arange(n_rows) < 0.65 * n_rows) & (random.random(n_rows) < 0.7)
    sign = np.where(works, y, random.integers(0, 2, n_rows))
    return {"sign": sign, "x": random.normal(size=n_rows), "c": random.integers(0, 9, n_rows)}, y


def rising(random: Random) -> Table:
    """A class that is more frequent from row to row, beside honest columns."""
    n_rows = int(random.integers(800, 3000))
    x = random.normal(size=n_rows)
    chance = 0.2 + 0.4 * np.arange(n_rows) / n_rows
    y = (random.random(n_rows) < chance) ^ ((x > 1.5) & (random.random(n_rows) < 0.5))
    return {"x": x, "c": random.integers(0, 9, n_rows)}, y.astype(np.int64)


IN_TIME: dict[str, Callable[[Random], Table]] = {make.__name__: make for make in (worn, rising)}
