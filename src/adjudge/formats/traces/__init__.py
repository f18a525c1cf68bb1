"""Traces: how an agent worked, read from whatever it wrote into `adjudge.records.trace`. One format a module.

Every byte was written by the party under grading. Readers stream: they hold one line, or one part of a
document, at a time. What cannot be read becomes a `BrokenLine` and reading goes on. `detect` picks the
format, `summary` adds everything up in one pass, `tools` says what a tool does by its name.

| format | written by |
|---|---|
| `adjudge` | adjudge itself: the normalised form |
| `claude-code` | Claude Code: stream-json and session files |
| `codex` | Codex: `codex exec --json` and rollout files |
| `gemini` | Gemini CLI: `--output-format stream-json` and `json` |
| `opencode` | opencode: `opencode run --format json` |
| `atif` | Harbor and others: the Agent Trajectory Interchange Format 1.0 to 1.8 |
| `inspect` | Inspect: `.eval` and `.json` logs, single samples |
| `otel` | OpenTelemetry: GenAI spans as OTLP JSON |
| `anthropic` | Anthropic messages |
| `openai` | OpenAI chat messages |
| `aider` | aider: its chat history or output |
| `text` | anything: what was printed, as one message |

They are tried in this order.
"""
