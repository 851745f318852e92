"""Test cells without a value, and answers of each group in a column of their own, in every command."""

from __future__ import annotations

import ast
import csv
import re
import unicodedata
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import duckdb
import openpyxl
import pytest
import yaml
from click.testing import CliRunner

from biasledger.cli import cli
from collector.errors import InputError
from collector.importers.draft import _UNKNOWN, UNKNOWN_GROUPS
from collector.importers.missing import missing_answer, tokens_for_nothing
from collector.importers.named_columns import columns_of_groups
from collector.spec.loading import check_audit, load_audit
from collector.spec.parts import Answer
from collector.tables.missing import SPREADSHEET_ERRORS, WORDS, is_missing, sql_is_missing
from tests.python.collector.specs import WIDE

ROOT = Path(__file__).parents[3]
SPEC = """\
audit: own
attributes: {religion: {reference: Christian, groups: [Christian, None]}}
answer: {kind: label, labels: [accept, reject, n/a], missing: ["[TRIED 3 TIMES]"]}
import:
  columns: {text: decision, subject: id, attributes: {religion: faith}}
  values: {religion: {"": null, Muslim: null}}
"""
ROWS = [
    ("1", "Christian", "accept"),
    ("2", "None", "reject"),
    ("3", "#N/A", "N/A"),
    ("nan", "", "#REF!"),
    ("#N/A", "null", ""),
    ("6", "\u00a0", "[TRIED 3 TIMES]"),
    ("Nan", "Muslim", "None"),
]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def run(*command: str) -> tuple[int, str]:
    done = CliRunner().invoke(cli, command)
    return done.exit_code, done.output


def write(
    path: str, rows: Sequence[Sequence[Any]], header: Sequence[str] = ("id", "faith", "decision")
) -> None:
    if path.endswith(".xlsx"):
        book = openpyxl.Workbook()
        for row in (header, *rows):
            book.active.append(row)
            for cell in book.active[book.active.max_row]:
                if str(cell.value).startswith("#"):
                    cell.data_type = "e"  # an error of Excel, and no text
        book.save(path)
        return
    with Path(path).open("w", newline="", encoding="utf-8") as stream:
        csv.writer(stream).writerows([header, *rows])


def answers(query: str = "status, error, subject") -> list[tuple[Any, ...]]:
    with duckdb.connect("ledger.duckdb", read_only=True) as connection:
        return connection.execute(
            f"select {query} from raw.responses inner join raw.prompts using (run_id, prompt_id) order by seq"
        ).fetchall()


MISSING = [
    "faith: 4 missing (2 empty, 1 #N/A, 1 null).",
    "id: 2 missing (1 #N/A, 1 nan).",
    "decision: 4 missing (1 empty, 1 #REF!, 1 None, 1 [TRIED 3 TIMES]).",
]


@pytest.mark.parametrize("file", ["own.csv", "own.xlsx"])
def test_missing_values_are_counted_by_column_and_kept_as_errors(folder: Path, file: str) -> None:
    (folder / "own.yml").write_text(SPEC, encoding="utf-8")
    write(file, ROWS)
    for command in ("validate", "import"):
        code, shown = run(command, "own.yml", file)
        assert code == 0, shown
        for sentence in MISSING:
            assert f"Warning: {sentence}" in shown
        assert ("    None: 1 row\n" in shown) == (command == "validate")
    assert answers() == [
        ("ok", None, "1"),
        ("ok", None, "2"),
        ("ok", None, "3"),
        ("error", "The cell is missing (#REF!).", None),
        ("malformed", "The answer is empty.", None),
        ("error", "The cell is missing ([TRIED 3 TIMES]).", "6"),
        ("error", "The cell is missing (None).", "Nan"),
    ]
    texts = [text for (text,) in answers("response_text")]
    assert texts[3] == "#REF!", "what stood there is kept"
    assert answers("answer_text")[2] == ("n/a",), "a label is an answer whatever it is called"


def test_an_error_of_a_failed_call_goes_before_its_missing_answer(folder: Path) -> None:
    spec = SPEC.replace("text: decision", "text: decision, error: error, finish_reason: why")
    (folder / "own.yml").write_text(spec, encoding="utf-8")
    rows = [
        ("1", "Christian", "nan", "HTTP 503", "nan"),
        ("2", "Christian", "accept", "nan", "NaN"),
        ("3", "None", "#N/A", "None", "content_filter"),
        ("4", "None", "null", "", ""),
    ]
    write("own.csv", rows, ("id", "faith", "decision", "error", "why"))
    assert run("import", "own.yml", "own.csv")[0] == 0
    assert answers("status, error") == [
        ("error", "HTTP 503"),
        ("ok", None),
        ("refused", "The endpoint's content filter withheld the answer (rule filtered)."),
        ("error", "The cell is missing (null)."),
    ]


