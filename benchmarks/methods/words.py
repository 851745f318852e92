"""Answers for the method of words: the texts of the benchmark of speed."""

from __future__ import annotations

from collections.abc import Iterator

from benchmarks.corpus import SCHEMA, responses
from benchmarks.methods.asked import Answers, Asked
from benchmarks.speed import AUDIT


def _rows(asked: Asked) -> Iterator[tuple[str, str, str, int]]:
    return responses(n_responses=asked.n_answers, n_words=asked.n_words, seed=asked.seed)


ANSWERS = Answers(audit=AUDIT, schema=SCHEMA, rows=_rows, n_words=350)
