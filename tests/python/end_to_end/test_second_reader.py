"""Test a model as second reader: asked over HTTP, kept in the chain, checked against the rules, and judged."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import duckdb
import pytest
import yaml
from click.testing import CliRunner, Result

from biasledger.cli import cli
from tests.python.answering import answering, chat
from tests.python.project import Project

SPEC = {
    "audit": "loans",
    "attributes": {"sex": {"reference": "m", "groups": ["m", "f"]}},
    "answer": {"kind": "label", "labels": ["reject", "accept"]},
    "analysis": {"decisions": {"ordered": True, "favourable": ["accept"]}},
    "import": {"columns": {"text": "answer", "subject": "case", "attributes": {"sex": "sex"}}},
}
PRICES = (
    "model,input_usd_per_million,output_usd_per_million,batch_share,from_date,source\n"
    "reader,1,2,,2026-01-01,a price list\n"
    "guesser,1,2,,2026-01-01,a price list\n"
    "optimist,1,2,,2026-01-01,a price list\n"
)


def read_thumb(_path: str, _headers: object, asked: Any) -> tuple[int, dict[str, str], bytes]:
    """Up is accept, down is reject, none is no decision; guesser always accepts, optimist wherever a thumb is."""
    reply = asked["messages"][-1]["content"].split("==========")[1]
    words = {"accept": ("up", "accept"), "reject": ("down", "reject")}
    found = [label for label, said in words.items() if any(one in reply for one in said)]
    is_accepted = asked["model"] == "guesser" or (asked["model"] == "optimist" and "down" in reply)
    thumb = "accept" if is_accepted else next(iter(found), None)
    return 200, {}, chat(json.dumps({"decision": thumb}), asked["model"])


@pytest.fixture
def base_url() -> Iterator[str]:
    with answering(read_thumb) as root:
        yield f"{root}/v1"


@pytest.fixture
def project(new_project: Callable[[], Project], base_url: str, monkeypatch: pytest.MonkeyPatch) -> Project:
    project = new_project()
    monkeypatch.chdir(project.folder)
    targets = {
        model: {"kind": "openai", "base_url": base_url, "model": model, "concurrency": 2}
        for model in ("reader", "guesser", "optimist")
    }
    (project.folder / "targets.yml").write_text(yaml.safe_dump({"targets": targets}), encoding="utf-8")
    (project.folder / "seeds").mkdir(exist_ok=True)
    (project.folder / "seeds" / "model_prices.csv").write_text(PRICES, encoding="utf-8")
    rows = ["case,sex,answer"]
    for case in range(24):
        rows.append(f"{case},m,accept")
        # The rules read every fourth of these, two say nothing to anybody.
        said = (
            "reject"
            if case % 4 == 0
            else "I have no view."
            if case in (1, 2)
            else "Thumbs down for this one."
        )
        rows.append(f"{case},f,{said}")
    (project.folder / "answers.csv").write_text("\n".join(rows) + "\n", encoding="utf-8")
    audit = project.write_audit("loans", SPEC)
    project.import_file(audit, project.folder / "answers.csv")
    return project


def run(*arguments: str) -> Result:
    return CliRunner().invoke(cli, list(arguments))


def events(folder: Path) -> list[dict[str, object]]:
    with duckdb.connect(str(folder / "ledger.duckdb"), read_only=True) as connection:
        rows = connection.execute("select detail from raw.run_events where event = 'read'").fetchall()
    return [json.loads(detail) for (detail,) in rows]


@pytest.mark.slow
def test_what_it_reads_is_kept_checked_and_judged(project: Project) -> None:
    dry = run("read", "--with", "reader", "--dry-run")
    assert dry.exit_code == 0, dry.output
    assert "reader reads 18 unread answers and 30 to check, about" in dry.output
    assert events(project.folder) == []
    guessed = run("read", "--with", "guesser")
    assert guessed.exit_code == 0, guessed.output
    assert "The second reader agreed with the rules on 24 of 30 answers;" in guessed.output
    assert "its decisions are kept but not used; at least 90 % is needed." in guessed.output
    project.build()
    before = project.rows("select status, n_unread from marts.fct_findings where measure = 'rank_gap'")
    assert before == [("insufficient_data", 18)]
    done = run("read", "--with", "reader")
    assert done.exit_code == 0, done.output
    assert "decisions found: 16 of 18 unread answers" in done.output
    assert "agreed with the rules on 30 of 30 answers; its decisions are used." in done.output
    _, event = events(project.folder)
    assert (event["model"], event["n_checked"], event["n_agreed"]) == ("reader", 30, 30)
    assert str(event["prompt_hash"]).startswith("sha256:")
    assert run("verify").exit_code == 0
    # It is not asked again what it has read, and a rule's reading stays.
    assert "No answer is left to read" in run("read", "--with", "reader").output
    project.build()
    assert project.rows("select status, n_unread from marts.fct_findings where measure = 'rank_gap'") == [
        ("alarm", 2)
    ]
    assert project.rows(
        "select read_by, status, n from marts.fct_answer_reading where attribute = 'sex' and group_name = 'f' order by 3"
    ) == [("", "unread", 2), ("last_line", "ok", 6), ("second_reader", "ok", 16)]
    ((finding,),) = project.rows("select finding_id from marts.fct_findings where measure = 'rank_gap'")
    explained = " ".join(run("explain", finding).output.split())
    assert "The second reader (reader) read 16 answers of this run that no rule reads;" in explained
    assert "it agreed with the rules on 30 of 30 answers." in explained
    assert "guesser" not in explained
    # A later reader's decisions count, though the answers and their status are the same.
    assert "its decisions are used." in run("read", "--with", "optimist").output
    project.build()
    assert project.rows(
        "select n_people, n_selected from marts.fct_decision_rates where attribute = 'sex' and group_name = 'f'"
    ) == [(22, 16)]


@pytest.mark.slow
def test_a_budget_ends_it_and_what_was_read_stays(project: Project) -> None:
    cut = run("read", "--with", "reader", "--check", "0", "--max-cost", "0.0015")
    assert cut.exit_code == 0, cut.output
    assert "The cost limit is reached." in cut.output
    n_read = sum(len(event["readings"]) for event in events(project.folder))
    assert 0 < n_read < 18
    more = run("read", "--with", "reader", "--check", "0").output
    assert "decisions found" in more
    assert (
        "on 0 of 0 answers; its decisions are kept but not used; at least 20 answers that rules read must"
        in more
    )
    assert sum(len(event["readings"]) for event in events(project.folder)) == 18
    # The checks can be made up for, and no answer is checked twice.
    assert "on 12 of 12 answers" in run("read", "--with", "reader", "--check", "12").output
    assert "No answer is left to read" in run("read", "--with", "reader", "--check", "12").output
    assert "on 30 of 30 answers; its decisions are used" in run("read", "--with", "reader").output
