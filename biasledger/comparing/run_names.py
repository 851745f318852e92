"""Runs by what people call them: an id, its beginning, a target, `latest`, `baseline`, `previous`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from collector.errors import InputError
from collector.hints import did_you_mean

LOOSE = ("latest", "previous", "baseline")
"""Names that mean a run of each audit and target."""


@dataclass(frozen=True)
class Baseline:
    """The run that later ones of an audit and target are compared with; file_hash where it was imported."""

    audit: str
    target: str
    run_id: str
    file_hash: str | None
    set_at: datetime


@dataclass(frozen=True)
class NamedRun:
    """A run as it is called, with its audit and target."""

    run_id: str
    audit: str
    target: str


def find_run(
    name: str,
    runs: Sequence[NamedRun],
    baselines: Sequence[Baseline] | None,
    *,
    audit: str | None = None,
    target: str | None = None,
    can_narrow: bool = True,
) -> NamedRun:
    """The run that a name means.

    Args:
        name: a run's id or its beginning; a target, for its latest run; `latest`, `previous` or `baseline` of the audit
            and target.
        runs: of each audit and target the one that `latest` means first, then those before it.
        baselines: what is pinned; None where that is not known, and `baseline` is no name.
        audit, target: narrow down what `latest`, `previous` and `baseline` mean.
        can_narrow: whether who asks can say them, which the message of a name that means several says.

    Raises:
        InputError: no run is called so, or several are.
    """
    known = [run for run in runs if audit in {None, run.audit} and target in {None, run.target}]
    if name == "baseline" and baselines is not None:
        pinned = [
            NamedRun(one.run_id, one.audit, one.target)
            for one in baselines
            if audit in {None, one.audit} and target in {None, one.target}
        ]
        if not pinned:
            raise InputError("No baseline is pinned: `biasledger baseline set RUN` pins one.")
        return _only(name, pinned, can_narrow)
    if name in {"latest", "previous"}:
        place = 0 if name == "latest" else 1
        families: dict[tuple[str, str], list[NamedRun]] = {}
        for run in known:
            families.setdefault((run.audit, run.target), []).append(run)
        found = [family[place] for family in families.values() if len(family) > place]
        if not found:
            raise InputError(f"There is no {name} run: `biasledger runs` lists them.")
        return _only(name, found, can_narrow)
    exact = [run for run in known if run.run_id == name]
    begun = exact or [run for run in known if run.run_id.startswith(name)]
    if not begun:
        # The newest comes first in `known`, so that the last one assigned is each audit's latest run.
        begun = list({run.audit: run for run in reversed(known) if run.target == name}.values())
    if not begun:
        names = [run.run_id for run in known]
        hint = did_you_mean(name, names[:5])
        raise InputError(
            f"There is no run {name!r}{hint or '.'}{'' if hint.endswith('?') else ' (`biasledger runs` lists all)'}"
        )
    return _only(name, begun, can_narrow)


def _only(name: str, found: Sequence[NamedRun], can_narrow: bool) -> NamedRun:
    if len(found) > 1:
        shown = ", ".join(run.run_id for run in found[:4])
        more = f" and {len(found) - 4} more" if len(found) > 4 else ""
        how = (
            "write more of the run's id"
            if found[0].run_id.startswith(name)
            else "name one by its id"
            if not can_narrow
            else "name one with --audit and --target, or by its id"
            if name in LOOSE
            else "name one with --audit, or by its id"
        )
        raise InputError(f"{name!r} may mean {shown}{more}: {how}.")
    return found[0]
