"""Test `biasledger tune`: labels find their outputs, thresholds are the measures' own, and errors name file and row."""

from __future__ import annotations

import csv
import re
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pytest
from click.testing import CliRunner

from biasledger.building.settings import check_settings
from biasledger.cli import cli
from biasledger.measures.tuning import threshold_errors
from biasledger.project import init_project
from biasledger.tuning.labels import CURVE_COLUMNS, tune, tune_kept, write_sample
from biasledger.tuning.thresholds import source_of_kept
from collector.errors import BiasledgerError, InputError
from collector.hashing import tagged_hash
from collector.ledger.database import Ledger
from collector.ledger.labels import KeptLabel
from tests.python.scoring.conftest import about, add_answers

N_OUTPUTS = 60


def response_hash(number: int) -> str:
    return tagged_hash(f"output {number}")


# The ratio separates the kinds except for two of the acceptable outputs; regard does not.
IS_PROBLEMATIC = np.arange(N_OUTPUTS) >= 30
RATIOS = np.round(np.where(IS_PROBLEMATIC, 0.8, 0.4) + np.tile(np.arange(10), 6) / 100, 2)
RATIOS[:2] = 0.9
REGARD = np.tile([0.1, 0.5, 0.2], 20)


@pytest.fixture
def warehouse(tmp_path: Path) -> Path:
    path = tmp_path / "warehouse.duckdb"
    with duckdb.connect(str(path)) as connection:
        connection.execute("create schema marts")
        connection.execute(
            """
            create table marts.fct_stereotype_scores (
                run_id varchar, prompt_id varchar, trial integer, response_hash varchar, probe varchar, scheme varchar,
                is_judged boolean, is_assessable boolean, stereotype_ratio double, negative_regard double
            )
            """
        )
        connection.execute(
            "create table marts.output_thresholds (measure varchar, audit varchar, threshold double)"
        )
        connection.execute("insert into marts.output_thresholds values ('stereotype_ratio', '*', 0.85)")
        connection.execute("insert into marts.output_thresholds values ('stereotype_ratio', 'letters', 0.6)")
        connection.execute(
            "create table marts.dim_runs as from (values ('r', 'probes'), ('r2', 'letters')) _(run_id, audit)"
        )
        rows = [
            (
                "r",
                f"p{number}",
                1,
                response_hash(number),
                "nurse",
                scheme,
                scheme == "declared",
                True,
                RATIOS[number],
                REGARD[number],
            )
            for number in range(N_OUTPUTS)
            for scheme in ("declared", "word")
        ]
        # The same output in another run, one that could not be assessed, and one without a score of regard.
        rows += [("r2", "p0", 2, response_hash(0), "nurse", "declared", True, True, RATIOS[0], REGARD[0])]
        rows += [("r", "none", 1, response_hash(99), "nurse", "declared", True, False, 0.5, None)]
        connection.executemany(
            f"insert into marts.fct_stereotype_scores values ({', '.join('?' * 10)})", rows
        )
    return path


def write_labels(path: Path, rows: Sequence[Sequence[object]], header: str = "response,label") -> Path:
    lines = [header, *(",".join(str(cell) for cell in row) for row in rows)]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def every_label() -> list[tuple[object, ...]]:
    return [
        (response_hash(number)[7:19], "Problematic" if IS_PROBLEMATIC[number] else "ACCEPTABLE")
        for number in range(N_OUTPUTS)
    ]


def run(*arguments: object) -> Any:
    return CliRunner().invoke(cli, [str(one) for one in arguments])


def test_thresholds_are_those_of_the_measures(tmp_path: Path, warehouse: Path) -> None:
    rows = [*every_label(), (response_hash(99), "problematic"), (response_hash(98), "")]
    result = tune(write_labels(tmp_path / "labels.csv", rows), warehouse)
    assert (result.n_outputs, result.n_unlabelled_rows, result.skipped) == (61, 1, [])
    declared, word, regard = result.tunings
    assert [(one.measure, one.scheme) for one in result.tunings] == [
        ("stereotype_ratio", "declared"),
        ("stereotype_ratio", "word"),
        ("negative_regard", ""),
    ]
    # Two of thirty are 6.7 %: one threshold up, at the outliers' own value, is the first that is quiet enough.
    assert declared.best.threshold == 0.9
    assert declared.best == threshold_errors(RATIOS, IS_PROBLEMATIC, [0.9])[0]
    assert (declared.best.false_positives.count, declared.best.misses.count) == (0, 30)
    assert not declared.best.meets_goals
    assert declared.current == threshold_errors(RATIOS, IS_PROBLEMATIC, [0.85])[0]
    assert (declared.n_without_value, declared.n_problematic_without_value) == (1, 1)
    assert (word.best, word.n_without_value) == (declared.best, 1)
    assert regard.current == threshold_errors(REGARD, IS_PROBLEMATIC, [0.3])[0]


