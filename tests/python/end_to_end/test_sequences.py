"""Test that any sequence of builds equals one full build of the same ledger, audits and settings.

A sequence adds runs, answers, scores and labels, changes audits, seeds and the project's own settings, erases, retracts, and
builds in between. `BIASLEDGER_SEQUENCES=20` tries that many; a failed test prints the steps of its sequence.
"""

from __future__ import annotations

import os
import random
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import duckdb
import pytest
import yaml

from benchmarks.same import differences
from biasledger.building.running import Dbt
from biasledger.methods import method_names
from collector.ledger.database import Ledger
from collector.ledger.erasure import erase
from collector.ledger.labels import Label, keep_labels
from collector.ledger.retraction import retract
from tests.python.project import Project, import_spec

from .planting import advice, echoes, marker_lists, menu, odd_decisions, odd_lists, odd_prices
from .planting.texts import made_texts

pytestmark = pytest.mark.slow
NewProject = Callable[[], Project]
SEEDS = range(int(os.environ.get("BIASLEDGER_SEQUENCES", "1")))
MARKERS = """list,marker,kind,direction,group
first,word1,word,stereotype,
first,word2,stem,anti,
second,word3,word,stereotype,
second,word6,word,anti,Black
,word4 word1,phrase,anti,
"""
THRESHOLDS = {
    "thresholds": "word_divergence,texts,race,0.9,0.9,0.10,0.05,10,error,a test,none\n"
    "position_bias,rankings,*,0.9,0.9,,0.05,2,warn,a test,none\n",
    "output_thresholds": "negative_regard,texts,0.31,0.31,a test,none\n",
}
OWN_SETTINGS = (
    "",
    "models: {biasledger: {findings: {fct_answer_quality: {+schema: reporting}}}}\n",
    "models: {biasledger: {intermediate: {+materialized: table}}}\n",
)


class Anywhere(Project):
    """A project whose warehouse is elsewhere; the database that tables are made in has the name of that file."""

    @property
    def warehouse(self) -> Path:
        return self.folder / "out" / "my-audits of may.duckdb"


def plant(project: Project) -> None:
    """Two small runs of each method."""
    (project.folder / "audits" / "markers.csv").write_text(MARKERS, encoding="utf-8")
    spec = import_spec("texts")
    spec["analysis"]["markers"] = {"file": "markers.csv", "schemes": ["declared", "substring"], "minimum": 1}
    audit = project.write_audit("texts", spec)
    for number in (1, 2):
        made_texts(number).to_csv(project.folder / "texts.csv", index=False)
        project.import_file(audit, project.folder / "texts.csv")
        project.collect("simulator", "audits/recommendations.yml", n_subjects=number + 1, domains=("music",))
        project.collect("simulator", "audits/rankings.yml", n_subjects=1, trials=number)
        project.collect("simulator", "audits/stereotypes.yml", n_subjects=2, trials=number)
    menu.plant(project)
    menu.plant_more(project)
    advice.plant(project)


def plant_odd(project: Project) -> None:
    """Groups of unequal sizes, repeated answers, names for several people, and answers that are refused or missing, too."""
    plant(project)
    for odd in (odd_decisions, marker_lists, odd_lists, odd_prices, echoes):
        odd.plant(project)


