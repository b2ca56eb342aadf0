"""The process that measures a topic: ``python -m benchmarks._worker MODULE TOPIC JOURNAL BEGIN small|full``.

Every step is appended to a journal, so that nothing is lost with the process.
"""

from __future__ import annotations

import json
import sys
import time
import warnings
from dataclasses import asdict
from importlib import import_module
from pathlib import Path
from typing import Any

from benchmarks._frame import _REGISTRY, FAILED, MEASURED, NOT_INSTALLED, Case, Tool, Topic
from benchmarks._measure import Measured, Quality, measure

__all__ = ["main"]


def main(module: str, name: str, journal: str, begin: str, size: str) -> None:
    """Measure the tools of a topic from the ``begin``-th on."""
    warnings.simplefilter("ignore")
    import_module(module)
    chosen = _REGISTRY[name]
    import numba  # noqa: F401  # an import, as those of the peers: not part of anybody's first call

    index = 0
    with Path(journal).open("a", encoding="utf-8", buffering=1) as file:

        def note(event: str, **rest: Any) -> None:
            file.write(json.dumps({"event": event, **rest}, ensure_ascii=False) + "\n")

        for case in chosen.cases(size == "small"):
            if index + len(case.tools) > int(begin):
                note("case", case=_describe(case))
            for tool in case.tools:
                if index >= int(begin):
                    whose = {"tool": tool.name, "peer": tool.peer}
                    note("start", index=index, at=time.time(), case=case.name, **whose)
                    found = _measured(chosen, tool)
                    note("done", case=case.name, found={**whose, **found})
                    print(f"{name}: {case.name}: {tool.name}: {_shown(found)}", flush=True)
                index += 1


def _describe(case: Case) -> dict[str, Any]:
    return {
        "name": case.name,
        "quality": case.quality,
        "better": case.better,
        "trials": case.trials,
        "sizes": dict(case.sizes),
    }


def _measured(chosen: Topic, tool: Tool) -> dict[str, Any]:
    try:
        call = tool.prepare()
        if tool.timed:
            found = measure(
                call,
                tool.quality,
                repeats=tool.repeats,
                patience=chosen.patience,
                always_repeat=tool.peer is None,
            )
        else:
            found = _judged(tool, call())
    except ImportError as error:
        return {"status": NOT_INSTALLED, "reason": _sentence(error)}
    except Exception as error:  # a tool that fails is a result, too
        return {"status": FAILED, "reason": f"{type(error).__name__}: {_sentence(error)}"}
    return {"status": MEASURED, **{key: _rounded(value) for key, value in asdict(found).items()}}


def _judged(tool: Tool, result: Any) -> Measured:
    judged = tool.quality(result) if tool.quality else None
    quality = judged if isinstance(judged, Quality) or judged is None else Quality(float(judged))
    if quality is None:
        return Measured(None, None, None, None, 0)
    return Measured(None, None, None, None, 0, quality.value, quality.note, quality.details)


def _sentence(error: BaseException) -> str:
    return " ".join(str(error).split())[:160]


def _rounded(value: Any) -> Any:
    if isinstance(value, float):
        return float(f"{value:.4g}")
    return [_rounded(part) for part in value] if isinstance(value, (tuple, list)) else value


def _shown(found: dict[str, Any]) -> str:
    if found["status"] != MEASURED:
        return f"{found['status']}: {found['reason']}"
    shown = {key: found[key] for key in ("first", "wall", "cpu", "peak_mb", "quality")}
    return "  ".join(f"{key} {value:.4g}" for key, value in shown.items() if value is not None)


if __name__ == "__main__":
    main(*sys.argv[1:])
