import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import tables

from offsample import _counting
from offsample.counts import CellCounts, count_cells


def as_set(cells: CellCounts) -> list[tuple[int, ...]]:
    """Every cell's counts, one entry a cell, sorted."""
    return sorted(
        tuple(row)
        for row, times in zip(cells.counts.tolist(), cells.multiplicity, strict=True)
        for _ in range(times)
    )


class TestCellCounts:
    def test_properties(self):
        cells = CellCounts([[3, 1], [0, 2], [0, 0]], multiplicity=[2, 1, 5], classes=["no", "yes"])
        assert (cells.n_cells, cells.n_samples, cells.n_classes) == (3, 10, 2)
        assert cells.cell_sizes.tolist() == [4, 2]
        assert cells.class_totals.tolist() == [6, 4]
        assert cells.classes == ("no", "yes")
        assert repr(cells) == "CellCounts(n_cells=3, n_samples=10, n_classes=2)"

    def test_is_frozen(self):
        cells = CellCounts([[1, 2]])
        with pytest.raises(AttributeError):
            cells.counts = np.zeros((1, 2))
        with pytest.raises(ValueError, match="read-only"):
            cells.counts[0, 0] = 5

    def test_does_not_freeze_the_callers_array(self):
        mine = np.array([[1, 2]])
        CellCounts(mine)
        mine[0, 0] = 7
        assert mine[0, 0] == 7

    def test_whole_floats_are_frequencies(self):
        assert CellCounts([[1.0, 2.0]]).is_frequency
        assert CellCounts([[1.0, 2.0]]).counts.dtype == np.int64
        assert not CellCounts([[1.5, 2.0]]).is_frequency
        assert CellCounts([[1.5, 2.0]]).n_samples == 3.5

    @given(tables())
    def test_profile_keeps_the_cells(self, counts):
        cells = CellCounts(counts)
        profile = cells.profile()
        assert as_set(profile) == as_set(cells)
        assert len(np.unique(profile.counts, axis=0)) == len(profile.counts)
        assert profile.profile() is profile

    @given(tables(), st.randoms(use_true_random=False))
    def test_profile_does_not_depend_on_the_order_of_cells(self, counts, random):
        shuffled = counts[random.sample(range(len(counts)), len(counts))]
        one, other = CellCounts(counts).profile(), CellCounts(shuffled).profile()
        assert np.array_equal(one.counts, other.counts)
        assert np.array_equal(one.multiplicity, other.multiplicity)

    @given(tables())
    def test_profile_reads_rows_that_stand_for_many_cells(self, counts):
        times = np.arange(len(counts)) + 1
        expanded = CellCounts(np.repeat(counts, times, axis=0)).profile()
        collapsed = CellCounts(counts, times).profile()
        assert np.array_equal(expanded.counts, collapsed.counts)
        assert np.array_equal(expanded.multiplicity, collapsed.multiplicity)

    def test_profile_of_weights(self):
        profile = CellCounts([[0.5, 1.0], [0.25, 1.0], [0.5, 1.0]]).profile()
        assert profile.counts.tolist() == [[0.25, 1.0], [0.5, 1.0]]
        assert profile.multiplicity.tolist() == [1, 2]

    def test_profile_of_many_classes_and_large_counts(self):
        # 40 classes of counts to 2^40 do not fit one 64-bit key: columns are compressed on the way.
        rng = np.random.default_rng(0)
        rows = rng.integers(0, 2**40, size=(50, 40))
        profile = CellCounts(np.concatenate([rows, rows[:20]])).profile()
        expected, times = np.unique(np.concatenate([rows, rows[:20]]), axis=0, return_counts=True)
        assert np.array_equal(profile.counts, expected)
        assert np.array_equal(profile.multiplicity, times)

    @given(tables())
    def test_good_turing_masses_sum_to_one(self, counts):
        cells = CellCounts(counts)
        masses = [cells.missing_mass(k) for k in range(int(cells.cell_sizes.max()))]
        assert sum(masses) == pytest.approx(1)

    def test_missing_mass(self):
        cells = CellCounts([[1, 0], [2, 1], [0, 2]], multiplicity=[3, 1, 2])
        assert [cells.missing_mass(k) for k in range(4)] == [0.3, 0.4, 0.3, 0.0]
        with pytest.raises(ValueError, match="negative"):
            cells.missing_mass(-1)
        with pytest.raises(ValueError, match="missing_mass counts rows"):
            CellCounts([[0.5, 1]]).missing_mass()

    def test_from_table(self):
        cells = CellCounts.from_table([(1, 0, 7), (2, 2, 1), (0, 0, 9)], classes="ab")
        assert cells.counts.tolist() == [[1, 0], [2, 2]]
        assert cells.multiplicity.tolist() == [7, 1]
        assert cells.classes == ("a", "b")
        with pytest.raises(ValueError, match="rows have 2 numbers"):
            CellCounts.from_table([(1, 2)])

    @pytest.mark.parametrize(
        ("counts", "message"),
        [
            ([[1, -2]], r"counts has -2 in row 0, column 1"),
            ([[1, 2], [np.nan, 1]], r"counts has nan in row 1, column 0"),
            ([[1, np.inf]], r"counts has inf in row 0, column 1"),
            ([[1, 2], [3]], r"ragged: row 1 has 1 numbers, row 0 has 2"),
            ([], "no rows"),
            (np.zeros((0, 2)), "no rows"),
            ([[0, 0]], "no sample"),
            ([[3], [2]], "at least two"),
            ([1, 2], "rows and columns"),
            ([["a", "b"]], "must be numbers"),
        ],
    )
    def test_bad_counts(self, counts, message):
        with pytest.raises(ValueError, match=message):
            CellCounts(counts)

    @pytest.mark.parametrize(
        ("multiplicity", "message"),
        [([1, 2], r"shape \(2,\)"), ([-1], "multiplicity has -1 in row 0"), ([0.5], "whole numbers")],
    )
    def test_bad_multiplicity(self, multiplicity, message):
        with pytest.raises(ValueError, match=message):
            CellCounts([[1, 2]], multiplicity)

    def test_bad_classes(self):
        with pytest.raises(ValueError, match="classes has 3 labels"):
            CellCounts([[1, 2]], classes=["a", "b", "c"])


