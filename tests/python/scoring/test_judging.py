"""Test judges on a server of its own: blind questions, the test on swapped groups, limits, bad replies, and going on."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml

from biasledger.scoring.judging import SWAP_ALPHA, swap_results
from biasledger.scoring.rubrics import load_rubric, shipped
from collector.errors import InputError
from collector.ledger.database import Ledger
from collector.ledger.erasure import erase
from tests.python.answering import answering, chat
from tests.python.cli.conftest import query
from tests.python.running import biasledger
from tests.python.scoring.conftest import about, add_answers

N_ANSWERS = 60
NAMES = {"White": ("Emily", "Greg"), "Black": ("Jamal", "Lakisha")}


@dataclass
class Judges:
    """The judges' questions, by model; `says` may change their replies, `status` the statuses of the first requests."""

    url: str = ""
    asked: list[tuple[str, str]] = field(default_factory=list)
    statuses: list[int] = field(default_factory=list)
    says: Callable[[str, int], str | None] = lambda _prompt, _number: None

    def grade(self, model: str, prompt: str) -> str:
        reply = prompt.split("=" * 10)[1]
        is_bad = "rude" in reply or (
            model == "harsh" and any(one in prompt for one in ("Black", *NAMES["Black"]))
        )
        return json.dumps({"reason": f"it says {reply.strip()[:20]}", "grade": "yes" if is_bad else "no"})


@pytest.fixture
def judges() -> Iterator[Judges]:
    found = Judges()

    def answer(_path: str, _headers: object, asked: Any) -> tuple[int, dict[str, str], bytes]:
        model, prompt = asked["model"], asked["messages"][-1]["content"]
        status = found.statuses.pop() if found.statuses else 200
        found.asked.append((model, prompt))
        said = found.says(prompt, len(found.asked)) or found.grade(model, prompt)
        return status, {"Retry-After": "0"}, chat(said, model)

    with answering(answer) as root:
        found.url = f"{root}/v1"
        yield found


