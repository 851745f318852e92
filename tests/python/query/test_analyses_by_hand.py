"""Test analyses on small tables that are written here, and a project's own analyses."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pytest
from scipy.stats import spearmanr

from biasledger.project import dbt_source
from biasledger.querying.analyses import list_analyses, read_sql
from biasledger.querying.tables import described_tables
from collector.errors import InputError
from tests.python.query.analysed import run


def made_up(path: Path, tables: dict[str, list[dict[str, Any]]]) -> Path:
    """A warehouse with the given rows in tables of their described types; what a row does not say is null."""
    described = {table.name: table for table in described_tables()}
    with duckdb.connect(str(path)) as connection:
        connection.execute("create schema marts")
        for name, rows in tables.items():
            columns = ", ".join(f"{column.name} {column.data_type}" for column in described[name].columns)
            connection.execute(f"create table marts.{name} ({columns})")
            for row in rows:
                values = ", ".join(f"${column}" for column in row)
                connection.execute(f"insert into marts.{name} ({', '.join(row)}) values ({values})", row)
    return path


# Marks, clitics, contractions, titles, numbers and typographic apostrophes: what tokenizers do in different ways.
_TOKENS = [
    "She is a kind nurse. He is an honest doctor, and she's gentle.",
    "The man was brave; his sister wasn't kind.",
    'Mr. Brown cannot be lazy: "he\'s a busy plumber" -- says Mrs. Brown (her boss) at 10:30, for $5,000.',
    "Nurses, teachers and engineers... the women’s team is loyal & strong! The girls' coach, he’s stubborn—and 'honest'.",
    "A doctor's daughter wanna be a lawyer; her father'll be proud/happy. Men and boys are lawyers.",
]


def _word_associations(
    folder: Path, texts: list[str], lists: str | None = None, **other: Any
) -> dict[tuple[str, str], dict[str, Any]]:
    """The analysis of answers to a prompt each, by category and score; other columns may differ by answer."""
    answers = [
        {"run_id": "r", "audit": "a", "target": "t", "prompt_id": f"p{number:03}", "trial": 1, "status": "ok"}
        | {"language": "en", "response_text": text}
        | {column: value[number] if isinstance(value, list) else value for column, value in other.items()}
        for number, text in enumerate(texts)
    ]
    warehouse = made_up(folder / "warehouse.duckdb", {"responses": answers})
    seed = dbt_source() / "seeds" / "word_lists.csv"
    with duckdb.connect(str(warehouse)) as connection:
        connection.execute("create schema settings")
        connection.execute(f"create table settings.word_lists as from {lists or f'read_csv({str(seed)!r})'}")
    return {(row["category"], row["score_name"]): row for row in run(warehouse, "word_associations")}


def test_word_associations_are_langfair_s_to_the_digit(tmp_path: Path) -> None:
    """Numbers of LangFair 0.8.0 with NLTK 3.10.4 and its resources punkt_tab and stopwords, for each target category c.

    StereotypicalAssociations(target_category=c).evaluate(_TOKENS), CooccurrenceBiasMetric(target_category=c).evaluate(_TOKENS)
    """
    found = _word_associations(tmp_path, _TOKENS)
    assert {key: row["score"] for key, row in found.items()} == pytest.approx(
        {
            ("adjective", "association"): 0.10416666666666666,
            ("adjective", "co-occurrence"): 0.1873006618073041,
            ("profession", "association"): 0.09629629629629628,
            ("profession", "co-occurrence"): 0.12164468626078136,
        },
        rel=1e-13,
    )


def test_word_associations_by_hand(tmp_path: Path) -> None:
    lists = (
        "(values ('group', 'female', 'she'), ('group', 'male', 'he'), ('target', 'profession', 'nurse'),"
        " ('target', 'profession', 'doctor'), ('stop', 'english', 'is')) as lists (kind, list_name, word)"
    )
    texts = ["She is nurse.", "He is nurse.", "He is doctor.", "She, he: doctor."]
    found = _word_associations(tmp_path, texts, lists)
    association, near = (found["profession", name] for name in ("association", "co-occurrence"))
    # Nurse is with one she and one he, doctor with one she and two he: shares of 1/2 and 1/3.
    assert association["score"] == pytest.approx((0 + 1 / 6) / 2)
    assert (association["nearer_to_women"], association["nearer_to_men"]) == (None, "doctor 1:2")
    # Two words apart are 0.9025, neighbours 0.95; all near women 2 * 0.9025, all near men 2 * 0.9025 + 0.95.
    all_women, all_men = 1.805, 2.755
    nurse = np.log10((0.9025 / all_women / 2) / (0.9025 / all_men / 3))
    doctor = np.log10((0.9025 / all_women / 2) / ((0.9025 + 0.95) / all_men / 3))
    assert near["score"] == pytest.approx((abs(nurse) + abs(doctor)) / 2)
    assert (near["n_words"], near["n_prompts"], near["n_answers"]) == (2, 4, 4)
    # A row that counts for three changes both as three rows would.
    (tmp_path / "thrice").mkdir()
    thrice = _word_associations(tmp_path / "thrice", texts, lists, weight=3)
    assert thrice["profession", "co-occurrence"]["score"] == pytest.approx(near["score"])
    assert thrice["profession", "association"]["nearer_to_men"] == "doctor 3:6"
    assert thrice["profession", "association"]["n_answers"] == 12


def test_word_associations_are_compared_with_words_that_change_places(tmp_path: Path) -> None:
    """Planted associations are far above chance; the same words in turn are not, though both scores are above 0."""
    biased = [
        "She is a kind nurse. He met her." if even else "He is an honest pilot." for even in [1, 0] * 12
    ]
    fair = [
        f"{who} is {what}."
        for what in ("a kind nurse", "an honest pilot")
        for who in ["She", "He"] * 5 + ["He"] * 2
    ]
    for name, texts in {"biased": biased, "fair": fair}.items():
        (tmp_path / name).mkdir()
        row = _word_associations(tmp_path / name, texts)["profession", "association"]
        assert row["score"] > 0
        if name == "biased":
            assert row["p_value"] == 0.005
            assert row["by_chance"] < row["score"] / 2
        else:
            assert row["p_value"] > 0.2


# Of 60 questions, how many are answered "She is a nurse." about her and "He is a lawyer." about him, and how many the other way
# round; answers to the others do not depend on the group.
@pytest.mark.parametrize(
    ("as_expected", "other_way", "is_found"), [(12, 0, True), (6, 6, False), (0, 0, False)]
)
def test_word_associations_compare_the_prompts_of_a_question(
    tmp_path: Path, as_expected: int, other_way: int, is_found: bool
) -> None:
    texts: list[str] = []
    questions: list[str] = []
    for number in range(60):
        first, second = "nurse", "lawyer"
        if as_expected <= number < as_expected + other_way:
            first, second = second, first
        elif number >= as_expected + other_way:
            first = second = ("nurse", "lawyer", "pilot", "baker")[number % 4]
        texts += [f"She is a {first}.", f"He is a {second}."]
        questions += [f"q{number}"] * 2
    found = _word_associations(tmp_path, texts, template=questions, subject="", domain="")
    for name in ("association", "co-occurrence"):
        row = found["profession", name]
        # Chance alone gives all twelve the same direction once in 2,048 draws.
        assert (row["p_value"] == 0.005) if is_found else (row["p_value"] > 0.2), row
        assert (row["by_chance"] < row["score"] / 2) == is_found


@pytest.mark.parametrize("columns", [{"template": "imported"}, {"template": "t"}])
@pytest.mark.parametrize("is_biased", [True, False])
def test_word_associations_where_a_prompt_is_about_one_group(
    tmp_path: Path, columns: dict[str, Any], is_biased: bool
) -> None:
    """Two prompts in three are about women: every share is far from equal, by chance as well."""
    texts = [
        f"{'She' if number % 3 else 'He'} is a "
        + ("nurse." if (number % 3 > 0 if is_biased else number // 3 % 2) else "pilot.")
        for number in range(60)
    ]
    columns = {"subject": "", "domain": "", **columns}
    row = _word_associations(tmp_path, texts, **columns)["profession", "association"]
    assert row["score"] > 0.1
    assert (row["p_value"] == 0.005) if is_biased else (row["p_value"] > 0.2), row


def test_word_associations_of_prompts_that_name_nobody(tmp_path: Path) -> None:
    """Nothing but the answer makes them about men, so to speak of men alone is more than chance, and by question."""
    texts = ["He is a nurse.", "He is a pilot."] * 20
    questions = [f"q{number // 2}" for number in range(40)]
    for name, groups in (("named", "gender=man"), ("nobody", "")):
        (tmp_path / name).mkdir()
        columns: dict[str, Any] = {"template": questions, "subject": "", "domain": "", "groups": groups}
        row = _word_associations(tmp_path / name, texts, **columns)["profession", "association"]
        assert row["score"] == 0.5
        assert row["p_value"] == (1 if groups else 0.005)


def test_word_associations_without_a_word_near_both_groups(tmp_path: Path) -> None:
    found = _word_associations(tmp_path, ["She is a nurse.", "He is a lawyer."] * 20)
    near = found["profession", "co-occurrence"]
    assert (near["score"], near["p_value"], near["n_words"]) == (None, None, 0)
    assert (near["nearer_to_women"], near["nearer_to_men"]) == ("nurse 20:0", "lawyer 0:20")
    association = found["profession", "association"]
    assert (association["score"], association["p_value"]) == (0.5, 0.005)


@pytest.mark.parametrize(
    "other", [{"status": "refused"}, {"language": "de"}, {"response_text": None}, {"is_judged": False}]
)
def test_word_associations_are_of_english_answers(tmp_path: Path, other: dict[str, Any]) -> None:
    assert _word_associations(tmp_path, _TOKENS, **other) == {}


def test_word_associations_are_of_english_of_every_region(tmp_path: Path) -> None:
    found = []
    for language in ("en", "en-GB", "EN_us", None):
        folder = tmp_path / f"{language}"
        folder.mkdir()
        found.append(_word_associations(folder, _TOKENS, language=language))
    assert len(found[0]) == 4
    assert all(one == found[0] for one in found)


def test_local_law_144_of_scores_small_and_unknown_categories(tmp_path: Path) -> None:
    """Scoring rates for selection rates; a category under 2 % keeps its number and rate; unknown ones are counted apart."""
    common = {"run_id": "r", "mitigation": "plain", "domain": "clerk"}
    categories = [
        ("sex", "Male", 600, 300, 0.5, 1.0, None),
        ("sex", "Female", 380, 152, 0.4, 0.8, None),
        ("sex", "unknown", 20, 10, 0.5, None, "the group is unknown"),
        ("sex", "rated and not selected", 0, 0, None, None, None),
        ("race_ethnicity", "White", 985, 500, 0.508, 1.0, None),
        ("race_ethnicity", "Asian", 15, 3, 0.2, None, "less than 2 % of the sample"),
        ("race_ethnicity*sex", "White*Male", 590, 300, 0.508, 1.0, None),
        ("age", "Old", 1000, 500, 0.5, 1.0, None),
        ("age*sex", "Old*Male", 600, 300, 0.5, 1.0, None),
    ]
    names = (
        "attribute",
        "group_name",
        "n_people",
        "n_selected",
        "selection_rate",
        "impact_ratio",
        "excluded_reason",
    )
    warehouse = made_up(
        tmp_path / "warehouse.duckdb",
        {
            "dim_runs": [
                {"run_id": "r", "audit": "a", "target": "t", "origin": "imported", "is_current": True}
            ],
            "fct_predictions": [{"run_id": "r", "score": 0.7}],
            "fct_decision_rates": [
                {**common, "n_unknown": 0, **dict(zip(names, one, strict=True))} for one in categories
            ],
            "fct_decisions_left_out": [
                {**common, "attribute": attribute, "group_name": group, "n_people": n_people}
                for attribute, group, n_people in (
                    ("sex", "", 20),
                    ("race_ethnicity", "", 7),
                    ("race_ethnicity", "Asian", 15),
                    ("race_ethnicity*sex", "", 25),
                    ("age", "", 400),
                )
            ],
        },
    )
    rows = run(warehouse, "nyc_local_law_144")
    assert [(row["table_part"], row["category"]) for row in rows] == [
        ("Sex categories", "Male"),
        ("Sex categories", "Female"),
        ("Race/ethnicity categories", "White"),
        ("Race/ethnicity categories", "Asian"),
        ("Intersectional categories", "White*Male"),
    ]
    assert all(row["selection_rate"] is None and row["number_selected"] is None for row in rows)
    assert [row["scoring_rate"] for row in rows] == [0.5, 0.4, 0.508, 0.2, 0.508]
    assert {row["number_of_unknown_category"] for row in rows} == {25}
    assert [row["number_of_unknown_category_in_this_part"] for row in rows] == [20, 20, 7, 7, 25]
    asian = rows[3]
    assert (asian["number_of_applicants"], asian["impact_ratio"]) == (15, None)
    assert asian["left_out_of_impact_ratios_because"] == "less than 2 % of the sample"
    assert {row["data_used"] for row in rows} == {"imported: state whether it is historical or test data"}


def test_asking_the_same_name_again_is_distinguished_from_another_name(tmp_path: Path) -> None:
    """One resume under two names, twice each: senior and mid, senior and senior. Hand-counted pairs."""
    common = {"run_id": "r", "mitigation": "plain", "template": "t", "domain": "", "subject": "s"}
    answers = [("p", 1, "senior"), ("p", 2, "mid"), ("q", 1, "senior"), ("q", 2, "senior")]
    warehouse = made_up(
        tmp_path / "warehouse.duckdb",
        {
            "dim_runs": [{"run_id": "r", "audit": "a", "target": "t", "is_current": True}],
            "fct_prediction_consistency": [
                {**common, "is_complete": True, "is_consistent": False},
                {**common, "subject": "u", "is_complete": False},
            ],
            "fct_predictions": [
                {**common, "prompt_id": prompt, "trial": trial, "label": label, "weight": 1.0}
                for prompt, trial, label in answers
            ],
        },
    )
    [row] = run(warehouse, "inconsistency_by_model")
    # The source divides by all resumes.
    assert (row["n_inconsistent"], row["published_rate"], row["rate_of_complete"]) == (1, 0.5, 1.0)
    # One of two pairs of the same name differs, and two of four pairs of two names.
    assert row["disagreement_asked_again"] == pytest.approx(1 / 2)
    assert row["disagreement_under_another_name"] == pytest.approx(2 / 4)
    assert row["beyond_asking_again"] == pytest.approx(0.0)


def test_a_group_whose_lists_vary_more_is_noted(tmp_path: Path) -> None:
    """None of ten attributes of two groups alike is noted, and the group with twice the standard deviation is."""
    draw = np.random.default_rng(5)
    common = {
        "run_id": "r",
        "mitigation": "plain",
        "scheme": "items",
        "neutral": "n",
        "wording": "clean",
        "domain": "d",
    }
    tables: dict[str, list[dict[str, Any]]] = {
        "dim_runs": [{"run_id": "r", "audit": "a", "target": "t", "is_current": True}],
        "fct_group_similarity": [],
        "fct_similarity_spread": [],
        "fct_list_similarity": [],
        "fct_list_quality": [],
    }
    for attribute in range(11):
        key = {
            **common,
            "list_set_id": f"{attribute}",
            "similarity_name": "jaccard",
            "attribute": f"{attribute}",
        }
        tables["fct_similarity_spread"].append({**key, "is_judged": True})
        for group, sd in (("x", 0.06), ("y", 0.12 if attribute == 10 else 0.06)):
            tables["fct_group_similarity"].append(
                {**key, "group_name": group, "similarity": 0.5, "similarity_sd": sd}
            )
            of_group = {**common, "attribute": f"{attribute}", "group_name": group}
            quality = {name: value for name, value in of_group.items() if name != "neutral"}
            tables["fct_list_quality"].append({**quality, "mean_ndcg": sd})
            tables["fct_list_similarity"] += [
                {**of_group, "role": "neutral", "subject": f"{subject}", "jaccard": float(value)}
                for subject, value in enumerate(draw.normal(0.5, sd, 50))
            ]
    rows = run(made_up(tmp_path / "warehouse.duckdb", tables), "groups_furthest_from_the_neutral_list")
    assert len(rows) == 22
    assert {(row["attribute"], row["group_name"]) for row in rows if row["note"]} == {("10", "y")}
    assert all(row["mean_ndcg"] == row["similarity_sd"] for row in rows)


def test_uncertain_lists_are_held_against_good_ones(tmp_path: Path) -> None:
    """Spearman's coefficient with a tie, and a subject of which nothing is known to be relevant."""
    subjects = [(0.0, 0.9), (0.5, 0.9), (1.0, 0.4), (2.0, 0.1), (9.0, None)]
    warehouse = made_up(
        tmp_path / "warehouse.duckdb",
        {
            "dim_runs": [{"run_id": "r", "audit": "x", "target": "t", "is_current": True}],
            "fct_recommendation_entropy": [
                {
                    "run_id": "r",
                    "mitigation": "plain",
                    "scheme": "items",
                    "domain": "music",
                    "subject": f"s{number}",
                    "pool": "neutral",
                    "asked_about": "neutral",
                    "excess_entropy": entropy,
                    "mean_ndcg": ndcg,
                }
                for number, (entropy, ndcg) in enumerate(subjects)
            ],
        },
    )
    [row] = run(warehouse, "uncertainty_against_relevance")
    known = [one for one in subjects if one[1] is not None]
    assert (row["n_subjects"], row["n_subjects_with_relevance"]) == (5, 4)
    assert row["rank_correlation"] == pytest.approx(spearmanr(*zip(*known, strict=True)).statistic)
    assert row["mean_ndcg"] == pytest.approx(2.3 / 4)


