"""Test conversations: how turns are rendered, asked, kept, resumed and ended, and by which targets."""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Callable
from datetime import date
from pathlib import Path
from typing import Any

import pytest

from collector.asking.costs import CostMeter, Price, estimate_run
from collector.asking.runner import CollectOptions, collect, resume
from collector.errors import InputError, TargetError
from collector.ledger.database import Ledger
from collector.ledger.evidence import held_records
from collector.spec.loading import load_audit
from collector.spec.prompts import Turn, build_prompts, transcript
from collector.targets import load_target
from collector.targets.base import Reply, Request
from collector.targets.python_function import of_function
from tests.python.collector.chat_targets import chat_target
from tests.python.collector.importing import Query
from tests.python.collector.scripted import Scripted

AUDIT = """
audit: talks
attributes: {gender: {reference: man, groups: [man, woman]}}
templates:
  - id: pay
    judge: JUDGE
    turns:
      - system: 'You advise {a gender}.'
      - user: 'I am {a gender}.'
      - assistant: Hello!
      - user: What should I ask for?
      - user: And if they refuse?
      - user: 'Last: {gender}?'
trials: 2
ask: ' Be brief.'
answer: {kind: text}
mitigations: {careful: {prefix: 'Hi. ', suffix: ' Thanks.', system_prompt: Be fair.}}
"""
LABELS = "answer: {kind: label, labels: ['no', 'yes']}"


def write(folder: Path, judge: str = "last", *changes: tuple[str, str]) -> Path:
    text = AUDIT.replace("JUDGE", judge)
    for old, new in changes:
        assert old in text
        text = text.replace(old, new)
    (folder / "talks.yml").write_text(text, encoding="utf-8")
    return folder / "talks.yml"


class Talker(Scripted):
    """A target that is given all messages and says how many there are."""

    conversations = "messages"

    def __init__(self, answer: Callable[[Request], Reply] | None = None, **settings: Any) -> None:
        super().__init__(
            answer or (lambda one: Reply(f"Answer {one.turn} of {len(one.messages)}.")), **settings
        )


def test_every_message_is_rendered(tmp_path: Path) -> None:
    man, _, careful, _ = build_prompts(load_audit(write(tmp_path)), ["careful"])
    assert man.system_prompt == "You advise a man."
    assert man.n_turns == 3
    assert man.turn(4) == Turn(
        (("user", "I am a man."), ("assistant", "Hello!"), ("user", "What should I ask for?")),
        is_judged=False,
    )
    assert man.turn(3) == man.turn(6) == Turn((("user", "Last: man? Be brief."),), is_judged=True)
    assert careful.system_prompt == "Be fair.\n\nYou advise a man."
    assert careful.turn(1).messages[0] == ("user", "Hi. I am a man.")
    assert careful.turn(3).text == "Last: man? Be brief. Thanks."
    each = build_prompts(load_audit(write(tmp_path, "each")))[0]
    assert [each.turn(one).text.endswith(" Be brief.") for one in (1, 2, 3)] == [True] * 3
    assert each.turns is not None
    assert each.turn(1).is_judged
    assert transcript(each.turns, ["Two."]).endswith("Assistant: Two.\n\nUser: And if they refuse? Be brief.")


