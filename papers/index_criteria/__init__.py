"""Worst cases of index criteria: Sections 2 to 6 of Nock & Nielsen (2004).

The paper has no tables, and one drawing. What it states is tried on random and on all small instances;
where the print is wrong the code finds a counterexample, and tries the corrected form.

References
----------
R. Nock, F. Nielsen (2004). On domain-partitioning induction criteria: worst-case bounds for the worst-case
based. Theoretical Computer Science 321.
"""

# The experiments register in the order of these lines, which is that of the paper.
from papers.index_criteria import _indexes  # noqa: F401, I001
from papers.index_criteria import _worst_cases  # noqa: F401
from papers.index_criteria import _classes  # noqa: F401
