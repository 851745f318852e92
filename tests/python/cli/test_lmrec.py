"""Test the output, files and error messages of `biasledger lmrec`."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest

from tests.python.running import biasledger

NAMES = Path(__file__).parents[3] / "audits" / "names.csv"
TRAIN = ("train", "m", "--businesses", "none.json", "--reviews", "x")


def lmrec(*arguments: object, code: int = 0) -> str:
    return biasledger("lmrec", *arguments, code=code).output


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("lmrec")
    for city in ("Boston", "Austin"):
        lmrec("example", folder / city, "--names", NAMES, "--city", city, "--seed", len(city))
        files = "--businesses", folder / city / "business.json", "--reviews", folder / city / "review.json"
        done = lmrec("train", folder / f"model-{city}", *files, "--solver", "sag")
        assert "Trained " in done
        assert "masked: the venue names of the businesses' file" in done
        assert "held-out texts, " in done
        assert "Next: biasledger import-items" in done
    return folder


def test_venues_are_printed_with_their_prices(data: Path) -> None:
    done = lmrec("recommend", data / "model-Boston", "Some cheap and quick tacos, please", "--top", 3)
    lines = [line for line in done.splitlines() if "│" in line]
    assert len(lines) == 3
    assert all("Boston" in line for line in lines)
    assert "Restaurants, Mexican" in lines[0]
    assert " 1 " in lines[0]


def test_one_command_trains_a_model_of_each_city(data: Path, tmp_path: Path) -> None:
    both = {}
    for name in ("business", "review"):
        both[name] = tmp_path / f"{name}.json"
        rows = [
            json.loads(line) | {"business_id": f"{city}-{json.loads(line)['business_id']}"}
            for city in ("Boston", "Austin")
            for line in (data / city / f"{name}.json").read_text(encoding="utf-8").splitlines()
        ]
        both[name].write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8")
    files = "--businesses", both["business"], "--reviews", both["review"], "--solver", "sag"
    lmrec("train", tmp_path / "models", *files, "--city", "Boston", "--city", "Austin")
    for city in ("Boston", "Austin"):
        card = json.loads((tmp_path / "models" / city.lower() / "model.json").read_text(encoding="utf-8"))
        assert (card["city"], card["counts"]["venues"]) == (city, 40)


def test_models_are_measured_with_their_mean(data: Path, tmp_path: Path) -> None:
    # The made-up users and businesses of both cities have the same ids.
    models = data / "model-Boston", data / "model-Austin"
    done = lmrec("evaluate", *models, "--reviews", data / "Boston" / "review.json", "--out", tmp_path)
    with (tmp_path / "quality.csv").open(encoding="utf-8") as stream:
        rows = list(csv.DictReader(stream))
    assert {row["city"] for row in rows} == {"(all)", "(mean)"}
    assert (tmp_path / "model-Austin" / "predictions.csv").is_file()
    assert "ndcg" in done


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("recommend", "nowhere", "tacos"), "nowhere holds no model.json"),
        (("evaluate", "nowhere", "--reviews", "none.json"), "nowhere holds no model.json"),
        (("serve", "nowhere"), "nowhere holds no model.json"),
        (TRAIN, "none.json does not exist"),
        ((*TRAIN, "--dropout", "0.2"), "--dropout is no option of --encoder tfidf."),
        ((*TRAIN, "--grid", "paper"), "is no option of --encoder tfidf"),
        ((*TRAIN, "--encoder", "bert", "--solver", "sag"), "--solver is no option of --encoder bert."),
        (
            (*TRAIN, "--encoder", "bert", "--grid", "paper", "--dropout", "0.1"),
            "leave out --dropout and --learning-rate",
        ),
        (("example", "m", "--names", "none.csv"), "none.csv does not exist"),
        (("example", "m", "--names", NAMES, "--attribute", "rase"), "no column 'rase'; did you mean 'race'?"),
    ],
)
def test_a_mistake_is_one_sentence(
    arguments: tuple[object, ...], sentence: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    done = lmrec(*arguments, code=3)
    assert sentence in done
    assert "Traceback" not in done


def test_nothing_is_written_over(data: Path) -> None:
    done = lmrec("example", data / "Boston", "--names", NAMES, code=3)
    assert "is there already; name another folder" in done
    reviews = (data / "Boston" / "review.json").read_text(encoding="utf-8").splitlines()
    assert set(json.loads(reviews[0])) == {"review_id", "user_id", "business_id", "text"}
