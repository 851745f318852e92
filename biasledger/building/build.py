"""Build the warehouse: register analyses, run dbt, separate alarms from a broken warehouse, publish.

dbt builds into a private work file; the public tables are then published as the warehouse, which stays as it was if a model
or a quality test failed.
"""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from biasledger import __version__
from biasledger.building import INCREMENTAL, MANIFEST, MEASURED_BY, RESULTS
from biasledger.building.analysis_settings import register_analysis_settings
from biasledger.building.running import LOG, BuildError, Dbt, OnStep, ignored_variables, one_line
from biasledger.building.settings import check_settings
from biasledger.building.targets import runs_on_spark
from biasledger.methods import method_names
from biasledger.project import LINKS, check_project, dbt_variables, require_project
from biasledger.publishing.freshness import (
    LastBuild,
    discard_last_build,
    inputs_of,
    measured_by,
    methods_inputs,
    methods_last_built,
    read_last_build,
    remember,
    settings_of,
    up_to_date_methods,
)
from biasledger.publishing.work import delete_outdated_work_file, locked, spark_file, work_file
from collector.errors import InputError

if TYPE_CHECKING:
    from biasledger.publishing.warehouse import BuildInfo

_FAILED = {"error", "fail", "runtime error", "partial success"}
_DONE = {"success", "pass", "warn"}
_TESTS = {"test": "quality test", "unit_test": "unit test"}
_SHOWN_FAILURES = 3


@dataclass(frozen=True)
class BuildSummary:
    """The result of a build.

    Attributes:
        n_models: models and seeds built.
        n_quality_tests: quality tests passed.
        n_alarm_tests: alarm tests run, whether they passed or failed.
        alarm_tests: alarm tests that failed.
        published: schema and name of each table published -> its rows; empty where only a selection was built.
        work: the file that dbt built into.
    """

    n_models: int
    n_quality_tests: int
    n_alarm_tests: int
    alarm_tests: tuple[str, ...]
    published: Mapping[str, int]
    work: Path

    @property
    def has_alarms(self) -> bool:
        """Return whether any alarm test failed."""
        return bool(self.alarm_tests)


