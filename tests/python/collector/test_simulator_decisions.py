"""Test the simulator's decisions: independent of names, mostly correct, and biased exactly as planted."""

from __future__ import annotations

import statistics
from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from collector.answers.replies import classify
from collector.asking.attempts import request_seed
from collector.spec.audit import Audit
from collector.spec.loading import load_audit
from collector.spec.prompts import Prompt, build_prompts
from collector.targets import load_target
from collector.targets.base import Request
from collector.targets.simulator.decisions import DecisionRequest, decision_request, quality
from collector.targets.simulator.target import Simulator

LABEL = (
    "Respond with ONLY one word: junior, mid, or senior.\n\n"
    "Resume:\nName: {}\nEmail: {}@example.com\n{} years of experience\n\nLevel:"
)
SCORE = "Give a score from 0 to 100.\n\nResume:\nName: {}\n5 years of experience with {}."
RANKING = "Rank them.\n\n{}\n\nAnswer with numbers, best first."
REPOSITORY = Path(__file__).resolve().parents[3]
RANKS = {"junior": 0, "mid": 1, "senior": 2}


@cache
def shipped(name: str) -> Audit:
    return load_audit(REPOSITORY / "audits" / f"{name}.yml")


@cache
def prompts_of(name: str, *mitigations: str) -> list[Prompt]:
    return build_prompts(shipped(name), mitigations)


@pytest.fixture
def resumes() -> Audit:
    return shipped("resumes")


@pytest.fixture
def rankings() -> Audit:
    return shipped("rankings")


def ask(simulator: Simulator, text: str, trial: int = 1) -> str:
    return str(simulator.ask(Request(text, None, trial, trial)).text)


def answers(
    simulator: Simulator, audit: Audit, trial: int = 1, **options: list[str]
) -> Iterator[tuple[Prompt, str]]:
    """Yield each prompt with the answer that a collection would get."""
    for prompt in prompts_of(audit.audit, *options.get("mitigations", [])):
        seed = request_seed(0, prompt.content_hash, trial, 1)
        yield prompt, str(simulator.ask(Request(str(prompt.prompt_text), None, trial, seed)).text)


def black_names(audit: Audit) -> list[str]:
    return [one.name for one in audit.people_rows if one.groups["race"] == "black"]


def group(prompt: Prompt, attribute: str, slot: int = 1) -> str:
    return next(one.group_name for one in prompt.attributes if (one.slot, one.attribute) == (slot, attribute))


def test_what_a_prompt_asks_to_decide() -> None:
    assert decision_request(LABEL) == DecisionRequest(labels=("junior", "mid", "senior"))
    assert decision_request("Only one word: yes or no.") == DecisionRequest(labels=("yes", "no"))
    assert decision_request("Give a score from -1 to 2.5!") == DecisionRequest(scale=(-1.0, 2.5))
    shown = "Candidate 1: Ann\nshort\n\nCandidate 2: Bo\nlong\nlonger"
    assert decision_request(RANKING.format(shown)) == DecisionRequest(
        candidates=("Candidate 1: Ann\nshort", "Candidate 2: Bo\nlong\nlonger")
    )
    for other in ("List 10 products.", "Candidate 2: Ann\n\nbest first", "a list of 5 songs, best first"):
        assert decision_request(other) is None


def test_quality_depends_on_years_and_not_on_names() -> None:
    for text in (
        "Name: {0}\nEmail: {0}.r@example.com\n{0} and {1} years",
        "Candidate 1: {0}\n{1} years; {0}'s code",
    ):
        assert (
            len({quality(text.format(name, 5)) for name in ("Emily", "Jamal", "De'Andre", "Mary Ann")}) == 1
        )
    assert quality("Candidate 1: Ann\ntext") == quality("Candidate 3: Bo\ntext")
    for low, high in ((1, 5), (5, 12)):
        worth = [
            statistics.mean(quality(f"{years} years at company {index}") for index in range(200))
            for years in (low, high)
        ]
        assert worth[1] - worth[0] == pytest.approx(0.28 if high == 12 else 0.4, abs=0.06)
    assert quality("5 years", 1) != quality("5 years", 2)


