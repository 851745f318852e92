"""Tampering with ledgers, journals, seals and packs, as somebody with the files and a DuckDB shell could: all has to be found."""

from __future__ import annotations

import json
import shutil
import tempfile
import zipfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import duckdb
import numpy as np

from benchmarks.attacks import Attack
from biasledger.packing.archive import MANIFEST, REQUIRED, json_bytes, write_pack
from biasledger.packing.checking import check_pack
from biasledger.packing.contents import ledger_files
from biasledger.project import SETTINGS, dbt_source, init_project
from biasledger.verify import verify_ledger
from collector.asking.runner import collect
from collector.errors import BiasledgerError
from collector.hashing import canonical_json
from collector.importers.tabular import import_file
from collector.journal.chain import Chain, Seal, next_hash, record_digest
from collector.journal.reader import journal_line, journal_path
from collector.ledger.database import Ledger
from collector.ledger.evidence import held_records
from collector.spec.loading import load_audit
from collector.targets import load_target

IMPORTED = """
audit: imported
templates: [{id: one, text: 'Recommend products for {a race}.'}]
attributes: {race: {reference: White, groups: [White, Asian]}}
trials: 3
answer: {kind: text}
import: {columns: {text: answer, prompt: question, attributes: {race: race}}}
"""
# Kinds of column -> what a value becomes.
_CHANGED: Mapping[str, str] = {
    "VARCHAR": "coalesce({0}, '') || 'x'",
    "BOOLEAN": "not {0}",
    "TIMESTAMP": "coalesce({0}, '2026-01-01') + interval 1 second",
    "JSON": "'{{\"changed\": true}}'",
}
_A_NUMBER = "coalesce({0}, 0) + 1"
# When a seal was put down is nobody's evidence: what it says is checked.
_TELLS_NOTHING = {("seals", "sealed_at")}
_TABLES = (
    "runs",
    "prompts",
    "prompt_attributes",
    "responses",
    "run_events",
    "chain",
    "seals",
    "analysis_settings",
)
Rng = np.random.Generator
Tampering = Callable[["Kept", Rng], None]


@dataclass(frozen=True)
class Kept:
    """A ledger with a collected run, its journal, and an imported run; both seals were kept elsewhere."""

    ledger: Path
    collected: str
    imported: str
    seals: Mapping[str, Seal]

    @property
    def journal(self) -> Path:
        """The collected run's."""
        return journal_path(self.ledger, self.collected)

    def change(self, sql: str, values: list[Any] | None = None) -> None:
        """Run a statement, which has to change something: what changes nothing proves nothing."""
        with duckdb.connect(str(self.ledger)) as connection:
            ((n_changed,),) = connection.execute(sql, values or []).fetchall()
        if not n_changed:
            raise RuntimeError(f"nothing was tampered with by {sql}")

    def rows(self, sql: str) -> list[tuple[Any, ...]]:
        """What a query on the ledger gives."""
        with duckdb.connect(str(self.ledger), read_only=True) as connection:
            return connection.execute(sql).fetchall()

    def lines(self) -> list[str]:
        """The journal's lines with their ends."""
        return self.journal.read_text(encoding="utf-8").splitlines(keepends=True)

    def write_lines(self, lines: list[str]) -> None:
        """Put the journal's lines in their place; they have to be others."""
        before = self.journal.read_bytes()
        self.journal.write_text("".join(lines), encoding="utf-8")
        if self.journal.read_bytes() == before:
            raise RuntimeError("the journal is as it was")

    def forge(self, run_id: str) -> Seal:
        """Recompute a run's chain and seal over the rows as they are now."""
        with duckdb.connect(str(self.ledger)) as connection:
            held = [one for one in held_records(connection, run_id) if one.body is not None]
            connection.execute("delete from raw.chain where run_id = ?", [run_id])
            connection.execute("delete from raw.seals where run_id = ?", [run_id])
        chain = Chain()
        last = len(held)
        ordered = sorted(held, key=lambda one: last if one.position is None else one.position)
        records = [chain.add(one.kind, one.body or {}) for one in ordered]
        with Ledger(self.ledger).append() as append:
            append.chain(run_id, records)
            append.seal(run_id, chain.seal)
        return chain.seal


