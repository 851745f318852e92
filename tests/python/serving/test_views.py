"""Test the explorer's views against the tables, the ledger and the commands that show the same."""

from __future__ import annotations

import csv
import html
import io
import itertools
import json
import re
from pathlib import Path
from typing import Any

import duckdb
import pytest

from biasledger.comparing.changes import built_changes
from biasledger.explaining import explain_finding
from biasledger.explaining.output import judgement_lines
from biasledger.findings import read_findings
from biasledger.numbers import number, probability
from biasledger.reporting.drawing import svg
from biasledger.reporting.findings import FindingsTable, Line, findings_table
from biasledger.reporting.null import null_panel
from biasledger.reporting.picture import STATUS_TEXTS, prose, signed
from biasledger.reporting.source import open_warehouse
from biasledger.reporting.verdicts import in_words, technical
from biasledger.serving.asked import Asked, Served, link
from biasledger.serving.changed_words import changed
from biasledger.serving.pairs import page as pairs_page
from biasledger.serving.queries import page as queries_page
from biasledger.serving.queries import prepared
from tests.python.serving.conftest import Explorer


def text_of(page: str) -> str:
    """Return a page's text, without its tags and with single blanks."""
    return " ".join(html.unescape(re.sub(r"<[^>]+>", " ", page.partition("<main")[2])).split())


def table_of(answer: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(answer)))


def test_every_finding_has_the_same_numbers_everywhere(explorer: Explorer) -> None:
    with open_warehouse(explorer.warehouse) as source:
        ids = [run_id for (run_id,) in explorer.rows("select run_id from marts.dim_runs where is_current")]
        asked = source.ask("findings", run_ids=ids)
    assert asked is not None
    in_report = {
        finding["finding_id"]: (STATUS_TEXTS[line.status], line.value, line.threshold, line.interval, line.p)
        for finding, line in zip(asked.rows, all_lines(findings_table(asked.rows)), strict=True)
    }
    in_explorer = {}
    for first in range(0, len(in_report), 50):
        page = explorer.get(link("/findings", first=first)).text
        for row in re.findall(r'<tr><td><span class="status.*?</tr>', page):
            [finding_id] = re.findall(r'href="/finding/([0-9a-f]+)', row)
            status, _, value, threshold, interval, p, _ = re.findall(r"<td.*?</td>", row)
            in_explorer[finding_id] = tuple(
                html.unescape(re.sub(r"<[^>]+>", "", one)) for one in (status, value, threshold, interval, p)
            )
    assert in_explorer == in_report
    listed = {row.finding: row for row in read_findings(explorer.warehouse, runs=ids)}
    n_with_p = 0
    for finding in asked.rows:
        one = next(row for short, row in listed.items() if finding["finding_id"].startswith(short))
        in_terminal = (
            STATUS_TEXTS[one.status],
            *map(number, (one.value, one.threshold)),
            probability(one.p_value_adjusted),
        )
        status, value, threshold, interval, p = in_report[finding["finding_id"]]
        assert tuple(map(signed, in_terminal)) == (status, value, threshold, p)
        if "adjusted p " in finding["explanation"] and p != "–":
            assert re.search(rf"adjusted p (is )?{re.escape(p)}\b", finding["explanation"])
            n_with_p += 1
    assert n_with_p
    of_measures = {finding["measure"]: finding for finding in asked.rows if finding["value"] is not None}
    for finding in of_measures.values():
        told = explain_finding(finding["finding_id"], explorer.warehouse, explorer.ledger, 0)
        lines = {name: signed(text) for name, text in judgement_lines(told).items() if text}
        status, value, threshold, interval, p = in_report[finding["finding_id"]]
        assert re.match(rf"{re.escape(value)}(,| of )", lines["value"])
        assert lines["threshold"].startswith(f"{threshold} or ")
        assert lines["interval"] == ("none" if interval == "–" else f"{interval} (95 %)")
        assert p == "–" or f"; {p} adjusted" in lines["p"]
        shown = text_of(explorer.get(f"/finding/{finding['finding_id']}").text)
        assert f"interval {lines['interval']} clear" in shown


