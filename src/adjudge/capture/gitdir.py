"""Looking at the workspace's own `.git` for what was planted there.

The agent's `.git` decides nothing and none of its content is part of the change set. What git would act on
is reported all the same: hooks, settings that run programs, hidden index entries, borrowed or replaced
objects. Ordinary work in a repository (commits, branches, a refreshed index) is not. Nothing found here is
executed, and parsing is loose on purpose: it feeds evidence, not decisions.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Callable, Iterator, Sequence
from itertools import islice

from adjudge.capture.disk import join
from adjudge.capture.entries import Entry, EntryType, digest_chunks, is_content, is_folder
from adjudge.capture.githistory import lost_start
from adjudge.records.change import RepositoryFinding, RepositoryRule
from adjudge.records.paths import path_from_bytes, render_path

__all__ = ["inspect_git_directory"]

Lookup = Callable[[bytes], Entry | None]

_MAX_CONTROL_BYTES = 1 << 20
_MAX_INDEX_BYTES = 256 << 20
_SHOWN = 5
_MAX_ITEMS = 1000
_HOOK_BYTES = 500
_RUNS_PROGRAMS = {
    "core.alternaterefscommand", "core.askpass", "core.attributesfile", "core.editor", "core.excludesfile",
    "core.fsmonitor", "core.gitproxy", "core.hookspath", "core.pager", "core.sshcommand", "core.worktree",
    "credential.helper", "diff.external", "gpg.program", "include.path", "interactive.difffilter",
    "sequence.editor", "uploadpack.packobjectshook",
}  # fmt: skip
_RUNS_PROGRAMS_IN = {
    ("diff", "textconv"), ("diff", "command"), ("filter", "clean"), ("filter", "smudge"), 
    ("filter", "process"), ("merge", "driver"),
    ("includeif", "path"), ("credential", "helper"), ("gpg", "program"),
    ("pager", ""),
}  # fmt: skip
_OWN_FOLDERS = frozenset((
    b"annex", b"branches", b"hooks", b"lfs", b"logs", b"modules", b"objects", b"refs", b"rr-cache",
    b"sequencer", b"rebase-apply", b"rebase-merge", b"svn", b"worktrees",
))  # fmt: skip
_OWN_FILES = re.compile(
    rb"[A-Z_]*(?:HEAD|MSG|MODE|MERGE|RR)|[A-Z]+_[A-Z_]+|index|config(?:\.worktree)?|description|packed-refs|shallow"
    rb"|gc\.(?:log|pid)|fsmonitor.*|git-daemon-export-ok|gitk\.cache|sharedindex\..*|.*\.(?:lock|orig)|commondir|gitdir"
    rb"|info/(?:exclude|attributes|grafts|refs|sparse-checkout)"
)
_HIDES = {
    ("core.bare", "true"), ("core.ignorestat", "true"), ("status.showuntrackedfiles", "no"),
    ("diff.ignoresubmodules", "all"),
}  # fmt: skip


def inspect_git_directory(
    folder: bytes, final: Lookup, baseline: Lookup | None
) -> Iterator[RepositoryFinding]:
    """Everything notable in the `.git` of one repository of the workspace.

    Args:
        folder: The repository's directory; empty for the workspace itself.
        final: Finds an entry of the final workspace.
        baseline: Finds an entry of the baseline, where the baseline can hold a `.git` at all.
    """
    place = join(folder, b".git")
    now = final(place)
    then = None if baseline is None else baseline(place)
    if now is None:
        if then is not None:
            yield _finding(RepositoryRule.REMOVED, place, "is gone")
        return
    if not is_folder(now):
        yield from _inspect_pointer(place, now, then)
        return
    if then is not None and not is_folder(then):
        yield _finding(RepositoryRule.REPLACED, place, f"was a {then.type} and is a directory now")
    before: Lookup = baseline if baseline is not None and is_folder(then) else _nothing
    yield from _inspect_hooks(place, final, before)
    yield from _inspect_config(place, final, before)
    for name, rule, what in (
        (b"info/exclude", RepositoryRule.EXCLUDE, "hides paths from git"),
        (b"info/attributes", RepositoryRule.ATTRIBUTES, "changes how git shows paths"),
        (b"info/grafts", RepositoryRule.GRAFTS, "rewrites history"),
        (b"shallow", RepositoryRule.GRAFTS, "cuts history off"),
        (b"objects/info/alternates", RepositoryRule.ALTERNATES, "borrows objects from elsewhere"),
        (b"objects/info/http-alternates", RepositoryRule.ALTERNATES, "borrows objects from elsewhere"),
    ):
        path = join(place, name)
        lines = _effective_lines(_read(final, path))
        if lines and lines != _effective_lines(_read(before, path)):
            yield _finding(rule, path, f"{what}: {_shown(lines)}", lines)
    yield from _inspect_replacements(place, final, before)
    yield from _inspect_history(place, final, before)
    yield from _inspect_index(place, final, before)
    yield from _inspect_foreign(place, final, before)


def _inspect_pointer(place: bytes, now: Entry, then: Entry | None) -> Iterator[RepositoryFinding]:
    """A `.git` that is not a directory. Worktrees and submodules have a file, if they always had."""
    if now.type is not EntryType.FILE:
        yield _finding(RepositoryRule.REPLACED, place, f"is a {now.type}")
    elif is_content(now):
        text = _read_content(now)
        if then is not None and not is_content(then):
            yield _finding(RepositoryRule.REPLACED, place, f"was a directory and is a file: {_shown([text])}")
        elif is_content(then) and _read_content(then) != text:
            yield _finding(RepositoryRule.REPLACED, place, f"points elsewhere now: {_shown([text])}")
        elif not text.startswith(b"gitdir: "):
            yield _finding(RepositoryRule.REPLACED, place, "is a file that is no worktree's")


def _inspect_hooks(place: bytes, final: Lookup, before: Lookup) -> Iterator[RepositoryFinding]:
    folder = join(place, b"hooks")
    hooks = final(folder)
    if hooks is None:
        return
    if not is_folder(hooks):
        yield _finding(RepositoryRule.HOOK, folder, f"is a {hooks.type}")
        return
    try:
        entries = hooks.entries()
    except PermissionError:
        yield _finding(RepositoryRule.HOOK, folder, "cannot be listed")
        return
    for name, entry in sorted(entries.items()):
        path = join(folder, name)
        if name.endswith(b".sample"):
            continue
        known = before(path)
        if is_content(entry) and is_content(known):
            try:
                if digest_chunks(entry.chunks()) == digest_chunks(known.chunks()):
                    continue
            except PermissionError:
                pass
        message = "is a hook that the baseline does not have"
        yield _finding(RepositoryRule.HOOK, path, message, [_read(final, path)[:_HOOK_BYTES]])


def _inspect_config(place: bytes, final: Lookup, before: Lookup) -> Iterator[RepositoryFinding]:
    for name in (b"config", b"config.worktree"):
        path = join(place, name)
        entry = final(path)
        if entry is not None and entry.type is not EntryType.FILE:
            yield _finding(RepositoryRule.CONFIG, path, f"is a {entry.type}")
            continue
        known = set(_notable_settings(_read(before, path)))
        for setting in _notable_settings(_read(final, path)):
            if setting not in known:
                said = [setting.encode()]
                yield _finding(RepositoryRule.CONFIG, path, f"sets {_shown(said)}", said)


def _notable_settings(data: bytes) -> list[str]:
    """Settings that run a program or redirect git, as `section.key=value`."""
    found: list[str] = []
    section = subsection = ""
    for line in data.decode("utf-8", "replace").replace("\\\n", "").split("\n"):
        text = line.strip()
        if text.startswith("["):
            head, _, text = text[1:].partition("]")
            section, _, subsection = head.partition(" ")
            section, dot, inner = section.strip().lower().partition(".")
            subsection = inner if dot else subsection.strip().strip('"')
            text = text.strip()
        key, _, value = text.partition("=")
        key, value = key.strip().lower(), value.strip()
        if not key or key[0] in "#;":
            continue
        full = f"{section}.{key}"
        runs = (
            (full in _RUNS_PROGRAMS and not subsection)
            or (section, key) in _RUNS_PROGRAMS_IN
            or (section, "") in _RUNS_PROGRAMS_IN
            or (section == "alias" and value.startswith("!"))
            or (full, value.lower()) in _HIDES
            or (section == "submodule" and key == "ignore" and value.lower() == "all")
        )
        if runs:
            name = f"{section}.{subsection}.{key}" if subsection else full
            found.append(f"{name}={value}")
    return found


def _inspect_replacements(place: bytes, final: Lookup, before: Lookup) -> Iterator[RepositoryFinding]:
    now, then = _replacements(place, final), _replacements(place, before)
    if now - then:
        message = f"replaces objects: {_shown(sorted(now - then))}"
        yield _finding(RepositoryRule.REPLACE_REFS, join(place, b"refs/replace"), message)


def _replacements(place: bytes, lookup: Lookup) -> set[bytes]:
    found: set[bytes] = set()
    folder = lookup(join(place, b"refs/replace"))
    if is_folder(folder):
        try:
            found |= folder.entries().keys()
        except PermissionError:
            found.add(b"(unreadable)")
    for line in _read(lookup, join(place, b"packed-refs"), max_bytes=_MAX_INDEX_BYTES).split(b"\n"):
        _, marker, name = line.partition(b" refs/replace/")
        if marker:
            found.add(name)
    return found


def _inspect_history(place: bytes, final: Lookup, before: Lookup) -> Iterator[RepositoryFinding]:
    """Whether git still leads back to the commit that the attempt began at."""

    def read_final(path: bytes) -> bytes:
        return _read(final, path, max_bytes=_MAX_INDEX_BYTES)

    def read_before(path: bytes) -> bytes:
        return _read(before, path, max_bytes=_MAX_INDEX_BYTES)

    for path, message in lost_start(place, final, before, read_final, read_before):
        yield _finding(RepositoryRule.REWRITTEN, path, message)


def _inspect_foreign(place: bytes, final: Lookup, before: Lookup) -> Iterator[RepositoryFinding]:
    """Files that git does not know, in `.git` itself and in folders right below."""
    top = _entries(final, place)
    for folder, entry in sorted(top.items()):
        if is_folder(entry) and folder not in _OWN_FOLDERS:
            below = islice(sorted(_entries(final, join(place, folder)).items()), _MAX_ITEMS)
            top |= {join(folder, name): one for name, one in below}
    named = ((name, one) for name, one in sorted(top.items()) if not _OWN_FILES.fullmatch(name))
    for name, one in islice(named, _MAX_ITEMS):
        path = join(place, name)
        if one.type is EntryType.FILE and before(path) is None:
            yield _finding(RepositoryRule.FOREIGN, path, "is none of git's files")


def _entries(lookup: Lookup, path: bytes) -> dict[bytes, Entry]:
    folder = lookup(path)
    try:
        return dict(folder.entries()) if is_folder(folder) else {}
    except PermissionError:
        return {}


def _inspect_index(place: bytes, final: Lookup, before: Lookup) -> Iterator[RepositoryFinding]:
    path = join(place, b"index")
    wide = b"sha256" in _read(final, join(place, b"config")).lower()
    now = _hidden_entries(_read(final, path, max_bytes=_MAX_INDEX_BYTES), 32 if wide else 20)
    if not now:
        return
    fresh = now - _hidden_entries(_read(before, path, max_bytes=_MAX_INDEX_BYTES), 32 if wide else 20)
    if fresh:
        count = "1 path" if len(fresh) == 1 else f"{len(fresh)} paths"
        message = f"git is told not to look at {count}: {_shown(sorted(fresh))}"
        top = place.removesuffix(b".git").removesuffix(b"/")
        hidden = [join(top, name) if top else name for name in sorted(fresh)]
        yield _finding(RepositoryRule.INDEX_FLAGS, path, message, hidden)


def _hidden_entries(data: bytes, id_size: int) -> set[bytes]:
    """Paths in an index file that are marked assume-unchanged or skip-worktree."""
    if len(data) < 12 or data[:4] != b"DIRC":
        return set()
    version, count = struct.unpack_from(">II", data, 4)
    hidden: set[bytes] = set()
    at = 12
    fixed = 40 + id_size
    name = b""
    try:
        for _ in range(count):
            start = at
            (flags,) = struct.unpack_from(">H", data, at + fixed)
            at += fixed + 2
            extended = 0
            if flags & 0x4000:
                (extended,) = struct.unpack_from(">H", data, at)
                at += 2
            if version == 4:
                strip, at = _offset_varint(data, at)
                end = data.index(b"\0", at)
                name = name[: len(name) - strip] + data[at:end]
                at = end + 1
            else:
                length = flags & 0xFFF
                end = at + length if length < 0xFFF else data.index(b"\0", at)
                name = data[at:end]
                at = start + ((end - start) // 8 + 1) * 8
            if flags & 0x8000 or extended & 0x4000:
                hidden.add(name)
    except (struct.error, ValueError, IndexError):
        hidden.add(b"(the index is damaged)")
    return hidden


def _offset_varint(data: bytes, at: int) -> tuple[int, int]:
    byte = data[at]
    at += 1
    value = byte & 0x7F
    while byte & 0x80:
        byte = data[at]
        at += 1
        value = ((value + 1) << 7) | (byte & 0x7F)
    return value, at


def _read(lookup: Lookup, path: bytes, *, max_bytes: int = _MAX_CONTROL_BYTES) -> bytes:
    entry = lookup(path)
    if not is_content(entry) or entry.type is not EntryType.FILE:
        return b""
    try:
        return b"".join(entry.chunks()) if entry.size <= max_bytes else b""
    except PermissionError:
        return b""


def _read_content(entry: Entry) -> bytes:
    return _read(lambda _: entry, b"")


def _effective_lines(data: bytes) -> list[bytes]:
    lines = (line.strip() for line in data.split(b"\n"))
    return [line for line in lines if line and not line.startswith(b"#")]


def _shown(items: list[bytes]) -> str:
    """The first few of some untrusted texts, made safe to print."""
    shown = [render_path(path_from_bytes(item.strip()[:200])) for item in items[:_SHOWN]]
    more = f", and {len(items) - _SHOWN} more" if len(items) > _SHOWN else ""
    return ", ".join(shown) + more


def _finding(
    rule: RepositoryRule, path: bytes, message: str, items: Sequence[bytes] = ()
) -> RepositoryFinding:
    return RepositoryFinding(
        rule=rule,
        path=path_from_bytes(path),
        message=message,
        items=tuple(item[:_MAX_CONTROL_BYTES].decode("utf-8", "replace") for item in items[:_MAX_ITEMS]),
    )


def _nothing(path: bytes) -> Entry | None:
    return None
