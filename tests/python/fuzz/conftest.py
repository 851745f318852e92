"""Strategies and durations of the fuzzers: with the suite seconds and always the same examples; longer with `make fuzz`."""

from __future__ import annotations

import os
from typing import Any

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st

from collector.errors import BiasledgerError

# So many times the suite's examples, and new ones each time.
TIMES = int(os.environ.get("BIASLEDGER_FUZZ_TIMES", "1"))
_KEYS = st.sampled_from(
    ["status", "kind", "body", "position", "trial", "event", "detail", "items", "text", "messages", ""]
)

JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(10**40), 10**40)
    | st.floats()
    | st.text(max_size=20)
    | st.sampled_from(["2026-01-01", "sha256:0", "1e999", "\x1b[31m", "\u202e", "[" * 1_500]),
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(_KEYS | st.text(max_size=8), inner, max_size=4)
    ),
    max_leaves=12,
)


def examples(number: int) -> settings:
    """So many examples with the suite."""
    return settings(
        max_examples=number * TIMES,
        derandomize=TIMES == 1,
        database=None,
        deadline=None,
        suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
    )


def message(error: BiasledgerError, name: str = "") -> str:
    """An error's sentence, which names the file and quotes no more than a person can read."""
    sentence = str(error)
    assert sentence.strip()
    assert name in sentence
    assert len(sentence) < 5_000
    return sentence


@st.composite
def changed(draw: st.DrawFn, document: Any) -> Any:
    """A document with one to three of its values taken out, doubled, renamed or made something else, at any depth."""
    for _ in range(draw(st.integers(1, 3))):
        document = draw(_changed_once(document))
    return document


@st.composite
def _changed_once(draw: st.DrawFn, document: Any) -> Any:
    if not isinstance(document, dict | list) or not document or draw(st.integers(0, 5)) == 0:
        return draw(JSON)
    if isinstance(document, list):
        place = draw(st.integers(0, len(document) - 1))
        return draw(
            st.sampled_from([document[:place] + document[place + 1 :], [*document, document[place]]])
            | _changed_once(document[place]).map(
                lambda value: [*document[:place], value, *document[place + 1 :]]
            )
        )
    name = draw(st.sampled_from(sorted(document, key=str)))
    rest = {key: value for key, value in document.items() if key != name}
    return draw(
        st.just(rest)
        | (st.text(max_size=8) | _KEYS).map(lambda key: {**rest, key: document[name]})
        | JSON.map(lambda value: {**document, name: value})
        | _changed_once(document[name]).map(lambda value: {**document, name: value})
    )


@st.composite
def damaged(draw: st.DrawFn, content: bytes) -> bytes:
    """Bytes with a few changed, taken out, doubled or put in."""
    damaged = bytearray(content)
    for _ in range(draw(st.integers(1, 3))):
        place = draw(st.integers(0, len(damaged)))
        length = draw(st.integers(0, 8) | st.integers(0, len(damaged)))
        put_in = draw(
            st.binary(max_size=8)
            | st.sampled_from(
                [b"\x00" * 9, b"[" * 1_500, b'"', b"\n", b"\xff\xfe", b'{"a":1,"a":2}', b"1e999"]
            )
            | st.just(bytes(damaged[place : place + length]))
        )
        damaged[place : place + length] = put_in
    return bytes(damaged)
