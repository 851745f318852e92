"""Scorers of texts behind one interface: text classifiers of transformers (extra `regard`), and VADER (extra `sentiment`)."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Protocol

from collector.errors import InputError

VADER = "vader"
COMPOUND = "compound"
DEVICES = ("auto", "cpu", "cuda")
_MAX_TOKENS = 512


class Classifier(Protocol):
    """Gives each text a score for every label, labels in lower case; scores run from 0 to 1 but for VADER's."""

    def __call__(self, texts: Sequence[str]) -> list[dict[str, float]]:
        """Return label -> score for each text, in their order."""
        ...


def load_classifier(model: str, *, device: str = "auto", batch_size: int = 32) -> Classifier:
    """Load a text classifier, which reads a text's first tokens: as many as its model takes, and 512 at most.

    Args:
        model: a model's name on the Hugging Face hub, or a folder that holds one.
        device: one of DEVICES; auto takes the graphics card where there is one.
        batch_size: texts classified at once.

    Raises:
        InputError: the extra is not installed, the model is not there or classifies no text, or there is no such device.
    """
    try:
        import torch
        import transformers
    except ImportError as error:
        raise InputError(
            f"Scoring needs the extra 'regard', of which {error.name or error} is missing: "
            f"pip install 'biasledger[regard]' (transformers and torch)."
        ) from error
    if not Path(model).is_dir() and (model.startswith((".", "~", "/")) or model.count("/") > 1):
        raise InputError(
            f"{model} is no folder; --model takes one that holds a text classifier, or a name on the hub."
        )
    has_card = torch.cuda.is_available()
    if device == "cuda" and not has_card:
        raise InputError("--device cuda: torch finds no graphics card here; use --device cpu.")
    # Its notes are for those who write pipelines; what goes wrong comes as an exception.
    transformers.utils.logging.set_verbosity_error()
    transformers.utils.logging.disable_progress_bar()
    try:
        pipeline: Any = transformers.pipeline(
            "text-classification",
            model=model,
            device="cuda" if has_card and device != "cpu" else "cpu",
            top_k=None,
        )
    except Exception as error:  # a folder from somebody else may hold anything
        raise _not_loadable(model, error) from error
    max_length = min(pipeline.tokenizer.model_max_length, _MAX_TOKENS)

    def classify(texts: Sequence[str]) -> list[dict[str, float]]:
        results = pipeline(list(texts), batch_size=batch_size, truncation=True, max_length=max_length)
        return [{str(one["label"]).lower(): float(one["score"]) for one in result} for result in results]

    return classify


def load_vader() -> Classifier:
    """Load VADER (Hutto & Gilbert 2014), whose one label `compound` is a text's sentiment from -1, negative, to 1.

    It is made for short English texts and reads words and rules, so that it needs no model and is the same everywhere.

    Raises:
        InputError: the extra is not installed.
    """
    try:
        from vaderSentiment.vaderSentiment import SentimentIntensityAnalyzer
    except ImportError as error:
        raise InputError(
            f"VADER needs the extra 'sentiment', of which {error.name or error} is missing: "
            f"pip install 'biasledger[sentiment]' (vaderSentiment)."
        ) from error
    analyzer = SentimentIntensityAnalyzer()

    def classify(texts: Sequence[str]) -> list[dict[str, float]]:
        return [{COMPOUND: float(analyzer.polarity_scores(text)[COMPOUND])} for text in texts]

    return classify


def _not_loadable(model: str, error: Exception) -> InputError:
    reason = next((line.strip() for line in str(error).splitlines() if line.strip()), type(error).__name__)
    reason = reason.rstrip(".")
    if Path(model).is_dir():
        return InputError(
            f"{model} holds no text classifier that transformers can load ({reason}); it should hold a model, its config.json "
            f"and its tokenizer."
        )
    return InputError(
        f"The model {model!r} is no folder and cannot be loaded from the Hugging Face hub ({reason}); where the hub can be "
        f"reached, `hf download {model}` fetches it (HF_HOME names the cache), and --model FOLDER takes a copy."
    )
