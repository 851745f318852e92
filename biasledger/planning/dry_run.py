"""Estimate the requests, time and cost of a collection without asking a model or writing a file."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from biasledger.measures.detectable import detectable_effect
from biasledger.project import settings_file
from collector.asking.costs import Price, TemplateEstimate, answer_limit, estimate_run, price_for
from collector.errors import LedgerError
from collector.spec.parts import PLAIN
from collector.tables.rows import read_rows

if TYPE_CHECKING:
    from collector.spec.audit import Audit
    from collector.spec.prompts import Prompt
    from collector.targets.base import Target

# An answer of each kind, in tokens: measured on none, and meant for the order of magnitude only. A product's description or a
# free text of some 300 words; an item of a list with its name, its price and its categories; a word.
_TEXT_TOKENS = 400
_LIST_ITEM_TOKENS = 12
_PRICED_ITEM_TOKENS = 40
_CANDIDATE_TOKENS = 8
_WORD_TOKENS = 5
_FRAME_TOKENS = 10
ALPHA = 0.05
"""The largest probability of a false alarm over all contrasts together, as in seeds/thresholds.csv when it is laid out."""
# With fewer units, smaller ones are permuted instead (docs/methods.md, what moves).
_FEWEST_UNITS = 5
OTHERS = "(others)"
_SECONDS_A_MINUTE = 60
# The measure whose minimum a kind of answer has to reach, and what it counts.
_JUDGED_BY = {
    "label": ("rank_gap", "subjects"),
    "score": ("score_gap", "subjects"),
    "list": ("snsr", "subjects"),
    "text": ("word_divergence", "prompts"),
    "json_object": ("word_divergence", "prompts"),
}


@dataclass(frozen=True, slots=True)
class Shortfall:
    """Too few units in a design: every finding of `measure` would be insufficient data.

    Attributes:
        measure: the measure that judges this kind of answer.
        unit: the unit that it counts, in the plural.
        n, minimum: how many the design has, and how many are needed (seeds/thresholds.csv, min_units).
    """

    measure: str
    unit: str
    n: int
    minimum: int

    def __str__(self) -> str:
        unit = self.unit if self.n != 1 else self.unit.removesuffix("s")
        return f"{self.n} {unit}, and {self.measure} needs {self.minimum}: add {self.unit}"


@dataclass(frozen=True, slots=True)
class Contrast:
    """The smallest difference between a group and its reference that could be found.

    Attributes:
        attribute, group, reference: what is compared; without a reference, with the other groups together.
        unit: what is counted and moved: prompts, names or wordings, or answers.
        n_group, n_reference: how many of them there are.
        effect: the smallest difference in standard deviations of a unit's value; None where no p can be small enough.
        shortfall: what the design has too few of for any verdict; None where it has enough.
    """

    attribute: str
    group: str
    reference: str
    unit: str
    n_group: int
    n_reference: int
    effect: float | None
    shortfall: Shortfall | None = None


@dataclass(frozen=True, slots=True)
class DryRun:
    """The estimate of asking a target.

    Attributes:
        target, model: the target and its model.
        templates: the estimate of each template.
        answer_tokens: the assumed length of an answer.
        answer_limit: the longest answer that the target's parameters allow; None if they name none.
        price: None if it is not known.
        contrasts: the detectable effects; none for rankings, where these depend on the candidates.
        samples: name of the sample -> some of the prompts, as they will be sent.
        parameters: what is sent along with each prompt; empty for a simulator.
        concurrency, requests_per_minute, tokens_per_minute: as in the target.
        answer_seconds: the median time of the target's answers in the ledger; None if there are none.
        is_batch: whether it would be asked in batches.
    """

    target: str
    model: str
    templates: Sequence[TemplateEstimate]
    answer_tokens: int
    answer_limit: int | None
    price: Price | None
    contrasts: Sequence[Contrast]
    samples: Mapping[str, Sequence[Prompt]]
    parameters: Mapping[str, object]
    concurrency: int
    requests_per_minute: float | None
    tokens_per_minute: float | None
    answer_seconds: float | None
    is_batch: bool

    @property
    def total(self) -> TemplateEstimate:
        """All templates together, called total."""
        return TemplateEstimate(
            template="total",
            n_prompts=sum(one.n_prompts for one in self.templates),
            n_calls=sum(one.n_calls for one in self.templates),
            prompt_tokens=sum(one.prompt_tokens for one in self.templates),
            completion_tokens=sum(one.completion_tokens for one in self.templates),
            cost_usd=None if self.price is None else sum(one.cost_usd or 0.0 for one in self.templates),
        )

    @property
    def least_seconds(self) -> float:
        """Return the shortest duration under the target's limits."""
        total = self.total
        capped = (
            (total.n_calls, self.requests_per_minute),
            (total.prompt_tokens + total.completion_tokens, self.tokens_per_minute),
        )
        return max(_SECONDS_A_MINUTE * n / cap if cap else 0.0 for n, cap in capped)

    def seconds(self, answer_seconds: float) -> float:
        """Return how long it takes where each answer takes so long."""
        return max(self.least_seconds, self.total.n_calls * answer_seconds / self.concurrency)

    @property
    def most_usd(self) -> float | None:
        """The cost if every answer were as long as the parameters allow; None where these or the price name no limit."""
        if self.price is None or self.answer_limit is None:
            return None
        return self.price.cost(self.total.prompt_tokens, self.total.n_calls * self.answer_limit)