@cache
def _made() -> tuple[tempfile.TemporaryDirectory[str], Kept]:
    """The ledger that copies are taken of; the folder goes when Python ends."""
    folder = tempfile.TemporaryDirectory(prefix="attacked-")
    project = Path(folder.name) / "project"
    init_project(project)
    ledger = project / "ledger.duckdb"
    audit = load_audit(project / "audits" / "products.yml")
    target = load_target(project / "targets.yml", "simulator")
    collected = collect(audit, target, ledger, trials=1, show_progress=False, versions={})
    spec, answers = project / "audits" / "imported.yml", project / "answers.csv"
    spec.write_text(IMPORTED, encoding="utf-8")
    rows = [f"Who?,{race},Answer {number} of {race}" for race in ("White", "Asian") for number in range(3)]
    answers.write_text("\n".join(["question,race,answer", *rows]) + "\n", encoding="utf-8")
    imported = import_file(load_audit(spec), spec, answers, ledger)
    seals = {one.run_id: one.seal for one in (collected, imported)}
    return folder, Kept(ledger, collected.run_id, imported.run_id, seals)


def copied(folder: Path) -> Kept:
    """Put a ledger with its journal into a folder: one collected run, one imported."""
    _, made = _made()
    kept = Kept(folder / made.ledger.name, made.collected, made.imported, made.seals)
    shutil.copyfile(made.ledger, kept.ledger)
    shutil.copytree(made.journal.parent, kept.journal.parent)
    return kept


def _found(tamper: Tampering, *, with_seal: bool = False) -> Callable[[int, Path], str | None]:
    """A trial that tampers and looks whether verify finds it, with the seals kept elsewhere where it needs them."""

    def trial(seed: int, folder: Path) -> str | None:
        kept = copied(folder)
        tamper(kept, np.random.default_rng(seed))
        verdicts = verify_ledger(kept.ledger)
        if with_seal:
            verdicts += [one for seal in kept.seals.values() for one in verify_ledger(kept.ledger, seal=seal)]
        found = any(verdict.state == "broken" for verdict in verdicts)
        return None if found else f"verify called it {', '.join(verdict.state for verdict in verdicts)}"

    return trial


def _untouched(_seed: int, folder: Path) -> str | None:
    verdicts = verify_ledger(copied(folder).ledger)
    return None if {one.state for one in verdicts} == {"intact"} else f"verify told {verdicts[0].fault}"


def _any_cell(kept: Kept, rng: Rng) -> None:
    columns = [
        (table, name, kind)
        for table, name, kind in kept.rows(
            "select table_name, column_name, data_type from duckdb_columns() where schema_name = 'raw' order by all"
        )
        if table in _TABLES and (table, name) not in _TELLS_NOTHING
    ]
    table, name, kind = columns[rng.integers(len(columns))]
    ((n_rows,),) = kept.rows(f"select count(*) from raw.{table}")
    value = _CHANGED.get(kind, _A_NUMBER).format(name)
    kept.change(
        f"update raw.{table} set {name} = {value} where rowid = (select rowid from raw.{table} order by rowid "
        f"limit 1 offset {rng.integers(n_rows)})"
    )


def _any_row_gone(kept: Kept, rng: Rng) -> None:
    table = _TABLES[rng.integers(len(_TABLES))]
    ((n_rows,),) = kept.rows(f"select count(*) from raw.{table}")
    kept.change(
        f"delete from raw.{table} where rowid = (select rowid from raw.{table} order by rowid limit 1 "
        f"offset {rng.integers(n_rows)})"
    )


def _any_row_twice(kept: Kept, rng: Rng) -> None:
    table = ("prompts", "prompt_attributes", "responses", "run_events", "chain")[rng.integers(5)]
    ((n_rows,),) = kept.rows(f"select count(*) from raw.{table}")
    kept.change(f"insert into raw.{table} from raw.{table} limit 1 offset {rng.integers(n_rows)}")


