"""The power of an audit of this size, before its answers are paid for."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from biasledger.measures.detectable import clear_with, found_with
from biasledger.verdicts import PLAIN

if TYPE_CHECKING:
    from collector.spec.audit import Audit
    from collector.spec.prompts import Prompt

ASSUMED = (
    "Assumed: by chance one decision in ten changes by one label, one answer in twenty is refused, and two scores of one case "
    "differ by half a standard deviation, two amounts of money by a tenth. A small run shows how much they do."
)
# Standard deviation of a case's difference between two groups, and of one answer where each group has its own cases.
_DEVIATIONS = {
    "rank_gap": (math.sqrt(0.1), 0.5),
    "score_gap": (0.5, 1.0),
    # Deviations of logarithms, and below of places among the scores of all cases, from 0 to 1.
    "relative_gap": (0.1, 0.5),
    "percentile_gap": (0.15, 0.3),
    "answer_gap": (math.sqrt(0.05 * 0.95), math.sqrt(0.05 * 0.95)),
}
_BY_SCALE = {"raw": "score_gap", "log": "relative_gap", "ranks": "percentile_gap"}
# The default of int_decisions_score_units if no score was read yet.
_LARGE_SCALE = 1000
_WORDS_TO_CLEAR = 20_000
"""Words a group from which on word_divergence is mostly clear without a difference (simulated answers of 60 and 300 words)."""
Kind = Literal["subject", "template", "descriptor", "prompt", "answer"]

_COLUMNS = """
    findings.measure, scheme, attribute, group_name, reference_group, settled_by, n_units, min_units, threshold, clear_threshold,
    alpha, side, no_difference, value, interval_low, interval_high, null_sd, run_id,
    count(*) filter (where p_value is not null and status <> 'insufficient_data') over (partition by run_id, severity) as n_tests
"""


@dataclass(frozen=True, slots=True)
class Outlook:
    """The power of one finding with the planned number of units.

    Attributes:
        measure, scheme, attribute, group, reference: of the finding; no groups where it compares all of an attribute.
        unit: what the finding counts, in the plural.
        n_units, minimum: how many are planned, and how many are needed for any verdict.
        smallest: the smallest true difference that raises an alarm in 80 % of audits, on the measure's scale.
        n_clear: units from which an unbiased target is clear in 80 % of audits.
    """

    measure: str
    scheme: str
    attribute: str
    group: str
    reference: str
    unit: str
    n_units: int
    minimum: int
    smallest: float
    n_clear: int

    @classmethod
    def of(cls, names: Iterable[str], unit: str, n_units: int, error: float, judged: _Judged) -> Outlook:
        """Return the outlook of a finding whose value has this standard error with n_units; names: measure to reference."""
        two_sided = judged.side == "two-sided"
        smallest = found_with(
            error,
            distance=abs(judged.threshold - judged.no_difference),
            n_tests=judged.n_tests,
            two_sided=two_sided,
            alpha=judged.alpha,
        )
        enough = clear_with(
            abs(judged.clear_threshold - judged.no_difference), two_sided=two_sided, alpha=judged.alpha
        )
        n_clear = math.ceil(n_units * (error / enough) ** 2)
        measure, scheme, attribute, group, reference = names
        return cls(
            measure,
            scheme,
            attribute,
            group,
            reference,
            unit,
            n_units,
            judged.minimum,
            smallest,
            max(n_clear, judged.minimum),
        )

    @property
    def smallest_shown(self) -> str:
        """The smallest difference found, of amounts in per cent, as findings state it."""
        if self.measure == "relative_gap":
            return f"{100 * math.expm1(self.smallest):.2g} %"
        return f"{self.smallest:.2g}"

    @property
    def contrast(self) -> str:
        """The attribute and its groups."""
        groups = f"{self.group} vs {self.reference}" if self.reference else self.group
        return f"{self.attribute}: {groups}" if groups else self.attribute


@dataclass(frozen=True, slots=True)
class _Judged:
    """Settings for judging a finding: its row of thresholds, its measure's side and value of no difference, and Holm's number."""

    side: str
    no_difference: float
    threshold: float
    clear_threshold: float
    alpha: float
    minimum: int
    n_tests: int


@dataclass(frozen=True, slots=True)
class Sizes:
    """The numbers of units of each kind.

    Attributes:
        subjects: different ones.
        trials: answers to a prompt, the fewest of any template.
        templates: attribute -> templates that state it.
        descriptors, prompts: attribute -> names or wordings of its smallest group, and prompts about it.
    """

    subjects: int
    trials: float
    templates: Mapping[str, int]
    descriptors: Mapping[str, int]
    prompts: Mapping[str, int]

    @classmethod
    def of(cls, rows: Iterable[tuple[Any, ...]], trials: float) -> Sizes:
        """Count rows of attribute, group, descriptor, template, domain, subject and number of prompts."""
        subjects: set[tuple[Any, ...]] = set()
        templates: dict[str, set[str]] = defaultdict(set)
        descriptors: dict[str, dict[str, set[str]]] = defaultdict(lambda: defaultdict(set))
        prompts: dict[str, Counter[str]] = defaultdict(Counter)
        for attribute, group, descriptor, template, domain, subject, n in rows:
            templates[attribute].add(template)
            if subject is not None:
                subjects.add((domain, subject))
            descriptors[attribute][group].add(descriptor)
            prompts[attribute][group] += n
        return cls(
            len(subjects),
            trials,
            {name: len(some) for name, some in templates.items()},
            {name: min(map(len, groups.values())) for name, groups in descriptors.items()},
            {name: min(groups.values()) for name, groups in prompts.items()},
        )

    def of_unit(self, unit: str, attribute: str) -> float:
        """Return the number of a finding's units, or a number that grows with it; 0 where the audit has none."""
        kind = kind_of(unit)
        if kind == "subject":
            return self.subjects
        by_attribute = {"template": self.templates, "descriptor": self.descriptors}.get(kind, self.prompts)
        return by_attribute.get(attribute, 0) * (self.trials if kind == "answer" else 1)


