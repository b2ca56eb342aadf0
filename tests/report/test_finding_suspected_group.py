"""Suspected group: rows that seem to belong to the values of a column."""

import numpy as np
import pytest

from offsample.report import report
from offsample.report._encoded import unordered
from offsample.report._study import Options, Study
from offsample.report.findings import suspected_group
from tests.rows.generators import cities, patients
from tests.rows.unseen import honest_city, products
from tests.statistical.entity_questions import KINDS, asked
from tests.statistical.entity_questions import users as hidden


@pytest.fixture(scope="module")
def suspected():
    columns, y = patients(np.random.default_rng(0), 40, 20)
    return report({**columns, "y": y}, "y", fast=True)


def test_the_patients_number_is_asked_about_with_both_errors(suspected):
    assert suspected.rows.suspected_groups == ("nr",)
    (finding,) = suspected.rows.questions
    assert finding.code == "suspected_group"
    assert "rows seem to belong to 40 different “nr”, with 20 rows each" in finding.message
    assert "Is a new row a new “nr”?" in finding.message
    asked, known = suspected.verdict.asked
    assert (asked.label, known.label) == ("rows of a new “nr”", "new rows of a known “nr”")
    assert known.error < 0.01 < suspected.verdict.error
    told = (
        f"Told which, the model is wrong in 0 % (95 % interval 0 – {100 * known.high:.1f} %) of new rows of"
    )
    assert f"{told} these, and in " in finding.message
    assert asked.error > suspected.verdict.error + 0.1
    assert asked.low < 0.5 < asked.high
    assert f"{100 * asked.error:.1f} %" in finding.message


def test_what_rows_may_belong_to_is_not_called_masked_too():
    """Told the patient, a model would know more than the columns that it uses: that is asked."""
    random = np.random.default_rng(1)
    patient, level = np.repeat(np.arange(60), 20), random.normal(size=(3, 60))
    y = ((level[0] > 0)[patient] ^ (random.random(1200) < 0.15)).astype(int)
    noise = [0.03, 0.3, 0.3]
    table = {f"x{j}": level[j][patient] + noise[j] * random.normal(size=1200) for j in range(3)}
    order = random.permutation(1200)
    table |= {"nr": random.permutation(60)[patient], "y": y}
    found = report({name: column[order] for name, column in table.items()}, "y", fast=True)
    assert [f.code for f in found.columns.findings if f.column == "nr"] == ["suspected_group"]


def test_nothing_is_decided(suspected):
    assert suspected.verdict.known_error is None
    assert suspected.verdict.quarantined == ()
    assert suspected.verdict.new_rows == "new rows"
    column = next(column for column in suspected.columns.columns if column.name == "nr")
    assert column.finding == "suspected_group"


def test_the_answer_of_who_is_new_has_the_same_errors(suspected):
    columns, y = patients(np.random.default_rng(0), 40, 20)
    answered = report({**columns, "y": y}, "y", group="nr", fast=True).verdict
    asked, known = suspected.verdict.asked
    assert known.error == pytest.approx(answered.known_error, abs=0.01)
    assert answered.low < asked.error < answered.high


def test_the_warning_stands_in_the_verdict_and_its_rule_below(suspected):
    page = suspected.to_html()
    assert (
        page.index("Is a new row a new “nr”?")
        < page.index('id="rows"')
        < page.index('id="finding-suspected_group"')
    )
    assert "suspected_group (nr)" in repr(suspected)


def test_the_page_claims_nothing_where_nobody_looked():
    columns, y = patients(np.random.default_rng(0), 40, 20)
    table = {**columns, "y": y}
    assert "Nothing suggests" not in report(table, "y", time_limit=0.01).to_html()
    assert "Nothing suggests" in report({"x0": columns["x0"][:50], "y": y[:50]}, "y", fast=True).to_html()


def test_without_time_it_is_not_asked():
    columns, y = patients(np.random.default_rng(0), 40, 20)
    study = Study({**columns, "y": y}, "y", Options(time_limit=1e-9))
    assert suspected_group.find(study) == {}
    assert study.skipped == ["whether rows belong together: the time limit of 1e-09 s was reached"]


def test_an_honest_city_is_not_asked_about():
    columns, y = cities(np.random.default_rng(1))
    assert suspected_group.find(Study({**columns, "y": y}, "y", Options())) == {}


def test_the_user_has_answered():
    columns, y = patients(np.random.default_rng(0), 40, 20)
    assert suspected_group.find(Study({**columns, "y": y}, "y", Options(group=("nr",)))) == {}


def users(seed, n_users=150, n_rows=3000):
    """Users who differ in the class, of whom nothing else is known, beside one good column."""
    random = np.random.default_rng(seed)
    user, x = random.integers(0, n_users, n_rows), random.normal(size=n_rows)
    y = random.normal(size=n_users)[user] + 1.2 * x + 0.3 * random.normal(size=n_rows) > 0
    return {"u": [f"u{k}" for k in user], "x": x, "y": y.astype(int)}


