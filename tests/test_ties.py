"""Candidates that tie: the first in a stated order wins, whatever their last digits."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from offsample._ties import best_first, best_of, eigenvector, largest, rounded

_FEW = st.lists(st.integers(0, 3), min_size=1, max_size=40)


def test_the_first_of_numbers_that_differ_by_rounding_is_best() -> None:
    tied = [0.1 + 0.2, 0.3, 0.3 - 1e-15]
    for values in (tied, tied[::-1]):
        assert best_of(values) == 0
        assert best_first(values).tolist() == [0, 1, 2]
    assert best_of([0.3, 0.3 + 1e-9]) == 1


def test_a_scale_says_what_rounding_is() -> None:
    assert best_of([1e6, 1e6 + 1e-5], scale=1e6) == 0
    assert rounded(2.5e6, scale=1e6) == 2.5


@given(_FEW, st.integers(1, 50))
def test_the_largest_are_the_first_of_a_stable_sort(values: list[int], n: int) -> None:
    expected = sorted(sorted(range(len(values)), key=lambda i: -values[i])[:n])
    assert largest(np.array(values, float), n).tolist() == expected


@given(
    st.lists(st.tuples(st.integers(0, 2), st.integers(0, 2), st.integers(0, 2)), min_size=1),
    st.integers(1, 9),
)
def test_ties_of_the_largest_go_by_the_keys_in_turn(rows: list[tuple[int, int, int]], n: int) -> None:
    values, first, second = np.array(rows, float).T
    order = sorted(range(len(rows)), key=lambda i: (-values[i], first[i], second[i], i))
    assert largest(values, n, first, second).tolist() == sorted(order[:n])


def test_an_eigenvector_does_not_depend_on_the_sign_or_basis_that_was_found() -> None:
    rng = np.random.default_rng(0)
    basis = np.linalg.qr(rng.normal(size=(5, 5)))[0]
    for values in ([0.0, 1.0, 2.0, 3.0, 4.0], [0.0, 1.0, 4.0, 4.0, 4.0], [4.0] * 5):
        matrix = basis @ np.diag(values) @ basis.T
        found, vectors = np.linalg.eigh(matrix)
        expected = eigenvector(found, vectors)
        assert np.allclose(matrix @ expected, 4 * expected)
        same = np.flatnonzero(np.array(values) == 4.0)
        for _ in range(5):
            turned = vectors.copy()
            turned[:, same] = vectors[:, same] @ np.linalg.qr(rng.normal(size=(len(same), len(same))))[0]
            assert np.allclose(eigenvector(found, turned), expected, atol=1e-12)
    # the smallest one, too
    found, vectors = np.linalg.eigh(basis @ np.diag([-1.0, 0.0, 1.0, 2.0, 3.0]) @ basis.T)
    assert np.allclose(eigenvector(found, -vectors, 0), eigenvector(found, vectors, 0))
    assert np.allclose(np.abs(eigenvector(found, vectors, 0)), np.abs(vectors[:, 0]))
