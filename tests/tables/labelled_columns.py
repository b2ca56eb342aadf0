"""Columns of text as people store them, each with what it should be read as, and how many are read so.

`python -m tests.tables.labelled_columns` counts what is converted that should not be, or to other values,
and what is not converted that should be, in the half of the kinds that the rules were chosen on, and in the
other one.
"""

import datetime as dt
import random
import sys

import numpy as np

from offsample.tables._meaning import recognised

N_ROWS = 200


def _date(r, low=2005, high=2024):
    return dt.date(low, 1, 1) + dt.timedelta(days=r.randrange(365 * (high - low)))


def _european(x, digits=2):
    return f"{x:,.{digits}f}".translate(str.maketrans(",.", ".,"))


def _micros(day, hour=0, minute=0):
    moment = dt.datetime(day.year, day.month, day.day, hour, minute)
    return (moment - dt.datetime(1970, 1, 1)) / dt.timedelta(microseconds=1)


def _number(form, low=-500, high=5000, digits=2):
    def one(r):
        x = round(r.uniform(low, high), digits)
        return form(x), x

    return one


def _dated(form):
    def one(r):
        day = _date(r)
        return form(day), _micros(day)

    return one


def _kept(form):
    return lambda r: (form(r), None)


def _mostly(one, others, share):
    """A column with some other texts among its own."""

    def mixed(r):
        return (r.choice(others), np.nan) if r.random() < share else one(r)

    return mixed


def _dollars(x):
    return f"-${-x:,.2f}" if x < 0 else f"${x:,.2f}"


def _in_parentheses(x):
    return f"({-x:,.2f})" if x < 0 else f"{x:,.2f}"


def _at(r):
    hour, minute = r.randrange(24), r.randrange(60)
    return f"{hour:02d}:{minute:02d}", (hour * 60 + minute) * 6e7


def _moment(r):
    day, hour, minute = _date(r), r.randrange(24), r.randrange(60)
    return f"{day.isoformat()}T{hour:02d}:{minute:02d}:00Z", _micros(day, hour, minute)


def _american(r):
    day, hour, minute = _date(r), r.randrange(24), r.randrange(60)
    clock = f"{(hour - 1) % 12 + 1}:{minute:02d} {'AM' if hour < 12 else 'PM'}"
    return f"{day.month}/{day.day}/{day.year} {clock}", _micros(day, hour, minute)


