"""`biasledger findings`: verdicts first, ids that `explain` takes, sentences under rows, and rows for programs."""

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
from biasledger.findings import Finding
from biasledger.verdicts import attribute_verdicts, verdict_lines
from collector import terminal
from tests.python.cli.conftest import Biasledger

_ROW = Finding(
    finding="abcdef",
    status="clear",
    audit="products",
    target="robot",
    variant="plain",
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
    """What is built for all; commands read it from here."""
    monkeypatch.setenv("BIASLEDGER_WAREHOUSE", str(audited / "warehouse.duckdb"))
    monkeypatch.setenv("BIASLEDGER_LEDGER", str(audited / "ledger.duckdb"))
    return audited / "warehouse.duckdb"


def current(warehouse: Path, columns: str, where: str = "true") -> list[tuple[object, ...]]:
    with duckdb.connect(str(warehouse), read_only=True) as connection:
        return connection.execute(
            f"select {columns} from marts.fct_findings where is_current and {where}"
        ).fetchall()


# --- verdicts


def lines(*rows: Finding, silent: tuple[tuple[str, str, str], ...] = ()) -> list[str]:
    return verdict_lines(attribute_verdicts(rows, silent))


def test_a_verdict_is_the_gravest_of_what_can_fail_with_how_many_measures() -> None:
    alarm = replace(_ROW, status="alarm", measure="separability")
    assert lines(_ROW) == ["race: clear"]
    assert lines(_ROW, alarm) == ["race: alarm (1 of 2 measures)"]
    assert lines(_ROW, alarm, replace(alarm, group_name="Asian")) == ["race: alarm (1 of 2 measures)"]
    open_ = replace(_ROW, attribute="gender", status="inconclusive")
    assert lines(alarm, open_) == ["race: alarm · gender: inconclusive"]
    lacking = replace(_ROW, measure="length_gap", status="insufficient_data")
    assert lines(_ROW, lacking) == ["race: insufficient data (1 of 2 measures)"]
    assert lines(lacking, replace(_ROW, status="inconclusive")) == ["race: inconclusive (1 of 2 measures)"]
    assert lines(replace(_ROW, attribute="(markers)")) == ["markers: clear"]
    assert lines(replace(_ROW, severity="none")) == []


def test_warnings_and_accepted_alarms_make_no_verdict_and_are_said() -> None:
    warned = replace(_ROW, status="alarm", measure="length_gap", severity="warn")
    accepted = replace(_ROW, status="alarm", measure="separability", is_excepted=True)
    assert lines(_ROW, warned) == ["race: clear, 1 more only warns"]
    assert lines(_ROW, warned, replace(warned, measure="x")) == ["race: clear, 2 more only warn"]
    assert lines(_ROW, accepted) == ["race: clear, 1 accepted"]
    assert lines(warned) == ["race: warning"]
    assert lines(warned, replace(warned, measure="x", status="clear")) == ["race: warning (1 of 2 measures)"]
    clear, open_ = (replace(warned, status=one, measure=one) for one in ("clear", "inconclusive"))
    assert lines(clear) == ["race: clear (none can fail the audit)"]
    assert lines(clear, open_) == ["race: inconclusive (1 of 2 measures; none can fail the audit)"]
    assert lines(replace(clear, variant="masked")) == ["with masked: race: clear"]


def test_mitigations_have_a_line_each_and_silent_groups_are_no_pass() -> None:
    masked = replace(_ROW, variant="masked")
    assert lines(masked, replace(_ROW, status="alarm")) == ["race: alarm", "with masked: race: clear"]
    assert lines(_ROW, masked, silent=(("run-1", "plain", "race"),)) == [
        "race: insufficient data, nothing is known of some groups",
        "with masked: race: clear",
    ]


def test_each_run_s_verdicts_stand_above_its_table(biasledger: Biasledger, warehouse: Path) -> None:
    printed = biasledger("findings", "--all").stdout.splitlines()
    headings = {
        line.partition(", run ")[2].partition(",")[0]: place
        for place, line in enumerate(printed)
        if ", asked of " in line and ", run " in line
    }
    with duckdb.connect(str(warehouse), read_only=True) as connection:
        variants = dict(
            connection.execute(
                "select run_id, list(distinct variant order by variant <> 'plain', variant) from marts.fct_findings "
                "where severity <> 'none' group by run_id"
            ).fetchall()
        )
    assert headings.keys() >= variants.keys()
    assert max(map(len, variants.values())) > 1
    for run, asked in variants.items():
        said = printed[headings[run] + 1 : headings[run] + 2 + len(asked)]
        assert [line.split(": ")[0] for line in said[1:-1]] == [f"  with {variant}" for variant in asked[1:]]
        assert said[0].startswith("  ")
        assert said[-1].startswith("finding ")
    # What is left out of the table still counts.
    filtered = biasledger("findings", "--status", "clear").stdout.splitlines()
    assert [line for line in filtered if line.startswith("  race: alarm")]


# --- ids


def test_the_id_of_a_row_is_what_explain_takes(biasledger: Biasledger, warehouse: Path) -> None:
    printed = biasledger("findings", "--status", "alarm", "--all").stdout
    found = {row[0] for row in current(warehouse, "finding_id", "status = 'alarm'")}
    shown = [line.split()[0] for line in printed.splitlines() if _is_alarm(line)]
    assert len(shown) == len(set(shown))
    for finding_id in found:
        assert sum(finding_id.startswith(one) for one in shown) == 1
    assert f"Next: biasledger explain {shown[0]}, or another id from the first column" in printed
    explained = biasledger("explain", shown[0], "--responses", "0")
    assert explained.exit_code == 0
    assert explained.stdout.startswith(f"Finding {shown[0]}")


def test_a_sentence_stands_under_its_row_and_names_the_mitigation(
    biasledger: Biasledger, warehouse: Path
) -> None:
    with duckdb.connect(str(warehouse), read_only=True) as connection:
        rows = connection.execute(
            "select finding_id, variant, explanation from marts.fct_findings where status = 'alarm'"
        ).fetchall()
    printed = biasledger("findings", "--status", "alarm", "--all", "--why").stdout.splitlines()
    # A row may be folded.
    under = {
        line.split()[0]: next(one for one in printed[place + 1 :] if re.match(r" {4}\S", one))
        for place, line in enumerate(printed)
        if _is_alarm(line)
    }
    assert len(under) == len(rows)
    for finding, variant, explanation in rows:
        (sentence,) = [said for short, said in under.items() if finding.startswith(short)]
        assert sentence.startswith(f"    {'' if variant == 'plain' else f'With {variant}: '}{explanation}")


def test_a_mitigation_is_named_wherever_it_is_spoken_of(capsys: pytest.CaptureFixture[str]) -> None:
    findings_table([replace(_ROW, variant="masked", advice="Ask more.")], explain=True)
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
            ("Black", "separability", "words", "race"),
        )
    ]
    rows[0] = replace(rows[0], status="insufficient_data", finding="abcdef0123")
    rows[1] = replace(rows[1], status="inconclusive")
    findings_table(rows)
    lines = capsys.readouterr().out.splitlines()
    table = lines[1 : next(place for place, line in enumerate(lines) if "had no room" in line)]
    assert all(len(line) <= width for line in table)
    words = " ".join(table).split()
    assert {"finding", "status", "abcdef0123", "abcdef", "insufficient", "inconclusive"} <= set(words)
    told = " ".join(line.strip() for line in lines)
    left_out = told.partition("had no room (")[2].partition(")")[0].split(", ")
    for name, whole in {
        "measure": "word_divergence",
        "scheme": "seed_vectors",
        "attribute": "nationality",
        "group": "Middle-Eastern",
        "value": "-0.0159",
        "p adjusted": "0.500",
    }.items():
        assert (whole in words) != (name in left_out), name
    assert "value" not in left_out or width < 80


