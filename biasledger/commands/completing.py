"""Shell completion beyond commands and options: ids of runs and findings, and names of analyses.

A shell asks at every press of a key, so a file that cannot be read at once gives no completions.
"""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from click.shell_completion import CompletionItem

from collector.errors import BiasledgerError
from collector.terminal import on_one_line

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    import click

_MOST = 200
_ID_CHARACTERS = 10
_WORDS = {"latest": "the latest that was finished", "previous": "the one before it"}


def complete_runs(ctx: click.Context, _parameter: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Return ids of the ledger's runs and journals, the latest first, and the words that stand for some."""
    from collector.ledger.overview import list_runs

    known: dict[str, str] = {}
    with suppress(BiasledgerError, OSError):
        listed, _ = list_runs(_file(ctx, "ledger", "BIASLEDGER_LEDGER"), wait_seconds=0)
        known = {one.run_id: f"{one.audit}, target {one.target}" for one in reversed(listed)}
    return _items(incomplete, (_WORDS | known).items())


def complete_findings(
    ctx: click.Context, _parameter: click.Parameter, incomplete: str
) -> list[CompletionItem]:
    """Beginnings of the warehouse's findings, what needs a decision first."""
    return _items(incomplete, _findings(_file(ctx, "warehouse", "BIASLEDGER_WAREHOUSE")))


def complete_analyses(
    _ctx: click.Context, _parameter: click.Parameter, incomplete: str
) -> list[CompletionItem]:
    """Return names of the shipped analyses."""
    from biasledger.querying.analyses import list_analyses

    return _items(incomplete, ((one.name, one.question) for one in list_analyses()))


def _findings(warehouse: Path) -> Iterator[tuple[str, str]]:
    import duckdb

    from biasledger.findings import select_findings
    from biasledger.opening import connect_read_only

    columns = (
        f"left(finding_id, {_ID_CHARACTERS}), concat_ws(' ', status, measure, attribute, group_name, subject)"
    )
    with suppress(BiasledgerError, OSError, duckdb.Error), connect_read_only(warehouse) as connection:
        yield from select_findings(connection, warehouse, columns=columns).fetchall()


def _file(ctx: click.Context, option: str, variable: str) -> Path:
    """Return the file that is given, or else would be read."""
    return Path(ctx.params.get(option) or os.environ.get(variable) or f"{option}.duckdb")


def _items(incomplete: str, known: Iterable[tuple[str, str]]) -> list[CompletionItem]:
    fitting = [(word, message) for word, message in known if word.startswith(incomplete)]
    return [CompletionItem(word, help=on_one_line(message)) for word, message in fitting[:_MOST]]
