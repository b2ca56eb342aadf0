"""A report made by hand from its dataclasses, modelled on `make_customers`: for tests of the renderings."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
from customers import CUSTOMER_ROLES

from offsample.assessment import plan_holdout, trust_in_score
from offsample.datasets import make_customers
from offsample.expected_error.sizing import CurvePoint
from offsample.induction import TreeClassifier
from offsample.ranking import rank_features
from offsample.report._metrics import Score
from offsample.report._result import Report
from offsample.report.findings import Finding
from offsample.report.sections.acting import ActedShare, Acting, Decision, RatedAlike
from offsample.report.sections.card import CardLine
from offsample.report.sections.columns import Column, Columns
from offsample.report.sections.in_time import InTime, WithoutColumn
from offsample.report.sections.method import Method
from offsample.report.sections.model import Alternative, Model, SizePoint
from offsample.report.sections.pictures import Picture, PictureCell
from offsample.report.sections.rows import Rows
from offsample.report.sections.sizing import Sizing
from offsample.report.sections.sufficient import FewColumns, NeededColumn, SizeError
from offsample.report.sections.trust import PRECISIONS, Trust
from offsample.report.sections.verdict import Verdict

_CODES = {"identifier": "identifier", "leak": "leak"}


@cache
def example_report() -> Report:
    """11 columns, of which two are identifiers, one is a leak and three are noise."""
    table = make_customers(2000)
    ranking = rank_features(table, "churned")
    codes: dict[str, Any] = {name: _CODES.get(role.split()[0]) for name, role in CUSTOMER_ROLES.items()}
    codes |= {name: "no-evidence" for name, role in CUSTOMER_ROLES.items() if role.startswith("noise")}
    codes["city"] = "masked"
    findings = tuple(
        Finding(
            codes[f.name],
            f.name,
            f"{f.name} is wrong in {f.error:.1%} of new rows, {f.training_error:.1%} here.",
        )
        for f in ranking
        if codes[f.name]
    )
    columns = Columns(
        columns=tuple(
            Column(
                f.name, f.kind, f.n_values, f.n_missing, f.error, f.low, f.high, f.training_error, f.optimism,
                f.missing_mass, f.expected_gain, f.p_value, f.significant,
                codes[f.name], codes[f.name] in ("identifier", "leak"),
            )
            for f in ranking
        ),
        findings=findings,
        baseline_error=ranking.baseline_error,
        n_rows=2000,
        confidence=0.95,
        pictures=(_example_picture("plan"),),
        followed="yes",
    )  # fmt: skip
    model = _example_model(table)
    quarantined = tuple(finding for finding in findings if finding.quarantines)
    verdict = Verdict(
        error=model.error,
        low=model.low,
        high=model.high,
        baseline_error=model.baseline_error,
        beats_baseline=True,
        model=model.name,
        columns=model.columns,
        quarantined=quarantined,
        with_quarantined=Alternative("a tree with the quarantined columns", 2, "leaf", 0.021, 0.015, 0.029),
        n_rows=2000,
        n_dropped=12,
        n_modelled=1500,
        sentence=f"{model.name.capitalize()} should be wrong in about {model.error:.1%} of new rows, "
        f"where always guessing “no” is wrong in {model.baseline_error:.1%}. Three columns were set aside.",
    )
    classes, counts = np.unique(table["churned"], return_counts=True)
    return Report(
        title="customers.parquet",
        target="churned",
        classes=tuple(map(str, classes)),
        class_counts=tuple(map(int, counts)),
        positive="yes",
        verdict=verdict,
        columns=columns,
        rows=Rows(
            2000, 3, 1, False, ("city",), (), _example_questions(), ("3 of 2,000 rows equal an earlier one.",)
        ),
        sufficient=_example_sufficient(),
        in_time=InTime((WithoutColumn("plan", 0.241, 0.038, 0.021, 0.055),), 0.203, 5),
        card=(
            CardLine("Predicts", "churned: “no”, “yes”"),
            CardLine("Missing values", "No value is missing."),
        ),
        model=model,
        acting=_example_acting(),
        sizing=_example_sizing(),
        trust=_example_trust(),
        method=Method(
            version="0.3.0",
            python="3.13.0",
            packages={"numpy": "2.3.0", "scikit-learn": "1.7.0", "duckdb": "1.5.0"},
            seed=0,
            options={
                "max_rows": 1500,
                "max_size": 12,
                "categorical_features": [],
                "ignore": ["note", "address"],
                "fast": False,
                "engine": None,
            },
            command="offsample report customers.parquet --target churned --sample 1500 --ignore note,address",
            created="2026-11-16T01:25:57+00:00",
            timings={"reading": 0.21, "columns": 0.42, "model": 2.3},
            skipped=("near-copies: only the first 200 of 300 columns were compared",),
        ),
    )


def _example_picture(name: str) -> Picture:
    cells = PictureCell(name, 1500, 0.2, 0.18, 0.22), PictureCell("missing", 3, None, None, None)
    return Picture(name, cells, ((name, 0.31),))


def _example_acting() -> Acting:
    recall = Score(0.52, 0.45, 0.59)
    return Acting(
        positive="yes",
        n_rows=1500,
        n_positive=300,
        curve=(
            ActedShare(0.1, Score(0.7, 0.6, 0.8), recall),
            ActedShare(1.0, Score(0.2, 0.18, 0.22), Score(1.0, 0.99, 1.0)),
        ),
        decision=Decision(
            "yes is likelier than not", 0.5, 0.1, 105, 45, 195, 1155, Score(0.7, 0.6, 0.8), recall
        ),
        calibration=(
            RatedAlike(1000, 0.08, Score(0.09, 0.07, 0.11)),
            RatedAlike(500, 0.42, Score(0.42, 0.38, 0.46)),
        ),
        is_folded=True,
    )


def _example_questions() -> tuple[Finding, ...]:
    return (
        Finding("suspected_group", "city", "city: rows seem to belong to 50 different “city”.", ("plan",)),
        Finding("drift", None, "churned: the shares of the classes change."),
    )


def _example_model(table: dict[str, Any]) -> Model:
    features = {name: table[name] for name in ("plan", "tenure_months", "support_calls", "age")}
    tree = TreeClassifier(random_state=0, max_splits=7).fit(features, table["churned"])
    order = np.argsort(-tree.feature_importances_)
    order = order[tree.feature_importances_[order] > 0]
    low, high = tree.estimated_error_interval_
    return Model(
        kind="tree",
        name=f"a tree with {tree.tree_.n_leaves} leaves",
        size=tree.size_,
        unit="leaf",
        columns=tuple(str(tree.feature_names_in_[i]) for i in order),
        importances=tuple(float(tree.feature_importances_[i]) for i in order),
        error=tree.estimated_error_ + 0.004,
        low=low,
        high=high,
        training_error=tree.path_[tree.n_splits_].training_error,
        estimated_error=tree.estimated_error_,
        validated_error=tree.estimated_error_ + 0.004,
        n_folds=5,
        baseline_error=float(np.mean(table["churned"] == "yes")),
        beats_baseline=True,
        n_rows=1500,
        path=tuple(
            SizePoint(
                step.n_splits + 1,
                step.training_error,
                step.estimated_error,
                None if step.n_splits % 2 else step.estimated_error + 0.004,
            )
            for step in tree.path_
        ),
        text=tree.export_text(),
        tree=tree.to_dict(),
        classes=("no", "yes"),
        larger=Alternative("a larger tree, of 41 leaves", 41, "leaf", 0.205, 0.192, 0.229, True),
        alternatives=(
            Alternative("decision list", 6, "rule", 0.235, 0.212, 0.259, text="if plan = basic: yes"),
        ),
    )


def _example_sufficient() -> FewColumns:
    names = ("plan", "tenure_months", "support_calls", "age")
    errors = (0.254, 0.241, 0.219, 0.206, 0.203)
    return FewColumns(
        columns=tuple(NeededColumn(n, s) for n, s in zip(names, (1.0, 1.0, 0.8, 0.4), strict=True)),
        n_available=8,
        sizes=tuple(SizeError(n, error, 0.009 if n else 0.0) for n, error in enumerate(errors)),
        baseline_error=0.254,
        n_folds=5,
    )


def _example_sizing() -> Sizing:
    curve = tuple(
        CurvePoint(n, error, error - width, error + width, measured)
        for n, error, width, measured in (
            (125, 0.251, 0.011, True),
            (250, 0.239, 0.011, True),
            (500, 0.226, 0.012, True),
            (1000, 0.215, 0.013, True),
            (2000, 0.207, 0.012, False),
            (4000, 0.201, 0.017, False),
            (8000, 0.196, 0.023, False),
        )
    )
    larger = Alternative("a larger tree, of 41 leaves", 41, "leaf", 0.205, 0.192, 0.229, True)
    return Sizing(curve, (0.001, 0.014), larger, 2000)


def _example_trust() -> Trust:
    found = trust_in_score(0.85, n_test=500, n_configurations=200, baseline=0.746)
    plans = tuple(plan_holdout(2000, 200, p, expected_error=0.2) for p in PRECISIONS)
    return Trust(found, True, ("Reported: accuracy 85.0 %.", "Expect less on new rows."), plans, 2000)


def with_names(report: Report, name: str) -> Report:
    """The report with a name everywhere that strangers may put one."""
    column = report.columns.columns[0]
    finding = Finding("leak", name, f"{name} predicts too well.", (name,))
    tree = {**report.model.tree, "prediction": name, "feature": name}
    tree["children"] = [
        {**child, "condition": f"{name} = {name}", "prediction": name, "values": [name]}
        for child in tree["children"]
    ]
    return replace(
        report,
        title=name,
        target=name,
        classes=(name, "yes"),
        positive=name,
        verdict=replace(
            report.verdict,
            columns=(name, name),
            quarantined=(finding,),
            model=name,
            sentence=f"{name} is said.",
        ),
        columns=replace(
            report.columns,
            columns=(replace(column, name=name, finding="leak"), *report.columns.columns[1:]),
            findings=(finding, *report.columns.findings),
            pictures=(_example_picture(name),),
            followed=name,
        ),
        sufficient=replace(
            report.sufficient,
            columns=(replace(report.sufficient.columns[0], name=name), *report.sufficient.columns[1:]),
        ),
        in_time=InTime((WithoutColumn(name, 0.241, 0.038, 0.021, 0.055),), 0.203, 5),
        card=(CardLine("Predicts", name), CardLine("Looks at", f"{name}, and ignores all else")),
        trust=replace(report.trust, sentences=(f"The simplest of them: {name}.",)),
        model=replace(
            report.model,
            columns=(name, *report.model.columns[1:]),
            classes=(name, "yes"),
            tree=tree,
            text=f"{name}: 3 rows\n|   {name}: 3 rows",
            alternatives=(Alternative(name, 1, "leaf", 0.1, 0.05, 0.2),),
        ),
        method=replace(
            report.method,
            command=f"offsample report '{name}'",
            options={name: [name], "note": name},
            skipped=(name,),
        ),
    )


def with_many_columns(report: Report, n_columns: int) -> Report:
    """The report of a table with many columns."""
    column = report.columns.columns[-1]
    return replace(
        report,
        columns=replace(
            report.columns,
            columns=tuple(
                replace(column, name=f"column {i}", finding="no-evidence", quarantined=False)
                for i in range(n_columns)
            ),
            findings=tuple(
                Finding("no-evidence", f"column {i}", f"column {i}: no evidence of a signal.")
                for i in range(n_columns)
            ),
        ),
    )
