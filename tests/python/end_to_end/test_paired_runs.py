"""Test that runs are compared case by case where they share cases: the same again, worse, with more cases, and other texts."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner
from scipy import stats

from biasledger.cli import cli
from biasledger.comparing.baselines import export_baseline, import_baseline, set_baseline
from collector.errors import InputError
from tests.python.project import Project

GROUPS = ("white", "black")
SCORES = "select * from marts.fct_run_comparisons where measure = 'score_gap' and run_id = '{}'"


def _spec(groups: Sequence[str] | Mapping[str, Sequence[str]]) -> dict[str, Any]:
    return {
        "audit": "scores",
        "attributes": {
            "race": {"reference": "white", "groups": groups if isinstance(groups, Mapping) else list(groups)}
        },
        "answer": {"kind": "score", "minimum": 0, "maximum": 100},
        "import": {
            "columns": {
                "text": "score",
                "prompt": "prompt",
                "subject": "resume",
                "attributes": {"race": "race"},
            }
        },
    }


def _ask(
    project: Project,
    name: str,
    *,
    worse: float = 0.0,
    groups: Sequence[str] | Mapping[str, Sequence[str]] = GROUPS,
    cases: Sequence[int] = range(30),
    written: str = "a resume",
) -> tuple[str, np.ndarray]:
    """Import a run of one model, whose gap differs between cases; its scores (case, group)."""
    fixed, rng = np.random.default_rng(1), np.random.default_rng(list(name.encode()))
    levels, gaps = fixed.normal(60, 8, 40), fixed.normal(-6, 5, (len(groups) - 1, 40)).T
    scores = np.column_stack([levels, levels[:, None] + gaps - worse])[list(cases)]
    scores = np.clip(np.round(scores + rng.normal(0, 1, scores.shape)), 0, 100)
    rows = (
        [f"resume {case}", f"Score this {group} applicant with {written} {case}.", group, int(score)]
        for case, row in zip(cases, scores, strict=True)
        for group, score in zip(groups, row, strict=True)
    )
    file = project.write_rows(f"{name}.csv", "resume,prompt,race,score", rows)
    run = project.import_file(project.write_audit("scores", _spec(groups)), file, name="model")
    return run.run_id, scores


@pytest.fixture(scope="module")
def runs(new_project: Callable[[], Project]) -> tuple[Project, dict[str, str], dict[str, np.ndarray]]:
    """Each run is compared with the one before; built once at the end."""
    project = new_project()
    asked = {
        "worded": _ask(project, "worded", groups={"white": ["white"], "black": ["a Black person"]}),
        "first": _ask(project, "first"),
        "again": _ask(project, "again"),
        "worse": _ask(project, "worse", worse=3),
        "more": _ask(project, "more", worse=3, groups=(*GROUPS, "asian"), cases=range(32)),
        "other": _ask(
            project, "other", worse=3, groups=(*GROUPS, "asian"), cases=range(32), written="a letter"
        ),
    }
    set_baseline(project.ledger, asked["first"][0])
    project.build()
    return (
        project,
        {name: run for name, (run, _) in asked.items()},
        {name: s for name, (_, s) in asked.items()},
    )


def test_shared_cases_give_the_paired_t_test(
    runs: tuple[Project, dict[str, str], dict[str, np.ndarray]],
) -> None:
    project, ids, scores = runs
    [row] = project.query(SCORES.format(ids["worse"])).to_dict("records")
    sds = [scores[name].std(ddof=1) for name in ("again", "worse")]
    before, after = (
        (scores[name][:, 1] - scores[name][:, 0]) / sd
        for name, sd in zip(("again", "worse"), sds, strict=True)
    )
    expected = stats.ttest_rel(before, after)
    low, high = expected.confidence_interval(0.95)
    assert row["worsening"] == pytest.approx((before - after).mean())
    assert (row["interval_low"], row["interval_high"]) == pytest.approx((low, high))
    assert row["p_value"] == pytest.approx(expected.pvalue, rel=0.1)
    assert (row["is_paired"], row["n_shared"], row["n_left_out"], row["verdict"]) == (True, 30, 0, "worse")
    # As if the runs were independent, the change is not even certain.
    assert row["unpaired_interval_low"] < 0 < row["unpaired_interval_high"]


def test_the_same_model_again_is_not_worse(
    runs: tuple[Project, dict[str, str], dict[str, np.ndarray]],
) -> None:
    project, ids, _ = runs
    [row] = project.query(SCORES.format(ids["again"])).to_dict("records")
    assert row["is_paired"]
    assert row["verdict"] in {"inconclusive", "unchanged"}


def test_more_cases_and_another_group_are_left_out(
    runs: tuple[Project, dict[str, str], dict[str, np.ndarray]], monkeypatch: pytest.MonkeyPatch
) -> None:
    project, ids, scores = runs
    [row] = project.query(SCORES.format(ids["more"])).to_dict("records")
    assert (row["group_name"], row["is_paired"], row["n_shared"], row["n_left_out"]) == ("black", True, 30, 2)
    gaps = scores["more"][:30, 1] - scores["more"][:30, 0]
    assert row["shared_value"] == pytest.approx(gaps.mean() / scores["more"].std(ddof=1))
    monkeypatch.chdir(project.folder)
    said = CliRunner().invoke(cli, ["compare", ids["worse"], ids["more"], "--all"])
    assert said.exit_code == 0, said.output
    assert "paired on 30 cases; 2 of 32 are in one run only" in said.output
    assert f"Only in {ids['more']}, not compared: subject resume 30, resume 31; race asian." in said.output


def test_cases_with_other_texts_under_the_same_names_are_not_paired(
    runs: tuple[Project, dict[str, str], dict[str, np.ndarray]],
) -> None:
    project, ids, _ = runs
    rows = project.query(SCORES.format(ids["other"]))
    rows = rows[rows.baseline_run_id == ids["more"]]
    assert set(rows.group_name) == {"black", "asian"}
    assert not rows.is_paired.any()
    assert rows.n_shared.isna().all()
    # The baseline was asked about two groups: the gap of these is compared.
    assert project.rows(
        "select incomparable_because, only_in_baseline, only_in_run from marts.fct_run_pairs "
        f"where run_id = '{ids['other']}' and is_baseline"
    ) == [(None, None, "subject resume 30, resume 31; race asian")]
    rows = project.query(SCORES.format(ids["other"]))
    assert set(rows[rows.is_baseline].group_name) == {"black"}


def test_a_baseline_from_a_file_is_paired_as_well_and_what_it_lacks_is_named(
    runs: tuple[Project, dict[str, str], dict[str, np.ndarray]],
    new_project: Callable[[], Project],
    tmp_path: Path,
) -> None:
    project, ids, _ = runs
    file = tmp_path / "scores.baseline"
    export_baseline(project.ledger, project.folder, project.warehouse, file)
    fresh = new_project()
    _ask(fresh, "other groups", groups={"white": ["pale"], "black": ["dark"]})
    with pytest.raises(InputError, match="it shares no group"):
        import_baseline(fresh.ledger, file)
    _ask(fresh, "worse", worse=3, groups=(*GROUPS, "asian"))
    import_baseline(fresh.ledger, file)
    fresh.build()
    [row] = fresh.query(
        "select * from marts.fct_run_comparisons where measure = 'score_gap' and is_baseline"
    ).to_dict("records")
    assert (row["baseline_run_id"], row["is_imported"], row["is_paired"]) == (ids["first"], True, True)
    assert (row["group_name"], row["n_shared"], row["verdict"]) == ("black", 30, "worse")
    assert fresh.rows("select only_in_baseline, only_in_run from marts.fct_run_pairs where is_baseline") == [
        (None, "race asian")
    ]


def test_a_group_in_another_wording_is_named_and_not_compared(
    runs: tuple[Project, dict[str, str], dict[str, np.ndarray]],
) -> None:
    project, ids, _ = runs
    of_first = f"where run_id = '{ids['first']}' and is_previous"
    assert project.rows(
        f"select baseline_run_id, incomparable_because, only_in_baseline, only_in_run from marts.fct_run_pairs {of_first}"
    ) == [(ids["worded"], None, "race black (other wording)", "race black (other wording)")]
    assert project.query(f"select * from marts.fct_run_comparisons {of_first}").empty
