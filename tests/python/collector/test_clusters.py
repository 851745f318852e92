"""Test the clusters and blocks of imported prompts, and what is said of files that need them or cannot have them."""

from __future__ import annotations

import itertools
import random
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from collector.errors import InputError
from collector.importers.data_warnings import mixing_sentences
from collector.importers.named_columns import shared_columns
from collector.spec.prompts import Prompt, PromptAttribute
from collector.tables.source import AS_IT_LOOKS
from tests.python.collector.importing import Bring, BringRuns, Query, Row, simple, write_file
from tests.python.collector.specs import LABELS_IMPORT, LISTS_IMPORT, PRICES_IMPORT, RANKINGS_IMPORT

SHARED: list[Row] = [{"who": "c1", "by": "j1"}, {"who": "c2", "by": "j1"}, {"who": "#N/A", "by": " j2 "}]
WIDE_IMPORT = """
audit: wide
attributes: {race: {reference: white, groups: [white, black]}}
answer: {kind: text}
import:
  columns: {texts: {white: one, black: two}}
"""
# The row of a number in each kind of file.
FILES: dict[str, tuple[str, Row]] = {
    "labels": (LABELS_IMPORT, {"said": "Junior", "cv": "1", "truth": "", "model": "m", "name": "Nia", "who2": "wm"}),
    "long": (LISTS_IMPORT, {"answer": '["a"]', "entity": "Abba", "domain": "music", "attribute": "race", "value": "Black"}),
    "items": (PRICES_IMPORT, {"name": "Nia", "race": "black", "price_level": 2, "n": 1}),
    "texts": (WIDE_IMPORT, {"one": "An answer.", "two": "Another answer."}),
}  # fmt: skip


@pytest.mark.parametrize("kind", FILES)
def test_every_kind_of_file_has_clusters_and_blocks(bring_rows: BringRuns, query: Query, kind: str) -> None:
    spec, row = FILES[kind]
    spec = spec.replace("{race: who, gender: who}", "{race: who2, gender: who2}")
    first = "  columns:\n" if "  columns:\n" in spec else "  columns: {"
    more = "    cluster: who\n    block: by\n" if first.endswith("\n") else "cluster: who, block: by, "
    (summary,) = bring_rows(spec, [{**row, **shared} for shared in SHARED], (first, first + more))
    assert summary.n_prompts == 3 * (2 if kind == "texts" else 1)
    found = query("select distinct cluster, block from raw.kept_prompts order by all")
    assert found == [("c1", "j1"), ("c2", "j1"), (None, "j2")]


def test_a_ranking_has_one_cluster_and_block(bring_rows: BringRuns, query: Query) -> None:
    rows = [
        {"run": run, "job": "nurse", "shown": slot, "given": slot, "absent": 0, "name": name, "race": race,
         "gender": "F", **shared}
        for run, shared in enumerate(SHARED)
        for slot, (name, race) in enumerate((("Anne", "W"), ("Nia", "B")), start=1)
    ]  # fmt: skip
    more = ("  columns:\n", "  columns:\n    cluster: who\n    block: by\n")
    (summary,) = bring_rows(RANKINGS_IMPORT, rows, more)
    assert (summary.n_prompts, summary.n_responses) == (3, 3)
    found = query("select cluster, block from raw.kept_prompts order by all")
    assert found == [("c1", "j1"), ("c2", "j1"), (None, "j2")]


def test_an_import_without_them_keeps_its_hashes(tmp_path: Path, mapped: Bring, query: Query) -> None:
    rows = [{**row, "question": "q"} for row in simple(4, c=["a", "a", "b", "b"])]
    mapped(write_file(tmp_path / "a.csv", rows), "domain: question", name="without")
    mapped(write_file(tmp_path / "b.csv", rows), "domain: question, cluster: c", name="with", again=True)
    attributes = (PromptAttribute(1, "race", "White", "a White"), PromptAttribute(1, "gender", "M", "M"))
    first = Prompt("imported", "en", "plain", "q", domain="q", attributes=attributes)
    assert first.prompt_id == "17c7803980c1013f"
    for name, prompt in (("without", first), ("with", replace(first, cluster="a"))):
        assert query(
            f"select content_hash from raw.prompts inner join raw.runs using (run_id) where target = '{name}' "
            f"and prompt_id = '{prompt.prompt_id}'"
        ) == [(prompt.content_hash,)]


def test_a_missing_value_is_reported(tmp_path: Path, mapped: Bring) -> None:
    file = write_file(tmp_path / "a.csv", simple(60, c=["a", "", "b", "nan"] * 15))
    assert mapped(file, "cluster: c").warnings[0] == "c: 30 missing (15 empty, 15 nan)."
    with pytest.raises(InputError, match=r"a\.csv has no column 'd'"):
        mapped(file, "block: d")


def mixing(groups: list[str], blocks: list[int] | None = None) -> list[str]:
    """The rows of answers in the order of n, each to a prompt of its own."""
    stated = [([number], "race", group) for number, group in enumerate(groups)]
    order = np.argsort(blocks or [0] * len(groups), kind="stable")
    return mixing_sentences(
        np.arange(len(groups))[order], np.asarray(blocks or [0] * len(groups))[order], stated, "n", "b" if blocks else None
    )  # fmt: skip