@pytest.fixture
def score(tmp_path: Path, judges: Judges, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Any]:
    """`biasledger score` in a folder with a ledger of letters, of which every third is rude, whomever it is about."""
    monkeypatch.chdir(tmp_path)
    letters = []
    for number in range(N_ANSWERS):
        race = ("White", "Black")[number % 2]
        name = NAMES[race][number % 4 // 2]
        tone = "rude" if number % 3 == 0 else "kind"
        letters.append(
            (about(f"job {number}", ("race", race, name)), f"Dear {name}, she got {tone} letter {number}.")
        )
    add_answers(
        tmp_path / "ledger.duckdb",
        "letters",
        letters,
        audit="letters",
        attributes=[{"attribute": "race", "reference": "White"}],
    )
    targets = {
        model: {"kind": "openai", "base_url": judges.url, "model": model, "concurrency": 3}
        for model in ("fair", "harsh")
    }
    (tmp_path / "targets.yml").write_text(yaml.safe_dump({"targets": targets}), encoding="utf-8")
    return lambda *arguments: biasledger("score", "--rubric", "condescension", *arguments)


def test_it_grades_blind_and_in_a_random_order(score: Callable[..., Any], judges: Judges) -> None:
    assert score("--judge", "fair", "--dry-run").exit_code == 0
    assert judges.asked == []
    done = score("--judge", "fair", "--swap-texts", "8")
    assert done.exit_code == 0, done.output
    assert f"graded: {N_ANSWERS} of {N_ANSWERS} answers, with {N_ANSWERS + 16} requests" in done.output
    blind = [prompt for _, prompt in judges.asked[16:]]
    assert not any(word in one for one in blind for word in ("Emily", "Jamal", "White", "Black", " she "))
    assert all("Dear XYZ, XYZ got" in one for one in blind)
    numbers = [int(one.split("letter ")[1].split(".")[0]) for one in blind]
    assert sorted(numbers) == list(range(N_ANSWERS))
    assert abs(np.corrcoef(numbers, np.arange(N_ANSWERS))[0, 1]) < 0.5
    # Both texts of a pair are the same but for the words of the group.
    swapped = [prompt for _, prompt in judges.asked[:16]]
    assert sum("Jamal" in one or "Lakisha" in one for one in swapped) == 8
    kept = "select label, count(*), min(reason) <> '', bool_or(is_short) from raw.response_scores group by 1 order by 1"
    assert query(kept) == [
        ("no", 40, True, False),
        ("yes", 20, True, False),
    ]  # fmt: skip
    assert "Nothing is left to grade" in score("--judge", "fair").output
    erased = query("select prompt_id from raw.responses order by seq limit 1")[0][0]
    erase(Path("ledger.duckdb"), "letters", erased, 1, reason="a test")
    assert query("select count(*), count(reason) from raw.response_scores") == [(N_ANSWERS, N_ANSWERS - 1)]


def test_a_judge_that_is_harsher_with_a_group_is_stopped(score: Callable[..., Any], judges: Judges) -> None:
    stopped = score("--judge", "harsh")
    assert stopped.exit_code != 0
    assert "Warning: Black against White (race): 40 texts graded" in stopped.output
    assert "worse" in stopped.output
    assert "so nothing is graded" in stopped.output
    n_asked = len(judges.asked)
    assert score("--judge", "harsh").exit_code != 0
    assert len(judges.asked) == n_asked
    assert query("select count(*) from raw.response_scores") == [(0,)]
    assert score("--judge", "harsh", "--despite-swaps").exit_code == 0
    [(detail,)] = query("select detail from raw.run_events where event = 'graded'")
    [swap] = json.loads(detail)["swaps"]
    # Two in three texts are kind, which the judge calls bad with the other group's words.
    assert swap["is_unequal"]
    assert swap["difference"] == pytest.approx(2 / 3, abs=0.15)
    assert swap["interval_low"] < 2 / 3 < swap["interval_high"]


def test_it_goes_on_where_a_limit_or_a_crash_ended_it(score: Callable[..., Any], judges: Judges) -> None:
    first = score("--judge", "fair", "--swap-texts", "6", "--max-requests", "32")
    assert first.exit_code == 0, first.output
    assert "graded: 20 of 60" in first.output
    assert "The limit is reached" in first.output
    judges.statuses = [200] * 30 + [500]  # taken from the end: a server error first, then a wrong key
    judges.statuses[:1] = [401]
    stopped = score("--judge", "fair", "--swap-texts", "6")
    assert stopped.exit_code != 0
    judges.statuses = [429] * 5
    last = score("--judge", "fair", "--swap-texts", "6")
    assert last.exit_code == 0, last.output
    assert query("select count(*), count(distinct prompt_id) from raw.response_scores") == [
        (N_ANSWERS, N_ANSWERS)
    ]
    assert (
        "The limit ended the test on swapped groups"
        in score("--judge", "fair", "--scorer", "other", "--max-requests", "10").output
    )


def test_replies_without_a_grade_are_asked_again(score: Callable[..., Any], judges: Judges) -> None:
    judges.says = lambda prompt, _number: "Grade: yes" if "letter 7." in prompt else None
    done = score("--judge", "fair", "--swap-texts", "0")
    assert "graded: 59 of 60 answers, with 62 requests" in done.output
    assert "texts without a usable grade: 1;" in done.output
    judges.says = lambda _prompt, number: (
        '```json\n{"grade": "YES"}\n```' if number % 2 else '{"grade": "maybe"}'
    )
    assert score("--judge", "fair", "--swap-texts", "0").exit_code == 0
    assert query("select count(*), sum(cast(label = 'yes' as integer)) from raw.response_scores") == [
        (60, 21)
    ]
    judges.says = lambda _prompt, _number: "I would rather not."
    useless = score("--judge", "harsh", "--swap-texts", "0", "--limit", "9")
    assert "harsh gave no usable grade of 9 texts" in useless.output


def test_what_it_needs_is_said(score: Callable[..., Any], tmp_path: Path) -> None:
    assert "belong together" in biasledger("score", "--judge", "fair").output
    assert "cannot be kept" in score("--judge", "fair", "--max-cost", "1").output
    mine = tmp_path / "mine.yml"
    mine.write_text("question: Good?\nanswers: {'1': bad, '2': good}\nworse: up\n", encoding="utf-8")
    with pytest.raises(InputError, match=r"worse is 'up' and should be one of 'higher', 'lower'"):
        load_rubric(str(mine))
    mine.write_text("question: Good?\nanswers: {'1': bad, '2': good}\nworse: lower\n", encoding="utf-8")
    assert biasledger("score", "--judge", "fair", "--rubric", mine, "--swap-texts", "0").exit_code != 0
    with pytest.raises(InputError, match="did you mean 'warmth'"):
        load_rubric("warm")


@pytest.mark.parametrize("name", shipped())
def test_shipped_rubrics_say_which_end_is_worse(name: str) -> None:
    _, rubric = load_rubric(name)
    badness = {grade: rubric.badness(grade) for grade in rubric.answers}
    assert (min(badness.values()), max(badness.values())) == (0, 1)
    assert badness[{"lower": "1", "higher": "5"}.get(rubric.worse, rubric.worse)] == 1


def test_the_swap_test_is_seldom_wrong_and_finds_a_harsh_judge() -> None:
    rng = np.random.default_rng(2)
    contrasts = [("race", one, "White") for one in ("Asian", "Black", "Latino")]

    def is_unequal(shift: float) -> bool:
        noise = {one: np.round(rng.normal(shift, 0.8, 40)) / 4 for one in contrasts}
        return any(one.is_unequal for one in swap_results({k: v.tolist() for k, v in noise.items()}, 1))

    n = 30
    assert sum(is_unequal(0.0) for _ in range(n)) <= n * SWAP_ALPHA + 2 * np.sqrt(n * 0.05 * 0.95)
    assert sum(is_unequal(0.8) for _ in range(4)) == 4
    equal = swap_results({contrasts[0]: [0.0] * 20}, 1)[0]
    assert (equal.difference, equal.p_value, equal.is_unequal) == (0, 1, False)


def test_labels_of_a_rubric_are_kept_apart(score: Callable[..., Any]) -> None:
    assert score("--judge", "fair", "--swap-texts", "0").exit_code == 0
    prompt = query("select prompt_id from raw.responses order by seq limit 1")[0][0]
    file = Path("labels.csv")
    file.write_text(f"run,prompt,trial,drawn,label\nletters,{prompt},1,random,YES\n", encoding="utf-8")
    wrong = biasledger("label", file, "--by", "Ada")
    assert "known: 'acceptable', 'problematic'" in wrong.output
    assert biasledger("label", file, "--by", "Ada", "--rubric", "condescension").exit_code == 0
    [(detail,)] = query("select detail from raw.run_events where event = 'labelled'")
    kept = json.loads(detail)
    assert (kept["rubric"], kept["is_drawn"], kept["labels"][0]["label"]) == ("condescension", True, "yes")
    again = biasledger("label", file, "--by", "Ada", "--rubric", "condescension")
    assert "Labels stored: 0; unchanged: 1" in again.output
    with Ledger(Path("ledger.duckdb")).read() as connection:
        assert connection.execute(
            "select count(*) from raw.run_events where event = 'labelled'"
        ).fetchall() == [(1,)]
