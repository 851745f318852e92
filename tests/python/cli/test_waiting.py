"""Test a target that refuses everything: progress messages, the exit code, and resuming the run."""

from __future__ import annotations

import logging
import re
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from biasledger.commands.display import build_progress
from collector.asking.pacing import Pause
from collector.asking.progress import progress
from collector.terminal import configure_logging
from tests.python.answering import answering
from tests.python.running import biasledger

AUDIT = """
audit: small
templates: [{id: one, text: 'Recommend products for a {race} customer.'}]
attributes: {race: {reference: White, groups: [White, Black]}}
trials: 5
answer: {kind: text}
"""
TARGETS = """
targets:
  busy: {kind: http, url: 'ROOT/ask', body: '{"q": "{prompt}"}', model: m, concurrency: 1}
  full: {kind: http, url: 'ROOT/full', body: '{"q": "{prompt}"}', model: m, concurrency: 1}
"""


@pytest.fixture
def is_busy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[threading.Event]:
    """A service in the current folder's targets.yml that refuses everything while the event is set, and asks for pauses then.

    The first pause for each target is a short one, for it does not count.
    """
    busy = threading.Event()
    busy.set()
    refused: set[str] = set()

    def answer(path: str, *_: object) -> tuple[int, dict[str, str], bytes]:
        pause = {"Retry-After": "60" if path in refused else "0"}
        refused.add(path)
        return (429, pause, b"Come later.") if busy.is_set() else (200, pause, b"An answer.")

    for name in ("NO_PROXY", "no_proxy"):
        monkeypatch.setenv(name, "127.0.0.1")
    monkeypatch.chdir(tmp_path)
    Path("audit.yml").write_text(AUDIT, encoding="utf-8")
    with answering(answer) as root:
        Path("targets.yml").write_text(TARGETS.replace("ROOT", root), encoding="utf-8")
        yield busy


def test_a_run_that_only_waits_ends_with_5_and_goes_on(is_busy: threading.Event) -> None:
    result = biasledger("collect", "audit.yml", "--target", "busy", "--give-up-after", "0.01", code=5)
    message = result.stderr.replace("\n", " ")
    assert re.search(
        r"\d\d:\d\d:\d\d small → busy: 0 answered; waiting until \d\d:\d\d:\d\d: busy answered 429", message
    )
    found = re.search(
        r"Error: busy has refused everything for [\d.]+ minutes, so the run stops \(--give-up-after\)\. busy answered 429.* keep"
        r"s 0 of 10 responses.* --resume (\S+)",
        message,
    )
    assert found is not None
    is_busy.clear()
    result = biasledger("collect", "--resume", found[1], "--give-up-after", "0.01")
    assert (result.exit_code, "10 ok" in result.output) == (0, True)


def test_several_targets_that_only_wait_end_with_5(is_busy: threading.Event) -> None:
    result = biasledger("collect", "audit.yml", "--target", "busy,full", "--give-up-after", "0.01", code=5)
    assert "2 of 2 targets failed: busy, full." in result.stderr


def test_a_pause_is_reported_once(caplog: pytest.LogCaptureFixture) -> None:
    with progress(10, "small → busy", show=False) as advance:
        advance(1, 0)
        for seconds in (60.0, 59.9, 59.8):
            advance(1, 0, None, Pause(seconds, "busy answered 429."))
        advance(1, 0, None, Pause(1.0, "busy answered 429."))
        advance(2, 0, None, Pause(120.0, "busy answered 429."))
    assert [re.sub(r"\d\d:\d\d:\d\d", "TIME", one) for one in caplog.messages] == [
        "small → busy: 1 answered; waiting until TIME: busy answered 429.",
        "small → busy: 2 answered; waiting until TIME: busy answered 429.",
    ]


def test_a_line_now_and_then_where_there_is_no_terminal(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    with progress(20, "resumes", None) as advance:
        advance(1, 0)
    assert capsys.readouterr().err == "", "what is soon done says nothing"
    monkeypatch.setattr("collector.terminal.LINE_EVERY_SECONDS", 0.0)
    with progress(20, "resumes", None) as advance:
        advance(7, 1, 0.5)
    assert capsys.readouterr().err == "resumes: 7 of 20 done, 1 not usable, 0.50 USD\n"
    with progress(20, "resumes", show=False) as advance:
        advance(7, 1)
    with build_progress() as on_step:
        on_step(3, 90, "fct_findings")
    assert capsys.readouterr().err == "Building: 3 of 90 steps, last fct_findings\n"


def test_what_is_logged_cannot_steer_the_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    logger = logging.getLogger("collector.tests")
    configure_logging(logging.WARNING)
    configure_logging(logging.WARNING)
    logger.info("unseen")
    logger.warning("a\x1b[2J")
    err = capsys.readouterr().err
    assert re.fullmatch(r"\d\d:\d\d:\d\d a\\x1b\[2J\n", err)
