"""Files of answers in every format, and rows for them."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import duckdb

from collector.ledger.summary import RunSummary

Query = Callable[[str], list[tuple[Any, ...]]]
Content = Callable[[], dict[str, list[tuple[Any, ...]]]]
Write = Callable[..., Path]
Bring = Callable[..., RunSummary]
BringRuns = Callable[..., tuple[RunSummary, ...]]
Refused = Callable[..., str]
Row = dict[str, Any]

# A FROM clause: responses with their prompts.
ANSWERS = "raw.responses inner join raw.prompts using (run_id, prompt_id)"


def write_file(path: Path, rows: Sequence[Row]) -> Path:
    """Write rows in the format that the path's ending names."""
    columns = list(rows[0])
    if path.suffix in (".csv", ".tsv"):
        with path.open("w", newline="", encoding="utf-8") as stream:
            writer = csv.writer(stream, delimiter="\t" if path.suffix == ".tsv" else ",")
            writer.writerow(columns)
            writer.writerows([[row[name] for name in columns] for row in rows])
    elif path.suffix in (".jsonl", ".ndjson"):
        path.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), encoding="utf-8")
    else:
        listed = ", ".join(f'"{name}" varchar' for name in columns)
        with duckdb.connect() as connection:
            connection.execute(f"create table t ({listed})")
            marks = ", ".join("?" for _ in columns)
            connection.executemany(
                f"insert into t values ({marks})", [[row[name] for name in columns] for row in rows]
            )
            # Under a plain name first: any other may mean something to DuckDB.
            plain = path.parent / "plain.parquet"
            connection.execute(f"copy t to '{plain}' (format parquet)")
            plain.rename(path)
    return path


def simple(n: int, **extra: Sequence[Any]) -> list[Row]:
    """Return n rows over the four groups, each with an answer of its own."""
    return [
        {
            "race": ["a White", "an Asian"][index % 2],
            "gender": ["M", "W"][index // 2 % 2],
            "question": f"Question {index % 4}",
            "answer": f"Answer {index}",
            **{name: values[index] for name, values in extra.items()},
        }
        for index in range(n)
    ]


def changed(rows: Sequence[Row], number: int, **cells: object) -> list[Row]:
    """Return the rows with cells of one of them (from 1) changed."""
    return [{**row, **cells} if index == number else dict(row) for index, row in enumerate(rows, start=1)]