def _answers_exchanged(kept: Kept, rng: Rng) -> None:
    ((n_rows,),) = kept.rows(f"select count(*) from raw.responses where run_id = '{kept.collected}'")
    one, other = rng.choice(np.arange(1, n_rows + 1), 2, replace=False)
    kept.change(
        f"update raw.responses set seq = {one} + {other} - seq where run_id = '{kept.collected}' and seq in ({one}, {other})"
    )


def _groups_relabelled(kept: Kept, rng: Rng) -> None:
    kept.change(
        "update raw.prompt_attributes set group_name = (select max(group_name) from raw.prompt_attributes) where "
        f"prompt_id in (select prompt_id from raw.prompts limit {rng.integers(1, 4)})"
    )


def _tail_gone(kept: Kept, rng: Rng) -> None:
    run_id = (kept.collected, kept.imported)[rng.integers(2)]
    n_left = int(rng.integers(3, kept.seals[run_id].count - 1))
    with duckdb.connect(str(kept.ledger)) as connection:
        later = f"(select key from raw.chain where run_id = '{run_id}' and position >= {n_left})"
        key = "prompt_id || '.' || trial || '.' || attempt"
        connection.execute(f"delete from raw.responses where run_id = '{run_id}' and {key} in {later}")
        connection.execute(f"delete from raw.run_events where run_id = '{run_id}' and event = 'finished'")
    kept.change(f"delete from raw.chain where run_id = '{run_id}' and position >= {n_left}")


def _run_gone(kept: Kept, _rng: Rng) -> None:
    for (table,) in kept.rows(
        "select table_name from duckdb_columns() inner join duckdb_tables() using (schema_name, table_name) "
        "where schema_name = 'raw' and column_name = 'run_id'"
    ):
        with duckdb.connect(str(kept.ledger)) as connection:
            connection.execute(f"delete from raw.{table} where run_id = ?", [kept.collected])


def _said_to_be_older(kept: Kept, rng: Rng) -> None:
    run_id = (kept.collected, kept.imported)[rng.integers(2)]
    kept.change("update raw.responses set status = 'refused' where run_id = ?", [run_id])
    kept.change("delete from raw.chain where run_id = ?", [run_id])
    kept.change("delete from raw.seals where run_id = ?", [run_id])
    kept.change("insert into raw.unchained_runs values (?)", [run_id])
    if rng.integers(2):
        kept.journal.unlink()


def _nested(kept: Kept, rng: Rng) -> None:
    depth = int(rng.integers(2_000, 200_000))
    kept.change(f"update raw.run_events set detail = repeat('[', {depth}) || repeat(']', {depth})")


def _forged(kept: Kept, rng: Rng) -> None:
    _answers_exchanged(kept, rng)
    kept.forge(kept.collected)


def _forged_without_journal(kept: Kept, rng: Rng) -> None:
    _forged(kept, rng)
    kept.journal.unlink()


def _forged_import(kept: Kept, _rng: Rng) -> None:
    kept.change("update raw.responses set status = 'refused' where run_id = ?", [kept.imported])
    kept.forge(kept.imported)


def _all_forged(kept: Kept, rng: Rng) -> None:
    """Rows, chain, seal and journal together."""
    lines, previous = [], ""
    number = int(rng.integers(20, len(kept.lines())))
    for place, line in enumerate(kept.lines()):
        content = json.loads(line)
        if place >= number and content["kind"] == "response":
            content["body"]["response_text"] = f"forged {place}"
        previous = previous or content["previous"]
        digest = record_digest(content["kind"], content["body"])
        linked = next_hash(place, content["kind"], digest, previous)
        lines.append(journal_line(place, content["kind"], content["body"], previous, linked).decode())
        previous = linked
    kept.write_lines(lines)
    _run_gone(kept, rng)
    from collector.ledger.loading import load_journal

    load_journal(kept.journal, Ledger(kept.ledger))


def _journal_gone(kept: Kept, rng: Rng) -> None:
    kept.journal.rename(kept.journal.with_suffix(".bak")) if rng.integers(2) else kept.journal.unlink()


