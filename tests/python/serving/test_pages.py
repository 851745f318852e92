"""Test the explorer in a browser: accessible, without foreign code, and without requests to other machines."""

from __future__ import annotations

import shutil
from pathlib import Path

import duckdb
import pytest

from biasledger.serving.asked import link
from tests.python.report.test_browser import overflow, violations
from tests.python.serving.conftest import Explorer, Open, copied, serving

pytestmark = pytest.mark.slow

PHONE = (390, 844)
SETTLED = 600_000  # milliseconds: a guard against hanging


def paths(explorer: Explorer) -> list[str]:
    """Every view, with something in it."""
    [(finding,)] = explorer.rows(
        "select max(finding_id) from marts.fct_findings where measure = 'word_divergence' and status = 'alarm'"
    )
    [(one, other)] = explorer.rows(
        "select min(run_id), max(run_id) from marts.dim_runs where audit = 'rankings' and target like 'simulator%' or "
        "audit = 'rankings' and target like '%window.harmed%'"
    )
    return [
        "/findings?runs=all",
        "/findings?runs=all&view=matrices",
        f"/finding/{finding}",
        "/pairs",
        "/compare",
        link("/compare", before=one, after=other),
        link("/sql", sql="select group_name, explanation, value, n_units from marts.fct_findings"),
        "/sql?sql=select+nothing",
    ]


def test_axe_finds_nothing_in_light_and_in_dark(explorer: Explorer, open_page: Open) -> None:
    for path in paths(explorer):
        opened = open_page(explorer.address.rstrip("/") + path)
        # Folded content is checked, too; some rows of each table stand for all.
        opened.page.evaluate(
            """() => {
              document.querySelectorAll('details').forEach((one) => { one.open = true; });
              const many = 'tbody tr:nth-child(n + 4), .matrix:nth-of-type(n + 3), option:nth-child(n + 6)';
              document.querySelectorAll(many).forEach((one) => one.remove());
            }"""
        )
        assert violations(opened) == [], path
        opened.page.emulate_media(color_scheme="dark")
        assert violations(opened, rules=["color-contrast"]) == [], path
        assert opened.troubles == [], path


def test_nothing_foreign_is_run_and_nobody_else_is_asked(hostile: Explorer, open_page: Open) -> None:
    for path in paths(hostile):
        opened = open_page(hostile.address.rstrip("/") + path)
        assert opened.page.evaluate("window.harmed ?? null") is None, path
        foreign = opened.page.evaluate(
            "['iframe', 'img', 'object', 'embed', 'base'].map((name) => document.querySelectorAll(name).length)"
        )
        assert foreign == [0] * 5, path
        scripts = opened.page.evaluate(
            "[...document.scripts].filter((one) => !one.type).map((one) => one.src)"
        )
        assert all(source.startswith(hostile.address + "assets/") for source in scripts), path
        assert opened.troubles == [], path
        assert [url for url in opened.requests if not url.startswith((hostile.address, "data:"))] == []
        if not path.endswith("nothing"):
            assert "window.harmed" in opened.page.inner_text("main"), path
        opened.page.set_viewport_size({"width": PHONE[0], "height": PHONE[1]})
        opened.page.evaluate("document.querySelectorAll('details').forEach((one) => { one.open = true; })")
        assert overflow(opened) <= 0, path


def test_an_injected_script_would_not_run(explorer: Explorer, open_page: Open) -> None:
    opened = open_page(explorer.address + "sql")
    outcome = opened.page.evaluate(
        """async () => {
          const script = document.createElement('script');
          script.textContent = "window.harmed = 'inserted'";
          document.body.append(script);
          const fetched = await fetch('https://example.org/').then(() => 'fetched', () => 'refused');
          return [window.harmed ?? null, fetched];
        }"""
    )
    assert outcome == [None, "refused"]


def test_a_phone_needs_no_pushing_sideways(explorer: Explorer, open_page: Open) -> None:
    for path in paths(explorer):
        opened = open_page(explorer.address.rstrip("/") + path, *PHONE)
        assert overflow(opened) <= 0, path


def test_pairs_are_stepped_through_by_keys(explorer: Explorer, open_page: Open) -> None:
    page = open_page(explorer.address + "pairs").page
    said = page.locator("[role=status] >> text=Pair")
    for key, place in (("j", 2), ("j", 3), ("k", 2), ("ArrowRight", 3), ("ArrowLeft", 2)):
        page.keyboard.press(key)
        page.wait_for_url(f"**place={place}*", timeout=SETTLED)
        assert said.inner_text().startswith(f"Pair {place} of")
    # Letters also choose an entry of a list.
    page.get_by_label("Attribute").focus()
    page.keyboard.press("j")
    page.wait_for_timeout(300)
    assert "place=2" in page.url


