"""The verdicts on top of the report: what was found, in words for readers without statistics, and what would change it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from biasledger.checking.mitigations import OF_NO_GROUP
from biasledger.checking.sentences import in_units, people_of, plain_effect, worse_off
from biasledger.numbers import count
from biasledger.reporting.picture import STATUS_TEXTS, contrast, number, readable
from biasledger.reporting.source import Row
from biasledger.verdicts import PLAIN, gravest, result_sentence

_ALARMS_SHOWN = 6
_ALARMS_OF_A_MEASURE = 2
_NEAREST_SHOWN = 3
_STEPS_SHOWN = 3
# Headlines of measures that do not compare groups of people.
_OF_NO_ATTRIBUTE = {
    "(markers)": "Answers lean to stereotypes",
    "(position)": "Who is shown first decides",
    "(wording)": "Answers change with the wording",
    "(model)": "More than one model answered",
}
_NUMBER_WORDS = "no one two three four five six seven eight nine ten eleven twelve".split()


@dataclass(frozen=True)
class Tile:
    """One of the four statuses: how many findings have it, and what that means."""

    status: str
    n: int
    text: str
    meaning: str


@dataclass(frozen=True)
class Step:
    """The next step in an audit."""

    what: str
    audit: str
    text: str


@dataclass(frozen=True)
class RunVerdict:
    """The verdict on one run.

    `status` is that of its gravest finding which can fail an audit, and never clear where nothing is known of a group;
    findings: all of them; failing: those that can fail, n_judged: how many of these had enough answers; silent: a sentence about
    the groups without any usable answer, or empty.
    """

    run: Row
    status: str
    findings: Sequence[Row]
    failing: Sequence[Row]
    n_judged: int
    summary: str
    sentence: str
    change: str
    silent: str
    alarms: Sequence[Row]
    n_alarms_left_out: int
    nearest: Sequence[str]
    silent_attributes: frozenset[str] = frozenset()

    @property
    def is_decided(self) -> bool:
        """Whether any finding about groups passes or fails: a warning, and that another model answered, decide nothing."""
        return any(
            finding["status"] == "clear" or (finding["status"] == "alarm" and finding["severity"] == "error")
            for finding in self.findings
            if finding["severity"] != "none"
            and finding["method"] != "runs"
            and finding["measure"] not in OF_NO_GROUP
        )

    @property
    def label(self) -> str:
        """Its name instead of its status, where no finding can fail it; else empty."""
        if self.failing or not self.findings:
            return ""
        if self.warnings:
            return "warnings only"
        is_clear = all(finding["status"] == "clear" for finding in self.findings)
        return "no warning" if is_clear and not self.silent else ""

    @property
    def symbol(self) -> str:
        """The symbol of its label or status: an audit that nothing can fail is neither judged nor without data."""
        if not self.label:
            return self.status
        return "warning" if self.warnings else "plain"

    @property
    def failing_alarms(self) -> list[Row]:
        """The alarms that fail the audit, of what was asked plainly."""
        return [
            finding
            for finding in self.failing
            if finding["status"] == "alarm" and finding["mitigation"] == PLAIN
        ]

    @property
    def warnings(self) -> list[Row]:
        """Unaccepted alarms of an audit that can only warn."""
        return [
            finding
            for finding in self.findings
            if not self.failing
            and finding["status"] == "alarm"
            and finding["mitigation"] == PLAIN
            and not finding["is_excepted"]
        ]


def about(finding: Row) -> str:
    """Name the attribute, groups and subject of a finding, and its mitigation."""
    with_mitigation = "" if finding["mitigation"] == PLAIN else f"with {readable(finding['mitigation'])}"
    parts = (
        readable(finding["attribute"].strip("()")),
        contrast(finding),
        readable(finding["subject"]),
        with_mitigation,
    )
    return ", ".join(part for part in parts if part)


def result(verdicts: Sequence[RunVerdict]) -> str:
    """Say whether the audits pass, and how many of each target failed."""
    if not verdicts:
        return "Nothing has been judged yet."
    audits = [(verdict.run["audit"], verdict.run["target"]) for verdict in verdicts]
    failed = {audits[place] for place in _alarmed(verdicts)}
    is_open = any(verdict.silent or not verdict.is_decided for verdict in verdicts)
    return result_sentence(False if failed else None if is_open else True, audits, failed)


def lead(verdicts: Sequence[RunVerdict]) -> str:
    """Say in one sentence who comes off worse, or else what differs, and in a second one if nothing is known of a group."""
    if not verdicts:
        return ""
    n_silent = sum(bool(verdict.silent) for verdict in verdicts)
    unknown = f" Nothing is known of some groups in {_of(n_silent, len(verdicts))}." if n_silent else ""
    return (_harm(verdicts) if _alarmed(verdicts) else _without_alarms(verdicts)) + unknown


def _alarmed(verdicts: Sequence[RunVerdict]) -> list[int]:
    return [place for place, verdict in enumerate(verdicts) if verdict.status == "alarm"]


def _harm(verdicts: Sequence[RunVerdict]) -> str:
    n, harm = len(verdicts), _worst(verdicts)
    if harm is None:
        return f"Groups are treated differently in {_of(len(_alarmed(verdicts)), n)}."
    also = f", and are treated differently in {_more(len(harm.differing))}" if harm.differing else ""
    return f"{harm.sentence} in {_of(len(harm.audits), n)}{also}."


@dataclass(frozen=True)
class _Harm:
    """The harm that most audits with an alarm share: these audits, and others that treat the same people differently."""

    sentence: str
    audits: frozenset[int]
    differing: frozenset[int] = frozenset()


def _worst(verdicts: Sequence[RunVerdict]) -> _Harm | None:
    """Return who comes off worse in most audits; if no measure says who is worse off, the attribute by which most differ."""
    named: dict[str, str] = {}
    worse: dict[str, set[int]] = {}
    concerned: dict[str, set[int]] = {}
    differing: dict[str, set[int]] = {}
    for place, verdict in enumerate(verdicts):
        for finding in verdict.failing_alarms:
            differing.setdefault(finding["attribute"], set()).add(place)
            for side in ("group", "reference"):
                concerned.setdefault(people_of(finding, side).casefold(), set()).add(place)
            if whom := worse_off(finding):
                # As the first audit writes it: black and Black are one group.
                named.setdefault(whom.casefold(), whom)
                worse.setdefault(whom.casefold(), set()).add(place)
    if worse:
        whom = max(worse, key=lambda one: len(worse[one]))
        audits = worse[whom]
        others = concerned.get(whom, set()) - audits
        said = f"{named[whom][:1].upper()}{named[whom][1:]} come off worse"
        return _Harm(said, frozenset(audits), frozenset(others))
    if not differing:
        return None
    attribute = max(differing, key=lambda one: len(differing[one]))
    sentence = _OF_NO_ATTRIBUTE.get(attribute, f"Answers differ by {readable(attribute.strip('()'))}")
    return _Harm(sentence, frozenset(differing[attribute]))


def other_verdicts(verdicts: Sequence[RunVerdict]) -> list[str]:
    """Return the sentences next to the headline: attributes without an alarm, other alarms, and differences not ruled out."""
    harm = _worst(verdicts)
    if harm is None:
        return []
    sentences = _unshown(verdicts)
    others = set(_alarmed(verdicts)) - harm.audits - harm.differing
    if others:
        verb = (
            "Another audit fails"
            if len(others) == 1
            else f"{_word(len(others)).capitalize()} other audits fail"
        )
        sentences.append(f"{verb}: {_audits(verdicts, others)}.")
    undecided = {
        place
        for place, verdict in enumerate(verdicts)
        if verdict.status in {"inconclusive", "insufficient_data"} and not verdict.label
    }
    warned = {place for place, verdict in enumerate(verdicts) if verdict.label == "warnings only"}
    if warned:
        has = "has" if len(warned) == 1 else "have"
        sentences.append(
            f"{_more(len(warned)).capitalize()} {has} warnings only: {_audits(verdicts, warned)}."
        )
    if undecided:
        sentences.append(f"Bias is not ruled out in {_more(len(undecided))}: {_audits(verdicts, undecided)}.")
    return sentences


def _unshown(verdicts: Sequence[RunVerdict]) -> list[str]:
    """Say that no difference was shown, and where it is ruled out, for the attribute that most audits judge without an alarm."""
    statuses: dict[str, list[str]] = {}
    for verdict in verdicts:
        judged = [finding for finding in verdict.failing if finding["mitigation"] == PLAIN]
        for attribute in dict.fromkeys(finding["attribute"] for finding in judged):
            status = gravest(finding["status"] for finding in judged if finding["attribute"] == attribute)
            statuses.setdefault(attribute, []).append(status)
    # The subject of a failed finding may hold an attribute's name, as stereotypes about gender-occupation do.
    failed = " ".join(
        finding["subject"].casefold() for verdict in verdicts for finding in verdict.failing_alarms
    )
    quiet = {
        attribute: [status for status in found if status != "insufficient_data"]
        for attribute, found in statuses.items()
        if "alarm" not in found and attribute.casefold() not in failed
    }
    if not quiet or not any(quiet.values()):
        return []
    attribute = max(quiet, key=lambda one: len(quiet[one]))
    n, n_clear = len(quiet[attribute]), quiet[attribute].count("clear")
    n_open = n - n_clear
    judging = f"the {_word(n)} that judge{'s' * (n == 1)} it"
    if not n_open:
        said = f"; {judging} rule{'s' * (n == 1)} a difference out"
    elif n_clear:
        said = (
            f", but {_word(n_open)} of {judging} {'does' if n_open == 1 else 'do'} not rule a difference out"
        )
    else:
        said = ", but a difference is not ruled out"
    return [f"No audit fails by {readable(attribute)}{said}."]


def _audits(verdicts: Sequence[RunVerdict], places: Iterable[int]) -> str:
    """Name audits, with their target where several targets have an audit of that name."""
    n_targets = Counter(verdict.run["audit"] for verdict in verdicts)
    named = (
        readable(run["audit"]) + (f" of {readable(run['target'])}" if n_targets[run["audit"]] > 1 else "")
        for run in (verdicts[place].run for place in sorted(places))
    )
    return ", ".join(dict.fromkeys(named))


def _more(n: int) -> str:
    return "one other" if n == 1 else f"{_word(n)} others"


def next_steps(
    verdicts: Sequence[RunVerdict],
    helped: Sequence[Row] = (),
    suggestions: Mapping[str, Sequence[Row]] | None = None,
) -> list[Step]:
    """Up to three things to do next: fixes of what fails, else of warnings; a mitigation that helped; or answers to collect.

    Args:
        verdicts: in the order of the report.
        suggestions: run -> what may be tried against its alarms.
        helped: comparisons in which a mitigation made an alarm smaller, the largest gain first, with their audit.
    """
    harm = _worst(verdicts)
    first = [verdicts[place] for place in sorted(harm.audits)] if harm else []
    alarms = [(verdict, finding) for verdict in [*first, *verdicts] for finding in verdict.failing_alarms]
    if not alarms:
        alarms = [(verdict, finding) for verdict in verdicts for finding in verdict.warnings]
    # Alarms about people who are worse off come before mere differences.
    alarms.sort(key=lambda pair: not worse_off(pair[1]))
    fixes = {verdict.run["run_id"]: (verdict, finding) for verdict, finding in reversed(alarms)}
    steps: list[Step] = []
    for verdict, finding in list(fixes.values())[::-1]:
        known = [
            # The clause without its reasons.
            str(row["suggestion"]).split(";")[0]
            for row in (suggestions or {}).get(verdict.run["run_id"], ())
            if _is_for(row, finding)
        ]
        # Another one than above, if there is another.
        new = [one for one in known if one not in {step.what for step in steps}]
        what = next(iter([*new, *known]), "Fix, or accept with a reason")
        steps.append(Step(what, readable(verdict.run["audit"]), in_words(finding)))
    steps[1:1] = [
        Step(f"Use the mitigation {readable(row['mitigation'])}", readable(row["audit"]), _helped(row))
        for row in helped[:1]
    ]
    if steps:
        return steps[:_STEPS_SHOWN]
    # If nothing can fail an audit, more answers can settle warnings only.
    open_ = {verdict.run["run_id"]: verdict.failing or verdict.findings for verdict in verdicts}
    nearest = _nearest([finding for findings in open_.values() for finding in findings])
    lacking = [
        finding
        for verdict in verdicts
        if verdict.status == "insufficient_data"
        for finding in open_[verdict.run["run_id"]]
        if finding["status"] == "insufficient_data" and finding["advice"]
    ]
    steps = [
        Step("Collect more answers", readable(finding["audit"]), _needed(finding))
        for finding in (*nearest[:1], *lacking[:1], *nearest[1:2])
    ]
    return steps[:_STEPS_SHOWN]


def _is_for(suggestion: Row, finding: Row) -> bool:
    """Whether it may be tried against the finding by whoever uses the model; not all can train it."""
    return suggestion["kind"] != "data" and finding["measure"] in suggestion["measures"].split(", ")


def _helped(row: Row) -> str:
    before, after = (in_units({**row, "value": row[name]}) for name in ("plain_value", "mitigation_value"))
    return (
        f"Asked with {readable(row['mitigation'])}, the {readable(row['measure'])} of {about({**row, 'mitigation': PLAIN})} went "
        f"from {before} to {after}."
    )


def in_words(finding: Row) -> str:
    """A finding in a sentence: what an alarm states, with its p; others as they explain themselves."""
    if finding["status"] != "alarm" or not finding["statement"]:
        return finding["explanation"] or ""
    sentence = plain_effect(finding)
    return sentence[:1].upper() + sentence[1:]


def technical(finding: Row) -> str:
    """What an alarm's explanation adds to `in_words`: cautions, certainty and scope; empty for other findings."""
    explanation, statement = finding["explanation"] or "", finding["statement"] or ""
    if in_words(finding) == explanation:
        return ""
    return (
        explanation[len(statement) :].lstrip(". ")
        if explanation[1:].startswith(statement[1:])
        else explanation
    )


