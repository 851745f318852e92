"""Test `biasledger validate`: all problems of a step with their lines, and its reading of a file of answers."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from collector.errors import InputError
from collector.spec.loading import check_audit, load_audit
from tests.python.running import biasledger

ROOT = Path(__file__).parents[3]
SPECS = sorted((ROOT / "audits").rglob("*.yml"))

WRONG_BETWEEN_KEYS = """\
audit: support
attributes:
  gender:
    reference: mal
    groups: [male, female]
answer:
  kind: label
  labels: [accept, reject]
  levels: 3
import:
  columns:
    text: answer
    attributes: {gender: sex}
  values:
    gender: {f: femal}
analysis:
  crossed: [race*gender]
  words: {schemes: [wrds]}
"""
WRONG_STRUCTURE = """\
# a comment
audit: support
attributs: {}
templates:
  - id: one
    text: 7
    paird: true
trials: "3"
"""
RIGHT = """\
audit: support
attributes:
  gender:
    reference: male
    groups: [male, female, other]
answer:
  kind: label
  labels: [accept, reject]
import:
  columns:
    text: answer
    subject: id
    attributes: {gender: sex}
  values:
    gender: {m: male, f: female, "": null}
analysis:
  decisions: {favourable: [accept]}
"""
HOSTILE = "\x1b[31m"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def write(name: str, text: str) -> str:
    Path(name).write_text(text, encoding="utf-8")
    return name


@pytest.mark.parametrize("path", SPECS, ids=lambda path: path.stem)
def test_a_shipped_audit_has_no_problems(path: Path) -> None:
    result = biasledger("validate", path)
    assert (result.exit_code, result.stderr) == (0, "")
    assert result.output.endswith(f"{path}: no problems found.\n")


def test_all_problems_between_keys_are_reported_with_their_lines(folder: Path) -> None:
    result = biasledger("validate", write("a.yml", WRONG_BETWEEN_KEYS), code=3)
    lines = result.output.splitlines()
    assert [line.split(" ")[0] for line in lines[:-1]] == [
        "a.yml:4:",
        "a.yml:9:",
        "a.yml:11:",  # the key import.columns.subject is missing: the line where it would be
        "a.yml:15:",
        "a.yml:17:",
        "a.yml:18:",
    ]
    assert lines[0].endswith("is 'mal', which is none of the groups; did you mean 'male'?")
    assert lines[-1] == "6 problems in a.yml. Others may show once these are right."


def test_all_problems_of_structure_are_reported_with_their_lines(folder: Path) -> None:
    result = biasledger("validate", write("a.yml", WRONG_STRUCTURE), code=3)
    assert result.output.splitlines() == [
        "a.yml:3: the key attributs is unknown; did you mean 'attributes'?",
        "a.yml:6: templates[0].text should be text and is 7; put it in quotes.",
        "a.yml:7: the key templates[0].paird is unknown; did you mean 'paired'?",
        "a.yml:8: trials should be a whole number and is '3'.",
        "4 problems in a.yml. Others may show once these are right.",
    ]


def test_several_audits_are_checked_one_after_the_other(folder: Path) -> None:
    paths = [write("a.yml", WRONG_STRUCTURE), write("b.yaml", RIGHT), write("c.yml", "{")]
    result = biasledger("validate", *paths, code=3)
    assert "4 problems in a.yml." in result.output
    assert "b.yaml: no problems found." in result.output
    assert result.stderr.startswith("Error: c.yml")
    assert biasledger("validate", paths[1], paths[1]).exit_code == 0
    unclear = biasledger("validate", paths[1], paths[0], write("answers.csv", "a\n"), code=3)
    assert "Name several audits, or one and a file of answers." in unclear.stderr


def test_the_first_problem_is_what_other_commands_tell(folder: Path) -> None:
    for name, text in (("one.yml", WRONG_BETWEEN_KEYS), ("two.yml", WRONG_STRUCTURE)):
        path = Path(write(name, text))
        with pytest.raises(InputError) as caught:
            load_audit(path)
        assert str(caught.value).startswith(check_audit(path).problems[0].message)


def test_problems_of_several_files_are_reported_together(folder: Path) -> None:
    write("subjects.csv", "resume,job\n,cook\n")
    spec = (
        "audit: a\nsubjects: {file: subjects.csv, name: resume}\npeople:\n  file: names.csv\n  name: name\n"
        "templates: [{id: one, text: 'For {a gender} {resume}'}]\nanswer: {kind: text}\ntrials: 2\n"
        "attributes: {gender: {reference: m, groups: [m, f]}}\n"
    )
    result = biasledger("validate", write("a.yml", spec))
    assert result.output.splitlines()[:2] == [
        "a.yml:2: subjects.csv: row 1 has no 'resume'.",
        "a.yml:4: names.csv is no file; it should be a CSV file, named as seen from the spec's folder.",
    ]


def test_invalid_yaml_is_reported(folder: Path) -> None:
    result = biasledger("validate", write("a.yml", "audit: a\n  b: [\n"), code=3)
    assert "a.yml: line 2" in result.stderr
    assert biasledger("validate").exit_code == 3


def test_a_file_is_shown_as_it_will_be_read(folder: Path) -> None:
    write("a.yml", RIGHT)
    rows = ["1,m,Accept", "2,f,reject", "3,,accept", "4,m,perhaps", "5,female,accept", "6,f,reject"]
    write("g.csv", "\n".join(["id,sex,answer", *rows]) + "\n")
    result = biasledger("validate", "a.yml", "g.csv", code=0)
    assert result.output.splitlines() == [
        "g.csv: 6 rows, 3 columns: id, sex, answer",
        "  gender:",
        "    male: 2 rows, written 'm' (2)",
        "    female: 3 rows, written 'f' (2), 'female' (1)",
        "    other: 0 rows",
        "    no group: 1 row",
        "Warning: the group 'other' of gender is declared, and no row names it.",
        "  6 answers: 5 ok, 1 unread",
        "  How they are read:",
        "    last_line, ok: 5",
        "      Accept",
        "      reject",
        "      accept",
        "    unread: 1",
        "Warning: 1 answer of 6 cannot be read (gender male 1).",
        (
            "  1 answer cannot be read: The answer names none of the labels 'accept', 'reject'. Examples: 'perhaps'. If one of "
            "these is a label, add it to answer.labels; if a label is among other words, set answer.key or "
            "answer.pattern, or run `biasledger read --with TARGET`."
        ),
        "The first 5 answers as they will be read:",
        "  1. imported, 1, gender male: ok: accept",
        "  2. imported, 2, gender female: ok: reject",
        "  3. imported, 3: ok: accept",
        "  4. imported, 4, gender male: unread: The answer names none of the labels 'accept', 'reject'.",
        "  5. imported, 5, gender female: ok: accept",
        "Warning: sex: 1 missing (1 empty).",
        "a.yml and g.csv: the spec is right, and 1 answer cannot be read.",
    ]
    assert not (folder / "ledger.duckdb").exists()


def test_why_there_is_no_answer_is_shown(folder: Path) -> None:
    write("a.yml", RIGHT.replace("text: answer", "text: answer\n    error: error"))
    rows = [
        "1,m,accept,",
        "2,f,\"I'm sorry, but I can't help with that.\",",
        "3,f,,content_filter",
        "4,m,,timeout",
    ]
    write("g.csv", "\n".join(["id,sex,answer,error", *rows]) + "\n")
    statement = biasledger("validate", "a.yml", "g.csv").output
    shown = statement[statement.index("How they are read") :]
    assert "\n      \n" not in shown
    assert "gender female: refused: " in shown
    assert "gender male: error: timeout" in shown


def test_rows_that_repeat_others_are_counted_however_short(folder: Path) -> None:
    write("a.yml", RIGHT)
    rows = [f"{number},{'mf'[number % 2]},accept,{number}" for number in range(40)]
    # The same answer about the same person is another one where any column differs.
    other = [f"{number},{'mf'[number % 2]},accept,again" for number in range(5)]
    statement = "20 rows repeat an earlier row in every column; each counts as a further answer."
    write("g.csv", "\n".join(["id,sex,answer,made", *rows, *other, *rows[:20]]) + "\n")
    assert f"Warning: {statement}" in biasledger("validate", "a.yml", "g.csv").output
    assert f"Warning: {statement}" in biasledger("import", "a.yml", "g.csv").stderr
    write("g.csv", "\n".join(["id,sex,answer,made", *rows, *other]) + "\n")
    assert "an earlier row" not in biasledger("validate", "a.yml", "g.csv").output


@pytest.mark.parametrize(
    ("analysis", "judges"),
    [
        ("{}", False),
        ("{decisions: {favourable: [accept]}}", True),
        ("{decisions: {ordered: true}}", True),
    ],
)
def test_labels_that_no_measure_judges_are_reported(folder: Path, analysis: str, judges: bool) -> None:
    spec = RIGHT.partition("analysis:")[0]
    result = biasledger("validate", write("a.yml", f"{spec}analysis: {analysis}\n"), code=0)
    warned = (
        "The decisions are not judged until analysis.decisions says which of the labels 'accept', 'reject'"
    )
    assert (warned in result.output) is not judges
    expected = f"{spec}analysis: {analysis}\n".replace("subject: id", "subject: id\n    expected: right")
    assert warned not in biasledger("validate", write("b.yml", expected)).output


def test_all_words_that_are_no_group_are_reported(folder: Path) -> None:
    write("a.yml", RIGHT)
    write("f.csv", f"id,sex,answer\n1,x,accept\n2,{HOSTILE},accept\n3,f,accept\n4,x,reject\n")
    result = biasledger("validate", "a.yml", "f.csv", code=3)
    assert "a.yml:15: f.csv: row 1 has 'x' as 'sex', which is no group of gender" in result.output
    assert "a.yml:15: f.csv: row 2 has '\\x1b[31m' as 'sex', which is no group of gender" in result.output
    assert "    not declared: 'x' (2), '\\x1b[31m' (1)" in result.output.splitlines()
    assert HOSTILE not in result.output
    assert result.output.splitlines()[-1] == "2 problems in a.yml with f.csv."


def test_all_columns_that_are_missing_are_reported(folder: Path) -> None:
    write("a.yml", RIGHT)
    write("f.jsonl", json.dumps({"id": "1", "gender": "m", "answr": "accept"}) + "\n")
    result = biasledger("validate", "a.yml", "f.jsonl", code=3)
    assert result.output.splitlines()[:2] == [
        "a.yml:11: import.columns.text: f.jsonl has no column 'answer'; did you mean 'answr'?",
        "a.yml:13: import.columns.attributes.gender: f.jsonl has no column 'sex'; known: 'answr', 'gender', 'id'.",
    ]
    assert "f.jsonl: 3 columns: answr, gender, id" in result.output


def test_a_file_of_long_form_is_shown(folder: Path) -> None:
    spec = (
        "audit: a\nattributes: {race: {groups: {African: an African, Asian: an Asian}}}\nanswer: {kind: list, k: 2}\n"
        "import:\n  columns: {text: answer, subject: artist, attribute: attribute, value: value}\n"
        "  conditions:\n    base: {neutral: true}\n"
    )
    write("a.yml", spec)
    write(
        "f.csv",
        'artist,attribute,value,answer\nA,base,,"[""x"",""y""]"\nA,race,an African,"[""x"",""z""]"\n',
    )
    result = biasledger("validate", "a.yml", "f.csv", code=0)
    assert "    African: 1 row, written 'an African' (1)" in result.output
    assert "Warning: the group 'Asian' of race is declared, and no row names it." in result.output
    write("g.csv", "artist,attribute,value,answer\nA,rce,an African,[]\nA,race,a Martian,[]\n")
    result = biasledger("validate", "a.yml", "g.csv", code=3)
    assert "'rce' as 'attribute', which is no attribute" in result.output
    assert "'a Martian' as 'value', which is no group" in result.output


@pytest.mark.parametrize(
    ("answers", "kind", "keys"),
    [
        (['{""a"": ""b""}'] * 3, "json_object", ""),
        (["7", "8.5", "3"], "score", ", minimum: 3, maximum: 9"),
        (["54.000 €", "48500 €"], "score", ", minimum: 40000, maximum: 60000, currency: EUR"),
        (["yes", "no", "Yes", "no"], "label", ", labels: ['Yes', 'no']"),
        (['[""a"", ""b""]'] * 2, "list", ", k: 2"),
        (["Dear sir,", "Good day to you", "Hello there"], "text", ""),
    ],
)
def test_a_missing_kind_of_answer_is_reported_with_a_proposal(
    folder: Path, answers: list[str], kind: str, keys: str
) -> None:
    spec = RIGHT.partition("analysis:")[0]
    write("a.yml", spec.replace("answer:\n  kind: label\n  labels: [accept, reject]\n", ""))
    write("f.csv", "\n".join(["id,sex,answer", *(f'1,m,"{one}"' for one in answers)]) + "\n")
    result = biasledger("validate", "a.yml", "f.csv", code=3)
    assert "the key answer.kind is missing" in result.output
    assert f"The answers in f.csv look like {kind}: write answer: {{kind: {kind}{keys}}}." in result.output
    assert "the key answer.kind is missing" in biasledger("import", "a.yml", "f.csv").stderr


SCORES = RIGHT.partition("analysis:")[0].replace(
    "answer:\n  kind: label\n  labels: [accept, reject]", "answer: {kind: score, SCALE}"
)


@pytest.mark.parametrize(
    ("scale", "answers", "sentence"),
    [
        ("minimum: 0, maximum: 10", ["20", "79", "3/10"], "2 answers cannot be read: The score … is outside 0 to 10"),
        ("minimum: 0, maximum: 10", ["12", "7", "Who?"], "If such scores are right, change answer.minimum and answer.maximum."),
        ("minimum: 1, maximum: 5", ['{""score"": 8}', "7"], "change answer.minimum and answer.maximum."),
        ("minimum: 0, maximum: 10", ["$54,000", "7"], "1 answer cannot be read"),
        ("minimum: 0, maximum: 100", ["8/10", "7"], "answer.rescale: true converts scores from another scale"),
        ("minimum: 0, maximum: 100", ["78%", "0.55"] * 3, "and 3 above 1 (gender 'male' 0 of 3, gender 'female' 3 of 3)."),
        ("minimum: 0, maximum: 100", ['{""probability"": 0.85}', "0.5", "0.6", "70"], "3 scores lie between 0 and 1"),
    ],
)  # fmt: skip
def test_a_scale_that_does_not_fit_is_reported(
    folder: Path, scale: str, answers: list[str], sentence: str
) -> None:
    write("a.yml", SCORES.replace("SCALE", scale))
    rows = (f'{number},{"mf"[number % 2]},"{one}"' for number, one in enumerate(answers))
    write("f.csv", "\n".join(["id,sex,answer", *rows]) + "\n")
    statement = biasledger("validate", "a.yml", "f.csv").output
    assert sentence in statement
    imported = biasledger("import", "a.yml", "f.csv")
    assert ("lie between 0 and 1" in imported.stderr) == ("between 0 and 1" in statement)


@pytest.mark.parametrize("answers", [["0.5", "0.6", "0.7"], ["0.5", "0.6", "70"], ["0", "1", "100"] * 3])
def test_small_scores_are_no_shares(folder: Path, answers: list[str]) -> None:
    write("a.yml", SCORES.replace("SCALE", "minimum: 0, maximum: 100"))
    rows = (f"{number},{'mf'[number % 2]},{one}" for number, one in enumerate(answers))
    write("f.csv", "\n".join(["id,sex,answer", *rows]) + "\n")
    assert "lie between 0 and 1" not in biasledger("validate", "a.yml", "f.csv").output


def test_the_schema_is_printed() -> None:
    result = biasledger("validate", "--schema")
    assert result.output == (ROOT / "audits" / "audit.schema.json").read_text(encoding="utf-8")


def test_languages_are_named_with_the_answers_that_are_too_short_to_tell(folder: Path) -> None:
    long = "Sie sollten die Altstadt und das Schloss am Fluss besuchen."
    rows = [("m", long), ("m", "Gern."), ("f", long), ("f", "Gut."), ("f", "Nein, danke.")]
    answers = write("answers.csv", "sex,text\n" + "".join(f'{sex},"{text}"\n' for sex, text in rows))
    spec = """\
