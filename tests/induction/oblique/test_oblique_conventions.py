import pytest
from sklearn.utils.estimator_checks import (
    check_classifiers_train,
    check_methods_subset_invariance,
    parametrize_with_checks,
)

from offsample.induction import StochasticTreeClassifier


@parametrize_with_checks(
    [
        StochasticTreeClassifier(),
        StochasticTreeClassifier(threshold="prior", rescale=False, lookahead=False, max_splits=15),
        # The checks want the largest probability to be predicted, which tuned thresholds need not do.
        StochasticTreeClassifier(criterion="entropy", threshold="prior", max_depth=2, max_splits=10),
        StochasticTreeClassifier(criterion="matsushita", leaf="majority", threshold=0.5, max_splits=3),
    ]
)
def test_scikit_learn_conventions(estimator, check):
    check(estimator)  # asserts inside


@pytest.mark.parametrize(
    "options",
    [
        {"criterion": "entropy", "threshold": "prior", "max_depth": 3},
        {"criterion": "matsushita", "threshold": 0.5},
    ],
    ids=["entropy", "matsushita"],
)
@pytest.mark.parametrize("check", [check_classifiers_train, check_methods_subset_invariance])
def test_conventions_of_larger_trees(options, check):
    """The checks above that learn from more than a few rows, where cells become nearly pure."""
    check("StochasticTreeClassifier", StochasticTreeClassifier(max_splits=10, **options))
