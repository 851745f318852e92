"""Test the report in a browser: charts are drawn, nothing is loaded, no foreign code runs, and it is accessible."""

from __future__ import annotations

import csv
import itertools
import json
import re
import time
from pathlib import Path
from typing import Any

import pytest

from biasledger.reporting import write_report
from tests.python.report import warehouses
from tests.python.report.conftest import Open, Opened
from tests.python.report.warehouses import HOSTILE, comparison, finding, run

pytestmark = pytest.mark.slow

DESKTOP, PHONE = (1280, 900), (375, 812)
N_TIMES = 100


def violations(opened: Opened, rules: list[str] | None = None, inside: str | None = None) -> list[str]:
    """Return the violations that axe-core finds, by all of its rules (WCAG and good practice) or by some."""
    axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason="axe is not installed")
    options = {"resultTypes": ["violations"], **({"runOnly": rules} if rules else {})}
    response = axe.Axe().run(opened.page, context=inside, options=options).response
    return [
        f"{violation['id']}: {violation['help']}: {node['html'][:160]}"
        for violation in response["violations"]
        for node in violation["nodes"]
    ]


def overflow(opened: Opened) -> int:
    """Pixels by which the page is wider than its window."""
    return int(opened.page.evaluate("document.documentElement.scrollWidth - innerWidth"))


def test_all_charts_are_drawn_and_nothing_is_loaded_or_goes_wrong(
    drawn: Opened, hostile_report: Path
) -> None:
    charts = drawn.page.evaluate(
        """() => [...document.querySelectorAll('.chart')].map((place) => ({
          name: place.dataset.chart,
          // Axes are lines; an empty chart has no other mark.
          marks: place.querySelectorAll('svg.wide path').length,
          width: place.querySelector('svg.wide')?.getBoundingClientRect().width ?? 0,
          hidden: place.querySelector('svg.narrow')?.getBoundingClientRect().width ?? 1,
        }))"""
    )
    assert len(charts) >= 20
    assert [one for one in charts if one["hidden"] or not one["marks"] or one["width"] < 200] == []
    assert drawn.troubles == []
    assert [url for url in drawn.requests if not url.startswith("data:")] == [hostile_report.as_uri()]


def test_the_page_is_small(hostile_report: Path) -> None:
    assert hostile_report.stat().st_size < 2_000_000


def test_what_models_write_is_shown_and_never_run(drawn: Opened) -> None:
    assert drawn.page.evaluate("window.harmed ?? null") is None
    elements = drawn.page.evaluate(
        "['iframe', 'img', 'object', 'embed', 'base', 'svg[onload]'].map((name) => document.querySelectorAll(name).length)"
    )
    assert elements == [0] * 6
    # One script of ours, the rest is data; no text of the warehouse made another.
    kinds = drawn.page.evaluate("[...document.scripts].map((script) => script.type)")
    assert kinds.count("") == 1
    assert set(kinds) == {"", "application/json"}
    shown = drawn.page.inner_text("main")
    assert HOSTILE[2] in shown
    assert "{{ 7 * 7 }}{% raw %}" in shown
    words = " ".join(drawn.page.locator(".chart svg title").all_text_contents())
    assert "<!--<script>" in words
    assert "{{ 7 * 7 }}" in words


def test_each_chart_is_offered_as_svg_png_and_csv(open_report: Open, hostile_report: Path) -> None:
    opened = open_report(hostile_report)
    offers = opened.page.locator(".offers")
    assert offers.count() == opened.page.locator(".chart").count()
    files = {}
    for kind in ("SVG", "PNG", "CSV"):
        with opened.page.expect_download() as download:
            offers.nth(3).get_by_text(kind).click()
        files[kind] = Path(download.value.path()).read_bytes()
        assert download.value.suggested_filename.endswith(f".{kind.lower()}")
    assert files["SVG"].startswith(b"<svg ")
    assert b"var(--" not in files["SVG"]
    assert files["PNG"].startswith(b"\x89PNG")
    assert len(files["CSV"].splitlines()) > 1
    assert opened.page.evaluate("window.harmed ?? null") is None
    assert opened.troubles == []


