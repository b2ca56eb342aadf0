"""Real data sets by name: from a local directory, or from OpenML."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

# Names on OpenML that differ from ours, with their versions.
OPENML = {
    "adult": ("adult", 2),
    "amazon_employee_access": ("Amazon_employee_access", 1),
    "breast_cancer_ljubljana": ("breast-cancer", 1),
    "breast_wisconsin": ("breast-w", 1),
    "german_credit": ("credit-g", 1),
    "heart_cleveland": ("heart-c", 1),
    "heart_hungarian": ("heart-h", 1),
    "lymphography": ("lymph", 1),
    "pima": ("diabetes", 1),
    "postoperative": ("postoperative-patient-data", 1),
    "promoters": ("molecular-biology_promoters", 1),
    "solar_flare2": ("solar-flare", 2),
}


@dataclass(frozen=True)
class Dataset:
    """A data set."""

    name: str
    X: Any  # features: a pandas frame, or an array of images or spectra
    y: Any  # classes; None for a set without target (the raw census, texts)
    split: Any = None  # "train", "valid" or "test" for each row, where the source says so

    @property
    def table(self) -> Any:
        """Features and classes in one frame, the classes as its last column, ``target``."""
        import pandas as pd

        frame = self.X if isinstance(self.X, pd.DataFrame) else pd.DataFrame(self.X.reshape(len(self.X), -1))
        return frame if self.y is None else frame.assign(target=np.asarray(self.y))

    def __repr__(self) -> str:
        shape = " × ".join(f"{n:,}" for n in self.X.shape)
        classes = "no target" if self.y is None else f"{len(np.unique(np.asarray(self.y)))} classes"
        return f"Dataset {self.name}: {shape}, {classes}" + ("" if self.split is None else ", split")


def load(name: str, directory: str | Path | None = None) -> Dataset:
    """Load a real data set.

    Reads ``name.parquet`` or ``name.npz`` from the directory, or else fetches the set of that name from
    OpenML (cached by scikit-learn in its data home). Raises `FileNotFoundError` where neither has it.

    Parameters
    ----------
    name : str
        For example "adult", "mushroom" or "madelon"; not a path.
    directory : path, optional
        By default the environment variable ``OFFSAMPLE_DATA``, relative to the working directory.

    Examples
    --------
    >>> from offsample.datasets import load
    >>> load("mushroom")  # doctest: +SKIP
    Dataset mushroom: 8,124 × 22, 2 classes
    """
    if not name or Path(name).name != name:
        raise ValueError(f"expected the name of a data set, not a path, got {name!r}")
    given = directory or os.environ.get("OFFSAMPLE_DATA")
    folder = Path(given).absolute() if given else None  # errors name the full path
    for path in (folder / f"{name}.parquet", folder / f"{name}.npz") if folder else ():
        if path.is_file():
            return _read(name, path)
    return _fetch(name, folder)


def _read(name: str, path: Path) -> Dataset:
    if path.suffix == ".npz":
        with np.load(path, allow_pickle=False) as arrays:
            return Dataset(name, arrays["X"], arrays.get("y"), arrays.get("split"))
    import pandas as pd

    frame = pd.read_parquet(path)
    split = frame.pop("split").to_numpy() if "split" in frame else None
    y = frame.pop("target") if "target" in frame else None
    return Dataset(name, frame, y, split)


def _fetch(name: str, folder: Path | None) -> Dataset:
    from sklearn.datasets import fetch_openml

    known, version = OPENML.get(name, (name.replace("_", "-"), 1))
    try:
        found = fetch_openml(known, version=version, as_frame=True, n_retries=1)
    except Exception as error:  # no network, no such set, no pandas: the cause is chained
        where = f"in {folder}" if folder else "on this machine (OFFSAMPLE_DATA names no directory)"
        raise FileNotFoundError(
            f"data set {name!r} is not {where} and could not be fetched from OpenML as {known!r}, version "
            f"{version} ({type(error).__name__}): set OFFSAMPLE_DATA to a directory with {name}.parquet"
        ) from error
    return Dataset(name, found.data, found.target)
