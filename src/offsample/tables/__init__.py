"""The one door for tables: any dataframe, engine or file in, counts per value and class out."""

from offsample.tables._base import Bins, Column, ColumnError, Profile, Table
from offsample.tables._databases import abandon_tables, interrupt_queries
from offsample.tables._described import ColumnRead, describe_columns
from offsample.tables._encode import ordered_codes
from offsample.tables._encoder import (
    EncodedTable,
    TableEncoder,
    column_names,
    columns_of,
    is_dataframe,
    lists_of,
    merged_columns,
)
from offsample.tables._memory import joined_groups, several_groups, unit_codes
from offsample.tables._open import open_table
from offsample.tables._read import (
    LabelledRows,
    ReadColumns,
    labelled_rows,
    read_blocks,
    read_table,
    take_rows,
)
from offsample.tables._source import Source, TablePath, is_query
from offsample.tables._targets import Task
from offsample.tables._units import UnitRows, Units, coarsest, grouping, taken, told
from offsample.tables._write import BlockWriter
from offsample.tables.engines import Engine

__all__ = [
    "Bins",
    "BlockWriter",
    "Column",
    "ColumnError",
    "ColumnRead",
    "EncodedTable",
    "Engine",
    "LabelledRows",
    "Profile",
    "ReadColumns",
    "Source",
    "Table",
    "TableEncoder",
    "TablePath",
    "Task",
    "UnitRows",
    "Units",
    "abandon_tables",
    "coarsest",
    "column_names",
    "columns_of",
    "describe_columns",
    "grouping",
    "interrupt_queries",
    "is_dataframe",
    "is_query",
    "joined_groups",
    "labelled_rows",
    "lists_of",
    "merged_columns",
    "open_table",
    "ordered_codes",
    "read_blocks",
    "read_table",
    "several_groups",
    "take_rows",
    "taken",
    "told",
    "unit_codes",
]
