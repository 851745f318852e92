"""Test digests, links and seals."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import datetime
from typing import Any

import pytest

from collector.errors import InputError
from collector.hashing import canonical_json, hash_of, tagged_hash
from collector.journal.chain import (
    ERASABLE,
    FIELDS,
    ZERO,
    Chain,
    Seal,
    analysis_body,
    erasure_body,
    event_body,
    next_hash,
    prompt_body,
    record_digest,
    record_extra,
    record_key,
    response_body,
    run_body,
    without_erased,
)
from collector.rows import ResponseRow
from collector.spec.prompts import Prompt, PromptAttribute
from tests.python.rows import a_run

MOMENT = datetime(2026, 1, 2, 3, 4, 5, 600)
PROMPT = Prompt(
    "one",
    "en",
    "plain",
    "Who?",
    attributes=(
        PromptAttribute(1, "race", "White", "Greg"),
        PromptAttribute(2, "race", "Black", "Nia"),
    ),
)
RESPONSE = ResponseRow(
    "p", 1, 2, 3, "ok", "sha256:0", "héllo", "héllo", "{}", "stop", "m", 1, 2, 3.5, "none", MOMENT, 2
)
BODIES: Mapping[str, dict[str, Any]] = {
    "run": run_body(a_run("r", spec={"audit": "a"})),
    "analysis": {"audit": "a", "analysis": {"version": 1}},
    "prompt": prompt_body(PROMPT),
    "response": response_body(RESPONSE),
    "event": event_body("started", {"seed": 1}, MOMENT),
    "erasure": erasure_body("p", 1, 2, {"error": "sha256:1"}, "asked for", MOMENT),
}


def test_the_definition_of_a_digest() -> None:
    # Written out, so that a change of the definition cannot pass unseen: it would break every chain there is.
    assert record_digest("event", BODIES["event"]) == tagged_hash(
        '{"detail":{"seed":1},"event":"started","happened_at":"2026-01-02T03:04:05.000600"}'
    )
    text = tagged_hash("héllo")
    assert record_digest("response", BODIES["response"]) == tagged_hash(
        f'{{"answer_text":"{text}","attempt":2,"completion_tokens":2,"content_hash":"sha256:0","error":"{tagged_hash("none")}",'
        f'"finish_reason":"stop","latency_ms":3.5,"model_answered":"m","prompt_id":"p","prompt_tokens":1,'
        f'"raw_body":"{tagged_hash("{}")}","requested_at":"2026-01-02T03:04:05.000600","response_text":"{text}","seq":3,'
        f'"status":"ok","trial":1,"weight":2.0}}'
    )


def test_the_definition_of_a_link() -> None:
    content = {"position": 7, "kind": "event", "digest": "sha256:ab", "previous": ZERO}
    assert next_hash(7, "event", "sha256:ab", ZERO) == hash_of(content)


def test_every_kind_has_a_body() -> None:
    assert set(BODIES) == set(FIELDS)
    for kind, body in BODIES.items():
        assert set(body) == set(FIELDS[kind]), kind


@pytest.mark.parametrize(
    ("kind", "name"), [(kind, name) for kind in FIELDS for name in (*FIELDS[kind], "else")]
)
def test_a_digest_covers_everything(kind: str, name: str) -> None:
    body = BODIES[kind]
    other = [*body[name], {**body[name][0], "group_name": "x"}] if name == "attributes" else "other"
    assert record_digest(kind, {**body, name: other}) != record_digest(kind, body)


def test_a_document_is_digested_as_it_will_be_read_again() -> None:
    documents = {"spec": {10: (1, 2), 9: 1.0}, "parameters": {"b": None, "a": {2: "x", 10: "y"}}}
    body = run_body(a_run("r", **documents))
    assert record_digest("run", json.loads(canonical_json(body))) == record_digest("run", body)
    for one in (event_body("e", documents, MOMENT), analysis_body("a", documents)):
        kind = "event" if "event" in one else "analysis"
        assert record_digest(kind, json.loads(canonical_json(one))) == record_digest(kind, one)


def test_a_relabelled_group_has_another_digest() -> None:
    body = BODIES["prompt"]
    first, second = body["attributes"]
    swapped = [{**first, "group_name": "Black"}, {**second, "group_name": "White"}]
    assert record_digest("prompt", {**body, "attributes": swapped}) != record_digest("prompt", body)


def test_what_makes_no_difference() -> None:
    prompt, response = BODIES["prompt"], BODIES["response"]
    assert record_digest("prompt", {**prompt, "attributes": prompt["attributes"][::-1]}) == record_digest(
        "prompt", prompt
    )
    without_nulls = {name: value for name, value in prompt.items() if value is not None}
    assert len(without_nulls) < len(prompt)
    assert record_digest("prompt", without_nulls) == record_digest("prompt", prompt)
    response = {**response, "reasoning_text": "I think", "read_text": "héllo", "kept": '{"a":"1"}'}
    erased = {**response, **{name: {"erased": tagged_hash(response[name])} for name in ERASABLE}}
    assert record_digest("response", erased) == record_digest("response", response)
    assert without_erased(erased) == {**response, **dict.fromkeys(ERASABLE)}
    analysis = BODIES["analysis"]
    assert record_digest("analysis", {**analysis, "relevance": [["s", None, "i", 1.0]]}) == record_digest(
        "analysis", analysis
    )


def test_what_the_ledger_s_tables_lack_is_kept_next_to_the_hash() -> None:
    body = {**BODIES["response"], "is_last": False, "nothing": None}
    assert record_extra("response", body) == '{"is_last":false}'
    assert record_extra("response", BODIES["response"]) is None
    assert record_extra("analysis", {**BODIES["analysis"], "relevance": []}) is None


def test_keys() -> None:
    assert {kind: record_key(kind, body) for kind, body in BODIES.items()} == {
        "run": "r",
        "analysis": hash_of({"version": 1}),
        "prompt": PROMPT.prompt_id,
        "response": "p.1.2",
        "event": "started 2026-01-02T03:04:05.000600",
        "erasure": "p.1.2",
    }


def test_a_chain_goes_on_where_it_stopped() -> None:
    whole = Chain()
    records = [whole.add(kind, body) for kind, body in BODIES.items()]
    assert [record.position for record in records] == list(range(len(BODIES)))
    assert records[0].hash == next_hash(0, "run", record_digest("run", BODIES["run"]), ZERO)
    assert whole.seal == Seal(len(BODIES), records[-1].hash)
    resumed = Chain(5, records[4].hash)
    assert resumed.add("erasure", BODIES["erasure"]) == records[5]


def test_the_order_counts() -> None:
    heads = set()
    for order in (("event", "erasure"), ("erasure", "event")):
        chain = Chain()
        for kind in order:
            chain.add(kind, BODIES[kind])
        heads.add(chain.seal.head_hash)
    assert len(heads) == 2


def test_seals_are_read_as_they_are_printed() -> None:
    seal = Seal(12, tagged_hash("x"))
    assert str(seal) == f"12:{tagged_hash('x')}"
    assert Seal.parse(f" {seal}\n") == seal
    for text in ("", "12", f"0:{tagged_hash('x')}", f"12:{tagged_hash('x')[:-1]}", f"-1:{tagged_hash('x')}"):
        with pytest.raises(InputError, match=r"is no seal; one is like 1234:sha256: and 64 hex digits"):
            Seal.parse(text)
