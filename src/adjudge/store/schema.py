"""The tables, as they are now: typed columns where people filter, JSON for the rest.

How older databases come to this shape is `adjudge.store.migrations`; a test keeps the two equal. Documents
are the truth and are read back; typed columns are copies of parts of them, to filter and to add up by. An
evaluation is read back from its own row and the rows of its scorers, judgements and annotations.
"""

from datetime import UTC, datetime
from typing import Any

from sqlalchemy import (
    JSON,
    BigInteger,
    Boolean,
    Column,
    DateTime,
    Dialect,
    Float,
    ForeignKey,
    Index,
    Integer,
    MetaData,
    String,
    Table,
    Text,
    TypeDecorator,
    cast,
)

__all__ = [
    "annotations",
    "blob_references",
    "evaluations",
    "experiments",
    "judgements",
    "metadata",
    "runs",
    "saved_views",
    "scorer_results",
    "sessions",
    "tags",
    "tasks",
    "test_results",
    "users",
]


class Label(TypeDecorator[str]):
    """Text people filter by, in which what no database takes is spelled out: NUL and lone surrogates.

    Agents choose some of it (ids of tests, names of failures); the true value is in the document beside it.
    """

    impl = Text
    cache_ok = True

    def process_bind_param(self, value: str | None, dialect: Dialect) -> str | None:
        """The text as it can be kept."""
        if value is None or (value.isascii() and "\0" not in value):
            return value
        return value.replace("\0", "\\x00").encode("utf-8", "backslashreplace").decode("utf-8")


