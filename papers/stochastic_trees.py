"""Stochastic linear trees: the experiments of Jurgenson & Mansour (2018).

Run ``python -m papers.stochastic_trees [hyperplanes|bias|noise|xor|uci|guarantee|all]``. Each experiment is
printed beside the paper's numbers; ``all`` also writes the tables to ``papers/results/stochastic_trees.txt``.

What the paper leaves open, and what we do:

- *Solver.* The paper approximates the best test on grids; "published" is its algorithm with the exact test
  (``rescale=False, lookahead=False``). "ours" is the default of `StochasticTreeClassifier`.
- *Leaves and threshold.* Not said. Purities, and the training share of the positive class as the threshold;
  with majority leaves, shown in one column, most of the paper's numbers are not reached.
- *Sample sizes of Appendix I.1.* Not said: 1,000 rows to train and 10,000 to test, ten repetitions.
- *Curves.* Figures 3 and 9 have no numbers in the text; only their order can be compared.
- *UCI.* Neither encoding nor evaluation is said. One-hot categories, standardised numbers, unit rows; 5 times
  10-fold cross-validation, with the standard error of Nadeau & Bengio for overlapping training sets.

References
----------
T. Jurgenson, Y. Mansour (2018). Learning Decision Trees with Stochastic Linear Classifiers. ALT.
C. Nadeau, Y. Bengio (2003). Inference for the Generalization Error. Machine Learning 52.
"""

from __future__ import annotations

import argparse
import os
import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.compose import make_column_selector, make_column_transformer
from sklearn.impute import SimpleImputer
from sklearn.model_selection import RepeatedStratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeClassifier

from offsample.datasets import make_oblique_xor
from offsample.induction import StochasticTreeClassifier, best_stochastic_test
from papers._table import format_table

__all__ = ["bias", "guarantee", "hyperplanes", "main", "noise", "uci", "xor"]

Floats = NDArray[np.float64]
RESULTS = Path(__file__).parent / "results"


def _published(**options: Any) -> StochasticTreeClassifier:
    return StochasticTreeClassifier(rescale=False, lookahead=False, **options)


def _unit(rng: np.random.Generator, n: int, d: int) -> Floats:
    X = rng.normal(size=(n, d))
    return np.asarray(X / np.linalg.norm(X, axis=1, keepdims=True))


def _sample(rng: np.random.Generator, n: int, normals: Floats, ratio: float = 1.0) -> tuple[Floats, Any]:
    """Unit vectors, and the product of their signs for some hyperplanes; `ratio` negatives per positive."""
    X = _unit(rng, 3 * n, normals.shape[1])
    y = (np.prod(np.sign(X @ normals.T), axis=1) > 0).astype(int)
    if ratio == 1.0:
        return X[:n], y[:n]
    n_positive = round(n / (1 + ratio))
    rows = np.concatenate([np.flatnonzero(y == 1)[:n_positive], np.flatnonzero(y == 0)[: n - n_positive]])
    return X[rows], y[rows]