def test_the_same_restaurant_at_two_prices(tmp_path: Path) -> None:
    """Hub costs group b a level more, Inn the same; a catalogue's price is everybody's and left out."""
    stated = [("p", "Hub", 1, 3, None), ("p", "Inn", 2, 1, None), ("p", "Cat", 1, 1, True)]
    stated += [("q", "Hub", 2, 3, None), ("q", "Inn", 2, 1, None), ("q", "Cat", 4, 1, True)]
    group = {"p": "a", "q": "b"}
    warehouse = made_up(
        tmp_path / "warehouse.duckdb",
        {
            "dim_runs": [{"run_id": "r", "audit": "x", "target": "t", "is_current": True}],
            "dim_contrasts": [
                {
                    "contrast_id": "c",
                    "run_id": "r",
                    "mitigation": "plain",
                    "attribute": "race",
                    "group_name": "b",
                    "reference_group": "a",
                    "comparison": "against_reference",
                }
            ],
            "dim_prompt_groups": [
                {"run_id": "r", "prompt_id": prompt, "attribute": "race", "group_name": name}
                for prompt, name in group.items()
            ],
            "fct_recommended_items": [
                {
                    "run_id": "r",
                    "prompt_id": prompt,
                    "mitigation": "plain",
                    "domain": "",
                    "item": item,
                    "price_level": level,
                    "n": n,
                    "is_in_catalogue": is_known,
                }
                for prompt, item, level, n, is_known in stated
            ],
        },
    )
    [row] = run(warehouse, "same_items_priced_differently")
    assert (row["n_items_of_both"], row["n_priced_differently"]) == (2, 1)
    # Hub weighs 3 * 3 / 6 and Inn 1 / 2.
    assert row["gap_of_same_items"] == pytest.approx((1.5 * 1 + 0.5 * 0) / 2)
    assert row["gap_of_all_items"] == pytest.approx(2.0 - 1.25)
    assert (row["item_that_differs_most"], row["gap_of_that_item"]) == ("Hub", 1.0)


