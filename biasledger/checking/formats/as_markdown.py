"""A check as Markdown: a comment of a pull request, or the summary of a job."""

from __future__ import annotations

import re
from collections.abc import Sequence

from biasledger.checking.cases import FAILED, HEADINGS, STATUSES, UNDECIDED, WARNED, Case, Check
from collector.terminal import on_one_line

MARK = "<!-- biasledger-check -->"
"""The first line, by which a pipeline finds its comment again to replace it."""

# A comment holds 65,536 characters.
_MOST_CASES = 40
_MOST_SENTENCES = 12
# Characters that Markdown or GitHub would interpret: markup, HTML and addresses.
_MARKS = re.compile(r"[\\`*_{}\[\]#!|~<>&]|(?<=www)\.|:(?=//)")


def write(check: Check) -> str:
    """The result, counts an audit, a sentence for each alarm, and folded what is only a warning, was accepted or may be tried."""
    lines = [MARK, f"### Bias audit: {_text(check.result)}", "", _text(check.headline)]
    if check.simulated:
        lines += ["", check.simulated]
    if check.cases:
        lines += ["", *_counts(check)]
    for status, heading in HEADINGS.items():
        cases = [case for case in check.cases if case.status == status]
        lines += _listed(heading, cases, is_folded=status != FAILED)
    lines += _folded("Possible fixes", _suggestions(check))
    lines += _folded("Notes", [f"- {_text(note)}" for note in check.notes])
    return "\n".join(lines) + "\n"


def _counts(check: Check) -> list[str]:
    counts = {
        pair: dict.fromkeys(STATUSES, 0) for pair in sorted((one.audit, one.target) for one in check.cases)
    }
    for case in check.cases:
        counts[case.audit, case.target][case.status] += 1
    names = {UNDECIDED: "could not be judged", WARNED: "warnings"}
    head = ["audit", "target", *(names.get(status, status) for status in STATUSES)]
    rows = [head, ["---", "---", *(["--:"] * len(STATUSES))]]
    rows += [
        [_text(audit), _text(target), *map(str, one.values())] for (audit, target), one in counts.items()
    ]
    return [f"| {' | '.join(row)} |" for row in rows]


def _listed(heading: str, cases: Sequence[Case], *, is_folded: bool) -> list[str]:
    if not cases:
        return []
    most = _MOST_SENTENCES if is_folded else _MOST_CASES
    lines = [f"- {_text(case.sentence)} `{case.explained_by}`" for case in cases[:most]]
    if len(cases) > most:
        lines.append(f"- {len(cases) - most} more: `biasledger check` lists them.")
    return _folded(f"{heading} ({len(cases)})", lines) if is_folded else ["", f"#### {heading}", "", *lines]


def _folded(heading: str, lines: Sequence[str]) -> list[str]:
    if not lines:
        return []
    return ["", f"<details><summary>{heading}</summary>", "", *lines, "", "</details>"]


def _suggestions(check: Check) -> list[str]:
    """Each suggestion once, of the cases that failed or warn."""
    found = dict.fromkeys(
        f"- {one.kind}: {_text(one.suggestion)} ({_text(one.source)})"
        for case in check.cases
        if case.status in {FAILED, WARNED}
        for one in case.suggestions
    )
    return list(found)[:_MOST_SENTENCES]


def _text(foreign: str) -> str:
    """Escape text, so that a model's answer adds no markup, no link and no mention."""
    return _MARKS.sub(r"\\\g<0>", on_one_line(foreign)).replace("@", "@<!-- -->")
