"""The product code an attempt changed, for `no_runtime_tricks` and `no_special_casing`.

What code does and answers is the business of `adjudge.syntax.productcode`.
"""

from __future__ import annotations

from collections.abc import Sequence

from adjudge.contracts import Evidence
from adjudge.records.evidence import ProductScan, ScannedProducts
from adjudge.records.paths import render_path
from adjudge.records.productcode import Act
from adjudge.records.score import Finding
from adjudge.syntax.languages import default_test_globs
from adjudge.syntax.productcode.compare import ProductChange

__all__ = ["act_finding", "product_changes", "product_scan", "unread_note"]


def product_scan(test_globset: Sequence[str] | None) -> ProductScan:
    """The request; equal for both scorers where they have the same fields, so that it is answered once."""
    return ProductScan(test_globset=tuple(test_globset) if test_globset is not None else default_test_globs())


def product_changes(
    test_globset: Sequence[str] | None, evidence: Evidence
) -> tuple[ScannedProducts, list[ProductChange]]:
    """The answer, and its files that could be read."""
    scanned = evidence[product_scan(test_globset)]
    return scanned, [
        ProductChange(file.path, file.before, file.after) for file in scanned.files if not file.note
    ]


def unread_note(scanned: ScannedProducts) -> list[str]:
    """The files that could not be read, for the details of a row."""
    return [f"{render_path(file.path)}: {file.note}" for file in scanned.files if file.note][:100]


def act_finding(path: str, act: Act) -> Finding:
    """The finding for a row."""
    return Finding(
        rule=act.rule,
        path=path,
        line=act.line,
        message=f"{render_path(path)}:{act.line} {act.why}: {act.text}",
        after=act.text,
        proof=act.proof,
    )