class Moment(TypeDecorator[datetime]):
    """A moment, kept in UTC; SQLite has no time zones of its own."""

    impl = DateTime(timezone=True)
    cache_ok = True

    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        """In UTC."""
        return None if value is None else value.astimezone(UTC)

    def process_result_value(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        """Aware again."""
        if value is None:
            return None
        return value.replace(tzinfo=UTC) if value.tzinfo is None else value.astimezone(UTC)


class Document(TypeDecorator[str]):
    """JSON that is given and returned as text: who reads a record parses it once, into the record."""

    impl = JSON
    cache_ok = True

    def bind_processor(self, dialect: Dialect) -> None:
        """The text goes in as it is."""
        return

    def result_processor(self, dialect: Dialect, coltype: object) -> None:
        """The text comes out as it is."""
        return

    def column_expression(self, column: Any) -> Any:
        """Asked for as text: drivers would parse JSON by themselves."""
        return cast(column, Text)


# Compared byte by byte, so that a prefix is a range whatever the language of the database.
Id = String(64).with_variant(String(64, collation="C"), "postgresql")
Digest = String(80).with_variant(String(80, collation="C"), "postgresql")
# SQLite numbers rows by itself only where the type is INTEGER.
Sequence = BigInteger().with_variant(Integer, "sqlite")

metadata = MetaData()


def _sequence() -> Column[Any]:
    """The order in which rows were first recorded; pages continue after it."""
    return Column("seq", Sequence, primary_key=True, autoincrement=True)


experiments = Table(
    "experiments",
    metadata,
    _sequence(),
    Column("id", Id, nullable=False, unique=True),
    Column("name", Label, nullable=False),
    Column("created_at", Moment, nullable=False),
    Column("document", Document, nullable=False),
)

tasks = Table(
    "tasks",
    metadata,
    Column("digest", Digest, primary_key=True),
    Column("name", Label, nullable=False),
    Column("recorded_at", Moment, nullable=False),
    Column("document", Document, nullable=False),
)

runs = Table(
    "runs",
    metadata,
    _sequence(),
    Column("id", Id, nullable=False, unique=True),
    Column("experiment_id", Id, ForeignKey("experiments.id")),
    Column("task_name", Label, nullable=False),
    Column("task_digest", Digest, nullable=False),
    Column("agent", Label, nullable=False),
    Column("agent_type", Label, nullable=False),
    Column("agent_digest", Digest, nullable=False),
    Column("model", Label),
    Column("trial", Integer, nullable=False),
    Column("status", String(32), nullable=False),
    Column("outcome", String(32)),
    Column("starts", Integer, nullable=False),
    Column("started_at", Moment),
    Column("ended_at", Moment),
    Column("wall_s", Float),
    Column("cost_usd", Float),
    Column("input_tokens", BigInteger),
    Column("output_tokens", BigInteger),
    Column("cache_read_tokens", BigInteger),
    Column("cache_write_tokens", BigInteger),
    Column("total_tokens", BigInteger),
    Column("tool_calls", BigInteger),
    Column("current_evaluation", Sequence),
    Column("digest", Digest, nullable=False),
    Column("document", Document, nullable=False),
    Index("runs_by_experiment", "experiment_id", "seq"),
    Index("runs_by_task", "task_name", "seq"),
    Index("runs_by_agent", "agent", "model", "seq"),
    Index("runs_by_status", "status", "seq"),
    Index("runs_by_evaluation", "current_evaluation"),
    # Not on PostgreSQL, whose index entries are small; it keeps large documents outside of rows anyway.
    Index(
        "runs_listed",
        "seq", "id", "experiment_id", "task_name", "task_digest", "agent", "model", "trial", "status",
        "outcome", "started_at", "wall_s", "cost_usd", "total_tokens", "tool_calls", "current_evaluation",
    ).ddl_if(dialect="sqlite"),
)  # fmt: skip

evaluations = Table(
    "evaluations",
    metadata,
    _sequence(),
    Column("id", Id, nullable=False, unique=True),
    Column("run_seq", Sequence, ForeignKey("runs.seq"), nullable=False),
    Column("task_digest", Digest, ForeignKey("tasks.digest"), nullable=False),
    Column("objective", String(8), nullable=False),
    Column("judge", String(8), nullable=False),
    Column("run_gate", String(8), nullable=False),
    Column("score", Float),
    Column("mean_score", Float),
    Column("reward", Float),
    Column("integrity", String(16), nullable=False),
    Column("failure_mode", Label),
    Column("recipe_digest", Digest, nullable=False),
    Column("change_digest", Digest),
    Column("started_at", Moment, nullable=False),
    Column("duration_s", Float, nullable=False),
    Column("evidence", Document),
    Column("digest", Digest, nullable=False),
    Column("document", Document, nullable=False),
    Index("evaluations_by_run", "run_seq"),
    Index("evaluations_by_objective", "objective", "run_seq"),
    Index(
        "evaluations_listed",
        "run_seq", "seq", "objective", "judge", "run_gate", "score", "mean_score", "reward", "integrity",
        "failure_mode",
    ).ddl_if(dialect="sqlite"),
    Index("evaluations_by_failure_mode", "failure_mode", "seq").ddl_if(dialect="sqlite"),
)  # fmt: skip

scorer_results = Table(
    "scorer_results",
    metadata,
    Column("evaluation_seq", Sequence, ForeignKey("evaluations.seq"), primary_key=True, autoincrement=False),
    Column("position", Integer, primary_key=True, autoincrement=False),
    Column("name", Label, nullable=False),
    Column("type", Label, nullable=False),
    Column("verdict", String(8), nullable=False),
    Column("score", Float),
    Column("required", Boolean, nullable=False),
    Column("gate", Boolean, nullable=False),
    Column("weight", Float, nullable=False),
    Column("counted", Boolean, nullable=False),
    Column("duration_s", Float, nullable=False),
    Column("version", Label, nullable=False),
    Column("config_digest", Digest, nullable=False),
    Column("document", Document, nullable=False),
)

test_results = Table(
    "test_results",
    metadata,
    Column("evaluation_seq", Sequence, ForeignKey("evaluations.seq"), primary_key=True, autoincrement=False),
    Column("position", Integer, primary_key=True, autoincrement=False),
    Column("request_digest", Digest, nullable=False),
    Column("test_id", Label, nullable=False),
    Column("outcome", String(16), nullable=False),
    Column("proof", String(16)),
    Column("duration_s", Float),
)

judgements = Table(
    "judgements",
    metadata,
    Column("evaluation_seq", Sequence, ForeignKey("evaluations.seq"), primary_key=True, autoincrement=False),
    Column("position", Integer, primary_key=True, autoincrement=False),
    Column("model", Label),
    Column("verdict", Label),
    Column("failure_mode", Label),
    Column("document", Document, nullable=False),
)

annotations = Table(
    "annotations",
    metadata,
    _sequence(),
    Column("evaluation_seq", Sequence, ForeignKey("evaluations.seq"), nullable=False),
    Column("reviewer_id", Label, nullable=False),
    Column("judgment", String(16), nullable=False),
    Column("annotated_at", Moment, nullable=False),
    Column("document", Document, nullable=False),
    Index("annotations_by_evaluation", "evaluation_seq"),
)

tags = Table(
    "tags",
    metadata,
    Column("run_seq", Sequence, ForeignKey("runs.seq"), primary_key=True, autoincrement=False),
    Column("key", Label, primary_key=True),
    Column("value", Label, nullable=False),
    Index("tags_by_value", "key", "value"),
)

blob_references = Table(
    "blob_references",
    metadata,
    Column("digest", Digest, primary_key=True),
    Column("owner", String(16), primary_key=True),
    Column("owner_seq", Sequence, primary_key=True, autoincrement=False),
    Index("blob_references_by_owner", "owner", "owner_seq"),
)
"""Which blobs rows need, written in their transaction: what garbage collection goes by."""

users = Table(
    "users",
    metadata,
    Column("name", Label, primary_key=True),
    Column("role", String(16), nullable=False),
    Column("token_digest", Digest, nullable=False, unique=True),
    Column("created_at", Moment, nullable=False),
)
"""Who may use the web view, when it is not for one person on one machine."""

sessions = Table(
    "sessions",
    metadata,
    Column("digest", Digest, primary_key=True),
    Column("user_name", Label, ForeignKey("users.name"), nullable=False),
    Column("created_at", Moment, nullable=False),
    Column("expires_at", Moment, nullable=False),
    Index("sessions_by_user", "user_name"),
)

saved_views = Table(
    "saved_views",
    metadata,
    Column("id", Id, primary_key=True),
    Column("name", Label, nullable=False),
    Column("page", String(32), nullable=False),
    Column("query", Text, nullable=False),
    Column("owner", Label, nullable=False),
    Column("created_at", Moment, nullable=False),
    Index("saved_views_by_page", "page", "name"),
)
"""Addresses of views that people gave a name to."""