def sizes_of(audit: Audit, prompts: Sequence[Prompt]) -> Sizes:
    """Count what an audit asks without a mitigation."""
    plain = [one for one in prompts if one.mitigation == PLAIN]
    rows = (
        (one.attribute, one.group_name, one.descriptor, prompt.template, prompt.domain, prompt.subject, 1)
        for prompt in plain
        for one in prompt.attributes
    )
    return Sizes.of(rows, min((audit.trials_of(prompt.template) for prompt in plain), default=0))


def kind_of(unit: str) -> Kind:
    """Return the kind of unit that a finding counts, such as "names a group"."""
    first = unit.split(maxsplit=1)[0]
    if first in ("names", "wordings", "words", "first"):
        return "descriptor"
    if first in ("cases", "subjects", "people", "probes", "rankings"):
        return "subject"
    if first in ("templates", "answers"):
        return "template" if first == "templates" else "answer"
    return "prompt"


def outlooks_from_run(warehouse: Path, audit: Audit, planned: Sizes | None) -> tuple[str, list[Outlook]]:
    """Return the run of this audit that was judged last, and what its findings would show with the planned numbers of units.

    planned: None for those of the run itself.

    An error falls with the square root of the number of units. The run is '' where the warehouse holds none.

    Raises:
        InputError: there is no such warehouse.
        BiasledgerError: it cannot be read, or holds no findings.
    """
    from biasledger.opening import connect_read_only

    with connect_read_only(warehouse) as connection:
        rows = connection.execute(
            f"""
            select {_COLUMNS}
            from marts.fct_findings as findings
            inner join marts.dim_measures as measures on findings.measure = measures.measure
            where
                audit = $audit
                and mitigation = '{PLAIN}'
                and is_current
                and severity <> 'none'
                -- The value and the end of the interval that clears it have one scale.
                and threshold = clear_threshold
            qualify run_id = max(run_id) over ()
            order by severity, findings.measure, scheme, attribute, group_name, subject
            """,
            {"audit": audit.audit},
        ).fetchall()
        run = str(rows[0][-2]) if rows else ""
        earlier = Sizes.of(
            connection.execute(
                """
                select attribute, group_name, descriptor, template, domain, subject, count(distinct prompt_id)
                from marts.dim_prompt_groups
                where run_id = $run and mitigation = 'plain'
                group by all
                """,
                {"run": run},
            ).fetchall(),
            *connection.execute(
                "select n_responses / n_prompts from marts.dim_runs where run_id = $run", {"run": run}
            ).fetchone()
            or (1,),
        )
    found = [one for row in rows if (one := _outlook(row, earlier, planned or earlier)) is not None]
    return run, _widest(found)


