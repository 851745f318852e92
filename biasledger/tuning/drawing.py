"""A file of answers drawn at random, to be filled with labels: what a scorer's rates are corrected by."""

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
from collector.ledger.scorable import AskedPrompt, answers_to_score, asked_prompts

_COLUMNS = (*ADDRESS, "drawn", "question", "text", "label")
_Answer = TypeVar("_Answer")

NEEDED_COVERAGE = 0.9
"""Share of answers about combinations of groups with a labelled answer, below which int_markers_label_rates corrects nothing."""


def write_drawn(
    path: Path, ledger_path: Path, *, n: int, seed: int = 0, run_id: str | None = None
) -> tuple[int, int]:
    """Write answers drawn at random, as many about each combination of groups as about any other.

    Args:
        path: the CSV file, with an empty column label; its rows are in a random order, so that the first are a sample, too.
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
    # No scorer has this name, so all answers are left to score.
    answers, _ = answers_to_score(ledger, "", run_id)
    if not answers:
        raise InputError(f"{'Run ' + run_id if run_id else ledger_path} holds no text answers to label.")
    prompts: Mapping[tuple[str, str], AskedPrompt] = asked_prompts(ledger, {one.run_id for one in answers})
    cells: dict[Hashable, list[int]] = {}
    for place, one in enumerate(answers):
        prompt = prompts[one.run_id, one.prompt_id]
        cells.setdefault((one.run_id, prompt.mitigation, prompt.groups), []).append(place)
    drawn = _alike(list(cells.values()), n, seed)
    with path.open("x", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(_COLUMNS)
        for one in (answers[place] for place in drawn):
            question = inert(prompts[one.run_id, one.prompt_id].text)
            writer.writerow([one.run_id, one.prompt_id, one.trial, DRAWN, question, inert(one.text), ""])
    return len(drawn), len(cells)


def _alike(cells: Sequence[list[_Answer]], n: int, seed: int) -> list[_Answer]:
    """Draw n of them, one of each cell in turn while it has any; in a random order."""
    import numpy as np

    generator = np.random.default_rng(seed)
    for members in cells:
        generator.shuffle(members)
    drawn: list[_Answer] = []
    while len(drawn) < n and any(cells):
        # Where not all cells get one more, which do is drawn, too.
        for place in generator.permutation(len(cells)):
            if cells[place] and len(drawn) < n:
                drawn.append(cells[place].pop())
    return [drawn[place] for place in generator.permutation(len(drawn))]
