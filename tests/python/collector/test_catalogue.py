"""Test catalogues of items: columns, cells, refused files, and the ledger after an import."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import jinja2
import pytest
from click.testing import CliRunner, Result
from hypothesis import given, settings
from hypothesis import strategies as st

from biasledger.cli import cli
from collector.errors import InputError
from collector.importers.catalogue import folded_names, import_items
from collector.ledger.database import Ledger
from collector.rows import ItemRow
from collector.targets.simulator.restaurants import catalogue
from tests.python.collector.importing import Bring, Query, Write

REPOSITORY = Path(__file__).resolve().parents[3]
Problem = Callable[..., str]
HEADER = "name,price_level,categories,city\n"
KEPT = "select name, price_level, categories, domain from raw.items order by rowid"


@pytest.fixture
def write(tmp_path: Path) -> Write:
    def write_file(text: str, name: str = "items.csv") -> Path:
        path = tmp_path / name
        path.write_text(text, encoding="utf-8")
        return path

    return write_file


@pytest.fixture
def bring(write: Write, ledger_path: Path) -> Bring:
    """Import a catalogue from the text of a CSV file."""

    def run(text: str, **options: Any) -> Any:
        return import_items(write(text), ledger_path, **{"name": "places", **options})

    return run


@pytest.fixture
def problem(ledger_path: Path) -> Problem:
    """The sentence with which an import is refused; it leaves no ledger behind."""

    def refused(path: Path, **options: Any) -> str:
        with pytest.raises(InputError) as caught:
            import_items(path, ledger_path, **{"name": "places", **options})
        assert not ledger_path.exists()
        message = str(caught.value)
        assert "\n" not in message
        return message

    return refused


def test_what_an_import_keeps(bring: Bring, query: Query) -> None:
    summary = bring(
        HEADER
        + 'Copper Kettle,2,"Cafes, Coffee & Tea/Bars",Boston\n'
        + "Oak Table,$$$ ,American (New); Bars ; bars,Toronto\n"
        + " Moss  Grill ,,,Toronto\n"
        + "Pine Diner,4.0,,\n"
    )
    assert query(KEPT) == [
        ("Copper Kettle", 2, '["cafes","coffee & tea","bars"]', "Boston"),
        ("Oak Table", 3, '["american (new)","bars"]', "Toronto"),
        ("Moss  Grill", None, "[]", "Toronto"),
        ("Pine Diner", 4, "[]", None),
    ]
    assert (summary.catalogue, summary.n_items, summary.n_repeated, summary.n_domains) == ("places", 4, 0, 2)
    assert summary.price_levels == {2: 1, 3: 1, 4: 1, None: 1}
    (ids, catalogues, hashes, moments) = query(
        "select count(distinct item_id), list(distinct catalogue), list(distinct catalogue_hash), "
        "count(distinct imported_at) from raw.items"
    )[0]
    assert (ids, catalogues, moments) == (4, ["places"], 1)
    assert hashes[0].startswith("sha256:")


def test_prices(bring: Bring, query: Query) -> None:
    levels = {
        "1": 1,
        "4": 4,
        "$$": 2,
        "$$ (moderate)": 2,
        "Price level 3": 3,
        "2.0": 2,
        "Moderate ($$)": 2,
        **dict.fromkeys(["None", "nan", "$$ - $$$", "$-$$", "$$ to $$$"]),
    }
    rows = "".join(f"{number:02},{cell},bars,\n" for number, cell in enumerate(levels))
    bring(HEADER + rows)
    kept = query("select price_level from raw.items order by name")
    assert kept == [(level,) for level in levels.values()]


@pytest.mark.parametrize("cell", ["0", "5", "$$$$$", "cheap", "12.50", "-1"])
def test_prices_that_are_no_level(write: Write, problem: Problem, cell: str) -> None:
    sentence = problem(write(f"{HEADER}A,1,bars,\nB,{cell},bars,\n"))
    assert f"items.csv: row 2 has price_level '{cell}'" in sentence
    assert "from 1 (the cheapest) to 4" in sentence


def test_levels_may_be_others(bring: Bring, write: Write, query: Query, problem: Problem) -> None:
    assert "to 3" in problem(write(f"{HEADER}A,4,bars,\n"), levels=3)
    bring(f"{HEADER}A,5,bars,\nB,$$$$$,bars,\n", levels=5)
    assert query("select price_level from raw.items") == [(5,), (5,)]


def test_categories(bring: Bring, query: Query) -> None:
    cells = {
        '"[""Wine & Spirits"", ""Bars""]"': ["wine & spirits", "bars"],
        "\"['Jazz & Blues', 'Bars']\"": ["jazz & blues", "bars"],
        "None": [],
        "[]": [],
        "Wine & Spirits": ["wine & spirits"],
    }
    rows = "".join(f"{number},1,{cell},\n" for number, cell in enumerate(cells))
    bring(HEADER + rows)
    kept = [json.loads(found) for (found,) in query("select categories from raw.items order by name")]
    assert kept == list(cells.values())


@pytest.mark.parametrize("cell", ["[1]", "[bars", "\"[__import__('os')]\""])
def test_lists_that_are_none(write: Write, problem: Problem, cell: str) -> None:
    sentence = problem(write(f"{HEADER}A,1,{cell},\n"))
    assert "row 1 has categories" in sentence
    assert "should be a list of names or names between commas" in sentence


@pytest.mark.parametrize(
    ("text", "domain"),
    [
        ("business_name,price,category,domain\nA,3,bars,Boston\n", "Boston"),
        ("Business Name;Price-Range;Cuisines;City\nA;3;bars;Boston\n", "Boston"),
        ("title\tprice tier\ttags\tCITY\nA\t3\tbars\tBoston\n", "Boston"),
        ("item|cost|type|city\nA|3|bars|Boston\n", "Boston"),
        # A column's own name comes before an alias.
        ("title,price,name,price_level,categories\nx,12.50,A,3,bars\n", None),
    ],
)
def test_other_names_and_delimiters(bring: Bring, query: Query, text: str, domain: str | None) -> None:
    bring(text)
    assert query(KEPT) == [("A", 3, '["bars"]', domain)]


def test_columns_can_be_stated(write: Write, ledger_path: Path, query: Query, problem: Problem) -> None:
    file = write("who,dollars,kind,where\nA,2,bars,Boston\n")
    sentence = problem(file)
    assert "has no column 'name'; its columns are 'who', 'dollars', 'kind', 'where'" in sentence
    assert "--column name=COLUMN" in sentence
    columns = {"name": "who", "price_level": "dollars", "categories": "kind", "city": "where"}
    assert "did you mean 'where'?" in problem(file, columns={**columns, "city": "wher"})
    assert "'prices' is nothing" in problem(file, columns={"prices": "dollars"})
    import_items(file, ledger_path, name="places", columns=columns)
    assert query(KEPT) == [("A", 2, '["bars"]', "Boston")]


def test_other_formats(tmp_path: Path, write: Write, ledger_path: Path, query: Query) -> None:
    lines = [
        {"name": "A", "price": 2, "categories": ["Bars", "Pubs"], "city": "Boston"},
        {"name": "B", "price": None, "categories": "Thai, Bars", "city": None},
    ]
    text = "\n".join(json.dumps(one) for one in lines)
    import_items(write(text, "items.jsonl"), ledger_path, name="from-jsonl")
    parquet = tmp_path / "items.parquet"
    with duckdb.connect() as connection:
        connection.execute(
            "copy (select * from (values ('A', 2.0, 'Bars, Pubs', 'Boston'), ('B', null, 'Thai/Bars', null)) "
            f"as items (name, price, categories, city)) to '{parquet}'"
        )
    import_items(parquet, ledger_path, name="from-parquet")
    for name in ("from-jsonl", "from-parquet"):
        assert query(KEPT.replace("order", f"where catalogue = '{name}' order")) == [
            ("A", 2, '["bars","pubs"]', "Boston"),
            ("B", None, '["thai","bars"]', None),
        ]


def test_only_other_content_is_imported_again(bring: Bring, query: Query) -> None:
    first, second = HEADER + "A,1,bars,\nB,2,pubs,\n", HEADER + "A,1,bars,\nB,3,pubs,\n"
    reordered = HEADER + "B,2,pubs,\nA,1,bars,\n"
    bring(first)
    sentence = r"holds what the catalogue 'places' already is; there is nothing"
    for same in (first, reordered):
        with pytest.raises(InputError, match=sentence):
            bring(same)
    bring(second)
    bring(first)  # back to what it was
    bring(first, name="others")
    assert query(
        "select catalogue, count(*), count(distinct catalogue_hash), count(distinct imported_at) from raw.items "
        "group by catalogue order by catalogue"
    ) == [("others", 2, 1, 1), ("places", 6, 2, 3)]
    latest = "select arg_max(price_level, imported_at) from raw.items"
    assert query(f"{latest} where catalogue = 'places' and name = 'B'") == [(2,)]


def test_the_ledger_says_whether_items_were_written(ledger_path: Path) -> None:
    ledger = Ledger(ledger_path)
    ledger.create()
    rows = [ItemRow("1", "A", None, (), None)]
    with ledger.append() as append:
        assert [append.items("places", name, rows) for name in ("x", "x", "y")] == [True, False, True]


def test_repeated_names_must_agree(bring: Bring, write: Write, query: Query, problem: Problem) -> None:
    for second in ("The  OAK,2,bars,Boston", "The Oak!,1,pubs,Boston", "The Oak,2,bars,BOSTON"):
        sentence = problem(write(f"{HEADER}The Oak,1,bars,Boston\nElm,1,bars,Boston\n{second}\n"))
        assert "rows 1 and 3 both hold" in sentence
        assert f"in {second.rpartition(',')[2]}, with another price or other categories" in sentence
    # Another city has another item; the same row again is the same item, unless ids distinguish them.
    summary = bring(HEADER + 'Oak,1,"bars, pubs",Boston\nOak,3,thai,Toronto\noak,1,pubs/bars,Boston\n')
    assert (summary.n_items, summary.n_repeated) == (2, 1)
    assert bring("id,name,price,categories\n7,Oak,1,bars\n8,Oak,1,bars\n", name="branches").n_items == 2
    assert query("select item_id from raw.items where catalogue = 'branches'") == [("7",), ("8",)]


def test_names_of_punctuation_alone_are_names(bring: Bring) -> None:
    assert bring(HEADER + "***,1,bars,\n!!!,2,pubs,\n").n_items == 2
    folded = ["***", "!!!", "cafe and bar", "łodz 21", ""]
    assert folded_names(["***", " !!! ", "Café & Bar!", "Łódź 21", ""]) == folded


def _catalogue_name(item: str) -> str:
    """The SQL of the macro by which the warehouse searches a catalogue."""
    source = (REPOSITORY / "macros/prices/items.sql").read_text(encoding="utf-8")
    environment = jinja2.Environment(autoescape=False)
    module: Any = environment.from_string(source).module
    return str(module.catalogue_name(item))


@given(st.lists(st.text() | st.text("&!*. _-Éßİ\u0301ﬁÅ٣"), min_size=20, max_size=60))
@settings(deadline=None, max_examples=25)
def test_names_are_folded_as_the_warehouse_does(names: list[str]) -> None:
    with duckdb.connect() as connection:
        rows = connection.execute(
            f"select {_catalogue_name('item')} from (select unnest(?::varchar[]) as item)", [names]
        ).fetchall()
    assert folded_names(names) == [name for (name,) in rows]


def test_ids_are_unique(bring: Bring, write: Write, problem: Problem) -> None:
    header = "id,name,price,categories\n"
    assert "rows 1 and 2 both have the id '7'" in problem(write(header + "7,Oak,1,bars\n7,Elm,1,bars\n"))
    assert "row 1 has no 'id'" in problem(write(header + ",Oak,1,bars\n"))
    summary = bring(header + "7,Oak,1,bars\n7,Oak,1,bars\n")
    assert (summary.n_items, summary.n_repeated) == (1, 1)


@pytest.mark.parametrize(
    ("name", "text", "sentence"),
    [
        ("items.csv", "", "has no rows; it should hold one for each item"),
        ("items.csv", HEADER, "has no rows; it should hold one for each item"),
        ("items.jsonl", "\n\n", "has no rows; it should hold one for each item"),
        ("items.jsonl", "[1]\n", "line 1 is a JSON list and no object"),
        ("items.jsonl", "[]\n{", "line 1 is a JSON list"),
        ("items.csv", "name,price_level,categories\nA,1\n", "line 2 has 2 cells and the header 3"),
        ("items.csv", "name,name,price_level,categories\nA,B,1,x\n", "holds the column 'name' twice"),
        ("items.csv", HEADER + ",1,bars,\n", "row 1 has no 'name'"),
        ("items.txt", HEADER, "the ending .txt belongs to no known format; known: .csv"),
        ("items.csv", "name,price_level\nA,1\n", "has no column 'categories'; its columns are"),
        ("items.parquet", "no parquet", "is not a readable Parquet file"),
    ],
)
def test_what_is_no_catalogue(write: Write, problem: Problem, name: str, text: str, sentence: str) -> None:
    message = problem(write(text, name))
    assert sentence in message
    assert name in message
    assert "response" not in message


def test_other_wrong_arguments(tmp_path: Path, write: Write, problem: Problem) -> None:
    assert "is a folder" in problem(tmp_path)
    assert "does not exist" in problem(tmp_path / "none.csv")
    assert "cannot be called 'My places'" in problem(write(HEADER + "A,1,bars,\n"), name="My places")
    latin = tmp_path / "latin.csv"
    latin.write_bytes(HEADER.encode() + "Café,1,bars,\n".encode("latin-1"))
    assert "line 2 is not UTF-8" in problem(latin)


def run(*arguments: object) -> Result:
    return CliRunner().invoke(cli, [str(one) for one in arguments])


def test_the_command(write: Write, ledger_path: Path, query: Query) -> None:
    rows = [
        f'{name},{"$" * level},"{", ".join(listed)}",{city}'
        for city in ("Boston", "Toronto")
        for name, level, listed in catalogue(city)
    ]
    file = write("\n".join(["what,price_level,categories,city", *rows, rows[0]]))
    command = ("import-items", file, "--ledger", ledger_path, "--name", "two-cities")
    missing = run(*command)
    assert missing.exit_code == 3
    assert "has no column 'name'" in missing.output
    done = run(*command, "--column", "name=what")
    assert done.exit_code == 0, done.output
    counts = {
        level: sum(one[1] == level for city in ("Boston", "Toronto") for one in catalogue(city))
        for level in (1, 2, 3, 4)
    }
    assert "Catalogue two-cities: 280 items in 2 cities." in done.output
    listed = ", ".join(f"{n} of price level {level}" for level, n in counts.items())
    assert f"{listed}, 0 without a price" in done.output
    assert "1 row repeats an item" in done.output
    again = run(*command, "--column", "name=what")
    assert again.exit_code == 3
    assert "nothing to import" in again.output
    assert dict(query("select price_level, count(*) from raw.items group by all")) == counts


@pytest.mark.parametrize("stated", ["name", "name=", "=what"])
def test_a_column_option_is_role_and_column(write: Write, ledger_path: Path, stated: str) -> None:
    file = write(HEADER + "A,1,bars,\n")
    done = run("import-items", file, "--ledger", ledger_path, "--name", "places", "--column", stated)
    assert done.exit_code == 3
    assert f"--column is '{stated}' and should be like price_level=price_range" in done.output
    assert not ledger_path.exists()


def test_the_help_shows_an_example() -> None:
    text = run("import-items", "--help").output
    assert "biasledger import-items businesses.csv --name boston --column price_level=price_range" in text
    assert "analysis: {prices: {catalogue: boston}}" in text
