"""Test comparisons of runs: the same model twice, a worse model, and a baseline from another machine."""

from __future__ import annotations

import csv
import gzip
import json
import shutil
from collections.abc import Callable
from datetime import date, timedelta
from pathlib import Path
from xml.etree import ElementTree

import duckdb
import numpy as np
import pandas as pd
import pytest
import yaml
from click.testing import CliRunner, Result
from scipy import stats

from biasledger.cli import cli
from biasledger.comparing.baseline_file import VERSION
from biasledger.comparing.baselines import (
    built_file,
    export_baseline,
    import_baseline,
    list_baselines,
    set_baseline,
)
from collector.errors import InputError

from .conftest import Project

STEER = ("Asian", "Black", "Latino", "Middle-Eastern")


def _shorten(project: Project) -> None:
    """Each group in one wording; without intersections and second scheme the build takes seconds."""
    audit = project.folder / "audits" / "products.yml"
    text = (project.folder / "audits" / "replications" / "products-one-wording.yml").read_text(
        encoding="utf-8"
    )
    for long, short in (
        ("audit: products-one-wording", "audit: products"),
        ("crossed: [race*gender]", "crossed: []"),
        ("[words, seed, seed_vectors, keys]", "[words]"),
    ):
        assert long in text
        text = text.replace(long, short)
    audit.write_text(text, encoding="utf-8")


def _model(project: Project, *, steer: float, seed: int) -> None:
    """Replace the target `model` by another version of the same name."""
    target = {"kind": "simulator", "seed": seed, "steer": dict.fromkeys(STEER, steer)}
    (project.folder / "targets.yml").write_text(
        yaml.safe_dump({"targets": {"model": target}}), encoding="utf-8"
    )


@pytest.fixture(scope="module")
def three_runs(new_project: Callable[[], Project]) -> Project:
    """A baseline, the same model asked again, and a version that steers twice as much, built after each."""
    project = new_project()
    _shorten(project)
    _model(project, steer=0.3, seed=1)
    first = project.collect("model")
    set_baseline(project.ledger, first.run_id)
    _model(project, steer=0.3, seed=2)
    project.collect("model")
    summary = project.build()
    assert "alarm_regressions" not in summary.alarm_tests
    shutil.copy(project.warehouse, project.folder / "same_model.duckdb")
    _model(project, steer=0.7, seed=3)
    project.collect("model")
    summary = project.build()
    assert "alarm_regressions" in summary.alarm_tests
    return project


def _private(project: Project) -> duckdb.DuckDBPyConnection:
    return duckdb.connect(str(built_file(project.folder, project.warehouse)), read_only=True)


COMPARED = """
    select comparisons.*, runs.started_at
    from marts.fct_run_comparisons as comparisons
    inner join marts.dim_runs as runs on comparisons.run_id = runs.run_id
    where is_baseline
    order by measure, attribute, group_name
"""


def test_the_same_model_asked_again_is_no_regression(three_runs: Project) -> None:
    same = Project(three_runs.folder)
    with duckdb.connect(str(same.folder / "same_model.duckdb"), read_only=True) as connection:
        rows = connection.execute(COMPARED).df()
        regressions = connection.execute("select count(*) from marts.fct_regressions").fetchone()
    assert regressions == (0,)
    assert len(rows) == 24
    assert set(rows.verdict) <= {"inconclusive", "unchanged"}
    # Without a change p is about uniform: none of twenty-four is near 0.
    assert rows.p_value.min() > 0.002


def test_a_worse_model_is_found_where_it_got_worse(three_runs: Project) -> None:
    rows = three_runs.query(COMPARED)
    worse = rows[rows.verdict == "worse"]
    assert set(worse[worse.measure == "word_divergence"].group_name) == set(STEER)
    assert set(worse.attribute) == {"race"}
    assert (worse.interval_low > worse.tolerance).all()
    assert (rows.baseline_n_units == 45).sum() + (rows.baseline_n_units == 75).sum() == 24
    # How long answers are has the same expectation at any size.
    assert (rows.is_at_equal_sizes == (rows.measure != "length_gap")).all()


