"""One of each class of rule learners."""

import numpy as np

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


def dnf_sample(n_rows=2000, noise=0.05, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 2, (n_rows, 8))
    truth = (X[:, 0] & X[:, 1]) | (X[:, 2] & X[:, 3])
    return X, truth ^ (rng.random(n_rows) < noise), truth
