"""One experiment per table or figure of the papers: its claims, the printed numbers, ours, and verdicts.

A module of this package registers its functions with :func:`experiment`, and what cannot be repeated, with
the reason, with :func:`unavailable`. ``offsample reproduce`` and ``python -m papers`` run them.
"""

from __future__ import annotations

import json
import platform
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from importlib import import_module
from importlib.metadata import version
from pathlib import Path
from typing import Any

from papers._files import draw, write

__all__ = [
    "CORRECTED",
    "NOT_REPRODUCED",
    "PAPERS",
    "REPRODUCED",
    "RESULTS",
    "UNDECIDED",
    "Claim",
    "Experiment",
    "Outcome",
    "experiment",
    "experiments",
    "record",
    "unavailable",
    "verdict",
]

RESULTS = Path(__file__).parent / "results"
REPRODUCED = "reproduced"
CORRECTED = "reproduced with a correction"
NOT_REPRODUCED = "not reproduced"
UNDECIDED = "undecided"  # the interval of what was found holds the border of the claim

# In the order of the works; each module holds the experiments of one.
PAPERS = {
    "ginger": "S. Sabato, S. Shalev-Shwartz (2008). Ranking Categorical Features Using Generalization "
    "Properties.",
    "margin_selection": "R. Gilad-Bachrach, A. Navot, N. Tishby (2004). Margin Based Feature Selection.",
    "stochastic_trees": "T. Jurgenson, Y. Mansour (2018). Learning Decision Trees with Stochastic Linear "
    "Classifiers.",
    "index_criteria": "R. Nock, F. Nielsen (2004). On domain-partitioning induction criteria.",
    "expected_error": "T. Scheffer (1999). Error Estimation and Model Selection, chapters 2 to 4 and 6.",
    "tuning_optimism": "T. Scheffer (1999). Error Estimation and Model Selection, chapter 5.",
}


@dataclass(frozen=True)
class Claim:
    """A statement of a paper beside what we find.

    Attributes
    ----------
    claim : str
        What the paper says, in a few words of ours.
    printed : str
        Its number, or "no number".
    ours : str
        Our number, with a standard error where it is a mean.
    verdict : str
        One of the four verdicts; see :func:`verdict` and `papers._claims`.
    why : str
        What was corrected, or why it was not reproduced, or what leaves it open.
    """

    claim: str
    printed: str
    ours: str
    verdict: str
    why: str = ""

    def __post_init__(self) -> None:
        if self.verdict not in (REPRODUCED, CORRECTED, NOT_REPRODUCED, UNDECIDED):
            raise ValueError(f"verdict must be one of the four, got {self.verdict!r}")
        if self.verdict != REPRODUCED and not self.why:
            raise ValueError(f"a verdict other than {REPRODUCED!r} needs a reason: {self.claim}")

    def __str__(self) -> str:
        judged = self.verdict + (f": {self.why}" if self.why else "")
        return f"{self.claim}\n  paper: {self.printed}\n  here:  {self.ours}\n  {judged}"


def verdict(holds: bool) -> str:
    """Whether a claim was found true."""
    return REPRODUCED if holds else NOT_REPRODUCED


@dataclass(frozen=True)
class Outcome:
    """What an experiment found.

    Attributes
    ----------
    claims : sequence of Claim
        Every statement that the table or figure makes or supports.
    tables : str
        Our numbers as plain text, printed ones beside them.
    figures : mapping
        matplotlib figures by suffix of their file names; "" for the only one.
    """

    claims: Sequence[Claim]
    tables: str
    figures: Mapping[str, Any] = field(default_factory=dict)

    def __str__(self) -> str:
        return "\n\n".join([*map(str, self.claims), self.tables.rstrip()])


@dataclass(frozen=True)
class Experiment:
    """A table or figure: ``run`` repeats it, or ``reason`` says why nobody can."""

    name: str
    title: str
    run: Callable[[], Outcome] | None
    reason: str = ""


_REGISTRY: dict[str, Experiment] = {}


def experiment(name: str, title: str) -> Callable[[Callable[[], Outcome]], Callable[[], Outcome]]:
    """Register a function, all of whose parameters have defaults, as the experiment ``module.part``."""

    def register(function: Callable[[], Outcome]) -> Callable[[], Outcome]:
        _REGISTRY[name] = Experiment(name, title, function)
        return function

    return register


def unavailable(name: str, title: str, reason: str) -> None:
    """Register a table or figure that cannot be repeated."""
    _REGISTRY[name] = Experiment(name, title, None, reason)


def experiments() -> dict[str, Experiment]:
    """All of them, paper by paper."""
    for module in PAPERS:
        try:
            import_module(f"papers.{module}")
        except ModuleNotFoundError as error:
            raise ImportError(
                f"the experiments need {error.name}: pip install 'offsample[papers]'"
            ) from error
    order = list(PAPERS)
    names = sorted(_REGISTRY, key=lambda name: order.index(name.split(".")[0]))  # stable within a paper
    return {name: _REGISTRY[name] for name in names}


def record(chosen: Experiment, folder: Path) -> Outcome:
    """Run an experiment and write its tables, ``name.txt``, its claims, ``name.json``, and each figure."""
    if chosen.run is None:
        raise ValueError(f"{chosen.name} cannot be repeated: {chosen.reason}")
    wall, cpu = time.perf_counter(), time.process_time()
    outcome = chosen.run()
    taken = {"seconds": time.perf_counter() - wall, "cpu_seconds": time.process_time() - cpu}
    folder.mkdir(parents=True, exist_ok=True)
    found = {
        "name": chosen.name,
        "title": chosen.title,
        "claims": [asdict(claim) for claim in outcome.claims],
        "figures": sorted(
            draw(f, folder / f"{chosen.name}{suffix}") for suffix, f in outcome.figures.items()
        ),
        **{clock: round(seconds, 1) for clock, seconds in taken.items()},
        "versions": {
            "python": platform.python_version(),
            **{p: version(p) for p in ("offsample", "numpy", "scipy", "scikit-learn")},
        },
    }
    write(folder / f"{chosen.name}.txt", f"{chosen.title}\n\n{outcome.tables.rstrip()}\n")
    write(folder / f"{chosen.name}.json", json.dumps(found, ensure_ascii=False, separators=(",", ":")) + "\n")
    return outcome
