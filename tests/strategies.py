"""Hypothesis strategies shared by the tests."""

from __future__ import annotations

import numpy as np
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp


def tables(max_cells: int = 6, max_classes: int = 4, max_count: int = 6) -> st.SearchStrategy[np.ndarray]:
    """Counts of shape (cells, classes) with at least one sample."""
    shapes = st.tuples(st.integers(1, max_cells), st.integers(2, max_classes))
    return shapes.flatmap(
        lambda shape: hnp.arrays(np.int64, shape, elements=st.integers(0, max_count))
    ).filter(lambda counts: counts.sum() > 0)
