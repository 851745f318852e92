"""Changes between two runs as text and as JSON of a stable shape."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict

from biasledger.comparing.changes import QUALITY, SHARES, VERDICTS, Change, Changes, QualityChange
from biasledger.numbers import count, number, percent, probability
from collector.terminal import on_one_line

JSON_VERSION = 1
_SHOWN = ("worse", "better")


def as_text(changes: Changes, *, show_all: bool = False) -> str:
    """A table of what changed, worst first, and what became of the answers' quality."""
    counts = Counter(change.verdict for change in changes.changes)
    after = changes.after if changes.mitigation == "plain" else f"the same run with {changes.mitigation}"
    said = ", ".join(
        f"{counts[verdict]} {verdict.replace('_', ' ')}" for verdict in VERDICTS if counts[verdict]
    )
    lines = [f"{changes.before} -> {after}: {said or 'nothing could be compared'}."]
    shown = [
        change for change in changes.changes if show_all or change.verdict in _SHOWN or change.is_reversed
    ]
    if shown:
        lines += ["", *_table(shown)]
    elif changes.changes:
        lines.append("No measure is shown to have changed past its tolerance; --all lists every value.")
    lines += changes.left_out
    if changes.quality:
        lines += ["", "Quality of the answers:"]
        lines += [f"  {_quality(one)}" for one in changes.quality]
    return "\n".join(map(on_one_line, [*lines, ""])) + "\n"


def _quality(one: QualityChange) -> str:
    if one.name not in {QUALITY[column] for column in SHARES}:
        return f"{one.name}: {one.before:.4g} -> {one.after:.4g}"
    difference = (
        ""
        if one.low is None or one.high is None
        else f" (difference of {100 * one.low:+.1f} to {100 * one.high:+.1f} percentage points)"
    )
    return f"{one.name}: {percent(one.before, 1)} -> {percent(one.after, 1)}{difference}"


def _table(changes: Sequence[Change]) -> list[str]:
    head = ("verdict", "measure", "about", "before", "after", "worse by", "95 % interval", "p", "adjusted p")
    rows = [head, *(_row(change) for change in changes)]
    widths = [max(len(row[column]) for row in rows) for column in range(len(head))]
    lines = [
        "  ".join(
            cell.ljust(width) if column < 3 else cell.rjust(width)
            for column, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in rows
    ]
    return [
        *lines,
        "p: of no change. adjusted p: of none past the tolerance, one-sided, over all that was compared.",
        *sorted({paired_on(one) for one in changes if one.is_paired}),
        *(
            ["*: both measured again at the size that they share."]
            if any(one.is_at_equal_sizes for one in changes)
            else []
        ),
    ]


def paired_on(change: Change) -> str:
    """Say on which cases a change is compared case by case."""
    n, left_out = change.n_shared or 0, change.n_left_out or 0
    others = (
        f"; {left_out:,} of {n + left_out:,} {'is' if left_out == 1 else 'are'} in one run only"
        if left_out
        else ""
    )
    return f"{change.measure}: paired on {count(n, 'case')}{others}."


def _row(change: Change) -> tuple[str, ...]:
    groups = (
        "" if change.group_name.startswith("(") else f": {change.group_name} against {change.reference_group}"
    )
    about = f"{change.attribute}{groups}{f' ({change.subject})' if change.subject else ''}"
    about += f", {change.member}" if change.member else ""
    interval = (
        "–"
        if change.interval_low is None or change.interval_high is None
        else f"{_signed(change.interval_low)} to {_signed(change.interval_high)}"
    )
    return (
        change.verdict.replace("_", " ") + (", turned round" if change.is_reversed else ""),
        change.measure + ("*" if change.is_at_equal_sizes else ""),
        on_one_line(about),
        number(change.baseline_value),
        number(change.value),
        _signed(change.worsening),
        interval,
        probability(change.p_value),
        probability(change.p_value_adjusted),
    )


def _signed(value: float) -> str:
    return f"{'+' if value > 0 else ''}{number(value)}"


def as_json(all_changes: Sequence[Changes]) -> str:
    """For programs: every comparison with every change; the version rises when a key changes or goes."""
    document = {
        "format": "biasledger-compare",
        "version": JSON_VERSION,
        "comparisons": [asdict(changes) for changes in all_changes],
    }
    return json.dumps(document, indent=2, ensure_ascii=False, allow_nan=False)
