"""Names to implementations: `type: command`, `--sandbox bubblewrap`, `--format csv`.

Built-ins come from a static table, so that finding one costs a dictionary look-up and one import; scanning
entry points costs some 60 ms and happens only when a name is not ours or a listing is asked for. The same
built-ins are declared as entry points in `pyproject.toml`, and a test keeps the two equal.
"""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from functools import cache
from typing import TYPE_CHECKING, Any

from adjudge.errors import PluginError, PluginNotFound

if TYPE_CHECKING:
    from importlib import metadata

__all__ = ["BUILTINS", "distribution_of", "load", "names"]

BUILTINS: Mapping[str, Mapping[str, str]] = {
    "sandboxes": {
        "bubblewrap": "adjudge.sandbox.bubblewrap:BubblewrapBackend",
        "process": "adjudge.sandbox.process:ProcessBackend",
    },
    "scorers": {
        "command": "adjudge.scorers.behaviour.command:Command",
        "tests": "adjudge.scorers.behaviour.tests:Tests",
        "pytest": "adjudge.scorers.behaviour.pytest_suite:Pytest",
        "swebench": "adjudge.scorers.behaviour.swebench:SweBench",
        "allowed_paths": "adjudge.scorers.change.allowed_paths:AllowedPaths",
        "forbid_paths": "adjudge.scorers.change.forbid_paths:ForbidPaths",
        "max_files_changed": "adjudge.scorers.change.max_files_changed:MaxFilesChanged",
        "forbid_secrets": "adjudge.scorers.change.forbid_secrets:ForbidSecrets",
        "file_exists": "adjudge.scorers.change.file_exists:FileExists",
        "files": "adjudge.scorers.change.files:Files",
        "rubric": "adjudge.scorers.change.rubric:Rubric",
        "implemented": "adjudge.scorers.change.implemented:Implemented",
        "tests_unmodified": "adjudge.scorers.integrity.tests_unmodified:TestsUnmodified",
        "baseline_unmodified": "adjudge.scorers.integrity.baseline_unmodified:BaselineUnmodified",
        "no_runtime_tricks": "adjudge.scorers.integrity.no_runtime_tricks:NoRuntimeTricks",
        "no_special_casing": "adjudge.scorers.integrity.no_special_casing:NoSpecialCasing",
        "same_routes": "adjudge.scorers.integrity.same_routes:SameRoutes",
        "near_inputs": "adjudge.scorers.integrity.near_inputs:NearInputsScorer",
        "harness_unmodified": "adjudge.scorers.integrity.harness_unmodified:HarnessUnmodified",
        "no_new_skips": "adjudge.scorers.integrity.no_new_skips:NoNewSkips",
        "assertions_not_weakened": "adjudge.scorers.integrity.assertions_not_weakened:AssertionsNotWeakened",
        "baseline_tests": "adjudge.scorers.integrity.baseline_tests:BaselineTests",
        "test_inventory": "adjudge.scorers.integrity.inventory:TestInventory",
        "workspace_confined": "adjudge.scorers.integrity.workspace_confined:WorkspaceConfined",
        "no_leaks": "adjudge.scorers.integrity.no_leaks:NoLeaks",
        "trace": "adjudge.scorers.process.trace:Trace",
        "efficiency": "adjudge.scorers.process.efficiency:Efficiency",
        "verifier": "adjudge.scorers.external.verifier:Verifier",
        "llm_judge": "adjudge.scorers.external.llm_judge:LlmJudge",
        "model_judge": "adjudge.scorers.external.model_judge:ModelJudge",
    },
    "agents": {
        "command": "adjudge.agents.command:Command",
        "claude-code": "adjudge.agents.presets:ClaudeCode",
        "codex": "adjudge.agents.presets:Codex",
        "gemini": "adjudge.agents.presets:Gemini",
        "aider": "adjudge.agents.presets:Aider",
        "opencode": "adjudge.agents.presets:OpenCode",
        "acp": "adjudge.agents.acp:Acp",
        "python": "adjudge.agents.python:Python",
        "http": "adjudge.agents.http:Http",
        "replay": "adjudge.agents.replay:Replay",
        "oracle": "adjudge.agents.oracle:Oracle",
        "noop": "adjudge.agents.noop:Noop",
        "script": "adjudge.agents.script:Script",
    },
    "attacks": {
        "skip-markers": "adjudge.attacks.skips:SkipMarkers",
        "skip-modules": "adjudge.attacks.skips:ModuleSkip",
        "expected-failure": "adjudge.attacks.skips:ExpectedFailure",
        "skip-by-environment": "adjudge.attacks.skips:ConditionalSkip",
        "skip-in-setup": "adjudge.attacks.skips:SetupSkip",
        "assert-true": "adjudge.attacks.weakening:TrueAssertions",
        "or-true": "adjudge.attacks.weakening:OrTrue",
        "loosen-matchers": "adjudge.attacks.weakening:LooseMatcher",
        "compare-with-itself": "adjudge.attacks.weakening:SelfComparison",
        "swallow-failures": "adjudge.attacks.weakening:SwallowErrors",
        "return-early": "adjudge.attacks.weakening:EarlyReturn",
        "mock-subject": "adjudge.attacks.weakening:MockedSubject",
        "drop-cases": "adjudge.attacks.weakening:DropCases",
        "delete-tests": "adjudge.attacks.lost:DeleteTests",
        "rename-tests": "adjudge.attacks.lost:RenameTests",
        "shadow-tests": "adjudge.attacks.lost:ShadowTests",
        "focus-one-test": "adjudge.attacks.lost:FocusedTest",
        "conftest-outcomes": "adjudge.attacks.harness:ConftestOutcomes",
        "conftest-deselect": "adjudge.attacks.harness:ConftestSelection",
        "pytest-addopts": "adjudge.attacks.harness:AddOptions",
        "load-tests": "adjudge.attacks.harness:LoadTests",
        "package-script": "adjudge.attacks.harness:PackageScript",
        "runner-config": "adjudge.attacks.harness:RunnerConfig",
        "build-script": "adjudge.attacks.harness:BuildScript",
        "startup-files": "adjudge.attacks.harness:StartupFiles",
        "shadow-runner": "adjudge.attacks.harness:ShadowRunner",
        "planted-bytecode": "adjudge.attacks.harness:PlantedBytecode",
        "path-shims": "adjudge.attacks.harness:PathShims",
        "node-modules": "adjudge.attacks.harness:NodeModules",
        "test-main": "adjudge.attacks.harness:TestMain",
        "exit-at-import": "adjudge.attacks.runtime:ExitAtImport",
        "exit-in-call": "adjudge.attacks.runtime:ExitInCall",
        "exit-at-end": "adjudge.attacks.runtime:ExitAtEnd",
        "patch-machinery": "adjudge.attacks.runtime:PatchedMachinery",
        "always-equal": "adjudge.attacks.runtime:AlwaysEqual",
        "sniff-test-run": "adjudge.attacks.runtime:SniffTestRun",
        "peek-at-caller": "adjudge.attacks.runtime:PeekAtCaller",
        "freeze-clock": "adjudge.attacks.runtime:FrozenClock",
        "write-reports": "adjudge.attacks.runtime:WriteReports",
        "answer-table": "adjudge.attacks.special_casing:AnswerTable",
        "hashed-table": "adjudge.attacks.special_casing:HashedTable",
        "read-tests": "adjudge.attacks.special_casing:ReadTests",
        "call-counter": "adjudge.attacks.special_casing:CallCounter",
        "index-flags": "adjudge.attacks.confinement:IndexFlags",
        "git-hooks": "adjudge.attacks.confinement:GitHooks",
        "amend-baseline": "adjudge.attacks.confinement:AmendedBaseline",
        "link-tests": "adjudge.attacks.confinement:LinkedTests",
        "ignored-files": "adjudge.attacks.confinement:IgnoredFiles",
        "home-writes": "adjudge.attacks.confinement:HomeWrites",
        "detached-process": "adjudge.attacks.confinement:DetachedProcess",
        "fake-output": "adjudge.attacks.forging:FakeOutput",
        "flood-descriptors": "adjudge.attacks.forging:FloodDescriptors",
        "planted-report": "adjudge.attacks.forging:PlantedReport",
        "planted-reward": "adjudge.attacks.forging:PlantedReward",
        "future-history": "adjudge.attacks.leaks:FutureHistory",
        "grader-files": "adjudge.attacks.leaks:GraderFiles",
    },
    "providers": {
        "anthropic": "adjudge.judge.providers.anthropic:Anthropic",
        "openai": "adjudge.judge.providers.openai:OpenAI",
    },
    "testreports": {
        "junit": "adjudge.formats.testreports.junit:JUnit",
        "go-json": "adjudge.formats.testreports.go_json:GoJson",
        "cargo": "adjudge.formats.testreports.cargo:Cargo",
        "jest": "adjudge.formats.testreports.jest:Jest",
        "rspec": "adjudge.formats.testreports.rspec:RSpec",
        "ctrf": "adjudge.formats.testreports.ctrf:Ctrf",
        "tap": "adjudge.formats.testreports.tap:Tap",
    },
    "traceformats": {
        "adjudge": "adjudge.formats.traces.adjudge:AdjudgeTrace",
        "claude-code": "adjudge.formats.traces.claude_code:ClaudeCode",
        "codex": "adjudge.formats.traces.codex:Codex",
        "gemini": "adjudge.formats.traces.gemini:Gemini",
        "opencode": "adjudge.formats.traces.opencode:OpenCode",
        "atif": "adjudge.formats.traces.atif:Atif",
        "inspect": "adjudge.formats.traces.inspect_log:InspectLog",
        "otel": "adjudge.formats.traces.otel:OtelSpans",
        "anthropic": "adjudge.formats.traces.anthropic_messages:AnthropicMessages",
        "openai": "adjudge.formats.traces.openai_chat:OpenAIChat",
        "aider": "adjudge.formats.traces.aider:Aider",
        "text": "adjudge.formats.traces.text:PlainText",
    },
}
"""Kind → name → `module:attribute`. The entry-point group of a kind is `adjudge.<kind>`."""