def all_lines(table: FindingsTable) -> list[Line]:
    """The lines of a table as the report's script unpacks them."""
    return [Line(*(table.packed["texts"][text] for text in row)) for row in table.packed["rows"]]


class TestFindings:
    def test_current_runs_are_shown_first_and_all_on_demand(self, explorer: Explorer) -> None:
        [(n, n_current)] = explorer.rows(
            "select count(*), count(*) filter (where is_current) from marts.fct_findings"
        )
        assert n > n_current
        assert f"{n_current} findings of current runs." in text_of(explorer.get("/").text)
        assert f"{n} findings." in text_of(explorer.get("/findings?runs=all").text)

    @pytest.mark.parametrize(
        ("column", "value"),
        [
            ("status", "alarm"),
            ("settled_by", "names"),
            ("min_units", "2"),
            ("is_excepted", "false"),
            ("subject", "music"),
        ],
    )
    def test_any_column_filters_page_and_download_alike(
        self, explorer: Explorer, column: str, value: str
    ) -> None:
        [(n,)] = explorer.rows(
            f"select count(*) from marts.fct_findings where is_current and cast({column} as varchar) = '{value}'"
        )
        asked = link("/findings", **{column: value})
        noun = "finding" if n == 1 else "findings"
        assert f"{n} {noun} of current runs" in text_of(explorer.get(asked).text)
        chosen = link("/findings", column=column, **{"is": value})
        assert f"{n} {noun} of current runs" in text_of(explorer.get(chosen).text)
        rows = table_of(explorer.get(asked.replace("/findings", "/findings.csv")).text)
        assert len(rows) == n
        assert {row[column] for row in rows} <= {value}

    def test_a_search_finds_all_of_its_words(self, explorer: Explorer) -> None:
        rows = table_of(explorer.get("/findings.csv?q=BLACK+words+divergence").text)
        assert rows
        assert {row["measure"] for row in rows} == {"word_divergence"}
        assert all("Black" in row["explanation"] for row in rows)
        assert "No matches." in text_of(explorer.get("/findings?q=race+zzz").text)

    def test_columns_sort_both_ways(self, explorer: Explorer) -> None:
        for more, reverse in (("", False), ("&desc=1", True)):
            rows = table_of(explorer.get(f"/findings.csv?sort=value{more}").text)
            values = [float(row["value"]) for row in rows if row["value"]]
            assert values == sorted(values, reverse=reverse)

    def test_a_filter_says_how_many_findings_each_choice_would_leave(self, explorer: Explorer) -> None:
        page = explorer.get("/findings?status=alarm&audit=products").text
        for column, name, shown in (
            ("audit", "rankings", ">rankings ({})<"),
            ("measure", "word_divergence", ">word_divergence ({})<"),
        ):
            others = "status = 'alarm'" + ("" if column == "audit" else " and audit = 'products'")
            [(n,)] = explorer.rows(
                f"select count(*) from marts.fct_findings where is_current and {column} = '{name}' and {others}"
            )
            assert n > 0
            assert shown.format(n) in page
        clear = explorer.rows(
            "select count(*) from marts.fct_findings where is_current and status = 'clear' and audit = 'products'"
        )[0][0]
        assert f"{clear} clear" in text_of(page)

    def test_findings_before_and_after_are_those_of_the_list(self, explorer: Explorer) -> None:
        asked = {"status": "inconclusive", "sort": "value"}
        ids = [row["finding_id"] for row in table_of(explorer.get(link("/findings.csv", **asked)).text)]
        for place in (0, 1, len(ids) - 1):
            page = explorer.get(link(f"/finding/{ids[place]}", **asked)).text
            assert f"{place + 1} of {len(ids)}" in text_of(page)
            for rel, other in (("prev", place - 1), ("next", place + 1)):
                found = re.findall(
                    rf'rel="{rel}" href="/finding/(\w+)\?status=inconclusive&amp;sort=value"', page
                )
                assert found == ([ids[other]] if 0 <= other < len(ids) else [])

    def test_an_unknown_column_is_said(self, explorer: Explorer) -> None:
        for asked in ("?sort=valu", "?column=valu&is=1"):
            wrong = explorer.get(f"/findings{asked}")
            assert wrong.status_code == 400
            assert "fct_findings has no column 'valu'; did you mean 'value'?" in text_of(wrong.text)

    def test_the_matrix_has_a_cell_for_each_group_and_measure(self, explorer: Explorer) -> None:
        page = explorer.get(
            "/findings?audit=products&target=simulator&mitigation=plain&attribute=race&view=matrices"
        ).text
        cells = re.findall(r'<a class="cell status-(\w+)" href="/finding/(\w+)">', page)
        found = explorer.rows(
            "select status, finding_id from marts.fct_findings where is_current and audit = 'products' and "
            "target = 'simulator' and mitigation = 'plain' and attribute = 'race'"
        )
        assert sorted(cells) == sorted(found)

    def test_cells_of_several_findings_show_the_gravest_and_lead_to_all(self, explorer: Explorer) -> None:
        page = explorer.get("/findings?audit=stereotypes&target=simulator&view=matrices").text
        cells = re.findall(
            r'<a class="cell status-\w+" href="(/findings\?[^"]+)">.*?(\d+)<span class="hidden"> findings',
            page,
        )
        assert cells
        for href, n in cells[:3]:
            assert f"{n} findings of current runs" in text_of(
                explorer.get(html.unescape(href).partition("#")[0]).text
            )

    def test_what_a_spreadsheet_would_run_is_neutralised(self, explorer: Explorer) -> None:
        sql = "select '=HYPERLINK(\"http://evil\")' as \"=name\", -1 as number, '@x' as other"
        answer = explorer.get("/sql.csv", params={"sql": sql})
        assert answer.text == '\'=name,number,other\n"\'=HYPERLINK(""http://evil"")",-1,\'@x\n'
        assert answer.headers["Content-Disposition"] == 'attachment; filename="biasledger-sql.csv"'
        [as_json] = json.loads(explorer.get("/sql.json", params={"sql": sql}).text)
        assert as_json == {"=name": '=HYPERLINK("http://evil")', "number": -1, "other": "@x"}