@pytest.mark.parametrize(("change", "sentence"), [
    ((("    turns:", "    text: Hello\n    turns:"),), "templates[0] has both text and turns; remove one of them."),
    ((("    judge: last\n    turns:", "    turn:"),), "the key templates[0].turn is unknown; did you mean 'turns'?"),
    ((("assistant: Hello!", "system: Hello!"),), "templates[0].turns[2] is of system; only the first message can be."),
    ((("      - user: 'Last: {gender}?'\n", "      - assistant: x\n      - assistant: y\n"),),
     "templates[0].turns[6] is of assistant and does not follow a message of user."),
    ((("      - user: 'Last: {gender}?'\n", "      - assistant: x\n"),),
     "templates[0].turns should end with a message of user, which the target answers."),
    ((("judge: last", "judge: all"), ("answer: {kind: text}", LABELS)),
     "templates[0].judge is 'all', which joins the answers to one text, and answer.kind is 'label'; write last or each."),
    ((("judge: last", "judge: each"), ("kind: text", "kind: list, k: 3")),
     ("templates[0].judge is 'each', which needs answers of the kind text, label or score and no analysis.markers; write "
      "last or all.")),
    ((("user: And", "usr: And"),), "templates[0].turns[4]"),
])  # fmt: skip
def test_wrong_conversations(tmp_path: Path, change: tuple[tuple[str, str], ...], sentence: str) -> None:
    with pytest.raises(InputError, match=re.escape(sentence)):
        load_audit(write(tmp_path, "last", *change))


def test_answers_are_fed_back_and_each_is_a_response(tmp_path: Path, query: Query) -> None:
    asked: list[Request] = []

    def answer(request: Request) -> Reply:
        asked.append(request)
        text = f"<think>Hm.</think>Answer {request.turn}."
        return Reply(text, prompt_tokens=100 * request.turn, completion_tokens=10)

    meter = CostMeter(Price("m", 1.0, 1.0, date.min, ""))
    options = CollectOptions(meter=meter, show_progress=False)
    audit = load_audit(write(tmp_path, "all"))
    summary = collect(audit, Talker(answer), tmp_path / "ledger.duckdb", options)
    assert summary.counts == {"ok": 12}
    assert meter.n_prompt_tokens == 4 * (100 + 200 + 300)
    last = next(one for one in asked if one.turn == 3)
    assert [one["role"][0] for one in last.messages] == [*"suauauau"]
    answers = [one["content"] for one in last.messages if one["role"] == "assistant"]
    assert answers == ["Hello!", "Answer 1.", "Answer 2."]
    assert len({one.conversation for one in asked}) == 4
    assert len({one.seed for one in asked}) == 12
    rows = query("select trial, turn, is_judged, answer_text from raw.responses where prompt_id = "
                 "(select min(prompt_id) from raw.prompts) order by trial")  # fmt: skip
    joined = "Answer 1.\n\nAnswer 2.\n\nAnswer 3."
    assert rows[:3] == [(1, 1, False, "Answer 1."), (2, 2, False, "Answer 2."), (3, 3, True, joined)]
    assert [row[0] for row in rows] == [1, 2, 3, 4, 5, 6]
    with Ledger(tmp_path / "ledger.duckdb").read() as connection:
        assert all(one.is_as_kept for one in held_records(connection, summary.run_id))


def test_only_judged_answers_have_the_form_asked_for(tmp_path: Path, query: Query) -> None:
    target = Talker(lambda one: Reply("yes" if one.turn == 3 else "It depends."))
    audit = load_audit(write(tmp_path, "last", ("answer: {kind: text}", LABELS)))
    collect(audit, target, tmp_path / "ledger.duckdb")
    assert query("select distinct turn, status, answer_text from raw.responses order by turn") == [
        (1, "ok", "It depends."), (2, "ok", "It depends."), (3, "ok", "yes"),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("reply", "status"),
    [(Reply(None, finish_reason="content_filter"), "refused"), (Reply(""), "malformed"), (None, "error")],
)
def test_a_failed_turn_is_the_last(tmp_path: Path, query: Query, reply: Reply | None, status: str) -> None:
    def answer(request: Request) -> Reply:
        if request.turn == 2 and "woman" in (request.system_prompt or ""):
            if reply is None:
                raise TargetError("It is down.", status=400)
            return reply
        return Reply("Fine." if request.turn < 3 else "I'm sorry, but I can't help with that.")

    audit = load_audit(write(tmp_path))
    target = Talker(answer, concurrency=1)
    collect(audit, target, tmp_path / "ledger.duckdb", CollectOptions(backoff_seconds=0))
    of_groups = "select group_name, turn, status, any_value(error), any_value(requested_at) is null, count(distinct trial) "
    rows = query(
        f"{of_groups} from raw.responses join raw.prompt_attributes using (run_id, prompt_id) group by all order by all"
    )
    assert [row[:3] for row in rows] == [
        ("man", 1, "ok"), ("man", 2, "ok"), ("man", 3, "refused"), ("woman", 1, "ok"), ("woman", 2, status), ("woman", 3, status),
    ]  # fmt: skip
    sentence = "Not asked, because an earlier message of the conversation got no answer."
    assert rows[-1][3:] == (sentence, True, 2)


