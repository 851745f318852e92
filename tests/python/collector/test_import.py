"""Importing files: three formats with one outcome, every wrong file told, and the ledger left as it was."""

from __future__ import annotations

import csv
import json
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import duckdb
import pytest

from collector.errors import InputError, LedgerError
from collector.hashing import hash_of_file
from collector.importers import tabular
from collector.importers.tabular import import_file
from collector.ledger.database import Ledger
from collector.ledger.summary import RunSummary
from collector.rows import response_hash
from collector.spec.loading import load_audit
from collector.spec.prompts import Prompt, PromptAttribute
from collector.tables.source import readable
from tests.python.collector.conftest import IMPORT_AUDIT, content_of

Query = Callable[[str], list[tuple[Any, ...]]]
Content = Callable[[], dict[str, list[tuple[Any, ...]]]]
Write = Callable[..., Path]
Row = dict[str, Any]

ROWS: list[Row] = [
    {
        "race": "a White",
        "gender": "M",
        "question": "Describe a White man.",
        "answer": 'He said: "hello, you"\nand left.',
    },
    {
        "race": "an Asian",
        "gender": "M",
        "question": "Describe an Asian man.",
        "answer": "Grüße 👩‍👩‍👧 日本 قهوة",
    },
    {"race": " Asian ", "gender": "W", "question": "Describe an Asian woman.", "answer": "x" * 5_100_000},
    {"race": "White", "gender": "W", "question": "Describe a White woman.", "answer": None},
    {
        "race": "White",
        "gender": "W",
        "question": "Describe a White woman.",
        "answer": "I'm sorry, but I can't help with that.",
    },
    {"race": "White", "gender": "W", "question": "Describe a White woman.", "answer": "She reads."},
]


def write_file(path: Path, rows: Sequence[Row]) -> Path:
    """Write rows in the format that the path's ending names."""
    columns = list(rows[0])
    if path.suffix in (".csv", ".tsv"):
        with path.open("w", newline="", encoding="utf-8") as stream:
            writer = csv.writer(stream, delimiter="\t" if path.suffix == ".tsv" else ",")
            writer.writerow(columns)
            writer.writerows([[row[name] for name in columns] for row in rows])
    elif path.suffix in (".jsonl", ".ndjson"):
        path.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), encoding="utf-8")
    else:
        listed = ", ".join(f'"{name}" varchar' for name in columns)
        with duckdb.connect() as connection:
            connection.execute(f"create table t ({listed})")
            marks = ", ".join("?" for _ in columns)
            connection.executemany(
                f"insert into t values ({marks})", [[row[name] for name in columns] for row in rows]
            )
            # Under a plain name first: any other may mean something to DuckDB.
            plain = path.parent / "plain.parquet"
            connection.execute(f"copy t to '{plain}' (format parquet)")
            plain.rename(path)
    return path


@pytest.fixture
def bring(import_spec: Path, ledger_path: Path) -> Callable[..., RunSummary]:
    def run(file: Path, **options: Any) -> RunSummary:
        return import_file(load_audit(import_spec), import_spec, file, ledger_path, **options)

    return run


@pytest.fixture
def mapped(write_spec: Write, import_text: str, ledger_path: Path) -> Callable[..., RunSummary]:
    """Import with more columns mapped: mapped(file, 'trial: k, order: o')."""

    def run(file: Path, more: str, **options: Any) -> RunSummary:
        lines = "".join(f"    {one.strip()}\n" for one in more.split(","))
        spec = write_spec(import_text, ("    text: answer\n", f"    text: answer\n{lines}"))
        return import_file(load_audit(spec), spec, file, ledger_path, **options)

    return run


