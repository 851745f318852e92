"""A sentence encoder of transformers (extra `encoders`): texts to vectors, with the encoder's own pooling."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from collector.errors import InputError
from collector.files.encoders import EXTRA, find_encoder, folder_of
from collector.files.plain import MAX_DOCUMENT_BYTES, read_plain
from collector.hints import shown

Vectors = NDArray[np.float32]
_MAX_TOKENS = 512
_AT_ONCE = 32
_MODULES, _POOLING = "modules.json", "1_Pooling/config.json"
# The modules of Sentence Transformers that are supported; normalising does not change cosines.
_KNOWN = {"Transformer", "Pooling", "Normalize"}


def load_encoder(place: str, content_hash: str) -> Callable[[Sequence[str]], Vectors]:
    """Load an encoder; nothing in its files is executed, and nothing is fetched.

    Args:
        place: its folder, or its name on the hub.
        content_hash: of its files, as `find_encoder` gives it.

    Returns:
        From texts to (n, d): the mean of the last layer's vectors over a text's tokens, or the first token's, as the encoder's
        folder says; the mean if it says nothing. At most 512 tokens of a text are read, fewer if the encoder takes fewer.

    Raises:
        InputError: the extra is missing, the encoder is not there, is another, or pools in a way that is not known here.
    """
    try:
        import torch
        import transformers
    except ImportError as error:
        raise InputError(
            f"The encoder {shown(place)} needs {EXTRA}; {error.name or error} is missing."
        ) from None
    folder = folder_of(place)
    if find_encoder(place, place, folder).hash != content_hash:
        raise InputError(
            f"The encoder {shown(place)} is not the one that was registered, {content_hash}; run biasledger build."
        )
    takes_first = _takes_first_token(folder)
    # Its notes are for those who write models; what goes wrong comes as an exception.
    transformers.utils.logging.set_verbosity_error()
    transformers.utils.logging.disable_progress_bar()
    options: dict[str, Any] = {"local_files_only": True, "trust_remote_code": False}
    try:
        tokenizer = transformers.AutoTokenizer.from_pretrained(folder, **options)
        encoder = transformers.AutoModel.from_pretrained(folder, use_safetensors=True, **options)
    except (OSError, ValueError, ImportError, KeyError, RuntimeError) as error:
        reason = next((line.strip().rstrip(".") for line in str(error).splitlines() if line.strip()), "")
        raise InputError(
            f"{folder} holds no encoder that transformers can load ({reason or type(error).__name__})."
        ) from None
    if tokenizer.pad_token_id is None:
        raise InputError(f"{folder} has no token to pad texts with; take an encoder of sentences.")
    device = "cuda" if torch.cuda.is_available() else "cpu"
    encoder = encoder.to(device).eval()
    longest = getattr(encoder.config, "max_position_embeddings", _MAX_TOKENS)
    max_length = min(tokenizer.model_max_length, longest, _MAX_TOKENS)

    def encode(texts: Sequence[str]) -> Vectors:
        # Texts of one length need the least padding.
        order = sorted(range(len(texts)), key=lambda place: len(texts[place]))
        vectors: list[Any] = [None] * len(texts)
        for start in range(0, len(order), _AT_ONCE):
            places = order[start : start + _AT_ONCE]
            rows = tokenizer(
                [texts[place] for place in places],
                padding=True, truncation=True, max_length=max_length, return_tensors="pt",
            ).to(device)  # fmt: skip
            with torch.inference_mode():
                layer = encoder(**rows).last_hidden_state.float()
            weights = rows["attention_mask"].unsqueeze(-1).float()
            pooled = layer[:, 0] if takes_first else (layer * weights).sum(1) / weights.sum(1).clamp(min=1)
            for place, vector in zip(places, pooled.cpu().numpy(), strict=True):
                vectors[place] = vector
        return np.asarray(vectors, dtype=np.float32)

    return encode


def _takes_first_token(folder: Path) -> bool:
    """Return whether a text's vector is its first token's, and not the mean.

    Raises:
        InputError: it is neither, or the encoder has modules that are not known here.
    """
    modules = _json(folder / _MODULES)
    unknown = {str(one.get("type", "")).rpartition(".")[2] for one in modules or ()} - _KNOWN
    pooling = _json(folder / _POOLING) or {}
    modes = {
        name.removeprefix("pooling_mode_") for name, value in pooling.items() if name.startswith("pooling_mode_") and value
    } or {pooling.get("pooling_mode", "mean_tokens")}  # fmt: skip
    means, first = modes <= {"mean", "mean_tokens"}, modes <= {"cls", "cls_token"}
    if unknown or not (means or first):
        raise InputError(
            f"{folder} makes a text's vector by {', '.join(sorted(unknown or map(str, modes)))}; known are the mean of its "
            f"tokens' vectors and that of its first token."
        )
    return first


def _json(path: Path) -> Any:
    if not path.is_file():
        return None
    try:
        return json.loads(read_plain(path, MAX_DOCUMENT_BYTES))
    except (ValueError, RecursionError):
        raise InputError(f"{path} is no JSON; take the encoder's folder whole.") from None
