"""The data that an encoder is fitted to, and the settings of the transformer."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, NamedTuple

Device = Literal["auto", "cpu", "cuda"]
Precision = Literal["auto", "fp32", "bf16"]


class Text(NamedTuple):
    """A text to train from.

    Attributes:
        text: what was written, after masking.
        venue: its venue, numbered from 0 without a gap.
        validates: its user is one of those whose texts say when to stop (yelp.is_validation).
    """

    text: str
    venue: int
    validates: bool = False


@dataclass(frozen=True, slots=True)
class BertSettings:
    """Settings of the fit; the source's grid is in its Appendix E.

    Attributes:
        pretrained: the encoder to begin with, a name on the Hugging Face hub or a folder.
        dropouts: shares of the first token's numbers that are left out while training; each is tried with
        learning_rates: of AdamW; the one with the best validation accuracy is kept.
        batch: texts a step.
        at_once: texts that are in memory at once; a step of more adds their gradients up.
        max_tokens: how much of a text is read.
        max_epochs: times over the texts at most.
        patience: stop after so many epochs without a better validation accuracy.
        checkpoint_steps: steps between two checkpoints; each epoch ends with one, too.
        device: auto takes the graphics card where there is one.
        precision: of products of matrices; auto takes bf16 on a graphics card that has it.
        seed: draws the linear layer, the batches and the dropout.
    """

    pretrained: str = "bert-base-uncased"
    dropouts: tuple[float, ...] = (0.2,)
    learning_rates: tuple[float, ...] = (3e-5,)
    batch: int = 128
    at_once: int = 32
    max_tokens: int = 256
    max_epochs: int = 20
    patience: int = 2
    checkpoint_steps: int = 500
    device: Device = "auto"
    precision: Precision = "auto"
    seed: int = 0
