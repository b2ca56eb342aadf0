"""How far to believe a score: the optimism of tuned results, nested cross-validation, paired tests."""

from offsample._lazy import lazy_names

# Loaded on first use: scikit-learn loads pandas where it finds it.
_HOME = {
    "Audit": "offsample.assessment._audit",
    "Comparison": "offsample.assessment._compare",
    "ErrorInterval": "offsample.assessment._intervals",
    "HoldoutPlan": "offsample.assessment._plan",
    "LeakCapacity": "offsample.assessment._leaked_labels",
    "ModelPair": "offsample.assessment._compare",
    "NestedScores": "offsample.assessment._nested",
    "PairedTest": "offsample.assessment._paired",
    "ScoreTrust": "offsample.assessment._trust",
    "audit_search": "offsample.assessment._audit",
    "best_of_mean": "offsample.assessment._trust",
    "clopper_pearson_interval": "offsample.assessment._intervals",
    "compare": "offsample.assessment._compare",
    "error_interval_of": "offsample.assessment._intervals",
    "leaked_labels_capacity": "offsample.assessment._leaked_labels",
    "leaked_labels_probability": "offsample.assessment._leaked_labels",
    "nested_cross_validate": "offsample.assessment._nested",
    "optimism_probability": "offsample.assessment._leaked_labels",
    "optimism_probability_folds": "offsample.assessment._leaked_labels",
    "paired_test": "offsample.assessment._paired",
    "plan_holdout": "offsample.assessment._plan",
    "trust_in_score": "offsample.assessment._trust",
    "wilson_interval": "offsample.assessment._intervals",
}

__all__ = [
    "Audit",
    "Comparison",
    "ErrorInterval",
    "HoldoutPlan",
    "LeakCapacity",
    "ModelPair",
    "NestedScores",
    "PairedTest",
    "ScoreTrust",
    "audit_search",
    "best_of_mean",
    "clopper_pearson_interval",
    "compare",
    "error_interval_of",
    "leaked_labels_capacity",
    "leaked_labels_probability",
    "nested_cross_validate",
    "optimism_probability",
    "optimism_probability_folds",
    "paired_test",
    "plan_holdout",
    "trust_in_score",
    "wilson_interval",
]

__getattr__, __dir__ = lazy_names(__name__, _HOME)