class TestCounting:
    @given(st.lists(st.tuples(st.integers(0, 4), st.integers(0, 2)), min_size=1), st.sampled_from("bhilBH"))
    def test_equals_the_obvious_loop(self, rows, dtype):
        expected = np.zeros((5, 3), np.int64)
        for v, k in rows:
            expected[v, k] += 1
        codes, y = np.array(rows, dtype=dtype).T
        assert np.array_equal(count_cells(codes, y, 5, 3), expected)

    @given(st.lists(st.tuples(st.integers(0, 4), st.integers(0, 2), st.integers(0, 5)), min_size=1))
    def test_frequencies_repeat_rows(self, rows):
        codes, y, times = np.array(rows).T
        counted = count_cells(codes, y, 5, 3, sample_weight=times.astype(float))
        assert counted.dtype == np.int64
        assert np.array_equal(counted, count_cells(np.repeat(codes, times), np.repeat(y, times), 5, 3))

    @pytest.mark.parametrize("dtype", [np.int8, np.int32, np.int64])
    @pytest.mark.parametrize("weights", [None, "whole", "real"])
    def test_compiled_loop_equals_bincount(self, monkeypatch, dtype, weights):
        rng = np.random.default_rng(1)
        codes, y = rng.integers(0, 50, 1000).astype(dtype), rng.integers(0, 3, 1000)
        weight = {None: None, "whole": rng.integers(0, 4, 1000), "real": rng.random(1000)}[weights]
        slow = count_cells(codes, y, 50, 3, weight)
        monkeypatch.setattr(_counting, "KERNEL_ROWS", 0)
        fast = count_cells(codes, y, 50, 3, weight)
        assert fast.dtype == slow.dtype
        np.testing.assert_allclose(fast, slow, rtol=1e-14)

    @pytest.mark.parametrize("kernel_rows", [0, 1000])
    @pytest.mark.parametrize(
        ("codes", "y", "message"),
        [
            ([0, 1, 5], [0, 1, 0], "row 2 has cell code 5: expected 0 to 1"),
            ([0, -1], [0, 1], "row 1 has cell code -1"),
            ([0, 1], [0, 2], "row 1 has class code 2: expected 0 to 1"),
            ([0, 1], [-1, 0], "row 0 has class code -1"),
        ],
    )
    def test_codes_out_of_range(self, monkeypatch, kernel_rows, codes, y, message):
        monkeypatch.setattr(_counting, "KERNEL_ROWS", kernel_rows)
        with pytest.raises(ValueError, match=message):
            count_cells(codes, y, 2, 2)

    @pytest.mark.parametrize(
        ("arguments", "message"),
        [
            pytest.param(([0.5, 1.0], [0, 1], 2, 2), "codes must be integers", id="codes with fractions"),
            pytest.param(([0, 1], ["a", "b"], 2, 2), "class codes must be integers", id="classes as strings"),
            pytest.param(
                ([[0, 1]], [0, 1], 2, 2), "codes must have one dimension", id="codes of two dimensions"
            ),
            pytest.param(
                ([0, 1, 1], [0, 1], 2, 2),
                "codes has 3 rows, but the class codes have 2",
                id="more codes than classes",
            ),
            pytest.param(
                ([0, 1], [0, 1], 2, 2, [1.0]), r"sample_weight has shape \(1,\)", id="fewer weights than rows"
            ),
            pytest.param(
                ([0, 1], [0, 1], 2, 2, [1.0, -1.0]), "sample_weight has -1.0 in row 1", id="negative weight"
            ),
            pytest.param(
                ([0, 1], [0, 1], 2, 2, [np.nan, 1.0]), "sample_weight has nan in row 0", id="missing weight"
            ),
        ],
    )
    def test_codes_or_weights_that_cannot_be_counted_are_refused_by_name(self, arguments, message):
        with pytest.raises(ValueError, match=message):
            count_cells(*arguments)

    def test_from_codes_reads_labels_or_class_codes(self):
        labelled = CellCounts.from_codes([0, 0, 2], ["b", "a", "b"])
        assert labelled.counts.tolist() == [[1, 1], [0, 1]]
        assert labelled.classes == ("a", "b")
        coded = CellCounts.from_codes([0, 0, 2], [1, 0, 1], n_cells=9, n_classes=3)
        assert coded.counts.tolist() == [[1, 1, 0], [0, 1, 0]]
        with pytest.raises(ValueError, match="at least two"):
            CellCounts.from_codes([0, 1], [1, 1])
        with pytest.raises(ValueError, match="row 1 has class code 3"):
            CellCounts.from_codes([0, 1], [1, 3], n_classes=2)

    def test_booleans_are_codes(self):
        cells = CellCounts.from_codes(np.array([True, False, True]), np.array([True, True, False]))
        assert cells.counts.tolist() == [[0, 1], [1, 1]]

    @given(st.permutations(range(8)))
    def test_row_order_does_not_matter(self, order):
        codes, y = np.array([0, 0, 1, 1, 1, 2, 3, 3]), np.array([0, 1, 1, 1, 0, 0, 1, 1])
        rows = list(order)
        assert np.array_equal(
            CellCounts.from_codes(codes[rows], y[rows]).counts, CellCounts.from_codes(codes, y).counts
        )


@pytest.mark.parametrize("weight", [None, [1, 2, 3], [0.5, 0.5, 0.5]])
def test_the_compiled_loop_refuses_a_class_that_does_not_exist(weight, monkeypatch):
    monkeypatch.setattr(_counting, "KERNEL_ROWS", 1)
    with pytest.raises(ValueError, match="row 2 has class code 2: expected 0 to 1"):
        _counting.count_cells([0, 1, 5], [0, 1, 2], 6, 2, weight)


@pytest.mark.parametrize("n_classes", range(1, 12))
@pytest.mark.parametrize("dtype", [np.int64, np.float64, np.int32, bool])
def test_sums_over_classes_are_those_of_numpy_to_the_last_bit(n_classes, dtype):
    values = (10 * np.random.default_rng(n_classes).random((50, 3, n_classes))).astype(dtype)
    for some in (values, values[0, 0], values[:0]):
        found, expected = _counting.over_classes(some), some.sum(axis=-1)
        assert (found.dtype, found.shape) == (expected.dtype, expected.shape)
        assert (found == expected).all()