def test_the_policy_forbids_what_an_injection_would_need(open_report: Open, hostile_report: Path) -> None:
    opened = open_report(hostile_report)
    outcome = opened.page.evaluate(
        """async () => {
          const script = document.createElement('script');
          script.textContent = "window.harmed = 'inserted'";
          document.body.append(script);
          const handler = document.createElement('p');
          handler.setAttribute('onclick', "window.harmed = 'handler'");
          document.body.append(handler);
          handler.click();
          const fetched = await fetch('https://example.org/').then(() => 'fetched', () => 'refused');
          return [window.harmed ?? null, fetched];
        }"""
    )
    assert outcome == [None, "refused"]
    assert any("Content Security Policy" in trouble for trouble in opened.troubles)


def test_axe_finds_nothing_in_light_and_in_dark_and_what_is_wrong(
    open_report: Open, hostile_report: Path
) -> None:
    opened = open_report(hostile_report)
    # Folded content is checked, too; three rows of each table stand for all.
    opened.page.evaluate(
        """() => {
          document.querySelectorAll('details').forEach((one) => { one.open = true; });
          document.querySelectorAll('tbody tr:nth-child(n + 4)').forEach((one) => one.remove());
        }"""
    )
    assert violations(opened) == []
    opened.page.emulate_media(color_scheme="dark")
    # Dark mode changes colours only; the first pictures have all of them.
    opened.page.evaluate(
        "document.querySelectorAll('.picture:nth-of-type(n + 4)').forEach((one) => one.remove())"
    )
    assert violations(opened, rules=["color-contrast"]) == []
    opened.page.emulate_media(color_scheme="light")
    opened.page.evaluate(
        """() => {
          document.querySelector('.picture .reading').style.setProperty('color', 'rgb(235, 235, 230)');
          document.querySelector('.picture .chart[role=img]').removeAttribute('aria-label');
        }"""
    )
    found = {finding.split(":")[0] for finding in violations(opened, inside=".picture")}
    assert found == {"color-contrast", "role-img-alt"}


def test_a_phone_needs_no_pushing_sideways(open_report: Open, hostile_report: Path) -> None:
    opened = open_report(hostile_report, *PHONE)
    assert overflow(opened) <= 0
    opened.page.evaluate("document.querySelectorAll('details').forEach((one) => { one.open = true; })")
    assert overflow(opened) <= 0
    widest = opened.page.evaluate(
        "Math.max(...[...document.querySelectorAll('.chart svg')].map((one) => one.getBoundingClientRect().right))"
    )
    assert widest <= PHONE[0]
    assert opened.troubles == []


def test_names_of_rows_are_distinguished_on_a_phone(open_report: Open, tmp_path: Path) -> None:
    compared = [
        comparison("run-1", "run-0", 0.1, attribute="race of the applicant", group_name=group)
        for group in ("Asian", "Black", "Latino")
    ]
    tables = {"dim_runs": [run("run-1")], "fct_findings": [finding("run-1")], "fct_run_comparisons": compared}
    write_report(warehouses.create(tmp_path / "warehouse.duckdb", tables), tmp_path / "report.html")
    opened = open_report(tmp_path / "report.html", *PHONE)
    shown = opened.page.evaluate(
        "[...document.querySelectorAll('[data-chart=changes-1] .narrow text')].map((one) => one.textContent)"
    )
    rows = [text for text in shown if "divergence" in text]
    assert len(rows) == len(set(rows)) == len(compared)
    assert all(any(row["group_name"] in text for text in rows) for row in compared)
    assert overflow(opened) <= 0
    opened.page.locator("[data-chart=changes-1]").screenshot(path=tmp_path / "changes.png")


