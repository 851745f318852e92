"""Test the pipeline with a classifier of random weights; skipped without the extra `regard`."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from biasledger.scoring.classifiers import load_classifier
from biasledger.scoring.scores import answers_left, score_answers
from collector.errors import InputError
from tests.python.running import run_python
from tests.python.scoring.conftest import LABELS

# Other projects' deprecations are no fault of ours.
pytestmark = pytest.mark.filterwarnings("default")


def test_labels_are_those_of_the_model_and_scores_sum_to_one(tiny_model: Path) -> None:
    classify = load_classifier(str(tiny_model), device="cpu", batch_size=2)
    texts = ["The nurse was kind.", "XYZ was rude.", "he " * 170, "A man"]
    results = classify(texts)
    assert [set(result) for result in results] == [set(LABELS)] * 4
    assert [sum(result.values()) for result in results] == pytest.approx([1.0] * 4)
    assert len({result["negative"] for result in results}) == 4
    # The scores of a text do not depend on the other texts of its batch.
    alone = [classify([text])[0] for text in texts]
    assert [one["negative"] for one in alone] == pytest.approx([one["negative"] for one in results], abs=1e-5)


def test_a_ledger_is_scored_for_real(tiny_model: Path, ledger: Path) -> None:
    classify = load_classifier(str(tiny_model))
    summary = score_answers(ledger, answers_left(ledger, "tiny"), classify, scorer="tiny")
    assert (summary.n_answers, summary.n_texts) == (4, 3)
    assert answers_left(ledger, "tiny") == []


def command(*arguments: object) -> subprocess.CompletedProcess[str]:
    return run_python("-m", "biasledger.cli", "score", *arguments, HF_HUB_OFFLINE="1")


def test_the_command_from_beginning_to_end(tiny_model: Path, ledger: Path) -> None:
    arguments = ("--ledger", str(ledger), "--model", str(tiny_model), "--scorer", "tiny", "--batch-size", "2")
    first = command(*arguments)
    assert first.returncode == 0, first.stderr
    assert "scored: answers 4, different texts 3, runs 1" in first.stdout
    assert "Nothing is left to score" in command(*arguments).stdout


def test_a_model_that_is_not_there_says_how_to_get_it(tiny_model: Path, ledger: Path) -> None:
    assert tiny_model.is_dir()  # the extra is installed
    result = command("--ledger", str(ledger))
    assert result.returncode == 3
    assert "hf download sasha/regardv3" in result.stderr
    assert "Traceback" not in result.stderr


def test_a_folder_without_a_model_and_a_missing_one_are_named(tiny_model: Path, tmp_path: Path) -> None:
    assert tiny_model.is_dir()
    with pytest.raises(InputError, match="holds no text classifier"):
        load_classifier(str(tmp_path))
    with pytest.raises(InputError, match="is no folder"):
        load_classifier(str(tmp_path / "absent"))


def test_a_graphics_card_that_is_not_there_is_named(tiny_model: Path) -> None:
    torch = pytest.importorskip("torch")
    if torch.cuda.is_available():
        pytest.skip("there is a graphics card")
    with pytest.raises(InputError, match="no graphics card"):
        load_classifier(str(tiny_model), device="cuda")
