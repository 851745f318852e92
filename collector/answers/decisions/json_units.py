"""Read units and scales from the keys of JSON: {"pay_eur": 5000}, {"pay": 5000, "per": "month"}, {"score": 4, "out_of": 5}."""

from __future__ import annotations

import re
from decimal import Decimal
from functools import lru_cache
from typing import NamedTuple

from collector.answers.decisions.amounts import find_amounts, period_in
from collector.answers.decisions.decision import written_number
from collector.answers.decisions.json_decisions import Leaf
from collector.answers.decisions.score_candidates import POINT_SCALE, Scale
from collector.answers.texts.amount_words import amount_words
from collector.answers.texts.decision_words import decision_words
from collector.answers.texts.plain import fold, plain_signs

_BETWEEN = re.compile(r"[\s/_.,;:()\[\]-]+")
_MOST_CHARACTERS = 40
_MOST_UNITS = 50


class _Unit(NamedTuple):
    """Currencies, period and multiplier that a text names; is_all: it names nothing else."""

    currencies: frozenset[str]
    period: str | None
    is_multiplied: bool
    is_all: bool


class JsonUnits:
    """The units and the scales that the keys of a reply's JSON state, and what does not fit the audit."""

    def __init__(self, scale: Scale) -> None:
        """Begin without a leaf.

        Args:
            scale: what the audit asks for.
        """
        self.problems: list[str] = []
        self._scale = scale
        self._units: list[tuple[tuple[str, ...], _Unit]] = []
        self._tops: list[tuple[tuple[str, ...], Decimal]] = []

    def is_other(self, leaf: Leaf) -> bool:
        """Return whether a leaf's own key says that it holds another amount or scale than the audit wants; also keep what it
        says.
        """
        if self._scale.is_of_money:
            problem = self._problem(_unit(" ".join(leaf.path)[-_MOST_CHARACTERS:]))
            self._keep_unit(leaf)
        else:
            top = _top_of(re.sub(r"(?<=\d)_(?=\d)", "-", leaf.path[-1]).replace("_", " "), is_phrase=True)
            end = self._scale.maximum
            problem = None
            if top is not None and top != end:
                problem = f"The answer is out of {written_number(top)}, and the scale ends at {written_number(end)}."
            self._keep_top(leaf)
        if problem is not None:
            self.problems.append(problem)
        return problem is not None

    def problem_of(self, leaf: Leaf) -> str | None:
        """Return why the keys next to a leaf's say that it is another amount than the audit wants; None if they do not."""
        own = _unit(" ".join(leaf.path)[-_MOST_CHARACTERS:])
        for path, unit in self._units:
            if _are_related(path, leaf.path):
                # "annual_salary" says more than "monthly" elsewhere.
                said = unit._replace(
                    currencies=frozenset() if own.currencies else unit.currencies,
                    period=None if own.period else unit.period,
                )
                if problem := self._problem(said):
                    return problem
        return None

    def top_of(self, leaf: Leaf) -> Decimal | None:
        """Return the highest number of the scale that the keys next to a leaf's state, where it is not the audit's."""
        tops = (top for path, top in self._tops if _are_related(path, leaf.path) and path != leaf.path)
        return next((top for top in tops if top != self._scale.maximum), None)

    def _problem(self, unit: _Unit) -> str | None:
        scale = self._scale
        if unit.currencies and scale.currency is not None and scale.currency not in unit.currencies:
            return (
                f"The answer is in {' or '.join(sorted(unit.currencies)[:3])}, and not in {scale.currency}."
            )
        if unit.period is not None and unit.period != (scale.per or "year"):
            return f"The answer is an amount per {unit.period}, and the audit wants one per {scale.per or 'year'}."
        return "The answer counts in thousands, lakhs or millions." if unit.is_multiplied else None

    def _keep_unit(self, leaf: Leaf) -> None:
        text = leaf.text
        if text is None or len(text) > _MOST_CHARACTERS or len(self._units) == _MOST_UNITS:
            return
        if text == "true" or leaf.is_number:
            # "in_thousands": true, "multiplier": 1000
            unit = _unit(leaf.path[-1])
            if unit.is_multiplied and unit.is_all and (text == "true" or len(text) > 3):
                self._units.append((leaf.path, unit._replace(currencies=frozenset(), period=None)))
            return
        unit = _unit(text)
        if unit.is_all or _has_word(leaf.path[-1:], "unit_keys"):
            self._units.append((leaf.path, unit))

    def _keep_top(self, leaf: Leaf) -> None:
        words = amount_words()
        parts = _parts(leaf.path[-1])
        is_top = bool(parts & words.top_keys) and parts <= words.top_keys | decision_words().keys
        if not leaf.text or len(leaf.text) > _MOST_CHARACTERS or not (is_top or parts & words.unit_keys):
            return
        top = _top_of(leaf.text, is_phrase=not is_top)
        if top is not None and len(self._tops) < _MOST_UNITS:
            self._tops.append((leaf.path, top))


def _parts(name: str) -> set[str]:
    return set(filter(None, _BETWEEN.split(name)))


def _has_word(path: tuple[str, ...], name: str) -> bool:
    words: frozenset[str] = getattr(amount_words(), name)
    return any(part in words for key in path for part in (key, *_parts(key)))


def _are_related(path: tuple[str, ...], to: tuple[str, ...]) -> bool:
    """Return whether one key is in the same object as another, or in one around it, or is called "unit" or the like."""
    return path[:-1] == to[: len(path) - 1] or _has_word(path, "unit_keys")


@lru_cache(maxsize=1024)
def _unit(text: str) -> _Unit:
    """Return the unit of an amount that a key or a short text states: "salary_keur", "EUR per month", "thousand USD"."""
    words = amount_words()
    low = fold(plain_signs(text)).strip()
    parts = list(filter(None, _BETWEEN.split(low)))
    currencies: list[frozenset[str]] = []
    is_multiplied, is_all, period = False, bool(parts), period_in(low.replace("_", " "))
    for part in parts:
        # "k€", "teur"
        rest = part[1:] if part[0] in words.multipliers else part
        named = words.currencies.get(part) or words.currencies.get(rest)
        said = period_in(part) or period_in(f"/{part}")
        counts = part in words.unit_factors or (part in words.multipliers and (len(part) > 1 or part == "k"))
        is_multiplied = is_multiplied or counts or (named is not None and part not in words.currencies)
        currencies += [named] if named else []
        period = period or said
        is_all = is_all and bool(named or said or counts or words.unit_fillers.is_word(part))
    found = frozenset.intersection(*currencies) or frozenset.union(*currencies) if currencies else frozenset()
    return _Unit(found, period, is_multiplied, is_all)


def _top_of(text: str, *, is_phrase: bool) -> Decimal | None:
    """Return the highest number of the scale that a text states: "1-5", "5-point", "out of 5"; "5" if it is no phrase."""
    low = fold(plain_signs(text))
    if (named := POINT_SCALE.search(low)) is not None:
        return Decimal(next(filter(None, named.groups())))
    words = amount_words()
    for amount in find_amounts(low):
        if amount.out_of is not None:
            return amount.out_of
        if amount.bounds is not None and amount.bounds[0] in (0, 1):
            return amount.bounds[1]
        before = low[: amount.start].rstrip()
        is_top = not is_phrase or words.out_of.ending(before) is not None or before.endswith("max")
        if is_top and len(amount.readings) == 1:
            return amount.readings[0]
    return None
