"""Roles of the columns of a file, the keys of `import.columns`, and how the cells of each are read."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from collector.tables.source import ANSWER_COLUMN, ROW_COLUMN

if TYPE_CHECKING:
    from collector.spec.importing import Columns

MAX_TRIAL = 2**31 - 1
_PLACE = f"value = floor(value) and value between 1 and {MAX_TRIAL}"


@dataclass(frozen=True, slots=True)
class Number:
    """The rule for a number: a condition on `value` as SQL, the same in words, and whether a cell may be empty."""

    rule: str
    right: str
    may_be_empty: bool = False


@dataclass(frozen=True, slots=True)
class Role:
    """How the cells of a role are read.

    Attributes:
        cell: how a cell is read.
            word: trimmed.
            name: trimmed; #N/A and the like count as empty, unless a subject or label is called that.
            asked: kept with its outer spaces.
            answer: kept as it is in the file, and read in the second pass only.
            said: as `answer`, about an answer; #N/A and the like count as empty.
        in_prompt: whether it distinguishes prompts.
        number: what it should be, if it is a number.
        column: its name in SQL where the role is called like a keyword or a function.
    """

    cell: Literal["word", "name", "asked", "answer", "said"] = "word"
    in_prompt: bool = False
    number: Number | None = None
    column: str | None = None


ROLES: Mapping[str, Role] = {
    "text": Role("answer"),
    "finish_reason": Role("said"),
    "error": Role("said"),
    "reasoning": Role("answer"),
    "prompt": Role("asked", in_prompt=True),
    "system_prompt": Role("asked", in_prompt=True),
    "template": Role(in_prompt=True),
    "subject": Role("name", in_prompt=True),
    "domain": Role(in_prompt=True),
    "cluster": Role("name", in_prompt=True),
    "block": Role("name", in_prompt=True),
    "trial": Role(
        number=Number(f"value = floor(value) and value between 0 and {MAX_TRIAL}", "a whole number from 0")
    ),
    "attempt": Role(number=Number(_PLACE, "a whole number from 1")),
    "expected": Role("name", in_prompt=True),
    "order": Role(number=Number("true", "a number"), column="position"),
    "weight": Role(number=Number("value > 0", "a number above 0")),
    "model": Role(),
    "descriptor": Role(),
    "response": Role(),
    "slot": Role(number=Number(_PLACE, "a whole number from 1, the place at which a candidate was shown")),
    "rank": Role(number=Number(_PLACE, "a whole number from 1, which is best", may_be_empty=True)),
    "missing": Role(),
    "item": Role(),
    "price": Role(),
    "category": Role(),
    "count": Role(
        number=Number("value > 0", "a number above 0, how many items the row stands for"),
        column="n_counted",
    ),
}
# The weight of a decision: selection rates and their tests count people, so fractions are not allowed.
DECISION_WEIGHT = Number(
    "value = floor(value) and value > 0", "a whole number from 1, how many answers the row stands for"
)
ANSWER_ROLES = tuple(name for name, role in ROLES.items() if role.cell in ("answer", "said"))
PROMPT_ROLES = tuple(name for name, role in ROLES.items() if role.in_prompt)


def column_of(role: str) -> str:
    """Return the name of a role's column in SQL."""
    return ROLES[role].column or role


def roles_of(columns: Columns) -> dict[str, str]:
    """Return role -> column of the file, for the roles that are mapped.

    Where each group has its own column of answers, a row of the file is what they are about if nothing else is named.
    """
    made = {"text": ANSWER_COLUMN, "subject": ROW_COLUMN} if columns.texts else {}
    return {
        role: column for role in ROLES if (column := getattr(columns, role) or made.get(role)) is not None
    }
