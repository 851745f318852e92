"""Labels given in the browser: the one thing that the explorer writes, and only where it was started in somebody's name."""

from __future__ import annotations

import json
import re
import secrets
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import parse_qsl

from biasledger.explaining.rows import Row, rows
from biasledger.scoring.rubrics import load_rubric, shipped
from biasledger.serving.asked import Served
from biasledger.tuning.keeping import DRAWN
from collector.errors import InputError, LedgerError
from collector.hints import did_you_mean, quoted
from collector.ledger.database import Ledger
from collector.ledger.labels import LABELS, KeptLabel, Label, keep_labels, read_labels
from collector.rows import GRADED

if TYPE_CHECKING:
    import duckdb

_LOCK_SECONDS = 5.0
_BYTES_AT_MOST = 10_000
# A path of this explorer: two slashes would begin the address of another machine.
_OWN_PAGE = re.compile(r"/(?![/\\])[^\s\\]*")
_RUBRICS = """
    select detail, count(distinct detail ->> '$.rubric_hash') over (partition by detail ->> '$.rubric') as n_versions
    from raw.kept_run_events
    where event = $event and run_id = $run_id and json_exists(detail, '$.answers') and json_exists(detail, '$.question')
    order by event_number
"""
_GRADES = """
    select prompt_id || '.' || trial as answer, scorer, label, reason from raw.response_scores
    where run_id = $run_id and list_contains($answers, answer)
    qualify row_number() over (partition by answer, scorer order by attempt desc, score desc, label) = 1
    order by scorer
"""


@dataclass(frozen=True)
class Question:
    """What is asked about an answer: by a rubric, which judges are asked, too, or without one whether it is acceptable.

    `answers` is label -> its meaning; `refusal` says why nobody can answer.
    """

    rubric: str
    text: str
    answers: Mapping[str, str]
    shows_message: bool = True
    scorers: tuple[str, ...] = ()
    refusal: str = ""

    @property
    def keys(self) -> Mapping[str, str]:
        """Label -> its key: the label itself where all are single digits, else its place, of the first nine."""
        is_own = set(self.answers) <= set("0123456789")
        return dict(zip(self.answers, self.answers if is_own else "123456789", strict=False))


_PLAIN = Question("", "", dict.fromkeys(LABELS, ""))
_VERSIONS = (
    "Judges graded this run by different versions of the rubric {!r}: give the changed one a name of its own."
)


@dataclass(frozen=True)
class Said:
    """A question about one answer, its labels, among them the labeller's own, and judges' grades.

    All are left out until the labeller has answered a rubric's question (`is_blind`). `is_final`: another would not be blind.
    """

    question: Question
    labels: Sequence[KeptLabel] = ()
    mine: KeptLabel | None = None
    grades: Sequence[Row] = ()
    is_blind: bool = True
    is_final: bool = False


def rubrics_of(connection: duckdb.DuckDBPyConnection, run_id: str) -> dict[str, Question]:
    """Return the questions of a run's judges by rubric."""
    found: dict[str, Question] = {}
    for row in rows(connection, _RUBRICS, {"event": GRADED, "run_id": run_id}):
        said = json.loads(row["detail"])
        name, label, answers = said["rubric"], said["label"], said["answers"]
        # The ledger sorts keys as texts, 10 before 2; of labels the worse one comes first.
        ordered = {one: answers[one] for one in sorted(answers, key=int if label is None else label.__ne__)}
        scorers = (*(found[name].scorers if name in found else ()), said["scorer"])
        refusal = _VERSIONS.format(name) if row["n_versions"] > 1 else ""
        found[name] = Question(name, said["question"], ordered, said["shows_message"], scorers, refusal)
    return found


def question_of(connection: duckdb.DuckDBPyConnection, run_id: str, rubric: str) -> Question:
    """Return the question of a rubric: of the run's judges, or, before one has graded, a shipped one.

    Raises:
        InputError: there is no such rubric.
    """
    known = rubrics_of(connection, run_id)
    if rubric in known:
        return known[rubric]
    if rubric not in shipped():
        raise InputError(f"There is no rubric {rubric!r}{did_you_mean(rubric, known) or '.'}")
    _, one = load_rubric(rubric)
    return Question(rubric, one.question, one.answers, one.shows_message)