@cache
def _strangers(kind: str) -> dict[str, metadata.EntryPoint]:
    """Entry points of other distributions; a built-in's name cannot be taken over."""
    found: dict[str, metadata.EntryPoint] = {}
    # Loaded here, like difflib below: neither is needed to find a built-in.
    for point in importlib.import_module("importlib.metadata").entry_points(group=f"adjudge.{kind}"):
        if point.name not in BUILTINS.get(kind, {}):
            found.setdefault(point.name, point)
    return found


def names(kind: str) -> list[str]:
    """Every known name of a kind, built-ins first."""
    return [*BUILTINS.get(kind, {}), *sorted(_strangers(kind))]


def distribution_of(kind: str, name: str) -> str:
    """The distribution that provides a name."""
    if name in BUILTINS.get(kind, {}):
        return "adjudge"
    point = _strangers(kind).get(name)
    return point.dist.name if point is not None and point.dist is not None else "unknown"


def load(kind: str, name: str) -> Any:
    """Import the implementation behind a name.

    Raises:
        PluginNotFound: Nobody provides the name; near names are in the hint.
        PluginError: Somebody does, but it cannot be imported; the distribution is in the message.
    """
    builtin = BUILTINS.get(kind, {}).get(name)
    if builtin is not None:
        module, _, attribute = builtin.partition(":")
        try:
            return getattr(importlib.import_module(module), attribute)
        except ModuleNotFoundError as error:
            if kind not in _EXTRAS or (error.name or "").startswith("adjudge"):
                raise
            raise PluginNotFound(
                f"{_SINGULAR.get(kind, kind)} {name!r} needs the package {error.name!r}",
                hint=f"pip install 'adjudge[{_EXTRAS[kind]}]'",
            ) from error
    point = _strangers(kind).get(name)
    if point is None:
        near = importlib.import_module("difflib").get_close_matches(name, names(kind), n=3)
        hint = f"did you mean {' or '.join(near)}?" if near else f"known: {', '.join(names(kind))}"
        raise PluginNotFound(f"no {_SINGULAR.get(kind, kind)} is called {name!r}", hint=hint)
    try:
        return point.load()
    except Exception as error:
        raise PluginError(
            f"{_SINGULAR.get(kind, kind)} {name!r} of distribution {distribution_of(kind, name)!r} "
            f"cannot be loaded: {type(error).__name__}: {error}",
            hint=f"reinstall or remove {distribution_of(kind, name)}",
        ) from error


_EXTRAS = {"providers": "judge"}
"""Kinds whose built-ins need packages that an extra brings."""

_SINGULAR = {
    "providers": "provider",
    "agents": "agent",
    "attacks": "attack",
    "sandboxes": "sandbox",
    "scorers": "scorer",
    "testreports": "test report format",
    "traceformats": "trace format",
}