def test_the_page_can_be_walked_by_keyboard(open_report: Open, hostile_report: Path) -> None:
    page = open_report(hostile_report).page
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.className") == "skip"
    assert page.evaluate("document.activeElement.getBoundingClientRect().top") >= 0
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.id") == "verdicts"
    seen: list[dict[str, Any]] = []
    for _ in range(60):
        page.keyboard.press("Tab")
        seen.append(
            page.evaluate(
                """() => { const one = document.activeElement, style = getComputedStyle(one); return {
                  name: one.tagName, label: one.getAttribute('aria-label') ?? '', outline: style.outlineStyle }; }"""
            )
        )
    names = {one["name"] for one in seen}
    assert {"A", "DIV", "SUMMARY"} <= names
    assert [one for one in seen if one["name"] != "BODY" and one["outline"] == "none"] == []
    page.locator("details.numbers:not([open]) > summary").first.focus()
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.parentElement.open")
    page.keyboard.press("Tab")
    # The table behind a chart can be scrolled by keyboard, and has a name.
    assert page.evaluate("document.activeElement.getAttribute('aria-label')").startswith("Numbers: ")


@pytest.mark.parametrize("has_scripts", [True, False])
def test_a_mark_leads_to_the_row_of_its_finding(open_report: Open, tmp_path: Path, has_scripts: bool) -> None:
    findings = [finding("run-1", number, group_name=f"group {number}") for number in range(40)]
    written = warehouses.create(
        tmp_path / "warehouse.duckdb", {"dim_runs": [run("run-1")], "fct_findings": findings}
    )
    write_report(written, tmp_path / "report.html")
    page = open_report(tmp_path / "report.html", java_script_enabled=has_scripts).page
    mark = page.locator("[data-chart=failures] svg.wide a[href]").first
    address = mark.get_attribute("href") or ""
    mark.click()
    assert page.url.endswith(address)
    row = page.locator("#findings-rows tr", has_text=f"biasledger explain {address.partition('=')[2]}").first
    row.wait_for()
    assert 0 <= (row.bounding_box() or {"y": -1})["y"] < DESKTOP[1]
    # Keyboards reach findings in the tables; hundreds of marks would be hundreds of stops.
    stops = page.locator(".chart a:not([tabindex='-1'])[href], .chart [tabindex='0']")
    assert stops.count() == 0


def test_headings_and_landmarks_are_in_order(drawn: Opened) -> None:
    page = drawn.page
    levels = [
        int(name[1])
        for name in page.evaluate(
            "[...document.querySelectorAll('h1, h2, h3, h4')].map((one) => one.tagName)"
        )
    ]
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert all(later - earlier <= 1 for earlier, later in itertools.pairwise(levels))
    assert page.get_attribute("html", "lang") == "en"
    assert [page.locator(name).count() for name in ("header", "nav", "main", "footer")] == [1, 1, 1, 1]
    charts = page.evaluate(
        "[...document.querySelectorAll('.chart')].map((one) => "
        "[one.getAttribute('role'), one.querySelector('a[tabindex]') ? 'group' : 'img', one.getAttribute('aria-label').length])"
    )
    # An image has nothing in it that can be clicked.
    assert [one for one in charts if one[0] != one[1] or one[2] <= 20] == []


def test_without_scripts_verdicts_and_tables_still_read(open_report: Open, hostile_report: Path) -> None:
    page = open_report(hostile_report, java_script_enabled=False).page
    assert page.locator("h1").inner_text().startswith("FAIL: ")
    counts = " ".join(page.locator(".tiles").inner_text().split())
    assert all(
        re.search(rf"\d+ {status}", counts) for status in ("alarms", "inconclusive", "clear", "insufficient")
    )
    assert page.locator(".chart svg.wide").first.is_visible()
    assert page.locator("#findings-rows tr").count() > 30
    assert not page.locator("#filter").is_visible()
    closed = page.locator("details.numbers:not([open])")
    n_closed = closed.count()
    closed.locator("summary").first.click()
    assert closed.count() == n_closed - 1


