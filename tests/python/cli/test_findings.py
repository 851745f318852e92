"""Test `biasledger findings`: verdicts, ids for `explain`, sentences under rows, and output for programs."""

from __future__ import annotations

import csv
import io
import json
import re
from dataclasses import replace
from pathlib import Path

import duckdb
import pytest

from biasledger.commands.display import findings_table
from biasledger.comparing.built_tables import open_tables
from biasledger.comparing.verdicts import AttributeVerdict, read_verdicts, verdict_lines
from biasledger.findings import Finding
from collector import terminal
from tests.python.running import biasledger, rows_in

_ROW = Finding(
    finding="abcdef",
    status="clear",
    audit="products",
    target="robot",
    mitigation="plain",
    attribute="race",
    group_name="Black",
    reference_group="White",
    subject="",
    measure="word_divergence",
    scheme="words",
    severity="error",
    value=0.1,
    threshold=0.2,
    p_value_adjusted=0.5,
    explanation="because",
    advice=None,
    is_excepted=False,
    is_simulated=False,
    is_current=True,
    run_id="run-1",
)


@pytest.fixture
def warehouse(audited: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the warehouse that is built once for all tests; commands read it."""
    monkeypatch.setenv("BIASLEDGER_WAREHOUSE", str(audited / "warehouse.duckdb"))
    monkeypatch.setenv("BIASLEDGER_LEDGER", str(audited / "ledger.duckdb"))
    return audited / "warehouse.duckdb"


def current(warehouse: Path, columns: str, where: str = "true") -> list[tuple[object, ...]]:
    return rows_in(warehouse, f"select {columns} from marts.fct_findings where is_current and {where}")


# --- verdicts


_CLEAR = AttributeVerdict(
    run_id="run-1",
    mitigation="plain",
    attribute="race",
    verdict="clear",
    n_measures=1,
    n_measures_deciding=1,
    n_measures_warning=0,
    n_measures_accepted=0,
    can_fail=True,
    is_silent=False,
)


def test_a_verdict_says_how_many_measures_what_warns_and_what_was_accepted() -> None:
    assert _CLEAR.text == "race: clear"
    assert replace(_CLEAR, verdict="alarm", n_measures=2).text == "race: alarm (1 of 2 measures)"
    assert (
        replace(_CLEAR, verdict="insufficient_data", attribute="(markers)").text
        == "markers: insufficient data"
    )
    assert replace(_CLEAR, n_measures_warning=1).text == "race: clear, 1 more measure is a warning"
    assert replace(_CLEAR, n_measures_warning=2).text == "race: clear, 2 more measures are warnings"
    assert replace(_CLEAR, n_measures_accepted=1).text == "race: clear, 1 accepted"
    assert replace(_CLEAR, is_silent=True).text == "race: clear, nothing is known of some groups"


def test_where_nothing_can_fail_the_audit_it_is_said() -> None:
    warns = replace(_CLEAR, can_fail=False)
    assert replace(warns, verdict="warning").text == "race: warning"
    assert warns.text == "race: clear (none can fail the audit)"
    some = replace(warns, verdict="inconclusive", n_measures=2)
    assert some.text == "race: inconclusive (1 of 2 measures; none can fail the audit)"
    # Answers to a prompt with a mitigation never fail an audit.
    assert replace(warns, mitigation="masked").text == "race: clear"


def test_mitigations_have_a_line_each() -> None:
    gender = replace(_CLEAR, attribute="gender", verdict="inconclusive")
    assert verdict_lines([_CLEAR, gender, replace(_CLEAR, mitigation="masked")]) == [
        "race: clear · gender: inconclusive",
        "with masked: race: clear",
    ]


def test_tables_of_before_there_were_verdicts_have_none(tmp_path: Path) -> None:
    with duckdb.connect(str(tmp_path / "warehouse.duckdb")) as connection:
        connection.execute("create table fct_findings (finding_id varchar)")
    with open_tables(tmp_path / "warehouse.duckdb") as tables:
        assert read_verdicts(tables) == []


def test_each_run_s_verdicts_stand_above_its_table(warehouse: Path) -> None:
    printed = biasledger("findings", "--all").stdout.splitlines()
    headings = {
        line.partition(", run ")[2].partition(",")[0]: place
        for place, line in enumerate(printed)
        if ", target " in line and ", run " in line
    }
    mitigations = dict(
        rows_in(
            warehouse,
            "select run_id, list(distinct mitigation order by mitigation <> 'plain', mitigation) "
            "from marts.fct_findings where severity <> 'none' group by run_id",
        )
    )
    assert headings.keys() >= mitigations.keys()
    assert max(map(len, mitigations.values())) > 1
    for run, asked in mitigations.items():
        said = printed[headings[run] + 1 : headings[run] + 2 + len(asked)]
        assert [line.split(": ")[0] for line in said[1:-1]] == [
            f"  with {mitigation}" for mitigation in asked[1:]
        ]
        assert said[0].startswith("  ")
        assert said[-1].startswith("finding ")
    # The verdict lines also count findings that the table leaves out.
    filtered = biasledger("findings", "--status", "clear").stdout.splitlines()
    assert [line for line in filtered if line.startswith("  race: alarm")]


# --- ids


def test_the_id_of_a_row_is_what_explain_takes(warehouse: Path) -> None:
    printed = biasledger("findings", "--status", "alarm", "--all").stdout
    found = {row[0] for row in current(warehouse, "finding_id", "status = 'alarm'")}
    shown = [line.split()[0] for line in printed.splitlines() if _is_alarm(line)]
    assert len(shown) == len(set(shown))
    for finding_id in found:
        assert sum(finding_id.startswith(one) for one in shown) == 1
    assert f"Next: biasledger explain {shown[0]}, or another id from the first column" in printed
    explained = biasledger("explain", shown[0], "--responses", "0", code=0)
    assert explained.stdout.startswith(f"Finding {shown[0]}")


def test_a_sentence_stands_under_its_row_and_names_the_mitigation(warehouse: Path) -> None:
    rows = rows_in(
        warehouse, "select finding_id, mitigation, explanation from marts.fct_findings where status = 'alarm'"
    )
    printed = biasledger("findings", "--status", "alarm", "--all", "--why").stdout.splitlines()
    # A row may be folded.
    under = {
        line.split()[0]: next(one for one in printed[place + 1 :] if re.match(r" {4}\S", one))
        for place, line in enumerate(printed)
        if _is_alarm(line)
    }
    assert len(under) == len(rows)
    for finding, mitigation, explanation in rows:
        (sentence,) = [said for short, said in under.items() if finding.startswith(short)]
        assert sentence.startswith(
            f"    {'' if mitigation == 'plain' else f'With {mitigation}: '}{explanation}"
        )


def test_a_mitigation_is_named_wherever_it_is_spoken_of(capsys: pytest.CaptureFixture[str]) -> None:
    findings_table([replace(_ROW, mitigation="masked", advice="Ask more.")], explain=True)
    assert capsys.readouterr().out.splitlines()[-2] == "    With masked: because Ask more."


@pytest.mark.parametrize("width", [40, 60, 80, 100])
def test_a_narrow_table_breaks_no_word_and_names_what_had_no_room(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, width: int
) -> None:
    monkeypatch.setattr(terminal, "WIDTH_WITHOUT_TERMINAL", width)
    rows = [
        replace(_ROW, group_name=group, measure=measure, scheme=scheme, attribute=attribute, value=-0.0159)
        for group, measure, scheme, attribute in (
            ("Middle-Eastern", "word_divergence", "seed_vectors", "nationality"),
            ("Black", "classifier_accuracy", "words", "race"),
        )
    ]
    rows[0] = replace(rows[0], status="insufficient_data", finding="abcdef0123")
    rows[1] = replace(rows[1], status="inconclusive")
    findings_table(rows)
    lines = capsys.readouterr().out.splitlines()
    table = lines[1 : next(place for place, line in enumerate(lines) if "did not fit" in line)]
    assert all(len(line) <= width for line in table)
    words = " ".join(table).split()
    assert {"finding", "status", "abcdef0123", "abcdef", "insufficient", "inconclusive"} <= set(words)
    message = " ".join(line.strip() for line in lines)
    left_out = message.partition("did not fit (")[2].partition(")")[0].split(", ")
    for name, whole in {
        "measure": "word_divergence",
        "scheme": "seed_vectors",
        "attribute": "nationality",
        "group": "Middle-Eastern",
        "value": "-0.0159",
        "p adjusted": "0.5",
    }.items():
        assert (whole in words) != (name in left_out), name
    assert "value" not in left_out or width < 80


def _is_alarm(line: str) -> bool:
    return not line.startswith(" ") and line.split()[1:2] == ["alarm"]


# --- for programs


def test_json_and_csv_have_every_column_and_row(warehouse: Path) -> None:
    rows = current(warehouse, "*", "status = 'alarm'")
    with duckdb.connect(str(warehouse), read_only=True) as connection:
        names = [column[0] for column in connection.execute("from marts.fct_findings limit 0").description]
    printed = biasledger("findings", "--status", "alarm", "--json")
    found = json.loads(printed.stdout)
    assert len(found) == len(rows)
    assert list(found[0]) == names
    assert "Nothing is known of" not in printed.stdout
    as_csv = list(csv.DictReader(io.StringIO(biasledger("findings", "--status", "alarm", "--csv").stdout)))
    assert [row["finding_id"] for row in as_csv] == [row["finding_id"] for row in found]
    assert list(as_csv[0]) == names


def test_two_forms_at_once_are_refused() -> None:
    both = biasledger("findings", "--json", "--csv", code=3)
    assert both.stderr.endswith("Error: --json and --csv say the same in two forms: give one of them.\n")


def test_csv_holds_no_formula(warehouse: Path, tmp_path: Path) -> None:
    other = tmp_path / "warehouse.duckdb"
    with duckdb.connect(str(other)) as connection:
        connection.execute(f"attach '{warehouse}' as built (read_only)")
        connection.execute(
            "create schema marts; create table marts.fct_findings as"
            " select * replace ('=1+1' as group_name, -0.5 as value) from built.marts.fct_findings where is_current limit 1"
        )
        for table in ("dim_runs", "fct_verdicts", "fct_group_coverage"):
            connection.execute(f"create table marts.{table} as from built.marts.{table}")
    (row,) = csv.DictReader(io.StringIO(biasledger("findings", "--csv", "--warehouse", other).stdout))
    assert (row["group_name"], row["value"]) == ("'=1+1", "-0.5")
    (exact,) = json.loads(biasledger("findings", "--json", "--warehouse", other).stdout)
    assert exact["group_name"] == "=1+1"


# --- runs by their names


def test_a_run_is_named_by_the_beginning_of_its_id(warehouse: Path) -> None:
    (run, *_) = sorted({run for (run,) in current(warehouse, "run_id")})
    whole = biasledger("findings", "--run", run, code=0)
    assert biasledger("findings", "--run", run[:-1]).stdout == whole.stdout
    several = biasledger("findings", "--run", "latest", code=3)
    assert several.stderr.endswith("name one by its id.\n")
    assert "There is no run 'nobody'" in biasledger("findings", "--run", "nobody").stderr


def test_tables_stay_tables_and_wide_ones_have_all_columns(warehouse: Path) -> None:
    few = biasledger("query", "from fct_findings order by finding_id")
    n_columns = len(current(warehouse, "*")[0])
    lines = few.stdout.splitlines()
    parts = [index for index, line in enumerate(lines) if line.startswith("Columns ")]
    headers = [lines[index + 1].split() for index in parts]
    assert {header[0] for header in headers} == {"row"}
    assert sum(len(header) - 1 for header in headers) == n_columns
    assert lines[parts[-1]].endswith(f" to {n_columns} of {n_columns}:")
    assert max(map(len, lines)) <= 140
    wide = biasledger("query", "from fct_findings order by finding_id", "--wide")
    assert len(wide.stdout.splitlines()[0].split()) == n_columns
    assert "no room" not in wide.stderr
    one = biasledger("query", "from fct_findings order by finding_id limit 1")
    assert len(one.stdout.splitlines()) >= n_columns, "one row is a list of names and values"
