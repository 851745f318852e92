"""The cost of asking: tokens, the list price of a model on a day, and a limit on the cost of a run.

Costs are list prices times tokens, in USD; discounts for cached prompts are ignored, so costs are estimated too high.
"""

from __future__ import annotations

import math
import re
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from collector.errors import InputError
from collector.tables.rows import read_rows

if TYPE_CHECKING:
    from collector.spec.prompts import Prompt
    from collector.targets.base import Target

CHARACTERS_PER_TOKEN = 4
# Tokens that a chat adds around each message: its role, its beginning and its end.
TOKENS_AROUND_A_QUESTION = 8
# The expected length of an answer before the first one came, if the target's parameters name no limit.
ASSUMED_ANSWER_TOKENS = 500
# The parameters that limit the length of an answer, in tokens, by service.
ANSWER_LIMITS = ("max_completion_tokens", "max_tokens", "max_output_tokens", "maxOutputTokens", "num_predict")
# A relative error; above it, an amount is not rounded to cents.
_CENTS_SAY_ENOUGH = 0.01
_PRICE_COLUMNS = ("model", "input_usd_per_million", "output_usd_per_million", "from_date", "source")
_MILLION = 1_000_000
# Chinese characters, Japanese kana, Korean syllables and full-width forms: about a token each.
_DENSE = re.compile(
    r"[\u1100-\u11ff\u2e80-\u9fff\ua960-\ua97f\uac00-\ud7ff\uf900-\ufaff\uff00-\uffef\U00020000-\U0003ffff]"
)
# Letters of all other scripts but Latin: about two characters a token.
_HALF_DENSE = re.compile(
    r"[\u0370-\u10ff\u1200-\u1dff\u2c00-\u2dff\ua4d0-\ua95f\ua980-\uabff\ufb1d-\ufdff\ufe70-\ufeff]"
)


def estimate_tokens(text: str) -> int:
    """Return how many tokens a text has, roughly, for any model: right to a third or so, no substitute for a service's count.

    A token is taken to be 4 characters of Latin script, digits, spaces and signs, 2 of other alphabets (Greek, Cyrillic, Arabic,
    Devanagari, …) and 1 of Chinese, Japanese and Korean. An empty text has none, any other at least one.
    """
    dense = len(_DENSE.findall(text))
    half_dense = len(_HALF_DENSE.findall(text))
    rest = len(text) - dense - half_dense
    return math.ceil(dense + half_dense / 2 + rest / CHARACTERS_PER_TOKEN)


@lru_cache(maxsize=1 << 16)  # each is asked many times
def estimate_prompt_tokens(prompt_text: str | None, system_prompt: str | None) -> int:
    """Estimate a question's tokens, with those that a chat adds."""
    return (
        estimate_tokens(prompt_text or "") + estimate_tokens(system_prompt or "") + TOKENS_AROUND_A_QUESTION
    )


def usd(amount: float) -> str:
    """Return an amount of USD to the cent, or to two digits that count where cents would not say how much it is."""
    digits = 2
    if amount > 0 and abs(round(amount, 2) - amount) > _CENTS_SAY_ENOUGH * amount:
        digits = max(2, 1 - math.floor(math.log10(amount)))
    return f"{amount:,.{digits}f}"


def answer_limit(parameters: Mapping[str, Any]) -> int | None:
    """Return the longest answer that a target's parameters allow, in tokens; None where they name no limit."""
    for holder in (parameters, parameters.get("generationConfig"), parameters.get("options")):
        if isinstance(holder, Mapping):
            for name in ANSWER_LIMITS:
                value = holder.get(name)
                if isinstance(value, int) and not isinstance(value, bool) and value > 0:
                    return value
    return None


@dataclass(frozen=True, slots=True)
class Price:
    """The price of a model's tokens from a day on.

    Attributes:
        model: a model's name, or the beginning of several followed by *.
        input_usd, output_usd: USD a million tokens of question and of answer.
        batch_share: the share of that price for questions asked in batches.
        from_date: the first day on which this holds.
        source: where it is stated.
    """

    model: str
    input_usd: float
    output_usd: float
    from_date: date
    source: str
    batch_share: float = 1.0

    def matches(self, model: str) -> bool:
        """Say whether this is the price of a model, or of a family it belongs to; capitals count for nothing."""
        pattern, name = self.model.lower(), model.lower()
        return name.startswith(pattern[:-1]) if self.is_of_a_family else name == pattern

    @property
    def is_of_a_family(self) -> bool:
        """Return whether the name is the beginning of several."""
        return self.model.endswith("*")

    def cost(self, prompt_tokens: float, completion_tokens: float) -> float:
        """Return USD."""
        return (prompt_tokens * self.input_usd + completion_tokens * self.output_usd) / _MILLION

    def in_batches(self) -> Price:
        """Return the price of questions asked in batches."""
        share = self.batch_share
        return replace(
            self, input_usd=share * self.input_usd, output_usd=share * self.output_usd, batch_share=1.0
        )


FREE = Price("*", 0.0, 0.0, date.min, "a simulated answer costs nothing")


