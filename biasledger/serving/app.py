"""The pages as an application: which address shows which view, and errors as pages of one sentence."""

from __future__ import annotations

import asyncio
import io
import secrets
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache, partial
from importlib.resources import files
from pathlib import Path
from typing import Any

import duckdb
from jinja2 import Environment
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, RedirectResponse, Response
from starlette.routing import Route

from biasledger.explaining.output import judgement_lines
from biasledger.numbers import percent, probability
from biasledger.querying.formats import json_value, write_csv, write_json
from biasledger.querying.statements import Result
from biasledger.reporting.drawing import drawings
from biasledger.reporting.picture import interval
from biasledger.reporting.templating import environment_of
from biasledger.serving import comparison, findings, grading, one_finding, pairs, queries
from biasledger.serving.asked import Asked, Labeller, Served, link
from biasledger.serving.builds import build_of
from biasledger.serving.guards import comes_from_elsewhere, guards
from biasledger.serving.labelling import keep_form
from collector.errors import BiasledgerError, InputError

_Read = Callable[[Served, Asked], Mapping[str, Any]]


@dataclass(frozen=True)
class _View:
    """A kind of page: its address, what it is called in the bar of views (nothing where it is not in it), its template."""

    path: str
    name: str
    template: str
    read: _Read
    needs_labeller: bool = False


_VIEWS = (
    _View("/findings", "Findings", "findings", findings.page),
    _View("/finding/{finding}", "", "finding", one_finding.page),
    _View("/pairs", "Pairs", "pairs", pairs.page),
    _View("/compare", "Compare", "compare", comparison.page),
    _View("/sql", "SQL", "sql", queries.page),
    _View("/grade", "Grade", "grade", grading.page, needs_labeller=True),
)
_DOWNLOADS: Mapping[str, tuple[Callable[[Served, Asked], Result], Callable[[Result, Any], None], str]] = {
    "/findings.csv": (findings.download, write_csv, "text/csv"),
    "/sql.csv": (queries.download_inert, write_csv, "text/csv"),
    "/sql.json": (queries.download, write_json, "application/json"),
}
_ASSETS = {
    "report.css": "biasledger.reporting",
    "charts.js": "biasledger.reporting",
    "explorer.css": "biasledger.serving",
    "explorer.js": "biasledger.serving",
}
_KINDS = {".css": "text/css", ".js": "text/javascript"}
# A build that replaces the file while it is opened is waited for.
_TRIES, _PAUSE = 4, 0.25
_FORM_BYTES, _FORM_SECONDS = 100_000, 30


