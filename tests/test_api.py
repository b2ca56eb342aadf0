"""The contract of public names: each is there, takes the parameters it promises, and is exported once."""

import importlib
import inspect

import pytest

import offsample

SIGNATURES = {
    "offsample.counts": {
        "count_cells": "codes y_codes n_cells n_classes sample_weight",
        "feature_counts": "table target features engine",
    },
    "offsample.criteria": {
        **dict.fromkeys(("misclassification", "gini_error", "ginger", "bayes_loo"), "cells"),
        **dict.fromkeys(("information_gain", "gain_ratio", "mantaras_distance"), "cells"),
        "u_statistic_error": "cells order",
        "index_value": "cells index",
        "is_permissible": "function",
        "error_interval": "cells rule confidence target method",
    },
    "offsample.bounds": {
        "ginger_bias": "n_samples n_classes sharp",
        "ginger_deviation": "n_samples confidence",
        "ginger_concentration": "n_samples n_classes confidence",
        "bayes_excess": "cells weights",
        "bayes_deviation": "n_samples confidence",
        "nearest_neighbor_bound": "margin_error n_samples n_features n_selected radius margin confidence",
        "amplification_depth": "margin error",
        "adaboost_rounds": "n_samples error",
        "pac_sample_size": "log_size error confidence",
        "vc_deviation": "dimension n_samples confidence",
        "occam_sample_size": "stratum_size error confidence growth n_strata",
        "tuned_holdout_size": "bits deviation confidence",
        "tuned_holdout_deviation": "bits n_test confidence",
    },
    "offsample.ranking": {
        "rank_features": "table target features criterion order confidence numeric engine progress",
    },
    "offsample.margin": {
        "hypothesis_margin": "X y weights",
        "margin_score": "X y weights utility",
        "Relief": "scale",
        "Simba": "scale",
        "GFlip": "scale",
    },
    "offsample.induction": {
        "TreeClassifier": "criterion max_splits",
        "best_stochastic_test": "X y sample_weight index solver epsilon",
        "StochasticTreeClassifier": "",
        "DecisionListClassifier": "",
        "MonomialClassifier": "",
        "DNFClassifier": "",
        "BranchingProgramClassifier": "",
        "CommitteeClassifier": "",
        "SymmetricFunctionClassifier": "",
    },
    "offsample.boosting": {"BoostedPerceptronClassifier": "n_estimators"},
    "offsample.expected_error": {
        "ErrorPrior": "errors mass log_mass",
        "expected_error": "prior log_size n_samples method",
        "labeling_counts": "positives negatives",
        "holdout_selection": "priors log_sizes n_train n_holdout",
        "best_split": "priors log_sizes n_samples",
        "ExpectedErrorSearch": "estimator candidates",
    },
    "offsample.assessment": {
        "optimism_probability": "n_test n_correct n_known n_extra",
        "optimism_probability_folds": (
            "n_folds fold_size fold_correct n_known n_extra shared_parameters majority_rate"
        ),
        "audit_search": "search X y",
        "nested_cross_validate": "",
        "paired_test": "",
        "compare": "",
        "plan_holdout": "",
    },
    "offsample.export": {"to_sql": "estimator dialect table", "to_python": "estimator"},
    "offsample.report": {"report": "table target"},
}
TOP = [
    "rank_features FeatureRanker Relief Simba GFlip TreeClassifier StochasticTreeClassifier",
    "DecisionListClassifier MonomialClassifier DNFClassifier BranchingProgramClassifier CommitteeClassifier",
    "SymmetricFunctionClassifier BoostedPerceptronClassifier expected_error ExpectedErrorSearch audit_search",
    "nested_cross_validate paired_test compare plan_holdout report",
]
PROMISED = [(module, name, given) for module, names in SIGNATURES.items() for name, given in names.items()]


@pytest.mark.parametrize(("module", "name", "parameters"), PROMISED)
def test_signature(module, name, parameters):
    found = inspect.signature(getattr(importlib.import_module(module), name)).parameters
    assert [p for p in parameters.split() if p not in found] == []


@pytest.mark.parametrize("name", " ".join(TOP).split())
def test_the_package_has_it(name):
    assert callable(getattr(offsample, name))
    assert name in offsample.__all__


@pytest.mark.parametrize("module", SIGNATURES)
def test_names_are_listed(module):
    package = importlib.import_module(module)
    assert set(SIGNATURES[module]) <= set(package.__all__)
    for name in package.__all__:
        assert getattr(package, name).__doc__ or not callable(getattr(package, name)), name


def test_everything_listed_is_there():
    for name in offsample.__all__:
        assert getattr(offsample, name) is not None
