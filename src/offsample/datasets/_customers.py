"""A table of customers with every kind of misleading column."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from offsample._checks import check_count

CUSTOMER_ROLES: dict[str, str] = {
    "customer_id": "identifier",
    "invoice_number": "identifier",
    "plan": "signal",
    "tenure_months": "signal",
    "support_calls": "signal",
    "city": "signal of high cardinality",
    "age": "signal, weak",
    "exit_survey_sent": "leak",
    "favourite_colour": "noise",
    "browser_build": "noise of high cardinality",
    "lucky_number": "noise",
}
"""What each column of `make_customers` truly is."""


def make_customers(n_samples: int = 5000, random_state: int = 0) -> dict[str, NDArray[Any]]:
    """Make a table of customers, some of whom churned, with every kind of misleading column.

    The log odds of churning are a sum of effects of the plan, the tenure, the support calls, one of 300
    cities and, weakly, the age; about a quarter churn. ``exit_survey_sent`` is known only after the fact and
    equals the target in 98 % of the rows. Identifiers and noise are independent of everything. Some values of
    ``city``, ``age`` and ``favourite_colour`` are missing at random. `CUSTOMER_ROLES` says what each is.

    Parameters
    ----------
    n_samples, random_state : int

    Returns
    -------
    dict of str to ndarray
        Columns; the target is ``churned``, "no" or "yes".

    Examples
    --------
    >>> from offsample.datasets import make_customers
    >>> table = make_customers(1000)
    >>> list(table)[:4], table["churned"][:3].tolist()
    (['customer_id', 'invoice_number', 'plan', 'tenure_months'], ['yes', 'no', 'yes'])
    """
    check_count("n_samples", n_samples, 2)
    rng = np.random.default_rng(random_state)
    plans = np.array(["basic", "family", "pro", "student"])
    plan = rng.choice(4, n_samples, p=[0.5, 0.2, 0.2, 0.1])
    tenure = np.round(rng.gamma(2.0, 12.0, n_samples)).astype(np.int64)
    calls = rng.poisson(1.2, n_samples)
    n_cities = 300
    city_weight = 1 / np.arange(1, n_cities + 1) ** 0.7
    city = rng.choice(n_cities, n_samples, p=city_weight / city_weight.sum())
    city_effect = np.random.default_rng(300).normal(0, 1.3, n_cities)  # the same for every seed
    age = rng.normal(45, 15, n_samples).clip(18, 95).round(1)
    log_odds = (
        -1.0
        + np.array([0.5, -0.3, -0.8, 0.2])[plan]
        - 0.8 * np.log1p(tenure / 12)
        + 0.45 * calls
        + city_effect[city]
        - 0.025 * (age - 45)
    )
    churned = rng.random(n_samples) < 1 / (1 + np.exp(-log_odds))
    survey = churned ^ (rng.random(n_samples) < 0.02)
    colours = np.array(["blue", "green", "red", "black", "white", "yellow", "pink", None], dtype=object)
    cities = np.array([f"city {i:03d}" for i in range(n_cities)], dtype=object)[city]
    cities[rng.random(n_samples) < 0.03] = None
    age[rng.random(n_samples) < 0.05] = np.nan
    return {
        "customer_id": np.array([f"C{i:08d}" for i in rng.permutation(n_samples)]),
        "invoice_number": 10_000_000 + rng.permutation(n_samples),
        "plan": plans[plan],
        "tenure_months": tenure,
        "support_calls": calls,
        "city": cities,
        "age": age,
        "exit_survey_sent": np.where(survey, "yes", "no"),
        "favourite_colour": colours[rng.integers(0, len(colours), n_samples)],
        "browser_build": np.array([f"build {i}" for i in rng.integers(0, 1000, n_samples)]),
        "lucky_number": rng.integers(0, 100, n_samples),
        "churned": np.where(churned, "yes", "no"),
    }