class TestFinding:
    def test_a_finding_of_every_measure_is_explained(self, explorer: Explorer) -> None:
        found = explorer.rows(
            "select measure, max(finding_id) from marts.fct_findings where value is not null group by 1 order by 1"
        )
        assert len(found) >= 20
        for measure, finding in found:
            page = explorer.get(f"/finding/{finding}?answers=1")
            assert page.status_code == 200, (measure, text_of(page.text)[:300])
            assert "How it was judged" in page.text
            if 'data-chart="null"' in page.text and 'id="answers"' in page.text:
                assert '<a tabindex="-1" href="#answers">' in page.text, measure

    def test_it_says_what_explain_says(self, explorer: Explorer) -> None:
        [(finding, reason)] = explorer.rows(
            """
            select finding_id, thresholds.reason
            from marts.fct_findings as findings
            inner join settings.thresholds as thresholds using (measure)
            where measure = 'marked_words' and status = 'alarm' and thresholds.audit = '*'
                and thresholds.attribute = '*' and findings.audit = 'products' and findings.group_name = 'Black'
                and findings.is_current and findings.mitigation = 'plain' and findings.target = 'simulator'
            limit 1
            """
        )
        page = explorer.get(f"/finding/{finding[:12]}")
        said = text_of(page.text)
        judged = explain_finding(finding, explorer.warehouse, explorer.ledger, 1).judgement.finding
        for sentence in (in_words(judged), technical(judged)):
            assert prose(sentence) in said
        assert reason[:80] in said
        assert "speaks for Black" in said
        assert "questions to each group" in said or "names" in said
        assert re.search(r'<mark class="first">\w+', page.text)
        rows = []
        for sql in re.findall(r"<pre[^>]*><code>(.*?)</code>", page.text, flags=re.DOTALL):
            answer = explorer.get("/sql.json", params={"sql": html.unescape(sql)})
            assert answer.status_code == 200, sql
            rows.append(answer.json())
        # A query without evidence has a table without rows.
        assert all(isinstance(one, list) for one in rows)
        assert any(rows)

    def test_the_null_is_drawn_on_the_scale_of_what_was_permuted(
        self, explorer: Explorer, audited: Path
    ) -> None:
        [(finding, null_mean, null_sd, raw)] = explorer.rows(
            """
            select finding_id, findings.null_mean, findings.null_sd, divergence.jsd_judged
            from marts.fct_findings as findings
            inner join marts.fct_word_divergence as divergence using (contrast_id, scheme)
            where measure = 'word_divergence' and status = 'alarm' and is_current
            limit 1
            """
        )
        assert '<svg class="wide"' in explorer.get(f"/finding/{finding}").text
        explained = explain_finding(finding, audited / "warehouse.duckdb", audited / "ledger.duckdb", 0)
        judgement = explained.judgement
        panel = null_panel(judgement.finding, judgement.measure, explained.evidence.observed)
        assert panel is not None
        area, observed, threshold = panel.spec["layer"]
        assert [row["at"] for row in observed["data"]["values"]] == [pytest.approx(raw)]
        # On another scale than the threshold's.
        assert threshold["data"]["values"] == []
        curve = panel.spec["data"]["values"]
        peak = max(curve, key=lambda row: row["density"])
        assert peak["at"] == pytest.approx(null_mean)
        assert area["mark"]["type"] == "area"
        # On a scale from 0.
        assert curve[0]["at"] == pytest.approx(max(null_mean - 4 * null_sd, 0.0), abs=null_sd / 15)

    def test_an_unknown_finding_is_said(self, explorer: Explorer) -> None:
        wrong = explorer.get("/finding/zzzz")
        assert wrong.status_code == 404
        assert "There is no finding 'zzzz'" in text_of(wrong.text)

    def test_without_a_ledger_the_rest_is_shown(self, explorer: Explorer, tmp_path: Any) -> None:
        from biasledger.serving import one_finding, pairs

        served = Served(explorer.warehouse, tmp_path / "ledger.duckdb")
        [(finding,)] = explorer.rows(
            "select max(finding_id) from marts.fct_findings where measure = 'rank_gap'"
        )
        shown = one_finding.page(served, Asked({"finding": finding}, "/finding/x"))
        assert "The answers themselves are missing" in shown["explained"].missing[0]
        assert shown["null"] is not None
        stepped = pairs.page(served, Asked({"by": "outcome"}, "/pairs"))
        assert stepped["missing"].startswith("The texts are missing: There is no ledger")


