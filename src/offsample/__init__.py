"""Choices of supervised learning on tables, made by the error to expect off the sample."""

from typing import TYPE_CHECKING

from offsample._lazy import lazy_names

__version__ = "0.1.0"

if TYPE_CHECKING:  # all public names; each is loaded on first use
    from offsample.assessment._audit import audit_search as audit_search
    from offsample.assessment._compare import compare as compare
    from offsample.assessment._nested import nested_cross_validate as nested_cross_validate
    from offsample.assessment._paired import paired_test as paired_test
    from offsample.assessment._plan import plan_holdout as plan_holdout
    from offsample.boosting import BoostedPerceptronClassifier as BoostedPerceptronClassifier
    from offsample.expected_error.analysis import expected_error as expected_error
    from offsample.expected_error.selection import ExpectedErrorSearch as ExpectedErrorSearch
    from offsample.feature_ranker import FeatureRanker as FeatureRanker
    from offsample.induction.oblique.classifier import StochasticTreeClassifier as StochasticTreeClassifier
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
    from offsample.induction.tree.classifier import TreeClassifier as TreeClassifier
    from offsample.induction.tree.regressor import TreeRegressor as TreeRegressor
    from offsample.margin.gflip import GFlip as GFlip
    from offsample.margin.relief import Relief as Relief
    from offsample.margin.simba import Simba as Simba
    from offsample.ranking import rank_features as rank_features
    from offsample.report._build import report as report

__all__, __getattr__, __dir__ = lazy_names(__name__)
