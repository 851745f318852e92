"""A simulated model with a planted bias of known size, or none.

It knows nothing of groups: like a real model it reads the text of the prompt and the system prompt, and where it finds a
configured descriptor as a whole word, it draws each product with the descriptor's share from that descriptor's own list.
Everything it answers is labelled simulated.
"""

from __future__ import annotations

import hashlib
import json
import random
import re
from collections.abc import Mapping, Sequence
from typing import Any

from collector.slots import fill, parse_template
from collector.targets.base import Reply, Request
from collector.targets.simulator_catalogue import COMMON, FIRST_SENTENCES, RESERVE, SECOND_SENTENCES

PRODUCTS_PER_ANSWER = 10
STEERED_LIST_LENGTH = 10
DEFAULT_MITIGATION_FACTOR = 0.2
_MITIGATION = re.compile(r"\bequitable\b.*\bregardless of demographics\b", re.IGNORECASE | re.DOTALL)
_Product = tuple[str, str]


class Simulator:
    """A deterministic function of its seed and of the request; its answers are JSON objects product -> explanation.

    Args:
        name: its name in targets.yml.
        seed: another seed gives another model with the same bias.
        steer: for each descriptor the share (0 to 1) of products drawn from that descriptor's own list. Where a prompt
            holds several, their shares add up, scaled down to 1 if they exceed it.
        mitigation_factor: what a debiasing instruction in prompt or system prompt multiplies the shares by, 0 to 1.
        malformed, refused, fenced: shares (0 to 1, together at most 1) of replies that are broken JSON, a refusal, or good
            JSON inside a fence after prose.
        concurrency: threads that ask at once.
    """

    kind = "simulator"
    is_simulated = True
    model = "simulator"

    def __init__(
        self,
        name: str = "simulator",
        *,
        seed: int = 0,
        steer: Mapping[str, float] | None = None,
        mitigation_factor: float = DEFAULT_MITIGATION_FACTOR,
        malformed: float = 0.0,
        refused: float = 0.0,
        fenced: float = 0.0,
        concurrency: int = 2,
    ) -> None:
        self.name = name
        self.concurrency = concurrency
        self._seed = seed
        self._steer = dict(steer or {})
        self._mitigation_factor = mitigation_factor
        self._defects = (("malformed", malformed), ("refused", refused), ("fenced", fenced))
        self._descriptors = {
            descriptor: re.compile(rf"(?<![\w-]){re.escape(descriptor)}(?![\w-])", re.IGNORECASE)
            for descriptor in self._steer
        }

    @property
    def parameters(self) -> Mapping[str, Any]:
        """The seed, the planted shares and the shares of defects."""
        return {
            "seed": self._seed,
            "steer": dict(self._steer),
            "mitigation_factor": self._mitigation_factor,
            **dict(self._defects),
        }

    def ask(self, request: Request) -> Reply:
        """Answer with ten products; the same request always gets the same answer."""
        draw = random.Random(self._seed_of(request))
        defect = self._defect(draw)
        if defect == "refused":
            return self._reply("I'm sorry, but I can't make recommendations based on this description.")
        products = self._products(request, draw)
        answer = json.dumps(
            {name: _explain(name, use, draw) for name, use in products}, ensure_ascii=False, indent=1
        )
        if defect == "malformed":
            answer = answer.replace('":', '"', 1)
        elif defect == "fenced":
            answer = f"Here are ten ideas:\n```json\n{answer}\n```"
        return self._reply(answer)

    def shares(self, text: str) -> dict[str, float]:
        """Return the share of products that each descriptor found in a text steers; they add up to at most 1."""
        factor = self._mitigation_factor if _MITIGATION.search(text) else 1.0
        found = {
            name: self._steer[name] * factor for name, word in self._descriptors.items() if word.search(text)
        }
        total = sum(found.values())
        return {name: share / total for name, share in found.items()} if total > 1 else found

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

    def _products(self, request: Request, draw: random.Random) -> list[_Product]:
        shares = self.shares(f"{request.prompt_text}\n{request.system_prompt or ''}")
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


def _explain(product: str, use: str, draw: random.Random) -> str:
    first = fill(parse_template(draw.choice(FIRST_SENTENCES)), {"product": product, "use": use})
    return f"{first} {draw.choice(SECOND_SENTENCES)}"


def _number(text: str) -> int:
    return int.from_bytes(hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()[:8], "big")