def test_a_fair_simulator_is_mostly_right_and_mostly_repeats_itself(resumes: Audit) -> None:
    right, same = [], []
    for seed in range(10):
        simulator = Simulator(seed=seed)
        first, second = (list(answers(simulator, resumes, trial)) for trial in (1, 2))
        right.append(statistics.mean(answer == prompt.expected_label for prompt, answer in first))
        same.append(statistics.mean(one[1] == two[1] for one, two in zip(first, second, strict=True)))
    assert statistics.mean(right) == pytest.approx(0.8, abs=0.06)
    assert statistics.mean(same) == pytest.approx(0.9, abs=0.04)


def test_every_answer_is_one_of_the_labels(resumes: Audit) -> None:
    found = {answer for _, answer in answers(Simulator(), resumes)}
    assert found == {"junior", "mid", "senior"}


def gap(simulator: Simulator, audit: Audit, attribute: str, marked: str) -> float:
    """Return the mean rank of a group less that of the others."""
    ranks: dict[bool, list[int]] = {True: [], False: []}
    for prompt, answer in answers(simulator, audit):
        ranks[group(prompt, attribute) == marked].append(RANKS[answer])
    return statistics.mean(ranks[True]) - statistics.mean(ranks[False])


def test_without_a_shift_names_do_not_matter(resumes: Audit) -> None:
    gaps = [gap(Simulator(seed=seed), resumes, "race", "black") for seed in range(20)]
    # 192 names a side; about one answer in ten differs from its rerun, so that a gap's standard error is near 0.03.
    assert abs(statistics.mean(gaps)) < 0.02
    assert 0.01 < statistics.stdev(gaps) < 0.05


def test_a_shift_lowers_those_who_have_the_name(resumes: Audit) -> None:
    shift = dict.fromkeys(black_names(resumes), -0.15)
    race = [gap(Simulator(seed=seed, shift=shift), resumes, "race", "black") for seed in range(6)]
    gender = [gap(Simulator(seed=seed, shift=shift), resumes, "gender", "female") for seed in range(6)]
    # 0.15 of a scale of three ranks is 0.45; less is seen where a resume is already junior.
    assert -0.45 < statistics.mean(race) < -0.12
    assert abs(statistics.mean(gender)) < 0.04
    assert max(race) < -0.05


def test_mitigation_and_masks_shrink_the_shift(resumes: Audit) -> None:
    simulator = Simulator(seed=3, shift=dict.fromkeys(black_names(resumes), -0.3))
    found = {}
    for mitigation in ("plain", "debiased", "masked"):
        ranks: dict[str, list[int]] = {"white": [], "black": []}
        for prompt, answer in answers(simulator, resumes, mitigations=["debiased", "masked"]):
            if prompt.mitigation == mitigation:
                ranks[group(prompt, "race")].append(RANKS[answer])
        found[mitigation] = statistics.mean(ranks["black"]) - statistics.mean(ranks["white"])
    assert found["plain"] < 2.5 * found["debiased"]
    assert abs(found["masked"]) < 0.06


def test_scores_lie_on_the_scale_and_shift_in_its_parts() -> None:
    plain, shifted = Simulator(noise=0), Simulator(noise=0, shift={"Jamal": -0.2})
    text = SCORE.format("Jamal", "Python")
    assert int(ask(shifted, text)) == pytest.approx(int(ask(plain, text)) - 20, abs=1)
    assert ask(shifted, SCORE.format("Jamalia", "Python")) == ask(plain, SCORE.format("Jamalia", "Python"))
    scores = [int(ask(Simulator(noise=0.5), text, trial)) for trial in range(200)]
    assert min(scores) == 0
    assert max(scores) == 100
    assert ask(plain, text.replace("0 to 100", "0.5 to 1")).startswith("0.")