FINDING = {"value": 0.3, "null_mean": 0.0, "null_sd": 0.1, "threshold": 0.2, "measure": "rank_gap"}


class TestNull:
    def test_two_sided_thresholds_stand_on_both_sides(self) -> None:
        panel = null_panel(FINDING, {"side": "two-sided", "lowest": None, "highest": None}, None)
        assert panel is not None
        assert [row["at"] for row in panel.spec["layer"][2]["data"]["values"]] == [-0.2, 0.2]
        assert "3.0 standard deviations above" in panel.description

    def test_its_curve_has_no_tooltip_of_field_names(self) -> None:
        panel = null_panel(
            FINDING, {"side": "two-sided", "lowest": None, "highest": None}, None, address="#answers"
        )
        assert panel is not None
        drawn = svg(panel.spec, 300, "null")
        assert "#answers" in drawn
        assert "<title>" not in drawn

    @pytest.mark.parametrize(
        "changed", [{"value": None}, {"null_mean": None}, {"null_sd": None}, {"null_sd": 0.0}]
    )
    def test_without_a_spread_nothing_is_drawn(self, changed: dict[str, Any]) -> None:
        assert (
            null_panel({**FINDING, **changed}, {"side": "upper", "lowest": 0.0, "highest": 1.0}, None) is None
        )

    def test_the_curve_ends_where_the_scale_does(self) -> None:
        ratio = {**FINDING, "value": 0.345, "null_mean": 0.9, "null_sd": 0.08}
        panel = null_panel(ratio, {"side": "lower", "lowest": 0.0, "highest": 1.0}, None)
        assert panel is not None
        at = [row["at"] for row in panel.spec["data"]["values"]]
        assert 0.98 < max(at) <= 1
        assert min(at) == pytest.approx(0.9 - 4 * 0.08)