def test_print_holds_every_finding_and_sql_where_it_is_asked_for(drawn: Opened, tmp_path: Path) -> None:
    page = drawn.page
    n = len(json.loads(page.locator("#findings-data").text_content() or "")["rows"])
    assert page.locator("#findings-rows tr").count() == 50 < n
    n_open = page.locator("details[open]").count()
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    assert page.locator(".findings tbody tr").count() == n
    assert page.locator("details:not([open], .sql, .numbers)").count() == 0
    assert page.locator("details.sql[open]").count() == 0
    # Numbers are an appendix, which can be left out; then they are back at their pictures.
    n_tables = page.locator(".picture:has(.chart) .numbers").count()
    assert page.locator("#appendix table").count() == n_tables > 0
    assert page.locator(".picture:has(.chart) .numbers table").count() == 0
    page.emulate_media(media="print")
    assert page.evaluate("getComputedStyle(document.body).getPropertyValue('--ink').trim()") == "#1b2027"
    assert not page.locator("#filter").is_visible()
    assert not page.locator("details.sql").first.is_visible()
    page.emulate_media(media="screen")
    page.evaluate("dispatchEvent(new Event('afterprint'))")
    assert page.locator("details[open]").count() == n_open
    assert page.locator("#findings-rows tr").count() == 50
    page.get_by_label("Print the SQL, too").check()
    page.get_by_label("Print the numbers").uncheck()
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    assert page.locator("details:not([open], .numbers)").count() == 0
    assert not page.locator("#appendix").is_visible()
    page.evaluate("dispatchEvent(new Event('afterprint'))")
    assert page.locator(".picture:has(.chart) .numbers table").count() == n_tables
    page.get_by_label("Print the SQL, too").uncheck()
    page.get_by_label("Print the numbers").check()
    # The browser sends this event when it prints.
    page.evaluate(
        "addEventListener('beforeprint', () => { window.printed = document.querySelectorAll('.findings tbody tr').length; })"
    )
    assert page.pdf(path=tmp_path / "report.pdf", format="A4").startswith(b"%PDF")
    assert page.evaluate("window.printed") == n
    assert drawn.troubles == []


@pytest.mark.parametrize("paper", [(182, 269), (187.9, 251.4)], ids=["A4", "Letter"])
def test_print_fits_the_paper_with_text_of_8_points(
    open_report: Open, hostile_report: Path, paper: tuple[float, float]
) -> None:
    """The paper without its margins, in mm; on a page that is wider than its paper, browsers print smaller text."""
    opened = open_report(hostile_report)
    opened.page.emulate_media(media="print")
    opened.page.evaluate("dispatchEvent(new Event('beforeprint'))")
    wide = ".picture:has(.broad):not(:has(.chart))"
    for hidden, width in (
        (f"#appendix, {wide}", paper[0]),
        (f".picture:not({wide}), #findings, #provenance", paper[1]),
    ):
        opened.page.set_viewport_size({"width": int(width / 25.4 * 96), "height": 900})
        opened.page.evaluate(f"""
            document.querySelectorAll('main *').forEach((one) => {{ one.style.display = ''; }});
            document.querySelectorAll('{hidden}').forEach((one) => {{ one.style.display = 'none'; }});
        """)
        assert overflow(opened) <= 0, hidden
        smallest = opened.page.evaluate(
            """() => Math.min(...[...document.querySelectorAll('body *:not(svg *, script, template *)')]
              .filter((one) => one.checkVisibility())
              .filter((one) => [...one.childNodes].some((node) => node.nodeType === 3 && node.data.trim()))
              .map((one) => parseFloat(getComputedStyle(one).fontSize) * 0.75))"""
        )
        assert smallest >= 8
    # Chromium repeats headings that fit a page and hold no block of their own.
    assert opened.page.evaluate("getComputedStyle(document.querySelector('th button')).display") == "contents"
    for rule, of in (("breakInside", "tr"), ("breakInside", "thead"), ("breakInside", ".origin")):
        assert opened.page.evaluate(f"getComputedStyle(document.querySelector('{of}')).{rule}") == "avoid", of


