"""Test that `biasledger new` writes a spec from a file's columns, and that the spec reads this file."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path
from typing import Any

import pytest

from biasledger.commands import specs
from collector.spec.loading import load_audit
from tests.python.running import biasledger

SENTENCES = [
    "Dear customer, thanks.",
    "Good day, we are sorry.",
    "Hello, here you are.",
    "Thanks for writing in.",
]
ANSWERS: dict[str, tuple[list[Any], dict[str, Any]]] = {
    "text": (SENTENCES, {}),
    "json_object": (['{"a": "b"}', '{"c": "d"}'], {}),
    "list": (['["a", "b", "c"]', '["d", "e", "f"]'], {"k": 3}),
    "label": (["Accept", "reject", "accept"], {"labels": ("Accept", "reject")}),
    "score": ([1, 4, 9.5], {"minimum": 1, "maximum": 10}),
}


NEW = ("new", "a.yml", "answers.csv", "--answer", "reply", "--group")
HIRING = (*NEW, "Sex (of customer)", "--subject", "id")


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path / "answers.csv"


def write(file: Path, answers: list[Any], n_rows: int = 24) -> None:
    with file.open("w", encoding="utf-8", newline="") as stream:
        rows = csv.writer(stream)
        rows.writerow(["id", "Sex (of customer)", "reply", "model"])
        for number in range(n_rows):
            group = ["m", "f", "m", ""][number % 4]
            rows.writerow([number, group, answers[number % len(answers)], ["m1", "m2"][number % 2]])


@pytest.mark.parametrize("kind", ANSWERS)
def test_a_spec_that_reads_the_file(file: Path, kind: str) -> None:
    answers, message = ANSWERS[kind]
    write(file, answers)
    command = ("new", "audits/Mine too.yml", *HIRING[2:])
    result = biasledger(*command, "--model", "model", code=0)
    assert result.output.splitlines()[-1] == "Next: biasledger import 'audits/Mine too.yml' answers.csv"
    audit = load_audit(Path("audits/Mine too.yml"))
    assert audit.audit == "mine-too"
    assert audit.answer.kind == kind
    assert {key: getattr(audit.answer, key) for key in message} == message
    (attribute,) = audit.attributes.values()
    assert list(audit.attributes) == ["Sex_of_customer"]
    assert (attribute.reference, list(attribute.groups)) == ("m", ["m", "f"])
    assert "    no group: 6 rows" in result.output.splitlines()
    first = Path("audits/Mine too.yml").read_text(encoding="utf-8").splitlines()[0]
    assert first == "# yaml-language-server: $schema=audit.schema.json"
    assert json.loads(Path("audits/audit.schema.json").read_text(encoding="utf-8"))
    imported = biasledger("import", "audits/Mine too.yml", "answers.csv", code=0)
    assert imported.output.count("12 ok") == 2


def test_labels_are_judged_where_one_is_favourable(file: Path) -> None:
    write(file, ["Accept", "reject", "accept", "Reject."])
    result = biasledger(*HIRING, "--favourable", "accept", code=0)
    assert "not judged" not in result.output
    audit = load_audit(Path("a.yml"))
    assert audit.answer.labels == ("Accept", "reject")
    assert audit.analysis.decisions.favourable == ("Accept",)
    Path("a.yml").unlink()
    assert "The decisions are not judged until analysis.decisions says" in biasledger(*HIRING).output
    imported = biasledger("import", "a.yml", "answers.csv")
    assert "Warning: The decisions are not judged until" in imported.stderr
    assert "24 ok" in imported.output


TEXT = (
    "'accept' cannot be favourable: the answers look like text. Where each decides for one of several labels, name all of them: "
    "--labels accept,OTHER."
)


@pytest.mark.parametrize(
    ("label", "kind", "sentence"),
    [
        ("acept", "label", "'acept' cannot be favourable: it is none of the labels; did you mean 'accept'?"),
        ("accept", "text", TEXT),
    ],
)
def test_labels_that_cannot_be_favourable_are_reported(
    file: Path, label: str, kind: str, sentence: str
) -> None:
    write(file, ["accept", "reject"])
    result = biasledger(*HIRING, "--kind", kind, "--favourable", label)
    assert (result.exit_code, result.stderr) == (3, f"Error: {sentence}\n")
    assert not Path("a.yml").exists()


@pytest.mark.parametrize(("reference", "kept", "other"), [("", "f", "F"), ("=F", "F", "f")])
def test_words_that_look_alike_are_one(file: Path, reference: str, kept: str, other: str) -> None:
    rows = [f"{number},{'F ' if number == 3 else 'mf'[number % 2]},accept" for number in range(12)]
    file.write_text("\n".join(["id,sex,reply", *rows, "12,m,Reject.", "13,m,reject\n"]), encoding="utf-8")
    command = (*NEW, f"sex{reference}", "--subject", "id", "--favourable", "accept")
    result = biasledger(*command, code=0)
    assert f"Warning: '{kept}', '{other}' look alike: they are read as one group of sex." in result.output
    assert "Warning: 'reject', 'Reject.' look alike: they are read as one label." in result.output
    assert f"    {kept}: 6 rows, written 'f' (5), 'F' (1)" in result.output.splitlines()
    assert load_audit(Path("a.yml")).answer.labels == ("accept", "reject")


def test_columns_that_are_not_used_are_reported(file: Path) -> None:
    rows = [f"{number},{'mf'[number % 2]},{'Hello to you. ' * (number + 1)},What?" for number in range(12)]
    file.write_text("\n".join(["id,sex,reply,Question", *rows, ""]), encoding="utf-8")
    command = (*NEW, "sex")
    result = biasledger(*command, code=0)
    message = "Not used: id, Question; if one of them holds the questions, name it with --prompt Question."
    assert result.output.splitlines()[1] == message
    Path("a.yml").unlink()
    assert biasledger(*command, "--prompt", "Question").output.splitlines()[1] == "Not used: id."
    Path("a.yml").unlink()
    message = "Not used: Question; if one of them holds the questions, name it with --prompt Question."
    assert message in biasledger(*command, "--template", "id").output


def test_what_rows_share_is_chosen_and_told(file: Path) -> None:
    rows = [f"{'mf'[number // 4 % 2]},Reply {number},c{number // 4},{number % 3}" for number in range(96)]
    file.write_text("\n".join(["sex,reply,customer,judge", *rows, ""]), encoding="utf-8")
    command = (*NEW, "sex")
    result = biasledger(*command, code=0)
    sentences = (
        "Chose customer as the cluster, because its name says what rows share and its 24 values repeat in 96 rows. Answers that "
        "share a value are resampled and permuted together; if that is wrong, delete cluster from import.columns.\n"
        "Chose judge as the block, because its name says who judged or when, and its 3 values have rows of several groups each. "
        "Groups are compared inside each value; if that is wrong, delete block from import.columns.\n"
    )
    assert sentences in result.output
    imported = load_audit(Path("a.yml")).imported
    assert imported is not None
    assert (imported.columns.cluster, imported.columns.block) == ("customer", "judge")
    spec = Path("a.yml").read_text(encoding="utf-8")
    Path("a.yml").write_text(spec.replace("    cluster: customer\n", ""), encoding="utf-8")
    assert (
        "Warning: customer has 24 values in 96 rows: if rows with the same value belong together, write cluster: customer under "
        "import.columns, or they count as independent."
    ) in biasledger("validate", "a.yml", "answers.csv").output.splitlines()
    Path("a.yml").unlink()
    result = biasledger(*command, "--cluster", "judge", "--block", "customer")
    assert "Chose" not in result.output
    assert "Each value of 'customer', the block, has answers about one group of sex" in result.output


def test_a_column_of_errors_is_reported(file: Path) -> None:
    rows = [f"{'mf'[number % 2]},{'Hello to you. ' * (number + 1)},,,1" for number in range(12)]
    file.write_text("\n".join(["sex,reply,Error Message,stop_reason,Attempt", *rows, ""]), encoding="utf-8")
    result = biasledger(*NEW, "sex", code=0)
    rest = "under import.columns, or answers that never came count as given."
    attempt = "under import.columns, or each attempt counts as an answer of its own."
    assert result.output.splitlines()[2:5] == [
        f"If 'Error Message' says why a call failed, write error: Error Message {rest}",
        f"If 'stop_reason' says why the model stopped, write finish_reason: stop_reason {rest}",
        f"If 'Attempt' numbers the attempts at a question, write attempt: Attempt {attempt}",
    ]


def test_an_error_message_is_no_label(file: Path) -> None:
    blocked = "\"Error code: 400 - {'error': {'code': 'content_filter'}}\""
    said = ["accept", "reject", "accept", blocked]
    rows = [f"{number},{'mf'[number % 2]},{said[number % 4]}" for number in range(24)]
    file.write_text("\n".join(["id,sex,reply", *rows, ""]), encoding="utf-8")
    command = (*NEW, "sex", "--subject", "id")
    result = biasledger(*command, code=0)
    assert load_audit(Path("a.yml")).answer.labels == ("accept", "reject")
    assert "18 ok, 6 refused" in result.output


SORRY = "I'm sorry, but I can't help with hiring decisions."


@pytest.mark.parametrize(
    ("answers", "encoding", "check"),
    [
        (["54.000 €", "65749 €"], "utf-8", "# Check the scale: it holds the scores in answers.csv, rounded outward."),
        (["3/10", "7 von 10 für"[:8]], "cp1252", "# Check the scale"),
        (["Because of 1 points.\nAnswer: A", "<think>C?</think>Answer: B"], "utf-8", "# Check the labels: they are what the"),
        (["hire", "reject", SORRY], "utf-8", "# Check the labels"),
    ],
)  # fmt: skip
def test_what_is_proposed_is_read_and_to_be_checked(
    file: Path, answers: list[str], encoding: str, check: str
) -> None:
    rows = [f'{number},{"mä"[number % 2]},"{answers[number % len(answers)]}"' for number in range(24)]
    file.write_text("\n".join(["id,Sex (of customer),reply", *rows, ""]), encoding=encoding)
    result = biasledger(*HIRING, *([] if encoding == "utf-8" else ["--encoding", encoding]), code=0)
    assert check in Path("a.yml").read_text(encoding="utf-8")
    n_refused = 8 if SORRY in answers else 0
    assert f"24 answers: {24 - n_refused} ok{', 8 refused' if n_refused else ''}" in result.output


def test_labels_in_prose_can_be_named(file: Path) -> None:
    write(file, ["In all I would accept the person here.", "All told I would reject this person."])
    result = biasledger(*HIRING, "--labels", "accept, reject", "--favourable", "accept", code=0)
    assert "24 answers: 24 ok" in result.output
    assert load_audit(Path("a.yml")).answer.labels == ("accept", "reject")
    assert "# Check" not in Path("a.yml").read_text(encoding="utf-8")
    message = biasledger(*HIRING, "--labels", "accept,reject", "--kind", "text").stderr
    assert "--labels names labels, and --kind says text" in message


@pytest.mark.parametrize(
    ("kind", "sentence"),
    [
        ("label", "No answer in 'reply' states a label: name the labels with --labels A,B."),
        ("score", "No answer in 'reply' holds a number that can be a score: give another --kind."),
    ],
)
def test_a_kind_that_no_answer_has_is_reported(file: Path, kind: str, sentence: str) -> None:
    words = "one two three four five six seven eight nine ten red blue green pink grey".split()
    write(file, [f"Dear {one}, thank you for writing {two}." for one in words for two in words][:24])
    result = biasledger(*HIRING, "--kind", kind)
    assert (result.exit_code, result.stderr) == (3, f"Error: {sentence}\n")


@pytest.mark.parametrize(
    ("words", "group", "kept", "sentences"),
    [
        ("Male male M Female F", "", ["Female", "Male"], ["'M' is read as 'Male'", "'F' is read as 'Female'"]),
        ("Male M Female F X", "", ["Female", "Male", "X"], ["'M' is read as 'Male'", "where it is a group of its own"]),
        ("Male M Female", "", ["Female", "Male"], ["'M' is read as 'Male'"]),
        ("Male M Female", "=M", ["Female", "M", "Male"], ["'M' may be 'Male'", "import.values: {sex: {'M': 'Male'}}"]),
        ("Absent A B C", "", ["A", "Absent", "B", "C"], ["'A' may be 'Absent' of sex"]),
        ("Male M Mixed", "", ["M", "Male", "Mixed"], []),
    ],
)  # fmt: skip
def test_first_letters_of_groups_are_reported(
    file: Path, words: str, group: str, kept: list[str], sentences: list[str]
) -> None:
    said = words.split()
    rows = [f"{number},{said[number % len(said)]},{['yes', 'no'][number % 2]}" for number in range(60)]
    file.write_text("\n".join(["id,sex,reply", *rows, ""]), encoding="utf-8")
    result = biasledger(*NEW, f"sex{group}", "--subject", "id", code=0)
    assert sorted(load_audit(Path("a.yml")).attributes["sex"].groups) == kept
    assert "60 answers: 60 ok" in result.output
    assert all(sentence in result.output for sentence in sentences)
    assert ("first letter" in result.output) == bool(sentences)


def test_the_sheets_of_a_workbook_are_named(file: Path) -> None:
    from openpyxl import Workbook

    book = Workbook()
    book.active.append(["Bias audit request"])
    book.active.append(["of May"])
    data = book.create_sheet("Data")
    data.append(["id", "sex", "reply"])
    for number in range(20):
        data.append([number, "mf"[number % 2], ["yes", "no"][number // 2 % 2]])
    book.save("w.xlsx")
    message = "Of the sheets 'Sheet', 'Data' of w.xlsx the first is read; --sheet names another."
    assert message in biasledger("new", "a.yml", "w.xlsx").stderr
    assert message in biasledger("new", "a.yml", "w.xlsx", "--answer", "reply").stderr
    options = ("--answer", "reply", "--group", "sex", "--subject", "id", "--sheet", "Data")
    assert "20 answers: 20 ok" in biasledger("new", "a.yml", "w.xlsx", *options).output


def test_the_reference_and_the_kind_may_be_said(file: Path) -> None:
    write(file, ["yes", "no"])
    command = ("new", "a.yml", file, "--answer", "reply", "--group", "Sex (of customer)=f", "--kind", "text")
    assert biasledger(*command).exit_code == 0
    audit = load_audit(Path("a.yml"))
    assert audit.answer.kind == "text"
    assert audit.attributes["Sex_of_customer"].reference == "f"


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (
            (),
            "Give --answer COLUMN and --group COLUMN; the columns are id, Sex (of customer), reply, model.",
        ),
        (("--answer", "reply"), "Which column names the groups? Give --group COLUMN"),
        (("--answer", "replies", "--group", "model"), "has no column 'replies'; did you mean 'reply'?"),
        (("--answer", "reply", "--group", "id"), "holds 24 different values in 24 rows; name one that says the group"),
        (("--answer", "reply", "--group", "model=m3"), "no row has 'm3' as 'model', which is to be the reference"),
        (("--answer", "reply", "--group", "model", "--kind", "label"), "--subject"),
    ],
)  # fmt: skip
def test_errors_are_reported_and_nothing_is_written(
    file: Path, options: tuple[str, ...], sentence: str
) -> None:
    write(file, SENTENCES)
    result = biasledger("new", "a.yml", "answers.csv", *options, code=3)
    assert sentence in result.stderr
    assert not Path("a.yml").exists()


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_a_terminal_is_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", Terminal("reply\n"))
    monkeypatch.setattr("sys.stderr", screen := Terminal())
    assert (
        specs._prompt_for_column("--answer", "Which column holds the answers?", ["id", "\x1b[31m"]) == "reply"
    )
    assert screen.getvalue() == "Which column holds the answers? (id, \\x1b[31m)\n"


@pytest.mark.parametrize(("typed", "chosen"), [("accept\n", ("accept",)), ("\n", ())])
def test_a_terminal_is_asked_which_label_selects(
    monkeypatch: pytest.MonkeyPatch, typed: str, chosen: tuple[str, ...]
) -> None:
    monkeypatch.setattr("sys.stdin", Terminal(typed))
    monkeypatch.setattr("sys.stderr", screen := Terminal())
    assert specs._asked_favourable(["accept", "reject"]) == chosen
    assert screen.getvalue() == "Which label selects somebody? (accept, reject; empty: decide later)\n"
    assert specs._asked_favourable([]) == ()


def test_nothing_is_overwritten(file: Path) -> None:
    write(file, SENTENCES)
    Path("a.yml").write_text("mine", encoding="utf-8")
    result = biasledger(*NEW, "model", code=3)
    assert "a.yml is there already: nothing was changed" in result.stderr
    assert Path("a.yml").read_text(encoding="utf-8") == "mine"
