"""Test that answers reach the ledger as they were sent, and that nothing in them is executed."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from collector.answers.texts.stored_text import storable
from collector.asking.runner import collect
from collector.spec.loading import load_audit
from collector.targets import load_target
from tests.python.collector.fake_services import KEY, MODEL, Bytes, FakeServices, Good
from tests.python.collector.importing import Query
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


Run = Callable[[int], dict[str, int]]


@pytest.fixture
def run(tmp_path: Path, services: FakeServices, ledger_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    """Collect a number of trials of two questions; return the counts of answers."""
    monkeypatch.setenv(VARIABLE, KEY)
    (tmp_path / "audit.yml").write_text(AUDIT)
    (tmp_path / "targets.yml").write_text(TARGETS.replace("ROOT", services.root))
    target = load_target(tmp_path / "targets.yml", "mine")
    audit = load_audit(tmp_path / "audit.yml")
    return lambda trials: dict(collect(audit, target, ledger_path, trials=trials).counts)


def test_hostile_texts_reach_the_ledger_unchanged(run: Run, services: FakeServices, query: Query) -> None:
    texts = list(HOSTILE.values())
    services.will(*(Good(text, model=text) for text in texts))
    counts = run(len(texts) // 2)
    assert counts == {"ok": len(texts)}
    rows = query("select response_text, model_answered, raw_body from raw.responses order by seq")
    # NUL and half a surrogate pair are U+FFFD, because no database carries them; nothing else is touched.
    assert sorted(row[0] for row in rows) == sorted(storable(text) for text in texts)
    assert all(row[0] == row[1] for row in rows)
    assert all(storable(json.loads(row[2])["choices"][0]["message"]["content"]) == row[0] for row in rows)


def test_a_large_body_passes_and_a_larger_one_fails(run: Run, services: FakeServices, query: Query) -> None:
    services.will(Good("<b>" * 4_000_000), Bytes(b"a" * 1_000_000, repeated=60))
    assert run(1) == {"ok": 1, "error": 1}
    kept = "select length(response_text), md5(response_text) from raw.responses where status = 'ok'"
    assert query(kept) == query("select 12000000, md5(repeat('<b>', 4000000))")
    ((error, length),) = query("select error, length(raw_body) from raw.responses where status = 'error'")
    sentence = "more than 50,000,000 bytes, where reading stopped; the first 1,048,576 characters are kept"
    assert sentence in error
    assert length == 1 << 20
