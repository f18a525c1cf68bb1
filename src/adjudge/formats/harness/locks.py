"""Where lock files have packages come from: a test runner that is not taken from where the others are.

Versions, new packages and a registry that all packages moved to are nobody's business. What is said of a
package leaves out its version and commit, so that a bump is no news.
"""

from __future__ import annotations

import json
import re
import tomllib
from collections import Counter
from collections.abc import Iterator, Mapping
from itertools import islice
from typing import Any, Final

from adjudge.formats.harness.commands import one_line
from adjudge.formats.harness.documents import load_yaml
from adjudge.formats.harness.settings import RUNNER_PACKAGES
from adjudge.records.harness import HarnessFact, HarnessOutline

__all__ = ["read_npm_lock", "read_pipfile_lock", "read_pnpm_lock", "read_python_lock", "read_yarn_lock"]

Mapped = Mapping[str, Any]
_MAX_PLACED: Final = 500
"""Facts whose lines are looked for, which takes a look at all lines for each."""
_MAX_ASKED: Final = 100_000
"""Packages that are asked for. A table can stand in many places of one document."""
_LOCAL_KEYS: Final = ("path", "directory", "editable", "virtual", "file", "git", "url")
_WORTH_READING: Final = re.compile(
    r"link:|file:|portal:|patch|tarball|directory|git|https?:|workspace:|overrides|npm:"
    r"|:[ \t]+[\"']?/?@?[A-Za-z][\w./-]*[@/]\d"
)
"""What a lock file of pnpm has where anything in it comes from elsewhere; parsing one takes a second."""
_NPM_PLACE: Final = re.compile(r"^(?P<registry>.*?)/(?P<name>(?:@[^/]+(?:/|%2[fF]))?[^/]+)/-/[^/]+$")
_YARN_KEY: Final = re.compile(r'^"?(@?[^@"\s]+)@(.*?)"?:?$')
_YARN_FIELD: Final = re.compile(r'^\s+"?(resolved|resolution)"?:?\s+"?([^"]+)"?\s*$')
_PACKAGE_KEY: Final = re.compile(r"^/?(@?[^@(]+)[@/]([^(]*)")


class _Sources:
    """Packages with where they come from, as they are found."""

    def __init__(self, text: str) -> None:
        self._lines = text.splitlines()
        self._facts: dict[str, HarnessFact] = {}
        self._registries: list[tuple[str, str, str]] = []

    def elsewhere(self, package: str, source: str, key: str = "") -> None:
        """A package that is taken from no registry."""
        bare = re.sub(r"[#?].*|&commit=.*", "", source).strip()
        if package in RUNNER_PACKAGES:
            self._fact("runner-swapped", f"{package} {bare}", key or package)
        else:
            self._fact("product-replaced", f"package {package} => {bare}", key or package)

    def other(self, package: str, name: str, key: str = "") -> None:
        """A package in whose place there is one of another name."""
        if package in RUNNER_PACKAGES:
            self._fact("runner-swapped", f"{package} is {name}", key or package)

    def registry(self, package: str, registry: str, key: str = "") -> None:
        """A package that is taken from a registry."""
        self._registries.append((package, registry.rstrip("/").lower(), key or package))

    def outline(self) -> HarnessOutline:
        """What is odd about runners."""
        counts = Counter(registry for _, registry, _ in self._registries)
        usual = counts.most_common(1)[0][0] if counts else ""
        for package, registry, key in self._registries:
            # Two packages from two registries say nothing about which is the odd one.
            if package in RUNNER_PACKAGES and registry != usual and counts[usual] > counts[registry]:
                self._fact("runner-swapped", f"{package} from {registry or 'the default registry'}", key)
        return HarnessOutline(facts=tuple(self._facts.values()))

    def _fact(self, rule: str, what: str, key: str) -> None:
        line = None
        if len(self._facts) < _MAX_PLACED:
            line = next((number for number, line in enumerate(self._lines, 1) if key in line), None)
        text = one_line(self._lines[line - 1].strip()) if line else one_line(what)
        shown = text if what in text else one_line(f"{text} ({what})")
        self._facts.setdefault(what, HarnessFact(rule=rule, what=what[:300], text=shown, line=line))


def read_npm_lock(text: str) -> HarnessOutline:
    """package-lock.json, npm-shrinkwrap.json."""
    try:
        found = json.loads(text or "{}")
    except (ValueError, RecursionError) as error:
        return _unread(error)
    sources = _Sources(text)
    for place, package in _map(_map(found).get("packages")).items():
        plain = place.rpartition("node_modules/")[2]
        source, key = _map(package).get("resolved"), f'"{place}"'
        if "node_modules/" in place and isinstance(source, str) and source:
            _npm_source(plain, source, key, sources)
    return sources.outline()


def read_yarn_lock(text: str) -> HarnessOutline:
    """yarn.lock, of either generation: blocks that begin with what was asked for."""
    sources = _Sources(text)
    names: list[tuple[str, str]] = []
    key = ""
    for line in text.splitlines():
        if line and not line[0].isspace() and not line.startswith("#"):
            key = line.strip()
            asked = re.split(r'"?,\s*"?', key.rstrip(":").strip('"'))
            names = [(found[1], found[2]) for one in asked if (found := _YARN_KEY.match(one))]
        elif names and (field := _YARN_FIELD.match(line)):
            for name in dict.fromkeys(name for name, _ in names):
                _yarn_source(name, field[1], field[2].strip(), key, sources)
    return sources.outline()


