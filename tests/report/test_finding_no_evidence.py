import re

import numpy as np

from offsample.report._study import Options, Study
from offsample.report.findings import no_evidence


def test_noise_is_named_and_signals_are_not():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 500)
    table = {"signal": y ^ (rng.random(500) < 0.3), "noise": rng.integers(0, 5, 500), "y": y}
    study = Study(table, "y", Options())
    found = no_evidence.find(study, frozenset(), frozenset())
    assert set(found) == {"noise"}
    assert re.fullmatch(
        r"noise: wrong in [\d.]+ % of new rows, against [\d.]+ % without any column, which may well be luck "
        r"\(p = 0\.\d+\)\.",
        found["noise"].message,
    )
    assert no_evidence.find(study, frozenset(["noise"]), frozenset()) == {}
    assert no_evidence.find(study, frozenset(), frozenset(["noise"])) == {}


def test_few_noise_columns_escape():
    # Without a signal the false-discovery control lets a table show any with 5 % probability.
    escaped = 0
    for seed in range(200):
        rng = np.random.default_rng(seed)
        table = {f"x{j}": rng.integers(0, 2 + j, 200) for j in range(10)}
        study = Study({**table, "y": rng.integers(0, 2, 200)}, "y", Options())
        escaped += len(no_evidence.find(study, frozenset(), frozenset())) < 10
    assert escaped <= 20  # 10 expected; 20 or more in one of 500 such tests
