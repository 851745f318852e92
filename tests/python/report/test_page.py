"""The report's page without a browser: what it says, that it is the same every time, and that it holds nothing live."""

from __future__ import annotations

import base64
import hashlib
import itertools
import json
import re
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import duckdb
import pandas as pd
import pytest

from biasledger import reporting as report
from biasledger.reporting import render, write_report
from biasledger.reporting.verdicts import run_verdict
from collector.errors import BiasledgerError, InputError
from tests.python.report import warehouses
from tests.python.report.warehouses import contrast_id, finding, run

PACKAGE = Path(report.__file__).parent
QUERIES = sorted((PACKAGE / "queries").glob("*.sql"))


class Page(HTMLParser):
    """What a browser would make of a page: texts by element, attributes, scripts."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.texts: dict[str, list[str]] = {}
        self._open: list[str] = []
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        self._open.append(tag)
        self.texts.setdefault(tag, []).append("")

    def handle_endtag(self, tag: str) -> None:
        while self._open and self._open.pop() != tag:
            pass

    def handle_data(self, data: str) -> None:
        for tag in set(self._open):
            self.texts[tag][-1] += data


@pytest.fixture(scope="module")
def hostile_warehouse(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return warehouses.hostile(tmp_path_factory.mktemp("hostile") / "warehouse.duckdb")


@pytest.fixture(scope="module")
def hostile_page(hostile_warehouse: Path) -> str:
    return render(hostile_warehouse)


def small(tmp_path: Path, findings: list[dict[str, Any]], runs: list[dict[str, Any]] | None = None) -> Path:
    return warehouses.create(
        tmp_path / "warehouse.duckdb", {"dim_runs": runs or [run("run-1")], "fct_findings": findings}
    )


@pytest.mark.parametrize("query", QUERIES, ids=lambda path: path.stem)
def test_queries_fit_the_contracts_and_read_public_tables_only(query: Path, tmp_path: Path) -> None:
    warehouse = warehouses.create(tmp_path / "empty.duckdb", {})
    sql = re.sub(r"\$(run_ids|rooms|of_no_group)\b", "['a']", query.read_text(encoding="utf-8"))
    sql = re.sub(r"\$(run_id|domains|attribute|marked|compared)\b", "'a'", sql)
    assert "$" not in sql
    tables = set(re.findall(r"(?:from|join)\s+(\w+\.\w+)", sql))
    assert tables
    assert {table.split(".")[0] for table in tables} <= {"marts", "settings"}
    with duckdb.connect(str(warehouse), read_only=True) as connection:
        connection.execute(sql)


def test_every_query_is_drawn_by_a_room() -> None:
    code = "".join(path.read_text(encoding="utf-8") for path in PACKAGE.rglob("*.py"))
    assert QUERIES
    assert [query.stem for query in QUERIES if f'"{query.stem}"' not in code] == []


def test_every_mart_with_a_picture_has_rows_in_the_tests(hostile_page: str) -> None:
    drawn = set(re.findall(r'data-chart="run-1-([a-z-]+)-\d+"', hostile_page))
    assert drawn >= {
        "words-contributions",
        "words-scores",
        "words-separability",
        "lists-spread",
        "lists-similarity",
        "lists-robustness",
        "lists-entropy",
        "decisions-gaps",
        "decisions-rates",
        "decisions-labels",
        "decisions-promotions",
        "decisions-positions",
        "prices-levels",
        "prices-each",
        "prices-means",
        "prices-planes",
        "prices-item-words",
        "markers-ratios",
        "markers-gaps",
        "markers-lists",
        "markers-regard",
        "runs-variants",
        "runs-answer-gaps",
        "texts-gaps",
        "texts-similarity",
        "quality",
    }
    assert "2 of 3 cases (67%) got different answers" in hostile_page
    assert {"changes-1", "trend-1", "history-1", "costs-1"} <= set(
        re.findall(r'data-chart="([a-z0-9-]+)"', hostile_page)
    )


def test_models_of_one_audit_stand_side_by_side_and_what_may_be_tried_is_said(tmp_path: Path) -> None:
    runs = [run("run-1", "resumes", "one <b>"), run("run-2", "resumes", "two")]
    parts = [warehouses.every_picture(one["run_id"], seed=place) for place, one in enumerate(runs)]
    for one, part in zip(runs, parts, strict=True):
        for row in part["fct_findings"]:
            row.update(audit="resumes", target=one["target"], finding_id=one["run_id"] + row["finding_id"])
    warehouse = warehouses.create(tmp_path / "w.duckdb", warehouses.merged({"dim_runs": runs}, *parts))
    page = render(warehouse)
    [accuracy, ranks] = [
        json.loads(spec) for spec in re.findall(r'id="model-rates-\d+">(.*?)</script>', page)
    ]
    labels = [f"{target}, {group}" for group in warehouses.PLAIN.groups for target in ("one <b>", "two")]
    assert [row["label"] for row in accuracy["data"]["values"]] == labels
    assert accuracy["usermeta"] == ranks["usermeta"] == {"rows": "label"}
    assert {row["reference"] for row in accuracy["data"]["values"]} == {0.5}
    assert 'id="model-rates-title"' not in render(warehouse, ["run-1"])
    tried = page[page.index("What may be tried") :]
    assert "Mask names, e-mail addresses and pronouns before a person is judged" in tried
    # What only warns or is undecided has no suggestion of its own measure.
    assert page.count("<h3>What may be tried</h3>") == 2
    assert page.count("Ask for every set of candidates in several orders") == 0


def test_what_was_taken_out_of_texts_is_listed(hostile_page: str) -> None:
    text = "\n".join(itertools.chain.from_iterable(Page(hostile_page).texts.values()))
    assert "Which words were taken out before texts were compared" in text
    assert re.search(r"Taken out: .+ \(.+\)( and \d+ more)?\.", text, re.DOTALL)
    assert "How often people are addressed, by group" in text


def test_the_same_warehouse_gives_the_same_bytes(hostile_warehouse: Path, hostile_page: str) -> None:
    assert render(hostile_warehouse) == hostile_page


def test_only_what_the_policy_names_may_run(hostile_page: str) -> None:
    page = Page(hostile_page)
    (policy,) = [
        attributes["content"] or ""
        for tag, attributes in page.elements
        if tag == "meta" and attributes.get("http-equiv") == "Content-Security-Policy"
    ]
    directives = dict(part.split(" ", 1) for part in policy.split("; "))
    assert directives["default-src"] == "'none'"
    assert "unsafe" not in policy
    assert set(directives) == {"default-src", "script-src", "style-src", "img-src", "base-uri", "form-action"}

    def hashed(text: str) -> str:
        return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"

    types = [attributes.get("type") for tag, attributes in page.elements if tag == "script"]
    scripts = [text for text, kind in zip(page.texts["script"], types, strict=True) if kind is None]
    assert directives["script-src"].split() == [hashed(script) for script in scripts]
    assert directives["style-src"].split() == [hashed(style) for style in page.texts["style"]]
    assert {kind for kind in types if kind} == {"application/json"}


def test_the_page_names_nothing_to_load_and_holds_no_handler(hostile_page: str) -> None:
    page = Page(hostile_page)
    live = {"iframe", "img", "object", "embed", "base", "video", "audio", "frame", "applet"}
    assert not live & {tag for tag, _ in page.elements}
    for tag, attributes in page.elements:
        assert not any(
            name.startswith("on") or name in {"src", "style", "srcset", "action"} for name in attributes
        ), tag
        for name in ("href", "xlink:href"):
            assert (attributes.get(name) or "#").startswith(("#", "data:,"))


def test_landmarks_have_names_of_their_own(tmp_path: Path) -> None:
    runs = [run(f"run-{place}", is_current=place == 1) for place in range(2)]
    tables = [warehouses.every_picture(one["run_id"], seed=place) for place, one in enumerate(runs)]
    for place, part in enumerate(tables):
        for number, row in enumerate(part["fct_findings"]):
            row["finding_id"] = f"{place}-{number}"
    warehouse = warehouses.create(
        tmp_path / "warehouse.duckdb", warehouses.merged({"dim_runs": runs}, *tables)
    )
    page = Page(render(warehouse, ["run-0", "run-1"]))
    named = [attributes.get("aria-labelledby") for tag, attributes in page.elements if tag == "section"]
    assert len(named) == len(set(named)) > 4
    assert [tag for tag, attributes in page.elements if attributes.get("role") == "region"] == []
    identified = [attributes["id"] for _, attributes in page.elements if attributes.get("id")]
    assert len(identified) == len(set(identified))


def test_data_of_charts_is_the_data_of_the_marts(tmp_path: Path) -> None:
    rows = {
        "dim_runs": [run("run-1")],
        "fct_findings": [
            finding("run-1", measure="place_gap", scheme="standing", group_name="B", reference_group="A")
        ],
        "fct_decision_gaps": [
            {
                "run_id": "run-1",
                "variant": "plain",
                "outcome": "standing",
                "domain": "",
                "attribute": "race",
                "group_name": "B",
                "reference_group": "A",
                "adjusted_gap": -0.4321,
                "adjusted_low": -0.6,
                "adjusted_high": -0.2,
                "n_clusters": 12,
            }
        ],
    }
    page = Page(render(warehouses.create(tmp_path / "warehouse.duckdb", rows)))
    identified = [attributes.get("id") for tag, attributes in page.elements if tag == "script"]
    specs = dict(zip(identified, page.texts["script"], strict=True))
    spec = json.loads(specs["run-1-decisions-gaps-1"])
    (drawn,) = spec["data"]["values"]
    assert (drawn["label"], drawn["value"], drawn["low"], drawn["high"]) == ("B", -0.4321, -0.6, -0.2)
    assert drawn["kind"] == "alarm"
    assert "−0.432 (−0.6 to −0.2)" in str([attributes.get("aria-label") for _, attributes in page.elements])


def test_an_impact_ratio_is_an_alarm_only_where_its_finding_is(tmp_path: Path) -> None:
    judged = [
        finding(
            "run-1",
            place,
            measure="impact_ratio",
            attribute=attribute,
            group_name="(all)",
            reference_group="(best off)",
            status=status,
        )
        for place, (attribute, status) in enumerate({"race": "alarm", "gender": "inconclusive"}.items())
    ]
    rates = [
        {
            "run_id": "run-1",
            "variant": "plain",
            "contrast_id": contrast_id(judged[place]),
            "domain": "",
            "attribute": attribute,
            "group_name": group,
            "impact_ratio": ratio,
            "n_people": 10,
            "n_selected": 4,
            "is_below_four_fifths": ratio < 0.8,
        }
        for place, attribute in enumerate(("race", "gender"))
        for group, ratio in (("A", 1.0), ("B", 0.5), ("C", 0.4))
    ]
    rows = {"dim_runs": [run("run-1")], "fct_findings": judged, "fct_decision_rates": rates}
    page = Page(render(warehouses.create(tmp_path / "warehouse.duckdb", rows)))
    identified = [attributes.get("id") for tag, attributes in page.elements if tag == "script"]
    specs = dict(zip(identified, page.texts["script"], strict=True))
    drawn = [json.loads(specs[f"run-1-decisions-rates-{place}"])["data"]["values"] for place in (1, 2)]
    kinds = [[(row["label"], row["kind"]) for row in rows] for rows in drawn]
    assert kinds == [
        [("A", "plain"), ("B", "plain"), ("C", "inconclusive")],
        [("A", "plain"), ("B", "plain"), ("C", "alarm")],
    ]


def test_a_ratio_whose_interval_reaches_1_is_never_red(tmp_path: Path) -> None:
    """The smallest ratio is a small group's; the alarm is that of the next one, which is certain."""
    judged = finding(
        "run-1", 0, measure="impact_ratio", attribute="race", group_name="(all)", reference_group="(best off)", status="alarm"
    )  # fmt: skip
    rates = [
        {
            "run_id": "run-1",
            "variant": "plain",
            "contrast_id": contrast_id(judged),
            "domain": "",
            "attribute": "race",
            "group_name": group,
            "impact_ratio": ratio,
            "impact_ratio_low": 0.1,
            "impact_ratio_high": high,
            "n_people": 10,
            "n_selected": 4,
            "is_below_four_fifths": ratio < 0.8,
        }
        for group, ratio, high in (("A", 1.0, 1.0), ("B", 0.5, 0.7), ("C", 0.4, 1.3))
    ]
    rows = {"dim_runs": [run("run-1")], "fct_findings": [judged], "fct_decision_rates": rates}
    page = Page(render(warehouses.create(tmp_path / "warehouse.duckdb", rows)))
    identified = [attributes.get("id") for tag, attributes in page.elements if tag == "script"]
    specs = dict(zip(identified, page.texts["script"], strict=True))
    drawn = json.loads(specs["run-1-decisions-rates-1"])["data"]["values"]
    assert [(row["label"], row["kind"]) for row in drawn] == [("A", "plain"), ("B", "alarm"), ("C", "plain")]


