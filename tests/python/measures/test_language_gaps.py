"""Test that languages differ between groups only beyond chance: the test of fct_language_gaps on simulated answers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import duckdb
import jinja2
import numpy as np
import pandas as pd
import pytest
from scipy.stats import hypergeom

ROOT = Path(__file__).parents[3]
LEVEL = 0.05
# Languages that English is taken for, half of them the same one.
WRONG = ("de", "fr", "nl", "la", "pt")
WRONG_SHARES = (0.5, 0.2, 0.1, 0.1, 0.1)
Counts = Mapping[str, float]


def _environment() -> jinja2.Environment:
    environment = jinja2.Environment(extensions=["jinja2.ext.do"])
    environment.globals |= {
        "config": lambda **_: "",
        "run_rows": lambda name: name,
        "ref": lambda name: name,
        "contracted": lambda name: f"select * from {name}",
    }
    return environment


def _rendered(sql: str) -> str:
    files = ("engine/numbers.sql", "findings/phrases.sql")
    macros = "".join((ROOT / "macros" / name).read_text(encoding="utf-8") for name in files)
    return _environment().from_string(macros + sql).render()


def _gaps(runs: Sequence[Mapping[str, Counts]]) -> pd.DataFrame:
    """Return fct_language_gaps of runs; of each group how many answers are in which language, too short to tell under ''."""
    languages = [
        (str(run), group, language, n, n / sum(counts.values()))
        for run, groups in enumerate(runs)
        for group, counts in groups.items()
        for language, n in counts.items()
        if n
    ]
    contrasts = [
        (f"{run}:{group}", str(run), group, "g0" if group != "(all)" else "(all)")
        for run, groups in enumerate(runs)
        for group in [*(name for name in groups if name != "g0"), "(all)"]
    ]
    columns = ["run_id", "group_name", "language", "n", "share"]
    listed = pd.DataFrame(languages, columns=columns)
    compared = pd.DataFrame(contrasts, columns=["contrast_id", "run_id", "group_name", "reference_group"])
    with duckdb.connect() as connection:
        connection.register("listed", listed)
        connection.register("compared", compared)
        connection.execute(
            """
            create view fct_answer_languages as
            select
                *, 'plain' as mitigation, 'a' as attribute, coalesce(nullif(language, ''), 'too short to tell') as language_name,
                if(language = '', null, language <> 'is') as is_checked_for_refusals
            from listed;
            create view int_contrasts as select *, 'plain' as mitigation, 'a' as attribute from compared;
            create view int_answers_contrasts as select * from int_contrasts where false;
            """
        )
        model = (ROOT / "models/marts/answers/fct_language_gaps.sql").read_text(encoding="utf-8")
        return connection.execute(_rendered(model)).df()


def _misdetected(rng: np.random.Generator, n: int, share: float) -> Counts:
    drawn = rng.multinomial(n, [1 - share, *(share * part for part in WRONG_SHARES)])
    return dict(zip(("en", *WRONG), map(int, drawn), strict=True))


@pytest.mark.parametrize(
    ("sizes", "share"),
    [
        pytest.param([30] * 10, 0.1, id="10 groups of 30"),
        pytest.param([20] * 20, 0.1, id="20 groups of 20"),
        pytest.param([10] * 20, 0.3, id="20 groups of 10, much misdetected"),
        pytest.param([300, *[10] * 9], 0.05, id="one large group and small ones"),
        pytest.param([300, 10], 0.03, id="a large group and a small one"),
        pytest.param([40, 40], 0.5, id="two groups, every second answer misdetected"),
    ],
)
def test_misdetection_alone_makes_no_group_different(sizes: Sequence[int], share: float) -> None:
    """All answers are in English; in at most 5 % of the runs any two groups are called different."""
    rng = np.random.default_rng(0)
    n_runs = 300
    runs = [{f"g{n}": _misdetected(rng, size, share) for n, size in enumerate(sizes)} for _ in range(n_runs)]
    found = _gaps(runs)
    assert found[found.is_different].run_id.nunique() <= LEVEL * n_runs


@pytest.mark.parametrize("n_groups", [2, 10, 20])
@pytest.mark.parametrize("n", [10, 30])
def test_groups_in_their_own_languages_differ(n_groups: int, n: int) -> None:
    wrong = round(0.06 * n)
    groups: dict[str, Counts] = {f"g{n}": {"de": 30} for n in range(n_groups)}
    groups |= {"g0": {"de": n - wrong, "en": wrong}, "g1": {"pl": n - wrong, "en": wrong}}
    found = _gaps([groups]).set_index("group_name")
    assert found.is_different["g1"]
    assert found.is_different["(all)"]
    assert not any(found.is_different[f"g{one}"] for one in range(2, n_groups))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ({"de": 1, "": 29}, {"en": 30}),
        ({"de": 9, "": 21}, {"en": 30}),
        ({"de": 1}, {"en": 4}),
        ({"de": 2}, {"en": 2}),
        ({"": 30}, {"en": 30}),
        # The few answers that are long enough say nothing of the others.
        ({"de": 20, "": 480}, {"en": 500}),
        ({"de": 15, "en": 15}, {"de": 20, "en": 10}),
    ],
)
def test_few_answers_make_no_group_different(one: Counts, other: Counts) -> None:
    assert not _gaps([{"g0": other, "g1": one}]).is_different.any()


def test_answers_that_are_too_short_are_named() -> None:
    found = _gaps([{"g0": {"en": 30}, "g1": {"is": 18, "": 12}}]).set_index("group_name")
    assert found.languages["g1"] == (
        "answers about g1 are in is (60 %) and too short to tell (40 %), about g0 in en (100 %)"
    )
    assert found.unchecked["g1"] == (
        "not checked for refusals, because no refusal patterns exist for the language: 18 of 30 answers about g1 (is)"
    )
    assert (found.n_marked["g1"], found.n_reference["g1"]) == (18, 30)


def test_the_bound_of_p_is_that_of_fisher() -> None:
    """Never smaller than the exact two-sided p, and at most a fifth larger where it decides."""
    rng = np.random.default_rng(1)
    n, m = rng.integers(1, 400, (2, 2000))
    x, y = rng.integers(0, n + 1), rng.integers(0, m + 1)
    cases = pd.DataFrame({"x": x, "n": n, "y": y, "m": m})
    cases = cases[cases.x / cases.n > cases.y / cases.m].reset_index(drop=True)
    exact = 2 * hypergeom.sf(cases.x - 1, cases.n + cases.m, cases.x + cases.y, cases.n)
    with duckdb.connect() as connection:
        connection.register("cases", cases)
        sql = _rendered("select {{ fisher_p_bound('x', 'n', 'y', 'm') }} as p from cases")
        bound = connection.execute(sql).df().p
    ratio = (bound / exact)[exact > 1e-200]
    assert len(ratio) > 800
    assert ratio.min() > 0.999
    assert ratio[exact < LEVEL].max() < 1.2