def load_prices(path: Path) -> list[Price]:
    """Read a file of prices such as seeds/model_prices.csv.

    Raises:
        InputError: the file cannot be read, or a row is wrong; names row and column.
    """
    return [
        _price(path, number, row)
        for number, row in enumerate(read_rows(path, "a row for each price", _PRICE_COLUMNS), start=1)
    ]


def _price(path: Path, number: int, row: Mapping[str, str]) -> Price:
    where = f"{path}: row {number}"
    if not re.fullmatch(r"[^*]+\*?", row["model"]):
        raise InputError(
            f"{where} has {row['model']!r} as 'model'; it should be a model's name, or the beginning of several followed by *."
        )
    try:
        from_date = date.fromisoformat(row["from_date"])
    except ValueError:
        raise InputError(
            f"{where} has {row['from_date']!r} as 'from_date'; it should be a date such as 2026-06-30."
        ) from None
    if not row["source"]:
        raise InputError(f"{where} has no 'source'; it should say where the price is stated.")
    input_usd, output_usd = (
        _number(where, row, column, lambda usd: 0 <= usd < math.inf, "a number of USD, 0 or more")
        for column in ("input_usd_per_million", "output_usd_per_million")
    )
    batch_share = 1.0
    if row.get("batch_share"):
        expected = "above 0 and at most 1 (0.5 is half the price), or empty"
        batch_share = _number(where, row, "batch_share", lambda share: 0 < share <= 1, expected)
    return Price(row["model"], input_usd, output_usd, from_date, row["source"], batch_share)


def _number(
    where: str, row: Mapping[str, str], column: str, is_right: Callable[[float], bool], expected: str
) -> float:
    try:
        number = float(row[column])
    except ValueError:
        number = math.nan
    if not is_right(number):
        raise InputError(f"{where} has {row[column]!r} as {column!r}; it should be {expected}.")
    return number


def price_of(prices: Iterable[Price], model: str | None, on: date) -> Price | None:
    """Return the price of a model on a day: of its own name, else of the longest family's, the latest; None if not known."""
    valid = [price for price in prices if model and price.matches(model) and price.from_date <= on]
    return max(
        valid,
        key=lambda price: (not price.is_of_a_family, len(price.model), price.from_date),
        default=None,
    )


@dataclass(frozen=True, slots=True)
class TemplateEstimate:
    """The estimate of one template of an audit, or of one turn of a conversation, over all mitigations.

    Attributes:
        template: its id, with the turn in a conversation.
        n_prompts: different prompts; 0 for later turns, which belong to those of the first.
        n_calls: questions: prompts × trials, without those asked again.
        prompt_tokens, completion_tokens: estimated, of all calls together.
        cost_usd: estimated; None where the model's price is not known.
    """

    template: str
    n_prompts: int
    n_calls: int
    prompt_tokens: int
    completion_tokens: int
    cost_usd: float | None


def estimate_run(
    prompts: Sequence[Prompt], n_trials: Sequence[int], answer_tokens: int, price: Price | None
) -> list[TemplateEstimate]:
    """Estimate what asking would take, template by template in the order of the prompts.

    Each turn of a conversation is asked with all that was said before, earlier answers included.

    Args:
        prompts: all prompts of the run.
        n_trials: how often each of them is asked.
        answer_tokens: tokens of one answer.
        price: None where it is not known.
    """
    totals: dict[str, list[int]] = {}
    for prompt, trials in zip(prompts, n_trials, strict=True):
        said = 0
        for place in range(prompt.n_turns):
            turn = prompt.turn(place + 1)
            name = prompt.template if turn is None else f"{prompt.template}, turn {place + 1}"
            total = totals.setdefault(name, [0, 0, 0])
            total[0] += place == 0
            total[1] += trials
            if turn is None:
                tokens = estimate_prompt_tokens(prompt.prompt_text, prompt.system_prompt)
            else:
                said += sum(estimate_tokens(text) for _, text in turn.messages)
                tokens = said + place * answer_tokens + estimate_prompt_tokens(None, prompt.system_prompt)
            total[2] += trials * tokens
    return [
        TemplateEstimate(
            template=template,
            n_prompts=n_prompts,
            n_calls=n_calls,
            prompt_tokens=tokens,
            completion_tokens=n_calls * answer_tokens,
            cost_usd=None if price is None else price.cost(tokens, n_calls * answer_tokens),
        )
        for template, (n_prompts, n_calls, tokens) in totals.items()
    ]


def price_for(target: Target, prices: Iterable[Price]) -> Price | None:
    """Return the price of a target's answers today: nothing if they are simulated, None if unknown."""
    return FREE if target.is_simulated else price_of(prices, target.model, datetime.now(UTC).date())


