"""Put the page together: verdicts, charts, table of findings; one file that loads nothing and runs no code from outside."""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from biasledger.checking.mitigations import OF_NO_GROUP
from biasledger.checking.outputs import read_prompts
from biasledger.methods import method_names, module_of
from biasledger.numbers import bounds
from biasledger.reporting import runs
from biasledger.reporting.asked import read_asked
from biasledger.reporting.charts import LEGEND
from biasledger.reporting.drawing import drawings
from biasledger.reporting.failures import failure_rows, failures, named, worst_first
from biasledger.reporting.findings import COLUMNS, FILTERS, audit_name, finding_address, findings_table
from biasledger.reporting.matrix import matrix
from biasledger.reporting.picture import Panel, Picture, breadth, compact
from biasledger.reporting.source import Result, Row, Source, require_runs
from biasledger.reporting.templating import environment_of
from biasledger.reporting.verdicts import (
    RunVerdict,
    lead,
    next_steps,
    other_verdicts,
    result,
    run_verdict,
    tiles,
)

_CHARTS_DRAWN_TWICE = 120
_TEMPLATES = Path(__file__).parent / "templates"
# In JSON inside HTML these could end the script element or, of old, a line of script.
_ESCAPES = {character: f"\\u{ord(character):04x}" for character in "<>&\u2028\u2029"}


@dataclass(frozen=True)
class Section:
    """One run of the report: its verdict, what may be tried against its alarms, and its pictures."""

    key: str
    verdict: RunVerdict
    suggestions: Sequence[Row]
    pictures: Sequence[Picture]


def assemble(
    source: Source,
    run_ids: Sequence[str] = (),
    *,
    ledger: Path | None = None,
    with_examples: bool = False,
) -> str:
    """The page on these runs, in full; what was asked comes from the ledger, see `read_asked`.

    Where none are named, on all: the latest of each audit and target in full, older ones in the trend and the table of findings.

    Raises:
        InputError: there is no such run.
    """
    chosen, shown = _chosen(source, run_ids)
    ids = [row["run_id"] for row in chosen]
    found = _result(source, "findings", run_ids=ids)
    findings = found.rows
    by_run: dict[str, list[Row]] = {}
    for finding in findings:
        by_run.setdefault(finding["run_id"], []).append(finding)
    sections = [
        Section(
            f"run-{place}",
            run_verdict(run, by_run.get(run["run_id"], []), _silent(source, run["run_id"])),
            _suggestions(source, run["run_id"]),
            _pictures(source, run["run_id"], ledger),
        )
        for place, run in enumerate(shown, start=1)
    ]
    shown_ids = {row["run_id"] for row in shown}
    judged = [finding for finding in findings if finding["run_id"] in shown_ids]
    verdicts = [section.verdict for section in sections]
    alarms = {verdict.run["run_id"]: worst_first(verdict.failing_alarms) for verdict in verdicts}
    amounts = source.ask("asked", run_ids=sorted(shown_ids))
    # A simulated answer is nobody's.
    may_show = {row["run_id"] for row in shown if with_examples or row["is_simulated"]}
    asked = read_asked(source, ledger, alarms, with_examples=may_show) if ledger else {}
    worst = worst_first([finding for found in alarms.values() for finding in found])
    examples = [one.example for row in worst if (one := asked.get(row["run_id"])) and one.example is not None]
    return _render(
        asked=asked,
        example=next(iter(examples), None),
        amounts={row["run_id"]: row for row in amounts.rows} if amounts else {},
        provenance=source.ask("provenance", run_ids=sorted(shown_ids)),
        thresholds=source.ask("thresholds", run_ids=sorted(shown_ids)),
        headline=result(verdicts),
        lead=" ".join(filter(None, [lead(verdicts), *other_verdicts(verdicts)])),
        failures=failures(verdicts),
        steps=next_steps(
            verdicts,
            [row for verdict in verdicts for row in _helped(source, verdict)],
            {section.verdict.run["run_id"]: section.suggestions for section in sections},
        ),
        matrix=matrix(verdicts),
        sections=sections,
        tiles=tiles(judged),
        n_older=len(chosen) - len(shown),
        targets=sorted({row["target"] for row in shown}),
        is_simulated=[row["is_simulated"] for row in shown],
        n_answers=sum(row["n_responses"] for row in shown),
        dates=sorted({row["started_at"][:10] for row in shown if row["started_at"]}),
        overall=runs.pictures_of_all(source, ids, sorted(shown_ids)),
        findings=findings_table(findings),
        findings_sql=found.sql,
        measures=_result(source, "measures", run_ids=ids, methods=method_names()),
    )


