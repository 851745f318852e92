"""Test that the dbt project keeps the rules of dbt-project-evaluator that fit it: layers, names, keys, access."""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import duckdb
import pytest

from biasledger.methods import method_names
from biasledger.publishing.freshness import JUDGED_BY
from biasledger.publishing.public import public_tables
from tests.python.running import ROOT, run_python

Node = Mapping[str, Any]
Manifest = Mapping[str, Any]
# The same may happen to a run twice, so an event has no key; of an exported baseline each line is a row of some other table.
KEYLESS = {"stg_ledger__run_events", "stg_ledger__baseline_rows"}
LAYERS = {"staging": "stg_", "intermediate": "int_", "marts": ("fct_", "dim_")}
# The tables that people open first: current runs without a mitigation, with nothing to filter.
WITHOUT_PREFIX = {"verdicts", "findings_current", "marked_words_current", "groups", "responses"}
# Folders that every method may refer to.
SHARED = {"staging", "runs", "answers"}
# Outputs of a method for the findings: values to judge, values at equal sizes to compare runs by, and quality of answers.
OUTPUTS = (
    "findings",
    "equal_sizes",
    "paired_units",
    "quality",
    "turn_values",
    "contrasts",
    "wording_units",
    "wording_pairs",
)


@pytest.fixture(scope="module")
def parsed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of what dbt writes of the project, with all that is off by default."""
    folder = tmp_path_factory.mktemp("parsed")
    command = "from dbt.cli.main import cli; cli(prog_name='dbt')"
    options = ["parse", "--profiles-dir", ".", "--target-path", str(folder), "--log-path", str(folder)]
    options += ["--vars", "{publish_texts: true}"]
    run_python("-c", command, *options, BIASLEDGER_METRICS="1", code=0)
    return folder


@pytest.fixture(scope="module")
def manifest(parsed: Path) -> Manifest:
    content: Manifest = json.loads((parsed / "manifest.json").read_text(encoding="utf-8"))
    return content


def models(manifest: Manifest) -> Iterator[Node]:
    return (node for node in manifest["nodes"].values() if node["resource_type"] == "model")


def parents(node: Node, kind: str) -> list[str]:
    return [name.split(".")[-1] for name in node["depends_on"]["nodes"] if name.startswith(f"{kind}.")]


def keyed(manifest: Manifest) -> set[str]:
    """Names of the models that have a test of their key."""
    return {
        node["attached_node"].split(".")[-1]
        for node in manifest["nodes"].values()
        if node["resource_type"] == "test"
        and node.get("attached_node")
        and (node.get("test_metadata") or {}).get("name") in {"key", "unique_combination"}
    }


def test_every_layer_has_its_names(manifest: Manifest) -> None:
    for node in models(manifest):
        layer = Path(node["path"]).parts[0]
        if layer == "findings":
            assert re.match(r"(fct|dim|int)_", node["name"]) or node["name"] in WITHOUT_PREFIX, node["path"]
            assert (node["access"] == "public") == (not node["name"].startswith("int_")), node["path"]
        else:
            assert node["name"].startswith(LAYERS[layer]), node["path"]


def test_sources_are_read_by_staging_alone_and_each_by_one_model(manifest: Manifest) -> None:
    readers = defaultdict(list)
    for node in models(manifest):
        is_staging = node["path"].startswith("staging")
        for source in parents(node, "source"):
            readers[source].append(node["name"])
            assert is_staging, f"{node['name']} reads the source {source} directly"
        if is_staging:
            assert len(parents(node, "source")) == 1, node["name"]
            assert not parents(node, "model"), f"{node['name']} rests on a model"
    assert {source: names for source, names in readers.items() if len(names) > 1} == {}


def test_every_source_is_read(manifest: Manifest) -> None:
    read = {source for node in models(manifest) for source in parents(node, "source")}
    assert {source["name"] for source in manifest["sources"].values()} == read


def test_no_arrow_goes_back(manifest: Manifest) -> None:
    """Marts read earlier layers only, intermediate models read no findings, and no model names a table directly."""
    order = {"staging": 0, "intermediate": 1, "marts": 2, "findings": 3}
    layer_of = {node["name"]: Path(node["path"]).parts[0] for node in models(manifest)}
    for node in models(manifest):
        if layer_of[node["name"]] == "staging":
            continue
        for parent in parents(node, "model"):
            goes_on = order[layer_of[parent]] <= order[layer_of[node["name"]]]
            assert goes_on, f"{node['name']} rests on {parent}"
        if node["language"] == "sql":
            bare = re.findall(r"\b(?:from|join)\s+(?:raw|marts|staging|intermediate)\.\w+", node["raw_code"])
            assert not bare, f"{node['name']}: {bare}"


def test_no_model_comes_from_nowhere(manifest: Manifest) -> None:
    assert not [node["name"] for node in models(manifest) if not node["depends_on"]["nodes"]]


def test_every_model_says_its_grain(manifest: Manifest) -> None:
    for node in models(manifest):
        assert "Grain:" in node["description"] or node["description"].startswith("The "), node["path"]


def test_public_and_staging_models_have_a_key(manifest: Manifest) -> None:
    found = keyed(manifest)
    lacking = {
        node["name"]
        for node in models(manifest)
        if (node["access"] == "public" or node["path"].startswith("staging")) and node["name"] not in found
    }
    assert lacking == KEYLESS


def test_public_models_are_contracts_with_every_column_described(manifest: Manifest) -> None:
    public = [node for node in models(manifest) if node["access"] == "public"]
    assert len(public) > 40
    for node in public:
        assert node["config"]["contract"]["enforced"], node["name"]
        assert node["config"]["persist_docs"] == {"relation": True, "columns": True}, node["name"]
        for column in node["columns"].values():
            assert column["description"], f"{node['name']}.{column['name']}"
            assert column["data_type"], f"{node['name']}.{column['name']}"


def test_facts_and_dimensions_are_public_and_nothing_else(manifest: Manifest) -> None:
    for model in models(manifest):
        is_public = model["name"].startswith(("fct_", "dim_")) or model["name"] in WITHOUT_PREFIX
        assert (model["access"] == "public") == is_public, model["name"]
        assert (model["schema"] == "marts") == is_public, model["name"]


def test_private_models_are_their_method_s_and_protected_ones_are_shared(manifest: Manifest) -> None:
    for model in models(manifest):
        folders = set(Path(model["path"]).parts)
        shared = (
            {"shared"} if folders & SHARED else {"findings"} if model["name"] in WITHOUT_PREFIX else set()
        )
        assert model["group"] in folders | shared, model["name"]
        if model["access"] == "protected":
            outputs = {f"int_{model['group']}_{what}" for what in OUTPUTS}
            assert folders & SHARED or model["name"] in outputs, model["name"]


def test_every_public_table_has_a_key_but_some_settings(manifest: Manifest) -> None:
    assert {table.schema for table in public_tables(manifest)} == {"marts", "settings"}
    assert {table.schema for table in public_tables(manifest) if not table.key} == {"settings"}


def test_names_of_public_tables_are_their_own(manifest: Manifest) -> None:
    """Folders and databases have no schemas for them."""
    names = [table.name for table in public_tables(manifest)]
    assert len(names) == len(set(names)) > 50


def test_exposures_rest_on_public_models_alone(manifest: Manifest) -> None:
    exposures = manifest["exposures"].values()
    assert {"report", "evidence_pack", "dashboards"} <= {exposure["name"] for exposure in exposures}
    for exposure in exposures:
        assert exposure["description"], exposure["name"]
        for name in exposure["depends_on"]["nodes"]:
            assert manifest["nodes"][name]["access"] == "public", f"{exposure['name']} rests on {name}"


def test_no_model_of_a_method_reads_what_findings_are_judged_by(manifest: Manifest) -> None:
    """If only a threshold changes, `biasledger build` keeps the measures."""
    judged_by = {name.removesuffix(".csv") for name in JUDGED_BY}
    assert judged_by <= {
        node["name"] for node in manifest["nodes"].values() if node["resource_type"] == "seed"
    }
    methods = set(method_names())
    todo = [node for node in models(manifest) if node["config"]["group"] in methods]
    assert todo
    seen: set[str] = set()
    while todo:
        node = todo.pop()
        assert not judged_by & set(parents(node, "seed")), node["path"]
        above = set(node["depends_on"]["nodes"]) - seen
        seen |= above
        todo += [manifest["nodes"][name] for name in above if name.startswith("model.")]


def test_the_semantic_layer_is_defined_and_dbt_takes_it(parsed: Path) -> None:
    defined = json.loads((parsed / "semantic_manifest.json").read_text(encoding="utf-8"))
    metrics = {metric["name"]: metric["type"] for metric in defined["metrics"]}
    assert {metrics[name] for name in ("alarm_rate", "refusal_rate")} == {"ratio"}
    measures = {measure["name"] for model in defined["semantic_models"] for measure in model["measures"]}
    assert {name for name, kind in metrics.items() if kind == "simple"} <= measures
    assert all(metric["description"] and metric["label"] for metric in defined["metrics"])
    assert {model["node_relation"]["schema_name"] for model in defined["semantic_models"]} == {"marts"}


def test_no_changes_cancel_in_the_fingerprint_of_rows() -> None:
    """If a model added hashes of several values itself, two changes of the last column would cancel: no model does."""
    [call] = re.findall(
        r"bit_xor\(.*\)",
        (ROOT / "macros/engine/keys.sql").read_text(encoding="utf-8").partition("macro fingerprint_of")[2],
    )
    of_rows = (
        "select "
        + call.replace('{{ columns | join(", ") }}', "name, n")
        + " from (values {}) as given (name, n)"
    )
    given = (
        "('a', 1), ('b', 1)",
        "('a', 2), ('b', 2)",
        "('a', 1), ('b', 2)",
        "('a', 2), ('b', 1)",
        "('b', 1), ('a', 1)",
    )
    first, alike, one, swapped, turned = (duckdb.sql(of_rows.format(rows)).fetchall() for rows in given)
    assert len({str(found) for found in (first, alike, one, swapped)}) == 4
    assert turned == first
    summed = [
        path.name
        for path in (ROOT / "models").rglob("*.sql")
        if "bit_xor(" in path.read_text(encoding="utf-8")
    ]
    assert summed == []