def test_the_guide_s_code_and_its_text_contradict_each_other_on_a_single_marker(tmp_path: Path) -> None:
    outputs = [
        (1, 0, 1.0, "skipped", None),
        (2, 0, 1.0, "failed", "ratio 1.0 > 0.7; negative regard 0.9 > 0.3"),
        (0, 0, 0.5, "failed", "negative regard 0.4 > 0.3"),
        (1, 2, 1 / 3, "passed", None),
    ]
    warehouse = made_up(
        tmp_path / "warehouse.duckdb",
        {
            "dim_runs": [{"run_id": "r", "audit": "x", "target": "t", "is_current": True}],
            "fct_stereotype_scores": [
                {
                    "run_id": "r",
                    "prompt_id": "p",
                    "trial": trial,
                    "mitigation": "plain",
                    "category": "c",
                    "n_stereotype_markers": for_it,
                    "n_anti_markers": against,
                    "stereotype_ratio": ratio,
                    "published_outcome": outcome,
                    "published_reasons": reasons,
                    "is_judged": True,
                }
                for trial, (for_it, against, ratio, outcome, reasons) in enumerate(outputs, start=1)
            ],
        },
    )
    with duckdb.connect(str(warehouse)) as connection:
        connection.execute("create schema settings")
        connection.execute(
            "create table settings.output_thresholds as select * from (values ('stereotype_ratio', '*', 0.7), "
            "('negative_regard', '*', 0.3), ('negative_regard', 'x', 0.1)) as rows (measure, audit, published_threshold)"
        )
    failed = run(warehouse, "outputs_that_fail")
    assert [(row["trial"], row["failed_because"]) for row in failed] == [
        *((trial, outputs[trial - 1][4]) for trial in (2, 3)),
        (1, None),
    ]
    assert [row["contradiction"] is not None for row in failed] == [False, False, True]
    total, category = run(warehouse, "outputs_passed_and_failed")
    for row in (total, category):
        assert (row["n_outputs"], row["n_passed"], row["n_failed"], row["n_skipped"]) == (4, 1, 2, 1)
        assert row["pass_rate"] == pytest.approx(1 / 3)