def _without_alarms(verdicts: Sequence[RunVerdict]) -> str:
    n, by = len(verdicts), Counter(verdict.status for verdict in verdicts)
    n_failing = sum(len(verdict.failing) for verdict in verdicts)
    n_judged = sum(verdict.n_judged for verdict in verdicts)
    n_open = by["inconclusive"] + by["insufficient_data"]
    warnings = [finding for verdict in verdicts for finding in verdict.warnings]
    if not n_judged and warnings:
        return f"Warnings only, which fail no audit. {in_words(warnings[0])}"
    if not n_judged and all(verdict.label == "no warning" for verdict in verdicts):
        ruled_out = f"differences past the thresholds are ruled out in {_of(n, n)}"
        return f"No warning: {ruled_out}, whose findings are warnings at most."
    if not n_judged:
        return "There were too few answers to judge anything."
    if by["clear"] == n:
        return f"No alarm: differences past the thresholds are ruled out in {_of(n, n)}."
    if 2 * n_judged < n_failing:
        return (
            f"Only {n_judged:,} of {n_failing:,} findings that can fail an audit had answers enough to be judged: "
            f"bias is not ruled out in {_of(n_open, n)}."
        )
    unjudged = n_failing - n_judged
    few = (
        f": {unjudged:,} of {n_failing:,} findings that can fail an audit had too few answers"
        if unjudged
        else ""
    )
    return f"No alarm, but bias is not ruled out in {_of(n_open, n)}{few}."


