"""How a database comes from one shape to the next. The revisions are in `versions`, each never edited again.

Alembic is loaded only when a database is not in the newest shape: reading the number costs a query.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from alembic.config import Config
from alembic.runtime.environment import EnvironmentContext
from alembic.script import ScriptDirectory
from sqlalchemy import Connection

from adjudge.store.schema import metadata

__all__ = ["known_revisions", "upgrade"]


def _scripts() -> ScriptDirectory:
    return ScriptDirectory(str(Path(__file__).parent))


def known_revisions() -> list[str]:
    """Every revision, oldest first."""
    return [script.revision for script in _scripts().walk_revisions()][::-1]


def upgrade(connection: Connection) -> None:
    """Bring a database to the newest shape, inside the transaction of its connection."""
    scripts = _scripts()

    def steps(revision: Any, context: Any) -> Any:
        return scripts._upgrade_revs("head", revision)

    with EnvironmentContext(Config(), scripts, fn=steps) as environment:
        environment.configure(connection=connection, target_metadata=metadata)
        environment.run_migrations()
