"""What a wheel brings along beside its files: the models as dbt parses them, so that a first build need not."""

from __future__ import annotations

import importlib.util
import os
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class Hook(BuildHookInterface[Any]):
    """Parses an untouched project for each room alone; leaves that out where dbt is not installed, as in an isolated build."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Add what dbt parsed to the files of the wheel."""
        if version == "editable" or importlib.util.find_spec("dbt") is None:
            return
        sys.path.insert(0, self.root)
        from biasledger.building.build import run_dbt
        from biasledger.building.parsed import CACHE, SHIPPED
        from biasledger.project import init_project
        from biasledger.rooms import room_names

        # It is there until the wheel is made, and goes with this hook.
        self._folder = TemporaryDirectory()
        folder = Path(self._folder.name)
        os.environ[CACHE] = str(folder / SHIPPED)
        # As `build` names them where nobody names others; dbt takes them for part of what it parses.
        files = {
            "BIASLEDGER_LEDGER": "ledger.duckdb",
            "BIASLEDGER_WAREHOUSE": ".biasledger/work/warehouse.duckdb",
            "BIASLEDGER_PUBLISHED": "warehouse.duckdb",
        }
        for room in room_names():
            init_project(folder / room)
            run_dbt(folder / room, ["parse"], files, lambda *_: None, rooms=[room])
        for file in (folder / SHIPPED).iterdir():
            build_data["force_include"][str(file)] = f"biasledger/_dbt/biasledger/{SHIPPED / file.name}"
