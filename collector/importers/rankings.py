"""The first pass over a file of rankings, which has one row for each candidate of each answer."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from collector.answers.decisions.rankings import Placed, ranking_text
from collector.errors import InputError
from collector.importers.conditions import Stated
from collector.importers.gathered import GatheredPlan
from collector.importers.roles import PROMPT_ROLES

TRUE, FALSE = ("1", "1.0", "true", "yes"), ("0", "0.0", "false", "no")
_SHOWN = "shown"


class RankingPlan(GatheredPlan):
    """A file with one row a candidate: the rows of one `response` about a subject are one answer to one prompt."""

    def check(self) -> None:
        """Read the file once; raise InputError for the first thing wrong in it."""
        self._read_keys()
        self._require_filled("response", "name or number of the answer that the row belongs to")
        self._require_filled("subject", "subject that the answer is about")
        self._require_truth()
        self._number_candidates()
        self._require_places()
        who = ["slot", *self._mapped("descriptor"), *self._conditions.names]
        self._gather(
            "candidates",
            self._mapped(*PROMPT_ROLES),
            {_SHOWN: (who, "slot"), "answer": (["slot", "rank", "is_missing"], "slot")},
        )
        self._number_prompts("gathered")

    def warnings(self) -> list[str]:
        """Return warnings, one sentence each."""
        return self._mixed_models()

    @property
    def _names(self) -> list[str]:
        return [*self._mapped(*PROMPT_ROLES), _SHOWN]

    def _stated(self, found: Mapping[str, Any]) -> Stated:
        """Return the groups of all candidates that a prompt shows."""
        candidates = map(self._conditions.stated, json.loads(found[_SHOWN]))
        return Stated(tuple(attribute for one in candidates for attribute in one.attributes))

    def _require_truth(self) -> None:
        if "missing" not in self._roles:
            return
        for row, value in self._fetch(
            f"select row_number, missing from keys where missing is null or lower(missing) not in {(*TRUE, *FALSE)} "
            f"order by row_number limit 1"
        ):
            given = "nothing" if value is None else repr(value)
            raise InputError(
                f"{self._path}: row {row} has {given} as {self._roles['missing']!r}; it should be 1 (the answer does not name "
                f"the candidate) or 0."
            )

    def _number_candidates(self) -> None:
        """Make `candidates`: every row with its answer's number, the place at which it was shown and the one it was given."""
        answer = ", ".join(["run", *self._mapped("template", "subject", "domain"), "response"])
        missing = f"lower(missing) in {TRUE}" if "missing" in self._roles else "rank is null"
        self._connection.execute(
            f"create table candidates as select * replace ({self._number('slot', 'slot')}::integer as slot, "
            f"{self._number('rank', 'rank')}::integer as rank), {missing} as is_missing, "
            f"dense_rank() over (order by {answer}) as answer_number from resolved"
        )

    def _require_places(self) -> None:
        """Raise for an answer whose slots are not 1 to n, or whose ranks are missing, too large or given twice."""
        for row, slot, n in self._fetch(
            "select row_number, slot, n from (select *, count(*) over (partition by answer_number) as n from candidates) "
            "where n < 2 or slot > n or rank > n order by row_number limit 1"
        ):
            if n < 2:
                problem = f"is the only one of its {self._roles['response']!r}; a ranking has a row for each candidate"
            else:
                role = "slot" if slot > n else "rank"
                problem = f"has a {self._roles[role]!r} above {n}, the number of candidates that the same answer has"
            raise InputError(f"{self._path}: row {row} {problem}.")
        for row in self._fetch(
            "select row_number from candidates where rank is null and not is_missing order by row_number limit 1"
        ):
            raise InputError(
                f"{self._path}: row {row[0]} has no {self._roles['rank']!r} and is not marked as missing from its answer."
            )
        for role, where in (("slot", "true"), ("rank", "not is_missing")):
            for first, second, place in self._fetch(
                f"select min(row_number), max(row_number), {role} from candidates where {where} "
                f"group by answer_number, {role} having count(*) > 1 order by 1 limit 1"
            ):
                raise InputError(
                    f"{self._path}: rows {first} and {second} are both {role} {place} of the same answer; each "
                    f"{self._roles[role]!r} of an answer may occur once."
                )

    def _answer_text(self, answer: str) -> str:
        return ranking_text([Placed(**one) for one in json.loads(answer)])