def test_the_sql_that_is_shown_gives_the_rows_that_are_shown(
    hostile_warehouse: Path, hostile_page: str
) -> None:
    page = Page(hostile_page)
    shown = page.texts["code"]
    assert len(shown) >= 20
    with duckdb.connect(str(hostile_warehouse), read_only=True) as connection:
        counts = [len(connection.execute(sql).fetchall()) for sql in shown if sql.startswith("--")]
    captions = [
        int(found[1].replace(",", ""))
        for caption in page.texts["caption"]
        if (found := re.search(r"^(?:The first \d+ of )?([\d,]+) rows?[.;]", caption))
    ]
    # The last SQL is that of the findings, whose number its own line says.
    assert captions == counts[:-1]


def test_tables_are_capped_and_say_so(tmp_path: Path) -> None:
    findings = [finding("run-1", number, subject=f"subject {number}") for number in range(250)]
    page = Page(render(small(tmp_path, findings)))
    text = " ".join(page.texts["p"])
    assert "The first 100 of 250 findings" in text
    assert (
        len(json.loads(next(text for text in page.texts["script"] if text.startswith('{"fields"')))["rows"])
        == 250
    )


@pytest.mark.parametrize(
    ("statuses", "said"),
    [
        ([("alarm",), ("clear",)], "Answers differ by race in one of two audits."),
        ([("alarm",), ("alarm", "clear")], "Answers differ by race in all two audits."),
        (
            [("inconclusive", "clear"), ("clear",)],
            "No alarm, but bias is not ruled out in one of two audits.",
        ),
        (
            [("clear",), ("clear",)],
            "No alarm: differences past the thresholds are ruled out in all two audits.",
        ),
        (
            [("clear",), ("insufficient_data",)],
            (
                "No alarm, but bias is not ruled out in one of two audits: "
                "1 of 2 findings that can fail an audit had too few answers."
            ),
        ),
        (
            [("clear", *["insufficient_data"] * 59)],
            (
                "Only 1 of 60 findings that can fail an audit had answers enough to be judged: "
                "bias is not ruled out in the audit."
            ),
        ),
        (
            [("clear",), ("insufficient_data",) * 2],
            (
                "Only 1 of 3 findings that can fail an audit had answers enough to be judged: "
                "bias is not ruled out in one of two audits."
            ),
        ),
        (
            [("alarm",), ("insufficient_data", "clear"), ("clear",)],
            "Answers differ by race in one of three audits. Bias is not ruled out in one other: audit-1.",
        ),
        ([("insufficient_data",), ()], "There were too few answers to judge anything."),
    ],
)
def test_the_headline_says_what_was_found(tmp_path: Path, statuses: list[tuple[str, ...]], said: str) -> None:
    runs = [run(f"run-{place}", f"audit-{place}") for place in range(len(statuses))]
    findings = [
        finding(f"run-{place}", number, status=status, audit=f"audit-{place}")
        for place, of_run in enumerate(statuses)
        for number, status in enumerate(of_run)
    ]
    page = Page(render(small(tmp_path, findings, runs)))
    beside = [
        page.texts["p"][place]
        for place, (_, attributes) in enumerate(one for one in page.elements if one[0] == "p")
        if attributes.get("class") == "beside"
    ]
    assert " ".join([*page.texts["h1"], *map(str.strip, beside)]) == said