def _of(n: int, n_audits: int) -> str:
    if n_audits == 1:
        return "the audit"
    return f"all {_word(n_audits)} audits" if n == n_audits else f"{_word(n)} of {_word(n_audits)} audits"


def tiles(findings: Sequence[Row]) -> list[Tile]:
    """Counts of the four statuses, of what was asked plainly: a mitigation is judged against it, not next to it."""
    findings = [finding for finding in findings if finding["mitigation"] == PLAIN]
    by = Counter(finding["status"] for finding in findings)
    alarms = [finding for finding in findings if finding["status"] == "alarm"]
    n_warnings = sum(finding["severity"] != "error" for finding in alarms)
    n_accepted = sum(bool(finding["is_excepted"]) for finding in alarms)
    notes = ", ".join(
        f"{n:,} {name}"
        for n, name in ((n_warnings, "warning" if n_warnings == 1 else "warnings"), (n_accepted, "accepted"))
        if n
    )
    meanings = {
        "alarm": "Past the threshold, and chance does not explain it."
        + (f" Among them: {notes}." if notes else ""),
        "inconclusive": "Neither shown nor ruled out. This is not a pass.",
        "clear": "A difference past the threshold is ruled out.",
        "insufficient_data": "Too few answers to judge.",
    }
    return [
        Tile(status, by[status], text + "s" * (status == "alarm" and by[status] != 1), meanings[status])
        for status, text in STATUS_TEXTS.items()
    ]


