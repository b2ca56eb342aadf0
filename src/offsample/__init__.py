"""Choices of supervised learning on tables, made by the error to expect off the sample."""

from offsample._lazy import lazy_names

__version__ = "0.1.0"

# Loaded on first use: `import offsample` costs next to nothing.
_HOME = {
    "BoostedPerceptronClassifier": "offsample.boosting",
    "BranchingProgramClassifier": "offsample.induction.rules.branching_program",
    "CommitteeClassifier": "offsample.induction.rules.committee",
    "DNFClassifier": "offsample.induction.rules.dnf",
    "DecisionListClassifier": "offsample.induction.rules.decision_list",
    "ExpectedErrorSearch": "offsample.expected_error.selection",
    "FeatureRanker": "offsample.feature_ranker",
    "GFlip": "offsample.margin.gflip",
    "MonomialClassifier": "offsample.induction.rules.monomial",
    "Relief": "offsample.margin.relief",
    "Simba": "offsample.margin.simba",
    "SymmetricFunctionClassifier": "offsample.induction.rules.symmetric_function",
    "StochasticTreeClassifier": "offsample.induction.oblique.classifier",
    "TreeClassifier": "offsample.induction.tree.classifier",
    "audit_search": "offsample.assessment._audit",
    "compare": "offsample.assessment._compare",
    "expected_error": "offsample.expected_error",  # the package, which is callable
    "nested_cross_validate": "offsample.assessment._nested",
    "paired_test": "offsample.assessment._paired",
    "plan_holdout": "offsample.assessment._plan",
    "rank_features": "offsample.ranking",
    "report": "offsample.report",  # likewise
}

__all__ = [
    "BoostedPerceptronClassifier",
    "BranchingProgramClassifier",
    "CommitteeClassifier",
    "DNFClassifier",
    "DecisionListClassifier",
    "ExpectedErrorSearch",
    "FeatureRanker",
    "GFlip",
    "MonomialClassifier",
    "Relief",
    "Simba",
    "StochasticTreeClassifier",
    "SymmetricFunctionClassifier",
    "TreeClassifier",
    "__version__",
    "audit_search",
    "compare",
    "expected_error",
    "nested_cross_validate",
    "paired_test",
    "plan_holdout",
    "rank_features",
    "report",
]

__getattr__, __dir__ = lazy_names(__name__, _HOME)
