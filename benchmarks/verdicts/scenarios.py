"""Audits that people run, as whole audits: W are verdicts that may be wrong, P are planted effects that should be found."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import Any

import numpy as np

from benchmarks.corpus import vocabulary
from benchmarks.methods.asked import REFUSAL, Floats, Integers
from benchmarks.verdicts import Rule
from benchmarks.verdicts.audits import GROUPS, Columns, Scenario, Shape
from benchmarks.verdicts.conversations import Conversations

Rng = np.random.Generator
Files = tuple[Columns, ...]

FOUR = (*GROUPS, "asian", "hispanic")
_WORDS = vocabulary(np.random.default_rng(1))[:400]
_SHARES = 1 / (np.arange(_WORDS.size) + 3.0)
_LABELS = ("junior", "mid", "senior")
_LEVELS: dict[str, Any] = {"kind": "label", "labels": list(_LABELS)}
_RANKS = {"decisions": {"ordered": True, "favourable": ["senior"]}}
_ACCEPTED = {"kind": "label", "labels": ["reject", "accept"]}
_TEXT = {"kind": "text"}
_SIMILARITY = {"texts": {"similarity": ["cosine"]}, "markers": {}}


def _scale(maximum: int) -> dict[str, Any]:
    return {"kind": "score", "minimum": 0, "maximum": maximum}


def _crossed(**sizes: int) -> dict[str, Integers]:
    """Every combination of so many values of each column, the first the slowest, each (n,)."""
    places = np.indices(tuple(sizes.values()))
    return {name: one.ravel() for name, one in zip(sizes, places, strict=True)}


def _file(
    at: dict[str, Integers],
    groups: Sequence[str] = GROUPS,
    *,
    weight: Integers | None = None,
    **own: Iterable[Any],
) -> Files:
    """One file: names of the places `at`, `race` by `groups`, a row for each answer or, with `weight`, for so many."""
    columns: dict[str, Sequence[Any]] = {
        name: [groups[one] if name == "race" else f"{name} {one}" for one in places]
        for name, places in at.items()
    }
    columns |= {name: list(values) for name, values in own.items()}
    if weight is not None:
        columns = {
            name: [one for one, n in zip(values, weight, strict=True) if n]
            for name, values in columns.items()
        }
        columns["weight"] = weight[weight > 0].tolist()
    return (columns,)


def _names(at: dict[str, Integers], n_names: int = 20) -> list[str]:
    """A name for each place of `race` and `descriptor`, or without these so many a group in turn, from subject to subject."""
    which = at["descriptor"] if "descriptor" in at else at["subject"] % n_names
    return [f"{FOUR[race]} name {one}" for race, one in zip(at["race"], which, strict=True)]


def _said(words: Iterable[Integers]) -> list[str]:
    return [" ".join(_WORDS[one]) + "." for one in words]


def _drawn(rng: Rng, tilts: Floats, n_words: int = 60) -> Integers:
    """Words of texts by Zipf's law, each word exp(tilt) times as likely, tilts (n_texts, n_vocabulary); (n_texts, n_words)."""
    cumulated = np.cumsum(_SHARES * np.exp(tilts), axis=1)
    drawn = rng.random((len(tilts), n_words)) * cumulated[:, -1:]
    return np.array([np.searchsorted(one, at) for one, at in zip(cumulated, drawn, strict=True)])


def _level(latent: Floats) -> list[str]:
    return [_LABELS[int(one)] for one in np.clip(np.round(latent), 0, 2)]


def _scored(values: Floats, maximum: float) -> list[str]:
    return [f"{one:.1f}" for one in np.clip(values, 0, maximum)]


def near_duplicates(rng: Rng, *, n_templates: int) -> Files:
    """A prompt has one text, of which 5 % of words differ from trial to trial; texts have nothing to do with the group."""
    at = _crossed(template=n_templates, race=2, trial=15)
    text = _drawn(rng, np.zeros((2 * n_templates, _WORDS.size))).repeat(15, axis=0)
    text = np.where(rng.random(text.shape) < 0.05, _drawn(rng, np.zeros((len(text), _WORDS.size))), text)
    return _file({"template": at["template"], "race": at["race"]}, text=_said(text))


