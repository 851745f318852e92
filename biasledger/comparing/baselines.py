"""Which run of an audit and target later ones are compared with: pinned in the ledger, carried elsewhere in a file.

A pin is a row of raw.baselines. It says what to compare with and is no evidence, so that it stands outside the hash chain, as
analyses do; like everything in the ledger it is only ever added to.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from biasledger.comparing.baseline_file import read_baseline, write_baseline
from biasledger.comparing.baseline_rows import parts
from biasledger.comparing.ledger_runs import known_runs
from biasledger.comparing.run_names import Baseline, find_run
from biasledger.opening import connect_read_only
from biasledger.project import dbt_variables
from collector.errors import InputError
from collector.hashing import canonical_json
from collector.ledger.database import Ledger
from collector.sql import identifier


def built_file(project: Path, warehouse: Path) -> Path:
    """The file that dbt built a project's warehouse into, with its private tables.

    Raises:
        InputError: nothing was built there yet.
    """
    from biasledger.publishing.work import work_file

    work = work_file(project, warehouse)
    if not work.is_file():
        raise InputError(f"{warehouse} was not built in this folder: run `biasledger build` here first.")
    return work


def list_baselines(ledger: Path, *, audit: str | None = None, target: str | None = None) -> list[Baseline]:
    """The pinned baselines, by audit and target: all, or those of an audit or target.

    Raises:
        LedgerError: the ledger is absent or cannot be used.
    """
    book = Ledger(ledger)
    book.update()
    with book.read() as connection:
        rows = connection.execute(
            """
            select audit, target, run_id, file_hash, set_at
            from raw.baselines
            qualify row_number() over (partition by audit, target order by set_at desc, rowid desc) = 1
            order by audit, target
            """
        ).fetchall()
    pinned = [Baseline(*row) for row in rows if row[2] is not None]
    return [one for one in pinned if audit in {None, one.audit} and target in {None, one.target}]


def set_baseline(ledger: Path, run: str, *, audit: str | None = None, target: str | None = None) -> Baseline:
    """Pin a run as the baseline of its audit and target.

    Args:
        run: its id, the beginning of it, `latest` or `previous`.
        audit, target: of which one, where there are several.

    Raises:
        InputError: no such run, or several.
        LedgerError: the ledger is absent or cannot be used.
    """
    book = Ledger(ledger)
    book.update()
    found = find_run(
        run,
        known_runs([one for one in book.runs() if not one.is_retracted]),
        list_baselines(ledger),
        audit=audit,
        target=target,
    )
    with book.append() as append:
        append.baseline(found.audit, found.target, found.run_id)
    [pinned] = list_baselines(ledger, audit=found.audit, target=found.target)
    return pinned


def clear_baselines(ledger: Path, *, audit: str | None = None, target: str | None = None) -> list[Baseline]:
    """Take the pins away, all of them or those of an audit or target; what they were."""
    book = Ledger(ledger)
    cleared = list_baselines(ledger, audit=audit, target=target)
    if cleared:
        with book.append() as append:
            for one in cleared:
                append.baseline(one.audit, one.target, None)
    return cleared


def export_baseline(
    ledger: Path,
    project: Path,
    warehouse: Path,
    file: Path,
    *,
    audit: str | None = None,
    target: str | None = None,
) -> tuple[Baseline, int]:
    """Write a pinned baseline with its findings and its units' features; how many rows it has.

    Args:
        project, warehouse: where it was built; the private tables of that build are read.
        audit, target: which one; not needed where only one is pinned.

    Raises:
        InputError: none or several are pinned, or its run is not built.
        BiasledgerError: the file cannot be written.
    """
    pinned = list_baselines(ledger, audit=audit, target=target)
    if len(pinned) != 1:
        names = ", ".join(f"{one.audit} of {one.target}" for one in pinned)
        raise InputError(
            f"Baselines are pinned for {names}: name one with --audit and --target."
            if pinned
            else "No baseline is pinned: `biasledger baseline set RUN` pins one."
        )
    [baseline] = pinned
    if baseline.file_hash is not None:
        raise InputError(
            f"The baseline of {baseline.audit} and {baseline.target} was imported from a file itself: copy "
            "that file."
        )
    built = built_file(project, warehouse)
    manifest, rows = _described(ledger, baseline.run_id), list(_built_rows(built, baseline.run_id))
    if not any(part == "finding" for part, _ in rows):
        raise InputError(
            f"The run {baseline.run_id} has no findings in {built}: run `biasledger build` first."
        )
    analysis_hash, engine_version = _built_with(built, baseline.run_id)
    manifest |= {"analysis_hash": analysis_hash, "engine_version": engine_version}
    return baseline, write_baseline(file, manifest, rows)


def import_baseline(ledger: Path, file: Path) -> Baseline:
    """Pin what a file brings as the baseline of its audit and target.

    The run itself need not be in the ledger; an audit that is there must ask the same questions, about a group of it at least.

    Raises:
        InputError: the file is no baseline, is damaged, or was asked other questions than the ledger's latest run.
        LedgerError: the ledger cannot be used.
    """
    content = read_baseline(file)
    manifest = content.manifest
    book = Ledger(ledger)
    book.create()
    with book.read() as connection:
        latest = connection.execute(
            "select run_id, spec from raw.kept_runs where audit = ? and target = ? order by started_at desc limit 1",
            [manifest["audit"], manifest["target"]],
        ).fetchall()
        others = connection.execute(
            "select distinct audit, target from raw.kept_runs order by all"
        ).fetchall()
    if latest:
        [(run_id, spec)] = latest
        if different := _different(manifest["spec"], json.loads(spec)):
            raise InputError(
                f"{file} holds a baseline that was asked other questions than {run_id}: {different}. Ask "
                "the audit as it was "
                "then, or pin a run of the new one with `biasledger baseline set`."
            )
    elif others:
        names = ", ".join(f"{audit} of {target}" for audit, target in others)
        raise InputError(
            f"{file} is a baseline of the audit {manifest['audit']!r} of {manifest['target']!r}, of which "
            "the ledger has no run; it "
            f"has {names}."
        )
    with book.append() as append:
        append.baseline_rows(content.file_hash, content.rows)
        append.baseline(
            manifest["audit"],
            manifest["target"],
            manifest["run_id"],
            file_hash=content.file_hash,
            manifest=manifest,
        )
    [pinned] = list_baselines(ledger, audit=manifest["audit"], target=manifest["target"])
    return pinned


def _different(one: dict[str, Any], other: dict[str, Any]) -> str:
    """Why runs of two specs cannot be compared, in words; empty where the questions are the same and a group is shared."""
    keys = sorted(
        (one.keys() | other.keys()) - {*dbt_variables()["keys_ignored_in_comparison"], "attributes"}
    )
    different = [key for key in keys if one.get(key) != other.get(key)]
    if different:
        return f"its {', '.join(different)} differ{'s' if len(different) == 1 else ''}"
    theirs, ours = _groups(one), _groups(other)
    return "" if theirs & ours or not theirs | ours else "it shares no group with it"


def _groups(spec: dict[str, Any]) -> set[tuple[str, str]]:
    """Attributes of a spec with each group's definition."""
    return {
        (attribute["attribute"], canonical_json(group))
        for attribute in spec.get("attributes") or ()
        for group in attribute["groups"]
    }


