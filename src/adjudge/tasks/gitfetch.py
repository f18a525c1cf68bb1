"""A repository from elsewhere onto this machine, with the git command and nothing of the user's settings.

git is run with an environment made for it: no configuration but ours, no hooks, no prompts, no submodules,
and only the protocols a scenario may use. What arrives is objects; `gitobjects` reads them.
"""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
from pathlib import Path

from adjudge.errors import UsageError

__all__ = ["fetch_repository"]

_FETCHED = "refs/adjudge/seed"
_TIMEOUT_S = 900.0
_COMMIT_ID = re.compile(r"[0-9a-f]{7,64}\Z")
_KEPT = (
    "PATH", "HOME", "SSH_AUTH_SOCK", "SSL_CERT_FILE", "SSL_CERT_DIR", "CURL_CA_BUNDLE", "GIT_SSL_CAINFO",
    "http_proxy", "https_proxy", "no_proxy", "HTTPS_PROXY", "NO_PROXY", "all_proxy", "ALL_PROXY", "TMPDIR",
)  # fmt: skip
"""What reaching a server may need: certificates, proxies, and ssh's own keys and known hosts."""
_OPTIONS = (
    "core.hooksPath=/dev/null", "core.fsmonitor=false", "credential.helper=", "gc.auto=0",
    "maintenance.auto=false", "fetch.writeCommitGraph=false", "submodule.recurse=false",
    "transfer.bundleURI=false", "http.followRedirects=initial",
)  # fmt: skip


def fetch_repository(url: str, ref: str | None, into: Path) -> str:
    """Fetch what a ref names into a new bare repository; returns the name it has there.

    Raises:
        UsageError: git is not installed, or the repository or the ref cannot be had.
    """
    if shutil.which("git") is None:
        raise UsageError("git is not installed", hint="install git, or give the repository as path")
    _git(["init", "--quiet", "--bare", "--template=", str(into)], cwd=into.parent)
    wanted = ref or "HEAD"
    refspec = f"+{wanted}:{_FETCHED}"
    # A server need not know how to leave history out.
    failed = _fetch(into, url, refspec, "--depth=1") and _fetch(into, url, refspec)
    if failed is None:
        return _FETCHED
    if _COMMIT_ID.match(wanted):
        # Nor need it hand out single commits by id, and a short id means something only on this side.
        failed = _fetch(into, url, "+refs/*:refs/remote/*")
        if failed is None:
            return wanted
    raise UsageError(f"{url} at {wanted!r} cannot be fetched: {failed}")


def _fetch(repository: Path, url: str, refspec: str, *options: str) -> str | None:
    """Why fetching failed, or None."""
    common = ("--no-tags", "--no-recurse-submodules", "--no-write-fetch-head", "--quiet")
    try:
        _git(["fetch", *common, *options, "--", url, refspec], cwd=repository)
    except UsageError as error:
        return error.message
    return None


def _git(arguments: list[str], *, cwd: Path) -> None:
    command = ["git", *(part for option in _OPTIONS for part in ("-c", option)), *arguments]
    process = subprocess.Popen(
        command,
        cwd=cwd,
        env=_environment(),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        # A group of its own: git starts helpers, and all of them end with it.
        start_new_session=True,
    )
    try:
        _, said = process.communicate(timeout=_TIMEOUT_S)
    except subprocess.TimeoutExpired:
        raise UsageError(f"git took longer than {_TIMEOUT_S:g} s") from None
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
            process.communicate()
    if process.returncode != 0:
        lines = said.decode("utf-8", "replace").strip().splitlines()
        raise UsageError(lines[-1][:500] if lines else f"git ended with {process.returncode}")


def _environment() -> dict[str, str]:
    kept = {name: os.environ[name] for name in _KEPT if name in os.environ}
    return {
        **kept,
        "LC_ALL": "C",
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_CONFIG_GLOBAL": "/dev/null",
        "GIT_CONFIG_SYSTEM": "/dev/null",
        "GIT_ATTR_NOSYSTEM": "1",
        "GIT_TERMINAL_PROMPT": "0",
        "GIT_ASKPASS": "/bin/false",
        "SSH_ASKPASS": "/bin/false",
        "GIT_SSH_COMMAND": "ssh -o BatchMode=yes",
        "GIT_ALLOW_PROTOCOL": "https:ssh:http:git",
        "GIT_NO_REPLACE_OBJECTS": "1",
        "GIT_LFS_SKIP_SMUDGE": "1",
    }
