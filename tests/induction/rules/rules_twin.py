"""Formulas grown the slow, obvious way, on Boolean tables of a few rows: from their definitions."""

from __future__ import annotations

from itertools import combinations, product

import numpy as np

from offsample.counts import CellCounts
from offsample.criteria import index_value

Literal = tuple[int, bool]  # column, and whether it is negated


def literals(n_columns: int) -> list[Literal]:
    """Positive ones first, then by column."""
    return [(j, False) for j in range(n_columns)] + [(j, True) for j in range(n_columns)]


def true(X, literal: Literal, i: int) -> bool:
    return bool(X[i][literal[0]]) != literal[1]


def index_of(cells, y, name: str) -> float:
    """Index of a partition, given as lists of rows."""
    cells = [cell for cell in cells if cell]
    return index_value(CellCounts([[sum(y[i] == k for i in cell) for k in (0, 1)] for cell in cells]), name)


def share(cell, y, k: int = 1) -> float:
    return sum(y[i] == k for i in cell) / len(cell)


def purity(cell, y) -> float:
    return max(share(cell, y, 0), share(cell, y, 1))


def smallest(options, now: float):
    """The first option, by value and its further keys, that is smaller than now; None if there is none."""
    options = [((round(value, 12), *keys), what) for value, keys, what in options]
    if not options:
        return None
    key, what = min(options, key=lambda option: option[0])
    return what if key[0] < round(now, 12) - 1e-12 else None


def conjunctions(n_columns: int, k: int) -> list[tuple[Literal, ...]]:
    found = []
    for n in range(1, k + 1):
        of_length = []
        for columns in combinations(range(n_columns), n):
            of_length += [
                tuple(sorted(zip(columns, signs, strict=True), key=lambda lit: (lit[1], lit[0])))
                for signs in product((False, True), repeat=n)
            ]
        found += sorted(of_length, key=lambda one: [(lit[1], lit[0]) for lit in one])
    return found


def grow_list(X, y, name: str, k: int, min_coverage: int = 1):
    """Rules, as conjunctions, and the rows of each; the purer and then the larger of equals.

    What is closed has no more of the index than the rest, and gains something or is pure.
    """
    closed, rest, rules = [], list(range(len(y))), []
    while len({y[i] for i in rest}) > 1:
        now, options = index_of([*closed, rest], y, name), []
        for place, one in enumerate(conjunctions(len(X[0]), k)):
            inside = [i for i in rest if all(true(X, lit, i) for lit in one)]
            outside = [i for i in rest if i not in inside]
            if len(inside) < min_coverage or not inside or not outside:
                continue
            doubt, left = (len(cell) * index_of([cell], y, name) for cell in (inside, outside))
            if doubt > left + 1e-12:
                continue
            after = index_of([*closed, inside, outside], y, name)
            if after < now - 1e-12 or (purity(inside, y) == 1 and after < now + 1e-12):
                keys = (round(-purity(inside, y), 12), -len(inside), place)
                options.append((after, keys, (one, inside, outside)))
        best = smallest(options, np.inf)
        if best is None:
            break
        rules.append(best[0])
        closed.append(best[1])
        rest = best[2]
    return rules, [*closed, rest]


def without_idle(X, y, rules):
    """The rules that may change a prediction, and the rows of each and of the rest.

    From the last to the first, one is left out if all rows that come to it get the same without it.
    """
    rules, inputs = list(rules), list(product((0, 1), repeat=len(X[0])))

    def where(rule):
        return {a for a in range(len(inputs)) if all(true(inputs, lit, a) for lit in rule)}

    def cells(rules):
        found = [[] for _ in range(len(rules) + 1)]
        for i in range(len(y)):
            first = next((r for r, rule in enumerate(rules) if all(true(X, lit, i) for lit in rule)), -1)
            found[first].append(i)
        return found

    labels = [int(share(cell, y) > 0.5) if cell else 0 for cell in cells(rules)]
    for r in range(len(rules) - 1, -1, -1):
        mine = where(rules[r]).difference(*map(where, rules[:r]))
        said = {
            next(
                (k for other, k in zip(rules[r + 1 :], labels[r + 1 :], strict=False) if a in where(other)),
                labels[-1],
            )
            for a in mine
        }
        if said <= {labels[r]}:
            del rules[r], labels[r]
    return rules, cells(rules)


