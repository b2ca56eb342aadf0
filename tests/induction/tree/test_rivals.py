"""Paths that compete on left-out rows: the compiled loop equals the grower, and the winner is honest."""

import numpy as np
import pandas as pd
import pytest

from offsample.induction import TreeClassifier
from offsample.induction.scoring import Scoring
from offsample.induction.top_down import grow
from offsample.induction.tree import rivals
from offsample.induction.tree.cells import root_cell
from offsample.induction.tree.columns import Columns
from offsample.induction.tree.grower import Grower
from offsample.induction.tree.index_paths import CodedRows, Limits, index_values
from offsample.tables import TableEncoder


def random_columns(rng, n):
    table = pd.DataFrame(
        {
            "few": rng.choice(["a", "b", "c", "d"], n),
            "two": rng.choice(["u", "v"], n),
            "more": rng.integers(0, 9, n).astype(str),
            "number": np.where(rng.random(n) < 0.15, np.nan, rng.integers(0, 12, n)),
            "fine": rng.normal(size=n).round(1),
        }
    )
    table.loc[rng.random(n) < 0.1, "few"] = None
    return table, Columns.from_encoded(TableEncoder("infer").fit_transform(table))


def best_split(columns, y, rows, index, ways, leaf, room, of_root):
    """Gain and place of the best split of some rows, by trying all; of equals the widest, and so on."""
    n_classes, found = int(y.max()) + 1, []
    whole = purity(index, y[rows], n_classes)
    for j, codes in enumerate(columns.codes):
        code, missing, parts = codes[rows].astype(int), columns.n_codes[j] - 1, []
        values = np.unique(code).tolist()
        if columns.edges[j] is None:
            if ways == "multiway" or len(values) == 2:
                parts = [(1.0, 1, len(values), 0, [code == v for v in values])] * (len(values) <= room)
            else:
                parts = [(1.0, 2, v, 0, [code == v, code != v]) for v in values]
        else:
            known = [v for v in values if v < missing]
            for v, after in zip(known, [*known[1:], None], strict=True):
                for side in range(1 + (missing in values)):
                    left = (code <= v) | ((code == missing) & (side == 1))
                    parts.append(((after - v) / missing if after else 0.0, 0, v, side, [left, ~left]))
        for gap, way, place, side, cells in parts:
            if len(cells) > 1 and min(cell.sum() for cell in cells) >= leaf:
                gain = sum(purity(index, y[rows[cell]], n_classes) for cell in cells) - whole
                key = round(gain / of_root["n"], 9), gap, of_root.get(j, 0.0), -j, -place, -side
                found.append((key, (j, way, place, side)))
    return max(found, default=((0.0,), None))


def check_splits(columns, y, train, index, ways, found, limits):
    """Each split that was found is the best of its node, and no older or other node has a better one."""
    of_root, rows_of, depth = {"n": len(train)}, {0: train}, {0: 0}
    for j in range(len(columns.codes)):
        alone = Columns([columns.codes[j]], [columns.n_codes[j]], [columns.edges[j]])
        of_root[j] = best_split(alone, y, train, index, ways, limits.leaf, limits.leaves, of_root)[0][0]
    known = {}
    for record in found:
        room = limits.leaves - len(rows_of) + 1
        for node, rows in rows_of.items():
            is_open = depth[node] < limits.depth and len(np.unique(y[rows])) > 1
            if is_open and (node, room < 9 and room) not in known:
                best = best_split(columns, y, rows, index, ways, limits.leaf, room, of_root)
                known[node, room < 9 and room] = best
        best = {node: known.get((node, room < 9 and room), ((0.0,), None)) for node in rows_of}
        assert record.node == max(best, key=lambda node: (best[node][0][0], -node))
        split, (column, way, place, side) = record.split, best[record.node][1]
        rows = rows_of.pop(record.node)
        code, missing = columns.codes[column][rows], columns.n_codes[column] - 1
        child = (code > place) ^ ((code == missing) & (side == 1)) if way == 0 else code != place
        cells = [rows[code == v] for v in split.codes] if way == 1 else [rows[~child], rows[child]]
        assert split.column == column
        np.testing.assert_array_equal(
            split.children, [np.bincount(y[cell], minlength=split.children.shape[1]) for cell in cells]
        )
        rows_of.update({record.first_child + c: cell for c, cell in enumerate(cells)})
        depth.update(
            dict.fromkeys(range(record.first_child, record.first_child + len(cells)), depth[record.node] + 1)
        )


