"""Test the formats of `biasledger check`: JUnit XML, SARIF, GitHub's annotations, Markdown, JSON."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import jsonschema
import pandas as pd
import pytest
from click.testing import CliRunner

from biasledger.checking.formats import FORMATS
from biasledger.cli import cli
from tests.python.report import warehouses
from tests.python.report.warehouses import finding, run

_TEXT = {"type": "object", "required": ["text"], "properties": {"text": {"type": "string", "minLength": 1}}}


def _closed(required: Mapping[str, Any], optional: Mapping[str, Any] | None = None) -> dict[str, Any]:
    return {
        "type": "object",
        "required": list(required),
        "properties": {**required, **(optional or {})},
        "additionalProperties": False,
    }


def _list(items: Mapping[str, Any], least: int = 0) -> dict[str, Any]:
    return {"type": "array", "items": items, "minItems": least}


_LOCATION = _closed(
    {
        "physicalLocation": _closed(
            {
                "artifactLocation": _closed({"uri": {"type": "string", "pattern": r"^[^/\\:][^\\:]*$"}}),
                "region": _closed({"startLine": {"type": "integer", "minimum": 1}}),
            }
        )
    }
)
# The rules of SARIF 2.1.0 (sections 3.13 to 3.27) for the keys that are written, and no other key.
_SARIF = _closed(
    {
        "$schema": {"type": "string", "format": "uri"},
        "version": {"const": "2.1.0"},
        "runs": _list(
            _closed(
                {
                    "tool": _closed(
                        {
                            "driver": _closed(
                                {
                                    "name": {"type": "string"},
                                    "version": {"type": "string"},
                                    "rules": _list(
                                        _closed({"id": {"type": "string"}, "shortDescription": _TEXT})
                                    ),
                                }
                            )
                        }
                    ),
                    "automationDetails": _closed({"id": {"type": "string"}}),
                    "invocations": _list(
                        _closed(
                            {
                                "executionSuccessful": {"type": "boolean"},
                                "toolExecutionNotifications": _list(
                                    _closed(
                                        {
                                            "level": {"enum": ["none", "note", "warning", "error"]},
                                            "message": _TEXT,
                                        }
                                    )
                                ),
                            }
                        )
                    ),
                    "properties": {"type": "object"},
                    "results": _list(
                        _closed(
                            {
                                "ruleId": {"type": "string"},
                                "ruleIndex": {"type": "integer", "minimum": 0},
                                "level": {"enum": ["none", "note", "warning", "error"]},
                                "message": _TEXT,
                                "partialFingerprints": {"additionalProperties": {"type": "string"}},
                                "properties": {"type": "object"},
                            },
                            {
                                "locations": _list(_LOCATION),
                                "suppressions": _list(
                                    _closed(
                                        {"kind": {"enum": ["inSource", "external"]}},
                                        {"justification": {"type": "string"}},
                                    )
                                ),
                            },
                        )
                    ),
                }
            ),
            1,
        ),
    }
)

ODD = "Bl%ack,::error::@team [x](http://y)\n<b>"


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project in a folder of a repository: an alarm, a warning, an accepted one, one clear, one undecided, a regression."""
    folder = tmp_path / "checkout" / "bias-audit"
    (folder / "audits").mkdir(parents=True)
    (tmp_path / "checkout" / ".git").mkdir()
    (folder / "audits" / "mine.yml").write_text(
        "audit: products\nattributes:\n  gender: {groups: [a]}\n  race:\n    groups: [a]\n", encoding="utf-8"
    )
    (folder / "audits" / "broken.yml").write_text("{", encoding="utf-8")
    began, ended = pd.Timestamp("2026-11-20 08:00:00"), pd.Timestamp("2026-11-20 08:01:30.25")
    rows = [
        finding("run-1", 0, group_name=ODD, mitigation="debiased", statement=f"answers about {ODD} differ"),
        finding("run-1", 1, severity="warn", measure="length_gap", attribute="race*gender"),
        finding("run-1", 2, is_excepted=True, measure="classifier_accuracy", value=0.9),
        finding("run-1", 3, status="clear", measure="marked_words"),
        finding("run-1", 4, status="inconclusive", attribute="gender"),
        finding("run-2", 0, audit="elsewhere"),
    ]
    worse = {
        **{
            name: rows[3][name]
            for name in ("finding_id", "run_id", "mitigation", "audit", "target", "measure")
        },
        **{
            name: rows[3][name]
            for name in ("scheme", "attribute", "group_name", "reference_group", "subject")
        },
        "baseline_run_id": "run-0",
        "verdict": "worse",
        "severity": "error",
        "baseline_value": 0.01,
        "value": 0.06,
        "worsening": 0.05,
        "interval_low": 0.03,
        "interval_high": 0.07,
        "tolerance": 0.02,
        "p_value_adjusted": 0.001,
        "is_baseline": True,
        "is_excepted": False,
    }
    warehouses.create(
        folder / "warehouse.duckdb",
        {
            "dim_runs": [
                run("run-1", started_at=began, last_event_at=ended),
                run("run-2", "elsewhere", started_at=began),
            ],
            "fct_findings": rows,
            "fct_run_comparisons": [worse],
        },
    )
    monkeypatch.chdir(folder)
    return folder


