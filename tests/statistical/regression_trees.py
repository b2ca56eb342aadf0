"""Errors of trees on the shared numeric tables: `python -m tests.statistical.regression_trees second`.

Each table is split in halves ten times. Options were chosen on the first list and are judged on the second.
"""

import os
import sys
import time
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.compose import make_column_selector, make_column_transformer
from sklearn.model_selection import GridSearchCV, KFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OrdinalEncoder
from sklearn.tree import DecisionTreeRegressor

from offsample import TreeRegressor

FIRST = ["airfoil", "boom_bikes", "concrete", "treasury", "medical_cost", "slump_test", "sacramento"]
SECOND = ["autoMPG6", "laser", "winequality_red", "real_estate_valuation", "forest_fires", "compactiv"]
SECOND += ["puma32h"]
TARGETS = {"medical_cost": "charges", "forest_fires": "area", "sacramento": "price"}


def cart():
    """CART with its number of leaves chosen by five folds, on ordinal codes of the categories."""
    numbers = make_column_transformer(
        (
            OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=-1),
            make_column_selector(dtype_exclude="number"),
        ),
        remainder="passthrough",
    )
    leaves = {"max_leaf_nodes": [2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256, 384, 512]}
    folds = KFold(5, shuffle=True, random_state=0)
    return make_pipeline(numbers, GridSearchCV(DecisionTreeRegressor(random_state=0), leaves, cv=folds))


def errors(name, n_splits, most_rows, **options):
    """Mean squared errors of ours and of CART, seconds of both, and how often the interval held."""
    frame = pd.read_parquet(Path(os.environ["OFFSAMPLE_DATA"]) / "numeric" / f"{name}.parquet")
    y = frame.pop(TARGETS.get(name, "target")).to_numpy(float)
    found = []
    for seed in range(n_splits):
        order = np.random.default_rng(seed).permutation(len(y))[:most_rows]
        train, test = order[: len(order) // 2], order[len(order) // 2 :]
        row = []
        for model in (TreeRegressor(**options), cart()):
            start = time.perf_counter()
            model.fit(frame.iloc[train], y[train])
            loss = (model.predict(frame.iloc[test]) - y[test]) ** 2
            row += [loss.mean(), time.perf_counter() - start]
            if isinstance(model, TreeRegressor):
                low, high = model.estimated_error_interval_
                apart = 2 * loss.std() / np.sqrt(len(loss))
                row += [model.estimated_error_, low - apart <= loss.mean() <= high + apart, model.size_]
        found.append(row)
    return np.array(found)


def main():
    """Print a line for each table, and the mean of the ratios."""
    names = SECOND if "second" in sys.argv else FIRST
    options = dict(pair.split("=") for pair in sys.argv[1:] if "=" in pair)
    options = {name: None if value == "None" else value for name, value in options.items()}
    ratios = []
    for name in names:
        found = errors(name, 4 if "short" in sys.argv else 10, 3_000, **options)
        ours, seconds, told, held, size, theirs, theirs_seconds = found.mean(axis=0)
        ratios.append(ours / theirs)
        print(
            f"{name:22} ours {ours:10.4g} cart {theirs:10.4g} ratio {ours / theirs:.3f} told/true "
            f"{told / ours:.2f} held {held:.2f} leaves {size:.0f} seconds {seconds:.2f} {theirs_seconds:.2f}",
            flush=True,
        )
    print(f"mean of ratios {np.mean(ratios):.3f}")


if __name__ == "__main__":
    main()
