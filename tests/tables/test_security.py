"""A table's content is never trusted: nothing in it may read other files, load code, or use the network."""

import os
import threading
from pathlib import Path

import pytest
from typer.testing import CliRunner

from offsample import rank_features
from offsample.cli import app
from offsample.tables import TablePath, open_table, read_table

duckdb = pytest.importorskip("duckdb")

SECRET = "word,y\nxyzzy,0\nplugh,1\n"


@pytest.fixture
def database(tmp_path, monkeypatch):
    """A database of a stranger, with views that reach out of it, beside a file that is not theirs."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "secret.csv").write_text(SECRET)
    (tmp_path / "named.csv").write_text("word,y\na,0\nb,1\n")
    with duckdb.connect("their.db") as connection:
        connection.execute("CREATE TABLE rows AS SELECT i % 2 AS y, i AS x FROM range(6) t(i)")
        connection.execute("CREATE VIEW inside AS FROM rows")
        connection.execute(f"CREATE VIEW reads AS FROM read_csv('{tmp_path}/secret.csv')")
        connection.execute(f"CREATE VIEW texts AS SELECT content, 1 AS y FROM read_text('{tmp_path}/*')")
        connection.execute(f"CREATE VIEW lists AS SELECT file, 1 AS y FROM glob('{tmp_path}/*')")
        connection.execute(f"CREATE VIEW sniffs AS SELECT *, 1 AS y FROM sniff_csv('{tmp_path}/secret.csv')")
        connection.execute("CREATE VIEW secrets AS SELECT *, 1 AS y FROM duckdb_secrets()")
        connection.execute("CREATE SEQUENCE numbers")
        connection.execute("CREATE VIEW counts AS SELECT nextval('numbers') AS x, 1 AS y")
    return "duckdb:///their.db"


@pytest.mark.parametrize("view", ["reads", "texts", "lists", "sniffs", "secrets"])
@pytest.mark.parametrize("query", ["{}", "SELECT * FROM {}", "SELECT * FROM {} ORDER BY ALL"])
def test_a_view_cannot_read_other_files(database, view, query):
    for read in (
        lambda path: rank_features(path, "y"),
        lambda path: open_table(path, "y", engine="duckdb").value_counts("word"),
        read_table,
    ):
        with pytest.raises(
            ValueError, match=r"reads what was not named \(.*\): .* --allow-external"
        ) as error:
            read(f"{database}#{query.format(view)}")
        assert "xyzzy" not in str(error.value)


def test_settings_that_a_view_can_read_name_only_what_was_named(database):
    with duckdb.connect("their.db") as connection:
        connection.execute("CREATE VIEW settings AS SELECT name, value, 1 AS y FROM duckdb_settings()")
    settings = read_table(f"{database}#settings")
    shown = dict(zip(settings["name"], settings["value"], strict=True))
    paths = {name for name, value in shown.items() if Path(str(value)).is_absolute()}
    assert paths == {"temp_directory"}
    assert all(str(Path.home()) not in str(value).replace(str(Path.cwd()), "") for value in shown.values())


def test_a_view_that_would_change_the_database(database):
    with pytest.raises(ValueError, match=r"table 'counts' of 'their.db' cannot be read: .*read-only"):
        open_table(f"{database}#counts", "y")


@pytest.mark.parametrize("view", ["sniffs", "secrets"])
@pytest.mark.parametrize("verb", ["rank", "tree", "report"])
def test_a_command_says_so_in_one_sentence(database, view, verb):
    done = CliRunner().invoke(app, [verb, f"{database}#{view}", "-t", "y"])
    assert done.exit_code == 2
    (sentence,) = done.stderr.strip().splitlines()
    assert "reads what was not named" in sentence
    assert "--allow-external" in sentence


def test_what_is_named_is_read(database):
    assert open_table(f"{database}#inside", "y").n_rows == 6
    for query in (
        "SELECT word, r.y FROM rows r JOIN 'named.csv' n ON r.y = n.y",
        "FROM read_csv('nam*.csv')",
        'SELECT * FROM "named.csv"',
        "FROM read_csv(['named.csv', 'secret.csv'])",
    ):
        assert open_table(f"{database}#{query}", "y").n_rows >= 2
    table = open_table("SELECT * FROM 'named.csv'", "y")
    assert (table.source.files, table.source.n_rows) == (("named.csv",), 2)
    Path("n[a]med.csv").touch()
    with pytest.raises(ValueError, match="reads what was not named"):  # DuckDB would take it for a pattern
        open_table("SELECT * FROM 'n[a]med.csv'", "y")


def test_external_access_when_it_is_asked_for(database):
    path = TablePath(f"{database}#reads", allow_external=True)
    assert sorted(read_table(path)["word"]) == ["plugh", "xyzzy"]
    assert rank_features(path, "y").n_samples == 2


@pytest.mark.parametrize(
    "statement",
    ["SELECT * FROM 'https://127.0.0.1:1/t.csv'", "SELECT * FROM 's3://bucket/t.parquet'",
     "FROM sqlite_scan('their.db', 'x')"],
)  # fmt: skip
def test_no_network_and_no_extension(database, statement):
    with pytest.raises(ValueError, match=r"the query .* (reads what was not named|failed)"):
        open_table(statement, "y")


def test_python_variables_are_no_tables(database):
    names = duckdb.sql("SELECT 1 AS y")  # noqa: F841 - a name that frames of the library have, too
    for allow in (False, True):
        with pytest.raises(ValueError, match=r"the query .* failed: Catalog Error"):
            open_table(TablePath("SELECT * FROM names", allow_external=allow), "y")


def test_the_database_stays_as_it_is(database):
    before = (Path("their.db").stat().st_mtime_ns, Path("their.db").stat().st_size)
    with (
        open_table(f"{database}#rows", "y", engine="duckdb") as one,
        open_table(f"{database}#rows", "y") as two,
    ):
        assert one.n_rows == two.n_rows == 6  # opened twice at a time
        one.value_counts("x")
    assert (Path("their.db").stat().st_mtime_ns, Path("their.db").stat().st_size) == before
    for statement in ("DROP TABLE rows", "SELECT 1; DROP TABLE rows"):
        with pytest.raises(ValueError, match=r"has no table|not a single SELECT"):
            open_table(f"{database}#{statement}", "y")


@pytest.mark.parametrize(
    "text", ["SELECT * FROM 'named.csv'", "from 'named.csv'", "duckdb:///their.db#rows", "-", "*.csv"]
)
def test_only_paths_of_strangers(database, text):
    for table in (text, TablePath(text)):
        with pytest.raises(ValueError, match="is not the path of a file or directory"):
            open_table(table, "y", trusted=False)
        with pytest.raises(ValueError, match="is not the path of a file or directory"):
            read_table(table, trusted=False)
    with pytest.raises(ValueError, match="is not the path of a file or directory"):
        rank_features(TablePath(text, trusted=False), "y")
    assert open_table("named.csv", "y", trusted=False).n_rows == 2
    with pytest.raises(FileNotFoundError):
        open_table("nowhere.csv", "y", trusted=False)
    with pytest.raises(ValueError, match="needs trusted=True"):
        TablePath(text, trusted=False, allow_external=True)


def test_a_pipe_is_read_once_and_never_for_strangers(database, tmp_path):
    os.mkfifo("pipe.csv")
    with pytest.raises(ValueError, match="is not a regular file"):
        open_table("pipe.csv", "y", trusted=False)
    writer = threading.Thread(target=lambda: (tmp_path / "pipe.csv").write_text(SECRET))
    writer.start()
    assert open_table("pipe.csv", "y").n_rows == 2
    writer.join()


def test_a_text_that_a_query_compares_is_no_file_that_it_names(tmp_path):
    """A stranger's view would be open to every file below a directory that the query happens to mention."""
    secret = tmp_path / "secret.csv"
    secret.write_text("x,y\n1,a\n2,b\n")
    database = str(tmp_path / "t.db")
    with duckdb.connect(database) as connection:
        connection.execute(f"CREATE VIEW harmless AS SELECT *, '/' AS sep FROM '{secret}'")
    for text in ("/", "..", f"{tmp_path}/*"):
        with pytest.raises(ValueError, match="reads what was not named"):
            open_table(
                f"duckdb:///{database}#SELECT * FROM harmless WHERE sep <> '{text}x' OR sep <> '{text}'", "y"
            )
    with open_table(f"SELECT * FROM read_csv(['{secret}', '{secret}']) WHERE x <> 7", "y") as table:
        assert table.n_rows == 4


@pytest.mark.parametrize("name", ["", " "])
def test_an_empty_name_is_no_directory(name):
    with pytest.raises(ValueError, match="the name of the table is empty"):
        open_table(name, "y", trusted=False)