def _any_byte(kept: Kept, rng: Rng) -> None:
    content = bytearray(kept.journal.read_bytes())
    content[rng.integers(len(content))] ^= 1 << int(rng.integers(7))
    kept.journal.write_bytes(content)


def _any_line_gone(kept: Kept, rng: Rng) -> None:
    lines = kept.lines()
    del lines[rng.integers(len(lines))]
    kept.write_lines(lines)


def _lines_exchanged(kept: Kept, rng: Rng) -> None:
    lines = kept.lines()
    one, other = rng.choice(len(lines), 2, replace=False)
    lines[one], lines[other] = lines[other], lines[one]
    kept.write_lines(lines)


def _line_twice(kept: Kept, rng: Rng) -> None:
    lines = kept.lines()
    number = int(rng.integers(len(lines)))
    kept.write_lines([*lines[:number], lines[number], *lines[number:]])


def _key_twice(kept: Kept, rng: Rng) -> None:
    lines = kept.lines()
    number = int(rng.integers(len(lines)))
    content = json.loads(lines[number])
    inside = content["body"] if rng.integers(2) else content
    name = sorted(inside)[rng.integers(len(inside))]
    lines[number] = lines[number].replace(f'"{name}":', f'"{name}":"forged","{name}":', 1)
    kept.write_lines(lines)


def _key_beside(kept: Kept, rng: Rng) -> None:
    lines = kept.lines()
    number = int(rng.integers(len(lines)))
    content = json.loads(lines[number])
    if rng.integers(2):
        content["approved"] = True
    else:
        content["body"]["approved"] = None
    lines[number] = canonical_json(content) + "\n"
    kept.write_lines(lines)


def _spelled_otherwise(kept: Kept, rng: Rng) -> None:
    lines = kept.lines()
    number = int(rng.integers(len(lines)))
    content = json.loads(lines[number])
    ways: list[Callable[[], str]] = [
        lambda: json.dumps(content, ensure_ascii=False, sort_keys=True),
        lambda: canonical_json(content).replace('"kind"', '"\\u006bind"'),
        lambda: json.dumps(dict(reversed(content.items())), ensure_ascii=False, separators=(",", ":")),
        lambda: canonical_json(content) + " ",
    ]
    lines[number] = ways[rng.integers(len(ways))]() + "\n"
    kept.write_lines(lines)


def _nested_line(kept: Kept, rng: Rng) -> None:
    lines = kept.lines()
    number = int(rng.integers(len(lines)))
    depth = int(rng.integers(2_000, 200_000))
    lines[number] = lines[number].replace('"body":{', f'"body":{{"a":{"[" * depth}{"]" * depth},', 1)
    kept.write_lines(lines)


def _another_run_s(kept: Kept, rng: Rng) -> None:
    """The journal of a run with the same name that was asked again."""
    content = kept.journal.read_text(encoding="utf-8")
    lines, previous = [], ""
    for place, line in enumerate(content.splitlines()):
        record = json.loads(line)
        if record["kind"] == "run":
            record["body"]["parameters"] = {"seed": int(rng.integers(1_000))}
        digest = record_digest(record["kind"], record["body"])
        previous = previous or record["previous"]
        linked = next_hash(place, record["kind"], digest, previous)
        lines.append(journal_line(place, record["kind"], record["body"], previous, linked).decode())
        previous = linked
    kept.write_lines(lines)


_JUDGED: Mapping[str, Any] = {"alpha": 0.05, "engine_version": "0"}


def _packed(kept: Kept, path: Path, change: Callable[[dict[str, bytes], dict[str, Any]], None]) -> Path:
    """A pack about the collected run whose figures are made up, and whose manifest fits whatever was changed."""
    seal = kept.seals[kept.collected]
    with Ledger(kept.ledger).read() as connection:
        ((analysis_hash,),) = connection.execute(
            "select analysis_hash from raw.analysis_settings where audit = 'products'"
        ).fetchall()
        files = {
            **dict.fromkeys(REQUIRED, b"text\n"),
            **ledger_files(connection, kept.collected, analysis_hash, seal),
            "build.json": json_bytes(_JUDGED),
            **{f"settings/{name}": (dbt_source() / "seeds" / name).read_bytes() for name in SETTINGS},
        }
    facts: dict[str, Any] = {
        "run_id": kept.collected,
        "audit": "products",
        "target": "simulator",
        "is_simulated": True,
        "analysis_hash": analysis_hash,
        "seal": str(seal),
        "software": {},
    }
    change(files, facts)
    write_pack(path, "evidence", facts, files)
    return path