def slow_errors(columns, y, train, test, n_classes, index, ways, found, limits):
    """The same by sending rows one at a time; the splits are those that trying all finds."""
    grower = Grower(
        columns,
        y,
        n_classes,
        Scoring.of(index, "uniform"),
        np.zeros(len(y), np.uint8),
        by_evidence=False,
        max_depth=limits.depth,
        max_size=limits.leaves,
        min_samples_leaf=limits.leaf,
        categorical_split=ways,
        found=found,
    )
    path = grow(
        root_cell(grower, train),
        grower.measure,
        max_splits=limits.splits,
        rerank=True,
        stop=lambda _: grower.n_leaves == limits.leaves,
    )
    if ways != "ahead":  # which has a twin of its own
        check_splits(columns, y, train, index, ways, grower.records, limits)
    counts = np.concatenate(grower.counts)
    value = np.zeros(counts.shape)
    value[0] = counts[0] / counts[0].sum()
    node, of_train = dict.fromkeys(test, 0), dict.fromkeys(train, 0)
    errors = [[y[i] != value[0].argmax() for i in test]]
    for record in grower.records:
        split, codes = record.split, columns.codes[record.split.column]
        here = [codes[i] for i in train if of_train[i] == record.node]
        missing = columns.n_codes[split.column] - 1
        is_number = split.kind == "threshold"
        if is_number:
            above = [c for c in here if split.threshold < c < missing]
            middle = (split.threshold + min(above) - 1) // 2 if above else split.threshold

        def child(code, at, split=split, record=record, is_number=is_number, missing=missing):
            if is_number:
                return int(not record.missing_left) if code == missing else int(code > at)
            found = np.flatnonzero(split.codes == code)
            return int(split.child_of_code[found[0]]) if len(found) else -1

        for c in range(len(split.children)):
            n = counts[record.first_child + c]
            value[record.first_child + c] = (n + value[record.node]) / (n.sum() + 1)
        for rows, at in ((of_train, split.threshold), (node, middle if is_number else 0)):
            for i in [i for i in rows if rows[i] == record.node]:
                c = child(codes[i], at)
                rows[i] = record.first_child + c if c >= 0 else -1 - record.node
        errors.append([y[i] != value[v if (v := node[i]) >= 0 else -1 - v].argmax() for i in test])
    assert len(path) == len(errors)
    return np.array(errors)


