"""Catalogues of items: what a recommender may choose from, each item with its price level, its categories and its place.

An answer that names items only is read with the prices and categories of a catalogue, and a catalogue's own shares of price
levels are compared with those of an answer.
"""

from __future__ import annotations

import ast
import json
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import duckdb

from collector.answers.recommendations.items import folded_categories, split_categories
from collector.answers.recommendations.prices import DEFAULT_LEVELS, is_price_range, read_price
from collector.errors import InputError
from collector.hashing import READ_BYTES, canonical_json, tagged_hash
from collector.hints import did_you_mean, quoted, shown
from collector.ledger.database import Ledger
from collector.rows import ItemRow, hash_of_items
from collector.tables.source import FORMATS, column_names, read_table

# Role of a column -> its possible names, the first one present counts; case, _, - and spaces do not matter.
ROLES: Mapping[str, tuple[str, ...]] = {
    "name": ("name", "businessname", "itemname", "restaurantname", "item", "business", "restaurant", "title"),
    "price_level": ("pricelevel", "price", "pricerange", "pricetier", "cost"),
    "categories": ("categories", "category", "cuisines", "cuisine", "type", "tags"),
    "city": ("city", "domain"),
    "id": ("id", "itemid", "businessid", "restaurantid"),
    "n_reviews": ("nreviews", "reviewcount"),
}
OPTIONAL_ROLES = ("city", "id", "n_reviews")
# A name as the warehouse searches a catalogue for it (the macro catalogue_name). DuckDB folds it here too, so that two items
# here are two items there, whatever the letters.
FOLDED_NAME = (
    "coalesce(nullif(trim(regexp_replace(replace(lower(strip_accents({item})), '&', ' and '), "
    "'[^\\p{{L}}\\p{{N}}]+', ' ', 'g')), ''), lower(trim({item})))"
)

_NO_PRICE = {"", "none", "null", "nan", "n/a", "na", "-", "unknown"}
_CATALOGUE_NAME = re.compile(r"[a-z0-9][a-z0-9_-]*")


@dataclass(frozen=True, slots=True)
class CatalogueSummary:
    """The result of an import.

    Attributes:
        catalogue: its name.
        n_items: how many items.
        n_repeated: rows that repeat an item of the file and were left out.
        price_levels: price level -> number of items; None for those without a price.
        n_domains: how many cities the file names; 0 without that column.
    """

    catalogue: str
    n_items: int
    n_repeated: int
    price_levels: Mapping[int | None, int]
    n_domains: int


def import_items(
    file: Path,
    ledger_path: Path,
    *,
    name: str,
    columns: Mapping[str, str] | None = None,
    levels: int = DEFAULT_LEVELS,
) -> CatalogueSummary:
    """Import a catalogue of items.

    Args:
        file: CSV, TSV, JSON Lines or Parquet with a row for each item: name, price level, categories and, where the catalogue
            has them, city and id.
        ledger_path: the ledger, made if absent; a file that cannot be imported leaves it as it was.
        name: what to call the catalogue; an audit names it in `analysis.prices.catalogue`.
        columns: role (a key of ROLES) -> column, for columns with other names than their role.
        levels: price levels run from 1, the cheapest, to this.

    Returns:
        The result of the import.

    Raises:
        InputError: an argument, a column or a row is wrong, or the catalogue's latest import has the same content.
        LedgerError: the ledger cannot be used.
    """
    if not _CATALOGUE_NAME.fullmatch(name):
        raise InputError(f"A catalogue cannot be called {name!r}; use lower-case letters, digits, - and _.")
    _require_file(file)
    picked = _columns(file, columns or {})
    rows, n_repeated = _items(file, picked, levels)
    ledger = Ledger(ledger_path)
    ledger.create()
    with ledger.append() as append:
        is_new = append.items(name, hash_of_items(rows), rows)
    if not is_new:
        raise InputError(f"{file} holds what the catalogue {name!r} already is; there is nothing to import.")
    return CatalogueSummary(
        catalogue=name,
        n_items=len(rows),
        n_repeated=n_repeated,
        price_levels=Counter(row.price_level for row in rows),
        n_domains=len({row.domain for row in rows} - {None}),
    )


def _require_file(file: Path) -> None:
    """Raise InputError for what is no file of items, before anything speaks of responses."""
    if not file.is_file():
        problem = "is a folder" if file.is_dir() else "is not a file" if file.exists() else "does not exist"
        raise InputError(f"{file} {problem}; name a CSV, TSV, JSON Lines or Parquet file of items.")
    if file.suffix.lower() not in FORMATS:
        raise InputError(
            f"{file}: the ending {file.suffix or '(none)'} belongs to no known format; known: {', '.join(FORMATS)}."
        )
    with file.open("rb") as stream:
        if not stream.read(READ_BYTES).strip():
            raise _no_items(file)


def _no_items(file: Path) -> InputError:
    return InputError(f"{file} has no rows; it should hold one for each item.")


