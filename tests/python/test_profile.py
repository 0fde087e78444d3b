"""Profiles of ``kith tune``: taken, ignored and refused, and no answer changes."""

from __future__ import annotations

import json
import subprocess
import sys

import numpy as np
import pytest

import kith


@pytest.fixture(autouse=True)
def built_in_afterwards():
    yield
    kith.use_profile("none")


@pytest.fixture(scope="module")
def tuned(tmp_path_factory):
    """A profile of this machine, as the command writes it."""
    path = tmp_path_factory.mktemp("tuned") / "profile.json"
    command = [sys.executable, "-m", "kith", "tune", "--seconds", "1", "--quiet", "--out", str(path)]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    return json.loads(path.read_text(encoding="utf-8"))


def written(path, tuned, **changes):
    """The same with extreme values, and with what `changes` say."""
    values = {"groups_per_task": 1, "tree_points": 1, "scanned_coordinates": 1, "presort_points": 4294967295}
    device = {**tuned["devices"][0], "values": values, **changes}
    path.write_text(json.dumps({**tuned, "devices": [device]}), encoding="utf-8")
    return path


def test_values_are_taken_and_answers_stay(tmp_path, tuned):
    points = np.random.default_rng(1).random((3000, 2))
    kith.use_profile("none")
    expected = kith.Index(points, device="cpu").knn(points, k=5)
    profile = kith.use_profile(written(tmp_path / "profile.json", tuned))
    assert profile.note == "" and profile.path.endswith("profile.json")
    assert profile.values["groups_per_task"] == 1
    assert kith.profile() == profile
    for ours, theirs in zip(kith.Index(points, device="cpu").knn(points, k=5), expected, strict=True):
        np.testing.assert_array_equal(ours, theirs)


def test_another_machine_is_ignored_with_a_note(tmp_path, tuned):
    for changes in ({"name": "abacus"}, {"threads": 77}, {"version": "0.0.1"}):
        profile = kith.use_profile(written(tmp_path / "profile.json", tuned, **changes))
        assert "is ignored" in profile.note
        assert profile.values["groups_per_task"] == 32


def test_a_named_file_that_is_broken_is_an_error(tmp_path, tuned):
    (tmp_path / "text.json").write_text("{", encoding="utf-8")
    with pytest.raises(ValueError, match="no profile"):
        kith.use_profile(tmp_path / "text.json")
    with pytest.raises(ValueError, match="tree_points is 0; it must be 1 to"):
        kith.use_profile(written(tmp_path / "profile.json", tuned, values={"tree_points": 0}))
    with pytest.raises(OSError):
        kith.use_profile(tmp_path / "missing.json")
    assert kith.profile().values["tree_points"] == 1000
