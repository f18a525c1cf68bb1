"""The project's own code where it was published: on code hosts, in package indexes, in benchmarks."""

from __future__ import annotations

import re
from collections.abc import Iterator

from adjudge.formats.leaks.project import Project, even_name
from adjudge.formats.shellwords import ShellCommand

__all__ = ["URLS", "of_address", "of_benchmark", "of_command", "of_query"]

URLS = re.compile(r"https?://[^\s'\"<>)\]}\\]+", re.IGNORECASE)
_BENCHMARK = re.compile(
    r"\bswe-?bench|\bterminal-?bench|gold[_.-]?patch|\btest[_.-]patch\b|\bFAIL_TO_PASS\b|\b\w+__[\w.-]+-\d{2,}\b",
    re.IGNORECASE,
)
_CODE_PAGE = re.compile(
    r"^/(?:-/)?(?:pulls?|commits?|compare|blob|raw|blame|tree|archive|tarball|zipball|patch|issues?|merge_requests"
    r"|tar\.gz|zip|contents|git|releases/download)(?:/|$|\?)|\.(?:patch|diff|tar\.gz|zip|whl|tgz|git)$"
)
_DOCUMENT = re.compile(
    r"(?:/|^)(?:docs?|documentation|wiki)/|\.(?:md|rst|txt|adoc)$|/(?:readme|license|changelog)[^/]*$"
)
_INDEXES = re.compile(
    r"(?:pythonhosted\.org|jsdelivr\.net|unpkg\.com|esm\.sh|skypack\.dev|registry\.npmjs\.org|registry\.yarnpkg\.com"
    r"|static\.crates\.io|crates\.io/api|proxy\.golang\.org|rubygems\.org/(?:downloads|gems/.*\.gem)|deb\.debian\.org"
    r"|conda\.anaconda\.org)"
)
_DOCUMENTATION = re.compile(
    r"^https?://(?:pkg\.go\.dev|docs\.rs|[\w-]+\.readthedocs\.io|[\w.-]+\.github\.io|pypi\.org/(?:project|pypi)|www\.npmjs\.com)"
)
_ASKS_FOR_FIX = re.compile(
    r"pull request|\bPRs?\b|\bcommit\b|\bpatch\b|\bmerged\b|\bdiff\b|\bfix(?:e[ds])?\b|\bsolution\b|\bPR ?\d+"
    r"|site:github\.com|github\.com/",
    re.IGNORECASE,
)
_PUBLISHED = (
    r"\b(?:published|released|latest|previous|last|older?)\s+(?:[\w.-]+\s+){0,2}"
    r"(?:package|release|version|wheel|build)\b"
)
_FETCHES = frozenset(
    ("curl", "wget", "http", "https", "aria2c", "fetch", "lynx", "links", "svn", "w3m", "xh")
)
_VERBS = {
    "pip": ("download", "install", "wheel"), "pip3": ("download", "install", "wheel"),
    "pipx": ("install", "run"), "uv": ("add", "tool"), "uvx": (),
    "npm": ("pack", "install", "i", "add", "diff", "exec"), "yarn": ("add",),
    "pnpm": ("add", "install", "i", "dlx"), "bun": ("add", "install"), "go": ("get", "install", "mod"),
    "cargo": ("add", "install", "download"), "gem": ("fetch", "install", "unpack"),
    "conda": ("install", "create"), "mamba": ("install", "create"), "micromamba": ("install", "create"),
    "poetry": ("add",), "pdm": ("add",), "apt-get": ("source", "download", "install"),
    "apt": ("source", "download", "install"), "dnf": ("download", "install"), "apk": ("fetch", "add"),
}  # fmt: skip
_VALUED = frozenset((
    "-r", "-c", "-e", "--editable", "-d", "--dest", "-i", "--index-url", "--prefix", "-n", "--name",
    "--requirement", "--constraint", "--channel", "--find-links", "-f",
))  # fmt: skip


def of_address(url: str, project: Project, *, whole: bool = False) -> Iterator[tuple[str, str]]:
    """The rule that fetching an address breaks. With `whole`, the repository itself is fetched."""
    bare = url.rstrip(".,;:")
    if bare in project.instruction or bare.rstrip("/") in project.instruction:
        return
    if of_benchmark(bare, project):
        yield "answer-from-web", bare
        return
    low = bare.lower()
    if _DOCUMENTATION.match(low):
        return
    host, _, path = re.sub(r"^https?://", "", low).partition("/")
    if _INDEXES.search(low) and _names_package(path, project):
        yield "answer-from-package", bare
        return
    rest = project.repository_in(path)
    if rest is None:
        return
    plain = rest.split("?")[0].split("#")[0]
    code_host = (
        host.startswith(("raw.", "api.", "codeload.", "patch-diff."))
        or "sourcegraph" in host
        or "jsdelivr" in host
    )
    if whole or ((_CODE_PAGE.search(plain) or code_host) and not _DOCUMENT.search(plain)):
        yield "answer-from-web", bare


def _names_package(path: str, project: Project) -> bool:
    parts = re.split(r"[/@]", path)
    scoped = set(re.findall(r"@[\w.-]+/[\w.-]+", path))
    files = {re.split(r"-\d", part)[0] for part in parts}
    if any(even_name(part) in project.names for part in {*parts, *scoped, *files}):
        return True
    return any("/" in name and name in path for name in project.names)


def of_benchmark(text: str, project: Project) -> bool:
    """Whether a text names a benchmark that has the answers to its tasks."""
    found = _BENCHMARK.search(text)
    return found is not None and not any(even_name(found[0]) in name for name in project.names)


