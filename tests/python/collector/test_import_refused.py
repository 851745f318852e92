"""Test that files that cannot be imported leave the ledger unchanged; names with quotes, and the shipped mapping."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from collector.errors import InputError, LedgerError
from collector.importers.tabular import import_file
from collector.spec.loading import load_audit
from collector.tables.source import column_names
from tests.python.collector.conftest import IMPORT_AUDIT, content_of
from tests.python.collector.importing import Bring, Content, Query, simple, write_file

JSON_ROW = b'{"race": "White", "gender": "M", "question": "q", "answer": "a"}\n'
HEADER = b"race,gender,question,answer\n"
BAD_FILES: list[tuple[str, bytes, str]] = [
    ("a.csv", b"", "is empty; it should hold a row for each response"),
    ("a.parquet", b"", "is empty; it should hold a row for each response"),
    ("a.csv", HEADER, "has no rows"),
    ("a.jsonl", b"\n\n", "has no rows"),
    ("a.csv", b"race,gendr,question,answer\nWhite,M,q,a\n", "has no column 'gender'; did you mean 'gendr'?"),
    ("a.csv", b"race,gender,answer\nWhite,M,a\n", "has no column 'question'; known: 'race', 'gender', 'answer'"),
    ("a.jsonl", b'{"race": "White", "gender": "M", "question": "q", "anser": "a"}\n', "did you mean 'anser'?"),
    ("a.csv", b"race,gender,question,answer,answer\nWhite,M,q,a,b\n", "holds the column 'answer' twice"),
    ("a.csv", b"race,gender,question,answer,Answer\nWhite,M,q,a,b\n", "'answer' and 'Answer' have one name, or differ in"),
    ("a.jsonl", JSON_ROW.replace(b"}", b', "Race": "x"}'), "'Race' and 'race' have one name, or differ in capitals alone"),
    ("a.csv", HEADER + b"White,M,q,a\nWhit,M,q,b\n", "row 2 has 'Whit' as 'race', which is no group of race; did you"),
    ("a.csv", HEADER + b"White,X9Q,q,a\n", "row 1 has 'X9Q' as 'gender', which is no group of gender; known: 'M'"),
    ("a.csv", HEADER + b"white,M,q,a\n", "row 1 has 'white' as 'race'"),
    ("a.jsonl", b'{"race": null, "gender": "M", "question": "q", "answer": "a"}\n', "row 1 has no 'race'; it should be one of"),
    ("a.csv", HEADER + b"White,M,q,a\nWhite,M,q,caf\xe9\n", "line 3 is not UTF-8"),
    ("a.jsonl", b'{"race": "White",\n"answer": "\xff"}\n', "line 2 is not UTF-8"),
    ("a.csv", "race,gender\n".encode("utf-16"), "has no column 'answer'; known: 'race', 'gender'"),
    ("a.csv", HEADER + b"White,M,q,a\nWhite,M,q\n", "line 3 has 3 cells and the header 4"),
    ("a.csv", HEADER + b"White,M,q,a\nWhite,M,q,b,c\n", "line 3 has 5 cells and the header 4"),
    ("a.csv", HEADER + b'White,M,q,"never closed\n', "cannot be read as CSV"),
    ("a.jsonl", JSON_ROW + b'\n{"race": \n', "line 3 is not valid JSON"),
    ("a.jsonl", JSON_ROW + b"[1]\n", "line 2 is a JSON list and no object"),
    ("a.jsonl", b'{"race": "White", "gender": "M", "question": "q", "answer": "\\ud83d"}\n', "JSON with half a surrogate"),
    ("a.parquet", b"PAR1 this is no parquet file", "is not a readable Parquet file"),
    ("a.xlsx", b"PK", "is not a readable Excel workbook (File is not a zip file); an older .xls, or one with a password,"),
    ("a", b"x", "the ending (none) belongs to no known format"),
]  # fmt: skip


@pytest.fixture(scope="module")
def good(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, list[tuple[Any, ...]]]]:
    """A ledger with a good file, and what it holds."""
    folder = tmp_path_factory.mktemp("good")
    spec, ledger = folder / "audit.yml", folder / "ledger.duckdb"
    spec.write_text(IMPORT_AUDIT, encoding="utf-8")
    import_file(load_audit(spec), spec, write_file(folder / "good.csv", simple(4)), ledger)
    return ledger, content_of(ledger)


@pytest.mark.parametrize(
    ("name", "data", "sentence"),
    BAD_FILES,
    ids=[f"{name}: {sentence[:40]}" for name, _, sentence in BAD_FILES],
)
def test_bad_files_are_refused_and_leave_the_ledger_as_it_was(
    tmp_path: Path,
    bring: Bring,
    ledger_path: Path,
    good: tuple[Path, dict[str, list[tuple[Any, ...]]]],
    name: str,
    data: bytes,
    sentence: str,
) -> None:
    ledger, before = good
    shutil.copy(ledger, ledger_path)
    path = tmp_path / name
    path.write_bytes(data)
    with pytest.raises(InputError) as caught:
        bring(path)
    message = str(caught.value)
    assert sentence in message
    assert str(path) in message
    assert "\n" not in message
    assert content_of(ledger_path) == before


@pytest.mark.parametrize(
    ("mapping", "values", "sentence"),
    [
        ("trial: x", ["1", "two"], "row 2 has 'two' as 'x'; trial should be a whole number from 0"),
        ("trial: x", ["1", "1.5"], "row 2 has '1.5' as 'x'; trial should be a whole number from 0"),
        ("trial: x", ["-1", "1"], "row 1 has '-1' as 'x'; trial should be a whole number from 0"),
        ("trial: x", ["1", None], "row 2 has nothing as 'x'; trial should be a whole number from 0"),
        (
            "trial: x",
            ["1", "3000000000"],
            "row 2 has '3000000000' as 'x'; trial should be a whole number from 0",
        ),
        ("weight: x", ["1", "0"], "row 2 has '0' as 'x'; weight should be a number above 0"),
        ("weight: x", ["-2", "1"], "row 1 has '-2' as 'x'; weight should be a number above 0"),
        ("weight: x", ["many", "1"], "row 1 has 'many' as 'x'; weight should be a number above 0"),
        ("weight: x", ["1", "nan"], "row 2 has 'nan' as 'x'; weight should be a number above 0"),
        ("order: x", ["1", "2026-01-01"], "row 2 has '2026-01-01' as 'x'; order should be a number"),
    ],
)
@pytest.mark.parametrize("ending", ["csv", "jsonl", "parquet"])
def test_numbers_that_are_none(
    tmp_path: Path,
    mapped: Bring,
    ledger_path: Path,
    ending: str,
    mapping: str,
    values: list[Any],
    sentence: str,
) -> None:
    file = write_file(tmp_path / f"a.{ending}", simple(2, x=values))
    with pytest.raises(InputError) as caught:
        mapped(file, mapping)
    assert f"{file}: {sentence}" in str(caught.value)
    assert not ledger_path.exists()


def test_the_same_trial_twice(tmp_path: Path, mapped: Bring, ledger_path: Path) -> None:
    file = write_file(tmp_path / "a.csv", simple(9, x=["1"] * 4 + ["2"] * 4 + ["1.0"]))
    sentence = "rows 1 and 9 are both trial 1 of the same prompt; each 'x' of a prompt"
    with pytest.raises(InputError, match=sentence):
        mapped(file, "trial: x")
    assert not ledger_path.exists()


def test_a_column_of_lists_in_parquet_is_json(tmp_path: Path, bring: Bring, query: Query) -> None:
    path = tmp_path / "a.parquet"
    with duckdb.connect() as connection:
        connection.execute(
            f"copy (select 'White' as race, 'M' as gender, 'q' as question, ['a'] as answer) to '{path}' (format parquet)"
        )
    bring(path)
    assert query("select response_text from raw.responses") == [('["a"]',)]


def test_files_that_cannot_be(tmp_path: Path, bring: Bring, bring_as: Bring, small_text: str) -> None:
    a_folder = "is a folder and no dataset; name a file, or a folder that save_to_disk"
    for path, sentence in ((tmp_path / "absent.csv", "does not exist"), (tmp_path, a_folder)):
        with pytest.raises(InputError, match=sentence):
            bring(path)
    with pytest.raises(InputError, match="the key import is missing"):
        bring_as(small_text, tmp_path / "a.csv")


def test_a_stated_format_goes_before_the_ending(tmp_path: Path, bring: Bring) -> None:
    file = write_file(tmp_path / "a.jsonl", simple(4)).rename(tmp_path / "a.log")
    assert bring(file, ("  columns:", "  format: jsonl\n  columns:")).n_responses == 4


def test_a_failure_half_way_writes_nothing(
    tmp_path: Path, bring: Bring, content: Content, monkeypatch: pytest.MonkeyPatch
) -> None:
    from collector.ledger.appending import Append

    bring(write_file(tmp_path / "good.csv", simple(4)))
    before = content()
    written = 0
    real = Append.responses

    def failing(self: Append, run_id: str, rows: Any) -> None:
        nonlocal written
        written += 1
        if written == 2:
            raise LedgerError("on purpose")
        real(self, run_id, rows)

    monkeypatch.setattr(Append, "responses", failing)
    with pytest.raises(LedgerError, match="on purpose"):
        bring(write_file(tmp_path / "a.csv", simple(15_000)))
    assert written == 2
    assert content() == before


def test_names_with_quotes(tmp_path: Path, bring: Bring, query: Query) -> None:
    folder = tmp_path / 'it\'s; a "folder"'
    folder.mkdir()
    odd = 'the "answer"; isn\'t it'
    rows = [{(odd if name == "answer" else name): value for name, value in row.items()} for row in simple(4)]
    for ending in ("csv", "jsonl"):
        file = write_file(folder / f"a'b.{ending}", rows)
        bring(file, ("text: answer", f"text: {json.dumps(odd)}"), name="Ünï 'cødé'")
    assert query("select count(*), count(distinct response_text) from raw.responses") == [(8, 4)]
    assert query("select distinct target from raw.runs") == [("Ünï 'cødé'",)]


def test_nothing_is_printed_and_nothing_heavy_is_loaded(
    import_spec: Path, tmp_path: Path, ledger_path: Path, repository: Path
) -> None:
    file = write_file(tmp_path / "a.csv", simple(100))
    script = f"""
