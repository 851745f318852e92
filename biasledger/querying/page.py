"""Write the generated parts of the pages on SQL: the analyses, and the public tables as their YAML describes them.

python -m biasledger.querying.page docs/sql.md docs/tables.md
"""

from __future__ import annotations

import argparse
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from itertools import groupby
from pathlib import Path

from biasledger.querying.analyses import list_analyses
from biasledger.querying.tables import SHARED, Column, DescribedTable, described_tables

_MANY = 4
"""The page describes a column once, above the tables, if at least this many tables describe it alike."""
_PART = re.compile(
    r"(?P<begin><!-- (?P<name>analyses|tables) -->\n).*?(?P<end><!-- end of (?P=name) -->)", re.DOTALL
)


def with_generated_parts(page: str) -> str:
    """Return the page with new text between `<!-- analyses -->` or `<!-- tables -->` and the end marker."""
    parts = {"analyses": "\n".join(_analyses()), "tables": "\n".join(_tables())}
    return _PART.sub(lambda part: f"{part['begin']}\n{parts[part['name']]}\n{part['end']}", page)


def _analyses() -> Iterator[str]:
    yield "| analysis | of | what it answers |"
    yield "|---|---|---|"
    for analysis in list_analyses(None):
        yield f"| `{analysis.name}` | {analysis.method or 'all'} | {_cell(analysis.question)} |"
    yield ""


def _tables() -> Iterator[str]:
    for method, tables in _by_method():
        names = ", ".join(f"[`{table.name}`](#{table.name})" for table in tables)
        yield f"- {'all methods' if method == SHARED else method}: {names}"
    yield ""
    yield "## Columns of many tables"
    yield ""
    shared = _shared_columns()
    yield from _columns(sorted(shared.values(), key=lambda column: column.name))
    first: dict[tuple[Column, ...], str] = {}
    for method, tables in _by_method():
        yield f"## {'All methods' if method == SHARED else method.capitalize()}"
        yield ""
        for table in tables:
            yield from _table(table, shared, like=first.setdefault(table.columns, table.name))


def _by_method() -> Iterator[tuple[str, list[DescribedTable]]]:
    for method, tables in groupby(described_tables(), key=lambda table: table.method):
        yield method, list(tables)


def _shared_columns() -> dict[str, Column]:
    """Return the columns that many tables describe alike, by name."""
    uses = Counter(column for table in described_tables() for column in table.columns)
    # The most frequent description of a name comes last and wins.
    return {column.name: column for column, n in reversed(uses.most_common()) if n >= _MANY}


def _table(table: DescribedTable, shared: Mapping[str, Column], like: str) -> Iterator[str]:
    yield f"### `{table.name}`"
    yield ""
    grain = table.grain.replace(" × ", ", ")
    yield f"One row per {grain}. {table.description}".rstrip()
    yield ""
    yield f"Key: {', '.join(f'`{column}`' for column in table.key)}"
    yield ""
    if like != table.name:
        yield f"Columns: those of [`{like}`](#{like})."
        yield ""
        return
    described_above = [column.name for column in table.columns if shared.get(column.name) == column]
    if described_above:
        yield f"[Described above](#columns-of-many-tables): {', '.join(f'`{name}`' for name in described_above)}"
        yield ""
    yield from _columns([column for column in table.columns if column.name not in described_above])


def _columns(columns: Iterable[Column]) -> Iterator[str]:
    for column in columns:
        yield f"- `{column.name}` ({column.data_type}): {column.description}"
    yield ""


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("*", "\\*").replace("<", "&lt;")


def main() -> None:
    """Write the generated parts of pages."""
    parser = argparse.ArgumentParser(prog="python -m biasledger.querying.page", description=main.__doc__)
    parser.add_argument("pages", type=Path, nargs="+", help="docs/sql.md docs/tables.md")
    for path in parser.parse_args().pages:
        path.write_text(with_generated_parts(path.read_text(encoding="utf-8")), encoding="utf-8")


if __name__ == "__main__":
    main()
