"""Face images, how they are split, and what each method makes of the pixels."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.neighbors import KNeighborsClassifier

from offsample.datasets import load
from offsample.margin import GFlip, Relief, Simba, margin_score

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
# Weights of the pixels, from images, their classes and a seed.
Method = Callable[[Floats, Ints, int], Floats]

TRAINING_SHARE = 1000 / 1456  # of the images, in the paper
N_GREY_BINS = 16


class Split(NamedTuple):
    """Images and classes to select pixels from, and others to judge them by."""

    X: Floats
    y: Ints
    X_new: Floats
    y_new: Ints
    seed: int


@dataclass(frozen=True)
class Comparison:
    """What some methods made of the same splits.

    Attributes
    ----------
    sizes : tuple of int
        Numbers of pixels.
    shape : tuple of int
        Height and width of the images.
    accuracy : dict of ndarray of shape (n_splits, n_sizes)
        Of 1-NN on new images with each method's best pixels.
    orders : dict of ndarray of shape (n_splits, n_pixels)
        Pixels by falling weight.
    margins : dict of ndarray of shape (n_splits,)
        e(w) on the training images, grey values from 0 to 1, at each method's weights with maximum 1.
    lengths : dict of ndarray of shape (n_splits,)
        Of these weights: e(w) is proportional to them.
    all_pixels, equal_weights : ndarray of shape (n_splits,)
        Accuracy with all pixels, and e(w) with the same weight for each.
    correlation : dict of ndarray of shape (n_splits, n_sizes)
        Mean absolute correlation of two of each method's best pixels.
    """

    sizes: tuple[int, ...]
    shape: tuple[int, int]
    accuracy: dict[str, Floats]
    orders: dict[str, Ints]
    margins: dict[str, Floats]
    lengths: dict[str, Floats]
    all_pixels: Floats
    equal_weights: Floats
    correlation: dict[str, Floats]


def simba(*, n_restarts: int = 10, **options: object) -> Method:
    """Algorithm 2 on grey values as they are, ten starts, the paper's step unless told otherwise."""
    settings = {
        "scale": None,
        "step": 1.0,
        "batch_size": 1,
        "n_features_to_select": 1,
        "n_jobs": -1,
        **options,
    }
    return lambda X, y, seed: (
        Simba(n_restarts=n_restarts, random_state=seed, **settings).fit(X, y).feature_weights_
    )


def relief(X: Floats, y: Ints, seed: int) -> Floats:  # noqa: ARG001
    return Relief(scale=None, n_features_to_select=1, n_jobs=-1).fit(X, y).feature_weights_


