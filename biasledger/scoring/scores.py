"""Scores text answers and keeps the scores in the ledger, next to the answers they are about.

Answers are read once and scores appended a few hundred texts at a time, so that the ledger is open for moments only and an
interrupted scoring goes on where it stopped.
"""

from __future__ import annotations

import math
import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from collector.errors import InputError
from collector.hints import did_you_mean
from collector.spec.methods.markers import NEGATIVE

if TYPE_CHECKING:
    from biasledger.scoring.classifiers import Classifier
    from collector.ledger.database import Ledger
    from collector.ledger.scorable import AnswerToScore
    from collector.rows import ScoreRow

MASK = "XYZ"
APPENDED_AT_ONCE = 256


@dataclass(frozen=True)
class ScoringSummary:
    """The numbers of scored answers, of different texts among them, and of texts too short for a reliable score."""

    n_answers: int
    n_texts: int
    n_short: int
    n_runs: int


def scorer_name(model: str, *, mask: bool) -> str:
    """Return the name of a model's scores: its name on the hub or its folder's name, and whether group words were left in."""
    name = Path(model).resolve().name if Path(model).is_dir() else model
    return name if mask else f"{name} (unmasked)"


def read_label_map(written: str) -> dict[str, str]:
    """Return the pairs of FROM=TO,…; raise InputError where one is no pair or a label occurs twice."""
    found: dict[str, str] = {}
    for pair in written.split(","):
        old, equals, new = (part.strip() for part in pair.partition("="))
        if not (old and equals and new):
            raise InputError(
                f"--label-map has {pair!r}; it should be a label of the model, = and what it is kept as."
            )
        if old.lower() in found:
            raise InputError(f"--label-map names {old!r} a second time.")
        found[old.lower()] = new.lower()
    return found


def answers_left(
    ledger_path: Path, scorer: str, *, run: str | None = None, limit: int | None = None
) -> list[AnswerToScore]:
    """Return the text answers that a scorer has yet to score.

    Args:
        ledger_path: the ledger; an older schema is brought up to date.
        scorer: its name in raw.response_scores.
        run: only this run; None takes every run whose answers are texts.
        limit: at most so many.

    Raises:
        InputError: no such run, or no text answers at all.
        LedgerError: the ledger is absent or cannot be used.
    """
    from collector.ledger.database import Ledger
    from collector.ledger.scorable import answers_to_score

    ledger = Ledger(ledger_path)
    ledger.update()
    if run is not None:
        known = [one.run_id for one in ledger.runs() if not one.is_retracted]
        if run not in known:
            raise InputError(f"{ledger_path} holds no run {run!r}{did_you_mean(run, known)}")
    left, n_scored = answers_to_score(ledger, scorer, run)
    if not left and not n_scored:
        where = f"Run {run}" if run else str(ledger_path)
        raise InputError(
            f"{where} holds no text answers to score: labels, lists and rankings are read without a classifier."
        )
    return left[:limit]


def labels_judged(ledger_path: Path, answers: Sequence[AnswerToScore], scorer: str) -> list[str]:
    """Return the labels of a scorer that the audits of some answers judge.

    Raises:
        InputError: they judge none of its labels.
        LedgerError: the ledger is absent or cannot be used.
    """
    from collector.ledger.database import Ledger
    from collector.ledger.scorable import judged_labels

    found = judged_labels(Ledger(ledger_path), scorer, {answer.run_id for answer in answers})
    if not found:
        raise InputError(
            f"The audits of these answers judge no label of {scorer!r}: name one in their analysis.markers.scores and run "
            f"biasledger build, or score as a scorer that they name (--scorer NAME)."
        )
    return found


def score_answers(
    ledger_path: Path,
    answers: Sequence[AnswerToScore],
    classify: Classifier,
    *,
    scorer: str,
    mask: bool = True,
    label_map: Mapping[str, str] | None = None,
    judged: Sequence[str] = (NEGATIVE,),
    show_progress: bool | None = None,
) -> ScoringSummary:
    """Score answers, texts that are the same only once, and append the scores to the ledger.

    Args:
        ledger_path: the ledger that the answers are from.
        answers: the result of `answers_left`.
        classify: the classifier, which gets whole texts and cuts them itself if it must.
        scorer: its name.
        mask: replace words that name a group, so that the statement is scored and not the group.
        label_map: the classifier's labels -> the stored labels, in any case; scores of labels that become one are added.
        judged: labels that a measure uses; at least one has to be among the stored ones.
        show_progress: None shows it on a terminal only.

    Raises:
        InputError: the map names a label that the classifier has not, or no stored label is judged. Nothing is appended.
        LedgerError: the ledger cannot be used. Scores that were appended before stay.
    """
    from collector.asking.progress import progress

    by_text: dict[str, list[AnswerToScore]] = defaultdict(list)
    for answer in answers:
        by_text[masked(answer.text, answer.group_words) if mask else answer.text].append(answer)
    # Texts of one length need the least padding.
    texts = sorted(by_text, key=lambda text: (len(text), text))
    with progress(len(texts), "Texts scored", show_progress) as advance:
        for start in range(0, len(texts), APPENDED_AT_ONCE):
            chunk = texts[start : start + APPENDED_AT_ONCE]
            scored = [
                (answer, _renamed(scores, label_map or {}, judged))
                for text, scores in zip(chunk, classify(chunk), strict=True)
                for answer in by_text[text]
            ]
            _append(ledger_path, scored, scorer)
            advance(start + len(chunk), 0)
    return ScoringSummary(
        n_answers=len(answers),
        n_texts=len(texts),
        n_short=sum(_is_short(answer) for answer in answers),
        n_runs=len({answer.run_id for answer in answers}),
    )