@dataclass(frozen=True)
class _Pages:
    """The views of one warehouse as endpoints."""

    served: Served

    def shown(self, view: _View) -> Callable[[Request], Response]:
        def answer(asked: Asked) -> Response:
            return self._page(view.template, 200, asked, _patient(lambda: view.read(self.served, asked)))

        return self._endpoint(answer)

    def downloaded(self, path: str) -> Callable[[Request], Response]:
        make, write, kind = _DOWNLOADS[path]

        def answer(asked: Asked) -> Response:
            text = io.StringIO()
            write(_patient(lambda: make(self.served, asked)), text)
            headers = {"Content-Disposition": f'attachment; filename="biasledger-{path.strip("/")}"'}
            return Response(text.getvalue(), media_type=kind, headers=headers)

        return self._endpoint(answer)

    def _endpoint(self, answer: Callable[[Asked], Response]) -> Callable[[Request], Response]:
        """The same for a request, with a page of one sentence for every error."""

        def endpoint(request: Request) -> Response:
            values = {**request.query_params, **request.path_params}
            asked = Asked(values, request.url.path, comes_from_elsewhere(request.headers))
            try:
                return answer(asked)
            except Exception as error:  # noqa: BLE001 (the last place where a fault can become a sentence)
                return self._failed(asked, error)

        return endpoint

    async def labelled(self, request: Request) -> Response:
        """Keep the label that a form gives, and show the page again that it stood on."""
        body = bytearray()
        try:
            async with asyncio.timeout(_FORM_SECONDS):
                async for part in request.stream():
                    body += part
                    if len(body) > _FORM_BYTES:
                        raise InputError(
                            f"The form has more than {_FORM_BYTES:,} bytes, which is the limit here."
                        )
            return RedirectResponse(await run_in_threadpool(keep_form, self.served, bytes(body)), 303)
        except TimeoutError:
            sentence = f"The form did not end within {_FORM_SECONDS} seconds: send it again."
            return self._error(400, Asked({}, request.url.path), sentence)
        except Exception as error:  # noqa: BLE001 (the last place where a fault can become a sentence)
            return self._failed(Asked({}, request.url.path), error)

    def build(self, _request: Request) -> Response:
        """Which build is published now, for pages that are open."""
        try:
            return JSONResponse({"build": _patient(lambda: build_of(self.served.warehouse)).key})
        except Exception as error:  # noqa: BLE001 (pages that are open ask on, whatever it is)
            return JSONResponse({"error": str(error) or type(error).__name__}, 503)

    def refused(self, request: Request, error: Exception) -> Response:
        """Answer requests that Starlette itself refuses: an unknown address, another method."""
        status = error.status_code if isinstance(error, HTTPException) else 500
        sentence = "There is no such page." if status == 404 else "Pages here are only read: ask with GET."
        return self._error(status, Asked({}, request.url.path), sentence)

    def _failed(self, asked: Asked, error: Exception) -> Response:
        if isinstance(error, InputError):
            return self._error(404 if asked.path.startswith("/finding/") else 400, asked, str(error))
        if isinstance(error, BiasledgerError):
            return self._error(503, asked, str(error))
        if isinstance(error, duckdb.BinderException | duckdb.CatalogException):
            sentence = (
                "The warehouse lacks what this page reads: another version built it; run `biasledger build`."
            )
            return self._error(503, asked, sentence)
        return self._error(500, asked, f"Unexpected {type(error).__name__}: {error}")

    def _error(self, status: int, asked: Asked, sentence: str) -> Response:
        return self._page("error", status, asked, {"sentence": sentence})

    def _page(self, template: str, status: int, asked: Asked, values: Mapping[str, Any]) -> Response:
        shown = _environment().get_template(f"{template}.html.j2")
        text = shown.render(asked=asked, views=_VIEWS, served=self.served, **{"build": None, **values})
        return HTMLResponse(text, status)


def make_app(warehouse: Path, ledger: Path, label_as: str = "") -> Starlette:
    """The application that shows a warehouse; it reopens the files for each page, and writes only labels in that name."""
    labeller = Labeller(label_as, secrets.token_urlsafe()) if label_as else None
    pages = _Pages(Served(warehouse, ledger, labeller))
    routes = [
        Route("/", lambda _: RedirectResponse("/findings"), methods=["GET"]),
        Route("/build", pages.build, methods=["GET"]),
        Route("/assets/{name}", _asset, methods=["GET"]),
        *(Route(path, pages.downloaded(path), methods=["GET"]) for path in _DOWNLOADS),
        *(Route(view.path, pages.shown(view), methods=["GET"]) for view in _VIEWS),
        *([Route("/label", pages.labelled, methods=["POST"])] if labeller else ()),
    ]
    return Starlette(
        routes=routes,
        middleware=guards(),
        exception_handlers={HTTPException: pages.refused},
    )


def _patient(read: Callable[[], Any]) -> Any:
    """Return what `read` returns; try again if the file could not be opened, because a build may be replacing it."""
    for _ in range(_TRIES - 1):
        try:
            return read()
        except InputError:
            raise
        except BiasledgerError:
            time.sleep(_PAUSE)
    return read()


def _asset(request: Request) -> Response:
    name = request.path_params["name"]
    if name not in _ASSETS:
        raise HTTPException(404)
    text = (files(_ASSETS[name]) / "templates" / name).read_text("utf-8")
    # Their address holds the version, so a browser need not ask again.
    headers = {"Cache-Control": "private, max-age=86400"}
    return Response(text, media_type=_KINDS[Path(name).suffix], headers=headers)


@cache
def _environment() -> Environment:
    environment = environment_of("biasledger.serving", "biasledger.reporting")
    environment.filters.update(
        drawings=partial(drawings, address="/finding/{}".format),
        json=json_value,
        percent=percent,
        probability=probability,
    )
    environment.globals.update(
        interval=interval,
        link=link,
        change_about=comparison.change_about,
        judgement_lines=judgement_lines,
    )
    return environment
