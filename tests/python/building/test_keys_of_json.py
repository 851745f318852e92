"""Test which keys the scheme `keys` reads from answers in JSON."""

from __future__ import annotations

import warnings
from pathlib import Path
from types import SimpleNamespace

import duckdb
import jinja2
import pytest

MACROS = Path(__file__).parents[3] / "macros" / "words" / "schemes.sql"


@pytest.fixture(scope="module")
def expression() -> str:
    """Return the macro's SQL on DuckDB for a column `response`."""
    engine = SimpleNamespace(dispatch=lambda name, _package: getattr(macros, f"default__{name}"))
    environment = jinja2.Environment(extensions=["jinja2.ext.do"], autoescape=False)
    with warnings.catch_warnings():
        # Macros hold patterns as dbt reads them.
        warnings.simplefilter("ignore", DeprecationWarning)
        macros = environment.from_string(MACROS.read_text(encoding="utf-8")).make_module({"adapter": engine})
    return str(macros.keys_of_json("response"))


@pytest.mark.parametrize(
    ("response", "keys"),
    [
        ('{"Wallet": "x", "Tool kit": "y"}', {"wallet", "tool kit"}),
        ('Sure! {"Wallet": "x",}', {"wallet"}),
        ('{"Gifts": {"1. Wallet": 1, "2) Tool_kit": 2, "3.Bag": 3}}', {"wallet", "tool kit", "bag"}),
        ('{"10.5 inch tablet": 1, "4. 5 inch tape": 2}', {"10.5 inch tablet", "5 inch tape"}),
        ('{"": {"Wallet": 1}}', {"wallet"}),
        ('{"*": {"Wallet": 1}}', {"wallet"}),
        ('{"Wallet": 1, "wallet": 2, "Wallet": 3}', {"wallet"}),
        ('{"a\\u0000b": 1}', {"a b"}),
        ('{"Gifts": {}}', set()),
        ('{"Gifts": "{\\"Wallet\\": 1}"}', {"gifts"}),
        ('[{"name": "Wallet"}]', set()),
        ('{"Wallet": ', set()),
        ('Here [as you asked]: {"Wallet": "x"}', {"wallet"}),
        ('{So: ten things.} {"Wallet": "x", "Bag": {"why": "y"}}', {"wallet", "bag"}),
        ('{"Wallet": "x", "Bag": null} [all of them {fine}]', {"wallet", "bag"}),
        ('```json\n{\n  "Wallet": "in {leather}",\n}\n``` {done}', {"wallet"}),
        ('So: [\n {"name": "Wallet"}, {"name": "Bag"}]', set()),
        ("{nothing} here", set()),
        ("No.", set()),
        (None, set()),
    ],
)
def test_keys(expression: str, response: str | None, keys: set[str]) -> None:
    statement = f"select {expression} from (select cast(? as varchar) as response)"
    ((found,),) = duckdb.execute(statement, [response]).fetchall()
    assert set(found) == keys