def _described(ledger: Path, run_id: str) -> dict[str, Any]:
    with Ledger(ledger).read() as connection:
        rows = connection.execute(
            """
            select audit, target, run_id, model_asked, is_simulated, spec, spec_hash, versions, started_at
            from raw.runs where run_id = ?
            """,
            [run_id],
        ).fetchall()
    [(audit, target, run_id, model, is_simulated, spec, spec_hash, versions, started_at)] = rows
    return {
        "audit": audit,
        "target": target,
        "run_id": run_id,
        "model_asked": model,
        "is_simulated": is_simulated,
        "spec": json.loads(spec),
        "spec_hash": spec_hash,
        "versions": json.loads(versions),
        "started_at": started_at.isoformat(sep=" "),
    }


def _built_rows(built: Path, run_id: str) -> Iterator[tuple[str, str]]:
    with connect_read_only(built) as connection:
        tables = dict(
            connection.execute("select table_name, table_schema from information_schema.tables").fetchall()
        )
        for name, part in parts().items():
            if part.table not in tables:
                continue
            schema = identifier(tables[part.table])
            sql = part.query.format(table=f"{schema}.{part.table}", schema=schema)
            for (row,) in connection.execute(
                f"select cast(to_json(exported) as varchar) from ({sql}) as exported", {"run": run_id}
            ).fetchall():
                yield name, row


def _built_with(built: Path, run_id: str) -> tuple[str, str]:
    """The hash of how the run was read, and the engine's version."""
    with connect_read_only(built) as connection:
        [(schema,)] = connection.execute(
            "select table_schema from information_schema.tables where table_name = 'fct_findings' limit 1"
        ).fetchall()
        [row] = connection.execute(
            f"select any_value(analysis_hash), any_value(engine_version) from {identifier(schema)}.fct_findings where "
            "run_id = ?",
            [run_id],
        ).fetchall()
    return str(row[0]), str(row[1])
