"""A random sample of a run's answers to grade by a rubric, one answer a page."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

from biasledger.explaining.responses import asked_texts
from biasledger.explaining.rows import rows
from biasledger.scoring.rubrics import shipped
from biasledger.serving.asked import Asked, Served
from biasledger.serving.builds import build_of
from biasledger.serving.labelling import question_of, read_said, rubrics_of
from biasledger.tuning.drawing import LEAST_LABELS, draw
from biasledger.tuning.keeping import DRAWN
from collector.errors import InputError
from collector.hints import did_you_mean
from collector.ledger.database import Ledger
from collector.ledger.labels import read_labels
from collector.rows import GRADED

_LOCK_SECONDS = 2.0
_RUNS = """
    select run_id, audit, target, true as is_current
    from raw.kept_runs
    where
        json_extract_string(spec, '$.answer.kind') = 'text'
        or run_id in (select run_id from raw.kept_run_events where event = $event)
    order by run_id in (select run_id from raw.kept_run_events where event = $event) desc, started_at desc, run_id
"""
_COUNTS = """
    select count(answer_text), (select count(*) from raw.response_scores where run_id = $run_id)
    from raw.responses
    where run_id = $run_id
"""
_TEXT = "select answer_text from raw.responses where (run_id, prompt_id, trial, attempt) = (?, ?, ?, ?)"


def page(served: Served, asked: Asked) -> Mapping[str, Any]:
    """Return an answer of a run's sample and a rubric's question, without a place the first answer to be graded, for a template.

    Raises:
        InputError: labels are given in nobody's name, or there is no such run or rubric.
        BiasledgerError: the ledger cannot be read.
    """
    if served.labeller is None:
        raise InputError("Start the explorer with a name to grade answers: biasledger serve --label-as NAME.")
    ledger = Ledger(served.ledger, wait_seconds=_LOCK_SECONDS)
    with ledger.read() as connection:
        runs = rows(connection, _RUNS, {"event": GRADED})
        known = [run["run_id"] for run in runs]
        run_id = asked.get("run") or next(iter(known), "")
        if known and run_id not in known:
            raise InputError(f"There is no run {run_id!r}{did_you_mean(run_id, known) or '.'}")
        rubrics = list(dict.fromkeys([*rubrics_of(connection, run_id), *shipped()]))
        rubric = asked.get("rubric", rubrics[0])
        # The form may have changed the run, which may not know the rubric of the one before.
        if rubric not in rubrics and asked.get("of", run_id) != run_id:
            rubric = rubrics[0]
        question = question_of(connection, run_id, rubric)
        counts = connection.execute(_COUNTS, {"run_id": run_id}).fetchone()
    sample, cells = _sample(served.ledger, run_id, question.scorers, counts)
    with ledger.read() as connection:
        graded = {
            (one.prompt_id, one.trial)
            for one in read_labels(connection, run_id, question.rubric)
            if one.is_drawn and one.labelled_by == served.labeller.name
        }
        left = [n for n, one in enumerate(sample, start=1) if one[:2] not in graded]
        place = asked.whole("place", left[0] if left else 1, least=1, most=max(len(sample), 1))
        values = {
            "build": build_of(served.warehouse),
            "runs": runs,
            "run_id": run_id,
            "rubrics": rubrics,
            "question": question,
            "least": LEAST_LABELS,
            "drawn": DRAWN,
            "n": len(sample),
            "n_graded": len(sample) - len(left),
            "n_needed": LEAST_LABELS * len(cells),
            "n_small": sum(n < LEAST_LABELS for n in cells),
            "place": place,
            "next": next((n for n in left if n > place), next((n for n in left if n < place), None)),
        }
        if sample:
            prompt_id, trial, attempt = sample[place - 1]
            [text] = connection.execute(_TEXT, [run_id, prompt_id, trial, attempt]).fetchall()
            values["one"] = {"prompt_id": prompt_id, "trial": trial, "text": text[0]}
            key = f"{prompt_id}.{trial}"
            values["said"] = read_said(connection, served, run_id, [question], [key], only_drawn=True)[key][0]
            values["prompt"] = asked_texts(connection, run_id, [prompt_id], trial)[prompt_id]
    return values


@lru_cache(maxsize=2)
def _sample(
    path: Path, run_id: str, scorers: tuple[str, ...], _counts: object
) -> tuple[list[tuple[str, int, int]], list[int]]:
    """Return prompt, trial and attempt of answers as drawn, and the sizes of combinations of groups; kept until they change."""
    answers, _, cells = draw(Ledger(path, wait_seconds=_LOCK_SECONDS), run_id=run_id, scorers=scorers)
    return [(one.prompt_id, one.trial, one.attempt) for one in answers], cells