def _written(form: str, *options: str) -> str:
    done = CliRunner().invoke(cli, ["check", "--format", form, *options])
    assert done.exit_code == 1, done.output
    return done.output


def test_json_says_which_finding_and_under_which_mitigation(project: Path) -> None:
    cases = json.loads(_written("json"))["cases"]
    assert {(case["finding_id"], case["mitigation"]) for case in cases if case["run"] == "run-1"} == {
        ("run-1-0", "debiased"),
        *((f"run-1-{number}", "plain") for number in range(1, 5)),
    }


def test_junit_has_the_time_of_the_run_and_the_file_of_the_audit(project: Path) -> None:
    root = ElementTree.fromstring(_written("junit").encode())
    first, second = root.iter("testsuite")
    assert (root.get("time"), first.get("time"), first.get("timestamp")) == (
        "90.250",
        "90.250",
        "2026-11-20T08:00:00",
    )
    # A run without a known end has no time, rather than a time of 0.
    assert second.get("time") is None
    cases = {one.get("name"): one for one in first.iter("testcase")}
    assert {one.get("file") for one in cases.values()} == {"bias-audit/audits/mine.yml"}
    assert second.find("testcase").get("file") is None
    regressions = [name for name in cases if name is not None and name.endswith("since run-0 [comparison]")]
    properties = cases[regressions[0]].find("properties")
    assert properties is not None
    assert {one.get("name"): one.get("value") for one in properties} == {
        "mitigation": "plain",
        "finding_id": "run-1-3",
    }


def test_sarif_is_what_the_standard_says(project: Path) -> None:
    document = json.loads(_written("sarif"))
    jsonschema.Draft202012Validator(_SARIF).validate(document)
    [message] = document["runs"]
    rules = [rule["id"] for rule in message["tool"]["driver"]["rules"]]
    assert rules == sorted(set(rules))
    assert all(rules[one["ruleIndex"]] == one["ruleId"] for one in message["results"])
    levels = [
        (one["properties"]["finding_id"], one["level"], "suppressions" in one) for one in message["results"]
    ]
    assert sorted(levels) == [
        ("run-1-0", "error", False),
        ("run-1-1", "warning", False),
        ("run-1-2", "note", True),
        ("run-1-3", "error", False),
        ("run-2-0", "error", False),
    ]
    lines = {
        one["properties"]["finding_id"]: one["locations"][0]
        for one in message["results"]
        if "locations" in one
    }
    # An attribute's own line; of attributes crossed, the line of all.
    assert {key: one["physicalLocation"]["region"]["startLine"] for key, one in lines.items()} == {
        "run-1-0": 4,
        "run-1-1": 2,
        "run-1-2": 4,
        "run-1-3": 4,
    }
    assert len({one["partialFingerprints"]["case/v1"] for one in message["results"]}) == len(
        message["results"]
    )