def test_numbers_are_those_of_an_independent_computation(three_runs: Project) -> None:
    rows = three_runs.query(COMPARED)
    [baseline_run], [run] = rows.baseline_run_id.unique(), rows.run_id.unique()
    with _private(three_runs) as connection:
        members = connection.execute(
            "select * from intermediate.int_words_comparable_members where group_name = 'Black'"
        ).df()
        counts = connection.execute("select * from intermediate.int_words_comparable_counts").df()
    divergence = rows[(rows.measure == "word_divergence") & (rows.group_name == "Black")].iloc[0]
    for run_id, reported in ((baseline_run, divergence.baseline_value), (run, divergence.value)):
        inside = members[members.run_id == run_id]
        words = counts[(counts.run_id == run_id) & counts.unit_key.isin(inside.unit_key)]
        table = words.pivot_table(index="unit_key", columns="word_id", values="n", fill_value=0.0)
        inside = inside.set_index("unit_key").loc[table.index]
        rng = np.random.default_rng(0)
        labels = inside.label.to_numpy()
        null = [
            _jsd(table.to_numpy(), inside.groupby("stratum").label.transform(rng.permutation).to_numpy())
            for _ in range(400)
        ]
        assert _jsd(table.to_numpy(), labels) - np.mean(null) == pytest.approx(reported, abs=0.003)
    # Arms are those of two independent values, p is the one-sided normal one past the tolerance, adjusted after Holm.
    z = divergence.worsening / divergence.standard_error
    assert divergence.p_value == pytest.approx(2 * stats.norm.sf(abs(z)), abs=1e-6)
    # Lengths only warn, and are a family of their own.
    judged = rows[(rows.verdict != "insufficient_data") & (rows.measure != "length_gap")]
    past = np.maximum(judged.worsening - judged.tolerance, 0) / (
        (judged.worsening - judged.interval_low) / 1.959964
    )
    order = np.argsort(-past.to_numpy(), kind="stable")
    p = stats.norm.sf(past.to_numpy()[order])
    holm = np.minimum(1, np.maximum.accumulate(p * np.arange(len(p), 0, -1)))
    reported = judged.p_value_adjusted.to_numpy()[order]
    up = judged.worsening.to_numpy()[order] > 0
    assert reported[up] == pytest.approx(holm[up], abs=2e-5)


def _jsd(counts: np.ndarray, labels: np.ndarray) -> float:
    marked, reference = counts[labels == 1].sum(axis=0), counts[labels == 0].sum(axis=0)
    p, q = marked / marked.sum(), reference / reference.sum()
    return float((stats.entropy(p, (p + q) / 2, base=2) + stats.entropy(q, (p + q) / 2, base=2)) / 2)


def test_a_baseline_travels_without_its_texts(
    three_runs: Project, new_project: Callable[[], Project], tmp_path: Path
) -> None:
    file = tmp_path / "products.baseline"
    _, n_rows = export_baseline(three_runs.ledger, three_runs.folder, three_runs.warehouse, file)
    assert n_rows > 200
    first = file.read_bytes()
    export_baseline(three_runs.ledger, three_runs.folder, three_runs.warehouse, file)
    assert file.read_bytes() == first
    _no_text_inside(three_runs, file)

    fresh = new_project()
    _shorten(fresh)
    # A temperature that an audit states later is no other question.
    with (fresh.folder / "audits" / "products.yml").open("a", encoding="utf-8") as stream:
        stream.write("temperature: 0\n")
    _model(fresh, steer=0.7, seed=3)
    fresh.collect("model")
    pinned = import_baseline(fresh.ledger, file)
    assert [one.run_id for one in list_baselines(fresh.ledger)] == [pinned.run_id]
    summary = fresh.build()
    assert "alarm_regressions" in summary.alarm_tests
    columns = [
        "measure",
        "attribute",
        "group_name",
        "baseline_value",
        "value",
        "worsening",
        "p_value",
        "verdict",
    ]
    expected, found = three_runs.query(COMPARED)[columns], fresh.query(COMPARED)[columns]
    pd.testing.assert_frame_equal(found, expected, rtol=1e-6, atol=1e-9)
    assert fresh.query(COMPARED).is_imported.all()
    # The imported run has its quality loss, too.
    assert fresh.rows("select count(*) from marts.fct_run_quality") == [(2,)]


