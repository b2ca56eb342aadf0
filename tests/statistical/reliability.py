"""How far probabilities are from the shares that are seen: of trees, of the truth, and of oblique trees.

``python -m tests.statistical.reliability`` grows trees on four fifths of shared tables and prints in how many
bins of fewer than 2,500 of the other rows the share lies within two standard errors of what was said: of
these rows alone, and together with those that said it. ``… reliability simulated 20`` does so with known
probabilities, beside two that no choice can have distorted: the same cells with the shares of a sample that
took no part in making them, and the truth. ``… reliability oblique`` prints log loss and distance in deciles
of oblique trees, by votes and by probabilities, on ten tables that were looked at
while it was tuned on eleven others. ``… reliability leaves 12`` prints what leaves of trees for the error say
of their own errors, and what these are on 20,000 new rows, in fifths of the rows by what is said.
``… reliability slope 6`` prints by how much true probabilities differ where those said differ by one:
below 1 these are spread too far, above it not far enough; beside it the same of plain shares of the leaves.
``… reliability calibrated 5`` prints log loss on a third of the rows of small tables: of the tree for log
loss, and of scikit-learn's tree with tuned leaves, as it is and calibrated in its two ways.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.calibration import CalibratedClassifierCV
from sklearn.metrics import log_loss
from sklearn.model_selection import GridSearchCV, StratifiedShuffleSplit
from sklearn.tree import DecisionTreeClassifier

from offsample.datasets import load
from offsample.induction import StochasticTreeClassifier, TreeClassifier

TABLES = ("adult", "german_credit", "pima", "sick", "splice", "car", "tic_tac_toe", "vote", "internet_usage")
OBLIQUE = (
    *("haberman", "ecoli", "iris", "pendigits", "page_blocks", "heart_statlog", "balance_scale"),
    *("imbalanced/abalone-17_vs_7-8-9-10", "imbalanced/page-blocks-1-3_vs_4", "imbalanced/ad_data"),
)
DESIGNS = {
    "rare": lambda X: 1 / (1 + np.exp(4 - 1.2 * X[:, 0] - 0.8 * X[:, 1])),
    "smooth": lambda X: 1 / (1 + np.exp(-X[:, 0] - 0.7 * X[:, 1] - 0.5 * X[:, 2])),
    "steps": lambda X: np.where(X[:, 0] > 0.5, 0.8, np.where(X[:, 1] > 0, 0.4, 0.1)),
    "clean": lambda X: np.where((X[:, 0] > 0) & (X[:, 1] > 0), 0.98, 0.02),
}
SMALL = (
    *("german_credit", "pima", "haberman", "heart_statlog"),
    *("imbalanced/abalone-17_vs_7-8-9-10", "imbalanced/dermatology-6", "imbalanced/ecoli-0-3-4-7_vs_5-6"),
    *("imbalanced/flare-F", "imbalanced/glass2", "imbalanced/page-blocks-1-3_vs_4"),
    *("imbalanced/winequality-red-8_vs_6", "imbalanced/yeast-1-4-5-8_vs_7"),
)
MANY = 2500


def table(name: str, n_rows: int) -> tuple[pd.DataFrame, np.ndarray]:
    """Columns and classes of a shared table, of some rows if it has more."""
    data = load(name)
    X, y = data.X, np.asarray(data.y).astype(str)
    if len(y) > n_rows:
        kept = np.random.default_rng(0).permutation(len(y))[:n_rows]
        X, y = X.iloc[kept].reset_index(drop=True), y[kept]
    return X, y


def bins(
    said: np.ndarray, is_so: np.ndarray, of_training: np.ndarray
) -> list[tuple[int, float, float, float]]:
    """Rows of each tenth of the probabilities, the mean of these and of the truth, and rows that said it."""
    cell, known = (np.minimum((10 * p).astype(int), 9) for p in (said, of_training))
    return [
        (int(here.sum()), float(said[here].mean()), float(is_so[here].mean()), int((known == one).sum()))
        for one in np.unique(cell)
        for here in [cell == one]
    ]


def within(found: list[tuple[int, float, float, float]]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Distances in large bins, in small ones those in standard errors: of the rows, and of both samples."""
    n, said, seen, known = np.array(found, float).T
    small = (n < MANY) & (n * said * (1 - said) >= 1)
    variance = (said * (1 - said))[small]
    away = np.abs(said - seen)
    of_rows = away[small] / np.sqrt(variance / n[small])
    of_both = away[small] / np.sqrt(variance * (1 / n[small] + 1 / np.maximum(known[small], 1)))
    return away[n >= MANY], of_rows, of_both


