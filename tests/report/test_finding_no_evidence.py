import re
from types import SimpleNamespace

import numpy as np

from offsample.report._study import Options, Study
from offsample.report.findings import no_evidence


def test_noise_is_named_and_signals_are_not():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 500)
    table = {"signal": y ^ (rng.random(500) < 0.3), "noise": rng.integers(0, 5, 500), "y": y}
    study = Study(table, "y", Options())
    found = no_evidence.find(study)
    assert set(found) == {"noise"}
    assert re.fullmatch(
        r"noise: wrong in [\d.]+ % of new rows, no better than the [\d.]+ % without any column "
        r"\(p = 0\.\d+\)\.",
        found["noise"].message,
    )
    study.findings = {"noise": found["noise"]}
    assert no_evidence.find(study) == {}
    # A model that uses it is no evidence: of the columns that are left, few are noise.
    study.findings, study.model = {}, SimpleNamespace(used_columns_=("noise",))
    used = no_evidence.find(study)
    assert set(used) == {"noise"}
    assert used["noise"].message.startswith(found["noise"].message + " The model uses it")
    assert not used["noise"].quarantines


def test_few_noise_columns_escape():
    # Without a signal the false-discovery control lets a table show any with 5 % probability.
    escaped = 0
    for seed in range(200):
        rng = np.random.default_rng(seed)
        table = {f"x{j}": rng.integers(0, 2 + j, 200) for j in range(10)}
        study = Study({**table, "y": rng.integers(0, 2, 200)}, "y", Options())
        escaped += len(no_evidence.find(study)) < 10
    assert escaped <= 20  # 10 expected; 20 or more in one of 500 such tests


def test_what_is_worse_than_no_column_is_no_luck():
    from types import SimpleNamespace

    from offsample.report.findings.no_evidence import _compared

    feature = SimpleNamespace(error=0.414, p_value=0.99)

    def compared(baseline):
        ranking = SimpleNamespace(baseline_error=baseline)
        return _compared(
            feature,
            SimpleNamespace(
                metric=None, score_of=lambda _: None, new_rows="new rows", ranking=ranking, by_medians=None
            ),
        )

    assert compared(0.411) == (
        "wrong in 41.4 % of new rows, no better than the 41.1 % without any column (p = 0.99)."
    )
    assert "no better" in compared(0.41404)
    assert "against 43.0 % without any column, which may well be luck (p" in compared(0.43)
