"""Margin-based selectors beside the peers."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from functools import cache, partial
from importlib import import_module
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks._frame import Case, Tool, topic
from benchmarks._measure import Quality
from benchmarks.bandwidth import reads

Data = tuple[NDArray[np.float64], NDArray[np.int64]]
FLOOR = "memory"


def sample(n_rows: int, n_features: int) -> Data:
    """Two classes that differ in the first twenty features."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, n_rows)
    X = rng.normal(size=(n_rows, n_features))
    X[:, :20] += 0.7 * y[:, None]
    return X, y


def relief(data: Data, k: int) -> Callable[[], Any]:
    from offsample.margin import Relief

    return lambda: Relief(n_neighbors=k, n_features_to_select=10).fit(*data)  # as the peers do


def fast_select(data: Data, k: int) -> Callable[[], Any]:
    from fast_select import ReliefF

    return lambda: ReliefF(n_neighbors=k, n_jobs=1, backend="cpu").fit(*data)


def rebate(data: Data, k: int) -> Callable[[], Any]:
    from skrebate import ReliefF

    return lambda: ReliefF(n_neighbors=k, n_jobs=1).fit(*data)


def agreement(data: Data, k: int) -> Callable[[Any], float]:
    """Rank correlation of the weights with ours."""
    from scipy.stats import spearmanr

    ours = cache(lambda: relief(data, k)().feature_weights_)  # not before the first call is timed

    def judge(fitted: Any) -> float:
        theirs = getattr(fitted, "feature_weights_", getattr(fitted, "feature_importances_", None))
        return float(spearmanr(theirs, ours()).statistic)

    return judge


def relief_cases(sizes: list[tuple[int, int]]) -> Iterator[Case]:
    for n_rows, n_features in sizes:
        data = sample(n_rows, n_features)
        for k in (10, 100):
            judge = agreement(data, k)
            yield Case(
                f"ReliefF, {n_rows:,} × {n_features}, {k} neighbours",
                [
                    Tool("offsample Relief", partial(relief, data, k), quality=judge),
                    Tool("fast-select ReliefF", partial(fast_select, data, k), "fast-select", judge),
                    Tool("scikit-rebate ReliefF", partial(rebate, data, k), "scikit-rebate", judge),
                ],
                "rank correlation with our weights",
                "higher",
            )


# The fit by itself, when everything that can be imported before is imported.
COLD = """
import time
import numba, sklearn.utils
from benchmarks.margin import {prepare}, sample
call = {prepare}(sample(1000, 100), 10)
started = time.process_time()
call()
print(time.process_time() - started)
"""
IMPORTS = "import numpy, sklearn.utils, numba, benchmarks.margin"


def new_process(program: str, compiled: str | None = None) -> Callable[[], str]:
    """What a program prints that starts with the compiled code of this folder, or without any."""

    def run() -> str:
        with tempfile.TemporaryDirectory() as empty:
            environment = {**os.environ, "NUMBA_CACHE_DIR": compiled or empty}
            command = [sys.executable, "-c", program]
            return subprocess.run(command, env=environment, check=True, capture_output=True, text=True).stdout

    return run


def first_of_fast_select() -> Callable[[], str]:
    import_module("fast_select")  # whether it is there
    return new_process(COLD.format(prepare="fast_select"))


def first_fits() -> Iterator[Case]:
    ours = COLD.format(prepare="relief")
    with tempfile.TemporaryDirectory() as folder:
        yield Case(
            "first ReliefF fit of a new process, 1,000 × 100, 10 neighbours",
            [
                Tool("offsample, nothing compiled", partial(new_process, ours), quality=float),
                Tool("offsample, compiled code on disk", partial(new_process, ours, folder), quality=float),
                Tool("fast-select, nothing compiled", first_of_fast_select, "fast-select", float),
                Tool("the imports alone", partial(new_process, IMPORTS), FLOOR),
            ],
            "CPU seconds of the fit itself",
            "lower",
        )