class TestPairs:
    def page(self, explorer: Explorer, **asked: str) -> Any:
        return pairs_page(Served(explorer.warehouse, explorer.ledger), Asked(asked, "/pairs"))

    @pytest.mark.parametrize(
        ("audit", "kind"),
        [
            ("resumes", "outcome"),
            ("restaurants", "price"),
            ("recommendations", "items"),
            ("products", "words"),
        ],
    )
    def test_the_same_case_of_two_groups_the_largest_gap_first(
        self, explorer: Explorer, audit: str, kind: str
    ) -> None:
        [(run,)] = explorer.rows(
            f"select max(run_id) from marts.dim_runs where audit = '{audit}' and target <> 'simulator-fair' and is_current"
        )
        shown = self.page(explorer, run=run, by=kind)
        assert shown["by"] == kind
        gaps = [pair.gap for pair in shown["pairs"]]
        assert gaps == sorted(gaps, reverse=True)
        assert gaps[0] > 0
        chosen, pair = shown["chosen"], shown["shown"].pair
        with duckdb.connect(str(explorer.ledger), read_only=True) as ledger:
            prompts = ledger.execute(
                """
                select prompt_id, template, subject, domain, list(group_name)
                from raw.prompts inner join raw.prompt_attributes using (run_id, prompt_id)
                where run_id = ? and prompt_id in (?, ?)
                group by all
                """,
                [run, pair.prompt_id, pair.other_prompt_id],
            ).fetchall()
        one, other = sorted(prompts, key=lambda row: row[0] != pair.prompt_id)
        assert one[1:4] == other[1:4]
        assert set(chosen["group"].split("*")) <= set(one[4])
        assert set(chosen["reference"].split("*")) <= set(other[4])

    def test_its_texts_are_the_ledger_s(self, explorer: Explorer) -> None:
        [(run,)] = explorer.rows(
            "select run_id from marts.dim_runs where audit = 'products' and target = 'simulator' and is_current"
        )
        shown = self.page(explorer, run=run, place="3")["shown"]
        with duckdb.connect(str(explorer.ledger), read_only=True) as ledger:
            for prompt_id, answer in zip(
                (shown.pair.prompt_id, shown.pair.other_prompt_id), shown.answers, strict=True
            ):
                [(text,)] = ledger.execute(
                    "select response_text from raw.responses "
                    "where run_id = ? and prompt_id = ? and trial = ?",
                    [run, prompt_id, shown.pair.trial],
                ).fetchall()
                assert "".join(part.text for part in answer.parts) == text

    def test_names_are_paired_before_answers_are_seen(self, explorer: Explorer) -> None:
        [(run,)] = explorer.rows(
            "select max(run_id) from marts.dim_runs where audit = 'resumes' and target = 'simulator'"
        )
        together: list[tuple[str, str]] = []
        for kind, place in itertools.product(("outcome", "words"), ("1", "61", "121")):
            found = self.page(explorer, run=run, by=kind, place=place)["pairs"]
            together += {(pair.prompt_id, pair.other_prompt_id) for pair in found}
        # Under every order, an answer is next to the same other answer.
        assert len(set(together)) < len(together)
        assert len({one for one, _ in together}) == len(set(together))

    def test_what_cannot_be_chosen_is_said(self, explorer: Explorer) -> None:
        for asked, said in (("run=none", "There is no run 'none'"), ("attribute=rac", "did you mean 'race'")):
            wrong = explorer.get(f"/pairs?{asked}")
            assert wrong.status_code == 400
            assert said in text_of(wrong.text)
        # A group of another attribute stays unpaired, and so does one that is compared with itself.
        [(run,)] = explorer.rows(
            "select run_id from marts.dim_runs where audit = 'products' and target = 'simulator' and is_current"
        )
        asked = link("/pairs", run=run, attribute="gender", group="Black", reference="Black")
        assert explorer.get(asked).status_code == 200

    @pytest.mark.parametrize(("audit", "kind"), [("resumes", "outcome"), ("products", "words")])
    def test_what_is_cut_off_is_the_smallest_gaps_and_is_said(
        self, explorer: Explorer, monkeypatch: pytest.MonkeyPatch, audit: str, kind: str
    ) -> None:
        [(run,)] = explorer.rows(
            f"select run_id from marts.dim_runs where audit = '{audit}' and target = 'simulator' and is_current"
        )
        every = self.page(explorer, run=run, by=kind)
        monkeypatch.setattr("biasledger.serving.pairs.PAIRS_AT_MOST", 5)
        cut = self.page(explorer, run=run, by=kind)
        assert cut["n"] == 5
        assert cut["n_all"] == every["n"] == every["n_all"]
        assert [pair.gap for pair in cut["pairs"]] == [pair.gap for pair in every["pairs"][:5]]
        said = text_of(explorer.get(link("/pairs", run=run, by=kind)).text)
        assert f"There are {every['n']:,} pairs; only the 5 with the largest gaps are listed." in said

    def test_a_place_of_thousands_of_digits_is_none(self) -> None:
        assert Asked({"place": "9" * 5_000}, "/pairs").whole("place", 1) == 1
        assert Asked({"place": "٣"}, "/pairs").whole("place", 1) == 3


