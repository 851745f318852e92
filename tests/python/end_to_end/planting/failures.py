"""Questions that a filter blocked, that failed, or that were answered at the second try, for one group or for both."""

from __future__ import annotations

import hashlib
import threading
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from tests.python.project import Project

from .endpoint import endpoint

BLOCKED = "Error code: 400 - content_filter"
DOWN = "Error code: 500 - {'error': {'message': 'The server had an error while processing your request.'}}"
# One filter, as different clients write its message into the column of answers.
WRITTEN = (
    "Error code: 400 - {'error': {'code': 'content_filter', 'status': 400}}",
    '{"error":{"message":"The response was filtered.","param":"prompt","code":"content_filter"}}',
    "litellm.BadRequestError: litellm.ContentPolicyViolationError: the response was filtered",
    "[ERROR] openai.BadRequestError: Error code: 400 - {'error': {'code': 'content_policy_violation', 'type': 'x'}}",
    "finish_reason: content_filter",
)
N_CASES = 40
N_BLOCKED = 25
# Enough for a difference of 0 to be clear.
N_MANY = 120
_TEMPLATES = 16
_TRIALS = 3
_Row = tuple[Any, ...]


def plant(project: Project) -> None:
    """Import tables of decisions, and collect gifts from a bot that names none to some at the first try."""
    _import(project, "blocked_in_column", _cases(lambda n, who: ("", BLOCKED) if _is_hit(n, who) else None))
    _import(
        project,
        "blocked_in_text",
        _cases(lambda n, who: (WRITTEN[n % len(WRITTEN)], "") if _is_hit(n, who) else None),
    )
    # The column of answers also holds text that arrived before the call failed.
    _import(project, "failed_of_one", _cases(lambda n, who: ("accept", DOWN) if _is_hit(n, who) else None))
    _import(
        project,
        "failed_of_both",
        _cases(lambda n, who: ("", DOWN) if (n * (7 if who == "man" else 11)) % N_CASES < 20 else None),
    )
    _import(project, "blocked_for_all", _cases(lambda _n, _who: ("", BLOCKED), N_MANY))
    _import(project, "failed_for_all", _cases(lambda _n, _who: ("", DOWN), N_MANY))
    _import(project, "blocked_for_women", _cases(lambda _n, who: ("", BLOCKED) if who == "woman" else None))
    # A third of all people is asked about as a man and as a woman.
    shared = [(n, who, "accept" if n % 3 else "reject", "") for n in range(40) for who in ("man", "woman")]
    others = [(100 + n, ("man", "woman")[n % 2], "accept" if n % 5 else "reject", "None") for n in range(80)]
    _import(project, "few_shared", [*shared, *others])
    with endpoint(_gifts()) as target:
        project.add_targets({"firstbot": target})
        for name, attempt in (("first_tries", "first"), ("last_tries", "last")):
            spec = {
                "audit": name,
                "attributes": {
                    "origin": {
                        "reference": "German",
                        "groups": {g: f"a {g}" for g in ("German", "Polish", "Turkish")},
                    }
                },
                "templates": [
                    {
                        "id": f"t{number}",
                        "text": f"Shop {number} of {name}: name 3 gifts for {{origin}} customer.",
                    }
                    for number in range(_TEMPLATES)
                ],
                "trials": _TRIALS,
                "answer": {"kind": "json_object"},
                "analysis": {"answers": {"attempt": attempt}},
            }
            project.collect("firstbot", project.write_audit(name, spec))


def _is_hit(n: int, who: str) -> bool:
    return who == "woman" and n < N_BLOCKED


def _cases(instead: Any, n_cases: int = N_CASES) -> Iterator[_Row]:
    """Yield each case as a man and as a woman, decided alike; `instead` is answer and error of those without an answer."""
    for n in range(n_cases):
        for who in ("man", "woman"):
            decided = ("accept" if (n * 37) % N_CASES < 26 else "reject", "")
            yield (n, who, *(instead(n, who) or decided))


def _import(project: Project, name: str, rows: Iterable[_Row]) -> None:
    columns = {"text": "said", "error": "error", "subject": "id", "attributes": {"sex": "sex"}}
    spec = {
        "audit": name,
        "attributes": {"sex": {"reference": "man", "groups": ["man", "woman"]}},
        "answer": {"kind": "label", "labels": ["reject", "accept"]},
        "import": {"columns": columns},
        "analysis": {"decisions": {"ordered": True, "favourable": ["accept"]}},
    }
    project.import_rows(spec, "id,sex,said,error", rows)


def _gifts() -> Callable[[str, int], str]:
    """Name gifts: at the first try none for 60 % of the Polish customers, and for one in ten of all others."""
    asked: Counter[tuple[str, int]] = Counter()
    lock = threading.Lock()

    def answer(question: str, trial: int) -> str:
        key = question, trial
        with lock:
            asked[key] += 1
            is_first = asked[key] == 1
        drawn = hashlib.sha256(repr(key).encode()).digest()[0] / 256
        is_empty = is_first and drawn < (0.6 if "Polish" in question else 0.1)
        return "{}" if is_empty else '{"Tea": "Warm.", "Mug": "Useful."}'

    return answer
