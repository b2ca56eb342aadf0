"""A table that is encoded once: what is learned from it is what is learned from the table itself."""

import numpy as np
import pandas as pd
import pytest

from offsample.induction import (
    DecisionListClassifier,
    DNFClassifier,
    StochasticTreeClassifier,
    TreeClassifier,
)
from offsample.tables import EncodedTable, TableEncoder, take_rows


def problem(n=400, seed=0):
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "number": np.where(rng.random(n) < 0.1, np.nan, rng.normal(size=n)),
            "city": rng.choice(["Rome", "Oslo", "Bonn", None], n),
            "code": rng.integers(0, 9, n),
        }
    )
    y = np.where((frame["city"] == "Rome") ^ (frame["number"] > 0.5) ^ (rng.random(n) < 0.1), "p", "n")
    return frame, y


@pytest.mark.parametrize(
    "learner", [TreeClassifier(), DecisionListClassifier(), DNFClassifier(), StochasticTreeClassifier()]
)
def test_models_are_those_of_the_table_itself(learner):
    frame, y = problem()
    table = EncodedTable.of(frame, ["code"])
    new, _ = problem(seed=1)
    learner.set_params(categorical_features=["code"]).fit(frame, y)
    text, found = learner.to_text(), learner.predict_proba(new)
    # the learner's own list of categories says nothing about a table that is encoded
    learner.set_params(categorical_features="infer").fit(table, y)
    assert learner.to_text() == text
    np.testing.assert_array_equal(learner.predict_proba(new), found)
    np.testing.assert_array_equal(learner.predict_proba(table), learner.predict_proba(frame))


def test_a_part_keeps_the_codes_of_the_whole():
    frame, _ = problem()
    table = EncodedTable.of(frame)
    rows = np.flatnonzero(frame["city"].to_numpy() == "Rome")
    part = take_rows(table.select(["city", "number"]), rows)
    assert list(part) == ["number", "city"]
    assert set(part["city"].tolist()) == {2}
    assert TableEncoder().fit(part).values[1] == ("Bonn", "Oslo", "Rome")
    assert (table.kind("city"), table.kind("number")) == ("categorical", "numeric")


def test_a_value_without_rows_is_one_that_was_not_seen():
    frame, y = problem()
    table = EncodedTable.of(frame)
    without = np.flatnonzero(frame["city"].to_numpy() != "Rome")
    here = np.setdiff1d(np.arange(len(y)), without)
    shared = TreeClassifier().fit(table.take(without), y[without])
    own = TreeClassifier().fit(frame.iloc[without], y[without])
    np.testing.assert_array_equal(shared.predict_proba(table.take(here)), own.predict_proba(frame.iloc[here]))


def test_codes_of_another_table_are_refused():
    frame, y = problem()
    tree = TreeClassifier().fit(EncodedTable.of(frame), y)
    with pytest.raises(ValueError, match="column 'number' has codes of another table: encode them together"):
        tree.predict_proba(EncodedTable.of(frame))