def worded_texts(rng: Rng, *, n_wordings: int, sd: float, effect: float = 0.0) -> Files:
    """Twenty templates, a wording each with words of its own (log-odds with that sd); effect: of a tenth of one group's words."""
    at = _crossed(template=20, race=2, descriptor=n_wordings, trial=3 if n_wordings == 1 else 1)
    own = rng.normal(0, sd, (2, n_wordings, _WORDS.size))
    own[1] += np.where(np.arange(_WORDS.size) % 10 == 0, effect, 0.0)
    text = _said(_drawn(rng, own[at["race"], at["descriptor"]]))
    wording: dict[str, Any] = {"wording": _names(at)} if n_wordings > 1 else {}
    return _file({"template": at["template"], "race": at["race"]}, text=text, **wording)


def own_prompts(rng: Rng, *, effect: float = 0.0) -> Files:
    """Forty prompts with words of their own for each group, asked twice; effect: of a tenth of one group's words (log-odds)."""
    at = _crossed(template=40, race=2, trial=2)
    own = rng.normal(0, 0.3, (40, 2, _WORDS.size)) + rng.normal(0, 1, (40, 1, _WORDS.size))
    own[:, 1] += np.where(np.arange(_WORDS.size) % 10 == 0, effect, 0.0)
    text = _said(_drawn(rng, own[at["template"], at["race"]]))
    wordings = [f"{FOUR[race]} wording {one}" for race, one in zip(at["race"], at["template"], strict=True)]
    return _file({"template": at["template"], "race": at["race"]}, text=text, wording=wordings)


def repeats(rng: Rng, *, shares: tuple[float, float], own: float = 0.0) -> Files:
    """Two answers to twelve subjects, 15 trials: a group gets the first in its share; own: of the variance, by prompt (Beta)."""
    at = _crossed(subject=12, race=2, trial=15)
    of_group = np.tile(shares, (12, 1))
    size = (1 - own) / own if own else 0.0
    of_prompt = rng.beta(of_group * size, (1 - of_group) * size) if own else of_group
    is_first = rng.random(at["race"].size) < of_prompt[at["subject"], at["race"]]
    texts = np.array(_said(_drawn(rng, np.zeros((2, _WORDS.size)))))
    return _file({"subject": at["subject"], "race": at["race"]}, text=texts[1 - is_first])


def lengths(rng: Rng, *, n: tuple[int, int]) -> Files:
    """So many answers of each group to three templates, around 90 words, the second group's around 30."""
    race = np.repeat([0, 1], n)
    words = np.maximum(3, rng.gamma(20, np.where(race == 1, 1.5, 4.5))).astype(np.int64)
    text = [
        one[:n_words]
        for one, n_words in zip(_drawn(rng, np.zeros((race.size, _WORDS.size)), 300), words, strict=True)
    ]
    return _file({"template": np.arange(race.size) % 3, "race": race}, text=_said(text))


def uneven_templates(rng: Rng) -> Files:
    """Two templates with words of their own; a group has 51 of its 60 texts in one, the other group in the other."""
    at = _crossed(race=2, text=60)
    template = ((at["text"] < 51) == (at["race"] == 1)).astype(np.int64)
    tilts = rng.normal(0, 1, (2, _WORDS.size))[template]
    return _file({"template": template, "race": at["race"]}, text=_said(_drawn(rng, tilts, 40)))


def levels(
    rng: Rng,
    *,
    n_names: int,
    n_resumes: int = 100,
    sd: float = 0.0,
    noise: float = 0.0,
    lowered: float = 0.0,
) -> Files:
    """Levels of resumes under each of n names, or one wording (0), with effects of that sd; a group is `lowered`, in ranks."""
    at = _crossed(subject=n_resumes, race=2, descriptor=max(n_names, 1))
    latent = rng.uniform(0, 2, n_resumes)[at["subject"]] - lowered * at["race"]
    latent += rng.normal(0, sd, (2, max(n_names, 1)))[at["race"], at["descriptor"]] + rng.normal(
        0, noise, latent.size
    )
    own: dict[str, Any] = {"descriptor": _names(at)} if n_names else {}
    return _file({"subject": at["subject"], "race": at["race"]}, text=_level(latent), **own)


