"""What dbt's process says, and what of that is heard."""

from __future__ import annotations

import io
import json
from types import SimpleNamespace
from typing import Any

import pytest
from dbt_common.events.base_types import EventLevel
from dbt_common.events.types import Formatting, Note

from biasledger.building import SAID, build, dbt_process


def told(name: str, message: str, level: str = "info", **data: Any) -> Any:
    return SimpleNamespace(
        info=SimpleNamespace(name=name, level=level, msg=message), data=SimpleNamespace(**data)
    )


def test_steps_and_errors_are_heard_and_what_models_print_is_kept(capsys: pytest.CaptureFixture[str]) -> None:
    teller = dbt_process._Teller()
    node = SimpleNamespace(node_name="fct_findings")
    teller(told("LogModelResult", "1 of 9 OK", node_info=node, total=9))
    teller(told("Note", "nothing that stops anybody"))
    teller(told("Secret", "looked into", "debug"))
    assert not teller.has_told_error
    teller(told("MainEncounteredError", "It broke.\n", "error"))
    assert teller.has_told_error
    printed = ['{"level": "error", "message": {"of": "a model"}}', "5", "", "Killed"]
    lines = capsys.readouterr().out + "\n".join(printed)
    assert "looked into" not in lines
    steps: list[tuple[int, int, str]] = []
    messages = build._follow(io.StringIO(lines), lambda *step: steps.append(step))
    assert steps == [(1, 9, "fct_findings")]
    assert messages == ["It broke.", printed[0], "5", "Killed"]


def test_secrets_of_the_environment_are_not_said(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DBT_ENV_SECRET_TOKEN", "tea-and-toast")
    dbt_process._Teller()(told("Note", "cannot open s3://tea-and-toast@bucket", "error"))
    line = capsys.readouterr().out
    assert json.loads(line.removeprefix(SAID)) == {
        "level": "error",
        "message": "cannot open s3://*****@bucket",
    }


def test_messages_for_dbt_itself_are_made_only_for_who_asks() -> None:
    heard: list[str] = []
    events = dbt_process._Events()
    events.add_callback(lambda message: heard.append(message.info.level))
    events.fire_event(Formatting(msg="of a statement"), EventLevel.DEBUG)
    events.fire_event(Note(msg="of a model"))
    assert heard == ["info"]
    log: Any = SimpleNamespace(level=EventLevel.DEBUG, filter=lambda _message: False)
    events.loggers.append(log)
    events.fire_event(Formatting(msg="of a statement"), EventLevel.DEBUG)
    assert heard == ["info", "debug"]