def masked(text: str, group_words: Sequence[str]) -> str:
    """Return a text with group words replaced by MASK: whole words in any case, white space and hyphens alike inside them."""
    pattern = _pattern(tuple(group_words))
    return text if pattern is None else pattern.sub(MASK, text)


def replaced(text: str, words: Mapping[str, str]) -> str:
    """Return a text with each of some words, found as by `masked`, replaced by another."""
    pattern = _pattern(tuple(words))
    by_parts = {_parts(word): other for word, other in words.items()}
    return text if pattern is None else pattern.sub(lambda found: by_parts[_parts(found[0])], text)


def _parts(phrase: str) -> tuple[str, ...]:
    return tuple(re.split(r"[\s-]+", phrase.strip().lower()))


@lru_cache(maxsize=1024)
def _pattern(group_words: tuple[str, ...]) -> re.Pattern[str] | None:
    # The longest first: "Black woman" is one word, not a masked "Black" and a woman.
    phrases = sorted({word.strip() for word in group_words} - {""}, key=lambda word: (-len(word), word))
    if not phrases:
        return None
    either = "|".join(
        r"[\s-]+".join(re.escape(part) for part in re.split(r"[\s-]+", phrase)) for phrase in phrases
    )
    return re.compile(rf"(?<!\w)(?:{either})(?!\w)", re.IGNORECASE)


def _renamed(
    scores: Mapping[str, float], label_map: Mapping[str, str], judged: Sequence[str]
) -> dict[str, float]:
    """Scores of a text under the labels they are kept as; raise InputError where one is no number or no label is judged."""
    names = {old.lower(): new.lower() for old, new in label_map.items()}
    for old in names:
        if old not in scores:
            raise InputError(
                f"--label-map names {old!r}, which is no label of the model{did_you_mean(old, list(scores))}"
            )
    renamed: dict[str, float] = {}
    for label, score in scores.items():
        if not math.isfinite(score):
            raise InputError(
                f"The model's score of {label!r} is {score}, which is no number: its weights may be damaged."
            )
        name = names.get(label, label)
        renamed[name] = renamed.get(name, 0.0) + score
    if renamed.keys().isdisjoint(judged):
        raise InputError(
            f"The model's labels are {', '.join(sorted(scores))}, and none is {' or '.join(judged)}, which is what is judged; "
            f"say which one is, as in --label-map {min(scores)}={judged[0]}, or name a label of the model in "
            f"analysis.markers.scores of the audit and run biasledger build, and then score."
        )
    return renamed


def _is_short(answer: AnswerToScore) -> bool:
    from collector.rows import SHORT_CHARACTERS

    return len(answer.text.strip()) < SHORT_CHARACTERS


def _append(ledger_path: Path, scored: Sequence[tuple[AnswerToScore, dict[str, float]]], scorer: str) -> None:
    from collector.ledger.database import Ledger
    from collector.rows import ScoreRow, utc_now

    now = utc_now()
    append_scores(
        Ledger(ledger_path),
        [
            (
                answer.run_id,
                ScoreRow(
                    *(answer.prompt_id, answer.trial, answer.attempt, scorer, label, score),
                    is_short=_is_short(answer),
                    scored_at=now,
                ),
            )
            for answer, scores in scored
            for label, score in scores.items()
        ],
    )


def append_scores(ledger: Ledger, scores: Iterable[tuple[str, ScoreRow]]) -> None:
    """Append scores to the ledger, each with the run that it is of."""
    by_run: dict[str, list[ScoreRow]] = defaultdict(list)
    for run_id, row in scores:
        by_run[run_id].append(row)
    with ledger.append() as append:
        for run_id, rows in by_run.items():
            append.scores(run_id, rows)