def hyperplanes(n_repeats: int = 10) -> str:
    """Appendix I.1 but for the bias: targets in the plane."""
    axes = np.eye(2)
    cases: list[tuple[str, Callable[[np.random.Generator], Floats], float, int, str]] = [
        ("one hyperplane", lambda rng: _unit(rng, 1, 2), 1.0, 15, ".99"),
        ("one hyperplane, classes 2:1", lambda rng: _unit(rng, 1, 2), 2.0, 15, ".94"),
        ("xor of two, fixed", lambda _: axes, 1.0, 15, ".94"),
        ("xor of two, random", lambda rng: _unit(rng, 2, 2), 1.0, 15, ".90"),
        *(
            ("xor of three, random", lambda rng: _unit(rng, 3, 2), 1.0, splits, accuracy)
            for splits, accuracy in ((15, ".81"), (30, ".90"), (60, ".93"))
        ),
    ]
    rows = []
    for name, draw, ratio, splits, printed in cases:
        found: dict[str, list[float]] = {}
        for seed in range(n_repeats):
            rng = np.random.default_rng(seed)
            normals = draw(rng)
            X, y = _sample(rng, 1000, normals, ratio)
            X_new, y_new = _sample(rng, 10_000, normals, ratio)
            for label, model in (
                ("published", _published(max_splits=splits, scale=None)),
                ("tuned", _published(max_splits=splits, scale=None, threshold="tuned")),
                ("majority", _published(max_splits=splits, scale=None, leaf="majority", threshold=0.5)),
                ("ours", StochasticTreeClassifier(max_splits=splits, scale=None)),
                ("ours tuned", StochasticTreeClassifier(max_splits=splits, scale=None, threshold="tuned")),
            ):
                found.setdefault(label, []).append(model.fit(X, y).score(X_new, y_new))
            root = _published(max_splits=1, scale=None).fit(X, y)
            first = root.tree_.reach(root._preparation.rows(X_new))[:, 1]
            found.setdefault("soft", []).append(float(np.abs(y_new - first).mean()))
        cells = [
            f"{np.mean(found[label]):.3f} ± {np.std(found[label]):.3f}"
            for label in ("published", "tuned", "majority", "ours", "ours tuned")
        ]
        rows.append([name, splits, printed, *cells, f"{np.mean(found['soft']):.2f}"])
    header = ["target", "splits", "paper", "published", "tuned", "majority", "ours", "tuned", "soft error"]
    return "\n".join(
        [
            f"Appendix I.1: accuracy in the plane, mean ± sd of {n_repeats} samples",
            format_table(header, rows),
            "",
            "Thresholds: the share of positives, the best in training (tuned), 1/2 (majority leaves).",
            "Soft error: mean |y - probability of the first child| after one split. The paper has about .3",
            "(printed as an accuracy) for the first two; the true hyperplane has (1 - 2/π)/2 = .18, and so",
            "has the exact test. Random pairs can be close to each other: classes are then unbalanced, and",
            "the share of positives is a bad threshold. There the many soft tests of the published tree do",
            "better than the few steep ones of ours.",
        ]
    )


def bias(n_repeats: int = 10) -> str:
    """Table 1."""
    printed = {0: (0.8, 1.0), 1: (0.71, 0.707), 1.5: (0.67, 0.555), 2: (0.63, 0.447), 3: (0.6, 0.316)}
    printed |= {5: (0.55, 0.196), 10: (0.51, 0.099)}
    rows = []
    for b, (mean, theta) in printed.items():
        means, last, gains = [], [], []
        for seed in range(n_repeats):
            rng = np.random.default_rng(seed)
            X, y = _sample(rng, 1000, _unit(rng, 1, 2))
            padded = np.column_stack([X, np.full(len(X), float(b))]) / np.sqrt(1 + b**2)
            test = best_stochastic_test(padded, y)
            means.append(float(test.first_child(padded)[y == 1].mean()))
            last.append(abs(float(test.weights[-1])))
            gains.append(test.gain / best_stochastic_test(X, y).gain)
        rows.append(
            [
                b,
                f"{mean:.2f}",
                f"{np.mean(means):.3f}",
                f"{theta:.3f}",
                f"{1 / np.sqrt(1 + b**2):.3f}",
                f"{np.mean(last):.3f}",
                f"{np.mean(gains):.4f}",
                f"{1 / (1 + b**2):.4f}",
            ]
        )
    header = ["bias", "paper c_b", "ours", "paper θ_b", "ours", "weight of the bias", "gain ratio", "θ_b²"]
    return "\n".join(
        [
            f"Table 1: mean probability of the first child over positive rows, {n_repeats} samples",
            format_table(header, rows),
            "",
            "The gain shrinks by exactly θ_b²: the constant costs confidence, as the paper says. With b = 0",
            "the mean is (1 + 2/π)/2 = .818 for the true normal.",
        ]
    )


def noise(n_seeds: int = 1) -> str:
    """Figure 9 (and 2): a hyperplane in 100 dimensions with noisy classes."""
    models = _models(depth=10)
    rows = []
    for rate in (0.0, 0.1, 0.2, 0.3, 0.4):
        scores: dict[str, list[float]] = {name: [] for name in models}
        for seed in range(n_seeds):
            rng = np.random.default_rng(seed)
            normal = _unit(rng, 1, 100)
            X, y = _sample(rng, 10_000, normal)
            y = np.where(rng.random(len(y)) < rate, 1 - y, y)
            X_new, y_new = _sample(rng, 10_000, normal)
            for name, model in models.items():
                scores[name].append(model.fit(X, y).score(X_new, y_new))
        rows.append([rate, *(f"{np.mean(scores[name]):.3f}" for name in models)])
    return "\n".join(
        [
            f"Figure 9: hyperplane, d = 100, n = 10,000, classes flipped; clean new rows, {n_seeds} seed(s)",
            format_table(["flipped", *models], rows),
            "",
            "Paper: the SVM best, the stochastic tree close to it, CART far below. A curve without numbers.",
        ]
    )


