"""Loading a journal is bounded in memory, and however long a text is, it can be written."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from collector import loading
from collector.costs import CostMeter
from collector.runner import collect
from collector.spec_loading import load_audit
from collector.targets.base import Reply, Request
from tests.python.collector.test_runner import Scripted


def test_a_text_larger_than_the_bound_is_written(
    small_spec: Path,
    ledger_path: Path,
    query: Callable[[str], list[tuple[Any, ...]]],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(loading, "MEMORY_BYTES", 10_000_000)
    text = '{"Tea": "' + "warm " * 1_000_000 + '"}'  # 5 MB, three times a row

    def answer(request: Request) -> Reply:
        return Reply(text if request.trial == 1 else '{"Tea": "Warm."}', text, "stop")

    target = Scripted(answer)
    collect(load_audit(small_spec), target, ledger_path, show_progress=False, meter=CostMeter(None))
    assert query("select count(*), min(length(raw_body)), max(length(response_text)) from raw.responses") == [
        (8, len(text), len(text))
    ]
