"""Draw answers at random to be labelled, in a file or in the explorer; the labels correct a scorer's rates."""

from __future__ import annotations

import csv
from collections.abc import Hashable, Mapping, Sequence
from pathlib import Path
from typing import TypeVar

from biasledger.tuning.keeping import DRAWN
from biasledger.tuning.labels import ADDRESS
from collector.errors import InputError
from collector.files.csv import inert
from collector.ledger.database import Ledger
from collector.ledger.scorable import AnswerToScore, AskedPrompt, answers_to_score, asked_prompts

_COLUMNS = (*ADDRESS, "drawn", "question", "text", "label")
_Answer = TypeVar("_Answer")

NEEDED_COVERAGE = 0.9
"""Share of answers about combinations of groups with a labelled answer, below which int_markers_label_rates corrects nothing."""
LEAST_LABELS = 10
"""Labels of answers about each combination of groups, below which int_markers_corrected_scores corrects no judge."""
_SCORED = """
    select distinct prompt_id, trial, attempt from raw.response_scores
    where run_id = $run_id and list_contains($scorers, scorer)
"""


def draw(
    ledger: Ledger,
    n: int | None = None,
    *,
    seed: int = 0,
    run_id: str | None = None,
    scorers: Sequence[str] = (),
) -> tuple[list[AnswerToScore], Mapping[tuple[str, str], AskedPrompt], list[int]]:
    """Draw n text answers at random, or all, one about each combination of groups in turn, so that the first are a sample, too.

    With `scorers` only answers of the run that one of these has scored are drawn, or all where none has scored any.

    Returns:
        The answers in the order drawn, run and prompt -> the prompt, and how many answers there are about each combination of
        groups, mitigations and runs.

    Raises:
        LedgerError: the ledger cannot be read.
    """
    # No scorer has this name, so all answers are left to score.
    answers, _ = answers_to_score(ledger, "", run_id)
    if scorers:
        with ledger.read() as connection:
            known = {"run_id": run_id, "scorers": list(scorers)}
            scored = set(connection.execute(_SCORED, known).fetchall())
        answers = [one for one in answers if (one.prompt_id, one.trial, one.attempt) in scored] or answers
    prompts = asked_prompts(ledger, {one.run_id for one in answers})
    cells: dict[Hashable, list[AnswerToScore]] = {}
    for one in answers:
        prompt = prompts[one.run_id, one.prompt_id]
        cells.setdefault((one.run_id, prompt.mitigation, prompt.groups), []).append(one)
    sizes = [len(members) for members in cells.values()]
    return _alike(list(cells.values()), len(answers) if n is None else n, seed), prompts, sizes


def write_drawn(
    path: Path, ledger_path: Path, *, n: int, seed: int = 0, run_id: str | None = None
) -> tuple[int, int]:
    """Write answers drawn at random, as many about each combination of groups as about any other.

    Args:
        path: the CSV file, with an empty column label; its rows are in the order drawn.
        ledger_path: the ledger.
        n: how many answers; fewer are written where there are fewer.
        seed: draws them; the same seed and ledger give the same file.
        run_id: the run; None for all runs whose answers are texts.

    Returns:
        How many answers were written, and about how many combinations of groups, mitigations and runs.

    Raises:
        InputError: the file is there already, or the ledger holds no text answers.
        LedgerError: the ledger cannot be read.
    """
    if path.exists():
        raise InputError(f"{path} is there already and may hold labels; name another file.")
    ledger = Ledger(ledger_path)
    ledger.update()
    answers, prompts, cells = draw(ledger, n, seed=seed, run_id=run_id)
    if not answers:
        raise InputError(f"{'Run ' + run_id if run_id else ledger_path} holds no text answers to label.")
    with path.open("x", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(_COLUMNS)
        for one in answers:
            question = inert(prompts[one.run_id, one.prompt_id].text)
            writer.writerow([one.run_id, one.prompt_id, one.trial, DRAWN, question, inert(one.text), ""])
    return len(answers), len(cells)


def _alike(cells: Sequence[list[_Answer]], n: int, seed: int) -> list[_Answer]:
    """Draw n of them, one of each cell in turn while it has any."""
    import numpy as np

    generator = np.random.default_rng(seed)
    for members in cells:
        generator.shuffle(members)
    drawn: list[_Answer] = []
    while len(drawn) < n and (cells := [members for members in cells if members]):
        # If not all cells get one more, those that do are drawn at random.
        drawn += [cells[place].pop() for place in generator.permutation(len(cells))[: n - len(drawn)]]
    return drawn
