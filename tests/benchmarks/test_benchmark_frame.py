"""The frame of the benchmarks, on a topic of tools that behave in every way."""

import importlib
import os
import subprocess
import sys
import time
from dataclasses import replace
from itertools import accumulate
from types import SimpleNamespace

import numpy as np
import pytest

from benchmarks import _frame, _measure, _pages
from benchmarks._frame import FAILED, MEASURED, NOT_INSTALLED, TOO_SLOW, Case, Tool, record
from benchmarks._measure import Quality, measure
from benchmarks._pages import losses

FAKE = """
import os, time
from benchmarks._frame import Case, Tool, topic
from benchmarks._measure import Quality

def missing():
    import a_package_that_nobody_has

def failing():
    raise ValueError("no such luck | really")

def hanging():
    return lambda: time.sleep(600)

def dying():
    return lambda: os._exit(7)

@topic("fake", "Fakes", "Nothing.", peers={"good": "Use it always.", "bad": "Never.", "floor": ""},
       limit=1000.0, summary=lambda cases: [f"{len(cases)} cases."])
def cases(small):
    yield Case("first", [
        Tool("ours", lambda: lambda: [1] * 1000, quality=lambda r: Quality(0.5, "a note", (0.25, 0.75))),
        Tool("missing", missing, "bad"),
        Tool("failing", failing, "bad"),
        Tool("hanging", hanging, "bad"),
        Tool("dying", dying, "bad"),
        Tool("good", lambda: lambda: 1, "good", lambda r: 0.9),
    ], "accuracy", "higher", 10_000)
    yield Case("second", [
        Tool("ours", lambda: lambda: 1, quality=lambda r: 3.0, timed=False),
        Tool("no tool", lambda: lambda: 1, "floor", lambda r: 1.0, timed=False),
    ], "size", "lower", sizes={"rows": 3 if small else 4})
"""


def begun_long_ago(journal, unfinished=_frame._unfinished):
    """Nobody waits for the tool that hangs, and no machine is too slow for the others."""
    running = unfinished(journal)
    return {**running, "at": running["at"] - 1001} if running and running["tool"] == "hanging" else running


@pytest.fixture(scope="module")
def fake(tmp_path_factory):
    folder = tmp_path_factory.mktemp("fake")
    (folder / "fake_benchmark.py").write_text(FAKE)
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(folder))
        patch.setenv("PYTHONPATH", str(folder))
        importlib.import_module("fake_benchmark")
        topic = _frame._REGISTRY.pop("fake")
        patch.setattr(_frame, "_unfinished", begun_long_ago)
        found = record(topic, folder / "results", small=True, module="fake_benchmark")
    return topic, folder / "results", found


def test_every_tool_is_recorded_with_its_number_or_the_reason(fake):
    _, folder, found = fake
    assert _frame.read(folder / "fake.json") == found
    assert '"wall":null' not in (folder / "fake.json").read_text()
    assert [case["name"] for case in found["cases"]] == ["first", "second"]
    first, second = (case["measurements"] for case in found["cases"])
    assert [m["tool"] for m in first] == ["ours", "missing", "failing", "hanging", "dying", "good"]
    ours, *others, good = first
    assert [m["status"] for m in others] == [NOT_INSTALLED, FAILED, TOO_SLOW, FAILED]
    assert "a_package_that_nobody_has" in others[0]["reason"]
    assert others[1]["reason"] == "ValueError: no such luck | really"
    assert others[2]["reason"] == "more than 1000 s"
    assert others[3]["reason"] == "the process ended with code 7"
    assert ours["status"] == good["status"] == MEASURED
    assert (ours["repeats"], ours["quality"], ours["note"], ours["details"]) == (
        3,
        0.5,
        "a note",
        [0.25, 0.75],
    )
    assert [(m["wall"], m["repeats"], m["quality"]) for m in second] == [(None, 0, 3.0), (None, 0, 1.0)]
    assert found["cases"][1]["sizes"] == {"rows": 3}
    assert found["versions"]["numpy"] == np.__version__
    assert found["small"]


def test_the_page_shows_all_of_it_and_the_loss(fake):
    topic, folder, _ = fake
    page = _pages.page({"fake": topic}, folder)
    assert "**ours**" in page
    assert "0.5 (a note)" in page
    assert "no such luck \\| really" in page
    assert "2 cases." in page
    loss_part = page.split("## Where a peer is better")[1]
    assert "### good" in loss_part
    assert "Use it always." in loss_part
    assert "accuracy 0.9 against 0.5" in loss_part
    assert "### floor" not in loss_part
    assert loss_part.count("hanging: too slow: more than 1000 s") == 1


