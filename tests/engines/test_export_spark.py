"""SQL of Spark that is written of a model predicts what the model predicts."""

from __future__ import annotations

import math

import pytest

from offsample.export import to_sql
from tests.exported import LEARNERS, TYPES, check, fitted, hostile

# Views of Spark have plain names.
TABLE = "the_rows"


@pytest.fixture(scope="module")
def columns():
    return hostile(2300)


@pytest.fixture(scope="module")
def table(spark, columns):
    kinds = {"VARCHAR": "string", "TIMESTAMP": "timestamp"}
    of_name = {name: kind.split()[0] for kind, names in TYPES.items() for name in names}
    schema = ", ".join(
        f"`{name.replace('`', '``')}` {kinds.get(of_name[name], of_name[name])}" for name in columns
    )
    rows = list(zip(*columns.values(), strict=True))
    spark.createDataFrame(rows, schema).coalesce(1).createOrReplaceTempView(TABLE)
    return spark


@pytest.mark.parametrize("name", LEARNERS)
def test_spark(name, columns, table):
    model = fitted(name, columns)
    found = [tuple(row) for row in table.sql(to_sql(model, "spark", TABLE)).collect()]
    said = 1 + len(getattr(model, "classes_", ()))  # the class and its probabilities, or a number
    assert not any(isinstance(one, float) and math.isnan(one) for row in found for one in row[:said])
    check(model, columns, found)
