import math

import pytest

from offsample.bounds import nearest_neighbor_bound


def test_the_formula():
    # |F| = 1, R = γ = 1: d = 64
    m, delta = 10**5, 0.05
    inside = 64 * math.log(34 * math.e * m / 64) * math.log2(578 * m) + math.log(8 / delta) + 2 * math.log(20)
    expected = 0.1 + math.sqrt(2 / m * inside)
    assert nearest_neighbor_bound(0.1, m, 20, 1, 1.0, 1.0) == pytest.approx(expected)
    inside = 16**2 * math.log(34 * math.e * m / 256) * math.log2(578 * m) + math.log(8 / delta / 0.5)
    expected = math.sqrt(2 / m * (inside + 3 * math.log(20)))
    assert nearest_neighbor_bound(0, m, 20, 2, 0.125, 0.5) == pytest.approx(expected)


def test_first_sample_with_something_to_say():
    assert nearest_neighbor_bound(0, 33_420, 1, 1, 1, 1) > 1 > nearest_neighbor_bound(0, 33_421, 1, 1, 1, 1)


def test_vacuous_where_the_dimension_exceeds_the_sample():
    # Without the guard: nan for a negative logarithm, and a small number near d = 34em.
    assert nearest_neighbor_bound(0, 2600, 500, 3, 1, 1) == math.inf
    assert nearest_neighbor_bound(0, 2600, 500, 18, 1, 1) == math.inf
    assert nearest_neighbor_bound(0, 64, 1, 1, 1, 1) < math.inf
    assert nearest_neighbor_bound(0, 63, 1, 1, 1, 1) == math.inf
    assert nearest_neighbor_bound(0, 10, 10**6, 10**5, 1e-300, 1e-3) > 1  # d < 1 counts as 1
    assert nearest_neighbor_bound(0, 10, 10**6, 10**5, 1e300, 1e-300) == math.inf


def test_monotone():
    at = {
        "margin_error": 0.1,
        "n_samples": 10**6,
        "n_features": 50,
        "n_selected": 1,
        "radius": 1,
        "margin": 1,
    }
    value = nearest_neighbor_bound(**at)
    for worse in (
        {"margin_error": 0.2},
        {"n_samples": 10**5},
        {"n_features": 500},
        {"n_selected": 2},
        {"radius": 2},
        {"margin": 0.5},
        {"confidence": 0.99},
    ):
        assert nearest_neighbor_bound(**{**at, **worse}) > value


@pytest.mark.parametrize(
    ("bad", "message"),
    [
        pytest.param(
            {"margin_error": 1.5}, "margin_error must lie between 0 and 1, got 1.5", id="error above 1"
        ),
        pytest.param({"n_samples": 0}, "n_samples must be at least 1, got 0", id="no row"),
        pytest.param(
            {"n_selected": 0}, "expected 1 <= n_selected <= n_features, got 0 and 5", id="no column selected"
        ),
        pytest.param(
            {"n_selected": 6},
            "expected 1 <= n_selected <= n_features, got 6 and 5",
            id="more columns selected than there are",
        ),
        pytest.param({"radius": 0.0}, "radius must be positive", id="radius 0"),
        pytest.param({"margin": 0.0}, r"margin must lie in \(0, 1\], got 0.0", id="margin 0"),
        pytest.param({"margin": 2.0}, r"margin must lie in \(0, 1\], got 2.0", id="margin above 1"),
        pytest.param({"confidence": 1.0}, "confidence must lie strictly between 0 and 1", id="confidence 1"),
    ],
)
def test_a_number_outside_its_range_is_refused_by_name(bad, message):
    good = {"margin_error": 0.1, "n_samples": 100, "n_features": 5, "n_selected": 1, "radius": 1, "margin": 1}
    with pytest.raises(ValueError, match=message):
        nearest_neighbor_bound(**{**good, **bad})
