"""Test the encoder bert on a small transformer with random weights: it learns, and a killed fit resumes to the same model."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from collector.errors import InputError
from lmrec.encoders.bert import Bert
from lmrec.encoders.fitting import BertSettings, Text
from lmrec.model import CARD, load, read_card
from lmrec.training import CHECKPOINT, TrainSettings, train

torch = pytest.importorskip("torch", reason="the extra 'bert' is not installed")
transformers = pytest.importorskip("transformers", reason="the extra 'bert' is not installed")


@pytest.fixture(autouse=True, scope="module")
def _one_thread() -> Iterator[None]:
    """Products as small as these take longest in several threads."""
    n_threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(n_threads)


DISHES = ("pasta", "tacos", "sushi", "curry")
PLAIN = "good fine we had the a it was here and".split()


def texts(n: int) -> list[Text]:
    """Texts that name a venue's dish among other words; one in five validates."""
    random = np.random.default_rng(7)
    rows = []
    for number in range(n):
        words = [str(word) for word in random.choice(PLAIN, size=random.integers(2, 9))]
        words.insert(int(random.integers(len(words))), DISHES[number % 4])
        rows.append(Text(" ".join(words), number % 4, number % 5 == 0))
    return rows


@pytest.fixture(scope="module")
def pretrained(tmp_path_factory: pytest.TempPathFactory, example_files: tuple[Path, Path]) -> str:
    """The folder of an encoder with random weights, which knows the words of the texts here."""
    folder = tmp_path_factory.mktemp("encoder")
    words = re.findall(r"\w+", example_files[1].read_text(encoding="utf-8").lower())
    vocabulary = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *sorted({*words, *DISHES, *PLAIN})]
    (folder / "vocab.txt").write_text("\n".join(vocabulary), encoding="utf-8")
    tokenizer = transformers.BertTokenizerFast.from_pretrained(folder, model_max_length=48)
    torch.manual_seed(1)
    config = transformers.BertConfig(
        vocab_size=len(vocabulary),
        hidden_size=32,
        num_hidden_layers=1,
        num_attention_heads=2,
        intermediate_size=64,
        max_position_embeddings=48,
        initializer_range=0.2,
    )
    transformers.BertModel(config).save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return str(folder)


@pytest.fixture
def settings(pretrained: str) -> BertSettings:
    return BertSettings(
        pretrained=pretrained,
        dropouts=(0.0, 0.4),
        learning_rates=(1e-4, 5e-3),
        batch=16,
        at_once=8,
        max_epochs=4,
        checkpoint_steps=7,
        device="cpu",
    )


def fitted(
    settings: BertSettings, folder: Path, rows: Sequence[Text]
) -> tuple[Bert, dict[str, Any], list[str]]:
    said: list[str] = []
    encoder, fit = Bert.fit(rows, settings, folder, note=said.append)
    return encoder, fit, said


def test_masked_names_become_the_mask_token(pretrained: str) -> None:
    from lmrec.encoders.finetuning import tokens_of
    from lmrec.masking import PLACEHOLDER

    tokenizer = transformers.AutoTokenizer.from_pretrained(pretrained)
    [found] = tokens_of(tokenizer, [f"the {PLACEHOLDER} was good"])
    assert tokenizer.convert_ids_to_tokens(found)[1:-1] == ["the", "[MASK]", "was", "good"]


def test_the_loss_falls_and_the_best_of_the_grid_is_kept(settings: BertSettings, tmp_path: Path) -> None:
    encoder, fit, said = fitted(settings, tmp_path, texts(240))
    cells: dict[tuple[float, float], list[dict[str, float]]] = {}
    for row in fit["history"]:
        cells.setdefault((row["dropout"], row["learning_rate"]), []).append(row)
    assert list(cells) == [(0.0, 1e-4), (0.0, 5e-3), (0.4, 1e-4), (0.4, 5e-3)]
    assert all(rows[-1]["loss"] < rows[0]["loss"] for rows in cells.values())
    assert len(said) == len(fit["history"])
    best = max(row["validation_accuracy"] for row in fit["history"])
    assert best > 0.9
    assert fit["kept"]["validation_accuracy"] == best
    validating = [one for one in texts(240) if one.validates]
    named = encoder.scores([one.text for one in validating]).argmax(axis=1)
    assert np.mean(named == [one.venue for one in validating]) == best
    assert (fit["texts_fitted"], fit["texts_validated"]) == (192, 48)


def test_a_fit_stops_where_the_accuracy_rises_no_more(settings: BertSettings, tmp_path: Path) -> None:
    one = replace(settings, dropouts=(0.0,), learning_rates=(5e-3,), max_epochs=50, patience=3)
    _, fit, _ = fitted(one, tmp_path, texts(160))
    accuracies = [row["validation_accuracy"] for row in fit["history"]]
    assert fit["kept"]["epoch"] == 1 + int(np.argmax(accuracies))
    assert len(accuracies) == fit["kept"]["epoch"] + 3 < 50


