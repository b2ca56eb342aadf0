"""Ranking columns beside the peers: what it takes, and whether the signals are found."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks._frame import Case, Tool, topic
from benchmarks.ranking_designs import make_table, random_design

Ints = NDArray[np.int64]
CARDINALITIES = [2, 5, 10, 50, 100, 500, 1000, 5000, 10_000, 100_000] * 2


def make_codes(n_rows: int, n_columns: int = 20) -> tuple[Ints, Ints]:
    """Noise columns of 2 to 10⁵ values."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, n_rows)
    columns = [rng.integers(0, CARDINALITIES[j % 20], n_rows) for j in range(n_columns)]
    return np.asfortranarray(np.column_stack(columns)), y


def to_frame(codes: Ints, y: Ints, as_strings: bool = False) -> Any:
    import pandas as pd

    columns: dict[str, Any] = {f"c{j}": codes[:, j] for j in range(codes.shape[1])}
    if as_strings:
        columns = {
            name: np.array([f"value {i}" for i in range(column.max() + 1)], dtype=object)[column]
            for name, column in columns.items()
        }
        return pd.DataFrame(columns).astype("str").assign(y=y)
    return pd.DataFrame(columns).assign(y=y)


# --- what it takes ------------------------------------------------------------------------------------


def ranked(frame: Any, categorical: Any = "all") -> Callable[[], Any]:
    from offsample import rank_features

    return lambda: rank_features(frame, "y", categorical_features=categorical)


def counted(frame: Any, form: str = "pandas") -> Callable[[], Any]:
    from offsample.counts import feature_counts

    if form != "pandas":
        import polars as pl

        frame = pl.from_pandas(frame)
    return lambda: feature_counts(frame.lazy() if form == "lazy" else frame, "y")


def by_factorize(frame: Any) -> Callable[[], Any]:
    import pandas as pd

    y = frame["y"].to_numpy()
    return lambda: [np.bincount(pd.factorize(frame[c])[0] * 2 + y) for c in frame.columns[:-1]]


def by_polars(frame: Any) -> Callable[[], Any]:
    import polars as pl

    table = pl.from_pandas(frame)
    counts = [pl.len().alias("n"), pl.col("y").sum()]
    return lambda: pl.collect_all([table.lazy().group_by(c).agg(counts) for c in table.columns[:-1]])


def by_duckdb(frame: Any) -> Callable[[], Any]:
    import duckdb
    import pyarrow as pa

    connection = duckdb.connect()
    connection.register("t", pa.Table.from_pandas(frame))
    query = "SELECT n, s, count(*) FROM (SELECT count(*) n, sum(y) s FROM t GROUP BY {}) GROUP BY n, s"
    return lambda: [connection.execute(query.format(c)).fetchall() for c in frame.columns[:-1]]


def by_mutual_information(frame: Any, as_strings: bool) -> Callable[[], Any]:
    from sklearn.feature_selection import mutual_info_classif
    from sklearn.preprocessing import OrdinalEncoder

    def run() -> Any:
        X = frame.drop(columns="y")
        codes = OrdinalEncoder(dtype=np.int64).fit_transform(X) if as_strings else X.to_numpy()
        return mutual_info_classif(codes, frame["y"], discrete_features=True)

    return run


def speed(n_rows: int) -> Iterator[Case]:
    codes, y = make_codes(n_rows)
    for as_strings in (False, True):
        frame = to_frame(codes, y, as_strings)
        tools = [
            Tool("offsample rank_features, pandas", partial(ranked, frame)),
            Tool("offsample feature_counts, pandas", partial(counted, frame)),
            Tool("offsample feature_counts, polars", partial(counted, frame, "polars")),
            Tool("offsample feature_counts, polars lazy", partial(counted, frame, "lazy")),
            Tool("pandas factorize + bincount", partial(by_factorize, frame), peer="pandas"),
            Tool("polars lazy group_by", partial(by_polars, frame), peer="polars"),
            Tool("DuckDB, two group-bys", partial(by_duckdb, frame), peer="DuckDB"),
            Tool(
                "scikit-learn mutual_info_classif",
                partial(by_mutual_information, frame, as_strings),
                peer="scikit-learn",
            ),
        ]
        if not as_strings:
            tools += [
                Tool("offsample rank_features, as numbers", partial(ranked, frame, "infer")),
                Tool(
                    "numpy bincount",
                    lambda: lambda: [np.bincount(codes[:, j] * 2 + y) for j in range(codes.shape[1])],
                    peer="numpy",
                ),
            ]
        yield Case(f"{n_rows:,} rows × 20 columns of {'strings' if as_strings else 'integers'}", tools)


# --- whether the signals are found --------------------------------------------------------------------

Table = tuple[Mapping[str, Ints], Ints, int]


def tables(n_tables: int, largest: int) -> list[Table]:
    """Tables of two classes, each of a design drawn at random: columns, classes, number of signals."""
    found: list[Table] = []
    seed = 0
    while len(found) < n_tables:
        design = random_design(np.random.default_rng([seed, 1]))
        if len(design.rates) == 2 and design.n_rows <= largest:
            columns, y = make_table(design, np.random.default_rng(seed))
            n = design.n_rows
            found.append(({name: c[:n] for name, c in columns.items()}, y[:n], len(design.signals)))
        seed += 1
    return found


