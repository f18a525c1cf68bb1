"""Build files of Java, Go and Ruby, and lists of Python requirements, as far as they decide about tests."""

from __future__ import annotations

import re
from collections.abc import Iterator
from xml.etree import ElementTree

from adjudge.formats.buildfiles import read_pom
from adjudge.formats.harness.commands import facts_of_script, one_line
from adjudge.formats.harness.settings import RUNNER_PACKAGES
from adjudge.records.harness import HarnessFact, HarnessOutline, HarnessSetting, SettingKind

__all__ = ["read_go_mod", "read_gradle", "read_maven", "read_maven_options", "read_requirements", "read_ruby"]

_TRUE_IGNORES = ("testFailureIgnore", "maven.test.failure.ignore")
_TRUE_SKIPS = ("skipTests", "maven.test.skip", "skipITs", "maven.test.skip.exec")
_SUREFIRE = ("maven-surefire-plugin", "maven-failsafe-plugin")


def read_maven(data: bytes) -> HarnessOutline:
    """A pom.xml."""
    try:
        root = read_pom(data).get("project")
    except ValueError as error:
        return HarnessOutline(problem=str(error))
    if root is None:
        return HarnessOutline()
    text = data.decode("utf-8", "replace")
    facts: list[HarnessFact] = []
    settings: list[HarnessSetting] = []
    for element in root.iter():
        name, value = _name(element), (element.text or "").strip()
        if value.lower() == "true" and name in (*_TRUE_IGNORES, *_TRUE_SKIPS):
            rule = "exit-code-ignored" if name in _TRUE_IGNORES else "tests-not-run"
            facts.append(_fact(rule, f"{name} true", text, name))
    for plugin in root.iter():
        if _name(plugin) != "plugin":
            continue
        artifact = next((child.text or "" for child in plugin if _name(child) == "artifactId"), "").strip()
        if artifact not in _SUREFIRE:
            continue
        for holder in plugin.iter():
            values = [(child.text or "").strip() for child in holder]
            key = {"excludes": SettingKind.LEAVES_OUT, "includes": SettingKind.SELECTS}.get(_name(holder))
            if key is not None and values:
                name = f"{artifact}.{_name(holder)}"
                settings.append(
                    HarnessSetting(kind=key, name=name, values=tuple(values), line=_line(text, values[0]))
                )
            if _name(holder) in ("excludedGroups", "test") and (holder.text or "").strip():
                said = f"{_name(holder)} {(holder.text or '').strip()}"
                facts.append(_fact("tests-left-out", said, text, _name(holder)))
    return HarnessOutline(facts=tuple(facts), settings=tuple(settings))


def read_maven_options(text: str) -> HarnessOutline:
    """.mvn/maven.config, .mvn/jvm.config, gradle.properties, junit-platform.properties."""
    facts = []
    for number, line in enumerate(text.splitlines()[:10_000], 1):
        bare = line.strip()
        if re.search(r"maven\.test\.failure\.ignore(?!\s*=\s*false)|testFailureIgnore(?!\s*=\s*false)", bare):
            rule = "exit-code-ignored"
        elif re.search(r"skipTests(?!\s*=\s*false)|maven\.test\.skip(?!\s*=\s*false)", bare):
            rule = "tests-not-run"
        elif re.search(r"-javaagent|conditions\.deactivate\s*=\s*\*|extensions\.autodetection", bare):
            rule = "startup-code"
        else:
            continue
        if not bare.startswith(("#", "!")):
            facts.append(HarnessFact(rule=rule, what=bare[:160], text=one_line(bare), line=number))
    return HarnessOutline(facts=tuple(facts))


_GRADLE = (
    ("exit-code-ignored", re.compile(r"\bignoreFailures\s*(?:=|\.set\()\s*true|\bignoreFailures\s+true")),
    ("tests-not-run", re.compile(r"\b(?:test|check|tests?Task)\w*\.enabled\s*=\s*false")),
    ("tests-not-run", re.compile(r"\bonlyIf\s*\{\s*false\s*\}")),
    ("tests-not-run", re.compile(r"\bfailOnNoMatchingTests\s*=\s*false")),
    ("tests-left-out", re.compile(r"\bexcludeTestsMatching\b|\bexcludeTags\b|\bincludeTestsMatching\b")),
    ("tests-left-out", re.compile(r"-x\s+test\b|excludedTaskNames")),
)
_GRADLE_TEST = re.compile(
    r"\b(?:tasks\.)?(?:test|withType\s*[(<]\s*Test|named\w*\(\s*['\"]test['\"]).*\{\s*$|^\s*test\s*\{"
)


