"""Every built-in agent keeps the promises of the contract."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import pytest

from adjudge import catalog
from adjudge.testing.agents import AgentConformance

pytestmark = pytest.mark.anyone

CONFIGS: Mapping[str, Mapping[str, Any]] = {
    "command": {"argv": ["agent", "--model={model}", "{instruction}"], "credentials": ["KEY"]},
    "acp": {"argv": ["agent", "{model}"], "credentials": ["KEY"], "permissions": "deny"},
    "python": {"callable": "module:function", "credentials": ["KEY"]},
    "script": {"steps": [{"write": "a.txt", "text": "x"}, {"run": "true"}]},
    "http": {"url": "http://127.0.0.1:9/", "credentials": ["KEY"], "headers": {"X": "{KEY}"}},
}


def _suite(name: str) -> type[AgentConformance]:
    class Suite(AgentConformance):
        agent: ClassVar[Any] = catalog.load("agents", name)
        config: ClassVar[Mapping[str, Any]] = CONFIGS.get(name, {})

    Suite.__name__ = Suite.__qualname__ = "Test" + name.title().replace("-", "")
    return Suite


globals().update({suite.__name__: suite for suite in map(_suite, catalog.BUILTINS["agents"])})


def test_configurations_are_for_agents_that_exist() -> None:
    assert set(CONFIGS) <= set(catalog.BUILTINS["agents"])
