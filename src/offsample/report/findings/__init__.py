"""Findings about columns: one file, one rule, one test file and one page of the documentation each."""

from offsample.report.findings._finding import Code, Finding

__all__ = ["Code", "Finding", "rule_of"]


def rule_of(code: Code) -> str:
    """The rule behind a finding, in words, with how often it errs."""
    from importlib import import_module

    rule: str = import_module(f"offsample.report.findings.{code.replace('-', '_')}").RULE
    return rule