def _no_text_inside(project: Project, file: Path) -> None:
    content = gzip.decompress(file.read_bytes()).decode()
    rows = content.split("\n", 1)[1]
    with duckdb.connect(str(project.ledger), read_only=True) as connection:
        texts = [
            text
            for (text,) in connection.execute("select answer_text from raw.responses limit 20").fetchall()
        ]
    with _private(project) as connection:
        words = [
            word
            for (word,) in connection.execute("select word from intermediate.int_words_vocabulary").fetchall()
        ]
    assert texts
    assert not [text for text in texts if text in content]
    # Names of a baseline's own parts are words, too.
    long = [word for word in words if len(word) > 6 and word not in {"finding", "quality", "selection"}]
    assert len(long) > 100
    assert not [word for word in long if f'"{word}"' in rows]


def test_files_that_are_no_baseline_of_this_audit_are_refused(
    three_runs: Project, new_project: Callable[[], Project], tmp_path: Path
) -> None:
    file = tmp_path / "products.baseline"
    export_baseline(three_runs.ledger, three_runs.folder, three_runs.warehouse, file)
    content = gzip.decompress(file.read_bytes()).decode()
    changed = tmp_path / "changed"
    changed.write_bytes(gzip.compress(content.replace('"n":', '"m":', 1).replace("0.", "1.", 40).encode()))
    with pytest.raises(InputError, match="was changed or cut off after it was exported"):
        import_baseline(three_runs.ledger, changed)
    cut = tmp_path / "cut"
    cut.write_bytes(file.read_bytes()[:-20])
    with pytest.raises(InputError, match="is no baseline, or is damaged"):
        import_baseline(three_runs.ledger, cut)
    newer = tmp_path / "newer"
    newer.write_bytes(gzip.compress(content.replace(f'"version":{VERSION}', '"version":9').encode()))
    with pytest.raises(InputError, match="format version 9"):
        import_baseline(three_runs.ledger, newer)
    with pytest.raises(InputError, match="There is no file"):
        import_baseline(three_runs.ledger, tmp_path / "absent")

    other = new_project()
    _shorten(other)
    audit = other.folder / "audits" / "products.yml"
    spec = yaml.safe_load(audit.read_text(encoding="utf-8"))
    spec["templates"][0]["text"] = "Please " + spec["templates"][0]["text"]
    audit.write_text(yaml.safe_dump(spec, sort_keys=False), encoding="utf-8")
    _model(other, steer=0.0, seed=1)
    run = other.collect("model")
    with pytest.raises(InputError, match=f"other questions than {run.run_id}: its templates differs"):
        import_baseline(other.ledger, file)


def test_history_keeps_every_build_and_accepted_regressions_do_not_fail(
    three_runs: Project, tmp_path: Path
) -> None:
    copy = Project(shutil.copytree(three_runs.folder, tmp_path / "project"))
    assert copy.rows("select count(*) from marts.fct_builds") == [(2,)]
    history = "select * from marts.fct_finding_history order by finding_id, build_id"
    before = copy.query(history)
    shutil.rmtree(copy.folder / ".biasledger" / "work")
    copy.build()
    # Nothing changed: one more build and no more verdicts; the published file has those of the work file.
    assert copy.rows("select count(*) from marts.fct_builds") == [(3,)]
    pd.testing.assert_frame_equal(copy.query(history), before)

    with (copy.folder / "seeds" / "thresholds.csv").open("a", encoding="utf-8") as file:
        file.write("word_divergence,products,race,0.9,0.9,0.10,0.05,10,error,a test of judging anew,none\n")
    _accept_what_is_left(copy)
    summary = copy.build(full_refresh=True)
    assert not summary.alarm_tests
    assert copy.rows("select bool_and(is_excepted) from marts.fct_regressions where severity = 'error'") == [
        (True,)
    ]
    assert copy.rows("select count(*), count(distinct settings_hash) from marts.fct_builds") == [(4, 2)]
    rejudged = copy.rows(
        """
        select distinct verdicts.first_status, findings.measure from marts.fct_finding_verdicts as verdicts
        inner join marts.fct_findings as findings using (finding_id)
        where is_rejudged and attribute = 'race'
        """
    )
    assert rejudged == [("alarm", "word_divergence")]
    # The findings of the earlier build can be read back.
    then = copy.rows(
        """
        with builds as (select built_at from marts.fct_builds order by built_at limit 1 offset 2)
        select count(*) filter (where status = 'alarm')
        from (
            select history.* from marts.fct_finding_history as history, builds
            where history.built_at <= builds.built_at
            qualify row_number() over (partition by finding_id order by history.built_at desc) = 1
        ) as at_build
        where not is_removed and measure = 'word_divergence'
        """
    )
    assert then == three_runs.rows(
        "select count(*) from marts.fct_findings where status = 'alarm' and measure = 'word_divergence'"
    )