audit: own
attributes: {sex: {reference: m, groups: [m, f]}}
answer: {kind: text}
analysis: {words: {schemes: [words]}}
import: {columns: {text: text, attributes: {sex: sex}}}
"""
    result = biasledger("validate", write("own.yml", spec), answers)
    assert "  languages: German 2; too short to tell 3\n" in result.output
    assert "Most answers are in German. If the questions are, too, write import.language: de" in result.output
    stated = spec.replace("import: {", "import: {language: de, ")
    assert "Most answers" not in biasledger("validate", write("own.yml", stated), answers).output


def test_a_design_of_few_wordings_says_what_to_add(folder: Path) -> None:
    """Groups that the audit words fewer than five times, and an import that names nobody."""
    asked = "\ntemplates: [{id: t, text: 'Advise {race}.'}]\ntrials: 15\nanswer: {kind: text}\n"
    for groups, said in (
        (
            "[White, Black]",
            "Each group of race has 1 wording: findings will be warnings; add 4 wordings, or ",
        ),
        (
            "{White: [a, b, c, d, e], Black: [f, g]}",
            "Black has 2 wordings: findings will be warnings; add 3 wordings, or use wordings: race/en.",
        ),
        ("{White: [a, b, c, d, e], Black: [f, g, h, i, j]}", ""),
    ):
        spec = write(
            "a.yml", f"audit: a\nattributes: {{race: {{reference: White, groups: {groups}}}}}{asked}"
        )
        output = biasledger("validate", spec).output
        assert said in output
        assert ("findings will be warnings" in output) == bool(said)
    spec = write(
        "a.yml",
        "audit: a\nattributes: {race: {reference: White, groups: [White, Black]}}\nanswer: {kind: text}\n"
        "import: {columns: {text: said, attributes: {race: race}}}\n",
    )
    output = biasledger("validate", spec).output
    assert "The file names no people of race: findings will be warnings, unless" in output
