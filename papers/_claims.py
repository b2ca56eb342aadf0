"""Claims whose verdict follows from what was found."""

from __future__ import annotations

from offsample.assessment import clopper_pearson_interval
from papers._experiments import CORRECTED, NOT_REPRODUCED, REPRODUCED, UNDECIDED, Claim, verdict

__all__ = ["above", "judged", "misprinted", "share"]


def judged(claim: str, printed: str, ours: str, holds: bool, otherwise: str) -> Claim:
    """A claim that was found true, or not, and then why.

    Examples
    --------
    >>> from papers._claims import judged
    >>> judged("more than a half", "> 0.5", "0.62", 0.62 > 0.5, "too few").verdict
    'reproduced'
    """
    return Claim(claim, printed, ours, verdict(bool(holds)), "" if holds else otherwise)


def above(
    claim: str,
    printed: str,
    found: tuple[float, float],
    border: float = 0.0,
    unit: str = "",
    *,
    ours: str = "",
    otherwise: str = "",
) -> Claim:
    """A claim that a mean, given with its standard error, lies above a border: undecided within two of them.

    Without `ours` the mean is shown; without `otherwise` a smaller one is said to be below the border.

    Examples
    --------
    >>> from papers._claims import above
    >>> [above("more", "> 0", (0.5, error)).verdict for error in (0.1, 0.3)]
    ['reproduced', 'undecided']
    """
    mean, error = found
    ours = ours or f"{mean:+.4f} ± {error:.4f}{unit}"
    if abs(mean - border) < 2 * error:
        return Claim(claim, printed, ours, UNDECIDED, f"two standard errors reach across {border:g}")
    return judged(claim, printed, ours, mean > border, otherwise or f"it is below {border:g}")


def share(
    claim: str, printed: str, ours: str, found: tuple[int, int], border: float, otherwise: str
) -> Claim:
    """A claim that more than a share of some cases is so: undecided where the exact 95 % interval holds it.

    Parameters
    ----------
    found : tuple of int
        How many are so, of how many.

    Examples
    --------
    >>> from papers._claims import share
    >>> [share("most", "> ½", "", (n, 62), 0.5, "few").verdict for n in (44, 36, 20)]
    ['reproduced', 'undecided', 'not reproduced']
    """
    low, high = clopper_pearson_interval(*found)
    ours = f"{ours} (95 % interval of the share {low:.3f} to {high:.3f})"
    if low < border < high:
        return Claim(claim, printed, ours, UNDECIDED, f"the interval of the share holds {border:g}")
    return judged(claim, printed, ours, low >= border, otherwise)


def misprinted(
    claim: str, printed: str, ours: str, *, printed_fails: bool, corrected_holds: bool, correction: str
) -> Claim:
    """A claim that is wrong in print: by a counterexample, and its correction by the lack of one.

    Examples
    --------
    >>> from papers._claims import misprinted
    >>> tested = {"printed_fails": 2 * 2 != 5, "corrected_holds": 2 * 2 == 4}
    >>> misprinted("twice two", "5", "4", **tested, correction="it is 4").verdict
    'reproduced with a correction'
    """
    if not corrected_holds:
        return Claim(claim, printed, ours, NOT_REPRODUCED, f"nor is it true as corrected: {correction}")
    if printed_fails:
        return Claim(claim, printed, ours, CORRECTED, correction)
    return Claim(claim, printed, ours, REPRODUCED)
