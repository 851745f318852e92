"""Test that the explorer only reads, answers browsers of this machine alone, and ends on request."""

from __future__ import annotations

import re
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import duckdb
import pytest
import requests

from biasledger import serving
from biasledger.serving import statements
from biasledger.serving.server import listening
from biasledger.serving.statements import ask
from collector.errors import InputError
from collector.hashing import hash_of_file
from tests.python.serving.conftest import Explorer

VIEWS = ("/findings", "/pairs", "/compare", "/sql")
ENDLESS = "select count(*) from range(10000000) as a, range(10000000) as b where a.range % 7 = b.range % 11"


def test_it_listens_on_this_machine_alone() -> None:
    with listening(0) as opened:
        assert opened.getsockname()[0] == "127.0.0.1"


@pytest.mark.parametrize("host", ["evil.example", "127.0.0.1.evil.example:8350", "192.168.1.4", ""])
def test_another_name_in_the_host_header_is_refused(explorer: Explorer, host: str) -> None:
    refused = explorer.get("/findings", headers={"Host": host})
    assert refused.status_code == 400
    assert "findings" not in refused.text
    assert explorer.get("/findings", headers={"Host": "localhost:8350"}).status_code == 200


def test_pages_of_other_sites_get_nothing_and_links_from_them_work(explorer: Explorer) -> None:
    for site in ("cross-site", "same-site"):
        asked = {"Sec-Fetch-Site": site, "Sec-Fetch-Mode": "no-cors", "Sec-Fetch-Dest": "image"}
        assert explorer.get("/sql?sql=select+1", headers=asked).status_code == 403
        framed = {"Sec-Fetch-Site": site, "Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "iframe"}
        assert explorer.get("/findings", headers=framed).status_code == 403
        followed = {"Sec-Fetch-Site": site, "Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "document"}
        assert explorer.get("/findings", headers=followed).status_code == 200
        shown = explorer.get("/sql?sql=select+41+%2B+1", headers=followed).text
        assert "select 41 + 1</textarea>" in shown
        assert "before you run it" in shown
        assert "<td>42</td>" not in shown
        assert explorer.get("/sql.csv?sql=select+1", headers=followed).status_code == 400


@pytest.mark.parametrize("method", ["POST", "PUT", "PATCH", "DELETE", "OPTIONS"])
def test_it_is_only_read(explorer: Explorer, method: str) -> None:
    for path in (*VIEWS, "/build", "/sql.csv"):
        answer = requests.request(method, explorer.address.rstrip("/") + path, timeout=600)
        assert answer.status_code == 405, path


@pytest.mark.parametrize(
    "path", [*VIEWS, "/build", "/assets/explorer.js", "/nothing", "/finding/none", "/sql.csv"]
)
def test_every_answer_forbids_what_an_injection_would_need(explorer: Explorer, path: str) -> None:
    headers = explorer.get(path).headers
    policy = dict(part.split(" ", 1) for part in headers["Content-Security-Policy"].split("; "))
    assert policy["default-src"] == "'none'"
    assert {policy[name] for name in ("script-src", "style-src", "connect-src", "form-action")} == {"'self'"}
    assert policy["frame-ancestors"] == "'none'"
    assert headers["X-Content-Type-Options"] == "nosniff"
    assert headers["Referrer-Policy"] == "no-referrer"
    assert not [name for name in headers if name.lower().startswith("access-control")]
    assert "set-cookie" not in headers
    assert "server" not in headers
    if not path.startswith("/assets"):
        assert headers["Cache-Control"] == "no-store"


def test_no_page_writes_a_file(explorer: Explorer) -> None:
    folder = explorer.warehouse.parent

    def state() -> dict[str, str]:
        return {path.name: hash_of_file(path) for path in folder.iterdir() if path.is_file()}

    before = state()
    [(finding,)] = explorer.rows("select finding_id from marts.fct_findings limit 1")
    for path in (*VIEWS, f"/finding/{finding}", "/findings.csv", "/sql.csv?sql=from+fct_findings"):
        assert explorer.get(path).status_code == 200
    assert state() == before


@pytest.mark.parametrize(
    "sql",
    [
        "from '/etc/hosts'",
        "attach 'ledger.duckdb' as other",
        "set memory_limit = '99GB'",
        "select nothing from marts.fct_findings",
    ],
)
def test_statements_are_closed_as_those_of_query(explorer: Explorer, sql: str) -> None:
    page = explorer.get("/sql", params={"sql": sql})
    assert page.status_code == 200
    [said] = re.findall(r'role="alert"><bdi>(.*?)</bdi>', page.text, flags=re.DOTALL)
    assert said.startswith(("The query", "A query only reads", "There is no"))
    assert "Traceback" not in page.text
    assert explorer.get("/sql.csv", params={"sql": sql}).status_code == 400


def test_a_statement_has_its_time_and_its_memory(explorer: Explorer) -> None:
    started = time.monotonic()
    with pytest.raises(InputError, match=r"stopped after 0\.3 seconds, which is the limit here"):
        ask(explorer.warehouse, ENDLESS, seconds=0.3)
    assert time.monotonic() - started < 600
    # Neither DuckDB's interrupt nor its limit of memory reaches into these.
    with pytest.raises(InputError, match=r"stopped after 1 seconds"):
        ask(explorer.warehouse, "select levenshtein(repeat('a', 400000), repeat('b', 400000))", seconds=1)
    with pytest.raises(InputError, match="more than 1GB of memory"):
        ask(explorer.warehouse, "select length(repeat('a', 4000000000))")
    assert ask(explorer.warehouse, "select 41 + 1").rows == [(42,)]
    big = "select list(repeat('x', 1000) || range) from range(200000)"
    with pytest.raises(InputError, match="more than 100MB of memory, which is the limit here"):
        ask(explorer.warehouse, big, memory="100MB")
    assert not list(explorer.warehouse.parent.glob("*tmp*"))


def test_statements_that_wait_leave_room_for_pages(
    explorer: Explorer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("biasledger.serving.statements._places", threading.BoundedSemaphore(1))
    with (
        statements._places,
        pytest.raises(InputError, match="queries are running already: wait until one of them ends"),
    ):
        ask(explorer.warehouse, "select 1")
    assert ask(explorer.warehouse, "select 1").rows == [(1,)]


def test_rows_that_take_too_much_are_refused(explorer: Explorer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("biasledger.serving.statements.BYTES_AT_MOST", 20_000_000)
    for value in ("repeat('x', 100000)", "[{'a': repeat('x', 100000)}]"):
        with pytest.raises(InputError, match="rows take more than 20 MB, which is the limit here"):
            ask(explorer.warehouse, f"select {value}, i from range(1000) as of_numbers (i)")
        assert len(ask(explorer.warehouse, f"select {value} from range(100)").rows) == 100


@pytest.mark.parametrize("value", ["%c3%28", "%00", "a%22%27b", "%7B%7D", "99999999999999999999"])
def test_addresses_with_odd_values_show_a_page(explorer: Explorer, value: str) -> None:
    for asked in ("status", "run", "group_name", "first", "sort", "%00"):
        assert explorer.get(f"/findings?{asked}={value}").status_code in {200, 400}, asked


def test_whatever_keeps_the_build_from_being_read_is_said(
    explorer: Explorer, monkeypatch: pytest.MonkeyPatch
) -> None:
    for error in (duckdb.IOException("It is gone."), ValueError("not enough values to unpack")):

        def fail(_: Path, error: Exception = error) -> None:
            raise error

        monkeypatch.setattr("biasledger.serving.app.build_of", fail)
        answer = explorer.get("/build")
        assert (answer.status_code, answer.json()) == (503, {"error": str(error)})


def test_more_rows_than_are_given_out_are_refused(explorer: Explorer) -> None:
    refused = explorer.get("/sql.csv", params={"sql": "select 1 from range(1000001)"})
    assert refused.status_code == 400
    assert "more than 1,000,000 rows" in refused.text


def test_a_taken_port_and_absent_packages_are_said(
    explorer: Explorer, monkeypatch: pytest.MonkeyPatch
) -> None:
    taken = int(explorer.address.rstrip("/").rpartition(":")[2])
    with pytest.raises(InputError, match=rf"Port {taken} of this machine cannot be used"):
        serving.serve(explorer.warehouse, explorer.ledger, port=taken, when_ready=print)
    with pytest.raises(InputError, match="There is no warehouse at nowhere"):
        serving.serve(Path("nowhere"), explorer.ledger, port=0, when_ready=print)
    monkeypatch.setattr(serving, "find_spec", lambda _: None)
    with pytest.raises(InputError, match=r"pip install 'biasledger\[serve\]'"):
        serving.serve(explorer.warehouse, explorer.ledger, port=0, when_ready=print)


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_it_ends_cleanly_while_a_query_runs(audited: Path, number: int) -> None:
    command = [sys.executable, "-u", "-m", "biasledger", "serve", "--port", "0"]
    with subprocess.Popen(
        command, cwd=audited, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    ) as process:
        assert process.stdout is not None
        said = process.stdout.readline()
        address = re.findall(r"http://127\.0\.0\.1:\d+/", said)[0]
        with requests.get(address + "build", timeout=600) as answer:
            assert answer.json()["build"]
        # No client waits for its result.
        with pytest.raises(requests.Timeout):
            requests.get(address + "sql", params={"sql": ENDLESS}, timeout=1)
        process.send_signal(number)
        rest, _ = process.communicate(timeout=600)
    assert process.returncode == 130
    assert rest == "\nStopped.\n"
