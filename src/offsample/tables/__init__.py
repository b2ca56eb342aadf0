"""The one door for tables: any dataframe, engine or file in, counts per value and class out."""

from offsample.tables._base import Bins, Column, Profile, Table
from offsample.tables._encoder import EncodedTable, TableEncoder, column_names, is_dataframe
from offsample.tables._open import Engine, open_table
from offsample.tables._read import ReadColumns, read_table, take_rows

__all__ = [
    "Bins",
    "Column",
    "EncodedTable",
    "Engine",
    "Profile",
    "ReadColumns",
    "Table",
    "TableEncoder",
    "column_names",
    "is_dataframe",
    "open_table",
    "read_table",
    "take_rows",
]
