"""Rule learners are scikit-learn classifiers, and take what tables hold."""

import sklearn
from rule_learners import LEARNERS
from sklearn.utils import get_tags
from sklearn.utils.estimator_checks import parametrize_with_checks

from offsample.induction import BranchingProgramClassifier, DecisionListClassifier


def flawed_checks(estimator):
    """Before scikit-learn 1.8: they make two classes of three by the first row, which repeating changes."""
    if get_tags(estimator).classifier_tags.multi_class or sklearn.__version__ >= "1.8":
        return {}
    return {f"check_sample_weight_equivalence_on_{kind}_data": "another y" for kind in ("dense", "sparse")}


@parametrize_with_checks(
    [
        *LEARNERS,
        DecisionListClassifier(strategy="cover", min_coverage=2),
        DecisionListClassifier(strategy="consistent"),
        BranchingProgramClassifier(criterion="matsushita", max_size=15),
    ],
    expected_failed_checks=flawed_checks,
)
def test_scikit_learn_conventions(estimator, check):
    check(estimator)  # asserts inside
