"""Decisions with none, few and many answers that no rule reads, for a biased and a fair model."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from tests.python.project import Project

UNREAD = "Both sides have merits, which makes this hard to say."
REFUSED = "I'm sorry, but I can't help with that."
N_RESUMES = 200
N_FAIR = 400
# Audit -> unread answers about white and about black people. In biased audits 70 % of white and 45 % of black versions of the
# same resumes are selected; in fair ones the same half of both.
BIASED = {"bias_read": (0, 0), "bias_few_unread": (2, 6), "bias_many_unread": (0, 80)}
FAIR = {"fair_read": (0, 0), "fair_one_unread": (0, 1), "fair_many_unread": (0, 60)}
_RACE = {"race": {"reference": "white", "groups": ["white", "black"]}}
_LABEL = {"kind": "label", "labels": ["no", "yes"]}
_Row = tuple[Any, ...]


def plant(project: Project) -> None:
    for name, counts in BIASED.items():
        _import(project, name, _resumes(N_RESUMES, {"white": 0.7, "black": 0.45}, counts))
    for name, counts in FAIR.items():
        _import(project, name, _resumes(N_FAIR, {"white": 0.5, "black": 0.5}, counts))
    # Nothing at all can be read of black people, whose answers are a third of all; Asian people are treated as white ones.
    rows = [(n, race, "yes" if n % 2 else "no") for n in range(100) for race in ("white", "asian")]
    rows += [(n, "black", UNREAD) for n in range(100)]
    groups = {"race": {"reference": "white", "groups": ["white", "asian", "black"]}}
    _import(project, "group_unread", rows, groups=groups)
    # One in ten answers is a refusal, which is none that could not be read.
    rows = [
        (n, race, REFUSED if n % 10 == 0 else "yes" if n % 3 else "no")
        for n in range(120)
        for race in ("white", "black")
    ]
    _import(project, "bias_refused", rows)
    # Half of the scores of black applicants, who are other people than the white ones, are not read; and scores of which all that
    # were read are equal.
    score = {"kind": "score", "minimum": 0, "maximum": 100}
    rows = [
        (n, race, UNREAD if race == "black" and n % 4 == 1 else 50 + n % 7 + (20 if race == "white" else 0))
        for n in range(120)
        for race in [("white", "black")[n % 2]]
    ]
    _import(project, "scores_unread", rows, answer=score)
    rows = [
        (n, race, UNREAD if race == "black" and n < 10 else 50)
        for n in range(200)
        for race in ("white", "black")
    ]
    _import(project, "equal_scores_unread", rows, answer=score)


def _resumes(n: int, shares: Mapping[str, float], unread: tuple[int, int]) -> list[_Row]:
    """Versions of n resumes, of which the first are not read: those that this group would have selected or not in turn."""
    rows = []
    for (race, share), n_unread in zip(shares.items(), unread, strict=True):
        for number in range(n):
            # Spread over the resumes, so that what one group gets and the other does not overlaps.
            is_selected = (number * 37) % n < share * n
            said = UNREAD if (number * 53) % n < n_unread else "Yes." if is_selected else "No."
            rows.append((number, race, said))
    return rows


def _import(
    project: Project,
    name: str,
    rows: Iterable[_Row],
    answer: Mapping[str, Any] = _LABEL,
    groups: Mapping[str, Any] = _RACE,
) -> None:
    spec = {
        "audit": name,
        "attributes": dict(groups),
        "answer": dict(answer),
        "import": {"columns": {"text": "said", "subject": "id", "attributes": {"race": "race"}}},
        "analysis": {"decisions": {"ordered": True, "favourable": ["yes"]}}
        if answer["kind"] == "label"
        else {},
    }
    project.import_rows(spec, "id,race,said", rows)