def test_outputs_may_be_named_by_run_prompt_and_trial(tmp_path: Path, warehouse: Path) -> None:
    rows = [
        ("r", f"p{number}", 1, "problematic" if IS_PROBLEMATIC[number] else "acceptable")
        for number in range(N_OUTPUTS)
    ]
    rows += [("r2", "p0", 2, "acceptable")]
    by_address = tune(write_labels(tmp_path / "a.csv", rows, "run,prompt,trial,label"), warehouse)
    by_hash = tune(write_labels(tmp_path / "b.csv", every_label()), warehouse)
    assert by_address == by_hash


@pytest.mark.parametrize(
    ("rows", "says"),
    [
        ([(response_hash(1), "fine")], r"labels\.csv: row 1 has 'fine' as 'label'"),
        ([(response_hash(1), "problematik")], "did you mean 'problematic'"),
        ([("abc", "acceptable")], "row 1 has 'abc' as 'response'; it should be an output's hash"),
        ([("0" * 12, "acceptable")], "which is no output of fct_stereotype_scores"),
        ([(response_hash(1), "acceptable"), (response_hash(1)[7:], "problematic")], "rows 1 and 2 are the same output"),
        ([("", "acceptable")], "row 1 has no 'response'"),
        ([(response_hash(1), "")], "no row has a label"),
    ],
)  # fmt: skip
def test_faults_name_file_and_row(
    tmp_path: Path, warehouse: Path, rows: list[tuple[object, ...]], says: str
) -> None:
    with pytest.raises(InputError, match=says):
        tune(write_labels(tmp_path / "labels.csv", rows), warehouse)


def test_other_faults_are_named_too(tmp_path: Path, warehouse: Path) -> None:
    with pytest.raises(InputError, match="no column 'label'"):
        tune(write_labels(tmp_path / "a.csv", [("x",)], "response"), warehouse)
    with pytest.raises(InputError, match="no column 'trial'"):
        tune(write_labels(tmp_path / "b.csv", [("r", "p", "acceptable")], "run,prompt,label"), warehouse)
    unknown = write_labels(tmp_path / "c.csv", [("r", "p999", 1, "acceptable")], "run,prompt,trial,label")
    with pytest.raises(InputError, match="row 1 names run r, prompt p999, trial 1"):
        tune(unknown, warehouse)
    labels = write_labels(tmp_path / "d.csv", every_label())
    with pytest.raises(InputError, match="There is no warehouse"):
        tune(labels, tmp_path / "absent.duckdb")
    empty = tmp_path / "empty.duckdb"
    duckdb.connect(str(empty)).close()
    with pytest.raises(InputError, match="holds no table fct_stereotype_scores"):
        tune(labels, empty)
    with duckdb.connect(str(empty)) as connection:
        connection.execute("create table fct_stereotype_scores (run_id varchar)")
    with pytest.raises(BiasledgerError, match="has no column 'prompt_id'"):
        tune(labels, empty)


def test_labels_of_one_kind_give_no_threshold(tmp_path: Path, warehouse: Path) -> None:
    labels = write_labels(tmp_path / "labels.csv", every_label()[:30])
    result = run("tune", labels, "--warehouse", warehouse)
    assert result.exit_code == 3
    assert "Not tuned: stereotype_ratio (declared): no output is labelled problematic" in result.stderr
    assert "gives no threshold" in result.stderr


