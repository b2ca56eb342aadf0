"""Features judged together, by the margin that they give the nearest-neighbour rule.

References
----------
- R. Gilad-Bachrach, A. Navot, N. Tishby (2004). Margin Based Feature Selection - Theory and Algorithms. ICML.
- I. Kononenko (1994). Estimating attributes: analysis and extensions of RELIEF. ECML.
"""

from typing import TYPE_CHECKING

from offsample._lazy import lazy_names

if TYPE_CHECKING:  # all public names; each is loaded on first use
    from offsample.margin._few_columns import SufficientColumns as SufficientColumns
    from offsample.margin._utility import sigmoid as sigmoid
    from offsample.margin.gflip import GFlip as GFlip
    from offsample.margin.objective import hypothesis_margin as hypothesis_margin
    from offsample.margin.objective import margin_error as margin_error
    from offsample.margin.objective import margin_score as margin_score
    from offsample.margin.objective import sample_margin as sample_margin
    from offsample.margin.relief import Relief as Relief
    from offsample.margin.simba import Simba as Simba
    from offsample.margin.sufficient import sufficient_columns as sufficient_columns

__all__, __getattr__, __dir__ = lazy_names(__name__)
