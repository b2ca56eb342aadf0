"""An oblique tree as arithmetic."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count
from typing import Any

import numpy as np

from offsample._typing import Floats
from offsample.induction.forms import Case, Column, Form, Op, at_most, case, columns_of, one_of
from offsample.induction.oblique.flat import StochasticTree
from offsample.induction.oblique.scaling import Preparation, is_wide
from offsample.induction.oblique.thresholds import Calibration

# Where infinite numbers stand, beside which all others vanish, and below which they are 0: squares of neither
# are infinite or vanish, at which PostgreSQL raises an error.
_FAR, _TINY = 1e140, 1e-150


def tree_form(
    tree: StochasticTree,
    preparation: Preparation,
    classes: list[Any],
    calibration: Calibration,
    decide: Floats,
    least: float,
) -> Form:
    """Make the form of a tree, which predicts by thresholds of votes, or by costs of classes.

    Costs, ``[true, predicted]``, are of probabilities of at least `least`.
    """
    least_length = max(preparation.reach, _TINY)
    z = {f"z{j}": one for j, one in enumerate(_inputs(preparation))}
    length = Op("sqrt", (Op("max", (Op("+", [Op("*", (name, name)) for name in z]), least_length**2)),))
    gates: dict[str, Op] = {}
    for i, weights in enumerate(tree.weights.tolist()):
        product = Op("+", [0.0, *(Op("*", (w, name)) for w, name in zip(weights, z, strict=False) if w)])
        offset = weights[-1] if preparation.reach else 0.0
        half = Op("/", (Op("+", (1.0 + offset, Op("/", (product, "l")))), 2.0))
        gates[f"g{i}"] = Op("min", (1.0, Op("max", (0.0, half))))
    reach: list[tuple[Any, ...]] = [()] * tree.n_nodes
    for gate, node in zip(gates, tree.split_nodes.tolist(), strict=True):
        child = int(tree.first_child[node])
        reach[child], reach[child + 1] = (*reach[node], gate), (*reach[node], Op("-", (1.0, gate)))
    leaves = tree.leaves.tolist()
    votes = [
        [Op("*", (vote, *reach[leaf])) for leaf, vote in zip(leaves, of, strict=True)]
        for of in tree.value[leaves].T.tolist()
    ]
    said = {f"v{k}": Op("+", one) for k, one in enumerate(votes)}
    kept, far = calibration.times, ((1 - calibration.times) * calibration.shares).tolist()
    moved = {
        f"q{k}": Op("max", (Op("+", (far[k], Op("*", (kept, vote)))), calibration.least))
        for k, vote in enumerate(said)
    }
    shares = {f"p{k}": Op("/", (one, Op("+", list(moved)))) for k, one in enumerate(moved)}
    by_cost = decide.ndim == 2
    scores = np.column_stack([np.eye(len(classes)), -decide if not by_cost else np.zeros(len(classes))])
    if by_cost:
        scores[:, :-1] = -decide.T / (float(np.abs(decide).max()) or 1.0)
    elif len(classes) == 2:
        scores[0] = 0  # the second class is predicted above its threshold, and nowhere else
    judged = [Op("max", (p, least)) for p in shares] if by_cost else list(said)
    found: list[Any] = []
    for *factors, added in scores.tolist():
        terms = [Op("*", (c, one)) for c, one in zip(factors, judged, strict=True) if c]
        found.append(Op("round", (Op("*", (Op("+", [added, *terms]), 1e10)),)))  # ties are told by ten digits
    steps: list[Any] = [z, {"l": length}, gates] * bool(gates) + [said, moved, shares]
    if by_cost:  # of the cheapest the likeliest
        cheap = {f"c{k}": one for k, one in enumerate(found)}
        likely = [Op("round", (Op("*", (one, 1e10)),)) for one in judged]
        tests = [tuple(Op(">=", (one, other)) for other in cheap if other != one) for one in cheap]
        ties = {f"t{k}": case([one], -1.0) for k, one in enumerate(zip(tests, likely, strict=True))}
        steps, found = [*steps, cheap, ties], list(ties)
    best = [tuple(Op(">=", (one, other)) for other in found[i + 1 :]) for i, one in enumerate(found[:-1])]
    choice = case(list(zip(best, count(), strict=False)), len(best))
    return Form(classes, choice, np.arange(len(classes)), list(shares), steps)


def _inputs(preparation: Preparation) -> Iterator[Case]:
    """Columns of the matrix, before rows are brought to norm 1."""
    encoder, unit, centre = preparation.encoder, preparation.unit, preparation.centre
    ends = preparation.ends or (np.full(len(unit), -np.inf), np.full(len(unit), np.inf))
    far, tiny = _FAR * np.minimum(unit, 1.797e168), _TINY * unit
    # In a sparse matrix a missing number is no entry.
    fill = 0 * unit if encoder is not None and is_wide(encoder) else preparation.mean
    plain = [Column(name, "number") for name in preparation.names]
    columns = plain if encoder is None else columns_of(encoder)
    values = [()] * len(columns) if encoder is None else encoder.values
    place = count()
    for column, known in zip(columns, values, strict=True):
        if column.kind not in ("code", "name"):
            j = next(place)
            number: Column | Op = column
            shift = float(centre[j] / unit[j] * (abs(centre[j]) > tiny[j]))
            small = (
                at_most(column, tiny[j], missing=False),
                at_most(column, -tiny[j], missing=True).contrary(),
            )
            branches: list[Any] = [(small, float(np.clip(0.0, ends[0][j], ends[1][j]) / unit[j]) - shift)]
            branches.append(((one_of(column, (), [0]),), float((fill[j] - centre[j]) / unit[j])))
            for sign, end, word in zip((-1, 1), ends, ("max", "min"), strict=True):
                if np.isfinite(end[j]):
                    number = Op(word, (number, float(end[j])))
                else:
                    beyond = at_most(column, sign * far[j], missing=sign > 0)
                    branches.append(((beyond if sign < 0 else beyond.contrary(),), sign * _FAR))
            yield Case(tuple(branches), Op("-", (Op("/", (number, float(unit[j]))), shift)))
            continue
        for code, j in zip(range(len(known) + 1), place, strict=False):
            true, false = (float((number - centre[j]) / unit[j]) for number in (1.0, 0.0))
            yield Case((((one_of(column, known, [code]),), true),), false)
