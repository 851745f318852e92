"""What a collection would ask, take and cost, without asking anybody or writing anything."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from collector.asking.costs import Price, TemplateEstimate, answer_limit, estimate_run, price_for

if TYPE_CHECKING:
    from collector.spec.audit import Audit
    from collector.targets.base import Target

# An answer of each kind, in tokens: measured on none, and meant for the order of magnitude only. A product's description or a
# free text of some 300 words; an item of a list with its name, its price and its categories; a word.
_TEXT_TOKENS = 400
_LIST_ITEM_TOKENS = 12
_PRICED_ITEM_TOKENS = 40
_CANDIDATE_TOKENS = 8
_WORD_TOKENS = 5
_FRAME_TOKENS = 10


@dataclass(frozen=True, slots=True)
class DryRun:
    """What asking a target would take.

    Attributes:
        target, model: whom it would ask.
        templates: the estimate of each template.
        answer_tokens: what an answer is taken to have.
        answer_limit: the longest answer that the target's parameters allow; None if they name none.
        price: None where it is not known.
    """

    target: str
    model: str
    templates: Sequence[TemplateEstimate]
    answer_tokens: int
    answer_limit: int | None
    price: Price | None

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
    variants: Sequence[str] = (),
    parts: Sequence[str] = (),
    trials: int | None = None,
    batch: bool = False,
) -> DryRun:
    """Work out what `collect` with the same arguments would ask.

    Raises:
        InputError: an unknown variant or part, a spec without templates, fewer than one trial.
    """
    from collector.spec.prompts import build_prompts

    if trials is not None:
        audit = audit.with_trials(trials)
    prompts = build_prompts(audit, variants, parts)
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
    )


def _answer_tokens(audit: Audit) -> int:
    """Return what an answer of the kind expected has, roughly."""
    answer = audit.answer
    if answer.kind in ("list", "items"):
        each = _LIST_ITEM_TOKENS if answer.kind == "list" else _PRICED_ITEM_TOKENS
        return _FRAME_TOKENS + each * (answer.k or 1)
    if answer.kind == "ranking":
        return _FRAME_TOKENS + _CANDIDATE_TOKENS * audit.n_candidates
    return _WORD_TOKENS if answer.kind in ("label", "score") else _TEXT_TOKENS
