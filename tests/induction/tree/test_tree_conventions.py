from sklearn.utils.estimator_checks import parametrize_with_checks

from offsample.induction import TreeClassifier


@parametrize_with_checks(
    [
        TreeClassifier(),
        TreeClassifier(criterion="gini"),
        TreeClassifier(criterion="gain_ratio", max_depth=4),
        TreeClassifier(criterion="bayes_loo", shrinkage=None),
        TreeClassifier(stopping="none", max_splits=20, categorical_features="all"),
        TreeClassifier(criterion="log_loss_loo", class_weight="balanced"),
        TreeClassifier(criterion="brier_loo", stopping="none", max_splits=10),
        TreeClassifier(stopping="significance", categorical_features="all"),
    ]
)
def test_scikit_learn_conventions(estimator, check):
    check(estimator)  # asserts inside
