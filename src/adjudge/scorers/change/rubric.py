"""`rubric`: the output file has the expected values, field by field."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any, ClassVar, Self

from pydantic import AfterValidator, Field, JsonValue, model_validator

from adjudge.contracts import Evidence
from adjudge.formats.outputs import format_of
from adjudge.formats.patterns import ExactPath
from adjudge.formats.quantities import Quantity, QuantityRefused, check_unit, convert, parse_quantity
from adjudge.formats.regex import check_regex, find_regex
from adjudge.formats.schemas import SchemaFile
from adjudge.formats.values import (
    ABSENT,
    describe_value,
    equal,
    find_value,
    is_near,
    parse_value_path,
    read_number,
)
from adjudge.records.annotation import ErrorSource, ErrorTag, NonBlank
from adjudge.records.base import Record
from adjudge.records.evidence import AnyRequest, OutputFile
from adjudge.records.outputs import CheckedOutput, OutputFormat
from adjudge.records.paths import parse_path
from adjudge.records.score import Finding, Rollup, ScorerConfig, ScorerOutcome, Verdict
from adjudge.records.verifier import MechanicalError
from adjudge.rollup.rubric import Dimension, roll_up
from adjudge.scorers.wording import counted, first_findings

__all__ = ["Rubric", "RubricField"]

_TEXT_ONLY = (OutputFormat.CSV, OutputFormat.TEXT)
_COMPARISONS = ("equals", "near", "one_of", "matches", "quantity")


def _check_path(text: str) -> str:
    parse_value_path(text)
    return text


def _check_whole(pattern: str) -> str:
    check_regex(_whole(check_regex(pattern)))
    return pattern


def _whole(pattern: str) -> str:
    return rf"\A(?:{pattern})\z"


def _check_quantity(text: str) -> str:
    parse_quantity(text)
    return text


class RubricField(Record):
    """One value of the output, and what it should be."""

    path: Annotated[str, AfterValidator(_check_path)]
    """Where the value is: `loads[0].current`, `/loads/0/current`, or `$` for the whole document."""
    name: NonBlank | None = None
    """What the breakdown calls it; its path when left out."""
    equals: JsonValue = None
    """The value itself. Types are told apart, though 1 is 1.0; for null write `one_of: [null]`."""
    one_of: tuple[JsonValue, ...] = Field(default=(), max_length=1000)
    """Any of these values."""
    near: float | None = Field(default=None, strict=True)
    """A number, within `absolute` or `relative`."""
    quantity: Annotated[str, AfterValidator(_check_quantity)] | None = None
    """A number with its unit, such as `3.2 V`; any unit that measures the same thing may be written. Needs
    the extra `units`."""
    unit: Annotated[str, AfterValidator(check_unit)] | None = None
    """With `quantity`: the unit of a number that is written without one; left out, it has to have one."""
    absolute: float | None = Field(default=None, ge=0.0, strict=True)
    """With `near` or `quantity`: how far off it may be, in the expected unit."""
    relative: float | None = Field(default=None, ge=0.0, strict=True)
    """With `near` or `quantity`: how far off it may be, as a share of what is expected (0.02 is 2 %)."""
    matches: Annotated[str, AfterValidator(_check_whole)] | None = None
    """A regular expression (RE2's) that the whole text matches."""
    weight: float = Field(default=1.0, ge=0.0, strict=True)
    """How much the field counts among the others."""
    max_score: float = Field(default=1.0, gt=0.0, strict=True)
    """What the breakdown gives for a value that is right; a wrong one gets 0."""
    evidence: str = Field(default="", max_length=1000)
    """What to say about it in the breakdown, before what was found."""
    category: NonBlank | None = None
    """An error category that a wrong value is tagged with."""

    @model_validator(mode="after")
    def _one_comparison(self) -> Self:
        given = [name for name in _COMPARISONS if getattr(self, name) not in (None, ())]
        if len(given) != 1:
            found = " and ".join(given) or "none"
            raise ValueError(f"give one of {', '.join(_COMPARISONS)}; found {found}")
        tolerant = self.near is not None or self.quantity is not None
        if not tolerant and (self.absolute is not None or self.relative is not None):
            raise ValueError("absolute and relative go with near or quantity")
        if tolerant and self.absolute is None and self.relative is None:
            raise ValueError(f"{given[0]} needs absolute, relative or both")
        if self.unit is not None and self.quantity is None:
            raise ValueError("unit goes with quantity")
        if self.unit is not None and self.quantity is not None:
            convert(Quantity(1.0, self.unit), parse_quantity(self.quantity).unit)
        return self

    @property
    def title(self) -> str:
        """What the breakdown calls it."""
        return self.name or self.path


class Rubric:
    """The output file has the expected values, each field worth its weight.

    Measures:
        One file of the final workspace, read as JSON, YAML, TOML, CSV, the fenced `json` block of Markdown,
        or text. Each field is right or wrong: it `equals` a value, is `one_of` several, is `near` a number,
        `matches` a regular expression, or is a `quantity` in any unit that fits. A missing field is wrong.
        The score is the mean of the fields by weight, or the worst with `rollup: min`, rounded to 4 decimals;
        PASS when it reaches `pass_threshold` before rounding. A file that is missing or is not what its
        format says scores 0, and the document's `validity` says so; one that misses its schema is still
        scored.

        Reading is strict: duplicate keys, NaN, infinities, numbers beyond a double's range, YAML's aliases
        and tags, and files above 8 MiB make the file unparseable. In JSON, YAML and TOML a number in quotes
        is text. Comparisons are made on the decimals as written.

    Evidence:
        The file's parsed content. The details have `fields` and `held`; every field with its score, weight
        and evidence is in the document's `breakdown`.

    How it is fooled:
        By whoever guesses: `one_of`, `matches` and wide tolerances reward a guess, and an attempt may write
        several files but only one value. By a copy of the expected values: keep the scenario out of the
        agent's reach. A symlink in the file's place does not count, wherever it leads.

    Example:
        ```yaml
        scorers:
          - type: rubric
            output: result.json
            pass_threshold: 0.8
            fields:
              - {path: voltage_drop_v, near: 3.28, relative: 0.02, weight: 2}
              - {path: cable.current, quantity: "16 A", absolute: 0.1}
              - {path: compliant, equals: true, evidence: the drop is below 3 %}
        ```
    """

    name: ClassVar[str] = "rubric"
    version: ClassVar[str] = "1"
    required_by_default: ClassVar[bool] = True
    advisory_only: ClassVar[bool] = False

    class Config(ScorerConfig):
        """Fields of `rubric`."""

        output: ExactPath
        """The file that the attempt is to write, relative to the workspace."""
        output_format: OutputFormat | None = None
        """What that file is; by its name when left out."""
        output_schema: SchemaFile | None = None
        """A JSON Schema that it should match."""
        fields: tuple[RubricField, ...] = Field(min_length=1, max_length=1000)
        """The values to look at."""
        rollup: Rollup = Rollup.WEIGHTED_MEAN
        """How the fields become one score: `weighted_mean`, or `min` where the worst decides."""
        pass_threshold: float = Field(default=1.0, ge=0.0, le=1.0)
        """The score from which on it is a PASS."""

        @model_validator(mode="after")
        def _makes_sense(self) -> Self:
            if self.output_format is None and format_of(self.output) is None:
                formats = ", ".join(OutputFormat)
                raise ValueError(f"output_format: {self.output!r} does not tell its format; one of {formats}")
            roll_up([_dimension(field, False, "") for field in self.fields], self.rollup.value)
            return self

    def needs(self, config: Config) -> Sequence[AnyRequest]:
        """The output file."""
        return (_request(config),)

    def score(self, config: Config, evidence: Evidence) -> ScorerOutcome:
        """How many of the fields are right, by weight."""
        output = evidence[_request(config)]
        findings: list[Finding] = []
        tags: list[ErrorTag] = []
        problem = _problem(output)
        path = parse_path(config.output)
        if problem is not None:
            said = "; ".join(output.errors[:3]) or problem.value
            findings.append(Finding(rule=problem.value.replace(" ", "-"), path=path, message=said))
            tags.append(_tag(problem.value, said))
        as_text = _format(config) in _TEXT_ONLY
        dimensions: list[Dimension] = []
        for field in config.fields:
            held, note = (
                _compare(field, output.value, as_text=as_text)
                if output.output_parseable
                else (False, "there is nothing to read")
            )
            dimensions.append(_dimension(field, held, note))
            if not held and output.output_parseable:
                message = f"{field.title}: {note}"
                findings.append(Finding(rule="field-wrong", path=path, message=message))
                if field.category is not None:
                    tags.append(_tag(field.category, message))
        scored = roll_up(dimensions, config.rollup.value)
        held_count = sum(dimension.score > 0.0 for dimension in dimensions)
        reached = round(scored.exact, 9) >= round(config.pass_threshold, 9) and output.output_parseable
        return ScorerOutcome(
            verdict=Verdict.PASS if reached else Verdict.FAIL,
            score=scored.reward,
            reason=_reason(output, held_count, len(dimensions)),
            findings=first_findings(findings),
            details={
                "fields": len(dimensions),
                "held": held_count,
                "breakdown": {name: dict(row) for name, row in scored.details().items()},
                "validity": {
                    "output_parseable": output.output_parseable,
                    "schema_valid": output.schema_valid,
                    "errors": list(output.errors),
                },
                "error_taxonomy": [tag.model_dump(mode="json") for tag in dict.fromkeys(tags)],
            },
        )


def _format(config: Rubric.Config) -> OutputFormat:
    found = config.output_format or format_of(config.output)
    assert found is not None
    return found


def _request(config: Rubric.Config) -> OutputFile:
    return OutputFile(
        path=parse_path(config.output), format=_format(config), output_schema=config.output_schema
    )


def _problem(output: CheckedOutput) -> MechanicalError | None:
    if not output.present:
        return MechanicalError.OUTPUT_MISSING
    if not output.output_parseable:
        return MechanicalError.PARSE_ERROR
    return None if output.schema_valid else MechanicalError.SCHEMA_MISMATCH


def _tag(category: str, message: str) -> ErrorTag:
    return ErrorTag(category=category, description=message, source=ErrorSource.MECHANICAL)


def _dimension(field: RubricField, held: bool, note: str) -> Dimension:
    evidence = f"{field.evidence}: {note}" if field.evidence and note else field.evidence or note
    return Dimension(
        field.title,
        field.max_score if held else 0.0,
        max_score=field.max_score,
        weight=field.weight,
        evidence=evidence,
    )


def _reason(output: CheckedOutput, held: int, fields: int) -> str:
    if not output.present:
        return f"nothing to score: {output.errors[0]}"
    if not output.output_parseable:
        return f"nothing usable: {output.errors[0]}"
    said = (
        f"all {counted(fields, 'field')} right"
        if held == fields
        else f"{held:,} of {counted(fields, 'field')} right"
    )
    return said if output.schema_valid else f"{said}; not the expected shape: {output.errors[0]}"


def _compare(field: RubricField, document: Any, *, as_text: bool) -> tuple[bool, str]:
    """Whether the value is right, and what to say about it."""
    value = find_value(document, parse_value_path(field.path))
    found = describe_value(value)
    if value is ABSENT:
        return False, "it is not there"
    if field.quantity is not None:
        return _compare_quantity(field, field.quantity, value)
    if field.near is not None:
        number = read_number(value, as_text=as_text)
        if number is None:
            return False, f"{found} is not a number; {field.near!r}{_within(field)} expected"
        held = is_near(number, field.near, absolute=field.absolute, relative=field.relative)
        return held, f"{found} is {'' if held else 'not '}{field.near!r}{_within(field)}"
    if field.matches is not None:
        held = isinstance(value, str) and find_regex(_whole(field.matches), value) is not None
        return held, f"{found} {'matches' if held else 'does not match'} {field.matches!r}"
    expected = field.one_of or (field.equals,)
    held = any(equal(value, one, as_text=as_text) for one in expected)
    if field.one_of:
        shown = ", ".join(map(describe_value, expected[:5])) + (", …" if len(expected) > 5 else "")
        return held, f"{found} is {'' if held else 'not '}one of {shown}"
    return held, f"{found}{' as expected' if held else f', {describe_value(field.equals)} expected'}"


def _compare_quantity(field: RubricField, expected: str, value: Any) -> tuple[bool, str]:
    wanted = parse_quantity(expected)
    found = describe_value(value)
    try:
        if isinstance(value, bool) or not isinstance(value, int | float | str):
            raise QuantityRefused(f"{found} is not a number with a unit")
        text = value if isinstance(value, str) else repr(float(value))
        number = convert(parse_quantity(text, default_unit=field.unit), wanted.unit)
    except (QuantityRefused, OverflowError) as error:
        return False, f"{error}; {expected}{_within(field)} expected"
    # What conversion rounds away is far below any tolerance; written like this it is not held against anyone.
    rounded = read_number(float(f"{number:.12g}"))
    assert rounded is not None
    held = is_near(rounded, wanted.number, absolute=field.absolute, relative=field.relative)
    return held, f"{found} is {'' if held else 'not '}{expected}{_within(field)}"


def _within(field: RubricField) -> str:
    shares = [] if field.absolute is None else [f"{field.absolute:g}"]
    shares += [] if field.relative is None else [f"{100 * field.relative:g} %"]
    return f" within {' or '.join(shares)}"
