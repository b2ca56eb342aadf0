import numpy as np
import pytest
from sklearn.metrics import mutual_info_score
from sklearn.neighbors import KNeighborsClassifier

from offsample.datasets import Dataset
from papers._experiments import experiments
from papers.margin_selection import _challenge, _faces, _faces_data, _theorem, _xor


@pytest.fixture
def small_faces(monkeypatch):
    """Images of noise: of class 1 (or of persons 5 to 9) the left upper corner is brighter."""
    random = np.random.default_rng(0)
    monkeypatch.setattr(_faces_data, "GENDER_SIZES", (10, 100, 500, 1000))
    monkeypatch.setattr(_faces, "GENDER_SIZES", (10, 100, 500, 1000))

    def load(name):
        y = np.arange(1600) % 2 if name == _faces_data.GENDER else np.repeat(np.arange(10), 8)
        images = random.integers(0, 160, (len(y), 34, 30))
        images[:, :4, :6] += (90 * (y > y.mean()))[:, None, None]
        return Dataset(name, images.astype(np.uint8), y)

    monkeypatch.setattr(_faces_data, "load", load)
    few = {"Simba": _faces_data.simba(n_restarts=1, n_iter=100)}
    monkeypatch.setattr(_faces_data, "METHODS", {**_faces_data.METHODS, **few})
    _faces_data.gender_comparison.cache_clear()
    yield
    _faces_data.gender_comparison.cache_clear()


def test_faces_find_the_pixels_that_differ(small_faces):
    found = _faces_data.gender_comparison(2)
    corner = np.zeros((34, 30), bool)
    corner[:4, :6] = True
    for name in ("Relief", "Infogain"):
        assert corner.ravel()[found.orders[name][:, :10]].all(), name
        assert found.accuracy[name][:, 0].mean() > 0.9
    assert found.accuracy["Simba"].shape == (2, 4)
    np.testing.assert_allclose([found.accuracy[name][0, -1] for name in found.accuracy], 0.5, atol=0.5)
    figures = [_faces.fig6(2), _faces.fig7(2)]
    assert all(list(outcome.figures) == [""] for outcome in figures)
    assert len(figures[0].claims) == 1
    assert len(figures[1].claims) == 2


def test_persons_are_on_both_sides(small_faces):
    for split in _faces_data.person_splits("faces_orl_32x32", 2):
        assert len(split.X) == round(80 * 1000 / 1456)
        assert set(split.y.tolist()) == {0, 1}
        assert abs(np.append(split.y, split.y_new).mean() - 0.5) < 1e-9


def test_information_gain():
    random = np.random.default_rng(1)
    X, y = random.integers(0, 16, (200, 3)).astype(float), random.integers(0, 2, 200)
    X[:, 0] = np.where(y, 15, 0)
    expected = [mutual_info_score(y, column) for column in X.T]
    np.testing.assert_allclose(_faces_data.information_gain(X, y), expected)


def test_mirrored():
    order = np.array(
        [0, 3, 5, 1]
    )  # of 2 x 4 pixels: corners of the first line, and one without its mirror image
    assert _faces.mirrored(order, 2, (2, 4)) == 1
    assert _faces.mirrored(order, 3, (2, 4)) == pytest.approx(2 / 3)


def test_xor_paths():
    assert _xor.angle(_xor.CORRECT) == pytest.approx(0, abs=1e-6)
    assert _xor.angle(1 - _xor.CORRECT) == pytest.approx(np.pi / 2)
    assert _xor.angle(-_xor.CORRECT) == np.pi / 2
    X, y = _xor.xor_sample("normal", 0, 50)
    assert (y == ((X[:, :3] < 0).sum(axis=1) % 2 == 0)).all()
    found = _xor.path("uniform", 0, (100,))
    assert found["Simba"][0, 0] > found["Relief"][0, 0]
    assert found["Simba"][0, 1] < found["Relief"][0, 1]


def test_nearest_neighbours_on_a_line():
    random = np.random.default_rng(2)
    x, y = _theorem.line_sample(random, 300)
    new, _ = _theorem.line_sample(random, 300)
    brute = [np.abs(x[y != own] - a).min() / 2 for a, own in zip(x, y, strict=True)]
    np.testing.assert_allclose(_theorem.stored_margins(x, y), brute)
    rule = KNeighborsClassifier(1).fit(x[:, None], y)
    assert (_theorem.predict_on_line(x, y, new) == rule.predict(new[:, None])).all()


def test_balanced_error():
    y, predicted = np.array([0, 0, 0, 0, 1, 1]), np.array([0, 0, 0, 1, 1, 0])
    error, standard_error = _challenge.balanced_error(y, predicted)
    assert error == pytest.approx((1 / 4 + 1 / 2) / 2)
    assert standard_error == pytest.approx(np.sqrt(3 / 64 + 1 / 8) / 2)


def test_every_figure_has_an_experiment():
    names = {name.split(".")[1] for name in experiments() if name.startswith("margin_selection.")}
    assert names >= {*(f"fig{n}" for n in range(1, 8)), "fig5_persons", "madelon", "arcene", "theorem1"}


def test_errors_of_two_rules_on_the_same_rows(monkeypatch):
    """Of 4 and 2 rows the first errs on 2 and 1, the second on 1 and 1, one of them the same."""
    y = np.array([0, 0, 0, 0, 1, 1])
    said = np.array([[1, 1, 0, 0, 0, 1], [1, 0, 0, 0, 1, 0]])

    class Rule:
        def __init__(self, place):
            self.place = place

        def fit(self, X, y):
            return self

        def predict(self, X):
            return said[self.place]

    monkeypatch.setattr(_challenge, "classifiers", lambda: {"a": Rule(0), "b": Rule(1)})
    task = _challenge.Task(np.zeros((6, 1)), y, np.zeros((6, 1)), y)
    mean, error = _challenge.paired_difference(task, np.array([True]))
    differences = np.array([0, 1, 0, 0]), np.array([1, -1])
    assert mean == pytest.approx(np.mean([d.mean() for d in differences]))
    assert error == pytest.approx(np.sqrt(sum(d.var(ddof=1) / len(d) for d in differences)) / 2)


def test_the_printed_dimension_is_too_small_where_the_margin_is_large():
    # γ/32 = 1/32: points 1/16 apart from -1 to 1 are 33, and d is 64; from -.01 to .01 there is one, d .64
    assert _theorem._fattest(1.0) == pytest.approx(33 / 64)
    assert _theorem._fattest(0.01) == pytest.approx(1 / 0.64)
    assert _theorem._fattest(0.01, least=1.0) == 1


def test_an_error_that_holds_the_printed_one_and_that_of_all_features_is_undecided():
    found = [
        _challenge._near("error", 0.1, (0.12, 0.02), all_features, "").verdict for all_features in (0.15, 0.4)
    ]
    assert found == ["undecided", "reproduced"]
    assert _challenge._near("error", 0.1, (0.2, 0.02), 0.4, "").verdict == "not reproduced"
