"""The first tables."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None

_ID = sa.String(64).with_variant(sa.String(64, collation="C"), "postgresql")
_DIGEST = sa.String(80).with_variant(sa.String(80, collation="C"), "postgresql")
_SEQUENCE = sa.BigInteger().with_variant(sa.Integer, "sqlite")


def upgrade() -> None:
    """Make them."""
    op.create_table(
        "blob_references",
        sa.Column("digest", _DIGEST, primary_key=True),
        sa.Column("owner", sa.String(16), primary_key=True),
        sa.Column("owner_seq", _SEQUENCE, primary_key=True, autoincrement=False),
    )
    op.create_index("blob_references_by_owner", "blob_references", ["owner", "owner_seq"])
    op.create_table(
        "experiments",
        sa.Column("seq", _SEQUENCE, primary_key=True, autoincrement=True),
        sa.Column("id", _ID, nullable=False, unique=True),
        sa.Column("name", sa.Text, nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("document", sa.JSON, nullable=False),
    )
    op.create_table(
        "tasks",
        sa.Column("digest", _DIGEST, primary_key=True),
        sa.Column("name", sa.Text, nullable=False),
        sa.Column("recorded_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("document", sa.JSON, nullable=False),
    )
    op.create_table(
        "runs",
        sa.Column("seq", _SEQUENCE, primary_key=True, autoincrement=True),
        sa.Column("id", _ID, nullable=False, unique=True),
        sa.Column("experiment_id", _ID, sa.ForeignKey("experiments.id")),
        sa.Column("task_name", sa.Text, nullable=False),
        sa.Column("task_digest", _DIGEST, nullable=False),
        sa.Column("agent", sa.Text, nullable=False),
        sa.Column("agent_type", sa.Text, nullable=False),
        sa.Column("agent_digest", _DIGEST, nullable=False),
        sa.Column("model", sa.Text),
        sa.Column("trial", sa.Integer, nullable=False),
        sa.Column("status", sa.String(32), nullable=False),
        sa.Column("outcome", sa.String(32)),
        sa.Column("starts", sa.Integer, nullable=False),
        sa.Column("started_at", sa.DateTime(timezone=True)),
        sa.Column("ended_at", sa.DateTime(timezone=True)),
        sa.Column("wall_s", sa.Float),
        sa.Column("cost_usd", sa.Float),
        sa.Column("input_tokens", sa.BigInteger),
        sa.Column("output_tokens", sa.BigInteger),
        sa.Column("cache_read_tokens", sa.BigInteger),
        sa.Column("cache_write_tokens", sa.BigInteger),
        sa.Column("total_tokens", sa.BigInteger),
        sa.Column("tool_calls", sa.BigInteger),
        sa.Column("current_evaluation", _SEQUENCE),
        sa.Column("digest", _DIGEST, nullable=False),
        sa.Column("document", sa.JSON, nullable=False),
    )
    op.create_index("runs_by_agent", "runs", ["agent", "model", "seq"])
    op.create_index("runs_by_experiment", "runs", ["experiment_id", "seq"])
    op.create_index("runs_by_status", "runs", ["status", "seq"])
    op.create_index("runs_by_task", "runs", ["task_name", "seq"])
    op.create_table(
        "evaluations",
        sa.Column("seq", _SEQUENCE, primary_key=True, autoincrement=True),
        sa.Column("id", _ID, nullable=False, unique=True),
        sa.Column("run_seq", _SEQUENCE, sa.ForeignKey("runs.seq"), nullable=False),
        sa.Column("task_digest", _DIGEST, sa.ForeignKey("tasks.digest"), nullable=False),
        sa.Column("objective", sa.String(8), nullable=False),
        sa.Column("judge", sa.String(8), nullable=False),
        sa.Column("run_gate", sa.String(8), nullable=False),
        sa.Column("score", sa.Float),
        sa.Column("mean_score", sa.Float),
        sa.Column("reward", sa.Float),
        sa.Column("integrity", sa.String(16), nullable=False),
        sa.Column("failure_mode", sa.Text),
        sa.Column("recipe_digest", _DIGEST, nullable=False),
        sa.Column("change_digest", _DIGEST),
        sa.Column("started_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("duration_s", sa.Float, nullable=False),
        sa.Column("evidence", sa.JSON),
        sa.Column("digest", _DIGEST, nullable=False),
        sa.Column("document", sa.JSON, nullable=False),
    )
    op.create_index("evaluations_by_objective", "evaluations", ["objective", "run_seq"])
    op.create_index("evaluations_by_run", "evaluations", ["run_seq"])
    op.create_table(
        "tags",
        sa.Column("run_seq", _SEQUENCE, sa.ForeignKey("runs.seq"), primary_key=True, autoincrement=False),
        sa.Column("key", sa.Text, primary_key=True),
        sa.Column("value", sa.Text, nullable=False),
    )
    op.create_index("tags_by_value", "tags", ["key", "value"])
    op.create_table(
        "annotations",
        sa.Column("seq", _SEQUENCE, primary_key=True, autoincrement=True),
        sa.Column("evaluation_seq", _SEQUENCE, sa.ForeignKey("evaluations.seq"), nullable=False),
        sa.Column("reviewer_id", sa.Text, nullable=False),
        sa.Column("judgment", sa.String(16), nullable=False),
        sa.Column("annotated_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("document", sa.JSON, nullable=False),
    )
    op.create_index("annotations_by_evaluation", "annotations", ["evaluation_seq"])
    op.create_table(
        "judgements",
        sa.Column(
            "evaluation_seq",
            _SEQUENCE,
            sa.ForeignKey("evaluations.seq"),
            primary_key=True,
            autoincrement=False,
        ),
        sa.Column("position", sa.Integer, primary_key=True, autoincrement=False),
        sa.Column("model", sa.Text),
        sa.Column("verdict", sa.Text),
        sa.Column("failure_mode", sa.Text),
        sa.Column("document", sa.JSON, nullable=False),
    )
    op.create_table(
        "scorer_results",
        sa.Column(
            "evaluation_seq",
            _SEQUENCE,
            sa.ForeignKey("evaluations.seq"),
            primary_key=True,
            autoincrement=False,
        ),
        sa.Column("position", sa.Integer, primary_key=True, autoincrement=False),
        sa.Column("name", sa.Text, nullable=False),
        sa.Column("type", sa.Text, nullable=False),
        sa.Column("verdict", sa.String(8), nullable=False),
        sa.Column("score", sa.Float),
        sa.Column("required", sa.Boolean, nullable=False),
        sa.Column("gate", sa.Boolean, nullable=False),
        sa.Column("weight", sa.Float, nullable=False),
        sa.Column("counted", sa.Boolean, nullable=False),
        sa.Column("duration_s", sa.Float, nullable=False),
        sa.Column("version", sa.Text, nullable=False),
        sa.Column("config_digest", _DIGEST, nullable=False),
        sa.Column("document", sa.JSON, nullable=False),
    )
    op.create_table(
        "test_results",
        sa.Column(
            "evaluation_seq",
            _SEQUENCE,
            sa.ForeignKey("evaluations.seq"),
            primary_key=True,
            autoincrement=False,
        ),
        sa.Column("position", sa.Integer, primary_key=True, autoincrement=False),
        sa.Column("request_digest", _DIGEST, nullable=False),
        sa.Column("test_id", sa.Text, nullable=False),
        sa.Column("outcome", sa.String(16), nullable=False),
        sa.Column("proof", sa.String(16)),
        sa.Column("duration_s", sa.Float),
    )
