"""Rule learners are scikit-learn classifiers, and take what tables hold."""

from rule_learners import LEARNERS
from sklearn.utils.estimator_checks import parametrize_with_checks

from offsample.induction import BranchingProgramClassifier, DecisionListClassifier


@parametrize_with_checks(
    [
        *LEARNERS,
        DecisionListClassifier(strategy="cover", min_coverage=2),
        DecisionListClassifier(strategy="consistent"),
        BranchingProgramClassifier(criterion="matsushita", max_size=15),
    ]
)
def test_scikit_learn_conventions(estimator, check):
    check(estimator)  # asserts inside