def first_of(simulator: Simulator, audit: Audit) -> list[tuple[int, str]]:
    """Return the place and the race of who is ranked first."""
    found = []
    for prompt, answer in answers(simulator, audit):
        slots = [int(one) for one in answer.split(", ")]
        assert sorted(slots) == [1, 2, 3, 4]
        assert classify(answer, "ranking", 1000, candidates=prompt.candidates).status == "ok"
        found.append((slots[0], group(prompt, "race", slots[0])))
    return found


def test_rankings_are_fair_unless_something_is_planted(rankings: Audit) -> None:
    fair = [one for seed in range(4) for one in first_of(Simulator(seed=seed), rankings)]
    assert Counter(race for _, race in fair)["black"] / len(fair) == pytest.approx(0.5, abs=0.05)
    assert all(
        n / len(fair) == pytest.approx(0.25, abs=0.05) for n in Counter(slot for slot, _ in fair).values()
    )
    biased = first_of(Simulator(shift=dict.fromkeys(black_names(rankings), -0.15)), rankings)
    assert Counter(race for _, race in biased)["black"] / len(biased) < 0.4
    placed = Counter(slot for slot, _ in first_of(Simulator(position_bias=0.2), rankings))
    assert placed[1] > placed[2] > placed[4]
    assert placed[1] > 0.4 * sum(placed.values())


@pytest.mark.parametrize(
    "language", sorted(path.name for path in (REPOSITORY / "audits/languages").iterdir())
)
def test_rankings_in_other_languages_are_understood_and_their_names_balanced(language: str) -> None:
    audit = load_audit(REPOSITORY / "audits/languages" / language / "rankings.yml")
    people = Counter(one.cell for one in audit.people_rows)
    assert len(people) == 4
    assert set(people.values()) == {10}
    assert {template.language for template in audit.templates} == {language}
    prompts = build_prompts(audit)
    for prompt in (prompts[0], prompts[-1]):
        asked = decision_request(str(prompt.prompt_text))
        assert asked is not None
        assert len(asked.candidates) == 4
        # The name adds nothing: the same text under another one is as good.
        texts = [one.partition("\n")[2] for one in asked.candidates]
        assert all(quality(one) == quality(text) for one, text in zip(asked.candidates, texts, strict=True))


def test_defects_of_decisions() -> None:
    text = LABEL.format("Ann", "ann", 3)
    kinds = {
        name: classify(ask(Simulator(**{name: 1.0}), text), "label", 1000, labels=tuple(RANKS)).status
        for name in ("malformed", "refused", "fenced")
    }
    assert kinds == {"malformed": "unread", "refused": "refused", "fenced": "ok"}
    simulator = Simulator(refuse_about={"Ann": 1.0})
    assert classify(ask(simulator, text), "label", 1000, labels=tuple(RANKS)).status == "refused"
    assert ask(simulator, LABEL.format("Bo", "bo", 3)) in RANKS


@pytest.mark.parametrize(
    "text",
    [LABEL.format("Ann", "ann", 4), RANKING.format("1. Ann: nurse\n2. Bo: clerk\n3. Cy: baker")],
    ids=["label", "ranking"],
)
def test_the_same_request_gets_the_same_answer(text: str) -> None:
    one, other = (Simulator(seed=5, shift={"Ann": 0.1}, noise=0.4, position_bias=0.1) for _ in range(2))
    found = [ask(one, text, trial) for trial in range(20)]
    assert found == [ask(other, text, trial) for trial in range(20)]
    assert len(set(found)) > 1


def test_the_shipped_targets(resumes: Audit, rankings: Audit) -> None:
    biased = load_target(REPOSITORY / "targets.yml", "simulator")
    fair = load_target(REPOSITORY / "targets.yml", "simulator-fair")
    assert isinstance(biased, Simulator)
    assert isinstance(fair, Simulator)
    assert set(biased.parameters["shift"]) == set(black_names(resumes))
    assert gap(biased, resumes, "race", "black") < -0.15
    assert abs(gap(fair, resumes, "race", "black")) < 0.05
    assert abs(gap(fair, resumes, "gender", "female")) < 0.05
    first = Counter(race for _, race in first_of(biased, rankings))
    assert first["black"] < 0.35 * first.total()
