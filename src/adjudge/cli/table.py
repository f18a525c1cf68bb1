"""The commands, as data: name → where it lives and its line in `--help`.

`adjudge --help` and `--version` import this table and nothing else of ours, which keeps them fast.
"""

from __future__ import annotations

from typing import NamedTuple

__all__ = ["COMMANDS", "Entry"]


class Entry(NamedTuple):
    """Where a command is and what it does, in one line."""

    target: str
    summary: str


COMMANDS: dict[str, Entry] = {
    "init": Entry("adjudge.cli.init:init", "Write a scenario to start from."),
    "validate": Entry("adjudge.cli.validate:validate", "Check scenarios and say everything that is wrong."),
    "seed": Entry("adjudge.cli.seed:seed", "Make a workspace from a scenario and record its baseline."),
    "run": Entry("adjudge.cli.run:run", "Run agents on tasks and grade each run the moment it stops."),
    "grade": Entry("adjudge.cli.grade:grade", "Grade a workspace or a patch by a scenario."),
    "attack": Entry("adjudge.cli.attack:attack", "Try cheats on a recipe; say which get through."),
    "annotate": Entry("adjudge.cli.annotate:annotate", "Add a person's verdict to an evaluation."),
    "annotations": Entry(
        "adjudge.cli.annotate:annotations", "List what people said, and how far they agree."
    ),
    "regrade": Entry("adjudge.cli.regrade:regrade", "Grade stored runs again and say what moved."),
    "judge": Entry("adjudge.cli.judge:judge", "Ask an LLM judge about stored runs; calibrate it."),
    "changes": Entry("adjudge.cli.changes:changes", "Show what a workspace changed against a baseline."),
    "list": Entry("adjudge.cli.runs:list_", "List stored runs with their gates."),
    "show": Entry("adjudge.cli.runs:show", "Show all that is known of a stored run."),
    "diff": Entry("adjudge.cli.runs:diff", "Show what a stored run changed."),
    "report": Entry("adjudge.cli.report:report", "Say what stored runs add up to."),
    "compare": Entry("adjudge.cli.report:compare", "Compare two experiments, or two agents, by their tasks."),
    "view": Entry("adjudge.cli.view:view", "Serve runs, traces and results to the browser."),
    "users": Entry("adjudge.cli.users:users", "Say who may use the web view."),
    "trace": Entry("adjudge.cli.trace:trace", "Show how an agent worked, from any kind of trace."),
    "store": Entry("adjudge.cli.store:store", "Check, clear up, move and take over what is kept."),
    "scorers": Entry("adjudge.cli.scorers:scorers", "List the checks a recipe can use, or explain one."),
    "agents": Entry("adjudge.cli.agents:agents", "List the agents that can be run, or explain one."),
    "schema": Entry("adjudge.cli.schema:schema", "Print the JSON Schema of scenario files."),
    "rubric": Entry("adjudge.cli.rubric:rubric", "Roll the dimensions of a rubric up into one reward."),
    "sandbox": Entry("adjudge.cli.sandbox:sandbox", "Run a command in a sandbox and see what it changed."),
    "doctor": Entry("adjudge.cli.doctor:doctor", "Say what this machine can do and what to install."),
}
"""In the order people meet them."""