def build_warehouse(
    project: Path,
    ledger: Path,
    warehouse: Path,
    *,
    target: str | None = None,
    threads: int | None = None,
    full_refresh: bool = False,
    is_forced: bool = False,
    select: Sequence[str] = (),
    is_closed: bool = False,
    allow_outside: bool = False,
    on_step: OnStep = lambda _done, _total, _name: None,
    on_note: Callable[[str], None] = lambda _note: None,
) -> BuildSummary:
    """Build `warehouse` from `ledger` with the dbt project in `project`.

    Args:
        warehouse: the file to publish the public tables in, with alarms or without.
        target: of profiles.yml; None is its default. A target on Spark rebuilds everything and publishes the same tables.
        threads: dbt's threads; None leaves it to profiles.yml.
        full_refresh: rebuild incremental models.
        is_forced: build also the methods in which nothing is new.
        select: dbt selectors; none builds everything. A selection stays in the work file: published tables are all of one build.
        is_closed: no SQL may read or write another file than the project's seeds; user's own models may need to.
        allow_outside: whether audit files may name files outside of the project.
        on_step: called with (steps done, steps in all, name of the step), every ten seconds also what is being done.
        on_note: called with a sentence for each journal that was loaded, or could not be, for each audit file that is left out,
            if everything is rebuilt, and if methods are up to date.

    Raises:
        InputError: no project here, a wrong audit file, wrong settings, another build under way, no such target or what it needs
            is not installed, or `warehouse` is a file that must not be replaced.
        LedgerError: the ledger is absent or cannot be used.
        BuildError: a model or a quality test failed; the message names it, and the warehouse is as it was.
        PublishError: the tables were built but not published; the warehouse is as it was.
        KeyboardInterrupt: on Ctrl-C; the message says what is kept.
    """
    from biasledger.publishing.erasures import hash_erasures
    from biasledger.publishing.public import public_tables
    from biasledger.publishing.warehouse import publish_warehouse, require_replaceable
    from collector.ledger.database import Ledger
    from collector.ledger.loading import load_all
    from collector.rows import utc_now

    check_project(project)
    with locked(project), Dbt(project) as dbt:
        # Links are renewed while no other build reads them.
        require_project(project)
        check_settings(project)
        require_replaceable(warehouse, ledger)
        is_on_spark = runs_on_spark(project, target)
        if is_on_spark and select:
            raise InputError("A build on Spark is whole: leave out --select.")
        for note in load_all(ledger):
            on_note(note)
        register_analysis_settings(project, ledger, allow_outside=allow_outside, on_note=on_note)
        work = work_file(project, warehouse)
        # Held open, so that the steps below do not open it again.
        with Ledger(ledger).read() as connection:
            for note in delete_outdated_work_file(work, Ledger(ledger)):
                on_note(note)
            if is_on_spark:
                # An earlier build on DuckDB lacks this build's history; the next one there takes it from the published tables.
                work.unlink(missing_ok=True)
                work = spark_file(work)
                work.unlink(missing_ok=True)
            # Take these hashes before dbt starts; answers that arrive later belong to the next build.
            methods, erasures_hash = methods_of(ledger), hash_erasures(connection)
            inputs, settings = inputs_of(project, ledger), settings_of(project, ledger, target)
            of_methods = methods_inputs(settings, Ledger(ledger), methods)
        is_ordinary = not (select or is_closed or allow_outside)
        may_skip = is_ordinary and not (full_refresh or is_forced)
        up_to_date = up_to_date_methods(work, of_methods) if may_skip else []
        environment = {
            "BIASLEDGER_LEDGER": seen_from(project, ledger),
            "BIASLEDGER_WAREHOUSE": seen_from(project, work),
            "BIASLEDGER_PUBLISHED": seen_from(project, warehouse),
            # A selection may measure a run by tables of an earlier state of it.
            MEASURED_BY: measured_by(project) if is_ordinary else "",
        }
        if is_closed:
            # Relative to the project, as in dbt's statements.
            environment["BIASLEDGER_CLOSED"] = str(LINKS / "seeds")
        if is_ordinary and not full_refresh and set(methods) <= set(methods_last_built(work, settings)):
            environment[INCREMENTAL] = "yes"
        if up_to_date:
            on_note(f"Nothing is new in {', '.join(up_to_date)}: the last results are up to date.")
        if ignored := ignored_variables():
            on_note(f"Ignored: {', '.join(ignored)}. A build takes no options of dbt from the environment.")
        discard_last_build(work)
        command = ["build", *_options(target, threads, select, up_to_date, full_refresh=full_refresh)]
        try:
            messages = dbt.run(command, environment, on_step, methods=methods, is_closed=is_closed)
        except KeyboardInterrupt:
            raise KeyboardInterrupt(
                f"Stopped: {warehouse} is as it was. "
                + (
                    "The next build on Spark starts from the beginning."
                    if is_on_spark
                    else f"The next build uses the measures that were done, which are in {work}, unless settings change."
                )
            ) from None
        built = _read_artifacts(project)
        summary = _summarise(built, messages, work)
        if not select:
            build = _build_info(built, erasures_hash)
            published = publish_warehouse(work, warehouse, public_tables(built), build, ledger=ledger)
            summary = replace(summary, published=published)
        if is_ordinary:
            found = LastBuild(utc_now(), summary.alarm_tests, len(summary.published))
            remember(work, warehouse, inputs, found, of_methods, settings, methods)
        return summary


def up_to_date_build(
    project: Path, ledger: Path, warehouse: Path, target: str | None = None
) -> LastBuild | None:
    """Return the state of the last build if another build would give the same tables, else None.

    Nothing is written. While another build is running, the answer is None.
    """
    work = work_file(project, warehouse)
    if runs_on_spark(project, target):
        work = spark_file(work)
    return read_last_build(work, warehouse, inputs_of(project, ledger))


def _options(
    target: str | None,
    threads: int | None,
    select: Sequence[str],
    up_to_date: Sequence[str],
    *,
    full_refresh: bool,
) -> list[str]:
    """Return the options of `dbt build`."""
    options = [] if target is None else ["--target", target]
    options += [] if threads is None else ["--threads", str(threads)]
    options += ["--full-refresh"] if full_refresh else []
    options += ["--select", *select] if select else []
    # Unit tests and grain tests of private tables check the shipped SQL before a release, and say nothing about this ledger.
    options += ["--exclude", "package:biasledger,resource_type:unit_test"]
    options += ["package:biasledger,tag:private"]
    # Exposures need no work; without this they would be counted as steps.
    options += ["resource_type:exposure"]
    options += [f"package:biasledger,group:{method}" for method in up_to_date]
    return options


