"""Holds an evidence pack against the ledger that it says it is about."""

from __future__ import annotations

import json
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from biasledger import __version__
from biasledger.pack.archive import FINDINGS, README, REPORT, SUMMARY, Pack, read_pack
from biasledger.pack.contents import ledger_files, read_table
from biasledger.verify import Verdict, verify_ledger
from collector.chain import Seal
from collector.errors import InputError
from collector.ledger import Ledger

# What the ledger must give again byte for byte. Events may have been added since.
FROZEN = ("run.json", "spec.json", "reading.json")
EVENTS = "events.json"
# What the manifest states of the run beside its files.
_STATED = ("run_id", "audit", "target", "is_simulated")


def check_pack(path: Path, ledger_path: Path) -> tuple[Pack, list[Verdict]]:
    """Check that a pack is whole, and that the ledger holds the run that it describes, as it was.

    Returns:
        The pack; and what was found of the pack, of the run's chain and of what was asked. Figures are not looked at: see
        `check_figures`.

    Raises:
        InputError: the zip is no evidence pack or was changed; names the file in it.
        LedgerError: the ledger cannot be read.
    """
    pack = read_pack(path)
    run_id = str(pack.manifest["run_id"])
    whole = Verdict(path.name, "intact", notes=(f"{len(pack.files)} files are as its manifest lists them.",))
    stated = pack.manifest["seal"]
    chain = verify_ledger(ledger_path, [run_id], None if stated is None else Seal.parse(stated))
    return pack, [whole, *chain, _asked(pack, ledger_path, run_id, is_sealed=chain[0].state != "unsealed")]


def check_figures(pack: Pack, ledger_path: Path, on_step: Callable[[int, int, str], None]) -> list[Verdict]:
    """Compute the pack's figures anew, see `biasledger.pack.rebuilding.rebuild`.

    Returns:
        What was found of the findings, and of everything else that the pack tells.

    Raises:
        InputError: another engine than the one installed here judged the pack, or one of its files is not of its kind.
        BiasledgerError: the tables could not be built.
    """
    from biasledger.pack.making import readme
    from biasledger.pack.rebuilding import rebuild

    require_engine(pack)
    texts, notes = _comparable_texts(pack)
    differences = rebuild(pack, ledger_path, on_step, texts=texts)
    wrong = differences.pop(FINDINGS)
    notes += [
        f"Made with {name} {there}, and computed anew with {here}."
        for name, there, here in _other_software(pack)
    ]
    n_findings = len(read_table(pack, FINDINGS))
    findings = (
        Verdict("findings", "broken", fault=wrong[0], n_faults=len(wrong))
        if wrong
        else Verdict("findings", "intact", notes=(f"all {n_findings:,} came out the same.",))
    )
    name = "what else it tells"
    faults = [f"{file}: {fault}" for file, found in differences.items() for fault in found]
    if texts and pack.files[README] != readme():
        faults.append(f"{README} is not the one that this biasledger packs.")
    if faults:
        return [findings, Verdict(name, "broken", fault=faults[0], n_faults=len(faults), notes=tuple(notes))]
    same = f"{', '.join(differences)} came out the same."
    return [findings, Verdict(name, "intact", notes=(same, *notes))]


def require_engine(pack: Pack) -> None:
    """Check that the engine installed here is the one that judged a pack: another one gives other figures.

    Raises:
        InputError: it is not; names the version to install.
    """
    import yaml

    from biasledger.pack.judged import read_judged
    from biasledger.project import dbt_source

    with (dbt_source() / "dbt_project.yml").open(encoding="utf-8") as file:
        here = str(yaml.safe_load(file)["vars"]["engine_version"])
    there = read_judged(pack).engine_version
    if there == here:
        return
    version = pack.manifest["software"].get("biasledger")
    told = (
        f"biasledger {version}, which made it (pip install biasledger=={version}),"
        if isinstance(version, str) and version != __version__
        else f"the biasledger that has engine {there}"
    )
    raise InputError(
        f"The findings were judged by engine {there}, and this biasledger has engine {here}, which gives other figures: "
        f"install {told} to compute them anew."
    )


def _comparable_texts(pack: Pack) -> tuple[list[str], list[str]]:
    """Which of summary and report can be made anew here, and why not all."""
    from biasledger.pack.making import REPORT_SOFTWARE

    other = {name: (there, here) for name, there, here in _other_software(pack)}
    if "biasledger" in other:
        there, here = other["biasledger"]
        told = f"by biasledger {there}, and here is {here}"
        return [], [f"{SUMMARY} and {REPORT} were not compared, as they were written {told}."]
    if find_spec("vl_convert") is None or find_spec("jinja2") is None:
        return [SUMMARY], [f"{REPORT} was not compared: it needs pip install 'biasledger[report]'."]
    if drawn := [name for name in REPORT_SOFTWARE if name in other]:
        there, here = other[drawn[0]]
        return [SUMMARY], [
            f"{REPORT} was not compared: it was drawn by {drawn[0]} {there}, and here is {here}."
        ]
    return [SUMMARY, REPORT], []


def _other_software(pack: Pack) -> list[tuple[str, Any, str]]:
    """Name, the version that the pack states, and the one here, where they differ."""
    from biasledger.pack.making import software

    stated = pack.manifest["software"]
    return [
        (name, stated.get(name, "of no stated version"), here)
        for name, here in software().items()
        if stated.get(name) != here
    ]


def _asked(pack: Pack, ledger_path: Path, run_id: str, *, is_sealed: bool) -> Verdict:
    """Whether the pack tells what was asked, of whom and how it is read as the ledger does."""
    name = "what was asked"
    with Ledger(ledger_path).read() as connection:
        try:
            held = ledger_files(connection, run_id, str(pack.manifest["reading_hash"]))
        except InputError as error:
            return Verdict(name, "broken", fault=str(error), n_faults=1)
    faults = [
        f"{file} of the pack does not say what the ledger says."
        for file in FROZEN
        if pack.files[file] != held[file]
    ]
    if not _begins_with(held[EVENTS], pack.files[EVENTS]):
        faults.append(f"{EVENTS} of the pack does not say what the ledger says happened first.")
    run = json.loads(held["run.json"])
    faults += [
        f"The manifest states {key} {pack.manifest[key]!r}, and the ledger's run has {run[key]!r}."
        for key in _STATED
        if pack.manifest[key] != run[key]
    ]
    if is_sealed and pack.manifest["seal"] is None:
        faults.append("The manifest states no seal, and the ledger's run has a chain.")
    if faults:
        return Verdict(name, "broken", fault=faults[0], n_faults=len(faults))
    return Verdict(name, "intact", notes=("run, spec and reading are those of the ledger.",))


def _begins_with(held: bytes, packed: bytes) -> bool:
    try:
        events = json.loads(packed)
    except (ValueError, RecursionError):
        return False
    return isinstance(events, list) and bool(json.loads(held)[: len(events)] == events)