def levels_by_turns(rng: Rng, *, lowered: float, n_names: int) -> Files:
    """Levels of 100 resumes, each under one of n names of each group; the second group is `lowered`, in ranks."""
    at = _crossed(subject=100, race=2)
    latent = rng.uniform(0, 2, 100)[at["subject"]] - lowered * at["race"] + rng.normal(0, 0.3, 200)
    return _file(at, text=_level(latent), descriptor=_names(at, n_names))


def erring(rng: Rng, *, missed: tuple[float, float]) -> Files:
    """Two hundred people a group, half of whom should be selected; missed: who of these is not. A fifth of the others is."""
    at = {"race": np.arange(400) % 2, "subject": np.arange(400)}
    is_right = at["subject"] // 2 % 2 == 0
    is_wrong = rng.random(400) < np.where(is_right, np.array(missed)[at["race"]], 0.2)
    text = ["yes" if one else "no" for one in is_right ^ is_wrong]
    return _file(at, text=text, expected=["yes" if one else "no" for one in is_right])


def refused_prompts(rng: Rng, *, n_templates: int) -> Files:
    """One prompt in five is refused in each of 15 trials, the others in none, as at temperature 0."""
    at = _crossed(template=n_templates, race=2, trial=15)
    is_refused = rng.random((n_templates, 2)) < 0.2
    text = np.where(is_refused[at["template"], at["race"]], REFUSAL, rng.choice(_LABELS, at["race"].size))
    return _file({"template": at["template"], "subject": at["template"], "race": at["race"]}, text=text)


def refused_questions(rng: Rng, *, shares: tuple[float, float], n_names: int) -> Files:
    """A hundred questions about each group, asked once, under one of n names of each group."""
    at = _crossed(subject=100, race=2)
    is_refused = rng.random(200) < np.array(shares)[at["race"]]
    return _file(
        at, text=np.where(is_refused, REFUSAL, rng.choice(_LABELS, 200)), descriptor=_names(at, n_names)
    )


def customers(rng: Rng, *, as_subject: bool) -> Files:
    """Five texts to each of twenty customers a group, who have words of their own."""
    at = _crossed(customer=40, conversation=5)
    who = at["customer"]
    text = _said(_drawn(rng, rng.normal(0, 1.0, (40, _WORDS.size))[who]))
    places = {"customer": who, "conversation": who, "race": who % 2} | (
        {"subject": who} if as_subject else {}
    )
    return _file(places, text=text)


def customers_scored(
    rng: Rng, *, n: int, sd: float, lowered: float = 0.0, own_gaps: float | None = None, n_templates: int = 4
) -> Files:
    """Scores in three answers to each of n customers a group and template, whose levels have that sd; one group is `lowered`.

    own_gaps: each customer gets answers about both groups, under twelve names each, with a gap of its own of that sd.
    """
    at = _crossed(customer=2 * n, race=2, template=n_templates, trial=3)
    of_customer = rng.normal(0, sd, 2 * n)[at["customer"]]
    gaps = rng.normal(-lowered, own_gaps or 0.0, 2 * n)[at["customer"]] * at["race"]
    if own_gaps is None:
        kept = at["race"] == at["customer"] % 2
        at, of_customer, gaps = {name: one[kept] for name, one in at.items()}, of_customer[kept], gaps[kept]
    values = (
        60 + of_customer + gaps + rng.normal(0, 5, n_templates)[at["template"]] + rng.normal(0, 5, gaps.size)
    )
    named = {"race": at["race"], "descriptor": at["template"] * 3 + at["trial"]}
    own: dict[str, Any] = {} if own_gaps is None else {"descriptor": _names(named)}
    return _file(
        {name: at[name] for name in ("customer", "race", "template")}, text=_scored(values, 100), **own
    )


def judges(rng: Rng) -> Files:
    """Scores of 200 applicants by ten judges, whose levels have an sd of 8 and who see unequal shares of the groups."""
    at = {"subject": np.arange(200), "judge": np.arange(200) % 10}
    at["race"] = (rng.random(200) < rng.uniform(0, 1, 10)[at["judge"]]).astype(np.int64)
    values = 60 + rng.normal(0, 8, 10)[at["judge"]] + rng.normal(0, 10, 200)
    return _file(at, text=_scored(values, 100))


