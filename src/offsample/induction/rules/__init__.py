"""Lists, formulas, committees and programs of Boolean tests."""
