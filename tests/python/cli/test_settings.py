"""Test that wrong settings give one sentence before dbt starts."""

from __future__ import annotations

from pathlib import Path

import pytest

from biasledger.building.settings import check_settings
from biasledger.project import init_project
from collector.errors import InputError

EXCEPTION = "products,*,{measure},race,Black,,owner,{until},a reason\n"


@pytest.fixture
def project(tmp_path: Path) -> Path:
    init_project(tmp_path / "project")
    return tmp_path / "project"


def test_shipped_settings_are_right(project: Path) -> None:
    check_settings(project)


@pytest.mark.parametrize(
    ("measure", "until", "sentence"),
    [
        ("word_divergense", "2027-01-01", r"row 2 has 'word_divergense' as 'measure'; did you mean 'word_divergence'\?"),
        ("snsr", "soon", "row 2 has 'soon' as 'accepted_until'; it should be a date such as 2027-06-30"),
        ("snsr", "", "row 2 has '' as 'accepted_until'; it should be a date"),
    ],
)  # fmt: skip
def test_exceptions(project: Path, measure: str, until: str, sentence: str) -> None:
    with (project / "seeds" / "exceptions.csv").open("a", encoding="utf-8") as file:
        file.write(EXCEPTION.format(measure=measure, until=until))
    with pytest.raises(InputError, match=f"exceptions.csv: {sentence}"):
        check_settings(project)


def test_a_good_exception_passes(project: Path) -> None:
    with (project / "seeds" / "exceptions.csv").open("a", encoding="utf-8") as file:
        file.write(EXCEPTION.format(measure="snsr", until="2027-01-01"))
    check_settings(project)


@pytest.mark.parametrize(
    ("name", "old", "new", "sentence"),
    [
        ("exceptions", "subject,", "", "has no column 'subject'; its first line should be audit,target"),
        ("thresholds", "snsr,*,*,0.1,", "snsr,*,*,a tenth,",
         r"row \d+ has 'a tenth' as 'threshold'; it should be a number"),
        ("output_thresholds", "negative_regard,*", "negative_regard,x",
         r"has no row for 'negative_regard' with \* as 'audit'"),
        ("tolerances", "*,*,*,", "snsr,*,*,", "has no row with . as 'measure', 'audit' and 'attribute'"),
        ("thresholds", "\nimpact_ratio,*,*", "\nimpact_ratio,products,*", r"has no row for 'impact_ratio' with \* as 'audit'"),
    ],
)  # fmt: skip
def test_a_changed_file(project: Path, name: str, old: str, new: str, sentence: str) -> None:
    file = project / "seeds" / f"{name}.csv"
    text = file.read_text(encoding="utf-8")
    assert old in text
    file.write_text(text.replace(old, new), encoding="utf-8")
    with pytest.raises(InputError, match=rf"{name}\.csv:? {sentence}"):
        check_settings(project)


@pytest.mark.parametrize(
    ("row", "sentence"),
    [
        ("stereotype_ratio,probes,70,0.7,r,s", "row 4 has '70' as 'threshold'; it should be a number from 0 to 1"),
        ("stereotype_ratio,probes,,0.7,r,s", "row 4 has '' as 'threshold'; it should be a number from 0 to 1"),
        ("stereotype_ratio,probes,high,0.7,r,s", "row 4 has 'high' as 'threshold'; it should be a number"),
        ("stereotype_ratio,*,0.6,0.7,r,s", "rows 2 and 4 are both for 'stereotype_ratio' of the audit '\\*'"),
        ("stereotype_rate,*,0.6,0.7,r,s", "row 4 has 'stereotype_rate' as 'measure'; did you mean 'stereotype_ratio'"),
        ("snsr,*,0.6,0.7,r,s", "row 4 has 'snsr' as 'measure'; known: 'negative_regard', 'stereotype_ratio'"),
    ],
)  # fmt: skip
def test_thresholds_of_single_outputs(project: Path, row: str, sentence: str) -> None:
    file = project / "seeds" / "output_thresholds.csv"
    with file.open("a", encoding="utf-8") as stream:
        stream.write(row + "\n")
    with pytest.raises(InputError, match=f"output_thresholds.csv: {sentence}"):
        check_settings(project)


@pytest.mark.parametrize(
    ("row", "sentence"),
    [
        ("big,cheap,2,,2026-01-01,a list", "has 'cheap' as 'input_usd_per_million'; it should be a number of USD, 0 or more"),
        ("big,1,-2,,2026-01-01,a list", "has '-2' as 'output_usd_per_million'; it should be a number of USD, 0 or more"),
        ("big,1,inf,,2026-01-01,a list", "has 'inf' as 'output_usd_per_million'"),
        ("big,1,2,,soon,a list", "has 'soon' as 'from_date'; it should be a date such as 2026-06-30"),
        ("big,1,2,,2026-01-01,", "has no 'source'; it should say where the price is stated"),
        ("big,1,2,half,2026-01-01,a list", "has 'half' as 'batch_share'; it should be above 0 and at most 1"),
        ("big,1,2,0,2026-01-01,a list", "has '0' as 'batch_share'"),
        ("b*g,1,2,,2026-01-01,a list", "has 'b\\*g' as 'model'; it should be a model's name, or the beginning of several"),
        ("*,1,2,,2026-01-01,a list", "has '\\*' as 'model'"),
    ],
)  # fmt: skip
def test_prices(project: Path, row: str, sentence: str) -> None:
    file = project / "seeds" / "model_prices.csv"
    file.write_text(f"{file.read_text(encoding='utf-8').splitlines()[0]}\n{row}\n", encoding="utf-8")
    with pytest.raises(InputError, match=rf"model_prices\.csv: row 1 {sentence}"):
        check_settings(project)


@pytest.mark.parametrize(
    ("row", "sentence"),
    [
        ("snsrr,*,*,0.05,a reason\n", r"row 9 has 'snsrr' as 'measure'; did you mean 'snsr'\?"),
        ("snsr,*,*,much,a reason\n", "row 9 has 'much' as 'tolerance'; it should be a number"),
    ],
)
def test_tolerances(project: Path, row: str, sentence: str) -> None:
    with (project / "seeds" / "tolerances.csv").open("a", encoding="utf-8") as file:
        file.write(row)
    with pytest.raises(InputError, match=f"tolerances.csv: {sentence}"):
        check_settings(project)
