"""Test that settings from a pack reach dbt as plain values or not at all."""

from __future__ import annotations

import csv
import io
from pathlib import Path
from typing import Any

import jinja2
import pytest
import yaml

from biasledger import project
from biasledger.building import build
from biasledger.packing import rebuilding
from biasledger.packing.archive import json_bytes
from biasledger.packing.judged import read_judged
from collector.errors import InputError

from .conftest import JUDGED, Packed

ROOT = Path(__file__).parents[3]
INJECTED = "2026-11-21') select distinct * from live_exceptions ); copy (select 1) to '/tmp/out'; --"


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("judged_on", INJECTED),
        ("judged_on", None),
        ("judged_on", 20261121),
        ("alpha", "0.05) from x; copy (select 1) to 'out' --"),
        ("alpha", 0),
        ("alpha", 1.0),
        ("alpha", float("nan")),
        ("permutations", "true"),
        ("permutations", 1),
        ("min_permutations", "1999"),
        ("min_permutations", -1),
        ("min_permutations", True),
        ("min_permutations", 1e3),
        ("all_groups", []),
        ("seed", "{{ 1 }}"),
        ("seed", 1 << 63),
        ("engine_version", "3' --"),
        ("engine_version", 3),
    ],
)
def test_a_setting_of_another_kind_is_refused_by_name(packed: Packed, name: str, value: Any) -> None:
    pack = packed.pack(build_json=json_bytes({**JUDGED, name: value}))
    with pytest.raises(InputError, match=rf"build\.json of the pack has .* as '{name}'; it should be "):
        read_judged(pack)


@pytest.mark.parametrize("content", [b"", b"[]", b"[" * 100_000, b"\xff"])
def test_what_is_no_object_is_refused(packed: Packed, content: bytes) -> None:
    with pytest.raises(InputError, match=r"build\.json of the pack .*should be an object"):
        read_judged(packed.pack(build_json=content))


def test_a_missing_setting_is_named(packed: Packed) -> None:
    with pytest.raises(InputError, match=r"build\.json of the pack lacks the key 'engine_version'"):
        read_judged(packed.pack(build_json=json_bytes({})))


def test_a_setting_that_stands_twice_is_refused(packed: Packed) -> None:
    twice = json_bytes(JUDGED).replace(b'"alpha"', b'"alpha": 0.001,\n  "alpha"', 1)
    with pytest.raises(InputError, match=r"build\.json of the pack is not written as one is"):
        read_judged(packed.pack(build_json=twice))


def test_settings_as_they_were_are_taken(packed: Packed) -> None:
    assert read_judged(packed.pack()).variables() == {
        **{name: value for name, value in JUDGED.items() if name not in {"engine_version", "judged_on"}},
        "today": "2026-11-21",
    }


def test_a_pack_with_sql_in_it_is_refused_before_anything_is_built(
    packed: Packed, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(build, "build_warehouse", lambda *_, **__: pytest.fail("it was built"))
    pack = packed.pack(build_json=json_bytes({**JUDGED, "judged_on": INJECTED}))
    with pytest.raises(InputError, match="'judged_on'"):
        rebuilding.rebuild(pack, packed.ledger)


def test_only_known_columns_of_settings_become_a_seed(packed: Packed, tmp_path: Path) -> None:
    """dbt writes a seed's column names into its statements as they are."""
    project.init_project(tmp_path / "project")
    seed = tmp_path / "project" / "seeds" / "exceptions.csv"
    header = seed.read_text(encoding="utf-8").splitlines()[0]
    text = io.StringIO()
    names = [*header.split(","), """x" varchar); copy (select 1) to 'out'; --"""]
    writer = csv.writer(text, lineterminator="\n")
    writer.writerows([names, ["'=x"] * len(names)])
    pack = packed.pack()
    files = {**pack.files, "settings/exceptions.csv": text.getvalue().encode()}
    variables = read_judged(pack).variables()
    rebuilding._write_settings(type(pack)(pack.manifest, files), tmp_path / "project", variables)
    assert seed.read_text(encoding="utf-8").splitlines() == [header, ",".join(["=x"] * (len(names) - 1))]
    written = yaml.safe_load((tmp_path / "project" / "dbt_project.yml").read_text(encoding="utf-8"))
    assert written["vars"] == {"biasledger": variables}


def rendered(call: str, **variables: Any) -> str:
    """Return the SQL that a macro of the settings renders."""
    environment = jinja2.Environment(extensions=["jinja2.ext.do"])
    environment.globals["var"] = variables.get

    class Errors:
        @staticmethod
        def raise_compiler_error(text: str) -> None:
            raise ValueError(text)

    environment.globals["exceptions"] = Errors
    source = (ROOT / "macros" / "engine" / "settings.sql").read_text(encoding="utf-8")
    return environment.from_string(f"{source}{{{{ {call} }}}}").render().strip()


def test_variables_are_literals_in_sql() -> None:
    assert rendered("judged_on()", today=None) == "current_date"
    assert rendered("judged_on()", today="2026-11-21") == "cast('2026-11-21' as date)"
    assert rendered("judged_on()", today="x' --") == "cast('x'' --' as date)"
    assert rendered("number_of('alpha')", alpha=0.05) == "0.05"
    with pytest.raises(ValueError, match="alpha should be a number"):
        rendered("number_of('alpha')", alpha="0.05 --")
    assert rendered("truth_of('permutations')", permutations="x --") == "true"
    assert rendered("truth_of('permutations')", permutations=False) == "false"