def dry_run(
    audit: Audit,
    target: Target,
    prices: Sequence[Price],
    *,
    mitigations: Sequence[str] = (),
    parts: Sequence[str] = (),
    trials: int | None = None,
    batch: bool = False,
    n_shown: int = 0,
    ledger: Path | None = None,
) -> DryRun:
    """Work out what `collect` with the same arguments would ask.

    Args:
        audit, target, mitigations, parts, trials, batch: as in `collect`.
        prices: of models.
        n_shown: prompts to sample for each group.
        ledger: where earlier answers of the target may be.

    Raises:
        InputError: an unknown mitigation or part, a spec without templates, fewer than one trial.
    """
    from collector.spec.prompts import build_prompts

    if trials is not None:
        audit = audit.with_trials(trials)
    prompts = build_prompts(audit, mitigations, parts)
    limit = answer_limit(target.parameters)
    expected = _answer_tokens(audit)
    tokens = expected if limit is None else min(limit, expected)
    price = price_for(target, prices)
    if batch and price is not None:
        price = price.in_batches()
    return DryRun(
        target=target.name,
        model=target.model,
        templates=estimate_run(
            prompts, [audit.trials_of(prompt.template) for prompt in prompts], tokens, price
        ),
        answer_tokens=tokens,
        answer_limit=limit,
        price=price,
        contrasts=contrasts(audit, prompts),
        samples=_samples(prompts, n_shown),
        parameters={} if target.is_simulated else target.parameters,
        concurrency=target.concurrency,
        requests_per_minute=target.requests_per_minute,
        tokens_per_minute=target.tokens_per_minute,
        answer_seconds=_answer_seconds(ledger, target.name),
        is_batch=batch,
    )


