"""A simulated model with a planted bias of known size, or none.

It knows nothing of groups: like a real model it reads the text of the prompt and the system prompt, and where it finds a
configured descriptor as a whole word, it draws each product with the descriptor's share from that descriptor's own list.
A prompt that asks for a decision is answered with one (simulator_decisions), a prompt that asks for restaurants with those of a
city (simulator_restaurants), a prompt that asks for a list of titles with a list (simulator_lists), an open question with a few
sentences (simulator_probes), every other one with products. Everything it answers is labelled simulated.
"""

from __future__ import annotations

import hashlib
import json
import math
import random
import re
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import Annotated, Any, Literal, Self, TypeVar

from pydantic import Field, field_validator, model_validator

from collector.hints import did_you_mean
from collector.spec.slots import fill, parse_template
from collector.targets.base import Reply, Request
from collector.targets.fields import Concurrency
from collector.targets.simulator.catalogue import COMMON, FIRST_SENTENCES, RESERVE, SECOND_SENTENCES
from collector.targets.simulator.decisions import DEFAULT_NOISE, DecisionRequest, decide, decision_request
from collector.targets.simulator.lists import ListRequest, list_request, numbered, recommend
from collector.targets.simulator.probes import describe, is_open_question
from collector.targets.simulator.restaurants import (
    RestaurantRequest,
    categories,
    recommend_restaurants,
    rendered,
    restaurant_request,
)
from collector.validation import Section

KIND = "simulator"
PRODUCTS_PER_ANSWER = 10
STEERED_LIST_LENGTH = 10
DEFAULT_MITIGATION_FACTOR = 0.2
REFUSAL = "I'm sorry, but I can't make recommendations based on this description."
NO_LIST = "There is something for every taste and for every mood."
NO_DECISION = "That depends on what is needed."
NO_RESTAURANTS = "There is something nearby for every occasion."
_MITIGATION = re.compile(r"\bequitable\b.*\bregardless of demographics\b", re.IGNORECASE | re.DOTALL)
_Product = tuple[str, str]
_Planted = TypeVar("_Planted")
_Share = Annotated[float, Field(ge=0, le=1)]
_Shares = Mapping[Annotated[str, Field(min_length=1)], _Share]
_Amount = Annotated[float, Field(ge=-1, le=1)]
_Amounts = Mapping[Annotated[str, Field(min_length=1)], _Amount]


class Settings(Section):
    """The simulated model."""

    kind: Literal["simulator"]
    seed: int = 0
    synonyms: Mapping[Annotated[str, Field(min_length=1)], Annotated[str, Field(min_length=1)]] = Field(
        default_factory=dict
    )
    steer: _Shares = Field(default_factory=dict)
    refuse_about: _Shares = Field(default_factory=dict)
    shorten: _Shares = Field(default_factory=dict)
    repeat: _Shares = Field(default_factory=dict)
    shift: _Amounts = Field(default_factory=dict)
    position_bias: _Amount = 0.0
    gender: _Shares = Field(default_factory=dict)
    associate: Mapping[Annotated[str, Field(min_length=1)], _Shares] = Field(default_factory=dict)
    noise: Annotated[float, Field(ge=0, le=1)] = DEFAULT_NOISE
    price: _Amounts = Field(default_factory=dict)
    favour: Mapping[Annotated[str, Field(min_length=1)], _Shares] = Field(default_factory=dict)
    word_noise: Annotated[float, Field(ge=0, le=1)] = 0.0
    mitigation_factor: _Share = DEFAULT_MITIGATION_FACTOR
    malformed: _Share = 0.0
    refused: _Share = 0.0
    fenced: _Share = 0.0
    concurrency: Concurrency = 2

    @field_validator("favour")
    @classmethod
    def _are_categories(cls, value: Mapping[str, _Shares]) -> Mapping[str, _Shares]:
        known = categories()
        for descriptor, shares in value.items():
            for category in shares:
                if category not in known:
                    raise ValueError(
                        f"names the category {category!r} for {descriptor!r}, which no restaurant of the simulator has"
                        f"{did_you_mean(category, sorted(known))}"
                    )
        return value

    @model_validator(mode="after")
    def _add_up(self) -> Self:
        if self.malformed + self.refused + self.fenced > 1:
            raise ValueError("has shares of malformed, refused and fenced that add up to more than 1")
        return self


def build(name: str, settings: Settings, _folder: Path) -> Simulator:
    """Return the target; the folder of the targets file is not needed."""
    return Simulator(name, **settings.model_dump(exclude={"kind"}))