@pytest.mark.parametrize("seed", [0, 1])
def test_users_that_the_model_looks_at_beside_a_good_column_are_asked_about(seed):
    found = report(users(seed), "y", fast=True, random_state=0)
    assert found.rows.suspected_groups == ("u",)
    (finding,) = found.rows.questions
    assert (
        "u: the model looks at 150 different “u”, with 20 rows each. Is a new row a new “u”?"
        in finding.message
    )
    assert "if they do, as with cities, the first error holds" in finding.message
    # One that is told the user errs more than the model of the page, which looks at it: the better is shown.
    error, low, high = (
        f"{100 * x:.1f}" for x in (found.verdict.error, found.verdict.low, found.verdict.high)
    )
    said = f"The model is wrong in {error} % (95 % interval {low} – {high} %) of new rows of these, and in "
    assert said in finding.message
    (new,) = found.verdict.asked
    # A new user is drawn from the normal law: x alone errs in atan(1.044 / 1.2) / pi of the rows.
    assert new.low < np.arctan(np.sqrt(1 + 0.3**2) / 1.2) / np.pi < new.high
    assert found.verdict.high < new.low


@pytest.mark.parametrize(("n_patients", "noise"), [(26, 2.0), (60, 1.0)])
def test_patients_whose_numbers_begin_with_their_clinic_are_asked_about(n_patients, noise):
    """By spelling, patients of a clinic lie side by side, and clinics differ in the class too."""
    random = np.random.default_rng(0)
    clinic, patient = np.arange(n_patients) * 6 // n_patients, np.repeat(np.arange(n_patients), 20)
    y = (random.normal(size=6)[clinic] + random.normal(size=n_patients))[patient] > 0
    names = np.array([f"{'nsewmf'[c]}-{i:03d}" for i, c in enumerate(clinic)])
    table = {"nr": names[patient], "good": y + noise * random.normal(size=len(y)), "y": y}
    if n_patients < 30:  # of which few are asked about only if the model looks at what they carry
        table["clinic"] = [name[0] for name in names[patient]]
    assert report(table, "y", fast=True).rows.suspected_groups == ("nr",)


def test_categories_lie_side_by_side_by_their_numbers_or_not_at_all():
    names = {"number": [f"p{i}" for i in range(30)], "name": [f"{'ab'[i % 2]}{i:02d}" for i in range(30)]}
    study = Study({**names, "y": [0, 1] * 15}, "y", Options())
    table = unordered(study.as_read)
    assert np.array_equal(table["number"], np.arange(30))
    assert sorted(table["name"]) == list(range(30))
    assert abs(np.diff(table["name"][::2])).mean() > 5  # two by two in the order of the spelling


def test_users_and_items_are_asked_about_together():
    random = np.random.default_rng(9)
    user, item, x = random.integers(0, 150, 3000), random.integers(0, 80, 3000), random.normal(size=3000)
    y = random.normal(size=150)[user] + random.normal(size=80)[item] + 1.2 * x
    table = {"u": [f"u{k}" for k in user], "i": [f"i{k}" for k in item], "x": x, "y": (y > 0).astype(int)}
    found = report(table, "y", fast=True, random_state=0)
    assert sorted(found.rows.suspected_groups) == ["i", "u"]
    new, *_ = found.verdict.asked
    assert new.label in ("rows of a new “u” and a new “i”", "rows of a new “i” and a new “u”")
    assert new.low < np.arctan(np.sqrt(2) / 1.2) / np.pi < new.high
    assert found.verdict.high < new.low


def test_a_city_of_modest_share_in_the_class_is_not_asked_about_by_the_report():
    columns, y = honest_city(np.random.default_rng(5))
    found = report({**columns, "city": [f"c{k}" for k in columns["city"]], "y": y}, "y", fast=True)
    assert found.rows.suspected_groups == ()


def test_an_age_that_the_model_looks_at_is_not_asked_about():
    columns, y = products(np.random.default_rng([31, 1]))
    found = report({**columns, "product": [f"p{k}" for k in columns["product"]], "y": y}, "y", fast=True)
    assert "age" in found.verdict.columns
    assert found.rows.suspected_groups == ()


def test_honest_tables_beside_a_good_column_are_not_asked_about():
    """A slice of `python -m tests.statistical.entity_questions`."""
    assert [asked(KINDS[name], 20) for name in ("geography", "hierarchy")] == [(), ()]
    assert asked(hidden, 20) == ("u",)


def test_where_the_model_errs_as_often_there_is_no_question():
    """Each day has its weather and its class, by coin: of later days, nothing but a guess is left."""
    random = np.random.default_rng(3)
    day = np.repeat(np.arange(100), 10)
    table = {"weather": random.integers(0, 4, 100)[day], "temp": random.normal(size=100).round(2)[day]}
    table |= {"day": day, "shop": random.integers(0, 40, 1000), "y": random.integers(0, 2, 100)[day]}
    found = report(table, "y", time="day", fast=True)
    assert not found.verdict.columns
    assert found.rows.questions == ()
    assert found.verdict.asked == ()