@pytest.mark.parametrize("index", ["gini", "entropy", "ginger"])
@pytest.mark.parametrize("ways", ["multiway", "single", "ahead"])
@pytest.mark.parametrize("n_classes", [2, 4])
def test_the_compiled_path_is_that_of_the_grower(index, ways, n_classes):
    for seed in range(6):
        rng = np.random.default_rng(seed)
        table, columns = random_columns(rng, 90)
        score = (table["few"] == "b") + (table["more"] == "3") + (table["fine"] > 0) + rng.random(90)
        y = (score.rank().to_numpy() * n_classes // 91).astype(np.uint16)
        part = rng.random(90) < 0.3
        most = 25 if seed % 2 else 4
        coded, wrong = CodedRows(columns, y, n_classes), np.zeros((most + 1, 90), bool)
        limits = Limits(1 + seed % 3, 3 if seed == 5 else 90, most, 7 if seed == 3 else 90, 90)
        found = coded.grow(index, ways, limits, part, wrong)
        train, test = (np.flatnonzero(one).astype(np.int32) for one in (~part, part))
        slow = slow_errors(columns, y, train, test, n_classes, index, ways, found, limits)
        assert found.n_splits == len(slow) - 1 > 2
        np.testing.assert_array_equal(wrong[: found.n_splits + 1, part], slow)
        again = coded.grow(index, ways, limits._replace(beyond=0), part, wrong).n_splits
        best = int(slow.sum(axis=1).argmin())
        assert min(found.n_splits, 2 * int(slow[: again + 1].sum(axis=1).argmin()) + 1) == again
        assert best <= again or slow[: again + 1].sum(axis=1).argmin() * 2 < best


def purity(index, labels, n_classes):
    counts, n = np.bincount(labels, minlength=n_classes), len(labels)
    if index == "gini":
        return (counts**2).sum() / n
    if index == "ginger":  # each row is told by another one of its cell, drawn at random
        if n == 1:
            return 1 / n_classes
        return sum((counts[k] - 1) / (n - 1) for k in labels)
    return float(sum(c * np.log(c / n) for c in counts if c))


def best_pure(index, columns, labels, depth, is_number):
    """The purest tree of a depth, and its first split, by trying all of them."""
    best = purity(index, labels, 3), None
    if depth:
        for j, column in enumerate(columns):
            for v in np.unique(column)[: -1 if is_number[j] else None]:
                left = column <= v if is_number[j] else column == v
                if 2 <= left.sum() <= len(labels) - 2:
                    total = sum(
                        best_pure(index, columns[:, part], labels[part], depth - 1, is_number)[0]
                        for part in (left, ~left)
                    )
                    if total > best[0] + 1e-9:
                        best = total, (j, int(v))
    return best


@pytest.mark.parametrize("index", ["gini", "entropy", "ginger"])
def test_looking_ahead_finds_the_best_tree_of_depth_two(index):
    for seed in range(5):
        rng = np.random.default_rng(seed)
        codes = rng.integers(0, [[4], [6], [3], [5]], (4, 60)).astype(np.uint16)
        is_number = np.array([True, False, True, False])
        y = ((codes[0] > 1) ^ (codes[3] == 2)).astype(np.uint16)  # no column tells anything by itself
        y[rng.random(60) < 0.2] = 2
        edges = [np.arange(9.0) if one else None for one in is_number]
        coded = CodedRows(Columns(list(codes), (codes.max(axis=1) + 2).tolist(), edges), y, 3)
        rows = np.argsort(codes, axis=1, kind="stable").astype(np.int32)
        counts, found, values = np.bincount(y, minlength=3), np.empty(5, int), index_values(index, 60, 3)
        gain = coded.look_ahead(rows, counts, (2, 9, 32), 60, values, found)
        best, (column, place) = best_pure(index, codes, y.astype(int), 2, is_number)
        assert gain == pytest.approx((best - purity(index, y, 3)) / 60 * 1e10, abs=2)
        assert (found[0], found[2]) == (column, place)
        assert coded.look_ahead(rows, counts, (2, 2, 2), 60, values, found) <= gain


def clusters(n, rng):
    """Eight classes, of which each node has few rows."""
    centres, y = 4 * np.random.default_rng(3).normal(size=(8, 3)), rng.integers(0, 8, n)
    X = pd.DataFrame(centres[y] + rng.normal(size=(n, 3))).add_prefix("x")
    colour = np.where(rng.random(n) < 0.7, y % 6, rng.integers(0, 6, n))
    return X.assign(colour=np.array(list("abcdef"))[colour]), y


def test_a_rival_wins_where_significance_stops_too_soon():
    rng = np.random.default_rng(0)
    (X, y), (X_new, y_new) = clusters(80, rng), clusters(4000, rng)
    tree, first = (TreeClassifier(stopping=s).fit(X, y) for s in ("auto", "significance"))
    assert tree.path_.grown_by in ("gini", "entropy", "ginger ahead")
    assert first.path_.grown_by is None
    assert tree.score(X_new, y_new) > first.score(X_new, y_new) + 0.1
    assert tree.estimated_error_ == tree.path_[tree.n_splits_].estimated_error
    assert tree.path_.kept_within(len(tree.path_)) == tree.n_splits_


def test_with_several_classes_nothing_has_to_be_significant_but_noise_stays_a_root():
    X, y = clusters(25, np.random.default_rng(0))
    X, (X_new, y_new) = X.drop(columns="colour"), clusters(2000, np.random.default_rng(9))
    tree = TreeClassifier().fit(X, y)
    assert TreeClassifier(stopping="significance").fit(X, y).n_splits_ == 0
    low, high = tree.estimated_error_interval_
    assert low < (tree.predict(X_new.drop(columns="colour")) != y_new).mean() < high < 0.7
    grown = sum(
        TreeClassifier().fit(rng.normal(size=(60, 5)), rng.integers(0, 3, 60)).n_splits_ > 0
        for rng in map(np.random.default_rng, range(40))
    )
    assert grown <= 2


def discrete_tables(seed):
    """Tables whose rows repeat, in which nothing has to do with the class."""
    rng = np.random.default_rng(seed)
    yield rng.integers(0, 3, (300, 3)).astype(str), rng.integers(0, 3, 300)
    yield rng.integers(0, 2, (300, 5)), rng.integers(0, 2, 300)


def test_noise_stays_a_root_where_rows_repeat():
    """At most 5 % of 80 tables, and two and a half standard errors more."""
    grown = [
        TreeClassifier().fit(*table).n_splits_ > 0 for seed in range(40) for table in discrete_tables(seed)
    ]
    assert sum(grown) <= 8


def test_copies_of_a_row_are_dealt_like_other_rows():
    """Of 200 rows of a class, 100 copies each of two, a part has 40; of the first as many as draws have."""
    columns = Columns([np.repeat([0, 1], 100).astype(np.uint16)], [2], [None])
    apart = []
    for seed in range(100):
        folds = rivals._folds_of(columns, np.zeros(200, np.uint16), seed)
        assert np.bincount(folds).tolist() == [40] * 5
        apart.append((np.bincount(folds[:100], minlength=5) - 20.0) ** 2)
    of_draws = 40 * 0.5 * 0.5 * 160 / 199  # hypergeometric variance; its square's error is about 0.5
    assert abs(np.mean(apart) - of_draws) < 1.5


def checkerboard(rng, n):
    X = rng.random((n, 2))
    return X, (X * 4).astype(int).sum(axis=1) % 2


def three_bits(rng, n):
    X = rng.integers(0, 2, (n, 5)).astype(float)
    return X, (X[:, :3].sum(axis=1) % 2).astype(int)


@pytest.mark.parametrize("make", [checkerboard, three_bits])
def test_two_classes_that_no_column_and_no_pair_tells(make):
    rng = np.random.default_rng(0)
    (X, y), (X_new, y_new) = make(rng, 600), make(rng, 4000)
    assert TreeClassifier(stopping="significance").fit(X, y).n_splits_ == 0
    tree = TreeClassifier().fit(X, y)
    error = (tree.predict(X_new) != y_new).mean()
    assert error < 0.06
    low, high = tree.estimated_error_interval_
    assert low <= error <= high < 0.2


def test_a_tree_has_as_many_leaves_as_it_takes():
    """Each of 360 numbers has a class, five of six another one than the number before."""
    x, of_number = np.repeat(np.arange(360.0), 6), np.random.default_rng(0).integers(0, 6, 360)
    tree = TreeClassifier().fit(x[:, None], of_number[x.astype(int)])
    assert tree.size_ == 1 + (np.diff(of_number) != 0).sum() > 256


@pytest.mark.parametrize("n_classes", [3, 10, 40])
def test_the_interval_of_a_root_holds_for_a_class_that_is_the_largest_by_chance(n_classes):
    """Of 300 samples 93 %, less two standard errors of 95."""
    rng, n_held = np.random.default_rng(n_classes), 0
    for _ in range(300):
        tree = TreeClassifier().fit(np.zeros((100, 1)), rng.integers(0, n_classes, 100))
        low, high = tree.estimated_error_interval_
        n_held += low <= 1 - 1 / n_classes <= high
    assert n_held >= 0.925 * 300


def test_errors_of_all_sizes_are_on_the_scale_of_the_one_that_won():
    raw = np.array([0.5, 0.3, 0.2, 0.1, 0.15, 0.12])
    losses = np.tile(raw[:, None], (1, 50))
    rival = rivals.Rival("gini", "single", 3, losses, chosen=0.2)
    np.testing.assert_allclose(rival.errors, 0.5 - 0.75 * (0.5 - raw))
    assert rivals.Rival("gini", "single", 3, losses, chosen=0.05).errors[3] == pytest.approx(0.1)
    # A tree that cannot grow on is worth what those that could not either are.
    short = rival.ending_at(2)
    assert (short.n_splits, short.errors[2], len(short.kept_within)) == (2, pytest.approx(0.2), 3)
    assert short.kept_within[-1] == 2
    assert rival.ending_at(4) is rival


def test_trees_that_differ_by_the_rows_that_grow_them_have_wider_intervals():
    fold = np.arange(500) % 5
    rng, found = np.random.default_rng(0), []
    for _ in range(400):
        of_tree = rng.choice([0.1, 0.3], 5)  # a variance of .01
        found.append(rivals._between(rng.random(500) < of_tree[fold], fold))
    assert abs(np.mean(found) - 0.01) < 4 * np.std(found) / 20
    losses = np.full((2, 500), 0.2)
    alike, other = (rivals.Rival("gini", "single", 1, losses, 0.2, v).interval(1) for v in (0.0, 0.01))
    assert other[0] == pytest.approx(0.2 - np.hypot(0.2 - alike[0], 0.196))
    assert other[1] == pytest.approx(0.2 + np.hypot(alike[1] - 0.2, 0.196))
    steep = rivals.Rival("gini", "single", 1, losses, 0.2, 0.0, 0.03).interval(1)
    assert steep == pytest.approx((alike[0] - 0.03, alike[1]))


def test_the_interval_knows_that_the_tree_of_all_rows_is_better_than_those_that_were_judged():
    """Of 30 samples 95 %, less two standard errors: 26; without, 23 are held."""
    n_held = 0
    for rng in map(np.random.default_rng, range(30)):
        (X, y), (X_new, y_new) = checkerboard(rng, 300), checkerboard(rng, 4000)
        tree = TreeClassifier().fit(X, y)
        low, high = tree.estimated_error_interval_
        n_held += low <= (tree.predict(X_new) != y_new).mean() <= high
    assert n_held >= 26


def test_trees_of_fewer_rows_are_those_grown_without_two_parts():
    rng = np.random.default_rng(0)
    table, columns = random_columns(rng, 100)
    y = (table["fine"] + rng.normal(size=100) > 0).to_numpy().astype(np.uint16)
    fold = np.arange(100) % 5
    coded = CodedRows(columns, y, 2)
    found = rivals._steepness(coded, TreeClassifier(max_depth=1), ("gini", "single"), [fold], 0.1, 4)
    n_wrong = 0
    for part in range(5):
        held = np.isin(fold, (part, (part + 1) % 5))
        stump = TreeClassifier(criterion="gini", max_depth=1, stopping="none", shrinkage=None)
        stump.set_params(categorical_split="ordered").fit(table["fine"].to_frame()[~held], y[~held])
        n_wrong += (stump.predict(table["fine"].to_frame()[held]) != y[held]).sum()
    assert found == pytest.approx(n_wrong / 200 - 0.1)


def test_a_rival_is_a_function_of_the_rows_and_no_more():
    rng = np.random.default_rng(1)
    X, y = clusters(150, rng)
    weight = rng.integers(0, 2, 150)
    weight[:20] = 2
    repeated = rng.permutation(np.repeat(np.arange(150), weight))
    one = TreeClassifier().fit(X, y, sample_weight=weight)
    other = TreeClassifier().fit(X.iloc[repeated], y[repeated])
    assert one.path_.grown_by == other.path_.grown_by is not None
    np.testing.assert_array_equal(one.tree_.counts, other.tree_.counts)
    assert one.estimated_error_interval_ == other.estimated_error_interval_
    plain, costly = TreeClassifier().fit(X, y), TreeClassifier(class_weight={0: 5.0}).fit(X, y)
    np.testing.assert_array_equal(plain.tree_.counts, costly.tree_.counts)
    whole = TreeClassifier().grow(X, y)
    assert whole.n_splits_ == len(plain.path_) - 1
    np.testing.assert_array_equal(whole.staged_predict(X, [plain.n_splits_])[0], plain.predict(X))


@pytest.mark.parametrize("options", [{}, {"stopping": "significance"}, {"criterion": "entropy"}])
def test_a_split_that_has_too_many_children_is_not_the_end(options):
    """The column with the largest gain has nine values, of which four leaves cannot have one each."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, 3, 300)
    X = pd.DataFrame({"nine": 3 * y + rng.integers(0, 3, 300), "two": y == 1, "x": rng.normal(size=300)})
    X["nine"] = np.where(rng.random(300) < 0.1, rng.integers(0, 9, 300), X["nine"])
    X = X.astype({"nine": str, "two": str})
    tree = TreeClassifier(categorical_split="multiway", max_size=4, **options).fit(X, y)
    assert tree.path_[1].feature == "two"
    assert tree.size_ <= 4
    assert TreeClassifier(categorical_split="multiway", **options).fit(X, y).path_[1].feature == "nine"
    by_ratio = TreeClassifier(criterion="gain_ratio", categorical_split="multiway", max_size=4).fit(X, y)
    assert 1 < by_ratio.size_ <= 4


def test_limits_hold_for_rivals_too():
    X, y = clusters(100, np.random.default_rng(0))
    assert TreeClassifier(max_size=6).fit(X, y).size_ <= 6
    tree = TreeClassifier(max_depth=3, min_samples_leaf=4).fit(X, y)
    assert tree.path_.grown_by is not None
    assert tree.tree_.depth.max() <= 3
    assert tree.tree_.counts.sum(axis=1).min() >= 4


def test_importances_of_a_rival_are_of_the_error_off_the_sample():
    X, y = clusters(400, np.random.default_rng(2))
    tree = TreeClassifier(min_samples_leaf=2).fit(X, y)
    assert tree.path_.grown_by is not None

    def errors(counts):  # of guessing each row's class by another row of its cell
        n = counts.sum()
        return sum(c * (1 - (c - 1) / (n - 1)) for c in counts)

    flat = tree.tree_
    for node in flat.in_order:
        first, n_children = flat.first_child[node], flat.n_children[node]
        children = flat.counts[first : first + n_children]
        gain = (errors(flat.counts[node]) - sum(errors(child) for child in children)) / 400
        assert min(gain, 0) - 1e-12 <= flat.gain[node] <= gain + 1e-12
    shares = np.bincount(flat.feature[flat.in_order], np.maximum(flat.gain[flat.in_order], 0), 4)
    np.testing.assert_allclose(tree.feature_importances_, shares / shares.sum())


def test_sizes_are_judged_with_their_neighbours():
    errors = np.random.default_rng(0).random((2, 31))
    found = rivals._smoothed(errors)
    for s in range(31):
        width = max(1, int(s / 6)) if s else 0
        near = [t for t in range(31) if abs(t - s) <= width and (t > 0 or s == 0)]
        np.testing.assert_allclose(found[:, s], errors[:, near].mean(axis=1))


def test_what_wins_is_charged_for_having_won():
    """Of paths that all guess, the best looks better than guessing; what the others choose does not."""
    rng = np.random.default_rng(0)
    gaps = []
    for seed in range(20):
        n = 100
        folds = [rivals._folds.in_turn(np.random.default_rng(seed).permutation(n), 5)]
        wrong = rng.random((2, 1, 40, n)) < 0.5
        losses = wrong.mean(axis=1)
        kind, n_splits = rivals._fewest(losses.mean(axis=2))
        chosen = rivals._chosen_elsewhere(wrong, losses, folds)
        rival = rivals.Rival("gini", "multiway", n_splits, losses[kind], chosen)
        assert rivals._smoothed(losses.mean(axis=2))[kind, n_splits] < 0.48
        gaps.append(rival.errors[n_splits] - 0.5)
    assert abs(np.mean(gaps)) < 3 * 0.5 / np.sqrt(20 * 100)
