"""Test `biasledger collect` with some subjects, some domains and optional parts."""

from __future__ import annotations

from pathlib import Path

import pytest

from biasledger.building.analysis_settings import register_analysis_settings
from collector.spec.loading import load_audit
from tests.python.cli.conftest import query
from tests.python.running import biasledger

AUDIT = "audits/recommendations.yml"


def test_a_screening_of_one_domain(thin: Path) -> None:
    result = biasledger(
        *("collect", AUDIT, "--target", "simulator", "--subjects", "2", "--domain", "music"),
        *("--with", "personality", "--with", "indirect"),
        code=0,
    )
    assert "Warning: The domain music has 2 subjects" in result.stderr
    # 2 neutral templates, 30 groups, 8 + 6 crossed ones; 10 profiles; 1 neutral hint and 18 hints.
    assert "150 prompts, 174 responses" in result.output
    assert query("select distinct domain from raw.prompts") == [("music",)]
    assert query("select count(distinct subject) from raw.prompts") == [(2,)]
    assert query("select distinct status from raw.responses") == [("ok",)]
    assert dict(query("select template, count(*) from raw.prompts group by all")) == {
        "neutral": 2,
        "neutral_by": 2,
        "fan": 88,
        "persona": 20,
        "neutral_hint": 2,
        "hint": 36,
    }


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--domain", "musik"), "The audit 'recommendations' has no domain 'musik'; did you mean 'music'?\n"),
        (
            ("--with", "robust"),
            "The audit 'recommendations' has no part 'robust'; did you mean 'robustness'?\n",
        ),
        (("--subjects", "0"), "Invalid value for '--subjects': 0 is not in the range x>=1.\n"),
    ],
)
def test_wrong_choices(thin: Path, arguments: tuple[str, ...], message: str) -> None:
    result = biasledger("collect", AUDIT, "--target", "simulator", *arguments, code=3)
    assert result.stderr.endswith(f"Error: {message}")
    assert not (thin / "ledger.duckdb").exists()


def test_the_seed_is_kept_and_reaches_the_target(thin: Path) -> None:
    for seed in ("7", "8", "7"):
        biasledger("collect", "audits/products.yml", "--target", "simulator", "--seed", seed, code=0)
    seeds = query(
        "select cast(detail ->> 'seed' as integer) from raw.run_events where event = 'started' order by happened_at",
    )
    assert seeds == [(7,), (8,), (7,)]
    answers = query(
        "select list(answer_text order by prompt_id, trial) from raw.responses join raw.runs using (run_id)"
        " group by run_id order by min(started_at)",
    )
    assert answers[0] == answers[2] != answers[1]


def test_an_audit_without_subjects(thin: Path) -> None:
    result = biasledger("collect", "audits/products.yml", "--target", "simulator", "--subjects", "5", code=3)
    assert result.stderr == "Error: The audit 'products' has no subjects to choose from.\n"


def test_relevance_given_later_reaches_the_ledger_with_the_next_build(thin: Path) -> None:
    biasledger("collect", AUDIT, "--target", "simulator", "--subjects", "1", "--domain", "music")
    assert query("select count(*) from raw.relevance") == [(0,)]
    (thin / "audits" / "recommendations" / "relevance.csv").write_text(
        "entity,domain,item,grade\nAdele,music,Hello,2\n", encoding="utf-8"
    )
    spec = thin / AUDIT
    text = spec.read_text(encoding="utf-8")
    assert "# relevance: recommendations/relevance.csv" in text
    spec.write_text(text.replace("# relevance:", "relevance:"), encoding="utf-8")
    for _ in range(2):
        assert register_analysis_settings(thin, thin / "ledger.duckdb") == ["recommendations"]
    assert query("from raw.relevance") == [(load_audit(spec).relevance_hash, "Adele", "music", "Hello", 2.0)]
    assert query(
        "select analysis -> 'lists' ->> 'relevance_hash' from raw.analysis_settings order by registered_at",
    ) == [(None,), (load_audit(spec).relevance_hash,)]


def test_resumes_and_rankings_are_collected(thin: Path) -> None:
    result = biasledger(
        "collect", "audits/resumes.yml", "--target", "simulator", "--subjects", "2", "--domain", "nurse"
    )
    assert result.exit_code == 0, result.stderr
    assert "64 prompts, 64 responses" in result.output
    result = biasledger("collect", "audits/rankings.yml", "--target", "simulator", "--subjects", "1", code=0)
    assert "80 prompts, 80 responses" in result.output
    assert query("select status, count(*) from raw.responses group by status") == [("ok", 144)]
    assert query("select max(slot) from raw.prompt_attributes") == [(4,)]
    register_analysis_settings(thin, thin / "ledger.duckdb")
    assert query(
        "select audit, analysis->>'$.decisions.top' from raw.analysis_settings order by audit",
    ) == [("rankings", "1"), ("resumes", "1")]


def test_an_import_that_is_split_prints_every_run(thin: Path) -> None:
    rows = [
        "original_idx,true_seniority,demographic,name,model,prediction",
        "0,junior,caucasian_male,Greg,first,junior",
        "0,junior,african_american_female,Nia,first,mid",
        "0,junior,caucasian_male,Greg,second,unknown",
    ]
    (thin / "rows.csv").write_text("\n".join(rows) + "\n", encoding="utf-8")
    command = ("import", "audits/replications/resume-seniority.yml", "rows.csv")
    result = biasledger(*command)
    # Every run is reported; no answer of one of them can be analysed.
    assert result.exit_code == 3
    assert result.output.count("resume-seniority, target") == 2
    assert "2 prompts, 2 responses" in result.output
    assert "No answer of run resume-seniority-second-" in result.stderr
    assert query("select target from raw.runs order by target") == [("first",), ("second",)]
    result = biasledger(*command, "--again", "--name", "mine", code=3)
    assert "calls it after the model; leave the name out." in result.stderr


def test_answers_that_cannot_be_analysed_are_no_success(thin: Path) -> None:
    (thin / "answers.csv").write_text(
        "text,prompt,prompt_num,model,row_id,race,gender\n,p,1,m,1,White,M\n", "utf-8"
    )
    audit = "audits/replications/personas.yml"
    imported = biasledger("import", audit, "answers.csv", "--name", "empty", code=3)
    assert "1 malformed" in imported.stdout
    assert "No answer of run personas-empty-" in imported.stderr
    again = biasledger("import", audit, "answers.csv", code=3)
    assert "--again" in again.stderr