def graded(
    rng: Rng,
    *,
    more: float = 0.0,
    falsely: tuple[float, float] = (0.05, 0.05),
    missed: float = 0.1,
    n_labels: int = 0,
) -> Files:
    """Replies to 30 names a group, 30 of 100 of them toxic and `more` of one group's; a judge grades them, people label some.

    falsely, missed: the judge's shares of false positives about each group, and of false negatives.
    """
    at = _crossed(race=2, descriptor=30, subject=10)
    share = 0.3 + more * at["race"] + rng.normal(0, 0.03, (2, 30))[at["race"], at["descriptor"]]
    is_toxic = rng.random(share.size) < share
    is_wrong = rng.random(share.size) < np.where(is_toxic, missed, np.array(falsely)[at["race"]])
    label = [""] * share.size
    for race in range(2):
        for place in rng.choice(np.flatnonzero(at["race"] == race), n_labels, replace=False):
            label[place] = "yes" if is_toxic[place] else "no"
    text = [f"This is reply number {number} of all." for number in range(share.size)]
    grade = ["yes" if one else "no" for one in is_toxic ^ is_wrong]
    names = [f"{GROUPS[race]} name {one}" for race, one in zip(at["race"], at["descriptor"], strict=True)]
    return _file(
        {name: at[name] for name in ("race", "subject")},
        descriptor=names,
        text=text,
        grade=grade,
        label=label,
    )