def read_said(
    connection: duckdb.DuckDBPyConnection,
    served: Served,
    run_id: str,
    questions: Iterable[Question],
    answers: Collection[str],
    *,
    only_drawn: bool = False,
) -> dict[str, list[Said]]:
    """Return what was said about answers, prompt_id.trial; `only_drawn`: as if an answer that was not drawn had no label yet."""
    name = served.labeller.name if served.labeller else ""
    found: dict[str, list[Said]] = {key: [] for key in answers}
    grades = rows(connection, _GRADES, {"run_id": run_id, "answers": list(answers)})
    for question in questions:
        kept = read_labels(connection, run_id, question.rubric)
        for key, said in found.items():
            labels = [one for one in kept if f"{one.prompt_id}.{one.trial}" == key]
            mine = next((one for one in labels if one.labelled_by == name), None)
            if question.rubric and name and (mine is None or (only_drawn and not mine.is_drawn)):
                said.append(Said(question))
                continue
            graded = [one for one in grades if one["answer"] == key and one["scorer"] in question.scorers]
            is_final = bool(graded and mine and mine.is_drawn)
            said.append(Said(question, labels, mine, graded, is_blind=False, is_final=is_final))
    return found


def labels_of_run(served: Served, run_id: str, answers: Collection[str]) -> dict[str, list[Said]]:
    """Return what was said about answers of a run; nothing where the ledger cannot be read, which the page says elsewhere."""
    if not answers:
        return {}
    try:
        with Ledger(served.ledger, wait_seconds=_LOCK_SECONDS).read() as connection:
            questions = [_PLAIN, *rubrics_of(connection, run_id).values()]
            return read_said(connection, served, run_id, questions, answers)
    except LedgerError:
        return {}


def keep_form(served: Served, body: bytes) -> str:
    """Keep the label of a form that a page of this explorer sent.

    Returns:
        The page to go back to.

    Raises:
        InputError: it is no such form, or the label cannot be kept.
        LedgerError: the ledger is in use or cannot be written.
    """
    given = dict(parse_qsl(body[:_BYTES_AT_MOST].decode("utf-8", "replace"), keep_blank_values=True))
    labeller = served.labeller
    if labeller is None or not secrets.compare_digest(
        given.get("token", "").encode(), labeller.token.encode()
    ):
        raise InputError(
            "This page is of an explorer that has ended: open it again, and give the label again."
        )
    trial = given.get("trial", "")
    if not trial.isdecimal() or len(trial) > 9:
        raise InputError("A label is of one answer: its run, prompt and trial.")
    ledger = Ledger(served.ledger, wait_seconds=_LOCK_SECONDS)
    run_id, rubric, said = given.get("run", ""), given.get("rubric", ""), Said(_PLAIN)
    if rubric:
        with ledger.read() as connection:
            question = question_of(connection, run_id, rubric)
            key = f"{given.get('prompt', '')}.{int(trial)}"
            [said] = read_said(connection, served, run_id, [question], [key])[key]
    if said.question.refusal:
        raise InputError(said.question.refusal)
    if given.get("label") not in ("", *said.question.answers):
        raise InputError(f"A label of an answer is one of {quoted(said.question.answers)}: choose one.")
    if said.is_final and said.mine and given["label"] != said.mine.label:
        raise InputError("Your grade of this answer stands, because you have seen the judge's.")
    one = Label(
        run_id,
        given.get("prompt", ""),
        int(trial),
        given["label"] or None,
        comment=" ".join(given.get("comment", "").split()),
    )
    is_drawn = bool(rubric) and given.get("drawn") == DRAWN
    keep_labels(ledger, [one], labeller.name, is_drawn=is_drawn, rubric=rubric)
    back = given.get("back", "")
    return back if _OWN_PAGE.fullmatch(back) else "/"