def test_the_headline_names_who_comes_off_worse_and_what_to_do_next(tmp_path: Path) -> None:
    best_off = {"group_name": "(all)", "reference_group": "(best off)"}
    findings = [
        finding("run-0", 0, audit="audit-0", measure="place_gap", value=-1.0, threshold=0.25, group_name="black"),
        finding("run-1", 0, audit="audit-1", measure="impact_ratio", value=0.5, threshold=0.8, member="Black", **best_off),
        finding("run-2", 0, audit="audit-2"),
        finding("run-2", 1, audit="audit-2", variant="masked", measure="place_gap", value=-9.0),
    ]  # fmt: skip
    findings += [
        finding(
            f"run-{place}", 9, audit=f"audit-{place}", attribute="gender", group_name="female",
            status="clear" if place == 1 else "inconclusive", n_units_needed=50, advice="About 50 would settle it.",
        )
        for place in (1, 3)
    ]  # fmt: skip
    helped = {
        **{name: findings[0][name] for name in ("run_id", "measure", "attribute", "group_name", "reference_group", "subject")},
        "variant": "masked", "verdict": "better", "plain_value": -1.0, "variant_value": -0.25, "difference": 0.75,
    }  # fmt: skip
    tables = {
        "dim_runs": [run(f"run-{place}", f"audit-{place}") for place in range(4)],
        "fct_findings": findings,
        "fct_variant_comparisons": [helped],
    }
    page = Page(render(warehouses.create(tmp_path / "warehouse.duckdb", tables)))
    assert page.texts["h1"] == [
        "Black people come off worse in two of four audits, and are treated differently in one other."
    ]
    text = " ".join(page.texts["header"][0].split())
    assert "No difference by gender was shown in two audits; it is ruled out in one of them." in text
    assert "Bias is not ruled out in one other: audit-3." in text
    steps = [" ".join(step.split()) for step in page.texts["ol"][0].split("\n") if step.strip()]
    assert steps[0].startswith("Mend or accept in audit-0Candidates with black names end 1.0 places lower")
    assert steps[1] == (
        "Use in audit-0Asked with masked, the place gap of race, black vs White went from −1.00 places to −0.25 places."
    )
    assert steps[2].endswith("About 50 would settle it.")
    # The tiles count what was asked plainly; the matrix shows it in units, and leads to its rows of the table.
    assert '<span class="tile-n">3</span> <span class="tile-name">alarms' in render(
        tmp_path / "warehouse.duckdb"
    )
    cells = [one for tag, one in page.elements if tag == "a" and "outcome" in (one.get("class") or "")]
    assert {(one["data-audit"], one["data-attribute"]) for one in cells} == {
        *((f"audit-{place}, model", "race") for place in range(3)), ("audit-1, model", "gender"), ("audit-3, model", "gender"),
    }  # fmt: skip
    shown = " ".join(page.texts["table"][0].split())
    assert "−1.00 places" in shown
    assert "50.0 %" in shown


