"""`python -m benchmarks.margin [first|relief|simba|gflip|growth]`: margin-based selectors beside the peers.

The first call, which compiles or loads compiled code, is apart. ReliefF of the peers runs on one thread, as
ours does. G-flip is fitted once, on all cores.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.ndimage import zoom
from scipy.stats import spearmanr

from benchmarks._timing import measure, print_versions
from benchmarks.bandwidth import read_bandwidth
from offsample.margin import GFlip, Relief, Simba
from offsample.margin._passes import gradient
from offsample.margin._sketch import make_sketch
from offsample.margin._space import Columns, make_space
from offsample.margin._utility import as_utility

SIZES = ((1000, 100), (2000, 500))
FACES_SIZE = (1000, 5100)
LINEAR = as_utility("linear")


def sample(n_rows: int, n_features: int) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Two classes that differ in the first twenty features."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, n_rows)
    X = rng.normal(size=(n_rows, n_features))
    X[:, :20] += 0.7 * y[:, None]
    return X, y


def relief_peers(n_neighbors: int) -> dict[str, Callable[[Any, Any], Any]]:
    """ReliefF of other packages, those that are installed."""
    peers: dict[str, Callable[[Any, Any], Any]] = {}
    try:
        from fast_select import ReliefF as FastReliefF

        peers["fast-select"] = FastReliefF(n_neighbors=n_neighbors, n_jobs=1, backend="cpu").fit
    except ImportError:
        print("fast-select is not installed")
    try:
        from skrebate import ReliefF as RebateReliefF

        peers["scikit-rebate"] = RebateReliefF(n_neighbors=n_neighbors, n_jobs=1).fit
    except ImportError:
        print("scikit-rebate is not installed")
    return peers


COLD = """
import time
from benchmarks.margin import sample
from offsample.margin import Relief
X, y = sample(1000, 100)
start = time.process_time()
Relief(n_neighbors=10).fit(X, y)
print(time.process_time() - start)
"""


def first_call() -> None:
    """CPU seconds of the first fit of a process: with nothing compiled, and with compiled code on disk."""
    with tempfile.TemporaryDirectory() as cache:
        environment = {**os.environ, "NUMBA_CACHE_DIR": cache}
        for when in ("compiling", "from the cache"):
            run = [sys.executable, "-c", COLD]
            done = subprocess.run(run, env=environment, check=True, capture_output=True, text=True)
            print(f"first call of a process, {when}: {float(done.stdout):.2f} CPU s")


def relief() -> None:
    print(
        "ReliefF, one thread; ratio = CPU seconds / ours; rho = rank correlation of the weights with ours\n"
    )
    print(
        f"{'rows x features':>15} {'k':>4} {'':<14} {'first s':>8} {'wall s':>8} {'cpu s':>8} "
        f"{'ratio':>7} {'rho':>7}"
    )
    for n_rows, n_features in SIZES:
        X, y = sample(n_rows, n_features)
        for k in (10, 100):
            ours = Relief(n_neighbors=k)
            base = measure(lambda f=ours.fit, X=X, y=y: f(X, y))
            for name, fit in {"offsample": ours.fit, **relief_peers(k)}.items():
                slow = name == "scikit-rebate"
                timing = (
                    base
                    if name == "offsample"
                    else measure(lambda f=fit, X=X, y=y: f(X, y), 1 if slow else 3)
                )
                fitted = fit.__self__
                weights = getattr(fitted, "feature_weights_", getattr(fitted, "feature_importances_", None))
                rho = spearmanr(weights, ours.feature_weights_).statistic
                print(
                    f"{n_rows:>6} x {n_features:<6} {k:>4} {name:<14} {timing.first:>8.2f} "
                    f"{timing.wall:>8.3f} {timing.cpu:>8.3f} {timing.cpu / base.cpu:>7.1f} {rho:>7.4f}"
                )


def simba() -> None:
    bandwidth = read_bandwidth()
    print(f"\nSimba, one pass of single steps, one thread; memory is read at {bandwidth / 1e9:.1f} GB/s\n")
    for n_rows, n_features in (SIZES[1], FACES_SIZE):
        X, y = sample(n_rows, n_features)
        space = make_space(Columns(np.ascontiguousarray(X.T), np.zeros(n_features, bool)))
        sketch = make_sketch(space)

        def steps(space: Any = space, sketch: Any = sketch, y: Any = y, shape: Any = X.shape) -> None:
            weights = np.ones(shape[1])
            for i in range(shape[0]):
                weights += gradient(space, y, weights, np.array([i]), LINEAR, sketch=sketch, skip_zero=True)

        timing = measure(steps, 2)
        rate = 4.0 * n_rows**2 * n_features / timing.cpu  # neighbours are searched in single precision
        print(
            f"{n_rows:>6} x {n_features:<6} wall {timing.wall:.2f} s  cpu {timing.cpu:.2f} s  "
            f"{rate / 1e9:.1f} GB/s = {rate / bandwidth:.0%} of the memory's"
        )


def madelon(directory: Path) -> tuple[NDArray[Any], NDArray[Any]]:
    """2000 training rows of 500 features."""
    import pyarrow.parquet as pq

    table = pq.read_table(directory / "madelon.parquet", filters=[("split", "==", "train")])
    columns = [table[name].to_numpy() for name in table.column_names if name not in ("split", "target")]
    return np.column_stack(columns), table["target"].to_numpy()


def faces(directory: Path) -> tuple[NDArray[Any], NDArray[Any]]:
    """1000 images, brought to the 85 x 60 pixels of the paper's."""
    archive = np.load(directory / "faces_lfw_gender_62x47.npz")
    rng = np.random.default_rng(0)
    rows = np.concatenate([rng.permutation(np.flatnonzero(archive["y"] == g))[:500] for g in (0, 1)])
    images = archive["X"][rows].astype(float)
    X = zoom(images, (1, 85 / images.shape[1], 60 / images.shape[2]), order=1)
    return X.reshape(len(rows), -1), archive["y"][rows]