Scores = Mapping[str, float]


def our_order(columns: Mapping[str, Ints], y: Ints) -> list[str]:
    from offsample import rank_features

    return [feature.name for feature in rank_features(dict(columns), y, categorical_features="all")]


def by_score(score: Callable[[Mapping[str, Ints], Ints], Scores]) -> Callable[..., list[str]]:
    """The order of falling scores."""

    def order(columns: Mapping[str, Ints], y: Ints) -> list[str]:
        scores = score(columns, y)
        return sorted(columns, key=lambda name: -scores[name])

    return order


def mutual_information() -> Callable[..., list[str]]:
    from sklearn.feature_selection import mutual_info_classif

    def score(columns: Mapping[str, Ints], y: Ints) -> Scores:
        X = np.column_stack(list(columns.values()))
        return dict(zip(columns, mutual_info_classif(X, y, discrete_features=True), strict=True))

    return by_score(score)


def adjusted_mutual_information() -> Callable[..., list[str]]:
    from sklearn.metrics import adjusted_mutual_info_score

    return by_score(lambda columns, y: {n: adjusted_mutual_info_score(y, c) for n, c in columns.items()})


def cross_fitted_encoding() -> Callable[..., list[str]]:
    """Target encoding, cross-fitted in five folds; columns by the area under the ROC curve of the codes."""
    from sklearn.metrics import roc_auc_score
    from sklearn.preprocessing import TargetEncoder

    def score(columns: Mapping[str, Ints], y: Ints) -> Scores:
        encoded = TargetEncoder(random_state=0).fit_transform(np.column_stack(list(columns.values())), y)
        return {name: roc_auc_score(y, encoded[:, j]) for j, name in enumerate(columns)}

    return by_score(score)


def feature_engine() -> Callable[..., list[str]]:
    """The area under the ROC curve of the mean of the target per value, in three folds."""
    import pandas as pd
    from feature_engine.selection import SelectByTargetMeanPerformance

    def score(columns: Mapping[str, Ints], y: Ints) -> Scores:
        selector = SelectByTargetMeanPerformance(scoring="roc_auc", threshold=0)
        selector.fit(pd.DataFrame(columns).astype(str).astype("category"), pd.Series(y))
        return {name: 0.0 if s != s else s for name, s in selector.feature_performance_.items()}

    return by_score(score)


def over_tables(make: Callable[[], Callable[..., list[str]]], some: list[Table]) -> Callable[[], Any]:
    order = make()
    return lambda: [order(columns, y) for columns, y, _ in some]


def signals(n_tables: int, largest: int) -> Case:
    some = tables(n_tables, largest)

    def all_first(orders: list[list[str]]) -> float:
        hits = [
            {f"s{i}" for i in range(n_signals)} == set(order[:n_signals])
            for order, (_, _, n_signals) in zip(orders, some, strict=True)
        ]
        return float(np.mean(hits))

    tools = {
        "offsample rank_features": (lambda: our_order, None),
        "scikit-learn mutual_info_classif": (mutual_information, "scikit-learn"),
        "scikit-learn adjusted_mutual_info_score": (adjusted_mutual_information, "scikit-learn"),
        "scikit-learn TargetEncoder, cross-fitted, AUC": (cross_fitted_encoding, "scikit-learn"),
        "feature-engine SelectByTargetMeanPerformance": (feature_engine, "feature-engine"),
    }
    return Case(
        f"finding the signals in {n_tables} tables of at most {largest:,} rows",
        [
            Tool(name, partial(over_tables, make, some), peer, all_first)
            for name, (make, peer) in tools.items()
        ],
        "share of tables with all signals first",
        "higher",
        n_tables,
    )


@topic(
    "ranking",
    "Ranking columns",
    "Ranking twenty noise columns of 2 to 100,000 values (pandas, polars, DuckDB and numpy only count, which "
    "is the part that takes time); and, on tables with one to four true signals among noise columns and an "
    "identifier, whether all signals come first.",
    peers={
        "numpy": "`numpy.bincount` counts ready codes with nothing around it; it ranks nothing.",
        "pandas": "Use it when you want the counts themselves.",
        "polars": "Use it when you want the counts themselves, on all cores.",
        "DuckDB": "Use it when you want the counts themselves and the table lives in a database; hand us the "
        "relation for the ranking.",
        "scikit-learn": "`mutual_info_classif` also takes continuous columns by neighbours, without bins; a "
        "`TargetEncoder` is for the encoding itself, in a pipeline.",
        "feature-engine": "Use it when the selection has to be a step in a pipeline that scores single "
        "columns by a metric of your choice; `FeatureRanker` is ours.",
    },
    packages=("pandas", "polars", "duckdb", "pyarrow", "feature-engine"),
)
def cases(small: bool) -> Iterator[Case]:
    yield from speed(2000 if small else 1_000_000)
    yield signals(*((4, 600) if small else (40, 3000)))