def grow_consistent(X, y, k: int):
    """Rivest's learner: of the conjunctions that hold for one class only, the one that holds most often."""
    rest, rules = list(range(len(y))), []
    while len({y[i] for i in rest}) > 1:
        options = []
        for place, one in enumerate(conjunctions(len(X[0]), k)):
            inside = [i for i in rest if all(true(X, lit, i) for lit in one)]
            if inside and len({y[i] for i in inside}) == 1:
                options.append((-len(inside), place, one, inside))
        if not options:
            return rules, False
        _, _, one, inside = min(options)
        rules.append(one)
        rest = [i for i in rest if i not in inside]
    return rules, True


def grow_cover(X, y, k: int, n_levels: int, min_coverage: int):
    """DL₁: sweeps over all conjunctions in order, each seeing the rows that are left."""
    rest, rules = list(range(len(y))), []
    level = 0
    while level / n_levels < 0.5:
        committed = False
        for one in conjunctions(len(X[0]), k):
            if len({y[i] for i in rest}) < 2:
                return rules
            inside = [i for i in rest if all(true(X, lit, i) for lit in one)]
            if len(inside) >= min_coverage and 1 - purity(inside, y) <= level / n_levels + 1e-9:
                rules.append(one)
                rest = [i for i in rest if i not in inside]
                committed = True
        level += not committed
    return rules


def grow_monomial(X, y, name: str):
    inside, outside, term = list(range(len(y))), [], []
    while True:
        options = []
        for place, lit in enumerate(literals(len(X[0]))):
            kept = [i for i in inside if true(X, lit, i)]
            lost = [i for i in inside if i not in kept]
            if kept and lost:
                keys = (round(purity(kept, y), 12), place)
                options.append((index_of([kept, outside + lost], y, name), keys, (lit, kept, outside + lost)))
        best = smallest(options, index_of([inside, outside], y, name))
        if best is None:
            return term, [inside, outside]
        term.append(best[0])
        inside, outside = best[1], best[2]


def chains(X, y, name: str, inside, term):
    """Two or more literals at once: each follows that splits the rows of the term best."""

    def best_inside(rows, used, n_wanted):
        options = []
        for place, lit in enumerate(literals(len(X[0]))):
            kept = [i for i in rows if true(X, lit, i)]
            lost = [i for i in rows if i not in kept]
            if not kept or not lost or share(kept, y) <= share(rows, y) + 1e-12:
                continue
            if any(lit[0] == old[0] for old in used):
                continue
            gain = len(rows) * (index_of([rows], y, name) - index_of([kept, lost], y, name)) / len(y)
            if round(gain, 12) > 0:
                options.append((-round(gain, 12), place, lit, kept))
        return [(lit, kept) for _, _, lit, kept in sorted(options)[:n_wanted]]

    found = []
    for first, rows in best_inside(inside, term, 12):
        chain = [first]
        while len({y[i] for i in rows}) > 1:
            best = best_inside(rows, [*term, *chain], 1)
            if not best:
                break
            chain.append(best[0][0])
            rows = best[0][1]
            found.append((list(chain), rows))
    return found


def grow_dnf(X, y, name: str):
    closed, rest, terms = [], list(range(len(y))), []
    while True:
        inside, outside, term = list(rest), [], []
        while True:
            steps = []
            for lit in literals(len(X[0])):
                kept = [i for i in inside if true(X, lit, i)]
                if any(lit[0] == old[0] for old in term) or not kept or len(kept) == len(inside):
                    continue
                if share(kept, y) >= share(inside, y) - 1e-12:
                    steps.append(([lit], kept))
            steps += chains(X, y, name, inside, term)
            options = []
            for place, (added, kept) in enumerate(steps):
                others = outside + [i for i in inside if i not in kept]
                value = index_of([*closed, kept, others], y, name)
                keys = (round(-share(kept, y), 12), place)
                options.append((value, keys, (added, kept, others)))
            best = smallest(options, index_of([*closed, inside, outside], y, name))
            if best is None:
                break
            term += best[0]
            inside, outside = best[1], best[2]
        if not term or share(inside, y) <= 0.5:
            return terms
        terms.append(term)
        closed.append(inside)
        rest = outside
        if not rest:
            return terms


