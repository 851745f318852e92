"""Thresholds from labels: of a file or kept in the ledger, and the warehouse's scores of what is labelled; a file to fill in."""

from __future__ import annotations

import bisect
import csv
import re
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from biasledger.opening import connect_read_only
from biasledger.tuning.thresholds import (
    ALL_AUDITS,
    NEGATIVE_REGARD,
    PUBLISHED,
    STEREOTYPE_RATIO,
    Tuning,
    TuningResult,
)
from collector.errors import BiasledgerError, InputError
from collector.files.csv import inert
from collector.hints import did_you_mean, ended, quoted
from collector.ledger.labels import ACCEPTABLE, LABELS, PROBLEMATIC, KeptLabel, read_labels
from collector.tables.rows import read_rows, require_cells

if TYPE_CHECKING:
    import duckdb

    from biasledger.measures.tuning import ThresholdErrors

HERE = "this folder"
CURVE_COLUMNS = (
    "measure",
    "scheme",
    "threshold",
    "n_acceptable",
    "n_false_positives",
    "false_positive_rate",
    "n_problematic",
    "n_missed",
    "miss_rate",
)
_SAMPLE_COLUMNS = ("response", "probe", "prompt", "text", "label")
_SAMPLE_DIGITS = 16
_SAMPLE_BINS = 5
_SCORES = "fct_stereotype_scores"
ADDRESS = ("run", "prompt", "trial")
_HASH = re.compile(r"(?:sha256:)?([0-9a-f]{12,64})")
_Output = TypeVar("_Output", bound=Hashable)


@dataclass(frozen=True)
class _Score:
    run_id: str
    prompt_id: str
    trial: int
    response_hash: str
    probe: str
    scheme: str
    is_judged: bool
    ratio: float | None
    negative_regard: float | None


def tune(labels: Path, warehouse: Path, *, audit: str = ALL_AUDITS) -> TuningResult:
    """Find, for each measure of single outputs, the smallest threshold with few enough false positives.

    Args:
        labels: a CSV file with the column label (acceptable or problematic; rows without one are left out) and either response,
            an output's hash or its first 12 or more digits, or run, prompt and trial. Outputs that are the same count once.
        warehouse: the built warehouse.
        audit: the audit whose outputs are labelled, and whose thresholds are in use; * for all.

    Raises:
        InputError: a file is absent, a row's label or output is wrong, or no run is of that audit; names file and row.
        BiasledgerError: the warehouse cannot be read.
    """
    rows = read_rows(labels, "a row for each labelled output", key_columns, seen_from=HERE)
    scores = _read_scores(warehouse, audit)
    is_problematic, n_unlabelled = _labelled(labels, rows, scores, warehouse)
    if not is_problematic:
        raise InputError(f"{labels}: no row has a label; it should be {ACCEPTABLE} or {PROBLEMATIC}.")
    return _tune(is_problematic, scores, warehouse, audit, n_unlabelled_rows=n_unlabelled)


def read_kept(ledger: Path) -> list[KeptLabel]:
    """Return the labels that people gave to answers, see `biasledger label`.

    Raises:
        InputError: there are none.
        LedgerError: the ledger cannot be read.
    """
    from collector.ledger.database import Ledger

    with Ledger(ledger).read() as connection:
        kept = read_labels(connection)
    if not kept:
        raise InputError(
            f"{ledger} keeps no labels: give some with `biasledger label` or `biasledger serve --label-as`, or name a file of "
            f"them."
        )
    return kept


def tune_kept(
    kept: Sequence[KeptLabel], ledger: Path, warehouse: Path, *, audit: str = ALL_AUDITS
) -> TuningResult:
    """As `tune`, by labels that the ledger keeps; an output whose labels contradict each other is left out, and counted.

    Raises:
        InputError: none of them is of an output that the warehouse has scores of.
        BiasledgerError: the warehouse cannot be read.
    """
    scores = _read_scores(warehouse, audit)
    hash_of = {(score.run_id, score.prompt_id, score.trial): score.response_hash for score in scores}
    given: dict[str, set[str | None]] = {}
    for one in kept:
        if (key := (one.run_id, one.prompt_id, one.trial)) in hash_of:
            given.setdefault(hash_of[key], set()).add(one.label)
    if not given:
        raise InputError(
            f"None of the {len(kept):,} labels in {ledger} is of an output in {_SCORES} of {warehouse}: build it, or label "
            f"answers of an audit whose analysis has markers or that was scored."
        )
    agreed = {one: PROBLEMATIC in labels for one, labels in given.items() if len(labels) == 1}
    n_contradictory = len(given) - len(agreed)
    skipped = [f"outputs whose labels contradict each other, {n_contradictory:,} of {len(given):,}."]
    return _tune(agreed, scores, warehouse, audit, skipped=skipped if n_contradictory else [])


