"""Learners that refine a partition of the rows, top down."""

from offsample._lazy import lazy_names

# Loaded on first use, as everything heavy here.
_HOME = {
    "BranchingProgramClassifier": "offsample.induction.branching_program",
    "CommitteeClassifier": "offsample.induction.committee",
    "DNFClassifier": "offsample.induction.dnf",
    "DecisionListClassifier": "offsample.induction.decision_list",
    "GrowthPath": "offsample.induction._path",
    "MonomialClassifier": "offsample.induction.monomial",
    "StochasticTest": "offsample.induction.stochastic_linear",
    "SymmetricFunctionClassifier": "offsample.induction.symmetric_function",
    "StochasticTreeClassifier": "offsample.induction.stochastic_tree",
    "TreeClassifier": "offsample.induction.tree",
    "amplified_tree": "offsample.induction.stochastic_linear",
    "best_stochastic_test": "offsample.induction.stochastic_linear",
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
