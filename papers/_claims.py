"""Claims whose verdict follows from what was found."""

from __future__ import annotations

from papers._experiments import CORRECTED, NOT_REPRODUCED, REPRODUCED, UNDECIDED, Claim, verdict

__all__ = ["above", "judged", "misprinted"]


def judged(claim: str, printed: str, ours: str, holds: bool, otherwise: str) -> Claim:
    """A claim that was found true, or not, and then why.

    Examples
    --------
    >>> from papers._claims import judged
    >>> judged("more than a half", "> 0.5", "0.62", 0.62 > 0.5, "too few").verdict
    'reproduced'
    """
    return Claim(claim, printed, ours, verdict(bool(holds)), "" if holds else otherwise)


def above(claim: str, printed: str, found: tuple[float, float], border: float = 0.0, unit: str = "") -> Claim:
    """A claim that a mean, given with its standard error, lies above a border: undecided within two of them.

    Examples
    --------
    >>> from papers._claims import above
    >>> [above("more", "> 0", (0.5, error)).verdict for error in (0.1, 0.3)]
    ['reproduced', 'undecided']
    """
    mean, error = found
    ours = f"{mean:+.4f} ± {error:.4f}{unit}"
    if abs(mean - border) < 2 * error:
        return Claim(claim, printed, ours, UNDECIDED, f"two standard errors reach across {border:g}")
    return judged(claim, printed, ours, mean > border, f"it is below {border:g}")


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
