"""The types of arrays, named once."""

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Booleans = NDArray[np.bool_]
Words = NDArray[np.uint64]
Bytes = NDArray[np.uint8]
