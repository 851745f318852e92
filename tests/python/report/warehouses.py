"""Warehouses for the report, written straight into a file: the tables are those of the models' contracts, the rows are made up.

A build of so many runs would take minutes; that the report reads what a real build writes is tested with the README's audit.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import yaml

ROOT = Path(__file__).parents[3]

# Hostile answers, words and names, which may end up in a page.
HOSTILE = (
    "<script>window.harmed = 'script'</script>",
    "</script><script>window.harmed = 'end'</script>",
    "<!--<script>",
    "<img src=x onerror=\"window.harmed = 'image'\">",
    "]]><svg onload=window.harmed='svg'>",
    "</title></style><iframe src=javascript:window.harmed='frame'>",
    "{{ 7 * 7 }}{% raw %}",
    "${7 * 7}",
    "datum.value; window.harmed = 'expression'",
    "'); window.harmed = 'quote'; ('",
    '"+(window.harmed="plus")+"',
    "line\u2028and\u2029paragraph",
    "\u202eright to left\u0000and control\u0007",
    "a.b[0]\\c\\'d",
    "x" * 2_000,
    "' or 1=1; drop table marts.fct_findings; --",
)


@cache
def contracts() -> Mapping[str, Sequence[tuple[str, str]]]:
    """Table -> its columns and types, of every public model."""
    tables = {}
    for path in sorted((ROOT / "models").rglob("_*.yml")):
        for model in yaml.safe_load(path.read_text(encoding="utf-8")).get("models") or []:
            if model["name"].startswith(("fct_", "dim_")) and model.get("columns"):
                tables[model["name"]] = [
                    (column["name"], column["data_type"])
                    for column in model["columns"]
                    if "data_type" in column
                ]
    return tables


@cache
def _empty() -> bytes:
    """A warehouse's file with every public table and no rows."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "warehouse.duckdb"
        with duckdb.connect(str(path)) as connection:
            connection.execute("create schema marts")
            for name, columns in contracts().items():
                described = ", ".join(f'"{column}" {kind}' for column, kind in columns)
                connection.execute(f"create table marts.{name} ({described})")
            connection.execute("create schema settings")
            for seed in ("thresholds", "mitigations"):
                connection.read_csv(str(ROOT / "seeds" / f"{seed}.csv")).create(f"settings.{seed}")
        return path.read_bytes()


def create(path: Path, tables: Mapping[str, Iterable[Mapping[str, Any]]]) -> Path:
    """Write a warehouse with every public table, and these rows in them; what a row leaves out but its contrast's id is null."""
    path.write_bytes(_empty())
    with duckdb.connect(str(path)) as connection:
        for name, rows in {"dim_measures": measures(), **tables}.items():
            has_contrast = "contrast_id" in dict(contracts()[name])
            frame = pd.DataFrame(
                [{"contrast_id": contrast_id(row), **row} if has_contrast else row for row in rows]
            )
            if len(frame):
                connection.execute(f"insert into marts.{name} by name select * from frame")
    return path


def contrast_id(row: Mapping[str, Any], **changes: Any) -> str:
    """The contrast that a row with these changes speaks of."""
    names = ("run_id", "mitigation", "attribute", "group_name", "reference_group")
    return " / ".join(str({**row, **changes}.get(name)) for name in names)


@cache
def measures() -> Sequence[Mapping[str, Any]]:
    """The shipped measures."""
    frame = pd.read_csv(ROOT / "seeds" / "measures.csv")
    columns = [name for name, _ in contracts()["dim_measures"]]
    return [{name: row[name] for name in columns} for row in frame.to_dict("records")]


def run(run_id: str, audit: str = "products", target: str = "model", **changes: Any) -> dict[str, Any]:
    """A row of dim_runs."""
    return {
        "run_id": run_id,
        "audit": audit,
        "target": target,
        "target_kind": "openai",
        "model_asked": target,
        "origin": "collected",
        "last_event": "finished",
        "n_prompts": 100,
        "n_responses": 300,
        "n_ok": 290,
        "n_prompt_tokens": 9_000,
        "n_completion_tokens": 30_000,
        "cost_usd": 0.25,
        "is_simulated": False,
        "is_current": True,
        "started_at": pd.Timestamp("2026-11-20 08:00:00"),
        **changes,
    }


