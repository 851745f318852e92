"""Test that every number of a build in docs/replications.md is the number of this build."""

from __future__ import annotations

import re
from collections.abc import Callable

import duckdb
import pytest

from . import documented

Replicated = Callable[..., duckdb.DuckDBPyConnection]
_NUMBER = re.compile(r"\d+\.\d+")
RENEW = "python -m tests.python.replication.documented WAREHOUSE renews it"


@pytest.fixture(scope="module")
def document() -> str:
    return documented.DOCUMENT.read_text(encoding="utf-8")


def test_every_audit_has_a_table(document: str) -> None:
    assert [audit for audit in documented.FINDINGS if documented.table_in(document, audit) is None] == []
    assert document.count("<!-- findings: ") == len(documented.FINDINGS) == document.count("<!-- end -->")


@pytest.mark.slow
@pytest.mark.parametrize("audit", documented.FINDINGS)
def test_findings(replicated: Replicated, document: str, audit: str) -> None:
    written = documented.table(replicated(audit), audit)
    assert written.count("\n") > 3
    table = documented.table_in(document, audit)
    assert table is not None
    differing = [
        pair for pair in zip(table.splitlines(), written.splitlines(), strict=True) if not _agree(*pair)
    ]
    assert differing == [], RENEW


def _agree(documented_line: str, built: str) -> bool:
    """Return whether lines are equal, or differ only in a classifier's accuracy: another processor rounds its sums differently,
    which may change the class of two texts in some thousand."""
    if documented_line == built:
        return True
    if "`classifier_accuracy`" not in built or _NUMBER.sub("", documented_line) != _NUMBER.sub("", built):
        return False
    numbers = (_NUMBER.findall(line) for line in (documented_line, built))
    return all(abs(float(one) - float(other)) < 0.0025 for one, other in zip(*numbers, strict=True))


def test_only_a_classifier_s_last_digit_may_differ() -> None:
    line = "| gemma | patron_type | `classifier_accuracy` | 5 | 0.675 | 0.005 | 5 clear | wording |"
    assert _agree(line, line.replace("0.675", "0.677"))
    assert not _agree(line, line.replace("0.675", "0.678"))
    assert not _agree(line, line.replace("5 clear", "4 clear"))
    words = line.replace("classifier_accuracy", "word_divergence")
    assert not _agree(words, words.replace("0.675", "0.676"))


@pytest.mark.slow
@pytest.mark.parametrize("line", documented.LINES, ids=lambda line: line.text[:40])
def test_lines(replicated: Replicated, document: str, line: documented.Line) -> None:
    assert line.written(replicated(line.audit)) in document
