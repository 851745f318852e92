"""A small recommender of made-up texts, trained once."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from lmrec.example import BUSINESSES, REVIEWS, write_example
from lmrec.model import Recommender, load
from lmrec.training import TrainSettings, train

NAMES = Path(__file__).parents[3] / "audits" / "names.csv"


def write_lines(file: Path, rows: Sequence[Mapping[str, Any]]) -> Path:
    file.write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8")
    return file


@pytest.fixture(scope="session")
def example_files(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """Businesses and reviews in which people with Black names visit cheap venues."""
    folder = tmp_path_factory.mktemp("example")
    write_example(folder, NAMES, city="Boston", strength=0.8)
    return folder / BUSINESSES, folder / REVIEWS


@pytest.fixture(scope="session")
def model_folder(example_files: tuple[Path, Path], tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("models") / "boston"
    train(*example_files, folder, TrainSettings(city="Boston"))
    return folder


@pytest.fixture(scope="session")
def recommender(model_folder: Path) -> Recommender:
    return load(model_folder)
