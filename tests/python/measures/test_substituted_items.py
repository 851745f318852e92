"""Test substituted items: planted ones are found, chance is not, and one subject shows nothing."""

from __future__ import annotations

from collections.abc import Sequence

import duckdb
import numpy as np
import pytest
from scipy import sparse

from biasledger.measures.comparisons import Comparison
from biasledger.measures.engine.design import Floats
from biasledger.measures.substituted_items import HeldItems, substituted_items, substituted_items_of
from biasledger.model_inputs.lists import read_item_comparisons

DRAWS = {"n_permutations": 199, "alpha": 0.05, "seed": 1}


def held(seed: int, n_subjects: int = 20, n_items: int = 30) -> HeldItems:
    """Lists that hold every item half of the time, for every group."""
    group, neutral = np.random.default_rng(seed).integers(0, 2, (2, n_subjects, n_items)).astype(float)
    return of_shares([f"item {number:02}" for number in range(n_items)], group, neutral)


def of_shares(names: Sequence[str], group: Floats, neutral: Floats) -> HeldItems:
    return HeldItems(np.array(list(names)), sparse.csr_array(group), sparse.csr_array(neutral))


def test_a_case_by_hand() -> None:
    # Six subjects whose lists hold one item for the group and another without one; a third is one subject's alone.
    group, neutral = np.zeros((2, 6, 4))
    group[:, 0], neutral[:, 1], group[0, 2] = 1, 0.5, 1
    group[:, 3] = neutral[:, 3] = 1
    found = substituted_items(of_shares("abcd", group, neutral), **DRAWS)
    assert found.difference.tolist() == [6, -3, 1, 0]
    assert found.n_subjects.tolist() == [6, 6, 1, 6]
    # Of 64 ways to exchange both inside subjects two are as far from 0.
    assert found.p_value[:2] == pytest.approx([2 / 64, 2 / 64], abs=0.02)
    assert (found.p_value_adjusted[:2] >= found.p_value[:2]).all()
    assert np.isnan(found.p_value[2:]).all()


def test_what_is_planted_is_found_and_chance_is_not() -> None:
    chance = held(3)
    group, neutral = chance.group.toarray(), chance.neutral.toarray()
    group[:, 7], neutral[:, 7] = 1, 0
    planted = of_shares(chance.items, group, neutral)
    found = substituted_items(planted, **DRAWS)
    assert found.item[found.p_value_adjusted < 0.05].tolist() == ["item 07"]
    n_false = sum(
        (substituted_items(held(seed), **DRAWS).p_value_adjusted < 0.05).any() for seed in range(60)
    )
    assert n_false <= 8


def test_relations_become_a_table() -> None:
    with duckdb.connect() as connection:
        shares = connection.sql(
            "select 's' as values_key, subject, 'a' as item, 1.0 as share_of_group, 0.0 as share_of_neutral"
            " from range(6) as subjects (subject) union all select 's', 2, 'b', 0.5, 1.0"
        )
        comparisons = connection.sql(
            "select 'k' as comparison_key, 's' as values_key, 'plain' as mitigation, 'music' as domain,"
            " 'race' as attribute, 'Black' as group_name, 99 as n_permutations, 0.05 as alpha, 1 as seed"
        )
        [one] = read_item_comparisons(comparisons, shares)
        frame = substituted_items_of([one]).to_pandas()
    assert isinstance(one, Comparison)
    assert frame["item"].tolist() == ["a", "b"]
    assert frame["difference"].tolist() == [6, -0.5]
    assert frame["n_subjects"].tolist() == [6, 1]
    assert list(substituted_items_of([]).to_pandas().dtypes) == list(frame.dtypes)
