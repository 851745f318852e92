"""How long the explorer's pages and the report take on many findings: until they are there, and until a browser shows them."""

from __future__ import annotations

import shutil
import statistics
import tempfile
import threading
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

import duckdb
import requests

from biasledger.reporting import render
from biasledger.serving.server import Server, address, listening

_SECONDS = 60
# A promise, not a script that waits: a page that forbids eval refuses the latter.
_FIRST_PAINT = """
    new Promise((painted) => new PerformanceObserver((list) => {
        const first = list.getEntriesByName('first-contentful-paint')[0];
        if (first) painted(first.startTime);
    }).observe({ type: 'paint', buffered: true }))
"""


def run(project: Path, n_findings: int, repeats: int) -> None:
    """Print the median seconds of each view, of a built project whose findings are repeated until there are so many."""
    with tempfile.TemporaryDirectory() as folder:
        warehouse, ledger = Path(folder) / "warehouse.duckdb", project / "ledger.duckdb"
        shutil.copyfile(project / "warehouse.duckdb", warehouse)
        finding = _multiply(warehouse, n_findings)
        ready = threading.Event()
        with listening(0) as opened:
            server = Server(warehouse, ledger, ready.set)
            thread = threading.Thread(target=server.run, kwargs={"sockets": [opened]})
            thread.start()
            ready.wait(_SECONDS)
            base = address(opened).rstrip("/")
            paths = (
                "/findings?runs=all",
                f"/finding/{finding}",
                "/pairs",
                "/compare",
                "/sql?report=findings",
                "/findings.csv?runs=all",
            )
            sent = {path: statistics.median(_sent(base + path) for _ in range(repeats)) for path in paths}
            started = time.perf_counter()
            report = Path(folder) / "report.html"
            report.write_text(render(warehouse, ledger=ledger), encoding="utf-8")
            written = time.perf_counter() - started
            pages = [base + path for path in paths if ".csv" not in path]
            shown = _shown([*pages, report.as_uri()], repeats)
            size = report.stat().st_size / 1e6
            server.should_exit = True
            thread.join(_SECONDS)
    print(f"{n_findings:,} findings, median of {repeats}")
    for path, seconds in sent.items():
        print(
            f"{path.split('?')[0].replace(finding, '…'):<16} sent after {seconds:.2f} s{_painted(shown, base + path)}"
        )
    print(
        f"{'the report':<16} written after {written:.2f} s, {size:.1f} MB{_painted(shown, report.as_uri())}"
    )


def _painted(shown: Mapping[str, float], url: str) -> str:
    return f", painted after {shown[url]:.2f} s" if url in shown else ""


def _multiply(warehouse: Path, n_findings: int) -> str:
    """Repeat the findings under new ids until there are so many; returns the id of one that was there."""
    with duckdb.connect(str(warehouse)) as connection:
        ((finding, n),) = connection.execute(
            "select max(finding_id) filter (where status = 'alarm'), count(*) from marts.fct_findings"
        ).fetchall()
        connection.execute(
            """
            insert into marts.fct_findings
            select findings.* replace (md5(finding_id || copies.range) as finding_id, subject || ' ' || copies.range as subject)
            from marts.fct_findings as findings
            cross join range(1, 1 + ceil($wanted / $n)::bigint) as copies
            limit $wanted - $n
            """,
            {"wanted": n_findings, "n": n},
        )
    return str(finding)


def _sent(url: str) -> float:
    started = time.perf_counter()
    requests.get(url, timeout=_SECONDS).raise_for_status()
    return time.perf_counter() - started


def _shown(urls: Sequence[str], repeats: int) -> dict[str, float]:
    """Seconds until a browser paints a page's first content, in the explorer all but charts; nothing where there is none."""
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        return {}
    painted = {}
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        page = browser.new_page()
        for url in urls:
            times = []
            for _ in range(repeats):
                page.goto(url)
                times.append(page.evaluate(_FIRST_PAINT) / 1000)
            painted[url] = statistics.median(times)
        browser.close()
    return painted
