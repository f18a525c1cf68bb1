"""What every request has to get past before anything looks at it, and the headers of every response.

Another site in the user's browser can send requests here, under a name that it lets point to this machine
(DNS rebinding) or across sites. The first has the wrong `Host`, the second says so itself: browsers put where
a request comes from into `Origin` and `Sec-Fetch-Site`, which no script can change.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Mapping
from urllib.parse import urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

__all__ = ["HEADERS", "MAX_BODY_BYTES", "Guard", "Hosts", "is_loopback"]

MAX_BODY_BYTES = 4 * 1024 * 1024

HEADERS: Mapping[str, str] = {
    "content-security-policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
        "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
    ),
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    # Not `no-referrer`: browsers would hide where forms come from, too.
    "referrer-policy": "same-origin",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(), geolocation=(), microphone=()",
}

_SAFE = ("GET", "HEAD", "OPTIONS")


def is_loopback(host: str) -> bool:
    """Whether a name or address can only be reached from this machine."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


class Hosts:
    """Under which names the view may be asked for.

    Args:
        bound: The address it listens at.
        names: Further names, such as a proxy's.
    """

    def __init__(self, bound: str, names: tuple[str, ...] = ()) -> None:
        self._names = frozenset(name.lower() for name in (bound, *names))
        self._loopback = is_loopback(bound)

    def __contains__(self, header: str) -> bool:
        host = _host_of(header)
        if host is None:
            return False
        if host in self._names or is_loopback(host):
            return True
        # A page from an address has that address as its origin: only names can be made to point elsewhere.
        return not self._loopback and _is_address(host)


def _is_address(host: str) -> bool:
    try:
        ipaddress.ip_address(host)
    except ValueError:
        return False
    return True


def _host_of(header: str) -> str | None:
    """The host in a `Host` header, without the port; None for what is no such header."""
    if not header or any(character in header for character in "/\\@?# \t"):
        return None
    try:
        split = urlsplit(f"//{header}")
        _ = split.port
    except ValueError:
        return None
    return split.hostname


class Guard:
    """Refuses what comes from other sites or under other names, and bodies that are too large."""

    def __init__(self, app: ASGIApp, hosts: Hosts, *, https: bool) -> None:
        self._app = app
        self._hosts = hosts
        self._schemes = ("https",) if https else ("http",)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Look at a request, and pass it on when nothing is wrong with it."""
        if scope["type"] != "http":
            if scope["type"] == "lifespan":
                await self._app(scope, receive, send)
            return

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in HEADERS.items():
                    headers[name] = value
                headers.setdefault("cache-control", "no-store")
            await send(message)

        refused = self._refusal(scope)
        if refused is not None:
            await PlainTextResponse(f"{refused[1]}\n", refused[0])(scope, receive, send_with_headers)
            return
        await self._app(scope, _bounded(receive), send_with_headers)

    def _refusal(self, scope: Scope) -> tuple[int, str] | None:
        headers = Headers(scope=scope)
        hosts = headers.getlist("host")
        if len(hosts) != 1 or hosts[0] not in self._hosts:
            return 421, "this is not served under that host name"
        origin = headers.get("origin")
        if origin is not None and not self._is_own(origin, hosts[0]):
            return 403, "requests from other sites are refused"
        site = headers.get("sec-fetch-site", "none")
        if site not in ("none", "same-origin") and not _is_followed_link(scope, headers):
            return 403, "requests from other sites are refused"
        length = headers.get("content-length", "0")
        if not length.isascii() or not length.isdigit() or int(length[:12]) > MAX_BODY_BYTES:
            return 413, f"at most {MAX_BODY_BYTES} bytes are taken"
        return None

    def _is_own(self, origin: str, host: str) -> bool:
        scheme, separator, rest = origin.partition("://")
        return bool(separator) and scheme in self._schemes and rest.lower() == host.lower()


def _is_followed_link(scope: Scope, headers: Headers) -> bool:
    """Whether somebody followed a link to a page: nothing of it can be read by where the link was."""
    return (
        scope["method"] in _SAFE
        and not scope["path"].startswith("/api/")
        and headers.get("sec-fetch-mode") == "navigate"
        and headers.get("sec-fetch-dest") == "document"
    )


def _bounded(receive: Receive) -> Receive:
    """A body that ends when it grows too large, whatever its length was said to be."""
    seen = 0

    async def bounded() -> Message:
        nonlocal seen
        message = await receive()
        if message["type"] == "http.request":
            seen += len(message.get("body", b""))
            if seen > MAX_BODY_BYTES:
                return {"type": "http.disconnect"}
        return message

    return bounded
