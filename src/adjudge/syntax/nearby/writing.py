"""A test file with other inputs that writes answers down: what `inputs` chose and `recording` put in."""

from __future__ import annotations

from adjudge.records.nearby import NearInput, NearSite, NearSource
from adjudge.syntax.grammars import grammar_of, parse_source
from adjudge.syntax.insertions import first_statement, package_name
from adjudge.syntax.nearby.inputs import choose_inputs, find_inputs, unit_of
from adjudge.syntax.nearby.recording import RECORDED, Recordings, beside, prelude, record_answers

__all__ = ["near_source"]


def near_source(
    path: str, source: bytes, *, first: int, turn: int, target: str, seed: str, generic: bool = True
) -> NearSource | None:
    """Write a test file anew; None where nothing is known of its language, or it has errors.

    Args:
        path: Its path; the suffix says its language.
        source: What it holds.
        first: The number of its first place that writes an answer down.
        turn: Which run: 0 for its own inputs, from 1 on others.
        target: The file that answers go to, as an absolute path of plain characters.
        seed: Fixes what is chosen.
        generic: Whether the module's version of Go has type parameters.
    """
    grammar = grammar_of(path)
    if grammar is None or grammar.name not in RECORDED:
        return None
    try:
        source.decode("utf-8")
    except UnicodeDecodeError:
        return None
    root = parse_source(grammar, source)
    if root.has_error:
        return None
    into = Recordings(first)
    record_answers(grammar.name, root, into, generic=generic)
    if not into.sites:
        return None
    files: dict[str, str] = {}
    if grammar.name == "go":
        package = package_name(root)
        if package is None:
            return None
        files[f"adjudge_near_{package}_test.go"] = beside(package, target, generic=generic)
    elif grammar.name == "python":
        into.put(first_statement(root), prelude(grammar.name, target))
    else:
        into.put(len(source), prelude(grammar.name, target))
    # Two files that are alike are not to be changed alike.
    own = f"{seed} {first}"
    chosen = choose_inputs(find_inputs(root), source, turn=turn, seed=own, of_all=seed) if turn else []
    edits = [(at, at, text) for at, text in into.in_order()]
    # A literal is replaced behind what is inserted in front of it.
    edits += [(one.start, one.end, one.text) for one in chosen]
    edits.sort(key=lambda edit: (edit[0], edit[1]))
    parts: list[bytes] = []
    done = 0
    for start, end, text in edits:
        parts += [source[done:start], text.encode()]
        done = max(done, end)
    parts.append(source[done:])
    return NearSource(
        text=b"".join(parts).decode(),
        beside=files,
        sites=tuple(NearSite(line=site.start_point[0] + 1, unit=unit_of(site)) for site in into.sites),
        changed=tuple(NearInput(line=one.line, text=one.text, unit=one.unit) for one in chosen),
    )
