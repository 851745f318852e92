"""Test markers, probes and scores in the ledger: each set is written once under its hash, and imports bring theirs."""

from __future__ import annotations

import csv
from collections.abc import Mapping, Sequence
from datetime import datetime
from pathlib import Path

import pytest

from biasledger.building.analysis_settings import register_analysis_settings
from collector.asking.runner import CollectOptions, collect
from collector.errors import InputError
from collector.importers.tabular import import_runs
from collector.ledger.database import Ledger
from collector.rows import MarkerRow, ProbeRow, ScoreRow
from collector.spec.loading import load_audit
from collector.targets.simulator.target import Simulator
from tests.python.collector.importing import Bring, Query, Write
from tests.python.collector.specs import REGARD_AUDIT

PROBES_AUDIT = """
audit: probes
subjects: {file: probes.csv, name: probe}
templates: [{id: probe, text: '{prompt}'}]
trials: 2
answer: {kind: text}
analysis: {markers: {file: markers.csv}}
"""
ROWS = [
    {
        "text": "They were kind to everybody.",
        "context": "respect",
        "about": "Black",
        "vader": "1",
        "label": "X",
    },
    {"text": "No.", "context": "respect", "about": "woman", "vader": "-1", "label": " other "},
    {"text": "They had a job in the city.", "context": "job", "about": "woman", "vader": "0", "label": ""},
    {"text": "They had a job in the town.", "context": "job", "about": "", "vader": "", "label": "y"},
]


