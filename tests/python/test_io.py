"""Points from files, to files and made up; the command."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest

import kith


@pytest.mark.parametrize("extension", ["csv", "npy", "npz", "ply", "pcd"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_what_is_written_is_read(tmp_path, rng, extension, dtype):
    points = rng.standard_normal((50, 3)).astype(dtype)
    path = tmp_path / f"points.{extension}"
    kith.write_points(path, points)
    file = kith.read_points(path, dtype=dtype)
    np.testing.assert_array_equal(file.points, points)
    assert file.points.dtype == dtype and file.points.flags.writeable
    assert "50 points" in repr(file)
    half = kith.read_points(path, dtype=np.float32)
    assert half.points.dtype == np.float32


def test_columns_labels_and_extras(tmp_path):
    path = tmp_path / "trees.csv"
    path.write_text("x,y,height,kind\n0,1,5,oak\n2,3,7,elm\n4,5,6,oak\n")
    file = kith.read_points(path, columns=["y", "x"], label="kind", extras=["height"])
    assert file.points.tolist() == [[1, 0], [3, 2], [5, 4]]
    assert file.columns == ["y", "x"] and file.labels.tolist() == ["oak", "elm", "oak"]
    assert file.extras.tolist() == [[5], [7], [6]] and file.extra_columns == ["height"]
    assert kith.read_points(path, columns=[1], label="last").points.tolist() == [[0], [2], [4]]


def test_whole_numbers_that_are_rounded_are_noted(tmp_path):
    path = tmp_path / "ids.csv"
    path.write_text("id,x\n9007199254740993,1\n9007199254740992,1\n")
    file = kith.read_points(path)
    assert file.points[0, 0] == file.points[1, 0]
    assert len(file.notes) == 1 and "9007199254740993 in line 2, column 1 (id)" in file.notes[0]
    labelled = kith.read_points(path, label="id")
    assert labelled.labels.tolist() == ["9007199254740993", "9007199254740992"] and labelled.notes == []


def test_labels_are_written(tmp_path):
    path = tmp_path / "labelled.csv"
    kith.write_points(path, np.eye(3), columns=["a", "b", "c"], labels=["r", "s", "r"])
    file = kith.read_points(path, label="label")
    assert file.labels.tolist() == ["r", "s", "r"] and file.columns == ["a", "b", "c"]
    with pytest.raises(ValueError, match="one for each point"):
        kith.write_points(path, np.eye(3), labels=["r"])


def test_missing_values_and_delimiters(tmp_path):
    path = tmp_path / "gaps.txt"
    path.write_text("1;2\n3;\n")
    with pytest.raises(ValueError):
        kith.read_points(path, delimiter=";")
    points = kith.read_points(path, delimiter=";", missing_as_nan=True, header=False).points
    assert np.isnan(points[1, 1]) and points[0].tolist() == [1, 2]


def test_arrays_of_an_npz(tmp_path):
    path = tmp_path / "two.npz"
    np.savez(path, a=np.zeros((2, 2)), b=np.ones((3, 2)))
    assert kith.read_points(path, array="b").points.shape == (3, 2)


@pytest.mark.parametrize(
    "shape", ["uniform", "clusters", "surface", "lidar", "grid", "line", "duplicates"]
)
def test_generated_points(shape):
    points = kith.generate(shape, 200, 3, seed=5)
    assert points.shape == (200, 3) and points.dtype == np.float32
    np.testing.assert_array_equal(points, kith.generate(shape, 200, 3, seed=5, threads=1))
    assert kith.generate(shape, 20, 3, dtype=np.float64).dtype == np.float64


def test_generated_classes():
    points, labels = kith.generate("classes", 100, 2, classes=4)
    assert points.shape == (100, 2) and set(labels.tolist()) <= {0, 1, 2, 3}
    with pytest.raises(ValueError, match="cube"):
        kith.generate("cube")
    with pytest.raises(TypeError, match="float32 or float64"):
        kith.generate(dtype=np.int32)


def run_command(*words, **options):
    command = [sys.executable, "-m", "kith", *words]
    return subprocess.run(command, capture_output=True, text=True, timeout=600, **options)


def test_the_command(tmp_path):
    assert run_command("--version").stdout == f"kith {kith.__version__}\n"
    wrong = run_command("knnn")
    assert wrong.returncode == 2 and "knn" in wrong.stderr
    path = tmp_path / "points.npy"
    np.save(path, kith.generate("uniform", 100, 3))
    found = run_command("knn", str(path), "-k", "2", "--out", str(tmp_path / "n.npz"))
    assert found.returncode == 0, found.stderr
    np.testing.assert_array_equal(
        np.load(tmp_path / "n.npz")["indices"], kith.Index(np.load(path)).knn(k=2)[1]
    )


def test_decimal_commas_are_read(tmp_path):
    path = tmp_path / "p.csv"
    path.write_text("35,5\t2,25\n36\t1\n")
    expected = [[35.5, 2.25], [36, 1]]
    assert kith.read_points(path).points.tolist() == expected
    assert kith.read_points(path, decimal=",").points.tolist() == expected
    with pytest.raises(ValueError, match='decimal=","'):
        kith.read_points(path, decimal=".", delimiter="\t")
    with pytest.raises(ValueError, match="decimal must be"):
        kith.read_points(path, decimal=";")


def test_plain_numbers_by_a_layout(tmp_path, rng):
    path = tmp_path / "scan.bin"
    rows = rng.standard_normal((20, 4)).astype("<f4")
    rows[0] = 0  # bytes that no text has
    path.write_bytes(rows.tobytes())
    file = kith.read_points(path, layout="f32 x,y,z,i", extras=["i"])
    np.testing.assert_array_equal(file.points, rows[:, :3])
    np.testing.assert_array_equal(file.extras[:, 0], rows[:, 3])
    assert file.format == "raw" and file.columns == ["x", "y", "z"]
    with pytest.raises(ValueError, match="is not a type"):
        kith.read_points(path, layout="f33 x")
    with pytest.raises(ValueError, match='layout="f32 x,y,z"'):
        kith.read_points(path)


def test_advice_names_arguments(tmp_path):
    path = tmp_path / "points.csv"
    path.write_text("x,y,kind\n1,2,tree\n3,,house\n")
    with pytest.raises(ValueError, match=r'label="kind"\) or take the others \(columns=\["x", "y"\]\)'):
        kith.read_points(path)
    with pytest.raises(ValueError, match=r"\(missing_as_nan=True\) or choose other columns \(columns\)"):
        kith.read_points(path, columns=["x", "y"])


def test_molecules_and_files_of_other_programs(tmp_path):
    path = tmp_path / "water.xyz"
    path.write_text("1\nProperties=species:S:1:pos:R:3\nO 1 2 3\n")
    file = kith.read_points(path, label="element")
    assert file.points.tolist() == [[1, 2, 3]] and file.labels.tolist() == ["O"] and file.format == "extxyz"
    other = tmp_path / "table.parquet"
    other.write_bytes(b"PAR1")
    with pytest.raises(ValueError, match="is a Parquet table.*read_parquet"):
        kith.read_points(other)
