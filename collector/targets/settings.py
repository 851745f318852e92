"""What targets.yml may say about each kind of target."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Annotated, Any, Literal, Self
from urllib.parse import urlsplit

from pydantic import Field, field_validator, model_validator

from collector.hints import did_you_mean
from collector.targets.simulator import DEFAULT_MITIGATION_FACTOR
from collector.targets.simulator_decisions import DEFAULT_NOISE
from collector.targets.simulator_restaurants import categories
from collector.validation import Section

Share = Annotated[float, Field(ge=0, le=1)]
Shares = Mapping[Annotated[str, Field(min_length=1)], Share]
Amount = Annotated[float, Field(ge=-1, le=1)]
Amounts = Mapping[Annotated[str, Field(min_length=1)], Amount]
Concurrency = Annotated[int, Field(ge=1, le=256)]
# What the collector sets itself; given as a parameter it would silently change what is asked.
_OWN_PARAMETERS = {
    "model": "it stands beside parameters",
    "messages": "they come from the audit",
    "stream": "answers are read whole",
    "n": "each trial is asked on its own",
    "seed": "one seed would give every trial the same answer; use send_seed: true beside parameters",
}


class OpenAISettings(Section):
    """An OpenAI-compatible chat endpoint."""

    kind: Literal["openai"]
    base_url: str
    model: Annotated[str, Field(min_length=1)]
    api_key_env: str | None = None
    parameters: Mapping[str, Any] = Field(default_factory=dict)
    timeout_seconds: Annotated[float, Field(gt=0, le=3600)] = 60.0
    concurrency: Concurrency = 8
    send_seed: bool = False

    @field_validator("base_url")
    @classmethod
    def _is_address(cls, value: str) -> str:
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
        if parts.query or parts.fragment:
            raise ValueError("should be an address without ? and #")
        return value

    @field_validator("api_key_env")
    @classmethod
    def _is_variable(cls, value: str | None) -> str | None:
        # The value is not shown: it may be the key itself.
        if value is not None and not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", value):
            raise ValueError("should be the name of an environment variable, not the key itself")
        return value

    @field_validator("parameters")
    @classmethod
    def _are_free(cls, value: Mapping[str, Any]) -> Mapping[str, Any]:
        for name, reason in _OWN_PARAMETERS.items():
            if name in value:
                raise ValueError(f"cannot hold {name!r}: {reason}")
        return value


class SimulatorSettings(Section):
    """The simulated model."""

    kind: Literal["simulator"]
    seed: int = 0
    steer: Shares = Field(default_factory=dict)
    refuse_about: Shares = Field(default_factory=dict)
    shorten: Shares = Field(default_factory=dict)
    repeat: Shares = Field(default_factory=dict)
    shift: Amounts = Field(default_factory=dict)
    position_bias: Amount = 0.0
    gender: Shares = Field(default_factory=dict)
    associate: Mapping[Annotated[str, Field(min_length=1)], Shares] = Field(default_factory=dict)
    noise: Annotated[float, Field(ge=0, le=1)] = DEFAULT_NOISE
    price: Amounts = Field(default_factory=dict)
    favour: Mapping[Annotated[str, Field(min_length=1)], Shares] = Field(default_factory=dict)
    word_noise: Annotated[float, Field(ge=0, le=1)] = 0.0
    mitigation_factor: Share = DEFAULT_MITIGATION_FACTOR
    malformed: Share = 0.0
    refused: Share = 0.0
    fenced: Share = 0.0
    concurrency: Concurrency = 2

    @field_validator("favour")
    @classmethod
    def _are_categories(cls, value: Mapping[str, Shares]) -> Mapping[str, Shares]:
        known = categories()
        for descriptor, shares in value.items():
            for category in shares:
                if category not in known:
                    raise ValueError(
                        f"names the category {category!r} for {descriptor!r}, which no restaurant of the simulator has"
                        f"{did_you_mean(category, sorted(known))}"
                    )
        return value

    @model_validator(mode="after")
    def _add_up(self) -> Self:
        if self.malformed + self.refused + self.fenced > 1:
            raise ValueError("has shares of malformed, refused and fenced that add up to more than 1")
        return self
