"""What fitted trees share, of classes and of numbers: where a row ends, and which columns matter."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix

from offsample._estimators import n_rows
from offsample._ties import best_first
from offsample._typing import Floats
from offsample.induction.tree.flat import FlatTree
from offsample.tables import TableEncoder


class FittedTree:
    """A tree as arrays, and the columns that it was grown from."""

    tree_: FlatTree
    _encoder: TableEncoder
    feature_importances_: Floats
    training_importances_: Floats
    _checked_new: Any

    def apply(self, X: Any) -> NDArray[np.int32]:
        """Node that each row ends in: a leaf, or the node where its value was not seen in training.

        Parameters
        ----------
        X : table, as for `fit`
        """
        X = self._checked_new(X)
        return self.tree_.find(self._values(X))[: n_rows(X)]

    def _values(self, X: Any) -> Floats:
        """Columns that the tree looks at, as one array of numbers and codes; of one row, with a row more."""
        used, lines = np.unique(self.tree_.feature[self.tree_.feature >= 0]), self.tree_.lines
        if lines is not None:
            used = np.union1d(used, lines.of_node["column"][lines.there])
        names = self._encoder.names
        if isinstance(X, np.ndarray) and X.dtype == np.float64 and "categorical" not in self._encoder.kinds:
            return X
        # The order of one row or column is either, and loops would be compiled for both.
        n, position = n_rows(X), {names[j]: j for j in used}
        values = np.zeros((max(2, n), max(2, len(names))), order="F")
        for column in self._encoder.transform(X, only=position.keys()):
            values[:n, position[column.name]] = column.values
        return values

    def decision_path(self, X: Any) -> csr_matrix:
        """Indicator of the nodes that each row passes, as a sparse matrix.

        Parameters
        ----------
        X : table, as for `fit`
        """
        return self.tree_.ancestors(self.apply(X))

    def _keep_importances(self) -> None:
        n_columns = len(self._encoder.names)
        self.feature_importances_ = self.tree_.importances(self.tree_.gain, n_columns)
        self.training_importances_ = self.tree_.importances(self.tree_.training_gain, n_columns)

    @property
    def stage_sizes_(self) -> list[int]:
        """Number of leaves after 0, 1, 2, … splits, up to `n_splits_`."""
        return self.tree_.stage_sizes

    @property
    def size_(self) -> int:
        """Number of leaves."""
        return self.tree_.n_leaves

    @property
    def used_columns_(self) -> tuple[Any, ...]:
        """Names of the columns that the tree looks at, the most important first."""
        return self._columns_at(len(self.stage_sizes_) - 1)

    def used_columns_after(self, n_steps: int) -> tuple[Any, ...]:
        """Names of the columns that the tree looks at after `n_steps` splits, the most important first."""
        return self._columns_at(min(n_steps, len(self.stage_sizes_) - 1))

    @property
    def used_importances_(self) -> tuple[float, ...]:
        """Share of each of `used_columns_` in the decrease of the estimated error off the sample."""
        share = dict(zip(self._encoder.names, self.feature_importances_.tolist(), strict=True))
        return tuple(share[name] for name in self.used_columns_)

    def _columns_at(self, stage: int) -> tuple[Any, ...]:
        nodes, names = self.tree_.in_order[:stage], self._encoder.names
        share = self.tree_.importances(self.tree_.gain, len(names), nodes)
        used = np.unique(self.tree_.feature[nodes])
        return tuple(names[j] for j in used[best_first(share[used])])
