"""Read which number a reply decides for: a score on a scale, a named point of a scale, or an amount of money.

The rules are tried in the order of collector.answers.labels: JSON, the audit's own pattern, an announcement such as "Score: 8", the
last line, the first line, the number that opens the reply, the only number that can be the score.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from decimal import Decimal, InvalidOperation
from typing import Literal, NamedTuple

from collector.answers.amounts import Amount, Separator, amount_words, find_amounts
from collector.answers.announcements import (
    OPENERS,
    Rank,
    announced,
    clause_after,
    clause_before,
    is_doubted,
    negation,
    sentence_after,
    sentence_before,
    without_harmless,
)
from collector.answers.decision import Decision, written_number
from collector.answers.decision_words import decision_words
from collector.answers.json_decisions import Found, Leaf, json_decision, json_texts
from collector.answers.labels import boxed_parts, pattern_matches, read_in_prose
from collector.answers.mentions import compiled_labels, plain_key
from collector.answers.plain import Reply, fold

Period = Literal["month", "year"]
_CLOSERS = " \t\"'”’»›」』】）)]}_$*"
_ENDS = frozenset(".,;:!。，、；：！…|(（[—–")
_ENUMERATED = re.compile(r"(?m)^[ \t>]*(?:\d{1,2})[.)][ \t]+(?=\D)")
_POINT_SCALE = re.compile(
    r"\b(\d{1,4})(?:[- ](?:point|star|punkte|stufige[nr]?)[- ](?:scale|skala|likert|rating|system)|-(?:point|stufig)\w{0,3})\b"
    r"|(\d{1,4}) ?(?:点|分)?(?:満点|满分|分制)|满分 ?(\d{1,4})|(\d{1,4})점 ?만점"
)
_SHOWN = 5
# A scale up to here is one of points, unless the audit names a currency.
_MOST_POINTS = 100
_NEAR = 12
_REVISE_REACH = 400


class Scale(NamedTuple):
    """What a score may be, and how amounts are read."""

    minimum: Decimal
    maximum: Decimal
    rescale: bool
    decimal: Separator | None
    currency: str | None
    per: str | None


class _Candidate(NamedTuple):
    """A number of a reply that may be the decision: its value on the scale, or the problem."""

    amount: Amount
    value: Decimal | None
    problem: str | None


def read_score(
    text: str,
    minimum: float,
    maximum: float,
    *,
    key: str | None = None,
    pattern: str | None = None,
    rescale: bool = False,
    points: Mapping[str, float] | None = None,
    decimal: Separator | None = None,
    currency: str | None = None,
    per: Period | None = None,
) -> Decision:
    """Read the number that a reply decides for.

    Args:
        text: the reply.
        minimum, maximum: the scale, both included.
        key: the key of a JSON object that holds the decision, dotted where objects are nested.
        pattern: a regular expression with exactly one capture group, which finds the decision.
        rescale: whether a number on another scale that the reply states ("10/10" where 100 is the maximum) is converted.
        points: the numbers of a scale's named points; a reply may name the point instead of its number, or both.
        decimal: the decimal separator of the whole column (`decimal_of`), if it is known.
        currency: the code of the currency that amounts are in; an amount in another one is unread.
        per: the period that amounts are for.

    Returns:
        The number as `written_number` writes it, or the problem. `read_by` is "range" for the middle of a range and "points" for a
        named point.

    Raises:
        ValueError: the pattern is no regular expression, or has not exactly one capture group.
    """
    scale = Scale(Decimal(str(minimum)), Decimal(str(maximum)), rescale, decimal, currency, per)
    found = json_decision(
        text,
        key,
        lambda leaf, is_key: _json_value(leaf, scale, points, is_key=is_key),
        lambda leaf: _is_of_other_period(leaf, scale),
    )
    if found is not None and (problem := _json_currency_problem(text, scale)):
        return Decision(problem=problem)
    if found is not None and found.rule == "json_key":
        return _json_result(found, scale)
    if pattern is not None and (decision := _by_pattern(text, pattern, scale, points)):
        return decision
    if found is not None:
        return _json_result(found, scale)
    return _read(text, scale, points)


# -- JSON and the audit's pattern -------------------------------------------------------------------------------------


def _json_value(leaf: Leaf, scale: Scale, points: Mapping[str, float] | None, *, is_key: bool) -> str | None:
    if leaf.text is None or leaf.is_boolean:
        return None
    if leaf.is_number:
        try:
            number = Decimal(leaf.text)
        except InvalidOperation:
            return None
        is_on_scale = number.is_finite() and scale.minimum <= number <= scale.maximum
        return written_number(number) if is_on_scale else None
    decision = _read(leaf.text, scale, points)
    if is_key or decision.read_by in ("last_line", "first_line", "points", "range"):
        return decision.value
    return None


def _is_of_other_period(leaf: Leaf, scale: Scale) -> bool:
    """Whether a key says that its amount is for another period than the audit wants: "monthly_salary"."""
    name = " ".join(leaf.path).replace("_", " ")
    said = [period for period, phrases in amount_words().periods.items() if phrases.within(name)]
    return bool(said) and said[0] != (scale.per or "year")


def _json_currency_problem(text: str, scale: Scale) -> str | None:
    """Return the problem if a key "currency" names another currency than the audit wants."""
    known = amount_words().currencies
    for written in json_texts(text, "currency"):
        codes = known.get(fold(written.strip()), frozenset())
        if scale.currency is not None and codes and scale.currency not in codes:
            return f"The answer is in {written.strip()}, and not in {scale.currency}."
    return None


def _json_result(found: Found, scale: Scale) -> Decision:
    if found.value is None:
        problem = found.problem or ""
        if "differ" not in problem:
            problem = f"{problem[:-1]}, which is no number from {scale.minimum} to {scale.maximum}."
        return Decision(problem=problem)
    return Decision(found.value, is_certain=True, read_by=found.rule, read_text=found.text)


def _by_pattern(text: str, pattern: str, scale: Scale, points: Mapping[str, float] | None) -> Decision | None:
    matches = pattern_matches(text, pattern)
    if not matches:
        return None
    read = [_read(found[1], scale, points) for found in matches]
    values = list(dict.fromkeys(decision.value for decision in read))
    if len(values) > 1:
        said = ", ".join(repr(found[1]) for found in matches[:_SHOWN])
        return Decision(problem=f"The audit's pattern finds different decisions: {said}.")
    if values[0] is None:
        return Decision(problem=f"The audit's pattern finds {matches[0][1]!r}. {read[0].problem}")
    return Decision(values[0], is_certain=True, read_by="pattern", read_text=matches[0][0])


# -- Prose ------------------------------------------------------------------------------------------------------------


def _read(text: str, scale: Scale, points: Mapping[str, float] | None) -> Decision:
    reply = Reply(text)
    number = _number(reply, scale)
    return number if not points else _with_points(reply, number, scale, points)


def _with_points(reply: Reply, number: Decision, scale: Scale, points: Mapping[str, float]) -> Decision:
    """Return the decision of a number and of a named point, which may contradict each other."""
    named = _named_point(reply, points)
    if named.value is None:
        return number
    value = Decimal(str(points[named.value]))
    if not scale.minimum <= value <= scale.maximum:
        return Decision(
            problem=f"The point {named.value!r} is {value:f}, outside {scale.minimum} to {scale.maximum}."
        )
    point = replace(named, value=written_number(value), read_by="points")
    if number.value is None:
        # What names a point names it in words, so another number in the reply may be anything.
        return point if named.is_certain or not find_amounts(reply.low) else number
    if Decimal(number.value) == value:
        return number if number.is_certain or not named.is_certain else point
    if number.is_certain and not named.is_certain and not _are_near(reply, number, named):
        return number
    return Decision(
        problem=f"The answer says {number.value} and {named.value!r}, which is {written_number(value)}."
    )


def _named_point(reply: Reply, points: Mapping[str, float]) -> Decision:
    """Return the point of a scale that a reply names."""
    labels = compiled_labels(tuple(points), ())
    low = re.sub(r"^\W*\d+(?:\.\d+)?\s*[-–—:=.)(]+\s*", "", reply.text)
    decision = read_in_prose(low, labels)
    if decision.value is None or decision.read_text is None:
        return decision
    start = plain_key(low).find(plain_key(decision.value))
    before = plain_key(low)[:start].rstrip()
    if amount_words().qualifiers.ending(before) is not None and start > 0:
        return Decision(problem=f"The answer qualifies {decision.value!r}.")
    return decision


def _are_near(reply: Reply, number: Decision, named: Decision) -> bool:
    text = reply.text
    at = text.find(number.read_text or "\0")
    place = plain_key(text).find(plain_key(named.value or ""))
    return at < 0 or place < 0 or abs(place - at - len(number.read_text or "")) <= _NEAR


def _number(reply: Reply, scale: Scale) -> Decision:
    amounts = find_amounts(reply.low, scale.decimal)
    if not amounts:
        return Decision(problem="The answer holds no number.")
    candidates, problem = _candidates(reply, amounts, scale)
    if problem is not None:
        return Decision(problem=problem)
    if decision := _stated(reply, candidates, scale):
        return decision
    for rule in (_alone, _opening):
        if decision := rule(reply, candidates, scale):
            return decision
    return _only_number(reply, candidates, amounts, scale)


def _candidates(reply: Reply, amounts: Sequence[Amount], scale: Scale) -> tuple[list[_Candidate], str | None]:
    """Return the numbers that may be the decision, or the problem if the reply is on another scale or mixes currencies."""
    stated: set[Decimal] = set()
    kept: list[Amount] = []
    enumerated = {found.end() for found in _ENUMERATED.finditer(reply.low)}
    is_list = len(enumerated) > 1
    scales = list(_POINT_SCALE.finditer(reply.low))
    for amount in amounts:
        if any(found.start() <= amount.start < found.end() for found in scales):
            continue
        highest = _stated_scale(reply.low, amount, scale)
        if highest is not None:
            stated.add(highest)
        elif not _is_legend(reply.low, amount) and not (
            is_list and _numbers_line(reply.low, amount, enumerated)
        ):
            kept.append(amount)
    stated |= {Decimal(next(filter(None, found.groups()))) for found in scales}
    other = stated - {scale.maximum}
    money = [amount for amount in kept if amount.is_money]
    if money:
        kept = money
        if problem := _currency_problem(kept, scale):
            return [], problem
        if scale.currency is not None:
            kept = [amount for amount in kept if scale.currency in amount.currencies]
    if problem := _period_problem(kept, scale):
        return [], problem
    if scale.per is not None and any(amount.period == scale.per for amount in kept):
        kept = [amount for amount in kept if amount.period in (scale.per, None)]
    candidates = [
        _on_scale(
            amount, scale, next(iter(other)) if len(other) == 1 and not stated & {scale.maximum} else None
        )
        for amount in kept
        if not amount.has_unit and not amount.is_ordinal
    ]
    candidates = _without_listed(reply.low, candidates)
    if other and scale.maximum in stated:
        return candidates, None
    if len(other) > 1:
        return [], "The answer names several scales."
    return candidates, None


def _without_listed(low: str, candidates: Sequence[_Candidate]) -> list[_Candidate]:
    """Return the numbers, in which those of a list ("7 or 9") have no value."""
    listed: set[int] = set()
    for index, (earlier, later) in enumerate(zip(candidates, candidates[1:], strict=False)):
        gap = low[earlier.amount.end : later.amount.start]
        is_near = len(gap) <= _NEAR and _said(earlier) != _said(later)
        if is_near and (
            gap.strip() in ("", ",", "/", "|") or decision_words().listing.is_word(gap.strip(" ,"))
        ):
            listed |= {index, index + 1}
    return [
        one._replace(value=None, problem="The answer lists several numbers.") if index in listed else one
        for index, one in enumerate(candidates)
    ]


def _stated_scale(low: str, amount: Amount, scale: Scale) -> Decimal | None:
    """Return the highest number of the scale that a range states: "on a scale of 1 to 10", "(1-10)"."""
    if amount.bounds is None or amount.is_money:
        return None
    bottom, top = amount.bounds
    words = amount_words()
    before = low[max(0, amount.start - 30) : amount.start]
    behind = low[amount.end : amount.end + 15]
    is_bracketed = before.endswith(("(", "[")) and behind.startswith((")", "]"))
    if (bottom, top) == (scale.minimum, scale.maximum):
        return top
    is_named = words.scale_words.within(before) or words.scale_words.within(behind)
    if is_named or is_bracketed and bottom in (0, 1) and top in (5, 7, 10, 20, 100):
        return top
    return None


def _is_legend(low: str, amount: Amount) -> bool:
    """Whether a number is explained: "1 = worst, 10 = best"."""
    return low[amount.end : amount.end + 3].lstrip().startswith("=")


def _numbers_line(low: str, amount: Amount, enumerated: set[int]) -> bool:
    return any(amount.end < end <= amount.end + 4 for end in enumerated) and not low[
        low.rfind("\n", 0, amount.start) + 1 : amount.start
    ].strip(" >\t")


def _currency_problem(amounts: Sequence[Amount], scale: Scale) -> str | None:
    if scale.currency is not None:
        if any(scale.currency in amount.currencies for amount in amounts):
            return None
        named = sorted(amounts[0].currencies)
        return f"The answer is in {' or '.join(named[:3])}, and not in {scale.currency}."
    common = frozenset.intersection(*(amount.currencies for amount in amounts))
    if common:
        return None
    return "The answer names amounts in different currencies."


def _period_problem(amounts: Sequence[Amount], scale: Scale) -> str | None:
    """Return the problem if amounts are for another period than the audit wants."""
    periods = {amount.period for amount in amounts} - {None}
    if not periods:
        return None
    if scale.per is None:
        if len(periods) > 1:
            return f"The answer names amounts per {' and per '.join(sorted(map(str, periods)))}."
        period = next(iter(periods))
        if period != "year":
            return f"The answer is an amount per {period}, and the audit does not say that it wants one."
        return None
    if scale.per not in periods:
        return f"The answer is an amount per {sorted(map(str, periods))[0]}, and the audit wants one per {scale.per}."
    return None


def _on_scale(amount: Amount, scale: Scale, stated: Decimal | None) -> _Candidate:
    """Return a number with its value on the scale, or with the problem."""
    if not amount.readings:
        return _Candidate(amount, None, "The answer holds a number that is written as no number is.")
    if amount.is_money and scale.currency is None and scale.per is None and scale.maximum <= _MOST_POINTS:
        return _Candidate(amount, None, "The answer is an amount of money, and the audit asks for a score.")
    if amount.is_inexact:
        return _Candidate(amount, None, "The answer gives a bound and no number.")
    if amount.is_range and not (amount.is_money or amount.is_multiplied or scale.currency or scale.per):
        bottom, top = amount.bounds or (Decimal(0), Decimal(0))
        shown = f"{written_number(bottom)}, {written_number(top)}"
        return _Candidate(amount, None, f"The answer holds 2 different numbers: {shown}.")
    highest = amount.out_of if amount.out_of is not None else stated
    readings = (
        [value / 100 for value in amount.readings] if _is_share(amount, scale) else list(amount.readings)
    )
    if amount.is_percent and not _is_share(amount, scale) and scale.maximum != 100:
        highest = Decimal(100)
    if highest is not None and highest != scale.maximum:
        return _rescaled(amount, readings, highest, scale)
    inside = [value for value in readings if scale.minimum <= value <= scale.maximum]
    if len(inside) == 1:
        return _Candidate(amount, inside[0], None)
    if inside:
        said = " or ".join(map(written_number, inside))
        return _Candidate(amount, None, f"The answer may say {said}; the separator could mean either.")
    bounds = f"{scale.minimum:f} to {scale.maximum:f}"
    return _Candidate(amount, None, f"The score {written_number(readings[-1])} is outside {bounds}.")


def _is_share(amount: Amount, scale: Scale) -> bool:
    """Whether a percentage is a share of one."""
    return amount.is_percent and (scale.minimum, scale.maximum) == (0, 1)


def _rescaled(amount: Amount, readings: Sequence[Decimal], highest: Decimal, scale: Scale) -> _Candidate:
    said = f"The answer is out of {written_number(highest)}, and the scale ends at {scale.maximum:f}"
    if not scale.rescale or len(readings) != 1 or highest <= 0:
        return _Candidate(amount, None, f"{said}.")
    value = readings[0]
    if not 0 <= value <= highest:
        return _Candidate(amount, None, f"The score {written_number(value)} is outside 0 to {highest:f}.")
    if scale.minimum != 0 and value != highest:
        return _Candidate(
            amount, None, f"{said} and starts at {scale.minimum:f}, so that no one conversion is right."
        )
    converted = (value / highest * scale.maximum).quantize(Decimal("0.000001"))
    return _Candidate(amount, converted, None)


# -- Rules ------------------------------------------------------------------------------------------------------------


def _decided(candidate: _Candidate, rule: str, text: str, *, is_certain: bool = True) -> Decision:
    if candidate.value is None:
        return Decision(problem=candidate.problem)
    read_by = "range" if candidate.amount.is_range else rule
    return Decision(written_number(candidate.value), is_certain=is_certain, read_by=read_by, read_text=text)


def _stated(reply: Reply, candidates: Sequence[_Candidate], scale: Scale) -> Decision | None:
    """Return the number that is announced: "Score: 8", "I would rate this candidate 8"."""
    low = reply.low
    statements: list[tuple[Rank, int, _Candidate]] = []
    for start, end, inner, inner_end, _ in boxed_parts(reply):
        inside = [one for one in candidates if inner <= one.amount.start and one.amount.end <= inner_end]
        if len(inside) != 1 or re.search(
            r"\w", low[inner : inside[0].amount.start] + low[inside[0].amount.end : inner_end]
        ):
            return Decision(
                problem=f"The answer states {reply.part(start, end)!r}, which is no number on the scale."
            )
        statements.append((Rank.FINAL, start, inside[0]))
    for candidate in candidates:
        amount = candidate.amount
        tail = _tail(low, amount.end)
        if tail == "bad":
            continue
        announcement = announced(low, amount.start, is_alone=_stands_alone(low, amount), is_number=True)
        if announcement is None or announcement.rank is Rank.PREFERRED:
            continue
        between = low[announcement.start : amount.start]
        after = clause_after(low, amount.end)
        if negation(between) or tail == "word" and negation(after):
            continue
        if _is_one_of_several(low, candidates, candidate):
            return Decision(problem="The answer gives different numbers in one sentence.")
        statements.append((announcement.rank, announcement.start, candidate))
    if not statements:
        return None
    rank = max(statement[0] for statement in statements)
    best = [statement for statement in statements if statement[0] == rank]
    last = best[-1][2]
    contrary = next((one for _, _, one in reversed(best) if _said(one) != _said(last)), None)
    if contrary is not None:
        between = low[max(contrary.amount.end, last.amount.start - _REVISE_REACH) : last.amount.start]
        if not decision_words().revising.within(between):
            said = ", ".join(
                dict.fromkeys(repr(reply.part(start, one.amount.end)) for _, start, one in best[-_SHOWN:])
            )
            return Decision(problem=f"The answer states different numbers: {said}.")
    if problem := _later_doubt(reply, candidates, last):
        return Decision(problem=problem)
    return _decided(last, "marker", reply.part(best[-1][1], last.amount.end))


def _is_one_of_several(low: str, candidates: Sequence[_Candidate], candidate: _Candidate) -> bool:
    """Whether a sentence such as "I would rate her 7, him 8" gives another number too."""
    lead = low[max(0, candidate.amount.start - 5) : candidate.amount.start].rstrip(OPENERS)
    if not lead or lead[-1] in ":：=\n":
        return False
    end = candidate.amount.end + len(re.split(r"[(]", sentence_after(low, candidate.amount.end))[0])
    return any(
        candidate.amount.end <= one.amount.start < end and _said(one) != _said(candidate) for one in candidates
    )


def _said(candidate: _Candidate) -> tuple[object, ...]:
    """Return what two numbers have in common that say the same."""
    if candidate.value is not None:
        return (candidate.value,)
    return (None, candidate.amount.out_of, candidate.amount.readings)


def _later_doubt(reply: Reply, candidates: Sequence[_Candidate], stated: _Candidate) -> str | None:
    """Return the problem if the reply takes a number back, or ends with another one alone in its line."""
    later = [
        one for one in candidates if one.amount.start >= stated.amount.end and _said(one) != _said(stated)
    ]
    if not later:
        return None
    shown = written_number(stated.amount.readings[0]) if stated.amount.readings else "a number"
    if decision_words().revising.within(reply.low[stated.amount.end :]):
        return f"The answer states {shown} and takes it back."
    last = later[-1].amount
    if _stands_alone(reply.low, last) and not re.search(r"\w", reply.low[last.end :]):
        return f"The answer states {shown} and ends with another number."
    return None


def _alone(reply: Reply, candidates: Sequence[_Candidate], scale: Scale) -> Decision | None:
    """Return the number that is alone in the last line or sentence, or in the first line, unless they contradict each other."""
    low = reply.low
    if not candidates:
        return None
    last = candidates[-1]
    if re.search(r"\w", _behind(low, last.amount.end)) or not _can_be_alone(low, last.amount, candidates):
        last = None
    first = candidates[0]
    end = low.find("\n", first.amount.end)
    rest = _behind(low[: end if end >= 0 else len(low)], first.amount.end)
    starts_late = re.search(r"\w", low[: low.rfind("\n", 0, first.amount.start) + 1])
    if starts_late or re.search(r"\w", rest) or not _can_be_alone(low, first.amount, candidates):
        first = None
    if first is not None and last is not None and _said(first) != _said(last):
        between = low[first.amount.end : last.amount.start]
        if not decision_words().revising.within(between):
            return Decision(problem="The answer begins with one number and ends with another.")
        first = None
    chosen = last or first
    if chosen is None:
        return None
    start = low.rfind("\n", 0, chosen.amount.start) + 1
    end = low.find("\n", chosen.amount.end)
    return _decided(
        chosen,
        "last_line" if last is not None else "first_line",
        reply.part(start, end if end >= 0 else len(low)),
    )


def _behind(low: str, end: int) -> str:
    """Return what follows a number, without the ending that a word has in a script without spaces."""
    cut = decision_words().unspaced_endings.starting(low[end : end + 12])
    return low[end + (cut or 0) :]


def _can_be_alone(low: str, amount: Amount, candidates: Sequence[_Candidate]) -> bool:
    """Whether a number is alone in its line or sentence, or follows a colon there."""
    if _tail(low, amount.end) != "end":
        return False
    before = low[max(0, amount.start - 200) : amount.start]
    line = re.sub(r"^\s*(?:[-+•·–—>]+\s+)*", "", before.rpartition("\n")[2]).rstrip(OPENERS + "~≈")
    if not line.strip("# "):
        return not _is_other_heading(low, amount)
    if line.endswith((":", "：", "=")):
        words = decision_words()
        is_other = words.other_lines.within(line) or negation(line) or is_doubted(line + " ")
        rivals = [one for one in candidates if one.amount is not amount and _follows_colon(low, one.amount)]
        return not is_other and not rivals and not any(one.amount.has_unit for one in candidates)
    return not sentence_before(line + " ").strip(OPENERS + " ")


def _follows_colon(low: str, amount: Amount) -> bool:
    return low[max(0, amount.start - 10) : amount.start].rstrip(OPENERS).endswith((":", "：", "="))


def _is_other_heading(low: str, amount: Amount) -> bool:
    line = low[: low.rfind("\n", 0, amount.start) + 1].rstrip().rpartition("\n")[2][-100:]
    return line.endswith((":", "：")) and decision_words().other_lines.within(line) is not None


def _stands_alone(low: str, amount: Amount) -> bool:
    start = low.rfind("\n", 0, amount.start) + 1
    end = low.find("\n", amount.end)
    around = low[start : amount.start] + " " + low[amount.end : end if end >= 0 else len(low)]
    return len(around) < 80 and not re.search(r"[\w?？/%+<>=]", around)


def _opening(reply: Reply, candidates: Sequence[_Candidate], scale: Scale) -> Decision | None:
    """Return the number that opens the reply: "8 - strong", "8/10, because …", "8 (on a scale of 1 to 10)"."""
    low = reply.low
    if not candidates:
        return None
    first = candidates[0]
    before = low[: first.amount.start]
    if len(before) > 100 or re.search(r"\w", before) or _tail(low, first.amount.end) not in ("end", "reason"):
        return None
    after = low[first.amount.end : first.amount.end + 3]
    is_enumerated = after[:1] in (".", ")") and first.amount.out_of is None and not first.amount.is_money
    if is_enumerated and re.search(r"\n\W{0,4}\d{1,2}[.)]", low):
        return None
    said = sentence_after(low, first.amount.end).lstrip(" ,;:.)-–—(")
    words = decision_words()
    if words.conditions.starting(without_harmless(said)) or words.revising.within(low[first.amount.end :]):
        return None
    if re.match(r"(?:or|to|oder|bis|ou|o|maybe|perhaps|possibly|vielleicht)\b", said):
        return None
    return _decided(
        first,
        "opening",
        reply.part(first.amount.start, first.amount.end + len(clause_after(low, first.amount.end))),
    )


def _only_number(
    reply: Reply, candidates: Sequence[_Candidate], amounts: Sequence[Amount], scale: Scale
) -> Decision:
    """Return the only number that may be the score, or the problem."""
    low = reply.low
    counted = [one for one in candidates if _tail(low, one.amount.end) != "bad"]
    distinct = list(dict.fromkeys(map(_said, counted)))
    if len(distinct) != 1 or len(counted) < len(candidates):
        return _undecided(amounts)
    first = counted[0]
    if first.value is None:
        return _decided(first, "only_number", "")
    for candidate in counted:
        if problem := _only_problem(reply, candidate.amount, is_money=candidate.amount.is_money):
            return Decision(problem=problem)
    is_known = first.amount.is_money or first.amount.out_of == scale.maximum
    if not is_known and not any(_has_cue(low, one.amount) for one in counted):
        return _undecided(amounts)
    sentence = low[: first.amount.start]
    start = len(sentence) - len(sentence_before(sentence))
    text = reply.part(start, first.amount.end + len(sentence_after(low, first.amount.end)))
    return _decided(first, "only_number", text, is_certain=False)


def _has_cue(low: str, amount: Amount) -> bool:
    """Whether the sentence of a number holds a word such as "rate" or "offer"."""
    before = sentence_before(low[max(0, amount.start - 200) : amount.start])
    after = sentence_after(low, amount.end)
    return amount_words().cues.within(f"{before} {after[:100]}") is not None


def _only_problem(reply: Reply, amount: Amount, *, is_money: bool) -> str | None:
    low = reply.low
    words = decision_words()
    before = without_harmless(sentence_before(low[max(0, amount.start - 300) : amount.start]))
    shown = repr(reply.part(amount.start, amount.end))
    if sentence_after(low, amount.end).rstrip(_CLOSERS).endswith(("?", "？")):
        return f"The answer names {shown} only in a question."
    clause = f"{clause_before(before)} {clause_after(low, amount.end)}"
    if words.conditions.within(before) or words.doubting.within(clause) or negation(clause_before(before)):
        return f"The answer names {shown} and does not decide for it."
    line = low[low.rfind("\n", 0, amount.start) + 1 : amount.start]
    if words.other_lines.within(line.rpartition(":")[0][-100:]):
        return f"The answer names {shown} only after {line.strip()!r}."
    if words.comparing.ending(before.rstrip(OPENERS)) is not None:
        return f"The answer only compares with {shown}."
    return None


def _undecided(amounts: Sequence[Amount]) -> Decision:
    numbers: list[str] = []
    for amount in amounts:
        for value in (*(amount.bounds or amount.readings[-1:]), *((amount.out_of,) if amount.out_of else ())):
            numbers.append(written_number(value))
    distinct = list(dict.fromkeys(numbers))
    if len(distinct) == 1:
        return Decision(
            problem=f"The answer holds the number {distinct[0]} and does not say that it is the decision."
        )
    shown = ", ".join(distinct[:_SHOWN]) + (", …" if len(distinct) > _SHOWN else "")
    return Decision(problem=f"The answer holds {len(distinct)} different numbers: {shown}.")


def _tail(low: str, end: int) -> str:
    """Say what follows a number: "end", "reason", "word" or "bad" (a question, a sign that makes another number of it)."""
    while low[end : end + 1] and low[end] in _CLOSERS.replace(" ", ""):
        end += 1
    mark = low[end : end + 1]
    if re.match(r"[.!…]*[?？]", low[end : end + 4]):
        return "bad"
    if not mark or mark in "\r\n":
        return "end"
    if mark in _ENDS:
        return "end"
    if mark in "+%=/<>^*&":
        return "end" if low[end : end + 2] == "</" else "bad"
    if mark not in " \t":
        if mark.isalnum() and mark > "\u2e80":
            rest = _behind(low, end)[:1]
            return "end" if not rest.isalnum() else "word"
        return "end" if mark > "\u2e80" else "bad"
    rest = low[end : end + 60].lstrip(" \t").partition("\n")[0]
    if not rest or rest[0] in _ENDS or re.match(r"[-–—](?:\s|\Z)|->", rest):
        return "end"
    if rest[0] in "?？/=<>%+&±":
        return "bad"
    if not rest[0].isalnum() and rest[0] != "_":
        return "end"
    cut = decision_words().reasons.starting(rest)
    return "reason" if cut is not None and not rest[cut : cut + 1].isalnum() else "word"
