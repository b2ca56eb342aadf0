"""Features chosen by us and by peers: ``python -m benchmarks selection [choosing|judging] [TABLE …]``.

Wide tables: each is divided into 60 % to choose on and 40 % to judge on (240 and at most 600 rows of the
larger ones), `N_SPLITS` times. Each method chooses 10, 50 and 200 features, and a number of its own where it
has one. Judged are the nearest-neighbour rule, logistic regression and a linear support vector machine, on
features in the range 0 to 1. Stability is the mean share of fifty features that two divisions have in common.
The step of `Simba` and how `"auto"` counts were chosen on the first half of the tables; the second half was
looked at once.

``--record`` keeps what is found in ``results/selection.json``, and goes on where it ended. A method whose
package is missing, or that takes more than `LIMIT` CPU seconds on a table, is left out and said so.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks._frame import RESULTS

RECORD = RESULTS / "selection.json"
TITLE = "Selecting features"
MEASURED = (
    "Eleven wide tables, each divided three times into 60 % to choose on and 40 % to judge on (240 and at"
    " most 600 rows of the larger ones): the mean accuracy of three rules on 10, 50 and 200 features, and"
    " on as many as the method chooses itself; how many of fifty features two divisions have in common; "
    "CPU seconds of one choice on each table. What the defaults are was chosen on the first half; the "
    "second was looked at once."
)
TABLES = {
    "choosing": ["allaml", "leukemia", "lung_small", "faces_warp_pie10p", "arcene"],
    "judging": ["glioma", "lymphoma", "faces_warp_ar10p", "faces_orl_32x32", "isolet_1560", "pcmac"],
}
SIZES = (10, 50, 200)
N_SPLITS = 3
LIMIT = 60.0


def wide(name: str) -> tuple[Any, Any]:
    """Numbers and classes that have six rows or more."""
    with np.load(Path(os.environ["OFFSAMPLE_DATA"]) / f"{name}.npz") as arrays:
        X, y = arrays["X"].reshape(len(arrays["X"]), -1).astype(float), arrays["y"]
    codes = np.unique(y, return_inverse=True)[1]
    kept = (np.bincount(codes) >= 6)[codes]
    return X[kept], np.unique(codes[kept], return_inverse=True)[1]


def by_f(X: Any, y: Any) -> Any:
    from sklearn.feature_selection import f_classif

    return np.nan_to_num(f_classif(X, y)[0])


def by_information(X: Any, y: Any) -> Any:
    from sklearn.feature_selection import mutual_info_classif

    return mutual_info_classif(X, y, random_state=0)


def by_mrmr(X: Any, y: Any) -> Any:
    import pandas as pd
    from mrmr import mrmr_classif

    chosen = mrmr_classif(pd.DataFrame(X), pd.Series(y), K=max(SIZES), show_progress=False, n_jobs=1)
    weights = np.zeros(X.shape[1])
    weights[chosen] = np.arange(len(chosen), 0, -1)
    return weights


def by_fast_select(X: Any, y: Any) -> Any:
    from fast_select import ReliefF

    return ReliefF(n_neighbors=10, n_jobs=1, backend="cpu").fit(X, y).feature_importances_


def by_boruta(X: Any, y: Any) -> Any:
    from boruta import BorutaPy
    from sklearn.ensemble import RandomForestClassifier

    forest = RandomForestClassifier(100, max_depth=5, random_state=0)
    return -BorutaPy(forest, max_iter=20, random_state=0).fit(X, y).ranking_.astype(float)


def ours(make: Callable[[], Any]) -> Callable[[Any, Any], Any]:
    """Weights, and the number that the method chooses."""

    def weigh(X: Any, y: Any) -> Any:
        fitted = make().fit(X, y)
        return -fitted.ranking_.astype(float), fitted.n_features_

    return weigh


def methods() -> dict[str, Callable[[Any, Any], Any]]:
    """Each gives weights of the features; ours also how many to take."""
    from offsample.margin import GFlip, Relief, Simba

    return {
        "F": by_f,
        "mutual information": by_information,
        "mRMR": by_mrmr,
        "fast-select ReliefF": by_fast_select,
        "Boruta": by_boruta,
        "Relief": ours(Relief),
        "Relief, 10": ours(lambda: Relief(n_neighbors=10)),
        "Relief, MultiSURF": ours(lambda: Relief(n_neighbors="multisurf")),
        "Simba": ours(lambda: Simba(random_state=0)),
        "G-flip": ours(lambda: GFlip(n_restarts=2, random_state=0)),
    }


@contextmanager
def stopped(seconds: float) -> Iterator[None]:
    """Raise TimeoutError after so many CPU seconds."""

    def stop(*_: Any) -> None:
        raise TimeoutError

    before = signal.signal(signal.SIGVTALRM, stop)
    signal.setitimer(signal.ITIMER_VIRTUAL, max(seconds, 0.01))
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)


def accuracies(known: Any, y: Any, new: Any, truth: Any) -> list[float]:
    """Accuracy of three rules."""
    from sklearn.linear_model import LogisticRegression
    from sklearn.neighbors import KNeighborsClassifier
    from sklearn.svm import SVC

    rules = KNeighborsClassifier(1), LogisticRegression(max_iter=300), SVC(kernel="linear")
    return [float(rule.fit(known, y).score(new, truth)) for rule in rules]


def judged(X: Any, y: Any, weigh: Callable[[Any, Any], Any]) -> dict[str, Any]:
    """Accuracies by number of features (``own`` is the method's), stability, CPU seconds of a choice."""
    from sklearn.model_selection import StratifiedShuffleSplit

    sizes = (0.6, 0.4) if len(y) < 400 else (240, min(600, len(y) - 240))
    splits = StratifiedShuffleSplit(N_SPLITS, train_size=sizes[0], test_size=sizes[1], random_state=1)
    found: dict[str, list[list[float]]] = {}
    sets, seconds, own = [], 0.0, []
    for train, test in splits.split(X, y):
        started = time.process_time()
        try:
            with stopped(LIMIT - seconds):
                weights = weigh(X[train], y[train])
        except Exception as error:  # Boruta makes another of a TimeoutError
            if not isinstance(error.__context__ or error, TimeoutError):
                raise
            return {"slow": LIMIT}
        seconds += time.process_time() - started
        weights, number = weights if isinstance(weights, tuple) else (weights, None)
        order = np.argsort(-weights, kind="stable")
        sets.append({*order[:50].tolist()})
        low, reach = X[train].min(axis=0), np.ptp(X[train], axis=0)
        Z = (X - low) / np.where(reach > 0, reach, 1.0)
        asked = {**{str(size): size for size in SIZES}, **({} if number is None else {"own": max(number, 1)})}
        for key, size in asked.items():
            few = order[:size]
            found.setdefault(key, []).append(accuracies(Z[train][:, few], y[train], Z[test][:, few], y[test]))
        if number is not None:
            own.append(number)
    pairs = [len(a & b) / 50 for i, a in enumerate(sets) for b in sets[:i]]
    means = {key: np.mean(rows, axis=0).round(3).tolist() for key, rows in found.items()}
    return {
        **means,
        **({"number": float(np.median(own))} if own else {}),
        "stability": round(float(np.mean(pairs)), 3),
        "seconds": round(seconds / N_SPLITS, 3),
    }


def lines(found: dict[str, dict[str, Any]], half: str) -> Iterator[str]:
    """Means over the tables of a half on which every method was tried."""
    if not (tables := [name for name in TABLES[half] if name in found]):
        return
    yield f"{half}: {', '.join(tables)}; accuracy of 1-NN, logistic regression, SVM after 10, 50, 200, own"
    for method in methods():
        without = [name for name in tables if "10" not in found[name].get(method, {})]
        if without:
            yield f"  {method:20} left out: too slow or not installed for {', '.join(without)}"
            continue
        rows = [found[name][method] for name in tables]
        cells = [
            " ".join(f"{v:.3f}" for v in np.mean([row[key] for row in rows], axis=0))
            for key in (*map(str, SIZES), "own")
            if key in rows[0]
        ]
        number = " ".join(f"{row['number']:.0f}" for row in rows if "number" in row)
        yield (
            f"  {method:20} {'  '.join(cells)}  stability {np.mean([row['stability'] for row in rows]):.2f}"
            f"  CPU {np.sum([row['seconds'] for row in rows]):.1f} s  {number}"
        )


def recorded() -> dict[str, dict[str, Any]]:
    """What was recorded of each table and method."""
    return json.loads(RECORD.read_text()) if RECORD.exists() else {}


def summary() -> Iterator[str]:
    """What is recorded, both halves."""
    for half in TABLES:
        yield from lines(recorded(), half)


def main(arguments: list[str]) -> None:
    """Print what each method does, table by table and together."""
    keeps, asked = "--record" in arguments, [word for word in arguments if word != "--record"]
    found = recorded() if keeps else {}
    warnings.simplefilter("ignore")  # of constant features, and of rules that need more rounds
    for half, names in TABLES.items():
        for name in names:
            if asked and half not in asked and name not in asked:
                continue
            X, y = wide(name)
            mine = found.setdefault(name, {})
            for method, weigh in methods().items():
                if method in mine:
                    continue
                try:
                    mine[method] = judged(X, y, weigh)
                except ImportError as error:
                    mine[method] = {"missing": str(error)}
                print(name, method, mine[method], flush=True)
                if keeps:
                    parts = (
                        f"{json.dumps(k)}:{json.dumps(v, separators=(',', ':'))}" for k, v in found.items()
                    )
                    RECORD.write_text("{" + ",\n".join(parts) + "}\n")
        if any(name in found for name in names):
            print(*lines(found, half), sep="\n", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
