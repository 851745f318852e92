"""Test answers in several languages: words are not compared between languages, and groups without a refusal check are named."""

from __future__ import annotations

from biasledger.comparing.answer_notes import answer_notes
from biasledger.comparing.built_tables import open_tables
from biasledger.measures.declared import declared
from biasledger.reporting import render
from tests.python.end_to_end.planting.languages import N_REFUSED, N_SHORT, N_TEXTS
from tests.python.project import Project

GERMANY = "Germany are in German (88 %) and too short to tell (12 %)"
ICELAND = "Iceland are in Icelandic (83 %) and too short to tell (17 %)"


def test_languages_are_counted_by_group(odd: Project) -> None:
    """Short answers are counted without a language, and a refusal in English does not count as an answer."""
    rows = odd.rows(
        "select group_name, language, language_name, n, share, is_checked_for_refusals from marts.fct_answer_languages"
        " join marts.dim_runs using (run_id) where audit = 'travel' order by 1, 2"
    )
    n_known, n_icelandic = N_TEXTS - N_SHORT, N_TEXTS - N_REFUSED
    assert rows == [
        ("Austria", "", "too short to tell", N_SHORT, N_SHORT / N_TEXTS, None),
        ("Austria", "de", "German", n_known, n_known / N_TEXTS, True),
        ("Germany", "", "too short to tell", N_SHORT, N_SHORT / N_TEXTS, None),
        ("Germany", "de", "German", n_known, n_known / N_TEXTS, True),
        ("Iceland", "", "too short to tell", N_SHORT, N_SHORT / n_icelandic, None),
        ("Iceland", "is", "Icelandic", n_known - N_REFUSED, (n_known - N_REFUSED) / n_icelandic, False),
    ]


def test_words_are_not_compared_between_languages(odd: Project) -> None:
    message = f"answers about {ICELAND}, about {GERMANY.replace('are in', 'in')}"
    rows = odd.rows(
        "select measure, status, explanation, advice from marts.fct_findings"
        " where audit = 'travel' and group_name = 'Iceland' and measure <> 'answer_gap' order by 1"
    )
    # No text names an amount.
    assert {measure for measure, *_ in rows} == {
        one.name for method in ("texts", "words") for one in declared(method) if not one.only_where_found
    }
    for _, status, explanation, advice in rows:
        assert status == "insufficient_data"
        assert explanation == f"Not judged: {message}, so that words differ with the language."
        assert advice.startswith("Compare answers in one language:")


def test_one_language_for_all_or_the_same_two_are_compared(odd: Project) -> None:
    rows = odd.rows(
        "select distinct audit, group_name from marts.fct_findings where audit like 'travel%'"
        " and explanation like '%differ with the language%'"
    )
    assert rows == [("travel", "Iceland")]
    rows = odd.rows(
        "select audit, group_name, largest_difference, is_different, languages is null from marts.fct_language_gaps"
        " join marts.dim_runs using (run_id) where audit like 'travel%' order by 1, 2"
    )
    assert [row[:2] + row[3:] for row in rows] == [
        ("travel", "(all)", True, False),
        ("travel", "Austria", False, True),
        ("travel", "Iceland", True, False),
        ("travel_bilingual", "(all)", False, True),
        ("travel_bilingual", "Iceland", False, True),
    ]
    assert [row[2] for row in rows if row[1] == "Austria"] == [0.0]


def test_one_answer_decides_no_language(odd: Project) -> None:
    """29 of 30 answers about men are too short to detect a language and one is in German; those about women are in English."""
    assert odd.rows(
        "select group_name, language, n from marts.fct_answer_languages join marts.dim_runs using (run_id)"
        " where audit = 'one_german' order by 1, 2"
    ) == [("man", "", 29), ("man", "de", 1), ("woman", "en", 30)]
    assert odd.rows(
        "select count(*), count(*) filter (where contains(explanation, 'differ with the language')) from marts.fct_findings"
        " where audit = 'one_german' and group_name = 'woman'"
    )[0][1:] == (0,)


def test_who_was_not_checked_for_refusals_is_said_of_the_gap(odd: Project) -> None:
    message = (
        "not checked for refusals, because no refusal patterns exist for the language: "
        "15 of 18 answers about Iceland (Icelandic)"
    )
    rows = odd.rows(
        "select distinct group_name, caution, contains(explanation, substr(caution, 2)) from marts.fct_findings"
        " where audit = 'travel' and measure = 'answer_gap'"
    )
    assert rows == [("Iceland", message, True)]


def test_build_and_report_say_it(odd: Project) -> None:
    with open_tables(odd.warehouse) as tables:
        notes = [note for note in answer_notes(tables) if "travel" in note]
    languages, unchecked = notes
    assert languages.startswith(
        f"travel, target travel: answers about {GERMANY}, about {ICELAND.replace('are in', 'in')}. Words are not"
    )
    assert unchecked.startswith(
        "WARNING: travel, target travel: answers were not checked for refusals, because no refusal patterns exist for their "
        "language: 15 of 18 about Iceland (Icelandic). A refusal among them counts as an answer"
    )
    ((run,),) = odd.rows("select run_id from marts.dim_runs where audit = 'travel'")
    page = render(odd.warehouse, [run])
    assert "Languages of the answers" in page
    assert f"Answers about {ICELAND}, about Germany in German" in page
    assert "Refusals are not recognised in Icelandic" in page


def test_labels_have_no_language(odd: Project) -> None:
    assert odd.rows(
        "select count(*) from marts.fct_answer_languages join marts.dim_runs using (run_id) where audit = 'bias_read'"
    ) == [(0,)]