@pytest.mark.parametrize(
    ("groups", "n_changes"),
    [
        (["a"] * 50 + ["b"] * 50, 1),
        ((["a"] * 20 + ["b"] * 20) * 5, 9),
        (["a"] * 40 + ["b"] * 40 + ["c"] * 40, 2),
        (["a", "b"] * 50, None),
        ((["a"] * 5 + ["b"] * 5) * 40, None),
        (["a"] * 5 + ["b"] * 5, None),
        (["a"] * 100, None),
    ],
)
def test_groups_asked_in_long_stretches_are_reported(groups: list[str], n_changes: int | None) -> None:
    sentences = mixing(groups)
    assert len(sentences) == (n_changes is not None)
    if n_changes is None:
        return
    named = ", ".join(map(repr, dict.fromkeys(groups)))
    changes = f"changes {n_changes} time{'s' if n_changes > 1 else ''}"
    assert f"different times: in the order of 'n', race ({named}) {changes} in" in sentences[0]
    shuffled = [random.Random(seed).sample(groups, len(groups)) for seed in range(400)]
    expected = np.mean([sum(one != other for one, other in itertools.pairwise(row)) for row in shuffled])
    assert abs(int(sentences[0].partition("would change ")[2].split()[0]) - expected) < 1.5
    assert not any(map(mixing, shuffled))


def test_blocks_of_one_group_are_reported_and_mixed_ones_end_the_warning_about_time() -> None:
    groups = (["a"] * 10 + ["b"] * 10) * 5
    assert mixing(groups, [number // 20 for number in range(100)]) != []
    days = [number // 20 for number in range(100)]
    mixed = [group for day in range(5) for group in random.Random(day).sample(["a", "b"] * 10, 20)]
    assert mixing(mixed, days) == []
    (sentence,) = mixing(groups, [number // 10 for number in range(100)])
    assert sentence == (
        "Each value of 'b', the block, has answers about one group of race ('a', 'b') alone, so nothing can be compared inside: "
        "name a column whose values hold several groups, or remove import.columns.block."
    )


def test_an_import_tells_of_times_and_blocks(tmp_path: Path, mapped: Bring) -> None:
    rows = simple(200, at=range(200), b=[number // 100 for number in range(200)])
    for number, row in enumerate(rows):
        row["race"] = ["a White", "an Asian"][number // 100]
    file = write_file(tmp_path / "a.csv", rows)
    (sentence,) = mapped(file, "order: at").warnings
    assert sentence == (
        "Groups were asked at different times: in the order of 'at', race ('White', 'Asian') changes 1 time in 200 answers, and "
        "would change 100 times in a random order. A target that changed in the meantime looks like a difference; name a block "
        "that holds both groups, or mix them."
    )
    (sentence,) = mapped(file, "block: b", again=True).warnings
    beginning = "Each value of 'b', the block, has answers about one group of race ('White', 'Asian') alone"
    assert sentence.startswith(beginning)


def table(**columns: Any) -> list[Row]:
    names = list(columns)
    return [dict(zip(names, cells, strict=True)) for cells in zip(*columns.values(), strict=True)]


CHANCE = random.Random(1)
N = 240
SEX = [CHANCE.choice("mf") for _ in range(N)]
OF_CUSTOMER = ["mf"[number // 4 % 2] for number in range(N)]
FOUR = [f"k{number // 4}" for number in range(N)]
EIGHT = [f"h{number // 8}" for number in range(N)]
OWN = [f"i{number}" for number in range(N)]
FEW = ["ABCD"[number % 4] for number in range(N)]


@pytest.mark.parametrize(("rows", "chosen"), [
    (table(sex=OF_CUSTOMER, ConversationID=FOUR, customer_id=EIGHT), {"cluster": "customer_id"}),
    (table(sex=SEX, Kundennummer=FOUR, Prüfer=FEW, Zeile=OWN), {"cluster": "Kundennummer", "block": "Prüfer"}),
    (table(sex=SEX, **{"id de l'utilisateur": FOUR, "Évaluateur": FEW}),
     {"cluster": "id de l'utilisateur", "block": "Évaluateur"}),
    (table(sex=SEX, fecha=[f"2026-01-0{1 + number % 5}" for number in range(N)]), {"block": "fecha"}),
    (table(sex=SEX, date=[f"2026-01-0{1 + number % 5} 10:30" for number in range(N)]), {}),
    (table(sex=SEX, date=FEW, juiz=FEW), {"block": "juiz"}),
    (table(sex=SEX, session=OWN, judge=OWN), {}),
    (table(sex=SEX, applicant=["a", "b"] * (N // 2)), {}),
    (table(sex=OF_CUSTOMER, rater=FOUR), {}),
    (table(sex=SEX, user=[f"Which of these {number % 40} products would you recommend to me?" for number in range(N)]), {}),
    (table(sex=SEX, customer=["k1", "", "", ""] * (N // 4)), {}),
    (table(sex=SEX, colour=FOUR, update=FEW), {}),
])  # fmt: skip
def test_names_and_values_choose_columns(tmp_path: Path, rows: list[Row], chosen: dict[str, str]) -> None:
    file = write_file(tmp_path / "a.csv", rows)
    others = [name for name in rows[0] if name != "sex"]
    found = shared_columns(file, others, ["sex"], AS_IT_LOOKS)
    assert {role: one.column for role, one in found.items()} == chosen
    assert all(one.role == role and one.column in one.chosen for role, one in found.items())
