"""Cases of a check, read from the published tables: every judged finding, and every change against a baseline that is settled."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

from biasledger.checking.mitigations import OF_NO_GROUP, Mitigation, mitigations_of, read_mitigations
from biasledger.checking.outputs import FailedOutput, Outputs, count_outputs, failed_outputs
from biasledger.checking.sentences import name_of, plain_finding, plain_regression
from biasledger.comparing.built_runs import built_run, known_runs, standing_notes
from biasledger.comparing.built_tables import Tables, open_tables
from biasledger.comparing.run_names import NamedRun
from biasledger.comparing.silence import SilentGroup, silent_groups
from biasledger.findings import NO_FINDING
from biasledger.numbers import count, interval, number, probability
from biasledger.verdicts import PLAIN, result_sentence

PASSED, WARNED, ACCEPTED, FAILED, UNDECIDED = "passed", "warned", "accepted", "failed", "undecided"
STATUSES = (FAILED, WARNED, ACCEPTED, UNDECIDED, PASSED)
"""In the order in which they are shown."""

HEADINGS = {FAILED: "Failed", WARNED: "Warnings", ACCEPTED: "Accepted until their exception expires"}

_METHOD_OF_RUNS = "runs"
_DECIDED = {PASSED, FAILED, ACCEPTED}
_BAD = frozenset(HEADINGS)
_NARROW_SCOPES = {"names", "wording"}
# Enough of an id for `explain`.
_ID_CHARACTERS = 12
# Named in the headline.
_AREAS = 5


@dataclass(frozen=True)
class Case:
    """One question and its answer.

    kind: finding, comparison (with the baseline) or coverage (a declared group without any usable answer). reason: why the case
    does not pass, in the finding's words; sentence: the same in plain words, for cases that failed, are warnings or were
    accepted; scope: whom a finding speaks of (group, names, wording or questions; empty for comparisons); is_held_out: clear, but
    only for these names or this wording, where a group was asked for; suggestions: mitigations to try; can_fail: severity error,
    not warning; finding_id: of fct_findings, empty for coverage; mitigation: plain, or the mitigation asked for; since: the run
    of the baseline, for comparisons.
    """

    run_id: str
    audit: str
    target: str
    kind: str
    method: str
    category: str
    measure: str
    name: str
    status: str
    reason: str
    sentence: str
    value: float | None
    threshold: float | None
    p_value_adjusted: float | None
    scope: str = ""
    is_held_out: bool = False
    suggestions: tuple[Mitigation, ...] = ()
    can_fail: bool = True
    finding_id: str = ""
    mitigation: str = PLAIN
    since: str = ""

    @property
    def explained_by(self) -> str:
        """The command that shows how it came about; empty for coverage."""
        return f"biasledger explain {self.finding_id[:_ID_CHARACTERS]}" if self.finding_id else ""


@dataclass(frozen=True)
class RunTime:
    """When a run began, in UTC, and how many seconds passed until its last event: until its end, where it was finished."""

    started_at: datetime | None
    seconds: float | None


@dataclass(frozen=True)
class Check:
    """All cases of the runs that were looked at.

    n_compared: verdict -> how many comparisons with a baseline have it; those without a verdict are no cases. notes: sentences
    about what was left out. audits: audit and target of each run, also of those without a case. silent: declared groups without
    any usable answer, each of which is an undecided case of its own. times: run -> when it was. measures: measure -> what it
    is in a sentence. outputs, failed_outputs: how single outputs do by the published rule, which decides nothing. is_strict:
    undecided cases that can fail do not pass. is_simulated: some of the answers are; is_all_simulated: all of them.
    """

    runs: tuple[str, ...]
    cases: tuple[Case, ...]
    is_simulated: bool
    n_compared: dict[str, int] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    audits: tuple[tuple[str, str], ...] = ()
    silent: tuple[SilentGroup, ...] = ()
    times: Mapping[str, RunTime] = field(default_factory=dict)
    measures: Mapping[str, str] = field(default_factory=dict)
    outputs: tuple[Outputs, ...] = ()
    failed_outputs: tuple[FailedOutput, ...] = ()
    is_strict: bool = False
    is_all_simulated: bool = False

    @property
    def simulated(self) -> str:
        """A sentence about simulated answers; empty where there are none."""
        if not self.is_simulated:
            return ""
        return f"{'All' if self.is_all_simulated else 'Some of the'} answers are simulated."

    def count(self, *statuses: str) -> int:
        """How many cases have one of these statuses."""
        return sum(case.status in statuses for case in self.cases)

    @property
    def n_failed(self) -> int:
        """Alarms and regressions that were not accepted."""
        return self.count(FAILED)

    @property
    def n_undecided(self) -> int:
        """Cases that could not be judged."""
        return self.count(UNDECIDED)

    @property
    def n_open(self) -> int:
        """Undecided cases that can fail; a warning on intersections or lengths lacks data in most audits of texts."""
        return sum(case.status == UNDECIDED and case.can_fail for case in self.cases)

    @property
    def n_held_out(self) -> int:
        """The number of undecided cases that would have passed if findings about a few names or one wording were enough."""
        return sum(case.is_held_out for case in self.cases)

    @property
    def n_judged(self) -> int:
        """Cases that were."""
        return len(self.cases) - self.n_undecided

    @property
    def unjudged(self) -> tuple[tuple[str, str], ...]:
        """Audits and targets of which nothing passed or failed.

        A warning alone is no pass; and that another model answered, or that who is shown first wins, says nothing of groups.
        """
        judged = {
            (case.audit, case.target)
            for case in self.cases
            if case.status in _DECIDED and case.method != _METHOD_OF_RUNS and case.measure not in OF_NO_GROUP
        }
        return tuple(pair for pair in self.audits if pair not in judged)

    @property
    def open_areas(self) -> list[tuple[str, int, int]]:
        """Methods and attributes of which most is undecided, or anything where all has to be decided.

        Each with how many of its cases that can fail are undecided, and how many there are; warnings are not counted. An
        audit and target without any decided case has a sentence of its own.
        """
        counts: dict[tuple[str, ...], Counter[bool]] = {}
        for case in self.cases:
            if case.can_fail and case.kind == "finding" and case.method != _METHOD_OF_RUNS:
                area = (case.audit, case.target, case.method, case.category)
                counts.setdefault(area, Counter())[case.status == UNDECIDED] += 1
        of_one = len(set(self.audits)) <= 1
        return [
            (
                ("" if of_one else f"{audit}, target {target}: ") + _area(method, category),
                its[True],
                its.total(),
            )
            for (audit, target, method, category), its in sorted(counts.items())
            if its[True] > (0 if self.is_strict else its[False]) and (audit, target) not in self.unjudged
        ]

    @property
    def has_silence(self) -> bool:
        """Whether a declared group got no usable answer in a plain audit: what passes then says nothing of it."""
        return any(one.mitigation == PLAIN for one in self.silent)

    @property
    def pass_rate(self) -> float | None:
        """Share of the judged cases that passed; None where nothing was judged, or a group got no usable answer at all."""
        return self.count(PASSED) / self.n_judged if self.n_judged and not self.has_silence else None

    @property
    def verdict(self) -> str:
        """alarms, clean or undecided."""
        return {True: "clean", False: "alarms", None: "undecided"}[self.passes]

    @property
    def passes(self) -> bool | None:
        """Whether the runs pass; None where nothing failed, but what had to be decided is not."""
        if self.n_failed:
            return False
        is_open = (
            not self.n_judged
            or bool(self.unjudged)
            or self.has_silence
            or self.n_held_out > 0
            or (self.is_strict and self.n_open > 0)
        )
        return None if is_open else True

    @property
    def result(self) -> str:
        """PASS, FAIL or UNDECIDED, and how many audits of each target failed."""
        failed = {(case.audit, case.target) for case in self.cases if case.status == FAILED}
        return result_sentence(self.passes, self.audits, failed)

    @property
    def headline(self) -> str:
        """The numbers of cases in a sentence, and what could not be judged."""
        if not self.cases:
            return NO_FINDING
        cover = "covers" if self.n_held_out == 1 else "cover"
        narrow = f" ({self.n_held_out:,} {cover} only a few names or one wording)" if self.n_held_out else ""
        silent = [one.sentence for one in self.silent]
        if not self.n_judged:
            n = len(self.cases)
            lack = "the only case lacks" if n == 1 else f"all {n:,} cases lack"
            lacking = f"Nothing could be judged: {lack} data or certainty{narrow}."
            return " ".join([lacking, *silent])
        counts = Counter(case.status for case in self.cases)
        rate = self.pass_rate
        parts = [f"{counts[PASSED]} passed" + ("" if rate is None else f" ({100 * rate:.0f} %)")]
        parts += [f"{counts[FAILED]} failed", f"{counts[WARNED]} warning{'' if counts[WARNED] == 1 else 's'}"]
        parts += [f"{counts[ACCEPTED]} accepted"] if counts[ACCEPTED] else []
        said = (
            f"{self.n_judged:,} of {count(len(self.cases), 'case')} could be judged: {', '.join(parts)}; "
            f"{counts[UNDECIDED]} could not{narrow}."
        )
        warned = {(case.audit, case.target) for case in self.cases if case.status != UNDECIDED}
        dead = [
            f"No case of {pair[0]}, target {pair[1]}, {'passed or failed' if pair in warned else 'could be judged'}."
            for pair in self.unjudged
        ]
        return " ".join([said, *self._unknown(), *dead, *silent])

    def _unknown(self) -> list[str]:
        """A sentence about what is undecided in large part."""
        areas = self.open_areas
        if not areas:
            return []
        named = [
            f"{area} ({f'all {n_open}' if n_open == n_cases else f'{n_open} of {n_cases}'} undecided)"
            for area, n_open, n_cases in areas
        ]
        left_out = len(named) - _AREAS
        return [
            f"Too little is known about {'; '.join(named[:_AREAS])}{f'; {left_out} more' if left_out > 0 else ''}."
        ]

    def summary(self) -> list[tuple[str, str, str, str, Counter[str]]]:
        """Counts by status for each audit, target, category and measure, in the order of the cases."""
        counts: dict[tuple[str, str, str, str], Counter[str]] = {}
        for case in sorted(self.cases, key=lambda one: (one.audit, one.target, one.category, one.measure)):
            counts.setdefault((case.audit, case.target, case.category, case.measure), Counter())[
                case.status
            ] += 1
        return [(*key, counter) for key, counter in counts.items()]


def read_check(
    warehouse: Path,
    *,
    run: str | None = None,
    holds_out_for_group: bool = False,
    is_strict: bool = False,
    ledger: Path | None = None,
) -> Check:
    """Read the cases of the current runs, or of one run.

    holds_out_for_group: what is clear of these names or this wording alone has not passed but could not be judged. is_strict:
    undecided cases that can fail do not pass. ledger: has the prompts of single outputs that fail.

    Raises:
        InputError: no such warehouse, no findings in it, or no such run.
        BiasledgerError: the warehouse cannot be read.
    """
    suggested = read_mitigations()
    with open_tables(warehouse) as tables:
        looked_at = _runs(tables, run)
        runs = [one.run_id for one in looked_at]
        rows = tables.records(
            """
            select
                finding_id, run_id, audit, target, mitigation, findings.measure, scheme, attribute, group_name, reference_group,
                subject, group_in_words, reference_in_words, status, severity, scope, explanation, statement, caution,
                advice, value, threshold, p_value_adjusted,
                is_excepted, is_simulated, measures.method
            from {fct_findings} as findings
            inner join {dim_measures} as measures on findings.measure = measures.measure
            where list_contains(?, findings.run_id) and findings.severity <> 'none'
            order by findings.audit, findings.target, measures.method, findings.measure, findings.finding_id
            """,
            [runs],
        )
        several = _of_several_schemes(rows)
        cases = [
            _finding_case(row, suggested, holds_out_for_group, row["scheme"] if is_one else "")
            for row, is_one in zip(rows, several, strict=True)
        ]
        silent = silent_groups(tables, runs)
        cases += [_silent_case(one) for one in silent]
        notes = standing_notes(tables) if run is None else []
        changes = tables.records(
            """
            select comparisons.*, measures.method
            from {fct_run_comparisons} as comparisons
            inner join {dim_measures} as measures on comparisons.measure = measures.measure
            where list_contains(?, comparisons.run_id) and comparisons.is_baseline and comparisons.severity <> 'none'
            order by comparisons.audit, comparisons.target, measures.method, comparisons.measure, comparisons.attribute,
                comparisons.group_name, comparisons.subject
            """,
            [runs],
        )
        compared = dict(Counter(row["verdict"] for row in changes))
        cases += [
            _comparison_case(row, suggested)
            for row in changes
            if row["verdict"] in {"worse", "better", "unchanged"}
        ]
        times = tables.execute(
            """
            select run_id, started_at, epoch(last_event_at) - epoch(started_at) from {dim_runs}
            where list_contains(?, run_id)
            """,
            [runs],
        )
        measures = tables.execute("select measure, description from {dim_measures} order by measure")
        notes += [
            f"{after} was not compared with its baseline {before}: {reason}."
            for before, after, reason in tables.execute(
                """
                select baseline_run_id, run_id, incomparable_because from {fct_run_pairs}
                where list_contains(?, run_id) and is_baseline and incomparable_because is not null
                """,
                [runs],
            )
        ]
        outputs, failed = count_outputs(tables, runs), failed_outputs(tables, runs, ledger)
    return Check(
        tuple(runs),
        tuple(sorted(cases, key=lambda case: STATUSES.index(case.status))),
        any(row["is_simulated"] for row in rows),
        compared,
        tuple(notes),
        tuple((one.audit, one.target) for one in looked_at),
        tuple(silent),
        {run: RunTime(started_at, seconds) for run, started_at, seconds in times},
        dict(measures),
        outputs,
        failed,
        is_strict,
        all(row["is_simulated"] for row in rows),
    )


def _runs(tables: Tables, run: str | None) -> list[NamedRun]:
    """What is looked at; a run that got no answers has no finding and is one, too."""
    if run is None:
        rows = tables.execute(
            """
            select run_id, audit, target from {fct_findings} where is_current
            union
            select run_id, audit, target from {dim_runs} where is_current
            order by run_id
            """
        )
        return [NamedRun(*row) for row in rows]
    found = built_run(tables, run)
    return [one for one in known_runs(tables) if one.run_id == found]


def _status(is_bad: bool, is_settled: bool, row: dict[str, Any]) -> str:
    if is_bad:
        if row["is_excepted"]:
            return ACCEPTED
        return FAILED if row["severity"] == "error" else WARNED
    return PASSED if is_settled else UNDECIDED


def _of_several_schemes(rows: Sequence[dict[str, Any]]) -> list[bool]:
    """Whether another case differs from a row's in its scheme alone, so that only the scheme tells them apart."""
    keys = [(row["run_id"], row["measure"], name_of(row)) for row in rows]
    counts = Counter(keys)
    return [counts[key] > 1 for key in keys]