def simple(n: int, **extra: Sequence[Any]) -> list[Row]:
    """Return n rows over the four groups, each with an answer of its own."""
    return [
        {
            "race": ["a White", "an Asian"][index % 2],
            "gender": ["M", "W"][index // 2 % 2],
            "question": f"Question {index % 4}",
            "answer": f"Answer {index}",
            **{name: values[index] for name, values in extra.items()},
        }
        for index in range(n)
    ]


@pytest.mark.parametrize("ending", ["csv", "tsv", "jsonl", "ndjson", "parquet"])
def test_every_format_has_the_same_outcome(
    tmp_path: Path, bring: Callable[..., RunSummary], query: Query, ending: str
) -> None:
    summary = bring(
        write_file(tmp_path / f"texts.{ending}", ROWS), name="gpt", versions={"biasledger": "9.9"}
    )
    # 5.1 million characters are over the default limit: kept, not analysed; no answer at all is malformed too.
    assert summary.counts == {"ok": 3, "malformed": 2, "refused": 1}
    assert (summary.n_prompts, summary.n_responses, summary.target, summary.is_simulated) == (
        4,
        6,
        "gpt",
        False,
    )
    assert query(
        "select seq, trial, attempt, status, response_text, weight from raw.responses order by seq"
    ) == [
        (1, 1, 1, "ok", ROWS[0]["answer"], 1.0),
        (2, 1, 1, "ok", ROWS[1]["answer"], 1.0),
        (3, 1, 1, "malformed", ROWS[2]["answer"], 1.0),
        (4, 1, 1, "malformed", None, 1.0),
        (5, 2, 1, "refused", ROWS[4]["answer"], 1.0),
        (6, 3, 1, "ok", "She reads.", 1.0),
    ]
    prompt = Prompt(
        template="imported",
        language="en",
        variant="plain",
        prompt_text="Describe an Asian man.",
        attributes=(PromptAttribute(1, "race", "Asian", "an Asian"), PromptAttribute(1, "gender", "M", "M")),
    )
    assert query("select prompt_id, content_hash from raw.responses where seq = 2") == [
        (prompt.prompt_id, response_hash(prompt.content_hash, "ok", ROWS[1]["answer"]))
    ]
    attributes = query(
        "select attribute, group_name, carrier from raw.prompt_attributes "
        "inner join raw.prompts using (run_id, prompt_id) where prompt_text = 'Describe an Asian woman.' order by 1 desc"
    )
    assert attributes == [("race", "Asian", "an Asian"), ("gender", "W", "W")]
    run = query(
        "select origin, target_kind, source_name, source_hash[:7], model_asked, is_simulated from raw.runs"
    )
    assert run == [("imported", "import", f"texts.{ending}", "sha256:", None, False)]
    assert query("select event from raw.run_events order by happened_at") == [("started",), ("finished",)]
    assert query("select audit from raw.readings") == [("texts",)]


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
@pytest.mark.parametrize("start", ["", "\ufeff"])
def test_dialects_of_csv(
    tmp_path: Path, bring: Callable[..., RunSummary], query: Query, delimiter: str, start: str
) -> None:
    path = tmp_path / "texts.csv"
    lines = [
        ["id", "", "answer", "gender", "race", "question"],
        ["1", "", '"a; b, c | d\t""e"" \r\n f"', "M", "White", "q"],
    ]
    path.write_text(start + "\r\n".join(delimiter.join(line) for line in lines), encoding="utf-8", newline="")
    assert bring(path).counts == {"ok": 1}
    assert query("select response_text from raw.responses") == [('a; b, c | d\t"e" \r\n f',)]


def test_json_lines_may_begin_with_a_byte_order_mark(
    tmp_path: Path, bring: Callable[..., RunSummary], query: Query
) -> None:
    path = tmp_path / "texts.jsonl"
    row = json.dumps({"answer": "one", "gender": "M", "race": "White", "question": "q"})
    path.write_text(f"\ufeff{row}\n{row}\n", encoding="utf-8")
    assert bring(path).counts == {"ok": 2}
    assert query("select distinct response_text from raw.responses") == [("one",)]


def test_all_columns(tmp_path: Path, mapped: Callable[..., RunSummary], query: Query) -> None:
    rows = simple(
        6,
        k=[3, 1, 2, 5, 0, 7],
        w=["1", "2.5", "3", "1e1", "0.5", "1.0"],
        o=["30", "10", "20", "5", "40", "-1.5"],
        t=["a", "a", "b", "b", "a", "a"],
        s=["s1"] * 5 + [None],
        e=["yes"] * 5 + [""],
        m=["m1"] * 6,
    )
    file = write_file(tmp_path / "texts.csv", rows)
    summary = mapped(
        file, "trial: k, weight: w, order: o, template: t, subject: s, expected: e, model: m", simulated=True
    )
    assert summary.is_simulated
    assert query(
        "select response_text, trial, seq, weight, model_answered from raw.responses order by response_text"
    ) == [
        ("Answer 0", 3, 5, 1.0, "m1"),
        ("Answer 1", 1, 3, 2.5, "m1"),
        ("Answer 2", 2, 4, 3.0, "m1"),
        ("Answer 3", 5, 2, 10.0, "m1"),
        ("Answer 4", 0, 6, 0.5, "m1"),
        ("Answer 5", 7, 1, 1.0, "m1"),
    ]
    assert query(
        "select template, subject, expected_label, count(*) from raw.prompts group by all order by all"
    ) == [
        ("a", "s1", "yes", 2),
        ("a", None, None, 1),
        ("b", "s1", "yes", 2),
    ]
    assert query("select model_asked, is_simulated from raw.runs") == [("m1", True)]


def test_trials_follow_the_order_column_whatever_the_order_of_rows(
    tmp_path: Path, mapped: Callable[..., RunSummary], query: Query
) -> None:
    rows = simple(40, o=[f"{1_700_000_000_000_000_000 + index}" for index in range(40)])
    for name, chosen in (("forward", rows), ("backward", rows[::-1])):
        mapped(write_file(tmp_path / f"{name}.jsonl", chosen), "order: o", name=name)
    found = {
        name: query(
            "select prompt_id, trial, seq, content_hash from raw.responses inner join raw.runs using (run_id) "
            f"where target = '{name}' order by all"
        )
        for name in ("forward", "backward")
    }
    assert found["forward"] == found["backward"]
    assert query("select max(trial), count(distinct seq) from raw.responses") == [(10, 40)]


def test_json_answers_and_objects_in_json_lines(
    tmp_path: Path, write_spec: Write, import_text: str, ledger_path: Path, query: Query
) -> None:
    spec = write_spec(import_text, ("kind: text", "kind: json_object"))
    rows = simple(4)
    rows[0]["answer"] = {"Tea": "Warm."}
    rows[1]["answer"] = '```json\n{"Tea": "Warm.",}\n```'
    rows[2]["answer"] = '{"Tea": "War'
    summary = import_file(load_audit(spec), spec, write_file(tmp_path / "a.jsonl", rows), ledger_path)
    assert summary.counts == {"ok": 2, "truncated": 1, "malformed": 1}
    assert query("select distinct answer_text from raw.responses where status = 'ok'") == [("Tea Warm.",)]


def test_a_row_without_a_template_is_of_the_one_that_all_are_of(
    tmp_path: Path, mapped: Callable[..., RunSummary], query: Query
) -> None:
    rows = [{**simple(1)[0], "asked": template} for template in ("", "imported")]
    summary = mapped(write_file(tmp_path / "templates.csv", rows), "template: asked")
    assert (summary.n_prompts, summary.n_responses) == (1, 2)
    assert query("select distinct template from raw.prompts") == [("imported",)]


def test_prompts_that_are_one_as_they_are_kept_are_refused(
    tmp_path: Path, mapped: Callable[..., RunSummary], query: Query
) -> None:
    """A ledger with a prompt in it twice could never be built again."""
    rows = [{**simple(1)[0], "about": subject} for subject in ("a\x00", "a\ufffd")]
    file = write_file(tmp_path / "nul.jsonl", rows)
    with pytest.raises(
        InputError, match=r"nul\.jsonl: two prompts that differ in the file are one as they are kept"
    ):
        mapped(file, "subject: about")
    assert query("select count(*) from raw.prompts") == [(0,)]


@pytest.mark.parametrize("file_format", ["csv", "jsonl", "parquet", "log"])
@pytest.mark.parametrize(
    ("error", "told"),
    [
        (
            duckdb.IOException("IO Error: Could not write file: No space left"),
            "Could not write file: No space left.",
        ),
        (
            duckdb.OutOfMemoryException(
                "Out of Memory Error: failed to allocate data (1.0 GiB used).\n\nSolutions:"
            ),
            "failed to allocate data (1.0 GiB used); a row should have at most 64 MiB, and temporary files need room.",
        ),
    ],
)
def test_a_full_disk_and_too_little_memory_are_no_faults_of_a_line(
    tmp_path: Path, file_format: str, error: duckdb.Error, told: str
) -> None:
    path = tmp_path / "rows"
    path.write_text("not read for it")
    with pytest.raises(InputError) as caught, readable(path, file_format):
        raise error
    assert str(caught.value) == f"{path} cannot be read: {told}"


def test_a_nul_is_replaced(tmp_path: Path, bring: Callable[..., RunSummary], query: Query) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text('{"race": "White", "gender": "M", "question": "q", "answer": "a\\u0000b"}\n')
    bring(path)
    assert query("select response_text, answer_text from raw.responses") == [("a�b", "a�b")]


def test_more_rows_than_a_batch(tmp_path: Path, bring: Callable[..., RunSummary], query: Query) -> None:
    summary = bring(write_file(tmp_path / "a.jsonl", simple(12_001)))
    assert summary.counts == {"ok": 12_001}
    assert query(
        "select count(*), count(distinct seq), count(distinct (prompt_id, trial)), count(distinct response_text) "
        "from raw.responses"
    ) == [(12_001, 12_001, 12_001, 12_001)]
    mismatched = query("select count(*) from raw.responses where response_text != 'Answer ' || (seq - 1)")
    assert mismatched == [(0,)]


def test_a_late_column_of_json_lines_is_found(
    tmp_path: Path, mapped: Callable[..., RunSummary], query: Query
) -> None:
    rows = simple(10_050)
    rows[-1]["m"] = "late"
    mapped(write_file(tmp_path / "a.jsonl", rows), "model: m")
    assert query("select count(*) from raw.responses where model_answered = 'late'") == [(1,)]


def test_warnings(tmp_path: Path, mapped: Callable[..., RunSummary]) -> None:
    summary = mapped(write_file(tmp_path / "a.csv", simple(8, m=["m1", "m2"] * 4)), "model: m")
    assert "a.csv holds answers of several models (m1, m2)" in summary.warnings[0]
    assert summary.target == "a"
    assert "2 responses of the smallest group give low statistical power" in summary.warnings[1]
    assert mapped(write_file(tmp_path / "b.csv", simple(60, m=["m1"] * 60)), "model: m").warnings == ()


@pytest.mark.parametrize("ending", [".csv", ".tsv", ".jsonl", ".parquet"])
@pytest.mark.parametrize(
    "name",
    [
        "answers[1]",
        "answers*",
        "answers?",
        "[a-z]*",
        "**",
        "k=v/race=Black/answers",
        "it's",
        "a\\b",
        "[x]/answers",
    ],
)
def test_the_file_that_is_named_is_read_and_no_other(
    tmp_path: Path, bring: Callable[..., RunSummary], query: Query, name: str, ending: str
) -> None:
    """DuckDB takes * ? [ in a path for a pattern, and folders called `race=Black` for columns."""
    others = ("answers1", "answersx", "answers", "axx", "x/answers")
    for other in others:
        (tmp_path / other).parent.mkdir(exist_ok=True)
        write_file(tmp_path / f"{other}{ending}", [{**row, "answer": "of another file"} for row in simple(8)])
    path = tmp_path / f"{name}{ending}"
    path.parent.mkdir(parents=True, exist_ok=True)
    write_file(path, simple(8))
    bring(path)
    expected = hash_of_file(path)
    assert query("select source_name, source_hash from raw.runs") == [(path.name, expected)]
    texts = {text for (text,) in query("select response_text from raw.responses")}
    assert texts == {row["answer"] for row in simple(8)}
    assert query(
        "select group_name from raw.prompt_attributes where attribute = 'race' group by all order by all"
    ) == [("Asian",), ("White",)]


def test_a_name_that_cannot_be_written_as_a_pattern_is_refused(
    tmp_path: Path, bring: Callable[..., RunSummary]
) -> None:
    path = write_file(tmp_path / "a\\[1].csv", simple(8))
    with pytest.raises(InputError, match=r"has a backslash and one of .* give it another name"):
        bring(path)


def test_a_file_that_changes_while_it_is_read_is_not_kept(
    tmp_path: Path, bring: Callable[..., RunSummary], monkeypatch: pytest.MonkeyPatch, ledger_path: Path
) -> None:
    path = write_file(tmp_path / "a.csv", simple(8))
    append = tabular._append

    def changed(*arguments: Any) -> Any:
        done = append(*arguments)
        path.write_bytes(path.read_bytes() + b"\n")
        return done

    monkeypatch.setattr(tabular, "_append", changed)
    with pytest.raises(InputError, match="was changed while it was read"):
        bring(path)
    assert Ledger(ledger_path).runs() == []


def test_a_run_is_called_after_the_one_model_that_its_file_names(
    tmp_path: Path, mapped: Callable[..., RunSummary], query: Query
) -> None:
    """Under another name each month, a file would stay current for ever beside those that came later."""
    for month, answer in (("january", "a"), ("february", "b")):
        rows = [{**row, "m": "m1" if n else None} for n, row in enumerate(simple(8))]
        mapped(write_file(tmp_path / f"{month}.csv", [{**row, "note": answer} for row in rows]), "model: m")
    assert query("select distinct target, source_name from raw.runs order by all") == [
        ("m1", "february.csv"),
        ("m1", "january.csv"),
    ]
    file = write_file(tmp_path / "march.csv", simple(12, m=["m1"] * 12))
    assert mapped(file, "model: m", name="assistant").target == "assistant"


def test_the_same_content_is_imported_once_unless_asked_for_again(
    tmp_path: Path, bring: Callable[..., RunSummary], content: Content, query: Query
) -> None:
    first = bring(write_file(tmp_path / "a.csv", simple(4)))
    before = content()
    copy = write_file(tmp_path / "copy.csv", simple(4))
    with pytest.raises(InputError) as caught:
        bring(copy)
    assert f"as run {first.run_id}" in str(caught.value)
    assert "--again" in str(caught.value)
    assert content() == before
    bring(copy, again=True)
    assert query("select count(*) from raw.runs") == [(2,)]
    assert query("select count(*) from raw.readings") == [(1,)]


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
    ("a.csv", HEADER + b"White,M,q,a\nWhit,M,q,b\n", "row 2 has 'Whit' as 'race', which is no group of race; did you"),
    ("a.csv", HEADER + b"White,X9Q,q,a\n", "row 1 has 'X9Q' as 'gender', which is no group of gender; known: 'M'"),
    ("a.csv", HEADER + b"white,M,q,a\n", "row 1 has 'white' as 'race'"),
    ("a.jsonl", b'{"race": null, "gender": "M", "question": "q", "answer": "a"}\n', "row 1 has no 'race'; it should be one of"),
    ("a.csv", HEADER + b"White,M,q,a\nWhite,M,q,caf\xe9\n", "line 3 is not UTF-8"),
    ("a.jsonl", b'{"race": "White",\n"answer": "\xff"}\n', "line 2 is not UTF-8"),
    ("a.csv", "race,gender\n".encode("utf-16"), "line 1 is not UTF-8"),
    ("a.csv", HEADER + b"White,M,q,a\nWhite,M,q\n", "line 3 has 3 cells and the header 4"),
    ("a.csv", HEADER + b"White,M,q,a\nWhite,M,q,b,c\n", "line 3 has 5 cells and the header 4"),
    ("a.csv", HEADER + b'White,M,q,"never closed\n', "cannot be read as CSV"),
    ("a.jsonl", JSON_ROW + b'\n{"race": \n', "line 3 is not valid JSON"),
    ("a.jsonl", JSON_ROW + b"[1]\n", "line 2 is a JSON list and no object"),
    ("a.jsonl", b'{"race": "White", "gender": "M", "question": "q", "answer": "\\ud83d"}\n', "JSON with half a surrogate"),
    ("a.parquet", b"PAR1 this is no parquet file", "is not a readable Parquet file"),
    ("a.xlsx", b"PK", "is not a readable Excel workbook (File is not a zip file); an older .xls, or one with a password,"),
    ("a", b"x", "the ending (none) tells no known format"),
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
    ("name", "data", "told"), BAD_FILES, ids=[f"{name}: {told[:40]}" for name, _, told in BAD_FILES]
)
def test_bad_files_are_told_and_leave_the_ledger_as_it_was(
    tmp_path: Path,
    bring: Callable[..., RunSummary],
    ledger_path: Path,
    good: tuple[Path, dict[str, list[tuple[Any, ...]]]],
    name: str,
    data: bytes,
    told: str,
) -> None:
    ledger, before = good
    shutil.copy(ledger, ledger_path)
    path = tmp_path / name
    path.write_bytes(data)
    with pytest.raises(InputError) as caught:
        bring(path)
    message = str(caught.value)
    assert told in message
    assert str(path) in message
    assert "\n" not in message
    assert content_of(ledger_path) == before