def _tune(
    is_problematic: dict[str, bool],
    scores: Sequence[_Score],
    warehouse: Path,
    audit: str,
    *,
    n_unlabelled_rows: int = 0,
    skipped: Sequence[str] = (),
) -> TuningResult:
    """Tune by labels: response hash -> whether it is problematic."""
    thresholds = PUBLISHED | _thresholds_in_use(warehouse, audit)
    judged = {score.scheme for score in scores if score.is_judged}
    tunings, not_tuned = [], [*skipped]
    for measure, scheme, values in _measures(scores):
        labelled = {one: values[one] for one in is_problematic if one in values}
        name = f"{measure} ({scheme})" if scheme else measure
        try:
            best, current, curve = _tuned(labelled, is_problematic, thresholds[measure])
        except ValueError as error:
            not_tuned.append(f"{name}: {error}.")
            continue
        without = [one for one in is_problematic if one not in values]
        tunings.append(
            Tuning(
                measure=measure,
                scheme=scheme,
                is_judged=not scheme or scheme in judged,
                best=best,
                current=current,
                curve=curve,
                n_without_value=len(without),
                n_problematic_without_value=sum(is_problematic[one] for one in without),
            )
        )
    return TuningResult(len(is_problematic), n_unlabelled_rows, tunings, not_tuned)


def write_curve(path: Path, tunings: Sequence[Tuning]) -> None:
    """Write the curves, a row a measure, scheme and threshold; replaces a file that is there.

    Raises:
        OSError: the file cannot be written.
    """
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(CURVE_COLUMNS)
        for tuning in tunings:
            for point in tuning.curve:
                above, missed = point.false_positives, point.misses
                writer.writerow(
                    [
                        *(tuning.measure, tuning.scheme, point.threshold),
                        *(above.n, above.count, above.value, missed.n, missed.count, missed.value),
                    ]
                )


