"""What an agent can do with git to hide a change, done with real git, and seen all the same."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from adjudge.capture.repository import Repository, find_git_directory
from adjudge.errors import BaselineNotFound, UsageError
from adjudge.records.change import BaselineOrigin, ChangeKind, EntryType, RepositoryRule

if TYPE_CHECKING:
    from tests.e2e.capture.conftest import Workspace


def test_assume_unchanged_and_skip_worktree_hide_nothing(workspace: Workspace) -> None:
    workspace.write("a.py", "1\n")
    workspace.write("b.py", "1\n")
    before = workspace.commit()
    workspace.git("update-index", "--assume-unchanged", "a.py")
    workspace.git("update-index", "--skip-worktree", "b.py")
    workspace.write("a.py", "2\n")
    workspace.write("b.py", "2\n")
    assert workspace.git("status", "--porcelain") == ""
    seen = workspace.see(before)
    assert seen.summary == {"a.py": "modified", "b.py": "modified"}
    assert RepositoryRule.INDEX_FLAGS in seen.rules
    assert any("a.py, b.py" in warning for warning in seen.changes.warnings)


@pytest.mark.parametrize("version", ["2", "3", "4"])
def test_hidden_index_entries_are_read_from_every_index_version(workspace: Workspace, version: str) -> None:
    for name in ("dir/one.py", "dir/two.py", f"{'long' * 40}/{'name' * 40}"):
        workspace.write(name)
    before = workspace.commit()
    workspace.git("update-index", "--index-version", version)
    workspace.git("update-index", "--skip-worktree", "dir/two.py")
    (finding,) = workspace.see(before).changes.repository
    assert finding.rule is RepositoryRule.INDEX_FLAGS
    assert finding.message == "git is told not to look at 1 path: dir/two.py"


def test_an_amended_baseline_moves_nothing_when_the_commit_id_was_given(workspace: Workspace) -> None:
    workspace.write("a.py", "1\n")
    before = workspace.commit()
    workspace.write("a.py", "2\n")
    workspace.git("commit", "-qa", "--amend", "-m", "nothing happened")
    assert workspace.git("status", "--porcelain") == ""
    seen = workspace.see(before)
    assert seen.summary == {"a.py": "modified"}
    assert seen.changes.baseline.trusted
    assert seen.changes.baseline.origin is BaselineOrigin.COMMIT


def test_a_moved_branch_is_followed_but_never_trusted(workspace: Workspace) -> None:
    workspace.write("a.py", "1\n")
    workspace.commit()
    workspace.write("a.py", "2\n")
    workspace.git("commit", "-qa", "--amend", "-m", "nothing happened")
    for given in ("main", "HEAD", "refs/heads/main", workspace.git("rev-parse", "--short", "HEAD"), None):
        seen = workspace.see(given)
        assert seen.summary == {}
        assert seen.changes.baseline.origin is BaselineOrigin.UNVERIFIED
        assert not seen.changes.baseline.trusted
        assert "agent could change" in seen.changes.baseline.description


def test_replace_refs_do_not_replace(workspace: Workspace) -> None:
    workspace.write("a.py", "1\n")
    before = workspace.commit()
    workspace.write("a.py", "2\n")
    after = workspace.commit()
    workspace.git("replace", before, after)
    assert workspace.git("diff", before) == ""
    seen = workspace.see(before)
    assert seen.summary == {"a.py": "modified"}
    assert RepositoryRule.REPLACE_REFS in seen.rules


def test_grafts_do_not_rewrite_history(workspace: Workspace) -> None:
    workspace.write("a.py", "1\n")
    first = workspace.commit()
    workspace.write("a.py", "2\n")
    second = workspace.commit()
    workspace.write("a.py", "3\n")
    third = workspace.commit()
    grafts = workspace.root / ".git/info/grafts"
    grafts.write_text(f"{third} {first}\n")
    seen = workspace.see("HEAD~1")
    assert seen.changes.baseline.commit == second
    assert RepositoryRule.GRAFTS in seen.rules


def test_alternates_are_not_borrowed_from(workspace: Workspace) -> None:
    workspace.write("a.py", "1\n")
    before = workspace.commit()
    borrowing = workspace.scratch / "borrowing"
    workspace.git("clone", "-q", "--shared", str(workspace.root), str(borrowing), cwd=workspace.scratch)
    workspace.root = borrowing
    with pytest.raises(BaselineNotFound, match="not in the repository's own object database"):
        workspace.see(before)
    workspace.git("repack", "-qad")
    seen = workspace.see(before)
    assert seen.summary == {}
    assert RepositoryRule.ALTERNATES in seen.rules


def test_a_forged_object_is_refused(workspace: Workspace) -> None:
    workspace.write("a.py", "1\n")
    before = workspace.commit()
    tree = workspace.git("rev-parse", "HEAD^{tree}")
    workspace.write("a.py", "2\n")
    workspace.commit()
    forged = workspace.git("rev-parse", "HEAD^{tree}")
    objects = workspace.root / ".git/objects"
    place = objects / tree[:2] / tree[2:]
    place.chmod(0o644)
    shutil.copyfile(objects / forged[:2] / forged[2:], place)
    with pytest.raises(BaselineNotFound, match="damaged or forged"):
        workspace.see(before)


def test_a_damaged_pack_is_refused_with_a_clear_error(workspace: Workspace) -> None:
    for number in range(50):
        workspace.write(f"{number}.py", f"{number}\n" * 50)
    before = workspace.commit()
    workspace.git("repack", "-qad")
    (pack,) = (workspace.root / ".git/objects/pack").glob("*.pack")
    pack.chmod(0o644)
    data = bytearray(pack.read_bytes())
    data[len(data) // 2 : len(data) // 2 + 40] = bytes(40)
    for name, content in (("flipped", bytes(data)), ("cut", bytes(data[: len(data) // 3])), ("empty", b"")):
        pack.write_bytes(content)
        shutil.rmtree(workspace.root / "2.py", ignore_errors=True)
        for number in range(50):
            workspace.write(f"{number}.py", f"{name}\n")
        with pytest.raises(BaselineNotFound):
            workspace.see(before)


def test_a_forged_pack_index_costs_no_memory(workspace: Workspace) -> None:
    workspace.write("a.py", "1\n")
    before = workspace.commit()
    workspace.git("repack", "-qad")
    (index,) = (workspace.root / ".git/objects/pack").glob("*.idx")
    index.chmod(0o644)
    honest = index.read_bytes()
    for forged in (
        honest[:8] + b"\xff" * 1024 + honest[1032:],
        honest[:8] + b"\0" * 1020 + b"\xff" * 4 + honest[1032:],
        honest[:1032] + bytes.fromhex(before) * 5 + b"\xff" * 200,
        honest[:40],
        b"",
    ):
        index.write_bytes(forged)
        with pytest.raises(BaselineNotFound):
            workspace.see(before)
    index.write_bytes(honest)
    assert workspace.see(before.upper()).changes.baseline.trusted


def test_the_final_ignore_rules_hide_nothing(workspace: Workspace) -> None:
    workspace.write("a.py")
    workspace.write(".gitignore", "*.log\n")
    before = workspace.commit()
    workspace.write(".gitignore", "*\n")
    (workspace.root / ".git/info/exclude").write_text("*\n")
    workspace.write("evil.py")
    workspace.write("x.log")
    workspace.write("sub/.gitignore", "*\n")
    workspace.write("sub/evil.py")
    assert "evil" not in workspace.git("status", "--porcelain")
    seen = workspace.see(before)
    assert seen.summary == {
        ".gitignore": "modified",
        "evil.py": "added",
        "sub/.gitignore": "added",
        "sub/evil.py": "added",
        "x.log": "(added)",
    }
    assert b"evil.py" in seen.diff
    assert b"x.log" not in seen.diff
    assert RepositoryRule.EXCLUDE in seen.rules


def test_files_that_are_none_of_gits(workspace: Workspace) -> None:
    workspace.write("a.py")
    before = workspace.commit()
    workspace.write("a.py", "other")
    workspace.git("stash")
    workspace.git("commit", "--allow-empty", "-qm", "ordinary work")
    workspace.git("gc", "-q")
    assert RepositoryRule.FOREIGN not in workspace.see(before).rules
    for path in ("info/sale-cache", "answers.json", "cache/deep.txt"):
        workspace.write(f".git/{path}", "x")
    seen = workspace.see(before)
    assert {one.path for one in seen.changes.repository if one.rule is RepositoryRule.FOREIGN} == {
        ".git/info/sale-cache",
        ".git/answers.json",
        ".git/cache/deep.txt",
    }


def test_ignored_but_tracked_files_are_work(workspace: Workspace) -> None:
    workspace.write(".gitignore", "dist/\n*.log\n!keep.log\n")
    workspace.write("dist/tracked.js")
    workspace.write("tracked.log")
    before = workspace.commit()
    workspace.write("dist/tracked.js", "new\n")
    workspace.write("dist/fresh.js")
    workspace.write("tracked.log", "new\n")
    workspace.write("keep.log")
    (workspace.root / "dist/tracked.js").chmod(0o755)
    assert workspace.see(before).summary == {
        "dist/fresh.js": "(added)",
        "dist/tracked.js": "modified",
        "keep.log": "added",
        "tracked.log": "modified",
    }


def test_attributes_filters_and_textconv_decide_and_execute_nothing(workspace: Workspace) -> None:
    workspace.write("a.py", "1\n")
    before = workspace.commit()
    mark = workspace.scratch / "executed"
    workspace.write("a.py", "2\n")
    workspace.write(".gitattributes", "*.py -diff filter=hide diff=hide\n")
    for key in (
        "filter.hide.clean",
        "filter.hide.smudge",
        "diff.hide.textconv",
        "diff.external",
        "core.fsmonitor",
    ):
        workspace.git("config", key, f"sh -c 'touch {mark}; printf 1'")
    workspace.git("config", "core.hooksPath", str(workspace.scratch))
    (workspace.root / ".git/info/attributes").write_text("* -diff\n")
    seen = workspace.see(before)
    assert seen.summary == {".gitattributes": "added", "a.py": "modified"}
    assert b"-1\n+2\n" in seen.diff
    assert not mark.exists()
    settings = [f.message for f in seen.changes.repository if f.rule is RepositoryRule.CONFIG]
    assert len(settings) == 6
    assert RepositoryRule.ATTRIBUTES in seen.rules


def test_planted_hooks_are_reported_and_not_run(workspace: Workspace) -> None:
    workspace.write("a.py")
    before = workspace.commit()
    copy = workspace.copy()
    mark = workspace.scratch / "executed"
    for hook in ("post-checkout", "pre-commit", "post-index-change"):
        workspace.write(f".git/hooks/{hook}", f"#!/bin/sh\ntouch {mark}\n", 0o755)
    for baseline in (before, copy):
        seen = workspace.see(baseline)
        assert seen.summary == {}
        assert [f.path for f in seen.changes.repository] == [
            ".git/hooks/post-checkout",
            ".git/hooks/post-index-change",
            ".git/hooks/pre-commit",
        ]
    assert not mark.exists()


def test_an_untouched_repository_has_no_findings(workspace: Workspace) -> None:
    workspace.write("a.py")
    before = workspace.commit()
    copy = workspace.copy()
    workspace.write("a.py", "new\n")
    workspace.git("checkout", "-qb", "work")
    workspace.commit()
    for baseline in (before, copy, None):
        seen = workspace.see(baseline)
        assert seen.summary == {"a.py": "modified"}
        assert seen.changes.repository == ()
        assert seen.changes.warnings == ()


@pytest.mark.parametrize("replacement", ["file", "symlink", "fifo", "nothing"])
def test_a_replaced_git_directory_is_reported(workspace: Workspace, replacement: str) -> None:
    workspace.write("a.py")
    copy = workspace.copy()
    git = workspace.root / ".git"
    shutil.rmtree(git)
    if replacement == "file":
        git.write_text(f"gitdir: {copy}/.git\n")
    elif replacement == "symlink":
        git.symlink_to(copy / ".git")
    elif replacement == "fifo":
        os.mkfifo(git)
    workspace.write("evil.py")
    seen = workspace.see(copy)
    assert seen.summary == {"evil.py": "added"}
    expected = RepositoryRule.REMOVED if replacement == "nothing" else RepositoryRule.REPLACED
    assert seen.rules == {expected}


def test_a_git_file_or_symlink_that_leads_elsewhere_is_not_followed(workspace: Workspace) -> None:
    workspace.write("secret.py", "secret\n")
    commit = workspace.commit()
    elsewhere = workspace.root / ".git"
    workspace.root = workspace.scratch / "other"
    workspace.root.mkdir()
    pointer = workspace.root / ".git"
    pointer.write_text(f"gitdir: {elsewhere}\n")
    with pytest.raises(BaselineNotFound, match="does not lead to a git directory that belongs to it"):
        workspace.see(commit)
    pointer.unlink()
    pointer.symlink_to(elsewhere)
    with pytest.raises(BaselineNotFound, match="symlink"):
        workspace.see(commit)
    pointer.unlink()
    pointer.mkdir()
    for name in ("HEAD", "refs"):
        (pointer / name).symlink_to(elsewhere / name)
    (pointer / "objects").symlink_to(elsewhere / "objects")
    with pytest.raises(BaselineNotFound):
        workspace.see(commit)


def test_nested_repositories_hide_no_files(workspace: Workspace) -> None:
    workspace.write("a.py")
    before = workspace.commit()
    copy = workspace.copy()
    nested = workspace.root / "vendor/thing"
    nested.mkdir(parents=True)
    workspace.git("init", "-q", cwd=nested)
    workspace.write("vendor/thing/evil.py")
    workspace.write("vendor/thing/deep/evil.py")
    workspace.git("add", "-A", cwd=nested)
    workspace.git("commit", "-qm", "hidden", cwd=nested)
    for baseline in (before, copy):
        seen = workspace.see(baseline)
        work = {path for path, kind in seen.summary.items() if kind == "added"}
        assert work == {"vendor/thing/evil.py", "vendor/thing/deep/evil.py"}
        assert seen.summary["vendor/thing/.git/HEAD"] == "(added)"
        assert seen["vendor/thing/.git/config"].new_digest is not None
        assert any(
            warning.startswith("vendor/thing is a repository of its own") for warning in seen.changes.warnings
        )
        assert b".git/HEAD" not in seen.diff


def test_a_nested_git_file_hides_nothing(workspace: Workspace) -> None:
    workspace.write("a.py")
    before = workspace.commit()
    workspace.write("sub/.git", "gitdir: /nowhere\n")
    workspace.write("sub/evil.py")
    seen = workspace.see(before)
    assert seen.summary == {"sub/.git": "(added)", "sub/evil.py": "added"}


@pytest.fixture
def with_module(workspace: Workspace) -> tuple[Workspace, str]:
    """A workspace with a submodule that is checked out."""
    library = workspace.scratch / "library"
    library.mkdir()
    workspace.git("init", "-q", "-b", "main", cwd=library)
    (library / "lib.py").write_text("1\n")
    (library / ".gitignore").write_text("*.tmp\n")
    workspace.git("add", "-A", cwd=library)
    workspace.git("commit", "-qm", "library", cwd=library)
    workspace.git("-c", "protocol.file.allow=always", "submodule", "add", "-q", str(library), "deps/lib")
    workspace.write("a.py")
    return workspace, workspace.commit()


def test_a_submodule_is_compared_file_by_file_with_its_recorded_commit(
    with_module: tuple[Workspace, str],
) -> None:
    workspace, before = with_module
    assert workspace.see(before).summary == {}
    workspace.write("deps/lib/lib.py", "2\n")
    workspace.write("deps/lib/evil.py")
    workspace.write("deps/lib/x.tmp")
    workspace.git("add", "-A", cwd=workspace.root / "deps/lib")
    workspace.git("commit", "-qm", "moved", cwd=workspace.root / "deps/lib")
    seen = workspace.see(before)
    assert seen.summary == {
        "deps/lib/evil.py": "added",
        "deps/lib/lib.py": "modified",
        "deps/lib/x.tmp": "(added)",
    }
    assert seen.changes.warnings == ()


def test_an_uninitialised_submodule_is_unchanged_and_a_removed_one_deleted(
    with_module: tuple[Workspace, str],
) -> None:
    workspace, before = with_module
    shutil.rmtree(workspace.root / "deps/lib")
    (workspace.root / "deps/lib").mkdir()
    assert workspace.see(before).summary == {}
    (workspace.root / "deps/lib").rmdir()
    seen = workspace.see(before)
    assert seen.summary == {"deps/lib": "deleted"}
    assert seen["deps/lib"].old_type is EntryType.REPOSITORY
    assert b"-Subproject commit " in seen.diff
    workspace.write("deps/lib")
    assert workspace.see(before)["deps/lib"].kind is ChangeKind.TYPE_CHANGED


def test_files_in_a_submodule_whose_commit_is_unknown_are_all_listed(
    with_module: tuple[Workspace, str],
) -> None:
    workspace, before = with_module
    shutil.rmtree(workspace.root / ".git/modules")
    workspace.write("deps/lib/evil.py")
    seen = workspace.see(before)
    assert seen.summary["deps/lib"] == "modified"
    assert seen.summary["deps/lib/evil.py"] == "added"
    assert seen.summary["deps/lib/lib.py"] == "added"
    assert seen["deps/lib"].unreadable is not None
    assert any("recorded commit was not found" in warning for warning in seen.changes.warnings)


def test_a_linked_worktree_is_read_through_its_repository(workspace: Workspace) -> None:
    workspace.write("a.py", "1\n")
    before = workspace.commit()
    linked = workspace.scratch / "linked"
    workspace.git("worktree", "add", "-q", str(linked), "-b", "work")
    workspace.root = linked
    workspace.write("a.py", "2\n")
    workspace.commit()
    for given in (before, "main", None):
        seen = workspace.see(given)
        assert seen.summary == {"a.py": "modified"}
        assert seen.changes.repository == ()
    assert workspace.see(None).changes.baseline.description.startswith("merge base with main")


def test_a_workspace_below_the_top_of_its_repository(workspace: Workspace) -> None:
    workspace.write(".gitignore", "*.log\n/apps/web/out\n")
    workspace.write(".gitattributes", "apps/web/*.bat text eol=crlf\n")
    workspace.write("apps/web/a.py", "1\n")
    workspace.write("apps/web/run.bat", "x\n")
    workspace.write("elsewhere.py", "1\n")
    before = workspace.commit()
    workspace.root = workspace.root / "apps/web"
    workspace.write("a.py", "2\n")
    workspace.write("run.bat", "x\r\n")
    workspace.write("x.log")
    workspace.write("out/x")
    workspace.write("../../elsewhere.py", "2\n")
    assert workspace.see(before).summary == {"a.py": "modified", "out/x": "(added)", "x.log": "(added)"}


def test_without_a_baseline_the_merge_base_is_taken(workspace: Workspace) -> None:
    workspace.write("a.py", "1\n")
    base = workspace.commit()
    workspace.git("checkout", "-qb", "work")
    workspace.write("b.py")
    workspace.commit()
    workspace.git("checkout", "-q", "main")
    workspace.write("c.py")
    workspace.commit()
    workspace.git("checkout", "-q", "work")
    seen = workspace.see()
    assert seen.changes.baseline.commit == base
    assert seen.summary == {"b.py": "added"}
    workspace.git("checkout", "-q", "main")
    workspace.write("d.py")
    seen = workspace.see()
    assert seen.changes.baseline.description.startswith("HEAD of the default branch main")
    assert seen.summary == {"d.py": "added"}


def test_merge_bases_agree_with_git(workspace: Workspace) -> None:
    commits = [workspace.commit("root")]
    for number in range(1, 40):
        parents = sorted({commits[number * 7 % len(commits)], commits[number * 3 % len(commits)]})
        tree = workspace.git("rev-parse", "HEAD^{tree}")
        flags = [word for parent in parents for word in ("-p", parent)]
        commits.append(workspace.git("commit-tree", tree, *flags, "-m", str(number)))
    place = find_git_directory(workspace.root)
    assert place is not None
    with Repository(place) as repository:
        for one, other in zip(commits[::2], commits[::-3], strict=False):
            told = workspace.git("merge-base", "--all", one, other).split()
            assert repository.merge_base(one, other) in told
            assert repository.resolve(one + "~0") == one


@pytest.mark.parametrize(
    "revision", ["v1", "v1~1", "HEAD^", "HEAD~2", "origin/main", "main^2", "heads/main", "@"]
)
def test_revisions_mean_what_git_says(workspace: Workspace, revision: str) -> None:
    first = workspace.commit("1")
    workspace.commit("2")
    workspace.git("tag", "-a", "v1", "-m", "annotated")
    workspace.git("checkout", "-qb", "side", first)
    workspace.commit("side")
    workspace.git("checkout", "-q", "main")
    workspace.git("merge", "-q", "--no-ff", "side", "-m", "merge")
    workspace.git("update-ref", "refs/remotes/origin/main", first)
    expected = workspace.git("rev-parse", revision + "^{commit}")
    assert workspace.see(revision).changes.baseline.commit == expected
    workspace.git("pack-refs", "--all")
    workspace.git("gc", "-q")
    assert workspace.see(revision).changes.baseline.commit == expected


def test_shallow_clones(workspace: Workspace) -> None:
    first = workspace.commit("1")
    workspace.write("a.py")
    workspace.commit("2")
    shallow = workspace.scratch / "shallow"
    workspace.git("clone", "-q", "--depth=1", f"file://{workspace.root}", str(shallow), cwd=workspace.scratch)
    workspace.root = shallow
    workspace.write("a.py", "new\n")
    assert workspace.see().summary == {"a.py": "modified"}
    with pytest.raises(BaselineNotFound, match="not in the repository's own object database"):
        workspace.see(first)
    with pytest.raises(BaselineNotFound, match="beyond the history"):
        workspace.see("HEAD~1")


def test_partial_clones_need_only_the_blobs_that_changed(workspace: Workspace) -> None:
    workspace.write("a.py", "old a\n")
    workspace.write("b.py", "old b\n")
    before = workspace.commit()
    workspace.write("a.py", "2\n")
    workspace.commit()
    workspace.git("config", "uploadpack.allowFilter", "true")
    partial = workspace.scratch / "partial"
    workspace.git(
        "clone", "-q", "--filter=blob:none", f"file://{workspace.root}", str(partial), cwd=workspace.scratch
    )
    workspace.root = partial
    workspace.write("b.py", "2\n")
    head = workspace.git("rev-parse", "HEAD")
    assert workspace.see(head).summary == {"b.py": "modified"}
    with pytest.raises(BaselineNotFound, match="not in the repository's own object database"):
        workspace.see(before)


def test_the_sha256_object_format(workspace: Workspace) -> None:
    shutil.rmtree(workspace.root / ".git")
    workspace.git("init", "-q", "-b", "main", "--object-format=sha256")
    workspace.write("a.py", "1\n")
    workspace.write("b.py", "1\n")
    before = workspace.commit()
    assert len(before) == 64
    workspace.write("a.py", "2\n")
    workspace.git("update-index", "--assume-unchanged", "a.py")
    assert workspace.see(before).summary == {"a.py": "modified"}
    assert workspace.see().summary == {"a.py": "modified"}
    workspace.git("gc", "-q")
    seen = workspace.see(before)
    assert seen.summary == {"a.py": "modified"}
    assert seen.rules == {RepositoryRule.INDEX_FLAGS}


def test_packed_and_deltified_history(workspace: Workspace) -> None:
    text = "".join(f"line {number}\n" for number in range(3000))
    ids = []
    for number in range(12):
        workspace.write("big.py", text.replace(f"line {number * 100}\n", f"changed {number}\n"))
        workspace.write(f"dir{number}/x.py", str(number))
        ids.append(workspace.commit())
    workspace.git("repack", "-adfq", "--depth=50", "--window=50")
    for number in (0, 5, 10):
        seen = workspace.see(ids[number])
        assert seen["big.py"].added_lines == 2
        assert seen["big.py"].removed_lines == 2
        assert len(seen.changes.work) == 12 - number


@pytest.mark.parametrize("attribute", ["text eol=crlf", "eol=crlf", "text=auto eol=crlf"])
def test_a_checkout_with_crlf_is_not_a_change(workspace: Workspace, attribute: str) -> None:
    workspace.write(".gitattributes", f"*.bat {attribute}\n")
    workspace.write("run.bat", "one\ntwo\nthree\n")
    before = workspace.commit()
    (workspace.root / "run.bat").unlink()
    workspace.git("checkout", "-q", "--", "run.bat")
    assert (workspace.root / "run.bat").read_bytes() == b"one\r\ntwo\r\nthree\r\n"
    assert workspace.see(before).summary == {}
    workspace.write("run.bat", "one\r\n2\r\nthree\r\n")
    seen = workspace.see(before)
    assert seen["run.bat"].added_lines == 1
    # Mixed line ends are no checkout; and the final tree's attributes excuse nothing.
    workspace.write("run.bat", "one\r\ntwo\nthree\r\n")
    assert workspace.see(before).summary == {"run.bat": "modified"}


def test_the_final_attributes_excuse_nothing(workspace: Workspace) -> None:
    workspace.write("run.sh", "one\ntwo\n")
    before = workspace.commit()
    workspace.write(".gitattributes", "* text eol=crlf filter=lfs\n")
    workspace.write("run.sh", "one\r\ntwo\r\n")
    assert workspace.see(before).summary == {".gitattributes": "added", "run.sh": "modified"}


def test_lfs_pointers_stand_for_their_content(workspace: Workspace) -> None:
    content = b"\0large" * 1000
    digest = (
        subprocess.run(["sha256sum"], input=content, capture_output=True, check=True).stdout[:64].decode()
    )
    pointer = f"version https://git-lfs.github.com/spec/v1\noid sha256:{digest}\nsize {len(content)}\n"
    workspace.write(".gitattributes", "*.bin filter=lfs diff=lfs merge=lfs -text\n")
    workspace.write("model.bin", pointer)
    workspace.write("plain.dat", pointer)
    workspace.git("config", "filter.lfs.clean", "cat")
    before = workspace.commit()
    assert workspace.see(before).summary == {}
    workspace.write("model.bin", content)
    workspace.write("plain.dat", content)
    seen = workspace.see(before)
    assert seen.summary == {"plain.dat": "modified"}
    workspace.write("model.bin", content + b"!")
    seen = workspace.see(before)
    assert seen.summary == {"model.bin": "modified", "plain.dat": "modified"}
    assert seen["model.bin"].old_digest == f"sha256:{digest}"
    assert seen["model.bin"].diff_truncated


def test_other_filters_are_named_and_not_run(workspace: Workspace) -> None:
    workspace.write(".gitattributes", "*.key filter=crypt\n")
    workspace.write("a.key", "sealed\n")
    before = workspace.commit()
    workspace.write("a.key", "open\n")
    seen = workspace.see(before)
    assert seen.summary == {"a.key": "modified"}
    assert any("under the filter crypt" in warning for warning in seen.changes.warnings)


def test_the_baseline_may_not_lie_in_the_workspace(workspace: Workspace) -> None:
    inside = workspace.root / "before"
    inside.mkdir()
    with pytest.raises(UsageError, match="in one another"):
        workspace.see(inside)
    with pytest.raises(UsageError, match="same directory"):
        workspace.see(workspace.root)


def test_nothing_to_compare_with(workspace: Workspace, tmp_path: Path) -> None:
    with pytest.raises(BaselineNotFound, match="no commit that is checked out"):
        workspace.see()
    with pytest.raises(BaselineNotFound, match="neither a directory nor a revision"):
        workspace.see("no-such-thing")
    workspace.commit()
    with pytest.raises(BaselineNotFound, match="not in the repository"):
        workspace.see("0" * 40)
    with pytest.raises(BaselineNotFound, match="is a tree"):
        workspace.see(workspace.git("rev-parse", "HEAD^{tree}"))
    workspace.git("checkout", "-q", "--orphan", "lonely")
    workspace.git("commit", "-q", "--allow-empty", "-m", "unrelated")
    with pytest.raises(BaselineNotFound, match="no common ancestor"):
        workspace.see()
    workspace.root = tmp_path / "plain"
    workspace.root.mkdir()
    with pytest.raises(BaselineNotFound, match="not in a git repository"):
        workspace.see()


ORPHAN = (("checkout", "-q", "--orphan", "fake"), ("commit", "-q", "--allow-empty", "-m", "begin"))


@pytest.mark.parametrize(
    ("steps", "lost"),
    [
        ((("commit", "-q", "--allow-empty", "--amend", "-m", "again"),), True),
        (ORPHAN, True),
        ((*ORPHAN, ("branch", "-D", "main")), True),
        ((*ORPHAN, ("branch", "-D", "main"), ("branch", "-m", "main")), True),
        ((("checkout", "-qb", "topic", "HEAD~1"), ("branch", "-D", "main")), True),
        ((("commit", "-q", "--allow-empty", "-m", "on top"),), False),
        (
            (
                ("commit", "-q", "--allow-empty", "-m", "x"),
                ("commit", "-q", "--allow-empty", "--amend", "-m", "y"),
            ),
            False,
        ),
        ((("checkout", "-qb", "topic", "HEAD~1"), ("commit", "-q", "--allow-empty", "-m", "z")), False),
        ((("checkout", "-q", "--detach", "HEAD~1"),), False),
        ((("branch", "-m", "trunk"),), False),
    ],
)
def test_a_history_without_the_commit_it_began_at(
    workspace: Workspace, steps: tuple[tuple[str, ...], ...], lost: bool
) -> None:
    workspace.write("a.py", "1\n")
    workspace.commit()
    workspace.write("a.py", "2\n")
    workspace.commit()
    packed = len(steps) == 1
    if packed:
        workspace.git("gc", "-q")
    before = workspace.copy()
    for step in steps:
        workspace.git(*step)
    if packed:
        workspace.git("reflog", "expire", "--expire=now", "--all")
        workspace.git("gc", "-q", "--prune=now")
    assert (RepositoryRule.REWRITTEN in workspace.see(before).rules) is lost


def test_settings_and_files_that_hide_are_seen(workspace: Workspace) -> None:
    workspace.write("a.py", "1\n")
    workspace.commit()
    before = workspace.copy()
    workspace.git("config", "status.showUntrackedFiles", "no")
    workspace.git("config", "core.fileMode", "false")
    workspace.write(".git/shallow", workspace.git("rev-parse", "HEAD") + "\n")
    found = workspace.see(before).changes.repository
    assert {(finding.rule, finding.items[0][:20]) for finding in found} == {
        (RepositoryRule.CONFIG, "status.showuntracked"),
        (RepositoryRule.GRAFTS, found[-1].items[0][:20]),
    }
