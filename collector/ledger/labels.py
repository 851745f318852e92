"""Labels that people give to answers, as acceptable or problematic: who and when, at the end of the chain of the answers' run.

An event `labelled` names the person (by) and holds a label for each answer. If one person labels an answer twice, the last label
counts, and null takes it back. A label may have a comment, which counts with it. If `is_drawn` is set, the answers were drawn at
random, also for later labels of them. If `rubric` is set, the labels are answers of that rubric, which a judge is asked, too.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING

from collector.errors import InputError
from collector.journal.reader import journal_path
from collector.ledger.database import LedgerLockedError
from collector.ledger.events import keep_event
from collector.rows import LABELLED

if TYPE_CHECKING:
    import duckdb

    from collector.ledger.database import Ledger

ACCEPTABLE, PROBLEMATIC = "acceptable", "problematic"
LABELS = (ACCEPTABLE, PROBLEMATIC)
_LONGEST_NAME = 100
LONGEST_COMMENT = 500
_Given = tuple[str | None, str]  # a label and its comment
_LAST = """
    with given as (
        select
            run_id,
            event_number,
            happened_at,
            detail ->> '$.by' as labelled_by,
            coalesce(cast(detail ->> '$.is_drawn' as boolean), false) as is_drawn,
            unnest(
                from_json(
                    detail -> '$.labels',
                    '[{"prompt_id": "VARCHAR", "trial": "INTEGER", "label": "VARCHAR", "comment": "VARCHAR"}]'
                ),
                recursive := true
            )
        from raw.kept_run_events
        where
            event = $labelled
            and ($run_id is null or run_id = $run_id)
            and coalesce(detail ->> '$.rubric', '') = $rubric
    )
    select
        run_id, prompt_id, trial, label, labelled_by, happened_at,
        bool_or(is_drawn) over (partition by run_id, prompt_id, trial), coalesce(comment, '')
    from given
    qualify
        row_number() over (partition by run_id, prompt_id, trial, labelled_by order by event_number desc) = 1
        and label is not null
    order by happened_at, run_id, prompt_id, trial, labelled_by
"""
_ABSENT = """
    select prompt_id, trial
    from (select unnest($prompt_ids) as prompt_id, unnest($trials) as trial)
    where (prompt_id, trial) not in (
        select (prompt_id, trial) from raw.kept_responses where run_id = $run_id and response_text is not null
    )
    limit 1
"""


@dataclass(frozen=True, slots=True)
class Label:
    """A person's label of an answer, with the reason: one of LABELS, or None to take a label back."""

    run_id: str
    prompt_id: str
    trial: int
    label: str | None
    comment: str = field(default="", kw_only=True)


@dataclass(frozen=True, slots=True)
class KeptLabel(Label):
    """A label that counts: who gave it, when (UTC), and whether the answer was drawn at random to be labelled."""

    labelled_by: str
    labelled_at: datetime
    is_drawn: bool = False


@dataclass(frozen=True, slots=True)
class Labelling:
    """The numbers of labels kept, of labels kept before, and of runs whose journal is ahead of a ledger in use."""

    n_kept: int
    n_unchanged: int
    n_ahead: int

    def __add__(self, other: Labelling) -> Labelling:
        return Labelling(
            self.n_kept + other.n_kept, self.n_unchanged + other.n_unchanged, self.n_ahead + other.n_ahead
        )


def read_labels(
    connection: duckdb.DuckDBPyConnection, run_id: str | None = None, rubric: str = ""
) -> list[KeptLabel]:
    """Return the labels that count in an open ledger, of one run or of all that were not retracted, the oldest first.

    Without a rubric those that are acceptable or problematic.
    """
    rows = connection.execute(_LAST, {"labelled": LABELLED, "run_id": run_id, "rubric": rubric}).fetchall()
    return [KeptLabel(*row, comment=comment) for *row, comment in rows]


def name_of_labeller(text: str) -> str:
    """Return the name of who gives labels, on one line.

    Raises:
        InputError: it is empty or too long.
    """
    name = " ".join(text.split())
    if not name or len(name) > _LONGEST_NAME:
        raise InputError(f"Labels need the name of who gives them, of at most {_LONGEST_NAME} characters.")
    return name


def keep_labels(
    ledger: Ledger, labels: Sequence[Label], by: str, *, is_drawn: bool = False, rubric: str = ""
) -> Labelling:
    """Append labels to their runs' chains, one record a run; labels that are kept already are skipped.

    Args:
        ledger: the ledger.
        labels: of answers with a text; of several for one answer the last counts.
        by: who gives them; kept for good.
        is_drawn: whether the answers were drawn at random; kept for good, too.
        rubric: the rubric whose answers the labels are; the caller knows them.

    Raises:
        InputError: there is no name, no such label or answer, a comment is too long, or a run is being collected. Nothing of its
            run is kept.
        LedgerError: ledger or journal cannot be written. Runs before it are kept.
    """
    name = name_of_labeller(by)
    by_run: dict[str, dict[tuple[str, int], _Given]] = defaultdict(dict)
    for one in labels:
        if not rubric and one.label not in (*LABELS, None):
            raise InputError(f"{one.label!r} is no label of an answer: it is {' or '.join(LABELS)}.")
        if len(one.comment) > LONGEST_COMMENT:
            raise InputError(f"The comment of a label has {LONGEST_COMMENT} characters at most.")
        by_run[one.run_id][one.prompt_id, one.trial] = one.label, one.comment if one.label else ""
    n_kept = n_ahead = 0
    drawn = {"is_drawn": True} if is_drawn else {}
    of = {"rubric": rubric} if rubric else {}
    for run_id, given in by_run.items():
        changed = _changed(ledger, run_id, given, name, is_drawn=is_drawn, rubric=rubric)
        if not changed:
            continue
        listed = [
            {
                "prompt_id": prompt_id,
                "trial": trial,
                "label": label,
                **({"comment": comment} if comment else {}),
            }
            for (prompt_id, trial), (label, comment) in changed.items()
        ]
        try:
            keep_event(ledger, run_id, LABELLED, {"by": name, **of, **drawn, "labels": listed})
        except LedgerLockedError:
            if not journal_path(ledger.path, run_id).is_file():
                raise
            n_ahead += 1
        n_kept += len(changed)
    return Labelling(n_kept, sum(map(len, by_run.values())) - n_kept, n_ahead)


def _changed(
    ledger: Ledger,
    run_id: str,
    given: Mapping[tuple[str, int], _Given],
    by: str,
    *,
    is_drawn: bool,
    rubric: str,
) -> dict[tuple[str, int], _Given]:
    """Return a run's labels that the person has not given before, or not for answers known to be drawn."""
    with ledger.read() as connection:
        absent = connection.execute(
            _ABSENT,
            {
                "run_id": run_id,
                "prompt_ids": [prompt for prompt, _ in given],
                "trials": [one for _, one in given],
            },
        ).fetchall()
        stands = {
            (one.prompt_id, one.trial): (one.label, one.comment)
            for one in read_labels(connection, run_id, rubric)
            if one.labelled_by == by and (one.is_drawn or not is_drawn)
        }
    if absent:
        prompt_id, trial = absent[0]
        raise InputError(
            f"{ledger.path} holds no text of run {run_id}, prompt {prompt_id}, trial {trial} to give a label to."
        )
    return {key: one for key, one in given.items() if stands.get(key, (None, "")) != one}
