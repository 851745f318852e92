"""The verdicts on top of the report: what was found, in words for readers without statistics, and what would change it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from biasledger.report.picture import STATUS_TEXTS, contrast, count, number, readable
from biasledger.report.source import Row

_ALARMS_SHOWN = 6
_ALARMS_OF_A_MEASURE = 2
_NEAREST_SHOWN = 3
_NUMBER_WORDS = (
    "no",
    "one",
    "two",
    "three",
    "four",
    "five",
    "six",
    "seven",
    "eight",
    "nine",
    "ten",
    "eleven",
    "twelve",
)
_WITHOUT_END = 1_000_000  # fct_findings.n_units_needed ends here


@dataclass(frozen=True)
class Tile:
    """One of the four statuses: how many findings have it, what that means and what would change it."""

    status: str
    n: int
    text: str
    meaning: str
    change: str


@dataclass(frozen=True)
class RunVerdict:
    """What came out of one run. `status` is that of its gravest finding which can fail an audit."""

    run: Row
    status: str
    counts: Mapping[str, int]
    summary: str
    sentence: str
    change: str
    alarms: Sequence[Row]
    n_alarms_left_out: int
    nearest: Sequence[str]


def about(finding: Row) -> str:
    """Whom and what a finding is about: its attribute, groups and subject."""
    parts = (readable(finding["attribute"].strip("()")), contrast(finding), readable(finding["subject"]))
    return ", ".join(part for part in parts if part)


def headline(verdicts: Sequence[RunVerdict]) -> str:
    """The whole report in one sentence."""
    n, by = len(verdicts), Counter(verdict.status for verdict in verdicts)
    audits = "the audit" if n == 1 else f"{_word(n)} audits"
    if not n:
        return "Nothing has been judged yet."
    if by["alarm"] == n:
        return f"Groups are treated differently in {'the audit' if n == 1 else 'all ' + audits}."
    if by["alarm"]:
        return f"Groups are treated differently in {_word(by['alarm'])} of {audits}."
    if by["inconclusive"]:
        where = "the audit" if n == 1 else f"{_word(by['inconclusive'])} of {audits}"
        return f"No alarm, but bias is not ruled out in {where}."
    if by["clear"] == n:
        return f"No alarm: differences past the thresholds are ruled out in {'the audit' if n == 1 else 'all ' + audits}."
    if by["clear"]:
        return f"No alarm; {_word(by['insufficient_data'])} of {audits} had too few answers to be judged."
    return "There were too few answers to judge anything."


def tiles(findings: Sequence[Row]) -> list[Tile]:
    """Counts of the four statuses."""
    by = Counter(finding["status"] for finding in findings)
    alarms = [finding for finding in findings if finding["status"] == "alarm"]
    apart = {
        "only warn": sum(finding["severity"] != "error" for finding in alarms),
        "accepted": sum(bool(finding["is_excepted"]) for finding in alarms),
    }
    notes = ", ".join(f"{n:,} {name}" for name, n in apart.items() if n)
    return [
        Tile(
            "alarm",
            by["alarm"],
            "alarm" if by["alarm"] == 1 else "alarms",
            "Past the threshold, and chance does not explain it." + (f" Of these {notes}." if notes else ""),
            "Ends when the value falls back, or is accepted with a reason.",
        ),
        Tile(
            "inconclusive",
            by["inconclusive"],
            STATUS_TEXTS["inconclusive"],
            "Neither shown nor ruled out. This is not a pass.",
            _nearer(findings),
        ),
        Tile(
            "clear",
            by["clear"],
            STATUS_TEXTS["clear"],
            "A difference past the threshold is ruled out.",
            "Holds for this model, these questions and these thresholds.",
        ),
        Tile(
            "insufficient_data",
            by["insufficient_data"],
            STATUS_TEXTS["insufficient_data"],
            "Too few answers to judge.",
            "Each row says how many it needs at least.",
        ),
    ]


def run_verdict(run: Row, findings: Sequence[Row]) -> RunVerdict:
    """The verdict on one run.

    Args:
        run: its row of dim_runs.
        findings: all of its findings, what needs a decision first.
    """
    by = Counter(finding["status"] for finding in findings)
    failing = [
        finding for finding in findings if finding["severity"] == "error" and not finding["is_excepted"]
    ]
    status = next(
        (name for name in STATUS_TEXTS if any(finding["status"] == name for finding in failing)),
        "insufficient_data",
    )
    alarms = [finding for finding in findings if finding["status"] == "alarm"]
    shown = _varied(alarms)
    return RunVerdict(
        run=run,
        status=status,
        counts={name: by[name] for name in STATUS_TEXTS},
        summary=", ".join(
            count(by[name], text) if name == "alarm" else f"{by[name]:,} {text}"
            for name, text in STATUS_TEXTS.items()
            if by[name]
        ),
        sentence=_sentence(status, failing, alarms),
        change=_nearer(findings),
        alarms=shown,
        n_alarms_left_out=len(alarms) - len(shown),
        nearest=[_needed(finding) for finding in _nearest(findings)[:_NEAREST_SHOWN]],
    )


def _varied(alarms: Sequence[Row]) -> list[Row]:
    """The gravest alarms, of each measure two at most: the third like them says little."""
    seen: Counter[str] = Counter()
    shown = []
    for finding in alarms:
        seen[finding["measure"]] += 1
        if seen[finding["measure"]] <= _ALARMS_OF_A_MEASURE:
            shown.append(finding)
    return shown[:_ALARMS_SHOWN]


def _sentence(status: str, failing: Sequence[Row], alarms: Sequence[Row]) -> str:
    if status == "alarm":
        return next(finding["explanation"] or "" for finding in failing if finding["status"] == "alarm")
    warnings = f" {count(len(alarms), 'finding')} of lesser weight warn or are accepted." if alarms else ""
    if status == "inconclusive":
        n = sum(finding["status"] == "inconclusive" for finding in failing)
        return f"No alarm, but {count(n, 'finding')} could not be decided.{warnings}"
    if status == "clear":
        return f"No alarm; what could be judged is clear.{warnings}"
    return f"Too few answers to judge anything that could fail the audit.{warnings}"


def _nearest(findings: Sequence[Row]) -> list[Row]:
    """Undecided findings that more units would settle, those first that need the smallest multiple of what there is."""
    undecided = [
        finding
        for finding in findings
        if finding["status"] == "inconclusive" and finding["n_units_needed"] and finding["n_units"]
    ]
    return sorted(undecided, key=lambda finding: finding["n_units_needed"] / finding["n_units"])


def _nearer(findings: Sequence[Row]) -> str:
    undecided = [finding for finding in findings if finding["status"] == "inconclusive"]
    if not undecided:
        return "Nothing is undecided."
    known = _nearest(findings)
    if not known:
        return "More answers alone would settle none of them."
    within = sum(finding["n_units_needed"] <= 2 * finding["n_units"] for finding in known)
    if within:
        return f"Twice the answers would settle about {within:,} of {len(undecided):,}."
    times = known[0]["n_units_needed"] / known[0]["n_units"]
    return f"The nearest of {len(undecided):,} needs about {times:,.1f} times the answers."


def _needed(finding: Row) -> str:
    have, need = finding["n_units"], finding["n_units_needed"]
    if need >= _WITHOUT_END:
        more = f"hardly any number of {finding['unit']} would settle it"
    else:
        more = f"about {need:,} {finding['unit']} would settle it; there are {have:,}"
    return f"{readable(finding['measure'])} of {about(finding)} ({number(finding['value'])}): {more}."


def _word(n: int) -> str:
    return _NUMBER_WORDS[n] if n < len(_NUMBER_WORDS) else f"{n:,}"