def test_a_cell_of_the_matrix_shows_its_findings_at_an_address_that_can_be_sent(
    open_report: Open, hostile_report: Path, tmp_path: Path
) -> None:
    opened = open_report(hostile_report)
    page = opened.page
    cell = page.locator(".outcome[data-attribute='race <b>']").first
    audit, attribute = (cell.get_attribute(f"data-{name}") or "" for name in ("audit", "attribute"))
    cell.click()
    said = page.locator("#findings-count")
    said.filter(has_text="in total").wait_for()
    assert page.locator("#filter-audit").input_value() == audit
    assert page.locator("#filter-attribute").input_value() == attribute
    sort = page.locator("th[data-field=value]")
    sort.get_by_role("button").click()
    assert sort.get_attribute("aria-sort") == "descending"
    values = page.locator("#findings-rows [data-label=Value]").all_inner_texts()
    numbers = [float(value.replace("−", "-")) for value in values]
    assert len(numbers) > 5
    assert numbers == sorted(numbers, reverse=True)
    # Text that a spreadsheet would take for a formula gets a leading '; words are found in any order.
    page.get_by_label("Search").fill("end harmed")
    with page.expect_download() as download:
        page.get_by_role("button", name="Download CSV").click()
    with Path(download.value.path()).open(encoding="utf-8-sig", newline="") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) > 0
    assert not [text for row in rows for name, text in row.items() if text[:1] in "=+@" and text]
    assert all(row["id"] in page.locator("#findings-rows").inner_text() for row in rows)
    address, counted = page.url, said.inner_text()
    page.reload()
    page.wait_for_selector("#filter:not([hidden])")
    assert page.url == address
    assert said.inner_text() == counted
    assert sort.get_attribute("aria-sort") == "descending"
    page.get_by_role("button", name="Show all").click()
    # Asked by the browser's own protocol: a page that forbids eval refuses a script that waits.
    said.filter(has_not_text="in total").wait_for()
    assert page.url.endswith("#findings")
    assert [url for url in opened.requests if not url.startswith(("data:", "blob:", "file:"))] == []
    assert opened.troubles == []


def test_a_word_of_ten_thousand_characters_widens_nothing(open_report: Open, tmp_path: Path) -> None:
    endless = finding(
        "run-1", explanation="w" * 10_000, statement="w" * 10_000, advice="v" * 10_000, member="u" * 10_000
    )
    written = warehouses.create(
        tmp_path / "warehouse.duckdb",
        {
            "dim_runs": [run("run-1", audit="a" * 10_000)],
            "fct_findings": [endless, {**endless, "finding_id": "b", "status": "inconclusive"}],
        },
    )
    write_report(written, tmp_path / "report.html")
    opened = open_report(tmp_path / "report.html", *PHONE)
    assert overflow(opened) <= 0
    opened.page.set_viewport_size({"width": DESKTOP[0], "height": DESKTOP[1]})
    assert overflow(opened) <= 0


def test_dark_and_light_differ_in_page_and_charts(drawn: Opened) -> None:
    look = """() => [getComputedStyle(document.body).backgroundColor,
        getComputedStyle(document.querySelector('.chart svg path[fill^=var]')).fill,
        getComputedStyle(document.querySelector('.chart svg text')).fill]"""
    light = drawn.page.evaluate(look)
    drawn.page.emulate_media(color_scheme="dark")
    dark = drawn.page.evaluate(look)
    assert all(one != other for one, other in zip(light, dark, strict=True))