def information_gain(X: Floats, y: Ints, seed: int = 0) -> Floats:  # noqa: ARG001
    """Mutual information of the class and each column in equal bins of the range of all."""
    width = np.ptp(X) / N_GREY_BINS
    bins = np.minimum((X - X.min()) // width, N_GREY_BINS - 1) if width else np.zeros_like(X)

    def entropy(counts: Floats) -> Floats:
        share = counts / len(y)
        return np.asarray(-np.sum(share * np.log(np.where(share > 0, share, 1)), axis=0))

    joint = np.array([[(bins[y == c] == v).sum(axis=0) for v in np.unique(bins)] for c in np.unique(y)])
    cells = joint.reshape(-1, joint.shape[2])
    return entropy(joint.sum(axis=0)) + entropy(joint.sum(axis=1)) - entropy(cells)


METHODS: dict[str, Method] = {"Simba": simba(), "Relief": relief, "Infogain": information_gain}


def compare(
    splits: Iterator[Split], shape: tuple[int, int], sizes: Sequence[int], methods: dict[str, Method]
) -> Comparison:
    """Rank the pixels of each split by each method, and judge the best of them by 1-NN."""
    accuracy: dict[str, list[list[float]]] = {name: [] for name in methods}
    correlation: dict[str, list[list[float]]] = {name: [] for name in methods}
    orders: dict[str, list[Ints]] = {name: [] for name in methods}
    margins: dict[str, list[float]] = {name: [] for name in methods}
    lengths: dict[str, list[float]] = {name: [] for name in methods}
    everything, equal = [], []
    for split in splits:
        unit = np.ptp(split.X)
        pairs = np.abs(np.corrcoef(split.X.T))
        for name, weigh in methods.items():
            weights = np.maximum(weigh(split.X, split.y, split.seed), 0)
            order = np.argsort(-weights, kind="stable")
            accuracy[name].append([accuracy_of(split, order[:n]) for n in sizes])
            correlation[name].append([_mean_of_pairs(pairs, order[:n]) for n in sizes])
            orders[name].append(order)
            w = np.sqrt(weights / weights.max())
            margins[name].append(margin_score(split.X / unit, split.y, w))
            lengths[name].append(float(np.linalg.norm(w)))
        everything.append(accuracy_of(split, np.arange(split.X.shape[1])))
        equal.append(margin_score(split.X / unit, split.y, np.ones(split.X.shape[1])))
    return Comparison(
        tuple(sizes),
        shape,
        {name: np.array(values) for name, values in accuracy.items()},
        {name: np.array(values) for name, values in orders.items()},
        {name: np.array(values) for name, values in margins.items()},
        {name: np.array(values) for name, values in lengths.items()},
        np.array(everything),
        np.array(equal),
        {name: np.array(values) for name, values in correlation.items()},
    )


def accuracy_of(split: Split, pixels: Ints) -> float:
    """Share of the new images that 1-NN gets right with these pixels."""
    model = KNeighborsClassifier(1).fit(split.X[:, pixels], split.y)
    return float(model.score(split.X_new[:, pixels], split.y_new))


def _mean_of_pairs(values: Floats, chosen: Ints) -> float:
    inner = values[np.ix_(chosen, chosen)]
    return float((np.nansum(inner) - np.nansum(np.diag(inner))) / (len(chosen) * (len(chosen) - 1)))


def gender_splits(n_splits: int, *, same_light: bool = False) -> Iterator[Split]:
    """1000 images of the Labeled Faces in the Wild, and 456 others, half of either class; one of a person.

    With `same_light` each image is brought to the mean and the standard deviation of them all.
    """
    data = load("faces_lfw_gender_62x47")
    images, gender = _flat(data.X), np.asarray(data.y, np.int64)
    if same_light:
        own_mean, own_spread = images.mean(axis=1, keepdims=True), images.std(axis=1, keepdims=True)
        images = images.mean() + images.std() * (images - own_mean) / own_spread
    for seed in range(n_splits):
        random = np.random.default_rng(seed)
        of_each = [random.permutation(np.flatnonzero(gender == g))[:728] for g in (0, 1)]
        rows = random.permutation(np.concatenate(of_each))
        train, new = rows[:1000], rows[1000:]
        yield Split(images[train], gender[train], images[new], gender[new], seed)


def person_splits(name: str, n_splits: int) -> Iterator[Split]:
    """Images of persons of whom half, drawn at random, are one class: every person is on both sides."""
    data = load(name)
    images, person = _flat(data.X), np.asarray(data.y)
    persons = np.unique(person)
    for seed in range(n_splits):
        random = np.random.default_rng(seed)
        group = np.isin(person, random.permutation(persons)[: len(persons) // 2]).astype(np.int64)
        rows = random.permutation(len(images))
        train, new = np.split(rows, [round(TRAINING_SHARE * len(rows))])
        yield Split(images[train], group[train], images[new], group[new], seed)


def image_shape(name: str) -> tuple[int, int]:
    height, width = load(name).X.shape[1:]
    return int(height), int(width)


def _flat(images: NDArray[np.uint8]) -> Floats:
    return images.reshape(len(images), -1).astype(np.float64)


GENDER = "faces_lfw_gender_62x47"
GENDER_SIZES = (10, 20, 50, 100, 200, 500, 1000, 2000)


@cache
def gender_comparison(n_splits: int, *, same_light: bool = False) -> Comparison:
    """The three methods on faces of men and women. Figures 5 to 7 share it."""
    splits = gender_splits(n_splits, same_light=same_light)
    methods = {**METHODS, "Simba": simba(n_restarts=3)} if same_light else METHODS
    return compare(splits, image_shape(GENDER), GENDER_SIZES, methods)


def flipped(splits: Iterator[Split]) -> tuple[Floats, Floats, Floats]:
    """G-flip from the empty set: accuracies, numbers of pixels, and passes over the pixels."""
    found = []
    for split in splits:
        gflip = GFlip(n_restarts=1, scale=None, n_jobs=-1, random_state=split.seed).fit(split.X, split.y)
        chosen = np.flatnonzero(gflip.support_)
        found.append([accuracy_of(split, chosen), float(len(chosen)), float(gflip.n_iter_)])
    accuracy, n_pixels, n_passes = np.array(found).T
    return accuracy, n_pixels, n_passes