def _finding_case(
    row: dict[str, Any], suggested: Sequence[Mitigation], holds_out_for_group: bool, scheme: str
) -> Case:
    is_clear = row["status"] == "clear"
    is_held_out = holds_out_for_group and is_clear and row["scope"] in _NARROW_SCOPES
    status = _status(row["status"] == "alarm", is_clear and not is_held_out, row)
    reason = " ".join(part for part in (row["explanation"], row["advice"]) if part)
    return _case(
        "finding",
        row,
        status,
        suggested,
        name=f"{name_of(row)}, {scheme}" if scheme else name_of(row),
        reason="" if status == PASSED else reason,
        sentence=plain_finding(row) if status in _BAD else "",
        value=row["value"],
        threshold=row["threshold"],
        scope=row["scope"],
        is_held_out=is_held_out,
        can_fail=row["severity"] == "error",
    )


def _case(
    kind: str,
    row: dict[str, Any],
    status: str,
    suggested: Sequence[Mitigation],
    *,
    name: str,
    reason: str,
    sentence: str,
    value: float | None,
    threshold: float | None,
    scope: str = "",
    is_held_out: bool = False,
    can_fail: bool = True,
    since: str = "",
) -> Case:
    """Return the case of a row of findings or of comparisons."""
    return Case(
        run_id=row["run_id"],
        audit=row["audit"],
        target=row["target"],
        kind=kind,
        method=row["method"],
        category=_category(row),
        measure=row["measure"],
        status=status,
        p_value_adjusted=row["p_value_adjusted"],
        suggestions=mitigations_of(suggested, row["measure"], row["method"]) if status in _BAD else (),
        finding_id=row["finding_id"] or "",
        mitigation=row["mitigation"],
        name=name,
        reason=reason,
        sentence=sentence,
        value=value,
        threshold=threshold,
        scope=scope,
        is_held_out=is_held_out,
        can_fail=can_fail,
        since=since,
    )