def _models(depth: int) -> dict[str, Any]:
    return {
        "published": _published(max_depth=depth),
        "ours": StochasticTreeClassifier(),
        "CART": DecisionTreeClassifier(max_depth=depth, random_state=0),
        "linear SVM": LinearSVC(),
    }


def xor(n_seeds: int = 3) -> str:
    """Figure 3: the exclusive or of two hyperplanes along no axis."""
    models = _models(depth=10)
    rows = []
    for d in (6, 10, 14, 20, 26, 30):
        scores: dict[str, list[float]] = {name: [] for name in models}
        n_splits = []
        for seed in range(n_seeds):
            X, y = make_oblique_xor(20_000, d, seed)
            for name, model in models.items():
                scores[name].append(model.fit(X[:10_000], y[:10_000]).score(X[10_000:], y[10_000:]))
            n_splits.append(models["ours"].n_splits_)
        rows.append([d, *(f"{np.mean(scores[name]):.3f}" for name in models), f"{np.mean(n_splits):.0f}"])
    return "\n".join(
        [
            f"Figure 3: xor of two hyperplanes, n = 10,000, 50 splits or depth 10; mean of {n_seeds} seeds",
            format_table(["d", *models, "splits of ours"], rows),
            "",
            "Paper: the stochastic tree best at every d and falling with d, CART next, the SVM at chance.",
            "The target is even: no linear test has a gain at the root, so that the published algorithm",
            "starts from noise. Ours starts from second moments, and keeps what helps off the sample.",
        ]
    )


def _data(name: str) -> tuple[Any, Any]:
    import pandas as pd

    folder = Path(os.environ.get("OFFSAMPLE_DATA") or "../shared/data")
    table = pd.read_parquet(folder / f"{name}.parquet").drop(columns="split", errors="ignore")
    y = table.pop("target").astype(str).to_numpy()
    return table, (y != "0").astype(int) if name == "heart_cleveland" else y


def uci(n_repeats: int = 5) -> str:
    """Figure 1."""
    printed = {
        "promoters": (0.80, 0.87, 0.91),
        "heart_cleveland": (0.70, 0.73, 0.77),
        "heart_statlog": (0.83, 0.78, 0.85),
    }
    rows = []
    for name, (cart, svm, tree) in printed.items():
        X, y = _data(name)
        categories = make_column_selector(dtype_include=["category", object, "string"])
        numbers = make_column_selector(dtype_include="number")

        def encoded(model: Any, categories: Any = categories, numbers: Any = numbers) -> Any:
            one_hot = make_pipeline(
                SimpleImputer(strategy="most_frequent"), OneHotEncoder(handle_unknown="ignore")
            )
            scaled = make_pipeline(SimpleImputer(), StandardScaler())
            return make_pipeline(make_column_transformer((one_hot, categories), (scaled, numbers)), model)

        models = {
            "CART": encoded(DecisionTreeClassifier(max_depth=5, random_state=0)),
            "linear SVM": encoded(LinearSVC(random_state=0)),
            "published": _published(),
            "published, majority": _published(leaf="majority", threshold=0.5),
            "ours": StochasticTreeClassifier(),
        }
        folds = RepeatedStratifiedKFold(n_splits=10, n_repeats=n_repeats, random_state=0)
        scores: dict[str, list[float]] = {label: [] for label in models}
        for train, test in folds.split(X, y):
            for label, model in models.items():
                scores[label].append(model.fit(X.iloc[train], y[train]).score(X.iloc[test], y[test]))
        cells = []
        for label in models:
            n = len(scores[label])
            error = np.sqrt((1 / n + 1 / 9) * np.var(scores[label], ddof=1))
            cells.append(f"{np.mean(scores[label]):.3f} ± {error:.3f}")
        rows.append([name, f"{cart:.2f}", cells[0], f"{svm:.2f}", cells[1], f"{tree:.2f}", *cells[2:]])
    header = ["data", "paper CART", "CART", "paper SVM", "SVM", "paper tree", "published", "majority", "ours"]
    return "\n".join(
        [
            f"Figure 1: accuracy, {n_repeats} times 10-fold cross-validation ± standard error",
            format_table(header, rows),
            "",
            "The paper says neither how columns were encoded and scaled nor how accuracy was measured. The",
            "linear SVM differs most, by up to .11 on the heart data; there ours is as good as any tree.",
        ]
    )