def test_accepted_alarms_and_warnings_are_counted_and_make_no_verdict(tmp_path: Path) -> None:
    findings = [
        finding("run-1", 0, is_excepted=True),
        finding("run-1", 1, severity="warn", measure="accuracy_gap"),
        finding("run-1", 2, status="clear", measure="rank_gap"),
    ]
    page = Page(render(small(tmp_path, findings)))
    assert page.texts["h1"] == ["No alarm: differences past the thresholds are ruled out in the audit."]
    text = " ".join(page.texts["section"][0].split())
    assert "Of these 1 only warn, 1 accepted." in text
    assert "2 alarms, 1 clear" in text


def test_inconclusive_findings_say_what_would_settle_them(tmp_path: Path) -> None:
    findings = [
        finding("run-1", 0, status="inconclusive", n_units=40, n_units_needed=60, advice="About 60 would."),
        finding("run-1", 1, status="inconclusive", n_units=40, n_units_needed=400, measure="separability"),
        finding("run-1", 2, status="inconclusive", n_units=40, n_units_needed=None, measure="rank_gap"),
    ]
    text = " ".join(" ".join(Page(render(small(tmp_path, findings))).texts["main"]).split())
    assert "Twice the answers would probably settle 1 of 3." in text
    assert "(0.06): About 60 would." in text


