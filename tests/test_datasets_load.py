from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from offsample.datasets import Dataset, load

pd = pytest.importorskip("pandas")
pytest.importorskip("pyarrow")


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, Any]]:
    """What is asked of OpenML, which has every set with two rows."""
    calls = []

    def fetch(name: str, **options: Any) -> SimpleNamespace:
        calls.append((name, options["version"]))
        assert options["as_frame"] is True
        frame = pd.DataFrame({"a": [1, 2]})
        return SimpleNamespace(data=frame, target=pd.Series(["x", "y"], name="class"))

    monkeypatch.setattr("sklearn.datasets.fetch_openml", fetch)
    monkeypatch.delenv("OFFSAMPLE_DATA", raising=False)
    return calls


def write_parquet(folder: Path, name: str = "small", **more: list[Any]) -> Any:
    frame = pd.DataFrame({"a": [1, 2, 3], "b": ["u", "v", "u"], **more})
    frame.to_parquet(folder / f"{name}.parquet")
    return frame


def test_parquet_with_target_and_split(tmp_path: Path, asked: list[Any]) -> None:
    write_parquet(tmp_path, target=["x", "y", "x"], split=["train", "train", "test"])
    found = load("small", tmp_path)
    assert not asked
    assert list(found.X.columns) == ["a", "b"]
    assert found.y.tolist() == ["x", "y", "x"]
    assert found.split.tolist() == ["train", "train", "test"]
    assert repr(found) == "Dataset small: 3 × 2, 2 classes, split"
    assert list(found.table.columns) == ["a", "b", "target"]
    assert found.table["target"].tolist() == ["x", "y", "x"]
    assert list(found.X.columns) == ["a", "b"]  # the table is a new one


def test_parquet_without_target(tmp_path: Path) -> None:
    frame = write_parquet(tmp_path)
    found = load("small", str(tmp_path))
    assert found.y is None
    assert found.split is None
    pd.testing.assert_frame_equal(found.table, frame)
    assert repr(found) == "Dataset small: 3 × 2, no target"


def test_npz_of_images(tmp_path: Path, asked: list[Any]) -> None:
    X = np.arange(24).reshape(3, 2, 4)
    np.savez(tmp_path / "faces.npz", X=X, y=np.array([0, 1, 1]))
    found = load("faces", tmp_path)
    assert not asked
    np.testing.assert_array_equal(found.X, X)
    assert found.y.tolist() == [0, 1, 1]
    assert found.split is None
    assert repr(found) == "Dataset faces: 3 × 2 × 4, 2 classes"
    # A row of the table is an image.
    assert found.table.shape == (3, 9)
    assert found.table.iloc[1, :8].tolist() == X[1].ravel().tolist()
    assert found.table["target"].tolist() == [0, 1, 1]


def test_npz_with_split_and_without_target(tmp_path: Path) -> None:
    np.savez(
        tmp_path / "one.npz", X=np.zeros((2, 3)), y=np.array(["a", "b"]), split=np.array(["train", "test"])
    )
    assert load("one", tmp_path).split.tolist() == ["train", "test"]
    np.savez(tmp_path / "two.npz", X=np.zeros((2, 3)))
    assert load("two", tmp_path).y is None
    assert load("two", tmp_path).table.shape == (2, 3)


def test_parquet_comes_before_npz(tmp_path: Path) -> None:
    write_parquet(tmp_path)
    np.savez(tmp_path / "small.npz", X=np.zeros((2, 3)), y=np.array([0, 1]))
    assert load("small", tmp_path).X.shape == (3, 2)


def test_directory_of_the_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "one").mkdir()
    (tmp_path / "two").mkdir()
    write_parquet(tmp_path / "one", target=["x", "y", "x"])
    write_parquet(tmp_path / "two")
    monkeypatch.setenv("OFFSAMPLE_DATA", str(tmp_path / "one"))
    assert load("small").y is not None
    assert load("small", tmp_path / "two").y is None  # what is given comes first


def test_a_relative_directory_starts_at_the_working_directory(
    tmp_path: Path, no_openml: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "data").mkdir()
    write_parquet(tmp_path / "data")
    monkeypatch.setenv("OFFSAMPLE_DATA", "data")
    monkeypatch.chdir(tmp_path)
    assert load("small").X.shape == (3, 2)
    monkeypatch.chdir(tmp_path / "data")
    with pytest.raises(FileNotFoundError, match=f"is not in {tmp_path / 'data' / 'data'} and"):
        load("small")


def test_openml_by_its_name_and_version(tmp_path: Path, asked: list[Any]) -> None:
    found = load("tic_tac_toe")
    assert load("promoters", tmp_path).name == "promoters"
    load("some_other_set")
    assert asked == [("tic-tac-toe", 1), ("molecular-biology_promoters", 1), ("some-other-set", 1)]
    assert isinstance(found, Dataset)
    assert found.X.shape == (2, 1)
    assert found.y.tolist() == ["x", "y"]
    assert found.split is None
    assert list(found.table.columns) == ["a", "target"]


def test_a_later_version(asked: list[Any]) -> None:
    load("adult")
    assert asked == [("adult", 2)]


def test_a_set_that_is_nowhere(tmp_path: Path, no_openml: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OFFSAMPLE_DATA", raising=False)
    with pytest.raises(FileNotFoundError) as failed:
        load("no_such_set", tmp_path)
    assert str(failed.value) == (
        f"data set 'no_such_set' is not in {tmp_path} and could not be fetched from OpenML as 'no-such-set', "
        "version 1 (OSError): set OFFSAMPLE_DATA to a directory with no_such_set.parquet"
    )
    assert isinstance(failed.value.__cause__, OSError)
    with pytest.raises(FileNotFoundError, match="OFFSAMPLE_DATA names no directory"):
        load("no_such_set")


@pytest.mark.parametrize("name", ["../secret", "a/b", ""])
def test_a_name_is_no_path(tmp_path: Path, asked: list[Any], name: str) -> None:
    (tmp_path / "data").mkdir()
    write_parquet(tmp_path, "secret")
    with pytest.raises(ValueError, match="name of a data set"):
        load(name, tmp_path / "data")
    assert not asked


def test_shared_sets(data_dir: Path) -> None:
    mushroom = load("mushroom", data_dir)
    assert repr(mushroom) == "Dataset mushroom: 8,124 × 22, 2 classes"
    assert load("us_census_1990_raw_50k", data_dir).y is None
    assert set(load("madelon", data_dir).split) == {"train", "valid"}
    assert load("faces_orl_32x32", data_dir).X.shape[0] == 400
