"""`forbid_secrets`: nothing secret-like was added."""

from __future__ import annotations

from collections.abc import Sequence, Set
from typing import ClassVar

from pydantic import JsonValue

from adjudge.contracts import Evidence
from adjudge.records.evidence import AnyRequest, ParsedChange, SecretScan
from adjudge.records.paths import render_path
from adjudge.records.score import Finding, ScorerConfig, ScorerOutcome
from adjudge.scorers.wording import MAX_FINDINGS, counted, first_findings
from adjudge.syntax.languages import is_third_party

__all__ = ["ForbidSecrets"]


class ForbidSecrets:
    """No secret-like string was added.

    Measures:
        Leaked credentials: keys, tokens and passwords in added lines, in the names of new paths and in the
        targets of new symlinks, by the rules of Betterleaks and by a table of unmistakable forms, to which
        documentation examples belong. A tripwire, not a complete scanner. What is found is never shown, here
        or in any other row, and never tried out over a network.

    Evidence:
        A scan of everything the attempt added, litter included: of a binary file the readable parts, of
        UTF-16 the text. A line that only moved is not new; one copied from elsewhere is. Packages installed
        into litter (`node_modules`, `site-packages` and their like) carry other people's test keys: what is
        found there is counted in the details and fails nothing, and neither does litter that repeats an
        unchanged file. A changed file that could not be scanned whole fails the check, for anything might
        be in it, unless it is litter. The details have `scanner`, `scanned_bytes`, `in_installed_packages`,
        `unscanned`.

    How it is fooled:
        A secret that is split, encrypted or encoded otherwise than in base64 or hexadecimal looks like
        none; so does one of a kind that no rule knows, a password that is an ordinary word, and one hidden
        in a package installed into litter or in compiled litter.

    Example:
        ```yaml
        scorers:
          - name: no secrets
            type: forbid_secrets
        ```
    """

    name: ClassVar[str] = "forbid_secrets"
    version: ClassVar[str] = "1"
    required_by_default: ClassVar[bool] = True
    advisory_only: ClassVar[bool] = False

    class Config(ScorerConfig):
        """`forbid_secrets` has no fields of its own."""

    def needs(self, config: Config) -> Sequence[AnyRequest]:
        """A scan of what was added, and which of it is litter."""
        return (SecretScan(), ParsedChange())

    def score(self, config: Config, evidence: Evidence) -> ScorerOutcome:
        """FAIL when something secret-like was added, or could have been in what was not scanned."""
        scan = evidence[SecretScan()]
        litter = frozenset(change.path for change in evidence[ParsedChange()].change_set.litter)
        installed = [found for found in scan.findings if _is_installed(found.path, litter)]
        added = [found for found in scan.findings if not _is_installed(found.path, litter)]
        unscanned = [path for path in scan.unscanned if path not in litter]
        details: dict[str, JsonValue] = {
            "scanner": scan.scanner,
            "scanned_bytes": scan.scanned_bytes,
            "in_installed_packages": len(installed),
            "unscanned": [render_path(path) for path in scan.unscanned[:MAX_FINDINGS]],
        }
        notes = _notes(len(installed), len(scan.unscanned) - len(unscanned))
        if not added and not unscanned:
            what = f"nothing secret-like in {counted(scan.scanned_bytes, 'added byte')}"
            return ScorerOutcome.passed("; ".join([what, *notes]), details=details)
        reasons = [f"{counted(len(added), 'secret-like string')} added"] if added else []
        reasons += [f"{counted(len(unscanned), 'file')} could not be scanned"] if unscanned else []
        missed = (
            Finding(
                rule="secret-scan-incomplete",
                path=path,
                message=f"{render_path(path)} changed and could not be scanned whole",
            )
            for path in unscanned
        )
        return ScorerOutcome.failed(
            "; ".join([*reasons, *notes]), findings=first_findings([*added, *missed]), details=details
        )


def _is_installed(path: str | None, litter: Set[str]) -> bool:
    return path is not None and path in litter and is_third_party(path)


def _notes(installed: int, unscanned: int) -> list[str]:
    notes = [f"{installed:,} in installed packages left out"] if installed else []
    return notes + ([f"{counted(unscanned, 'ignored file')} not scanned"] if unscanned else [])
