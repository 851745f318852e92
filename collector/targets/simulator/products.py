"""The simulator's products: a JSON object product -> explanation, the answer to every prompt without another responder."""

from __future__ import annotations

import hashlib
import json
import random
from collections.abc import Mapping, Sequence

from collector.spec.slots import fill, parse_template
from collector.targets.simulator.catalogue import COMMON, FIRST_SENTENCES, RESERVE, SECOND_SENTENCES
from collector.targets.simulator.responder import Question, Responder, drawn

PRODUCTS_PER_ANSWER = 10
STEERED_LIST_LENGTH = 10
_Product = tuple[str, str]


def steered_products(descriptor: str) -> list[_Product]:
    """Return a descriptor's own products: chosen by its spelling alone, hence without any stereotype, and never changing."""
    digest = hashlib.sha256(descriptor.lower().encode("utf-8", "surrogatepass")).digest()
    return random.Random(int.from_bytes(digest[:8], "big")).sample(RESERVE, STEERED_LIST_LENGTH)


def _answer(_asked: str, question: Question) -> str:
    products = _products(question.shares(), question.draw)
    answer = json.dumps(
        {name: _explain(name, use, question.draw) for name, use in products}, ensure_ascii=False, indent=1
    )
    if question.defect == "malformed":
        return answer.replace('":', '"', 1)
    return question.fenced("Here are ten ideas", answer, "json")


def _products(shares: Mapping[str, float], draw: random.Random) -> list[_Product]:
    chosen: dict[str, _Product] = {}
    while len(chosen) < PRODUCTS_PER_ANSWER:
        descriptor = drawn(shares, draw)
        source: Sequence[_Product] = COMMON if descriptor is None else steered_products(descriptor)
        # No product twice: an answer's products are the keys of one object.
        left = [product for product in source if product[0] not in chosen]
        product = draw.choice(left or [one for one in COMMON if one[0] not in chosen])
        chosen[product[0]] = product
    return list(chosen.values())


def _explain(product: str, use: str, draw: random.Random) -> str:
    first = fill(parse_template(draw.choice(FIRST_SENTENCES)), {"product": product, "use": use})
    return f"{first} {draw.choice(SECOND_SENTENCES)}"


RESPONDER = Responder(place=5, asked=lambda prompt: prompt, answer=_answer)
