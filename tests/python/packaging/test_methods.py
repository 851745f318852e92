"""Test that a new method needs only its own files and one edit."""

from __future__ import annotations

import json
import pkgutil
import re
import shutil
import textwrap
from pathlib import Path
from types import ModuleType

import pytest

import biasledger.explaining.methods
import biasledger.methods
import biasledger.reporting.methods
import collector.spec.methods
from biasledger.measure_seeds import seeds
from biasledger.measures.gaps.units import LEAST_NAMES
from biasledger.measures.words.units import MIN_DESCRIPTORS
from biasledger.methods import baseline_parts, method_names, module_of
from biasledger.planning.scopes import FEWEST_DESCRIPTORS
from biasledger.project import dbt_variables
from collector.errors import InputError
from tests.python.running import ROOT, run_python

COPIED = ("biasledger", "collector", "lmrec", "models", "macros", "seeds", "analyses", "tests/dbt")
# A unit test of dbt states each input of the table that it tests.
NAMES_EACH = {"dbt_project.yml", "models/marts/answers/_answers.yml"}
# Measures that are no method's have evidence, too.
NO_METHODS = {"answers", "runs"}

OWN_FILES = {
    "collector/spec/methods/lengths.py": """
        from pydantic import Field
        from collector.spec.methods import Method
        from collector.validation import Section

        class Lengths(Section):
            shortest: int = 1

        METHOD = Method(
            field=(Lengths, Field(default_factory=Lengths)),
            is_read=lambda audit: "lengths" in audit.analysis.model_fields_set,
            document=lambda audit: audit.analysis.lengths.model_dump(),
            problems=lambda audit: iter(()),
        )
        """,
    "collector/targets/simulator/lengths.py": """
        from pydantic import Field
        from collector.targets.simulator.responder import Responder, Shares
        from collector.validation import Section

        class Settings(Section):
            longer: Shares = Field(default_factory=dict)

        def answer(asked, question):
            return "long " * (1 + len(list(question.stated(question.planted.longer, question.prompt))))

        RESPONDER = Responder(
            place=0, asked=lambda prompt: "at length" in prompt or None, answer=answer, settings=Settings
        )
        """,
    "biasledger/measures/lengths.py": """
        from biasledger.measures.declared import Measure, Threshold

        MEASURES = (
            Measure(
                name="length", description="How long answers are.", scale="words", side="two-sided", unit="answers",
                label="the length", past="a length of {limit} or more",
                threshold=Threshold(value=1, reason="Ours", source="Ours", min_units=5, severity="warn"),
            ),
        )
        """,
    "biasledger/explaining/methods/lengths.py": """
        from biasledger.explaining.evidence import Evidence

        def evidence(case):
            return Evidence([case.behind("fct_lengths", "lengths", where="true")])
        """,
    "biasledger/reporting/methods/lengths.py": """
        def pictures(source, run_id):
            return []
        """,
    "models/intermediate/lengths/int_lengths_answers.sql": 'select run_id from {{ ref("int_answers") }}',
    "models/findings/lengths/int_lengths_findings.sql": """
        select run_id, 'plain' as mitigation, 'length' as measure, 'lengths' as scheme, 1.0 as value
        from {{ ref("fct_lengths") }}
        """,
    "models/findings/lengths/_lengths.yml": """
        version: 2
        models:
          - name: int_lengths_findings
            description: "Grain: run."
        """,
    "models/marts/lengths/fct_lengths.sql": 'select cast(run_id as varchar) as run_id from {{ ref("int_lengths_answers") }}',
    "models/marts/lengths/_lengths.yml": """
        version: 2
        groups:
          - name: lengths
            owner: {name: The biasledger maintainers}
        models:
          - name: fct_lengths
            description: "Grain: run. Lengths."
            columns:
              - {name: run_id, data_type: varchar, description: The run.}
        """,
    "tests/dbt/alarms/alarm_lengths.sql": '{{ unaccepted_alarms("lengths", "error") }}',
    "tests/dbt/alarms/warning_lengths.sql": '{{ unaccepted_alarms("lengths", "warn") }}',
}
OWN_MEASURE = """
    from biasledger.measures.declared import Threshold
    from biasledger.measures.texts.outcomes import Text, TextMeasure


    def commas(text: Text) -> float:
        return sum(part.count(",") for part in text.sentences) / len(text.words)


    MEASURES = (
        TextMeasure(
            name="commas_gap", description="Whose answers have more commas.", scale="commas a word", side="two-sided",
            unit="prompts or answers about the smaller group", label="the gap in commas", display=(100, " points"),
            statement="{about_group} there are %.1f commas a word, and {about_reference} %.1f", of_text=commas,
            threshold=Threshold(value=0.1, reason="Ours", source="Ours", min_units=5, severity="warn"),
        ),
    )
    """
