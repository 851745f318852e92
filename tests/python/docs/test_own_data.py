"""Test the tables of docs/own-data.md: kinds of files and wrong inputs. test_paths.py runs its commands."""

from __future__ import annotations

import re

from tests.python.docs import wrong_inputs
from tests.python.docs.shell import ROOT

DOCUMENT = "docs/own-data.md"


def test_the_readme_names_what_is_read() -> None:
    """The page has a row for each kind of file; README.md names them all in one."""
    [row] = [
        line
        for line in (ROOT / "README.md").read_text(encoding="utf-8").splitlines()
        if line.startswith("| take answers in |")
    ]
    kinds = re.findall(
        r"^\| (`\..+?|a folder|logs) \|", (ROOT / DOCUMENT).read_text(encoding="utf-8"), re.MULTILINE
    )
    words = {
        "`.csv`, `.tsv`": "CSV",
        "`.xlsx`, `.xlsm`": "Excel",
        "`.json`": "JSON arrays",
        "`.jsonl`, `.ndjson`": "JSON Lines",
        "`.parquet`": "Parquet",
        "a folder": "folders of Hugging Face datasets",
        "logs": "logs of",
    }
    assert kinds == list(words)
    assert all(word in row for word in [*words.values(), "encoding", "(docs/own-data.md)"])


def test_thirty_wrong_inputs_are_answered_as_the_tables_say() -> None:
    text = (ROOT / DOCUMENT).read_text(encoding="utf-8")
    shown = text.partition(wrong_inputs.BEGIN)[2].partition(wrong_inputs.END)[0]
    said = wrong_inputs.answers()
    assert len(said) == len(wrong_inputs.CASES) >= 30
    assert said.keys() >= wrong_inputs.COMMON
    hint = f"run: python -m tests.python.docs.wrong_inputs {DOCUMENT}"
    assert wrong_inputs.ALL.read_text(encoding="utf-8") == wrong_inputs.table(said, said), hint
    assert shown == wrong_inputs.table(said, wrong_inputs.COMMON), hint
