from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace

import pytest
from typer.testing import CliRunner

from offsample.cli import app
from papers import __main__ as program
from papers import _experiments as frame
from papers import _reproduce
from papers._claims import judged, misprinted
from papers._experiments import (
    CORRECTED,
    NOT_REPRODUCED,
    PAPERS,
    REPRODUCED,
    RESULTS,
    UNDECIDED,
    Claim,
    Experiment,
    Outcome,
    experiment,
    experiments,
    record,
    unavailable,
    verdict,
)
from papers._table import format_table
from papers._verdicts import recorded, verdicts_page

CLAIMS = (
    Claim("a | b", "½", "0.51 ± 0.02", REPRODUCED),
    Claim("twice", "5", "4", CORRECTED, "it is 4"),
    Claim("a rise", "no number", "a fall", NOT_REPRODUCED, "it falls"),
)


def example(figures: tuple[str, ...] = ()) -> Experiment:
    """An experiment of a paper that is there, with figures of these suffixes."""

    def run() -> Outcome:
        from matplotlib.figure import Figure

        drawn = {}
        for suffix in figures:
            drawn[suffix] = Figure(figsize=(2, 2))
            drawn[suffix].subplots().plot([0, 1], [1, 0])
        return Outcome(CLAIMS, format_table(["x"], [["1.5"]]), drawn)

    return Experiment("ginger.example", "An example", run)


@pytest.fixture
def registry(monkeypatch: pytest.MonkeyPatch) -> dict[str, Experiment]:
    """What is registered during a test is forgotten after it."""
    experiments()
    known = dict(frame._REGISTRY)
    monkeypatch.setattr(frame, "_REGISTRY", known)
    return known


def test_a_function_is_registered_and_stays_callable(registry: dict[str, Experiment]) -> None:
    @experiment("ginger.new", "A new one")
    def new() -> Outcome:
        return Outcome(CLAIMS, "")

    assert registry["ginger.new"] == Experiment("ginger.new", "A new one", new)
    assert new().claims == CLAIMS
    unavailable("ginger.lost", "A lost one", "the data are not public.")
    lost = registry["ginger.lost"]
    assert lost.run is None
    assert lost.reason == "the data are not public."
    with pytest.raises(ValueError, match=r"ginger\.lost cannot be repeated: the data are not public"):
        record(lost, Path("nowhere"))


def test_experiments_stand_in_the_order_of_the_papers(registry: dict[str, Experiment]) -> None:
    registry["ginger.last"] = example()
    names = list(experiments())
    modules = [name.split(".")[0] for name in names]
    assert list(dict.fromkeys(modules)) == [name for name in PAPERS if name in modules]
    assert modules == sorted(modules, key=list(PAPERS).index)
    # Within a paper in the order of registering.
    assert [name for name in names if name.startswith("ginger.")][-1] == "ginger.last"


def test_all_papers_have_experiments() -> None:
    known = experiments()
    assert {name.split(".")[0] for name in known} == set(PAPERS)
    for name, chosen in known.items():
        assert chosen.name == name
        assert name.count(".") == 1
        assert chosen.title
        assert (chosen.run is None) == bool(chosen.reason)


def test_verdicts_are_one_of_four() -> None:
    assert verdict(True) == REPRODUCED
    assert verdict(False) == NOT_REPRODUCED
    with pytest.raises(ValueError, match="one of the four, got 'maybe'"):
        Claim("a", "b", "c", "maybe")


@pytest.mark.parametrize("judgement", [CORRECTED, NOT_REPRODUCED, UNDECIDED])
def test_other_verdicts_need_a_reason(judgement: str) -> None:
    with pytest.raises(ValueError, match="needs a reason: the claim"):
        Claim("the claim", "1", "2", judgement)
    assert Claim("the claim", "1", "2", judgement, "because").why == "because"


def test_verdicts_follow_from_what_was_found() -> None:
    assert judged("a", "1", "1", True, "no") == Claim("a", "1", "1", REPRODUCED)
    assert judged("a", "1", "2", False, "no") == Claim("a", "1", "2", NOT_REPRODUCED, "no")

    def found(printed_fails: bool, corrected_holds: bool) -> str:
        return misprinted(
            "a",
            "1",
            "2",
            printed_fails=printed_fails,
            corrected_holds=corrected_holds,
            correction="2 for 1",
        ).verdict

    assert found(True, True) == CORRECTED
    assert found(False, True) == REPRODUCED
    assert found(True, False) == found(False, False) == NOT_REPRODUCED


def test_text_of_an_outcome() -> None:
    text = str(Outcome(CLAIMS, "the tables\n"))
    c = CLAIMS[0]
    assert text.startswith(f"{c.claim}\n  paper: {c.printed}\n  here:  {c.ours}\n  {c.verdict}")
    assert "reproduced with a correction: it is 4" in text
    assert text.endswith("\n\nthe tables")
    assert str(Outcome((), "the tables")) == "the tables"


