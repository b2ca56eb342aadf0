"""Ranking categorical features: Figures 1 to 3 of Sabato & Shalev-Shwartz (2008).

Run ``python -m papers.ginger [fig1|fig2|fig3|all]``. Each figure is printed as tables beside the paper's
claims and drawn to ``papers/results/``; ``all`` also writes the tables to ``papers/results/ginger.txt``.

What the paper leaves open, and what we do:

- *Which rule's error.* Sec. 5.1 measures the majority rule, Eq. (5), while Ginger estimates the error of
  the Gini rule, Eq. (4); Sec. 5.2 does not say. We measure both.
- *Ties of a criterion.* A curve lists tied features by increasing error (a tie is not an inversion); the
  error of the top-ranked feature is the mean over all that tie for the top.
- *Census rows.* The paper states neither the number of training rows nor that of test rows. We have a sample
  of 50,000 of its 2,458,285 records, and use a random half for each; 5,000 training rows show how much
  depends on it.
- *Census features.* The paper takes all other attributes, so the household's serial number is among them. We
  do the same, and repeat everything without it.
- *Unseen values* are predicted as 1/2, as in Eq. (4) and (5).

References
----------
S. Sabato, S. Shalev-Shwartz (2008). Ranking Categorical Features Using Generalization Properties. JMLR 9.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from papers.ginger._census import (
    EXCLUSIONS,
    PAPER_PROBLEMS,
    Census,
    Fig2,
    Fig3,
    census_problem,
    census_split,
    fig2,
    fig3,
    load_census,
)
from papers.ginger._census_report import fig2_text, fig3_text, plot_fig2, plot_fig3
from papers.ginger._rankings import COLUMNS, distance_to_sorted, largest_drop, places, ranking, spearman
from papers.ginger._reporting import RESULTS
from papers.ginger._synthetic import (
    SYNTHETIC_FEATURES,
    Fig1,
    SyntheticFeature,
    expected_error,
    fig1,
    synthetic,
)
from papers.ginger._synthetic_report import fig1_claims, fig1_text, plot_fig1

__all__ = [
    "COLUMNS",
    "EXCLUSIONS",
    "PAPER_PROBLEMS",
    "RESULTS",
    "SYNTHETIC_FEATURES",
    "Census",
    "Fig1",
    "Fig2",
    "Fig3",
    "SyntheticFeature",
    "census_problem",
    "census_split",
    "distance_to_sorted",
    "expected_error",
    "fig1",
    "fig1_claims",
    "fig1_text",
    "fig2",
    "fig2_text",
    "fig3",
    "fig3_text",
    "largest_drop",
    "load_census",
    "main",
    "places",
    "plot_fig1",
    "plot_fig2",
    "plot_fig3",
    "ranking",
    "spearman",
    "synthetic",
]


def main(argv: Sequence[str] | None = None, folder: Path = RESULTS) -> int:
    """Print and draw the figures asked for; with ``all``, write the tables as well."""
    parser = argparse.ArgumentParser(prog="python -m papers.ginger", description=__doc__.splitlines()[0])
    parser.add_argument("figure", nargs="?", default="all", choices=["fig1", "fig2", "fig3", "all"])
    wanted = parser.parse_args(argv).figure
    figures: Mapping[str, tuple[Any, Any, Any]] = {
        "fig1": (fig1, fig1_text, plot_fig1),
        "fig2": (fig2, fig2_text, plot_fig2),
        "fig3": (fig3, fig3_text, plot_fig3),
    }
    texts = []
    for name in figures if wanted == "all" else [wanted]:
        compute, text, plot = figures[name]
        try:
            result = compute()
        except FileNotFoundError as error:
            print(error, file=sys.stderr)
            return 2
        texts.append(text(result))
        print(texts[-1], end="\n\n", flush=True)
        plot(result, folder=folder)
    if wanted == "all":
        beside = folder / "ginger.txt.part"
        beside.write_text("\n\n".join(texts) + "\n", encoding="utf-8")
        beside.replace(folder / "ginger.txt")
    return 0
