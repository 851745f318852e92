"""Answering a prompt as a system under audit does: which question it asks, of which city, and the answer as JSON."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence

from collector.errors import InputError
from collector.hints import quoted
from lmrec.fairness import Fair
from lmrec.model import Recommender

TOP = 20


class Answerer:
    """Recommenders of different cities as one system.

    Args:
        recommenders: at least one.
        top: how many venues an answer has; the source takes 20.
        city: where the venues are, independently of the prompt.
        needs_city: a prompt has to name a city even if there is only one, so that what is asked of another city is not answered
            with venues of this one.
        fair: rank fairly by price level or by categories; see fairness.

    Raises:
        InputError: two recommenders know one city, or none knows the city.
    """

    def __init__(
        self,
        recommenders: Sequence[Recommender],
        *,
        top: int = TOP,
        city: str | None = None,
        needs_city: bool = False,
        fair: Fair = False,
    ) -> None:
        self._recommenders = recommenders
        self._top = top
        self._fair = fair
        self._fewest_named = 1 if needs_city else 2
        self._of_city: dict[str, Recommender] = {}
        for recommender in recommenders:
            for key, name in recommender.cities.items():
                if self._of_city.setdefault(key, recommender) is not recommender:
                    raise InputError(
                        f"Two of the models have venues in {name}; each city should have one model."
                    )
        self._city = city.casefold() if city is not None else None
        if self._city is not None and self._city not in self._of_city:
            raise InputError(f"No model has venues in {city}; there are {quoted(self.cities)}.")
        # The longest first: West Hollywood is not Hollywood.
        listed = sorted(self._of_city, key=len, reverse=True)
        self._named = re.compile(rf"(?<!\w)(?:{'|'.join(map(re.escape, listed))})(?!\w)") if listed else None

    @property
    def cities(self) -> list[str]:
        """The cities of all recommenders, in the order of the alphabet."""
        return sorted({name for one in self._recommenders for name in one.cities.values()})

    def answer(self, prompt: str) -> str:
        """Return the recommendations as a JSON array of objects with name, price_level and categories, the best first.

        A recommender reads a person's wish, not instructions: the part of the prompt before the first blank
        line. The city is the last one that the prompt names; where it names none, the venues are those of the one model.

        Args:
            prompt: the question, and behind a blank line what an audit asks for.

        Raises:
            InputError: there are several cities, or one that has to be named, and the prompt names none.
        """
        city = self._city or self._city_of(prompt)
        if city is None and len(self._of_city) >= self._fewest_named:
            raise InputError(
                f"The question names no city that the models know ({quoted(self.cities)}); name one in it, or set `city`."
            )
        recommender = self._recommenders[0] if city is None else self._of_city[city]
        found = recommender.recommend(question_of(prompt), self._top, city=city, fair=self._fair)
        return json.dumps(
            [
                {
                    "name": one.venue.name,
                    "price_level": one.venue.price_level,
                    "categories": list(one.venue.categories),
                }
                for one in found
            ],
            ensure_ascii=False,
        )

    def _city_of(self, prompt: str) -> str | None:
        named = self._named.findall(prompt.casefold()) if self._named is not None else []
        return named[-1] if named else None


def question_of(prompt: str) -> str:
    """Return the text before the first blank line."""
    return re.split(r"\n[ \t]*\n", prompt.strip(), maxsplit=1)[0].strip()