class TestChangedWords:
    def test_what_one_side_alone_says_is_apart(self) -> None:
        found = changed("She likes tea, and cake.", "He likes coffee, and cake.")
        assert found is not None
        assert [part.text for part in found[0] if part.is_changed] == ["She", "tea"]
        assert [part.text for part in found[1] if part.is_changed] == ["He", "coffee"]
        assert "".join(part.text for part in found[0]) == "She likes tea, and cake."

    def test_a_blank_between_changed_words_is_no_gap(self) -> None:
        found = changed("one two three", "one four five")
        assert found is not None
        assert [part.text for part in found[0]] == ["one ", "two three"]

    @pytest.mark.parametrize(
        ("one", "other", "changes"),
        [
            ('{"lamp": "A good lamp.", "tent": "For hikes."}', '{\n"Tent": "For trips.",\n"lamp": "A good lamp."}',
             (["hikes"], ["trips"])),
            ('["a b", "c"]', '```json\n["c",\n"d"]\n```', (["a b"], ["d"])),
            ("1. Red\n2. Blue sky\n3. Green", "- green\n- *Red*\n- Pink", (["Blue sky"], ["Pink"])),
            ('[{"name": "Lamp", "why": "It lights."}, {"name": "Mug", "why": "It holds."}]',
             '[{"name": "Mug", "why": "It holds."}, {"name": "Tent", "why": "It keeps dry."}]',
             (["Lamp", "It lights."], ["Tent", "It keeps dry."])),
            ('{"lamp": "A good lamp.", "mug": "It holds."}', '{"mug": "It holds tea.", "tent": "It keeps dry."}',
             (["lamp", "A good lamp."], [" tea", "tent", "It keeps dry."])),
            ('{"places": [{"id": 1, "name": "Oak", "price": "$$", "categories": ["bars", "pizza"], "level": 2}]}',
             'Of these:\n{"places": [{"id": 2, "name": "oak", "price": "$$$", "categories": ["pizza"], "level": 3}]}',
             (["1", "bars", "2"], ["Of these:\n", "2", "$", "3"])),
            ('[{"name": "Mug"}, {"name": "Mug"}]', '[{"name": "Mug"}]', (["Mug"], [])),
        ],
    )  # fmt: skip
    def test_lists_are_compared_item_by_item(
        self, one: str, other: str, changes: tuple[list[str], list[str]]
    ) -> None:
        found = changed(one, other)
        assert found is not None
        assert tuple("".join(part.text for part in side) for side in found) == (one, other)
        assert tuple([part.text for part in side if part.is_changed] for side in found) == changes

    def test_texts_that_are_too_long_are_left_alone(self) -> None:
        assert changed("a " * 3_000, "b") is None


