"""Test the estimate of a collection's cost and the limit at which it stops."""

from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.python.answering import answering, chat
from tests.python.cli.conftest import query
from tests.python.running import biasledger

N_TOKENS_IN, N_TOKENS_OUT = 100, 50
# USD of a question at the prices below.
USD = (N_TOKENS_IN * 10 + N_TOKENS_OUT * 20) / 1e6
AUDIT = """
audit: small
templates:
  - {id: one, text: 'Recommend products for {a race} {gender}.'}
  - {id: two, text: 'And for {a race} {gender}?', trials: 3}
attributes:
  race: {reference: White, groups: [White, Asian]}
  gender: {reference: Man, groups: [Man, Woman]}
trials: 2
answer: {kind: text}
"""
SMALL_SCORES = """
audit: few
subjects: {file: subjects.csv, name: subject}
templates: [{id: one, text: 'Rate {question} for {a race} person.'}]
attributes: {race: {reference: White, groups: [White, Asian]}}
trials: 3
answer: [score]
"""


@pytest.fixture
def base_url() -> Iterator[str]:
    body = chat("Tea.", "served", (N_TOKENS_IN, N_TOKENS_OUT))
    with answering(lambda *_: (200, {}, body)) as root:
        yield f"{root}/v1"


@pytest.fixture
def folder(thin: Path, base_url: str) -> Path:
    """A project with a target whose price is known, and one whose price is not."""
    (thin / "small.yml").write_text(AUDIT, encoding="utf-8")
    entry = (
        f"{{kind: openai, base_url: '{base_url}', concurrency: 4, parameters: {{max_tokens: {N_TOKENS_OUT}}}"
    )
    (thin / "targets.yml").write_text(
        f"targets:\n  priced: {entry}, model: big-1}}\n  unpriced: {entry}, model: other}}\n  simulator: {{kind: simulator}}\n",
        encoding="utf-8",
    )
    with (thin / "seeds" / "model_prices.csv").open("a", encoding="utf-8") as file:
        file.write("big-*,10,20,,2020-01-01,a list\n")
    return thin


def test_a_dry_run_counts_and_writes_nothing(folder: Path) -> None:
    before = sorted(folder.rglob("*"))
    result = biasledger("collect", "small.yml", "--target", "priced,unpriced", "--dry-run", code=0)
    assert sorted(folder.rglob("*")) == before
    priced, unpriced = result.output.split("unpriced (other) would be asked:")
    rows = [line.split() for line in priced.splitlines()]
    assert ["one", "4", "8"] in [row[:3] for row in rows]
    assert ["two", "4", "12"] in [row[:3] for row in rows]
    (total,) = [row for row in rows if row[:1] == ["total"]]
    assert total[1:3] == ["8", "20"]
    assert total[4] == f"{20 * N_TOKENS_OUT:,}"
    assert total[5] == "0.023"
    assert "Nobody was asked and nothing was written." in priced
    assert "With every answer as long as its limit of 50 tokens it would be 0.023 USD." in priced
    assert "unknown" in unpriced
    assert "The price of 'other' is not known: add a row for it to seeds/model_prices.csv" in unpriced
    # Warnings about weak audits come before the costs.
    assert result.stderr.startswith("Warning: 2 trials a group give low statistical power")


def test_a_dry_run_says_how_long_it_takes_and_how_small_a_difference_it_finds(folder: Path) -> None:
    few = biasledger("collect", "small.yml", "--target", "priced", "--dry-run").output
    assert "It takes 5 s for every second that an answer takes, with 4 at once." in few
    assert (
        "By Cohen's formula for two means (1988), found in 80 % of audits, alpha 0.05 shared by 2 contrasts"
        in few
    )
    many = biasledger("collect", "small.yml", "--target", "priced", "--dry-run", "--trials", "200").output
    # 4 prompts about each group are too few to move: answers do, of template two always 3 a prompt.
    for output, n_answers in ((few, 10), (many, 406)):
        effect = (2.2414 + 0.8416) * math.sqrt(2 / n_answers)
        rows = [line.split() for line in output.splitlines() if " vs " in line]
        assert [row[0] for row in rows] == ["race", "gender"]
        assert {tuple(row[4:]) for row in rows} == {
            (f"{n_answers}", "answers", f"{effect:.2f}", f"{50 * effect:.0f}", "points")
        }
    batch = biasledger("collect", "small.yml", "--target", "priced", "--dry-run", "--batch").output
    assert "A batch is done within a day." in batch


