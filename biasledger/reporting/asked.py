"""The questions of a run and, if asked for, two answers as an example: read from the ledger."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from biasledger.reporting.picture import clip, readable
from biasledger.reporting.source import Row, Source
from collector.errors import LedgerError
from collector.ledger.database import Ledger

if TYPE_CHECKING:
    import duckdb

_LOCK_SECONDS = 2.0
_SLOT = re.compile(r"(\{[^{}]*\})")
_WORD = re.compile(r"\w+")
_LONGEST_PROMPT, _LONGEST_ANSWER = 1_200, 3_000
# A template of less than this next to its slots says nothing: one of its prompts does.
_LEAST_WORDS = 3


@dataclass(frozen=True)
class Part:
    """A piece of a prompt; `is_slot` if it names the person or the subject of the question."""

    text: str
    is_slot: bool


@dataclass(frozen=True)
class Example:
    """The same case under two names: the alarm that it shows, whom each question was about, and what came back.

    `n_like_finding`: how many of the pairs differ in the direction of the finding; None where it has no direction of one answer.
    `choice`: why this one of the pairs is shown.
    """

    finding: Row
    case: str
    descriptors: tuple[str, str]
    answers: tuple[str, str]
    n_pairs: int
    n_like_finding: int | None
    choice: str


@dataclass(frozen=True)
class Asked:
    """The questions of a run: the audit's title and source, its first prompt in pieces, its answers' seal, and an example."""

    title: str
    source: str
    prompt: Sequence[Part]
    seal: str
    example: Example | None


def read_asked(
    source: Source, ledger: Path, alarms: Mapping[str, Sequence[Row]], *, with_examples: Collection[str]
) -> dict[str, Asked]:
    """Read these runs' questions from the ledger; runs that it does not hold, and all runs if it cannot be read, are left out.

    Args:
        source: the open warehouse, which says whom each prompt was about.
        ledger: the file that holds prompts and answers.
        alarms: run -> its findings to illustrate, the first that has a pair of answers.
        with_examples: runs of which whole answers may be shown.
    """
    if not ledger.is_file():
        return {}
    try:
        with Ledger(ledger, wait_seconds=_LOCK_SECONDS).read() as connection:
            listed = {run_id: _asked(connection, run_id) for run_id in alarms}
            return {
                run_id: Asked(
                    *found,
                    next(
                        filter(None, (_example(connection, source, run_id, one) for one in alarms[run_id])),
                        None,
                    )
                    if run_id in with_examples
                    else None,
                )
                for run_id, found in listed.items()
                if found is not None
            }
    except LedgerError:
        return {}


def _asked(connection: duckdb.DuckDBPyConnection, run_id: str) -> tuple[str, str, Sequence[Part], str] | None:
    row = connection.execute("select spec from raw.kept_runs where run_id = ?", [run_id]).fetchone()
    if row is None:
        return None
    spec = json.loads(row[0])
    seal = connection.execute(
        "select head_hash from raw.seals where run_id = ? order by n_records desc limit 1", [run_id]
    ).fetchone()
    prompt = _template(spec) or _first_prompt(connection, run_id)
    return str(spec.get("title") or ""), str(spec.get("source") or ""), prompt, str(seal[0]) if seal else ""


def _template(spec: Mapping[str, Any]) -> list[Part]:
    texts = [template.get("text") or "" for template in spec.get("templates") or ()]
    telling = [text for text in texts if len(_WORD.findall(_SLOT.sub("", text))) >= _LEAST_WORDS]
    # A neutral question comes first if there is one; questions about people have the most slots.
    text = max(telling, key=lambda one: len(_SLOT.findall(one)), default="")
    return [
        Part(part, bool(_SLOT.fullmatch(part))) for part in _SLOT.split(clip(text, _LONGEST_PROMPT)) if part
    ]


def _first_prompt(connection: duckdb.DuckDBPyConnection, run_id: str) -> list[Part]:
    row = connection.execute(
        """
        select prompts.prompt_text, min(persons.descriptor)
        from raw.kept_prompts as prompts
        left join raw.kept_prompt_attributes as persons using (run_id, prompt_id)
        where run_id = ? and mitigation = 'plain' and prompt_text is not null
        group by prompt_id, prompts.prompt_text
        order by min(persons.descriptor) is null, prompt_id
        limit 1
        """,
        [run_id],
    ).fetchone()
    if row is None:
        return []
    text, descriptor = clip(row[0], _LONGEST_PROMPT), row[1]
    pieces = re.split(f"({re.escape(descriptor)})", text) if descriptor else [text]
    return [Part(piece, piece == descriptor) for piece in pieces if piece]


def _example(
    connection: duckdb.DuckDBPyConnection, source: Source, run_id: str, alarm: Row
) -> Example | None:
    """Return two answers about one case under names of the alarm's groups, which differ in its direction."""
    is_of_groups = not alarm["group_name"].startswith("(")
    group, reference = ("group_name", "reference_group") if is_of_groups else ("member", "reference_member")
    asked = source.ask(
        "examples",
        run_id=run_id,
        attribute=alarm["attribute"],
        marked=alarm[group] or "",
        compared=alarm[reference] or "",
        subject=alarm["subject"] or "",
    )
    pairs = asked.rows if asked else ()
    wanted = list({pair[name] for pair in pairs for name in ("prompt_id", "reference_prompt_id")})
    answers = connection.execute(
        """
        select prompt_id, trial, coalesce(answer_text, response_text)
        from raw.kept_responses
        where
            run_id = ? and list_contains(?, prompt_id) and status = 'ok' and is_judged is not false
            and coalesce(answer_text, response_text) is not null
        qualify row_number() over (partition by prompt_id, trial order by attempt desc) = 1
        """,
        [run_id, wanted],
    ).fetchall()
    of_prompt: dict[str, dict[int, str]] = {}
    for prompt_id, trial, text in answers:
        of_prompt.setdefault(prompt_id, {})[trial] = text
    decided = _decided(source, run_id) if pairs and alarm["measure"] in _OF_RANKS else {}
    direction = _direction(alarm, decided)
    examples = [
        (
            pair,
            (text, other),
            direction
            and direction((pair["prompt_id"], trial, text), (pair["reference_prompt_id"], trial, other)),
            _is_right(decided, pair["reference_prompt_id"], trial)
            != _is_right(decided, pair["prompt_id"], trial),
        )
        for pair in pairs
        for trial, text in sorted(of_prompt.get(pair["prompt_id"], {}).items())
        if (other := of_prompt.get(pair["reference_prompt_id"], {}).get(trial)) is not None
    ]
    alike = [one for one in examples if direction is None or (one[2] or 0.0) > 0]
    if not alike:
        return None
    # Where right answers are known, a pair that is right about one group alone shows most.
    pair, (text, other), _, is_one_right = min(alike, key=lambda one: (not one[3], _likeness(*one[1])))
    return Example(
        alarm,
        readable(pair["subject"] or pair["domain"] or ""),
        (
            _captioned(pair["descriptor"], readable(pair["group_name"])),
            _captioned(pair["reference_descriptor"], readable(pair["reference_group"])),
        ),
        (clip(_lines(text), _LONGEST_ANSWER), clip(_lines(other), _LONGEST_ANSWER)),
        len(examples),
        None if direction is None else len(alike),
        "one with a right and a wrong answer" if is_one_right else "the one with the fewest words in common",
    )


