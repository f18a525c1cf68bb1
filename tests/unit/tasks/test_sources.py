"""Folders and repositories become trees, and nothing of theirs runs on the way."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, Protocol

import pytest

from adjudge.errors import UsageError
from adjudge.records.task import WorkspaceSource
from adjudge.records.tree import DIRECTORY, EXECUTABLE, FILE, SYMLINK
from adjudge.tasks.folder import Folder
from adjudge.tasks.sources import Materialised, materialise
from adjudge.tasks.trees import TreeRefused, read_entries


class Repository(Protocol):
    root: Path

    def git(self, *arguments: str) -> str: ...

    def commit(self, **files: str) -> str: ...


def make(root: Path, into: Path, **source: Any) -> Materialised:
    return materialise(WorkspaceSource.model_validate(source), Folder(root), into)


def modes(made: Materialised) -> dict[str, int]:
    return {entry.path: entry.mode for entry in made.entries}


def test_an_empty_workspace(tmp_path: Path) -> None:
    assert make(tmp_path, tmp_path / "into", source="empty").entries == ()
    assert list((tmp_path / "into").iterdir()) == []


def test_a_folder_with_everything_in_it(tmp_path: Path) -> None:
    project = tmp_path / "project"
    (project / "sub" / "empty").mkdir(parents=True)
    (project / "run").write_text("#!/bin/sh\n")
    (project / "run").chmod(0o4711)
    (project / "sub" / "secret").write_text("x")
    (project / "sub" / "secret").chmod(0o400)
    (project / "dangling").symlink_to("/nowhere/at/all")
    Path(os.fsdecode(os.fsencode(project) + b"/caf\xe9\n")).write_text("x")
    made = make(tmp_path, tmp_path / "into", source="directory", path="project")
    assert modes(made) == {
        os.fsdecode(b"caf\xe9\n"): FILE, "dangling": SYMLINK, "run": EXECUTABLE, "sub/empty": DIRECTORY,
        "sub/secret": FILE,
    }  # fmt: skip
    assert read_entries(tmp_path / "into") == made.entries
    assert (tmp_path / "into" / "run").stat().st_mode & 0o7777 == 0o755
    assert (tmp_path / "into" / "sub" / "secret").stat().st_mode & 0o7777 == 0o644


def test_history_in_a_folder_is_left_out(tmp_path: Path) -> None:
    for place in ("project/.git/objects", "project/vendor/.git/objects"):
        (tmp_path / place).mkdir(parents=True)
    (tmp_path / "project" / "vendor" / "a").write_text("x")
    (tmp_path / "project" / ".gitignore").write_text("x")
    made = make(tmp_path, tmp_path / "into", source="directory", path="project")
    assert set(modes(made)) == {".gitignore", "vendor/a"}
    assert made.notes == ("vendor/.git was left out: history of its own does not belong here",)


def test_a_part_of_a_folder(tmp_path: Path) -> None:
    (tmp_path / "project" / "app").mkdir(parents=True)
    (tmp_path / "project" / "app" / "a").write_text("x")
    (tmp_path / "project" / "apple").write_text("x")
    made = make(tmp_path, tmp_path / "into", source="directory", path="project", subdir="app")
    assert set(modes(made)) == {"a"}


@pytest.mark.parametrize("subdir", ["gone", "file", "link"])
def test_a_part_that_is_no_folder_is_refused(tmp_path: Path, subdir: str) -> None:
    (tmp_path / "project" / "real").mkdir(parents=True)
    (tmp_path / "project" / "file").write_text("x")
    (tmp_path / "project" / "link").symlink_to("real")
    with pytest.raises(UsageError, match=f"the source has no folder '{subdir}'"):
        make(tmp_path, tmp_path / "into", source="directory", path="project", subdir=subdir)


def test_special_files_are_refused(tmp_path: Path) -> None:
    (tmp_path / "project").mkdir()
    os.mkfifo(tmp_path / "project" / "fifo")
    with pytest.raises(TreeRefused, match="fifo is neither a file, a folder nor a symlink"):
        make(tmp_path, tmp_path / "into", source="directory", path="project")


def test_a_socket_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "project").mkdir()
    monkeypatch.chdir(tmp_path / "project")
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind("s")
        with pytest.raises(TreeRefused, match="s is neither"):
            make(tmp_path, tmp_path / "into", source="directory", path="project")


def test_a_link_out_of_the_scenario_is_refused(tmp_path: Path) -> None:
    (tmp_path / "outside").mkdir()
    (tmp_path / "scenario").mkdir()
    (tmp_path / "scenario" / "project").symlink_to("../outside")
    with pytest.raises(UsageError, match="leads out of the scenario's folder through a link"):
        make(tmp_path / "scenario", tmp_path / "into", source="directory", path="project")


def git_source(repository: Repository, into: Path, **more: Any) -> Materialised:
    return make(repository.root.parent, into, source="git", path="repo", **more)


def test_a_commit_and_nothing_but_it(repository: Repository, tmp_path: Path) -> None:
    first = repository.commit(a="1\n", sub__b="2\n")
    (repository.root / "run").write_text("x")
    (repository.root / "run").chmod(0o755)
    (repository.root / "link").symlink_to("a")
    second = repository.commit(c="3\n")
    repository.git("tag", "-a", "v1", "-m", "x", first)
    (repository.root / "a").write_text("dirty\n")
    (repository.root / "untracked").write_text("x")
    made = git_source(repository, tmp_path / "head")
    assert made.source.ref == second
    assert modes(made) == {"a": FILE, "c": FILE, "link": SYMLINK, "run": EXECUTABLE, "sub/b": FILE}
    assert (tmp_path / "head" / "a").read_text() == "1\n"
    for number, ref in enumerate(("v1", first, first[:10], "main")):
        made = git_source(repository, tmp_path / f"ref{number}", ref=ref)
        assert made.source.ref == (second if ref == "main" else first)
    assert modes(git_source(repository, tmp_path / "sub", subdir="sub")) == {"b": FILE}


def test_names_keep_their_true_bytes(repository: Repository, tmp_path: Path) -> None:
    Path(os.fsdecode(os.fsencode(repository.root) + b"/caf\xe9\nx")).write_text("x")
    repository.commit()
    assert modes(git_source(repository, tmp_path / "into")) == {os.fsdecode(b"caf\xe9\nx"): FILE}


def test_nothing_a_repository_says_is_executed(repository: Repository, tmp_path: Path) -> None:
    ran = tmp_path / "ran"
    hook = f"#!/bin/sh\ntouch {ran}\n"
    repository.commit(a="$Id$ \r\n", _gitattributes="")
    (repository.root / ".gitattributes").write_text("* filter=evil text eol=crlf ident\n")
    for name in ("post-checkout", "reference-transaction", "post-index-change"):
        (repository.root / ".git" / "hooks" / name).write_text(hook)
        (repository.root / ".git" / "hooks" / name).chmod(0o755)
    commit = repository.git("-c", "core.hooksPath=/dev/null", "commit-tree", "-m", "x", "HEAD^{tree}")
    for key in ("filter.evil.smudge", "filter.evil.process", "core.fsmonitor", "core.sshCommand"):
        repository.git("config", key, f"touch {ran}")
    repository.git("config", "core.autocrlf", "true")
    git_source(repository, tmp_path / "into", ref=commit)
    assert (tmp_path / "into" / "a").read_bytes() == b"$Id$ \r\n"
    assert not ran.exists()


def test_submodules_and_pointers_are_said(repository: Repository, tmp_path: Path) -> None:
    commit = repository.commit(big="version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 1\n")
    repository.git("update-index", "--add", "--cacheinfo", f"160000,{commit},libs/other")
    repository.git("commit", "-q", "-m", "x")
    made = git_source(repository, tmp_path / "into")
    assert modes(made) == {"big": FILE, "libs/other": DIRECTORY}
    assert made.notes == (
        "submodule libs/other is an empty folder: submodules are not fetched",
        "big is a Git LFS pointer: its content is not fetched",
    )


def test_replaced_objects_do_not_count(repository: Repository, tmp_path: Path) -> None:
    commit = repository.commit(a="true\n")
    fake = repository.commit(a="false\n")
    repository.git("replace", commit, fake)
    git_source(repository, tmp_path / "into", ref=commit)
    assert (tmp_path / "into" / "a").read_text() == "true\n"


def test_a_tree_that_git_would_never_write_is_refused(repository: Repository, tmp_path: Path) -> None:
    blob = subprocess.run(
        ["git", "hash-object", "-w", "--stdin"],
        cwd=repository.root,
        input=b"x",
        capture_output=True,
        check=True,
    ).stdout.strip()
    for name in (b"..", b".git", b"a/b"):
        tree = b"100644 " + name + b"\0" + bytes.fromhex(blob.decode())
        made = subprocess.run(
            ["git", "hash-object", "-w", "-t", "tree", "--literally", "--stdin"],
            cwd=repository.root, input=tree, capture_output=True, check=True,
        ).stdout.strip().decode()  # fmt: skip
        commit = repository.git("commit-tree", "-m", "x", made)
        with pytest.raises(UsageError):
            git_source(repository, tmp_path / f"into-{len(name)}-{name[:1].hex()}", ref=commit)
    assert not (tmp_path / "a").exists()


def test_what_is_no_repository_or_commit_is_refused(repository: Repository, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="the repository has no commit 'HEAD'"):
        git_source(repository, tmp_path / "none")
    repository.commit(sub__a="x")
    with pytest.raises(UsageError, match="the repository has no commit 'gone'"):
        git_source(repository, tmp_path / "gone", ref="gone")
    with pytest.raises(UsageError, match="is not a git repository") as caught:
        make(repository.root, tmp_path / "sub", source="git", path="sub")
    assert caught.value.hint is not None


@contextmanager
def over_http(repository: Repository) -> Iterator[str]:
    """The repository as plain files over HTTP on the loopback."""

    class Quiet(SimpleHTTPRequestHandler):
        def log_message(self, *arguments: Any) -> None:
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(repository.root / ".git")))
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}/"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


@contextmanager
def over_git(repository: Repository) -> Iterator[str]:
    """The repository over git's own protocol on the loopback."""
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        port = unused.getsockname()[1]
    command = ["git", "daemon", "--export-all", "--listen=127.0.0.1", f"--port={port}", "--reuseaddr"]
    daemon = subprocess.Popen(
        [*command, f"--base-path={repository.root.parent}"],
        env={"PATH": os.environ["PATH"]},
        start_new_session=True,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        for _ in range(200):
            with socket.socket() as probe:
                if probe.connect_ex(("127.0.0.1", port)) == 0:
                    break
            time.sleep(0.02)
        yield f"git://127.0.0.1:{port}/repo/.git"
    finally:
        os.killpg(daemon.pid, signal.SIGKILL)
        daemon.wait()


@pytest.mark.parametrize("serve", [over_http, over_git])
def test_a_repository_from_elsewhere(
    serve: Callable[[Repository], AbstractContextManager[str]],
    repository: Repository,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    ran = tmp_path / "ran"
    home = tmp_path / "home"
    home.mkdir()
    (home / ".gitconfig").write_text(
        f"[core]\n\tfsmonitor = touch {ran}\n[http]\n\tproxy = http://127.0.0.1:1/\n"
    )
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("GIT_DIR", "/nowhere")
    first = repository.commit(a="1\n")
    second = repository.commit(a="2\n")
    repository.git("tag", "v1", first)
    repository.git("update-server-info")
    with serve(repository) as served:
        for number, (ref, commit) in enumerate(
            [(None, second), ("main", second), ("v1", first), (first, first), (first[:12], first)]
        ):
            into = tmp_path / f"into{number}"
            made = make(tmp_path, into, source="git", url=served, **({"ref": ref} if ref else {}))
            assert made.source.ref == commit
            assert (into / "a").read_text() == ("1\n" if commit == first else "2\n")
        with pytest.raises(UsageError, match="at 'gone' cannot be fetched"):
            make(tmp_path, tmp_path / "gone", source="git", url=served, ref="gone")
    assert not ran.exists()
    assert [path.name for path in tmp_path.iterdir() if path.name.startswith("fetch-")] == []


def test_a_server_that_is_not_there_is_said(tmp_path: Path) -> None:
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        port = unused.getsockname()[1]
        with pytest.raises(UsageError, match="cannot be fetched"):
            make(tmp_path, tmp_path / "into", source="git", url=f"http://127.0.0.1:{port}/x")
