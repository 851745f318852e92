"""Fine-tuning a transformer to name the venue of a text: the grid, early stopping, and checkpoints to go on from.

After the source's section 4.1 and Appendix E: the first token ([CLS]), dropout, one linear layer, softmax over the venues, cross
entropy, AdamW, batches of 128, and what has the best validation accuracy. It needs the extra `bert`; without that nothing
imports it.
"""

from __future__ import annotations

import hashlib
import pickle
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import nullcontext
from dataclasses import asdict, dataclass, field
from itertools import islice, product
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
import transformers

from collector.errors import InputError
from collector.files.replacing import written_whole
from collector.hashing import canonical_json
from lmrec.encoders import PLACEHOLDER
from lmrec.encoders.fitting import BertSettings, Text

STATE, BEST = "state.pt", "best.pt"
_TOKENIZED_AT_ONCE = 512
# Settings that change neither the model nor its training.
_NOT_PART_OF_A_FIT = ("device", "checkpoint_steps")


@dataclass
class Progress:
    """The progress of a fit, as in a checkpoint.

    Attributes:
        cell: place in the grid of dropouts and learning rates.
        epoch, step: what comes next in it, from 0.
        loss: sum over this epoch's texts so far.
        history: a row an epoch: dropout, learning_rate, epoch, loss, validation_accuracy.
    """

    cell: int = 0
    epoch: int = 0
    step: int = 0
    loss: float = 0.0
    history: list[dict[str, float]] = field(default_factory=list)