def _as_it_was(_files: dict[str, bytes], _facts: dict[str, Any]) -> None:
    """Nothing is forged."""


def _judge(path: Path, kept: Kept) -> str | None:
    try:
        _, verdicts = check_pack(path, kept.ledger)
    except BiasledgerError:
        return None
    if any(verdict.state == "broken" for verdict in verdicts):
        return None
    notes = [note for verdict in verdicts for note in verdict.notes]
    is_named = any(note.startswith("the pack's seal ends before the run does") for note in notes)
    return None if is_named else "verify --pack called it intact and named nothing"


def _packed_untouched(_seed: int, folder: Path) -> str | None:
    kept = copied(folder)
    _, verdicts = check_pack(_packed(kept, folder / "pack.zip", _as_it_was), kept.ledger)
    return None if {one.state for one in verdicts} == {"intact"} else f"verify told {verdicts}"


def _pack_bytes(seed: int, folder: Path) -> str | None:
    """A byte changed, put in or taken out anywhere, or bytes put around it all."""
    kept, rng = copied(folder), np.random.default_rng(seed)
    path = _packed(kept, folder / "pack.zip", _as_it_was)
    content = bytearray(path.read_bytes())
    place = int(rng.integers(len(content)))
    way = rng.integers(5)
    if way == 0:
        content[place] ^= 1 << int(rng.integers(8))
    elif way == 1:
        content[place:place] = b"x"
    elif way == 2:
        del content[place]
    elif way == 3:
        content = bytearray(b"#!/bin/sh\n") + content
    else:
        content += b"and more"
    path.write_bytes(content)
    return _judge(path, kept)


def _forgeries(kept: Kept, rng: Rng) -> list[Callable[[dict[str, bytes], dict[str, Any]], None]]:
    """What somebody could make a pack say that fits its own manifest."""
    count = int(rng.integers(1, kept.seals[kept.collected].count))
    ((head_hash,),) = kept.rows(
        f"select hash from raw.chain where run_id = '{kept.collected}' and position = {count - 1}"
    )
    with Ledger(kept.ledger).read() as connection:
        ((analysis_hash,),) = connection.execute(
            "select analysis_hash from raw.analysis_settings where audit = 'products'"
        ).fetchall()
        shorter = ledger_files(connection, kept.collected, analysis_hash, Seal(count, head_hash))[
            "events.json"
        ]

    def replaced(name: str, old: bytes, new: bytes) -> Callable[[dict[str, bytes], dict[str, Any]], None]:
        def change(files: dict[str, bytes], _facts: dict[str, Any]) -> None:
            if old not in files[name]:
                raise RuntimeError(f"{name} lacks {old!r}")
            files[name] = files[name].replace(old, new)

        return change

    def shortened(files: dict[str, bytes], facts: dict[str, Any]) -> None:
        files["events.json"] = shorter
        facts["seal"] = str(Seal(count, head_hash))

    return [
        lambda files, _: files.update({"events.json": b"[]\n"}),
        replaced("events.json", b'"finished"', b'"failed"'),
        replaced("run.json", b'"simulator"', b'"person"'),
        replaced("spec.json", b'"products"', b'"presents"'),
        replaced("analysis.json", b"sha256:", b"sha256:0"),
        lambda _, facts: facts.update(seal=None),
        lambda _, facts: facts.update(seal=str(Seal(count, head_hash))),
        lambda _, facts: facts.update(is_simulated=False),
        lambda _, facts: facts.update(run_id=kept.imported),
        lambda _, facts: facts.update(target="gpt-9"),
        lambda _, facts: facts.update(approved_by="everybody"),
        lambda files, _: files.update({"certificate.pdf": b"%PDF"}),
        shortened,
    ]


