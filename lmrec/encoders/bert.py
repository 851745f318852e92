"""The source's encoder: the first token of a pretrained transformer, dropout, a linear layer with a softmax over the venues."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from collector.errors import InputError
from lmrec.encoders.fitting import BertSettings, Text

_FOLDER = "bert"
_LINEAR = "linear.npz"
_AT_ONCE = 64


class Bert:
    """A fitted encoder.

    Args:
        network: `encoder` and `linear` as torch modules, on the device that they are asked on.
        tokenizer: its `model_max_length` is how much of a text is read.
    """

    KIND = "bert"
    FILES = (
        f"{_FOLDER}/config.json",
        f"{_FOLDER}/model.safetensors",
        f"{_FOLDER}/tokenizer_config.json",
        _LINEAR,
    )
    PACKAGES = ("torch", "transformers")

    def __init__(self, network: Any, tokenizer: Any) -> None:
        self._network = network
        self._tokenizer = tokenizer

    @classmethod
    def fit(
        cls,
        texts: Iterable[Text],
        settings: BertSettings,
        checkpoint: Path,
        *,
        note: Callable[[str], None] = lambda _: None,
    ) -> tuple[Self, dict[str, Any]]:
        """Fine-tune the encoder with each dropout and learning rate, and keep the best by the texts that validate.

        Args:
            texts: read once; their tokens are kept, 4 bytes each.
            settings: as in BertSettings.
            checkpoint: a folder; an interrupted fit of the same texts and settings in it is continued.
            note: takes a sentence after each epoch.

        Returns:
            The encoder, and the fit's entries in a card: the chosen network, and each epoch's loss and accuracy.

        Raises:
            InputError: the extra is not installed, the encoder or the device is not there, there are fewer than two venues or no
                text validates, or the checkpoint is of other texts or settings.
        """
        require_extra()
        from lmrec.encoders.finetuning import finetune, load_pretrained

        tokenizer, encoder = load_pretrained(settings.pretrained)
        longest = getattr(encoder.config, "max_position_embeddings", settings.max_tokens)
        tokenizer.model_max_length = min(tokenizer.model_max_length, longest, settings.max_tokens)
        del encoder
        network, said = finetune(texts, tokenizer, settings, checkpoint, note)
        return cls(network, tokenizer), said

    def scores(self, texts: Sequence[str]) -> npt.NDArray[np.float64]:
        """Return (texts, venues): the logarithm of each venue's odds, up to a constant of the text."""
        from lmrec.encoders.finetuning import logits, padded, tokens_of

        listed = tokens_of(self._tokenizer, texts)
        # Texts of one length need the least padding.
        order = sorted(range(len(listed)), key=lambda place: len(listed[place]))
        found = np.empty((len(listed), self._network["linear"].out_features))
        for start in range(0, len(order), _AT_ONCE):
            chosen = order[start : start + _AT_ONCE]
            device = self._network["linear"].weight.device
            rows = padded([listed[place] for place in chosen], self._tokenizer.pad_token_id, device)
            found[chosen] = logits(self._network, *rows).double().cpu().numpy()
        return found

    def save(self, folder: Path) -> list[str]:
        """Write the encoder as safetensors and the layer as arrays of numbers, which hold no code; return the files' names."""
        self._network["encoder"].save_pretrained(folder / _FOLDER, safe_serialization=True)
        self._tokenizer.save_pretrained(folder / _FOLDER)
        linear = {name: value.cpu().numpy() for name, value in self._network["linear"].state_dict().items()}
        np.savez(folder / _LINEAR, **linear)
        written = sorted(path.name for path in (folder / _FOLDER).iterdir())
        return [*(f"{_FOLDER}/{name}" for name in written), _LINEAR]

    @classmethod
    def load(cls, folder: Path) -> Self:
        """Read what `save` wrote, onto the graphics card where there is one; nothing in the files is executed.

        Raises:
            InputError: the extra is not installed.
            ValueError, KeyError, OSError, RuntimeError: the files are no such files.
        """
        require_extra()
        from lmrec.encoders.finetuning import assembled, chosen_device, load_pretrained

        tokenizer, encoder = load_pretrained(str(folder / _FOLDER))
        with np.load(folder / _LINEAR, allow_pickle=False) as arrays:
            network = assembled(encoder, arrays["weight"], arrays["bias"])
        return cls(network.to(chosen_device("auto")).eval(), tokenizer)


def require_extra() -> None:
    """Raise InputError where torch or transformers is not installed."""
    try:
        import torch  # noqa: F401 (whether it is installed)
        import transformers  # noqa: F401 (whether it is installed)
    except ImportError as error:
        raise InputError(
            f"The encoder bert needs the extra 'bert', of which {error.name or error} is missing: "
            f"pip install 'biasledger[bert]' (transformers and torch); --encoder tfidf needs none."
        ) from error