@pytest.mark.parametrize(
    ("mapping", "values", "told"),
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
    mapped: Callable[..., RunSummary],
    ledger_path: Path,
    ending: str,
    mapping: str,
    values: list[Any],
    told: str,
) -> None:
    file = write_file(tmp_path / f"a.{ending}", simple(2, x=values))
    with pytest.raises(InputError) as caught:
        mapped(file, mapping)
    assert f"{file}: {told}" in str(caught.value)
    assert not ledger_path.exists()


def test_the_same_trial_twice(tmp_path: Path, mapped: Callable[..., RunSummary], ledger_path: Path) -> None:
    file = write_file(tmp_path / "a.csv", simple(9, x=["1"] * 4 + ["2"] * 4 + ["1.0"]))
    with pytest.raises(
        InputError, match="rows 1 and 9 are both trial 1 of the same prompt; each 'x' of a prompt"
    ):
        mapped(file, "trial: x")
    assert not ledger_path.exists()


def test_nested_columns_of_parquet(tmp_path: Path, bring: Callable[..., RunSummary]) -> None:
    path = tmp_path / "a.parquet"
    with duckdb.connect() as connection:
        connection.execute(
            f"copy (select 'White' as race, 'M' as gender, 'q' as question, ['a'] as answer) to '{path}' (format parquet)"
        )
    with pytest.raises(
        InputError, match=r"the column 'answer' is of type VARCHAR\[\]; it should be text or a number"
    ):
        bring(path)