def test_names_next_to_points_do_not_overlap(drawn: Opened) -> None:
    page = drawn.page
    boxes = page.evaluate(
        """() => [...document.querySelectorAll('.chart svg.wide')].map((chart) =>
          [...chart.querySelectorAll('text[text-anchor=middle][fill="var(--ink)"]')]
            .map((text) => { const box = text.getBoundingClientRect(); return [box.left, box.right, box.top, box.bottom]; }))"""
    )
    named = [names for names in boxes if names]
    assert len(named) >= 4
    for names in named:
        for place, (left, right, top, bottom) in enumerate(names):
            for other in names[place + 1 :]:
                apart = (
                    right <= other[0] + 1
                    or other[1] <= left + 1
                    or bottom <= other[2] + 3
                    or other[3] <= top + 3
                )
                assert apart, (names[place], other)


class TestTwentyRunsAndTenThousandFindings:
    def test_it_is_small(self, opened_large: Opened, large_report: Path) -> None:
        assert large_report.stat().st_size < 14_000_000
        assert opened_large.page.locator(".verdicts tbody tr th[scope=row]").count() == 20
        # So many charts have one drawing each.
        assert (
            opened_large.page.locator(".chart svg").count()
            == opened_large.page.locator(".chart").count()
            > 400
        )
        assert overflow(opened_large) <= 0
        assert opened_large.troubles == []

    def test_the_verdicts_are_painted_before_the_rest_is_read(self, opened_large: Opened) -> None:
        painted, read = opened_large.page.evaluate(
            """() => [
              performance.getEntriesByName('first-contentful-paint')[0].startTime,
              performance.getEntriesByType('navigation')[0].domContentLoadedEventEnd,
            ]"""
        )
        assert 0 < painted < read
        # Content far below is not laid out, which would take much longer than the rest.
        skipped = opened_large.page.evaluate(
            "[...document.querySelectorAll('.run')].map((one) => getComputedStyle(one).contentVisibility)"
        )
        assert set(skipped) == {"auto"}

    def test_it_prints_ten_thousand_findings(self, opened_large: Opened, record_property: Any) -> None:
        page = opened_large.page
        page.evaluate(
            """addEventListener('beforeprint', () => {
              const n = [...document.querySelectorAll('.findings tbody')].map((one) => one.rows.length);
              window.printed = [n, document.querySelector('#findings-count').textContent];
            })"""
        )
        started = time.monotonic()
        page.locator(".run, #over-runs").evaluate_all("(all) => all.forEach((one) => one.remove())")
        page.pdf(format="Letter")
        record_property("note", f"10,000 findings print in {time.monotonic() - started:.0f} s.")
        printed, said = page.evaluate("window.printed")
        assert sum(printed) == 10_000
        # One table of all rows takes twice as long.
        assert max(printed) <= 250
        assert said == "1 to 10,000 of 10,000 findings."
        assert page.locator(".findings").count() == 1

    def test_findings_are_paged_and_filtered(self, opened_large: Opened) -> None:
        page = opened_large.page
        said = page.locator("#findings-count")
        assert said.inner_text() == "1 to 50 of 10,000 findings."
        assert page.locator("#findings-rows tr").count() == 50
        assert page.locator("#previous").is_disabled()
        page.locator("#next").focus()
        page.keyboard.press("Enter")
        assert said.inner_text() == "51 to 100 of 10,000 findings."
        page.get_by_label("Search").fill("finding 123 of run-07")
        assert said.inner_text() == "1 to 1 of 1 match (10,000 findings in total)."
        assert "Finding 123 of run-07" in page.locator("#findings-rows").inner_text()
        page.get_by_label("Search").fill("")
        page.locator("#filter-status").select_option("alarm")
        page.locator("#filter-audit").select_option("audit-1, model-0")
        page.locator("#filter-measure").select_option("rank gap")
        packed = json.loads(page.locator("#findings-data").text_content() or "")
        wanted = {"alarm", "audit-1, model-0", "rank gap"}
        n = sum(wanted <= {packed["texts"][text] for text in row[:5]} for row in packed["rows"])
        assert n > 10
        assert said.inner_text().endswith(f"of {n} matches (10,000 findings in total).")
        page.get_by_label("Search").fill("no such text")
        assert said.inner_text() == "No matches (10,000 findings in total)."
