"""The hash chain over what was asked and answered: digests of records, the links between them, and the seal.

A record is a kind and a body of JSON values. Its digest covers the whole body; texts that may have to be erased enter it as
their own hash only, so that a record whose text was erased still has the same digest. A record's hash covers its position, kind,
digest and the hash before it, so the last hash covers all records, their order and their number.

Bodies are made here, so that a journal's line and the ledger's row of one record have the same digest.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any

from collector.errors import InputError
from collector.hashing import canonical_bytes, canonical_json, hash_of, tagged_hash, tagged_hash_of_bytes

if TYPE_CHECKING:
    from collector.rows import ResponseRow, RunRow
    from collector.spec.prompts import Prompt

ZERO = "sha256:" + "0" * 64
# The texts of a response that `biasledger erase` removes, among them the columns that an import kept.
ERASABLE = ("response_text", "answer_text", "raw_body", "error", "reasoning_text", "read_text", "kept")
ERASED = "erased"

# Kind of record -> what the ledger's tables hold of it; what else its body says is kept next to its hash in raw.chain.
FIELDS: Mapping[str, tuple[str, ...]] = {
    "run": (
        *("run_id", "audit", "spec", "target", "target_kind", "is_simulated", "model_asked", "parameters"),
        *("answer_rules_version", "versions", "origin", "source_name", "source_hash", "started_at"),
    ),
    "analysis": ("audit", "analysis"),
    "prompt": (
        *("prompt_id", "template", "language", "perturbation", "mitigation", "subject", "domain"),
        *("expected_label", "system_prompt", "prompt_text", "cluster", "block", "turns", "content_hash"),
        "attributes",
    ),
    "response": (
        *("prompt_id", "trial", "attempt", "seq", "status", *ERASABLE, "finish_reason", "model_answered"),
        *("prompt_tokens", "completion_tokens", "latency_ms", "requested_at", "weight", "content_hash"),
        *("read_by", "answer_language", "source_row", "turn", "is_judged"),
    ),
    "event": ("event", "detail", "happened_at"),
    "erasure": ("prompt_id", "trial", "attempt", "texts", "reason", "erased_at"),
}
# Large tables that an analysis brings along and names by their content's hash, which the digest covers.
BROUGHT_ALONG: Mapping[str, frozenset[str]] = {"analysis": frozenset({"relevance", "probes", "markers"})}
# Keys that a journal's records have in addition; the hashes of these tables are null if an analysis brings none along.
_IN_JOURNALS: Mapping[str, frozenset[str]] = {
    "analysis": frozenset({"registered_at", "relevance_hash", "markers_hash"}),
    "response": frozenset({"is_last"}),
}
_KNOWN = {kind: {*names, *BROUGHT_ALONG.get(kind, ())} for kind, names in FIELDS.items()}
_KNOWN_IN_JOURNALS = {kind: names | _IN_JOURNALS.get(kind, frozenset()) for kind, names in _KNOWN.items()}

_SEAL = re.compile(r"(?P<count>[1-9]\d*):(?P<head>sha256:[0-9a-f]{64})")


@dataclass(frozen=True, slots=True)
class Seal:
    """The number of records of a chain and the hash of its last one: printed, it can be stored where it cannot be changed."""

    count: int
    head_hash: str

    def __str__(self) -> str:
        return f"{self.count}:{self.head_hash}"

    @classmethod
    def parse(cls, text: str) -> Seal:
        """Read a seal as it is printed.

        Raises:
            InputError: the text is none.
        """
        matched = _SEAL.fullmatch(text.strip())
        if matched is None:
            raise InputError(f"{text!r} is no seal; one is like 1234:sha256: and 64 hex digits.")
        return cls(int(matched["count"]), matched["head"])


@dataclass(frozen=True, slots=True)
class ChainRecord:
    """A record as raw.chain keeps it; `extra` is canonical JSON of what its body says beyond the ledger's columns, or None."""

    position: int
    kind: str
    key: str
    extra: str | None
    digest: str
    hash: str


class Chain:
    """Links records one after the other.

    Args:
        count, head_hash: where to go on; the defaults start a chain.
    """

    def __init__(self, count: int = 0, head_hash: str = ZERO) -> None:
        self._count = count
        self._head_hash = head_hash

    def add(self, kind: str, body: Mapping[str, Any]) -> ChainRecord:
        """Link a record to the last one and return what raw.chain keeps of it."""
        digest = record_digest(kind, body)
        linked = next_hash(self._count, kind, digest, self._head_hash)
        record = ChainRecord(
            self._count, kind, record_key(kind, body), record_extra(kind, body), digest, linked
        )
        self._count += 1
        self._head_hash = linked
        return record

    @property
    def seal(self) -> Seal:
        """The chain's length and head so far."""
        return Seal(self._count, self._head_hash)


def record_digest(kind: str, body: Mapping[str, Any]) -> str:
    """Return the tagged hash of a record.

    It covers every key of the body: an absent key counts as null, attributes count in any order, and a response's
    erasable texts count as their own tagged hash. Tables that an analysis brings along count by the hash that it names.

    Args:
        kind: one of FIELDS.
        body: JSON values, as the functions below make them; an erased text is {"erased": "sha256:…"}, its hash.
    """
    if kind == "response":
        return _response_digest(body)
    left_out = BROUGHT_ALONG.get(kind, frozenset())
    content = {name: value for name, value in body.items() if value is not None and name not in left_out}
    if kind == "prompt":
        content["attributes"] = sorted(
            [one["slot"], one["attribute"], one["group_name"], one["descriptor"]]
            for one in body.get("attributes") or ()
        )
    return hash_of(content)


