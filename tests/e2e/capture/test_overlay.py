"""The change set read from a real overlay's layers: the same as a walk of the whole tree would give."""

from __future__ import annotations

import os
import subprocess
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from adjudge.capture.baseline import Baseline, directory_baseline, task_baseline
from adjudge.capture.changes import capture_changes
from adjudge.capture.fingerprint import fingerprint
from adjudge.errors import CaptureError
from adjudge.records.change import ChangeKind, ChangeSet
from adjudge.records.sandbox import WorkspaceTree

if TYPE_CHECKING:
    from pathlib import Path

    from tests.e2e.capture.conftest import Overlay


def both(overlay: Overlay, script: str, baseline: Baseline | None = None) -> ChangeSet:
    """Run a script in the overlay; capture from the layers, having checked it against a plain walk."""
    flat = overlay.run("import os, shutil\n" + script)
    given_baseline = baseline or directory_baseline(overlay.base)
    found = capture_changes(given_baseline, overlay.tree)
    walked = capture_changes(given_baseline, WorkspaceTree(layers=(flat,)))
    assert found.method == "overlay"
    assert walked.method == "walk"
    assert found.changes == walked.changes
    assert found.digest == walked.digest
    assert found.diff == walked.diff
    return found


def summary(found: ChangeSet) -> dict[str, str]:
    return {change.path: change.kind.value for change in found.changes}


@pytest.fixture
def seeded(overlay: Overlay) -> Overlay:
    for name in ("a.py", "dir/b.py", "dir/sub/c.py", "dir/sub/d.py", "other/e.py"):
        place = overlay.base / name
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(f"{name}\n" * 10)
    (overlay.base / "link").symlink_to("a.py")
    return overlay


def test_nothing_done_is_nothing_changed(seeded: Overlay) -> None:
    assert summary(both(seeded, "open('a.py').read()")) == {}


def test_a_touch_copies_up_and_changes_nothing(seeded: Overlay) -> None:
    found = both(seeded, "os.utime('a.py'); os.utime('dir/sub'); os.chmod('dir/b.py', 0o600)")
    assert summary(found) == {}
    assert (seeded.layers[-1] / "a.py").exists()


def test_every_kind_of_change(seeded: Overlay) -> None:
    found = both(
        seeded,
        "open('a.py', 'a').write('more\\n'); os.remove('dir/b.py'); open('new', 'w').write('x'); "
        "os.chmod('other/e.py', 0o755); os.remove('link'); os.symlink('/nowhere', 'link'); os.mkdir('empty')",
    )
    assert summary(found) == {
        "a.py": "modified",
        "dir/b.py": "deleted",
        "empty": "added",
        "link": "modified",
        "new": "added",
        "other/e.py": "mode_changed",
    }


def test_removed_and_remade_directories_are_opaque(seeded: Overlay) -> None:
    found = both(
        seeded,
        "shutil.rmtree('dir'); os.makedirs('dir/sub')\n"
        "open('dir/sub/c.py', 'w').write('dir/sub/c.py\\n' * 10)",
    )
    assert summary(found) == {"dir/b.py": "deleted", "dir/sub/d.py": "deleted"}


def test_files_become_directories_and_back(seeded: Overlay) -> None:
    found = both(
        seeded,
        "os.remove('a.py'); os.mkdir('a.py'); open('a.py/x', 'w').write('x\\n'); "
        "shutil.rmtree('dir'); open('dir', 'w').write('file\\n')",
    )
    assert summary(found) == {
        "a.py": "deleted",
        "a.py/x": "added",
        "dir": "added",
        "dir/b.py": "deleted",
        "dir/sub/c.py": "deleted",
        "dir/sub/d.py": "deleted",
    }


def test_renamed_directories(seeded: Overlay) -> None:
    found = both(seeded, "shutil.move('dir', 'moved'); open('moved/sub/c.py', 'a').write('more\\n')")
    assert {change.kind for change in found.changes} == {ChangeKind.RENAMED}
    assert {change.paths for change in found.changes} == {
        ("dir/b.py", "moved/b.py"),
        ("dir/sub/c.py", "moved/sub/c.py"),
        ("dir/sub/d.py", "moved/sub/d.py"),
    }


