"""The one door for tables: any dataframe, engine or file in, counts per value and class out."""

from offsample.tables._base import Bins, Column, ColumnError, Profile, Table
from offsample.tables._encoder import EncodedTable, TableEncoder, column_names, is_dataframe, merged_columns
from offsample.tables._open import open_table
from offsample.tables._read import ReadColumns, read_table, take_rows
from offsample.tables._source import Source, TablePath
from offsample.tables.engines import Engine

__all__ = [
    "Bins",
    "Column",
    "ColumnError",
    "EncodedTable",
    "Engine",
    "Profile",
    "ReadColumns",
    "Source",
    "Table",
    "TableEncoder",
    "TablePath",
    "column_names",
    "is_dataframe",
    "merged_columns",
    "open_table",
    "read_table",
    "take_rows",
]
