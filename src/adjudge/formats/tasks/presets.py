"""Lines of a recipe that stand for several: `- preset: integrity`, or `integrity: strict` for a scenario."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from adjudge.formats.tasks.checking import Findings
from adjudge.formats.tasks.document import Node
from adjudge.formats.tasks.messages import describe, did_you_mean, unknown_key

__all__ = ["INTEGRITY_LEVELS", "PRESETS", "expand_presets"]

PRESETS: Final[Mapping[str, tuple[str, ...]]] = {
    "integrity": (
        "no_new_skips",
        "assertions_not_weakened",
        "no_runtime_tricks",
        "no_special_casing",
        "harness_unmodified",
        "test_inventory",
        "baseline_tests",
        "same_routes",
        "near_inputs",
        "workspace_confined",
        "no_leaks",
    )
}
"""What each stands for: scorer types with their defaults."""
INTEGRITY_LEVELS: Final = ("strict", "standard", "off")
"""`strict`: the preset, required. `standard`: the preset, as its types are. `off`: nothing is added."""
_KEYS: Final = ("preset", "required")


def expand_presets(
    items: list[Node], level: Node | None, dialect: str, findings: Findings
) -> Iterator[tuple[str, Node]]:
    """Every scorer line with where it is written, those of presets in their place.

    A type that the recipe has a line of its own for, or that came already, is left out of a preset.

    Args:
        items: The lines as written.
        level: The scenario's `integrity`, where it says one.
        dialect: `scorers` or `graders`.
        findings: Where what is wrong is noted.
    """
    taken = {kind for item in items if (kind := _type_of(item)) is not None}
    for index, item in enumerate(items):
        where = f"{dialect}[{index}]"
        if not isinstance(item.value, dict) or "preset" not in item.value:
            yield where, item
            continue
        wrong = [key for key in item.value if key not in _KEYS]
        for key in wrong:
            findings.problem(item.value[key], where, unknown_key(key, _KEYS))
        preset = item.value["preset"]
        types = PRESETS.get(preset.value) if isinstance(preset.value, str) else None
        if types is None:
            said = describe(preset.plain())
            near = did_you_mean(preset.value if isinstance(preset.value, str) else "", PRESETS)
            findings.problem(preset, f"{where}.preset", f"no preset is called {said[:60]}; {near}")
        elif not wrong:
            yield from _lines(where, dialect, item, types, taken, item.value.get("required"))
    if level is None:
        return
    if level.value not in INTEGRITY_LEVELS:
        known = ", ".join(INTEGRITY_LEVELS)
        findings.problem(level, "integrity", f"one of {known} expected, found {describe(level.plain())}")
    elif level.value != "off":
        required = Node(True, level.line, level.column) if level.value == "strict" else None
        yield from _lines("integrity", dialect, level, PRESETS["integrity"], taken, required)


def _lines(
    where: str, dialect: str, place: Node, types: tuple[str, ...], taken: set[str], required: Node | None
) -> Iterator[tuple[str, Node]]:
    # Not having cheated earns nothing: what would count, counts with no weight.
    weightless = dialect == "graders" or (required is not None and required.value is True)
    for kind in types:
        if kind in taken:
            continue
        taken.add(kind)
        fields = {"type": Node(kind, place.line, place.column)}
        if required is not None:
            fields["required"] = required
        if weightless:
            fields["weight"] = Node(0.0, place.line, place.column)
        yield where, Node(fields, place.line, place.column)


def _type_of(item: Node) -> str | None:
    kind = item.value.get("type") if isinstance(item.value, dict) else None
    return kind.value if kind is not None and isinstance(kind.value, str) else None
