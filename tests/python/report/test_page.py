"""Test the report's page without a browser: its content, that it is reproducible, and that it has no active content."""

from __future__ import annotations

import base64
import hashlib
import itertools
import json
import re
from pathlib import Path

import duckdb
import pytest

from biasledger import reporting as report
from biasledger.reporting import render
from biasledger.reporting.charts import LEGEND
from tests.python.report import warehouses
from tests.python.report.page_read import Page, small, specs
from tests.python.report.warehouses import contrast_id, finding, run

PACKAGE = Path(report.__file__).parent


QUERIES = sorted((PACKAGE / "queries").glob("*.sql"))


@pytest.fixture(scope="module")
def hostile_warehouse(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return warehouses.hostile(tmp_path_factory.mktemp("hostile") / "warehouse.duckdb")


@pytest.fixture(scope="module")
def hostile_page(hostile_warehouse: Path) -> str:
    return render(hostile_warehouse)


@pytest.mark.parametrize("query", QUERIES, ids=lambda path: path.stem)
def test_queries_fit_the_contracts_and_read_public_tables_only(query: Path, tmp_path: Path) -> None:
    warehouse = warehouses.create(tmp_path / "empty.duckdb", {})
    sql = re.sub(r"\$(run_ids|methods|of_no_group)\b", "['a']", query.read_text(encoding="utf-8"))
    sql = re.sub(r"\$(run_id|domains|attribute|marked|compared|subject)\b", "'a'", sql)
    assert "$" not in sql
    tables = set(re.findall(r"(?:from|join)\s+(\w+\.\w+)", sql))
    assert tables
    assert {table.split(".")[0] for table in tables} <= {"marts", "settings"}
    with duckdb.connect(str(warehouse), read_only=True) as connection:
        connection.execute(sql)


def test_every_query_is_drawn_by_a_method() -> None:
    code = "".join(path.read_text(encoding="utf-8") for path in PACKAGE.rglob("*.py"))
    assert QUERIES
    assert [query.stem for query in QUERIES if f'"{query.stem}"' not in code] == []


def test_tables_of_the_sources_have_rows_in_the_tests(hostile_page: str) -> None:
    titles = set(re.findall(r'<h3 id="run-1-([a-z-]+)-title"', hostile_page))
    assert titles >= {"words-audit-report", "markers-outputs", "markers-failed-outputs"}


def test_every_mart_with_a_picture_has_rows_in_the_tests(hostile_page: str) -> None:
    drawn = set(re.findall(r'data-chart="run-1-([a-z-]+)-\d+"', hostile_page))
    assert drawn >= {
        "words-contributions",
        "words-product-types",
        "words-scores",
        "words-classifier-accuracy",
        "lists-spread",
        "lists-similarity",
        "lists-personality",
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
        "prices-quadrants",
        "prices-item-words",
        "markers-ratios",
        "markers-gaps",
        "markers-lists",
        "markers-regard",
        "runs-mitigations",
        "runs-answer-gaps",
        "texts-gaps",
        "texts-similarity",
        "quality",
    }
    tables = set(re.findall(r'<h3 id="(?:run-1-)?([a-z-]+)-title"', hostile_page)) - drawn
    assert tables >= {"lists-attributes", "lists-values", "prices-first-items", "model-indicators"}
    assert "2 of 3 cases (67 %) got different answers" in hostile_page
    assert {"changes-1", "trend-1", "history-1", "costs-1"} <= set(
        re.findall(r'data-chart="([a-z0-9-]+)"', hostile_page)
    )


def test_the_title_of_every_chart_is_its_finding(hostile_warehouse: Path) -> None:
    assert [name for name, panel in report.panels(hostile_warehouse).items() if not panel.finding] == []


def test_models_of_one_audit_stand_side_by_side_and_what_may_be_tried_is_said(tmp_path: Path) -> None:
    runs = [run("run-1", "resumes", "one <b>"), run("run-2", "resumes", "two")]
    parts = [warehouses.every_picture(one["run_id"], seed=place) for place, one in enumerate(runs)]
    for one, part in zip(runs, parts, strict=True):
        for row in part["fct_findings"]:
            row.update(audit="resumes", target=one["target"])
    warehouse = warehouses.create(tmp_path / "w.duckdb", warehouses.merged({"dim_runs": runs}, *parts))
    page = render(warehouse)
    drawn = specs(warehouse)
    accuracy, ranks = (drawn[f"model-rates-{place}"]["data"]["values"] for place in (1, 2))
    # Every group of every model, the reference group among them.
    groups = sorted([*warehouses.PLAIN.groups, warehouses.PLAIN.reference])
    bars = [(group, target) for group in groups for target in ("one <b>", "two")]
    assert [(row["label"], row["series"]) for row in accuracy] == bars
    assert [(row["label"], row["series"]) for row in ranks] == bars
    assert {row["value"] for row in accuracy} <= {0.9, 0.85, 0.8, 0.75}
    # A table states once what is the same in all of its rows.
    table = page[page.index('id="model-indicators-title"') :]
    table = table[: table.index("</table>")]
    assert re.findall(r'<td(?: class="prose")?>[+−]0\.\d+, favours White', table)
    assert table.count("2 of 3 (66.7 %)") == 1
    assert 'id="model-rates-title"' not in render(warehouse, ["run-1"])
    tried = page[page.index("Possible fixes") :]
    assert "Mask names, e-mail addresses and pronouns before a person is judged" in tried
    # A warning or an undecided finding has no suggestion of its own measure.
    assert page.count("<h3>Possible fixes</h3>") == 2
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


def test_every_judged_mark_leads_to_the_finding_that_judged_it(audited: Path) -> None:
    warehouse = audited / "warehouse.duckdb"
    with duckdb.connect(str(warehouse), read_only=True) as connection:
        found = dict(connection.execute("select finding_id, status from marts.fct_findings").fetchall())
    marks = [row for spec in specs(warehouse).values() for row in spec["data"]["values"]]
    judged = [row for row in marks if row.get("kind") in {*found.values(), "inconclusive"} and "value" in row]
    # A change against a run before is judged by itself, and leads to what it changed.
    compared = [row for row in judged if "paired on" in row]
    assert {row["kind"] for row in judged} >= {"alarm", "clear", "inconclusive"}
    assert [row for row in judged if row not in compared and found[row["finding_id"]] != row["kind"]] == []
    assert {row["finding_id"] for row in compared} <= set(found)
    html = render(warehouse)
    packed = json.loads(html.partition('id="findings-data">')[2].partition("</script>")[0])
    place = packed["fields"].index("id")
    shown = {packed["texts"][row[place]] for row in packed["rows"]}
    elements = Page(html).elements
    led_to = [
        attributes["href"].partition("?text=")[2]
        for tag, attributes in elements
        if tag == "a" and (attributes.get("href") or "").startswith("#findings?text=")
    ]
    assert len(led_to) > len(judged)
    assert set(led_to) <= shown
    # Without scripts, a browser goes to the row itself.
    rows = [(attributes.get("id") or "") for tag, attributes in elements if tag == "tr"]
    assert {f"findings?text={packed['texts'][packed['rows'][0][place]]}"} <= set(rows)


def test_one_symbol_has_one_meaning(audited: Path, hostile_page: str) -> None:
    in_page, in_every_chart = (
        re.findall(r'<use href="#symbol-([\w-]+)"/></svg><bdi>(.*?)</bdi>', page)
        for page in (render(audited / "warehouse.duckdb"), hostile_page)
    )
    assert len({key.symbol for key in LEGEND}) == len(LEGEND)
    # A chart repeats nothing that the legend of the page has.
    for keys in (in_page, in_every_chart):
        assert {keys.count((key.symbol, key.text)) for key in LEGEND} == {1}
    meanings: dict[str, set[str]] = {}
    for symbol, text in in_page:
        meanings.setdefault(symbol, set()).add(text)
    assert meanings["alarm"] == {"alarm", "alarm: the two groups farthest apart"}
    assert len(meanings["past"]) == 1
    assert len(meanings["certain"]) > 3


def test_tables_have_words_for_columns_and_names_of_ours(audited: Path) -> None:
    html = render(audited / "warehouse.duckdb")
    headings = set(re.findall(r'<th scope="col">([^<]*)</th>', html))
    assert {"group", "adjusted p", "number of restaurants", "number ranked first"} <= headings
    technical = re.compile(r"_|^is |p value|adjusted gap|group name|interval 95|^n ")
    assert [one for one in headings if technical.search(one)] == []
    tables = re.sub(r"(?s)<(script|style|pre|code|blockquote)\b.*?</\1>", "", html)
    cells = set(re.findall(r"<t[dh][^>]*>(?:<a[^>]*>)?(?:<bdi>)?([^<]*)<", tables))
    assert cells & {"insufficient_data", "rank_value", "rank_gap", "against_reference", "selected"} == set()
    assert {"ranked first", "right decisions", "rank gap"} <= cells


def test_landmarks_have_names_of_their_own(tmp_path: Path) -> None:
    runs = [run(f"run-{place}", is_current=place == 1) for place in range(2)]
    tables = [warehouses.every_picture(one["run_id"], seed=place) for place, one in enumerate(runs)]
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
            finding("run-1", measure="place_gap", scheme="rank_value", group_name="B", reference_group="A")
        ],
        "fct_decision_gaps": [
            {
                "run_id": "run-1",
                "mitigation": "plain",
                "outcome": "rank_value",
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
    warehouse = warehouses.create(tmp_path / "warehouse.duckdb", rows)
    page = Page(render(warehouse))
    (drawn,) = specs(warehouse)["run-1-decisions-gaps-1"]["data"]["values"]
    assert (drawn["label"], drawn["value"], drawn["low"], drawn["high"]) == ("B", -0.4321, -0.6, -0.2)
    assert drawn["kind"] == "alarm"
    assert "−0.432 (−0.6 to −0.2)" in str([attributes.get("aria-label") for _, attributes in page.elements])


# Groups with their ratio and the upper end of its interval, from the best off to the worst.
@pytest.mark.parametrize(
    ("status", "ratios", "kinds"),
    [
        ("alarm", {"A": (1.0, None), "B": (0.5, None), "C": (0.4, None)}, ["plain", "uncertain", "alarm"]),
        ("inconclusive", {"A": (1.0, None), "B": (0.5, None), "C": (0.4, None)}, ["plain", "uncertain", "inconclusive"]),
        # The smallest ratio is a small group's; the alarm is that of the next one, which is certain.
        ("alarm", {"A": (1.0, 1.0), "B": (0.5, 0.7), "C": (0.4, 1.3)}, ["plain", "alarm", "uncertain"]),
    ],
)  # fmt: skip
def test_an_impact_ratio_is_an_alarm_only_where_its_finding_is_and_it_is_certain(
    tmp_path: Path, status: str, ratios: dict[str, tuple[float, float | None]], kinds: list[str]
) -> None:
    judged = finding(
        "run-1", measure="impact_ratio", group_name="(all)", reference_group="(best off)", status=status
    )
    rates = [
        {
            "run_id": "run-1", "mitigation": "plain", "contrast_id": contrast_id(judged), "domain": "", "attribute": "race",
            "group_name": group, "impact_ratio": ratio, "impact_ratio_low": None if high is None else 0.1,
            "impact_ratio_high": high, "n_people": 10, "n_selected": 4, "is_below_four_fifths": ratio < 0.8,
        }
        for group, (ratio, high) in ratios.items()
    ]  # fmt: skip
    rows = {"dim_runs": [run("run-1")], "fct_findings": [judged], "fct_decision_rates": rates}
    charts = specs(warehouses.create(tmp_path / "warehouse.duckdb", rows))
    drawn = charts["run-1-decisions-rates-1"]["data"]["values"]
    assert [(row["label"], row["kind"]) for row in drawn] == list(zip(ratios, kinds, strict=True))


def test_data_sets_are_drawn_of_an_attribute_whose_groups_can_be_told_apart(tmp_path: Path) -> None:
    levels = [
        {
            "run_id": "run-1", "mitigation": "plain", "attribute": attribute, "group_name": group, "domain": domain,
            "price_level": 1, "share": 0.5, "expected_share": 0.5, "excess": 0.0, "interval_low": -0.1, "interval_high": 0.1,
            "p_value_adjusted": p, "n_items": 10.0, "is_crossed": False, "is_reference": group == "A",
        }
        for attribute, groups, p in (("location", "ABCDEF", 0.001), ("race", "AB", 0.01), ("gender", "AB", 0.5))
        for group in groups
        for domain in ("(all)", "Boston", "Toronto")
    ]  # fmt: skip
    rows = {"dim_runs": [run("run-1")], "fct_findings": [finding("run-1")], "fct_price_levels": levels}
    charts = specs(warehouses.create(tmp_path / "warehouse.duckdb", rows))
    page = render(tmp_path / "warehouse.duckdb")
    assert {"run-1-prices-each-1", "run-1-prices-each-2"} <= charts.keys()
    assert {"race, Boston", "race, Toronto"} <= set(re.findall(r"<bdi>(\w+, \w+)</bdi>", page))


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
        if (found := re.search(r"(?:^|\. )(?:The first \d+ of )?([\d,]+) rows?[.;]", caption))
    ]
    # The last SQL is that of the findings, whose number is in its own line.
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


def test_a_warehouse_without_findings_of_a_kind_has_no_such_pictures(tmp_path: Path) -> None:
    warehouse = small(tmp_path, [finding("run-1")])
    with duckdb.connect(str(warehouse)) as connection:
        # Tables of a kind of audit are not built before the ledger holds one.
        for table in warehouses.contracts():
            if table not in {"fct_findings", "dim_runs", "dim_measures"}:
                connection.execute(f"drop table marts.{table}")
    page = render(warehouse)
    assert "Alarms" in page
    assert "<figure" not in page.split('id="run-1"')[1].split('id="over-runs"')[0]


def test_an_empty_warehouse_says_so(tmp_path: Path) -> None:
    warehouse = warehouses.create(tmp_path / "warehouse.duckdb", {})
    assert Page(render(warehouse)).texts["h1"] == ["Nothing has been judged yet."]


def test_numbers_that_are_none_are_shown_as_a_dash(tmp_path: Path) -> None:
    page = render(
        small(tmp_path, [finding("run-1", value=float("nan"), interval_low=None, p_value_adjusted=None)])
    )
    assert "NaN" not in page.split('id="findings-data"')[1].split("</script>")[0]
    assert "nan" not in Page(page).texts["main"][0].lower().split()
