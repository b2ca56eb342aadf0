"""The examples in the docstrings of what the papers need and the library does not."""

import doctest
from importlib import import_module

import pytest


@pytest.mark.parametrize(
    "module",
    [
        "_claims",
        "expected_error._bounds",
        "expected_error._drawn",
        "expected_error._from_histograms",
        "expected_error._functions",
        "expected_error._languages",
        "expected_error._linear_costs",
        "expected_error._union",
        "index_criteria._decreases",
        "index_criteria._set_cover",
        "stochastic_trees._size",
    ],
)
def test_examples_print_what_they_show(module):
    tried = doctest.testmod(import_module(f"papers.{module}"))
    assert tried.attempted > 0
    assert tried.failed == 0
