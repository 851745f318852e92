"""Compare an evidence pack with its ledger."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from biasledger import __version__
from biasledger.packing.archive import BUILD, FINDINGS, README, REPORT, SUMMARY, Pack, read_pack
from biasledger.packing.contents import ledger_files, read_table
from biasledger.verify import Verdict, verify_ledger
from collector.errors import InputError
from collector.journal.chain import Seal
from collector.ledger.database import Ledger

if TYPE_CHECKING:
    import duckdb

# Files that the ledger must give again byte for byte, as far as the pack's seal counts.
FROZEN = ("run.json", "spec.json", "analysis.json", "events.json")
# The manifest's statements about the run.
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
    seal = None if stated is None else Seal.parse(stated)
    (chain,) = verify_ledger(ledger_path, [run_id], seal, needs_journals=False)
    return pack, [
        whole,
        chain,
        _compare_questions(pack, ledger_path, seal, is_sealed=chain.state != "unsealed"),
    ]


def check_figures(pack: Pack, ledger_path: Path, on_step: Callable[[int, int, str], None]) -> list[Verdict]:
    """Recompute the pack's figures, see `biasledger.packing.rebuilding.rebuild`.

    Returns:
        The verdicts on the findings, on the other files of the pack, and on those that cannot be compared with anything here.

    Raises:
        InputError: another engine than the one installed here judged the pack, or one of its files is not of its kind.
        BiasledgerError: the tables could not be built.
    """
    from biasledger.packing.making import readme
    from biasledger.packing.rebuilding import rebuild

    require_engine(pack)
    texts, unchecked = _comparable_texts()
    differences = rebuild(pack, ledger_path, on_step, texts=texts)
    if other := _other_program(pack):
        # Words differ in other versions and after a forgery; the two cannot be distinguished here.
        unchecked += [f"{name} {other}" for name in texts if differences.pop(name)]
        if pack.files[README] != readme():
            unchecked.append(f"{README} {other}")
    elif pack.files[README] != readme():
        differences[README] = ["It is not the one that this biasledger packs."]
    elif drawn := _other_drawing(pack, differences.get(REPORT, [])):
        del differences[REPORT]
        unchecked.append(drawn)
    wrong = differences.pop(FINDINGS)
    n_findings = len(read_table(pack, FINDINGS))
    verdicts = [
        Verdict.broken("findings", *wrong)
        if wrong
        else Verdict("findings", "intact", notes=(f"all {n_findings:,} came out the same.",)),
        _else(pack, differences),
    ]
    if unchecked:
        verdicts.append(Verdict("not checked", "unchecked", notes=tuple(unchecked)))
    return verdicts


def _else(pack: Pack, differences: Mapping[str, Sequence[str]]) -> Verdict:
    name = "what else it tells"
    notes = [
        f"Made with {software} {there} by its own account, and recomputed with {here}."
        for software, there, here in _other_software(pack)
    ]
    notes.append(
        f"{BUILD} and settings/ are taken at their word: figures are judged by them, so read thresholds and accepted alarms."
    )
    faults = [f"{file}: {fault}" for file, found in differences.items() for fault in found]
    if faults:
        return Verdict.broken(name, *faults, notes=notes)
    return Verdict(name, "intact", notes=(f"{', '.join(differences)} came out the same.", *notes))


def require_engine(pack: Pack) -> None:
    """Check that the engine installed here is the one that judged a pack: another one gives other figures.

    Raises:
        InputError: it is not; names the version to install.
    """
    from biasledger.packing.judged import read_judged
    from biasledger.project import dbt_variables

    here = str(dbt_variables()["engine_version"])
    there = read_judged(pack).engine_version
    if there == here:
        return
    version = pack.manifest["software"].get("biasledger")
    message = (
        f"biasledger {version}, which made it (pip install biasledger=={version}),"
        if isinstance(version, str) and version != __version__
        else f"the biasledger that has engine {there}"
    )
    raise InputError(
        f"The findings were judged by engine {there}, and this biasledger has engine {here}, which gives other figures: "
        f"install {message} to recompute them."
    )


def _comparable_texts() -> tuple[list[str], list[str]]:
    """Return which of summary and report can be recreated here, and why not all."""
    if find_spec("vl_convert") is None or find_spec("jinja2") is None:
        return [SUMMARY], [f"{REPORT} was not compared: it needs pip install 'biasledger[report]'."]
    return [SUMMARY, REPORT], []


def _other_program(pack: Pack) -> str | None:
    """Why a text that comes out otherwise here may be honest, where the pack says that another version wrote it."""
    for name, there, here in _other_software(pack):
        if name == "biasledger":
            return (
                f"is not what biasledger {here} writes, and the pack says that {there} wrote it, which anybody can say: do not "
                f"rely on it, or compare it with that version."
            )
    return None


def _other_drawing(pack: Pack, differences: Sequence[str]) -> str | None:
    """Return the same of a report that the pack says was drawn by another version of what draws it."""
    from biasledger.packing.making import REPORT_SOFTWARE

    other = {name: (there, here) for name, there, here in _other_software(pack)}
    for name in REPORT_SOFTWARE:
        if differences and name in other:
            there, here = other[name]
            return (
                f"{REPORT} is not what {name} {here} draws, and the pack says that {there} drew it, which anybody can say: do "
                f"not rely on it, or compare it with that version."
            )
    return None


def _other_software(pack: Pack) -> list[tuple[str, Any, str]]:
    """Name, the version that the pack states, and the one here, where they differ."""
    from biasledger.packing.making import software

    stated = pack.manifest["software"]
    return [
        (name, stated.get(name, "of no stated version"), here)
        for name, here in software().items()
        if stated.get(name) != here
    ]


def _compare_questions(pack: Pack, ledger_path: Path, seal: Seal | None, *, is_sealed: bool) -> Verdict:
    """Return whether pack and ledger agree on the prompts, the target and the analysis."""
    name = "what was asked"
    run_id = str(pack.manifest["run_id"])
    with Ledger(ledger_path).read() as connection:
        try:
            held = ledger_files(connection, run_id, str(pack.manifest["analysis_hash"]), seal)
        except InputError as error:
            return Verdict.broken(name, str(error))
        later = _later(connection, run_id, seal)
    faults = [
        f"{file} of the pack does not say what the ledger says."
        for file in FROZEN
        if pack.files[file] != held[file]
    ]
    run = json.loads(held["run.json"])
    faults += [
        f"The manifest states {key} {pack.manifest[key]!r}, and the ledger's run has {run[key]!r}."
        for key in _STATED
        if pack.manifest[key] != run[key]
    ]
    if is_sealed and seal is None:
        faults.append("The manifest states no seal, and the ledger's run has a chain.")
    if faults:
        return Verdict.broken(name, *faults)
    return Verdict(name, "intact", notes=("run, spec, analysis and events are those of the ledger.", *later))


def _later(connection: duckdb.DuckDBPyConnection, run_id: str, seal: Seal | None) -> list[str]:
    """List the ledger's records beyond the pack's seal: a pack may be older, and a shorter true seal hides later records."""
    if seal is None:
        return []
    rows = connection.execute(
        "select kind, count(*) from raw.chain where run_id = ? and position >= ? group by kind order by kind",
        [run_id, seal.count],
    ).fetchall()
    if not rows:
        return []
    counted = ", ".join(f"{n:,} of kind {kind}" for kind, n in rows)
    later = sum(n for _, n in rows)
    return [
        f"the pack's seal ends before the run does: it says nothing of the {later:,} records that came after ({counted})."
    ]