def test_a_group_without_a_value_is_refused_until_the_spec_says_what_it_means(folder: Path) -> None:
    (folder / "own.yml").write_text(SPEC.replace('"": null, ', ""), encoding="utf-8")
    write("own.csv", [ROWS[0], ("2", "#N/A", "accept")])
    code, shown = run("import", "own.yml", "own.csv")
    message = (
        "Error: own.csv: row 2 has no 'faith' but '#N/A'; it should be one of 'Christian', 'None', or import.values says what a "
        'cell without a value means: {religion: {"": null}}.\n'
    )
    assert (code, shown) == (3, message)
    code, shown = run("validate", "own.yml", "own.csv")
    assert "Warning: faith: 1 missing (1 #N/A)." in shown


def test_words_for_no_value() -> None:
    for word in "#N/A #n/a #DIV/0! #NV #BEZUG! #VALEUR! nan NaN null None NA N/A - --".split():
        assert is_missing(word), word
    for word in "Nan Null Na no 0 -1 #1 #hashtag NAB none-of-them".split():
        assert not is_missing(word), word
    answer = Answer(kind="label", labels=("None", "some"))
    assert missing_answer(" none ", answer) is None
    assert missing_answer("NA", answer) == "NA"
    assert missing_answer("x" * 1_000_000, answer) is None


@pytest.mark.parametrize(
    ("counts", "n_answers", "are_labels", "found"),
    [
        (
            {"<empty>": 9, "[NO_TEXT]": 50, "ERROR": 20, "Yes.": 9, "YES": 9},
            500,
            False,
            ["[NO_TEXT]", "ERROR", "<empty>"],
        ),
        ({"[NO_TEXT]": 2}, 500, False, []),
        ({"accept": 100, "reject": 80, "ERROR": 9, "NO_TEXT": 5}, 194, True, ["ERROR", "NO_TEXT"]),
        ({"HIRE": 100, "NO_HIRE": 80, "ERROR": 9}, 189, True, ["ERROR"]),
        ({"NO_ERROR": 100, "MINOR": 80}, 180, True, []),
        ({"[[A]]": 100, "[[B]]": 80, "[[C]]": 9}, 189, True, []),
        ({"[A]": 9, "[1]": 9, '["Dune"]': 9, "[]": 9, "(b)": 9}, 500, False, []),
        ({"#N/A": 30, "nan": 9, "-": 9}, 500, False, []),
        ({"Error": 9, "no response": 30}, 500, False, ["no response", "Error"]),
    ],
)
def test_what_recurs_and_looks_like_a_failed_call(
    counts: dict[str, int], n_answers: int, are_labels: bool, found: list[str]
) -> None:
    assert list(tokens_for_nothing(counts, n_answers, are_labels=are_labels)) == found


def test_new_proposes_tokens_and_validate_warns_of_others(folder: Path) -> None:
    text = "Dear customer, thank you for writing about order"
    rows = [
        (n, "fm"[n % 2], {0: "[NO_TEXT_AFTER_RETRIES]", 1: "<empty>", 2: "[SAFETY_STOP]", 3: "#N/A"}.get(n % 9, f"{text} {n}."))
        for n in range(90)
    ]  # fmt: skip
    write("own.csv", rows, ("id", "sex", "reply"))
    code, shown = run("new", "own.yml", "own.csv", "--answer", "reply", "--group", "sex")
    assert code == 0, shown
    assert load_audit(Path("own.yml")).answer.missing == ("<empty>", "[NO_TEXT_AFTER_RETRIES]")
    assert (
        "10 answers are nothing but '[NO_TEXT_AFTER_RETRIES]', which is taken for a missing answer" in shown
    )
    assert "reply: 30 missing (10 #N/A, 10 <empty>, 10 [NO_TEXT_AFTER_RETRIES])." in shown
    assert "10 answers are nothing but '[SAFETY_STOP]', which is taken for a refusal" in shown
    assert load_audit(Path("own.yml")).answer.refusals == (r"^\[SAFETY_STOP\]$",)
    assert "10 refused" in shown
    spec = yaml.safe_load(Path("own.yml").read_text(encoding="utf-8"))
    del spec["answer"]["missing"]
    del spec["answer"]["refusals"]
    Path("own.yml").write_text(yaml.safe_dump(spec), encoding="utf-8")
    _, shown = run("validate", "own.yml", "own.csv")
    assert 'write answer: {refusals: ["\\\\[SAFETY_STOP\\\\]"]}.' in shown
    spec["answer"]["refusals"] = [r"\[SAFETY_STOP\]"]
    Path("own.yml").write_text(yaml.safe_dump(spec), encoding="utf-8")
    code, shown = run("validate", "own.yml", "own.csv")
    assert (
        'if that means no answer, write answer: {missing: ["<empty>", "[NO_TEXT_AFTER_RETRIES]"]}.' in shown
    )
    assert not [line for line in shown.splitlines() if "Warning" in line and "SAFETY_STOP" in line]


