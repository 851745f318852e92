"""What the dbt project promises of its models: which are public, whose they are, and that public ones say what they are."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from biasledger.publishing.public import public_tables

ROOT = Path(__file__).parents[3]
SHARED = {"staging", "contrasts"}
# What a room gives to the findings: values to judge, and at equal sizes to compare runs by.
HANDED_OVER = ("findings", "equal_sizes")


@pytest.fixture(scope="module")
def manifest(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """The project as dbt reads it, with all rooms; reading needs no ledger."""
    folder = tmp_path_factory.mktemp("parsed")
    environment = {name: value for name, value in os.environ.items() if not name.startswith("BIASLEDGER_")}
    subprocess.run(
        [
            *(sys.executable, "-c", "from dbt.cli.main import cli; cli(prog_name='dbt')", "parse"),
            *("--profiles-dir", ".", "--target-path", str(folder), "--log-path", str(folder)),
        ],
        cwd=ROOT,
        env=environment | {"PYTHONPATH": str(ROOT)},
        check=True,
        capture_output=True,
    )
    content: dict[str, Any] = json.loads((folder / "manifest.json").read_text(encoding="utf-8"))
    return content


def models(manifest: dict[str, Any]) -> list[dict[str, Any]]:
    found = [node for node in manifest["nodes"].values() if node["resource_type"] == "model"]
    assert len(found) > 150
    return found


def test_facts_and_dimensions_are_public_and_nothing_else(manifest: dict[str, Any]) -> None:
    for model in models(manifest):
        is_public = model["name"].startswith(("fct_", "dim_"))
        assert (model["access"] == "public") == is_public, model["name"]
        assert (model["schema"] == "marts") == is_public, model["name"]


def test_private_models_are_their_room_s_and_protected_ones_are_shared(manifest: dict[str, Any]) -> None:
    for model in models(manifest):
        folders = set(Path(model["path"]).parts)
        assert model["group"] in folders | ({"shared"} if folders & SHARED else set()), model["name"]
        if model["access"] == "protected":
            handed_over = {f"int_{model['group']}_{what}" for what in HANDED_OVER}
            assert folders & SHARED or model["name"] in handed_over, model["name"]


def test_public_models_say_what_they_are(manifest: dict[str, Any]) -> None:
    for model in models(manifest):
        if model["access"] != "public":
            continue
        name = model["name"]
        assert model["config"]["contract"]["enforced"], name
        assert model["config"]["persist_docs"] == {"relation": True, "columns": True}, name
        assert "Grain: " in model["description"], name
        undescribed = [column["name"] for column in model["columns"].values() if not column["description"]]
        assert undescribed == [], name


def test_every_public_table_has_a_key_but_some_settings(manifest: dict[str, Any]) -> None:
    assert {table.schema for table in public_tables(manifest)} == {"marts", "settings"}
    assert {table.schema for table in public_tables(manifest) if not table.key} == {"settings"}


def test_names_of_public_tables_are_their_own(manifest: dict[str, Any]) -> None:
    """Folders and databases have no schemas for them."""
    names = [table.name for table in public_tables(manifest)]
    assert len(names) == len(set(names)) > 50