@pytest.mark.root
def test_directory_renames_by_redirect_relative_and_absolute(seeded: Overlay) -> None:
    if not seeded.tree.xattr_prefix.startswith("trusted."):
        pytest.skip("an overlay with user marks cannot rename directories")
    both(
        seeded,
        "os.rename('dir/sub', 'dir/renamed'); os.mkdir('far'); os.rename('other', 'far/away'); "
        "os.rename('dir', 'swap'); os.mkdir('dir'); open('dir/b.py', 'w').write('new\\n'); "
        "os.remove('swap/renamed/c.py'); open('far/away/f.py', 'w').write('x\\n')",
    )
    marks = {
        os.getxattr(folder, name)
        for folder, _, _ in os.walk(seeded.layers[-1])
        for name in os.listxattr(folder)
        if name.endswith(".redirect")
    }
    assert {mark.startswith(b"/") for mark in marks} == {True, False}


def test_forged_marks_are_data(seeded: Overlay) -> None:
    found = both(
        seeded,
        "os.setxattr('dir', 'user.overlay.opaque', b'y'); open('dir/x', 'w').write('x\\n')\n"
        "os.setxattr('other', 'user.overlay.redirect', b'/dir'); open('other/y', 'w').write('y\\n')\n"
        "try: os.mknod('other/e.py.gone', 0o020666, 0)\nexcept OSError: pass\n"
        "try: os.setxattr('other', 'trusted.overlay.opaque', b'y')\nexcept OSError: pass\n",
    )
    assert summary(found) == {"dir/x": "added", "other/y": "added"}


def test_odd_names_and_special_files(seeded: Overlay) -> None:
    found = both(
        seeded,
        "open(b'\\xff\\n', 'w').write('x'); os.mkfifo('fifo'); os.symlink('loop', 'loop'); "
        "open(b'dir/' + b'n' * 255, 'w').close()",
    )
    assert len(found.changes) == 4


def test_unreadable_entries(seeded: Overlay) -> None:
    script = (
        "import os\nos.chmod('dir/sub', 0); open('a.py', 'a').write('x'); os.chmod('a.py', 0)\n"
        "open('other/e.py', 'a').write('x'); os.chmod('other', 0o444)"
    )
    # As root, or as root of the user namespace, everything can be copied; reading the layers is the test.
    seeded.run(script)
    found = capture_changes(directory_baseline(seeded.base), seeded.tree)
    if os.geteuid() == 0:
        assert summary(found) == {"a.py": "modified", "other/e.py": "modified"}
        assert found.changes[0].unreadable is None
    else:
        assert summary(found) == {
            "a.py": "modified",
            "dir/sub": "modified",
            "dir/sub/c.py": "modified",
            "dir/sub/d.py": "modified",
            "other/e.py": "modified",
        }
        assert all(change.unreadable for change in found.changes)


def test_layers_over_layers(seeded: Overlay) -> None:
    both(
        seeded,
        "open('a.py', 'a').write('setup\\n'); os.remove('dir/b.py'); open('made', 'w').write('by setup\\n')",
    )
    after_setup = task_baseline(seeded.tree, description="task t, after setup")
    found = both(
        seeded,
        "open('a.py', 'a').write('agent\\n'); open('dir/b.py', 'w').write('back\\n'); os.remove('made'); "
        "shutil.rmtree('other')",
        after_setup,
    )
    assert summary(found) == {
        "a.py": "modified",
        "dir/b.py": "added",
        "made": "deleted",
        "other/e.py": "deleted",
    }
    assert found.changes[0].added_lines == 1
    from_the_start = capture_changes(directory_baseline(seeded.base), seeded.tree)
    assert summary(from_the_start) == {"a.py": "modified", "dir/b.py": "modified", "other/e.py": "deleted"}