def test_every_page_can_be_walked_by_keyboard(explorer: Explorer, open_page: Open) -> None:
    page = open_page(explorer.address + "findings").page
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.className") == "skip"
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.id") == "main"
    for _ in range(25):
        page.keyboard.press("Tab")
        assert page.evaluate("getComputedStyle(document.activeElement).outlineStyle") != "none"
    page.locator("select[name=measure]").select_option("word_divergence")
    page.wait_for_url("**measure=word_divergence*", timeout=SETTLED)
    # The address holds only the filters that were set.
    assert page.url.endswith("/findings?measure=word_divergence")
    statement = open_page(explorer.address + "sql").page
    statement.locator("#sql").fill("select 42 as answer")
    statement.keyboard.press("Control+Enter")
    statement.get_by_role("cell", name="42").wait_for(timeout=SETTLED)


def test_without_scripts_everything_still_reads(explorer: Explorer, open_page: Open) -> None:
    page = open_page(explorer.address + "findings", java_script_enabled=False).page
    page.get_by_label("Search").fill("divergence")
    page.get_by_role("button", name="Filter").click()
    assert "q=divergence" in page.url
    page.locator("table.findings tbody a").first.click()
    assert "standard deviations above" in page.inner_text(
        "main"
    ) or "What chance alone gives" in page.inner_text("main")
    assert page.locator("mark").count() > 0


def test_two_builds_are_published_while_a_page_is_open(
    audited: Path, tmp_path: Path, open_page: Open
) -> None:
    copied(audited, tmp_path)

    def publish(build: str) -> None:
        """What `biasledger build` does last: a new file under another name, renamed."""
        new = tmp_path / "new.duckdb"
        shutil.copyfile(audited / "warehouse.duckdb", new)
        with duckdb.connect(str(new)) as connection:
            connection.execute("update publication.build set build_id = ?", [build])
            connection.execute(
                "update marts.fct_findings set explanation = ?, statement = null", [f"as of {build}"]
            )
        new.replace(tmp_path / "warehouse.duckdb")

    with serving(tmp_path) as running:
        page = open_page(running.address + "findings").page
        for build in ("second", "third"):
            assert not page.locator("#newer").is_visible()
            publish(build)
            page.evaluate("dispatchEvent(new Event('focus'))")
            page.locator("#newer").wait_for(state="visible", timeout=SETTLED)
            assert "A newer build was published" in page.inner_text("#newer")
            assert f"as of {build}" not in page.inner_text("main")
            page.reload()
            assert f"as of {build}" in page.inner_text("main")
        # Pages that are read while a file takes the other's place are of one build or the other.
        for number in range(8):
            publish(f"build {number}")
            assert running.get("/findings").status_code == 200


def test_ten_thousand_findings_are_paged(large: Explorer, open_page: Open) -> None:
    page = open_page(large.address + "findings").page
    assert "10,000 findings of current runs" in page.inner_text("main")
    assert page.locator("table.findings tbody tr").count() == 50
    page.get_by_role("link", name="Next").click()
    page.wait_for_url("**first=50*", timeout=SETTLED)
    assert "51 to 100 of 10,000 findings" in page.inner_text("main")
    assert large.get("/findings.csv").text.count("\n") == 10_001
    matrices = open_page(large.address + "findings?view=matrices").page
    assert matrices.locator("details.matrix").count() == 12
    assert matrices.locator("details.matrix[open]").count() == 1
    assert "Showing the 12 of 20 audits and targets with most alarms" in matrices.inner_text("main")


@pytest.mark.parametrize("screen", [(1280, 900), PHONE])
def test_the_first_of_ten_thousand_findings_is_on_the_first_screen(
    large: Explorer, open_page: Open, screen: tuple[int, int]
) -> None:
    page = open_page(large.address + "findings", *screen).page
    box = page.locator("table.findings tbody tr").first.bounding_box()
    assert box is not None
    assert box["y"] + box["height"] < screen[1]
    for path in ("/findings", "/findings?view=matrices"):
        assert len(large.get(path).content) < 300_000


def test_a_mark_leads_to_its_finding_and_its_answers(explorer: Explorer, open_page: Open) -> None:
    sql = "select finding_id, group_name, value from marts.fct_findings where measure = 'word_divergence' and value > 0 limit 3"
    page = open_page(explorer.address.rstrip("/") + link("/sql", sql=sql, chart="dots", x="group_name")).page
    links = page.locator(".chart svg a")
    assert all(
        one.startswith("/finding/")
        for one in links.evaluate_all("(all) => all.map((one) => one.getAttribute('href'))")
    )
    links.first.click()
    page.wait_for_url("**/finding/*", timeout=SETTLED)
    page.get_by_role("link", name="Its answers").click()
    assert page.url.endswith("#answers")
    assert page.locator("#answers .answer").count() > 0


def test_findings_are_stepped_through_by_keys(explorer: Explorer, open_page: Open) -> None:
    page = open_page(explorer.address + "findings?status=alarm").page
    page.locator("table.findings tbody a").first.click()
    # A key pressed earlier would step through the list.
    page.locator(".pager", has_text="1 of ").wait_for(timeout=SETTLED)
    for key, place in (("j", 2), ("j", 3), ("k", 2)):
        page.keyboard.press(key)
        page.locator(".pager", has_text=f"{place} of ").wait_for(timeout=SETTLED)
    page.get_by_role("link", name="Findings", exact=True).last.click()
    page.wait_for_url("**/findings?status=alarm")