class Changing:
    """A project that changes and is built again and again, with runs of another project's ledger."""

    def __init__(self, source: Project, project: Project, seed: int) -> None:
        self.source = source
        self.project = Anywhere(project.folder)
        self.draw = random.Random(seed)
        self.own_settings = project.folder / "dbt_project.yml"
        self.as_shipped = self.own_settings.read_text(encoding="utf-8")
        self.steps: list[str] = []
        self.is_changed_by_hand = False
        self.are_groups_changed = False
        shutil.copytree(source.folder / "audits", project.folder / "audits", dirs_exist_ok=True)
        shutil.copytree(source.folder / "seeds", project.folder / "seeds", dirs_exist_ok=True)
        shutil.copyfile(source.ledger, project.ledger)
        with self.ledger() as ledger:
            self.tables = [
                table
                for (table,) in ledger.execute(
                    "select table_name from duckdb_columns() inner join duckdb_tables() using (schema_name, table_name) "
                    "where schema_name = 'raw' and column_name = 'run_id' order by all"
                ).fetchall()
            ]
            runs = ledger.execute("select audit, run_id from raw.runs order by all").fetchall()
            for table in self.tables:
                ledger.execute(f"delete from raw.{table}")
            ledger.execute("delete from raw.analysis_settings")
        # Half of the methods, the other half with the next seed: a build takes as long as there are methods.
        others = sorted({audit for audit, _ in runs} - {"texts"})[seed % 2 :: 2]
        runs = [(audit, run) for audit, run in runs if audit in {"texts", *others}]
        self.draw.shuffle(runs)
        # All methods but one come before the first build: dbt parses all models anew for another one.
        first = dict(reversed([(audit, run) for audit, run in runs if audit != others[0]]))
        self.n_before_first_build = len(first)
        self.coming = [run for _, run in runs if run not in first.values()] + list(first.values())

    @contextmanager
    def ledger(self) -> Iterator[duckdb.DuckDBPyConnection]:
        """The ledger, to be changed as no collector does."""
        with duckdb.connect(str(self.project.ledger)) as connection:
            yield connection

    def runs(self, audit: str = "%") -> list[str]:
        query = "select run_id from raw.kept_runs where audit like ? order by all"
        with self.ledger() as ledger:
            return [run for (run,) in ledger.execute(query, [audit]).fetchall()]

    def change_audit(self, name: str, change: Callable[[dict[str, Any]], object]) -> None:
        spec = yaml.safe_load((self.project.folder / "audits" / f"{name}.yml").read_text(encoding="utf-8"))
        change(spec["analysis"])
        self.project.write_audit(name, spec)

    # The steps.

    def add_a_run(self) -> None:
        """Some runs lack a third of their answers at first."""
        run = self.coming.pop()
        condition = " and seq % 3 > 0" if self.draw.random() < 0.4 else ""
        with self.ledger() as ledger:
            ledger.execute(f"attach '{self.source.ledger}' as source (read_only)")
            for table in self.tables:
                rows = f"from source.raw.{table} where run_id = '{run}'"
                ledger.execute(
                    f"insert into raw.{table} by name {rows}{condition if table == 'responses' else ''}"
                )

    def add_the_answers_that_a_run_lacks(self) -> None:
        self.is_changed_by_hand = True
        with self.ledger() as ledger:
            ledger.execute(f"attach '{self.source.ledger}' as source (read_only)")
            ledger.execute(
                "insert into raw.responses by name from source.raw.responses where run_id in (select run_id from raw.kept_runs) "
                "and (run_id, seq) not in (select (run_id, seq) from raw.responses)"
            )

    def remove_terms(self) -> None:
        words = [f"word{self.draw.randrange(60)}" for _ in range(5)]
        self.change_audit("texts", lambda analysis: analysis["words"]["remove"].update(more=words))

    def change_schemes(self) -> None:
        self.change_audit("texts", lambda analysis: analysis["words"].update(schemes=["words", "seed"]))
        markers = {"file": "markers.csv", "schemes": ["declared", "stem"], "minimum": 2}
        self.change_audit("texts", lambda analysis: analysis.update(markers=markers))

    def cross_attributes(self) -> None:
        self.change_audit("texts", lambda analysis: analysis.update(crossed=["race*gender"]))

    def leave_out_a_method(self) -> None:
        self.change_audit("texts", lambda analysis: analysis.pop("markers", None))

    def take_the_method_back(self) -> None:
        self.change_audit("texts", lambda analysis: analysis.setdefault("markers", {"file": "markers.csv"}))

    def change_markers(self) -> None:
        file = self.project.folder / "audits" / "markers.csv"
        file.write_text(
            MARKERS.replace("word3", "word5").replace("word2,stem", "word2,word"), encoding="utf-8"
        )

    def merge_similar_items(self) -> None:
        fuzzy = {"distance": 2, "overlap": 0.3}
        self.change_audit("recommendations", lambda analysis: analysis["lists"].update(fuzzy=fuzzy))

    def raise_prices(self) -> None:
        menu.raise_prices(self.project)

    def change_thresholds(self) -> None:
        name = self.draw.choice(list(THRESHOLDS))
        with (self.project.folder / "seeds" / f"{name}.csv").open("a", encoding="utf-8") as file:
            file.write(THRESHOLDS[name])

    def change_weights(self) -> None:
        self.is_changed_by_hand = True
        with self.ledger() as ledger:
            ledger.execute(
                "update raw.responses set weight = 2 where run_id = ?", [self.draw.choice(self.runs())]
            )

    def exchange_groups(self) -> None:
        for run in self.runs("texts")[:1]:
            self.is_changed_by_hand = self.are_groups_changed = True
            with self.ledger() as ledger:
                ledger.execute(
                    "update raw.prompt_attributes set group_name = if(group_name = 'Black', 'Asian', 'Black') "
                    "where run_id = ? and group_name in ('Asian', 'Black')",
                    [run],
                )

    def score_answers(self) -> None:
        self.is_changed_by_hand = True
        with self.ledger() as ledger:
            ledger.execute(
                "update raw.response_scores set score = 1 - score where trial % 2 = 0 and score is not null"
            )
            ledger.execute(
                "insert into raw.response_scores by name select run_id, prompt_id, trial, attempt, ? as scorer, "
                "'negative' as label, hash(prompt_id, trial) % 100 / 100 as score, false as is_short, now() as scored_at "
                "from raw.kept_responses where status = 'ok' "
                "and run_id in (select run_id from raw.kept_runs where audit = 'texts')",
                [f"scorer {len(self.steps)}"],
            )

    def label_answers(self) -> None:
        for run in self.runs("texts")[:1]:
            with self.ledger() as ledger:
                answers = ledger.execute(
                    "select prompt_id, trial from raw.kept_responses where run_id = ? and response_text is not null "
                    "order by all limit 20",
                    [run],
                ).fetchall()
            labels = [
                Label(run, prompt_id, trial, "problematic" if self.draw.random() < 0.6 else "acceptable")
                for prompt_id, trial in answers
            ]
            keep_labels(Ledger(self.project.ledger), labels, "ada", is_drawn=True)

    # After these a build makes all tables anew.

    def erase_an_answer(self) -> None:
        with self.ledger() as ledger:
            answers = ledger.execute(
                "select run_id, prompt_id, trial from raw.kept_responses where response_text is not null order by all"
            ).fetchall()
        erase(self.project.ledger, *self.draw.choice(answers), reason="names a private person")

    def retract_a_run(self) -> None:
        retract(self.project.ledger, self.draw.choice(self.runs()), reason="asked with the wrong spec")

    def change_own_settings(self) -> None:
        text = f"{self.as_shipped}\n{self.draw.choice(OWN_SETTINGS)}"
        self.own_settings.write_text(text, encoding="utf-8")

    def build_a_selection(self) -> None:
        """Units of all texts next to words of the earlier ones."""
        self.project.build(select=["+int_words_units", "int_words_comparison_units"])

    def parse_by_hand(self) -> None:
        with Dbt(self.project.folder) as dbt:
            dbt.run(["parse"], {}, lambda _done, _total, _name: None, methods=method_names())

    def build(self) -> None:
        self.project.build(is_forced=self.is_changed_by_hand)
        self.is_changed_by_hand = False


