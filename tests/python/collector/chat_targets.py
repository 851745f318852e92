"""Chat services as targets, for tests that need one without a file of targets."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from collector.targets import anthropic, gemini, openai
from collector.targets.chat import ChatTarget

_MODULES = {module.KIND: module for module in (anthropic, gemini, openai)}


def chat_target(kind: str = "openai", name: str = "mine", **entry: Any) -> ChatTarget:
    """Return the target of an entry of targets.yml, whose model is m if the entry names none."""
    module = _MODULES[kind]
    return module.build(name, module.Settings(kind=kind, **{"model": "m", **entry}), Path())
