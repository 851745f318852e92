"""Test docs/sources.md: its names exist, each row has a state, and the counts of states are right."""

from __future__ import annotations

import csv
import re
from collections import Counter

import click
import pytest

from biasledger.cli import cli
from biasledger.querying.tables import described_tables
from tests.python.docs.shell import ROOT

PAGE = (ROOT / "docs" / "sources.md").read_text(encoding="utf-8")
KEYS = (ROOT / "docs" / "audits.md").read_text(encoding="utf-8")
STATES = ("done", "differs", "partly", "missing")
SPEC_KEYS = ("answer", "people", "analysis", "templates", "subjects")


def _rows() -> list[tuple[str, str, str, str]]:
    """Source, item, where and state of every row."""
    rows, source = [], ""
    for line in PAGE.splitlines():
        source = line.removeprefix("## ") if line.startswith("## ") else source
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if source and line.startswith("| ") and cells[0] != "item":
            item, where, state = cells
            rows.append((source, item, where, state))
    return rows


ROWS = _rows()
NAMED = sorted({name for _, _, where, _ in ROWS for name in re.findall(r"`([^`]+)`", where)})


def _columns() -> dict[str, set[str]]:
    """Public tables and settings with their columns."""
    columns = {table.name: {column.name for column in table.columns} for table in described_tables()}
    for seed in (ROOT / "seeds").glob("*.csv"):
        with seed.open(encoding="utf-8", newline="") as file:
            columns[seed.stem] = set(next(csv.reader(file)))
    return columns


def _others() -> set[str]:
    """Return other names: measures, analyses, parts, mitigations and templates of audits, schemes, values and labels."""
    with (ROOT / "seeds" / "measures.csv").open(encoding="utf-8", newline="") as file:
        measures = {row["measure"] for row in csv.DictReader(file)}
    audits = " ".join(path.read_text(encoding="utf-8") for path in (ROOT / "audits").glob("*.yml"))
    written = set(re.findall(r"[\w*-]+", audits))
    return measures | {path.stem for path in (ROOT / "analyses").rglob("*.sql")} | written


COLUMNS, OTHERS = _columns(), _others()


def _command(words: list[str]) -> click.Command:
    """The command of words such as lmrec, train."""
    command: click.Command = cli
    with click.Context(cli) as context:
        while words and isinstance(command, click.Group):
            found = command.get_command(context, words.pop(0))
            assert found is not None
            command = found
    return command


@pytest.mark.parametrize("name", NAMED)
def test_what_it_names_is_there(name: str) -> None:
    first, _, rest = name.partition(".")
    if name.startswith("biasledger "):
        words = name.split()[1:]
        options = [word for word in words if word.startswith("-")]
        command = _command([word for word in words if not word.startswith("-")])
        assert set(options) <= {option for parameter in command.params for option in parameter.opts}
    elif first in COLUMNS:
        assert not rest or rest in COLUMNS[first]
    elif first in SPEC_KEYS:
        assert f"\n| `{name.rpartition('.')[2]}` |" in KEYS
    elif "/" in name or name.endswith(".yml"):
        assert (ROOT / name).exists()
    else:
        assert name in OTHERS | {
            "all_groups",
            "source",
            "ours",
            "substring",
            "lmrec",
            "religion",
            "lsa",
            "encoder",
            "encoder_centred",
            "fair_ranking",
        }


def test_its_links_lead_somewhere() -> None:
    links = re.findall(r"\]\(([^)#]+)(?:#[^)]*)?\)", PAGE)
    assert links
    assert all((ROOT / "docs" / link).is_file() for link in links)


def test_every_row_has_an_item_a_place_and_a_state() -> None:
    assert len({source for source, *_ in ROWS}) == 5
    assert {state for *_, state in ROWS} <= set(STATES)
    assert all(item and where for _, item, where, _ in ROWS)
    for source, item, where, state in ROWS:
        # A row that is done names its place.
        assert state != "done" or "`" in where or "](" in where or "shown" in where or "“" in where, (
            source,
            item,
        )


def counted_states() -> str:
    """The table of states by source, as the page has it between its marks."""
    counts = Counter((source, state) for source, _, _, state in ROWS)
    return "\n".join(
        [
            f"| source | {' | '.join(STATES)} |",
            "|---|---|---|---|---|",
            *(
                f"| {source} | {' | '.join(str(counts[source, state]) for state in STATES)} |"
                for source in dict.fromkeys(source for source, *_ in ROWS)
            ),
        ]
    )


def test_the_states_are_counted() -> None:
    [written] = re.findall(r"<!-- counts -->\n(.*?)\n<!-- end of counts -->", PAGE, flags=re.DOTALL)
    assert written == counted_states()
