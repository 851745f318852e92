"""The very answers behind a finding, read from the ledger: prompt, persons, text, and where the marks stand in it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from biasledger.explaining.evidence import Evidence, Pick, Side
from biasledger.explaining.marks import Mark, Span, find_marks
from biasledger.explaining.rows import Row, rows
from collector.errors import LedgerError
from collector.ledger.database import Ledger
from collector.spec.prompts import transcript, turns_of

if TYPE_CHECKING:
    import duckdb

_LOCK_SECONDS = 2.0


@dataclass(frozen=True)
class Person:
    """A person in a prompt: the place, the descriptor, and the groups by attribute."""

    slot: int
    descriptor: str
    groups: Mapping[str, str]


@dataclass(frozen=True)
class Answer:
    """One response as the ledger keeps it.

    `response_id` is prompt_id.trial.attempt, by which the ledger's hash chain and `biasledger erase` name it. `text` is None
    where nothing came back, where an import holds no texts, or where it was erased; `missing` then says which.
    """

    response_id: str
    response_hash: str
    status: str
    note: str
    persons: Sequence[Person]
    prompt: str | None
    text: str | None
    missing: str
    spans: Sequence[Span]


@dataclass(frozen=True)
class ShownSide:
    """The answers shown of one side, of how many, and by what they were chosen."""

    name: str
    answers: Sequence[Answer]
    n_answers: int | None
    order: str


@dataclass(frozen=True)
class _Marks:
    """The marks in the answers of a side: the same in all, and by prompt."""

    in_all: Sequence[Mark]
    by_prompt: Mapping[str, Sequence[Mark]]

    def of(self, prompt_id: str) -> list[Mark]:
        return [*self.in_all, *self.by_prompt.get(prompt_id, ())]


def read_sides(
    ledger_path: Path, finding: Row, evidence: Evidence, n: int
) -> tuple[list[ShownSide], list[str]]:
    """Return at most `n` answers of each side, and a sentence for each thing that is missing.

    Other sentences name the second readers whose decisions count. The ledger is opened read-only; where it is absent, in use,
    or does not know the run, a sentence says so.
    """
    if not evidence.sides or n == 0:
        return [], []
    try:
        with Ledger(ledger_path, wait_seconds=_LOCK_SECONDS).read() as connection:
            return _read(connection, ledger_path, finding, evidence, n)
    except LedgerError as error:
        return [], [f"The answers themselves are missing: {error}"]


def _read(
    connection: duckdb.DuckDBPyConnection, ledger_path: Path, finding: Row, evidence: Evidence, n: int
) -> tuple[list[ShownSide], list[str]]:
    if not rows(connection, "select 1 from raw.runs where run_id = $run_id", finding):
        sentence = (
            f"The answers themselves are missing: {ledger_path} does not hold run {finding['run_id']}; name the ledger that "
            "the warehouse was built from with --ledger."
        )
        return [], [sentence]
    stems = _stems(connection, finding, evidence)
    shown = []
    for side in evidence.sides:
        marks = _Marks(evidence.marks, _listed_markers(connection, finding, evidence.marker_list, side))
        picks = side.picks if side.picks is not None else _most_marked(connection, finding, side, marks, n)
        counted = side.n_answers if side.n_answers is not None else _count(connection, finding, side)
        answers = [
            answer
            for pick in picks[:n]
            for answer in [_answer(connection, finding, side, _with_stems(pick, stems), marks)]
            if answer
        ]
        shown.append(ShownSide(side.name, answers, counted, side.order))
    return shown, _second_readers(connection, finding)


def _second_readers(connection: duckdb.DuckDBPyConnection, finding: Row) -> list[str]:
    """Return a sentence for each second reader whose decisions count in the finding's run."""
    found = rows(
        connection,
        """
        select model, n_checked, n_agreed, count(*) as n_read
        from raw.second_readings
        inner join raw.second_readers using (run_id, model, prompt_hash)
        where run_id = $run_id and is_used
        group by all
        order by model
        """,
        finding,
    )
    return [
        f"The second reader ({row['model']}) read {row['n_read']:,} answers of this run that no rule reads; it agreed with the "
        f"rules on {row['n_agreed']:,} of {row['n_checked']:,} answers."
        for row in found
    ]


