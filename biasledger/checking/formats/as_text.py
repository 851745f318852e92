"""A check in sentences for people."""

from __future__ import annotations

import textwrap
from collections import Counter
from collections.abc import Collection, Iterator, Sequence

from biasledger.checking.cases import FAILED, HEADINGS, STATUSES, WARNED, Case, Check
from biasledger.checking.outputs import sentences
from collector.terminal import on_one_line

_WIDTH = 118
_FAILURES_OF_AN_AUDIT = 10
_FAILED_OUTPUTS_OF_A_RUN = 3


def write(check: Check, *, shows_all: bool = True) -> str:
    """For people: the result, failures by audit, and what may be tried; the result again, as a log is read from its end.

    shows_all: also warnings, accepted alarms, all failures of an audit, and counts by measure.
    """
    lines = [check.result, check.headline]
    if check.simulated:
        lines.append(check.simulated)
    if check.n_compared:
        counts = ", ".join(
            f"{count} {verdict.replace('_', ' ')}" for verdict, count in sorted(check.n_compared.items())
        )
        lines.append(f"Against the baseline: {counts}.")
    lines += check.notes
    for pair in sorted({(case.audit, case.target) for case in check.cases}):
        lines += _of_audit(
            *pair, [case for case in check.cases if (case.audit, case.target) == pair], shows_all
        )
    for line in sentences(
        check.outputs, check.failed_outputs, None if shows_all else _FAILED_OUTPUTS_OF_A_RUN
    ):
        text = line.lstrip("- ")
        lines += _paragraph(text, line.removesuffix(text)) if text != line else ["", *_paragraph(text, "")]
    if shows_all and check.cases:
        lines += ["", *_summary_table(check)]
    lines += _suggestions(check, {FAILED, WARNED} if shows_all else {FAILED})
    if check.cases:
        more = [] if shows_all else ["`biasledger check --all` lists every failure and warning."]
        lines += ["", *more, check.result]
    return "\n".join(on_one_line(line) for line in lines) + "\n"


def _of_audit(audit: str, target: str, cases: Sequence[Case], shows_all: bool) -> Iterator[str]:
    counts = Counter(case.status for case in cases)
    yield ""
    yield f"{audit}, target {target}: {', '.join(f'{counts[one]} {one}' for one in STATUSES if counts[one])}"
    for status, heading in HEADINGS.items() if shows_all else [(FAILED, "Failed")]:
        shown = [case for case in cases if case.status == status]
        if shown and shows_all:
            yield f"  {heading}:"
        left_out = 0 if shows_all else max(len(shown) - _FAILURES_OF_AN_AUDIT, 0)
        for case in shown[: len(shown) - left_out]:
            sentence = case.sentence.removeprefix(f"{target}, {audit}: ")
            yield from _paragraph(sentence[:1].upper() + sentence[1:], "  - ")
        if left_out:
            yield f"  - {left_out} more"


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


def _suggestions(check: Check, statuses: Collection[str]) -> list[str]:
    lines: list[str] = []
    said: set[str] = set()
    for case in check.cases:
        if case.status not in statuses:
            continue
        for one in case.suggestions:
            if one.suggestion not in said:
                said.add(one.suggestion)
                lines += _paragraph(
                    f"{one.kind}, for {case.method}: {one.suggestion} [{one.source}].", "  - "
                )
    return ["", "Possible fixes:", *lines] if lines else []
