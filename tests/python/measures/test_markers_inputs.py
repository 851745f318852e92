"""Test the step from relations of marker words to units: order of rows, and impossible rows."""

from __future__ import annotations

import duckdb
import pytest

from biasledger.measures.comparisons import Comparison
from biasledger.measures.markers import RatioUnits
from biasledger.model_inputs.markers import read_ratio_comparisons

COMPARISONS = """
    select * from (values
        ('b', 'plain', 'declared', 'racial', null, 99, 0.05, 1),
        ('a', 'plain', 'declared', 'racial', 'jamal', 99, 0.05, 1),
        ('c', 'plain', 'word', '', '', 99, 0.05, 1)
    ) as rows (comparison_key, mitigation, scheme, category, probe, n_permutations, alpha, seed)
"""
MEMBERS = """
    select * from (values
        ('a', 2, 20, 1, 0.25, 1), ('a', 1, 10, 2, 1.5, 2), ('b', 7, 7, 4, 3.0, 1)
    ) as rows (comparison_key, unit_id, cluster_id, n, total_ratio, weight)
"""


def read(members: str = MEMBERS) -> list[Comparison[RatioUnits]]:
    with duckdb.connect() as connection:
        return list(read_ratio_comparisons(connection.sql(COMPARISONS), connection.sql(members)))


def test_comparisons_come_by_key_and_units_by_id() -> None:
    probe, category, overall = read()
    assert (probe.key, probe.name, probe.n_permutations, probe.alpha, probe.seed) == (
        "a",
        ("plain", "declared", "racial", "jamal"),
        99,
        0.05,
        1,
    )
    assert probe.units.clusters.tolist() == [10, 20]
    assert probe.units.means.tolist() == [0.75, 0.25]
    assert probe.units.weight.tolist() == [2, 1]
    assert category.name == ("plain", "declared", "racial", "")
    assert overall.units.n.size == 0


@pytest.mark.parametrize(
    ("rows", "says"),
    [
        ("('a', 1, 1, 1, 0.5), ('a', 1, 2, 1, 0.5)", "comparison a: a unit comes twice"),
        ("('a', 1, null, 1, 0.5), ('a', 2, 1, 1, 0.5)", "comparison a: cluster_id is null"),
        ("('a', 1, 1, 1, null), ('a', 2, 1, 1, 0.5)", "comparison a: a unit's mean ratio"),
        ("('a', 1, 1, 0, 0.0)", "comparison a: n is above 0"),
    ],
)
def test_faulty_members_are_refused_by_name(rows: str, says: str) -> None:
    with pytest.raises(ValueError, match=says):
        read(
            "select *, 1 as weight"
            f" from (values {rows}) as rows (comparison_key, unit_id, cluster_id, n, total_ratio)"
        )
