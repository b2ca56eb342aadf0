"""Margin based feature selection: the experiments of Gilad-Bachrach, Navot & Tishby (2004).

What the paper leaves open, and what we do:

- *Distribution of the xor features.* Only "real valued". We use uniform features on (-1, 1), and show normal
  ones and corners of the cube (±1 with a little noise) beside them.
- *Angles of Relief.* Its negative weights are set to 0 before the angle is taken.
- *Challenge data.* The labels of the test rows are not public: we select on the training rows and measure
  on the validation rows, where the paper used both to train.
- *Faces.* The AR faces are not public with the gender. We use 1456 images, half of them of either class, of
  the Labeled Faces in the Wild at 62 × 47 pixels, with the paper's 1000 training rows in each split; and
  sets of laboratory pictures of few persons, ten of the AR database among them, half of the persons being
  one class. Information gain is that of grey values in 16 equal bins.

References
----------
R. Gilad-Bachrach, A. Navot, N. Tishby (2004). Margin Based Feature Selection - Theory and Algorithms. ICML.
"""

from papers.margin_selection import _xor, _faces, _challenge, _theorem  # isort: skip

__all__ = ["_challenge", "_faces", "_theorem", "_xor"]