def finding(run_id: str, number: int = 0, **changes: Any) -> dict[str, Any]:
    """A row of fct_findings: an alarm in word divergence."""
    return {
        "finding_id": f"{run_id}-{number}",
        "run_id": run_id,
        "mitigation": "plain",
        "audit": "products",
        "target": "model",
        "measure": "word_divergence",
        "scheme": "words",
        "attribute": "race",
        "group_name": "Black",
        "reference_group": "White",
        "group_in_words": f"{changes.get('member') or changes.get('group_name', 'Black')} people",
        "reference_in_words": "White people",
        "subject": "",
        "status": "alarm",
        "severity": "error",
        "explanation": "The words for Black and White differ by 6.0 points of 100. The difference is certain (adjusted p 0.001).",
        "statement": "the words for Black and White differ by 6.0 points of 100",
        "value": 0.06,
        "threshold": 0.02,
        "clear_threshold": 0.02,
        "interval_low": 0.04,
        "interval_high": 0.09,
        "value_low": 0.04,
        "value_high": 0.09,
        "p_value_adjusted": 0.001,
        "scope": "group",
        "settled_by": "answers a group",
        "advice": None,
        "n_units": 45,
        "is_excepted": False,
        "is_simulated": False,
        "is_current": True,
        **changes,
    }


def comparison(run_id: str, baseline_run_id: str, worsening: float, **changes: Any) -> dict[str, Any]:
    """A row of fct_run_comparisons: how much worse word divergence became since the run before."""
    return {
        "audit": "products",
        "target": "model",
        "baseline_run_id": baseline_run_id,
        "run_id": run_id,
        "baseline_mitigation": "plain",
        "mitigation": "plain",
        "measure": "word_divergence",
        "scheme": "words",
        "attribute": "race",
        "reference_group": "White",
        "subject": "",
        "verdict": "worse",
        "severity": "error",
        "worsening": worsening,
        "interval_low": worsening - 0.01,
        "interval_high": worsening + 0.01,
        "tolerance": 0.02,
        "is_baseline": False,
        "is_previous": True,
        "is_current": True,
        **changes,
    }


@dataclass(frozen=True)
class Names:
    """The names of groups, words and places in a warehouse."""

    attribute: str
    groups: Sequence[str]
    reference: str
    words: Sequence[str]


PLAIN = Names(
    "race",
    ("Asian", "Black", "Latino"),
    "White",
    tuple(
        f"{first}{last}"
        for first in ("garden", "kitchen", "garage", "sports")
        for last in (" tool", " book", " lamp", " shoe")
    ),
)
ODD = Names("race <b>", HOSTILE[:3], HOSTILE[6], HOSTILE)


CONTRAST = ("run_id", "mitigation", "attribute", "group_name", "reference_group")


