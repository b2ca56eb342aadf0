"""Problems whose truth is known: customers, and two that defeat linear tests and shallow trees."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from offsample._checks import check_count
from offsample._typing import Floats, Ints


def make_customers(n_samples: int = 5000, random_state: int = 0) -> dict[str, NDArray[Any]]:
    """Make a table of customers, some of whom churned, with every kind of misleading column.

    The log odds of churning are a sum of effects of the plan, the tenure, the support calls, one of 300
    cities and, weakly, the age; about a quarter churn. ``exit_survey_sent`` is known only after the fact and
    equals the target in 98 % of the rows. Identifiers and noise are independent of everything. Some values of
    ``city``, ``age`` and ``favourite_colour`` are missing at random.

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


def make_oblique_xor(
    n_samples: int = 10_000, n_features: int = 10, random_state: int = 0
) -> tuple[Floats, Ints]:
    """Make random unit vectors, labelled by the exclusive or of two perpendicular oblique half-spaces.

    The half-spaces are Σ x > 0 and (second half of the columns) > (first half), as in Sec. 7 of Jurgenson and
    Mansour (2018). The target is even in x, so no linear test tells anything about it.

    Parameters
    ----------
    n_samples, n_features, random_state : int
        The number of features is even.

    Examples
    --------
    >>> from offsample.datasets import make_oblique_xor
    >>> X, y = make_oblique_xor(1000)
    >>> X.shape, y[:6].tolist()
    ((1000, 10), [0, 1, 1, 0, 0, 1])
    """
    if n_features < 2 or n_features % 2:
        raise ValueError(f"n_features must be even and at least 2, got {n_features}")
    rng = np.random.default_rng(random_state)
    X = rng.normal(size=(n_samples, n_features))
    X /= np.linalg.norm(X, axis=1, keepdims=True)
    second = np.repeat([-1.0, 1.0], n_features // 2)
    return X, ((X.sum(axis=1) > 0) ^ (X @ second > 0)).astype(np.int64)


def make_parity_sample(n_bits: int) -> tuple[Ints, Ints]:
    """Make all points of the Boolean cube, labelled by whether the number of ones is odd.

    Every tree of depth below `n_bits` has training error ½ on it with equal weights, and boosting such trees
    does not help: Theorem 19 of Scheffer (1999).

    Parameters
    ----------
    n_bits : int

    Examples
    --------
    >>> from offsample.datasets import make_parity_sample
    >>> X, y = make_parity_sample(2)
    >>> X.tolist(), y.tolist()
    ([[0, 0], [0, 1], [1, 0], [1, 1]], [0, 1, 1, 0])
    """
    if not 1 <= n_bits <= 24:
        raise ValueError(f"n_bits must be from 1 to 24, got {n_bits}")
    X = (np.arange(2**n_bits)[:, None] >> np.arange(n_bits - 1, -1, -1)) & 1
    return X, X.sum(axis=1) % 2