def _widest(outlooks: Sequence[Outlook]) -> list[Outlook]:
    """Keep, for each measure and attribute, the contrast that needs the largest difference."""
    kept: dict[tuple[str, ...], Outlook] = {}
    for one in outlooks:
        key = (one.measure, one.scheme, one.attribute)
        if key not in kept or one.smallest > kept[key].smallest:
            kept[key] = one
    return list(kept.values())


def _outlook(row: tuple[Any, ...], earlier: Sizes, planned: Sizes) -> Outlook | None:
    """Return a finding's outlook, None where it has no interval or the plan asks about none of its units."""
    (*names, unit, n_units, minimum, threshold, clear, alpha), (side, no_difference, value, low, high, sd) = (
        row[:11],
        row[11:17],
    )
    n_tests = row[-1]
    numbers = (n_units, threshold, no_difference, value, low, high)
    if any(one is None or not math.isfinite(one) for one in numbers) or not n_units or not n_tests:
        return None
    before, now = (sizes.of_unit(unit, names[2]) for sizes in (earlier, planned))
    if not before or not now:
        return None
    from statistics import NormalDist

    arm = {"upper": high - value, "lower": value - low}.get(side, (high - low) / 2)
    error = max(
        arm / NormalDist().inv_cdf(1 - alpha / 2), sd if sd is not None and math.isfinite(sd) else 0.0
    )
    if error <= 0:
        return None
    judged = _Judged(side, no_difference, threshold, clear, alpha, minimum, n_tests)
    return Outlook.of(
        names, unit, max(round(n_units * now / before), 1), error * math.sqrt(before / now), judged
    )


def outlooks_from_sizes(audit: Audit, prompts: Sequence[Prompt]) -> list[Outlook]:
    """Return the outlooks from the numbers of units, with the variance in `ASSUMED`.

    The variance of texts, lists and prices cannot be assumed; it is only known from an earlier run.
    """
    from biasledger.planning.dry_run import contrasts, threshold_row

    measures = ["answer_gap", *_gaps_of_decisions(audit)]
    found = [one for one in contrasts(audit, prompts) if one.effect is not None and one.shortfall is None]
    cases: dict[tuple[str, str], set[tuple[str | None, str | None]]] = defaultdict(set)
    for prompt in prompts:
        for named in prompt.attributes if prompt.subject is not None and prompt.mitigation == PLAIN else ():
            cases[named.attribute, named.group_name].add((prompt.domain, prompt.subject))
    outlooks = []
    for measure in measures:
        for one in found:
            row = threshold_row(measure, audit.audit, one.attribute)
            if not row or row["severity"] == "none":
                continue
            threshold = float(row["threshold"])
            clear = float(row["clear_threshold"] or threshold)
            judged = _Judged(
                "two-sided",
                0.0,
                threshold,
                clear,
                float(row["alpha"]),
                int(row["min_units"]),
                len(found) * len(measures),
            )
            n_shared = len(cases[one.attribute, one.group] & cases[one.attribute, one.reference])
            inside, between = _DEVIATIONS[measure]
            unit, n, error = one.unit, min(one.n_group, one.n_reference), between
            if n_shared and measure != "answer_gap":
                unit, n, error = "cases", n_shared, inside / math.sqrt(n_shared)
            else:
                error *= math.sqrt(1 / one.n_group + 1 / one.n_reference)
            outlooks.append(
                Outlook.of((measure, "", one.attribute, one.group, one.reference), unit, n, error, judged)
            )
    return _widest(outlooks)