class _Run:
    """Makes the rows of one run, method by method."""

    def __init__(self, run_id: str, names: Names, seed: int) -> None:
        self.draw = np.random.default_rng(seed)
        self.run_id = run_id
        self.names = names
        self.key = {"run_id": run_id, "mitigation": "plain"}
        self.contrasts = [
            {"attribute": names.attribute, "group_name": group, "reference_group": names.reference}
            for group in names.groups
        ]
        self.groups = [*names.groups, names.reference]
        self.tables: dict[str, list[dict[str, Any]]] = {}

    def add(self, table: str, **row: Any) -> None:
        row = self.key | row
        if "contrast_id" in dict(contracts()[table]):
            row.setdefault("contrast_id", " | ".join(str(row.get(name, "")) for name in CONTRAST))
        self.tables.setdefault(table, []).append(row)

    def about(self, centre: float, spread: float = 0.05) -> tuple[float, float, float]:
        """A value with its interval."""
        value = centre + float(self.draw.normal(0, spread))
        return value, value - spread, value + spread

    def gap(self, centre: float) -> dict[str, float]:
        value, low, high = self.about(centre)
        means = {"mean_marked": 0.5 + value, "mean_reference": 0.5, "null_mean": 0.0, "null_sd": 0.04}
        return {"adjusted_gap": value, "adjusted_low": low, "adjusted_high": high, **means}

    def judge(self, measure: str, place: int, value: float, **changes: Any) -> None:
        status = ("alarm", "inconclusive", "clear", "insufficient_data")[place % 4]
        self.add(
            "fct_findings",
            **{
                **finding(self.run_id, len(self.tables.get("fct_findings", []))),
                "measure": measure,
                "attribute": self.names.attribute,
                "status": status,
                "value": value,
                "n_units_needed": 90 if status == "inconclusive" else None,
                "explanation": f"{measure}: {self.names.words[place % len(self.names.words)]}",
                **changes,
            },
        )

    def texts(self) -> None:
        for place, contrast in enumerate(self.contrasts):
            key = {"scheme": "words", **contrast, "comparison": "against_reference"}
            for measure, value in (
                ("word_divergence", 0.05),
                ("marked_words", 3.0),
                ("classifier_accuracy", 0.85),
            ):
                self.judge(measure, place, value, **contrast)
            for number, word in enumerate(self.names.words):
                share = float(self.draw.normal(0, 0.04))
                part = {
                    "contribution_rank": number + 1,
                    "contribution": abs(share) / 20,
                    "signed_share": share,
                }
                self.add("fct_word_divergence_words", **key, word=word, **part)
                self.add(
                    "fct_marked_words",
                    **key,
                    word=word,
                    n_group_uses=float(self.draw.integers(5, 400)),
                    n_reference_uses=float(self.draw.integers(5, 400)),
                    n_group_answers_using=float(self.draw.integers(0, 40)),
                    n_reference_answers_using=float(self.draw.integers(0, 40)),
                    z_score=share * 60,
                    log_odds=share * 10,
                    p_value_adjusted=0.01 if abs(share) > 0.05 else 0.6,
                    is_marked=abs(share) > 0.05,
                )
            about = {name: key[name] for name in ("attribute", "group_name")}
            for number, word in enumerate(self.names.words):
                self.add(
                    "fct_removed_words",
                    **about,
                    word=word,
                    why="label",
                    named_groups=f"{key['attribute']}: {key['group_name']}",
                    n_occurrences=2.0 * number,
                    n_answers_using=float(number),
                    n_answers=45.0,
                    is_of_this_group=True,
                )
                self.add(
                    "fct_address_forms",
                    **about,
                    kind=word,
                    n_answers=45.0,
                    n_answers_using=9.0,
                    n_occurrences=12.0,
                    share_using=0.2,
                )
            for scheme in ("keys", "seed"):
                for word in self.names.words[:3]:
                    uses = {"n_group_answers_using": 9.0, "n_reference_answers_using": 3.0}
                    marks = {
                        "is_marked": scheme == "keys",
                        "is_marked_published": True,
                        "is_borderline_published": False,
                    }
                    self.add(
                        "fct_marked_words",
                        **{**key, "scheme": scheme},
                        word=word,
                        z_score=2.5,
                        **uses,
                        **marks,
                    )
            published = {
                "published_accuracy_mean": 0.83,
                "published_accuracy_sd": 0.05,
                "published_band": "high",
            }
            self.add("fct_classifier_accuracy", **{**key, "scheme": "seed_vectors"}, **published)
            self.add("fct_word_divergence", **{**key, "scheme": "seed_vectors"}, jsd_nats=0.12)
            accuracy, low, high = self.about(0.8)
            self.add(
                "fct_classifier_accuracy",
                **key,
                balanced_accuracy=accuracy,
                beyond_chance=accuracy,
                interval_low=low,
                interval_high=high,
                null_mean=0.5,
                null_sd=0.06,
                p_value=0.001,
                n_marked_units=45,
                n_reference_units=45,
            )

    def lists(self) -> None:
        self.judge(
            "snsr",
            0,
            0.2,
            scheme="jaccard",
            subject="music",
            threshold=0.1,
            group_name="(all)",
            reference_group="(neutral)",
            contrast_id="groups and nobody",
        )
        asked = {"scheme": "items", "wording": "clean", "domain": "music"}
        key = {
            **asked,
            "contrast_id": "groups and nobody",
            "list_set_id": "clean lists of music",
            "neutral": "neutral",
            "attribute": self.names.attribute,
            "similarity_name": "jaccard",
        }
        self.add(
            "fct_similarity_spread",
            **key,
            most_similar_group=self.groups[0],
            least_similar_group=self.groups[-1],
            snsr=0.25,
            snsr_null_mean=0.05,
            snsr_chance=0.06,
            snsr_debiased=0.2,
            snsr_noise_floor_high=0.03,
            is_judged=True,
        )
        for value in (0.6, 0.7):
            self.add("fct_list_similarity", **asked, role="rerun", jaccard=value)
        for group in self.groups:
            value, low, high = self.about(0.6)
            interval = {"similarity": value, "interval_low": low, "interval_high": high}
            self.add(
                "fct_group_similarity",
                **key,
                group_name=group,
                n_subjects=50,
                n_absent=1,
                similarity_sd=0.06,
                is_judged_neutral=True,
                **interval,
            )
            quality = {"mean_precision": 0.4, "mean_recall": 0.3, "mean_ndcg": 0.5}
            self.add("fct_list_quality", **asked, attribute=self.names.attribute, group_name=group, **quality)
            asked_again = {"pool": "same question", "pool_key": group, "subject": "jazz", "scheme": "items"}
            entropy = {"n_lists": 5, "excess_entropy": value / 2, "share_identical": 0.2}
            about = {"domain": "music", "asked_about": self.names.attribute, "group_name": group}
            self.add("fct_recommendation_entropy", **asked_again, **about, **entropy)
        fairness = {"pafs": 0.95, "pafs_debiased": 0.97, "interval_low": 0.93, "interval_high": 0.99}
        self.add("fct_personality_fairness", **key, **fairness, is_personality=True)
        personality = {"scheme": "jaccard", "subject": "music", "contrast_id": "groups and nobody"}
        self.judge("personality_fairness", 2, 0.97, **personality)
        for wording in self.names.words:
            value, low, high = self.about(0.8)
            kept = {"similarity": value, "interval_low": low, "interval_high": high, "rerun_similarity": 0.9}
            about = {**asked, "wording": wording, "attribute": "(all)", "similarity_name": "jaccard"}
            self.add("fct_robustness", **about, **kept, n_subjects=50, is_judged=True)

    def decisions(self) -> None:
        for place, contrast in enumerate(self.contrasts):
            for outcome, measure in (
                ("rank_value", "rank_gap"),
                ("selected", ""),
                ("correct", "accuracy_gap"),
            ):
                gap = self.gap(-0.1)
                self.add(
                    "fct_decision_gaps",
                    **contrast,
                    outcome=outcome,
                    domain="",
                    **gap,
                    p_value=0.01,
                    n_clusters=40,
                    published_label=f"favours {contrast['reference_group']}",
                )
                if measure:
                    self.judge(
                        measure, place, gap["adjusted_gap"], scheme=outcome, threshold=0.05, **contrast
                    )
        for place, group in enumerate(self.groups):
            of_group = {"attribute": self.names.attribute, "group_name": group}
            self.add(
                "fct_decision_rates",
                **of_group,
                contrast_id=contrast_id(
                    self.key | of_group, group_name="(all)", reference_group="(best off)"
                ),
                domain="",
                n_people=100,
                n_selected=20 + place,
                selection_rate=0.2 + place / 100,
                accuracy=0.9 - place / 20,
                mean_rank_value=0.1 - place / 10,
                impact_ratio=0.7 + place / 20,
                impact_ratio_low=0.5,
                impact_ratio_high=4.0,
                is_below_four_fifths=place < 2,
            )
            for position, label in enumerate(("junior", self.names.words[0], "senior")):
                mix = {
                    "label": label,
                    "label_position": position,
                    "n_people": 30,
                    "share": (position + 1) / 6,
                }
                self.add("fct_decision_labels", **of_group, domain="", **mix)
            moved = {"n_predictions": 100, "n_promotions": 20 + place, "n_demotions": 30, "net": place - 10}
            self.add("fct_promotions", **of_group, **moved)
        self.add(
            "fct_favoured_groups",
            attribute=self.names.attribute,
            domain="",
            most_favoured=self.groups[0],
            least_favoured=self.groups[-1],
            highest_rank_value=0.1,
            lowest_rank_value=-0.1,
        )
        self.add("fct_run_quality", accuracy=0.75)
        for is_consistent in (True, False, False):
            self.add("fct_prediction_consistency", domain="", is_complete=True, is_consistent=is_consistent)
        for position in (1, 2, 3, 4):
            shown = {
                "n_people": 80,
                "share_top": 0.4 - position / 20,
                "mean_rank": 2.5,
                "expected_share": 0.25,
            }
            self.add("fct_position_bias", position=position, **shown)

    def prices(self) -> None:
        for place, group in enumerate(self.groups):
            of_group = {
                "attribute": self.names.attribute,
                "group_name": group,
                "domain": "(all)",
                "is_crossed": False,
            }
            value, low, high = self.about(2.2)
            self.add(
                "fct_mean_price_levels",
                **of_group,
                reference_group=self.names.reference if place == 0 else "(all)",
                rank_from_dearest=place + 1,
                mean_price_level=value,
                interval_low=low,
                interval_high=high,
                p_value_adjusted=0.01 if place == 0 else 0.5,
                is_reference=False,
                n_items=400.0,
            )
            for level in (1, 2, 3, 4):
                value, low, high = self.about(0)
                interval = {"excess": value, "interval_low": low, "interval_high": high}
                interval |= {"share": 0.3 + value, "expected_share": 0.3, "p_value_adjusted": 0.2}
                is_reference = group == self.names.reference
                for domain in ("(all)", *self.names.words[:2]):
                    about = {**of_group, "domain": domain, "is_reference": is_reference}
                    self.add("fct_price_levels", **about, price_level=level, **interval)
            for number, word in enumerate(self.names.words):
                about = {"attribute": self.names.attribute, "group_name": group}
                share = 0.01 + float(self.draw.uniform(0, 0.04))
                self.add(
                    "fct_item_words", **about, word=word, word_rank=number + 1, n=100 * share, share=share
                )
        for place, group in enumerate(self.groups):
            prompt = {"prompt_id": f"{self.run_id} {place}"}
            of_group = {"attribute": self.names.attribute, "group_name": group}
            self.add("dim_prompt_groups", **prompt, **of_group, descriptor=self.names.words[0])
            item = {"item": self.names.words[-1], "categories": [self.names.words[0]], "price_level": 2}
            self.add("fct_recommended_items", **prompt, **item, trial=1, place=1, n=2.0)
        for axis in "xy":
            self.add(
                "dim_contrasts", contrast_id=f"{self.run_id} {axis}", reference_group=self.names.reference
            )
        for word in self.names.words:
            self.add(
                "fct_category_quadrants",
                contrast_id_x=f"{self.run_id} x",
                contrast_id_y=f"{self.run_id} y",
                category_set=self.names.words[0].replace(", ", " "),
                attribute_x=self.names.attribute,
                attribute_y="gender",
                group_x=self.groups[0],
                group_y="female",
                category=word,
                difference_x=float(self.draw.normal(0, 0.3)),
                difference_y=float(self.draw.normal(0, 0.3)),
                p_value_adjusted_x=float(self.draw.uniform(0, 0.2)),
                p_value_adjusted_y=0.9,
                n_items=100.0,
            )

    def markers(self) -> None:
        judged = {"scheme": "declared", "is_judged": True}
        units = {"n_marked_units": 20, "n_reference_units": 20}
        for place, contrast in enumerate(self.contrasts):
            gap = self.gap(0.2)
            value = gap["adjusted_gap"]
            about = {"subject": "work", "threshold": 0.1, **contrast}
            self.add("fct_stereotype_gaps", **judged, **contrast, category="work", **gap, **units)
            self.judge("stereotype_gap", place, value, scheme="declared", **about)
            self.add(
                "fct_regard_gaps",
                **contrast,
                scorer="regard",
                scheme="regard",
                label="negative",
                worse="higher",
                category="work",
                **gap,
                **units,
                is_judged=True,
            )
            self.judge("negative_regard_gap", place, value, scheme="regard", **about)
            bands = {"difference": value, "band_low": value - 0.1, "band_high": value + 0.1}
            self.add(
                "fct_marker_contrasts",
                **judged,
                **contrast,
                list=self.names.words[place],
                **bands,
                is_crossed=False,
                is_associated=place == 0,
            )
        for trial, word in enumerate(self.names.words, start=1):
            self.add(
                "fct_stereotype_scores",
                **judged,
                prompt_id=word,
                trial=trial,
                category=word,
                target_group=word,
                stereotype_markers=[word],
                anti_markers=[],
                stereotype_ratio=1.0,
                regard_scores=f"{word} 0.9",
                published_outcome="failed" if trial > 1 else "skipped",
                published_reasons="ratio 1.0 > 0.7" if trial > 1 else None,
            )
            for probe in ("(all)", f"{word}?"):
                value, low, high = self.about(0.7)
                self.add(
                    "fct_stereotype_rates",
                    **judged,
                    attribute="",
                    group_name="(all)",
                    category=word,
                    probe=probe,
                    n_texts=20,
                    n_assessable=15,
                    stereotype_ratio=value,
                    interval_low=low,
                    interval_high=high,
                    n_units=8,
                )
        about_category = {"subject": self.names.words[0], "group_name": "(all)", "reference_group": "(even)"}
        self.judge(
            "stereotype_ratio",
            0,
            0.8,
            scheme="declared",
            attribute="(markers)",
            threshold=0.7,
            **about_category,
        )

    def of_any_kind(self) -> None:
        for place, group in enumerate(self.groups):
            self.add(
                "fct_answer_quality",
                attribute=self.names.attribute,
                group_name=group,
                n_answers=100,
                n_ok=90 - place,
                n_refused=8 + place,
                n_malformed=1,
                n_truncated=1,
                n_error=0,
                share_ok=0.9,
                share_refused=0.08,
            )
        for place, contrast in enumerate(self.contrasts):
            value, low, high = self.about(0.05)
            gap = {"adjusted_gap": value, "interval_low": low, "interval_high": high}
            shares = {
                "share_marked": 0.1 + abs(value),
                "share_reference": 0.1,
                "null_mean": 0.0,
                "null_sd": 0.02,
            }
            self.add("fct_answer_gaps", scheme="refused", **contrast, **gap, **shares)
            self.judge("answer_gap", place, value, scheme="refused", threshold=0.05, **contrast)
            hedging = {"outcome": "hedging", "is_crossed": False, "n_units": 40}
            self.add("fct_text_gaps", **contrast, **hedging, **self.gap(0.1))
            self.add("fct_text_gaps", **contrast, **{**hedging, "outcome": "readability"}, **self.gap(3.0))
            alike = {"similarity_gap": value, "interval_low": low, "interval_high": high, "scheme": "words"}
            self.add("fct_text_similarity", **contrast, **alike, is_crossed=False, is_judged=True)
        change = {"difference": -0.04, "interval_low": -0.06, "interval_high": -0.02}
        self.add(
            "fct_mitigation_comparisons",
            **{
                "mitigation": self.names.words[1],
                "measure": "word_divergence",
                "scheme": "words",
                **self.contrasts[0],
                "subject": "",
                "verdict": "better",
                "plain_value": 0.06,
                "mitigation_value": 0.02,
                **change,
            },
        )