def simba_pass(X: NDArray[np.float64], y: NDArray[np.int64]) -> Callable[[], Any]:
    from offsample.margin._passes import gradient
    from offsample.margin._sketch import Sample
    from offsample.margin._space import Columns, make_space
    from offsample.margin._utility import as_utility

    space = make_space(Columns(np.ascontiguousarray(X.T), np.zeros(X.shape[1], bool)))
    sample, linear = Sample.of(space, y), as_utility("linear")

    def steps() -> None:
        weights = np.ones(X.shape[1])
        for i in range(X.shape[0]):
            weights += gradient(sample, weights, np.array([i]), linear, skip_zero=True)

    return steps


def madelon() -> Data:
    """2000 training rows of 500 features."""
    from offsample.datasets import load

    found = load("madelon")
    train = found.split == "train"
    return found.X[train].to_numpy(float), np.asarray(found.y)[train]


def faces() -> Data:
    """1000 images, brought to the 85 x 60 pixels of the paper's."""
    from scipy.ndimage import zoom

    from offsample.datasets import load

    found = load("faces_lfw_gender_62x47")
    rng = np.random.default_rng(0)
    rows = np.concatenate([rng.permutation(np.flatnonzero(found.y == g))[:500] for g in (0, 1)])
    images = found.X[rows].astype(float)
    X = zoom(images, (1, 85 / images.shape[1], 60 / images.shape[2]), order=1)
    return X.reshape(len(rows), -1), found.y[rows]


def noise() -> Data:
    """Of the size of the faces, but Gaussian noise with 20 shifted features: many passes, the slow case."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(1000, 5100)), np.arange(1000) % 2
    X[:, :20] += 0.8 * y[:, None]
    return X, y


def gflip(load: Callable[[], Data], options: dict[str, int]) -> Callable[[], Any]:
    from offsample.margin import GFlip

    data = load()
    return lambda: GFlip(n_jobs=-1, random_state=0, **options).fit(*data)


def gflip_cases(data: dict[str, Callable[[], Data]]) -> Iterator[Case]:
    from offsample.margin import GFlip

    searches = {f"the default, {GFlip().n_restarts} searches": {}, "1 search": {"n_restarts": 1}}
    for name, load in data.items():
        yield Case(
            f"G-flip, {name}",
            [
                Tool(f"offsample GFlip, {said}", partial(gflip, load, options), quality=evaluation)
                for said, options in searches.items()
            ],
            "evaluation function",
            "higher",
        )


def evaluation(fitted: Any) -> Quality:
    passes = sum(len(history) for history in fitted.history_)
    return Quality(fitted.score_, f"{fitted.n_features_} features, {passes} passes")


@topic(
    "margin",
    "Feature sets by margins",
    "ReliefF on one thread, with the rank correlation of the weights with ours; the first fit of a new "
    "interpreter, which it starts; a pass of Simba in single steps beside reading the bytes that it reads; "
    "G-flip to convergence on all cores.",
    peers={
        "fast-select": "It also runs on a GPU, and has TuRF: use it for those.",
        "scikit-rebate": "Use it for SURF, SURF* and TuRF; ours is Relief, ReliefF and MultiSURF, Simba and "
        "G-flip.",
        FLOOR: "",
    },
    packages=("fast-select", "skrebate"),
    patience=6.0,
)
def cases(small: bool) -> Iterator[Case]:
    yield from relief_cases([(200, 30)] if small else [(1000, 100), (2000, 500)])
    if not small:
        yield from first_fits()
    for n_rows, n_features in [(100, 50)] if small else [(2000, 500), (1000, 5100)]:
        # Neighbours are searched in single precision.
        n_bytes = 4 * n_rows**2 * n_features
        yield Case(
            f"Simba, one pass of single steps, {n_rows:,} × {n_features:,}",
            [
                Tool("offsample Simba", partial(simba_pass, *sample(n_rows, n_features))),
                Tool("reading the same bytes", partial(reads, n_bytes), peer=FLOOR),
            ],
        )
    data = {"MADELON, 2,000 × 500": madelon, "faces, 1,000 × 5,100": faces, "noise, 1,000 × 5,100": noise}
    yield from gflip_cases({"two classes, 50 × 10": partial(sample, 50, 10)} if small else data)
