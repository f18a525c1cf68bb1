"""Coding agents that people have: `command` with the flags that make each run without a person.

What each needs to be installed and how its credentials pass is told in `docs/guides/agents.md`. All of them
talk to a model somewhere else, so all of them need the network.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from pydantic import Field

from adjudge.agents.command import CommandConfig, CommandSession, Variable, command_needs
from adjudge.contracts import AgentConfig, AgentNeeds, AgentPlace

__all__ = ["Aider", "ClaudeCode", "Codex", "Gemini", "OpenCode", "Preset", "PresetConfig"]


class PresetConfig(AgentConfig):
    """What may differ from one set-up of a known agent to the next."""

    program: str | None = Field(default=None, min_length=1)
    """The program, when it is not found under its own name."""
    args: tuple[str, ...] = ()
    """Further arguments, before the instruction."""
    env: Mapping[Variable, str] = Field(default_factory=dict)
    """Further environment variables with fixed values. Not for secrets."""
    credentials: tuple[Variable, ...] | None = None
    """Names of variables of ours that it gets, instead of the usual ones."""
    expose: tuple[str, ...] = ()
    """Folders of its installation outside the system's own, shown read-only at the same place."""
    network: bool = True
    """Whether it may reach the network; off only for models that are inside the sandbox."""


class Preset:
    """A known agent. Subclasses say what is particular to it."""

    name: ClassVar[str]
    program: ClassVar[str]
    trace: ClassVar[str]
    credentials: ClassVar[tuple[str, ...]]
    model: ClassVar[tuple[str, ...]]
    """How the model is named, when there is one."""
    first: ClassVar[tuple[str, ...]]
    """Arguments of the first turn."""
    again: ClassVar[tuple[str, ...]]
    """Arguments of further turns."""
    env: ClassVar[Mapping[str, str]] = {}
    aliases: ClassVar[Mapping[str, str]] = {}
    Config = PresetConfig

    def needs(self, config: PresetConfig) -> AgentNeeds:
        """The program, the network and its credentials."""
        command = self.command(config, None)
        return command_needs(command, (command.argv,), continues=True)

    def start(self, config: PresetConfig, place: AgentPlace) -> CommandSession:
        """Begin; the program is started with the first turn."""
        return CommandSession(self.command(config, place.model), place, name=self.name)

    def command(self, config: PresetConfig, model: str | None) -> CommandConfig:
        """The same as a configuration of `command`."""
        credentials = self.credentials if config.credentials is None else config.credentials
        chosen = self.model if model is not None else ()
        program = config.program or self.program

        def argv(parts: tuple[str, ...]) -> tuple[str, ...]:
            found: list[str] = [program]
            for part in parts:
                found += (*chosen, *config.args) if part == _OPTIONS else (part,)
            return tuple(found)

        return CommandConfig(
            argv=argv(self.first),
            resume=argv(self.again),
            env={**self.env, **config.env},
            credentials=credentials,
            aliases={name: of for name, of in self.aliases.items() if of in credentials},
            network=config.network,
            expose=config.expose,
            trace_format=self.trace,
        )


_OPTIONS = "{options}"
"""Where the model and further arguments go."""


class ClaudeCode(Preset):
    """Claude Code, printing its stream of events; the instruction is its stdin.

    Permissions are not asked for: the sandbox is what keeps it in.
    """

    name = "claude-code"
    program = "claude"
    trace = "claude-code"
    credentials = ("ANTHROPIC_API_KEY",)
    model = ("--model", "{model}")
    _flags = ("-p", "--output-format", "stream-json", "--verbose", "--dangerously-skip-permissions")
    first = (*_flags, _OPTIONS)
    again = (*_flags, _OPTIONS, "--resume", "{session}")
    env: ClassVar[Mapping[str, str]] = {
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
        "DISABLE_AUTOUPDATER": "1",
    }


class Codex(Preset):
    """Codex, printing its events as JSON lines; the instruction is its stdin.

    Its own sandbox is switched off: it is in ours.
    """

    name = "codex"
    program = "codex"
    trace = "codex"
    credentials = ("OPENAI_API_KEY",)
    aliases: ClassVar[Mapping[str, str]] = {"CODEX_API_KEY": "OPENAI_API_KEY"}
    model = ("--model", "{model}")
    _flags = ("exec", "--json", "--skip-git-repo-check", "--dangerously-bypass-approvals-and-sandbox")
    first = (*_flags, _OPTIONS, "-")
    again = (*_flags, _OPTIONS, "resume", "{session}", "-")


class Gemini(Preset):
    """Gemini CLI, printing its stream of events, with every tool allowed.

    The instruction is its stdin, which it takes for the prompt where there is no terminal.
    """

    name = "gemini"
    program = "gemini"
    trace = "gemini"
    credentials = ("GEMINI_API_KEY",)
    model = ("--model", "{model}")
    _flags = ("--output-format", "stream-json", "--approval-mode", "yolo")
    first = (*_flags, _OPTIONS)
    again = (*_flags, _OPTIONS, "--resume", "{session}")
    env: ClassVar[Mapping[str, str]] = {"GEMINI_CLI_TRUST_WORKSPACE": "true"}


class Aider(Preset):
    """Aider, saying yes to everything and committing nothing; its history is restored for further turns."""

    name = "aider"
    program = "aider"
    trace = "aider"
    credentials = ("OPENAI_API_KEY",)
    model = ("--model", "{model}")
    _flags = (
        "--yes-always", "--no-auto-commits", "--no-dirty-commits", "--no-gitignore", "--no-check-update",
        "--no-analytics", "--no-pretty", "--no-fancy-input", "--no-show-model-warnings",
        "--chat-history-file", "/tmp/aider.chat.history.md",
        "--input-history-file", "/tmp/aider.input.history",
    )  # fmt: skip
    first = (*_flags, _OPTIONS, "--message-file", "{instruction_file}")
    again = (*_flags, "--restore-chat-history", _OPTIONS, "--message-file", "{instruction_file}")


class OpenCode(Preset):
    """opencode, printing its events as JSON lines; the instruction is its stdin.

    A model is written as `provider/model`; name the provider's credential where it is not Anthropic's.
    """

    name = "opencode"
    program = "opencode"
    trace = "opencode"
    credentials = ("ANTHROPIC_API_KEY",)
    model = ("--model", "{model}")
    _flags = ("run", "--format", "json")
    first = (*_flags, _OPTIONS)
    again = (*_flags, _OPTIONS, "--session", "{session}")
    env: ClassVar[Mapping[str, str]] = {
        "OPENCODE_PERMISSION": '{"edit":"allow","bash":"allow","webfetch":"allow"}',
        "OPENCODE_DISABLE_AUTOUPDATE": "1",
    }
