"""How far a judge can be believed: beside people, beside itself, and when what should not matter changes."""

from __future__ import annotations

import csv
import io
import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from adjudge.contracts import BlobStore, RunStore
from adjudge.errors import ConfigInvalid, UsageError
from adjudge.judge.court import Court
from adjudge.judge.probes import lengthened, reordered
from adjudge.records.annotation import Judgment
from adjudge.records.evaluation import Evaluation
from adjudge.records.judgement import Judgement, JudgeVerdict
from adjudge.records.run import Run, RunStatus
from adjudge.stats.intervals import wilson_interval
from adjudge.stats.reliability import kappa_interval, krippendorff_alpha
from adjudge.workflows.judgeruns import heard_of, judgement_of
from adjudge.workflows.judging import case_of

__all__ = ["Calibration", "Label", "Repeated", "calibrate", "labels_of_annotations", "load_labels", "repeat"]

ENOUGH_LABELS = 30
ENOUGH_OF_EACH = 10
GOOD_KAPPA = 0.6
WIDEST_INTERVAL = 0.5
"""Of kappa: wider than this, the figure says little."""
GOOD_CONSISTENCY = 0.9
MOST_FLIPS = 0.1
_MAX_BYTES = 16 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class Label:
    """What people say of a run."""

    run: str
    passed: bool
    failure_mode: str | None = None


@dataclass(frozen=True, slots=True)
class Repeated:
    """What asking again, and asking differently, showed."""

    runs: int
    repeats: int
    consistent: int
    """Runs on which every repeat says the same."""
    flips: Mapping[str, tuple[int, int]] = field(default_factory=dict)
    """Probe → how many verdicts changed, of how many."""


@dataclass(frozen=True, slots=True)
class Calibration:
    """The judge beside people."""

    labels: int
    judged: int
    """Labelled runs that have a verdict."""
    confusion: Mapping[str, int]
    """`PASS/pass` and so on: what the judge says, what people say."""
    accuracy: float | None
    accuracy_interval: tuple[float, float] | None
    kappa: float | None
    kappa_interval: tuple[float, float] | None
    failure_modes: Mapping[str, tuple[int, int]]
    """The judge's failure mode → how often people also say fail, of how often it was given."""
    jurors: Mapping[str, tuple[int, int]]
    """Juror → how often it agrees with people, of how often it voted."""
    alpha: float | None
    """Krippendorff's, over the votes of all judged runs; None without a jury."""
    repeated: Repeated | None = None

    @property
    def concerns(self) -> tuple[str, ...]:
        """Why the judge is not ready to be relied on; empty when it is."""
        found = []
        people_fail = self.confusion["PASS/fail"] + self.confusion["FAIL/fail"]
        fewest = min(people_fail, self.judged - people_fail)
        if self.judged < ENOUGH_LABELS:
            found.append(f"{self.judged} labelled runs with a verdict, {ENOUGH_LABELS} are needed")
        elif fewest < ENOUGH_OF_EACH:
            found.append(f"only {fewest} labels of the rarer kind, {ENOUGH_OF_EACH} are needed")
        if self.kappa is None or self.kappa_interval is None:
            found.append("kappa is undefined: people, or the judge, say the same of every run")
        else:
            width = self.kappa_interval[1] - self.kappa_interval[0]
            if self.kappa < GOOD_KAPPA:
                found.append(f"kappa {self.kappa:.2f} with people is below {GOOD_KAPPA}")
            if width > WIDEST_INTERVAL:
                found.append(
                    f"the interval of kappa is {width:.2f} wide, at most {WIDEST_INTERVAL} is useful"
                )
        if self.labels > self.judged:
            found.append(f"{self.labels - self.judged} labelled runs have no verdict")
        return (*found, *self._of_repeats())

    def _of_repeats(self) -> list[str]:
        repeated = self.repeated
        if repeated is None or not repeated.runs:
            return []
        found = []
        share = repeated.consistent / repeated.runs
        if share < GOOD_CONSISTENCY:
            found.append(f"it says the same again on {share:.0%} of runs, {GOOD_CONSISTENCY:.0%} are needed")
        for probe, (changed, of) in repeated.flips.items():
            if of and changed / of > MOST_FLIPS:
                found.append(f"{probe}: {changed} of {of} verdicts change, though nothing that matters did")
        return found

    @property
    def ready(self) -> bool:
        """Whether the judge can be relied on, as far as was measured."""
        return not self.concerns


