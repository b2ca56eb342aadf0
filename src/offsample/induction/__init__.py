"""Learners that refine a partition of the rows, top down."""

from offsample._lazy import lazy_names

# Loaded on first use, as everything heavy here.
_HOME = {
    "BranchingProgramClassifier": "offsample.induction.rules.branching_program",
    "CommitteeClassifier": "offsample.induction.rules.committee",
    "DNFClassifier": "offsample.induction.rules.dnf",
    "DecisionListClassifier": "offsample.induction.rules.decision_list",
    "GrowthPath": "offsample.induction.path",
    "MonomialClassifier": "offsample.induction.rules.monomial",
    "StochasticTest": "offsample.induction.oblique.linear",
    "SymmetricFunctionClassifier": "offsample.induction.rules.symmetric_function",
    "StochasticTreeClassifier": "offsample.induction.oblique.classifier",
    "TreeClassifier": "offsample.induction.tree.classifier",
    "amplified_tree": "offsample.induction.oblique.linear",
    "best_stochastic_test": "offsample.induction.oblique.linear",
    "grow": "offsample.induction.top_down",
}

__all__ = [
    "BranchingProgramClassifier",
    "CommitteeClassifier",
    "DNFClassifier",
    "DecisionListClassifier",
    "GrowthPath",
    "MonomialClassifier",
    "StochasticTest",
    "StochasticTreeClassifier",
    "SymmetricFunctionClassifier",
    "TreeClassifier",
    "amplified_tree",
    "best_stochastic_test",
    "grow",
]

__getattr__, __dir__ = lazy_names(__name__, _HOME)