def every_picture(run_id: str, names: Names = PLAIN, seed: int = 1) -> dict[str, list[dict[str, Any]]]:
    """Rows with which every picture of a run is drawn, as if one audit asked for everything."""
    made = _Run(run_id, names, seed)
    for method in (made.texts, made.lists, made.decisions, made.prices, made.markers, made.of_any_kind):
        method()
    return made.tables


def merged(*tables: Mapping[str, Iterable[Mapping[str, Any]]]) -> dict[str, list[Mapping[str, Any]]]:
    """Rows of several runs together."""
    together: dict[str, list[Mapping[str, Any]]] = {}
    for one in tables:
        for name, rows in one.items():
            together.setdefault(name, []).extend(rows)
    return together


def hostile(path: Path) -> Path:
    """Two runs of one audit: every text that people or models write is hostile, every picture is drawn."""
    run_ids = (HOSTILE[0] + "1", HOSTILE[1] + "2")
    runs = [
        run(
            run_id,
            HOSTILE[2],
            HOSTILE[3],
            model_asked=HOSTILE[4],
            is_current=place == 1,
            started_at=pd.Timestamp(f"2026-11-{20 + place} 08:00:00"),
        )
        for place, run_id in enumerate(run_ids)
    ]
    parts = [every_picture(run_id, ODD, seed=place) for place, run_id in enumerate(run_ids)]
    for place, part in enumerate(parts):
        for number, row in enumerate(part["fct_findings"]):
            row.update(
                audit=HOSTILE[2], target=HOSTILE[3], is_current=place == 1, finding_id=f"{place}-{number}"
            )
    catalogue = {"catalogue": HOSTILE[0], "domain": HOSTILE[1]}
    system = {"recommender": HOSTILE[0], "city": HOSTILE[1], "system": "model", "texts": "all"}
    tables = {
        "dim_runs": runs,
        "fct_catalogue_statistics": [{**catalogue, "n_items": 4, "top_categories": list(HOSTILE[:3])}],
        "fct_catalogue_prices": [{**catalogue, "price_level": 1, "share": 0.5}],
        "fct_recommender_quality": [{**system, "relevant": "venue", "measure": "mrr", "value": 0.5}],
    }
    return create(path, merged(tables, *parts, _over_runs(run_ids, parts[1]["fct_findings"])))


