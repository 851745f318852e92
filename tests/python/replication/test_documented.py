"""Every number of docs/replications.md that a build gives is the one that a build gives."""

from __future__ import annotations

from collections.abc import Callable

import duckdb
import pytest

from . import documented

Replicated = Callable[..., duckdb.DuckDBPyConnection]
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
    assert documented.table_in(document, audit) == written, RENEW


@pytest.mark.slow
@pytest.mark.parametrize("line", documented.LINES, ids=lambda line: line.text[:40])
def test_lines(replicated: Replicated, document: str, line: documented.Line) -> None:
    assert line.written(replicated(line.audit)) in document