def methods_of(ledger: Path) -> list[str]:
    """Return the methods that the ledger's runs use, in their order; all of them if there is no run."""
    from collector.ledger.database import Ledger

    parts = Ledger(ledger).parts_read()
    return [method for method in method_names() if method in parts] or list(method_names())


def seen_from(project: Path, path: Path) -> str:
    """Return a path relative to the project, so that dbt's parsed state stays valid when the folder is moved."""
    return os.path.relpath(path.resolve(), project.resolve())


def _build_info(built: Mapping[str, Any], erasures_hash: str) -> BuildInfo:
    from biasledger.publishing.warehouse import BuildInfo

    return BuildInfo(
        build_id=built["metadata"]["invocation_id"],
        built_at=datetime.fromisoformat(built["metadata"]["generated_at"]),
        biasledger_version=__version__,
        engine_version=dbt_variables().get("engine_version"),
        erasures_hash=erasures_hash,
    )


def _summarise(built: Mapping[str, Any], messages: Sequence[str], work: Path) -> BuildSummary:
    nodes: Mapping[str, Any] = built["nodes"]
    failed = [row for row in built["results"] if row["status"] in _FAILED]
    alarms = [row for row in failed if row["status"] == "fail" and "alarm" in _tags(nodes, row)]
    broken = [row for row in failed if row not in alarms]
    if broken:
        raise BuildError(_explain(broken, nodes, work))
    if not built["results"]:
        raise BuildError(f"Nothing was built: {one_line(messages) or 'no model matches the selection'}.")
    done = [row for row in built["results"] if row["status"] in _DONE]
    n_tests = Counter("alarm" in _tags(nodes, row) for row in done if _kind(row) in _TESTS)
    n_models = sum(_kind(row) not in _TESTS for row in done)
    names = tuple(nodes[row["unique_id"]]["name"] for row in alarms)
    return BuildSummary(
        n_models=n_models,
        n_quality_tests=n_tests[False],
        n_alarm_tests=n_tests[True] + len(alarms),
        alarm_tests=names,
        published={},
        work=work,
    )


def _tags(nodes: Mapping[str, Any], row: Mapping[str, Any]) -> list[str]:
    return list(nodes.get(row["unique_id"], {}).get("tags", ()))


def _explain(broken: Sequence[Mapping[str, Any]], nodes: Mapping[str, Any], work: Path) -> str:
    sentences = []
    for row in broken[:_SHOWN_FAILURES]:
        kind = _TESTS.get(_kind(row), _kind(row))
        name = nodes.get(row["unique_id"], {}).get("name", row["unique_id"])
        where = (
            f"; its rows, in {work}: select * from {row['relation_name']}" if _has_stored_rows(row) else ""
        )
        sentences.append(f"{kind} {name} failed: {one_line([row.get('message') or ''])}{where}")
    more = len(broken) - len(sentences)
    if more:
        sentences.append(f"and {more} more failed")
    return f"Nothing was published: {'; '.join(sentences)} (the whole log is {LOG})."


def _kind(row: Mapping[str, Any]) -> str:
    return str(row["unique_id"].split(".")[0])


def _has_stored_rows(row: Mapping[str, Any]) -> bool:
    return row["status"] == "fail" and bool(row.get("relation_name"))


def _read_artifacts(project: Path) -> dict[str, Any]:
    """Return dbt's results with `nodes`, all nodes and unit tests by their ids."""
    try:
        results: dict[str, Any] = json.loads((project / RESULTS).read_text(encoding="utf-8"))
        manifest = json.loads((project / MANIFEST).read_text(encoding="utf-8"))
    except FileNotFoundError as error:
        raise BuildError(f"dbt left no results: it was stopped half-way. The whole log is {LOG}") from error
    return results | {"nodes": {**manifest["nodes"], **manifest["unit_tests"]}}
