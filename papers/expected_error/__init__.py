"""Expected error analysis and boosting: Chapters 2 to 4 and 6 of Scheffer (1999).

What the thesis leaves open, and what we do, is said where it matters: at the head of each module, and below
the tables. Its figures are printed without numbers; where the truth has a closed form, ours stand beside it.

References
----------
T. Scheffer (1999). Error Estimation and Model Selection. Dissertation, TU Berlin.
"""

# In the order of the thesis, which is that of the page of results.
from papers.expected_error._free_lunch import corollary3, theorem9  # isort: skip
from papers.expected_error._boolean import fig3_1, fig3_2, fig3_4, fig3_5, fig3_6  # isort: skip
from papers.expected_error._gaussians import fig3_3, table3_1, table3_2, table3_3  # isort: skip
from papers.expected_error._choice import fig3_7, table3_4  # isort: skip
from papers.expected_error._any_attributes import appendix_g2  # isort: skip
from papers.expected_error._from_histograms import appendix_b, sec3_4  # isort: skip
from papers.expected_error._tail import tail  # isort: skip
from papers.expected_error._text import fig3_8, table3_5, table3_6, text_attributes  # isort: skip
from papers.expected_error._regret import lists_regret, trees_regret  # isort: skip
from papers.expected_error._holdout import fig4_1, fig4_2  # isort: skip
from papers.expected_error._boosting import (  # isort: skip
    observation1,
    theorem16,
    theorem17,
    theorem19,
    theorem20,
)
from papers.expected_error._linear_costs import linear_costs  # isort: skip

__all__ = [
    "appendix_b",
    "appendix_g2",
    "corollary3",
    "fig3_1",
    "fig3_2",
    "fig3_3",
    "fig3_4",
    "fig3_5",
    "fig3_6",
    "fig3_7",
    "fig3_8",
    "fig4_1",
    "fig4_2",
    "linear_costs",
    "lists_regret",
    "observation1",
    "sec3_4",
    "table3_1",
    "table3_2",
    "table3_3",
    "table3_4",
    "table3_5",
    "table3_6",
    "tail",
    "text_attributes",
    "theorem9",
    "theorem16",
    "theorem17",
    "theorem19",
    "theorem20",
    "trees_regret",
]