class Tokens:
    """Texts as numbers, one after the other.

    Args:
        texts: read once.
        tokenizer: of the encoder.

    Attributes:
        venues: (texts,) what each is about.
        fitted, validating: the texts to learn from, and those that say when to stop.
        n_venues: how many there are.
    """

    def __init__(self, texts: Iterable[Text], tokenizer: Any) -> None:
        parts: list[npt.NDArray[np.int32]] = []
        lengths: list[int] = []
        venues: list[int] = []
        validates: list[bool] = []
        waiting = iter(texts)
        while batch := list(islice(waiting, _TOKENIZED_AT_ONCE)):
            rows = tokens_of(tokenizer, [one.text for one in batch])
            parts.append(np.fromiter((token for row in rows for token in row), dtype=np.int32))
            lengths += [len(row) for row in rows]
            venues += [one.venue for one in batch]
            validates += [one.validates for one in batch]
        self._tokens = np.concatenate(parts) if parts else np.empty(0, dtype=np.int32)
        self._ends = np.cumsum(lengths, dtype=np.int64)
        self.venues = np.asarray(venues, dtype=np.int64)
        is_validating = np.asarray(validates, dtype=bool)
        self.fitted, self.validating = np.flatnonzero(~is_validating), np.flatnonzero(is_validating)
        self.n_venues = int(self.venues.max(initial=-1)) + 1

    def row(self, place: int) -> npt.NDArray[np.int32]:
        """Return a text's tokens."""
        return self._tokens[self._ends[place - 1] if place else 0 : self._ends[place]]

    def by_length(self, places: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
        """Return the same texts, the shortest first."""
        lengths = self._ends[places] - np.where(places > 0, self._ends[places - 1], 0)
        return places[np.argsort(lengths, kind="stable")]

    def fingerprint(self, settings: BertSettings) -> str:
        """Return a hash of the texts and of the settings that say what is fitted."""
        kept = {name: value for name, value in asdict(settings).items() if name not in _NOT_PART_OF_A_FIT}
        digest = hashlib.sha256(canonical_json(kept).encode("utf-8"))
        for array in (self._tokens, self._ends, self.venues, self.validating):
            digest.update(np.ascontiguousarray(array).tobytes())
        return digest.hexdigest()


class _Fit:
    """A fit with one dropout and one learning rate: the network, its optimizer, and its progress."""

    def __init__(
        self, data: Tokens, tokenizer: Any, settings: BertSettings, cell: tuple[float, float]
    ) -> None:
        self._data, self._settings = data, settings
        self.fitted = data.fitted
        self._pad = tokenizer.pad_token_id
        self.device = chosen_device(settings.device)
        self._dropout, self._learning_rate = cell
        torch.manual_seed(settings.seed)
        _, encoder = load_pretrained(settings.pretrained)
        linear = torch.nn.Linear(encoder.config.hidden_size, data.n_venues)
        self.network = torch.nn.ModuleDict({"encoder": encoder, "linear": linear}).to(self.device)
        self.optimizer = torch.optim.AdamW(self.network.parameters(), lr=self._learning_rate)

    def batches(self, epoch: int) -> Iterator[npt.NDArray[np.int64]]:
        """Yield the texts of each step of an epoch, which the seed and the epoch draw: a resumed fit draws the same."""
        order = np.random.default_rng([self._settings.seed, epoch]).permutation(self._data.fitted)
        for start in range(0, len(order), self._settings.batch):
            yield order[start : start + self._settings.batch]

    def step(self, places: npt.NDArray[np.int64]) -> float:
        """Learn from a batch; return the sum of its losses before."""
        self.network.train()
        self.optimizer.zero_grad()
        total = 0.0
        for part in self._parts(places):
            found = logits(self.network, *self._inputs(part), dropout=self._dropout, autocast=self._autocast)
            venues = torch.as_tensor(self._data.venues[part], device=self.device)
            loss = torch.nn.functional.cross_entropy(found, venues, reduction="sum")
            (loss / len(places)).backward()
            total += float(loss.detach())
        self.optimizer.step()
        return total

    def accuracy(self) -> float:
        """Return the share of the validating texts whose venue is named first."""
        self.network.eval()
        n_right = 0
        for part in self._parts(self._data.validating):
            named = logits(self.network, *self._inputs(part), autocast=self._autocast).argmax(dim=1)
            n_right += int((named.cpu().numpy() == self._data.venues[part]).sum())
        return n_right / len(self._data.validating)

    def state(self) -> dict[str, Any]:
        """Return all that the next step depends on."""
        generators = [torch.get_rng_state()]
        if self.device == "cuda":
            generators.append(torch.cuda.get_rng_state())
        return {
            "network": self.network.state_dict(),
            "optimizer": self.optimizer.state_dict(),
            "random": generators,
        }

    def restore(self, state: dict[str, Any]) -> None:
        """Go on from a state."""
        self.network.load_state_dict(state["network"])
        self.optimizer.load_state_dict(state["optimizer"])
        cpu, *cards = state["random"]
        torch.set_rng_state(cpu)
        if cards and self.device == "cuda":
            torch.cuda.set_rng_state(cards[0])

    def _parts(self, places: npt.NDArray[np.int64]) -> Iterator[npt.NDArray[np.int64]]:
        ordered = self._data.by_length(places)
        for start in range(0, len(ordered), self._settings.at_once):
            yield ordered[start : start + self._settings.at_once]

    def _inputs(self, places: npt.NDArray[np.int64]) -> tuple[Any, Any]:
        return padded([self._data.row(int(place)) for place in places], self._pad, self.device)

    def _autocast(self) -> Any:
        precision = chosen_precision(self.device, self._settings.precision)
        return torch.autocast(self.device, dtype=torch.bfloat16, enabled=precision == "bf16")


def finetune(
    texts: Iterable[Text],
    tokenizer: Any,
    settings: BertSettings,
    checkpoint: Path,
    note: Callable[[str], None],
) -> tuple[Any, dict[str, Any]]:
    """Fit each cell of the grid until its accuracy rises no more, and return the best network and its entries in a card.

    The same texts and settings give the same network on one processor, also if a fit is interrupted and continued.

    Raises:
        InputError: as in Bert.fit.
    """
    data = Tokens(texts, tokenizer)
    _require_texts(data)
    grid = list(product(settings.dropouts, settings.learning_rates))
    fingerprint = data.fingerprint(settings)
    saved = _read_checkpoint(checkpoint, fingerprint)
    progress = Progress() if saved is None else Progress(**saved["progress"])
    if saved is not None:
        note(
            f"Going on from {checkpoint}: fit {progress.cell + 1} of {len(grid)}, epoch {progress.epoch + 1} …"
        )
    while progress.cell < len(grid):
        fit = _Fit(data, tokenizer, settings, grid[progress.cell])
        if saved is not None and progress.epoch + progress.step:
            fit.restore(saved["fit"])
        saved = None
        _fit_cell(fit, grid, settings, progress, checkpoint, fingerprint, note)
        # Not two networks at once.
        del fit
    kept = progress.history[_best(progress.history)]
    fit = _Fit(data, tokenizer, settings, grid[0])
    fit.network.load_state_dict(_load(checkpoint / BEST))
    said = {
        "device": fit.device,
        "precision": chosen_precision(fit.device, settings.precision),
        "texts_fitted": len(data.fitted),
        "texts_validated": len(data.validating),
        "kept": kept,
        "history": progress.history,
    }
    return fit.network.eval(), said


def _fit_cell(
    fit: _Fit,
    grid: Sequence[tuple[float, float]],
    settings: BertSettings,
    progress: Progress,
    checkpoint: Path,
    fingerprint: str,
    note: Callable[[str], None],
) -> None:
    """Fit one cell from its saved progress until it stops; the progress then points to the next cell."""

    def keep() -> None:
        state = {"fingerprint": fingerprint, "progress": asdict(progress), "fit": fit.state()}
        _save(checkpoint / STATE, state)

    cell, (dropout, learning_rate) = progress.cell, grid[progress.cell]
    while progress.cell == cell:
        for places in islice(fit.batches(progress.epoch), progress.step, None):
            progress.loss += fit.step(places)
            progress.step += 1
            if progress.step % settings.checkpoint_steps == 0:
                keep()
        row = {
            "dropout": dropout,
            "learning_rate": learning_rate,
            "epoch": progress.epoch + 1,
            "loss": progress.loss / len(fit.fitted),
            "validation_accuracy": fit.accuracy(),
        }
        progress.history.append(row)
        note(
            f"  dropout {dropout:g}, learning rate {learning_rate:g}, epoch {progress.epoch + 1}: loss {row['loss']:.3f}, "
            f"validation accuracy {row['validation_accuracy']:.1%}"
        )
        if _best(progress.history) == len(progress.history) - 1:
            _save(checkpoint / BEST, fit.network.state_dict())
        progress.epoch, progress.step, progress.loss = progress.epoch + 1, 0, 0.0
        own = progress.history[-progress.epoch :]
        if progress.epoch == settings.max_epochs or progress.epoch - 1 - _best(own) >= settings.patience:
            progress.cell, progress.epoch = cell + 1, 0
        keep()


def _best(history: Sequence[dict[str, float]]) -> int:
    """Return the place of the first row with the highest validation accuracy."""
    return max(range(len(history)), key=lambda place: (history[place]["validation_accuracy"], -place))


def tokens_of(tokenizer: Any, texts: Sequence[str]) -> list[list[int]]:
    """Return each text's tokens, the first and the last of them the encoder's own, as many as its tokenizer is to read."""
    # The word of masked names is the encoder's own, as in the source.
    masked = [text.replace(PLACEHOLDER, tokenizer.mask_token or PLACEHOLDER) for text in texts]
    found = tokenizer(masked, truncation=True, return_attention_mask=False, return_token_type_ids=False)
    return list(found["input_ids"])


def padded(rows: Sequence[Sequence[int] | npt.NDArray[np.int32]], pad: int, device: Any) -> tuple[Any, Any]:
    """Return tokens and which of them are a text's, both (texts, longest)."""
    width = max(len(row) for row in rows)
    tokens = np.full((len(rows), width), pad, dtype=np.int64)
    is_text = np.zeros((len(rows), width), dtype=np.int64)
    for place, row in enumerate(rows):
        tokens[place, : len(row)] = row
        is_text[place, : len(row)] = 1
    return torch.as_tensor(tokens, device=device), torch.as_tensor(is_text, device=device)


def logits(
    network: Any,
    tokens: Any,
    is_text: Any,
    *,
    dropout: float = 0.0,
    autocast: Callable[[], Any] = nullcontext,
) -> Any:
    """Return (texts, venues) scores of padded tokens, at 32 bits; gradients only where the network is being trained."""
    with torch.set_grad_enabled(network.training), autocast():
        first = network["encoder"](input_ids=tokens, attention_mask=is_text).last_hidden_state[:, 0]
        kept = torch.nn.functional.dropout(first, dropout, training=network.training)
        return network["linear"](kept).float()


def assembled(encoder: Any, weight: npt.NDArray[np.float32], bias: npt.NDArray[np.float32]) -> Any:
    """Return a network of an encoder and the weights of the layer on it.

    Raises:
        ValueError: they do not fit each other.
    """
    if weight.shape != (len(bias), encoder.config.hidden_size):
        raise ValueError(f"weights {weight.shape} on an encoder of {encoder.config.hidden_size} numbers")
    linear = torch.nn.Linear(weight.shape[1], weight.shape[0])
    linear.load_state_dict({"weight": torch.as_tensor(weight), "bias": torch.as_tensor(bias)})
    return torch.nn.ModuleDict({"encoder": encoder, "linear": linear})


def load_pretrained(name: str) -> tuple[Any, Any]:
    """Load a tokenizer and an encoder whose weights are safetensors: nothing in the files is executed.

    Raises:
        InputError: there is none, or it cannot pad texts.
    """
    # Its notes are for those who write models; what goes wrong comes as an exception.
    transformers.utils.logging.set_verbosity_error()
    transformers.utils.logging.disable_progress_bar()
    # A folder may bring code of its own: without an answer, transformers would ask on the terminal whether to run it.
    options = {"trust_remote_code": False, "local_files_only": Path(name).is_dir()}
    try:
        tokenizer = transformers.AutoTokenizer.from_pretrained(name, **options)
        encoder = transformers.AutoModel.from_pretrained(name, use_safetensors=True, **options)
    except (OSError, ValueError, ImportError, KeyError, RuntimeError) as error:
        reason = next((line.strip().rstrip(".") for line in str(error).splitlines() if line.strip()), "")
        hint = (
            "it should hold an encoder as safetensors, its config.json and its tokenizer"
            if Path(name).is_dir()
            else f"where the Hugging Face hub can be reached, `hf download {name}` fetches it; --pretrained FOLDER takes a copy"
        )
        raise InputError(
            f"The encoder {name!r} cannot be loaded ({reason or type(error).__name__}); {hint}."
        ) from error
    if tokenizer.pad_token_id is None:
        raise InputError(
            f"The encoder {name!r} has no token to pad texts with; take one such as bert-base-uncased."
        )
    return tokenizer, encoder


def chosen_device(device: str) -> str:
    """Return cpu or cuda.

    Raises:
        InputError: there is no graphics card.
    """
    has_card = torch.cuda.is_available()
    if device == "cuda" and not has_card:
        raise InputError("--device cuda: torch finds no graphics card here; use --device cpu.")
    return "cuda" if has_card and device != "cpu" else "cpu"


def chosen_precision(device: str, precision: str) -> str:
    """Return fp32 or bf16."""
    if precision != "auto":
        return precision
    return "bf16" if device == "cuda" and torch.cuda.is_bf16_supported() else "fp32"


def _require_texts(data: Tokens) -> None:
    if data.n_venues < 2:
        raise InputError("All texts to train from are about one venue; a recommender needs two or more.")
    if not len(data.validating) or not len(data.fitted):
        raise InputError(
            f"Of {len(data.venues)} texts to train from, {len(data.validating)} are by users who say when to stop (one in ten); "
            f"there should be some of both."
        )


def _read_checkpoint(checkpoint: Path, fingerprint: str) -> dict[str, Any] | None:
    if not (checkpoint / STATE).is_file():
        return None
    state = _load(checkpoint / STATE)
    if state.get("fingerprint") != fingerprint:
        raise InputError(
            f"{checkpoint} was made from other texts or with other settings; train as before to go on with it, or remove it."
        )
    return state


def _save(file: Path, content: dict[str, Any]) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    with written_whole(file) as new:
        torch.save(content, new)


def _load(file: Path) -> dict[str, Any]:
    try:
        # Tensors, numbers and texts alone: a checkpoint runs no code.
        found: dict[str, Any] = torch.load(file, map_location="cpu", weights_only=True)
    except (OSError, RuntimeError, ValueError, EOFError, pickle.UnpicklingError) as error:
        raise InputError(
            f"{file} is no checkpoint that can be read ({type(error).__name__}); remove its folder."
        ) from error
    return found