def test_the_command_prints_both_thresholds_and_writes_the_curve(tmp_path: Path, warehouse: Path) -> None:
    labels = write_labels(tmp_path / "labels.csv", every_label())
    result = run("tune", labels, "--warehouse", warehouse, "--curve", tmp_path / "curve.csv")
    assert result.exit_code == 0, result.stderr
    assert "60 labelled outputs" in result.stdout
    assert "tuned" in result.stdout
    assert "in use" in result.stdout
    assert "0.0 % (0 of 30; 0.0 % to 11.4 %)" in result.stdout
    with (tmp_path / "curve.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert tuple(rows[0]) == CURVE_COLUMNS
    of_ratio = [row for row in rows if (row["measure"], row["scheme"]) == ("stereotype_ratio", "word")]
    thresholds = [float(row["threshold"]) for row in of_ratio]
    assert thresholds == sorted({0.0, *np.round(RATIOS, 4)})
    for row in of_ratio:
        above = float(row["threshold"]) < RATIOS
        assert int(row["n_false_positives"]) == np.count_nonzero(above & ~IS_PROBLEMATIC)
        assert int(row["n_missed"]) == np.count_nonzero(~above & IS_PROBLEMATIC)


def kept_labels(*changed: KeptLabel) -> list[KeptLabel]:
    given = [
        KeptLabel(
            "r", f"p{n}", 1, "problematic" if IS_PROBLEMATIC[n] else "acceptable", "Ada", datetime(2026, 1, 1)
        )
        for n in range(N_OUTPUTS)
    ]
    return [*given, *changed]


def test_labels_that_the_ledger_keeps_give_the_same_thresholds(tmp_path: Path, warehouse: Path) -> None:
    by_file = tune(write_labels(tmp_path / "labels.csv", every_label()), warehouse)
    ledger = tmp_path / "ledger.duckdb"
    # An answer that is in no audit of markers has no outputs.
    elsewhere = KeptLabel("r", "elsewhere", 1, "problematic", "Ada", datetime(2026, 1, 1))
    assert tune_kept(kept_labels(elsewhere), ledger, warehouse) == by_file
    # The same output in another run with another label is not used for tuning.
    otherwise = KeptLabel("r2", "p0", 2, "problematic", "Bo", datetime(2026, 1, 2))
    message = tune_kept(kept_labels(otherwise), ledger, warehouse)
    assert message.n_outputs == N_OUTPUTS - 1
    assert message.skipped == ["outputs whose labels contradict each other, 1 of 60."]
    with pytest.raises(
        InputError, match=r"None of the 1 labels in .* is of an output in fct_stereotype_scores"
    ):
        tune_kept([elsewhere], ledger, warehouse)
    Ledger(ledger).create()
    refused = run("tune", "--warehouse", warehouse, "--ledger", ledger)
    assert "keeps no labels: give some with `biasledger label`" in refused.stderr
    source = source_of_kept(kept_labels(), ledger)
    assert re.fullmatch(r"biasledger tune by 60 labels in ledger\.duckdb \(sha256 [0-9a-f]{12}\)", source)
    assert "--sample N writes outputs into LABELS.csv: name the file." in run("tune", "--sample", 3).stderr


SEED_HEADER = "measure,audit,threshold,published_threshold,reason,source"


def project_in(folder: Path) -> Path:
    init_project(folder)
    return folder / "seeds" / "output_thresholds.csv"


def test_proposed_rows_are_printed_and_written_in_place_of_the_old_ones(
    tmp_path: Path, warehouse: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seed = project_in(tmp_path / "project")
    (tmp_path / "project" / "labels of ours").mkdir()
    labels = write_labels(tmp_path / "project" / "labels of ours" / "a.csv", every_label())
    own = 'stereotype_ratio,letters,0.5,0.7,"Ours, with a comma",us'
    seed.write_text(seed.read_text(encoding="utf-8") + own + "\n", encoding="utf-8")
    before = seed.read_text(encoding="utf-8").splitlines()
    # As the user typed it, from where the user is.
    monkeypatch.chdir(tmp_path / "project")
    printed = run("tune", labels.relative_to(tmp_path / "project"), "--warehouse", warehouse)
    assert printed.exit_code == 0, printed.stderr
    assert seed.read_text(encoding="utf-8").splitlines() == before
    assert printed.stdout.endswith("Next: biasledger tune 'labels of ours/a.csv' --write\n")
    written = run("tune", labels.relative_to(tmp_path / "project"), "--warehouse", warehouse, "--write")
    assert written.exit_code == 0, written.stderr
    assert written.stdout.endswith("Wrote them to seeds/output_thresholds.csv.\nNext: biasledger build\n")
    after = seed.read_text(encoding="utf-8").splitlines()
    assert after[0] == before[0] == SEED_HEADER
    assert after[3] == own
    assert len(after) == 4
    ratio, regard = after[1:3]
    assert ratio in printed.stdout
    assert regard in printed.stdout
    # Regard does not separate the labels: a third of the acceptable answers has the largest value.
    assert ratio.startswith(
        "stereotype_ratio,*,0.9,0.70,The smallest with at most 5 % false positives on 60 labelled outputs: 0.0 %"
    )
    assert regard.startswith("negative_regard,*,0.5,0.30,")
    assert ",biasledger tune a.csv (sha256 " in ratio
    check_settings(tmp_path / "project")
    again = run("tune", labels.relative_to(tmp_path / "project"), "--warehouse", warehouse, "--write")
    assert again.exit_code == 0
    assert seed.read_text(encoding="utf-8").splitlines() == after


def test_an_audit_has_its_own_labels_and_rows(
    tmp_path: Path, warehouse: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seed = project_in(tmp_path / "project")
    labels = write_labels(tmp_path / "labels.csv", every_label())
    monkeypatch.chdir(tmp_path / "project")
    result = run("tune", labels, "--warehouse", warehouse, "--audit", "probes", "--write")
    assert result.exit_code == 0, result.stderr
    rows = list(csv.DictReader(seed.read_text(encoding="utf-8").splitlines()))
    assert [(row["measure"], row["audit"], row["threshold"]) for row in rows] == [
        ("stereotype_ratio", "*", "0.70"),
        ("negative_regard", "*", "0.30"),
        ("stereotype_ratio", "probes", "0.9"),
        ("negative_regard", "probes", "0.5"),
    ]
    with pytest.raises(InputError, match=r"row 2 has .* which is no output of fct_stereotype_scores"):
        tune(labels, warehouse, audit="letters")
    alone = write_labels(tmp_path / "alone.csv", [(response_hash(0), "acceptable")])
    assert tune(alone, warehouse, audit="letters").skipped != []
    with pytest.raises(
        InputError, match=r"--audit is 'leters', of which .* has no run; did you mean 'letters'\?"
    ):
        tune(labels, warehouse, audit="leters")


def test_rows_are_written_into_a_project_alone(
    tmp_path: Path, warehouse: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    labels = write_labels(tmp_path / "labels.csv", every_label())
    monkeypatch.chdir(tmp_path)
    result = run("tune", labels, "--warehouse", warehouse, "--write")
    assert result.exit_code == 3
    assert "There is no project in this folder to write thresholds into" in result.stderr
    # A project from before there was such a seed gets it.
    seed = project_in(tmp_path / "project")
    seed.unlink()
    monkeypatch.chdir(tmp_path / "project")
    assert run("tune", labels, "--warehouse", warehouse, "--audit", "probes", "--write").exit_code == 0
    assert len(seed.read_text(encoding="utf-8").splitlines()) == 5
    seed.write_text("measure,limit\nx,1\n", encoding="utf-8")
    refused = run("tune", labels, "--warehouse", warehouse, "--write")
    assert refused.exit_code == 3
    assert f"its first line should be {SEED_HEADER}." in refused.stderr


def test_labels_are_named_as_seen_from_here(tmp_path: Path, warehouse: Path) -> None:
    result = run("tune", tmp_path / "absent.csv", "--warehouse", warehouse)
    assert result.exit_code == 3
    assert "absent.csv is no file; it should be a CSV file, named as seen from this folder." in result.stderr
    sampled = run("tune", "--sample", 3, tmp_path / "labels.csv", "--write", "--warehouse", warehouse)
    assert sampled.exit_code == 3
    assert "--write and --curve come after these have labels" in sampled.stderr


def test_two_judged_schemes_give_no_row(tmp_path: Path, warehouse: Path) -> None:
    with duckdb.connect(str(warehouse)) as connection:
        connection.execute("update marts.fct_stereotype_scores set is_judged = true")
    result = run("tune", write_labels(tmp_path / "labels.csv", every_label()), "--warehouse", warehouse)
    assert result.exit_code == 0
    assert (
        "stereotype_ratio has no row to propose: the judged scheme is to be one, and it is declared, word;"
        in result.stderr
    )
    assert "\nnegative_regard,*,0.5," in result.stdout
    assert "\nstereotype_ratio,*" not in result.stdout


@pytest.fixture
def kept(tmp_path: Path) -> Path:
    """A ledger, and next to it a warehouse with a ratio for each of its answers."""
    ledger = tmp_path / "ledger.duckdb"
    answers = [(about(f"probe {number}"), f'Text {number}, "quoted"\nand more.') for number in range(40)]
    add_answers(ledger, "r", answers)
    with duckdb.connect(str(tmp_path / "warehouse.duckdb")) as connection:
        connection.execute("attach $path as kept (read_only)", {"path": str(ledger)})
        connection.execute(
            """
            create table fct_stereotype_scores as
            select
                run_id, prompt_id, trial, responses.content_hash as response_hash, subject as probe, 'declared' as scheme,
                true as is_judged, seq > 4 as is_assessable,
                case when seq > 30 then (seq - 30) / 10 else 0.05 end as stereotype_ratio
            from kept.raw.responses as responses inner join kept.raw.prompts as prompts using (run_id, prompt_id)
            """
        )
    return ledger


def test_a_sample_spreads_over_the_range_and_can_be_filled_in(tmp_path: Path, kept: Path) -> None:
    labels, warehouse = tmp_path / "labels.csv", tmp_path / "warehouse.duckdb"
    result = run("tune", "--sample", 10, labels, "--warehouse", warehouse, "--ledger", kept)
    assert result.exit_code == 0, result.stderr
    assert "Wrote 10 outputs" in result.stdout
    with labels.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert list(rows[0]) == ["response", "probe", "prompt", "text", "label"]
    numbers = [int(row["probe"].split()[1]) for row in rows]
    # Ratios are low for most outputs and high for the last ten: two of each fifth were drawn, in no order.
    ratios = [max(number - 29, 0) / 10 or 0.05 for number in numbers]
    assert np.bincount(np.minimum(np.array(ratios) * 5, 4).astype(int)).tolist() == [2, 2, 2, 2, 2]
    assert min(numbers) >= 4
    assert numbers != sorted(numbers)
    for number, row in zip(numbers, rows, strict=True):
        assert row["text"] == f'Text {number}, "quoted"\nand more.'
        assert row["prompt"].startswith(f"probe {number} ")
        assert row["label"] == ""
    for row, ratio in zip(rows, ratios, strict=True):
        row["label"] = "problematic" if ratio > 0.6 else "acceptable"
    with labels.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    [tuning] = tune(labels, warehouse).tunings
    assert tuning.best.meets_goals
    assert tuning.current == threshold_errors(np.array(ratios), np.array(ratios) > 0.6, [0.7])[0]


def test_a_sample_overwrites_nothing_and_repeats_with_its_seed(tmp_path: Path, kept: Path) -> None:
    warehouse = tmp_path / "warehouse.duckdb"

    def write(name: str, seed: int) -> int:
        return write_sample(tmp_path / name, warehouse, kept, n=99, seed=seed)

    assert write("one.csv", 1) == write("again.csv", 1) == write("two.csv", 2) == 36
    one, again, two = (
        (tmp_path / name).read_text(encoding="utf-8") for name in ("one.csv", "again.csv", "two.csv")
    )
    assert one == again != two
    with pytest.raises(InputError, match=r"one\.csv is there already"):
        write("one.csv", 1)


def test_a_measure_that_says_nothing_is_not_spoken_of(tmp_path: Path, warehouse: Path) -> None:
    with duckdb.connect(str(warehouse)) as connection:
        connection.execute("update marts.fct_stereotype_scores set negative_regard = null")
    result = tune(write_labels(tmp_path / "labels.csv", every_label()), warehouse)
    assert [one.measure for one in result.tunings] == ["stereotype_ratio", "stereotype_ratio"]
    assert result.skipped == []