def test_a_refusal_in_words_does_not_end_it(tmp_path: Path, query: Query) -> None:
    said = ("I'm sorry, but I can't help with that.", "Well, ask for more.", "Well, ask for more.")
    target = Talker(lambda one: Reply(said[one.turn - 1]))
    collect(load_audit(write(tmp_path)), target, tmp_path / "ledger.duckdb")
    assert query("select turn, status, count(*) from raw.responses group by all order by all") == [
        (1, "refused", 4), (2, "ok", 4), (3, "ok", 4),
    ]  # fmt: skip


def test_a_run_goes_on_in_the_middle_of_a_conversation(tmp_path: Path, query: Query) -> None:
    lock, left = threading.Lock(), [5]
    asked: list[Request] = []

    def answer(request: Request) -> Reply:
        with lock:
            left[0] -= 1
            if left[0] < 0:
                raise TargetError("Your key is wrong.", stops_run=True, status=401)
            asked.append(request)
        return Reply(f"{request.conversation} {request.turn}")

    spec, ledger = write(tmp_path), tmp_path / "ledger.duckdb"
    with pytest.raises(TargetError):
        collect(load_audit(spec), Talker(answer), ledger, CollectOptions(backoff_seconds=0))
    (run_id,) = next(iter(query("select run_id from raw.runs")))
    left[0] = 100
    summary = resume(run_id, Talker(answer), ledger)
    assert (summary.n_responses, summary.counts) == (12, {"ok": 12})
    # Nothing is asked twice, and every answer sees those before it.
    assert len(asked) == len({(one.conversation, one.turn) for one in asked}) == 12
    for one in asked:
        answers = [message.text for message in one.earlier if message.is_answer]
        assert answers == [f"{one.conversation} {turn}" for turn in range(1, one.turn)]


def test_a_target_that_remembers_begins_anew(tmp_path: Path, query: Query) -> None:
    sessions: dict[str, list[str]] = {}
    lock, left = threading.Lock(), [4]

    def chat(prompt: str, _system: str | None, _seed: int | None, conversation: str) -> str:
        with lock:
            left[0] -= 1
            sessions.setdefault(conversation, []).append(prompt)
            if left[0] < 0:
                raise TargetError("Your key is wrong.", stops_run=True, status=401)
            return f"Message {len(sessions[conversation])}."

    changes = ("      - assistant: Hello!\n", ""), ("      - system: 'You advise {a gender}.'\n", "")
    spec, ledger = write(tmp_path, "last", *changes), tmp_path / "ledger.duckdb"
    target = of_function(chat)
    with pytest.raises(TargetError):
        collect(load_audit(spec), target, ledger, CollectOptions(backoff_seconds=0))
    (run_id,) = next(iter(query("select run_id from raw.runs")))
    left[0] = 100
    summary = resume(run_id, target, ledger)
    assert (summary.n_responses, summary.counts) == (16, {"ok": 16})
    newest = "row_number() over (partition by prompt_id, trial order by attempt desc) = 1"
    last = f"select response_text from raw.responses qualify {newest}"
    assert {text for (text,) in query(f"{last} and turn = 4")} == {"Message 4."}
    assert resume(run_id, target, ledger).warnings


