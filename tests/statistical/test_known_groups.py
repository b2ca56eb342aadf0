"""The interval of the error on new rows of known groups holds it."""

import pytest

from tests.statistical.known_groups import Kind, measured

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("kind", [Kind(30, 6, 2, 2, 2), Kind(30, 6, 12, 8, 1)], ids=str)
def test_the_interval_holds_the_error_on_known_groups(kind):
    found = [measured(kind, seed) for seed in range(8)]
    n_inside = sum(low <= truth <= high for _, low, high, truth in found)
    assert n_inside >= 7
    error, _, _, truth = (sum(column) / len(found) for column in zip(*found, strict=True))
    assert abs(error - truth) < 0.06