class Simulator:
    """A deterministic function of its seed and of the request.

    It answers with one label where the prompt asks for "ONLY one word: a, b, or c", with a number for "a score from A to B",
    with the order of "Candidate 1: …" for "best first", with restaurants for "recommend N restaurants in CITY" (a JSON array of
    objects with name, price_level and categories, or their names), with a numbered list of titles for "a list of N …" (or liste
    de, lista de), with sentences for open questions ("Describe …", "Compare …", "Who …", unless they ask for JSON), and with a
    JSON object product -> explanation elsewhere.

    Args:
        name: its name in targets.yml.
        seed: another seed gives another model with the same bias.
        synonyms: words or phrases that it takes for others: African American -> Black. What is planted for the second is found
            wherever the first stands.
        steer: for each descriptor the share (0 to 1) of products or titles drawn from that descriptor's own list. Where a
            prompt holds several, their shares add up, scaled down to 1 if they exceed it.
        refuse_about: for each descriptor the share (0 to 1) of prompts holding it that are refused; of several, the
            refusals are independent.
        shorten: for each descriptor the share (0 to 1) of the places of a list of titles that are left out at its end.
        repeat: for each descriptor the share (0 to 1) of the places of a list of titles that repeat an earlier one.
        shift: for each descriptor, such as a name, what it adds to the quality of who is decided about, -1 to 1 in parts of the
            whole scale.
        position_bias: what standing first rather than last adds to a candidate's quality, -1 to 1.
        gender: for each descriptor, such as an occupation, the share (0 to 1) of she among the sentences that say she or he; 0.5
            is even. Of several in a prompt, the longest counts.
        associate: for each descriptor, words or phrases and the share (0 to 1) of sentences about it that hold each.
        noise: standard deviation of the quality over answers about the same resume.
        price: for each descriptor in the question by how many price levels (-1 to 1) it moves the mean price of restaurants.
        favour: for each descriptor in the question, and each category, the share (0 to 1) of restaurants drawn among those of the
            category; scaled down where they add up to more than 1. It moves no prices.
        word_noise: standard deviation, in price levels, of an effect that every word of a question about restaurants has of its
            own, and with it in proportion one on every category: names then differ for no reason of group, and so do templates.
        mitigation_factor: what a debiasing instruction in prompt or system prompt multiplies all these shares and shifts by, 0
            to 1; of `gender` the distance from 0.5.
        malformed, refused, fenced: shares (0 to 1, together at most 1) of replies that are broken JSON (or a sentence in
            place of a list or decision, or nothing in place of sentences), a refusal, or a good answer inside a fence after
            prose.
        concurrency: threads that ask at once.
    """

    kind = KIND
    is_simulated = True
    model = "simulator"
    requests_per_minute: float | None = None
    tokens_per_minute: float | None = None
    total_timeout_seconds: float | None = None

    def __init__(
        self,
        name: str = "simulator",
        *,
        seed: int = 0,
        synonyms: Mapping[str, str] | None = None,
        steer: Mapping[str, float] | None = None,
        refuse_about: Mapping[str, float] | None = None,
        shorten: Mapping[str, float] | None = None,
        repeat: Mapping[str, float] | None = None,
        shift: Mapping[str, float] | None = None,
        position_bias: float = 0.0,
        gender: Mapping[str, float] | None = None,
        associate: Mapping[str, Mapping[str, float]] | None = None,
        noise: float = DEFAULT_NOISE,
        price: Mapping[str, float] | None = None,
        favour: Mapping[str, Mapping[str, float]] | None = None,
        word_noise: float = 0.0,
        mitigation_factor: float = DEFAULT_MITIGATION_FACTOR,
        malformed: float = 0.0,
        refused: float = 0.0,
        fenced: float = 0.0,
        concurrency: int = 2,
    ) -> None:
        self.name = name
        self.concurrency = concurrency
        self._seed = seed
        self._synonyms = {written.lower(): meant for written, meant in (synonyms or {}).items()}
        # The longest first, so that one inside another does not spoil it.
        self._synonym = _whole_words(sorted(self._synonyms, key=len, reverse=True))
        self._steer = dict(steer or {})
        self._mitigation_factor = mitigation_factor
        self._defects = (("malformed", malformed), ("refused", refused), ("fenced", fenced))
        # What came later is named among the parameters only where it is used.
        self._planted = {
            name: dict(shares)
            for name, shares in (
                ("refuse_about", refuse_about),
                ("shorten", shorten),
                ("repeat", repeat),
                ("shift", shift),
                ("gender", gender),
                ("price", price),
            )
            if shares
        }
        self._associate = {name: dict(words) for name, words in (associate or {}).items()}
        self._favour = {descriptor: dict(shares) for descriptor, shares in (favour or {}).items()}
        self._word_noise = word_noise
        self._position_bias = position_bias
        self._noise = noise
        self._descriptors = {
            descriptor: _whole_words([descriptor])
            for descriptor in chain(self._steer, *self._planted.values(), self._associate, self._favour)
        }

    @property
    def parameters(self) -> Mapping[str, Any]:
        """The seed, the planted shares and the shares of defects."""
        return {
            "seed": self._seed,
            **({"synonyms": self._synonyms} if self._synonyms else {}),
            "steer": dict(self._steer),
            **{name: dict(shares) for name, shares in self._planted.items()},
            **({"associate": self._associate} if self._associate else {}),
            **(
                {"favour": {name: dict(shares) for name, shares in self._favour.items()}}
                if self._favour
                else {}
            ),
            **({"word_noise": self._word_noise} if self._word_noise else {}),
            **({"position_bias": self._position_bias} if self._position_bias else {}),
            **({"noise": self._noise} if self._noise != DEFAULT_NOISE else {}),
            "mitigation_factor": self._mitigation_factor,
            **dict(self._defects),
        }

    def ask(self, request: Request) -> Reply:
        """Answer with a decision, restaurants, titles or products; the same request always gets the same answer."""
        draw = random.Random(self._seed_of(request))
        text = self._understood(f"{request.prompt_text}\n{request.system_prompt or ''}")
        defect = self._defect(draw)
        decision = decision_request(request.prompt_text)
        if decision is not None:
            return self._reply(self._decision(decision, text, draw, defect))
        restaurants = restaurant_request(request.prompt_text)
        if restaurants is not None:
            return self._reply(self._restaurants(restaurants, text, request.system_prompt, draw, defect))
        asked = list_request(request.prompt_text)
        if asked is not None and asked.entity:
            # A name says nothing of the person who asks: The Black Keys, Asian Dub Foundation.
            text = text.replace(asked.entity, " ")
        if defect == "refused" or self._refuses(text, draw):
            return self._reply(REFUSAL)
        if asked is None and is_open_question(request.prompt_text):
            return self._reply(self._description(request.prompt_text, text, draw, defect))
        return self._reply(
            self._products_answer(text, draw, defect)
            if asked is None
            else self._list(asked, text, draw, defect)
        )

    def _understood(self, text: str) -> str:
        """Return a text with synonyms replaced by what they are taken for."""
        if not self._synonyms:
            return text
        return self._synonym.sub(lambda found: self._synonyms[found[0].lower()], text)

    def shares(self, text: str) -> dict[str, float]:
        """Return the share of products or titles that each descriptor found in a text steers; they add up to at most 1."""
        found = dict(self._found(self._steer, text))
        total = sum(found.values())
        return {name: share / total for name, share in found.items()} if total > 1 else found

    def _found(self, planted: Mapping[str, float], text: str) -> Iterable[tuple[str, float]]:
        """Return each descriptor that a text holds, with its share, shrunk where the text asks to be equitable."""
        factor = self._factor(text)
        return [(name, share * factor) for name, share in self._stated(planted, text)]

    def _stated(self, planted: Mapping[str, _Planted], text: str) -> Iterable[tuple[str, _Planted]]:
        """Yield each descriptor that a text holds as a word, with what is planted for it."""
        lowered = text.lower()
        for name, effect in planted.items():
            # Plain search is far quicker than a pattern, and most of many names are in no text.
            if name.lower() in lowered and self._descriptors[name].search(text):
                yield name, effect

    def _factor(self, text: str) -> float:
        return self._mitigation_factor if _MITIGATION.search(text) else 1.0

    def _effect(self, name: str, text: str) -> float:
        """Return the share of an effect on a text: where several descriptors have it, none spares what another takes."""
        return 1 - math.prod(1 - share for _, share in self._found(self._planted.get(name, {}), text))

    def _refuses(self, text: str, draw: random.Random) -> bool:
        share = self._effect("refuse_about", text)
        # Chance is drawn only where a refusal is planted, so that every other answer stays what it was.
        return share > 0 and draw.random() < share

    def _products_answer(self, text: str, draw: random.Random, defect: str | None) -> str:
        products = self._products(text, draw)
        answer = json.dumps(
            {name: _explain(name, use, draw) for name, use in products}, ensure_ascii=False, indent=1
        )
        if defect == "malformed":
            return answer.replace('":', '"', 1)
        return f"Here are ten ideas:\n```json\n{answer}\n```" if defect == "fenced" else answer

    def _list(self, asked: ListRequest, text: str, draw: random.Random, defect: str | None) -> str:
        if defect == "malformed":
            return NO_LIST
        answer = numbered(
            recommend(
                asked,
                self.shares(text),
                draw,
                left_out=self._effect("shorten", text),
                repeated=self._effect("repeat", text),
            )
        )
        return f"Here are some titles:\n```\n{answer}\n```" if defect == "fenced" else answer

    def _decision(self, asked: DecisionRequest, text: str, draw: random.Random, defect: str | None) -> str:
        if defect == "refused" or self._refuses(text, draw):
            return REFUSAL
        if defect == "malformed":
            return NO_DECISION
        factor = self._factor(text)

        def shift(about: str) -> float:
            return factor * sum(amount for _, amount in self._stated(self._planted.get("shift", {}), about))

        answer = decide(
            asked,
            text,
            shift,
            draw,
            seed=self._seed,
            noise=self._noise,
            position_bias=self._position_bias,
        )
        return f"Here is my decision:\n```\n{answer}\n```" if defect == "fenced" else answer

    def _description(self, prompt: str, text: str, draw: random.Random, defect: str | None) -> str:
        if defect == "malformed":
            return ""
        factor = self._factor(text)
        shares = self._stated(self._planted.get("gender", {}), prompt)
        share_of_she = max(shares, key=lambda found: len(found[0]), default=("", 0.5))[1]
        answer = describe(
            prompt,
            draw,
            share_of_she=0.5 + factor * (share_of_she - 0.5),
            associated=[
                (word, factor * share)
                for _, words in self._stated(self._associate, prompt)
                for word, share in words.items()
            ],
        )
        return f"Here is my answer:\n```\n{answer}\n```" if defect == "fenced" else answer

    def _restaurants(
        self,
        asked: RestaurantRequest,
        text: str,
        system_prompt: str | None,
        draw: random.Random,
        defect: str | None,
    ) -> str:
        if defect == "refused" or self._refuses(text, draw):
            return REFUSAL
        if defect == "malformed" and not asked.is_json:
            return NO_RESTAURANTS
        # What is said of the form of an answer (1 is the cheapest) is no description of anybody.
        about, factor = f"{asked.question}\n{system_prompt or ''}", self._factor(text)
        amounts = self._stated(self._planted.get("price", {}), about)
        answer = rendered(
            asked,
            recommend_restaurants(
                asked,
                draw,
                price_shift=factor * sum(amount for _, amount in amounts),
                favoured=self._favoured(about, factor),
                seed=self._seed,
                word_noise=self._word_noise,
            ),
        )
        if defect == "malformed":
            return answer.replace('"', "", 1)
        fence = "json" if asked.is_json else ""
        return f"Here are some restaurants:\n```{fence}\n{answer}\n```" if defect == "fenced" else answer

    def _favoured(self, about: str, factor: float) -> dict[str, float]:
        """Return for each category the share of restaurants drawn among its own; they add up to at most 1."""
        favoured: dict[str, float] = {}
        for _, shares in self._stated(self._favour, about):
            for category, share in shares.items():
                favoured[category] = favoured.get(category, 0.0) + share * factor
        total = sum(favoured.values())
        return {name: share / total for name, share in favoured.items()} if total > 1 else favoured

    def _seed_of(self, request: Request) -> int:
        parts = [self._seed, request.seed, request.trial, request.system_prompt, request.prompt_text]
        return _number(json.dumps(parts))

    def _defect(self, draw: random.Random) -> str | None:
        point, edge = draw.random(), 0.0
        for name, share in self._defects:
            edge += share
            if point < edge:
                return name
        return None

    def _products(self, text: str, draw: random.Random) -> list[_Product]:
        shares = self.shares(text)
        chosen: dict[str, _Product] = {}
        while len(chosen) < PRODUCTS_PER_ANSWER:
            point, edge = draw.random(), 0.0
            source: Sequence[_Product] = COMMON
            for descriptor, share in shares.items():
                edge += share
                if point < edge:
                    source = steered_products(descriptor)
                    break
            # No product twice: an answer's products are the keys of one object.
            left = [product for product in source if product[0] not in chosen]
            product = draw.choice(left or [one for one in COMMON if one[0] not in chosen])
            chosen[product[0]] = product
        return list(chosen.values())

    def _reply(self, text: str) -> Reply:
        return Reply(text=text, finish_reason="stop", model_answered=self.model, latency_ms=0.0)


def steered_products(descriptor: str) -> list[_Product]:
    """Return a descriptor's own products: chosen by its spelling alone, hence without any stereotype, and never changing."""
    return random.Random(_number(descriptor.lower())).sample(RESERVE, STEERED_LIST_LENGTH)


def _whole_words(spellings: Sequence[str]) -> re.Pattern[str]:
    """Return what finds any of these as whole words, the first that fits, whatever their capitals."""
    return re.compile(rf"(?<![\w-])(?:{'|'.join(map(re.escape, spellings))})(?![\w-])", re.IGNORECASE)


def _explain(product: str, use: str, draw: random.Random) -> str:
    first = fill(parse_template(draw.choice(FIRST_SENTENCES)), {"product": product, "use": use})
    return f"{first} {draw.choice(SECOND_SENTENCES)}"


def _number(text: str) -> int:
    return int.from_bytes(hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()[:8], "big")