def meter_for(target: Target, prices: Iterable[Price], max_cost_usd: float | None = None) -> CostMeter:
    """Return the meter of a run that asks a target from today on.

    Raises:
        InputError: there is a limit, and what the target's model costs is not known.
    """
    price = price_for(target, prices)
    if price is None and max_cost_usd is not None:
        raise InputError(
            f"What {target.model!r} costs is not known, so --max-cost cannot be kept; give its price a row in "
            f"seeds/model_prices.csv, or leave --max-cost out."
        )
    return CostMeter(price, max_cost_usd, answer_limit(target.parameters))


class CostMeter:
    """Adds up the cost of a run, and decides whether one more question may be asked; safe to use from many threads.

    A runner asks `reserve` before each question, calls `charge` with the tokens of each try, and `release` when the question is
    done. A running question counts as the dearest answer so far, so that the limit holds whatever it costs.

    Args:
        price: None if it is not known; then nothing is added up, and nothing is refused.
        max_cost_usd: the limit of the run's cost, including its cost before; None for no limit.
        answer_tokens: the longest answer that the target's parameters allow; None if they name no limit.

    Attributes:
        n_prompt_tokens, n_completion_tokens: tokens so far.
    """

    def __init__(
        self, price: Price | None, max_cost_usd: float | None = None, answer_tokens: int | None = None
    ) -> None:
        self.n_prompt_tokens = 0
        self.n_completion_tokens = 0
        self._price = price
        self._max_cost_usd = max_cost_usd
        self._answer_tokens = answer_tokens
        self._longest_answer = 0
        # Tokens that answers may have had beyond those estimated, where the service did not count them.
        self._uncounted = 0
        # Tokens of a question as the service counts them, over those estimated; 1 until it has counted.
        self._counted = self._estimated = 0
        # Questions under way, and their tokens as estimated.
        self._n_reserved = self._reserved_tokens = 0
        self._lock = threading.Lock()

    @property
    def cost_usd(self) -> float | None:
        """The cost so far; None if the price is not known."""
        with self._lock:
            return None if self._price is None else self._spent(self._price)

    def estimate(self, prompt_tokens: int, completion_tokens: int) -> float | None:
        """Return what so many tokens cost in USD; None where the price is not known."""
        return None if self._price is None else self._price.cost(prompt_tokens, completion_tokens)

    def ask_in_batches(self) -> None:
        """Reckon with the price of questions asked in batches."""
        with self._lock:
            if self._price is not None:
                self._price = self._price.in_batches()

    def reserve(self, prompt_tokens: int) -> bool:
        """Reserve the possible cost of one more question; return False and reserve nothing if it would exceed the limit.

        Args:
            prompt_tokens: of the question, estimated.
        """
        with self._lock:
            if self._price is None or self._max_cost_usd is None:
                return True
            expected = self._expected(
                self._price, self._n_reserved + 1, self._reserved_tokens + prompt_tokens
            )
            uncounted = self._price.cost(0, self._uncounted)
            if self._spent(self._price) + uncounted + expected > self._max_cost_usd:
                return False
            self._n_reserved += 1
            self._reserved_tokens += prompt_tokens
            return True

    def release(self, prompt_tokens: int) -> None:
        """Give back what `reserve` took for a question that is done."""
        with self._lock:
            if self._n_reserved:
                self._n_reserved -= 1
                self._reserved_tokens -= prompt_tokens

    def charge(
        self,
        prompt_tokens: int | None,
        completion_tokens: int | None,
        *,
        estimated_prompt_tokens: int = 0,
        is_counted: bool = True,
    ) -> None:
        """Add the cost of one try.

        Args:
            prompt_tokens, completion_tokens: as the service counts them or, where it does not, as estimated from the texts;
                None for a try that brought nothing.
            estimated_prompt_tokens: what the question was taken to have, to learn from how it counts.
            is_counted: the service counted the answer. An answer that it did not count may have been the longest one
                allowed, of which only a part is shown, so it takes as much out of the limit.
        """
        with self._lock:
            if not is_counted and self._answer_tokens is not None:
                self._uncounted += max(self._answer_tokens - (completion_tokens or 0), 0)
            self.n_prompt_tokens += prompt_tokens or 0
            self.n_completion_tokens += completion_tokens or 0
            self._longest_answer = max(self._longest_answer, completion_tokens or 0)
            if prompt_tokens and estimated_prompt_tokens:
                self._counted += prompt_tokens
                self._estimated += estimated_prompt_tokens

    def refusal(self, run_id: str) -> str:
        """Return the sentence that ends a run whose next question might pass the limit."""
        return (
            f"Another question might cost more than the {usd(self._max_cost_usd or 0)} USD allowed, of which "
            f"{usd(self.cost_usd or 0)} are spent, so the run stops; go on with biasledger collect --resume {run_id} and a "
            f"higher --max-cost."
        )

    def _spent(self, price: Price) -> float:
        return price.cost(self.n_prompt_tokens, self.n_completion_tokens)

    def _expected(self, price: Price, n_questions: int, prompt_tokens: int) -> float:
        factor = self._counted / self._estimated if self._estimated else 1.0
        answer = max(self._answer_tokens or 0, self._longest_answer) or ASSUMED_ANSWER_TOKENS
        return price.cost(prompt_tokens * factor, n_questions * answer)
