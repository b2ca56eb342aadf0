"""Trees without each fold, against twins that are written out row by row."""

import numpy as np
import pytest
from scipy.sparse import csr_matrix

from offsample.induction import StochasticTreeClassifier
from offsample.induction.oblique import grower, lookahead
from offsample.induction.oblique import scaling as table
from offsample.induction.oblique.grower import Search, grow_tree
from offsample.induction.oblique.off_sample import FoldRows
from offsample.induction.oblique.rows import N_FOLDS, Sample
from offsample.induction.oblique.thresholds import Decision


def problem(n_classes: int = 2, n: int = 70, d: int = 5, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Sparse enough for columns that are constant without a fold; sorted by class."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)) * (rng.random((n, d)) < 0.7)
    X[3, -1], X[:3, -1], X[4:, -1] = 2.0, 0.0, 0.0
    y = np.digitize(X[:, 0] - X[:, 1] + rng.normal(0, 0.4, n), np.linspace(-0.7, 0.7, n_classes - 1))
    y[:n_classes] = np.arange(n_classes)
    order = np.argsort(y, kind="stable")
    return X[order], y[order]


def prepared(X, y, *, sparse=False):
    matrix = csr_matrix(X) if sparse else X
    preparation, matrix = table.prepare(matrix, np.ones(len(y)), "standard", "infer")
    starts = np.concatenate([[0], np.cumsum(np.bincount(y))])
    return preparation, preparation.rows(matrix, np.arange(len(y)), starts)


def rows_without(X, here):
    """Unit rows on the scale of the rows that are not in a fold; a constant column keeps its numbers."""
    mean, deviation = X[~here].mean(axis=0), X[~here].std(axis=0)
    Z = (X - mean) / np.where(deviation > 1e-9, deviation, 1)
    length = np.linalg.norm(Z, axis=1, keepdims=True)
    return Z / length


@pytest.mark.parametrize("sparse", [False, True])
def test_rows_on_the_scale_of_those_left(sparse):
    X, y = problem()
    preparation, rows = prepared(X, y, sparse=sparse)
    folds = np.arange(len(y)) % 4
    kept = (folds[:, None] != np.arange(4)) / len(y)
    seen = FoldRows(rows, kept, preparation.unit)
    rng = np.random.default_rng(1)
    w, masses = rng.normal(size=(4, rows.shape[1])), rng.random((len(y), 4))
    scores, sums = seen.scores(w), seen.sums(masses)
    for fold in range(4):
        U = rows_without(X, folds == fold)
        np.testing.assert_allclose(scores[:, fold], U @ w[fold], atol=1e-10)
        for k in (0, 1):
            np.testing.assert_allclose(sums[k, fold], masses[y == k, fold] @ U[y == k], atol=1e-10)


def grown(X, y, n_splits, rescale, *, sparse=False, criterion="gini"):
    """Unit rows, the splits, and what each row is told by the last tree without its fold."""
    preparation, rows = prepared(X, y, sparse=sparse)
    mass = np.full(len(y), 1 / len(y))
    search = Search(Sample(rows, mass, mass, preparation.unit), criterion, rescale=rescale)
    growth = grow_tree(search, Decision(majority=False, threshold=0.5 * np.ones(2)), n_splits)
    return rows.block(slice(None)), growth.records, growth.last_output[:, 0]


def twin(X, y, whole, records):
    """Outputs for two classes, fold by fold, from the splits of the tree of all rows."""
    out = np.zeros(len(y))
    for fold in range(N_FOLDS):
        here = np.arange(len(y)) % N_FOLDS == fold
        U = rows_without(X, here)
        reach, all_reach = {0: np.ones(len(y))}, {0: np.ones(len(y))}
        for record in records:
            split, D = record.split, all_reach[record.node]
            # The direction of all rows as a combination of their moments, and the same of those left.
            moments = []
            for Z, weight in ((whole, D), (U, reach[record.node] * ~here)):
                weight = weight / weight.sum()
                a, c = weight @ Z, weight @ ((y - weight @ y)[:, None] * Z)
                moments.append(np.stack([a, c]))
            unit = split.weights / np.linalg.norm(split.weights)
            parts = np.linalg.lstsq(moments[0].T, unit, rcond=None)[0]
            w = parts @ moments[1]
            products, all_products = U @ w / np.linalg.norm(w), whole @ split.weights
            if split.steepness != 1:
                left = reach[record.node] * ~here
                size = np.sqrt(D @ all_products**2 / D.sum())
                products *= size / np.sqrt(left @ products**2 / left.sum())
            for r, z in ((reach, products), (all_reach, all_products)):
                p, before = np.clip((1 + z) / 2, 0, 1), r[record.node]
                r[record.first_child], r[record.first_child + 1] = before * p, before * (1 - p)
        parents = {record.node for record in records}
        for node in set(reach) - parents:
            left = reach[node] * ~here
            out[here] += reach[node][here] * (left @ y / left.sum())
    return out


@pytest.mark.parametrize(("rescale", "sparse"), [(0.0, False), (0.7, True)])
@pytest.mark.parametrize("criterion", ["gini", "entropy"])
def test_outputs_equal_those_of_the_twin(rescale, sparse, criterion, monkeypatch):
    monkeypatch.setattr(lookahead, "is_worth_it", lambda *_: False)  # linear tests only
    X, y = problem(seed=3)
    rows, records, found = grown(X, y, 3, rescale, sparse=sparse, criterion=criterion)
    assert len(records) == 3
    np.testing.assert_allclose(found, twin(X, y, rows, records), atol=1e-7)


def test_outputs_are_nearly_those_of_trees_fitted_without_the_fold():
    X, y = problem(n=200, seed=5)
    _, _, found = grown(X, y, 1, 0.7)
    for fold in range(N_FOLDS):
        here = np.arange(len(y)) % N_FOLDS == fold
        tree = StochasticTreeClassifier(max_splits=1, lookahead=False).fit(X[~here], y[~here])
        np.testing.assert_allclose(found[here], tree.predict_proba(X[here])[:, 1], atol=0.01)


@pytest.mark.parametrize(("n", "d"), [(60, 200), (100, 30)])
def test_nothing_is_known_of_noise(n, d):
    # Targets even in x bring in the pairs of second moments: they must not remember the rows left out.
    errors = []
    for seed in range(12):
        X, y = np.random.default_rng(seed).normal(size=(n, d)), np.arange(n) % 2
        tree = StochasticTreeClassifier(threshold=0.5, max_splits=10).fit(X, y)
        errors.append(np.mean([step.estimated_error for step in tree.path_][1:]))
    # Four standard errors of the mean of shares of n rows.
    assert abs(np.mean(errors) - 0.5) < 4 * 0.5 / np.sqrt(12 * n)


def test_unique_values_are_no_evidence():
    """A column that names the rows has a category for each: in the sample it tells everything."""
    rng = np.random.default_rng(0)
    names = {"name": np.array([f"v{i}" for i in range(120)])}
    tree = StochasticTreeClassifier().fit(names, rng.integers(0, 2, 120))
    assert tree.estimated_error_ > 0.35
    assert tree.n_splits_ == 0


def test_a_tree_is_given_up_where_a_rival_of_its_size_is_clearly_better(monkeypatch):
    monkeypatch.setattr(grower, "_ENOUGH", 10)
    X, y = problem(4, n=300)
    decision, mass = Decision(majority=False, threshold="tuned"), np.full(300, 1 / 300)
    sample = Sample(prepared(X, y)[1], mass, mass)
    alone = grow_tree(Search(sample, "gini", rescale=0.7), decision, 20)
    assert len(alone.path) == 21

    def beside(better: int) -> int:
        """Splits of the tree beside one that gets some of its wrong rows right, whatever its size."""
        path = []
        for one in alone.path:
            wrong = one.wrong.copy()
            wrong[np.flatnonzero(wrong)[:better]] = False
            path.append(one._replace(wrong=wrong, error=wrong.mean()))
        rival = alone._replace(path=path)
        found = grow_tree(Search(sample, "gini", rescale=0.7, rivals=[rival]), decision, 20)
        assert [one.error for one in found.path] == [one.error for one in alone.path[: len(found.path)]]
        return len(found.path) - 1

    assert beside(10) == 20  # 10 of 10 rows that differ: 10 / 300 is 3.16 standard errors
    assert beside(11) == 10