def _over_runs(
    run_ids: Sequence[str], findings: Sequence[Mapping[str, Any]]
) -> dict[str, list[dict[str, Any]]]:
    """A comparison with the run before, and two builds: the second made an alarm of what had been inconclusive."""
    times = [pd.Timestamp(f"2026-11-{20 + place} 09:00:00") for place in range(2)]
    builds = [{"build_id": f"build-{place}", "built_at": time} for place, time in enumerate(times)]
    named = {
        "audit": HOSTILE[2],
        "target": HOSTILE[3],
        "attribute": "race <b>",
        "reference_group": HOSTILE[6],
    }
    comparisons = [
        comparison(
            *reversed(run_ids), worsening, group_name=group, verdict=verdict, baseline_value=0.02, value=0.05, **named
        )
        for group, verdict, worsening in zip(
            HOSTILE[:3], ("worse", "better", "inconclusive"), (0.05, -0.03, 0.02), strict=True
        )
    ]  # fmt: skip
    history = [
        {
            "finding_id": row["finding_id"],
            "build_id": build["build_id"],
            "run_id": row["run_id"],
            "mitigation": row["mitigation"],
            "status": status,
            "is_removed": False,
            "built_at": build["built_at"],
        }
        for row in findings[:10]
        for build, status in zip(builds, ("inconclusive", "alarm"), strict=True)
    ]
    return {"fct_builds": builds, "fct_finding_history": history, "fct_run_comparisons": comparisons}


def large(path: Path, n_runs: int = 20, n_findings: int = 10_000) -> Path:
    """So many runs, each the latest of its audit and target, and so many findings."""
    parts = []
    for place in range(n_runs):
        run_id = f"run-{place:02d}"
        part = every_picture(run_id, PLAIN, seed=place)
        # Four targets and five audits, so that every audit and target has one run.
        audit, target = f"audit-{place % 5}", f"model-{place // 5}"
        n_more = n_findings // n_runs - len(part["fct_findings"])
        part["fct_findings"] += [
            finding(
                run_id,
                10_000 + number,
                subject=f"subject {number}",
                status=("inconclusive", "clear", "alarm", "insufficient_data", "clear")[number % 5],
                measure=("word_divergence", "classifier_accuracy", "rank_gap")[number % 3],
                value=(number % 40) / 400,
                explanation=f"Finding {number} of {run_id} says in a sentence of the usual length what was found about "
                "whom, and how sure that is.",
                n_units_needed=60 + number,
            )
            for number in range(n_more)
        ]
        for row in part["fct_findings"]:
            row.update(audit=audit, target=target)
        parts.append(part | {"dim_runs": [run(run_id, audit, target)]})
    return create(path, merged(*parts))
