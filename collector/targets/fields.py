"""Settings that several kinds of target share."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Annotated, Any, Protocol
from urllib.parse import urlsplit

from pydantic import AfterValidator, BeforeValidator, Field

from collector.validation import Names, NonBlank, Section

ModelName = Annotated[
    str,
    Field(
        min_length=1,
        description="The service's name for the model, if possible dated.",
        examples=["my-model-2026-05-01"],
    ),
]
Simulated = Annotated[bool, Field(description="Label the answers as made up.", examples=[True])]
SendSeed = Annotated[
    bool, Field(description="Send a seed that differs by prompt, trial and attempt.", examples=[True])
]
Concurrency = Annotated[int, Field(ge=1, le=256)]
Seconds = Annotated[float, Field(gt=0, le=86_400)]
PerMinute = Annotated[float, Field(gt=0, le=1e9)]
MAX_TIMEOUT_SECONDS = 3600


class PacedSettings(Section):
    """How fast a target may be asked. These settings do not change the questions, so a resumed run may have other values."""

    concurrency: Concurrency = Field(default=8, description="Most questions at once.", examples=[4])
    requests_per_minute: PerMinute | None = Field(
        default=None, description="Most questions a minute.", examples=[500]
    )
    tokens_per_minute: PerMinute | None = Field(
        default=None,
        description="Most tokens a minute, prompts and answers.",
        examples=[200_000],
    )
    total_timeout_seconds: Seconds | None = Field(
        default=None,
        description="Longest time for one question, with all attempts and pauses.",
        examples=[600],
    )


class TargetSettings(Protocol):
    """The setting that the entry of every kind has."""

    @property
    def concurrency(self) -> int:
        """Most questions at once."""


class ConfiguredTarget:
    """The attributes that a target takes from its entry in targets.yml; base.Target describes them.

    Args:
        name: its name in targets.yml.
        model: the model asked for.
        settings: the entry; only those of `PacedSettings` have caps.
        is_simulated: whether its answers are made up, which the report says.
    """

    requests_per_minute: float | None = None
    tokens_per_minute: float | None = None
    total_timeout_seconds: float | None = None

    def __init__(self, name: str, model: str, settings: TargetSettings, *, is_simulated: bool) -> None:
        self.name = name
        self.model = model
        self.is_simulated = is_simulated
        self.concurrency = settings.concurrency
        if isinstance(settings, PacedSettings):
            self.requests_per_minute = settings.requests_per_minute
            self.tokens_per_minute = settings.tokens_per_minute
            self.total_timeout_seconds = settings.total_timeout_seconds


class HttpSettings(PacedSettings):
    """Settings of every target that is asked over HTTP."""

    timeout_seconds: Annotated[float, Field(gt=0, le=MAX_TIMEOUT_SECONDS)] = Field(
        default=60.0, description="Longest time for one attempt.", examples=[300]
    )


def is_variable(name: str) -> bool:
    """Say whether a text can be the name of an environment variable."""
    return re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", name) is not None


def _require_variable(value: str) -> str:
    # The value is not shown: it may be the key itself.
    if not is_variable(value):
        raise ValueError("should be the name of an environment variable, not the key itself")
    return value


def _require_address(value: str) -> str:
    try:
        parts = urlsplit(value)
        valid = (
            parts.scheme in ("http", "https")
            and bool(parts.hostname)
            and (parts.port is None or parts.port > 0)
        )
    except ValueError:
        valid = False
    if not valid:
        raise ValueError(f"is {value!r} and should be an address such as https://host/v1")
    return value


def _require_base(value: str) -> str:
    parts = urlsplit(value)
    if parts.query or parts.fragment:
        raise ValueError("should be an address without ? and #")
    return value


def one_or_more(value: Any) -> Any:
    """Return a text as a list of it alone, and anything else as it is."""
    return [value] if isinstance(value, str) else value


Variable = Annotated[NonBlank, AfterValidator(_require_variable)]
Variables = Annotated[
    Names,
    BeforeValidator(one_or_more, json_schema_input_type=NonBlank | list[NonBlank]),
    AfterValidator(lambda names: tuple(map(_require_variable, names))),
]
Address = Annotated[str, AfterValidator(_require_address)]
BaseAddress = Annotated[Address, AfterValidator(_require_base)]


def free_parameters(own: Mapping[str, str]) -> AfterValidator:
    """Return what refuses parameters that the collector sets itself, and those that are no JSON.

    Args:
        own: each of them with the reason; given as a parameter it would silently change what is asked.
    """

    def require_free(value: Mapping[str, Any]) -> Mapping[str, Any]:
        for name, reason in own.items():
            if name in value:
                raise ValueError(f"cannot hold {name!r}: {reason}")
        try:
            json.dumps(value, allow_nan=False)
        except (TypeError, ValueError):
            raise ValueError(
                "should hold what JSON knows: text, numbers, true, false, lists and mappings; put a date in quotes"
            ) from None
        return value

    return AfterValidator(require_free)