def grow_committee(X, y, name: str):
    """Conjunctions of a committee with their votes, by the index of the partition into sums of votes.

    A vote is for the class that is more frequent where the conjunction is true than in the sample.
    """
    n, done, term, vote = len(y), [], [], 0

    def cells(voters):
        sums = {}
        for i in range(n):
            total = sum(a * all(true(X, lit, i) for lit in one) for one, a in voters)
            sums.setdefault(total, []).append(i)
        return list(sums.values())

    while True:
        options = []
        holds = [i for i in range(n) if all(true(X, lit, i) for lit in term)]
        for place, lit in enumerate(literals(len(X[0]))):
            one = [*term, lit]
            kept = [i for i in holds if true(X, lit, i)]
            if not kept or len(kept) == len(holds) or any(set(one) == set(old) for old, _ in done):
                continue
            a = 1 if share(kept, y) >= share(range(n), y) else -1
            options.append((index_of(cells([*done, (one, a)]), y, name), (place,), (lit, a)))
        now = index_of(cells([*done, (term, vote)]), y, name)
        best = smallest(options, now)
        if best is not None:
            term, vote = [*term, best[0]], best[1]
        elif term:
            done.append((term, vote))
            term, vote = [], 0
        else:
            return done, now


def grow_symmetric(X, y, name: str):
    chosen: list[Literal] = []

    def cells(tests):
        of_number = {}
        for i in range(len(y)):
            of_number.setdefault(sum(true(X, lit, i) for lit in tests), []).append(i)
        return list(of_number.values())

    while True:
        options = []
        for place, lit in enumerate(literals(len(X[0]))):
            holds = [true(X, lit, i) for i in range(len(y))]
            if any(holds) and not all(holds):
                options.append((index_of(cells([*chosen, lit]), y, name), (place,), lit))
        best = smallest(options, index_of(cells(chosen), y, name))
        if best is None:
            return chosen, cells(chosen)
        chosen.append(best)


def bucket(q: float, gamma: float, eps: float) -> int:
    """Number of bucket ends at or below q: eps (1 + gamma)^(2j) below ½, ½, and their mirror images."""
    ends, end = [], eps
    while end < 0.5 - 1e-9:
        ends.append(end)
        end *= (1 + gamma) ** 2
    ends = [*ends, 0.5, *(1 - one for one in reversed(ends))]
    return sum(end <= q for end in ends)


def grow_program(X, y, name: str, gamma: float = 0.2, eps: float = 0.01, n_levels: int = 20):
    """Partitions after each level: lists of sets of rows. Nodes of one bucket are one node."""
    sinks: dict[int, list[int]] = {}
    level = [list(range(len(y)))]
    if len(set(y)) < 2:
        return [[set(level[0])]]
    path = [[set(level[0])]]
    for _ in range(n_levels):
        split, waiting = [], []
        for node in level:
            options = []
            for place, lit in enumerate(literals(len(X[0]))):
                kept = [i for i in node if true(X, lit, i)]
                lost = [i for i in node if i not in kept]
                if kept and lost:
                    options.append((index_of([kept, lost], y, name), (place,), (kept, lost)))
            best = smallest(options, index_of([node], y, name))
            if best is None:
                waiting.append(node)
            else:
                split += best
        if not split:
            break
        now = index_of([*level, *sinks.values()], y, name)
        least = max((now - index_of([*sinks.values(), *waiting, *split], y, name)) / 2, 1e-12)
        narrower = 1.0
        while narrower > 1e-3:
            pure = {k: list(rows) for k, rows in sinks.items()}
            merged: dict[int, list[int]] = {}
            for node in waiting + split:
                q = share(node, y)
                if q in (0.0, 1.0):
                    pure.setdefault(int(q), []).extend(node)
                else:
                    merged.setdefault(bucket(q, gamma * narrower, eps * narrower), []).extend(node)
            if now - index_of([*pure.values(), *merged.values()], y, name) >= least:
                break
            narrower /= 2
        else:
            break
        sinks, level = pure, [merged[b] for b in sorted(merged)]
        path.append([set(cell) for cell in (*sinks.values(), *level)])
    return path