# What should be read, with the values that the texts say.
READ = {
    "dollars": _number(_dollars),
    "euros after": _number(lambda x: f"{_european(x)} €"),
    "percent": _number(lambda x: f"{x:.1f} %", 0, 130, 1),
    "kilograms": _number(lambda x: f"{x:g} kg", 1, 90, 1),
    "days": _number(lambda x: f"{x:.0f} day{'s' * (x != 1)}", 1, 30, 0),
    "decimals": _number(lambda x: f"{x:.3f}", digits=3),
    "scientific": _number(lambda x: f"{x:.3e}", digits=0),
    "thousands": _number(lambda x: f"{x:,.0f}", 0, 90_000, 0),
    "decimal comma": _number(lambda x: f"{x:.2f}".replace(".", ",")),
    "european": _number(_european, 0, 90_000),
    "spaces": _number(lambda x: f"{x:,.2f}".replace(",", " ").replace(".", ","), 0, 90_000),
    "swiss": _number(lambda x: f"CHF {x:,.2f}".replace(",", "'"), 0, 90_000),
    "accounting": _number(_in_parentheses),
    "gaps": _mostly(_number(_dollars), ["N/A", "-", "", "unknown"], 0.3),
    "whole with gaps": _mostly(_number(lambda x: f"{x:.0f}", digits=0), ["N/A", "?"], 0.1),
    "slips": _mostly(_number(lambda x: f"{x:.2f}"), ["see note", "ask Bob"], 0.02),
    "iso": _dated(lambda d: d.isoformat()),
    "moments": _moment,
    "slashes": _dated(lambda d: d.strftime("%d/%m/%Y")),
    "dots": _dated(lambda d: f"{d.day}.{d.month}.{d.year}"),
    "american": _american,
    "names of months": _dated(lambda d: d.strftime("%d %b %Y")),
    "long names": _dated(lambda d: d.strftime("%B %d, %Y")),
    "dashes": _dated(lambda d: d.strftime("%d-%b-%Y")),
    "year first": _dated(lambda d: d.strftime("%Y/%m/%d")),
    "clock": _at,
    "dates with gaps": _mostly(_dated(lambda d: d.strftime("%m/%d/%Y")), ["", "n/a"], 0.2),
    "first of months": lambda r: (lambda d: (d.strftime("%d/%m/%Y"), _micros(d)))(_date(r).replace(day=1)),
}
# What should stay as it is.
KEPT = {
    "zip": _kept(lambda r: f"{r.randrange(1000, 99999):05d}"),
    "few zeros": _kept(lambda r: f"{r.randrange(9000 if r.random() < 0.1 else 10000, 20000):05d}"),
    "phone": _kept(lambda r: f"({r.randrange(200, 999)}) {r.randrange(200, 999)}-{r.randrange(1000, 9999)}"),
    "phone with spaces": _kept(lambda r: f"555 {r.randrange(100, 999)} {r.randrange(100, 999)}"),
    "phone with plus": _kept(lambda r: f"+4917{r.randrange(10**7, 10**8)}"),
    "phone with dashes": _kept(lambda r: f"555-{r.randrange(1000, 9999)}"),
    "whole codes": _kept(lambda r: str(r.randrange(1, 40))),
    "long keys": _kept(lambda r: str(r.randrange(10**18, 10**19))),
    "card": _kept(lambda r: " ".join(str(r.randrange(1000, 9999)) for _ in range(4))),
    "ssn": _kept(lambda r: f"{r.randrange(100, 999)}-{r.randrange(10, 99)}-{r.randrange(1000, 9999)}"),
    "ambiguous dates": _kept(lambda r: f"{r.randrange(1, 13)}/{r.randrange(1, 13)}/20{r.randrange(10, 24)}"),
    "010203": _kept(lambda r: "/".join(f"{r.randrange(1, 13):02d}" for _ in range(3))),
    "mixed orders": _kept(lambda r: _date(r).strftime(r.choice(["%d/%m/%Y", "%m/%d/%Y"]))),
    "versions": _kept(lambda r: f"{r.randrange(1, 4)}.{r.randrange(20)}.{r.randrange(30)}"),
    "long versions": _kept(lambda r: f"{r.randrange(10, 14)}.{r.randrange(20)}.{r.randrange(10, 99)}"),
    "addresses": _kept(lambda r: ".".join(str(r.randrange(256)) for _ in range(4))),
    "large addresses": _kept(lambda r: f"192.168.{r.randrange(100, 256)}.{r.randrange(1, 256)}"),
    "ranges": _kept(lambda r: f"{r.randrange(1, 9) * 10}-{r.randrange(1, 9) * 10}"),
    "ages": _kept(lambda r: r.choice(["18-24", "25-34", "35-44", "45-54", "65+"])),
    "seasons": _kept(lambda r: (lambda y: f"{y}-{(y + 1) % 100:02d}")(r.randrange(1995, 2024))),
    "mixed currencies": _kept(lambda r: r.choice("$€£") + f"{r.uniform(1, 500):.2f}"),
    "mixed units": _kept(lambda r: f"{r.randrange(1, 900)} {r.choice(['g', 'kg'])}"),
    "mixed marks": _kept(lambda r: r.choice([f"{r.uniform(1e3, 1e4):,.2f}", _european(r.uniform(1e3, 1e4))])),
    "hex": _kept(lambda r: f"{r.getrandbits(32):08x}"),
    "short hex": _kept(lambda r: f"{r.getrandbits(16):04x}"),
    "uuid": _kept(lambda r: f"{r.getrandbits(64):016x}-{r.randrange(9)}"),
    "scores": _kept(lambda r: f"{r.randrange(6)}:{r.randrange(6)}"),
    "fractions": _kept(lambda r: f"{r.randrange(1, 9)}/{r.randrange(2, 9)}"),
    "ordinals": _kept(lambda r: r.choice(["1st", "2nd", "3rd", "4th", "5th"])),
    "houses": _kept(lambda r: f"{r.randrange(1, 90)}{r.choice('abcd')}"),
    "streets": _kept(lambda r: f"{r.randrange(1, 90)} {r.choice(['Main St', 'Oak Ave', 'High Street'])}"),
    "prefixed": _kept(lambda r: f"A{r.randrange(1000)}"),
    "numbered": _kept(lambda r: f"#{r.randrange(1000)}"),
    "inequalities": _kept(lambda r: r.choice(["<5", "5-10", ">10"])),
    "half words": _kept(lambda r: r.choice(["low", "high", f"{r.uniform(0, 9):.1f}"])),
    "tenth words": _kept(lambda r: r.choice(["refused"]) if r.random() < 0.12 else f"{r.uniform(0, 9):.1f}"),
    "sizes": _kept(lambda r: f"{r.randrange(5, 40)}x{r.randrange(5, 40)}"),
    "coordinates": _kept(lambda r: f"{r.uniform(-90, 90):.3f},{r.uniform(-90, 90):.3f}"),
    "isbn": _kept(lambda r: f"978-{r.randrange(10)}-{r.randrange(10**4, 10**5)}-{r.randrange(100, 999)}-1"),
    "feet": _kept(lambda r: f"{r.randrange(4, 7)}'{r.randrange(12)}\""),
    "durations": _kept(lambda r: f"{r.randrange(1, 9)}h {r.randrange(60)}m"),
    "yes and no": _kept(lambda r: r.choice(["yes", "no"])),
}  # fmt: skip


def halves():
    """Kinds that rules were chosen on, and kinds that judge them: every second of each list."""
    every = list(READ), list(KEPT)
    return [[name for names in every for name in names[start::2]] for start in (0, 1)]


def verdict(name: str, seed: int, n_rows: int = N_ROWS) -> str:
    """What becomes of a column of a kind: "right", "missed" or "false"."""
    r = random.Random(f"{name} {seed}")
    texts, values = zip(*((READ | KEPT)[name](r) for _ in range(n_rows)), strict=True)
    column, found = recognised(np.array(texts, object), "v")
    if found.way is None:
        return "missed" if name in READ else "right"
    if name in KEPT:
        return "false"
    numbers = np.where(np.isnat(column), np.nan, column.view("i8")) if column.dtype.kind in "mM" else column
    return "right" if np.allclose(numbers, np.array(values, float), equal_nan=True, rtol=1e-12) else "false"


def main(n_seeds: int) -> None:
    """Count verdicts."""
    for half, kinds in zip(("chosen on", "judged by"), halves(), strict=True):
        found = {name: [verdict(name, seed) for seed in range(n_seeds)] for name in kinds}
        every = [one for name in kinds for one in found[name]]
        false, missed = every.count("false"), every.count("missed")
        n_read = sum(name in READ for name in kinds) * n_seeds
        print(f"{half}: {len(every)} columns, {false} false, {missed} missed of {n_read} to be read")
        for name in kinds:
            if set(found[name]) != {"right"}:
                print(f"  {name}: {', '.join(f'{found[name].count(v)} {v}' for v in ('false', 'missed'))}")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 20)
