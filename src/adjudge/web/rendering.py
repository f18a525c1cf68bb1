"""Pages from templates.

Everything a template puts out is escaped, and what could reorder or hide text is spelled out, whether or not
the template asks for it: an attempt chose most of what is shown here.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from fastapi import Request
from fastapi.responses import HTMLResponse
from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup, escape

from adjudge.records.score import Verdict
from adjudge.reports.columns import cost, seconds
from adjudge.reports.plain import UNSAFE, spelled
from adjudge.web.access.identity import identity_of
from adjudge.web.static import StaticFiles

__all__ = [
    "NAVIGATION",
    "NOTHING",
    "cell",
    "dict_of",
    "duration",
    "make_environment",
    "measure",
    "money",
    "number",
    "prose",
    "render",
    "render_part",
    "text",
    "tokens",
    "verdict",
    "when",
]

NAVIGATION: tuple[tuple[str, str], ...] = (
    ("Runs", "/runs"),
    ("Experiments", "/experiments"),
    ("Explore", "/explore"),
    ("Review", "/review"),
    ("Scenarios", "/scenarios"),
)
"""What the bar at the top leads to: a title and a path."""

NOTHING = "\N{EN DASH}"
"""What stands where there is no value."""

_TEMPLATES = Path(__file__).parent / "templates"


def make_environment(static: StaticFiles) -> Environment:
    """The templates, with what they can use."""
    environment = Environment(
        loader=FileSystemLoader(_TEMPLATES),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=_shown,
        auto_reload=False,
    )
    environment.filters.update(
        text=text,
        prose=prose,
        money=money,
        tokens=tokens,
        duration=duration,
        when=when,
        number=number,
        verdict=verdict,
        cell=cell,
        measure=measure,
    )
    environment.globals.update(static=static.url, navigation=NAVIGATION, nothing=NOTHING, dict_of=dict_of)
    return environment


def render(
    request: Request,
    template: str,
    status: int = 200,
    headers: Mapping[str, str] | None = None,
    **context: Any,
) -> HTMLResponse:
    """A page."""
    return HTMLResponse(render_part(request, template, **context), status, headers)


def render_part(request: Request, template: str, **context: Any) -> str:
    """A page, or part of one, as text."""
    identity = identity_of(request)
    environment: Environment = request.app.state.templates
    return environment.get_template(template).render(
        user=identity.user if identity is not None else None,
        csrf=identity.csrf if identity is not None else "",
        signed_in=identity is not None and identity.by == "session",
        path=request.url.path,
        **context,
    )


def _shown(value: Any) -> Any:
    """What a template puts out, before it is escaped."""
    if value is None:
        return ""
    return plain_text(value) if isinstance(value, str) and not isinstance(value, Markup) else value


def plain_text(value: str) -> str:
    """Text in which everything but line ends and tabs that could move or hide other text is spelled out."""
    return UNSAFE.sub(lambda match: match[0] if match[0] in "\n\t" else spelled(match), value)


def text(value: object) -> Markup:
    """Text of an attempt, whose spelled-out characters can be told from those it wrote itself."""
    given = str(value).replace("\r\n", "\n")
    parts: list[str] = []
    end = 0
    for match in UNSAFE.finditer(given):
        if match[0] in "\n\t":
            continue
        parts.append(escape(given[end : match.start()]))
        parts.append(f'<span class="spelled">{spelled(match)}</span>')
        end = match.end()
    parts.append(escape(given[end:]))
    return Markup("".join(parts))


def prose(value: str) -> Markup:
    """Our own words, in which backticks mark code."""
    parts = (
        Markup("<code>{}</code>").format(part) if at % 2 else escape(part)
        for at, part in enumerate(value.split("`"))
    )
    return Markup("").join(parts)


def money(value: float | None) -> str:
    """An amount in US dollars."""
    return cost(value) if value is not None else NOTHING


def tokens(value: int | None) -> str:
    """A number of tokens, short."""
    if value is None:
        return NOTHING
    for size, unit in ((1_000_000_000, "G"), (1_000_000, "M"), (1_000, "k")):
        if value >= size:
            return f"{value / size:.1f} {unit}" if value < 100 * size else f"{value // size} {unit}"
    return str(value)


def duration(value: float | None) -> str:
    """A time span."""
    return seconds(value) if value is not None else NOTHING


def when(value: datetime | None) -> Markup | str:
    """A moment, in UTC; scripts show it in the reader's time."""
    if value is None:
        return NOTHING
    moment = value.astimezone(UTC)
    return Markup('<time datetime="{}">{}</time>').format(
        moment.strftime("%Y-%m-%dT%H:%M:%SZ"), moment.strftime("%Y-%m-%d %H:%M")
    )


def number(value: float | None, digits: int = 3) -> str:
    """A score or reward: at most that many decimals; never rounded to 0 or 1 when it is neither."""
    if value is None:
        return NOTHING
    shown = f"{value:.{digits}f}"
    if float(shown) in (0.0, 1.0) and float(shown) != value:
        return repr(value)
    return shown.rstrip("0").rstrip(".") if "." in shown else shown


def cell(value: object) -> Markup | str:
    """A value of a table, whatever it is."""
    if value is None:
        return NOTHING
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, datetime):
        return when(value)
    if isinstance(value, float):
        return f"{value:.4g}" if abs(value) < 1000 else f"{value:,.0f}"
    return f"{value:,}" if isinstance(value, int) else str(value)


def measure(value: float, name: str) -> str:
    """A mean of something that is measured, in its unit."""
    if name == "cost_usd":
        return money(value)
    if name == "wall_s":
        return duration(value)
    return (
        f"{value:,.0f}" if name == "total_tokens" else f"{value:.3f}" if abs(value) < 10 else f"{value:.1f}"
    )


def dict_of(names: Sequence[str], values: Sequence[Any]) -> dict[str, Any]:
    """Values by their names."""
    return dict(zip(names, values, strict=True))


_VERDICTS = frozenset(verdict.value for verdict in Verdict)


def verdict(value: object) -> dict[str, str]:
    """How a verdict is shown: a word, and the class that gives it a colour and a shape."""
    name = "" if value is None else str(getattr(value, "value", value))
    kind = name.lower() if name in _VERDICTS else "none"
    return {"kind": kind, "word": "N/A" if name == "NA" else name or "not graded"}
