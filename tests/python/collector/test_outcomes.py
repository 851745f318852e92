"""Test imports of several outcomes of the same rows, and the columns of the file that they keep."""

from __future__ import annotations

import json
import re
from pathlib import Path

import duckdb
import pytest

from biasledger.publishing.kept_columns import kept_columns
from collector.errors import InputError
from collector.importers.tabular import import_runs
from collector.spec.loading import load_audits
from collector.tables.encodings import suspicious_letters

SPEC = """
audit: support
attributes: {sex: {reference: m, groups: [m, f]}}
outcomes:
  reply: {kind: text}
  decision: {kind: label, labels: ['no', 'yes'], analysis: {decisions: {favourable: ['yes']}}}
  rating: {column: stars, kind: score, minimum: 1, maximum: 5}
  price: {kind: score, minimum: 0, maximum: 1000}
import: {keep: [date, row_id], columns: {attributes: {sex: sex}}}
"""
ROWS = """sex,reply,decision,stars,price,date,row_id
m,Gladly done.,yes,5,10.50,2026-03-01,007
f,Not possible.,no,,0,2026-03-02,008
f,Gladly done.,yes,1,,,009
"""


@pytest.fixture
def spec(tmp_path: Path) -> Path:
    path = tmp_path / "support.yml"
    path.write_text(SPEC, encoding="utf-8")
    return path


def bring(spec: Path, rows: str = ROWS) -> Path:
    file = spec.with_name("rows.csv")
    file.write_text(rows, encoding="utf-8")
    import_runs(load_audits(spec), spec, file, ledger := spec.with_name("ledger.duckdb"), show_progress=False)
    return ledger


def test_one_import_makes_a_run_of_each_outcome(spec: Path) -> None:
    with duckdb.connect(str(bring(spec)), read_only=True) as connection:
        found = connection.execute(
            "select audit, list(status order by seq), list(answer_text order by seq), list(source_row order by seq) "
            "from raw.responses join raw.runs using (run_id) group by audit order by audit"
        ).fetchall()
        kept = connection.execute(
            "select distinct source_row, kept from raw.responses order by source_row"
        ).fetchall()
    rows = [1, 2, 3]
    assert found == [
        ("support-decision", ["ok"] * 3, ["yes", "no", "yes"], rows),
        ("support-price", ["ok", "ok", "error"], ["10.5", "0", None], rows),
        ("support-rating", ["ok", "error", "ok"], ["5", None, "1"], rows),
        ("support-reply", ["ok"] * 3, ["Gladly done.", "Not possible.", "Gladly done."], rows),
    ]
    assert [json.loads(one) for _, one in kept] == [
        {"date": "2026-03-01", "row_id": "007"},
        {"date": "2026-03-02", "row_id": "008"},
        {"row_id": "009"},
    ]


def test_a_rating_selects_nobody_unless_it_is_to(spec: Path) -> None:
    decisions = {one.audit: one.analysis_document().get("decisions", {}) for one in load_audits(spec)}
    assert decisions["support-rating"]["selected"] == "none"
    assert "selected" not in decisions["support-price"]
    assert decisions["support-decision"]["favourable"] == ["yes"]
    spec.write_text(
        SPEC.replace("maximum: 5", "maximum: 5, analysis: {decisions: {selected: median}}"), encoding="utf-8"
    )
    rating = next(one for one in load_audits(spec) if one.audit == "support-rating")
    assert rating.analysis_document()["decisions"]["selected"] == "median"


def test_nothing_is_kept_where_one_outcome_is_wrong(spec: Path) -> None:
    with pytest.raises(InputError, match="has no column 'stars'"):
        bring(spec, ROWS.replace("stars", "Sterne"))
    assert not spec.with_name("ledger.duckdb").exists()


@pytest.mark.parametrize(
    ("before", "after", "message"),
    [
        ("reply: {kind: text}", "reply: {}", "the key outcomes.reply.kind is missing"),
        (
            "column: stars",
            "column: price",
            "outcomes.price reads the column 'price', as outcomes.rating does",
        ),
        ("maximum: 5", "maximum: 0", "outcomes.rating.maximum is 0 and should be above minimum"),
        ("import: {", "answer: {kind: text}\nimport: {", "answer cannot be combined with outcomes"),
        ("keep: [date", "keep: [row_id", "import.keep names a column twice"),
        ("favourable: ['yes']", "favourable: [ja]", "analysis.decisions.favourable[0] is 'ja'"),
    ],
)
def test_a_wrong_outcome_is_named(spec: Path, before: str, after: str, message: str) -> None:
    spec.write_text(SPEC.replace(before, after), encoding="utf-8")
    with pytest.raises(InputError, match=re.escape(message)):
        load_audits(spec)


@pytest.mark.parametrize(
    ("cells", "data_type", "first"),
    [
        (["1", "20"], "BIGINT", "1"),
        (["007", "008"], "VARCHAR", "007"),
        (["2.5", "3.5"], "DOUBLE", "2.5"),
        (["2.9", "2.10"], "VARCHAR", "2.9"),
        (["1.299,50", "10,00"], "DOUBLE", "1299.5"),
        (["03.02.2026", "13.02.2026"], "DATE", "2026-02-03"),
        (["03/04/2026"], "VARCHAR", "03/04/2026"),
        (["03/14/2026"], "DATE", "2026-03-14"),
        (["2026-02-03 10:20", "2026-02-03 11:20"], "TIMESTAMP", "2026-02-03 10:20:00"),
        (["1", "one"], "VARCHAR", "1"),
    ],
)
def test_kept_columns_have_types_where_all_cells_fit(cells: list[str], data_type: str, first: str) -> None:
    with duckdb.connect() as connection:
        connection.execute("create table t (status varchar, kept varchar)")
        rows = [["ok", json.dumps({"Status": cell, "a/b ~": None})] for cell in cells]
        connection.executemany("insert into t values (?, ?)", [*rows, ["ok", None]])
        columns = kept_columns(connection, "t", ["status", "kept"])
        assert [one.name for one in columns] == ["kept_Status", "a/b ~"]
        values = connection.execute(f"select {columns[0].value} as v, typeof(v) from t limit 1").fetchone()
    assert (str(values[0]), values[1]) == (first, data_type)


@pytest.mark.parametrize(
    ("texts", "part"),
    [
        (["Sipariþiniz hazýr deðil"], "'Sipariþiniz' looks like Turkish that was read in a western encoding"),
        (["fÃ¼r Sie prÃ¼fen wir die RÃ¼ckgabe"], "look like UTF-8 that was read as cp1252"),
        (["Það er ekki hægt að skila þessu"], None),
        (["Siparişiniz hazır değil", "für Sie prüfen"], None),
    ],
)
def test_letters_of_a_wrong_encoding(texts: list[str], part: str | None) -> None:
    found = suspicious_letters(texts)
    assert (found is None) if part is None else (part in (found or ""))