class TestCompare:
    def test_what_the_build_compared_is_said_as_it_was_judged(self, explorer: Explorer) -> None:
        for before, after, mitigation in explorer.rows(
            "select baseline_run_id, run_id, mitigation from marts.fct_run_pairs where incomparable_because is null"
        ):
            asked = link(
                "/compare", before=before, after=after, mitigation="" if mitigation == "plain" else mitigation
            )
            said = text_of(explorer.get(asked).text)
            changes = built_changes(explorer.warehouse, before, after, mitigation)
            assert changes.changes
            for verdict in {change.verdict for change in changes.changes}:
                n = sum(change.verdict == verdict for change in changes.changes)
                assert f"{n} {verdict.replace('_', ' ')}" in said
            drawn = [
                one
                for one in changes.changes
                if one.tolerance and one.interval_low is not None and one.interval_high is not None
            ]
            n_worse = sum(one.verdict == "worse" for one in drawn)
            if drawn:
                assert (
                    f"{n_worse} of {len(drawn)} got worse" if n_worse else "No measure is certainly worse"
                ) in said
            assert "Quality of the answers" in said

    def test_other_runs_are_shown_without_a_verdict(self, explorer: Explorer) -> None:
        runs = dict(
            explorer.rows("select target, run_id from marts.dim_runs where audit = 'rankings' and is_current")
        )
        said = text_of(
            explorer.get(link("/compare", before=runs["simulator"], after=runs["simulator-fair"])).text
        )
        assert "The last build did not compare these" in said
        assert "Gaps of decisions in both models" in said
        assert "Values in both runs" in said
        assert "simulator simulator-fair Difference 95 % interval" in said
        [(one, other)] = explorer.rows(
            f"""
            select one.value, other.value from marts.fct_findings as one
            inner join marts.fct_findings as other using (measure, attribute, group_name, reference_group, subject, scheme)
            where one.run_id = '{runs["simulator"]}' and other.run_id = '{runs["simulator-fair"]}'
                and measure = 'place_gap' and attribute = 'race'
            """
        )
        assert f"{abs(one):.3g} alarm {abs(other):.3g}" in said.replace("−", "")

    def test_the_earlier_run_comes_first_and_headings_say_which(self, explorer: Explorer) -> None:
        for before, after, mitigation in explorer.rows(
            "select baseline_run_id, run_id, mitigation from marts.fct_run_pairs where incomparable_because is null"
        ):
            swapped = {"before": after, "after": before}
            asked = swapped if mitigation == "plain" else {"after": after, "mitigation": mitigation}
            said = text_of(explorer.get(link("/compare", **asked)).text)
            if mitigation == "plain":
                assert "did not compare these" not in said
                assert f"From {before} to {after}" in said
                assert "Before After Worse by" in said
            else:
                assert f"Without With {mitigation.replace('_', ' ')} Worse by" in said

    @pytest.mark.parametrize(
        ("asked", "sentence"),
        [
            ("before=rankings-simulator-2&after=resumes-simulator-2", "runs of one audit can be compared"),
            ("before=rankings-simulator-2&after=rankings-simulator-2", "is named twice"),
            ("before=nothing&after=rankings-simulator-2", "There is no run 'nothing'"),
            (
                "after=rankings-simulator-2&mitigation=debiased",
                "was not asked under the mitigation 'debiased'",
            ),
        ],
    )
    def test_what_cannot_be_compared_is_said(self, explorer: Explorer, asked: str, sentence: str) -> None:
        wrong = explorer.get(f"/compare?{asked}")
        assert wrong.status_code == 400
        assert sentence in text_of(wrong.text)