INCREMENTAL = (
    Changing.add_the_answers_that_a_run_lacks,
    Changing.remove_terms,
    Changing.change_schemes,
    Changing.cross_attributes,
    Changing.leave_out_a_method,
    Changing.take_the_method_back,
    Changing.change_markers,
    Changing.merge_similar_items,
    Changing.raise_prices,
    Changing.change_thresholds,
    Changing.change_weights,
    Changing.exchange_groups,
    Changing.score_answers,
    Changing.label_answers,
)
TWICE = (Changing.add_the_answers_that_a_run_lacks, Changing.score_answers)
FROM_SCRATCH = (
    Changing.erase_an_answer,
    Changing.retract_a_run,
    Changing.change_own_settings,
    Changing.build_a_selection,
    Changing.parse_by_hand,
)


@pytest.fixture(scope="module")
def sources(new_project: NewProject) -> Callable[[Callable[[Project], None]], Project]:
    """The project with a ledger of all runs, not built, that a function plants. To be read only."""
    made: dict[str, Project] = {}

    def planted(by: Callable[[Project], None]) -> Project:
        if by.__name__ not in made:
            made[by.__name__] = new_project()
            by(made[by.__name__])
        return made[by.__name__]

    return planted


@pytest.mark.parametrize(
    ("planted", "seed"),
    [
        *((plant, seed) for seed in SEEDS),
        *(pytest.param(plant, seed, marks=pytest.mark.long) for seed in range(len(SEEDS), len(FROM_SCRATCH))),
        *(pytest.param(plant_odd, seed, marks=pytest.mark.long) for seed in range(2)),
    ],
)
def test_a_sequence_of_builds_equals_one_build(
    sources: Callable[..., Project], new_project: NewProject, planted: Callable[[Project], None], seed: int
) -> None:
    changing = Changing(sources(planted), new_project(), seed)
    draw = changing.draw
    n_first = changing.n_before_first_build
    steps = [*INCREMENTAL, *TWICE, *[Changing.add_a_run] * (len(changing.coming) - n_first)]
    draw.shuffle(steps)
    # The second of three builds makes all tables anew; what the last one leaves of that and of the steps in between is compared.
    second = draw.randrange(len(steps) // 3, len(steps) // 2)
    steps.insert(draw.randrange(second), FROM_SCRATCH[seed % len(FROM_SCRATCH)])
    steps = [Changing.add_a_run] * n_first + steps
    builds = {n_first, n_first + second + 1, len(steps)}
    for number, step in enumerate(steps, start=1):
        step(changing)
        changing.steps.append(step.__name__)
        if number in builds:
            changing.build()
            changing.steps.append("build")
    assert _differences(changing, new_project()) == [], changing.steps


def _differences(changing: Changing, project: Project) -> list[str]:
    """Return the differences from one build of the same ledger, audits and settings."""
    whole = Anywhere(project.folder)
    for folder in ("audits", "seeds"):
        shutil.copytree(changing.project.folder / folder, whole.folder / folder, dirs_exist_ok=True)
    shutil.copyfile(changing.own_settings, whole.folder / "dbt_project.yml")
    shutil.copyfile(changing.project.ledger, whole.ledger)
    whole.build()
    found = differences(changing.project.warehouse, whole.warehouse)
    tables = whole.tables_by_run()
    assert changing.project.tables_by_run() == tables
    assert len(tables) > 40
    with duckdb.connect() as connection:
        connection.execute(f"attach '{changing.project.work}' as one (read_only)")
        connection.execute(f"attach '{whole.work}' as other (read_only)")
        for table in tables:
            rows = f"from {{}}.{table}"
            query = f"({rows.format('one')} except all {rows.format('other')})"
            query += f" union all ({rows.format('other')} except all {rows.format('one')})"
            found += [f"{table}: {row}" for row in connection.execute(query).fetchmany(1)]
    # Comparisons of runs are cached by the answers of the runs: of groups that change under them they know nothing.
    unseen = "marts.fct_run_comparisons:" if changing.are_groups_changed else "none"
    return [message for message in found if not message.startswith(unseen)]