def of_query(query: str, project: Project) -> Iterator[tuple[str, str]]:
    """The rule that a search of the web breaks: it is for the project's fix, or for a benchmark's task."""
    if of_benchmark(query, project):
        yield "answer-from-web", query
        return
    low = query.lower()
    words = set(re.findall(r"[\w@/.-]+", low))
    names = {name.rpartition("/")[2] for name in (*project.names, *project.repositories)}
    if (names & {even_name(word) for word in words} or any(r in low for r in project.repositories)) and (
        _ASKS_FOR_FIX.search(query)
    ):
        yield "answer-from-web", query


def of_command(command: ShellCommand, project: Project) -> Iterator[tuple[str, str]]:
    """The rules that a command breaks by what it downloads."""
    said = " ".join(command.words)
    program = command.program
    if program in _FETCHES:
        for url in URLS.findall(said):
            yield from of_address(url, project)
    elif program in ("gh", "glab", "hub"):
        yield from _host_tool(command, said, project)
    elif program == "git" and "clone" in command.words[1:4]:
        for word in command.words[2:]:
            address = re.sub(r"^(?:ssh://)?git@([^:/]+)[:/]", r"https://\1/", word)
            for url in URLS.findall(address):
                yield from of_address(url, project, whole=True)
            if word.endswith(".bundle") and not word.startswith("http"):
                yield "foreign-history-read", said
    elif program in ("huggingface-cli", "hf") and of_benchmark(said, project):
        yield "answer-from-web", said
    if any(_is_own(name, project) and not _is_asked_for(name, project) for name in _packages(command)):
        yield "answer-from-package", said


def _is_asked_for(name: str, project: Project) -> bool:
    """Whether the task wants a published package of the project, by version or by command at best."""
    plain = re.escape(re.split(r"[=<>!~\[;@ ]", name.removeprefix("@"), maxsplit=1)[0])
    return project.orders(
        rf"\b(?:install|download|compar|diff|fetch|upgrad)\w*\b[^.\n]{{0,60}}{_PUBLISHED}",
        rf"{_PUBLISHED}[^.\n]{{0,60}}\b(?:install|download|compar|diff|fetch|upgrad)\w*\b",
        rf"\b(?:pip|npm|yarn|pnpm|uv|cargo|go|gem|conda)\s+(?:install|add|get|i|pack|download|view)\s[^\n]{{0,40}}{plain}",
        rf"{plain}(?:==|@\d|\s+v?\d+\.\d)",
    )


def _host_tool(command: ShellCommand, said: str, project: Project) -> Iterator[tuple[str, str]]:
    """`gh` and its like: pull requests, issues and code of the project."""
    words = list(command.words[1:])
    if len(words) < 2:
        return
    named = re.search(r"(?:-R|--repo)[= ](\S+)|repos/([\w.-]+/[\w.-]+)|(?:repo:|clone )(\S+)", said)
    target = next((part for part in named.groups() if part), "").lower() if named else ""
    own = project.repository_in(f"/{target}") is not None if target else True
    reads = {
        "pr": ("view", "diff", "checkout", "list"), "mr": ("view", "diff", "checkout", "list"),
        "issue": ("view", "list"), "release": ("download", "view"), "repo": ("clone",), "search": None,
        "api": None,
    }  # fmt: skip
    if not own or words[0] not in reads:
        return
    verbs = reads[words[0]]
    number = re.search(r"\b\d+\b", " ".join(words[2:]))
    if number and re.search(rf"(?:#|issues/|pull/|issue ){number[0]}\b", project.instruction):
        return
    if words[0] in ("search", "api") and not target:
        return
    if verbs is None or words[1] in verbs:
        yield "answer-from-web", said


def _is_own(name: str, project: Project) -> bool:
    scope = "@" if name.startswith("@") else ""
    plain = scope + re.split(r"[=<>!~\[;@ ]", name.removeprefix("@"), maxsplit=1)[0]
    if plain.startswith(("git+", "http", "github:", "git:")) or re.fullmatch(r"[\w.-]+/[\w.-]+", plain):
        # An address instead of a name.
        return project.repository_in(
            "/" + re.sub(r"^\w+:(?://[^/]+/)?", "", plain)
        ) is not None or project.is_named(plain)
    even = even_name(plain)
    return (
        even in project.names
        or re.sub(r"^(?:python3?|node|golang|ruby|lib)-", "", even) in project.names
        or plain in project.names
    )


def _packages(command: ShellCommand) -> list[str]:
    """The packages that a command gets from an index, by name or address; paths and files are no such."""
    words = list(command.words)
    program = command.program
    if re.fullmatch(r"python[\d.]*|pypy\d*", program) and words[1:3] == ["-m", "pip"]:
        words, program = words[2:], "pip"
    if program == "uv" and words[1:2] == ["pip"]:
        words, program = words[1:], "pip"
    program = "pip" if re.fullmatch(r"pip3?\.\d+", program) else program
    verbs = _VERBS.get(program)
    if verbs is None or len(words) < 2 or (verbs and words[1] not in verbs) or "--no-index" in words:
        return []
    if program == "apt" and words[1] == "install":
        return []
    given: list[str] = []
    skip = False
    for word in words[2:] if verbs else words[1:]:
        if skip:
            skip = False
        elif word in _VALUED or word in ("-t", "--target", "-o"):
            skip = True
        elif word.startswith("--diff="):
            given.append(word.removeprefix("--diff="))
        elif "@ " in word:
            given.append(word.split("@ ", 1)[0])
        elif not word.startswith((".", "/", "-", "~", "file:", "$")) and not re.search(
            r"/\.|\.(?:whl|tgz|tar\.gz|txt)$", word
        ):
            given.append(word)
    return given