def read_gradle(text: str) -> HarnessOutline:
    """build.gradle and its like, which are programs: read by the lines that matter."""
    facts: list[HarnessFact] = []
    depth, inside = 0, None
    for number, line in enumerate(text.splitlines()[:20_000], 1):
        bare = re.sub(r"//.*$", "", line).strip()
        if inside is None and _GRADLE_TEST.search(bare):
            inside = depth
        for rule, pattern in _GRADLE:
            if pattern.search(bare):
                facts.append(HarnessFact(rule=rule, what=bare[:160], text=one_line(bare), line=number))
        if inside is not None:
            if re.search(r"\benabled\s*=\s*false|\bsetEnabled\(\s*false", bare):
                facts.append(
                    HarnessFact(rule="tests-not-run", what=bare[:160], text=one_line(bare), line=number)
                )
            elif re.match(r"exclude\b", bare):
                facts.append(
                    HarnessFact(rule="tests-left-out", what=bare[:160], text=one_line(bare), line=number)
                )
        depth += bare.count("{") - bare.count("}")
        if inside is not None and depth <= inside:
            inside = None
    return HarnessOutline(facts=tuple(facts))


_RUBY = (
    ("exit-code-ignored", re.compile(r"\bfailure_exit_code\s*=\s*0\b|--failure-exit-code[ =]0\b")),
    ("exit-code-ignored", re.compile(r"\bfail_on_error\s*=\s*false\b")),
    ("exit-status-set", re.compile(r"\bat_exit\b.*\bexit!?[ (]*(?:0|true)|^\s*exit!\s*\(?\s*(?:0|true)")),
    ("tests-not-run", re.compile(r"\bdry_run\s*=\s*true\b|^--dry-run\b")),
    ("tests-left-out", re.compile(
        r"\bfilter_run_excluding\b|\bexclusion_filter\b|--exclude-pattern|--tag\s+~"
    )),
    ("machinery-patched", re.compile(
        r"(?:RSpec::(?:Expectations|Matchers|Core::Example)\S*|Minitest::(?:Assertions|Test)|Test::Unit::\S+)"
        r"\.(?:class_eval|send|define_method|prepend)\b"
    )),
)  # fmt: skip


def read_ruby(text: str) -> HarnessOutline:
    """.rspec, spec_helper.rb, test_helper.rb, Rakefile: read by the lines that matter."""
    facts: list[HarnessFact] = list(facts_of_script(text))
    for number, line in enumerate(text.splitlines()[:20_000], 1):
        if line.lstrip().startswith("#"):
            continue
        for rule, pattern in _RUBY:
            if pattern.search(line):
                facts.append(
                    HarnessFact(rule=rule, what=line.strip()[:160], text=one_line(line), line=number)
                )
                break
    return HarnessOutline(facts=tuple(facts))


def read_requirements(text: str) -> HarnessOutline:
    """requirements.txt and constraints."""
    return HarnessOutline(facts=tuple(_swapped_requirements(text)))


def _swapped_requirements(text: str) -> Iterator[HarnessFact]:
    for number, line in enumerate(text.splitlines()[:20_000], 1):
        named = re.match(r"\s*([A-Za-z0-9._-]+)\s*(?:\[[^\]]*\])?\s*@\s*(\S+)", line)
        local = re.match(r"\s*(?:-e\s+)?(?:file:|\.{1,2}/|/)\S*?([A-Za-z0-9_-]+)/?(?:\[[^\]]*\])?\s*$", line)
        package = (named[1] if named else local[1] if local else "").lower().replace("_", "-")
        if package in RUNNER_PACKAGES:
            yield HarnessFact(
                rule="runner-swapped", what=line.strip()[:160], text=one_line(line), line=number
            )


def read_go_mod(text: str) -> HarnessOutline:
    """A go.mod: assertion libraries that are replaced by something else."""
    facts = []
    block = False
    for number, line in enumerate(text.splitlines()[:20_000], 1):
        bare = line.partition("//")[0].strip()
        block = (bare.startswith("replace") and bare.endswith("(")) or (block and bare != ")")
        if "=>" in bare and (block or bare.startswith("replace")):
            module = bare.removeprefix("replace").split()[0]
            if module in RUNNER_PACKAGES:
                facts.append(
                    HarnessFact(rule="runner-swapped", what=bare[:160], text=one_line(bare), line=number)
                )
    return HarnessOutline(facts=tuple(facts))


def _fact(rule: str, what: str, text: str, key: str) -> HarnessFact:
    return HarnessFact(rule=rule, what=what[:300], text=one_line(what), line=_line(text, f"<{key}"))


def _line(text: str, part: str) -> int | None:
    at = text.find(part)
    return None if at < 0 else text.count("\n", 0, at) + 1


def _name(element: ElementTree.Element) -> str:
    return str(element.tag).rpartition("}")[2]
