"""One of each class of rule learners."""

from offsample.induction import (
    BranchingProgramClassifier,
    CommitteeClassifier,
    DecisionListClassifier,
    DNFClassifier,
    MonomialClassifier,
    SymmetricFunctionClassifier,
)

LEARNERS = [
    DecisionListClassifier(),
    MonomialClassifier(),
    DNFClassifier(),
    BranchingProgramClassifier(),
    CommitteeClassifier(),
    SymmetricFunctionClassifier(),
]
