"""Tests on columns: their words, their truth, and counts that equal those of plain Boolean arrays."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.sparse import csr_array

from offsample.induction.rules.vocabulary import Vocabulary, _cuts


def words(table, **options):
    vocabulary = Vocabulary(**options)
    vocabulary.fit_index(table)
    return [(test.text, test.negation) for test in vocabulary.tests]


def test_words():
    assert words({"sex": ["m", "f", "f"]}) == [("sex = m", "sex = f")]
    assert words({"x": [0, 1, 1]}) == [("x = 1", "x = 0")]
    assert words({"age": [30.0, 45.0, 45.0, 60.0]}) == [
        ("age <= 37.5", "age > 37.5"),
        ("age <= 52.5", "age > 52.5"),
    ]
    assert words({"age": [30.0, 45.0, None]}) == [
        ("age = 45", "age = 30 (or missing)"),
        ("age is missing", "age is not missing"),
    ]
    assert words({"city": ["Rome", "Oslo", None, "Bonn"]})[2:] == [
        ("city = Rome", "city != Rome"),
        ("city is missing", "city is not missing"),
    ]
    assert words({"city": ["Rome", None, "Rome"]}) == [("city is missing", "city = Rome")]
    assert words({"constant": [1, 1, 1], "empty": [np.nan] * 3, "one": ["a", "a", "a"]}) == []


def test_rule_in_words():
    table = {"education": ["Bachelors", "Masters", "Doctorate"], "age": [30, 45, 60]}
    vocabulary = Vocabulary()
    vocabulary.fit_index(table)
    place = {test.text: i for i, test in enumerate(vocabulary.tests)}
    literals = [place["education = Bachelors"], place["age <= 37.5"]]
    assert vocabulary.describe(literals) == "education = Bachelors and age <= 37.5"
    assert vocabulary.describe([]) == "always"


def test_number_of_thresholds():
    x = np.random.default_rng(0).normal(size=1000)
    assert len(words({"x": x}, n_thresholds=7)) == 7
    vocabulary = Vocabulary(n_thresholds=3)
    index = vocabulary.fit_index({"x": np.arange(100.0)})
    assert index.counts(np.zeros(100, np.int32), 1).tolist() == [[25, 50, 75]]


def test_thresholds_of_an_amount_that_few_have():
    """Most rows are 0: this is cut off, and the other cuts are quantiles of the amounts."""
    rng = np.random.default_rng(0)
    amount = np.where(rng.random(20_000) < 0.9, 0.0, rng.integers(1, 10_000, 20_000))
    vocabulary = Vocabulary(n_thresholds=10)
    vocabulary.fit_index(amount[:, None])
    cuts = np.array([test.value for test in vocabulary.tests])
    assert len(cuts) == 10
    assert 0 < cuts[0] < amount[amount > 0].min()
    parts = np.diff([(amount <= cut).sum() for cut in cuts])
    assert parts.min() > 0.9 * parts.max()


@given(
    arrays(np.int64, st.integers(2, 60), elements=st.integers(1, 50)),
    st.integers(1, 20),
)
def test_cuts_are_places_between_values(sizes, n_cuts):
    at = _cuts(sizes, n_cuts)
    assert 1 <= len(at) <= max(n_cuts, 1)
    assert (np.diff(at) > 0).all()
    assert at.min() >= 1
    assert at.max() < len(sizes)


def test_truth_of_new_rows():
    train = pd.DataFrame({"city": ["Rome", "Oslo", "Bonn"], "age": [30.0, 45.0, 60.0]})
    vocabulary = Vocabulary()
    vocabulary.fit_index(train)
    place = {test.text: i for i, test in enumerate(vocabulary.tests)}
    n = len(place)
    new = pd.DataFrame({"age": [20.0, np.nan, 99.0], "city": ["Rome", "Paris", None]})
    rome, young = place["city = Rome"], place["age <= 37.5"]
    truth = vocabulary.truth(new, [rome, rome + n, young, young + n])
    assert truth[rome].tolist() == [True, False, False]
    assert truth[rome + n].tolist() == [False, True, True]  # unseen and missing are not Rome
    assert truth[young].tolist() == [True, False, False]
    assert truth[young + n].tolist() == [False, True, True]


def test_sparse_words():
    X = csr_array(np.array([[1.0, 0, 2], [0, 0, 1], [3, 0, 1]]))
    vocabulary = Vocabulary()
    index = vocabulary.fit_index(X)
    assert [test.text for test in vocabulary.tests] == ["x0 != 0"]  # the others are constant
    assert index.truth(0).tolist() == [True, False, True]
    assert vocabulary.describe([0], ["grain", "ship", "the"]) == "grain present"
    assert vocabulary.truth(csr_array(np.array([[0.0, 0, 0], [-1, 0, 0]])), [0])[0].tolist() == [False, True]
    assert vocabulary.truth(np.array([[0.0, 0, 0], [-1, 0, 0]]), [1])[1].tolist() == [True, False]


def test_only_the_most_frequent_values_of_a_wide_column():
    values = np.concatenate([np.arange(1000), [5, 7, 7]]).astype(str)
    vocabulary = Vocabulary()
    vocabulary.fit_index({"id": values})
    texts = {test.text for test in vocabulary.tests}
    assert len(texts) == 256
    assert {"id = 5", "id = 7"} <= texts


def test_repeated_rows_are_indexed_as_often():
    index = Vocabulary().fit_index({"x": [0, 1, 1]}, rows=np.array([0, 0, 2]))
    assert index.n_rows == 3
    assert index.counts(np.zeros(3, np.int32), 1).tolist() == [[1]]


def test_conditions_that_others_imply_are_not_told():
    vocabulary = Vocabulary()
    vocabulary.fit_index({"n": [1, 2, 3, 4, np.nan], "c": ["a", "b", "c", "d", None]})
    literal = {test.text: i for i, test in enumerate(vocabulary.tests)}
    literal |= {test.negation: i + len(vocabulary.tests) for i, test in enumerate(vocabulary.tests)}

    def told(*conditions):
        return vocabulary.describe([literal[condition] for condition in conditions])

    above_1, above_2 = "n > 1.5 (or missing)", "n > 2.5 (or missing)"
    assert told(above_1, above_2) == told(above_2, above_1) == above_2
    assert told("n <= 2.5", "c = a", "n <= 1.5") == "c = a and n <= 1.5"
    assert told("n <= 2.5", "n is not missing") == "n <= 2.5"
    assert told(above_1, "n is not missing") == f"{above_1} and n is not missing"
    assert told("c != b", "c is not missing", "c = a", "c != d") == "c = a"
    assert told("c != b", "c != d") == "c != b and c != d"


@pytest.mark.parametrize("seed", range(20))
def test_what_is_told_of_a_conjunction_is_true_of_the_same_rows(seed):
    rng = np.random.default_rng(seed)
    table = {
        "n": np.where(rng.random(200) < 0.2, np.nan, rng.integers(0, 6, 200)),
        "c": rng.choice(np.array(["a", "b", "c", "d", "e", None], object), 200),
    }
    vocabulary = Vocabulary()
    index = vocabulary.fit_index(table)
    literals = rng.integers(0, 2 * len(vocabulary.tests), 5).tolist()
    told = vocabulary._without_implied(literals)

    def rows(some):
        return np.all([index.truth(one) for one in some], axis=0)

    np.testing.assert_array_equal(rows(told), rows(literals))
    assert vocabulary.describe(told) == vocabulary.describe(literals)
