"""An evidence pack about a small run, with made-up figures."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import yaml

from biasledger.packing.archive import FORMAT, REQUIRED, Pack, json_bytes, write_pack
from biasledger.packing.contents import ledger_files
from biasledger.project import SETTINGS, dbt_source, init_project
from biasledger.verify import verify_ledger
from collector.asking.runner import CollectOptions, collect
from collector.hashing import hash_of
from collector.ledger.database import Ledger
from collector.spec.loading import load_audit
from collector.targets import load_target

JUDGED: dict[str, Any] = {
    "engine_version": yaml.safe_load((dbt_source() / "dbt_project.yml").read_text())["vars"][
        "engine_version"
    ],
    "alpha": 0.05,
    "permutations": True,
    "min_permutations": 1999,
    "all_groups": True,
    "seed": 20260201,
    "judged_on": "2026-11-21",
}

ANALYSIS: dict[str, Any] = {"words": {"schemes": ["words"]}}

Change = Callable[[dict[str, bytes], dict[str, Any]], None]


@dataclass(frozen=True)
class Packed:
    """A ledger with one run, and what a pack about it holds."""

    folder: Path
    ledger: Path
    files: dict[str, bytes]
    facts: dict[str, Any]

    def written(self, change: Change = lambda _files, _facts: None) -> Path:
        """The zip, after a change to its files or facts and with a manifest that fits."""
        files, facts = dict(self.files), json.loads(json.dumps(self.facts))
        change(files, facts)
        write_pack(self.folder / "pack.zip", "evidence", facts, files)
        return self.folder / "pack.zip"

    def pack(self, **changed: bytes) -> Pack:
        """The same as read, with other contents of some files; `build_json` is build.json."""
        given = {".".join(name.rsplit("_", 1)): content for name, content in changed.items()}
        return Pack({**self.facts, "format": FORMAT, "files": {}}, {**self.files, **given})


@pytest.fixture(scope="session")
def collected(tmp_path_factory: pytest.TempPathFactory) -> Packed:
    folder = tmp_path_factory.mktemp("packed")
    init_project(folder)
    ledger = folder / "ledger.duckdb"
    audit = load_audit(folder / "audits" / "products.yml")
    target = load_target(folder / "targets.yml", "simulator")
    run_id = collect(
        audit, target, ledger, CollectOptions(show_progress=False, versions={"biasledger": "test"}), trials=1
    ).run_id
    with Ledger(ledger).append() as append:
        append.analysis("products", ANALYSIS)
    with Ledger(ledger).read() as connection:
        held = ledger_files(connection, run_id, hash_of(ANALYSIS))
    [verdict] = verify_ledger(ledger, [run_id])
    files = {
        **dict.fromkeys(REQUIRED, b"text\n"),
        **held,
        "build.json": json_bytes(JUDGED),
        "findings.csv": b"finding_id,measure,attribute,group_name,reference_group\n",
        **{f"settings/{name}": (dbt_source() / "seeds" / name).read_bytes() for name in SETTINGS},
    }
    facts = {
        "run_id": run_id,
        "audit": "products",
        "target": "simulator",
        "is_simulated": True,
        "analysis_hash": hash_of(ANALYSIS),
        "seal": str(verdict.seal),
        "software": {"biasledger": "0.1.0"},
    }
    return Packed(folder, ledger, files, facts)


@pytest.fixture
def packed(collected: Packed, tmp_path: Path) -> Packed:
    """The same ledger, which no test changes, and a copy of the rest."""
    return Packed(tmp_path, collected.ledger, dict(collected.files), dict(collected.facts))
