"""Test training: held-out data, reproducible models, files without code, and error messages."""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import stats

from biasledger.measures.recommenders.table import Measure, averaged
from collector.errors import InputError
from lmrec.augmentation import Swapper, read_groups
from lmrec.encoders.fitting import Text
from lmrec.encoders.tfidf import Tfidf, TfidfSettings
from lmrec.evaluation import evaluate_model
from lmrec.model import CATALOGUE, Recommender, load, read_card
from lmrec.training import TrainSettings, read_hidden, train
from lmrec.yelp import is_held_out
from tests.python.lmrec.conftest import NAMES, write_lines

HELD = next(f"u{number}" for number in range(100) if is_held_out(f"u{number}"))
TEXTS = (
    ("a", "pasta and wine", 6),
    ("b", "tacos and beer", 6),
    ("c", "sushi and tea", 1),
)


def small_files(folder: Path) -> tuple[Path, Path]:
    """Two businesses with six reviews and one with one; another in another city; one held-out text each about a and c."""
    businesses = [
        {"business_id": venue, "name": f"Venue {venue}", "city": "Boston", "categories": "Restaurants"}
        for venue, _, _ in TEXTS
    ]
    businesses.append({"business_id": "d", "name": "Venue a", "city": "Austin"})
    trained = [name for name in (f"u{number}" for number in range(100)) if not is_held_out(name)]
    rows = [
        {"review_id": f"{venue}{number}", "user_id": trained[number], "business_id": venue, "text": text}
        for venue, text, n in TEXTS
        for number in range(n)
    ]
    rows += [
        {"review_id": f"held {venue}", "user_id": HELD, "business_id": venue, "text": "pasta"}
        for venue in ("a", "c")
    ]
    return write_lines(folder / "b.json", businesses), write_lines(folder / "r.json", rows)


def test_businesses_with_too_few_reviews_are_left_out(tmp_path: Path) -> None:
    files = small_files(tmp_path)
    trained = train(*files, tmp_path / "model", TrainSettings(city="boston", min_reviews=3))
    assert [(row.venue.venue_id, row.n_reviews, row.n_train) for row in trained.catalogue] == [
        ("a", 7, 6),
        ("b", 6, 6),
    ]
    assert trained.card["counts"] == {
        "venues": 2,
        "venues_trained": 2,
        "texts_trained": 12,
        "texts_held_out": 1,
    }
    (first, second) = trained.recommend("some pasta please", 20)
    assert (first.venue.venue_id, second.venue.venue_id) == ("a", "b")
    assert first.probability + second.probability == pytest.approx(1)
    assert trained.card["metrics"]["venue"]["accuracy"] == 1
    # They share only "Restaurants", which carries no information.
    assert trained.card["metrics"]["category"]["map"] is None


def test_too_little_to_train_from_is_one_sentence(tmp_path: Path) -> None:
    files = small_files(tmp_path)
    with pytest.raises(InputError, match="leaves 0 businesses with 100 reviews or more to train from"):
        train(*files, tmp_path / "model", TrainSettings())
    assert not (tmp_path / "model").exists()


def test_a_model_is_not_overwritten(example_files: tuple[Path, Path], model_folder: Path) -> None:
    with pytest.raises(InputError, match="holds a model already"):
        train(*example_files, model_folder, TrainSettings())


@pytest.mark.parametrize("solver", ["lbfgs", "sag"])
def test_the_same_data_give_the_same_model(tmp_path: Path, solver: Any) -> None:
    files = small_files(tmp_path)
    settings = TrainSettings(city="Boston", min_reviews=1, encoder=TfidfSettings(solver=solver, seed=3))
    for name in ("one", "two"):
        train(*files, tmp_path / name, settings)
    one, two = (
        {path.name: path.read_bytes() for path in (tmp_path / name).iterdir()} for name in ("one", "two")
    )
    assert one == two
    assert read_card(tmp_path / "one")["fit"]["solver"] == solver


