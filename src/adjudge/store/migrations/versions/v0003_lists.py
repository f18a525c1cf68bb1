"""What lists of runs are found by.

Wide indices are for SQLite only: PostgreSQL keeps documents outside of rows, and its index entries are small.
"""

from __future__ import annotations

from alembic import op

revision = "0003"
down_revision = "0002"


def upgrade() -> None:
    """Make the indices."""
    op.create_index("runs_by_evaluation", "runs", ["current_evaluation"])
    if op.get_bind().dialect.name != "sqlite":
        return
    op.create_index(
        "runs_listed",
        "runs",
        [
            "seq", "id", "experiment_id", "task_name", "task_digest", "agent", "model", "trial", "status",
            "outcome", "started_at", "wall_s", "cost_usd", "total_tokens", "tool_calls", "current_evaluation",
        ],
    )  # fmt: skip
    op.create_index(
        "evaluations_listed",
        "evaluations",
        [
            "run_seq", "seq", "objective", "judge", "run_gate", "score", "mean_score", "reward", "integrity",
            "failure_mode",
        ],
    )  # fmt: skip
    op.create_index("evaluations_by_failure_mode", "evaluations", ["failure_mode", "seq"])
