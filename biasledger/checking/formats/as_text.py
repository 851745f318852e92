"""A check in sentences for people."""

from __future__ import annotations

import textwrap

from biasledger.checking.cases import ACCEPTED, FAILED, STATUSES, WARNED, Check
from biasledger.checking.outputs import sentences
from collector.terminal import on_one_line

_WIDTH = 118
_HEADINGS = {FAILED: "Failed", WARNED: "Warnings", ACCEPTED: "Accepted until their exception expires"}


def write(check: Check) -> str:
    """For people: the headline, counts by category and measure, a sentence for each alarm, what may be tried."""
    lines = [check.headline]
    if check.is_simulated:
        lines.append("Some of the answers are simulated.")
    if check.n_compared:
        counts = ", ".join(
            f"{count} {verdict.replace('_', ' ')}" for verdict, count in sorted(check.n_compared.items())
        )
        lines.append(f"Against the baseline: {counts}.")
    lines += [*check.notes, *sentences(check.outputs)]
    if check.cases:
        lines += ["", *_summary_table(check)]
    for status, heading in _HEADINGS.items():
        cases = [case for case in check.cases if case.status == status]
        if cases:
            lines += ["", f"{heading}:"]
        for case in cases:
            lines += _paragraph(case.sentence, "  - ")
    lines += _suggestions(check)
    return "\n".join(on_one_line(line) for line in lines) + "\n"


def _paragraph(text: str, first: str) -> list[str]:
    return textwrap.wrap(text, _WIDTH, initial_indent=first, subsequent_indent=" " * len(first)) or [first]


def _summary_table(check: Check) -> list[str]:
    rows: list[tuple[str, ...]] = [("audit", "target", "category", "measure", *STATUSES)]
    rows += [
        (audit, target, category, measure, *(str(counts[status] or "") for status in STATUSES))
        for audit, target, category, measure, counts in check.summary()
    ]
    widths = [max(len(on_one_line(row[column])) for row in rows) for column in range(len(rows[0]))]
    return [
        "  ".join(
            on_one_line(cell).ljust(width) if column < 4 else cell.rjust(width)
            for column, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in rows
    ]


def _suggestions(check: Check) -> list[str]:
    lines: list[str] = []
    said: set[str] = set()
    for case in check.cases:
        if case.status not in {FAILED, WARNED}:
            continue
        for one in case.suggestions:
            if one.suggestion not in said:
                said.add(one.suggestion)
                lines += _paragraph(
                    f"{one.kind}, for {case.method}: {one.suggestion} [{one.source}].", "  - "
                )
    return ["", "What may be tried:", *lines] if lines else []