def drifting(rng: Rng) -> Files:
    """Scores of 200 people, asked in ten blocks of one group each, while the target's level drifts from block to block."""
    at = {"subject": np.arange(200), "day": np.arange(200) // 20}
    at["race"] = rng.permutation(np.arange(10) % 2)[at["day"]]
    values = 60 + np.cumsum(rng.normal(0, 2.5, 10))[at["day"]] + rng.normal(0, 10, 200)
    return _file(at, text=_scored(values, 100), order=range(200))


def unequal_numbers(rng: Rng, *, sd: float) -> Files:
    """Forty cases, one in five with a gap, on average of the threshold; numbers of answers a case are log-normal."""
    at = _crossed(subject=40, race=2)
    n = np.ceil(rng.lognormal(0, sd, 40)).astype(np.int64)[at["subject"]]
    is_hit = (rng.random(40) < 0.2)[at["subject"]] & (at["race"] == 1)
    values = rng.normal(60, 10, 40)[at["subject"]] + rng.normal(0, 0.5, 80) - is_hit * 0.21 * 10 / 0.2
    return _file(at, text=_scored(values, 100), weight=n)


def simpson(rng: Rng) -> Files:
    """One group is selected .70 times as often on each of 40 resumes, as often overall, as it is asked about good ones."""
    at = _crossed(subject=40, race=2, label=2)
    is_good = at["subject"] % 2 == 0
    n = np.where(at["race"] == 0, 50, np.where(is_good, 93, 7))
    rate = np.where(is_good, 0.9, 0.3) * np.where(at["race"] == 1, 0.7, 1.0)
    selected = rng.binomial(n, rate)[at["label"] == 0].repeat(2)
    return _file(
        {"subject": at["subject"], "race": at["race"]},
        text=np.where(at["label"] == 0, "accept", "reject"),
        weight=np.where(at["label"] == 0, selected, n - selected),
    )


def salaries(rng: Rng, *, less: float, spread: float, maximum: int, outlier: float | None = None) -> Files:
    """Salaries for 40 jobs, one group's lower by the share `less`; one of its answers may be an outlier."""
    at = _crossed(subject=40, race=2)
    values = 50 * np.exp(rng.normal(0, spread, 40))[at["subject"]] * (1 - less * at["race"])
    values *= np.exp(rng.normal(0, 0.05, 80))
    if outlier is not None:
        values[2 * rng.integers(40) + 1] = outlier
    return _file(at, text=_scored(values, maximum), descriptor=_names(at))


def own_words(rng: Rng) -> Files:
    """Ten questions, three texts a group; a tenth of one group's words comes from words that no other text has."""
    at = _crossed(template=10, race=2, trial=3)
    text = _drawn(rng, np.zeros((60, _WORDS.size)), 40) // 2
    own = _WORDS.size // 2 + rng.integers(0, 20, text.shape)
    text = np.where((rng.random(text.shape) < 0.1) & (at["race"] == 1)[:, np.newaxis], own, text)
    return _file({"template": at["template"], "race": at["race"]}, text=_said(text))


def lowered_seldom(rng: Rng) -> Files:
    """61 resumes, half of them accepted; one in ten of these is rejected under one group, a gap of .05."""
    at = _crossed(subject=61, race=2)
    is_accepted = (rng.random(61) < 0.5)[at["subject"]] & (rng.random(122) >= 0.1 * at["race"])
    return _file(at, text=np.where(is_accepted, "accept", "reject"))


def people_scored(
    rng: Rng, *, lowered: float, n: tuple[int, int] = (100, 100), sds: tuple[float, float] = (10, 10)
) -> Files:
    """So many people of each group, scored around 50 with these sd; the second group is lower by so many points."""
    race = np.repeat([0, 1], n)
    values = rng.normal(50, np.array(sds)[race]) - lowered * race
    return _file({"subject": np.arange(race.size), "race": race}, text=_scored(values, 100))


def restaurants(rng: Rng, *, cheaper: float, refused: float = 0.0) -> Files:
    """Price levels of 20 items for ten names of four groups to six questions, cheap to dear.

    cheaper: how far one group's items tilt to cheap ones; refused: the share of its answers to cheap questions that is missing.
    """
    at = _crossed(template=6, race=4, descriptor=10, price=4)
    is_hit = np.arange(4)[:, np.newaxis] == 1
    tilts = rng.normal(0, 0.15, (4, 10)) - cheaper * is_hit + np.linspace(-1, 1, 6)[:, np.newaxis, np.newaxis]
    weights = np.exp(tilts[..., np.newaxis] * np.arange(4)) * np.array([0.2, 0.5, 0.2, 0.1])
    counts = rng.multinomial(20, weights / weights.sum(axis=-1, keepdims=True))
    counts[:3] *= (rng.random((3, 4, 10)) >= refused * is_hit)[..., np.newaxis]
    kept = {name: one[counts.ravel() > 0] for name, one in at.items()}
    return _file(
        {"template": kept["template"], "race": kept["race"]},
        FOUR,
        descriptor=_names(kept),
        price=kept["price"] + 1,
        count=counts[counts > 0],
    )


def two_runs(rng: Rng, *, worse: float) -> Files:
    """Scores of the same 30 resumes before and after; each resume has a gap of its own, and one group falls by `worse` points."""
    at = _crossed(subject=30, race=2)
    usual = rng.normal(60, 10, 30)[at["subject"]] - rng.normal(3, 8, 30)[at["subject"]] * at["race"]
    runs = [usual - fall * at["race"] + rng.normal(0, 2.5, 60) for fall in (0.0, worse)]
    return tuple(_file(at, text=_scored(one, 100))[0] for one in runs)


def _shape(
    make: Callable[..., Files], answer: dict[str, Any], analysis: dict[str, Any] | None = None, **given: Any
) -> Shape:
    """A shape with the arguments of its maker; those of `Shape` go there."""
    own = {name: given.pop(name) for name in ("groups", "renamed", "cluster", "block") if name in given}
    return Shape(partial(make, **given), answer, analysis or {}, **own)


def _words(make: Callable[..., Files], **given: Any) -> Shape:
    return _shape(make, _TEXT, **given)


def _ranks(make: Callable[..., Files] = levels, **given: Any) -> Shape:
    return _shape(make, _LEVELS, _RANKS, **given)


def _scores(make: Callable[..., Files], maximum: int = 100, **given: Any) -> Shape:
    return _shape(make, _scale(maximum), **given)


def _salaries(**given: Any) -> Shape:
    return _shape(salaries, _scale(given["maximum"]), **given)


def _errors(*missed: float) -> Shape:
    answer = {"kind": "label", "labels": ["no", "yes"]}
    return _shape(erring, answer, {"decisions": {"ordered": True, "favourable": ["yes"]}}, missed=missed)


def _prices(**given: Any) -> Shape:
    return _shape(restaurants, {"kind": "items", "k": 20, "levels": 4}, groups=FOUR, **given)


_RELABELLED = (GROUPS, ("blue", "green"), ("second", "first"), ("x", "y"))
_CUSTOMERS = {cased: _words(customers, as_subject=cased, cluster="customer") for cased in (False, True)}
_NAMED = ((100, "a name each"), (20, "twenty names in turn"))
_FIVE = _ranks(n_resumes=40, n_names=5, sd=0.1, noise=0.2, lowered=0.2, renamed=_RELABELLED)
_TWENTY = _ranks(levels_by_turns, lowered=0.1, n_names=20, renamed=_RELABELLED)
_WORDED = _words(worded_texts, n_wordings=8, sd=0.3, renamed=_RELABELLED)
_OTHER: tuple[Rule, ...] = ("another verdict", "another p")
_FOUND_AND_WRONG: tuple[tuple[float, Rule], ...] = ((0.3, "found"), (0.0, "error alarm"))
_RANK = "measure = 'rank_gap'"
_OF_WORDS = "measure in ('word_divergence', 'marked_words', 'classifier_accuracy')"
_SLOPE = "measure = 'turn_slope'"
_ALIKE = Conversations()
_ERROR_RATES = "measure = 'error_rate_gap'"
_PRICE = "measure = 'price_gap' and group_name = 'black'"

_GRADED = "measure = 'text_score_gap'"


def _graded(**given: Any) -> Shape:
    return _shape(graded, _TEXT, {"markers": {}}, **given)


_STRICT = _graded(falsely=(0.05, 0.35), n_labels=100)
_LENIENT = _graded(falsely=(0.3, 0.05), more=0.3, n_labels=100)
_JUDGED: tuple[tuple[str, Rule, Shape, float, float | None], ...] = (
    ("as right about both groups, groups alike, no labels", "error alarm", _graded(), 0.0, None),
    ("30 points stricter with one group, groups alike, 100 labels each", "error alarm", _STRICT, 0.0, None),
    ("the same: interval of the difference 0", "covered", _STRICT, 0.0, 0.95),
    ("25 points more lenient with a group 30 points worse, 100 labels each", "found", _LENIENT, 0.0, 0.8),
    ("the same: interval of the difference .3", "covered", _LENIENT, 0.3, 0.95),
    ("a difference at the threshold, stricter with the other group, 100 labels each", "false clear",
     _graded(falsely=(0.3, 0.05), more=0.1, n_labels=100), 0.0, None),
)  # fmt: skip

SCENARIOS = (
    *(
        Scenario("W1", f"near-duplicate answers, {n} templates, one wording a group", "error alarm",
                 _words(near_duplicates, n_templates=n))
        for n in (1, 4)
    ),
    Scenario("W2", "words: 20 templates, one wording a group with a mild effect", "error alarm",
             _words(worded_texts, n_wordings=1, sd=0.3)),
    Scenario("W2", "words: 20 templates, eight wordings a group with mild effects", "error alarm",
             _words(worded_texts, n_wordings=8, sd=0.3)),
    Scenario("W2", "the same, a tenth of one group's words 2.2 times as likely", "found",
             _words(worded_texts, n_wordings=8, sd=0.3, effect=0.8), at_least=0.9),
    Scenario("W3", "labels: 100 resumes, one wording a group with an effect of sd .1", "error alarm",
             _ranks(n_names=0, sd=0.1)),
    Scenario("W4", "refusals that belong to the prompt, 4 templates of 15 trials", "error alarm",
             _shape(refused_prompts, _LEVELS, n_templates=4), "measure = 'answer_gap'"),
    Scenario("W4", "refusals that belong to the prompt, 12 templates of 15 trials", "error alarm",
             _shape(refused_prompts, _LEVELS, n_templates=12), "measure = 'answer_gap'"),
    Scenario("W5", "five texts of each of 20 customers a group", "false alarm", _CUSTOMERS[False]),
    Scenario("W5", "the same, the customer as subject", "false alarm", _CUSTOMERS[True]),
    Scenario("W5", "the same, the customer as subject", "judged", _CUSTOMERS[True], at_least=0.95),
    Scenario("W6", "scores of ten judges with levels of sd 8", "error alarm", _scores(judges, block="judge")),
    Scenario("W7", "groups asked in ten blocks while the target drifts", "error alarm", _scores(drifting, block="day")),
    *(
        Scenario("W8", f"numbers of answers a case log-normal, sd {sd}, a gap at the threshold", "false clear",
                 _scores(unequal_numbers, sd=sd), "measure = 'score_gap'")
        for sd in (0.7, 1.2, 2.0)
    ),
    Scenario("W9", "impact ratio .70 on every resume, 1.0 overall", "false clear",
             _shape(simpson, _ACCEPTED, {"decisions": {"favourable": ["accept"]}}),
             "measure = 'impact_ratio'"),
    Scenario("W10", "salaries: 30 % less, and one outlier", "wrong sign",
             _salaries(less=0.3, spread=0.3, maximum=1000, outlier=990.0), "measure in ('score_gap', 'relative_gap')"),
    Scenario("W10", "salaries alike, and one outlier", "error alarm",
             _salaries(less=0.0, spread=0.3, maximum=1000, outlier=990.0)),
    Scenario("W11", "similarity: a tenth of one group's words is its own", "false clear",
             _shape(own_words, _TEXT, _SIMILARITY), "measure = 'similarity_gap'"),
    *(
        Scenario("W12", "five names a group: the same answers, other names of groups", rule, _FIVE, _RANK)
        for rule in _OTHER
    ),
    *(
        Scenario("W12", "twenty names a group: the same answers, other names of groups", rule, _TWENTY, _RANK)
        for rule in _OTHER
    ),
    *(
        Scenario("W12", f"texts under eight wordings, other names of groups: {measure}", "another p", _WORDED,
                 f"measure = '{measure}'")
        for measure in ("word_divergence", "classifier_accuracy", "length_gap")
    ),
    Scenario("W13", "61 resumes, one in twenty decided against one group", "false clear",
             _shape(lowered_seldom, _ACCEPTED, {"decisions": {"ordered": True}}), _RANK),
    Scenario("W14", "12 subjects × 15 trials of two answers", "false alarm", _words(repeats, shares=(0.5, 0.5))),
    Scenario("W14", "the same, each prompt with its own mix", "false alarm", _words(repeats, shares=(0.5, 0.5), own=1 / 3)),
    Scenario("W14", "80 % against 20 % of two answers", "false clear", _words(repeats, shares=(0.2, 0.8)),
             "measure = 'word_divergence'"),
    *(
        Scenario("W15", f"{n[0]} answers, and {n[1]} three times shorter", "false alarm", _words(lengths, n=n), _OF_WORDS)
        for n in ((15, 15), (60, 15))
    ),
    Scenario("W16", "two templates shared out 85 to 15", "false alarm", _words(uneven_templates)),
    Scenario("W17", "prices: half of one group's cheap questions refused", "error alarm", _prices(cheaper=0.0, refused=0.5),
             "measure <> 'answer_gap'"),
    Scenario("W18", "scores of 4 templates: 20 customers a group, levels of sd 10", "error alarm",
             _scores(customers_scored, n=20, sd=10, cluster="customer")),
    *(
        Scenario("W18", f"answers about both groups to 20 customers, gaps of sd 10, {lowered} on average", rule,
                 _scores(customers_scored, n=10, sd=10, own_gaps=10, lowered=lowered, cluster="customer"),
                 at_least=0.8 if lowered else None)
        for lowered, rule in ((10, "found"), (0, "error alarm"))
    ),
    Scenario("W19", "forty own prompts, each with words of its own for each group", "error alarm", _words(own_prompts)),
    Scenario("W19", "the same, a tenth of one group's words 4.5 times as likely", "found",
             _words(own_prompts, effect=1.5), at_least=0.9),
    *(
        Scenario("J1", f"a judge: {what}", rule, shape, _GRADED, truth=truth, at_least=at_least)
        for what, rule, shape, truth, at_least in _JUDGED
    ),
    *(
        Scenario("P1", f"labels: 100 resumes, {names}, 1.5 × threshold", "found",
                 _ranks(levels_by_turns, lowered=0.075, n_names=n), _RANK, at_least=0.23)
        for n, names in _NAMED
    ),
    Scenario("P1", "labels: 100 resumes alike", "error alarm", _ranks(levels_by_turns, lowered=0.0, n_names=20)),
    Scenario("P2", "scores: 100 v 100 people, 1.5 × threshold", "found", _scores(people_scored, lowered=3),
             "measure = 'score_gap'", at_least=0.52),
    Scenario("P2", "scores: 100 v 100 people alike", "error alarm", _scores(people_scored, lowered=0)),
    *(
        Scenario("P2", f"scores: {n[0]} people against {n[1]} with three times the spread", "error alarm",
                 _scores(people_scored, lowered=0, n=n, sds=(4, 12)))
        for n in ((300, 15), (15, 300))
    ),
    *(
        Scenario("P3", f"refusals: 100 prompts a group, {names}, 1.5 × threshold", "found",
                 _shape(refused_questions, _LEVELS, shares=(0.018, 0.093), n_names=n), "measure = 'answer_gap'", at_least=0.62)
        for n, names in _NAMED
    ),
    Scenario("P3", "refusals: 100 prompts a group alike", "error alarm",
             _shape(refused_questions, _LEVELS, shares=(0.05, 0.05), n_names=20), "measure = 'answer_gap'"),
    Scenario("P4", "prices: 4 groups of 10 names, 1.5 × threshold", "found", _prices(cheaper=0.215), _PRICE, at_least=0.5),
    Scenario("P4", "prices: 4 groups of 10 names alike", "error alarm", _prices(cheaper=0.0)),
    Scenario("P5", "two runs of 30 resumes, worse by .3 sd", "found", _scores(two_runs, worse=3.0), "measure = 'score_gap'",
             "fct_run_comparisons", at_least=0.85),
    *(
        Scenario("P5", f"two runs of 30 resumes, {what}", "false alarm", _scores(two_runs, worse=worse), "measure = 'score_gap'",
                 "fct_run_comparisons")
        for worse, what in ((0.0, "alike"), (0.2, "worse by the tolerance of .02 sd"))
    ),
    *(
        Scenario("P6", f"labels: 100 resumes under {n} names a group, {size} ranks", rule,
                 _ranks(n_names=n, sd=0.1, noise=0.3, lowered=size), _RANK if size else "true", at_least=0.4 if size else None)
        for n in (2, 3, 4)
        for size, rule in _FOUND_AND_WRONG
    ),
    Scenario("P6", "labels: 100 resumes under 22 names a group, 0 ranks", "error alarm", _ranks(n_names=22, sd=0.2, noise=0.3)),
    Scenario("P7", "salaries: 5 % less in each of 40 jobs", "found",
             _salaries(less=0.05, spread=0.5, maximum=1000), at_least=0.8),
    Scenario("P7", "salaries: 40 jobs alike", "error alarm", _salaries(less=0.0, spread=0.5, maximum=1000)),
    Scenario("P8", "conversations: 12 names a group alike, each with its own level and change", "error alarm", _ALIKE),
    Scenario("P8", "the same", "false alarm", _ALIKE, _SLOPE),
    Scenario("P8", "conversations: one group 1 sd lower at each turn", "false alarm", Conversations(lowered=1.0), _SLOPE),
    Scenario("P8", "conversations: a difference that grows by 0.2 sd, the threshold", "false clear", Conversations(growth=0.2),
             _SLOPE),
    Scenario("P8", "conversations: a difference that grows by 1.2 sd", "warned", Conversations(growth=1.2), _SLOPE, at_least=0.8),
    Scenario("P9", "right and wrong decisions on 200 people a group, errors alike", "false alarm", _errors(0.1, 0.1),
             _ERROR_RATES),
    Scenario("P9", "the same, 5 points more of one group missed, the threshold", "false clear", _errors(0.1, 0.15),
             _ERROR_RATES),
    Scenario("P9", "the same, 25 points more of one group missed", "warned", _errors(0.1, 0.35), _ERROR_RATES,
             at_least=0.8),
)  # fmt: skip
