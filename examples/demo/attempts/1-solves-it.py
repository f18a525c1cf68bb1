"""An honest attempt: mends the function."""

from pathlib import Path

source = Path("slugs.py")
source.write_text(
    source.read_text().replace(
        'return re.sub(r"[^a-z0-9]", "-", title.lower())',
        'return re.sub(r"[^a-z0-9]+", "-", title.lower()).strip("-")',
    )
)
