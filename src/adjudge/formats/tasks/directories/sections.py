"""The tables of a `task.toml`, as far as they matter here. What else is written in one is left alone."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from pydantic import ConfigDict, Field

from adjudge.records.annotation import NonBlank
from adjudge.records.base import Record
from adjudge.records.outputs import OutputFormat
from adjudge.records.paths import RelativePath

__all__ = ["KNOWN", "Extras", "TaskFile"]

NetworkMode = Literal["public", "no-network", "allowlist"]


class _Table(Record):
    model_config = ConfigDict(extra="ignore")


class _Named(_Table):
    name: NonBlank
    description: str = ""


class _Agent(_Table):
    timeout_sec: float | None = Field(default=None, gt=0)
    network_mode: NetworkMode | None = None


class _Verifier(_Table):
    timeout_sec: float = Field(default=600.0, gt=0)
    env: Mapping[str, str] = Field(default_factory=dict)
    user: str | int | None = None
    environment_mode: Literal["shared", "separate"] | None = None
    environment: Mapping[str, Any] | None = None
    collect: tuple[Any, ...] = ()
    network_mode: NetworkMode | None = None


class _Environment(_Table):
    docker_image: str | None = None
    os: str = "linux"
    memory_mb: int | None = Field(default=None, gt=0)
    env: Mapping[str, str] = Field(default_factory=dict)
    workdir: str | None = None
    network_mode: NetworkMode | None = None
    allow_internet: bool | None = None


class _Solution(_Table):
    env: Mapping[str, str] = Field(default_factory=dict)


class TaskFile(_Table):
    """A `task.toml`."""

    schema_version: str | None = None
    task: _Named | None = None
    metadata: Mapping[str, Any] = Field(default_factory=dict)
    agent: _Agent = _Agent()
    verifier: _Verifier = _Verifier()
    environment: _Environment = _Environment()
    solution: _Solution = _Solution()
    steps: tuple[Mapping[str, Any], ...] = ()


KNOWN: Mapping[str, frozenset[str]] = {
    "": frozenset(
        {
            "schema_version", "version", "source", "multi_step_reward_strategy", "artifacts", "metadata",
            "task", "agent", "verifier", "environment", "solution", "steps",
        }
    ),
    "task": frozenset({"name", "version", "description", "authors", "keywords"}),
    "agent": frozenset({"timeout_sec", "user", "network_mode", "allowed_hosts"}),
    "verifier": frozenset(
        {
            "timeout_sec", "env", "user", "environment_mode", "environment", "collect", "network_mode",
            "allowed_hosts",
        }
    ),
    "environment": frozenset(
        {
            "build_timeout_sec", "docker_image", "os", "cpus", "memory_mb", "storage_mb", "gpus", "gpu_types",
            "tpu", "mcp_servers", "env", "skills_dir", "healthcheck", "workdir", "network_mode",
            "allowed_hosts", "allow_internet", "memory", "storage",
        }
    ),
    "solution": frozenset({"env"}),
}  # fmt: skip
"""Every key that the format knows, by table. Others get a warning: they mean nothing to anybody."""


class Extras(Record):
    """What adjudge reads in `[metadata]`, or in `[metadata.adjudge]` where nothing else may be written."""

    expected_output_path: str | None = None
    output_format: OutputFormat | None = None
    output_schema: RelativePath | None = None
    """A JSON Schema, relative to the task's folder."""
    workdir: str | None = None
    pass_threshold: float | None = Field(default=None, ge=0.0, le=1.0)
    max_reward: float | None = Field(default=None, gt=0.0, le=1.0)
    """What the reference solution gets, where that is not 1."""
    error_categories: tuple[NonBlank, ...] = ()
    on_host: bool = False
    """The verifier needs nothing of its image that this machine does not have."""
