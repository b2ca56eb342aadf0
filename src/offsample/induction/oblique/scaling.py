"""From a table to rows of norm 1: one-hot columns, a common scale, unit length."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix, hstack, issparse

from offsample._ties import rounded
from offsample._typing import Floats
from offsample.induction.oblique.rows import BLOCK, MOST_NUMBERS, UnitRows
from offsample.tables import TableEncoder, is_dataframe, merged_columns

Scale = Literal["standard", "minmax"] | None

# More one-hot columns than this make the matrix sparse.
_DENSE = 256
# All other numbers of a row vanish beside one of this size, and its square is still finite.
_FAR = 1e100
# Share of the rows that keep their length.
_REACHED = 0.95


@dataclass(frozen=True, eq=False)
class Preparation:
    """How a table becomes rows of norm 1, learned from one table."""

    encoder: TableEncoder | None  # None for an array or a sparse matrix of numbers
    names: list[Any]  # of the columns of the matrix, "column = value" if one-hot
    columns: list[Any]  # of the table that they were made from
    centre: Floats  # a column v becomes (v - centre) / unit
    unit: Floats
    mean: Floats  # replaces a missing value
    ends: tuple[Floats, Floats] | None  # of each column: a number beyond them stands at them
    # If positive, rows that are no longer are divided by this instead of their own length, and have one more
    # column, the constant 1.
    reach: float = 0.0

    def keeping_lengths(self, matrix: Any, weight: Floats) -> Preparation:
        """Return the same without bringing each row to norm 1: only few are longer, and become so."""
        lengths = self.rows(matrix[weight > 0]).lengths
        order = np.argsort(lengths)
        reached = np.cumsum(weight[weight > 0][order])
        reach = float(lengths[order][np.searchsorted(reached, _REACHED * reached[-1])])
        return replace(self, reach=min(max(reach, 1e-300), _FAR))

    def rows(self, matrix: Any, order: NDArray[np.intp] | None = None, starts: Any = None) -> UnitRows:
        """Return the rows of a matrix at norm 1, in an order in which the classes begin at `starts`."""
        matrix = _within(matrix, self.ends)
        n = matrix.shape[0] if order is None else len(order)
        starts = np.array([0, n]) if starts is None else starts
        constant = 1.0 if self.reach else None
        if issparse(matrix):
            scaled = csr_matrix(matrix if order is None else matrix[order], copy=True)
            with np.errstate(over="ignore"):
                scaled.data = scaled.data / self.unit.astype(scaled.dtype)[scaled.indices]
                shift = np.clip(self.centre / self.unit, -_FAR, _FAR)
            scaled.data = np.clip(scaled.data, -_FAR, _FAR)
            squares = np.asarray(scaled.multiply(scaled).sum(axis=1), dtype=np.float64).ravel()
            squares = np.maximum(squares - 2 * (scaled @ shift) + shift @ shift, 0.0)  # of s - shift
            lengths = np.maximum(np.sqrt(squares), self.reach)
            per_row = np.where(lengths > 0, 1 / np.where(lengths > 0, lengths, 1), 0.0)
            return UnitRows(scaled, shift, per_row, constant, starts, lengths)
        shape = (n, matrix.shape[1])
        is_wide = matrix.dtype != np.float32 and n * shape[1] <= MOST_NUMBERS
        out = np.empty(shape, np.float64 if is_wide else np.float32)
        lengths = np.empty(n)
        for start in range(0, n, BLOCK):
            chosen: Any = slice(start, start + BLOCK) if order is None else order[start : start + BLOCK]
            part = np.asarray(matrix[chosen], np.float64)
            missing = np.isnan(part)
            with np.errstate(over="ignore", invalid="ignore"):
                part = part / self.unit - self.centre / self.unit
                part = np.where(missing, (self.mean - self.centre) / self.unit, part)
            # Rows with an infinite number point along its column, as they do the larger a number is.
            infinite = np.isinf(part)
            at = np.flatnonzero(infinite.any(axis=1))
            part[at] = np.where(infinite[at], _FAR * np.sign(part[at]), 0.0)
            # First by the largest number of a row: squares of huge numbers would overflow.
            largest = np.abs(part).max(axis=1, initial=0.0)
            part /= np.where(largest > 0, largest, 1)[:, None]
            length = np.linalg.norm(part, axis=1)
            if self.reach:
                length = np.maximum(length, self.reach / np.where(largest > 0, largest, 1))
            part /= np.where(length > 0, length, 1)[:, None]
            with np.errstate(over="ignore"):
                lengths[start : start + BLOCK] = length * largest
            out[start : start + BLOCK] = part
        return UnitRows(out, None, None, constant, starts, lengths)


def prepare(X: Any, weight: Floats, scale: Scale, categorical: Any) -> tuple[Preparation, Any]:
    """Learn how to prepare a table; return this and the matrix of the table."""
    encoder = None
    is_table = is_dataframe(X) or isinstance(X, dict) or X.dtype.kind not in "iufb"
    if is_table or not _all_numeric(categorical) or (not issparse(X) and merged_columns(X)):
        if issparse(X):
            raise ValueError("categorical_features must be 'infer' for a sparse matrix")
        encoder = TableEncoder(categorical)
        matrix = one_hot(encoder, X, fitted=False)
        columns, names = map(list, zip(*_named_columns(encoder), strict=True))
    else:
        matrix, names = X, [f"x{j}" for j in range(X.shape[1])]
        columns = names
    # Only deviations from a mean need a place for infinite numbers: others let them point along their column.
    ends = _ends(matrix, weight) if scale == "standard" else None
    centre, unit, mean = _scale_of(_within(matrix, ends), weight, scale)
    return Preparation(encoder, names, columns, centre, unit, mean, ends), matrix


def _all_numeric(categorical: Any) -> bool:
    if isinstance(categorical, str):
        return categorical == "infer"
    chosen = np.asarray(categorical)
    return not chosen.any() if chosen.dtype == bool else len(chosen) == 0


def _named_columns(encoder: TableEncoder) -> Iterator[tuple[Any, Any]]:
    """A column of the table, and a name, for each column of the matrix."""
    for name, kind, values in zip(encoder.names, encoder.kinds, encoder.values, strict=True):
        if kind == "numeric":
            yield name, name
        else:
            yield from ((name, f"{name} = {value}") for value in (*values, "missing"))


def one_hot(encoder: TableEncoder, X: Any, *, fitted: bool) -> Any:
    """Return the numeric columns, and a column of 0 and 1 for each value of a category, missing included."""
    columns, parts = list(encoder.transform(X) if fitted else encoder.fit_transform(X)), []
    is_sparse = is_wide(encoder)
    for column, known in zip(columns, encoder.values, strict=True):
        part = column.values[:, None]
        if column.kind == "categorical":
            at = np.flatnonzero(column.values <= len(known))
            place = at, column.values[at].astype(np.intp)
            part = csr_matrix((np.ones(len(at)), place), shape=(len(part), len(known) + 1))
            part = part if is_sparse else part.toarray()
        elif is_sparse:
            part = csr_matrix(np.where(np.isnan(part), 0.0, part))
        parts.append(part)
    return hstack(parts, format="csr") if is_sparse else np.hstack(parts)


def is_wide(encoder: TableEncoder) -> bool:
    """Whether categories have so many values, missing included, that the matrix is sparse."""
    kinds = zip(encoder.kinds, encoder.values, strict=True)
    return sum(len(values) + 1 for kind, values in kinds if kind == "categorical") > _DENSE


def _scale_of(matrix: Any, weight: Floats, scale: Scale) -> tuple[Floats, Floats, Floats]:
    """Centre, unit and mean of each column."""
    d = matrix.shape[1]
    starts = range(0, matrix.shape[0], BLOCK)
    if scale is None and (issparse(matrix) or not any(np.isnan(matrix[i : i + BLOCK]).any() for i in starts)):
        return np.zeros(d), np.ones(d), np.zeros(d)
    if issparse(matrix):
        return _sparse_scale(matrix.tocsc(), weight, scale)
    known = np.zeros(d)
    low, high = np.full(d, np.inf), np.full(d, -np.inf)
    for rows, w in _parts(matrix, weight):
        present = np.isfinite(rows)
        known += w @ present
        low = np.minimum(low, np.where(present, rows, np.inf).min(axis=0))
        high = np.maximum(high, np.where(present, rows, -np.inf).max(axis=0))
    empty = known == 0
    low, high, known = np.where(empty, 0, low), np.where(empty, 0, high), np.where(empty, 1, known)
    # In units of the largest value, so that squares neither overflow nor vanish.
    size = np.maximum(np.abs(low), np.abs(high))
    size = np.where(size > 0, size, 1.0)
    mean, square = np.zeros(d), np.zeros(d)
    for rows, w in _parts(matrix, weight):
        mean += w @ np.where(np.isfinite(rows), rows / size, 0.0)
    mean /= known
    centre = np.clip(mean * size, low, high)  # that of a constant is the constant
    if scale is None:
        return np.zeros(d), np.ones(d), centre
    if scale == "minmax":
        with np.errstate(over="ignore"):
            unit = np.minimum((high / size - low / size) * size, np.finfo(np.float64).max)
        return low, np.where(unit > 0, unit, 1.0), centre
    for rows, w in _parts(matrix, weight):
        square += w @ np.where(np.isfinite(rows), rows / size - mean, 0.0) ** 2
    unit = np.sqrt(square / known) * size
    return centre, np.where((high > low) & (unit > 0), unit, 1.0), centre


def _ends(matrix: Any, weight: Floats) -> tuple[Floats, Floats] | None:
    """Return where infinite numbers stand: beyond the finite ones of their column by the range of these."""
    if issparse(matrix):
        infinite = matrix.indices[np.isinf(matrix.data)]
    else:
        blocks = (np.isinf(matrix[i : i + BLOCK]).any(axis=0) for i in range(0, len(matrix), BLOCK))
        infinite = np.flatnonzero(np.any(list(blocks), axis=0))
    if not len(infinite):
        return None
    least, most = np.full(matrix.shape[1], -np.inf), np.full(matrix.shape[1], np.inf)
    for j in np.unique(infinite):
        column = matrix[:, [j]].toarray()[:, 0] if issparse(matrix) else matrix[:, j]
        column = column[weight > 0].astype(np.float64)
        finite = column[np.isfinite(column)]
        if len(finite):
            low, high, largest = finite.min(), finite.max(), np.finfo(matrix.dtype).max
            step = min(high / 2 - low / 2, largest / 2) * 2 or max(high, -low, 1.0)
            least[j] = max(low, step - largest) - step if -np.inf in column else -np.inf
            most[j] = min(high, largest - step) + step if np.inf in column else np.inf
    return least, most


def _within(matrix: Any, ends: tuple[Floats, Floats] | None) -> Any:
    """Return a matrix without the numbers beyond the ends of their columns."""
    if ends is None:
        return matrix
    if not issparse(matrix):
        return np.clip(matrix, *ends).astype(matrix.dtype, copy=False)
    clipped = np.clip(matrix.data, *(end[matrix.indices] for end in ends))
    return csr_matrix((clipped.astype(matrix.dtype), matrix.indices, matrix.indptr), matrix.shape)


def _parts(matrix: NDArray[Any], weight: Floats) -> Iterator[tuple[NDArray[Any], Floats]]:
    """Blocks of the rows that have a weight, and their weights."""
    for i in range(0, len(matrix), BLOCK):
        w = weight[i : i + BLOCK]
        rows = np.asarray(matrix[i : i + BLOCK][w > 0], dtype=np.float64)
        if len(rows):
            yield rows, w[w > 0]


def _sparse_scale(matrix: Any, weight: Floats, scale: Scale) -> tuple[Floats, Floats, Floats]:
    total = weight.sum()
    rows = matrix.tocsr()[weight > 0].tocsc().astype(np.float64)
    w = weight[weight > 0]
    rows.data = np.where(np.isfinite(rows.data), rows.data, 0.0)
    low = np.asarray(rows.min(axis=0).todense()).ravel()
    high = np.asarray(rows.max(axis=0).todense()).ravel()
    if scale == "minmax":
        unit = np.minimum(high / 2 - low / 2, np.finfo(np.float64).max / 2) * 2
        return low, np.where(unit > 0, unit, 1.0), low
    size = np.maximum(np.abs(low), np.abs(high))
    size = np.where(size > 0, size, 1.0)
    rows.data = rows.data / np.repeat(size, np.diff(rows.indptr))
    mean = np.asarray(w @ rows).ravel() / total
    rows.data = rows.data**2
    variance = np.maximum(np.asarray(w @ rows).ravel() / total - mean**2, 0.0)
    unit = np.sqrt(variance) * size
    return mean * size, np.where((high > low) & (unit > 0), unit, 1.0), mean * size


def rows_with_mass(weight: Floats, most: int) -> tuple[NDArray[np.intp], Floats, Floats]:
    """Return the rows that have a weight, their masses, and the mass that each is left out with.

    Weights that are whole numbers are frequencies. If they sum to at most `most`, rows are repeated.
    """
    kept, total = np.flatnonzero(weight), float(weight.sum())
    mass = weight[kept] / total
    if not (weight == np.round(weight)).all():
        return kept, mass, mass
    if total <= most:
        kept = np.repeat(kept, weight[kept].astype(np.intp))
        mass = np.full(len(kept), 1 / total)
    return kept, mass, np.full(len(kept), 1 / total)


def by_class(codes: NDArray[Any], matrix: Any, kept: NDArray[np.intp], most: int) -> NDArray[np.intp]:
    """Return the order of the rows by class and, up to `most` rows, by a projection: folds follow it."""
    if len(kept) > most:
        return np.argsort(codes, kind="stable")
    along = np.random.default_rng(0).normal(size=matrix.shape[1])
    if issparse(matrix):
        matrix = csr_matrix((np.nan_to_num(matrix.data), matrix.indices, matrix.indptr), matrix.shape)
        size = abs(matrix).max(axis=0).toarray().ravel()
        matrix.data = matrix.data / np.where(size > 0, size, 1)[matrix.indices]
    else:
        matrix = np.nan_to_num(matrix)  # the largest number for an infinite one
        size = np.abs(matrix).max(axis=0, initial=0.0)
        matrix = matrix / np.where(size > 0, size, 1)
    return np.lexsort((rounded(matrix @ along)[kept], codes))