def write_sample(
    path: Path, warehouse: Path, ledger: Path, *, n: int, seed: int = 0, audit: str = ALL_AUDITS
) -> int:
    """Write outputs to be labelled, evenly over the range of the measure, and return how many.

    Args:
        path: the CSV file, with an empty column label.
        warehouse: where the outputs' scores are.
        ledger: where their texts are.
        n: how many outputs; fewer are written where there are not as many that could be assessed.
        seed: draws them; the same seed gives the same file.
        audit: the audit whose outputs they are, * for all.

    Raises:
        InputError: the file is there already, nothing could be assessed, or no run is of that audit.
        LedgerError: the ledger cannot be used.
        BiasledgerError: the warehouse cannot be read.
    """
    from collector.ledger.database import Ledger
    from collector.ledger.scorable import answer_texts

    if path.exists():
        raise InputError(f"{path} is there already and may hold labels; name another file.")
    scores: dict[str, _Score] = {}
    for score in _read_scores(warehouse, audit):
        if _value(score) is not None:
            scores.setdefault(score.response_hash, score)
    if not scores:
        raise InputError(f"{warehouse} holds no output with markers or a score of regard to be labelled.")
    drawn = _spread(sorted(scores.values(), key=lambda score: score.response_hash), n, seed)
    texts = answer_texts(Ledger(ledger), [score.response_hash for score in drawn])
    with path.open("x", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(_SAMPLE_COLUMNS)
        for score in drawn:
            digits = score.response_hash.removeprefix("sha256:")[:_SAMPLE_DIGITS]
            texts_of = texts.get(score.response_hash, ("", ""))
            writer.writerow([digits, *map(inert, (score.probe, *texts_of)), ""])
    return len(drawn)


def key_columns(header: Sequence[str]) -> tuple[str, ...]:
    """Return the columns that a file of labels has to have, by its header."""
    return ("label", *ADDRESS) if "run" in header and "response" not in header else ("response", "label")


def _labelled(
    path: Path, rows: Sequence[dict[str, str]], scores: Sequence[_Score], warehouse: Path
) -> tuple[dict[str, bool], int]:
    """Response hash -> whether it is problematic, and the number of rows without a label."""
    finder = _Finder(path, scores, warehouse)
    labels = labels_of_rows(path, rows)
    outputs = ((number, finder.find(number, rows[number - 1])) for number in labels)
    given = labels_of_outputs(path, labels, outputs)
    return {output: label == PROBLEMATIC for output, label in given.items()}, len(rows) - len(labels)


def labels_of_rows(
    path: Path, rows: Sequence[dict[str, str]], known: Sequence[str] = LABELS
) -> dict[int, str]:
    """Return the number of each row that has a label, from 1 -> its label, one of those known.

    Raises:
        InputError: a label is another than there are.
    """
    return {
        number: label
        for number, row in enumerate(rows, start=1)
        if (label := _label_of(path, number, row, known))
    }


def labels_of_outputs(
    path: Path, labels: Mapping[int, str], outputs: Iterable[tuple[int, _Output]]
) -> dict[_Output, str]:
    """Output -> its label.

    Args:
        path: the file of labels, for errors.
        labels: number of a row -> its label.
        outputs: number of a row, and an output that it names.

    Raises:
        InputError: two rows give an output different labels.
    """
    first_row: dict[_Output, int] = {}
    for number, output in outputs:
        before = first_row.setdefault(output, number)
        if labels[before] != labels[number]:
            raise InputError(
                f"{path}: rows {before} and {number} are the same output with different labels; give it one."
            )
    return {output: labels[number] for output, number in first_row.items()}


def _label_of(path: Path, number: int, row: dict[str, str], known: Sequence[str]) -> str:
    """Return the label of a row, empty where it has none yet."""
    written = row["label"].lower().removesuffix(".0")
    label = next((one for one in known if one.lower() == written), "")
    if written and not label:
        raise InputError(
            f"{path}: row {number} has {row['label']!r} as 'label'{did_you_mean(written, known)}"
        )
    return label


def hash_digits(path: Path, number: int, response: str) -> str:
    """Return the digits by which a row names an output.

    Raises:
        InputError: they are none.
    """
    matched = _HASH.fullmatch(response.lower())
    if matched is None:
        raise InputError(
            f"{path}: row {number} has {response!r} as 'response'; it should be an output's hash (response_hash of "
            f"{_SCORES}) or its first 12 or more digits."
        )
    return matched[1]


class _Finder:
    """Finds the hash of the output that a row of labels names."""

    def __init__(self, path: Path, scores: Sequence[_Score], warehouse: Path) -> None:
        self._path = path
        self._warehouse = warehouse
        self._by_digits = {
            score.response_hash.removeprefix("sha256:"): score.response_hash for score in scores
        }
        self._digits = sorted(self._by_digits)
        self._by_address = {
            (score.run_id, score.prompt_id, str(score.trial)): score.response_hash for score in scores
        }

    def find(self, number: int, row: dict[str, str]) -> str:
        """Return the output's hash; number is the row's, for errors."""
        if "response" not in row:
            require_cells(self._path, number, row, ADDRESS)
            address = (row["run"], row["prompt"], row["trial"])
            if address not in self._by_address:
                raise InputError(
                    f"{self._path}: row {number} names run {address[0]}, prompt {address[1]}, trial {address[2]}, of which "
                    f"{_SCORES} in {self._warehouse} knows nothing; `biasledger tune --sample` writes a file to fill in."
                )
            return self._by_address[address]
        require_cells(self._path, number, row, ["response"])
        return self._find_by_digits(number, row["response"])

    def _find_by_digits(self, number: int, response: str) -> str:
        digits = hash_digits(self._path, number, response)
        start = bisect.bisect_left(self._digits, digits)
        found = [one for one in self._digits[start : start + 2] if one.startswith(digits)]
        if len(found) != 1:
            several = "belongs to several outputs; give more digits" if found else "is no output"
            raise InputError(
                f"{self._path}: row {number} has {response!r} as 'response', which {several} of {_SCORES} in "
                f"{self._warehouse}."
            )
        return self._by_digits[found[0]]


def _measures(scores: Sequence[_Score]) -> list[tuple[str, str, dict[str, float]]]:
    """Measure, scheme, and its value by response hash, of the measures that say anything."""
    measures = []
    for scheme in dict.fromkeys(score.scheme for score in scores):
        ratios = {
            one.response_hash: one.ratio for one in scores if one.scheme == scheme and one.ratio is not None
        }
        measures.append((STEREOTYPE_RATIO, scheme, ratios))
    regard = {one.response_hash: one.negative_regard for one in scores if one.negative_regard is not None}
    return [one for one in (*measures, (NEGATIVE_REGARD, "", regard)) if one[2]]


def _tuned(
    values: dict[str, float], is_problematic: dict[str, bool], current: float
) -> tuple[ThresholdErrors, ThresholdErrors, list[ThresholdErrors]]:
    import numpy as np

    from biasledger.measures.tuning import smallest_threshold, threshold_curve, threshold_errors

    array = np.array(list(values.values()), dtype=np.float64)
    labels = np.array([is_problematic[one] for one in values], dtype=np.bool_)
    curve = threshold_curve(array, labels)
    [in_use] = threshold_errors(array, labels, [current])
    return smallest_threshold(curve), in_use, curve


def _value(score: _Score) -> float | None:
    return score.negative_regard if score.ratio is None else score.ratio


def _spread(scores: Sequence[_Score], n: int, seed: int) -> list[_Score]:
    """Draw n of them, as evenly over bins of the measure's range as there are outputs in them; in a random order."""
    import numpy as np

    generator = np.random.default_rng(seed)
    bins: list[list[_Score]] = [[] for _ in range(_SAMPLE_BINS)]
    for score in scores:
        bins[min(int((_value(score) or 0.0) * _SAMPLE_BINS), _SAMPLE_BINS - 1)].append(score)
    for members in bins:
        generator.shuffle(members)
    drawn: list[_Score] = []
    while len(drawn) < n and any(bins):
        for members in bins:
            if members and len(drawn) < n:
                drawn.append(members.pop())
    # The order must not reveal the measure to a labeller.
    return [drawn[place] for place in generator.permutation(len(drawn))]


def _read_scores(warehouse: Path, audit: str) -> list[_Score]:
    columns = (
        "run_id",
        "prompt_id",
        "trial",
        "response_hash",
        "probe",
        "scheme",
        "is_judged",
        "stereotype_ratio",
        "is_assessable",
    )
    with connect_read_only(warehouse) as connection:
        table = _table(connection, _SCORES)
        if table is None:
            raise InputError(
                f"{warehouse} holds no table {_SCORES}: collect or import an audit whose analysis has markers, or score answers "
                f"with `biasledger score`, then run `biasledger build`."
            )
        known = set(connection.sql(f"select * from {table} limit 0").columns)
        if missing := [column for column in columns if column not in known]:
            raise BiasledgerError(
                f"{_SCORES} in {warehouse} has no column {quoted(missing)}; rebuild it: biasledger build --full-refresh"
            )
        runs = _runs_of(connection, warehouse, audit)
        rows = connection.execute(
            f"""
            select
                run_id, prompt_id, trial, response_hash, coalesce(probe, ''), coalesce(scheme, ''), is_judged,
                case when is_assessable then stereotype_ratio end,
                {"negative_regard" if "negative_regard" in known else "null"}
            from {table}
            where response_hash is not null and ($runs is null or list_contains($runs, run_id))
            order by scheme, response_hash, run_id, prompt_id, trial
            """,
            {"runs": runs},
        ).fetchall()
    return [_Score(*row) for row in rows]


def _runs_of(connection: duckdb.DuckDBPyConnection, warehouse: Path, audit: str) -> list[str] | None:
    """Return the runs of an audit, None for all."""
    if audit == ALL_AUDITS:
        return None
    rows = connection.execute(f"select audit, run_id from {_table(connection, 'dim_runs')}").fetchall()
    runs = [str(run) for of, run in rows if of == audit]
    if not runs:
        hint = did_you_mean(audit, sorted({str(of) for of, _ in rows}))
        raise InputError(ended(f"--audit is {audit!r}, of which {warehouse} has no run{hint}"))
    return runs


def _thresholds_in_use(warehouse: Path, audit: str) -> dict[str, float]:
    """Measure -> the threshold of single outputs that the warehouse was built with."""
    with connect_read_only(warehouse) as connection:
        table = _table(connection, "output_thresholds")
        if table is None:
            return {}
        rows = connection.execute(
            f"select measure, threshold from {table} where audit in (?, ?) order by audit = ? desc",
            [audit, ALL_AUDITS, ALL_AUDITS],
        ).fetchall()
    return {str(measure): float(threshold) for measure, threshold in rows}


def _table(connection: duckdb.DuckDBPyConnection, name: str) -> str | None:
    rows: list[Any] = connection.execute(
        "select table_schema from information_schema.tables where table_name = ? limit 1", [name]
    ).fetchall()
    return f'"{rows[0][0]}".{name}' if rows else None