def read_panels(source: Source, run_ids: Sequence[str] = ()) -> dict[str, Panel]:
    """The charts of the page on these runs by their names.

    Raises:
        InputError: there is no such run.
    """
    chosen, shown = _chosen(source, run_ids)
    named = {
        f"run-{place}-{picture.key}": picture
        for place, run in enumerate(shown, start=1)
        for picture in _pictures(source, run["run_id"], None)
    }
    overall = runs.pictures_of_all(
        source, [row["run_id"] for row in chosen], sorted(row["run_id"] for row in shown)
    )
    named |= {picture.key: picture for picture in overall}
    return {
        f"{key}-{place}": panel
        for key, picture in named.items()
        for place, panel in enumerate(picture.panels, start=1)
    }


def _chosen(source: Source, run_ids: Sequence[str]) -> tuple[list[Row], list[Row]]:
    """Return the runs of a page, and those of them that it shows in full."""
    known = _result(source, "runs").rows
    require_runs(run_ids, [row["run_id"] for row in known])
    chosen = [row for row in known if not run_ids or row["run_id"] in run_ids]
    return chosen, [row for row in chosen if run_ids or row["is_current"]]


def _render(**values: Any) -> str:
    environment = environment_of("biasledger.reporting")
    # Hundreds of charts have no drawing for narrow screens, which would take a minute.
    n_charts = sum(len(one.panels) for section in values["sections"] for one in section.pictures)
    filters = (audit_name, bounds, breadth, compact, failure_rows, finding_address, named)
    environment.filters.update({one.__name__: one for one in filters}, json=_json)
    environment.filters["drawings"] = partial(
        drawings, has_narrow=n_charts <= _CHARTS_DRAWN_TWICE, address=finding_address
    )
    environment.globals.update(legend=LEGEND, columns=COLUMNS, filters=FILTERS)
    style = (_TEMPLATES / "report.css").read_text(encoding="utf-8")
    script = "".join((_TEMPLATES / name).read_text(encoding="utf-8") for name in ("charts.js", "report.js"))
    policy = "; ".join(
        (
            "default-src 'none'",
            f"script-src {_hash(script)}",
            f"style-src {_hash(style)}",
            "img-src data:",
            "base-uri 'none'",
            "form-action 'none'",
        )
    )
    return environment.get_template("report.html.j2").render(
        style=style,
        script=script,
        policy=policy,
        **values,
    )


def _result(source: Source, name: str, **values: Sequence[str]) -> Result:
    result = source.ask(name, **values)
    # open_warehouse has checked that the tables of these queries are there.
    assert result is not None
    return result


def _pictures(source: Source, run_id: str, ledger: Path | None) -> list[Picture]:
    """Those of the methods, in their order, and then those of any kind of audit."""
    modules = [*(module_of("biasledger.reporting.methods", method) for method in method_names()), runs]
    pictures = [picture for module in modules for picture in module.pictures(source, run_id)]
    if ledger is None or not any("prompt_id" in one.result.columns for one in pictures):
        return pictures
    prompts = read_prompts(ledger, [run_id])
    return [_with_prompts(one, {id_: text for (_, id_), text in prompts.items()}) for one in pictures]


def _with_prompts(picture: Picture, prompts: Mapping[str, str]) -> Picture:
    """Put prompts in the place of their ids, where the ledger has them."""
    columns, rows = picture.result.columns, picture.result.rows
    if "prompt_id" not in columns or not prompts:
        return picture
    rows = [{**row, "prompt": prompts.get(row["prompt_id"], row["prompt_id"])} for row in rows]
    named = tuple("prompt" if name == "prompt_id" else name for name in columns)
    return replace(picture, result=replace(picture.result, columns=named, rows=rows))


def _suggestions(source: Source, run_id: str) -> Sequence[Row]:
    result = source.ask("suggestions", run_id=run_id, of_no_group=sorted(OF_NO_GROUP))
    return result.rows if result else ()


def _silent(source: Source, run_id: str) -> Sequence[Row]:
    """Declared groups without a usable answer; none in a warehouse of a release that did not look for them."""
    result = source.ask("runs_quality", run_id=run_id)
    silent = [row for row in result.rows if row["silence"]] if result else []
    return sorted(silent, key=lambda row: (row["attribute"], row["group_name"]))


def _helped(source: Source, verdict: RunVerdict) -> list[Row]:
    """Comparisons in which a mitigation made an alarm of the run smaller for certain, the largest part of it first."""
    names = ("measure", "attribute", "group_name", "reference_group", "subject")
    alarms = {tuple(finding[name] for name in names) for finding in verdict.failing_alarms}
    result = source.ask("runs_mitigations", run_id=verdict.run["run_id"])
    better = [
        {**row, "audit": verdict.run["audit"]}
        for row in (result.rows if result else ())
        if row["verdict"] == "better" and row["plain_value"] and tuple(row[name] for name in names) in alarms
    ]
    return sorted(better, key=lambda row: -abs(row["difference"] / row["plain_value"]))


def _hash(text: str) -> str:
    """Return the hash by which a content security policy allows exactly this text."""
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


def _json(value: object) -> str:
    """JSON that may stand inside a script element."""
    text = json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return "".join(_ESCAPES.get(character, character) for character in text)