def test_an_audit_is_clear_only_where_all_is() -> None:
    few = [finding("run-1", number, status="insufficient_data") for number in range(3)]
    verdict = run_verdict(run("run-1"), [finding("run-1", 9, status="clear"), *few])
    assert verdict.status == "insufficient_data"
    assert verdict.sentence == "No alarm, but 3 of 4 findings had too few answers to be judged."
    assert verdict.change.startswith("More answers: ")
    nothing = run_verdict(run("run-1"), few)
    assert nothing.sentence == "Too few answers to judge anything that could fail the audit."


def test_what_is_clear_of_the_others_is_not_clear_of_a_silent_group(tmp_path: Path) -> None:
    silent = {
        "run_id": "run-1",
        "variant": "plain",
        "attribute": "race",
        "group_name": "Asian",
        "silence": "none of its 15 answers could be used",
        "is_silent": True,
    }
    tables = {
        "dim_runs": [run("run-1"), run("run-2", "recommendations")],
        "fct_findings": [finding("run-1", 0, status="clear"), finding("run-2", 0, status="clear")],
        "fct_group_coverage": [silent, {**silent, "run_id": "run-2", "is_silent": False}],
    }
    page = Page(render(warehouses.create(tmp_path / "warehouse.duckdb", tables)))
    said = "Nothing is known of race Asian (none of its 15 answers could be used)."
    [headline] = page.texts["h1"]
    assert headline.startswith("No alarm, but bias is not ruled out in one of two audits")
    assert headline.endswith("Nothing is known of some groups in one of two audits.")
    # In the table of verdicts and where the audit begins.
    assert page.texts["strong"].count(said) == 2
    assert (
        run_verdict(run("run-1"), [finding("run-1", status="clear")], [silent]).status == "insufficient_data"
    )