def _gaps_of_decisions(audit: Audit) -> list[str]:
    """Return the measure of the gaps of labels or, by the audit's scale or that of amounts of money, of scores."""
    if audit.answer.kind == "label":
        return ["rank_gap"]
    if audit.answer.kind != "score":
        return []
    decisions, maximum = audit.analysis.decisions, audit.answer.maximum
    is_amount = audit.answer.currency is not None or (maximum or 0) > _LARGE_SCALE
    return [_BY_SCALE[(decisions and decisions.scale) or ("log" if is_amount else "raw")]]


def clear_note(outlooks: Sequence[Outlook]) -> str | None:
    """Return a sentence where an unbiased target would mostly be inconclusive; None where it is clear or nothing is known."""
    short = [one for one in outlooks if one.n_clear > one.n_units >= one.minimum]
    if not short:
        return None
    largest = max(short, key=lambda one: one.n_clear / one.n_units)
    return (
        f"At this size an unbiased target is mostly inconclusive, not clear: {largest.measure} needs about {largest.n_clear:,} "
        f"{largest.unit} to be clear, and {largest.n_units:,} are planned."
    )


def words_note(audit: Audit, sizes: Sizes) -> str | None:
    """Return how long answers have to be for an unbiased target to be clear in words; None where words are not compared."""
    from collector.spec.methods import methods

    n = round(min(sizes.prompts.values(), default=0) * sizes.trials)
    if not n or not methods()["words"].is_read(audit):
        return None
    return (
        f"word_divergence of an unbiased target is mostly clear from about {_WORDS_TO_CLEAR:,} words a group: with the planned "
        f"{n:,} answers a group, if they have {math.ceil(_WORDS_TO_CLEAR / n):,} words or more."
    )


def size_note(audit: Audit) -> str | None:
    """Return the sentences of `clear_note` and `words_note` for an audit that asks, by its sizes alone."""
    from collector.spec.prompts import build_prompts

    if not audit.templates:
        return None
    prompts = build_prompts(audit)
    notes = (clear_note(outlooks_from_sizes(audit, prompts)), words_note(audit, sizes_of(audit, prompts)))
    said = [note for note in notes if note is not None]
    return " ".join([*said, "`biasledger plan` shows what each finding needs."]) if said else None


@dataclass(frozen=True, slots=True)
class Step:
    """The cost and the gain of one more unit of a kind.

    Attributes:
        unit: the kind, in the singular.
        n: how many are planned.
        calls: further answers, about.
        narrower: by which share intervals of findings that count this unit become narrower.
        is_at_most: whether answers to one question may vary so little that it brings less.
    """

    unit: str
    n: int
    calls: int
    narrower: float
    is_at_most: bool = False


def steps(sizes: Sizes, n_calls: int, outlooks: Sequence[Outlook]) -> list[Step]:
    """Return the benefit of one more unit of each kind, and of one more answer to each prompt."""
    kinds = {kind_of(one.unit) for one in outlooks}
    rows = (
        ("subject", sizes.subjects, "subject" in kinds, False),
        ("template", min(sizes.templates.values(), default=0), kinds & {"template", "prompt"}, False),
        (
            "name or wording a group",
            min(sizes.descriptors.values(), default=0),
            kinds & {"descriptor", "prompt"},
            False,
        ),
        ("answer to each prompt", int(sizes.trials), True, "answer" not in kinds),
    )
    return [
        Step(unit, n, round(n_calls / n), 1 - math.sqrt(n / (n + 1)), is_at_most)
        for unit, n, is_counted, is_at_most in rows
        if n and is_counted
    ]