def _lines(text: str) -> str:
    """A list of JSON objects with a line for each, as `name (key: value; …)`; any other text as it is."""
    try:
        items = json.loads(text)
    except ValueError:
        return text
    if isinstance(items, dict) and len(items) == 1:
        (items,) = items.values()
    if not isinstance(items, list) or not items or not all(isinstance(item, dict) for item in items):
        return text
    return "\n".join(map(_line, items))


def _line(item: Mapping[str, Any]) -> str:
    rest = "; ".join(f"{readable(key)}: {_words(value)}" for key, value in item.items() if key != "name")
    name = str(item["name"]) if "name" in item else ""
    return f"{name} ({rest})" if name and rest else name or rest or "–"


def _words(value: object) -> str:
    if isinstance(value, list):
        return ", ".join(map(_words, value))
    if isinstance(value, dict):
        return json.dumps(value, ensure_ascii=False)
    return "–" if value is None else str(value)


def _captioned(descriptor: str, group: str) -> str:
    return descriptor if descriptor == group else f"{descriptor} ({group})"


_Answer = tuple[str, int, str]
# Measures of what single answers decide, by ranks.
_OF_RANKS = ("rank_gap", "impact_ratio", "score_gap", "relative_gap", "percentile_gap", "place_gap")


def _decided(source: Source, run_id: str) -> dict[tuple[str, int], Row]:
    """Prompt and trial -> what was decided."""
    asked = source.ask("example_ranks", run_id=run_id)
    return {(row["prompt_id"], row["trial"]): row for row in (asked.rows if asked else ())}


def _is_right(decided: Mapping[tuple[str, int], Row], prompt_id: str, trial: int) -> bool:
    return bool(decided.get((prompt_id, trial), {}).get("is_correct"))


def _direction(
    alarm: Row, decided: Mapping[tuple[str, int], Row]
) -> Callable[[_Answer, _Answer], float] | None:
    """Return how far two answers (prompt, trial, text) differ in a finding's direction; None if single ones have none."""
    sign = 1.0 if alarm["value"] > (alarm["no_difference"] or 0.0) else -1.0
    if alarm["measure"] in _OF_RANKS:
        if not decided:
            return None
        return lambda one, other: (
            sign * (decided[one[:2]]["rank_value"] - decided[other[:2]]["rank_value"])
            if {one[:2], other[:2]} <= decided.keys()
            else 0.0
        )
    if alarm["method"] == "words" and alarm["member"] and not alarm["group_name"].startswith("("):
        said = str(alarm["member"]).casefold()
        return lambda one, other: (
            sign
            * (_WORD.findall(one[2].casefold()).count(said) - _WORD.findall(other[2].casefold()).count(said))
        )
    return None


def _likeness(text: str, other: str) -> float:
    """The share of the words of both texts that both use."""
    words, others = (set(_WORD.findall(one.lower())) for one in (text, other))
    return len(words & others) / len(words | others) if words | others else 1.0