def run_verdict(run: Row, findings: Sequence[Row], silent: Sequence[Row] = ()) -> RunVerdict:
    """The verdict on one run.

    Args:
        run: its row of dim_runs.
        findings: all of its findings, what needs a decision first.
        silent: its declared groups without one usable answer, with why (`silence`).
    """
    by = Counter(finding["status"] for finding in findings if finding["mitigation"] == PLAIN)
    failing = can_fail(findings)
    status = gravest(finding["status"] for finding in failing)
    if status == "clear" and silent:
        status = "insufficient_data"
    alarms = [finding for finding in findings if finding["status"] == "alarm"]
    shown = _varied(alarms)
    return RunVerdict(
        run=run,
        status=status,
        findings=findings,
        failing=failing,
        n_judged=len(failing) - _unjudged(failing),
        summary=", ".join(
            count(by[name], text) if name == "alarm" else f"{by[name]:,} {text}"
            for name, text in STATUS_TEXTS.items()
            if by[name]
        ),
        sentence=_sentence(failing, alarms),
        change=_change(findings),
        silent=_silent(silent),
        alarms=shown,
        n_alarms_left_out=len(alarms) - len(shown),
        nearest=[_needed(finding) for finding in _nearest(findings)[:_NEAREST_SHOWN]],
        silent_attributes=frozenset(group["attribute"] for group in silent),
    )