def _yarn_source(name: str, field: str, source: str, key: str, sources: _Sources) -> None:
    if field == "resolved":
        _npm_source(name, source, key, sources)
        return
    found = _YARN_KEY.match(source)
    if found is None:
        sources.elsewhere(name, source, key)
    elif found[1] != name and found[2].startswith("npm:"):
        sources.other(name, found[1], key)
    elif found[2].startswith("npm:"):
        archive = re.search(r"__archiveUrl=(\S+)", found[2])
        if archive is not None:
            sources.elsewhere(name, archive[1].replace("%3A", ":").replace("%2F", "/"), key)
    elif found[2] != "workspace:.":
        sources.elsewhere(name, found[2].partition("::")[0], key)


def _npm_source(name: str, source: str, key: str, sources: _Sources) -> None:
    place = _NPM_PLACE.match(re.sub(r"[#?].*", "", source))
    if place is None:
        if "/_attachments/" not in source:
            sources.elsewhere(name, source, key)
    elif re.sub(r"%2[fF]", "/", place["name"]) != name:
        sources.other(name, place["name"], key)
    else:
        sources.registry(name, place["registry"], key)


def read_pnpm_lock(text: str) -> HarnessOutline:
    """pnpm-lock.yaml."""
    if not _WORTH_READING.search(text):
        return HarnessOutline()
    try:
        found = _map(load_yaml(text))
    except ValueError as error:
        return _unread(error)
    sources = _Sources(text)
    for package, version in islice(_pnpm_asked(found), _MAX_ASKED):
        _pnpm_version(package, version, sources)
    for package, version in _map(found.get("overrides")).items():
        plain = re.sub(r"(?<=.)@.*", "", str(package).rpartition(">")[2])
        if re.match(r"(?:link|file|portal|git|https?|npm):|\.{0,2}/", str(version)):
            _pnpm_version(plain, str(version).removeprefix("npm:"), sources)
    for key in _map(found.get("patchedDependencies")):
        if named := _PACKAGE_KEY.match(str(key)):
            sources.elsewhere(named[1], f"patch:{named[1]}", str(key))
    for key, package in _map(found.get("packages")).items():
        named = _PACKAGE_KEY.match(str(key))
        resolution = _map(_map(package).get("resolution"))
        source = next(
            (str(resolution[one]) for one in ("directory", "repo", "tarball") if one in resolution), ""
        )
        if named is not None and source:
            _npm_source(named[1], source, str(key), sources)
        elif named is not None:
            sources.registry(named[1], "", str(key))
    return sources.outline()


def _pnpm_asked(found: Mapped) -> Iterator[tuple[str, str]]:
    for table in (found, *_map(found.get("importers")).values()):
        for kind in ("dependencies", "devDependencies", "optionalDependencies"):
            for package, asked in _map(_map(table).get(kind)).items():
                version = _map(asked).get("version", "") if isinstance(asked, Mapping) else asked
                yield str(package), str(version)


def _pnpm_version(package: str, version: str, sources: _Sources) -> None:
    if re.match(r"(?:link|file|portal|git\+?\w*|https?):|\.{0,2}/|(?:codeload\.)?github\.com", version):
        sources.elsewhere(package, version, package)
    elif (alias := re.match(r"/?(@?[a-zA-Z][^@(]*)@\d", version)) and alias[1] != package:
        sources.other(package, alias[1], package)


def read_python_lock(text: str) -> HarnessOutline:
    """poetry.lock, uv.lock, pdm.lock."""
    try:
        found = tomllib.loads(text)
    except (ValueError, RecursionError) as error:
        return _unread(error)
    sources = _Sources(text)
    listed = found.get("package")
    for package in listed if isinstance(listed, list) else ():
        name = _python_name(_map(package).get("name"))
        source = _map(_map(package).get("source"))
        key = f'name = "{_map(package).get("name")}"'
        if source.get("type") in ("directory", "file", "git", "url"):
            sources.elsewhere(name, str(source.get("url", source["type"])), key)
        elif source.get("type") == "legacy":
            sources.registry(name, str(source.get("url", "")), key)
        elif isinstance(source.get("registry"), str):
            sources.registry(name, source["registry"], key)
        else:
            for one in (*_local(source), *_local(_map(package))):
                sources.elsewhere(name, one, key)
                break
            else:
                sources.registry(name, "", key)
    return sources.outline()


def read_pipfile_lock(text: str) -> HarnessOutline:
    """Pipfile.lock."""
    try:
        found = _map(json.loads(text or "{}"))
    except (ValueError, RecursionError) as error:
        return _unread(error)
    sources = _Sources(text)
    listed = _map(found.get("_meta")).get("sources")
    urls = {
        str(_map(one).get("name")): str(_map(one).get("url"))
        for one in (listed if isinstance(listed, list) else ())
    }
    first = next(iter(urls.values()), "")
    for table, packages in found.items():
        for package, entry in _map(packages).items() if table != "_meta" else ():
            name, key = _python_name(package), f'"{package}"'
            for one in _local(_map(entry)):
                sources.elsewhere(name, one, key)
                break
            else:
                index = _map(entry).get("index")
                sources.registry(name, urls.get(str(index), str(index)) if index else first, key)
    return sources.outline()


def _local(source: Mapped) -> Iterator[str]:
    """Where a package comes from that is taken from no registry."""
    for key in _LOCAL_KEYS:
        if isinstance(value := source.get(key), str):
            yield value


def _python_name(name: Any) -> str:
    return re.sub(r"[-_.]+", "-", str(name)).lower()


def _map(found: Any) -> Mapped:
    return found if isinstance(found, Mapping) else {}


def _unread(error: BaseException) -> HarnessOutline:
    return HarnessOutline(problem=str(error).splitlines()[0][:200] if str(error) else type(error).__name__)