def _forged_pack(seed: int, folder: Path) -> str | None:
    kept, rng = copied(folder), np.random.default_rng(seed)
    ways = _forgeries(kept, rng)
    return _judge(_packed(kept, folder / "pack.zip", ways[seed % len(ways)]), kept)


def _manifest_twice(seed: int, folder: Path) -> str | None:
    """A key of the manifest that says one thing to people and another to programs."""
    kept, rng = copied(folder), np.random.default_rng(seed)
    path = _packed(kept, folder / "pack.zip", _as_it_was)
    with zipfile.ZipFile(path) as archive:
        entries = [(entry, archive.read(entry)) for entry in archive.infolist()]
    names = ("run_id", "audit", "target", "is_simulated", "seal", "software", "format")
    key = f'\n  "{names[rng.integers(len(names))]}":'.encode()
    with zipfile.ZipFile(path, "w") as archive:
        for entry, content in entries:
            is_manifest = entry.filename.endswith(MANIFEST)
            archive.writestr(
                entry, content.replace(key, key + b' "forged",' + key, 1) if is_manifest else content
            )
    return _judge(path, kept)


def _tampering(
    name: str, times: int, tamper: Tampering, before: str = "found", *, with_seal: bool = False
) -> Attack:
    return Attack("9", name, "tamperings", times, before, _found(tamper, with_seal=with_seal))


ATTACKS: tuple[Attack, ...] = (
    Attack("9", "nothing changed: all is intact", "tamperings", 1, "intact", _untouched),
    _tampering("ledger: any cell changed", 25, _any_cell),
    _tampering("ledger: any row taken out", 20, _any_row_gone),
    _tampering("ledger: any row put in twice", 10, _any_row_twice),
    _tampering("ledger: two answers exchanged", 5, _answers_exchanged),
    _tampering("ledger: groups relabelled", 5, _groups_relabelled),
    _tampering("ledger: the last records taken out with their chain", 5, _tail_gone),
    _tampering("ledger: a run taken out without a trace", 1, _run_gone),
    _tampering("ledger: a run said to be of before chains", 4, _said_to_be_older, "2 of 4 called unsealed"),
    _tampering("ledger: JSON nested deeply", 3, _nested, "a traceback"),
    _tampering("ledger: rows, chain and seal forged", 5, _forged),
    _tampering("ledger: forged, and the journal deleted", 5, _forged_without_journal, "called intact"),
    _tampering("ledger: an import forged, its seal kept elsewhere", 2, _forged_import, with_seal=True),
    _tampering("ledger and journal forged, the seal kept elsewhere", 2, _all_forged, with_seal=True),
    _tampering("journal: deleted or put away", 4, _journal_gone, "called intact"),
    _tampering("journal: any bit turned", 20, _any_byte, "19 of 20 found"),
    _tampering("journal: any line taken out", 5, _any_line_gone),
    _tampering("journal: two lines exchanged", 5, _lines_exchanged),
    _tampering("journal: any line twice", 5, _line_twice),
    _tampering("journal: a key twice", 10, _key_twice, "called intact"),
    _tampering("journal: a key that no record has", 10, _key_beside, "called intact"),
    _tampering("journal: the same in other bytes", 8, _spelled_otherwise, "called intact"),
    _tampering("journal: a line nested deeply", 3, _nested_line, "a traceback"),
    _tampering("journal: another run's under its name", 2, _another_run_s),
    Attack("9", "pack: nothing changed, all is intact", "tamperings", 1, "intact", _packed_untouched),
    Attack(
        "9",
        "pack: any byte changed, put in or taken out",
        "tamperings",
        20,
        "24 of 40 found",
        _pack_bytes,
    ),
    Attack("9", "pack: made to say something else", "tamperings", 13, "9 of 13 found", _forged_pack),
    Attack("9", "pack: a key of its manifest twice", "tamperings", 4, "called intact", _manifest_twice),
)