ENABLED = """{+group: lengths, +enabled: "{{ 'lengths' in env_var('BIASLEDGER_METHODS', 'lengths') }}"}"""
SPEC = """
    audit: small
    attributes: {race: {reference: White, groups: {White: [white], Black: [black]}}}
    templates: [{id: t, text: "Describe {a race} person."}]
    trials: 15
    answer: {kind: text}
    analysis: {lengths: {shortest: 3}}
    """
TOLD = """
    import json, sys
    from pathlib import Path
    from biasledger.measure_seeds import measure_rows
    from biasledger.querying.tables import described_tables
    from biasledger.methods import module_of, method_names
    from collector.spec.loading import load_audit
    from collector.targets.base import Request
    from collector.targets.simulator.target import Simulator

    for package in ("explaining", "reporting"):
        module_of(f"biasledger.{package}.methods", "lengths")
    print(json.dumps({
        "methods": method_names(),
        "analysis": load_audit(Path(sys.argv[1])).analysis_document()["lengths"],
        "last_table": described_tables()[-1].name,
        "past": measure_rows()["length"]["past"],
        "planted": Simulator(longer={"Ann": 1.0}).ask(Request("Tell Ann at length.")).text,
    }))
    """


def modules_of(package: ModuleType) -> set[str]:
    return {info.name for info in pkgutil.iter_modules(package.__path__)}


@pytest.mark.parametrize(
    "package",
    [biasledger.explaining.methods, biasledger.reporting.methods, collector.spec.methods],
)
def test_what_has_a_file_for_each_method_has_one_for_each(package: ModuleType) -> None:
    assert modules_of(package) - NO_METHODS == set(method_names())


def test_folders_and_alarms_are_there_for_each_method() -> None:
    for name in method_names():
        for folder in ("intermediate", "marts", "findings"):
            assert (ROOT / "models" / folder / name).is_dir()
        for level in ("alarm", "warning"):
            assert (ROOT / "tests" / "dbt" / "alarms" / f"{level}_{name}.sql").is_file()


def test_no_method_s_name_is_a_part_of_another_s() -> None:
    """The project file asks whether a name is in a text of names."""
    names = method_names()
    assert not [(one, other) for one in names for other in names if one != other and one in other]


def test_a_method_hands_over_what_the_project_says() -> None:
    for name, outputs in dbt_variables()["methods"].items():
        models = {path.stem for path in (ROOT / "models").rglob(f"int_{name}_*")}
        for what in ("equal_sizes", "paired_units", "quality"):
            assert (f"int_{name}_{what}" in models) == (what in outputs), (name, what)


def test_a_part_of_a_baseline_is_one_method_s() -> None:
    names = [
        name
        for module in modules_of(biasledger.methods)
        for name in module_of("biasledger.methods", module).PARTS
    ]
    assert sorted(names) == sorted(baseline_parts())


def test_the_seeds_are_those_declared() -> None:
    for name, text in seeds().items():
        assert (ROOT / "seeds" / name).read_text(encoding="utf-8") == text, (
            f"seeds/{name} is not what the measures declare: run `python -m biasledger.measure_seeds`."
        )


def test_a_method_of_another_version_is_no_traceback() -> None:
    with pytest.raises(
        InputError, match="has nothing on 'smells': use the version that the warehouse was built with"
    ):
        module_of("biasledger.explaining.methods", "smells")


def test_no_other_file_lists_the_methods() -> None:
    """Two names may occur together: markers read words. `words` is also a plain word, and many relations are called `texts`."""
    names, named = method_names(), {}
    for pattern in (
        "biasledger/**/*",
        "collector/**/*",
        "models/**/*",
        "macros/**/*",
        "analyses/**/*",
        "*.yml",
    ):
        for path in ROOT.glob(pattern):
            if path.suffix in {".py", ".sql", ".yml", ".j2"}:
                text = path.read_text(encoding="utf-8")
                found = [name for name in names if name in text and _is_named(name, text)]
                if len(set(found) - {"texts"}) > 2:
                    named[path.relative_to(ROOT).as_posix()] = found
    assert named.keys() == NAMES_EACH


def _is_named(method: str, text: str) -> bool:
    """Whether a method is named as one: in quotes, as a key, or as a part of a model's, a test's or a module's name."""
    within = rf"\b(?:int|report|alarm|warning)_{method}(?![a-z])|\b(?:methods|analysis|marts)[./]{method}\b"
    return re.search(rf"""["']{method}["']|^ *{method}: [\[&*{{]|{within}""", text, re.MULTILINE) is not None