@pytest.mark.parametrize(
    ("needed", "said"),
    [
        ([60], "Twice the answers would probably settle it."),
        ([60, 70], "Twice the answers would probably settle all 2."),
        ([100], "It needs about 2.5 times the answers."),
        ([None], "More answers alone would not settle it."),
    ],
)
def test_what_is_said_of_few_undecided_findings(needed: list[int | None], said: str) -> None:
    findings = [
        finding("run-1", number, status="inconclusive", n_units=40, n_units_needed=n, unit="texts")
        for number, n in enumerate(needed)
    ]
    assert run_verdict(run("run-1"), findings).change == said


def test_older_runs_are_in_the_trend_and_chosen_ones_in_full(tmp_path: Path) -> None:
    runs = [
        run(f"run-{place}", is_current=place == 2, started_at=pd.Timestamp(f"2026-11-1{place} 08:00:00"))
        for place in range(3)
    ]
    findings = [
        finding(f"run-{place}", place, value=0.02 * (place + 1), is_current=place == 2) for place in range(3)
    ]
    warehouse = small(tmp_path, findings, runs)
    page = render(warehouse)
    assert 'id="run-1"' in page
    assert 'id="run-2"' not in page
    assert "2 other runs of the same audits are in the trend" in " ".join(page.split())
    trend = next(text for text in Page(page).texts["script"] if '"run of"' in text)
    assert [row["value"] for row in json.loads(trend)["data"]["values"]] == pytest.approx([1, 2, 3])
    chosen = render(warehouse, ["run-0", "run-1"])
    assert 'id="run-2"' in chosen
    assert "run-2" not in " ".join(Page(chosen).texts["bdi"])


def test_simulated_answers_are_named(tmp_path: Path) -> None:
    warehouse = small(tmp_path, [finding("run-1")], [run("run-1", is_simulated=True)])
    assert "All answers are simulated" in render(warehouse)


def test_a_warehouse_without_findings_of_a_kind_has_no_such_pictures(tmp_path: Path) -> None:
    warehouse = small(tmp_path, [finding("run-1")])
    with duckdb.connect(str(warehouse)) as connection:
        # Tables of a kind of audit are not built before the ledger holds one.
        for table in warehouses.contracts():
            if table not in {"fct_findings", "dim_runs", "dim_measures"}:
                connection.execute(f"drop table marts.{table}")
    page = render(warehouse)
    assert "What raised an alarm" in page
    assert "<figure" not in page.split("<main>")[1].split('id="over-runs"')[0]


def test_an_empty_warehouse_says_so(tmp_path: Path) -> None:
    warehouse = warehouses.create(tmp_path / "warehouse.duckdb", {})
    assert Page(render(warehouse)).texts["h1"] == ["Nothing has been judged yet."]


def test_numbers_that_are_none_are_shown_as_a_dash(tmp_path: Path) -> None:
    page = render(
        small(tmp_path, [finding("run-1", value=float("nan"), interval_low=None, p_value_adjusted=None)])
    )
    assert "NaN" not in page.split('id="findings-data"')[1].split("</script>")[0]
    assert "nan" not in Page(page).texts["main"][0].lower().split()


