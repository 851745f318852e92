"""The evidence that methods return: the rows behind a finding, which answers to show, and what to mark in them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from biasledger.explaining.marks import Mark
from biasledger.explaining.rows import Row

Attempt = Literal["last", "first_answer", "first_call"]
"""Which attempt at a question counts: the last one, the first that got an answer, or the first call."""
USUAL_ORDER = "with most of what is marked"
USABLE = ("ok",)


@dataclass(frozen=True)
class RowsBehind:
    """Rows of one published table that a finding rests on: the first ones in the order that matters, how many there are, and the
    SQL that gives all of them.
    """

    table: str
    about: str
    rows: Sequence[Row]
    n_rows: int
    sql: str


@dataclass(frozen=True)
class Pick:
    """One answer to show: its prompt and trial, why it was picked, and what to mark in it next to the marks of all.

    `otherwise` is marked where nothing else is found: a ranking may name its candidates or only their numbers.
    """

    prompt_id: str
    trial: int
    note: str = ""
    marks: Sequence[Mark] = ()
    otherwise: Sequence[Mark] = ()


@dataclass(frozen=True)
class Side:
    """The answers of one group, or of another part of a comparison.

    Args:
        name: whom they are about.
        picks: the answers to show, most telling first, where published rows say which; None where the ledger's texts are to be
            looked through for those with most marks, of the prompts in `prompt_ids`.
        n_answers: how many there are to pick from; None counts the ledger's answers to `prompt_ids`.
        prompt_ids: the prompts of the side.
        order: how picks were chosen, to complete "those …".
        statuses: which answers count.
        model: only those that this model gave, of all prompts.
        attempt: which attempt at a question counts.
    """

    name: str
    picks: Sequence[Pick] | None
    n_answers: int | None = None
    prompt_ids: Sequence[str] = ()
    order: str = USUAL_ORDER
    statuses: Sequence[str] = USABLE
    model: str | None = None
    attempt: Attempt = "last"


@dataclass(frozen=True)
class Evidence:
    """The evidence for a finding.

    Args:
        tables: rows of published tables.
        sides: answers to show, by group.
        marks: what to mark in every answer.
        first, second: what the two kinds of marks mean; empty if there is none.
        marker_list: a list of the ledger's markers to mark, which no published table holds.
        has_declared_kinds: some marks may be stems, as the ledger's markers say.
        observed: the value that was compared with the null, if that is not the finding's value (which is beyond chance).
    """

    tables: Sequence[RowsBehind]
    sides: Sequence[Side] = ()
    marks: Sequence[Mark] = ()
    first: str = ""
    second: str = ""
    marker_list: str | None = None
    has_declared_kinds: bool = False
    observed: float | None = None


def first_value(table: RowsBehind, column: str | None) -> float | None:
    """A column of a table's first row; None without a row, or a column."""
    return table.rows[0].get(column) if column and table.rows else None
