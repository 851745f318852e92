"""Sentence encoders that others trained: where the files of one are, and the hash of them. Nothing in them is run."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from collector.errors import InputError
from collector.hashing import hash_of, hash_of_file
from collector.hints import shown

EXTRA = "the extra 'encoders': pip install 'biasledger[encoders]' (transformers and torch)"
_CONFIG = "config.json"
_WEIGHTS = ".safetensors"
# Weights, and what says how a text is cut and its tokens are put together; not the same weights for other programs.
_READ = frozenset({".json", ".txt", ".model", _WEIGHTS})
_HUB_NAME = re.compile(r"\w[\w.-]*(/\w[\w.-]*)?")


@dataclass(frozen=True, slots=True)
class FoundEncoder:
    """An encoder.

    Attributes:
        name: its folder's own name, or its name on the Hugging Face hub.
        place: where it is found again: its folder, or its name on the hub.
        hash: of the files that its vectors depend on, 'sha256:…'.
    """

    name: str
    place: str
    hash: str


def folder_of(place: str) -> Path:
    """Return the folder of a `FoundEncoder.place`: the place itself, or where the hub's programs keep a copy.

    Raises:
        InputError: neither is there. Nothing is fetched.
    """
    return Path(place) if Path(place).is_dir() else hub_copy(place)


def hub_copy(place: str) -> Path:
    """Return where the hub's programs keep a copy of the model of this name; the folder need not exist.

    Raises:
        InputError: there is none. Nothing is fetched.
    """
    if not _HUB_NAME.fullmatch(place):
        raise InputError(f"The encoder {shown(place)} is no folder, and no name on the Hugging Face hub.")
    try:
        from huggingface_hub import snapshot_download
        from huggingface_hub.errors import HFValidationError, LocalEntryNotFoundError
    except ImportError:
        raise InputError(
            f"The encoder {shown(place)} is no folder here, and to look for a copy of the hub's needs {EXTRA}."
        ) from None
    try:
        return Path(snapshot_download(place, local_files_only=True))
    except (LocalEntryNotFoundError, HFValidationError):
        raise InputError(
            f"The encoder {shown(place)} is no folder, and no copy of the hub's is here; `hf download {place}` fetches it "
            f"(HF_HOME names where copies are)."
        ) from None


def find_encoder(name: str, place: str, folder: Path) -> FoundEncoder:
    """Return the encoder of a folder, under its name and place.

    Raises:
        InputError: it holds no encoder whose weights are safetensors: those of other formats may hold code.
    """
    if not (folder / _CONFIG).is_file() or not any(folder.glob(f"*{_WEIGHTS}")):
        raise InputError(
            f"{folder} holds no sentence encoder; it should hold {_CONFIG}, a tokenizer and weights as *{_WEIGHTS}."
        )
    files = sorted(
        path
        for path in folder.rglob("*")
        if path.suffix in _READ and not _is_hidden(path.relative_to(folder))
    )
    hashes = {path.relative_to(folder).as_posix(): hash_of_file(path) for path in files}
    return FoundEncoder(name, place, hash_of(hashes))


def _is_hidden(path: Path) -> bool:
    return any(part.startswith(".") for part in path.parts)