def noise(_: Path) -> tuple[NDArray[Any], NDArray[Any]]:
    """Of the size of the faces, but Gaussian noise with 20 shifted features: many passes, the slow case."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=FACES_SIZE), np.arange(FACES_SIZE[0]) % 2
    X[:, :20] += 0.8 * y[:, None]
    return X, y


def gflip() -> None:
    print(f"\nG-flip to convergence, {os.cpu_count()} threads\n")
    directory = Path(os.environ.get("OFFSAMPLE_DATA") or "../shared/data")
    GFlip().fit(*sample(50, 4))
    for name, load in (("MADELON", madelon), ("faces", faces), ("noise", noise)):
        try:
            X, y = load(directory)
        except FileNotFoundError as error:
            print(f"{name}: {error}")
            continue
        for n_restarts in (1, 5):
            wall, cpu = time.perf_counter(), time.process_time()
            fitted = GFlip(n_jobs=-1, n_restarts=n_restarts, random_state=0).fit(X, y)
            wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
            passes = [len(history) for history in fitted.history_]
            print(
                f"{name:<8} {X.shape[0]} x {X.shape[1]}  restarts {n_restarts}  passes {passes}  "
                f"wall {wall:.1f} s  cpu {cpu:.1f} s  "
                f"{fitted.n_features_} features, score {fitted.score_:.4g}"
            )


def growth() -> None:
    print("\nGrowth: slope of log time against log rows and log features\n")
    makers = {
        "Relief": lambda: Relief(n_neighbors=10),
        "Simba": lambda: Simba(n_restarts=1, random_state=0),
        "GFlip": lambda: GFlip(n_restarts=1, random_state=0),
    }
    for name, make in makers.items():
        for axis, sizes in (
            ("rows", [(m, 100) for m in (500, 1000, 2000)]),
            ("features", [(1000, d) for d in (50, 100, 200, 400)]),
        ):
            seconds = []
            for n_rows, n_features in sizes:
                X, y = sample(n_rows, n_features)
                timing = measure(lambda make=make, X=X, y=y: make().fit(X, y), 1)
                seconds.append(timing.cpu)
            along = [size[axis == "features"] for size in sizes]
            slope = np.polyfit(np.log(along), np.log(seconds), 1)[0]
            shown = ", ".join(f"{n}: {s:.3f}" for n, s in zip(along, seconds, strict=True))
            print(f"{name:<7} {axis:<9} slope {slope:.2f}   (CPU s: {shown})")


PARTS = {"first": first_call, "relief": relief, "simba": simba, "gflip": gflip, "growth": growth}


def main() -> None:
    print_versions("numpy", "numba", "scikit-learn")
    for name in sys.argv[1:] or PARTS:
        PARTS[name]()


if __name__ == "__main__":
    main()
