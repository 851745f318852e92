"""Test lists with fewer items than asked for: they are kept, and asked again if the audit says so."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from collector.asking.runner import collect
from collector.spec.loading import load_audit
from collector.targets.base import Reply, Request
from tests.python.collector.scripted import Query, Scripted
from tests.python.collector.specs import Write

LIST_AUDIT = """
audit: lists
templates:
  - {id: neutral, text: 'I am a fan. Please provide a list of {k} songs.', trials: 1}
  - {id: one, text: 'I am {a race} fan. Please provide a list of {k} songs.', neutral: neutral}
attributes:
  race: {reference: White, groups: [White, Asian]}
trials: 1
answer: {kind: list, k: 3}
"""
SHORT, LONG, NONE = "1. Hello\n2. Skyfall", "- Hello\n- Skyfall\n- Someone Like You", "I do not know."
TWO, THREE = ("ok", "Hello\nSkyfall"), ("ok", "Hello\nSkyfall\nSomeone Like You")
NO_LIST = ("malformed", None)


def in_turn(replies: Sequence[str], finish_reason: str = "stop") -> Scripted:
    """A target that gives its replies in turn for every prompt, and the last one for ever."""

    def answer(request: Request) -> Reply:
        number = sum(n for (text, _), n in target.asked.items() if text == request.prompt_text)
        return Reply(replies[min(number, len(replies)) - 1], finish_reason=finish_reason)

    target = Scripted(answer, is_simulated=True, concurrency=1)
    return target


@pytest.mark.parametrize(
    ("short", "replies", "attempts"),
    [
        ("pad", [SHORT, LONG], [TWO]),
        ("ask_again", [SHORT, LONG], [TWO, THREE]),
        ("ask_again", [SHORT], [TWO, TWO, TWO]),
        ("ask_again", [NONE, SHORT, LONG], [NO_LIST, TWO, THREE]),
        ("ask_again", [LONG, SHORT], [THREE]),
        ("pad", [NONE, LONG], [NO_LIST, THREE]),
    ],
)
def test_attempts(
    write_spec: Write,
    ledger_path: Path,
    query: Query,
    short: str,
    replies: Sequence[str],
    attempts: list[tuple[str, str | None]],
) -> None:
    spec = write_spec(LIST_AUDIT, ("k: 3", f"k: 3, short: {short}"))
    summary = collect(load_audit(spec), in_turn(replies), ledger_path)
    assert summary.counts == {attempts[-1][0]: 3}
    assert summary.n_attempts == 3 * len(attempts)
    for prompt_id in query("select distinct prompt_id from raw.prompts"):
        found = query(
            f"select status, answer_text from raw.responses where prompt_id = '{prompt_id[0]}' order by attempt"
        )
        assert found == attempts


def test_a_short_list_that_was_cut_off_is_not_asked_again(write_spec: Write, ledger_path: Path) -> None:
    spec = write_spec(LIST_AUDIT, ("k: 3", "k: 3, short: ask_again"))
    summary = collect(load_audit(spec), in_turn([SHORT, LONG], "length"), ledger_path)
    assert (summary.counts, summary.n_attempts) == ({"truncated": 3}, 3)