class TestSql:
    def test_marks_of_the_reports_queries_lead_to_pages_of_findings(self, explorer: Explorer) -> None:
        [(run,)] = explorer.rows(
            "select max(run_id) from marts.dim_runs where is_current and audit = 'products'"
        )
        page = explorer.get(link("/sql", report="words_classifier_accuracy", run=run)).text
        assert re.search(r'<option value="group_name" selected>', page)
        led_to = set(re.findall(r'<a tabindex="-1" href="(/finding/[^"]+)">', page))
        assert len(led_to) > 3
        assert {explorer.get(address).status_code for address in led_to} == {200}

    def test_every_prepared_statement_runs(self, explorer: Explorer) -> None:
        assert {one.source for one in prepared()} == {"analysis", "report"}
        served, failed = Served(explorer.warehouse, explorer.ledger), {}
        for one in prepared():
            shown = queries_page(served, Asked({one.source: one.name}, "/sql"))
            if shown["error"]:
                failed[one.name] = shown["error"]
        # Tables of a method that no audit of the project has, and of texts, which are published by choice.
        assert {said.partition(":")[0] for said in failed.values()} <= {
            f"The warehouse has no table '{table}'"
            for table in (
                *("fct_text_similarity", "fct_text_gaps", "fct_text_answers", "fct_text_questions"),
                "responses",
            )
        }

    def test_descriptions_are_whole(self, explorer: Explorer) -> None:
        said = text_of(explorer.get("/sql").text)
        # Titles are cut after 120 characters: a question that was cut there would be missing.
        assert max(len(one.question) for one in prepared()) > 120
        assert [one.name for one in prepared() if " ".join(one.question.split()) not in said] == []

    def test_a_query_of_the_report_is_on_the_run_that_is_chosen(self, explorer: Explorer) -> None:
        runs = [run for (run,) in explorer.rows("select run_id from marts.dim_runs where audit = 'rankings'")]
        for run in runs[:2]:
            page = explorer.get(link("/sql", report="decisions_gaps", run=run)).text
            assert f"'{run}'" in html.unescape(page.partition("</textarea>")[0])

    def test_what_is_drawn_can_be_chosen(self, explorer: Explorer) -> None:
        sql = "select group_name, value, n_units from marts.fct_findings where value is not null"
        drawn = [
            explorer.get("/sql", params={"sql": sql, "chart": chart}).text for chart in ("dots", "points")
        ]
        assert all('<svg class="wide"' in page for page in drawn)
        assert len({page[page.index('<svg class="wide"') :] for page in drawn}) == 2
        assert '<svg class="wide"' not in explorer.get("/sql", params={"sql": "select 'a' as text"}).text
        assert "No rows" in explorer.get("/sql", params={"sql": "select 1 where false"}).text

    def test_an_unknown_prepared_statement_is_said(self, explorer: Explorer) -> None:
        assert "There is no analysis 'top_words'; did you mean" in text_of(
            explorer.get("/sql?analysis=top_words").text
        )
        assert "The report has no query 'word_scores'; did you mean 'words_scores'?" in text_of(
            explorer.get("/sql?report=word_scores").text
        )
