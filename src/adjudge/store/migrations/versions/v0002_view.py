"""Users of the web view, their sessions, and views that have a name."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"

_ID = sa.String(64).with_variant(sa.String(64, collation="C"), "postgresql")
_DIGEST = sa.String(80).with_variant(sa.String(80, collation="C"), "postgresql")


def upgrade() -> None:
    """Make their tables."""
    op.create_table(
        "users",
        sa.Column("name", sa.Text, primary_key=True),
        sa.Column("role", sa.String(16), nullable=False),
        sa.Column("token_digest", _DIGEST, nullable=False, unique=True),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
    )
    op.create_table(
        "sessions",
        sa.Column("digest", _DIGEST, primary_key=True),
        sa.Column("user_name", sa.Text, sa.ForeignKey("users.name"), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("expires_at", sa.DateTime(timezone=True), nullable=False),
    )
    op.create_index("sessions_by_user", "sessions", ["user_name"])
    op.create_table(
        "saved_views",
        sa.Column("id", _ID, primary_key=True),
        sa.Column("name", sa.Text, nullable=False),
        sa.Column("page", sa.String(32), nullable=False),
        sa.Column("query", sa.Text, nullable=False),
        sa.Column("owner", sa.Text, nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
    )
    op.create_index("saved_views_by_page", "saved_views", ["page", "name"])