def guarantee(n_problems: int = 300) -> str:
    """Theorem 6.2: whether the grid solvers keep their ε."""
    rows = []
    for solver, epsilon, n in (
        ("fixed_p_search_q", 0.5, n_problems),
        ("fixed_p_search_q", 0.1, n_problems),
        ("fixed_pq", 0.5, n_problems),
        ("fixed_pq", 0.2, n_problems // 5),
    ):
        losses, relative = [], []
        for seed in range(n):
            rng = np.random.default_rng(seed)
            m, d = int(rng.integers(4, 60)), int(rng.integers(2, 8))
            X = rng.normal(size=(m, d)) + rng.choice([0.0, 0.5, 3.0])
            X /= np.linalg.norm(X, axis=1, keepdims=True)
            y = (X[:, 0] + rng.normal(0, rng.choice([0.1, 1.0]), m) > 0).astype(int)
            y[:2] = [0, 1]
            D = rng.random(m)
            exact = best_stochastic_test(X, y, D).gain
            gain = best_stochastic_test(X, y, D, solver=solver, epsilon=epsilon).gain
            losses.append(exact - gain)
            relative.append(1 - gain / exact if exact > 1e-12 else 0.0)
        worst = max(losses)
        rows.append([solver, epsilon, n, f"{worst:.2e}", f"{worst / epsilon:.4f}", f"{max(relative):.1%}"])
    for solver, epsilon, tilt in (
        ("fixed_pq", 0.5, 1e-6),
        ("fixed_pq", 0.1, 1e-6),
        ("fixed_p_search_q", 0.1, 1e-6),
    ):
        angles = np.deg2rad([30, -30, 210, 150]) + np.array([0, 0, tilt, tilt])
        X, y = np.stack([np.cos(angles), np.sin(angles)], axis=1), [1, 1, 0, 0]
        D = [0.15, 0.15, 0.35, 0.35]
        exact = best_stochastic_test(X, y, D).gain
        loss = exact - best_stochastic_test(X, y, D, solver=solver, epsilon=epsilon).gain
        rows.append([solver, epsilon, "thin", f"{loss:.2e}", f"{loss / epsilon:.4f}", f"{loss / exact:.1%}"])
    header = ["solver", "ε", "problems", "largest loss", "loss / ε", "of the gain"]
    return "\n".join(
        [
            "Theorem 6.2: loss of the grid solvers against the exact one, C = 100",
            format_table(header, rows),
            "",
            "Thin: a and b nearly parallel (four rows, tilted by 1e-6). FixedPQ breaks its promise there:",
            "the ellipse of attainable pairs is thinner than its grid, and the cell of the optimum has no",
            "feasible corner, which the proof takes for impossible (Lemma E.2).",
        ]
    )


EXPERIMENTS: dict[str, Callable[[], str]] = {
    "hyperplanes": hyperplanes,
    "bias": bias,
    "noise": noise,
    "xor": xor,
    "uci": uci,
    "guarantee": guarantee,
}


def main(arguments: list[str] | None = None) -> int:
    warnings.simplefilter("ignore")
    parser = argparse.ArgumentParser(
        prog="python -m papers.stochastic_trees", description=__doc__.splitlines()[0]
    )
    parser.add_argument("experiment", nargs="?", default="all", choices=[*EXPERIMENTS, "all"])
    chosen = parser.parse_args(arguments).experiment
    texts = []
    for name, run in EXPERIMENTS.items():
        if chosen in (name, "all"):
            texts.append(run())
            print(texts[-1], end="\n\n", flush=True)
    if chosen == "all":
        RESULTS.mkdir(exist_ok=True)
        (RESULTS / "stochastic_trees.txt").write_text("\n\n\n".join(texts) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
