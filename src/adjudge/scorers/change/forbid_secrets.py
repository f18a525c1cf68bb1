"""`forbid_secrets`: nothing secret-like was added."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from adjudge.contracts import Evidence
from adjudge.records.evidence import AnyRequest, SecretScan
from adjudge.records.paths import render_path
from adjudge.records.score import Finding, ScorerConfig, ScorerOutcome
from adjudge.scorers.wording import counted, first_findings

__all__ = ["ForbidSecrets"]


class ForbidSecrets:
    """No secret-like string was added.

    Measures:
        Leaked credentials: keys, tokens and passwords in added lines, in the names of added files and in
        the targets of added symlinks. A tripwire, not a complete scanner. Nothing found is ever shown, and
        nothing is ever tried out over a network.

    Evidence:
        A scan of everything the attempt added, litter included. What a file had before, here or elsewhere
        in a file that was moved, is not new. Text inside binary files is scanned too. A changed file that
        could not be scanned whole fails the check, for anything might be in it.

    How it is fooled:
        A secret that is split, encrypted or encoded (but for plain base64) looks like none; so does one of
        a kind that no rule knows.

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
        """A scan of what was added."""
        return (SecretScan(),)

    def score(self, config: Config, evidence: Evidence) -> ScorerOutcome:
        """FAIL when something secret-like was added, or could have been in what was not scanned."""
        scan = evidence[SecretScan()]
        unscanned = [
            Finding(
                rule="secret-scan-incomplete",
                path=path,
                message=f"{render_path(path)} changed and could not be scanned whole",
            )
            for path in scan.unscanned
        ]
        details = {"scanned_bytes": scan.scanned_bytes, "unscanned_files": len(unscanned)}
        if not scan.findings and not unscanned:
            return ScorerOutcome.passed(
                f"nothing secret-like in {counted(scan.scanned_bytes, 'added byte')}", details=details
            )
        reasons = [counted(len(scan.findings), "secret-like string") + " added"] if scan.findings else []
        reasons += [f"{counted(len(unscanned), 'file')} could not be scanned"] if unscanned else []
        return ScorerOutcome.failed(
            "; ".join(reasons), findings=first_findings([*scan.findings, *unscanned]), details=details
        )
