"""Output looks the same wherever the tests run."""

import pytest


@pytest.fixture(autouse=True)
def _eighty_columns_and_all_characters(monkeypatch):
    for name in ("COLUMNS", "NO_COLOR", "LC_ALL", "LC_CTYPE", "LANG"):
        monkeypatch.delenv(name, raising=False)