def test_sarif_names_a_file_as_an_address(project: Path) -> None:
    (project / "audits" / "mine.yml").rename(project / "audits" / "Größe #1 50%?.yml")
    results = json.loads(_written("sarif"))["runs"][0]["results"]
    found = {
        place["physicalLocation"]["artifactLocation"]["uri"]
        for one in results
        for place in one.get("locations", ())
    }
    assert found == {"bias-audit/audits/Gr%C3%B6%C3%9Fe%20%231%2050%25%3F.yml"}


def test_an_alarm_has_the_same_fingerprint_in_the_next_run(project: Path) -> None:
    first = _fingerprints()
    again = [finding("run-9", 7, group_name=ODD, mitigation="debiased")]
    warehouses.create(project / "warehouse.duckdb", {"dim_runs": [run("run-9")], "fct_findings": again})
    assert _fingerprints()["run-9-7"] == first["run-1-0"]


def _fingerprints() -> dict[str, str]:
    results = json.loads(_written("sarif"))["runs"][0]["results"]
    return {one["properties"]["finding_id"]: one["partialFingerprints"]["case/v1"] for one in results}


def test_annotations_are_a_line_each_and_what_a_model_wrote_gives_no_command(project: Path) -> None:
    lines = _written("github").splitlines()
    kinds = [line.split(" ")[0] for line in lines]
    assert kinds == ["::error", "::error", "::error", "::warning", "::notice"]
    assert sum("file=bias-audit/audits/mine.yml,line=4," in line for line in lines) == 2
    [odd] = [line for line in lines if "Bl%25ack" in line]
    title = odd.partition(",title=")[2].partition("::")[0]
    assert (
        title
        == "word_divergence%2C race%3A Bl%25ack%2C%3A%3Aerror%3A%3A@team [x](http%3A//y)%0A<b> against White (with debiased)"
    )
    assert odd.endswith("%0Abiasledger explain run-1-0")


def test_markdown_has_the_result_first_and_foreign_text_as_text(project: Path) -> None:
    text = _written("markdown")
    assert text.startswith("<!-- biasledger-check -->\n### Bias audit: FAIL: ")
    assert "| products | model | 2 | 1 | 1 | 1 | 1 |" in text
    assert r"Bl%ack,::error::@<!-- -->team \[x\](http\://y)\\n\<b\>" in text
    assert "`biasledger explain run-1-0`" in text
    assert text.count("<details>") == text.count("</details>") == 3
    assert "[x]" not in text
    assert "@team" not in text


def test_a_comment_stays_within_what_a_comment_holds(project: Path) -> None:
    many = [finding("run-1", number, subject=f"subject {number}") for number in range(500)]
    warehouses.create(project / "warehouse.duckdb", {"dim_runs": [run("run-1")], "fct_findings": many})
    text = _written("markdown")
    assert len(text) < 30_000
    assert "- 460 more: `biasledger check` lists them." in text


def test_every_format_is_named_in_the_help_and_can_be_written(project: Path) -> None:
    said = " ".join(CliRunner().invoke(cli, ["check", "--help"]).output.split())
    for form, one in FORMATS.items():
        assert f"{form}: {one.meant}" in said
        assert _written(form).endswith("\n")


def test_one_check_writes_several_files_and_prints(project: Path) -> None:
    options = [
        word for ending in ("xml", "sarif", "md", "json", "txt") for word in ("--write", f"out/bias.{ending}")
    ]
    done = CliRunner().invoke(cli, ["check", "--format", "github", *options])
    assert done.exit_code == 1
    assert done.output == _written("github")
    for ending, form in {
        "xml": "junit",
        "sarif": "sarif",
        "md": "markdown",
        "json": "json",
        "txt": "text",
    }.items():
        assert (project / "out" / f"bias.{ending}").read_text(encoding="utf-8") == _written(form, "--all")
    short = _written("text")
    assert short.splitlines()[0] == short.splitlines()[-1] == "FAIL: 2 of 2 audits of model failed."
    assert "Warnings:" not in short
    unknown = CliRunner().invoke(cli, ["check", "--write", "bias.html"])
    assert unknown.exit_code == 3
    assert "--write bias.html: its ending should be one of .txt, .json, .xml, .sarif, .md." in unknown.output
