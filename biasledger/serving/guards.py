"""Checks on every request, and headers that restrict every page."""

from __future__ import annotations

from starlette.datastructures import Headers, MutableHeaders
from starlette.middleware import Middleware
from starlette.middleware.trustedhost import TrustedHostMiddleware
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

HOST = "127.0.0.1"
# Another name in the Host header is one that somebody else's name server made point here.
_HOSTS = (HOST, "localhost")
_POLICY = {
    "default-src": "'none'",
    "script-src": "'self'",
    "style-src": "'self'",
    "img-src": "data:",
    "connect-src": "'self'",
    "form-action": "'self'",
    "base-uri": "'none'",
    "frame-ancestors": "'none'",
}
_HEADERS = {
    "Content-Security-Policy": "; ".join(f"{name} {value}" for name, value in _POLICY.items()),
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
}


class Closed:
    """Refuses what another site's page asks for, but a link that a person follows, and sets the headers of every answer."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle a request as ASGI has it."""

        async def send_closed(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                headers.update(_HEADERS)
                # Answers of models stay in no cache, and no old build is shown for a new one.
                headers.setdefault("Cache-Control", "no-store")
            await send(message)

        if scope["type"] == "http" and _is_foreign(scope["method"], Headers(scope=scope)):
            refused = PlainTextResponse("Another site's page asked for this: open it by its address.\n", 403)
            await refused(scope, receive, send_closed)
        else:
            await self._app(scope, receive, send_closed)


def guards() -> list[Middleware]:
    """The outermost first: headers also on what is refused."""
    return [
        Middleware(Closed),
        Middleware(TrustedHostMiddleware, allowed_hosts=_HOSTS, www_redirect=False),
    ]


def _is_foreign(method: str, headers: Headers) -> bool:
    """Whether a browser says that a page of another site asks; programs say nothing, and people follow links to whole pages."""
    is_whole_page = (
        headers.get("sec-fetch-mode") == "navigate" and headers.get("sec-fetch-dest") == "document"
    )
    is_link = method in {"GET", "HEAD"} and is_whole_page
    return comes_from_elsewhere(headers) and not is_link


def comes_from_elsewhere(headers: Headers) -> bool:
    """Whether a page of another site led here, by what a browser says."""
    return headers.get("sec-fetch-site", "none") not in {"none", "same-origin"}