def _samples(prompts: Sequence[Prompt], n: int) -> dict[str, list[Prompt]]:
    """Return n prompts about each group, at the same places of each group's."""
    found: dict[tuple[str, str, str], list[Prompt]] = defaultdict(list)
    for prompt in prompts if n else ():
        named = dict.fromkeys((one.attribute, one.group_name) for one in prompt.attributes)
        for attribute, group in named or [("", "nobody")]:
            found[prompt.mitigation, attribute, group].append(prompt)
    mitigations, attributes = ([key[place] for key in found] for place in (0, 1))
    ordered = sorted(
        found.items(), key=lambda item: (mitigations.index(item[0][0]), attributes.index(item[0][1]))
    )
    return {
        f"About {f'{attribute} {group}'.strip()}{'' if name == PLAIN else f', with {name}'} ({len(some):,} prompts)": (
            [some[place * len(some) // n] for place in range(n)] if len(some) > n else some
        )
        for (name, attribute, group), some in ordered
    }


def _answer_seconds(ledger: Path | None, target: str) -> float | None:
    """Return what half of a target's answers took at most; None where a ledger has none, or cannot be read now."""
    from collector.ledger.database import Ledger

    if ledger is None or not ledger.is_file():
        return None
    with suppress(LedgerError), Ledger(ledger).read(wait_seconds=0) as connection:
        ((milliseconds,),) = connection.execute(
            "select median(latency_ms) from raw.responses inner join raw.runs using (run_id) where target = ?",
            [target],
        ).fetchall()
        return None if milliseconds is None else milliseconds / 1000
    return None


def contrasts(audit: Audit, prompts: Sequence[Prompt]) -> list[Contrast]:
    """Return what could be found about each group; alpha is shared by all contrasts, as Holm's first step does."""
    if audit.answer.kind == "ranking":
        return []
    plain = [prompt for prompt in prompts if prompt.mitigation == PLAIN]
    pairs = [
        (name, group, attribute.reference or OTHERS)
        for name, attribute in audit.attributes.items()
        for group in attribute.groups
        if group != attribute.reference and any(group == _group(prompt, name) for prompt in plain)
    ]
    return [_contrast(audit, plain, *pair, ALPHA / len(pairs)) for pair in pairs]


def design_warnings(audit: Audit) -> list[str]:
    """Return which comparisons an audit's design cannot judge, one sentence for each reason; empty where it can judge all.

    Raises:
        InputError: the settings of the project cannot be read.
    """
    from collector.spec.prompts import build_prompts

    if not audit.templates:
        return []
    by_reason: dict[str, list[str]] = defaultdict(list)
    for one in contrasts(audit, build_prompts(audit)):
        if one.shortfall is not None:
            by_reason[str(one.shortfall)].append(f"{one.group} vs {one.reference}")
    return [
        f"This design cannot judge {', '.join(groups)}: {reason}." for reason, groups in by_reason.items()
    ]


def _shortfall(
    audit: Audit,
    attribute: str,
    n_prompts: int,
    compared: Sequence[Prompt],
    is_group: Callable[[Prompt], bool],
) -> Shortfall | None:
    """Return the kind of unit that a contrast lacks, None if it has enough or if that depends on the answers."""
    measure, unit = _JUDGED_BY.get(audit.answer.kind, (None, ""))
    if measure is None:
        return None
    n = n_prompts
    if unit == "subjects":
        if any(prompt.subject is None for prompt in compared):
            return None
        marked = {(prompt.domain, prompt.subject) for prompt in compared if is_group(prompt)}
        n = len(marked & {(prompt.domain, prompt.subject) for prompt in compared if not is_group(prompt)})
        if n == 0:  # different people are compared, and their number is judged
            return None
    minimum = int(threshold_row(measure, audit.audit, attribute).get("min_units", 0))
    return Shortfall(measure, unit, n, minimum) if n < minimum else None


def threshold_row(measure: str, audit: str, attribute: str) -> dict[str, str]:
    """Return the most specific row of thresholds.csv; empty where there is none."""
    rows = [
        row
        for row in _thresholds(settings_file("thresholds.csv"))
        if row["measure"] == measure and row["audit"] in ("*", audit) and row["attribute"] in ("*", attribute)
    ]
    return max(rows, key=lambda row: (row["audit"] != "*", row["attribute"] != "*"), default={})


@lru_cache(maxsize=1)
def _thresholds(path: Path) -> list[dict[str, str]]:
    return list(read_rows(path, "a row for each threshold", ("measure", "audit", "attribute", "min_units")))


def _contrast(
    audit: Audit, prompts: Sequence[Prompt], attribute: str, group: str, reference: str, alpha: float
) -> Contrast:
    """Return what moving prompts finds, or answers where there are few prompts; nothing where moving names has too few ways."""

    def is_compared(prompt: Prompt) -> bool:
        named = _group(prompt, attribute)
        return named is not None and (reference == OTHERS or named in (group, reference))

    def is_group(prompt: Prompt) -> bool:
        return _group(prompt, attribute) == group

    def others(prompt: Prompt) -> Hashable:
        return tuple(
            (one.slot, one.attribute, one.group_name)
            for one in prompt.attributes
            if one.attribute != attribute
        )

    def question(prompt: Prompt) -> Hashable:
        return (
            prompt.template,
            prompt.language,
            prompt.perturbation,
            prompt.domain,
            prompt.subject,
            others(prompt),
        )

    def descriptor(prompt: Prompt) -> Hashable:
        return next(one.descriptor for one in prompt.attributes if one.attribute == attribute)

    compared = [prompt for prompt in prompts if is_compared(prompt)]
    by_prompt = _units(compared, question, lambda prompt: [prompt.prompt_id], is_group)
    by_name = _units(compared, others, lambda prompt: [descriptor(prompt)], is_group)
    unit, units = "prompts", by_prompt
    if min(_sizes(by_prompt)) < _FEWEST_UNITS:
        unit, units = (
            "answers",
            _units(
                compared,
                question,
                lambda prompt: [(prompt.prompt_id, one) for one in range(audit.trials_of(prompt.template))],
                is_group,
            ),
        )
    effect = _effect(units, alpha)
    # The names of lists do not move: a list's value is a subject's.
    if (
        audit.answer.kind != "list"
        and min(_sizes(by_name)) >= _FEWEST_UNITS
        and _effect(by_name, alpha) is None
    ):
        unit, units, effect = "names or wordings", by_name, None
    shortfall = _shortfall(audit, attribute, min(_sizes(units)), compared, is_group)
    return Contrast(attribute, group, reference, unit, *_sizes(units), effect, shortfall)


_Units = set[tuple[Hashable, Hashable, bool]]
"""Stratum, unit and whether it is the group's."""


def _units(
    prompts: Sequence[Prompt],
    stratum: Callable[[Prompt], Hashable],
    units: Callable[[Prompt], Sequence[Hashable]],
    is_group: Callable[[Prompt], bool],
) -> _Units:
    return {(stratum(one), unit, is_group(one)) for one in prompts for unit in units(one)}


def _effect(units: _Units, alpha: float) -> float | None:
    strata: dict[Hashable, Counter[bool]] = defaultdict(Counter)
    for stratum, _, is_group in units:
        strata[stratum][is_group] += 1
    return detectable_effect([(one[True], one[False]) for one in strata.values()], alpha)


def _sizes(units: _Units) -> tuple[int, int]:
    n = sum(is_group for _, _, is_group in units)
    return n, len(units) - n


def _group(prompt: Prompt, attribute: str) -> str | None:
    return next((one.group_name for one in prompt.attributes if one.attribute == attribute), None)


def _answer_tokens(audit: Audit) -> int:
    """Return the estimated tokens of an answer of the expected kind."""
    answer = audit.answer
    if answer.kind in ("list", "items"):
        each = _LIST_ITEM_TOKENS if answer.kind == "list" else _PRICED_ITEM_TOKENS
        return _FRAME_TOKENS + each * (answer.k or 1)
    if answer.kind == "ranking":
        return _FRAME_TOKENS + _CANDIDATE_TOKENS * audit.n_candidates
    return _WORD_TOKENS if answer.kind in ("label", "score") else _TEXT_TOKENS