def _response_digest(body: Mapping[str, Any]) -> str:
    content = {name: value for name, value in body.items() if value is not None}
    # The words of an answer are often all of it.
    known: dict[str, str] = {}
    for name in ERASABLE:
        text = content.get(name)
        if isinstance(text, str):
            content[name] = known[text] = known.get(text) or tagged_hash(text)
        elif text is not None:
            content[name] = text_hash(text)
    return tagged_hash_of_bytes(canonical_bytes(content))


def next_hash(position: int, kind: str, digest: str, previous: str) -> str:
    """Return a record's hash: the tagged hash of the canonical JSON of these four, `previous` being ZERO at position 0."""
    # Built by hand, because none of the four needs escaping and this is the chain's inner loop.
    text = f'{{"digest":"{digest}","kind":"{kind}","position":{position},"previous":"{previous}"}}'
    return "sha256:" + hashlib.sha256(text.encode("ascii")).hexdigest()


def text_hash(text: str | Mapping[str, str]) -> str:
    """Return the hash of a text in its record's digest, whether the text is there or erased."""
    return tagged_hash(text) if isinstance(text, str) else text[ERASED]


def without_erased(body: Mapping[str, Any]) -> dict[str, Any]:
    """Return a response's body with None for each erased text, which is what the ledger holds."""
    return {**body, **{name: None for name in ERASABLE if isinstance(body.get(name), Mapping)}}


def record_key(kind: str, body: Mapping[str, Any]) -> str:
    """Return a record's key in the ledger: for a response, and for its erasure, prompt_id.trial.attempt."""
    return _KEYS[kind](body)


def record_extra(kind: str, body: Mapping[str, Any]) -> str | None:
    """Return canonical JSON of a body's keys that the ledger has no columns for, or None."""
    extra = {name: body[name] for name in body.keys() - _KNOWN[kind] if body[name] is not None}
    return canonical_json(extra) if extra else None


def unhashed_keys(kind: str, body: Mapping[str, Any]) -> list[str]:
    """Return the keys of a body that no record of its kind has and that its digest leaves out, as they say null."""
    known = _KNOWN_IN_JOURNALS[kind]
    if known.issuperset(body):
        return []
    return sorted(name for name in body.keys() - known if body[name] is None)


def run_body(run: RunRow) -> dict[str, Any]:
    """Return the body of a run's record."""
    body = {name: getattr(run, name) for name in FIELDS["run"]}
    documents = {name: _as_read(body[name]) for name in ("spec", "parameters", "versions")}
    return {**body, **documents, "started_at": run.started_at.isoformat()}


def analysis_body(audit: str, document: Mapping[str, Any]) -> dict[str, Any]:
    """Return the body of the record that says how an audit's answers were to be read when they were collected."""
    return {"audit": audit, "analysis": _as_read(document)}


def prompt_body(prompt: Prompt) -> dict[str, Any]:
    """Return the body of a prompt's record; its attributes are mappings of slot, attribute, group_name and descriptor."""
    body = {name: getattr(prompt, name) for name in FIELDS["prompt"]}
    names = ("slot", "attribute", "group_name", "descriptor")
    body["attributes"] = [{name: getattr(one, name) for name in names} for one in prompt.attributes]
    return body


def response_body(row: ResponseRow) -> dict[str, Any]:
    """Return the body of a response's record."""
    body = {name: getattr(row, name) for name in FIELDS["response"]}
    body["weight"] = float(row.weight)
    body["latency_ms"] = None if row.latency_ms is None else float(row.latency_ms)
    body["requested_at"] = None if row.requested_at is None else row.requested_at.isoformat()
    return body


def event_body(event: str, detail: Mapping[str, Any], happened_at: datetime) -> dict[str, Any]:
    """Return the body of the record of something that happened to a run."""
    return {"event": event, "detail": _as_read(detail), "happened_at": happened_at.isoformat()}


def erasure_body(
    prompt_id: str, trial: int, attempt: int, texts: Mapping[str, str], reason: str, erased_at: datetime
) -> dict[str, Any]:
    """Return the body of an erasure's record; `texts` is the name of each erased text -> its tagged hash."""
    return {
        "prompt_id": prompt_id,
        "trial": trial,
        "attempt": attempt,
        "texts": dict(texts),
        "reason": reason,
        "erased_at": erased_at.isoformat(),
    }


def _as_read(document: Mapping[str, Any]) -> Any:
    """Return a document as it will be read again: keys that are numbers are text in JSON, and sort as such."""
    return json.loads(canonical_json(document))


def _response_key(body: Mapping[str, Any]) -> str:
    return f"{body['prompt_id']}.{body['trial']}.{body['attempt']}"


_KEYS: Mapping[str, Callable[[Mapping[str, Any]], str]] = {
    "run": lambda body: str(body["run_id"]),
    "analysis": lambda body: hash_of(body["analysis"]),
    "prompt": lambda body: str(body["prompt_id"]),
    "response": _response_key,
    "event": lambda body: f"{body['event']} {body['happened_at']}",
    "erasure": _response_key,
}
