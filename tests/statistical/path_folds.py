"""How many folds of the growth path choose a number of splits well on few rows.

``python -m tests.statistical.path_folds [parts [table …]]`` takes 300 rows of each table (half of a smaller
one) as many times, chooses among seven sizes of a tree by 3, 5 and 10 folds, and prints the regret: the error
on the other rows less that of the best size.
"""

from __future__ import annotations

import sys

import numpy as np

from offsample import TreeClassifier
from offsample.expected_error._fallbacks import cross_validation_of_paths, path_predictions
from papers.expected_error._regret import DATASETS, SPLITS, problem

FOLDS = (3, 5, 10)
OTHERS = (
    "balance_scale", "cmc", "ecoli", "glass", "haberman", "heart_cleveland", "ionosphere", "vowel", "wine",
    "breast_cancer_ljubljana",
)  # fmt: skip
# Of the tables that five folds were chosen on, and of those that they were judged on.
FIRST = {**dict.fromkeys(DATASETS, 100), **dict.fromkeys(OTHERS, 300)}


def regrets(name, n_parts):
    """Regret of each number of folds, of each part of a table."""
    tree = TreeClassifier(stopping="none", max_splits=max(SPLITS), random_state=0)
    for seed in range(FIRST[name], FIRST[name] + n_parts):
        X, y, train, test = problem(name, seed, 300, 3000)
        part, classes = X.iloc[train], y[train]
        errors = (path_predictions(tree.fit(part, classes), SPLITS, X.iloc[test]) != y[test]).mean(axis=1)
        for n_folds in FOLDS:
            found = cross_validation_of_paths(tree, SPLITS, part, classes, n_folds, seed)
            chosen = min(range(len(SPLITS)), key=lambda i: (round(found[i].error, 10), i))
            yield errors[chosen] - errors.min()


def say(line):
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


def main(n_parts="6", *names):
    lost = []
    for name in names or FIRST:
        lost.append(np.reshape(list(regrets(name, int(n_parts))), (-1, len(FOLDS))).mean(axis=0))
        say(f"{name:24} {' '.join(f'{x:.4f}' for x in lost[-1])}")
    lost = np.array(lost)
    say(f"{'mean of ' + str(FOLDS):24} {' '.join(f'{x:.4f}' for x in lost.mean(axis=0))}")
    for k in (0, 2):
        less = lost[:, k] - lost[:, 1]
        error = less.std(ddof=1) / np.sqrt(len(less)) if len(less) > 1 else np.nan
        say(f"{FOLDS[k]} folds less {FOLDS[1]}: {less.mean():+.4f} ± {error:.4f} over tables")


if __name__ == "__main__":
    main(*sys.argv[1:])
