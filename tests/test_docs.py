"""What README and docs show is what runs print; pages, names and pictures are all there."""

import gzip
import importlib
import inspect
import pkgutil
import re
import shlex

import matplotlib.pyplot as plt
import numpy as np
import polars as pl
import pytest
from typer.testing import CliRunner

import offsample
from docs import _rooms, _site
from docs._llms import llms_text
from docs._pages import DOCS, api_modules, blocks, missing_data, navigation, pages, run
from offsample.cli import app
from offsample.datasets import make_customers

ROOT = DOCS.parent
# Real data sets, a Spark session, or what peers print, which changes with their versions.
LONG = {
    "engines.md",
    "report.md",
    "index.md",
    *(f"gallery/{page.name}" for page in (DOCS / "gallery").iterdir()),
}
COMMANDS = sorted(
    {
        line
        for path in [ROOT / "README.md", *DOCS.rglob("*.md")]
        for language, text in blocks(path)
        if language == "bash"
        for line in text.splitlines()
        if line.startswith("offsample ")
    }
)


def page_name(path):
    return path.relative_to(DOCS).as_posix()


@pytest.mark.parametrize(
    "path",
    [
        pytest.param(p, id=page_name(p), marks=[pytest.mark.slow] if page_name(p) in LONG else [])
        for p in pages()
    ],
)
def test_python_blocks_run_and_print_what_follows(path, tmp_path, monkeypatch):
    if missing := missing_data(path):
        pytest.skip(missing)
    monkeypatch.chdir(tmp_path)
    for shown, printed in run(path):
        assert shown.strip() == printed.strip()
    plt.close("all")
    # A picture that the page draws is the one that it shows.
    for picture in tmp_path.glob("*.png"):
        assert f"images/{picture.name})" in path.read_text(encoding="utf-8")
        assert (DOCS / "images" / picture.name).is_file()


