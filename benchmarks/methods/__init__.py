"""Generated answers of every method, as a file to import: what they are about, how many, and the audit that reads them."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import islice
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from benchmarks.corpus import ROWS_AT_ONCE
from benchmarks.methods import decisions, lists, markers, prices, texts, words
from benchmarks.methods.asked import Answers, Asked

METHODS: Mapping[str, Answers] = {
    "words": words.ANSWERS,
    "lists": lists.ANSWERS,
    "decisions": decisions.ANSWERS,
    "prices": prices.ANSWERS,
    "markers": markers.ANSWERS,
    "texts": texts.ANSWERS,
}


def write_answers(path: Path, answers: Answers, asked: Asked) -> None:
    """Write generated answers as Parquet, row group by row group, so that a million of them are never held at once."""
    rows = answers.rows(asked)
    with pq.ParquetWriter(path, answers.schema) as writer:
        while batch := list(islice(rows, ROWS_AT_ONCE)):
            writer.write_table(pa.table(list(zip(*batch, strict=True)), schema=answers.schema))
