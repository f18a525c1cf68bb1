"""Build files of Go, Rust and Maven, taken apart into what decides about tests and what is the product's.

`adjudge.formats.testconfig` merges them by these parts. Gradle's build files are programs and have no parts:
`adjudge.evidence.protected` keeps the baseline's.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any
from xml.etree import ElementTree
from xml.etree.ElementTree import Element

__all__ = [
    "cargo_paths",
    "go_tests",
    "merge_go",
    "merge_pom",
    "pom_tests",
    "read_go",
    "read_pom",
    "write_go",
    "write_pom",
]

Sections = Mapping[str, Any]

_CARGO_TESTS = (
    ("dev-dependencies",), ("dev_dependencies",), ("test",), ("bench",), ("example",), ("profile", "test"),
    ("profile", "bench"), ("patch",), ("replace",), ("package", "autotests"), ("package", "autobenches"),
    ("package", "autoexamples"), ("lib", "test"), ("lib", "doctest"), ("lib", "harness"),
    ("workspace", "metadata", "nextest"), ("package", "metadata", "nextest"),
)  # fmt: skip


def cargo_paths(*documents: Sections) -> list[tuple[str, ...]]:
    """Where a Cargo.toml speaks of tests; what it swaps dependencies for (`patch`) is among it."""
    paths = list(_CARGO_TESTS)
    for found in documents:
        targets = found.get("target")
        for name in targets if isinstance(targets, Mapping) else ():
            paths += [("target", name, "dev-dependencies"), ("target", name, "dev_dependencies")]
    return list(dict.fromkeys(paths))


_GO_DIRECTIVES = frozenset(
    ("module", "go", "toolchain", "godebug", "require", "replace", "exclude", "retract", "tool", "ignore")
)
_GO_TESTS = ("replace",)
"""What is required is the product's affair; what it is swapped for may be what the tests use."""


def read_go(data: bytes) -> dict[str, Any]:
    """A go.mod: lines by directive.

    Raises:
        ValueError: It has something that no go.mod can have.
    """
    found: dict[str, list[str]] = {}
    block = ""
    for number, raw in enumerate(data.decode("utf-8").splitlines(), 1):
        line = raw.strip()
        code = line.partition("//")[0].strip()
        if not code:
            continue
        if block:
            if code == ")":
                block = ""
            else:
                found[block].append(line)
            continue
        word, _, rest = line.partition(" ")
        word, rest = word.strip(), rest.strip()
        if word not in _GO_DIRECTIVES or "/*" in line:
            raise ValueError(f"line {number} is not understood")
        found.setdefault(word, [])
        if rest.partition("//")[0].strip() == "(":
            block = word
        elif rest:
            found[word].append(rest)
        else:
            raise ValueError(f"line {number} says nothing")
    if block:
        raise ValueError("a block has no end")
    return found


def write_go(found: Sections) -> bytes:
    """The lines as a go.mod."""
    return "".join(f"{word} {line}\n" for word, lines in found.items() for line in lines).encode("utf-8")


def go_tests(found: Sections) -> dict[str, Any]:
    """What decides which code stands behind a name."""
    return {word: sorted(found[word]) for word in _GO_TESTS if found.get(word)}


def merge_go(found: Sections, other: Sections) -> dict[str, Any]:
    """One file with those parts of another."""
    kept = {word: lines for word, lines in found.items() if word not in _GO_TESTS}
    return kept | {word: other[word] for word in _GO_TESTS if other.get(word)}


_POM = "http://maven.apache.org/POM/4.0.0"
_RUNNERS = ("maven-surefire-plugin", "maven-failsafe-plugin", "maven-surefire-report-plugin")
_PROPERTY = re.compile(
    r"(?:surefire|failsafe|maven\.test|skip(?:Tests|ITs)|test|it\.test|argLine|groups)(?:$|\.|T)", re.I
)
_TEST_GROUPS = re.compile(
    r"junit|org\.junit(?:\..*)?|org\.testng|org\.mockito|org\.assertj|org\.hamcrest|org\.spockframework"
)
_OWN = ("build/testSourceDirectory", "build/testResources", "profiles", "parent")
_LISTED = (
    "build/plugins",
    "build/pluginManagement/plugins",
    "dependencies",
    "dependencyManagement/dependencies",
)


def read_pom(data: bytes) -> dict[str, Any]:
    """A pom.xml, which may not declare a document type.

    Raises:
        ValueError: It cannot be read.
    """
    if not data:
        return {}
    if b"\0" in data or re.search(rb"<!(?:DOCTYPE|ENTITY)", data):
        raise ValueError("it declares a document type, or is not UTF-8")
    try:
        root = ElementTree.fromstring(data)
    except ElementTree.ParseError as error:
        raise ValueError(str(error)) from error
    if _name(root) != "project":
        raise ValueError("its root is not a project")
    return {"project": root}


def write_pom(found: Sections) -> bytes:
    """The document as XML."""
    ElementTree.register_namespace("", _POM)
    written: bytes = ElementTree.tostring(found["project"], encoding="utf-8", xml_declaration=True)
    return written + b"\n"


def pom_tests(found: Sections) -> dict[str, Any]:
    """What decides about tests, in a form that can be compared."""
    root = found.get("project")
    if root is None:
        return {}
    return {path: [_plain(part) for part in parts] for path, parts in _parts(root) if parts}


def merge_pom(found: Sections, other: Sections) -> dict[str, Any]:
    """One file with those parts of another."""
    if "project" not in found:
        return {}
    merged = ElementTree.fromstring(ElementTree.tostring(found["project"]))
    for path, parts in _parts(merged):
        container = _at(merged, path)
        for part in parts:
            assert container is not None
            container.remove(part)
    for path, parts in _parts(other["project"]) if "project" in other else ():
        if not parts:
            continue
        container = _at(merged, path, make=True)
        assert container is not None
        container.extend(parts)
    return {"project": merged}


def _parts(root: Element) -> Iterator[tuple[str, list[Element]]]:
    """Containers by path, and what in each is about tests."""
    for path in _OWN:
        above, _, name = path.rpartition("/")
        container = _at(root, above)
        yield above, [] if container is None else [part for part in container if _name(part) == name]
    properties = _at(root, "properties")
    yield "properties", [] if properties is None else [p for p in properties if _PROPERTY.match(_name(p))]
    for path in _LISTED:
        container = _at(root, path)
        yield path, [] if container is None else [part for part in container if _is_about_tests(part)]


def _is_about_tests(part: Element) -> bool:
    said = {_name(child): (child.text or "").strip() for child in part}
    if _name(part) == "plugin":
        return said.get("artifactId", "") in _RUNNERS
    return said.get("scope") == "test" or _TEST_GROUPS.fullmatch(said.get("groupId", "")) is not None


def _at(root: Element, path: str, *, make: bool = False) -> Element | None:
    at = root
    prefix = root.tag.rpartition("}")[0] + "}" if "}" in root.tag else ""
    for name in path.split("/") if path else ():
        found = next((child for child in at if _name(child) == name), None)
        if found is None:
            if not make:
                return None
            found = ElementTree.SubElement(at, prefix + name)
        at = found
    return at


def _name(element: Element) -> str:
    # Comments and processing instructions, which the parser leaves out, have something else for a tag.
    return str(element.tag).rpartition("}")[2]


def _plain(element: Element) -> Sequence[Any]:
    """An element without the blanks between others."""
    return (
        _name(element),
        sorted(element.attrib.items()),
        (element.text or "").strip(),
        [_plain(child) for child in element],
    )