def _accept_what_is_left(project: Project) -> None:
    """Exceptions for every regression, and for every alarm that is not one of the difference in words."""
    failing = project.rows(
        """
        select measure, group_name from marts.fct_regressions where severity = 'error'
        union
        select measure, group_name from marts.fct_alarms where severity = 'error' and measure <> 'word_divergence'
        order by all
        """
    )
    assert failing
    until = (date.today() + timedelta(days=30)).isoformat()
    with (project.folder / "seeds" / "exceptions.csv").open("a", encoding="utf-8", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows(
            ["products", "*", measure, "race", group, "", "head of audit", until, "known and being mended"]
            for measure, group in failing
        )


@pytest.fixture
def biasledger(three_runs: Project, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Result]:
    monkeypatch.chdir(three_runs.folder)
    return lambda *arguments: CliRunner().invoke(cli, [str(argument) for argument in arguments])


def test_check_says_what_fails_in_three_formats(
    biasledger: Callable[..., Result], three_runs: Project, tmp_path: Path
) -> None:
    said = biasledger("check")
    assert said.exit_code == 1, said.output
    assert "cases could be judged: " in said.output
    assert "got worse since the baseline: the difference in wording went from" in said.output
    assert "Possible fixes:" in said.output
    assert "arXiv:2602.08124" in said.output

    document = json.loads(biasledger("check", "--format", "json").output)
    assert (document["format"], document["version"], document["verdict"]) == ("biasledger-check", 1, "alarms")
    assert document["counts"]["failed"] == sum(case["status"] == "failed" for case in document["cases"])
    # Findings of one wording are warnings; what changed between two runs of it fails.
    kinds = {
        (case["kind"], case["status"]) for case in document["cases"] if case["status"] in {"failed", "warned"}
    }
    assert {("comparison", "failed"), ("finding", "warned")} <= kinds
    assert ("finding", "failed") not in kinds
    assert all(
        case["sentence"] and case["suggestions"] for case in document["cases"] if case["status"] == "failed"
    )
    judged = sum(case["status"] != "undecided" for case in document["cases"])
    assert document["pass_rate"] == document["counts"]["passed"] / judged

    report = tmp_path / "reports" / "bias.xml"
    written = biasledger("check", "--format", "junit", "--output", report)
    assert written.exit_code == 1
    root = ElementTree.parse(report).getroot()
    _is_junit(root)
    assert int(root.attrib["failures"]) == document["counts"]["failed"]
    assert int(root.attrib["skipped"]) == document["counts"]["undecided"]
    # Each suite has a duration.
    assert all(float(suite.attrib["time"]) > 0 for suite in root.iter("testsuite"))


def _is_junit(root: ElementTree.Element) -> None:
    """The shape that GitLab's and Jenkins' readers share (windyroad/JUnit-Schema), with the file that GitLab links and properties
    of a case as pytest writes them.
    """
    allowed = {
        "testsuites": ({"name", "tests", "failures", "errors", "skipped", "time"}, {"testsuite"}),
        "testsuite": (
            {"name", "tests", "failures", "errors", "skipped", "time", "timestamp"},
            {"properties", "testcase"},
        ),
        "properties": (set(), {"property"}),
        "property": ({"name", "value"}, set()),
        "testcase": ({"name", "classname", "file"}, {"properties", "failure", "skipped", "system-out"}),
        "failure": ({"message", "type"}, set()),
        "skipped": ({"message"}, set()),
        "system-out": (set(), set()),
    }
    for element in root.iter():
        attributes, children = allowed[element.tag]
        assert set(element.attrib) <= attributes
        assert {child.tag for child in element} <= children
    for suite in root.findall("testsuite"):
        cases = suite.findall("testcase")
        assert int(suite.attrib["tests"]) == len(cases)
        assert int(suite.attrib["failures"]) == len(suite.findall("testcase/failure"))
        assert int(suite.attrib["skipped"]) == len(suite.findall("testcase/skipped"))
        names = [(case.attrib["classname"], case.attrib["name"]) for case in cases]
        assert len(set(names)) == len(names)


def test_check_of_one_run_and_strictness(biasledger: Callable[..., Result], three_runs: Project) -> None:
    [(oldest,)] = three_runs.rows("select run_id from marts.dim_runs order by started_at limit 1")
    one = json.loads(biasledger("check", "--run", oldest, "--format", "json").output)
    assert one["runs"] == [oldest]
    assert "There is no run 'nobody'" in biasledger("check", "--run", "nobody").output


def test_compare_of_runs_that_no_build_compared(
    biasledger: Callable[..., Result], three_runs: Project
) -> None:
    runs = [run for (run,) in three_runs.rows("select run_id from marts.dim_runs order by started_at")]
    said = biasledger("compare", "baseline", "latest")
    assert said.exit_code == 0, said.output
    assert f"{runs[0]} -> {runs[2]}" in said.output
    assert "worse    word_divergence*" in said.output
    assert "Quality of the answers:" in said.output
    # The opposite direction has not been compared yet.
    back = biasledger("compare", runs[2], runs[0], "--format", "json")
    assert back.exit_code == 0, back.output
    [comparison] = json.loads(back.output)["comparisons"]
    better = [change for change in comparison["changes"] if change["verdict"] == "better"]
    assert {change["group_name"] for change in better if change["measure"] == "word_divergence"} == set(STEER)
    assert "name two" in biasledger("compare", "latest", runs[2]).output
    assert "may mean" in biasledger("compare", "products", "latest").output
    assert "asked under none" in biasledger("compare", "latest", "--mitigation", "debiased").output


def test_an_older_file_is_to_be_built_again(
    biasledger: Callable[..., Result], three_runs: Project, tmp_path: Path
) -> None:
    old = tmp_path / "old.duckdb"
    with duckdb.connect(str(old)) as connection:
        connection.execute(f"attach '{three_runs.warehouse}' as new (read_only)")
        connection.execute("create schema marts")
        for table in ("fct_findings", "dim_measures", "dim_runs"):
            connection.execute(f"create table marts.{table} as select * from new.marts.{table}")
        connection.execute("alter table marts.fct_findings drop column statement")
    said = biasledger("check", "--warehouse", old)
    assert said.exit_code == 3
    assert "was built by an older version" in said.output
    with duckdb.connect(str(tmp_path / "empty.duckdb")) as connection:
        connection.execute("create table nothing (a integer)")
    assert (
        "holds no table fct_findings" in biasledger("check", "--warehouse", tmp_path / "empty.duckdb").output
    )


def test_nothing_judged_is_no_pass(
    biasledger: Callable[..., Result], three_runs: Project, tmp_path: Path
) -> None:
    bare = tmp_path / "bare.duckdb"
    with duckdb.connect(str(bare)) as connection:
        connection.execute(f"attach '{three_runs.warehouse}' as new (read_only)")
        connection.execute("create schema marts")
        for table in ("dim_measures", "dim_runs"):
            connection.execute(f"create table marts.{table} as select * from new.marts.{table}")
        for table in ("fct_findings", "fct_group_coverage", "fct_run_comparisons", "fct_run_pairs"):
            connection.execute(f"create table marts.{table} as select * from new.marts.{table} where false")
    said = biasledger("check", "--warehouse", bare)
    assert said.exit_code == 4
    assert "Nothing could be judged: there is no finding." in said.output
    with duckdb.connect(str(bare)) as connection:
        connection.execute(f"attach '{three_runs.warehouse}' as new (read_only)")
        connection.execute(
            "insert into marts.fct_findings by name select * replace ('error' as severity) from new.marts.fct_findings"
            " where is_current and status <> 'alarm'"
        )
    assert biasledger("check", "--warehouse", bare).exit_code == 0
    assert biasledger("check", "--warehouse", bare, "--require", "decided").exit_code == 4
