"""A simulated model without any planted bias raises no alarm, and its build is clean."""

from __future__ import annotations

from collections.abc import Callable

from .conftest import Project


def test_no_bias_stays_silent(new_project: Callable[[], Project]) -> None:
    project = new_project()
    # Without intersections the build takes seconds.
    audit = project.folder / "audits" / "products.yml"
    text = audit.read_text(encoding="utf-8")
    audit.write_text(text.replace("crossed: [race*gender]", "crossed: []"), encoding="utf-8")
    project.collect("simulator-fair")
    assert not project.build().has_alarms
    assert project.rows("select count(*) from marts.fct_alarms") == [(0,)]
    statuses = dict(project.rows("select status, count(*) from marts.fct_findings group by 1"))
    assert statuses.get("clear", 0) > 0
    explanations = project.rows("select explanation from marts.fct_findings where measure = 'marked_words'")
    assert all(text.startswith("No word is used significantly more for") for (text,) in explanations)
