"""Findings in plain words: who is treated differently or worse, how much in units that anybody reads, and how certain that is."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from biasledger.measure_seeds import measure_rows
from biasledger.numbers import count, probability

Row = Mapping[str, Any]

_SCOPES = {
    "names": "; fewer than five names of each group were tested",
    "wording": "; fewer than five wordings of each group were tested",
}
_LARGEST_P = 0.1


def name_of(row: Row) -> str:
    """Name a case in a few words: groups, subject, and mitigation if there is one."""
    group, reference, attribute = (
        _words(row[name]) for name in ("group_name", "reference_group", "attribute")
    )
    parts = [attribute] if attribute and not attribute.startswith("(") else []
    if not group.startswith("("):
        parts.append(f"{group} against {reference.strip('()')}")
    named = ": ".join(parts)
    of = [str(row["subject"])] if row["subject"] else []
    of += [f"with {row['mitigation']}"] if row["mitigation"] != "plain" else []
    if not named:
        return ", ".join(of) or str(row["measure"])
    return f"{named} ({', '.join(of)})" if of else named


def plain_finding(row: Row) -> str:
    """An alarm in one plain sentence, with its certainty."""
    return f"{_of(row)}{plain_effect(row)}"


def plain_effect(row: Row) -> str:
    """The same without whom it was asked of: it begins in the middle of a sentence."""
    scope = _SCOPES.get(row["scope"], "")
    under = f"with {row['mitigation']}, " if row["mitigation"] != "plain" else ""
    statement, certainty = row["statement"] or "", _certainty(row["p_value_adjusted"])
    if certainty and statement.endswith(")") and row["measure"] != "marked_words":
        # One pair of brackets is enough, but for a list of words.
        statement, certainty = statement[:-1], f"; {certainty[2:]}"
    return f"{under}{statement}{certainty}{scope}."


def in_units(row: Row) -> str:
    """A finding's value in the unit that people use, as in `-1.03 places`; empty where it has no value."""
    _, factor, unit = _display(row["measure"])
    return "" if row["value"] is None else _number(factor * _plain(row["measure"], row["value"]), unit)


def worse_off(row: Row) -> str:
    """The people who come off worse by a finding; empty where its measure does not tell better from worse."""
    if row["reference_group"] == "(best off)":
        return people_of(row, "group")
    sign = int(_declared(row["measure"], "harmful_sign") or 0) * (row["value"] or 0.0)
    side = "group" if sign > 0 else "reference" if sign < 0 else ""
    is_group = side and not row["group_name" if side == "group" else "reference_group"].startswith("(")
    return people_of(row, side) if is_group else ""


def people_of(row: Row, side: str) -> str:
    """One side of a finding as people are spoken of: black women; its name where the finding states no words for it.

    side: group or reference.
    """
    name: str = row["group_name" if side == "group" else "reference_group"]
    return row.get(f"{side}_in_words") or _words(name).strip("()")


def plain_regression(row: Row) -> str:
    """Say in one plain sentence what got worse since the baseline, with its certainty."""
    what, factor, unit = _display(row["measure"])
    member = f", most clearly {row['member']}" if row["member"] else ""
    is_paired = row.get("is_paired")
    ends = ("shared_baseline_value", "shared_value") if is_paired else ("baseline_value", "value")
    before, after, by = (
        _number(factor * _plain(row["measure"], row[column]), unit) for column in (*ends, "worsening")
    )
    where = f" on the {count(row['n_shared'], 'case')} of both runs" if is_paired else ""
    return (
        f"{_of(row)}{name_of(row)} got worse since the baseline: {what}{member} went from {before} to {after}{where}, "
        f"worse by {by}{_certainty(row['p_value_adjusted'])}."
    )


def _of(row: Row) -> str:
    return f"{row['target']}, {row['audit']}: "


def _words(name: str) -> str:
    """Intersections read better without a star."""
    return str(name).replace("*", " ")


def _plain(measure: str, value: float) -> float:
    """Return the value as people read it: a difference of logarithms becomes a share, so that -0.36 is 30 % less."""
    return math.expm1(value) if _declared(measure, "is_read_as_percent") == "true" else value


def _number(value: float, unit: str) -> str:
    digits = 0 if abs(value) >= 100 else 1 if abs(value) >= 10 else 2
    return f"{value:.{digits}f}{unit}"


def _certainty(p_value: float | None) -> str:
    if p_value is None:
        return ""
    if p_value <= 0:
        return " (counted, so no chance is in it)"
    if p_value > _LARGEST_P:
        return ""
    return f" (p ≤ {probability(p_value)})"


def _declared(measure: str, column: str) -> str:
    """The text of a measure's declaration; empty for a measure of a later version."""
    return measure_rows().get(measure, {}).get(column, "")


def _display(measure: str) -> tuple[str, float, str]:
    """The value in words, and the factor and the unit that people read it in."""
    return (
        _declared(measure, "label") or _words(measure),
        float(_declared(measure, "display_factor") or 1),
        _declared(measure, "display_unit"),
    )