def test_what_was_planted_in_git_is_seen_through_the_layers(seeded: Overlay) -> None:
    (seeded.base / ".git/hooks").mkdir(parents=True)
    (seeded.base / ".git/config").write_text("[core]\n\tbare = false\n")
    found = both(
        seeded,
        "open('.git/hooks/pre-commit', 'w').write('x')\n"
        "open('.git/config', 'a').write('\\tfsmonitor = evil\\n')",
    )
    assert summary(found) == {}
    assert [finding.path for finding in found.repository] == [".git/hooks/pre-commit", ".git/config"]


def test_only_the_upper_layer_is_read(seeded: Overlay, monkeypatch: pytest.MonkeyPatch) -> None:
    for number in range(300):
        folder = seeded.base / f"big/{number % 10}"
        folder.mkdir(parents=True, exist_ok=True)
        (folder / f"{number}.py").write_text("x\n")
    seeded.run("open('big/3/3.py', 'a').write('changed\\n')")
    opened: list[object] = []
    really_open = os.open

    def watch(path: object, *arguments: object, **options: object) -> int:
        opened.append(path)
        return really_open(path, *arguments, **options)  # type: ignore[arg-type]

    monkeypatch.setattr(os, "open", watch)
    found = capture_changes(directory_baseline(seeded.base), seeded.tree)
    assert summary(found) == {"big/3/3.py": "modified"}
    assert len(opened) < 40


def test_the_fingerprint_of_layers_is_of_what_lies_on_top(seeded: Overlay) -> None:
    seeded.run("open('a.py', 'a').write('x')")
    first = fingerprint(seeded.tree)
    assert fingerprint(seeded.tree) == first
    (seeded.layers[-1] / "a.py").write_text("y")
    assert fingerprint(seeded.tree) != first


def test_layers_whose_marks_cannot_be_read_are_refused(hostile_tmp: Path) -> None:
    if os.geteuid() == 0:
        pytest.skip("root reads every mark")
    for name in ("base", "upper"):
        (hostile_tmp / name).mkdir()
    tree = WorkspaceTree(layers=(hostile_tmp / "base", hostile_tmp / "upper"))
    with pytest.raises(CaptureError, match="marks are not readable"):
        capture_changes(directory_baseline(hostile_tmp / "base"), tree)


PATHS = ["a", "b", "d", "d/a", "d/b", "d/e", "d/e/a", "x/a"]
steps = st.lists(
    st.one_of(
        st.tuples(st.just("write"), st.sampled_from(PATHS), st.sampled_from(["", "one\n", "two\n" * 5])),
        st.tuples(st.just("remove"), st.sampled_from(PATHS)),
        st.tuples(st.just("mkdir"), st.sampled_from(PATHS)),
        st.tuples(st.just("rename"), st.sampled_from(PATHS), st.sampled_from(PATHS)),
        st.tuples(st.just("chmod"), st.sampled_from(PATHS)),
        st.tuples(st.just("link"), st.sampled_from(PATHS)),
    ),
    max_size=12,
)
PLAY = """
import os, shutil, sys
def play(steps):
    for step in steps:
        try:
            kind, path = step[0], step[1]
            if kind == "write":
                os.makedirs(os.path.dirname(path) or ".", exist_ok=True)
                open(path, "w").write(step[2])
            elif kind == "remove":
                shutil.rmtree(path) if os.path.isdir(path) and not os.path.islink(path) else os.remove(path)
            elif kind == "mkdir":
                os.makedirs(path)
            elif kind == "rename":
                os.rename(path, step[2])
            elif kind == "chmod":
                os.chmod(path, 0o755)
            else:
                os.symlink("a", path)
        except OSError:
            pass
"""


@settings(
    max_examples=10,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(seeding=steps, playing=steps, again=steps)
def test_layers_and_walk_agree_on_random_play(
    overlay: Overlay, seeding: object, playing: object, again: object
) -> None:
    overlay = overlay.another()
    code = f"{PLAY}\nos.chdir({str(overlay.base)!r})\nplay({seeding!r})"
    subprocess.run(["python3", "-c", code], check=True)
    both(overlay, f"{PLAY}\nplay({playing!r})")
    after_first = task_baseline(overlay.tree, description="after the first play")
    both(overlay, f"{PLAY}\nplay({again!r})", after_first)
    both(overlay, "")