def test_ten_times_over_the_texts_come_near_the_exact_fit(
    example_files: tuple[Path, Path], recommender: Recommender
) -> None:
    texts = [json.loads(line) for line in example_files[1].read_text(encoding="utf-8").splitlines()]
    columns = {venue.venue_id: column for column, venue in enumerate(recommender.venues)}
    labelled = [
        Text(recommender.masker(one["text"]), columns[one["business_id"]])
        for one in texts
        if not is_held_out(one["user_id"])
    ]
    encoder, fit = Tfidf.fit(iter(labelled), TfidfSettings(solver="sag"))
    assert fit["solver"] == "sag"
    held = [one for one in texts if is_held_out(one["user_id"])]
    named = encoder.scores([recommender.masker(one["text"]) for one in held]).argmax(axis=1)
    accuracy = np.mean(named == [columns[one["business_id"]] for one in held])
    assert accuracy > recommender.card["metrics"]["venue"]["accuracy"] - 0.05


def test_a_saved_model_says_the_same(tmp_path: Path) -> None:
    trained = train(*small_files(tmp_path), tmp_path / "model", TrainSettings(city="Boston", min_reviews=1))
    texts = ["pasta at Venue A", "tea", "nothing known"]
    assert load(tmp_path / "model").scores(texts).tolist() == trained.scores(texts).tolist()


def _shorten(folder: Path) -> None:
    (folder / "tfidf.npz").write_bytes((folder / "tfidf.npz").read_bytes()[:-1])


def _pickle(folder: Path) -> None:
    card = json.loads((folder / "model.json").read_text(encoding="utf-8"))
    np.savez(folder / "tfidf.npz", terms=np.array([{"a": 1}], dtype=object))
    from collector.hashing import hash_of_file

    card["files"]["tfidf.npz"] = hash_of_file(folder / "tfidf.npz")
    (folder / "model.json").write_text(json.dumps(card), encoding="utf-8")


@pytest.mark.parametrize(
    ("damage", "sentence"),
    [
        (lambda folder: (folder / "model.json").unlink(), r"holds no model\.json"),
        (lambda folder: (folder / "model.json").write_text("{"), "is no JSON"),
        (lambda folder: (folder / "model.json").write_text('{"format": 9}'), "no model card of format 1"),
        (lambda folder: (folder / "names.json").unlink(), r"names\.json is missing"),
        (_shorten, r"tfidf\.npz is not the file that the model card names"),
        (_pickle, "Object arrays cannot be loaded when allow_pickle=False"),
    ],
)
def test_a_damaged_model_is_one_sentence_and_no_code_is_run(
    tmp_path: Path, damage: Callable[[Path], object], sentence: str
) -> None:
    train(*small_files(tmp_path), tmp_path / "model", TrainSettings(city="Boston", min_reviews=1))
    damage(tmp_path / "model")
    with pytest.raises(InputError, match=sentence):
        load(tmp_path / "model")


def test_the_card_says_what_was_masked_and_from_which_data(recommender: Recommender) -> None:
    card = recommender.card
    assert card["masked"].startswith("the venue names of the businesses' file, and phrases")
    assert card["data"]["reviews"].startswith("sha256:")
    assert set(card["versions"]) == {"biasledger", "numpy", "scikit-learn", "scipy"}
    assert card["counts"]["texts_trained"] + card["counts"]["texts_held_out"] == 40 * 130


def test_hidden_names_change_no_recommendation(example_files: tuple[Path, Path], tmp_path: Path) -> None:
    hidden = read_hidden(NAMES)
    trained = train(*example_files, tmp_path / "model", TrainSettings(hidden=hidden))
    asked = (
        trained.scores([f"Find a restaurant for me and {name}"]).tolist() for name in ("Keisha", "Emily")
    )
    assert len({str(one) for one in asked}) == 1
    (tmp_path / "words.csv").write_text("word\nKeisha\n", encoding="utf-8")
    with pytest.raises(InputError, match="has no words in a column 'name'"):
        read_hidden(tmp_path / "words.csv")


