"""Learners that refine a partition of the rows, top down."""

from typing import TYPE_CHECKING

from offsample._lazy import lazy_names

if TYPE_CHECKING:  # all public names; each is loaded on first use
    from offsample.induction.oblique.classifier import StochasticTreeClassifier as StochasticTreeClassifier
    from offsample.induction.oblique.linear import StochasticTest as StochasticTest
    from offsample.induction.oblique.linear import best_stochastic_test as best_stochastic_test
    from offsample.induction.path import GrowthPath as GrowthPath
    from offsample.induction.rules.branching_program import (
        BranchingProgramClassifier as BranchingProgramClassifier,
    )
    from offsample.induction.rules.committee import CommitteeClassifier as CommitteeClassifier
    from offsample.induction.rules.decision_list import DecisionListClassifier as DecisionListClassifier
    from offsample.induction.rules.dnf import DNFClassifier as DNFClassifier
    from offsample.induction.rules.monomial import MonomialClassifier as MonomialClassifier
    from offsample.induction.rules.symmetric_function import (
        SymmetricFunctionClassifier as SymmetricFunctionClassifier,
    )
    from offsample.induction.top_down import grow as grow
    from offsample.induction.tree.classifier import TreeClassifier as TreeClassifier
    from offsample.induction.tree.regressor import TreeRegressor as TreeRegressor

__all__, __getattr__, __dir__ = lazy_names(__name__)