def _silent_case(silent: SilentGroup) -> Case:
    under = "" if silent.mitigation == PLAIN else f" (with {silent.mitigation})"
    return Case(
        silent.run_id,
        silent.audit,
        silent.target,
        "coverage",
        "answers",
        silent.attribute,
        "coverage",
        f"{silent.attribute}: {silent.group_name}{under}",
        UNDECIDED,
        silent.sentence,
        "",
        None,
        None,
        None,
        mitigation=silent.mitigation,
    )


def _comparison_case(row: dict[str, Any], suggested: Sequence[Mitigation]) -> Case:
    status = _status(row["verdict"] == "worse", row["verdict"] in {"better", "unchanged"}, row)
    reason = (
        f"{row['measure']} read {number(row['baseline_value'])} and reads {number(row['value'])}: worse by "
        f"{number(row['worsening'])} ({interval(row['interval_low'], row['interval_high'])}), tolerated are "
        f"{number(row['tolerance'])}; adjusted p {probability(row['p_value_adjusted'])}."
    )
    return _case(
        "comparison",
        row,
        status,
        suggested,
        name=f"{name_of(row)} since {row['baseline_run_id']}",
        reason=reason if status in _BAD else "",
        sentence=plain_regression(row) if status in _BAD else "",
        value=row["worsening"],
        threshold=row["tolerance"],
        since=row["baseline_run_id"],
    )


def _area(method: str, category: str) -> str:
    """Name a method and an attribute, as in `prices by origin`; what compares no attribute is named by its method alone."""
    return (
        method
        if category.startswith("(") or not category
        else f"{method} by {category.replace('*', ' and ')}"
    )


def _category(row: dict[str, Any]) -> str:
    """Return the attribute of the case, or the stereotype's category where no groups are compared."""
    if row["measure"] == "stereotype_ratio":
        return str(row["subject"])
    return str(row["attribute"])
