"""How often the page asks of tables that are known to have groups, or to get worse in time.

``python -m tests.rows.passed_over 8`` draws three groups in five of public tables so many times, and as many
tables by date in whose later half the columns say less of the class.
"""

import os
import sys
from pathlib import Path

import numpy as np
import pandas as pd

import offsample

GROUPED = {"wheeze": ("resp", "id"), "immunisation": ("immun", "mom"), "contraception": ("use", "district")}


def part(table: pd.DataFrame, group: str, seed: int) -> pd.DataFrame:
    """All rows of three groups in five."""
    groups = np.random.default_rng(seed).permutation(table[group].unique())
    return table[table[group].isin(groups[: int(0.6 * len(groups))])].reset_index(drop=True)


def auctions(seed: int, n_rows: int = 5000) -> tuple[pd.DataFrame, float, float]:
    """Cars that turn out bad, by the day; and the best error that is possible in either half."""
    random = np.random.default_rng(seed)
    day = np.sort(random.integers(0, 700, n_rows))
    age, miles, price = random.normal(size=(3, n_rows))
    rare, says = np.where(day < 350, 3.6, 3.15), np.where(day < 350, 2.5, 2.05)  # as many bad ones
    chance = 1 / (1 + np.exp(rare - says * (age + 0.7 * miles - 0.4 * price)))
    when = pd.Timestamp("2024-01-01") + pd.to_timedelta(day, unit="D")
    bad = random.random(n_rows) < chance
    table = pd.DataFrame({"date": when, "age": age, "miles": miles, "price": price, "bad": bad.astype(int)})
    best = np.minimum(chance, 1 - chance)
    return table, float(best[day < 350].mean()), float(best[day >= 350].mean())


def main(n_tables: int) -> None:
    """Print how many tables are asked about, and about what."""
    for name, (target, group) in GROUPED.items():
        whole = pd.read_parquet(Path(os.environ["OFFSAMPLE_DATA"]) / "grouped" / f"{name}.parquet")
        pages = [offsample.report(part(whole, group, 100 + s), target, fast=True) for s in range(n_tables)]
        asked = [page.rows.suspected_groups for page in pages]
        print(f"{name}: {sum(map(bool, asked))} of {n_tables}, about {sorted(set().union(*asked))}")
    drawn = [auctions(100 + seed) for seed in range(n_tables)]
    asked = [offsample.report(table, "bad", fast=True).rows.suspected_times for table, *_ in drawn]
    first, last = (np.mean([one[half] for one in drawn]) for half in (1, 2))
    print(f"auctions: {sum(map(bool, asked))} of {n_tables}; best error {first:.3f}, later {last:.3f}")


if __name__ == "__main__":
    main(int(sys.argv[1]))