import sys
from pathlib import Path
from collector.tables.source import readable
from collector.importers.tabular import import_file
from collector.spec.loading import load_audit
spec = Path({str(import_spec)!r})
import_file(load_audit(spec), spec, Path({str(file)!r}), Path({str(ledger_path)!r}))
assert not {{"pandas", "pyarrow", "sklearn", "dbt", "requests"}} & set(sys.modules)
"""
    command = [sys.executable, "-c", script]
    done = subprocess.run(command, cwd=repository, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_the_shipped_mapping_works(repository: Path, tmp_path: Path, ledger_path: Path, query: Query) -> None:
    spec = repository / "audits" / "replications" / "personas.yml"
    races, genders = ["a White", "a Black", "an Asian", "a Middle-Eastern", "a Latine"], ["M", "W", "N"]
    rows = [
        {
            "row_id": str(index),
            "model": "gpt4",
            "race": races[index % 5],
            "gender": genders[index // 5 % 3],
            "prompt_num": str(index % 2),
            "prompt": f"Describe {races[index % 5]} {genders[index // 5 % 3]} ({index % 2})",
            "text": f"Text {index}",
        }
        for index in range(300)
    ]
    summary = import_file(load_audit(spec), spec, write_file(tmp_path / "p.parquet", rows), ledger_path)
    assert (summary.n_prompts, summary.counts) == (30, {"ok": 300})
    assert query("select model_asked from raw.runs") == [("gpt4",)]
    groups = "select count(distinct group_name) from raw.prompt_attributes where attribute = 'race'"
    assert query(groups) == [(5,)]


@pytest.mark.parametrize("names", [["answer", "answer"], ["answer", "Answer"]])
def test_parquet_with_columns_of_one_name_is_refused(tmp_path: Path, names: list[str]) -> None:
    table = pa.Table.from_arrays([pa.array(["yes"]), pa.array(["no"])], names=names)
    pq.write_table(table, tmp_path / "a.parquet")
    with pytest.raises(InputError, match="have one name, or differ in capitals alone"):
        column_names(tmp_path / "a.parquet", lambda _: True)
