"""Write the generated parts of the pages on SQL: the analyses, and the public tables as their YAML describes them.

python -m biasledger.querying.page docs/sql.md docs/tables.md
"""

from __future__ import annotations

import argparse
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import groupby
from pathlib import Path

from biasledger.querying.analyses import list_analyses
from biasledger.querying.tables import SHARED, Column, DescribedTable, described_tables

_MANY = 3
"""The page describes a column once, above the tables, if at least this many tables describe it alike."""
_SHARED_COLUMNS = ""
"""Stands for the shared columns among the tables that describe a column."""
_TYPES = {"^(is|has|can)_": {"boolean"}, "_at$": {"timestamp"}}
"""Types that the page leaves out, by names of columns."""
_USUAL_TYPES = {"varchar", "double", "integer", "bigint"}
"""Types that the page leaves out of other columns."""
_PART = re.compile(
    r"(?P<begin><!-- (?P<name>analyses|tables) -->\n).*?(?P<end><!-- end of (?P=name) -->)", re.DOTALL
)


def with_generated_parts(page: str) -> str:
    """Return the page with new text between `<!-- analyses -->` or `<!-- tables -->` and the end marker."""
    parts = {"analyses": "\n".join(_analyses()), "tables": "\n".join(_tables())}
    return _PART.sub(lambda part: f"{part['begin']}\n{parts[part['name']]}\n{part['end']}", page)


def _analyses() -> Iterator[str]:
    for method, analyses in groupby(list_analyses(None), key=lambda analysis: analysis.method):
        yield f"{method.capitalize() if method else 'All methods'}:"
        yield ""
        for analysis in analyses:
            yield f"- `{analysis.name}`: {analysis.question}"
        yield ""


def _tables() -> Iterator[str]:
    yield "## Shared columns"
    yield ""
    shared = _shared_columns()
    yield from _columns(sorted(shared.values(), key=lambda column: column.name))
    first: dict[tuple[Column, ...], str] = {}
    for method, tables in _by_method():
        yield f"## {'All methods' if method == SHARED else method.capitalize()}"
        yield ""
        described = dict.fromkeys(shared.values(), _SHARED_COLUMNS)
        for table in tables:
            yield from _table(table, described, like=first.setdefault(table.columns, table.name))


def _by_method() -> Iterator[tuple[str, list[DescribedTable]]]:
    for method, tables in groupby(described_tables(), key=lambda table: table.method):
        yield method, list(tables)


def _shared_columns() -> dict[str, Column]:
    """Return the columns that many tables describe alike, by name; tables with the same columns count once."""
    tables = dict.fromkeys(table.columns for table in described_tables())
    uses = Counter(column for columns in tables for column in columns)
    # The most frequent description of a name comes last and wins.
    return {column.name: column for column, n in reversed(uses.most_common()) if n >= _MANY}


def _table(table: DescribedTable, described: dict[Column, str], like: str) -> Iterator[str]:
    """Describe a table, refer to the columns that are described above, and add its own ones to them."""
    yield f"### `{table.name}`"
    yield ""
    yield f"Key: {', '.join(f'`{name}`' for name in table.key)}. {table.description}".rstrip()
    yield ""
    if like != table.name:
        yield f"Columns: those of [`{like}`](#{like})."
        yield ""
        return
    own = [column for column in table.columns if described.setdefault(column, table.name) == table.name]
    above: dict[str, list[str]] = {_SHARED_COLUMNS: []}
    for column in table.columns:
        place = described[column]
        if place != table.name and not (place == _SHARED_COLUMNS and column.name in table.key):
            above.setdefault(place, []).append(f"`{column.name}`")
    references = [
        f"{f'As in [`{place}`](#{place})' if place else '[Shared](#shared-columns)'}: {', '.join(names)}"
        for place, names in above.items()
        if names
    ]
    if references:
        yield ". ".join(references)
        yield ""
    if own:
        yield from _columns(own)


def _columns(columns: Iterable[Column]) -> Iterator[str]:
    """Describe columns, those with one description that follow each other together."""
    for (type_, description), alike in groupby(columns, key=lambda one: (_type(one), one.description)):
        names = ", ".join(f"`{column.name}`" for column in alike)
        yield f"- {names}{type_}: {description}"
    yield ""


def _type(column: Column) -> str:
    """Return the column's type in brackets, nothing if it is usual (see the head of the page)."""
    usual = next((usual for name, usual in _TYPES.items() if re.search(name, column.name)), _USUAL_TYPES)
    return "" if column.data_type in usual else f" ({column.data_type})"


def main() -> None:
    """Write the generated parts of pages."""
    parser = argparse.ArgumentParser(prog="python -m biasledger.querying.page", description=main.__doc__)
    parser.add_argument("pages", type=Path, nargs="+", help="docs/sql.md docs/tables.md")
    for path in parser.parse_args().pages:
        path.write_text(with_generated_parts(path.read_text(encoding="utf-8")), encoding="utf-8")


if __name__ == "__main__":
    main()
