"""Writes the generated parts of the pages on SQL: the analyses, and every public table as its YAML describes it.

python -m biasledger.querying.page docs/sql.md docs/tables.md
"""

from __future__ import annotations

import argparse
import re
from collections.abc import Iterator
from itertools import groupby
from pathlib import Path

from biasledger.querying.analyses import list_analyses
from biasledger.querying.tables import SHARED, Column, DescribedTable, described_tables

_PART = re.compile(
    r"(?P<begin><!-- (?P<name>analyses|tables) -->\n).*?(?P<end><!-- end of (?P=name) -->)", re.DOTALL
)


def with_generated_parts(page: str) -> str:
    """Return the page with the part between `<!-- analyses -->` or `<!-- tables -->` and its end rewritten."""
    parts = {"analyses": "\n".join(_analyses()), "tables": "\n".join(_tables())}
    return _PART.sub(lambda part: f"{part['begin']}\n{parts[part['name']]}\n{part['end']}", page)


def _analyses() -> Iterator[str]:
    yield "| analysis | of | what it answers |"
    yield "|---|---|---|"
    for analysis in list_analyses(None):
        yield f"| `{analysis.name}` | {analysis.method or 'all'} | {_cell(analysis.question)} |"
    yield ""


def _tables() -> Iterator[str]:
    yield "| table | of | one row a |"
    yield "|---|---|---|"
    for table in described_tables():
        yield f"| [`{table.name}`](#{table.name}) | {_of(table.method)} | {_cell(table.grain)} |"
    yield ""
    first: dict[tuple[Column, ...], str] = {}
    for method, tables in groupby(described_tables(), key=lambda table: table.method):
        yield f"## {'What all methods share' if method == SHARED else method.capitalize()}"
        yield ""
        for table in tables:
            yield from _table(table, like=first.setdefault(table.columns, table.name))


def _of(method: str) -> str:
    return "all" if method == SHARED else method


def _table(table: DescribedTable, like: str) -> Iterator[str]:
    yield f"### `{table.name}`"
    yield ""
    yield f"One row a {table.grain}. {table.description}".rstrip()
    yield ""
    yield f"Key: {', '.join(f'`{column}`' for column in table.key)}"
    yield ""
    if like != table.name:
        yield f"Its columns are those of [`{like}`](#{like})."
        yield ""
        return
    yield "| column | type | meaning |"
    yield "|---|---|---|"
    for column in table.columns:
        yield _column(column)
    yield ""


def _column(column: Column) -> str:
    return f"| `{column.name}` | {column.data_type} | {_cell(column.description)} |"


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("*", "\\*").replace("<", "&lt;")


def main() -> None:
    """Rewrite the generated parts of pages."""
    parser = argparse.ArgumentParser(prog="python -m biasledger.querying.page", description=main.__doc__)
    parser.add_argument("pages", type=Path, nargs="+", help="docs/sql.md docs/tables.md")
    for path in parser.parse_args().pages:
        path.write_text(with_generated_parts(path.read_text(encoding="utf-8")), encoding="utf-8")


if __name__ == "__main__":
    main()
