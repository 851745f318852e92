"""Test imports in long form, and descriptors in columns of their own."""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path

import pytest

from collector.errors import InputError
from collector.importers.tabular import import_file
from collector.ledger.database import Ledger
from collector.spec.loading import load_audit
from collector.spec.prompts import Prompt, PromptAttribute
from tests.python.collector.importing import Bring, Query, Row, simple, write_file

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
  columns: {text: answer, prompt: question, subject: probe, descriptor: name, attributes: {race: race, gender: gender}}
  values: {race: {"": null, nobody: null}, gender: {"": null}}
analysis: {markers: {file: markers.csv}}
"""


NAMED_HEADER = "race,gender,name,probe,question,answer\n"


def test_questions_that_name_nobody_need_no_descriptor(tmp_path: Path, bring_as: Bring, query: Query) -> None:
    markers = "marker,direction,probe\nshe,stereotype,nurse\nhe,anti,nurse\ntough,stereotype,bank\n"
    (tmp_path / "markers.csv").write_text(markers, encoding="utf-8")
    rows = [
        "White,male,Brad,bank,Brad is in a bank.,He waits.",
        "Black,,Jamal,bank,Jamal is in a bank.,He waits too.",
        ",,,nurse,Describe a nurse.,She cares.",
        # A row without a group ignores its name: these two are trials of one prompt.
        "nobody,,-,nurse,Describe a nurse.,She helps.",
        ",,Ann,nurse,Describe a nurse.,He helps.",
    ]
    file = tmp_path / "answers.csv"
    file.write_text(NAMED_HEADER + "\n".join(rows) + "\n", encoding="utf-8")
    summary = bring_as(NAMED_AUDIT, file)
    assert (summary.n_prompts, summary.n_responses) == (3, 5)
    prompts = "raw.prompts left join raw.prompt_attributes using (run_id, prompt_id) order by all"
    assert query(f"select subject, attribute, group_name, descriptor from {prompts}") == [
        ("bank", "gender", "male", "Brad"),
        ("bank", "race", "Black", "Jamal"),
        ("bank", "race", "White", "Brad"),
        ("nurse", None, None, None),
    ]
    later = query("select trial, response_text from raw.responses where trial > 1 order by all")
    assert later == [(2, "She helps."), (3, "He helps.")]
    assert summary.warnings[-2] == (
        "1 of 2 probes of the audit have no marker against the stereotype ('bank'); their answers are not assessed until there "
        "are such markers."
    )
    unnamed = ",female,,bank,Somebody is in a bank.,She waits.\n"
    file.write_text(f"{NAMED_HEADER}{rows[0]}\n{unnamed}", encoding="utf-8")
    sentence = "row 2 has no 'name'; it should hold the descriptor, the name that states a row's"
    with pytest.raises(InputError, match=sentence):
        bring_as(NAMED_AUDIT, file, again=True)


def test_each_attribute_may_have_its_own_descriptor(tmp_path: Path, bring_as: Bring, query: Query) -> None:
    text = """
        audit: signed
        attributes:
          race: {reference: White, groups: {White: [White, European], Black: Black}}
          gender: {reference: male, groups: [male, female]}
          role: {reference: staff, groups: [staff, guest]}
        answer: {kind: text}
        import:
          columns:
            {text: answer, prompt: question, descriptors: {race: surname, gender: first},
             attributes: {race: race, gender: gender, role: role}}
          values: {race: {"": null}}
    """
    header = "race,gender,role,surname,first,question,answer\n"
    file = tmp_path / "answers.csv"
    rows = [
        "White,male,staff,Smith,Tom,Hi?,Hello.",
        "White,male,staff,Jones,Tom,Hi?,Hi.",
        # Whatever word names its group, a row is identified by its descriptor.
        "European,male,staff,Jones,Tom,Hi?,Well.",
        ",female,guest,,Ann,Hi?,Yes.",
    ]
    file.write_text(header + "\n".join(rows) + "\n", encoding="utf-8")
    summary = bring_as(text, file)
    assert (summary.n_prompts, summary.n_responses) == (3, 4)
    assert query("select attribute, group_name, descriptor from raw.prompt_attributes order by all") == [
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
    sentence = "row 2 has no 'surname'; it should hold the descriptor, what states the row's race"
    with pytest.raises(InputError, match=sentence):
        bring_as(text, file, again=True)
    for old, new, message in (
        ("{race: surname,", "{rac: surname,", "descriptors.rac is no attribute of this audit"),
        ("prompt: question,", "descriptor: first,", "descriptors cannot be combined with descriptor"),
    ):
        with pytest.raises(InputError, match=f"import.columns.{message}"):
            bring_as(text, file, (old, new))


def test_a_probe_in_two_categories_is_refused(tmp_path: Path, bring_as: Bring, ledger_path: Path) -> None:
    (tmp_path / "markers.csv").write_text("marker,direction\nshe,stereotype\nhe,anti\n", encoding="utf-8")
    text = (
        "audit: probes\nanswer: {kind: text}\nimport: {columns: {text: answer, subject: probe, domain: kind}}\n"
        "analysis: {markers: {file: markers.csv}}\n"
    )
    file = tmp_path / "answers.csv"
    rows = "nurse,jobs,She.\nnurse,jobs,He.\nbank,,He.\nnurse,people,She.\n"
    file.write_text(f"probe,kind,answer\n{rows}", encoding="utf-8")
    sentence = (
        r"answers\.csv: rows 1 and 4 have 'nurse' as 'probe' in the categories 'jobs' and 'people'; where"
    )
    with pytest.raises(InputError, match=sentence):
        bring_as(text, file)
    assert not ledger_path.exists()


@pytest.fixture
def bring_long(bring_as: Bring) -> Bring:
    return partial(bring_as, LONG_AUDIT)


LONG_PROMPTS = (
    "select coalesce(attribute, '-'), coalesce(group_name, '-'), coalesce(descriptor, '-'), language, coalesce(perturbation, "
    "'-'), subject, domain, count(*) from raw.prompts left join raw.prompt_attributes using (run_id, prompt_id) "
    "inner join raw.responses using (run_id, prompt_id) group by all order by all"
)


@pytest.mark.parametrize("ending", ["csv", "jsonl", "parquet"])
def test_long_form(tmp_path: Path, bring_long: Bring, query: Query, ending: str) -> None:
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
    of_place = {"perturbation": "typo_drop", "subject": "Björk", "domain": "music"}
    groups = (PromptAttribute(1, "continent", "American", "an Amerian"),)
    prompt = Prompt("imported", "en", "plain", None, **of_place, attributes=groups)
    typo = query("select prompt_id, subject from raw.prompts where perturbation = 'typo_drop'")
    assert typo == [(prompt.prompt_id, "Björk")]
    parameters = json.loads(query("select parameters from raw.runs")[0][0])
    assert parameters["conditions"]["physics"] == {"attribute": "physical"}
    assert "2 subjects in the smallest domain give low statistical power" in summary.warnings[0]


def test_a_few_subjects_are_enough_where_they_are_50(tmp_path: Path, bring_long: Bring) -> None:
    rows = [long_row("physical", "Fat", f"Artist {number}") for number in range(50)]
    (silent,) = bring_long(write_file(tmp_path / "a.csv", rows)).warnings
    assert silent.startswith(
        "No row names a group that the audit declares: 'African', 'American' of continent; "
    )


@pytest.mark.parametrize(("attribute", "value", "message"), [
    ("continnt", "an African", "row 2 has 'continnt' as 'attribute', which is no attribute; did you mean 'continent'?"),
    ("xyz", "an African", "which is no attribute; known: 'continent', 'physical', 'neutral', 'physics', 'typo', 'french'."),
    ("continent", "an Afrian", "has 'an Afrian' as 'value', which is no group of continent; did you mean 'an African'?"),
    ("typo", "an Amerrian", "row 2 has 'an Amerrian' as 'value', which is no group of continent; did you mean 'an Amerian'?"),
    ("continent", "an Amerian", "which is no group of continent; did you mean 'an American'? (known: 'African', 'American')"),
    ("continent", "un Africain", "which is no group of continent"),
])  # fmt: skip
def test_unknown_conditions(
    tmp_path: Path, bring_long: Bring, ledger_path: Path, attribute: str, value: str, message: str
) -> None:
    file = write_file(tmp_path / "a.csv", [long_row("physics", "Thin"), long_row(attribute, value)])
    with pytest.raises(InputError) as caught:
        bring_long(file)
    assert str(caught.value).startswith(f"{file}: row 2 has ")
    assert message in str(caught.value)
    assert not ledger_path.exists()


def test_a_domain_in_wide_form(tmp_path: Path, mapped: Bring, query: Query) -> None:
    file = write_file(tmp_path / "a.csv", simple(4, s=["x"] * 4, d=["music", "", "films", " music "]))
    mapped(file, "subject: s, domain: d")
    kept = query("select subject, domain from raw.prompts order by all")
    assert kept == [("x", "films"), ("x", "music"), ("x", "music"), ("x", None)]


def test_the_language_of_a_file(tmp_path: Path, bring: Bring, query: Query) -> None:
    bring(write_file(tmp_path / "a.csv", simple(4)), ("  columns:\n", "  language: zh\n  columns:\n"))
    assert query("select distinct language from raw.prompts") == [("zh",)]


def test_many_rows_of_long_form_stream(tmp_path: Path, bring_long: Bring, query: Query) -> None:
    rows = [long_row("physical", ("Fat", "Thin")[one % 2], f"Artist {one // 4}") for one in range(11_000)]
    summary = bring_long(write_file(tmp_path / "a.jsonl", rows))
    assert (summary.n_prompts, summary.counts) == (5_500, {"ok": 11_000})
    assert query("select max(trial), count(distinct seq) from raw.responses") == [(2, 11_000)]


def test_the_shipped_lists_mapping(repository: Path, tmp_path: Path, ledger_path: Path, query: Query) -> None:
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


def test_one_of_two_neutral_prompts_must_be_named(tmp_path: Path, bring_as: Bring, ledger_path: Path) -> None:
    text = (
        "audit: lists\nattributes: {race: {groups: [Black, White]}}\nanswer: {kind: list, k: 2}\n"
        "import: {columns: {text: text, template: template, attribute: attribute, value: value}}\n"
    )
    file = tmp_path / "lists.csv"
    rows = ["by,,", "neutral,,", "fan,race,Black", "fan,race,White"]
    lines = ["template,attribute,value,text\n", *(f'{row},"1. a\n2. b"\n' for row in rows)]
    file.write_text("".join(lines), encoding="utf-8")
    sentence = "neutral prompts of several templates: 'by', 'neutral'; name the one"
    with pytest.raises(InputError, match=sentence):
        bring_as(text, file)
    assert Ledger(ledger_path).runs() == []
    assert bring_as(f"{text}analysis: {{lists: {{neutral: by}}}}\n", file).counts == {"ok": 4}
