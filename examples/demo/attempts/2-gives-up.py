"""An honest failure: leaves a note and changes nothing that matters."""

from pathlib import Path

source = Path("slugs.py")
source.write_text(source.read_text() + "\n# TODO: collapse doubled hyphens\n")
