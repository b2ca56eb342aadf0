"""How far to believe a score: the optimism of tuned results, nested cross-validation, paired tests.

References
----------
- E. Alpaydin (1999). Combined 5×2 cv F test. Neural Computation 11.
- C. Nadeau, Y. Bengio (2003). Inference for the generalization error. Machine Learning 52.
- T. Scheffer (1999). Error Estimation and Model Selection. TU Berlin.
"""

from typing import TYPE_CHECKING

from offsample._lazy import lazy_names

if TYPE_CHECKING:  # all public names; each is loaded on first use
    from offsample.assessment._audit import Audit as Audit
    from offsample.assessment._audit import audit_search as audit_search
    from offsample.assessment._compare import Comparison as Comparison
    from offsample.assessment._compare import ModelPair as ModelPair
    from offsample.assessment._compare import compare as compare
    from offsample.assessment._intervals import clopper_pearson_interval as clopper_pearson_interval
    from offsample.assessment._intervals import wilson_interval as wilson_interval
    from offsample.assessment._leaked_labels import LeakCapacity as LeakCapacity
    from offsample.assessment._leaked_labels import leaked_labels_capacity as leaked_labels_capacity
    from offsample.assessment._leaked_labels import optimism_probability as optimism_probability
    from offsample.assessment._leaked_labels import optimism_probability_folds as optimism_probability_folds
    from offsample.assessment._luck import best_of_mean as best_of_mean
    from offsample.assessment._nested import NestedScores as NestedScores
    from offsample.assessment._nested import nested_cross_validate as nested_cross_validate
    from offsample.assessment._paired import PairedTest as PairedTest
    from offsample.assessment._paired import paired_test as paired_test
    from offsample.assessment._plan import HoldoutPlan as HoldoutPlan
    from offsample.assessment._plan import plan_holdout as plan_holdout
    from offsample.assessment._trust import ScoreTrust as ScoreTrust
    from offsample.assessment._trust import trust_in_score as trust_in_score

__all__, __getattr__, __dir__ = lazy_names(__name__)