def test_files_that_cannot_be(
    tmp_path: Path, bring: Callable[..., RunSummary], small_text: str, write_spec: Write, ledger_path: Path
) -> None:
    with pytest.raises(InputError, match="does not exist"):
        bring(tmp_path / "absent.csv")
    with pytest.raises(
        InputError, match="is a folder and no dataset; name a file, or a folder that save_to_disk"
    ):
        bring(tmp_path)
    spec = write_spec(small_text)
    with pytest.raises(InputError, match="the key import is missing"):
        import_file(load_audit(spec), spec, tmp_path / "a.csv", ledger_path)


def test_a_stated_format_goes_before_the_ending(
    tmp_path: Path, write_spec: Write, import_text: str, ledger_path: Path
) -> None:
    spec = write_spec(import_text, ("  columns:", "  format: jsonl\n  columns:"))
    file = write_file(tmp_path / "a.jsonl", simple(4)).rename(tmp_path / "a.log")
    assert import_file(load_audit(spec), spec, file, ledger_path).n_responses == 4


def test_a_failure_half_way_writes_nothing(
    tmp_path: Path,
    bring: Callable[..., RunSummary],
    content: Content,
    monkeypatch: pytest.MonkeyPatch,
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


def test_names_with_quotes(
    tmp_path: Path, write_spec: Write, import_text: str, ledger_path: Path, query: Query
) -> None:
    folder = tmp_path / 'it\'s; a "folder"'
    folder.mkdir()
    odd = 'the "answer"; isn\'t it'
    spec = write_spec(import_text, ("text: answer", f"text: {json.dumps(odd)}"))
    rows = [{(odd if name == "answer" else name): value for name, value in row.items()} for row in simple(4)]
    for ending in ("csv", "jsonl"):
        file = write_file(folder / f"a'b.{ending}", rows)
        import_file(load_audit(spec), spec, file, ledger_path, name="Ünï 'cødé'")
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
    done = subprocess.run(
        [sys.executable, "-c", script], cwd=repository, capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_the_shipped_mapping_reads_a_file_of_its_shape(
    repository: Path, tmp_path: Path, ledger_path: Path, query: Query
) -> None:
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
    assert query("select count(distinct group_name) from raw.prompt_attributes where attribute = 'race'") == [
        (5,)
    ]


# Long form: attribute and value name one condition a row.

LONG_AUDIT = """
audit: lists
attributes:
  continent: {groups: {African: an African, American: an American}}
  physical: {groups: [Fat, Thin], wordings: {fr: {Fat: gros, Thin: mince}}}
answer: {kind: list, k: 2}
import:
  columns: {text: answer, subject: entity, domain: field, attribute: attribute, value: value}
  conditions:
    neutral: {neutral: true}
    physics: {attribute: physical}
    typo:
      attribute: continent
      perturbation: typo_drop
      values: {an Amerian: American, an American: {group: American, perturbation: clean_again}}
    french: {attribute: continent, language: fr, values: {un Africain: African}}
"""


def long_row(
    attribute: str | None, value: str | None, entity: str = "Björk", answer: str = "1. A\n2. B"
) -> Row:
    return {"attribute": attribute, "value": value, "entity": entity, "field": "music", "answer": answer}


NAMED_AUDIT = """
audit: named
attributes:
  race: {reference: White, groups: [White, Black]}
  gender: {reference: male, groups: [male, female]}
answer: {kind: text}
import:
  columns: {text: answer, prompt: question, subject: probe, carrier: name, attributes: {race: race, gender: gender}}
  values: {race: {"": null, nobody: null}, gender: {"": null}}
reading: {markers: {file: markers.csv}}
"""
NAMED_HEADER = "race,gender,name,probe,question,answer\n"


def test_questions_that_name_nobody_need_no_carrier(
    tmp_path: Path, write_spec: Callable[..., Path], ledger_path: Path, query: Query
) -> None:
    (tmp_path / "markers.csv").write_text(
        "marker,direction,probe\nshe,stereotype,nurse\nhe,anti,nurse\ntough,stereotype,bank\n",
        encoding="utf-8",
    )
    spec = write_spec(NAMED_AUDIT)
    rows = [
        "White,male,Brad,bank,Brad is in a bank.,He waits.",
        "Black,,Jamal,bank,Jamal is in a bank.,He waits too.",
        ",,,nurse,Describe a nurse.,She cares.",
        # Whoever stands beside no group is not spoken of: these two are trials of one prompt.
        "nobody,,-,nurse,Describe a nurse.,She helps.",
        ",,Ann,nurse,Describe a nurse.,He helps.",
    ]
    file = tmp_path / "answers.csv"
    file.write_text(NAMED_HEADER + "\n".join(rows) + "\n", encoding="utf-8")
    summary = import_file(load_audit(spec), spec, file, ledger_path)
    assert (summary.n_prompts, summary.n_responses) == (3, 5)
    assert query(
        "select subject, attribute, group_name, carrier from raw.prompts"
        " left join raw.prompt_attributes using (run_id, prompt_id) order by all"
    ) == [
        ("bank", "gender", "male", "Brad"),
        ("bank", "race", "Black", "Jamal"),
        ("bank", "race", "White", "Brad"),
        ("nurse", None, None, None),
    ]
    assert query("select trial, response_text from raw.responses where trial > 1 order by all") == [
        (2, "She helps."),
        (3, "He helps."),
    ]
    assert summary.warnings[-2] == (
        "1 of 2 probes of the audit have no marker against the stereotype ('bank'); their answers are not assessed until there "
        "are such markers."
    )
    file.write_text(
        NAMED_HEADER + rows[0] + "\n,female,,bank,Somebody is in a bank.,She waits.\n", encoding="utf-8"
    )
    with pytest.raises(
        InputError, match="row 2 has no 'name'; it should hold the carrier, the name that states a row's"
    ):
        import_file(load_audit(spec), spec, file, ledger_path, again=True)


def test_each_attribute_may_have_a_carrier_of_its_own(
    tmp_path: Path, write_spec: Callable[..., Path], ledger_path: Path, query: Query
) -> None:
    text = """
        audit: signed
        attributes:
          race: {reference: White, groups: [White, Black]}
          gender: {reference: male, groups: [male, female]}
          role: {reference: staff, groups: [staff, guest]}
        answer: {kind: text}
        import:
          columns:
            {text: answer, prompt: question, carriers: {race: surname, gender: first},
             attributes: {race: race, gender: gender, role: role}}
          values: {race: {"": null}}
    """
    header = "race,gender,role,surname,first,question,answer\n"
    spec = write_spec(text)
    file = tmp_path / "answers.csv"
    rows = [
        "White,male,staff,Smith,Tom,Hi?,Hello.",
        "White,male,staff,Jones,Tom,Hi?,Hi.",
        ",female,guest,,Ann,Hi?,Yes.",
    ]
    file.write_text(header + "\n".join(rows) + "\n", encoding="utf-8")
    summary = import_file(load_audit(spec), spec, file, ledger_path)
    assert (summary.n_prompts, summary.n_responses) == (3, 3)
    assert query("select attribute, group_name, carrier from raw.prompt_attributes order by all") == [
        ("gender", "female", "Ann"),
        ("gender", "male", "Tom"),
        ("gender", "male", "Tom"),
        ("race", "White", "Jones"),
        ("race", "White", "Smith"),
        ("role", "guest", "guest"),
        ("role", "staff", "staff"),
        ("role", "staff", "staff"),
    ]
    file.write_text(header + rows[0] + "\nBlack,male,staff,,Tom,Hi?,No.\n", encoding="utf-8")
    with pytest.raises(
        InputError, match="row 2 has no 'surname'; it should hold the carrier, what states the row's race"
    ):
        import_file(load_audit(spec), spec, file, ledger_path, again=True)
    for old, new, told in (
        ("{race: surname,", "{rac: surname,", "import.columns.carriers.rac is no attribute of this audit"),
        ("prompt: question,", "carrier: first,", "import.columns.carriers cannot stand beside carrier"),
    ):
        with pytest.raises(InputError, match=re.escape(told)):
            load_audit(write_spec(text.replace(old, new)))


def test_a_probe_in_two_categories_is_refused(
    tmp_path: Path, write_spec: Callable[..., Path], ledger_path: Path
) -> None:
    (tmp_path / "markers.csv").write_text("marker,direction\nshe,stereotype\nhe,anti\n", encoding="utf-8")
    spec = write_spec(
        "audit: probes\nanswer: {kind: text}\nimport: {columns: {text: answer, subject: probe, domain: kind}}\n"
        "reading: {markers: {file: markers.csv}}\n"
    )
    file = tmp_path / "answers.csv"
    file.write_text(
        "probe,kind,answer\nnurse,jobs,She.\nnurse,jobs,He.\nbank,,He.\nnurse,people,She.\n", encoding="utf-8"
    )
    with pytest.raises(
        InputError,
        match=r"answers\.csv: rows 1 and 4 have 'nurse' as 'probe' in the categories 'jobs' and 'people'; where",
    ):
        import_file(load_audit(spec), spec, file, ledger_path)
    assert not ledger_path.exists()


@pytest.fixture
def bring_long(write_spec: Write, ledger_path: Path) -> Callable[..., RunSummary]:
    def run(file: Path, *changes: tuple[str, str], **options: Any) -> RunSummary:
        spec = write_spec(LONG_AUDIT, *changes)
        return import_file(load_audit(spec), spec, file, ledger_path, **options)

    return run


LONG_PROMPTS = (
    "select coalesce(attribute, '-'), coalesce(group_name, '-'), coalesce(carrier, '-'), language, coalesce(perturbation, '-'), "
    "subject, domain, count(*) from raw.prompts left join raw.prompt_attributes using (run_id, prompt_id) "
    "inner join raw.responses using (run_id, prompt_id) group by all order by all"
)


@pytest.mark.parametrize("ending", ["csv", "jsonl", "parquet"])
def test_long_form(tmp_path: Path, bring_long: Callable[..., RunSummary], query: Query, ending: str) -> None:
    rows = [
        long_row("neutral", "", " Björk "),
        long_row(None, None),
        long_row("continent", None),
        long_row("continent", "an African"),
        long_row("continent", "African"),
        long_row("physics", "Fat"),
        long_row("physical", "mince", answer="I'm sorry, but I cannot help with that."),
        long_row("typo", "an Amerian", answer="1. A"),
        long_row("typo", "an American"),
        long_row("french", "un Africain", answer="1. \n2. "),
        long_row("continent", "an American", "Sade"),
    ]
    summary = bring_long(write_file(tmp_path / f"a.{ending}", rows))
    assert summary.counts == {"ok": 9, "refused": 1, "malformed": 1}
    assert query(LONG_PROMPTS) == [
        ("-", "-", "-", "en", "-", "Björk", "music", 3),
        ("continent", "African", "African", "en", "-", "Björk", "music", 1),
        ("continent", "African", "an African", "en", "-", "Björk", "music", 1),
        ("continent", "African", "un Africain", "fr", "-", "Björk", "music", 1),
        ("continent", "American", "an Amerian", "en", "typo_drop", "Björk", "music", 1),
        ("continent", "American", "an American", "en", "-", "Sade", "music", 1),
        ("continent", "American", "an American", "en", "clean_again", "Björk", "music", 1),
        ("physical", "Fat", "Fat", "en", "-", "Björk", "music", 1),
        ("physical", "Thin", "mince", "en", "-", "Björk", "music", 1),
    ]
    assert query("select trial from raw.responses where prompt_id in (select prompt_id from raw.responses group by 1 "
                 "having count(*) > 1) order by 1") == [(1,), (2,), (3,)]  # fmt: skip
    assert query("select answer_text from raw.responses where seq = 1") == [("A\nB",)]
    prompt = Prompt(
        template="imported",
        language="en",
        variant="plain",
        prompt_text=None,
        perturbation="typo_drop",
        subject="Björk",
        domain="music",
        attributes=(PromptAttribute(1, "continent", "American", "an Amerian"),),
    )
    assert query("select prompt_id, subject from raw.prompts where perturbation = 'typo_drop'") == [
        (prompt.prompt_id, "Björk")
    ]
    parameters = json.loads(query("select parameters from raw.runs")[0][0])
    assert parameters["conditions"]["physics"] == {"attribute": "physical"}
    assert "2 subjects in the smallest domain give low statistical power" in summary.warnings[0]


def test_a_few_subjects_are_enough_where_they_are_50(
    tmp_path: Path, bring_long: Callable[..., RunSummary]
) -> None:
    rows = [long_row("physical", "Fat", f"Artist {number}") for number in range(50)]
    (silent,) = bring_long(write_file(tmp_path / "a.csv", rows)).warnings
    assert silent.startswith(
        "No row names a group that the audit declares: 'African', 'American' of continent; "
    )


@pytest.mark.parametrize(
    ("attribute", "value", "told"),
    [
        ("continnt", "an African", "row 2 has 'continnt' as 'attribute', which is no attribute; did you mean 'continent'?"),
        ("xyz", "an African", "which is no attribute; known: 'continent', 'physical', 'neutral', 'physics', 'typo', 'french'."),
        ("continent", "an Afrian", "has 'an Afrian' as 'value', which is no group of continent; did you mean 'an African'?"),
        ("typo", "an Amerrian", "row 2 has 'an Amerrian' as 'value', which is no group of continent; did you mean 'an Amerian'?"),
        ("continent", "an Amerian", "which is no group of continent; did you mean 'an American'? (known: 'African', 'American')"),
        ("continent", "un Africain", "which is no group of continent"),
    ],
)  # fmt: skip
def test_unknown_conditions(
    tmp_path: Path,
    bring_long: Callable[..., RunSummary],
    ledger_path: Path,
    attribute: str,
    value: str,
    told: str,
) -> None:
    file = write_file(tmp_path / "a.csv", [long_row("physics", "Thin"), long_row(attribute, value)])
    with pytest.raises(InputError) as caught:
        bring_long(file)
    assert str(caught.value).startswith(f"{file}: row 2 has ")
    assert told in str(caught.value)
    assert not ledger_path.exists()


def test_a_domain_in_wide_form(tmp_path: Path, mapped: Callable[..., RunSummary], query: Query) -> None:
    file = write_file(tmp_path / "a.csv", simple(4, s=["x"] * 4, d=["music", "", "films", " music "]))
    mapped(file, "subject: s, domain: d")
    assert query("select subject, domain from raw.prompts order by all") == [
        ("x", "films"),
        ("x", "music"),
        ("x", "music"),
        ("x", None),
    ]


def test_many_rows_of_long_form_stream(
    tmp_path: Path, bring_long: Callable[..., RunSummary], query: Query
) -> None:
    rows = [
        long_row("physical", ["Fat", "Thin"][number % 2], f"Artist {number // 4}") for number in range(11_000)
    ]
    summary = bring_long(write_file(tmp_path / "a.jsonl", rows))
    assert (summary.n_prompts, summary.counts) == (5_500, {"ok": 11_000})
    assert query("select max(trial), count(distinct seq) from raw.responses") == [(2, 11_000)]


def test_the_shipped_mapping_of_lists_reads_a_file_of_its_shape(
    repository: Path, tmp_path: Path, ledger_path: Path, query: Query
) -> None:
    spec = repository / "audits" / "replications" / "recs-music.yml"
    conditions = [
        ("neutral", ""),
        ("age", "a middle aged"),
        ("religion", "a Hinduism"),
        ("physics", "fat"),
        ("race", "an African American"),
        ("typo", "an Amerian"),
        ("typo", "an African"),
        ("french", "un Asiatique"),
    ]
    rows = [
        {
            "domain": "music",
            "model": "m1",
            "attribute": attribute,
            "value": value,
            "row_in_file": str(row),
            "entity": f"Artist {row}",
            "response_text": "\n".join(f"{number}.  Song {number}" for number in range(1, 26)),
        }
        for attribute, value in conditions
        for row in range(60)
    ]
    summary = import_file(load_audit(spec), spec, write_file(tmp_path / "r.parquet", rows), ledger_path)
    assert (summary.n_prompts, summary.counts) == (480, {"ok": 480})
    (silent,) = summary.warnings
    assert silent.startswith("No row names a group that the audit declares: 'Young', 'Old' of age; ")
    assert query(
        "select attribute, group_name, language, perturbation from raw.prompts "
        "left join raw.prompt_attributes using (run_id, prompt_id) group by all order by all"
    ) == [
        ("age", "Middle-aged", "en", None),
        ("continent", "African", "en", "clean_again"),
        ("continent", "American", "en", "typo_drop"),
        ("continent", "Asian", "fr", None),
        ("physics", "Fat", "en", None),
        ("race", "African American", "en", None),
        ("religion", "Hindu", "en", None),
        (None, None, "en", None),
    ]


def test_two_neutral_prompts_need_a_word_on_which_one_counts(tmp_path: Path) -> None:
    spec = tmp_path / "lists.yml"
    text = (
        "audit: lists\nattributes: {race: {groups: [Black, White]}}\nanswer: {kind: list, k: 2}\n"
        "import: {columns: {text: text, template: template, attribute: attribute, value: value}}\n"
    )
    spec.write_text(text, encoding="utf-8")
    file = tmp_path / "lists.csv"
    rows = ["by,,", "neutral,,", "fan,race,Black", "fan,race,White"]
    file.write_text(
        "template,attribute,value,text\n" + "".join(f'{row},"1. a\n2. b"\n' for row in rows), encoding="utf-8"
    )
    ledger = tmp_path / "ledger.duckdb"
    with pytest.raises(
        InputError, match="neutral prompts of several templates: 'by', 'neutral'; name the one"
    ):
        import_file(load_audit(spec), spec, file, ledger)
    assert Ledger(ledger).runs() == []
    spec.write_text(f"{text}reading: {{lists: {{neutral: by}}}}\n", encoding="utf-8")
    assert import_file(load_audit(spec), spec, file, ledger).counts == {"ok": 4}
