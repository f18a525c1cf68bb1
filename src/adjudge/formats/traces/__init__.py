"""Traces: how an agent worked, read from whatever it wrote into `adjudge.records.trace`. One format a module.

Every byte was written by the party under grading. Readers stream: they hold one line, or one part of a
document, at a time. What cannot be read becomes a `BrokenLine` and reading goes on. `detect` picks the
format, `summary` adds everything up in one pass, `tools` says what a tool does by its name.

| format | written by |
|---|---|
| `adjudge` | adjudge itself: the normalised form |
| `text` | anything: what was printed, as one message |
"""
