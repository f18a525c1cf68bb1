"""Which collector answers which request, and what each is given to do so."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from adjudge.contracts import BlobStore, Collector, SandboxBackend, Subject
from adjudge.engine.collect import RUNS_CODE
from adjudge.errors import InfraError
from adjudge.records.sandbox import Limits, Mount, SandboxSpec
from adjudge.records.task import SandboxSettings

__all__ = [
    "COLLECTORS",
    "Means",
    "asks_a_model",
    "make_collector",
    "make_outliner",
    "runs_code",
    "sandbox_spec",
]

COLLECTORS: Mapping[str, str] = {
    "parsed_change": "adjudge.evidence.changes:ParsedChangeCollector",
    "path_state": "adjudge.evidence.paths:PathStateCollector",
    "secret_scan": "adjudge.evidence.secrets:SecretScanCollector",
    "source_scan": "adjudge.evidence.sources:SourceScanCollector",
    "suite_scan": "adjudge.evidence.suites:SuiteScanCollector",
    "product_scan": "adjudge.evidence.product:ProductScanCollector",
    "harness_scan": "adjudge.evidence.harness:HarnessScanCollector",
    "file_comparison": "adjudge.evidence.files:FileComparisonCollector",
    "pattern_search": "adjudge.evidence.search:PatternSearchCollector",
    "output_file": "adjudge.evidence.outputs:OutputFileCollector",
    "trace_read": "adjudge.evidence.traces:TraceReadCollector",
    "leak_scan": "adjudge.evidence.leaks:LeakScanCollector",
    "confinement_read": "adjudge.evidence.confinement:ConfinementCollector",
    "clean_tree": "adjudge.evidence.cleantree:CleanTreeCollector",
    "command_run": "adjudge.evidence.commands:CommandCollector",
    "test_collection": "adjudge.evidence.tests.collectors:TestCollectionCollector",
    "test_run": "adjudge.evidence.tests.collectors:TestRunCollector",
    "report_run": "adjudge.evidence.reportruns:ReportRunCollector",
    "differential": "adjudge.evidence.differential:DifferentialCollector",
    "routes": "adjudge.evidence.routes:RoutesCollector",
    "near_inputs": "adjudge.evidence.nearby.collector:NearInputsCollector",
    "suite_inventory": "adjudge.evidence.inventory:SuiteInventoryCollector",
    "verifier_run": "adjudge.evidence.verifier.collector:VerifierCollector",
    "model_scoring": "adjudge.judge.collector:ModelScoringCollector",
}
"""Request kind → `module:class`. Imported only for the kinds a plan asks for."""


class Means(NamedTuple):
    """What collecting may need beyond the subject."""

    backend: Callable[[], SandboxBackend]
    """Chosen when first needed: probing a machine for a recipe that runs nothing would be waste.

    Raises `SandboxUnavailable` when there is none.
    """
    settings: SandboxSettings
    blobs: BlobStore | None = None
    answers: Path | None = None
    """Where answers of models are remembered; None: nowhere."""
    asks_models: bool = True
    """Whether models are asked at all; where they are not, a scorer that would ask one is N/A."""


PARSERS = ("source_scan", "suite_scan", "product_scan", "harness_scan")
"""Kinds whose collectors have files parsed in a process, which they can share."""


def make_outliner() -> Any:
    """The process in which files are parsed, not started yet."""
    return importlib.import_module("adjudge.evidence.outlining").Outliner()


def make_collector(kind: str, means: Means, outliner: Callable[[], Any] | None = None) -> Collector:
    """The collector for a kind of request.

    Args:
        kind: Of the request.
        means: What it may need.
        outliner: Gives what collectors of one grading share for parsing; None: each has its own.

    Raises:
        SandboxUnavailable: It would run code, and nothing on this machine can hold it.
        InfraError: Nothing here answers such requests.
    """
    if kind not in COLLECTORS:
        raise InfraError(f"nothing here collects evidence of the kind {kind!r}")
    module, _, attribute = COLLECTORS[kind].partition(":")
    collector_class = getattr(importlib.import_module(module), attribute)
    made: Collector
    if kind in ("command_run", "report_run", "verifier_run"):
        made = collector_class(means.backend(), sandbox_spec(means.settings), blobs=means.blobs)
    elif kind in ("differential", "routes", "near_inputs"):
        made = collector_class(means.backend, sandbox_spec(means.settings))
    elif kind in ("test_collection", "test_run"):
        made = collector_class(means.backend(), sandbox_spec(means.settings))
    elif kind == "model_scoring":
        made = collector_class(_read_file, blobs=means.blobs, cache=means.answers, asks=means.asks_models)
    elif kind in PARSERS and outliner is not None:
        made = collector_class(outliner())
    else:
        made = collector_class()
    return made


def _read_file(path: str, subject: Subject) -> bytes:
    """A file that the recipe refers to."""
    hidden = importlib.import_module("adjudge.evidence.hiddenfiles")
    entry = next(entry for entry in subject.task.files if entry.path == path)
    data: bytes = hidden.read_scenario_file(entry, subject.scenario_files)
    return data


def runs_code(kind: str) -> bool:
    """Whether answering a kind of request runs code or asks a model."""
    return _cost(kind) >= RUNS_CODE


def asks_a_model(kind: str) -> bool:
    """Whether answering a kind of request asks a model."""
    return _cost(kind) > RUNS_CODE


def _cost(kind: str) -> int:
    if kind not in COLLECTORS:
        return 0
    module, _, attribute = COLLECTORS[kind].partition(":")
    cost: int = getattr(importlib.import_module(module), attribute).cost
    return cost


def sandbox_spec(settings: SandboxSettings) -> SandboxSpec:
    """What every sandbox of a task has in common; the workspace and the time limit come with each use."""
    limits = {
        name: value
        for name, value in (
            ("memory_bytes", settings.memory_bytes),
            ("processes", settings.processes),
        )
        if value is not None
    }
    return SandboxSpec(
        mounts=tuple(Mount.model_validate(exposed.model_dump()) for exposed in settings.expose),
        also_at=settings.also_at,
        env=settings.env,
        limits=Limits.model_validate(limits),
    )
