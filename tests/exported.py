"""A table of hostile names and values, learners fitted to some of its rows, and what SQL should say."""

from __future__ import annotations

import datetime as dt
from typing import Any

import numpy as np

from offsample import induction
from offsample.report._estimator import ReportedClassifier

N_ROWS, N_TRAINED = 10_000, 2000
TEXT = 'it\'s "x"; DROP TABLE rows --'
TABLE = 'the "rows"; `--`'
VALUES = [
    "it's", 'q"q', "back\\slash", "\\", "new\nline", "tab\t", "", " ", "NaN", "NULL", "None", "ü🙂", "x",
    "x ", "X", "${env:HOME}", "$", "%s {0}", "`", "\\n", "\\u0041", "'; DROP TABLE rows; --", "𝔘", "\r", "0",
    "1.0",
]  # fmt: skip


def hostile(n_rows: int = N_ROWS) -> dict[str, list[Any]]:
    """Columns as lists of Python values. Some values are in none of the first rows."""
    random = np.random.default_rng(0)

    def some(values: list[Any], later: list[Any], missing: float = 0.1) -> list[Any]:
        number = random.integers(0, len(values), n_rows).astype(object)
        drawn = [values[i] for i in number]
        for row in range(N_TRAINED, n_rows):
            if later and random.random() < 0.1:
                drawn[row] = later[random.integers(len(later))]
        return [
            None if gone else one for one, gone in zip(drawn, random.random(n_rows) < missing, strict=True)
        ]

    days = [dt.date(1969, 1, 1) + dt.timedelta(days=i) for i in range(0, 30_000, 701)]
    moments = [dt.datetime(1969, 12, 31, 23, 59, 59, 999_990 + i) for i in range(10)]
    moments += [dt.datetime(2020, 1, 1) + dt.timedelta(microseconds=7 * i) for i in range(20)]
    moments += [dt.datetime(2020, 2, 28) + dt.timedelta(hours=37 * i, microseconds=-1) for i in range(40)]
    floats = [*map(float, random.normal(size=40)), 0.1 + 0.2, 0.3, -0.0, 5e-324, 1.7e308, float("inf")]
    keys = [2**53 + i for i in range(12)] + [-(2**62), 2**63 - 1]
    nan = float("nan")
    return {
        TEXT: some(VALUES[2:], VALUES[:2]),
        "prediction": some([*floats, nan, nan, nan], [-float("inf"), 1e-310, 9.0]),
        "whole\nnumber": some(list(range(-20, 20)), [10**15, -(10**15)]),
        "key `k`": some(keys, [2**53 + 50, 0]),
        "back\\slash": some([True, False], []),
        "when?; ü🙂": some(moments, [dt.datetime(1900, 2, 28, 1, 2, 3, 4)]),
        "day": some(days, [dt.date(2100, 1, 1)]),
        "float32": [None if x is None else float(np.float32(x)) for x in some(floats[:40], [0.25])],
        "zip {0} %s": some([101.0, 202.5, 303.0, 404.0, nan], [7.0, 505.0]),
        "offsample_rows": some([2**53 + 4096 * i for i in range(30)], [1]),
        "sent_at": some([1_577_836_799 + 40_000_123 * i // 13 for i in range(60)], [-1, 0, -90_001], 0),
        "id": list(range(n_rows)),
    }


TYPES = {  # in DuckDB, PostgreSQL and SQLite
    "VARCHAR VARCHAR TEXT": [TEXT],
    "DOUBLE float8 REAL": ["prediction", "zip {0} %s"],
    "BIGINT bigint INTEGER": ["whole\nnumber", "key `k`", "offsample_rows", "sent_at", "id"],
    "BOOLEAN boolean INTEGER": ["back\\slash"],
    "TIMESTAMP timestamp TEXT": ["when?; ü🙂"],
    "DATE date TEXT": ["day"],
    "FLOAT float4 REAL": ["float32"],
}


def types(place: int) -> dict[str, str]:
    """Type of each column in a dialect, in the order of the table."""
    of_name = {name: kinds.split()[place] for kinds, names in TYPES.items() for name in names}
    return {name: of_name[name] for name in hostile(1)}


def features(columns: dict[str, list[Any]]) -> dict[str, Any]:
    """What learners are given."""
    given: dict[str, Any] = {name: values for name, values in columns.items() if name != "id"}
    given["float32"] = np.array([np.nan if x is None else x for x in given["float32"]], np.float32)
    return given


def target(columns: dict[str, list[Any]], n_classes: int) -> np.ndarray:
    """Classes that depend on every column, so that models use them."""
    random = np.random.default_rng(1)
    score = random.normal(size=len(columns["id"]))
    for weight, (name, values) in zip(
        (2.0, 1.5, 1.5, 2.0, 1.5, 1.0, 1.0, 1.0, 2.0, 1.0, 1.0), columns.items(), strict=False
    ):
        known = sorted({one for one in values if one is not None and one == one}, key=str)
        place = {
            one: (i * 7919) % len(known) / len(known) if name == TEXT else i / len(known)
            for i, one in enumerate(sorted(known))
        }
        score += weight * np.array([place.get(one, 1.2) for one in values])
    cuts = np.quantile(score, np.arange(1, n_classes) / n_classes)
    return np.searchsorted(cuts, score)


MANY = {"max_splits": 40, "stopping": "none", "min_samples_leaf": 5}
TIMES = "when?; ü🙂", "day", "sent_at"
MADE = [
    *(f"{time}: {part}" for time in TIMES for part in ("month", "weekday", "hour")),
    "zip {0} %s",
    "sent_at",
]
LEARNERS: dict[str, tuple[Any, list[Any]]] = {
    "tree": (induction.TreeClassifier(**MANY), ["it's", "pro\\bably", "Pro\\bably"]),
    "multiway": (induction.TreeClassifier(**MANY, categorical_split="multiway", unseen="uniform"), [3, 5, 7]),
    "costs": (induction.TreeClassifier(**MANY, costs={"fn": 7, "fp": 1}), [False, True]),
    "numbers": (induction.TreeRegressor(**MANY), [-1 / 3, 0.0, 2.5, 1e5 / 7]),
    "list": (induction.DecisionListClassifier(max_size=20, stopping="none"), [1.0, 2.0, 3]),
    "weighted": (induction.DecisionListClassifier(max_size=9, class_weight="balanced"), ["a", "b", "c"]),
    "monomial": (induction.MonomialClassifier(), ["no", "yes"]),
    "dnf": (induction.DNFClassifier(), ["no", "yes"]),
    "program": (induction.BranchingProgramClassifier(), ["no", "yes"]),
    "committee": (induction.CommitteeClassifier(), ["no", "yes"]),
    "parts": (ReportedClassifier(induction.TreeClassifier(**MANY), MADE), ["no", "yes"]),
    "symmetric": (induction.SymmetricFunctionClassifier(max_size=8), ["x", "y", "z"]),
    "oblique": (induction.StochasticTreeClassifier(max_splits=12, lookahead=False), ["no", "yes"]),
    "oblique3": (induction.StochasticTreeClassifier(max_splits=8, geometry="offset"), [1, 2, 3]),
    "oblique costs": (
        induction.StochasticTreeClassifier(
            max_splits=5, lookahead=False, scale="minmax", class_weight={"no": 4},
            costs=[[0, 0, 1], [0, 0, 1], [3, 3, 0]],  # of no and perhaps the likelier
        ),
        ["no", "perhaps", "yes"],
    ),
}  # fmt: skip


def fitted(name: str, columns: dict[str, list[Any]]) -> Any:
    """A learner fitted to the first rows."""
    learner, classes = LEARNERS[name]
    X = {one: values[:N_TRAINED] for one, values in features(columns).items()}
    learner.set_params(categorical_features=["zip {0} %s"])
    return learner.fit(X, np.array(classes)[target(columns, len(classes))[:N_TRAINED]])


def check(model: Any, columns: dict[str, list[Any]], rows: list[Any]) -> None:
    """Rows of ``prediction, probabilities…, columns…, id`` are what the model says."""
    X, n_classes = features(columns), len(getattr(model, "classes_", ()))
    assert [row[-1] for row in rows] == columns["id"]
    assert [row[0] for row in rows] == model.predict(X).tolist()
    if not n_classes:  # numbers have no probabilities
        assert len(rows[0]) in (2, 1 + len(columns))
        return
    shares = np.array([row[1 : 1 + n_classes] for row in rows], float)
    np.testing.assert_allclose(shares, model.predict_proba(X), rtol=0, atol=1e-12)