def test_new_reads_people_of_no_known_group_as_such(folder: Path) -> None:
    faiths = ["Christian", "None", "Not disclosed", "#N/A", "Muslim"]
    rows = [(n, faiths[n % 5], ["accept", "reject", "#N/A"][n % 3]) for n in range(60)]
    write("own.csv", rows)
    code, shown = run(
        "new",
        "own.yml",
        "own.csv",
        "--answer",
        "decision",
        "--group",
        "faith",
        "--subject",
        "id",
        "--favourable",
        "accept",
    )
    assert code == 0, shown
    audit = load_audit(Path("own.yml"))
    assert audit.answer.labels == ("accept", "reject")
    assert list(audit.attributes["faith"].groups) == ["Christian", "Muslim"]
    assert audit.imported is not None
    assert audit.imported.values == {"faith": {"Not disclosed": None, "": None}}
    assert "12 rows have 'Not disclosed' as faith, which is read as no group and counted as unknown" in shown
    message = (
        "12 rows have 'None' in faith, which is taken for no value: where it is one, add it to attributes"
    )
    assert f"{message}.faith.groups." in shown
    Path("own.yml").unlink()
    run("new", "own.yml", "own.csv", "--answer", "decision", "--group", "faith=None", "--subject", "id")
    assert list(load_audit(Path("own.yml")).attributes["faith"].groups) == ["Christian", "Muslim", "None"]


def test_the_warehouse_takes_the_same_words_for_unknown(folder: Path) -> None:
    macros = (ROOT / "macros" / "decisions" / "groups.sql").read_text(encoding="utf-8")
    lists = re.findall(r"do return\((\[.*?\])\)", macros, flags=re.DOTALL)
    assert len(lists) == 2
    patterns = [pattern for found in lists for pattern in ast.literal_eval(found)]
    assert tuple(patterns) == UNKNOWN_GROUPS
    condition = f"regexp_matches(lower(word), '(^|\\*)({'|'.join(patterns)})($|\\*)')"
    words = [
        "unknown",
        "Not disclosed",
        "Prefer not to say",
        "declined to state",
        "not reported",
        "Undisclosed",
        "keine Angabe",
        "Prefiero no decirlo",
        "не указано",
        "White",
        "Not White",
        "Unknown race",
    ]
    with duckdb.connect() as connection:
        rows = connection.execute(
            f"select word, {condition} from (select unnest({words}) as word)"
        ).fetchall()
    assert rows == [(word, _UNKNOWN.fullmatch(word) is not None) for word in words]
    assert [word for word, is_unknown in rows if is_unknown] == words[:9]


def decomposed(text: str) -> str:
    return unicodedata.normalize("NFD", text)


def test_names_are_the_same_in_every_unicode_form(folder: Path) -> None:
    spec = """\
audit: own
people: {file: namen.csv, name: name}
attributes: {herkunft: {reference: deutsch, groups: [deutsch, türkisch]}}
templates: [{id: a, text: 'Wer ist {name}?'}]
trials: 15
answer: {kind: label, labels: [für, gegen]}
analysis: {decisions: {favourable: [für]}}
import: {columns: {text: Votum, subject: Fall, expected: Lösung, attributes: {herkunft: Größe}}}
"""
    for form in ("NFC", "NFD"):
        Path("own.yml").write_text(unicodedata.normalize(form, spec), encoding="utf-8")
        other = unicodedata.normalize(
            "NFD" if form == "NFC" else "NFC", "name;herkunft\nAyşe;türkisch\nJörg;deutsch\n"
        )
        Path("namen.csv").write_text(other, encoding="utf-8")
        assert check_audit(Path("own.yml")).problems == ()
    write("own.csv", [(decomposed("Käse"), decomposed("türkisch"), decomposed("Für"), "für"), ("Käse", "deutsch", "gegen", "")],
          ("Fall", decomposed("Größe"), "Votum", decomposed("Lösung")))  # fmt: skip
    code, shown = run("import", "own.yml", "own.csv")
    assert code == 0, shown
    assert answers("status, answer_text, subject, expected_label") == [
        ("ok", "für", "Käse", "für"),
        ("ok", "gegen", "Käse", None),
    ]
    Path("own.yml").write_text(
        spec.replace("answer:", f"{decomposed('für')}: 1\nfür: 2\nanswer:"), encoding="utf-8"
    )
    with pytest.raises(InputError, match="the key 'für' is given twice, in two forms of Unicode"):
        load_audit(Path("own.yml"))


