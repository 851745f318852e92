"""Mitigations asked beside the plain audit are compared with it."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from biasledger.comparing.changes import compare_variants
from collector.errors import InputError

from .conftest import Project


def test_mitigations_are_compared_with_the_plain_audit(new_project: Callable[[], Project]) -> None:
    project = new_project()
    audit = project.folder / "audits" / "products.yml"
    text = audit.read_text(encoding="utf-8")
    for long, short in (
        ("crossed: [race*gender]", "crossed: []"),
        ("[words, seed, seed_vectors]", "[words]"),
    ):
        assert long in text
        text = text.replace(long, short)
    audit.write_text(text, encoding="utf-8")
    project.collect("simulator", variants=("debiased", "masked"))
    project.build()
    rows = project.rows(
        "select variant, count(*), count(*) filter (where difference < 0 and p_value < 0.001)"
        " from marts.fct_variant_comparisons"
        " where attribute = 'race' and measure = 'word_divergence' group by 1 order by 1"
    )
    assert rows == [("debiased", 4, 4), ("masked", 4, 4)]
    # `compare RUN --variant` tells the same, with what became of the answers' quality.
    both = compare_variants(project.warehouse, "latest", None)
    assert [changes.variant for changes in both] == ["debiased", "masked"]
    for changes in both:
        better = {change.group_name for change in changes.changes if change.verdict == "better"}
        assert better == {"Asian", "Black", "Latino", "Middle-Eastern"}
        assert {one.name for one in changes.quality} >= {"refused", "in another form than asked"}
    with pytest.raises(
        InputError, match="was not asked under the variant 'other'; it was asked under debiased, masked"
    ):
        compare_variants(project.warehouse, "latest", "other")
    # A mitigation never fails the audit's alarm test; the plain audit does.
    severities = project.rows(
        "select variant, list(distinct severity order by severity) from marts.fct_findings"
        " where attribute = 'race' group by 1 order by 1"
    )
    assert severities == [("debiased", ["warn"]), ("masked", ["warn"]), ("plain", ["error"])]
    # Masked prompts are the same for every group, so nothing can differ but chance.
    masked = project.rows(
        "select count(*) from marts.fct_alarms where variant = 'masked' and attribute = 'race'"
    )
    assert masked == [(0,)]
