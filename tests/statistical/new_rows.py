"""Tables whose rows belong together or follow each other, and what the verdict is worth on rows held out.

``python -m tests.statistical.new_rows 20`` holds out half of the groups of each table, 20 times over, or what
comes last in time, and prints how often the error there lies in the verdict's interval.
``python -m tests.statistical.new_rows later`` makes the page of the first three fifths of each table in time,
and prints what it says beside the truth of the last two fifths, and of the tenths that these consist of.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd
from sklearn.metrics import roc_auc_score

from offsample import report


class Table(NamedTuple):
    """A table, its target, and the column of groups or of times that the rows come by."""

    frame: pd.DataFrame
    target: str
    group: str | None = None
    time: str | None = None


def patients(seed: int, *, numbered: bool = False) -> Table:
    """Sixty patients with forty visits each, sick or not by the flip of a coin: nothing says who is."""
    random = np.random.default_rng(seed)
    who = np.repeat(np.arange(60), 40)
    frame = pd.DataFrame({f"lab{i}": random.normal(size=60)[who] for i in range(3)})
    frame["pulse"] = random.normal(size=60)[who] + random.normal(0, 0.3, 2400)
    frame["sick"] = random.integers(0, 2, 60)[who]
    frame["patient"] = who + 1000 if numbered else [f"p{number}" for number in who]
    return Table(frame, "sick", "patient")


def copied_noise(seed: int, times: int = 5) -> Table:
    """Noise, every row several times over; `copy` says which row it was."""
    random = np.random.default_rng(seed)
    frame = pd.DataFrame({f"x{i}": random.normal(size=300) for i in range(5)})
    frame["y"] = random.integers(0, 2, 300)
    frame["copy"] = np.arange(300)
    return Table(pd.concat([frame] * times, ignore_index=True), "y", "copy")


def panel(seed: int) -> Table:
    """Two hundred people over eight years: traits that stay, a mood that changes, and what they choose."""
    random = np.random.default_rng(seed)
    who, year = np.repeat(np.arange(200), 8), np.tile(np.arange(8), 200)
    trait, taste = random.normal(size=200), random.normal(0, 1.5, 200)
    mood = random.normal(size=1600)
    frame = pd.DataFrame({"trait": trait[who], "mood": mood, "height": random.normal(170, 9, 200)[who]})
    frame["year"] = 1980 + year
    frame["nr"] = [f"n{number}" for number in who]
    frame["chosen"] = trait[who] + taste[who] + mood + random.logistic(size=1600) * 0.5 > 0
    return Table(frame, "chosen", "nr")


REAL = {
    "psid_wages": ("grouped", "union", "id"),
    "verbal_aggression": ("grouped", "r2", "id"),
    "wheeze": ("grouped", "resp", "id"),
    "cracker_choice": ("grouped", "choice", "id"),
    "pbc_visits": ("grouped", "hepato", "id"),
    "immunisation": ("grouped", "immun", "mom"),
    "contraception": ("grouped", "use", "district"),
}
LATER = {
    "storms": ("temporal", "status", "when"),
    "email_spam": ("temporal", "spam", "time"),
    "flights_2013": ("temporal", "late", "when"),
}
# Columns that would not be known in time, or that say which group it is by another name.
LEFT_OUT = {"immunisation": ["comm"], "storms": ["name"]}


def real(name: str, directory: Path, *, as_text: bool = False) -> Table:
    """A table of the shared data, with its groups or its times."""
    folder, target, unit = (REAL | LATER)[name]
    frame = pd.read_parquet(directory / folder / f"{name}.parquet")
    frame = frame.drop(columns=LEFT_OUT.get(name, [])).dropna(subset=[target])
    if as_text:
        frame[unit] = "u" + frame[unit].astype(str)
    if len(frame) > 12_000:
        frame = frame.sample(12_000, random_state=0).sort_index()
    return Table(frame, target, unit) if name in REAL else Table(frame, target, time=unit)


class Held(NamedTuple):
    """The verdict on one part of the rows, and the truth on the other."""

    error: float
    low: float
    high: float
    known_error: float | None
    truth: float
    deviation: float  # standard error of the truth, by groups or by blocks of time
    suspected: tuple[str, ...]

    @property
    def is_inside(self) -> bool:
        """Whether the truth lies in the interval, widened by two of its standard errors."""
        return self.low - 2 * self.deviation <= self.truth <= self.high + 2 * self.deviation


def held_out(table: Table, seed: int, *, unasked: bool = False) -> Held:
    """Hold out half of the groups, or the last two fifths of the time, and compare."""
    frame, unit = table.frame, table.frame[table.group or table.time]
    random = np.random.default_rng((seed, 1))  # not the numbers that made the table
    if table.group is not None:
        names = unit.unique()
        kept = unit.isin(random.choice(names, len(names) // 2, replace=False)).to_numpy()
        asked = {"group": table.group}
    else:
        kept = (unit.rank(method="max", pct=True) <= 0.6).to_numpy()
        asked = {"time": table.time}
    found = report(frame[kept], table.target, fast=True, random_state=seed, **asked)
    suspected = report(frame[kept], table.target, fast=True).rows if unasked else found.rows
    rest = frame[~kept]
    wrong = np.asarray(found.estimator.predict(rest)) != rest[table.target].to_numpy()
    by = unit[~kept] if table.group is not None else pd.qcut(unit[~kept].rank(), 10)
    deviation = _deviation(wrong, by)
    verdict = found.verdict
    names = (*suspected.suspected_groups, *suspected.suspected_times)
    return Held(
        verdict.error, verdict.low, verdict.high, verdict.known_error, float(wrong.mean()), deviation, names
    )


def _deviation(wrong: np.ndarray, unit: pd.Series) -> float:
    sums = pd.DataFrame({"wrong": wrong, "rows": 1.0}).groupby(np.asarray(unit.astype(str))).sum()
    beyond = sums["wrong"] - wrong.mean() * sums["rows"]
    return float(np.sqrt((beyond**2).sum() * len(sums) / max(1, len(sums) - 1)) / len(wrong))


def tables(directory: Path | None) -> dict[str, Callable[[int], Table]]:
    """Every table, made anew for each seed where it is generated."""
    made: dict[str, Callable[[int], Table]] = {
        "patients": patients,
        "patients, numbered": lambda seed: patients(seed, numbered=True),
        "noise, five copies": copied_noise,
        "panel": panel,
    }
    if directory is not None:
        made |= {name: (lambda _, name=name: real(name, directory)) for name in (*REAL, *LATER)}
        made["psid_wages, id as text"] = lambda _: real("psid_wages", directory, as_text=True)
    return made


class Later(NamedTuple):
    """What the page of earlier rows says of a figure, and what it is on later ones."""

    figure: str
    told: float
    low: float
    high: float
    truth: float
    tenths: list[float]
    risen: str  # share of classes that became twice as frequent, before and after, and the error on others


def later(frame: pd.DataFrame, target: str, time: str) -> list[Later]:
    """Compare a page of the first three fifths with the rest: error and AUC, or how far numbers are off."""
    when = pd.to_datetime(frame[time]).rank(method="max", pct=True).to_numpy()
    rest, place = frame[when > 0.6], when[when > 0.6]
    found = report(frame[when <= 0.6], target, time=time, random_state=0)
    verdict, y = found.verdict, rest[target].to_numpy()
    parts = [np.abs(place - middle) < 0.05 for middle in (0.65, 0.75, 0.85, 0.95)]
    said = np.asarray(found.estimator.predict(rest))
    losses = (said != y).astype(float)
    before, after = (frame[target][part].value_counts(normalize=True) for part in (when <= 0.6, when > 0.6))
    more = [name for name, share in after.items() if share >= 2 * before.get(name, 0.0)]
    others = losses[~rest[target].isin(more)].mean()
    risen = (
        f"{before[before.index.isin(more)].sum():.3f}, {after[more].sum():.3f}, {others:.3f}" if more else "-"
    )
    told = ("error", verdict.error, verdict.low, verdict.high)
    if verdict.task == "regression":
        ends = (verdict.mean_absolute_error_low, verdict.mean_absolute_error_high)
        told, losses, risen = ("off by", verdict.mean_absolute_error, *ends), np.abs(said - y), "-"
    lines = [Later(*told, float(losses.mean()), [float(losses[part].mean()) for part in parts], risen)]
    if verdict.task != "regression" and len(before) == 2:
        of = found.estimator.predict_proba(rest)[:, 1]
        areas = [float(roc_auc_score(y[part], of[part])) for part in (place > 0, *parts)]
        ends = (verdict.auc, verdict.auc_low, verdict.auc_high)
        lines.append(Later("AUC", *ends, areas[0], areas[1:], "-"))
    return lines


def main_later(directory: Path) -> None:
    """Print one line a figure."""
    for name, (folder, target, time) in {**LATER, "chicago_rides": ("temporal", "ridership", "date")}.items():
        frame = pd.read_parquet(directory / folder / f"{name}.parquet").drop(columns=LEFT_OUT.get(name, []))
        for one in later(frame.dropna(subset=[target]), target, time):
            tenths = ", ".join(f"{value:.3f}" for value in one.tenths)
            inside = "yes" if one.low <= one.truth <= one.high else "no"
            within = f"{one.told:.3f} | {one.low:.3f} – {one.high:.3f} | {one.truth:.3f} | {inside}"
            print(
                f"| {name}, {target} | {one.figure} | {within} | {tenths} | {one.risen} |",
                flush=True,
            )


def main(n_splits: int) -> None:
    """Print one line a table."""
    data = os.environ.get("OFFSAMPLE_DATA")
    print(f"{'table':26}{'verdict':>9}{'known':>8}{'truth':>8}{'inside':>8}  suspected unasked")
    for name, make in tables(Path(data) if data else None).items():
        splits = n_splits if name not in LATER else 1
        found = [held_out(make(seed), seed, unasked=seed == 0) for seed in range(splits)]
        known = [one.known_error for one in found if one.known_error is not None]
        print(
            f"{name:26}{np.mean([one.error for one in found]):9.3f}"
            f"{np.mean(known) if known else np.nan:8.3f}{np.mean([one.truth for one in found]):8.3f}"
            f"{np.mean([one.is_inside for one in found]):8.2f}  {', '.join(found[0].suspected) or '-'}",
            flush=True,
        )


if __name__ == "__main__":
    if sys.argv[1:] == ["later"]:
        main_later(Path(os.environ["OFFSAMPLE_DATA"]))
    else:
        main(int(sys.argv[1]) if len(sys.argv) > 1 else 10)
