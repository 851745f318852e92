"""Test counts of tokens, prices on a day, and the limit of a run's costs."""

from __future__ import annotations

import threading
from dataclasses import replace
from datetime import date
from pathlib import Path

import pytest

from collector.asking.costs import (
    ASSUMED_ANSWER_TOKENS,
    FREE,
    CostMeter,
    Price,
    answer_limit,
    estimate_prompt_tokens,
    estimate_run,
    estimate_tokens,
    load_prices,
    meter_for,
    price_for,
    price_of,
    usd,
)
from collector.errors import InputError
from collector.spec.prompts import Prompt
from collector.targets.simulator.target import Simulator

SHIPPED = Path(__file__).parents[3] / "seeds" / "model_prices.csv"
DOLLAR = Price("big", 1.0, 10.0, date(2026, 1, 1), "a list")  # USD a million tokens


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("", 0),
        ("a", 1),
        ("Recommend products for an Asian woman.", 10),
        ("Посоветуйте товары", 9),
        ("推荐产品", 4),
        ("제품을 추천해", 7),
        ("προϊόντα", 4),
        ("मुझे बताइए", 5),
        ("café — 10 €", 3),
    ],
)
def test_tokens_by_script(text: str, tokens: int) -> None:
    assert estimate_tokens(text) == tokens


def test_tokens_of_a_question() -> None:
    questions = (("a" * 400, None), ("a" * 400, "b" * 40), (None, None))
    assert [estimate_prompt_tokens(*one) for one in questions] == [108, 118, 8]


@pytest.mark.parametrize(
    ("parameters", "limit"),
    [
        ({}, None),
        ({"temperature": 1}, None),
        ({"max_tokens": 300}, 300),
        ({"max_completion_tokens": 300, "max_tokens": 500}, 300),
        ({"generationConfig": {"maxOutputTokens": 200}}, 200),
        ({"options": {"num_predict": -1}}, None),
        ({"max_tokens": True}, None),
        ({"max_tokens": "300"}, None),
    ],
)
def test_the_longest_answer_allowed(parameters: dict[str, object], limit: int | None) -> None:
    assert answer_limit(parameters) == limit


def prices(*rows: tuple[str, float, str]) -> list[Price]:
    return [Price(model, usd, usd, date.fromisoformat(day), "a list") for model, usd, day in rows]


def test_a_model_s_own_price_goes_before_its_family_s_and_the_latest_holds() -> None:
    first = "2026-01-01"
    listed = prices(
        ("big*", 1, first), ("big-mini", 2, first), ("big-mini", 3, "2026-03-01"), ("big-mini*", 4, first)
    )
    expected = {
        ("Big-2024", date(2026, 1, 1)): 1,
        ("big-mini", date(2026, 2, 28)): 2,
        ("big-mini", date(2026, 3, 1)): 3,
        ("big-mini-2", date(2026, 3, 1)): 4,
        ("big-min", date(2026, 2, 28)): 1,
        ("bigger", date(2025, 12, 31)): None,
        ("small", date(2026, 2, 1)): None,
        ("big", date(2026, 2, 1)): 1,
    }
    for (model, day), price in expected.items():
        found = price_of(listed, model, day)
        assert (found and found.input_usd) == price, model
    assert price_of(listed[1:3], "big-mini", date(2026, 2, 28)) == listed[1]
    assert price_of(listed[1:3], "big-mini", date(2026, 3, 1)) == listed[2]
    assert price_of(listed, None, date(2026, 3, 1)) is None


def test_shipped_prices_are_right_and_families_take_no_strangers() -> None:
    listed = load_prices(SHIPPED)
    day = date(2026, 11, 1)

    def usd(model: str, on: date = day) -> tuple[float, float] | None:
        found = price_of(listed, model, on)
        return found and (found.input_usd, found.output_usd)

    assert {one.batch_share for one in listed} == {0.5}
    assert usd("gpt-4o-mini-2024-07-18") == (0.15, 0.60)
    assert usd("gpt-4.1-mini-2025-04-14") == (0.40, 1.60)
    assert usd("claude-sonnet-4-5-20250929") == (3.0, 15.0)
    assert usd("gemini-3.8-flash") == (0.75, 3.75)
    assert usd("gemini-3.8-flash", date(2027, 1, 1)) == (1.5, 7.5)
    unlisted = ("gpt-4o-audio-preview", "gpt-4.1-turbo", "gemini-2.5-flash-image", "llama-3", "simulator")
    assert [one for one in unlisted if usd(one)] == []


def test_a_file_of_prices_needs_its_columns(tmp_path: Path) -> None:
    file = tmp_path / "prices.csv"
    file.write_text("model,input\nbig,1\n", encoding="utf-8")
    with pytest.raises(InputError, match=r"prices\.csv has no column 'input_usd_per_million'"):
        load_prices(file)


def test_an_estimate_counts_trials_and_keeps_the_order_of_templates() -> None:
    asked = [Prompt(template, "en", "plain", "a" * 368) for template in ("two", "one", "two")]
    estimates = estimate_run(asked, [1, 5, 3], 50, DOLLAR)
    assert [(one.template, one.n_prompts, one.n_calls) for one in estimates] == [("two", 2, 4), ("one", 1, 5)]
    assert [(one.prompt_tokens, one.completion_tokens) for one in estimates] == [(400, 200), (500, 250)]
    assert [one.cost_usd for one in estimates] == pytest.approx([0.0024, 0.003])
    assert [one.cost_usd for one in estimate_run(asked, [1, 5, 3], 50, None)] == [None, None]