def test_a_design_that_cannot_be_judged_promises_nothing(folder: Path) -> None:
    subjects = "subject,question\n" + "".join(f"s{number},q{number}\n" for number in range(5))
    (folder / "subjects.csv").write_text(subjects, encoding="utf-8")
    spec = SMALL_SCORES.replace("[score]", "{kind: score, minimum: 0, maximum: 10}")
    (folder / "few.yml").write_text(spec, encoding="utf-8")
    warning = (
        "Warning: This design cannot judge Asian vs White: 5 subjects, and score_gap needs 10: add subjects."
    )
    assert warning in biasledger("validate", "few.yml").output
    dry = biasledger("collect", "few.yml", "--target", "priced", "--dry-run")
    assert warning in dry.stderr
    (row,) = [line.split() for line in dry.output.splitlines() if line.startswith("race ")]
    assert row == ["race", "Asian", "vs", "White", "5", "subjects", "not", "judged", "not", "judged"]
    assert "Cohen" not in dry.output
    (folder / "subjects.csv").write_text(
        "subject,question\n" + "".join(f"s{number},q{number}\n" for number in range(10)), encoding="utf-8"
    )
    assert "cannot judge" not in biasledger("validate", "few.yml").output


def test_a_dry_run_shows_prompts_as_they_will_be_sent(folder: Path) -> None:
    shown = biasledger("collect", "small.yml", "--target", "priced", "--dry-run", "--show", "1").output
    message = shown.partition("Prompts as they will be sent")[2]
    assert "max_tokens 50" in message.splitlines()[0]
    assert message.count("    user: Recommend products for ") == 4
    assert [line.split(" (")[0] for line in message.splitlines() if line.startswith("About ")] == [
        "About race White",
        "About race Asian",
        "About gender Man",
        "About gender Woman",
    ]
    refused = biasledger("collect", "small.yml", "--target", "priced", "--show", "1")
    assert "--show goes with --dry-run." in refused.stderr


def test_a_dry_run_of_batches_has_their_price_and_refuses_whom_batches_cannot_ask(folder: Path) -> None:
    with (folder / "seeds" / "model_prices.csv").open("a", encoding="utf-8") as file:
        file.write("big-1,10,20,0.5,2020-01-01,a list\n")
    one_by_one = biasledger("collect", "small.yml", "--target", "priced", "--dry-run")
    batch = biasledger("collect", "small.yml", "--target", "priced", "--dry-run", "--batch")
    for result, usd in ((one_by_one, "0.023"), (batch, "0.012")):
        (total,) = [line.split() for line in result.output.splitlines() if line.split()[:1] == ["total"]]
        assert total[5] == usd
    # The first could be asked for a day before the second is found to have no batches.
    for choice in ((), ("--dry-run",)):
        refused = biasledger(
            "collect", "small.yml", "--target", "priced,simulator", "--batch", *choice, code=3
        )
        assert "The target simulator is of kind 'simulator', which has no batch interface" in refused.stderr
    assert not (folder / "ledger.duckdb").exists()


def test_a_run_stops_before_it_costs_too_much_and_goes_on_with_more(folder: Path) -> None:
    allowed = 5.5 * USD
    result = biasledger("collect", "small.yml", "--target", "priced", "--max-cost", f"{allowed:.6f}")
    assert (
        "Another question might cost more than the 0.011 USD allowed, of which 0.01 are spent"
        in result.output + result.stderr
    )
    (run_id,), n_kept = (
        query("select run_id from raw.runs")[0],
        query("select count(*) from raw.responses"),
    )
    assert n_kept == [(5,)]
    again = biasledger("collect", "--resume", run_id, "--max-cost", f"{allowed:.6f}")
    assert "Another question might cost more" in again.output + again.stderr
    assert query("select count(*) from raw.responses") == [(5,)]
    biasledger("collect", "--resume", run_id, "--max-cost", "1", code=0)
    assert query("select count(*), count(distinct (prompt_id, trial)) from raw.responses") == [(20, 20)]


def test_a_limit_without_a_price_is_refused_before_anybody_is_asked(folder: Path) -> None:
    result = biasledger("collect", "small.yml", "--target", "unpriced", "--max-cost", "5", code=3)
    assert "What 'other' costs is not known, so --max-cost cannot be kept" in result.stderr
    assert not (folder / "ledger.duckdb").exists()
    assert not (folder / "journal").exists()
