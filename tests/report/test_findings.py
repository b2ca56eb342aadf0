"""Every finding has a code, words, a rule, a page and a test, and adding one touches its own files only."""

from pathlib import Path

import pytest

from offsample.report import findings
from offsample.report.findings import CODES, kind_of

ROOT = Path(__file__).parents[2]
FILES = {path.stem for path in Path(findings.__file__).parent.glob("[a-z]*.py")}


def test_every_module_is_registered_once():
    assert sorted(code.replace("-", "_") for code in CODES) == sorted(FILES)


@pytest.mark.parametrize("code", CODES)
def test_it_has_words_a_rule_a_page_and_a_test(code):
    finding = kind_of(code)
    assert code == finding.CODE
    assert all([finding.TERM.title, finding.TERM.meaning, finding.TERM.advice, finding.RULE])
    assert isinstance(finding.QUARANTINES, bool)
    assert (ROOT / "docs" / "findings" / f"{code}.md").is_file()
    assert (ROOT / "tests" / "report" / f"test_finding_{code.replace('-', '_')}.py").is_file()
