"""Test the report's prompts and examples, which it takes from a ledger on request only."""

from __future__ import annotations

import html
import json
from pathlib import Path
from typing import Any

import duckdb
import pandas as pd
import pytest

from biasledger.reporting import render
from collector.ledger.database import Ledger
from tests.python.report import warehouses
from tests.python.report.warehouses import HOSTILE, finding, run

TIME = pd.Timestamp("2026-11-20 08:00:00")
ANSWERS = {
    "p-white-1": ("a fine senior person", "senior"),
    "p-black-1": ("a fine senior person", "no more than a junior"),
}


@pytest.fixture
def warehouse(tmp_path: Path) -> Path:
    groups = [
        {
            "run_id": "run-1", "prompt_id": f"p-{group}-1", "attribute": "race", "group_name": group, "descriptor": descriptor,
            "mitigation": "plain", "template": "seniority", "language": "en", "subject": "cv", "domain": "", "slot": 1,
        }
        for group, descriptor in (("black", "DeShawn"), ("white", "Jake"))
    ]  # fmt: skip
    alarm = finding("run-1", measure="rank_gap", group_name="black", reference_group="white")
    tables = {"dim_runs": [run("run-1")], "fct_findings": [alarm], "dim_prompt_groups": groups}
    return warehouses.create(tmp_path / "warehouse.duckdb", tables)


@pytest.fixture
def ledger(tmp_path: Path) -> Path:
    path = tmp_path / "ledger.duckdb"
    Ledger(path).create()
    spec = {
        "title": "Seniority of resumes",
        "source": HOSTILE[0],
        "templates": [{"text": "How senior is {name} by: {text}?"}],
    }
    key = {"run_id": "run-1"}
    rows: dict[str, list[dict[str, Any]]] = {
        "runs": [
            {
                **key, "audit": "products", "spec": json.dumps(spec), "spec_hash": "h", "target": "model",
                "target_kind": "openai", "is_simulated": False, "parameters": "{}", "answer_rules_version": "4",
                "versions": "{}", "origin": "collected", "started_at": TIME,
            }
        ],
        "responses": [
            {
                **key, "prompt_id": prompt, "trial": trial, "attempt": 1, "seq": trial, "status": "ok", "response_text": text,
                "weight": 1.0, "content_hash": f"{prompt}{trial}",
            }
            for prompt, texts in ANSWERS.items()
            for trial, text in enumerate(texts)
        ],
        "seals": [{**key, "n_records": 4, "head_hash": "sha256:0123", "sealed_at": TIME}],
    }  # fmt: skip
    with duckdb.connect(str(path)) as connection:
        for table, of_table in rows.items():
            frame = pd.DataFrame(of_table)
            assert len(frame)
            connection.execute(f"insert into raw.{table} by name select * from frame")
    return path


def test_prompts_are_shown_with_their_slots_and_no_answer_is_in_the_file(
    warehouse: Path, ledger: Path
) -> None:
    page = render(warehouse, ledger=ledger)
    assert "Seniority of resumes" in page
    assert "How senior is <mark>{name}</mark> by: <mark>{text}</mark>?" in page
    assert (
        "1 template, 1 case, 2 names or words for groups: 2 different questions about them and 98 about no group,"
        in page
    )
    assert "<dt>seal</dt><dd><code>sha256:0123</code>" in page
    assert "Debiased bits" not in page  # of word divergence, which judged nothing here
    assert "Two answers to the same question" not in page
    assert "no more than a junior" not in page
    assert HOSTILE[0] not in page


def test_the_two_answers_with_the_fewest_words_in_common_are_shown_where_that_is_wished_for(
    warehouse: Path, ledger: Path
) -> None:
    page = " ".join(render(warehouse, ledger=ledger, with_examples=True).split())
    shown = page.partition("Two answers to the same question")[2].partition("</div>")[0]
    # The first pair is next to the chart, with what to do.
    assert (
        page.index("Next steps") < page.index("Two answers to the same question") < page.index("How to read")
    )
    assert "Of 2 such pairs, this is the one with the fewest words in common." in shown
    assert 'aria-label="Answer about DeShawn (black)"><bdi>no more than a junior' in shown
    assert 'aria-label="Answer about Jake (white)"><bdi>senior' in shown
    assert "a fine senior person" not in page


def test_a_pair_that_is_right_about_one_group_alone_shows_most(warehouse: Path, ledger: Path) -> None:
    decisions = pd.DataFrame(
        {
            "run_id": "run-1", "prompt_id": f"p-{group}-1", "trial": trial, "slot": 1, "mitigation": "plain",
            "rank_value": value, "is_correct": group == "white" or trial == 1,
        }
        for group, value in (("black", 1.0), ("white", 0.0))
        for trial in (0, 1)
    )  # fmt: skip
    with duckdb.connect(str(warehouse)) as connection:
        assert len(decisions)
        connection.execute("insert into marts.fct_predictions by name select * from decisions")
        [(value,)] = connection.execute("select value from marts.fct_findings").fetchall()
        assert value > 0
    page = render(warehouse, ledger=ledger, with_examples=True)
    assert "differ in the direction of the finding; this is one with a right and a wrong answer." in page
    assert "a fine senior person" in page
    assert "no more than a junior" not in page


@pytest.mark.parametrize(
    ("answer", "shown"),
    [
        (
            '{"items": [{"categories": ["bars", "jazz"], "name": "Low Door", "price_level": 3}, {"name": "Oak", "n": 1}]}',
            "Low Door (categories: bars, jazz; price level: 3)\nOak (n: 1)",
        ),
        ('[{"job": "nurse", "rank": null}]', "job: nurse; rank: –"),
        ('[{"name": "Low Door"}, {}, {"price": {"high": 3}}]', 'Low Door\n–\nprice: {"high": 3}'),
        ('{"label": "mid", "why": []}', '{"label": "mid", "why": []}'),
        ("[]", "[]"),
        ("[1, 2]", "[1, 2]"),
        ("[{", "[{"),
    ],
)
def test_a_list_of_objects_has_a_line_for_each(
    warehouse: Path, ledger: Path, answer: str, shown: str
) -> None:
    with duckdb.connect(str(ledger)) as connection:
        connection.execute(
            "update raw.responses set response_text = ? where prompt_id = 'p-black-1'", [answer]
        )
    page = render(warehouse, ledger=ledger, with_examples=True)
    quoted = page.partition('aria-label="Answer about DeShawn (black)"><bdi>')[2].partition("</bdi>")[0]
    assert html.unescape(quoted) == shown


def test_a_name_that_is_the_group_is_written_once(warehouse: Path, ledger: Path) -> None:
    with duckdb.connect(str(warehouse)) as connection:
        connection.execute(
            "update marts.dim_prompt_groups set descriptor = group_name where group_name = 'white'"
        )
    page = render(warehouse, ledger=ledger, with_examples=True)
    assert 'aria-label="Answer about white"' in page
    assert 'aria-label="Answer about DeShawn (black)"' in page


def test_without_the_ledger_the_report_is_about_findings_alone(warehouse: Path, tmp_path: Path) -> None:
    (tmp_path / "none.duckdb").write_text("no ledger")
    for ledger in (tmp_path / "absent.duckdb", tmp_path / "none.duckdb"):
        page = render(warehouse, ledger=ledger, with_examples=True)
        assert "<mark>" not in page
        assert "Prompt and number of answers" in page  # how much is in the warehouse
        assert "Provenance and limits" in page
