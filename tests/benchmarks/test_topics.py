"""The topics: ours runs in all of them, and the page is what the recorded results say."""

from importlib import import_module

import numpy as np
import pytest

from benchmarks._frame import PROGRAMS, RESULTS, TOPICS, topics
from benchmarks._pages import page, recorded

CLUSTERS = ("Spark", "Dask")  # start for long; tests/engines has them


@pytest.mark.parametrize("name", TOPICS)
def test_a_topic_is_recorded_in_full(name):
    found = recorded(name)
    assert found is not None, f"python -m benchmarks {name}"
    assert found["topic"] == name
    assert not found["small"]
    assert all(case["measurements"] for case in found["cases"])
    known = topics()[name].peers
    assert {m["peer"] for case in found["cases"] for m in case["measurements"]} <= {None, *known}


def test_the_page_is_what_the_results_say():
    written = (RESULTS.parent / "RESULTS.md").read_text(encoding="utf-8")
    assert written == page(topics()), "python -m benchmarks writes benchmarks/RESULTS.md"


def test_figures_are_there_and_no_others():
    named = [figure for name in TOPICS for figure in recorded(name)["figures"]]
    named += [
        program.FIGURE
        for name in PROGRAMS
        if hasattr(program := import_module(f"benchmarks.{name}"), "FIGURE")
    ]
    assert sorted(named) == sorted(path.name for path in RESULTS.iterdir() if path.suffix != ".json")


@pytest.mark.usefixtures("one_column_left_out")
@pytest.mark.parametrize("name", TOPICS)
def test_our_tools_run_at_small_sizes(name, no_openml):
    pytest.importorskip("pandas")
    topic = topics()[name]
    seen = 0
    for case in topic.cases(True):
        assert len({tool.name for tool in case.tools}) == len(case.tools)
        assert {tool.peer for tool in case.tools} <= {None, *topic.peers}
        for tool in case.tools:
            if tool.peer is None and not any(cluster in tool.name for cluster in CLUSTERS):
                try:
                    call = tool.prepare()
                except FileNotFoundError as error:
                    pytest.skip(str(error))
                result = call()
                if tool.quality:
                    judged = tool.quality(result)
                    assert np.isfinite(getattr(judged, "value", judged))
                seen += 1
    assert seen