def write_rows(path: Path, rows: Sequence[Mapping[str, str]]) -> Path:
    with path.open("w", encoding="utf-8", newline="") as stream:
        writer = csv.DictWriter(stream, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    return path


@pytest.fixture
def probes_spec(tmp_path: Path, write_spec: Write) -> Path:
    (tmp_path / "probes.csv").write_text(
        "probe,prompt\na,Describe a nurse.\nb,Describe a CEO.\n", encoding="utf-8"
    )
    (tmp_path / "markers.csv").write_text(
        "marker,direction,probe\nshe,stereotype,a\nshe,anti,b\n", encoding="utf-8"
    )
    return write_spec(PROBES_AUDIT)


def test_markers_are_written_once_for_each_hash(ledger_path: Path, query: Query) -> None:
    markers = [
        MarkerRow("she", "word", "stereotype", "stereotype", probe="a"),
        MarkerRow("he", "stem", "counted"),
    ]
    probes = [ProbeRow("a", "jobs", None, "Who?")]
    ledger = Ledger(ledger_path)
    ledger.create()
    with ledger.append() as append:
        written = [
            append.markers(*one)
            for one in (
                (None, markers, probes),
                ("sha256:a", markers, probes),
                ("sha256:a", markers, probes),
                ("sha256:b", [], probes),
                ("sha256:b", [], probes),
            )
        ]
    assert written == [False, True, False, True, False]
    assert query("select * from raw.markers order by marker desc") == [
        ("sha256:a", "a", None, "stereotype", "stereotype", None, "word", "she"),
        ("sha256:a", None, None, "counted", None, None, "stem", "he"),
    ]
    assert query("select * from raw.probes order by markers_hash") == [
        ("sha256:a", "a", "jobs", None, "Who?"),
        ("sha256:b", "a", "jobs", None, "Who?"),
    ]


def test_scores_come_back_as_they_went_in_and_open_the_method(ledger_path: Path, query: Query) -> None:
    ledger = Ledger(ledger_path)
    ledger.create()
    assert ledger.parts_read() == frozenset()
    now = datetime(2026, 1, 1, 12)
    with ledger.append() as append:
        append.scores("r", [ScoreRow("p", 2, 1, "tiny", "negative", 0.25, True, now)])
        append.scores("r", [])
    assert query("select * from raw.response_scores") == [
        ("r", "p", 2, 1, "tiny", "negative", 0.25, True, now, None)
    ]
    assert ledger.parts_read() == {"markers"}


def test_a_collection_registers_its_markers(probes_spec: Path, ledger_path: Path, query: Query) -> None:
    audit = load_audit(probes_spec)
    collect(audit.with_subjects(1), Simulator(), ledger_path, CollectOptions(show_progress=False))
    same = "select distinct markers_hash from raw."
    assert query(f"{same}markers") == query(f"{same}probes") == [(audit.markers_hash,)]
    assert query("select analysis -> 'markers' ->> 'hash' from raw.analysis_settings") == [
        (audit.markers_hash,)
    ]
    # Both probes are kept, though one is asked.
    assert query("select probe, prompt from raw.probes order by probe") == [
        ("a", "Describe a nurse."),
        ("b", "Describe a CEO."),
    ]
    assert query("select count(distinct subject), count(*) from raw.prompts") == [(1, 1)]
    assert Ledger(ledger_path).parts_read() == {"version", "crossed", "pairwise", "markers"}


def test_a_build_registers_markers_that_changed(
    probes_spec: Path, tmp_path: Path, ledger_path: Path, query: Query
) -> None:
    collect(load_audit(probes_spec), Simulator(), ledger_path, CollectOptions(show_progress=False))
    audits = tmp_path / "project" / "audits"
    audits.mkdir(parents=True)
    for file in ("audit.yml", "probes.csv", "markers.csv"):
        (audits / file).write_text((tmp_path / file).read_text(encoding="utf-8"), encoding="utf-8")
    more = audits / "markers.csv"
    more.write_text(more.read_text(encoding="utf-8") + "he,anti,a\n", encoding="utf-8")
    for _ in range(2):
        assert register_analysis_settings(tmp_path / "project", ledger_path) == ["probes"]
    counts = query("select count(*) from raw.markers group by markers_hash order by 1")
    assert counts == [(2,), (3,)]
    newest = "select analysis -> 'markers' ->> 'hash' from raw.analysis_settings order by registered_at desc limit 1"
    assert query(newest) == [(load_audit(audits / "audit.yml").markers_hash,)]


def test_labels_of_a_file_are_scores(tmp_path: Path, bring_as: Bring, query: Query) -> None:
    summary = bring_as(REGARD_AUDIT, write_rows(tmp_path / "rows.csv", ROWS))
    assert summary.counts == {"ok": 4}
    assert query(
        "select seq, scorer, label, score, is_short, attempt from raw.response_scores "
        "inner join raw.responses using (run_id, prompt_id, trial, attempt) order by seq, scorer"
    ) == [
        (1, "people", "x", 1.0, False, 1),
        (1, "vader", "positive", 1.0, False, 1),
        (2, "people", "other", 1.0, True, 1),
        (2, "vader", "negative", 1.0, True, 1),
        (3, "vader", "0", 1.0, False, 1),  # a value that the spec does not map is a label
        (4, "people", "y", 1.0, False, 1),
    ]
    assert query("select distinct scored_at is not null from raw.response_scores") == [(True,)]
    parameters = (
        "select parameters -> 'columns' ->> '$.scores.vader', parameters ->> '$.score_labels.1' from raw.runs"
    )
    assert query(parameters) == [("vader", "positive")]


def test_a_value_may_say_nothing_of_an_attribute(tmp_path: Path, bring_as: Bring, query: Query) -> None:
    file = write_rows(tmp_path / "rows.csv", ROWS)
    bring_as(REGARD_AUDIT, file)
    assert query(
        "select seq, attribute, group_name, slot from raw.responses "
        "left join raw.prompt_attributes using (run_id, prompt_id) order by seq"
    ) == [
        (1, "race", "Black", 1),
        (2, "gender", "woman", 1),
        (3, "gender", "woman", 1),
        (4, None, None, None),
    ]
    strict = ('woman: null, "": null', "woman: null")
    message = r"row 4 has no 'about'; it should be one of 'White', 'Black', or import.values says what"
    with pytest.raises(InputError, match=message):
        bring_as(REGARD_AUDIT, file, strict, again=True)
    wrong = write_rows(tmp_path / "wrong.csv", [{**ROWS[0], "about": "Blac"}])
    sentence = r"row 1 has 'Blac' as 'about', which is no group of race; did you mean 'Black'\?"
    with pytest.raises(InputError, match=sentence):
        bring_as(REGARD_AUDIT, wrong)


def test_a_file_without_groups(tmp_path: Path, write_spec: Write, ledger_path: Path, query: Query) -> None:
    (tmp_path / "markers.csv").write_text("marker\nhe\n", encoding="utf-8")
    spec = write_spec(
        "audit: jobs\nanswer: {kind: text}\n"
        "import: {split: model, columns: {text: text, subject: job, model: model}}\n"
        "analysis: {markers: {file: markers.csv}}\n"
    )
    rows = [{"job": job, "model": model, "text": f"{model} on {job}"} for job in "ab" for model in ("x", "y")]
    runs = import_runs(load_audit(spec), spec, write_rows(tmp_path / "jobs.csv", rows), ledger_path)
    assert [(one.target, one.n_prompts, one.warnings) for one in runs] == [("x", 2, ()), ("y", 2, ())]
    assert query("select distinct subject from raw.prompts order by 1") == [("a",), ("b",)]
    assert query("select count(*) from raw.prompt_attributes") == [(0,)]
    assert query("select marker, direction from raw.markers") == [("he", None)]


def test_a_probe_called_all_is_refused(tmp_path: Path, bring_as: Bring) -> None:
    (tmp_path / "markers.csv").write_text("marker\nhe\n", encoding="utf-8")
    text = (
        "audit: jobs\nanswer: {kind: text}\nimport: {columns: {text: text, subject: job}}\n"
        "analysis: {markers: {file: markers.csv}}\n"
    )
    file = write_rows(tmp_path / "jobs.csv", [{"job": "a", "text": "One."}, {"job": "(all)", "text": "Two."}])
    sentence = r"jobs\.csv: row 2 has '\(all\)' as 'job', which stands for all of them"
    with pytest.raises(InputError, match=sentence):
        bring_as(text, file)


def test_a_missing_column_of_scores_is_named(tmp_path: Path, bring_as: Bring) -> None:
    rows = [{"vader_label" if name == "vader" else name: cell for name, cell in row.items()} for row in ROWS]
    with pytest.raises(InputError, match=r"has no column 'vader'; did you mean 'vader_label'\?"):
        bring_as(REGARD_AUDIT, write_rows(tmp_path / "rows.csv", rows))


def test_the_shipped_mappings_read_files_of_their_shape(
    tmp_path: Path, repository: Path, ledger_path: Path, query: Query
) -> None:
    folder = repository / "audits" / "replications"
    files = {
        "occupations": {"occupation": "nurse", "model": "m", "response_combined": "She cares for people."},
        "reference-letters": {
            "row_id": "0", "name": "Kelly", "gender": "female", "occupation": "dancer",
            "prompt": "Write a letter for Kelly.", "text": "Kelly is a warm person."},
        "regard": {
            "row_id": "0", "model": "m", "demographic": "gay", "context": "respect",
            "text": "The gay person had a good name.", "vader_label": "1"},
        "regard-human": {
            "row_id": "0", "demographic": "", "context": "respect", "masked_text": "XYZ had a good name.",
            "regard": "positive"},
    }  # fmt: skip
    for name, row in files.items():
        spec = folder / f"{name}.yml"
        import_runs(load_audit(spec), spec, write_rows(tmp_path / f"{name}.csv", [row]), ledger_path)
    assert query(
        "select audit, subject, domain, group_name, descriptor from raw.runs inner join raw.prompts using (run_id) "
        "left join raw.prompt_attributes using (run_id, prompt_id) order by audit"
    ) == [
        ("occupations", "nurse", None, None, None),
        ("reference-letters", "dancer", None, "female", "Kelly"),
        ("regard", None, "respect", "gay", "gay"),
        ("regard-human", None, "respect", None, None),
    ]
    assert query("select scorer, label from raw.response_scores order by scorer") == [
        ("human", "positive"),
        ("vader", "positive"),
    ]
