"""Stochastic linear trees: every table, figure and theorem of Jurgenson & Mansour (2018).

What the paper leaves open, and what we do:

- *Solver.* The paper approximates the best test on grids; "published" is its algorithm with the exact test
  (``published=True``). "ours" is the default of `StochasticTreeClassifier`.
- *Leaves and threshold.* A row is classified "according to the expectation over the leaves"; we take
  purities, and 1/2 as the threshold. With these all of Appendix I.1 is reached; the share of the positive
  class as threshold, and majority leaves, are shown in columns of their own and reach less.
- *Sample sizes of Appendix I.1.* Not said: 1,000 rows to train and 10,000 to test, ten repetitions.
- *Curves.* Figures 3 and 9 have no numbers in the text; only their order can be compared.
- *UCI.* Neither encoding nor evaluation is said. One-hot categories, standardised numbers, unit rows; 5 times
  10-fold cross-validation, with the standard error of Nadeau & Bengio for overlapping training sets.

References
----------
T. Jurgenson, Y. Mansour (2018). Learning Decision Trees with Stochastic Linear Classifiers. ALT.
C. Nadeau, Y. Bengio (2003). Inference for the Generalization Error. Machine Learning 52.
"""

from papers._experiments import unavailable
from papers.stochastic_trees._boosting import lemma_b1, theorem_6_4, theorem_b1, theorem_h1
from papers.stochastic_trees._cells import appendix_c, appendix_g
from papers.stochastic_trees._curves import fig3, fig9
from papers.stochastic_trees._planes import fig8, hyperplanes, table1
from papers.stochastic_trees._solvers import lemma_d1, lemmas_e, theorem_6_1, theorem_6_2
from papers.stochastic_trees._uci import depth, fig1

__all__ = [
    "appendix_c",
    "appendix_g",
    "depth",
    "fig1",
    "fig3",
    "fig8",
    "fig9",
    "hyperplanes",
    "lemma_b1",
    "lemma_d1",
    "lemmas_e",
    "table1",
    "theorem_6_1",
    "theorem_6_2",
    "theorem_6_4",
    "theorem_b1",
    "theorem_h1",
]

_DRAWING = "a drawing of definitions, without data; what it illustrates is tested in stochastic_trees."
unavailable("stochastic_trees.fig2", "Figure 2", "the same picture as Figure 9: see stochastic_trees.fig9")
unavailable("stochastic_trees.fig4", "Figure 4: the domain of (P, Q)", _DRAWING + "appendix_c")
unavailable("stochastic_trees.fig5", "Figure 5: its four regions", _DRAWING + "appendix_c")
unavailable("stochastic_trees.fig6", "Figure 6: slices of P", _DRAWING + "theorem_6_2")
unavailable("stochastic_trees.fig7", "Figure 7: cells of (P, Q)", _DRAWING + "theorem_6_2")
