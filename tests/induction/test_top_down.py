import pytest

from offsample.induction.top_down import grow


class Piece:
    """A stick that is cut at fixed shares; the gain is its length, or what `gain` says."""

    def __init__(self, length, log, gain=None, name="0"):
        self.length, self.log, self.gain, self.name = length, log, gain, name

    def propose(self):
        return self.gain(self) if self.gain else self.length

    def refine(self):
        self.log.append(self.name)
        halves = (self.length / 2, self.length / 2)
        return [Piece(x, self.log, self.gain, self.name + str(i)) for i, x in enumerate(halves)]


def test_largest_gain_first_and_oldest_of_equals():
    log = []
    path = grow(Piece(1.0, log), lambda: len(log), max_splits=5)
    assert path == [0, 1, 2, 3, 4, 5]
    assert log == ["0", "00", "01", "000", "001"]


@pytest.mark.parametrize("rerank", [False, True])
def test_equal_up_to_rounding_is_a_tie(rerank):
    log = []
    grow(Piece(1.0, log, lambda c: 0.5 + 1e-14 * len(c.name)), lambda: None, max_splits=4, rerank=rerank)
    assert log == ["0", "00", "01", "000"]


@pytest.mark.parametrize("rerank", [False, True])
def test_stops_where_no_gain_is_left(rerank):
    log = []
    path = grow(Piece(1.0, log), lambda: len(log), min_gain=0.25, rerank=rerank)
    assert log == ["0", "00", "01"]
    assert path == [0, 1, 2, 3]
    assert grow(Piece(0.0, []), lambda: 7, rerank=rerank) == [7]


@pytest.mark.parametrize("rerank", [False, True])
def test_a_cell_without_proposal_is_never_refined(rerank):
    log = []
    grow(
        Piece(1.0, log, lambda c: None if c.name.endswith("1") else 1.0),
        lambda: None,
        max_splits=9,
        rerank=rerank,
    )
    assert log == ["0", *("0" * n for n in range(2, 10))]


def test_the_learner_may_end_it():
    log = []
    assert grow(Piece(1.0, log), lambda: len(log), stop=lambda path: path[-1] == 2) == [0, 1, 2]


def test_gains_that_depend_on_other_cells_are_asked_again():
    log = []
    # Once two refinements are done, the youngest cell becomes the best.
    gain = lambda c: len(c.name) if len(log) >= 2 else 1 / len(c.name)  # noqa: E731
    grow(Piece(1.0, log, gain), lambda: None, max_splits=4, rerank=True)
    assert log == ["0", "00", "000", "0000"]
