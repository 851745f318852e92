"""Which run of an audit and target counts, and what has to be said of it and of newer ones."""

from __future__ import annotations

from typing import TYPE_CHECKING

from biasledger.comparing.run_names import NamedRun, find_run

if TYPE_CHECKING:
    from biasledger.comparing.built_tables import Tables


def known_runs(tables: Tables) -> list[NamedRun]:
    """All runs: of an audit and target the current one first, then those before it, as they would
    count, then newer ones.
    """
    rows = tables.execute(
        "select run_id, audit, target from {dim_runs} order by run_rank, started_at desc, run_id desc"
    )
    return [NamedRun(*row) for row in rows]


def built_run(tables: Tables, name: str) -> str:
    """The run of the built tables that a name means: an id, the beginning of one, `latest` or `previous`.

    Raises:
        InputError: no run is called so, or several are.
    """
    return find_run(name, known_runs(tables), None, can_narrow=False).run_id


def standing_notes(tables: Tables) -> list[str]:
    """A sentence for each current run that is not finished, for each run that is newer than the current one of its audit
    and target, which alone raises alarms, and for each current run that hides another model.
    """
    if not tables.has("dim_runs"):
        return []
    return [*_unfinished(tables), *_passed_over(tables), *hidden_models(tables)]


def hidden_models(tables: Tables) -> list[str]:
    """A sentence for each current run under whose target name another model was asked, which no current run speaks of.

    Raises:
        InputError: the tables are of a version that did not tell.
    """
    rows = tables.execute(
        """
        select audit, target, run_id, model_asked, hides_models
        from {dim_runs}
        where hides_models is not null
        order by started_at, run_id
        """
    )
    return [
        f"The run {run} of {audit} asked {model}, and other runs under the target name {target} asked {others}, of which nothing "
        "shows here: models that are both in use need a target name each."
        for audit, target, run, model, others in rows
    ]


def unjudged_runs(tables: Tables) -> list[str]:
    """A sentence for each current run that has no finding at all."""
    if not tables.has("dim_runs"):
        return []
    rows = tables.execute(
        """
        select runs.audit, runs.target, runs.run_id
        from {dim_runs} as runs
        anti join {fct_findings} as findings on runs.run_id = findings.run_id
        where runs.is_current
        order by runs.started_at, runs.run_id
        """
    )
    return [
        f"Nothing could be judged of {audit}, target {target}: its run {run} has no finding."
        for audit, target, run in rows
    ]


def _unfinished(tables: Tables) -> list[str]:
    rows = tables.execute(
        """
        select audit, target, run_id, n_ok
        from {dim_runs}
        where is_current and not is_finished
        order by started_at, run_id
        """
    )
    return [
        f"The run {run} is not finished: findings on {audit}, target {target}, are of the "
        f"{n_ok:,} {'answer' if n_ok == 1 else 'answers'} so far; go on with: biasledger collect --resume {run}"
        for audit, target, run, n_ok in rows
    ]


def _passed_over(tables: Tables) -> list[str]:
    rows = tables.execute(
        """
        select newer.audit, newer.target, newer.run_id, newer.is_finished, chosen.run_id
        from {dim_runs} as newer
        inner join {dim_runs} as chosen
            on newer.audit = chosen.audit and newer.target = chosen.target and chosen.is_current
        where (newer.started_at, newer.run_id) > (chosen.started_at, chosen.run_id)
        order by newer.started_at, newer.run_id
        """
    )
    return [
        f"The run {run} {'has no answers' if is_finished else 'is not finished'}, so that {audit} of {target} still goes by the "
        f"findings of {current}"
        + ("." if is_finished else f"; go on with: biasledger collect --resume {run}")
        for audit, target, run, is_finished, current in rows
    ]
