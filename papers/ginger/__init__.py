"""Ranking categorical features: Sec. 5 and the theorems of Sabato & Shalev-Shwartz (2008).

What the paper leaves open, and what we do:

- *Which rule's error.* Sec. 5.1 measures the majority rule, Eq. (5), while Ginger estimates the error of
  the Gini rule, Eq. (4); Sec. 5.2 does not say. We measure both.
- *Ties of a criterion.* A curve lists tied features by increasing error (a tie is not an inversion); the
  error of the top-ranked feature is the mean over all that tie for the top.
- *Census rows.* The paper states neither the number of training rows nor that of test rows. We have a sample
  of 50,000 of its 2,458,285 records, and use a random half for each; 5,000 training rows show how much
  depends on it, and are what the trees are grown on.
- *Census features.* The paper takes all other attributes, so the household's serial number is among them. We
  do the same, and repeat everything without it. The trees do without it (it makes every leaf a single row)
  and without those columns that are nearly copies of the target: whose values tell it with a training error
  below 1 %.
- *Unseen values* are predicted as 1/2, as in Eq. (4) and (5); so are ties, and values of a tree's column that
  its node has not seen.
- *Growing a tree.* Of equal splits that of the older leaf, then the first column. Growing goes on where a
  criterion worsens, to the same number of splits for all. What Fig. 5 compares is the least test error: the
  number of splits is chosen by looking at the test rows. Beside it stands a tree that looks at the training
  rows only: the default of `TreeClassifier`.

References
----------
S. Sabato, S. Shalev-Shwartz (2008). Ranking Categorical Features Using Generalization Properties. JMLR 9.
"""

# In the order of the paper, which is that of the page of results.
from papers.ginger import _bounds, _lemmas  # noqa: F401, I001
from papers.ginger import _synthetic_report, _census_report, _trees_report  # noqa: F401
