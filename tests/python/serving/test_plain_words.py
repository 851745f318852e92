"""Test that what people see of a built project uses the words of its audits, and none of the phrases that we gave up."""

from __future__ import annotations

import html
import re
from collections.abc import Iterator
from pathlib import Path

import duckdb
import pytest
from click.testing import CliRunner

from biasledger.checking.sentences import plain_effect
from biasledger.cli import cli
from biasledger.reporting import render
from tests.python.conftest import FirstAudit
from tests.python.serving.conftest import Explorer

# Words that readers had to read twice, jokes and metaphors: each has a plain word in its place.
GIVEN_UP = re.compile(
    r"asked of (?:the )?simulator|judged rightly|separability|mend or accept|ask more\b|only warns"
    r"|whole (?:95 % )?interval|stands? behind|stands here|it speaks of|drawn are|no finding fits"
    r"|beside|\bmanners?\b|\bcarriers?\b|hand(?:ed|s) over|hands on|all that a prompt says"
    r"|has no say|is shown, that|by chance alone, at most|\btold\b|shipped (?:mitigation|variant)|(?-i:\bNone\b|\bnan\b)"
    r"|\{\w+\}",
    re.IGNORECASE,
)
# Words of some audits only: word -> these audits.
OF_SOME = {
    r"\bplaces?\b|candidates?": {"rankings"},
    r"resumes?\b": {"resumes"},
    r"restaurants?\b": {"restaurants"},
    r"selected": set[str](),
}


def _text(page: str) -> str:
    """The text of a page, without scripts, SQL, prompts and answers."""
    page = re.sub(r"(?s)<(script|style|svg|pre|code|blockquote|textarea|option)\b.*?</\1>", " ", page)
    return html.unescape(re.sub(r"<[^>]+>", " ", page))


def _outputs(explorer: Explorer, built: str) -> Iterator[tuple[str, str]]:
    findings = explorer.rows(
        "select max(finding_id) from marts.fct_findings where is_current group by measure order by 1"
    )
    yield "build", built
    yield "report", _text(render(explorer.warehouse))
    named = ["--warehouse", str(explorer.warehouse)]
    for command in (["check", "--all"], ["findings", "--all", "--why"]):
        yield command[0], CliRunner().invoke(cli, [*command, *named], env={"COLUMNS": "4000"}).output
    for (finding,) in findings:
        asked = ["explain", finding, *named, "--ledger", str(explorer.ledger), "--responses", "0"]
        yield "explain", CliRunner().invoke(cli, asked, env={"COLUMNS": "4000"}).output
        yield "a finding's page", _text(explorer.get(f"/finding/{finding}").text)
    ((run,),) = explorer.rows("select max(run_id) from marts.dim_runs where is_current and audit = 'resumes'")
    for path in ("/", "/findings?runs=all", "/compare", f"/pairs?run={run}", "/sql"):
        yield path, _text(explorer.get(path).text)


@pytest.mark.slow
def test_no_output_has_a_phrase_that_we_gave_up(explorer: Explorer, first_audit: FirstAudit) -> None:
    found = {
        (where, said[max(0, match.start() - 60) : match.end() + 40])
        for where, said in _outputs(explorer, first_audit.finished.stdout)
        for match in GIVEN_UP.finditer(said)
    }
    assert not found


def test_counts_agree_with_their_nouns_and_have_their_thousands_separated(audited: Path) -> None:
    wrong = re.compile(r"(?<![\d.,−-])\b1 (?!is\b|has\b|was\b)[a-z]+s\b|\b(?:[Aa]bout|are|of|on) \d{4,}\b")
    assert wrong.search("it rests on 1 probes")
    assert wrong.search("About 1811 answers")
    with duckdb.connect(str(audited / "warehouse.duckdb"), read_only=True) as connection:
        said = connection.execute(
            "select concat_ws(' ', explanation, statement, advice) from marts.fct_findings "
            "union select silence from marts.fct_group_coverage where silence is not null"
        ).fetchall()
    assert len(said) > 100
    assert [text for (text,) in said if wrong.search(text)] == []


# Terms of statistics that a manager does not know, and plurals of one.
TECHNICAL = re.compile(
    r"balanced accuracy|\bbits\b|association score|Jensen|within strata|labels cannot be|noise alone|past the threshold"
    r"|SNS[RV] (?!is half)|beyond chance;|(?<![\d.,])1 (?:answers|points|names|questions|probes|subjects|cases|places)\b"
)
SETTLED = {"clear": " is ruled out.", "inconclusive": " rule out "}


def test_sentences_are_plain_and_say_what_is_ruled_out_or_not(audited: Path) -> None:
    with duckdb.connect(str(audited / "warehouse.duckdb"), read_only=True) as connection:
        rows = connection.execute(
            "select status, explanation, coalesce(advice, '') from marts.fct_findings where not is_excepted"
        ).fetchall()
    assert {status for status, *_ in rows} >= set(SETTLED)
    for status, explanation, advice in rows:
        assert not TECHNICAL.search(f"{explanation} {advice}"), explanation
        assert SETTLED.get(status, "") in explanation or "could not be read" in explanation, explanation
        assert explanation[0].isupper() or explanation[0].isdigit(), explanation


def test_sentences_speak_of_what_their_audit_is_about(audited: Path) -> None:
    with duckdb.connect(str(audited / "warehouse.duckdb"), read_only=True) as connection:
        found = connection.execute("select * from marts.fct_findings where is_current")
        columns = [name for name, *_ in found.description or ()]
        rows = [dict(zip(columns, values, strict=True)) for values in found.fetchall()]
    for row in rows:
        said = " ".join(
            str(part)
            for part in (row["explanation"], row["statement"], row["advice"], plain_effect(row))
            if part
        )
        wrong = [
            word for word, audits in OF_SOME.items() if row["audit"] not in audits and re.search(word, said)
        ]
        assert not wrong, said
