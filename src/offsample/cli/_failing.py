"""How a command fails: in a sentence, in words of the command line."""

from __future__ import annotations

import dis
import re
import traceback
from inspect import Parameter
from typing import Any

import typer

from offsample._text import shorten, visible
from offsample.cli._screen import print_text, say

_LONGEST_SENTENCE = 1000
# What the library calls an option by another name; of several, the one that was given.
_PARAMETERS = {
    "n_samples": ("rows", "n_test"),
    "target_precision": ("precision",),
    "n_configurations": ("configurations",),
    "n_classes": ("classes",),
    "score": ("accuracy", "error", "score"),
    "max_rows": ("max_rows", "sample"),
    "method": ("method",),
}


def spelling(parameter: Parameter) -> str:
    """The option as it is typed, --n-test, or the argument as the help calls it."""
    about = parameter.annotation.__metadata__[0]
    if isinstance(about, typer.models.ArgumentInfo):
        return str(about.metavar)
    names = (about.default, *(about.param_decls or ()))  # where typer keeps the first of them
    return next(
        (name for name in names if str(name).startswith("--")), f"--{parameter.name.replace('_', '-')}"
    )


def renamed(spelled: dict[str, str], given: dict[str, Any]) -> dict[str, str]:
    """Options by the name that the library has for them."""
    others = {
        parameter: next((name for name in own if given.get(name) is not None), own[0])
        for parameter, names in _PARAMETERS.items()
        if (own := [name for name in names if name in spelled])
    }
    return {**spelled, **{parameter: spelled[name] for parameter, name in others.items()}}


def _in_options(said: str, names: dict[str, str]) -> str:
    """Replace names of parameters in a sentence by the options as they are typed."""
    # A name that is a word as well is meant only at the start of a sentence; in quotes it is a stranger's.
    said = re.sub(r" \(in Python [^)]*\)\)|(?<=must be )a function or ", "", said)
    here = "--task regression" if "task" in names else "offsample tree, with --task regression,"
    said = said.replace("task='regression' (--task regression)", here)
    for name, option in names.items():
        where = rf"(?<![\w'\"-]){name}(?![\w'\"])" if "_" in name else rf"^{name}(?= (?:must|is)\b)"
        said = re.sub(where, option, said)
    return said


def fail(error: Exception, verbose: bool, names: dict[str, str]) -> None:
    """End with a sentence on standard error: exit code 2 for bad input, 1 for a failure."""
    if verbose:
        print_text("".join(traceback.format_exception(error)).rstrip(), err=True)
    said = visible(" ".join(str(error).split()) or type(error).__name__)
    is_input = isinstance(error, (ValueError, TypeError)) and _is_on_purpose(error)
    said = shorten(_in_options(said, names) if is_input else said, _LONGEST_SENTENCE)
    if is_input or isinstance(error, (ImportError, FileNotFoundError, IsADirectoryError, NotADirectoryError)):
        code = 2
    elif isinstance(error, MemoryError):
        code, said = 1, f"not enough memory: {said}"
    elif isinstance(error, OSError) or (isinstance(error, RuntimeError) and _is_on_purpose(error)):
        code = 1
    else:
        where = "above" if verbose else "shown by the same command with --verbose"
        code, what = 1, f"({type(error).__name__}: {said})"
        said = f"stopped by an unforeseen error {what}; details are {where}"
    say(f"offsample: {said}", err=True)
    raise typer.Exit(code)


def _is_on_purpose(error: Exception) -> bool:
    """Whether a `raise` of ours, or of scikit-learn's, made an error; others are mistakes of the program."""
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    if trace is None:
        return False
    frame = trace.tb_frame
    package = str(frame.f_globals.get("__name__", "")).partition(".")[0]
    raised = dis.opname[frame.f_code.co_code[trace.tb_lasti]] == "RAISE_VARARGS"
    return raised and package in ("offsample", "papers", "sklearn")