def _is_alarm(line: str) -> bool:
    return not line.startswith(" ") and line.split()[1:2] == ["alarm"]


# --- for programs


def test_json_and_csv_have_every_column_and_row(biasledger: Biasledger, warehouse: Path) -> None:
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


def test_two_forms_at_once_are_refused(biasledger: Biasledger) -> None:
    both = biasledger("findings", "--json", "--csv")
    assert both.exit_code == 3
    assert both.stderr.endswith("Error: --json and --csv say the same in two forms: give one of them.\n")


def test_csv_holds_no_formula(biasledger: Biasledger, small_project: Path) -> None:
    (small_project / "seeds" / "thresholds.csv").write_text(
        "group_name,value,status,is_simulated\n=1+1,-0.5,alarm,true\n", encoding="utf-8"
    )
    assert biasledger("build").exit_code == 1
    (row,) = csv.DictReader(io.StringIO(biasledger("findings", "--csv").stdout))
    assert (row["group_name"], row["value"]) == ("'=1+1", "-0.5")
    (exact,) = json.loads(biasledger("findings", "--json").stdout)
    assert exact["group_name"] == "=1+1"


# --- runs by their names


def test_a_run_is_named_by_the_beginning_of_its_id(biasledger: Biasledger, warehouse: Path) -> None:
    (run, *_) = sorted({run for (run,) in current(warehouse, "run_id")})
    whole = biasledger("findings", "--run", run)
    assert whole.exit_code == 0
    assert biasledger("findings", "--run", run[:-1]).stdout == whole.stdout
    several = biasledger("findings", "--run", "latest")
    assert several.exit_code == 3
    assert several.stderr.endswith("name one by its id.\n")
    assert "There is no run 'nobody'" in biasledger("findings", "--run", "nobody").stderr


def test_tables_stay_tables_and_wide_ones_have_all_columns(biasledger: Biasledger, warehouse: Path) -> None:
    few = biasledger("query", "from fct_findings order by finding_id")
    n_columns = len(current(warehouse, "*")[0])
    header = few.stdout.splitlines()[0].split()
    assert header[0] == "finding_id"
    assert f"{n_columns - len(header)} columns had no room (" in few.stderr
    assert max(map(len, few.stdout.splitlines())) <= 140
    wide = biasledger("query", "from fct_findings order by finding_id", "--wide")
    assert len(wide.stdout.splitlines()[0].split()) == n_columns
    assert "no room" not in wide.stderr
    one = biasledger("query", "from fct_findings order by finding_id limit 1")
    assert len(one.stdout.splitlines()) >= n_columns, "one row is a list of names and values"
