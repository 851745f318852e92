"""Decisions in replies: one of several labels, a number on a scale, or an amount of money.

`read_label` and `read_score` try ordered rules, the most explicit first. Every decision names the rule that read it and the text
that the rule read. A reply that no rule reads stays unread, because a wrong reading cannot be repaired later.
"""

from __future__ import annotations

from collector.answers.decisions.amounts import currencies_of
from collector.answers.decisions.decision import Decision, written_number
from collector.answers.decisions.labels import read_label
from collector.answers.decisions.own_pattern import compiled_pattern
from collector.answers.decisions.scores import read_score
from collector.answers.texts.separators import decimal_of

__all__ = [
    "Decision",
    "compiled_pattern",
    "currencies_of",
    "decimal_of",
    "read_label",
    "read_score",
    "written_number",
]