def can_fail(findings: Iterable[Row]) -> list[Row]:
    """Those findings that fail an audit if they are alarms."""
    return [one for one in findings if one["severity"] == "error" and not one["is_excepted"]]


def _varied(alarms: Sequence[Row]) -> list[Row]:
    """The gravest alarms, of each measure two at most: the third like them says little."""
    seen: Counter[str] = Counter()
    shown = []
    for finding in alarms:
        seen[finding["measure"]] += 1
        if seen[finding["measure"]] <= _ALARMS_OF_A_MEASURE:
            shown.append(finding)
    return shown[:_ALARMS_SHOWN]


def _silent(groups: Sequence[Row]) -> str:
    named = "; ".join(
        f"{readable(group['attribute'])} {readable(group['group_name'])} ({group['silence']})"
        for group in groups
    )
    return f"Nothing is known of {named}." if named else ""


def _sentence(failing: Sequence[Row], alarms: Sequence[Row]) -> str:
    statuses = {finding["status"] for finding in failing}
    if "alarm" in statuses:
        first = next(finding for finding in failing if finding["status"] == "alarm")
        return in_words(first)
    warnings = (
        f" {count(len(alarms), 'alarm is a warning or accepted', 'alarms are warnings or accepted')}."
        if alarms
        else ""
    )
    if statuses == {"clear"}:
        return f"No alarm; all that can fail the audit is clear.{warnings}"
    unjudged, n_failing = _unjudged(failing), len(failing)
    if not failing:
        n = sum(finding["severity"] == "warn" for finding in alarms)
        are_warnings = "its alarm is a warning" if n == 1 else f"its {n:,} alarms are warnings"
        return f"No finding can fail this audit: {are_warnings if n else 'no alarm'}."
    if unjudged == n_failing:
        return f"Too few answers to judge anything that could fail the audit.{warnings}"
    n = sum(finding["status"] == "inconclusive" for finding in failing)
    reasons = [f"{count(n, 'finding')} could not be decided"] if n else []
    reasons += (
        [f"{unjudged:,} of {count(n_failing, 'finding')} had too few answers to be judged"]
        if unjudged
        else []
    )
    return f"No alarm, but {' and '.join(reasons)}.{warnings}"


def _unjudged(findings: Sequence[Row]) -> int:
    return sum(finding["status"] == "insufficient_data" for finding in findings)


def _change(findings: Sequence[Row]) -> str:
    """Say what would change the verdict."""
    if any(finding["status"] == "inconclusive" for finding in findings) or not _unjudged(findings):
        return _nearer(findings)
    return "More answers: the table of all findings says how many each needs at least."


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
    n, is_one = len(undecided), len(undecided) == 1
    known = _nearest(findings)
    if not known:
        return f"More answers alone would {'not settle it' if is_one else 'settle none of them'}."
    within = sum(finding["n_units_needed"] <= 2 * finding["n_units"] for finding in known)
    if within:
        settled = "it" if is_one else f"all {n:,}" if within == n else f"{within:,} of {n:,}"
        return f"Twice the answers would probably settle {settled}."
    times = known[0]["n_units_needed"] / known[0]["n_units"]
    return f"{'It' if is_one else f'The nearest of {n:,}'} needs about {times:,.1f} times the answers."


def _needed(finding: Row) -> str:
    value = "" if finding["status"] == "insufficient_data" else f" ({number(finding['value'])})"
    measure = readable(finding["measure"])
    return f"{measure[:1].upper()}{measure[1:]} of {about(finding)}{value}: {finding['advice']}"


def _word(n: int) -> str:
    return _NUMBER_WORDS[n] if n < len(_NUMBER_WORDS) else f"{n:,}"
