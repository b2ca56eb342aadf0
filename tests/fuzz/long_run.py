"""Hunt for inputs that break a promise, as long as one likes: ``make fuzz FUZZ_MINUTES=30``.

Every verb of the command line is given random runs in turn, each in a process of its own, so that one that is
killed is a finding too. Where atheris is installed, a third of the time goes to mutated bytes (`bytes_run`).
Prints how many inputs were tried and the shortest input for each failure; exits with 1 if there was one.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
import warnings
from importlib.util import find_spec
from pathlib import Path

HERE = Path(__file__).parent
# Seconds that a verb has at a time.
TURN = 60
# Seconds more after which a process that is not done counts as stuck.
PATIENCE = 240


def main(minutes: float) -> int:
    """Hunt for so many minutes."""
    sys.path.insert(0, str(HERE))
    from commands import OF_NUMBERS, OF_TABLES

    end = time.monotonic() + 60 * minutes
    turns = [*OF_TABLES, *OF_NUMBERS]
    if find_spec("atheris"):
        turns += ["bytes"] * (len(turns) // 2)
    else:
        _say("atheris is not installed: no mutated bytes")
    tried: dict[str, int] = {}
    failures: dict[str, str] = {}
    seed = 0
    with tempfile.TemporaryDirectory(prefix="offsample-fuzz") as name:
        while time.monotonic() < end:
            turn = turns[seed % len(turns)]
            seconds = max(1.0, min(TURN, 60 * minutes / len(turns), end - time.monotonic()))
            found = _turn(turn, seed, seconds, Path(name))
            tried[turn] = tried.get(turn, 0) + found["tried"]
            for key, run in found["failures"].items():
                if key not in failures:
                    _say(f"{key}\n    {run[:1500]}")
                if key not in failures or len(run) < len(failures[key]):
                    failures[key] = run
            seed += 1
    _say(f"\n{sum(tried.values()):,} inputs: " + ", ".join(f"{verb} {n:,}" for verb, n in tried.items()))
    _say(f"{len(failures)} failures" if failures else "no failure")
    for key, run in failures.items():
        _say(f"\n{key}\n    {run[:3000]}")
    return 1 if failures else 0


def _turn(verb: str, seed: int, seconds: float, folder: Path) -> dict:
    """Let a process try inputs for some seconds."""
    last, result = folder / "last", folder / "result"
    last.unlink(missing_ok=True)
    result.unlink(missing_ok=True)
    script = "bytes_run.py" if verb == "bytes" else "long_run.py"
    words = [
        sys.executable,
        "-X",
        "faulthandler",
        str(HERE / script),
        verb,
        str(seed),
        str(seconds),
        str(folder),
    ]
    try:
        code = subprocess.run(
            words, capture_output=True, text=True, errors="replace", timeout=seconds + PATIENCE, check=False
        )
        ended = f"ended with {code.returncode}: {code.stderr[-1500:]}" if code.returncode else None
    except subprocess.TimeoutExpired:
        ended = "did not end"
    found = json.loads(result.read_text()) if result.exists() else {"tried": 1, "failures": {}}
    if ended is not None:
        said = last.read_text() if last.exists() else "nothing was begun"
        found["failures"][f"{verb}: the process {ended.splitlines()[0][:60]}"] = f"{said}\n{ended}"
    return found


def hunt(verb: str, seed: int, seconds: float, folder: Path) -> None:
    """Try runs of a verb until the time is over, and write down what was found."""
    from commands import Wrong, check, describe, runs
    from hypothesis import HealthCheck, Phase, given, settings
    from hypothesis import seed as begin_with

    end = time.monotonic() + seconds
    failures: dict[str, str] = {}
    tried = 0

    def try_one(run):
        nonlocal tried
        if time.monotonic() > end:
            return
        (folder / "last").write_text(describe(*run), encoding="utf-8", errors="backslashreplace")
        tried += 1
        try:
            check(*run)
        except Wrong as wrong:
            said = f"{describe(*run)}\n    {wrong}"
            if wrong.key not in failures or len(said) < len(failures[wrong.key]):
                failures[wrong.key] = said

    quiet = settings(
        max_examples=40,
        database=None,
        deadline=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    warnings.simplefilter("error")
    while time.monotonic() < end:
        begin_with(seed)(quiet(given(run=runs(verb))(try_one)))()
        seed += 1_000_003
    (folder / "result").write_text(json.dumps({"tried": tried, "failures": failures}))


def _say(text: str) -> None:
    sys.stdout.write(text.encode("ascii", "backslashreplace").decode() + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    if len(sys.argv) == 2:
        sys.exit(main(float(sys.argv[1])))
    hunt(sys.argv[1], int(sys.argv[2]), float(sys.argv[3]), Path(sys.argv[4]))