def test_a_budget_ends_a_conversation_between_turns(tmp_path: Path) -> None:
    price = Price("m", 0.0, 1_000_000.0, date.min, "")
    meter = CostMeter(price, 55.0, 10)
    target = Talker(lambda _: Reply("Ten tokens.", completion_tokens=10), concurrency=1)
    audit = load_audit(write(tmp_path))
    options = CollectOptions(meter=meter)
    summary = collect(audit, target, tmp_path / "ledger.duckdb", options)
    assert summary.n_responses == 5
    assert "higher --max-cost" in (summary.stopped or "")


def test_the_estimate_counts_what_was_said_before(tmp_path: Path) -> None:
    prompts = build_prompts(load_audit(write(tmp_path)))
    first, second, third = estimate_run(prompts, [2, 2], 400, Price("m", 1.0, 1.0, date.min, ""))
    assert [one.template for one in (first, second, third)] == ["pay, turn 1", "pay, turn 2", "pay, turn 3"]
    assert (first.n_prompts, second.n_prompts, first.n_calls, third.n_calls) == (2, 0, 4, 4)
    assert second.prompt_tokens - first.prompt_tokens == pytest.approx(4 * 400, abs=4 * 10)
    assert third.prompt_tokens - second.prompt_tokens == pytest.approx(4 * 400, abs=4 * 12)


def test_targets_that_cannot_converse_are_named(tmp_path: Path) -> None:
    audit, ledger = load_audit(write(tmp_path)), tmp_path / "ledger.duckdb"
    for target, sentence in (
        (Scripted(lambda _: Reply("x")), r"target 'scripted' is not given earlier messages: choose another one\.$"),
        (of_function(lambda _p, _s, _seed: "x", name="f"), r"not given earlier messages: let its function take messages\.$"),
        (of_function(lambda _p, _s, _seed, conversation: conversation, name="f"),
         r"conversations with fixed answers, and the target 'f'"),
    ):  # fmt: skip
        with pytest.raises(InputError, match=sentence):
            collect(audit, target, ledger)
    with pytest.raises(InputError, match=r"has no batch|cannot be asked in a batch"):
        collect(audit, chat_target(base_url="https://api.openai.com/v1"), ledger, batch=True)
    assert not ledger.exists()


def test_bodies_of_conversations(tmp_path: Path, endpoint: Any) -> None:
    """The messages as an OpenAI-compatible endpoint gets them; the id that an own endpoint gives, which comes back to it."""
    endpoint.answers("Fine.", tool_calls=[{"function": {"name": "look_up"}}])
    audit = load_audit(write(tmp_path, "last", ("trials: 2", "trials: 1")))
    collect(audit, chat_target(base_url=endpoint.base_url, concurrency=1), tmp_path / "ledger.duckdb")
    bodies = [one["body"]["messages"] for one in endpoint.requests]
    assert sorted(map(len, bodies)) == [4, 4, 6, 6, 8, 8]
    assert max(bodies, key=len)[4] == {"role": "assistant", "content": "Fine."}
    with Ledger(tmp_path / "ledger.duckdb").read() as connection:
        kept = "select count(*) from raw.responses where contains(raw_body, 'look_up')"
        assert connection.execute(kept).fetchall() == [(6,)]
    endpoint.requests.clear()
    endpoint.replies.clear()
    endpoint.sends(200, json.dumps({"said": "Fine.", "session": {"id": "s 1"}}))
    body = (
        '{"q": "{prompt}", "all": {messages}, "in": "{conversation}", "turn": {turn}, "s": "{system_prompt}"}'
    )
    entry = {"kind": "http", "url": endpoint.base_url, "body": body, "answer": "said", "concurrency": 1}
    targets = {"targets": {"own": {**entry, "conversation": "session.id"}}}
    (tmp_path / "targets.yml").write_text(json.dumps(targets))
    collect(audit, load_target(tmp_path / "targets.yml", "own"), tmp_path / "ledger.duckdb")
    bodies = [one["body"] for one in endpoint.requests]
    asked = sorted((one["turn"], one["in"], len(one["all"])) for one in bodies)
    assert asked == [(1, "", 4)] * 2 + [(2, "s 1", 6)] * 2 + [(3, "s 1", 8)] * 2