@pytest.mark.slow
def test_a_new_method_is_its_own_files_and_one_edit(tmp_path: Path) -> None:
    _copy(tmp_path)
    before = {path for path in tmp_path.rglob("*") if path.is_file()}
    for name, text in OWN_FILES.items():
        path = tmp_path / name
        assert path not in before
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(textwrap.dedent(text).lstrip("\n"), encoding="utf-8")
    _edit(tmp_path)
    spec = tmp_path / "audits" / "small.yml"
    spec.parent.mkdir()
    spec.write_text(textwrap.dedent(SPEC), encoding="utf-8")

    message = json.loads(_run(tmp_path, textwrap.dedent(TOLD), str(spec)))
    assert message == {
        "methods": [*method_names(), "lengths"],
        "analysis": {"shortest": 3},
        "last_table": "fct_lengths",
        "past": "a length of {limit} or more",
        "planted": "long long ",
    }
    options = ["parse", "--profiles-dir", ".", "--log-path", str(tmp_path / "logs")]
    _run(tmp_path, "from dbt.cli.main import cli; cli(prog_name='dbt')", *options)
    manifest = json.loads((tmp_path / "target" / "manifest.json").read_text(encoding="utf-8"))
    nodes = manifest["nodes"]
    assert nodes["model.biasledger.fct_lengths"]["group"] == "lengths"
    outputs = nodes["model.biasledger.int_lengths_findings"]
    assert (outputs["access"], outputs["group"]) == ("protected", "lengths")
    assert outputs["config"]["schema"] == "intermediate"
    assert not outputs["config"]["contract"]["enforced"]
    judged = nodes["model.biasledger.int_findings_measured"]["depends_on"]["nodes"]
    assert "model.biasledger.int_lengths_findings" in judged
    assert {"alarm_lengths", "warning_lengths"} <= {node["name"] for node in nodes.values()}


@pytest.mark.slow
def test_a_new_text_measure_is_its_own_file(tmp_path: Path) -> None:
    _copy(tmp_path)
    for name in ("audits", "targets.yml"):
        copied = shutil.copytree if (ROOT / name).is_dir() else shutil.copy
        copied(ROOT / name, tmp_path / name)
    (tmp_path / "biasledger/measures/texts/commas.py").write_text(
        textwrap.dedent(OWN_MEASURE), encoding="utf-8"
    )
    _run(tmp_path, "from biasledger.measure_seeds import main; main()")
    command = "from biasledger.cli import cli; cli(prog_name='biasledger')"
    _run(tmp_path, command, "collect", "audits/advice.yml", "--target", "simulator", "--trials", "3")
    _run(tmp_path, command, "build", code=1)
    sql = (
        "select n_values, statement, label from marts.fct_findings join marts.dim_measures using (measure) cross join "
        "(select count(value) as n_values from marts.fct_text_answers where outcome = 'commas') where measure = 'commas_gap'"
    )
    ((n_values, statement, label),) = (
        row.values() for row in json.loads(_run(tmp_path, command, "query", sql, "--format", "json"))
    )
    assert n_values > 0
    assert re.fullmatch(
        r"about Black people there are \d+\.\d commas a word, and about White people \d+\.\d: "
        r"(no difference|\d+\.\d points (higher|lower))",
        statement,
    )
    assert label == "the gap in commas"


def _copy(project: Path) -> None:
    for name in COPIED:
        shutil.copytree(ROOT / name, project / name, ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("dbt_project.yml", "profiles.yml"):
        shutil.copy(ROOT / name, project / name)


def _edit(project: Path) -> None:
    """Edit the project's file, and write the seeds."""
    path = project / "dbt_project.yml"
    text = path.read_text(encoding="utf-8")
    last = method_names()[-1]
    for after, line in (
        (f"    {last}: [one_language, paired_units, turn_values, wording_units]\n", "    lengths: []\n"),
        (f"      {last}: *{last}\n", "      lengths: *lengths\n"),
        (
            f"      {last}: {{<<: [*{last}, *outputs]}}\n",
            "      lengths: {<<: [*lengths, *outputs]}\n",
        ),
    ):
        assert after in text
        text = text.replace(after, after + line)
    text = re.sub(rf"(      {last}: &{last} .*\n)", rf"\1      lengths: &lengths {ENABLED}\n", text)
    path.write_text(text, encoding="utf-8")
    _run(project, "from biasledger.measure_seeds import main; main()")


def _run(project: Path, program: str, *arguments: str, code: int = 0) -> str:
    done = run_python("-c", program, *arguments, cwd=project, path=str(project))
    assert done.returncode == code, done.stdout + done.stderr
    return done.stdout


def test_one_number_of_names_and_wordings_speaks_for_a_group() -> None:
    """The models, the plan and the measures count names and wordings from the same number on."""
    macros = (ROOT / "macros" / "findings" / "scopes.sql").read_text(encoding="utf-8")
    found = re.search(r"macro descriptors_of_a_group\(\) -%}\s*(\d+)\s*{%-", macros)
    assert found is not None
    assert {int(found[1])} == {FEWEST_DESCRIPTORS, LEAST_NAMES, MIN_DESCRIPTORS}
