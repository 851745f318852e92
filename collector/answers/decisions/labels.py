"""Read which of several labels a reply decides for.

The rules are tried in order, the most explicit first: JSON, the audit's own pattern, an announcement such as "Final answer: B",
the last line, the first line, the label that opens the reply, the only label that the reply names. Where a rule finds two labels
that contradict each other, the reply is unread: a wrong reading is worse than none.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial

from collector.answers.decisions.decision import Decision
from collector.answers.decisions.json_decisions import (
    Leaf,
    json_decision,
    prose_behind_json,
    without_json,
)
from collector.answers.decisions.mentions import Labels, compiled_labels
from collector.answers.decisions.own_pattern import by_pattern
from collector.answers.decisions.prose_labels import read_in_prose
from collector.answers.texts.decision_words import decision_words
from collector.hints import quoted


def read_label(
    text: str,
    labels: Sequence[str],
    *,
    key: str | None = None,
    pattern: str | None = None,
    options: Mapping[str, str] | None = None,
) -> Decision:
    """Read the label that a reply decides for.

    Args:
        text: the reply.
        labels: those to choose from; case does not matter.
        key: the key of a JSON object that holds the decision, dotted where objects are nested: "result.decision".
        pattern: a regular expression with exactly one capture group, which finds the decision.
        options: of a multiple choice, the text of each label's option; a reply may state the text instead of the label.

    Returns:
        The label as it is listed, or the problem.

    Raises:
        ValueError: the pattern is no regular expression, or has not exactly one capture group.
    """
    compiled = compiled_labels(tuple(labels), tuple((options or {}).items()))
    none = f"none of the labels {quoted(labels)}"
    found = json_decision(
        text, key, lambda leaf, is_key: _json_value(compiled, leaf, is_key=is_key), none, named=compiled.named
    )
    is_declared = found is not None and found.rule == "json_key"
    if pattern is not None and not is_declared:
        found_by_pattern = by_pattern(text, pattern, partial(_named, compiled, none))
        if found_by_pattern is not None:
            return found_by_pattern
    if found is None:
        return read_in_prose(without_json(text), compiled)
    decision = found.decision
    if decision.value is not None and not (is_declared and pattern is not None):
        later = read_in_prose(prose_behind_json(text), compiled)
        if later.read_by == "marker" and later.value != decision.value:
            problem = f"The JSON says {decision.read_text!r}, and the text behind it {later.read_text!r}."
            return Decision(problem=problem)
    return decision


def _json_value(labels: Labels, leaf: Leaf, *, is_key: bool) -> str | None:
    """Return the label that a JSON value is, or states in a sentence under a key that holds the decision."""
    # {"accept": false} does not say "false" where that is a label.
    if leaf.text is None or (leaf.is_boolean and labels.named(leaf.key) is not None):
        return None
    label = labels.named(leaf.text)
    if label is not None:
        return label
    if leaf.is_boolean and is_key:
        words = decision_words().yes if leaf.text == "true" else decision_words().no
        meant = [one for one in labels.labels if one.casefold() in words]
        return meant[0] if len(meant) == 1 else None
    return read_in_prose(leaf.text, labels).value if is_key else None


def _named(labels: Labels, none: str, text: str) -> Decision:
    """Return the label that a text is."""
    label = labels.named(text)
    return Decision(label) if label is not None else Decision(problem=f"It is {none}.")