@pytest.fixture(scope="session")
def tables(tmp_path_factory):
    """The files that the commands on the pages name."""
    folder = tmp_path_factory.mktemp("tables")
    frame = pl.DataFrame(make_customers(800))
    frame.write_parquet(folder / "customers.parquet")
    (folder / "events").mkdir()
    with gzip.open(folder / "events" / "part.csv.gz", "wb") as file:
        frame.write_csv(file)
    visits = {"patient": np.arange(400) // 10, "test": np.arange(400) % 3, "sick": (np.arange(400) // 10) % 2}
    pl.DataFrame(visits).write_parquet(folder / "visits.parquet")
    size = np.arange(400.0)
    pl.DataFrame({"size": size, "price": size + np.sin(size)}).write_parquet(folder / "prices.parquet")
    rated = dict(zip(("shallow", "deep"), np.random.default_rng(0).random((2, 400)), strict=True))
    oof = {"patient": visits["patient"], "sick": visits["sick"], **rated}
    pl.DataFrame(oof).write_parquet(folder / "oof.parquet")
    import duckdb

    with duckdb.connect(str(folder / "warehouse.db")) as connection:
        connection.sql(f"CREATE TABLE customers AS SELECT * FROM '{folder}/customers.parquet'")
    np.savetxt(folder / "scores.csv", np.random.default_rng(0).uniform(0.6, 0.7, (12, 5)), delimiter=",")
    return folder


@pytest.mark.parametrize(
    "command",
    [
        pytest.param(line, marks=[pytest.mark.slow] if line.startswith("offsample report") else [])
        for line in COMMANDS
    ],
)
def test_commands_run(command, tables, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for path in tables.iterdir():
        (tmp_path / path.name).symlink_to(path)
    # duckdb:///file is an absolute path, of which the page shows none.
    arguments = shlex.split(command.replace("duckdb:///", f"duckdb:///{tmp_path}/"))[1:]
    if arguments[0] == "report":
        arguments += ["--fast", "--sample", "300"]
    done = CliRunner().invoke(app, arguments)
    assert done.exit_code == 0, done.output


def test_readme_shows_the_demo_as_it_is():
    shown = next(text for language, text in blocks(ROOT / "README.md") if language == "text")
    printed = CliRunner().invoke(app, ["rank", "--demo"], env={"COLUMNS": "130"}).output
    assert [line.rstrip() for line in shown.splitlines()] == [line.rstrip() for line in printed.splitlines()]


def test_readme_quotes_what_pages_print():
    said = " ".join(" ".join(path.read_text(encoding="utf-8").split()) for path in DOCS.rglob("*.md"))
    quotes = re.findall(r"(?:^> .*\n)+", (ROOT / "README.md").read_text(encoding="utf-8"), re.MULTILINE)
    assert len(quotes) == 3  # new groups, a rare class, a number
    for quote in quotes:
        plain = " ".join(quote.replace("> ", " ").replace("**", "").split())
        assert [part for part in plain.split(" […] ") if part not in said.replace("**", "")] == []


def test_every_page_is_in_the_navigation():
    listed = [page for section in navigation().values() for _, page in section]
    assert len(listed) == len(set(listed))
    assert set(listed) == {page_name(path) for path in DOCS.rglob("*.md")} | {*_site.pages()}


def test_every_picture_is_shown():
    text = "".join(
        path.read_text(encoding="utf-8") for path in (*DOCS.rglob("*.md"), ROOT / "CONTRIBUTING.md")
    )
    assert [p.name for p in (DOCS / "images").iterdir() if f"images/{p.name})" not in text] == []


def test_the_reference_has_every_public_name():
    """A directive documents all names in ``__all__``: each public module has one."""
    modules = {f"offsample.{m.name}" for m in pkgutil.iter_modules(offsample.__path__) if m.name[0] != "_"}
    assert modules - {"offsample.cli"} <= set(api_modules())
    packages = [importlib.import_module(module) for module in api_modules()]
    documented = [getattr(package, name) for package in packages for name in package.__all__]
    for name in set(offsample.__all__) - {"__version__"}:
        assert getattr(offsample, name) in [*documented, *packages]
    objects = [value for value in documented if inspect.isclass(value) or inspect.isfunction(value)]
    assert [value for value in objects if not value.__doc__] == []


def test_the_site_lists_names_that_load_on_first_use_and_what_comments_say_of_fields():
    griffe = pytest.importorskip("griffe", reason="griffe is not installed")
    extensions = griffe.load_extensions(str(DOCS / "_griffe.py"))
    package = griffe.load("offsample", search_paths=[ROOT / "src"], extensions=extensions)
    for name in ("assessment", "bounds", "expected_error", "margin", "plotting"):
        assert sorted(package[name].exports) == importlib.import_module(f"offsample.{name}").__all__
    naive = package["assessment._audit.Audit.naive"]
    assert naive.docstring.value == "best mean score, as the search reports it."


def test_names_in_the_glossary_exist():
    """What is written as module.name, or name(, is a name."""
    text = (DOCS / "glossary.md").read_text(encoding="utf-8")
    for module, name in re.findall(r"`(?:offsample\.)?([a-z_]+(?:\.[a-z_]+)?)\.([A-Za-z_]+)", text):
        home = f"offsample.{module}"
        if module != "offsample":
            package = importlib.import_module(home)
            assert hasattr(package, name) or importlib.util.find_spec(f"{home}.{name}"), f"{module}.{name}"


def test_llms_txt_has_every_page_and_every_public_name():
    """`make docs` writes it."""
    text = llms_text()
    assert all(f"]({page})" in text for entries in navigation().values() for _, page in entries)
    for module in api_modules():
        part = text.split(f"\n### {module}\n")[1].split("\n### ")[0]
        names = importlib.import_module(module).__all__
        assert names
        assert [name for name in names if not re.search(rf"^[-`* ]*{name}\b", part, re.MULTILINE)] == []


def test_pages_of_the_site_are_written_by_hand_or_made():
    """What is made from recorded results is in no second place."""
    assert [path for path in _site.pages() if (DOCS / path).exists()] == []


def test_verdicts_on_the_site_show_their_figures():
    links = "[tables](results/a.fig1.txt), [figure](results/a.fig1.svg), [figure](results/a.fig1b.png)"
    section = f"### a.fig1\n\nA figure. {links}; 3 CPU s.\n\n| x |\n"
    page = _site.papers_page(
        f"# The papers\n\n{section}\n### a.fig2\n\nAnother. [tables](results/a.fig2.txt); 1 CPU s.\n"
    )
    assert "[tables](papers/results/a.fig1.txt); 3 CPU s." in page
    shown = ("![a.fig1](papers/results/a.fig1.svg)", "![a.fig1b](papers/results/a.fig1b.png)")
    assert page.index("| x |") < page.index(shown[0]) < page.index(shown[1]) < page.index("### a.fig2")
    assert "(results/" not in page


def test_benchmarks_on_the_site_are_two_pages():
    results = (
        "# Us and the peers\n\nWritten by.\n\nHow.\n\n## Growth\n\n![Growth](results/growth.svg)\n\n| x |\n\n"
        "## Where a peer is better\n\nThe rule.\n\n### peer\n\n| y |\n"
    )
    measured, better = _site.benchmark_pages(results).values()
    assert measured.startswith("# Benchmarks\n\nWhere a peer is the better choice")
    assert measured.endswith("\n\nHow.\n\n## Growth\n\n![Growth](benchmarks/results/growth.svg)\n\n| x |\n")
    assert better.startswith("# When to use something else\n\nEvery case")
    assert better.endswith("\n\nThe rule.\n\n### peer\n\n| y |\n")


@pytest.mark.parametrize("page", ["papers.md", "benchmarks.md", "when-to-use-something-else.md"])
def test_links_of_a_made_page_lead_somewhere(page):
    linked = re.findall(r"\]\(([^)#:]+?)\)", _site.pages()[page])
    assert linked
    made = {*_site.pages()}
    assert [path for path in {*linked} if path not in made and not (ROOT / path).is_file()] == []


def test_links_of_the_readme_lead_somewhere():
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    for path, anchor in re.findall(r"\]\(([^)#:]+)#?([^)]*)\)", text):
        assert (ROOT / path).exists(), path
        if anchor:
            headings = re.findall(r"^#+ (.+)$", (ROOT / path).read_text(encoding="utf-8"), re.MULTILINE)
            assert anchor in [heading.lower().replace(" ", "-") for heading in headings]


def test_the_drawing_of_the_rooms_is_that_of_the_imports():
    assert _rooms.DRAWING.read_text(encoding="utf-8") == _rooms.drawing()
    assert set(_rooms.rooms()) >= {
        "tables",
        "counts",
        "induction.tree",
        "induction.oblique",
        "induction.rules",
        "report",
    }
    for room in _rooms.rooms():
        assert room not in _rooms.reach(room), f"{room} takes from itself, by way of others"