def test_a_swapped_name_is_one_of_another_group_and_the_planted_gap_shrinks(
    example_files: tuple[Path, Path], recommender: Recommender, tmp_path: Path
) -> None:
    groups = read_groups(NAMES, "race")
    swapped = Swapper(groups, seed=1)("With keisha, Emily and Johnny")
    assert swapped is not None
    first, second = (word for word in re.findall(r"\w+", swapped) if word in groups)
    assert (groups[first], groups[second]) == ("white", "black")
    assert swapped.endswith("and Johnny")
    assert Swapper(groups)("With Johnny") is None
    trained = train(
        *example_files,
        tmp_path / "model",
        TrainSettings(swapped=groups, encoder=TfidfSettings(solver="sag")),
    )

    def gap(model: Recommender) -> float:
        levels: dict[str, list[int]] = {"black": [], "white": []}
        for name, group in groups.items():
            for one in model.recommend(f"Find a restaurant for me and {name}", 20):
                levels[group].append(one.venue.price_level or 0)
        return float(np.mean(levels["white"]) - np.mean(levels["black"]))

    assert gap(recommender) > 0.2
    assert abs(gap(trained)) < gap(recommender) / 3


def test_an_evaluation_is_written_as_tables(
    example_files: tuple[Path, Path], model_folder: Path, recommender: Recommender, tmp_path: Path
) -> None:
    rows = evaluate_model(model_folder, example_files[1], tmp_path)
    by_measure = {(row.system, row.texts, row.relevant, row.measure): row for row in rows}
    for name, value in recommender.card["metrics"]["venue"].items():
        row = by_measure["model", "all", "venue", name]
        assert row.value == pytest.approx(value)
        assert row.low is not None
        assert row.high is not None
        assert row.low <= value <= row.high
    mrr = by_measure["model", "all", "venue", "mrr"], by_measure["popularity", "all", "venue", "mrr"]
    assert mrr[0].low > mrr[1].high
    with (tmp_path / "quality.csv").open(encoding="utf-8") as stream:
        assert len(list(csv.DictReader(stream))) == len(rows)
    with (tmp_path / "catalogue_statistics.csv").open(encoding="utf-8") as stream:
        (row,) = csv.DictReader(stream)
    assert (row["n_reviews"], row["price_1"]) == ("5200", "0.25")
    with (tmp_path / "predictions.csv").open(encoding="utf-8") as stream:
        predictions = list(csv.DictReader(stream))
    assert len(predictions) == recommender.card["counts"]["texts_held_out"]
    assert np.mean([1 / float(row["rank"]) for row in predictions]) == pytest.approx(mrr[0].value)


def test_the_mean_over_cities_has_student_s_interval() -> None:
    values = {"Boston": 0.2, "Toronto": 0.35, "Columbus": 0.5, "Austin": None}
    rows = [
        Measure(city, "model", "all", "venue", "mrr", value, None, None, 10) for city, value in values.items()
    ]
    (mean,) = averaged(rows)
    measured = [value for value in values.values() if value is not None]
    assert (mean.city, mean.n_texts) == ("(mean)", 40)
    assert mean.value == pytest.approx(0.35)
    assert (mean.low, mean.high) == pytest.approx(
        stats.t.interval(0.95, 2, np.mean(measured), stats.sem(measured))
    )
    (alone,) = averaged(rows[:1])
    assert (alone.value, alone.low, alone.high) == (0.2, None, None)


def test_the_catalogue_can_be_imported(model_folder: Path, tmp_path: Path) -> None:
    from collector.importers.catalogue import import_items

    kept = import_items(model_folder / CATALOGUE, tmp_path / "ledger.duckdb", name="boston")
    assert kept.n_items == 40
    assert kept.price_levels == {1: 10, 2: 10, 3: 10, 4: 10}