def _with_stems(pick: Pick, stems: frozenset[str]) -> Pick:
    return replace(
        pick, marks=[replace(mark, kind="stem") if mark.text in stems else mark for mark in pick.marks]
    )


# The attempt of a trial that counts. A service that was asked too often says nothing about a question.
_ATTEMPTS = {
    "last": "attempt desc",
    "first_answer": "status = 'error', attempt",
    "first_call": "status = 'error' and read_by is not distinct from 'rate_limit', attempt",
}


def _counting(side: Side) -> str:
    """Return the query of the attempts that count for a side."""
    return f"""
        select prompt_id, trial, attempt, seq, status, response_text, error, content_hash, model_answered
        from raw.read_responses
        where
            run_id = $run_id and is_judged is not false
            and ($model is not null or prompt_id in (select unnest($prompt_ids)))
        qualify row_number() over (partition by prompt_id, trial order by {_ATTEMPTS[side.attempt]}) = 1
    """


_OF_SIDE = "list_contains($statuses, status) and ($model is null or model_answered = $model)"


def _values(finding: Row, side: Side) -> Row:
    return {
        **finding,
        "prompt_ids": list(side.prompt_ids),
        "statuses": list(side.statuses),
        "model": side.model,
    }


def _count(connection: duckdb.DuckDBPyConnection, finding: Row, side: Side) -> int | None:
    if not side.prompt_ids and side.model is None:
        return None
    (row,) = rows(
        connection, f"select count(*) as n from ({_counting(side)}) where {_OF_SIDE}", _values(finding, side)
    )
    return int(row["n"])


def _most_marked(
    connection: duckdb.DuckDBPyConnection, finding: Row, side: Side, marks: _Marks, n: int
) -> list[Pick]:
    """The side's answers with the most different marks in them, of equal ones the first by prompt and trial."""
    found = rows(
        connection,
        f"select prompt_id, trial, response_text as text from ({_counting(side)}) where {_OF_SIDE} "
        f"order by {'prompt_id, trial' if side.model is None else 'seq'}",
        _values(finding, side),
    )
    ranked = sorted(found, key=lambda row: -_n_different(row["text"] or "", marks.of(row["prompt_id"])))
    return [Pick(row["prompt_id"], row["trial"]) for row in ranked[:n]]


def _n_different(text: str, marks: Sequence[Mark]) -> int:
    return len({text[span.start : span.end].lower() for span in find_marks(text, marks)})


def _answer(
    connection: duckdb.DuckDBPyConnection, finding: Row, side: Side, pick: Pick, marks: _Marks
) -> Answer | None:
    values = {
        **finding,
        "prompt_ids": [pick.prompt_id],
        "prompt_id": pick.prompt_id,
        "trial": pick.trial,
        "model": None,
    }
    found = rows(connection, f"select * from ({_counting(side)}) where trial = $trial", values)
    if not found:
        return None
    (response,) = found
    text = response["response_text"]
    return Answer(
        response_id=f"{pick.prompt_id}.{pick.trial}.{response['attempt']}",
        response_hash=response["content_hash"],
        status=response["status"],
        note=pick.note,
        persons=_persons(connection, values),
        prompt=asked_texts(connection, finding["run_id"], [pick.prompt_id], pick.trial).get(pick.prompt_id),
        text=text,
        missing="" if text is not None else _why_missing(connection, {**values, **response}),
        spans=find_marks(text or "", [*pick.marks, *marks.of(pick.prompt_id)])
        or find_marks(text or "", pick.otherwise),
    )


