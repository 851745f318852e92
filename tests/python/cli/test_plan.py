"""Test `biasledger plan`: what an audit can show, from its sizes and from an earlier run."""

from __future__ import annotations

from pathlib import Path

import duckdb
import pytest

from biasledger.planning.outlooks import Outlook, clear_note, outlooks_from_run, outlooks_from_sizes, sizes_of
from collector.spec.loading import load_audit
from collector.spec.prompts import build_prompts
from tests.python.running import biasledger

RESUMES = Path("audits/resumes.yml")


def test_sizes_alone_tell_of_decisions() -> None:
    audit = load_audit(RESUMES)
    found = {(one.measure, one.attribute): one for one in outlooks_from_sizes(audit, build_prompts(audit))}
    one = found["rank_gap", "race"]
    assert (one.n_units, one.unit) == (12, "cases")
    # Differences with a deviation of sqrt(0.1): the error of n cases has to be 0.05 / (1.96 + 1.28).
    assert one.n_clear == pytest.approx(0.1 * (3.2415 / 0.05) ** 2, rel=0.01)
    assert one.smallest > 0.05


def test_a_finding_of_an_earlier_run_is_scaled_to_the_plan(tmp_path: Path) -> None:
    """An earlier error of 0.05 with 4 cases is one of 0.05 / sqrt(3) with 12."""
    audit, warehouse = load_audit(RESUMES), tmp_path / "warehouse.duckdb"
    with duckdb.connect(str(warehouse)) as connection:
        connection.execute(
            """
            create schema marts;
            create table marts.dim_measures as select 'rank_gap' as measure, 'two-sided' as side, 0e0 as no_difference;
            create table marts.dim_runs as select 'run-1' as run_id, 64 as n_prompts, 64 as n_responses;
            create table marts.dim_prompt_groups as
            select
                'run-1' as run_id, cast(number as varchar) as prompt_id, 'race' as attribute,
                if(number % 2 = 0, 'black', 'white') as group_name, 'name ' || number as descriptor, 'plain' as mitigation,
                'resume' as template, 'jobs' as domain, 'case ' || number // 16 as subject
            from range(64) as numbers (number);
            create table marts.fct_findings as
            select
                'rank_gap' as measure, 'rank_value' as scheme, 'race' as attribute, 'black' as group_name,
                'white' as reference_group, 'cases' as settled_by, 4 as n_units, 10 as min_units, 5e-2 as threshold,
                5e-2 as clear_threshold, 5e-2 as alpha, 1e-2 as value, 1e-2 - 5e-2 * 1.959964 as interval_low,
                1e-2 + 5e-2 * 1.959964 as interval_high, 2e-2 as null_sd, 'run-1' as run_id, 'resumes' as audit,
                'plain' as mitigation, true as is_current, 'error' as severity, 5e-1 as p_value, 'inconclusive' as status,
                '' as subject
            """
        )
    run, (one,) = outlooks_from_run(warehouse, audit, sizes_of(audit, build_prompts(audit)))
    assert run == "run-1"
    assert one.n_units == 12
    assert one.smallest == pytest.approx((1.959964 + 0.841621) * 0.05 / 3**0.5, rel=1e-4)
    assert one.n_clear == pytest.approx(4 * (0.05 * 3.2415 / 0.05) ** 2, abs=1)


def test_the_note_names_what_is_farthest_from_clear() -> None:
    small = Outlook("rank_gap", "", "race", "a", "b", "cases", 12, 10, 0.3, 421)
    assert clear_note([small]) is not None
    assert "rank_gap needs about 421 cases to be clear, and 12 are planned" in str(clear_note([small]))
    assert clear_note([Outlook("rank_gap", "", "race", "a", "b", "cases", 500, 10, 0.3, 421)]) is None


def test_the_command_prints_what_one_more_brings(tmp_path: Path) -> None:
    done = biasledger("plan", RESUMES, "--warehouse", tmp_path / "none.duckdb", code=0)
    assert "rank_gap" in done.output
    assert "subject" in done.output
    assert "Assumed:" in done.output


def test_nothing_is_promised_below_the_minimum(tmp_path: Path) -> None:
    none = tmp_path / "none.duckdb"
    done = biasledger("plan", RESUMES, "--subjects", "1", "--warehouse", none, code=0)
    assert "This design cannot judge" in done.stderr
    assert "rank_gap    race" not in done.output


def test_texts_need_an_earlier_run(tmp_path: Path) -> None:
    spec = "audits/products.yml"
    done = biasledger("plan", spec, "--warehouse", tmp_path / "none.duckdb", code=0)
    assert "word_divergence  " not in done.output
    note = "from about 20,000 words a group: with the planned 48 answers a group, if they have 417 words"
    assert note in " ".join(done.output.split())


def test_an_audit_without_templates_and_findings_is_told_what_to_do(tmp_path: Path) -> None:
    spec = "audits/replications/resume-seniority.yml"
    done = biasledger("plan", spec, "--warehouse", tmp_path / "none.duckdb", code=3)
    assert "import its answers and build" in done.stderr


def test_gaps_of_amounts_are_planned_in_per_cent(tmp_path: Path) -> None:
    jobs = "baker cook clerk driver nurse tailor smith gardener painter judge waiter poet".split()
    (tmp_path / "jobs.csv").write_text("\n".join(["job", *jobs, ""]), encoding="utf-8")
    audit_file = tmp_path / "salaries.yml"
    audit_file.write_text(
        """
audit: salaries
attributes: {gender: {reference: man, groups: {man: [Jan, Piet, Kees, Joop, Wim], woman: [An, Els, Riet, Truus, Mia]}}}
subjects: {file: jobs.csv, name: job}
trials: 1
templates: [{id: pay, text: "What should {gender} earn as a {job}? Answer with a number."}]
answer: {kind: score, minimum: 1, maximum: 200000, currency: EUR}
""",
        encoding="utf-8",
    )
    audit = load_audit(audit_file)
    [one] = [
        one for one in outlooks_from_sizes(audit, build_prompts(audit)) if one.measure.startswith("relative")
    ]
    assert one.unit == "cases"
    # An error of 0.1 / sqrt(12) on logarithms.
    assert one.smallest == pytest.approx(3.24 * 0.1 / 12**0.5, rel=0.05)
    done = biasledger("plan", audit_file, "--warehouse", tmp_path / "none.duckdb")
    assert one.smallest_shown.endswith(" %")
    assert one.smallest_shown in done.output