class Killed(BaseException):
    """A stop that no code here expects."""


@pytest.mark.parametrize("at", [3, 17, 31])
def test_a_killed_fit_goes_on_to_the_same_model(
    settings: BertSettings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, at: int
) -> None:
    from lmrec.encoders import finetuning

    few = replace(settings, dropouts=(0.4,), max_epochs=2)
    whole, fit, _ = fitted(few, tmp_path / "whole", texts(160))
    step, steps = finetuning._Fit.step, iter(range(at))

    def killed(self: Any, places: Any) -> float:
        if next(steps, None) is None:
            raise Killed
        return step(self, places)

    monkeypatch.setattr(finetuning._Fit, "step", killed)
    with pytest.raises(Killed):
        fitted(few, tmp_path / "killed", texts(160))
    monkeypatch.undo()
    resumed, again, said = fitted(few, tmp_path / "killed", texts(160))
    assert any(line.startswith("Going on from") for line in said) == (at >= few.checkpoint_steps)
    assert again == fit
    asked = ["good pasta", "we had tacos and curry here", ""]
    assert resumed.scores(asked).tolist() == whole.scores(asked).tolist()


def test_a_checkpoint_of_something_else_is_named(settings: BertSettings, tmp_path: Path) -> None:
    few = replace(settings, dropouts=(0.0,), learning_rates=(1e-4,), max_epochs=1)
    fitted(few, tmp_path, texts(40))
    with pytest.raises(InputError, match="was made from other texts or with other settings"):
        fitted(replace(few, seed=1), tmp_path, texts(40))
    (tmp_path / "state.pt").write_bytes(b"no checkpoint")
    with pytest.raises(InputError, match=r"state\.pt is no checkpoint that can be read"):
        fitted(few, tmp_path, texts(40))


def test_half_precision_learns_too(settings: BertSettings, tmp_path: Path) -> None:
    one = replace(settings, dropouts=(0.0,), learning_rates=(5e-3,), precision="bf16")
    _, fit, _ = fitted(one, tmp_path, texts(240))
    assert fit["precision"] == "bf16"
    assert fit["kept"]["validation_accuracy"] > 0.9


def test_what_it_cannot_be_fitted_to_is_one_sentence(settings: BertSettings, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="are about one venue"):
        fitted(settings, tmp_path, [Text("pasta", 0), Text("pasta", 0, True)])
    with pytest.raises(InputError, match=r"0 are by users who say when to stop \(one in ten\)"):
        fitted(settings, tmp_path, [Text("pasta", 0), Text("tacos", 1)])
    with pytest.raises(InputError, match=r"cannot be loaded .*; it should hold an encoder as safetensors"):
        fitted(replace(settings, pretrained=str(tmp_path)), tmp_path, texts(8))
    if not torch.cuda.is_available():
        with pytest.raises(InputError, match="torch finds no graphics card here"):
            fitted(replace(settings, device="cuda"), tmp_path, texts(8))


def test_a_model_is_trained_saved_and_read_like_any_other(
    example_files: tuple[Path, Path], settings: BertSettings, tmp_path: Path
) -> None:
    one = replace(settings, dropouts=(0.2,), learning_rates=(5e-3,), batch=128, at_once=128)
    folder = tmp_path / "model"
    trained = train(*example_files, folder, TrainSettings(city="Boston", encoder=one))
    card = read_card(folder)
    assert card["encoder"] == "bert"
    assert {"torch", "transformers"} <= card["versions"].keys()
    assert card["metrics"]["venue"]["hit_rate_at_20"] > 0.8
    assert not (folder / CHECKPOINT).exists()
    asked = ["Find a restaurant for me and Keisha", "tacos, cheap and quick"]
    assert load(folder).scores(asked).tolist() == trained.scores(asked).tolist()

    weights = folder / "bert" / "model.safetensors"
    whole = weights.read_bytes()
    weights.write_bytes(whole[:-1])
    with pytest.raises(InputError, match=r"model\.safetensors is not the file that the model card names"):
        load(folder)
    weights.write_bytes(whole)
    brought = folder / "bert" / "modeling.py"
    brought.touch()
    with pytest.raises(InputError, match=r"modeling\.py is not the file that the model card names"):
        load(folder)
    brought.unlink()
    changed = json.loads((folder / CARD).read_text(encoding="utf-8"))
    changed["files"]["../outside"] = "sha256:0"
    (folder / CARD).write_text(json.dumps(changed), encoding="utf-8")
    with pytest.raises(InputError, match=r"names the file '\.\./outside' outside its folder"):
        load(folder)