def load_labels(path: Path) -> list[Label]:
    """Labels in a file: JSON Lines, or CSV with a header; `run`, `judgment` and where known `failure_mode`.

    Raises:
        ConfigInvalid: It cannot be read; the message names file and line.
    """
    try:
        with path.open("rb") as stream:
            data = stream.read(_MAX_BYTES + 1)
        if len(data) > _MAX_BYTES:
            raise ConfigInvalid(f"{path}: larger than {_MAX_BYTES // 1024**2} MiB")
        text = data.decode("utf-8-sig")
    except OSError as error:
        raise ConfigInvalid(f"{path}: cannot be read: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise ConfigInvalid(f"{path}: not UTF-8 text") from error
    rows = _json_lines(path, text) if text.lstrip().startswith("{") else _csv_rows(path, text)
    labels = [_label(row, f"{path}:{number}") for number, row in rows]
    if not labels:
        raise ConfigInvalid(f"{path}: there are no labels in it")
    return labels


def labels_of_annotations(evaluations: Sequence[Evaluation]) -> list[Label]:
    """What reviewers say of runs: by majority; runs on which they are divided, or only defer, have none."""
    labels = []
    for evaluation in evaluations:
        said = Counter(annotation.judgment for annotation in evaluation.annotations)
        passed, failed = said[Judgment.PASS], said[Judgment.FAIL]
        if passed != failed:
            labels.append(Label(evaluation.run_id, passed > failed))
    return labels


def calibrate(labels: Sequence[Label], store: RunStore, *, repeated: Repeated | None = None) -> Calibration:
    """Compare what is stored of the judge with what people say.

    Raises:
        UsageError: A label names a run that is not there.
    """
    pairs: list[tuple[Label, Judgement]] = []
    for label in labels:
        run = store.run(label.run)
        judgement = judgement_of(store.current_evaluation(run.id))
        if judgement is not None and judgement.verdict is not None:
            pairs.append((label, judgement))
    return compare(labels, pairs, repeated)


def compare(
    labels: Sequence[Label], pairs: Sequence[tuple[Label, Judgement]], repeated: Repeated | None
) -> Calibration:
    """The figures. Pure."""
    confusion = dict.fromkeys(("PASS/pass", "PASS/fail", "FAIL/pass", "FAIL/fail"), 0)
    modes: dict[str, tuple[int, int]] = {}
    jurors: dict[str, tuple[int, int]] = {}
    units = []
    for label, judgement in pairs:
        person = "pass" if label.passed else "fail"
        confusion[f"{judgement.verdict}/{person}"] += 1
        if judgement.failure_mode is not None:
            agreed, given = modes.get(judgement.failure_mode, (0, 0))
            same = not label.passed and label.failure_mode in (None, judgement.failure_mode.value)
            modes[judgement.failure_mode.value] = (agreed + same, given + 1)
        verdicts = []
        for vote in judgement.votes:
            if vote.opinion is None:
                continue
            verdicts.append(vote.opinion.verdict)
            agreed, given = jurors.get(vote.juror, (0, 0))
            agrees = (vote.opinion.verdict is JudgeVerdict.PASS) == label.passed
            jurors[vote.juror] = (agreed + agrees, given + 1)
        units.append(verdicts)
    judges = [judgement.verdict is JudgeVerdict.PASS for _, judgement in pairs]
    people = [label.passed for label, _ in pairs]
    right = confusion["PASS/pass"] + confusion["FAIL/fail"]
    kappa = kappa_interval(judges, people) if pairs else None
    return Calibration(
        labels=len(labels),
        judged=len(pairs),
        confusion=confusion,
        accuracy=right / len(pairs) if pairs else None,
        accuracy_interval=wilson_interval(right, len(pairs)) if pairs else None,
        kappa=None if kappa is None else kappa[0],
        kappa_interval=None if kappa is None else (kappa[1], kappa[2]),
        failure_modes=modes,
        jurors=jurors if len(jurors) > 1 else {},
        alpha=krippendorff_alpha(units),
        repeated=repeated,
    )


async def repeat(
    court: Court, runs: Sequence[Run], store: RunStore, blobs: BlobStore, *, repeats: int, probes: bool
) -> Repeated:
    """Ask about stored runs again: `repeats` times as it is, and with `probes` once for each of them.

    Nothing of it is recorded. The court must remember nothing, or it would only repeat itself.
    """
    consistent = asked = 0
    flips: dict[str, tuple[int, int]] = {}
    for run in runs:
        evaluation = store.current_evaluation(run.id)
        if evaluation is None or run.status is not RunStatus.FINISHED:
            raise UsageError(f"run {run.id} was never graded", hint=f"adjudge regrade {run.id}")
        case = case_of(heard_of(run, store.task(evaluation.task.digest), blobs), evaluation, court.config)
        verdicts = [(await court.judge(case)).verdict for _ in range(repeats)]
        known = [verdict for verdict in verdicts if verdict is not None]
        if not known:
            continue
        asked += 1
        consistent += len(set(verdicts)) == 1
        if not probes:
            continue
        for name, arrange in (("position", reordered), ("length", lengthened)):
            verdict = (await court.judge(case, arrange=arrange)).verdict
            if verdict is not None:
                changed, of = flips.get(name, (0, 0))
                flips[name] = (changed + (verdict is not known[0]), of + 1)
    return Repeated(asked, repeats, consistent, flips)


def _json_lines(path: Path, text: str) -> list[tuple[int, Any]]:
    rows = []
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip():
            continue
        try:
            rows.append((number, json.loads(line)))
        except ValueError as error:
            raise ConfigInvalid(f"{path}:{number}: not valid JSON: {error}") from error
    return rows


def _csv_rows(path: Path, text: str) -> list[tuple[int, Any]]:
    reader = csv.DictReader(io.StringIO(text))
    missing = {"run", "judgment"} - set(reader.fieldnames or ())
    if missing:
        raise ConfigInvalid(
            f"{path}:1: no column {' and no column '.join(sorted(missing))}",
            hint="a header with run, judgment and, where known, failure_mode",
        )
    return [(reader.line_num, row) for row in reader]


def _label(row: Any, where: str) -> Label:
    if not isinstance(row, dict) or not isinstance(row.get("run"), str) or not row["run"]:
        raise ConfigInvalid(f"{where}: 'run' is missing: the id of a run")
    said = str(row.get("judgment", "")).lower()
    if said not in ("pass", "fail"):
        raise ConfigInvalid(f"{where}: judgment: {said!r} is neither pass nor fail")
    mode = row.get("failure_mode") or None
    return Label(row["run"], said == "pass", None if mode is None else str(mode))