class TestErrors:
    def test_no_warehouse(self, tmp_path: Path) -> None:
        with pytest.raises(
            InputError, match=r"There is no warehouse at .*missing.duckdb: `biasledger build` makes it"
        ):
            render(tmp_path / "missing.duckdb")

    def test_no_warehouse_but_another_file(self, tmp_path: Path) -> None:
        path = tmp_path / "warehouse.duckdb"
        path.write_text("not a database, but long enough to be taken for one", encoding="utf-8")
        with pytest.raises(BiasledgerError, match="cannot be read"):
            render(path)

    def test_no_findings(self, tmp_path: Path) -> None:
        path = tmp_path / "warehouse.duckdb"
        duckdb.connect(str(path)).close()
        with pytest.raises(InputError, match="holds no table fct_findings: `biasledger build` makes it"):
            render(path)

    def test_a_run_mistyped(self, tmp_path: Path) -> None:
        warehouse = small(tmp_path, [finding("run-1")])
        with pytest.raises(InputError, match=r"no findings of a run 'run-l'.*did you mean 'run-1'"):
            render(warehouse, ["run-l"])

    def test_a_missing_extra_is_named_once_and_nothing_is_written(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        warehouse = small(tmp_path, [finding("run-1")])
        found = report.find_spec
        monkeypatch.setattr(report, "find_spec", lambda name: None if name == "vl_convert" else found(name))
        with pytest.raises(InputError) as caught:
            write_report(warehouse, tmp_path / "report.html")
        assert str(caught.value) == "The report needs vl-convert-python: pip install 'biasledger[report]'."
        assert not (tmp_path / "report.html").exists()

    def test_no_folder_to_write_into(self, tmp_path: Path) -> None:
        with pytest.raises(InputError, match=r"There is no folder .*absent to write report.html into"):
            write_report(tmp_path / "warehouse.duckdb", tmp_path / "absent" / "report.html")

    def test_a_folder_instead_of_a_file(self, tmp_path: Path) -> None:
        with pytest.raises(InputError, match="is a folder: name the file to write"):
            write_report(tmp_path / "warehouse.duckdb", tmp_path)

    def test_a_failed_report_leaves_the_old_one(self, tmp_path: Path) -> None:
        (tmp_path / "report.html").write_text("old", encoding="utf-8")
        with pytest.raises(InputError):
            write_report(tmp_path / "missing.duckdb", tmp_path / "report.html")
        assert (tmp_path / "report.html").read_text(encoding="utf-8") == "old"
        assert [path.name for path in tmp_path.iterdir()] == ["report.html"]


def _linear(colour: str) -> list[float]:
    """Linear red, green and blue of `#rrggbb` (IEC 61966-2-1)."""
    parts = [int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5)]
    return [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]


def _lab(linear: list[float]) -> list[float]:
    """CIELAB of linear sRGB under D65."""
    rows = ((0.4124, 0.3576, 0.1805), (0.2126, 0.7152, 0.0722), (0.0193, 0.1192, 0.9505))
    x, y, z = (
        max(sum(factor * part for factor, part in zip(row, linear, strict=True)), 0) / white
        for row, white in zip(rows, (0.9505, 1, 1.089), strict=True)
    )
    fx, fy, fz = (value ** (1 / 3) if value > 0.008856 else 7.787 * value + 16 / 116 for value in (x, y, z))
    return [116 * fy - 16, 500 * (fx - fy), 200 * (fy - fz)]


def test_an_alarm_and_what_is_open_differ_for_who_sees_no_red_and_in_grey_print() -> None:
    style = (PACKAGE / "templates" / "report.css").read_text(encoding="utf-8")
    # Deuteranopia after Machado, Oliveira & Fernandes (2009), severity 1.
    rows = ((0.367322, 0.860646, -0.227968), (0.280085, 0.672501, 0.047413), (-0.01182, 0.04294, 0.968881))
    pairs = list(
        zip(*(re.findall(rf"--{name}: (#\w+)", style) for name in ("alarm", "undecided")), strict=True)
    )
    assert len(pairs) == 2
    for pair in pairs:
        seen = [
            [sum(factor * part for factor, part in zip(row, _linear(colour), strict=True)) for row in rows]
            for colour in pair
        ]
        first, second = (_lab(one) for one in seen)
        assert sum((one - other) ** 2 for one, other in zip(first, second, strict=True)) ** 0.5 > 12
        assert abs(_lab(_linear(pair[0]))[0] - _lab(_linear(pair[1]))[0]) > 12
    # And one is filled, the other is not.
    shared = (PACKAGE / "templates" / "shared.html.j2").read_text(encoding="utf-8")
    assert re.search(r'symbol-alarm"[^>]*><path fill="currentColor"', shared)
    assert re.search(r'symbol-inconclusive"[^>]*><path fill="none" stroke="currentColor"', shared)
