import numpy as np
import pytest
from customers import CUSTOMER_ROLES

from offsample.datasets import make_customers


def test_customers_are_what_the_docstring_says():
    table = make_customers(20_000, random_state=3)
    churned = table["churned"] == "yes"
    assert set(table) == {*CUSTOMER_ROLES, "churned"}
    assert 0.22 < churned.mean() < 0.30
    assert len(np.unique(table["customer_id"])) == len(np.unique(table["invoice_number"])) == 20_000
    assert np.mean((table["exit_survey_sent"] == "yes") == churned) == pytest.approx(0.98, abs=0.005)
    assert np.isnan(table["age"]).mean() == pytest.approx(0.05, abs=0.01)
    assert np.mean([city is None for city in table["city"]]) == pytest.approx(0.03, abs=0.01)


def test_same_seed_same_table():
    one, other, third = (make_customers(100, random_state=seed) for seed in (1, 1, 2))
    assert all(np.array_equal(one[name][:50].astype(str), other[name][:50].astype(str)) for name in one)
    assert not np.array_equal(one["plan"], third["plan"])


def test_too_few_rows():
    with pytest.raises(ValueError, match="n_samples must be at least 2"):
        make_customers(1)
