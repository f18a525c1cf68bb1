"""`adjudge annotate` and `adjudge annotations`: what people say of an evaluation."""

import sys
from datetime import UTC, datetime

import click
from pydantic import ValidationError

from adjudge.cli.console import note
from adjudge.errors import ConfigInvalid
from adjudge.records.annotation import Annotation, ConfidenceMetadata, Judgment
from adjudge.records.evaluation import Evaluation
from adjudge.reports.json import render_json
from adjudge.reports.plain import plain
from adjudge.settings import load_settings
from adjudge.stats.reviews import agreement_across, disagreement
from adjudge.workflows.annotate import annotate as add_annotation
from adjudge.workflows.annotate import annotated, review_of

__all__ = ["annotate", "annotations"]


@click.command()
@click.argument("evaluation", metavar="EVALUATION")
@click.option(
    "--judgment",
    type=click.Choice([judgment.value for judgment in Judgment]),
    required=True,
    help="Your verdict.",
)
@click.option("--reviewer", required=True, metavar="WHO", help="Who you are; one id for one person.")
@click.option(
    "--category", "categories", multiple=True, metavar="NAME", help="An error category; repeatable."
)
@click.option("--notes", metavar="TEXT", help="Why.")
@click.option("--discipline", metavar="NAME", help="What you review as, such as electrical.")
@click.option("--json", "as_json", is_flag=True, help="Write the evaluation document as it is now.")
def annotate(
    evaluation: str,
    judgment: str,
    reviewer: str,
    categories: tuple[str, ...],
    notes: str | None,
    discipline: str | None,
    as_json: bool,
) -> int:
    """Add your verdict to EVALUATION, beside the automated one.

    EVALUATION is the id of a saved evaluation (or a beginning that no other has), or the path of a document
    that adjudge grade --json --output wrote. The verdict is appended: no other annotation, no score and no
    reward changes. Where it disagrees with the verifier or a gate, that is said here and kept on the record.
    """
    try:
        annotation = Annotation(
            reviewer_id=reviewer,
            reviewer_discipline=discipline,
            timestamp=datetime.now(UTC),
            judgment=Judgment(judgment),
            categories=list(dict.fromkeys(categories)),
            notes=notes,
        )
    except ValidationError as error:
        first = error.errors()[0]
        field = str(first["loc"][0])
        option = {"reviewer_id": "reviewer", "reviewer_discipline": "discipline", "categories": "category"}
        why = (
            "must not be blank" if first["type"] == "string_too_short" else f"cannot be used: {first['msg']}"
        )
        raise ConfigInvalid(f"--{option.get(field, field)} {why}") from None
    done = add_annotation(evaluation, annotation, load_settings())
    if as_json:
        sys.stdout.write(render_json(done.evaluation))
    else:
        sys.stdout.write(_text(done.evaluation))
    for warning in done.warnings:
        note(f"warning: {plain(warning)}")
    if done.disagrees is not None:
        note(plain(done.disagrees))
    return 0


@click.command()
@click.argument("evaluations", metavar="[EVALUATION]...", nargs=-1)
def annotations(evaluations: tuple[str, ...]) -> int:
    """List what people said of EVALUATIONs, or of every stored one, and how far they agree.

    Agreement is Cohen's kappa for two reviewers and Fleiss' kappa for more, over the evaluations that all of
    them decided; where kappa is undefined, the share of pairs that agree.
    """
    settings = load_settings()
    found = (
        list(annotated(settings))
        if not evaluations
        else [review_of(given, settings) for given in evaluations]
    )
    sys.stdout.write("\n".join(map(_text, found)))
    across = agreement_across([evaluation.annotations for evaluation in found])
    if len(found) > 1 and across is not None:
        sys.stdout.write(f"\nagreement  {_confidence(across)}\n")
    if not any(evaluation.annotations for evaluation in found):
        note("nobody annotated anything yet")
    return 0


def _text(evaluation: Evaluation) -> str:
    gate = evaluation.gates.objective
    reward = "-" if evaluation.reward is None else f"{evaluation.reward:g}"
    lines = [
        f"evaluation {plain(evaluation.id)}  {plain(evaluation.task.name)}",
        f"automated  objective {gate.verdict}  reward {reward}",
    ]
    for annotation in evaluation.annotations:
        who = plain(annotation.reviewer_id)
        if annotation.reviewer_discipline is not None:
            who += f" ({plain(annotation.reviewer_discipline)})"
        said = disagreement(evaluation, annotation)
        against = "" if said is None else f"  {said[said.index('disagrees with') :]}"
        line = f"review     {annotation.judgment:<5}  {who}{against}"
        lines.append(line)
        if annotation.categories:
            lines.append(f"           categories: {', '.join(map(plain, annotation.categories))}")
        if annotation.notes is not None:
            lines.append(f"           {plain(annotation.notes)}")
    if evaluation.confidence is not None:
        lines.append(f"confidence {_confidence(evaluation.confidence)}")
    return "\n".join(lines) + "\n"


def _confidence(confidence: ConfidenceMetadata) -> str:
    parts = []
    if confidence.inter_rater_agreement is not None:
        parts.append(f"agreement {confidence.inter_rater_agreement:.2f}")
    if confidence.confidence_interval is not None:
        interval = confidence.confidence_interval
        parts.append(f"pass {interval.low:.2f} to {interval.high:.2f}")
    if confidence.confidence_method is not None:
        parts.append(confidence.confidence_method)
    return ", ".join(parts)
