from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from adjudge.errors import StoreError
from adjudge.records.stability import StabilityMeasurement, SuiteStability, UnstableTest
from adjudge.tasks.stability import find_stability, keep_stability

TASK = "sha256:" + "1" * 64
OTHER = "sha256:" + "2" * 64


def measured(*ids: str, scorer: str = "suite") -> StabilityMeasurement:
    unstable = tuple(UnstableTest(id=id_, outcomes={"failed": 1, "passed": 1}) for id_ in ids)
    suite = SuiteStability(scorer=scorer, tests=9, unstable=unstable)
    return StabilityMeasurement(
        measured_at="2026-01-01T00:00:00+00:00", baseline_digest=OTHER, repeats=2, suites=(suite,)
    )


def test_nothing_is_known_at_first(tmp_path: Path) -> None:
    assert find_stability(TASK, tmp_path) is None


def test_measurements_add_up(tmp_path: Path) -> None:
    keep_stability(TASK, measured("a"), tmp_path)
    keep_stability(TASK, measured("c", scorer="other"), tmp_path)
    kept = keep_stability(TASK, measured("b"), tmp_path)
    last = keep_stability(TASK, measured(), tmp_path)
    assert kept.record.unstable() == last.record.unstable()
    found = find_stability(TASK, tmp_path)
    assert found == last.record
    assert found is not None
    assert found.unstable() == {"suite": {"a", "b"}, "other": {"c"}}
    assert find_stability(OTHER, tmp_path) is None
    assert [path.name for path in last.file.parent.iterdir()] == [last.file.name]


def test_two_at_once_both_count(tmp_path: Path) -> None:
    ids = [f"t{number}" for number in range(20)]
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda id_: keep_stability(TASK, measured(id_), tmp_path), ids))
    found = find_stability(TASK, tmp_path)
    assert found is not None
    assert found.unstable() == {"suite": set(ids)}


def test_a_damaged_record_is_said_to_be_damaged(tmp_path: Path) -> None:
    file = keep_stability(TASK, measured("a"), tmp_path).file
    whole = file.read_text()
    file.write_text(whole[:40])
    with pytest.raises(StoreError, match="damaged"):
        find_stability(TASK, tmp_path)
    with pytest.raises(StoreError, match="damaged"):
        keep_stability(TASK, measured("a"), tmp_path)
    file.write_text(whole.replace(TASK, OTHER))
    with pytest.raises(StoreError, match="another task"):
        find_stability(TASK, tmp_path)