def asked_texts(
    connection: duckdb.DuckDBPyConnection, run_id: str, prompt_ids: Sequence[str], trial: int
) -> dict[str, str | None]:
    """Return prompt -> its text; of a conversation, what was said before the answer of a trial."""
    found = connection.execute(
        """
        select prompts.prompt_id, prompt_text, turns, system_prompt, list(response_text order by responses.trial)
        from raw.prompts as prompts
        left join (
            select * from raw.responses
            where run_id = $run_id and turn is not null and trial < $trial
            qualify row_number() over (partition by prompt_id, trial order by attempt desc) = 1
        ) as responses on responses.prompt_id = prompts.prompt_id
        where prompts.run_id = $run_id and list_contains($prompt_ids, prompts.prompt_id)
        group by all
        """,
        {"run_id": run_id, "prompt_ids": list(prompt_ids), "trial": trial},
    ).fetchall()
    texts: dict[str, str | None] = {}
    for prompt_id, text, turns, system_prompt, answers in found:
        texts[prompt_id] = text
        if turns is not None:
            n_before = (trial - 1) % len(turns_of(turns))
            said = transcript(turns, answers[len(answers) - n_before :])
            texts[prompt_id] = said if system_prompt is None else f"System: {system_prompt}\n\n{said}"
    return texts


def _persons(connection: duckdb.DuckDBPyConnection, values: Row) -> list[Person]:
    found = rows(
        connection,
        """
        select slot, attribute, group_name, descriptor from raw.prompt_attributes
        where run_id = $run_id and prompt_id = $prompt_id
        order by slot, attribute
        """,
        values,
    )
    slots = dict.fromkeys(row["slot"] for row in found)
    return [
        Person(
            slot=slot,
            descriptor=" ".join(dict.fromkeys(row["descriptor"] for row in found if row["slot"] == slot)),
            groups={row["attribute"]: row["group_name"] for row in found if row["slot"] == slot},
        )
        for slot in slots
    ]


def _why_missing(connection: duckdb.DuckDBPyConnection, values: Row) -> str:
    erased = rows(
        connection,
        """
        select reason, erased_at from raw.erasures
        where run_id = $run_id and prompt_id = $prompt_id and trial = $trial and attempt = $attempt
        order by erased_at
        """,
        values,
    )
    if erased:
        return f"the text was erased on {erased[0]['erased_at']:%Y-%m-%d}: {erased[0]['reason']}"
    if values["status"] in ("error", "refused", "truncated"):
        return f"no text came back: {values['error']}" if values["error"] else "no text came back"
    return "the ledger holds no text of it"


_MARKERS = """
    select markers.*
    from raw.markers as markers
    inner join (
        select analysis from raw.analysis_settings where audit = $audit order by registered_at desc, analysis_hash limit 1
    ) as latest on json_extract_string(latest.analysis, '$.markers.hash') = markers.markers_hash
"""


def _listed_markers(
    connection: duckdb.DuckDBPyConnection, finding: Row, name: str | None, side: Side
) -> dict[str, list[Mark]]:
    """Prompt -> the markers of a list that count for its probe or category, of the file that the run's audit is read with."""
    if name is None:
        return {}
    found = rows(
        connection,
        f"""
        select distinct prompts.prompt_id, markers.kind, markers.marker
        from raw.prompts as prompts
        inner join ({_MARKERS}) as markers
            on
                (markers.probe is null or markers.probe = prompts.subject)
                and (markers.category is null or markers.category = prompts.domain)
        where
            prompts.run_id = $run_id and prompts.prompt_id in (select unnest($prompt_ids))
            and markers.list = $list
        order by all
        """,
        {**finding, "list": name, "prompt_ids": list(side.prompt_ids)},
    )
    marks: dict[str, list[Mark]] = {}
    for row in found:
        mark = Mark(row["marker"], kind="stem" if row["kind"] == "stem" else "word")
        marks.setdefault(row["prompt_id"], []).append(mark)
    return marks


def _stems(connection: duckdb.DuckDBPyConnection, finding: Row, evidence: Evidence) -> frozenset[str]:
    """The markers that match with any ending because their file says so."""
    if not evidence.has_declared_kinds:
        return frozenset()
    found = rows(
        connection, f"select distinct marker from ({_MARKERS}) where kind = 'stem' order by marker", finding
    )
    return frozenset(row["marker"] for row in found)