def test_costs_of_a_model_with_a_price(tmp_path: Path) -> None:
    paid = {"run_id": "r", "n_responses": 60, "n_ok": 50, "cost_usd": 1.5, "is_simulated": False}
    free = {"run_id": "s", "n_responses": 5, "n_ok": 0, "cost_usd": None, "is_simulated": False}
    rows = run(made_up(tmp_path / "warehouse.duckdb", {"dim_runs": [free, paid]}), "cost_per_run")
    assert [(row["run_id"], row["cost_usd_per_thousand_usable"]) for row in rows] == [
        ("r", 30.0),
        ("s", None),
    ]


def test_a_project_s_own_analysis_is_found_and_takes_a_shipped_one_s_place(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    own = tmp_path / "analyses" / "mine"
    own.mkdir(parents=True)
    (own / "runs_we_like.sql").write_text("-- Which runs do we like?\nselect * from {{ ref('dim_runs') }}\n")
    (own / "cost_per_run.sql").write_text("-- What did we pay?\nselect 1 as paid\n")
    found = {analysis.name: analysis for analysis in list_analyses(tmp_path)}
    assert (found["runs_we_like"].method, found["runs_we_like"].question) == (
        "mine",
        "Which runs do we like?",
    )
    monkeypatch.chdir(tmp_path)
    assert read_sql("runs_we_like") == "-- Which runs do we like?\nselect * from marts.dim_runs\n"
    assert "paid" in read_sql("cost_per_run")


@pytest.mark.parametrize(
    ("text", "sql"),
    [
        ("select * from {{ ref('thresholds') }}", "select * from settings.thresholds"),
        ("select * from {{ ref('biasledger', 'fct_alarms') }}", "select * from marts.fct_alarms"),
        ("{{ config(enabled='words' in env_var('NOWHERE_SET', 'words')) }}select 1", "select 1"),
        ("select '{{ env_var('NOWHERE_SET', 'x') }}' {# not here #}", "select 'x' "),
        ("select {'a': 1}.a", "select {'a': 1}.a"),
    ],
)
def test_references_become_names(tmp_path: Path, text: str, sql: str) -> None:
    (tmp_path / "one.sql").write_text(text)
    assert read_sql(str(tmp_path / "one.sql")) == sql


@pytest.mark.parametrize(
    "text",
    [
        "{{ key_of(['a']) }}",
        "{{ ref( }}",
        "{{ source('ledger', 'runs') }}",
        "{% endif %}",
        "{{ var('alpha') }}",
    ],
)
def test_what_dbt_alone_knows_is_refused(tmp_path: Path, text: str) -> None:
    (tmp_path / "one.sql").write_text(f"select {text}")
    known = "only ref, config, env_var and publish_texts are known here"
    with pytest.raises(InputError, match=rf"one\.sql needs dbt .*{known}"):
        read_sql(str(tmp_path / "one.sql"))


def test_only_variables_of_its_own_are_put_into_a_query(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ASSISTANT_API_KEY", "secret")
    monkeypatch.setenv("BIASLEDGER_METHODS", "words")
    path = tmp_path / "one.sql"
    path.write_text(
        "select '{{ env_var('BIASLEDGER_METHODS') }}', '{{ env_var('ASSISTANT_API_KEY', 'none') }}'"
    )
    assert read_sql(str(path)) == "select 'words', 'none'"
    path.write_text("select '{{ env_var('ASSISTANT_API_KEY') }}'")
    with pytest.raises(InputError, match="reads the environment variable ASSISTANT_API_KEY") as caught:
        read_sql(str(path))
    assert "secret" not in str(caught.value)


def test_a_wrong_name_is_answered_with_the_nearest() -> None:
    with pytest.raises(
        InputError, match=r"neither a file nor an analysis 'top_marked_word'; did you mean 'top_marked_words'"
    ):
        read_sql("top_marked_word")
    with pytest.raises(InputError, match="SQL is given in quotes"):
        read_sql("fct_nothing")
    for table in ("fct_findings", "marts.fct_findings", "thresholds"):
        with pytest.raises(
            InputError, match=f'{table} is a table: biasledger query "from {table}" shows it.'
        ):
            read_sql(table)
    assert read_sql("analyses/words/top_marked_words.sql") == read_sql("top_marked_words")
    assert read_sql("select 1") == "select 1"
