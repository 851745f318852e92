"""Test imports of a recommender's predictions, and the files that they refuse."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import pytest

from collector.errors import InputError
from collector.importers.predictions import import_predictions
from collector.ledger.database import Ledger
from collector.ledger.evidence import hashed_content

HEADER = (
    "city,review_id,user_id,business_id,predicted_business_id,rank,popularity_rank,category_precision_at_5,"
    "category_precision_at_10,category_precision_at_20,category_r_precision,category_map,category_mrr,category_ndcg"
)
SEEN = "Boston,r1,u1,b1,b2,2.5,1.0,0.2,0.1,0.1,0.0,0.5,1.0,0.7"
UNSEEN = "Boston,r2,u1,b9,b2,,,,,,,,,"


def file_of(folder: Path, *rows: str) -> Path:
    file = folder / "predictions.csv"
    file.write_text("\n".join((HEADER, *rows)), encoding="utf-8")
    return file


def test_what_is_kept_can_be_checked_by_its_hash(
    tmp_path: Path, ledger_path: Path, query: Callable[[str], list[tuple[Any, ...]]]
) -> None:
    summary = import_predictions([file_of(tmp_path, SEEN, UNSEEN)], ledger_path, name="mine")
    assert (summary.n_texts, summary.n_cities) == (2, 1)
    assert query("select review_id, rank, category_map from raw.predictions order by all") == [
        ("r1", 2.5, 0.5),
        ("r2", None, None),
    ]
    with duckdb.connect(str(ledger_path), read_only=True) as connection:
        [(what, stated, found)] = hashed_content(connection)
    assert (what, stated) == ("the predictions of 'mine'", found)
    # A build reads predictions together with any other runs.
    assert Ledger(ledger_path).parts_read() == {"prices"}
    with pytest.raises(InputError, match="The predictions of 'mine' are these already"):
        import_predictions([file_of(tmp_path, UNSEEN, SEEN)], ledger_path, name="mine")


@pytest.mark.parametrize(
    ("rows", "sentence"),
    [
        ((), "has no rows; it should hold one for each held-out text"),
        ((SEEN, SEEN), r"row 2 has the review 'r1' of Boston a second time, after .*: row 1"),
        ((SEEN.replace("r1", " "),), "row 1 has no review_id"),
        ((SEEN.replace("2.5", "0.5"),), "row 1 has rank '0.5'; it should be 1 or more, or empty"),
        ((SEEN.replace("0.7", "nan"),), "row 1 has category_ndcg 'nan'; it should be 0 to 1, or empty"),
    ],
)
def test_wrong_rows_are_named(
    tmp_path: Path, ledger_path: Path, rows: tuple[str, ...], sentence: str
) -> None:
    with pytest.raises(InputError, match=sentence):
        import_predictions([file_of(tmp_path, *rows)], ledger_path, name="mine")
    assert not ledger_path.exists()


def test_a_wrong_file_or_name_is_one_sentence(tmp_path: Path, ledger_path: Path) -> None:
    (tmp_path / "quality.csv").write_text("city,measure\nBoston,mrr\n", encoding="utf-8")
    with pytest.raises(InputError, match=r"has no column 'review_id'.*Name a predictions\.csv of"):
        import_predictions([tmp_path / "quality.csv"], ledger_path, name="mine")
    with pytest.raises(InputError, match=r"none\.csv does not exist"):
        import_predictions([tmp_path / "none.csv"], ledger_path, name="mine")
    with pytest.raises(InputError, match="A recommender cannot be called 'My Own'"):
        import_predictions([file_of(tmp_path, SEEN)], ledger_path, name="My Own")
