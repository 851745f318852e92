"""Test that answers reach the ledger as they were sent, and that nothing in them is executed."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from collector.answers.texts.stored_text import storable
from collector.asking.runner import collect
from collector.spec.loading import load_audit
from collector.targets import load_target
from tests.python.collector.fake_services import (
    KEY,
    MODEL,
    SERVED_MODEL,
    Bytes,
    FakeServices,
    Good,
    fake_services,
)
from tests.python.collector.test_target_contract import HOSTILE

VARIABLE = "BIASLEDGER_TEST_KEY"
AUDIT = """
audit: small
templates: [{id: one, text: 'Recommend products for {a race} person.'}]
attributes: {race: {reference: White, groups: [White, Asian]}}
trials: 5
answer: {kind: text, max_characters: 100000000}
"""
TARGETS = f"""
targets:
  mine: {{kind: openai, base_url: ROOT/openai/v1, model: {MODEL}, api_key_env: {VARIABLE}, concurrency: 1}}
"""
Query = Callable[[str], list[tuple[Any, ...]]]


@pytest.fixture
def services(monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeServices]:
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    monkeypatch.setenv(VARIABLE, KEY)
    with fake_services() as running:
        yield running


def run(folder: Path, services: FakeServices, ledger: Path, trials: int) -> dict[str, int]:
    (folder / "audit.yml").write_text(AUDIT)
    (folder / "targets.yml").write_text(TARGETS.replace("ROOT", services.root))
    target = load_target(folder / "targets.yml", "mine")
    return dict(collect(load_audit(folder / "audit.yml"), target, ledger, trials=trials).counts)


def test_hostile_texts_reach_the_ledger_unchanged(
    tmp_path: Path, services: FakeServices, ledger_path: Path, query: Query
) -> None:
    texts = list(HOSTILE.values())
    services.will(*(Good(text, model=text) for text in texts))
    counts = run(tmp_path, services, ledger_path, trials=len(texts) // 2)
    assert counts == {"ok": len(texts)}
    rows = query("select response_text, model_answered, raw_body from raw.responses order by seq")
    # NUL and half a surrogate pair are U+FFFD, because no database carries them; nothing else is touched.
    assert sorted(row[0] for row in rows) == sorted(storable(text) for text in texts)
    assert all(row[0] == row[1] for row in rows)
    assert all(storable(json.loads(row[2])["choices"][0]["message"]["content"]) == row[0] for row in rows)


def test_invalid_utf8_reaches_the_ledger_as_replacement_characters(
    tmp_path: Path, services: FakeServices, ledger_path: Path, query: Query
) -> None:
    body = b'{"model": "%s", "choices": [{"message": {"content": "A\xffB"}}]}' % SERVED_MODEL.encode()
    services.will(Bytes(body))
    assert run(tmp_path, services, ledger_path, trials=1) == {"ok": 2}
    assert query("select distinct response_text from raw.responses") == [("A\N{REPLACEMENT CHARACTER}B",)]


def test_a_large_body_passes_and_one_beyond_it_is_an_error_that_says_so(
    tmp_path: Path, services: FakeServices, ledger_path: Path, query: Query
) -> None:
    services.will(Good("<b>" * 4_000_000), Bytes(b"a" * 1_000_000, repeated=60))
    assert run(tmp_path, services, ledger_path, trials=1) == {"ok": 1, "error": 1}
    assert query(
        "select length(response_text), md5(response_text) from raw.responses where status = 'ok'"
    ) == query("select 12000000, md5(repeat('<b>', 4000000))")
    ((error, length),) = query("select error, length(raw_body) from raw.responses where status = 'error'")
    assert (
        "more than 50,000,000 bytes, where reading stopped; the first 1,048,576 characters are kept" in error
    )
    assert length == 1 << 20
