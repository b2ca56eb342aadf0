"""Our tree beside CART with tuned leaves: ``python -m benchmarks tuned_leaves [PART …] [TABLE …]``.

All shared tables with classes below 10,000 rows. A design is chosen on the first half of them and judged on
the second, which has been looked at several times by now. Each table is divided into five parts, twice if it
is small, and each learner is fitted without each part and judged on it. The paired standard error is that of
the difference per row, the mean over the divisions.

The third part, ``fresh``, has numbers cut into three to six classes of as many rows, columns of tables in
groups and times, scikit-learn's own sets, and few rows of large tables, all of 100 to 2,310 rows, drawn with
seed 0. Four of its tables are rows of some that choices were made on, and are told apart; letter had a part
in the choice of which column wins a tie.

CART's leaves are the best of 2, 3, 4, 6, 8, 12, 16, 24, 32, 64, 128, 256, 512 and any number, by five folds.

What CART does is kept in a directory for temporary files (or ``TUNED_LEAVES``), so that only ours is fitted
again; ``--record`` keeps one line per table in ``results/tuned_leaves.json``, and goes on where it ended.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from benchmarks import imbalanced, readable
from benchmarks._frame import RESULTS
from offsample.datasets import load
from offsample.induction import TreeClassifier

RECORD = RESULTS / "tuned_leaves.json"
TITLE = "Trees beside CART with tuned leaves"
MEASURED = (
    "Tables with classes below 10,000 rows: the first half is for choices, the second has been looked at "
    "several times, and of the *fresh* ones (numbers cut into classes, other columns as targets, few rows"
    " of large tables) only letter had a part in a choice, of which column wins a tie. Our default tree, "
    "and CART with the leaves that five folds like best."
)
MOST_ROWS = 10_000
# By folder: the target, the classes that it is cut into (0: as it is), and the rows that are drawn.
FRESH: dict[str, dict[str, tuple[str, int, int]]] = {
    "numeric": {
        "airfoil": ("target", 4, 1200),
        "autoMPG6": ("target", 5, 392),
        "boom_bikes": ("target", 6, 730),
        "compactiv": ("target", 6, 300),
        "concrete": ("target", 3, 600),
        "laser": ("target", 5, 993),
        "medical_cost": ("charges", 6, 1338),
        "puma32h": ("target", 3, 2310),
        "real_estate_valuation": ("target", 4, 414),
        "sacramento": ("price", 5, 300),
        "slump_test": ("target", 3, 103),
        "treasury": ("target", 6, 600),
        "winequality_red": ("target", 0, 1599),
    },
    "grouped": {
        "contraception": ("livch", 0, 1934),
        "labor_supply": ("lnwg", 4, 300),
        "psid_wages": ("experience", 6, 600),
        "school_exam": ("normexam", 3, 1200),
        "wheeze": ("resp", 0, 600),
    },
    "temporal": {"chicago_rides": ("ridership", 5, 600), "storms": ("status", 0, 1200)},
    "scikit-learn": {"digits": ("", 0, 1797), "breast_cancer": ("", 0, 569), "diabetes": ("", 3, 442)},
    "": {
        "letter": ("target", 0, 1500),
        "pendigits": ("target", 0, 600),
        "satimage": ("target", 0, 300),
        "optdigits": ("target", 0, 400),
        "nursery": ("target", 0, 600),
        "page_blocks": ("target", 0, 600),
        "shuttle": ("target", 0, 600),
        "adult": ("target", 0, 600),
        "traffic_violations_12k": ("target", 0, 300),
        "vowel": ("target", 0, 300),
        "car": ("target", 0, 200),
        "splice": ("target", 0, 300),
        "anneal": ("target", 0, 200),
        "mushroom": ("target", 0, 150),
    },
}
# Parts are left out until so many rows were judged, but at most these and at least those parts.
ENOUGH, N_PARTS, LEAST, MOST = 1_500, 5, 2, 10


def halves() -> dict[str, list[str]]:
    """Names of the tables that choices are made on, and of those that are looked at once."""
    # In a directory of its own, and of times: not among the tables of rows.
    choosing, judging = (
        [name for name in group if name != "email_spam"] for group in imbalanced.GROUPS.values()
    )
    return {
        "choosing": sorted([*readable.CHOSEN_ON, *choosing]),
        "judging": sorted([*readable.OTHERS, *judging]),
        "fresh": [f"{folder}/{name}" for folder, names in FRESH.items() for name in names],
    }


def table(name: str) -> tuple[Any, Any]:
    """Columns and classes."""
    if "/" in name:
        return fresh(*name.split("/"))
    rare = {one for group in imbalanced.GROUPS.values() for one in group}
    return imbalanced.rare(name) if name in rare else readable.table(name)


def fresh(folder: str, name: str) -> tuple[Any, Any]:
    """Some rows of a table, of classes with at least five of them."""
    import pandas as pd
    from sklearn import datasets as sets

    target, n_classes, n_rows = FRESH[folder][name]
    if folder == "scikit-learn":
        frame = getattr(sets, f"load_{name}")(as_frame=True).frame
        target = "target"
    else:
        frame = load(name, Path(os.environ["OFFSAMPLE_DATA"]) / folder).table
    frame = frame[frame[target].notna()].sample(frac=1.0, random_state=0).iloc[:n_rows]
    y, frame = frame[target], frame.drop(columns=target).select_dtypes(exclude="datetime")
    y = pd.qcut(y, n_classes, labels=False, duplicates="drop") if n_classes else y
    often = (y.map(y.value_counts()) >= 5).to_numpy()
    return frame[often].reset_index(drop=True), y[often].astype(str).to_numpy()


class Judged(NamedTuple):
    """What a learner does on the rows that were left out; one entry per division but for `wrong`."""

    wrong: Any  # share of the divisions in which each judged row is wrong
    errors: Any
    sizes: Any
    seconds: Any  # CPU of `fit`
    covered: Any  # whether its own interval holds the error; -1 without one


def judge(make: Callable[[], Any], X: Any, y: Any, *, is_ours: bool) -> Judged:
    """Fit a learner without each part, and judge it there."""
    from sklearn.model_selection import StratifiedKFold

    often = [StratifiedKFold(N_PARTS, shuffle=True, random_state=seed).split(X, y) for seed in (0, 1)]
    wrong, times, found = np.zeros(len(y)), np.zeros(len(y)), []
    for train, test in (division for one in often for division in one):
        if len(found) >= LEAST and (len(found) == MOST or times.sum() >= ENOUGH):
            break
        known, new = (X.iloc[rows].reset_index(drop=True) for rows in (train, test))
        if not is_ours:
            encoder = readable.one_hot(X).fit(known)
            known, new = encoder.transform(known), encoder.transform(new)
        started = time.process_time()
        model = make().fit(known, y[train])
        seconds = time.process_time() - started
        is_wrong = np.asarray(model.predict(new)) != y[test]
        wrong[test] += is_wrong
        times[test] += 1
        error = float(is_wrong.mean())
        found.append((error, readable.model_size(model), seconds, readable.covers(model, error, len(test))))
    seen = times > 0
    return Judged(wrong[seen] / times[seen], *np.array(found).T)


def kept(name: str, X: Any, y: Any) -> Judged:
    """What CART does, from the directory where that is kept if it is there."""
    folder = Path(os.environ.get("TUNED_LEAVES", Path(tempfile.gettempdir()) / "tuned_leaves"))
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{name.replace('/', '-')} any size.npz"
    if not path.exists():
        found = judge(lambda: readable.cart(None), X, y, is_ours=False)
        np.savez_compressed(path, **found._asdict())
    with np.load(path) as arrays:
        return Judged(**arrays)


def compared(name: str) -> dict[str, Any] | None:
    """Both learners on a table; None if it is too large."""
    X, y = table(name)
    if len(y) > MOST_ROWS:
        return None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of classes with fewer rows than parts
        cart = kept(name, X, y)
        ours = judge(TreeClassifier, X, y, is_ours=True)
    difference = ours.wrong - cart.wrong
    return {
        "table": name,
        "rows": len(y),
        "ours": float(ours.wrong.mean()),
        "cart": float(cart.wrong.mean()),
        "difference": float(difference.mean()),
        "se": float(difference.std() / np.sqrt(len(difference))),
        "size": float(ours.sizes.mean()),
        "cart_size": float(cart.sizes.mean()),
        "cpu": float(np.median(ours.seconds)),
        "cart_cpu": float(np.median(cart.seconds)),
        "covered": float(ours.covered.mean()),
    }


def lines(found: list[dict[str, Any]], half: str) -> Iterator[str]:
    """What the tables say together."""
    mean = {
        key: np.mean([one[key] for one in found]) for key in ("ours", "cart", "size", "cart_size", "covered")
    }
    worse, better = (
        [one["table"] for one in found if sign * one["difference"] > max(2 * one["se"], 1e-12)]
        for sign in (1, -1)
    )
    ratio = np.array([one["cpu"] / one["cart_cpu"] for one in found])
    se = np.sqrt(np.sum([one["se"] ** 2 for one in found])) / len(found)
    yield (
        f"{half}, {len(found)} tables: error {mean['ours']:.4f}, CART {mean['cart']:.4f}, difference "
        f"{mean['ours'] - mean['cart']:+.4f} ± {se:.4f}; "
        f"leaves {mean['size']:.1f} and {mean['cart_size']:.1f}"
    )
    yield f"  worse by more than two standard errors: {len(worse)} {' '.join(worse)}"
    yield f"  better by more than two: {len(better)} {' '.join(better)}"
    slow = [one["table"] for one, share in zip(found, ratio, strict=True) if share > 0.5]
    yield f"  CPU, of the grid's: median {np.median(ratio):.2f}; above half in {len(slow)} {' '.join(slow)}"
    yield f"  interval holds the error in {mean['covered']:.1%} of the fits"


def recorded() -> dict[str, dict[str, Any]]:
    """What was recorded of each table."""
    names, *rows = json.loads(RECORD.read_text()) if RECORD.exists() else [[]]
    return {row[0]: dict(zip(names, row, strict=True)) for row in rows}


def record(found: dict[str, dict[str, Any]]) -> None:
    """Write a row of numbers per table, below their names."""
    rows = [list(next(iter(found.values()))), *(list(one.values()) for one in found.values())]
    rounded = [[round(v, 4) if isinstance(v, float) else v for v in row] for row in rows]
    RECORD.write_text("[" + ",\n".join(json.dumps(row, separators=(",", ":")) for row in rounded) + "]\n")


def summary() -> Iterator[str]:
    """What is recorded, part by part."""
    known = recorded()
    for half, names in halves().items():
        if found := [known[name] for name in names if name in known]:
            yield from lines(found, half)


def main(arguments: list[str]) -> None:
    """Print both learners table by table, and what they say together."""
    keeps, asked = "--record" in arguments, [word for word in arguments if word != "--record"]
    known = recorded() if keeps else {}
    for half, names in halves().items():
        found = []
        for name in names:
            if asked and half not in asked and name not in asked:
                continue
            one = known.get(name) or compared(name)
            if one is None:
                continue
            if keeps:
                known[name] = one
                record(known)
            found.append(one)
            print(
                f"{name:28} {one['rows']:5} {one['ours']:.4f} {one['cart']:.4f} {one['difference']:+.4f} "
                f"± {one['se']:.4f}  leaves {one['size']:5.1f} {one['cart_size']:5.1f}  CPU {one['cpu']:.3f} "
                f"{one['cpu'] / one['cart_cpu']:.2f}  {one['covered']:.2f}",
                flush=True,
            )
        if found:
            print(*lines(found, half), sep="\n", flush=True)
        unseen = [one for one in found if one["table"].split("/")[-1] not in readable.CHOSEN_ON]
        if half == "fresh" and unseen and len(unseen) < len(found):
            print(*lines(unseen, "fresh, no rows of tables that choices were made on"), sep="\n", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