def real_bins(criterion: str, n_splits: int = 3, names: tuple[str, ...] = TABLES) -> list[tuple]:
    """Bins of trees on shared tables, one for each class but the first of two."""
    found = []
    for name in names:
        X, y = table(name, 30_000)
        for train, test in StratifiedShuffleSplit(n_splits, test_size=0.2, random_state=0).split(X, y):
            tree = TreeClassifier(criterion=criterion).fit(X.iloc[train], y[train])
            p, of_training = tree.predict_proba(X.iloc[test]), tree.predict_proba(X.iloc[train])
            for k in range(1 if p.shape[1] == 2 else 0, p.shape[1]):
                found += bins(p[:, k], y[test] == tree.classes_[k], of_training[:, k])
    return found


def simulated_bins(design: str, n_rows: int, seed: int) -> dict[str, list[tuple]]:
    """Bins of a tree, of its cells with shares of other rows, and of the truth, on a quarter as many rows."""
    random = np.random.default_rng((seed, n_rows))

    def drawn(n: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        X = random.normal(size=(n, 10))
        truth = DESIGNS[design](X)
        return X, truth, random.random(n) < truth

    (X, true_before, y), (again, _, y_again), (new, truth, y_new) = map(drawn, (n_rows, n_rows, n_rows // 4))
    tree = TreeClassifier(criterion="log_loss_loo").fit(X, y)
    leaves = [tree.apply(one) for one in (X, again, new)]
    n_cells = 1 + max(map(np.max, leaves))
    share = (np.bincount(leaves[1], y_again, n_cells) + 0.5) / (np.bincount(leaves[1], minlength=n_cells) + 1)
    return {
        "tree": bins(tree.predict_proba(new)[:, 1], y_new, tree.predict_proba(X)[:, 1]),
        "other rows": bins(share[leaves[2]], y_new, share[leaves[1]]),
        "truth": bins(truth, y_new, true_before),
    }


def told(name: str, found: list[tuple]) -> str:
    """A line."""
    large, of_rows, of_both = within(found)
    most = f"{large.max():.3f}" if len(large) else "none"
    return (
        f"{name:24}{len(of_rows):5} small bins, within two standard errors of their rows "
        f"{np.mean(of_rows <= 2):.3f}, of both samples {np.mean(of_both <= 2):.3f}; "
        f"{len(large)} large, furthest {most}"
    )


def stored(name: str) -> tuple[pd.DataFrame, np.ndarray]:
    """Columns and codes of the classes of a table as it is stored."""
    frame = pd.read_parquet(Path(os.environ["OFFSAMPLE_DATA"]) / f"{name}.parquet")
    y = pd.factorize(frame.pop("Class" if "Class" in frame else "target").astype(str), sort=True)[0]
    return frame.drop(columns="split", errors="ignore"), y


def beside_cart(name: str, n_splits: int) -> np.ndarray:
    """Log loss of our tree and of scikit-learn's: plain, and calibrated by a sigmoid and by steps."""
    X, y = stored(name)
    coded = pd.get_dummies(X, dtype=float).fillna(-1.0)
    leaves = {"max_leaf_nodes": [2, 3, 4, 6, 8, 12, 16, 32, 64]}
    cart = GridSearchCV(DecisionTreeClassifier(random_state=0), leaves, scoring="neg_log_loss", cv=3)
    found = []
    for train, test in StratifiedShuffleSplit(n_splits, test_size=1 / 3, random_state=0).split(X, y):
        rivals = (cart, *(CalibratedClassifierCV(cart, method=one, cv=5) for one in ("sigmoid", "isotonic")))
        ours = TreeClassifier(criterion="log_loss_loo").fit(X.iloc[train], y[train])
        said = [ours.predict_proba(X.iloc[test])]
        said += [one.fit(coded.iloc[train], y[train]).predict_proba(coded.iloc[test]) for one in rivals]
        found.append([log_loss(y[test], p) for p in said])
    return np.mean(found, axis=0)


def oblique(name: str, seed: int) -> tuple[float, ...]:
    """Log loss and mean distance in deciles on half of the rows, by votes and by probabilities."""
    frame, y = stored(name)
    kept = np.random.default_rng(seed).permutation(len(y))[:3000]
    halves = next(StratifiedShuffleSplit(1, test_size=0.5, random_state=seed).split(kept, y[kept]))
    train, test = (kept[half] for half in halves)
    tree = StochasticTreeClassifier().fit(frame.iloc[train], y[train])
    label = np.searchsorted(tree.classes_, y[test])
    votes = tree.apply(frame.iloc[test]) @ tree.tree_.value[tree.tree_.leaves]
    found: list[float] = []
    for p in (np.maximum(votes, 0.5 / len(train)), tree.predict_proba(frame.iloc[test])):
        rated = np.array_split(np.argsort(p.ravel(), kind="stable"), 10)
        is_so = np.eye(p.shape[1])[label].ravel()
        away = np.mean([abs(p.ravel()[rows].mean() - is_so[rows].mean()) for rows in rated])
        found += [float(-np.log(p[np.arange(len(label)), label]).mean()), float(away)]
    return tuple(found)


def leaf_errors(design: str, n_rows: int, seed: int) -> list[tuple[float, float, float]]:
    """Share of new rows in each leaf of a tree for the error, what it says of itself, and its own error."""
    random = np.random.default_rng((seed, n_rows, 1))
    X, new = random.normal(size=(n_rows, 10)), random.normal(size=(20_000, 10))
    y, y_new = (random.random(len(one)) < DESIGNS[design](one) for one in (X, new))
    tree = TreeClassifier().fit(X, y)
    leaf, wrong = tree.apply(new), tree.predict(new) != y_new
    said = tree.tree_.estimated_error
    return [
        (float((leaf == one).mean()), float(said[one]), float(wrong[leaf == one].mean()))
        for one in np.unique(leaf)
    ]


def slopes(design: str, n_rows: int, n_trees: int) -> list[float]:
    """Slope of the truth along what trees say, and along the shares of their leaves, on new rows."""
    sums = np.zeros((2, 2))
    for seed in range(n_trees):
        random = np.random.default_rng((seed, n_rows, 7))
        X, new = random.normal(size=(n_rows, 10)), random.normal(size=(8000, 10))
        truth = DESIGNS[design](new)
        tree = TreeClassifier(criterion="log_loss_loo").fit(X, random.random(n_rows) < DESIGNS[design](X))
        counts = tree.tree_.counts[tree.apply(new)]
        for kind, said in enumerate((tree.predict_proba(new)[:, 1], counts[:, 1] / counts.sum(axis=1))):
            away = said - said.mean()
            sums[kind] += away @ truth, away @ away
    return (sums[:, 0] / np.maximum(sums[:, 1], 1e-12)).tolist()


if __name__ == "__main__" and sys.argv[1:2] == ["slope"]:
    for rows in (500, 2000, 8000):
        for one in DESIGNS:
            said, shares = slopes(one, rows, int(sys.argv[2]))
            print(f"{rows} rows, {one:8} slope {said:.2f}, of plain shares {shares:.2f}", flush=True)
elif __name__ == "__main__" and sys.argv[1:2] == ["leaves"]:
    for rows in (300, 1000, 4000):
        for one in DESIGNS:
            few = np.array(
                [leaf for seed in range(int(sys.argv[2])) for leaf in leaf_errors(one, rows, seed)]
            )
            few = few[np.argsort(few[:, 1], kind="stable")]
            fifth = np.minimum((5 * np.cumsum(few[:, 0]) / few[:, 0].sum()).astype(int), 4)
            means = [
                np.average(few[fifth == k, 1:], axis=0, weights=few[fifth == k, 0]) for k in np.unique(fifth)
            ]
            said = ", ".join(f"{said:.3f}/{own:.3f}" for said, own in means)
            print(f"{rows} rows, {one:8} said/own: {said}", flush=True)
elif __name__ == "__main__" and sys.argv[1:2] == ["oblique"]:
    every = []
    for one in OBLIQUE:
        every.append(np.mean([oblique(one, seed) for seed in range(3)], axis=0))
        print(f"{one:40}", *every[-1].round(3), flush=True)
    print(f"{'all':40}", *np.mean(every, axis=0).round(3))
elif __name__ == "__main__" and sys.argv[1:2] == ["calibrated"]:
    every = []
    for one in SMALL:
        every.append(beside_cart(one, int(sys.argv[2])))
        print(f"{one:40}", *every[-1].round(3), flush=True)
    print(f"{'all':40}", *np.mean(every, axis=0).round(3))
elif __name__ == "__main__" and sys.argv[1:2] == ["simulated"]:
    for rows in (500, 2000, 8000):
        by_kind: dict[str, list[tuple]] = {}
        for one in DESIGNS:
            for number in range(int(sys.argv[2])):
                for kind, few in simulated_bins(one, rows, number).items():
                    by_kind.setdefault(kind, []).extend(few)
        for kind, few in by_kind.items():
            print(told(f"{rows} rows, {kind}", few), flush=True)
elif __name__ == "__main__":
    for one in ("ginger", "log_loss_loo"):
        print(told(one, real_bins(one)), flush=True)
