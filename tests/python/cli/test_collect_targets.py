"""Test collecting from several targets: all are read first, each has its own run, and a failure does not stop the others."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.python.cli.conftest import query
from tests.python.collector.fake_services import KEY, MODEL, FakeServices, Good, fake_services
from tests.python.running import biasledger

AUDIT = """
audit: small
templates: [{id: one, text: 'Recommend products for {a race} person.'}]
attributes: {race: {reference: White, groups: [White, Asian]}}
trials: 2
answer: {kind: text}
"""
TARGETS = f"""
targets:
  gpt: {{kind: openai, base_url: ROOT/openai/v1, model: {MODEL}, api_key_env: A_KEY, concurrency: 1}}
  claude: {{kind: anthropic, base_url: ROOT/anthropic, model: {MODEL}, api_key_env: A_KEY, concurrency: 1}}
  typo: {{kind: openai, base_url: ROOT/openai/v1, model: typo-1, api_key_env: A_KEY, concurrency: 1}}
  simulator: {{kind: simulator}}
"""


@pytest.fixture
def services(thin: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeServices]:
    for name in ("NO_PROXY", "no_proxy"):
        monkeypatch.setenv(name, "127.0.0.1")
    monkeypatch.setenv("A_KEY", KEY)
    with fake_services() as running:
        (thin / "small.yml").write_text(AUDIT)
        (thin / "targets.yml").write_text(TARGETS.replace("ROOT", running.root))
        yield running


def test_several_targets_in_one_go(services: FakeServices) -> None:
    result = biasledger("collect", "small.yml", "--target", "gpt, claude,simulator", code=0)
    assert result.stdout.count("2 prompts, 4 responses") == 3
    assert result.stdout.count("Next: biasledger build") == 1
    assert query("select target, target_kind from raw.runs order by started_at") == [
        ("gpt", "openai"),
        ("claude", "anthropic"),
        ("simulator", "simulator"),
    ]
    assert [asked.service for asked in services.asked] == ["openai"] * 4 + ["anthropic"] * 4


def test_one_that_fails_does_not_stop_the_others(services: FakeServices) -> None:
    result = biasledger("collect", "small.yml", "--target", "gpt,typo,claude", code=3)
    assert "Error: typo: typo answered 404: The model `typo-1` does not exist." in result.stderr
    assert "Error: 1 of 3 targets failed: typo. The answers so far are kept." in result.stderr
    answered = query(
        "select target, count(*) filter (where status = 'ok') from raw.runs join raw.responses using (run_id) group by 1"
    )
    assert dict(answered) == {"gpt": 4, "typo": 0, "claude": 4}


@pytest.mark.parametrize(
    ("names", "message"),
    [
        ("gpt,nobody", "has no target 'nobody'"),
        ("gpt,gpt", "The target 'gpt' is named twice"),
        ("gpt,", "No target is named"),
    ],
)
def test_nobody_is_asked_where_a_name_is_wrong(services: FakeServices, names: str, message: str) -> None:
    result = biasledger("collect", "small.yml", "--target", names, code=3)
    assert message in result.stderr
    assert services.asked == []
    assert not Path("ledger.duckdb").exists()


def test_nobody_is_asked_at_another_temperature_than_the_audit_s(services: FakeServices) -> None:
    Path("small.yml").write_text(AUDIT + "temperature: 0\n")
    entries = Path("targets.yml").read_text()
    for number, (held, parameters) in enumerate(
        (("its own", ""), ("0.7", "parameters: {temperature: 0.7}, "))
    ):
        Path("targets.yml").write_text(entries.replace("{kind: openai,", f"{{kind: openai, {parameters}"))
        for option in ((), ("--dry-run",))[number:]:
            result = biasledger("collect", "small.yml", "--target", "simulator,gpt", *option, code=3)
            assert f"The audit asks at temperature 0, and the target 'gpt' at {held}" in result.stderr
    assert not services.asked
    assert not Path("ledger.duckdb").exists()
    held = "{kind: openai, parameters: {temperature: 0.0},"
    Path("targets.yml").write_text(entries.replace("{kind: openai,", held))
    assert biasledger("collect", "small.yml", "--target", "simulator,gpt").exit_code == 0
    assert [asked.body["temperature"] for asked in services.asked] == [0.0] * 4
    assert query("select distinct spec ->> 'temperature' from raw.runs") == [("0.0",)]


def test_a_model_that_changes_within_a_run_is_reported(services: FakeServices) -> None:
    services.will(Good(), Good(), Good(), Good(model="audited-1-2026-06-01"))
    result = biasledger("collect", "small.yml", "--target", "gpt", code=0)
    assert "Warning: 2 models answered in this run" in result.stderr
    models = query("select model_answered, count(*) from raw.responses group by 1 order by 1")
    assert models == [("audited-1-2026-05-01", 3), ("audited-1-2026-06-01", 1)]