def test_a_meter_adds_up() -> None:
    meter = CostMeter(DOLLAR)
    for tokens in ((1000, 100), (None, None), (1000, None)):
        meter.charge(*tokens)
    assert (meter.n_prompt_tokens, meter.n_completion_tokens) == (2000, 100)
    assert meter.cost_usd == pytest.approx(0.003)


def test_batches_cost_less() -> None:
    meter = CostMeter(replace(DOLLAR, batch_share=0.5), 0.0025, answer_tokens=100)
    meter.ask_in_batches()
    meter.charge(1000, 100)
    assert meter.cost_usd == pytest.approx(0.001)
    assert [meter.reserve(1000), meter.reserve(1000)] == [True, False]


def test_an_unknown_price_is_no_cost_of_nothing() -> None:
    meter = CostMeter(None)
    meter.ask_in_batches()
    meter.charge(1000, 100)
    assert meter.cost_usd is None
    assert meter.reserve(10**9)


def test_the_limit_holds_with_what_is_under_way() -> None:
    # A question takes 1000 tokens and an answer at most 100: 0.002 USD a question.
    meter = CostMeter(DOLLAR, 0.005, answer_tokens=100)
    assert [meter.reserve(1000), meter.reserve(1000), meter.reserve(1000)] == [True, True, False]
    meter.charge(1000, 10, estimated_prompt_tokens=1000)
    meter.release(1000)
    assert meter.cost_usd == pytest.approx(0.0011)
    assert meter.reserve(1000) is False  # 0.0011 spent, 0.002 under way and 0.002 more would be 0.0051
    meter.charge(1000, 10, estimated_prompt_tokens=1000)
    meter.release(1000)
    assert meter.reserve(1000)
    sentence = meter.refusal("run-1")
    begins = "Another question might cost more than the 0.0050 USD allowed, of which 0.0022 are spent"
    assert sentence.startswith(begins)
    assert "biasledger collect --resume run-1" in sentence


def test_without_a_limit_on_answers_the_longest_so_far_is_expected() -> None:
    meter = CostMeter(DOLLAR, 0.006)
    first = (1000 + 10 * ASSUMED_ANSWER_TOKENS) / 1e6
    assert first == 0.006
    assert meter.reserve(1000)
    meter.charge(1000, 50, estimated_prompt_tokens=1000)
    meter.release(1000)
    # 0.0015 spent, and 0.0015 a question from now on.
    assert [meter.reserve(1000) for _ in range(4)] == [True, True, True, False]


@pytest.mark.parametrize(
    ("limit", "charged", "is_counted", "asked", "expected"),
    [
        # 0.0011 are known to be spent, 0.002 may be: answers that were not counted are taken to be the longest allowed.
        (0.005, (1000, 10), False, [1000, 1000], [True, False]),
        # 0.003 are spent: another answer longer than asked for would take all that is left.
        (0.006, (1000, 200), True, [1000, 1], [True, False]),
    ],
)
def test_the_limit_allows_for_answers_longer_than_counted_or_asked_for(
    limit: float, charged: tuple[int, int], is_counted: bool, asked: list[int], expected: list[bool]
) -> None:
    meter = CostMeter(DOLLAR, limit, answer_tokens=100)
    meter.charge(*charged, estimated_prompt_tokens=1000, is_counted=is_counted)
    assert meter.cost_usd == pytest.approx((charged[0] + 10 * charged[1]) / 1e6)
    assert [meter.reserve(one) for one in asked] == expected


def test_the_services_count_of_tokens_is_learned() -> None:
    meter = CostMeter(DOLLAR, 0.009, answer_tokens=0)
    meter.charge(2000, 1, estimated_prompt_tokens=1000)
    assert [meter.reserve(1000) for _ in range(4)] == [True, True, True, False]


def test_many_threads_never_reserve_more_than_there_is() -> None:
    meter = CostMeter(DOLLAR, 0.1, answer_tokens=100)
    taken: list[bool] = []

    def ask() -> None:
        taken.extend([meter.reserve(1000) for _ in range(20)])

    threads = [threading.Thread(target=ask) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sum(taken) == 50


@pytest.mark.parametrize(
    ("amount", "message"),
    [
        (0.0, "0.00"),
        (1234.5678, "1,234.57"),
        (0.5, "0.50"),
        (0.055, "0.055"),
        (0.01, "0.01"),
        (0.0048, "0.0048"),
        (0.00000123, "0.0000012"),
    ],
)
def test_amounts_are_printed_to_the_cent_or_to_a_significant_digit(amount: float, message: str) -> None:
    assert usd(amount) == message


def test_simulated_answers_cost_nothing() -> None:
    simulator = Simulator("simulator")
    assert price_for(simulator, []) is FREE
    assert meter_for(simulator, [], 0.01).cost_usd == 0.0


def test_a_limit_needs_a_price() -> None:
    class Unpriced(Simulator):
        is_simulated = False

    asked = Unpriced("mine")
    sentence = r"--max-cost cannot be kept; give its price a row in seeds/model_prices\.csv"
    with pytest.raises(InputError, match=sentence):
        meter_for(asked, load_prices(SHIPPED), 5.0)
    assert meter_for(asked, load_prices(SHIPPED)).cost_usd is None
