from itertools import combinations

import numpy as np
import pytest
from sklearn.tree import DecisionTreeClassifier

from offsample import TreeClassifier
from offsample.expected_error import ErrorPrior, expected_error
from offsample.expected_error.languages import Language, SplitTrees, partition_counts
from papers.expected_error._drawn import prior_of_all
from papers.expected_error._languages import (
    BooleanFunctions,
    BranchingPrograms,
    DecisionLists,
    DepthLimitedTrees,
    FittedPartition,
    Monomials,
    find_language,
    priors_from_data,
)
from papers.expected_error._splitting import Tape, tail_aware_prior

LANGUAGES = [
    BooleanFunctions(2),
    BooleanFunctions(2, 6, "any"),
    BooleanFunctions(3, 30, "any"),
    SplitTrees(3, 6),
    DepthLimitedTrees(2, 6),
    DecisionLists(6, min_coverage=3),
    Monomials(6, 2),
    BranchingPrograms(6, 3, 4),
]


def sample(n_rows=60, n_bits=30, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 2, (n_rows, n_bits))
    return X, X[:, 0] & X[:, 1]


@pytest.mark.parametrize("language", LANGUAGES, ids=lambda x: type(x).__name__)
def test_draws_are_partitions_and_laws_are_laws(language):
    X, y = sample()
    rng = np.random.default_rng(0)
    cells = np.asarray(language.sample_partition(X, rng))
    assert cells.shape == (60,)
    law = language.count_law(X, y, n_draws=20)
    assert np.exp(law.log_mass).sum() == pytest.approx(1)
    # All labelings: a labeling and its opposite.
    assert law.mean == pytest.approx(0.5)
    assert language.log_size() > 0
    again = language.count_law(X, y, n_draws=20)
    assert again.log_mass.tolist() == law.log_mass.tolist()


def test_law_of_any_bits_is_the_enumeration():
    X, y = sample(20, 4)
    law = BooleanFunctions(2, 4, "any").count_law(X, y)
    errors = []
    for a, b in combinations(range(4), 2):
        cell = X[:, a] + 2 * X[:, b]
        errors += [int((np.array([(f >> c) & 1 for c in cell]) != y).sum()) for f in range(16)]
    want = prior_of_all(errors, 20)
    assert law.errors == pytest.approx(want.errors)
    assert law.mass == pytest.approx(want.mass)
    assert law.n_draws is None


def test_sizes():
    assert np.exp(BooleanFunctions(2, 4, "any").log_size()) == pytest.approx(6 * 16)
    assert np.exp(Monomials(5, 2).log_size()) == pytest.approx(10 * 4 * 4)
    assert np.exp(SplitTrees(2, 10).log_size()) == pytest.approx(2 * 100 * 8)
    assert np.exp(DepthLimitedTrees(2, 10).log_size()) == pytest.approx(1000 * 16)
    assert np.exp(DecisionLists(1, k=1).log_size()) == pytest.approx(9 * 2)
    assert DecisionLists(100, log_size=7.0).log_size() == 7.0
    # n² log n, not n²
    ratio = DecisionLists(400).log_size() / DecisionLists(100).log_size()
    assert ratio > 16.5


def test_rules_cover_what_they_must():
    X, _ = sample(200, 8)
    cells = DecisionLists(8, min_coverage=15).sample_partition(X, np.random.default_rng(0))
    sizes = np.bincount(cells)
    assert (sizes[:-1] >= 15).all()  # the last is the default rule


@pytest.mark.parametrize("tree", [TreeClassifier(max_splits=3), DecisionTreeClassifier(max_leaf_nodes=4)])
def test_fitted_partition(tree):
    X, y = sample()
    language = FittedPartition(tree.fit(X, y))
    law = language.count_law(X, y)
    counts = partition_counts(tree.apply(X), y, 2)
    assert law.errors.min() * 60 == pytest.approx(counts.min(axis=1).sum())
    assert law.n_draws is None


def test_a_language_of_ones_own():
    class Stripes(Language):
        def __init__(self, n_columns):
            self.n_columns = n_columns

        def log_size(self):
            return np.log(4 * self.n_columns)

        def sample_partition(self, X, rng):
            return X[:, rng.integers(self.n_columns)] > 0

    X, y = sample()
    priors, sizes = priors_from_data([Stripes(2), Stripes(30)], X, y, n_draws=200)
    forecasts = [expected_error(p, s, 60) for p, s in zip(priors, sizes, strict=True)]
    assert forecasts[0].mean < forecasts[1].mean + 0.02


