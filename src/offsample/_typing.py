"""The types of arrays, named once."""

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Booleans = NDArray[np.bool_]
Words = NDArray[np.uint64]
Bytes = NDArray[np.uint8]
Grouping = Ints | tuple[Ints, ...]  # group of each row; several kinds that cross, as users and items do