def test_record_writes_all_files_and_the_json_round_trips(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("matplotlib")
    clocks = SimpleNamespace(perf_counter=iter([1, 8.21]).__next__, process_time=iter([2, 5.12]).__next__)
    monkeypatch.setattr(frame, "time", clocks)
    folder = tmp_path / "new" / "folder"
    outcome = record(example(("", "_second")), folder)
    assert sorted(path.name for path in folder.iterdir()) == [
        "ginger.example.json",
        "ginger.example.svg",
        "ginger.example.txt",
        "ginger.example_second.svg",
    ]
    assert (folder / "ginger.example.txt").read_text(
        encoding="utf-8"
    ) == f"An example\n\n{outcome.tables.rstrip()}\n"
    assert "<svg" in (folder / "ginger.example_second.svg").read_text(encoding="utf-8")
    found = recorded("ginger.example", folder)
    assert found is not None
    assert tuple(Claim(**claim) for claim in found["claims"]) == CLAIMS
    assert found["figures"] == ["ginger.example.svg", "ginger.example_second.svg"]
    assert found["title"] == "An example"
    assert (found["seconds"], found["cpu_seconds"]) == (7.2, 3.1)
    assert set(found["versions"]) == {"python", "offsample", "numpy", "scipy", "scikit-learn"}
    # "±" and "½" are written as such, for those who read the file.
    assert "0.51 ± 0.02" in (folder / "ginger.example.json").read_text(encoding="utf-8")


def test_the_same_numbers_give_the_same_files(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    for folder in ("one", "two"):
        record(example(("",)), tmp_path / folder)
    for kind in ("svg", "txt"):
        first, second = (tmp_path / folder / f"ginger.example.{kind}" for folder in ("one", "two"))
        assert first.read_bytes() == second.read_bytes()


def test_nothing_is_recorded_of_an_experiment_that_fails(tmp_path: Path) -> None:
    def run() -> Outcome:
        raise RuntimeError("it failed")

    with pytest.raises(RuntimeError, match="it failed"):
        record(Experiment("ginger.example", "An example", run), tmp_path)
    assert not list(tmp_path.iterdir())
    assert recorded("ginger.example", tmp_path) is None


def test_page_counts_and_escapes(tmp_path: Path) -> None:
    chosen = example()
    record(chosen, tmp_path)
    known = {
        chosen.name: chosen,
        "ginger.lost": Experiment("ginger.lost", "A lost one", None, "the data are not public."),
        "index_criteria.new": Experiment("index_criteria.new", "A new one", chosen.run),
    }
    page = verdicts_page(known, tmp_path)
    assert "3 claims: 1 reproduced, 1 reproduced with a correction, 1 not reproduced, 0 undecided." in page
    assert "| a \\| b | ½ | 0.51 ± 0.02 | **reproduced** |" in page
    assert "| twice | 5 | 4 | **reproduced with a correction**: it is 4 |" in page
    assert "[tables](results/ginger.example.txt)" in page
    assert "A lost one. *Cannot be repeated*: the data are not public." in page
    assert "A new one. *Not recorded yet.*" in page
    lines = page.splitlines()
    assert [line for line in lines if line.startswith("## ")] == [f"## {name}" for name in PAPERS]
    assert (
        lines.index("### ginger.lost")
        < lines.index("## index_criteria")
        < lines.index("### index_criteria.new")
    )


def test_page_links_the_figures(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    chosen = example(("_left", "_right"))
    record(chosen, tmp_path)
    page = verdicts_page({chosen.name: chosen}, tmp_path)
    assert "[figure](results/ginger.example_left.svg), [figure](results/ginger.example_right.svg)" in page


@pytest.fixture
def program_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The program with three experiments, writing to a folder of the test."""
    known = {name: Experiment(name, f"Title of {name}", example().run) for name in ("ginger.a", "ginger.b")}
    known["ginger.lost"] = Experiment("ginger.lost", "A lost one", None, "no data.")
    monkeypatch.setattr(program, "experiments", lambda: known)
    monkeypatch.setattr(_reproduce, "experiments", lambda: known)
    monkeypatch.setattr(program, "RESULTS", tmp_path / "results")
    monkeypatch.setattr(program, "verdicts_page", lambda k: verdicts_page(k, tmp_path / "results"))
    monkeypatch.setattr(program, "__file__", str(tmp_path / "__main__.py"))
    return tmp_path


@pytest.mark.parametrize(
    ("names", "run"),
    [
        ([], []),
        (["ginger.b"], ["ginger.b"]),
        (["ginger"], ["ginger.a", "ginger.b"]),
        (["all"], ["ginger.a", "ginger.b"]),
    ],
)
def test_program_records_what_is_named(
    program_folder: Path, capsys: pytest.CaptureFixture[str], names: list[str], run: list[str]
) -> None:
    assert program.main(["--record", *names]) == 0
    assert sorted(path.stem for path in program_folder.glob("results/*.json")) == run
    printed = capsys.readouterr().out
    assert all(f"{name}: Title of {name}" in printed for name in run)
    page = (program_folder / "RESULTS.md").read_text(encoding="utf-8")
    assert page.count("*Not recorded yet.*") == 2 - len(run)


@pytest.mark.parametrize(
    "arguments",
    [[], ["list"], ["ginger.a"], ["--json"], ["ginger.b", "-o", "{folder}"], ["ginger.a", "--json"]],
)
def test_program_prints_what_the_command_prints(
    program_folder: Path, capsys: pytest.CaptureFixture[str], arguments: list[str]
) -> None:
    given = [text.format(folder=program_folder / "kept") for text in arguments]
    assert program.main(given) == 0
    printed = capsys.readouterr().out
    command = CliRunner().invoke(app, ["reproduce", *given])
    assert command.exit_code == 0
    if "--json" in arguments:  # but for characters that a terminal may not have, and the time it took
        ours, theirs = json.loads(printed), json.loads(command.output)
        assert ours == theirs or {**ours, "seconds": 0, "cpu_seconds": 0} == {
            **theirs,
            "seconds": 0,
            "cpu_seconds": 0,
        }
    else:
        assert printed == command.output
    written = sorted(path.name for path in program_folder.rglob("*") if path.is_file())
    assert written == (["ginger.b.json", "ginger.b.txt"] if "-o" in arguments else [])


def test_program_repeats_a_paper(program_folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert program.main(["ginger"]) == 0
    printed = capsys.readouterr().out
    assert printed.index("ginger.a: Title of ginger.a") < printed.index("ginger.b: Title of ginger.b")
    assert "A lost one" not in printed
    assert program.main(["ginger", "--json"]) == 0
    assert [found["name"] for found in json.loads(capsys.readouterr().out)] == ["ginger.a", "ginger.b"]


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("ginger.c", "unknown: ginger.c; known: ginger.a, ginger.b"),
        ("ginger.lost", "ginger.lost cannot be repeated: no data."),
    ],
)
def test_program_refuses_what_it_cannot_repeat(
    program_folder: Path, capsys: pytest.CaptureFixture[str], name: str, said: str
) -> None:
    with pytest.raises(SystemExit) as stopped:
        program.main([name])
    assert stopped.value.code == 2
    assert said in capsys.readouterr().err
    assert not list(program_folder.iterdir())


def test_a_package_that_the_experiments_need_is_named(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def missing(name: str) -> None:
        raise ModuleNotFoundError(f"No module named 'pandas' (of {name})", name="pandas")

    monkeypatch.setattr(frame, "import_module", missing)
    with pytest.raises(SystemExit):
        program.main([])
    assert "the experiments need pandas: pip install 'offsample[papers]'" in capsys.readouterr().err


def test_the_committed_page_is_that_of_the_committed_results() -> None:
    page = (RESULTS.parent / "RESULTS.md").read_text(encoding="utf-8")
    assert page == verdicts_page(experiments()), "`python -m papers --record` writes papers/RESULTS.md"


@pytest.mark.parametrize("name", [name for name, chosen in experiments().items() if chosen.run])
def test_every_experiment_is_recorded(name: str) -> None:
    chosen, found = experiments()[name], recorded(name)
    assert found is not None, f"run `python -m papers --record {name}`"
    assert found["name"] == name
    assert found["title"] == chosen.title
    assert found["claims"], "an experiment makes at least one claim"
    assert (RESULTS / f"{name}.txt").read_text(encoding="utf-8").startswith(f"{chosen.title}\n\n")
    for claim in found["claims"]:
        assert all(isinstance(text, str) and (text or key == "why") for key, text in claim.items())
        Claim(**claim)
    for figure in found["figures"]:
        assert figure.startswith(name)
        assert (RESULTS / figure).stat().st_size > 1000


def test_no_result_is_left_of_an_experiment_that_is_gone() -> None:
    known = experiments()
    for path in RESULTS.glob("*.json"):
        assert path.stem in known
        assert known[path.stem].run, f"{path.stem} cannot be repeated"
    figures = {
        figure for path in RESULTS.glob("*.json") for figure in json.loads(path.read_text("utf-8"))["figures"]
    }
    for path in RESULTS.iterdir():
        assert path.stem in known if path.suffix in (".txt", ".json") else path.name in figures, path.name