def test_languages_by_name():
    assert isinstance(find_language("monomials", 5, 2), Monomials)
    with pytest.raises(ValueError, match="unknown language 'forests'"):
        find_language("forests")
    with pytest.raises(ValueError, match="uniform draws of k-DNF say nothing"):
        find_language("k_dnf")


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: BooleanFunctions(3, 2, "any"), "n_attributes must lie between"),
        (lambda: BooleanFunctions(3, choice="any"), "needs n_total"),
        (lambda: BooleanFunctions(3, choice="some"), "choice must be"),
        (lambda: Monomials(2, 3), "k must lie between"),
        (lambda: SplitTrees(-1, 3), "n_splits >= 0"),
        (lambda: FittedPartition(3), "has no `apply`"),
        (lambda: BooleanFunctions(1).count_law([1, 2], [0, 1]), "two dimensions"),
        (lambda: BooleanFunctions(1).count_law([[1], [2]], [0]), "expected as many"),
    ],
)
def test_bad_languages(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_a_tape_answers_like_a_generator():
    rng = np.random.default_rng(0)
    tape = Tape(rng.random(10), rng)
    assert 0 <= tape.random() < 1
    assert set(tape.integers(3, 6, size=200)) == {3, 4, 5}
    assert sorted(tape.permutation(7)) == list(range(7))
    assert len(set(tape.choice(9, 9, replace=False))) == 9
    assert tape.choice(["a"]) == "a"
    first, second = Tape(tape.numbers, rng), Tape(tape.numbers, rng)
    assert first.integers(100, size=20).tolist() == second.integers(100, size=20).tolist()


@pytest.mark.slow
def test_splitting_sees_the_tail_that_draws_miss():
    # 4,845 partitions, one of which is right.
    rng = np.random.default_rng(0)
    X = rng.integers(0, 2, (50, 20))
    y = rng.integers(0, 2, 16)[X[:, :4] @ [1, 2, 4, 8]]
    language = BooleanFunctions(4, 20, "any")
    cells = (X[:, list(s)] @ [1, 2, 4, 8] for s in combinations(range(20), 4))
    truth = ErrorPrior.from_partitions((partition_counts(c, y, 2) for c in cells), drawn=False)
    found = tail_aware_prior(language, X, y, n_particles=60, n_moves=5, n_runs=3)
    few = language.count_law(X, y, n_draws=100)
    exact = expected_error(truth, language.log_size(), 50).mean
    assert few.errors.min() > 0
    assert expected_error(few, language.log_size(), 50).mean > exact + 0.03
    assert expected_error(found, language.log_size(), 50).mean == pytest.approx(exact, abs=0.02)
    at_zero = found.log_mass[found.errors == 0]
    assert at_zero == pytest.approx(truth.log_mass[truth.errors == 0], abs=1.0)
    # The stated errors are of the right size: within the 97.5 % point of Student's t of three runs.
    common = np.isin(np.round(truth.errors * 50), np.round(found.errors * 50))
    relative = np.abs(np.exp(found.log_mass - truth.log_mass[common]) - 1)
    assert (relative[:25] < 4.303 * np.maximum(found.log_mass_error[:25], 0.01)).mean() > 0.9


def test_splitting_of_one_partition_is_exact():
    X, y = sample(40, 4)
    found = tail_aware_prior(BooleanFunctions(2), X, y, n_particles=4, n_moves=1, n_runs=2)
    want = BooleanFunctions(2).count_law(X, y)
    assert found.errors == pytest.approx(want.errors)
    assert found.log_mass == pytest.approx(want.log_mass, abs=1e-9)
    assert found.log_mass_error == pytest.approx(0, abs=1e-9)


def test_splitting_checks_its_arguments():
    X, y = sample(20, 4)
    with pytest.raises(TypeError, match="language must be a Language"):
        tail_aware_prior("trees", X, y)
    with pytest.raises(ValueError, match="n_runs >= 2"):
        tail_aware_prior(BooleanFunctions(2), X, y, n_runs=1)