def result(ours, theirs, **case):
    def found(tool, peer, values):
        rest = {"first": 1.0, "wall": 1.0, "cpu": 1.0, "peak_mb": 100.0, "quality": None}
        return {"tool": tool, "peer": peer, "status": MEASURED, **rest, **values}

    empty = {"name": "case", "quality": "", "better": "", "trials": None, "sizes": {}}
    return {
        "cases": [{**empty, **case, "measurements": [found("a", None, ours), found("b", "good", theirs)]}]
    }


@pytest.mark.parametrize(
    ("theirs", "better"),
    [
        ({"wall": 0.81}, []),
        ({"wall": 0.79}, ["wall 0.79 against 1 s"]),
        ({"cpu": 0.5, "peak_mb": 30.0}, ["CPU 0.5 against 1 s", "peak 30 against 100 MB"]),
        ({"wall": None, "cpu": None, "peak_mb": None}, []),
    ],
)
def test_a_peer_is_better_where_it_takes_clearly_less(fake, theirs, better):
    found = losses(fake[0], result({}, theirs))
    assert [loss["better"] for loss in found] == ([better] if better else [])


def test_small_differences_of_small_numbers_are_noise(fake):
    assert not losses(fake[0], result({"wall": 0.001, "cpu": 0.001}, {"wall": 0.0002, "cpu": 0.0002}))
    assert not losses(fake[0], result({"peak_mb": 9.0}, {"peak_mb": 0.0}))


@pytest.mark.parametrize(
    ("theirs", "case", "is_better"),
    [
        # two standard errors of a share of 0.8 in 10,000 are 0.008
        (0.807, {"better": "higher", "trials": 10_000}, False),
        (0.809, {"better": "higher", "trials": 10_000}, True),
        (0.791, {"better": "lower", "trials": 10_000}, True),
        (0.809, {"better": "lower", "trials": 10_000}, False),
        (0.807, {"better": "higher"}, False),  # 1 % of 0.8 is 0.008
        (0.809, {"better": "higher"}, True),
    ],
)
def test_a_quality_is_better_beyond_noise(fake, theirs, case, is_better):
    found = losses(fake[0], result({"quality": 0.8}, {"quality": theirs}, quality="q", **case))
    assert bool(found) == is_better


def test_what_we_are_better_in_stands_beside_a_loss(fake):
    (loss,) = losses(fake[0], result({"wall": 2.0, "peak_mb": 10.0}, {"wall": 1.0}))
    assert loss["better"] == ["wall 1 against 2 s"]
    assert loss["worse"] == ["peak 10 against 100 MB"]


def test_measure_repeats_and_averages_the_quality_of_repeats():
    calls = iter(range(10))
    found = measure(lambda: next(calls), lambda result: Quality(float(result)))
    assert (found.repeats, found.quality) == (3, 2.0)  # of calls 1, 2, 3: the first is apart


def test_the_first_call_is_apart_and_the_best_of_the_others_counts(monkeypatch):
    walls, cpus = accumulate([0, 9, 0, 4, 0, 2, 0, 3]), accumulate([0, 8, 0, 1, 0, 6, 0, 5])
    clocks = SimpleNamespace(perf_counter=walls.__next__, process_time=cpus.__next__)
    monkeypatch.setattr(_measure, "time", clocks)
    monkeypatch.setattr(_measure, "_descendants_cpu", lambda: 0.0)
    found = measure(lambda: None)
    assert (found.first, found.wall, found.cpu, found.repeats) == (9, 2, 1, 3)


def test_measure_stops_when_the_patience_is_at_an_end():
    calls = []
    found = measure(lambda: calls.append(1), patience=0.0, always_repeat=False)
    assert (len(calls), found.repeats) == (1, 0)
    assert found.first == found.wall


@pytest.mark.skipif(sys.platform != "linux", reason="memory is measured through /proc")
def test_memory_is_that_of_the_call():
    block = 64 << 20
    assert 0.9 * 64 < measure(lambda: np.ones(block, np.uint8).sum()).peak_mb < 1.5 * 64
    assert measure(lambda: None).peak_mb < 8


@pytest.mark.skipif(sys.platform != "linux", reason="memory is measured through /proc")
def test_cpu_time_of_processes_counts_and_their_lost_memory_is_unknown(monkeypatch):
    children = SimpleNamespace(children_user=0.0, children_system=0.0)

    def call():
        subprocess.run([sys.executable, "-c", ""], check=True)
        children.children_user += 5.0
        children.children_system += 2.0

    monkeypatch.setattr(os, "times", lambda: children)
    monkeypatch.setattr(time, "process_time", lambda: 0.0)
    # Another file's processes that still run, such as Spark's, are none of this call's.
    monkeypatch.setattr("benchmarks._measure._descendants", list)
    found = measure(call, repeats=1)
    assert found.cpu == 7.0
    assert found.peak_mb is None


def test_a_quality_needs_a_direction():
    with pytest.raises(ValueError, match="direction"):
        Case("x", [], "accuracy")
    assert replace(Tool("x", lambda: lambda: 1), peer="y").peer == "y"
