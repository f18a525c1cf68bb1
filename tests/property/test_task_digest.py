"""One digest for equal content; another for any other."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path
from typing import Any

import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from adjudge.records.tree import DIRECTORY, EXECUTABLE, FILE, NO_CONTENT, SYMLINK, TreeEntry, digest_tree
from adjudge.tasks.freeze import freeze, task_without_source
from adjudge.tasks.load import load_scenario
from adjudge.tasks.trees import TreeWriter, read_entries

NAMES = st.binary(min_size=1, max_size=6).filter(
    lambda name: b"/" not in name and b"\0" not in name and name not in (b".", b"..", b".git")
)
PATHS = st.lists(NAMES, min_size=1, max_size=3).map(b"/".join)
CONTENTS = st.tuples(st.sampled_from(["file", "executable", "symlink", "directory"]), st.binary(max_size=20))
TREES = st.dictionaries(PATHS, CONTENTS, max_size=8)


def write(tree: dict[bytes, tuple[str, bytes]], into: Path) -> tuple[TreeEntry, ...] | None:
    """Write a tree in the order given; None when its paths contradict one another."""
    for path in tree:
        if any(other != path and other.startswith(path + b"/") for other in tree):
            return None
    writer = TreeWriter(into)
    for path, (kind, data) in tree.items():
        if kind == "directory":
            writer.add_directory(path)
        elif kind == "symlink":
            writer.add_symlink(path, data.replace(b"\0", b"") or b"x")
        else:
            writer.add_file(path, [data[:3], data[3:]], executable=kind == "executable")
    return writer.finish()


@settings(deadline=None)
@given(TREES)
def test_a_tree_is_recorded_as_it_is_read_back_and_in_any_order(tree: dict[bytes, tuple[str, bytes]]) -> None:
    with tempfile.TemporaryDirectory() as place:
        written = write(tree, Path(place) / "one")
        if written is None:
            return
        assert read_entries(Path(place) / "one") == written
        backwards = write(dict(reversed(tree.items())), Path(place) / "two")
        assert backwards is not None
        assert digest_tree(backwards) == digest_tree(written)


ENTRIES = st.builds(
    lambda path, mode, data: TreeEntry(path=os.fsdecode(path), mode=mode, digest="sha256:" + data.hex() * 2),
    PATHS,
    st.sampled_from([FILE, EXECUTABLE, SYMLINK]),
    st.binary(min_size=16, max_size=16),
)
LISTS = st.lists(ENTRIES, max_size=6, unique_by=lambda entry: entry.path)


@given(LISTS, LISTS)
def test_trees_have_equal_digests_exactly_when_they_are_equal(
    one: list[TreeEntry], two: list[TreeEntry]
) -> None:
    def by_path(entry: TreeEntry) -> bytes:
        return os.fsencode(entry.path)

    assert (digest_tree(one) == digest_tree(two)) == (sorted(one, key=by_path) == sorted(two, key=by_path))


@given(LISTS.filter(bool), st.data())
def test_one_change_changes_the_digest(entries: list[TreeEntry], data: st.DataObject) -> None:
    before = digest_tree(entries)
    index = data.draw(st.integers(0, len(entries) - 1))
    entry = entries[index]
    others = {
        "path": entry.path + "x",
        "mode": FILE if entry.mode != FILE else EXECUTABLE,
        "digest": NO_CONTENT,
    }
    for field, value in others.items():
        changed = [*entries[:index], entry.model_copy(update={field: value}), *entries[index + 1 :]]
        assert digest_tree(changed) != before
    assert digest_tree([*entries[:index], *entries[index + 1 :]]) != before
    empty = TreeEntry(path="an/empty/folder", mode=DIRECTORY, digest=NO_CONTENT)
    assert digest_tree([*entries, empty]) != before


LINES = st.lists(
    st.one_of(
        st.fixed_dictionaries(
            {"type": st.just("command"), "command": st.sampled_from(["make", "make test"])},
            optional={"timeout_s": st.sampled_from([1, 60, 900]), "weight": st.sampled_from([0, 1, 2.5])},
        ),
        st.fixed_dictionaries(
            {
                "type": st.just("allowed_paths"),
                "patterns": st.lists(st.sampled_from("abc"), min_size=1, max_size=2),
            },
            optional={"required": st.booleans(), "gate": st.booleans()},
        ),
    ),
    min_size=1,
    max_size=3,
)
SCENARIOS = st.fixed_dictionaries(
    {"scorers": LINES},
    optional={
        "instruction": st.sampled_from(["Do it.", "Do it.\n", "Do that."]),
        "rollup": st.sampled_from(["min", "weighted_mean"]),
        "limits": st.fixed_dictionaries({}, optional={"tokens": st.integers(0, 3)}),
    },
)


def shuffled(value: Any, data: st.DataObject) -> Any:
    """The same mapping with its keys in another order."""
    if isinstance(value, dict):
        keys = data.draw(st.permutations(list(value)))
        return {key: shuffled(value[key], data) for key in keys}
    return [shuffled(item, data) for item in value] if isinstance(value, list) else value


@settings(deadline=None)
@given(SCENARIOS, SCENARIOS, st.data())
def test_spelling_and_key_order_do_not_change_a_task_and_meaning_does(
    one: Any, two: Any, data: st.DataObject
) -> None:
    with tempfile.TemporaryDirectory() as place:
        tasks = []
        for number, (value, style) in enumerate(
            [(one, False), (shuffled(one, data), True), (shuffled(one, data), None), (two, False)]
        ):
            file = Path(place) / f"{number}.yaml"
            file.write_text(yaml.safe_dump(value, default_flow_style=style, sort_keys=False))
            tasks.append(task_without_source(load_scenario(file)))
        assert tasks[0].digest == tasks[1].digest == tasks[2].digest
        same = tasks[0].scenario.model_copy(update={"name": ""}) == tasks[3].scenario.model_copy(
            update={"name": ""}
        )
        assert (tasks[0].digest == tasks[3].digest) == same


@settings(deadline=None, max_examples=25)
@given(TREES, TREES)
def test_a_task_has_the_digest_of_its_source(
    one: dict[bytes, tuple[str, bytes]], two: dict[bytes, tuple[str, bytes]]
) -> None:
    with tempfile.TemporaryDirectory() as place:
        digests, trees = [], []
        for number, tree in enumerate((one, two, one)):
            folder = Path(place) / f"scenario{number}"
            folder.mkdir()
            entries = write(tree, folder / "project")
            if entries is None:
                return
            (folder / "adjudge.yaml").write_text(
                "instruction: x\n"
                "workspace: {source: directory, path: project}\n"
                "scorers: [{type: forbid_secrets}]\n"
            )
            digests.append(freeze(load_scenario(folder), Path(place) / f"state{number}").task.digest)
            trees.append(entries)
        assert digests[0] == digests[2]
        assert (digests[0] == digests[1]) == (trees[0] == trees[1])