def _columns(file: Path, given: Mapping[str, str]) -> dict[str, str]:
    """Return role -> column: the one given, else the first one that is called after the role."""
    for role in given:
        if role not in ROLES:
            raise InputError(
                f"{role!r} is nothing that a column of a catalogue can be for{did_you_mean(role, ROLES)}"
            )
    known = {plain for names in ROLES.values() for plain in names}
    header = column_names(file, lambda column: column in given.values() or _plain(column) in known)
    if not header:
        raise _no_items(file)
    picked = {}
    for role, names in ROLES.items():
        by_name = {_plain(column): column for column in reversed(header)}
        column = given.get(role) or next((by_name[plain] for plain in names if plain in by_name), None)
        if column is not None:
            picked[role] = column
        elif role not in OPTIONAL_ROLES:
            raise InputError(
                f"{file} has no column {role!r}; its columns are {quoted(header)}: say which one it is with --column "
                f"{role}=COLUMN."
            )
    return picked


def _items(file: Path, columns: Mapping[str, str], levels: int) -> tuple[list[ItemRow], int]:
    """Return the file's items in the order of its rows, and how many rows repeat one."""
    found: list[ItemRow] = []
    rows_of_ids: dict[str, tuple[int, ItemRow]] = {}
    rows_of_names: dict[tuple[str | None, str], tuple[int, ItemRow]] = {}
    n_repeated = 0
    rows = [
        {role: (cell or "").strip() for role, cell in zip(columns, cells, strict=True)}
        for cells in read_table(file, list(columns.values()))
    ]
    keys = zip(
        _transformed([cells.get("city") or None for cells in rows], "lower(item)"),
        folded_names([cells["name"] for cells in rows]),
        strict=True,
    )
    for number, (cells, key) in enumerate(zip(rows, keys, strict=True), start=1):
        item = _item(file, number, columns, cells, key, levels)
        first, same = rows_of_names.setdefault(key, (number, item))
        if (same.price_level, set(same.categories)) != (item.price_level, set(item.categories)):
            where = f" in {item.domain}" if item.domain else ""
            raise InputError(
                f"{file}: rows {first} and {number} both hold {item.name!r}{where}, with another price or other categories; an "
                f"answer names an item by its name, so one name should mean one of each."
            )
        first, same = rows_of_ids.setdefault(item.item_id, (number, item))
        if first == number:
            found.append(item)
            continue
        if "id" in columns and same != item:
            raise InputError(
                f"{file}: rows {first} and {number} both have the id {item.item_id!r}; each item needs its own."
            )
        n_repeated += 1
    if not found:
        raise _no_items(file)
    return found, n_repeated


def _item(
    file: Path,
    number: int,
    columns: Mapping[str, str],
    cells: Mapping[str, str],
    key: tuple[str | None, str],
    levels: int,
) -> ItemRow:
    for role in ("name", "id"):
        if role in cells and not cells[role]:
            raise InputError(f"{file}: row {number} has no {columns[role]!r}.")
    return ItemRow(
        item_id=cells.get("id") or tagged_hash(canonical_json(key)),
        name=cells["name"],
        price_level=_price(file, number, columns["price_level"], cells["price_level"], levels),
        categories=_categories(file, number, columns["categories"], cells["categories"]),
        domain=cells.get("city") or None,
        n_reviews=_n_reviews(file, number, columns, cells),
    )


def _n_reviews(file: Path, number: int, columns: Mapping[str, str], cells: Mapping[str, str]) -> int | None:
    cell = cells.get("n_reviews") or None
    if cell is not None and not (cell.isascii() and cell.isdigit()):
        raise InputError(
            f"{file}: row {number} has {columns['n_reviews']} {shown(cell)}; it should be a whole number, or empty."
        )
    return None if cell is None else int(cell)


def _price(file: Path, number: int, column: str, cell: str, levels: int) -> int | None:
    if cell.lower() in _NO_PRICE or is_price_range(cell):
        return None
    level = read_price(cell, levels)
    if level is None:
        raise InputError(
            f"{file}: row {number} has {column} {cell!r}; it should be a price level from 1 (the cheapest) to {levels}, as a "
            f"number or as dollar signs, or empty (--levels sets how many there are)."
        )
    return level


def _categories(file: Path, number: int, column: str, cell: str) -> tuple[str, ...]:
    """Return a cell's categories: the strings of a list, or a text's parts between commas, semicolons and slashes."""
    if not cell.startswith("["):
        return () if cell.lower() in ("none", "null", "nan") else split_categories(cell)
    listed = _list(cell)
    if listed is None or not all(isinstance(one, str) for one in listed):
        raise InputError(
            f"{file}: row {number} has {column} {cell[:60]!r}; it should be a list of names or names between commas."
        )
    return folded_categories(listed)


def _list(cell: str) -> list[Any] | None:
    """Return the list that a cell holds as JSON, or as Python prints one (which is what pandas writes), else None."""
    try:
        value = json.loads(cell)
    except (ValueError, RecursionError):
        try:
            value = ast.literal_eval(cell)
        except (ValueError, SyntaxError, MemoryError, RecursionError):
            return None
    return value if isinstance(value, list) else None


def _plain(column: str) -> str:
    return re.sub(r"[\s_-]+", "", column.casefold())


def folded_names(names: Sequence[str]) -> list[str]:
    """Return names as an answer's items are searched for: lower case without accents and punctuation, & as and.

    A name of punctuation only ("!!!") is itself in lower case.
    """
    return _transformed(names, FOLDED_NAME.format(item="item"))


def _transformed(values: Sequence[str | None], expression: str) -> list[Any]:
    with duckdb.connect() as connection:
        found = connection.execute(
            f"select list_transform(?::varchar[], lambda item: {expression})", [values]
        )
        row = found.fetchone()
    assert row is not None
    return list(row[0])