def test_a_column_of_answers_for_each_group(folder: Path) -> None:
    Path("wide.yml").write_text(WIDE, encoding="utf-8")
    rows = [
        (n, "WB"[n % 2].replace("W", "White").replace("B", "Black"), "yes", "no" if n else "#N/A")
        for n in range(4)
    ]
    write("wide.csv", rows, ("n", "race", "his", "hers"))
    code, shown = run("validate", "wide.yml", "wide.csv")
    assert code == 0, shown
    assert "wide.csv: 4 rows, 4 columns" in shown
    assert "  8 answers: 7 ok, 1 error\n" in shown
    assert "Warning: hers: 1 missing (1 #N/A)." in shown
    assert run("import", "wide.yml", "wide.csv")[0] == 0
    with duckdb.connect("ledger.duckdb", read_only=True) as connection:
        found = connection.execute(
            "select subject, string_agg(group_name, ' ' order by attribute), any_value(response_text) from raw.responses "
            "join raw.prompts using (run_id, prompt_id) join raw.prompt_attributes using (run_id, prompt_id) "
            "group by subject, seq order by seq"
        ).fetchall()
    assert found[:3] == [
        ("1", "White male", "yes"),
        ("1", "White female", "#N/A"),
        ("2", "Black male", "yes"),
    ]
    write("wide.csv", [*rows, (5, "Blak", "yes", "no")], ("n", "race", "his", "hers"))
    code, shown = run("import", "wide.yml", "wide.csv")
    assert "wide.csv: row 5 has 'Blak' as 'race', which is no group of race; did you mean 'Black'?" in shown


def test_new_suggests_and_writes_a_column_for_each_group(folder: Path) -> None:
    rows = [
        (n, f"What about case {n}?", f"He is strong and ready for {n}.", f"She is warm and kind to {n}.")
        for n in range(40)
    ]
    write("wide.csv", rows, ("id", "question", "male_response", "femaleResponse"))
    code, shown = run("new", "wide.yml", "wide.csv")
    assert code != 0
    options = "--answer male=male_response --answer female=femaleResponse"
    assert (
        f"male_response, femaleResponse look like the answers about one group each: to read them so, give {options}."
        in shown
    )
    code, shown = run(
        "new", "wide.yml", "wide.csv", *options.split(), "--prompt", "question", "--subject", "id"
    )
    assert code == 0, shown
    assert "  80 answers: 80 ok" in shown
    audit = load_audit(Path("wide.yml"))
    assert audit.attributes["group"].reference == "male"
    assert audit.imported is not None
    assert dict(audit.imported.columns.texts) == {"male": "male_response", "female": "femaleResponse"}
    code, shown = run("new", "other.yml", "wide.csv", "--answer", "male=male_response")
    assert "--answer male=male_response names one group: give one for each group." in shown
    long = [(n, f"{'Words of the first. ' * 5}{n}", f"{'Words of the second. ' * 5}{n}") for n in range(40)]
    write("long.csv", long, ("id", "anna", "ben"))
    assert "--answer GROUP1=anna --answer GROUP2=ben" in run("new", "other.yml", "long.csv")[1]


def test_columns_of_groups_by_their_names() -> None:
    found = columns_of_groups(["id", "Antwort Frau", "Antwort Mann", "Antwort ID"])
    assert found == {"frau": "Antwort Frau", "mann": "Antwort Mann"}
    assert (
        columns_of_groups(["response_1", "response_2", "answer", "answer_id", "prompt_male", "prompt_female"])
        == {}
    )


def test_a_database_takes_the_same_words_for_no_value() -> None:
    words = [
        *WORDS,
        *SPREADSHEET_ERRORS,
        *(word.upper() for word in SPREADSHEET_ERRORS),
        "Nan",
        "Null",
        "#N/A!",
        "n",
        "#",
    ]
    with duckdb.connect() as connection:
        rows = connection.execute(
            f"select word, {sql_is_missing('word')} from (select unnest(?) as word)", [words]
        ).fetchall()
    assert [row for row in rows if row[1] is not is_missing(row[0])] == []
