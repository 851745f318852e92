"""Single outputs of a run by the published rule for one output, which has no test behind it."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from biasledger.comparing.built_tables import Tables
from biasledger.numbers import count
from collector.errors import LedgerError
from collector.ledger.database import Ledger

_LOCK_SECONDS = 2.0
_JUDGED = """
    from {fct_stereotype_scores} as scores
    inner join {dim_runs} as runs using (run_id)
    where scores.is_judged and scores.mitigation = 'plain' and list_contains(?, run_id)
"""


@dataclass(frozen=True)
class Outputs:
    """Outputs of one category of a run's plain audit.

    n_skipped: fewer than two markers, so that the ratio says nothing, and no negative regard; neither passed nor failed.
    mean_stereotype_ratio: over all outputs, 0.5 where there is no marker, 0 to 1.
    """

    run_id: str
    audit: str
    target: str
    category: str
    n_outputs: int
    n_failed: int
    n_skipped: int
    mean_stereotype_ratio: float

    @property
    def n_passed(self) -> int:
        """Outputs that the rule judges and does not fail."""
        return self.n_outputs - self.n_failed - self.n_skipped

    @property
    def pass_rate(self) -> float | None:
        """Passed outputs of those that were not skipped; None where all were."""
        judged = self.n_outputs - self.n_skipped
        return self.n_passed / judged if judged else None


@dataclass(frozen=True)
class FailedOutput:
    """An output that fails the rule, with its scores and the reasons. `prompt` is empty if the ledger does not have it."""

    run_id: str
    audit: str
    target: str
    category: str
    probe: str
    target_group: str | None
    prompt_id: str
    trial: int
    stereotype_ratio: float
    n_stereotype_markers: int
    n_anti_markers: int
    regard_scores: str | None
    reasons: str
    prompt: str = ""


def count_outputs(tables: Tables, runs: Sequence[str]) -> tuple[Outputs, ...]:
    """Count the outputs of runs by category; none where no answer was looked through for markers."""
    if not tables.has("fct_stereotype_scores"):
        return ()
    rows = tables.execute(
        f"""
        select
            run_id,
            any_value(runs.audit),
            any_value(runs.target),
            scores.category,
            count(*),
            count(*) filter (where scores.published_outcome = 'failed'),
            count(*) filter (where scores.published_outcome = 'skipped'),
            avg(scores.stereotype_ratio order by scores.stereotype_ratio)
        {_JUDGED}
        group by run_id, scores.category
        order by any_value(runs.audit), any_value(runs.target), run_id, scores.category
        """,
        [list(runs)],
    )
    return tuple(Outputs(*row) for row in rows)


def failed_outputs(tables: Tables, runs: Sequence[str], ledger: Path | None) -> tuple[FailedOutput, ...]:
    """List at most 1,000 outputs of runs that fail, those with the most reasons and the largest ratio first."""
    if not tables.has("fct_stereotype_scores"):
        return ()
    rows = tables.execute(
        f"""
        select
            run_id,
            runs.audit,
            runs.target,
            scores.category,
            scores.probe,
            scores.target_group,
            scores.prompt_id,
            scores.trial,
            scores.stereotype_ratio,
            scores.n_stereotype_markers,
            scores.n_anti_markers,
            scores.regard_scores,
            scores.published_reasons
        {_JUDGED} and scores.published_outcome = 'failed'
        order by
            runs.audit, runs.target, run_id, contains(scores.published_reasons, ';') desc, scores.stereotype_ratio desc,
            scores.category, scores.probe, scores.prompt_id, scores.trial
        limit 1000
        """,
        [list(runs)],
    )
    prompts = read_prompts(ledger, runs) if rows and ledger is not None else {}
    failed = [FailedOutput(*row) for row in rows]
    return tuple(replace(one, prompt=prompts.get((one.run_id, one.prompt_id), "")) for one in failed)


def read_prompts(ledger: Path, runs: Sequence[str]) -> dict[tuple[str, str], str]:
    """Read the prompts that audits asked by run and id; imported ones may be customers' texts and stay in the ledger.

    None where there is no such ledger or it cannot be read.
    """
    if not ledger.is_file():
        return {}
    try:
        with Ledger(ledger, wait_seconds=_LOCK_SECONDS).read() as connection:
            rows = connection.execute(
                "select run_id, prompt_id, prompt_text from raw.kept_prompts join raw.kept_runs using (run_id)"
                " where list_contains(?, run_id) and prompt_text is not null and json_exists(spec, '$.templates[0]')",
                [list(runs)],
            ).fetchall()
    except LedgerError:
        return {}
    return {(run_id, prompt_id): text for run_id, prompt_id, text in rows}


def sentences(
    counted: Sequence[Outputs], failed: Sequence[FailedOutput], n_shown: int | None
) -> Iterator[str]:
    """Say for each run how many of its outputs pass, in all and by category, and which do not.

    n_shown: how many failed outputs of a run are listed; all if None.
    """
    for run_id in dict.fromkeys(one.run_id for one in counted):
        of_run = [one for one in counted if one.run_id == run_id]
        total = replace(
            of_run[0],
            n_outputs=sum(one.n_outputs for one in of_run),
            n_failed=sum(one.n_failed for one in of_run),
            n_skipped=sum(one.n_skipped for one in of_run),
        )
        yield (
            f"Single outputs of {total.audit}, target {total.target}, by the published rule, on which no verdict rests: "
            f"{_counts(total)}. Skipped outputs have fewer than two markers."
        )
        if len(of_run) > 1:
            yield from (
                f"  {one.category or 'no category'}: {_counts(one)}, mean ratio {one.mean_stereotype_ratio:.2f}"
                for one in of_run
            )
        entries = [one for one in failed if one.run_id == run_id]
        for one in entries[:n_shown]:
            regard = f", regard: {one.regard_scores}" if one.regard_scores else ""
            yield (
                f"  - failed, {one.reasons}: {_prompt(one)} (trial {one.trial}; ratio "
                f"{one.stereotype_ratio:.3g}: {count(one.n_stereotype_markers, 'marker')} for the stereotype, "
                f"{one.n_anti_markers} against{regard})"
            )
        if total.n_failed > len(entries[:n_shown]):
            yield f"  - {total.n_failed - len(entries[:n_shown]):,} more: `biasledger query outputs_that_fail` lists all."


def _prompt(one: FailedOutput) -> str:
    return textwrap.shorten(one.prompt, 200, placeholder=" …") or one.probe or one.prompt_id


def _counts(one: Outputs) -> str:
    rate = "no pass rate" if one.pass_rate is None else f"pass rate {100 * one.pass_rate:.0f} %"
    return (
        f"{one.n_outputs:,} in all, {one.n_passed:,} passed, {one.n_failed:,} failed, {one.n_skipped:,} skipped; "
        f"{rate}"
    )
