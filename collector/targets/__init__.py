"""Targets: the systems that can be asked, described in targets.yml."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qsl, urlsplit

from collector.errors import InputError
from collector.hints import did_you_mean
from collector.yaml_file import read_yaml_mapping

if TYPE_CHECKING:
    from collector.targets.base import Target

KINDS = ("openai", "simulator")
_SECRET_NAMES = {
    "accesstoken",
    "apikey",
    "apitoken",
    "authorization",
    "authtoken",
    "bearer",
    "bearertoken",
    "clientsecret",
    "key",
    "openaiapikey",
    "passwd",
    "password",
    "secret",
    "secretkey",
    "token",
    "xapikey",
}


def load_target(path: Path, name: str) -> Target:
    """Read one target of targets.yml.

    Args:
        path: the file.
        name: the target's name in it.

    Raises:
        InputError: the file cannot be read, knows no such target, holds a secret, or describes the target wrongly.
    """
    document = read_yaml_mapping(path, what="targets")
    # Before anything else, because no other error may show the value.
    for at in _secrets(document, ""):
        raise InputError(
            f"{path}: {at} looks like a secret; keys do not belong in files: put it in an environment variable and name that "
            f"variable with api_key_env."
        )
    unknown = [key for key in document if key != "targets"]
    if unknown:
        raise InputError(f"{path}: the key {unknown[0]} is unknown{did_you_mean(unknown[0], ['targets'])}")
    targets = document.get("targets")
    if not isinstance(targets, dict) or not targets:
        raise InputError(f"{path}: targets is empty and should be a mapping of names to targets.")
    if name not in targets:
        raise InputError(f"{path} has no target {name!r}{did_you_mean(name, targets)}")
    if not re.fullmatch(r"[a-z0-9][a-z0-9_-]*", name):
        raise InputError(f"{path}: targets.{name} should be named with lower-case letters, digits, - and _.")
    entry = targets[name]
    if not isinstance(entry, dict):
        raise InputError(f"{path}: targets.{name} should be a mapping with at least the key kind.")
    kind = entry.get("kind")
    if kind not in KINDS:
        problem = "is missing" if kind is None else f"is {kind!r}, which is no known kind"
        raise InputError(f"{path}: targets.{name}.kind {problem}{did_you_mean(str(kind), KINDS)}")
    return _build(path, name, entry)


def _build(path: Path, name: str, entry: Mapping[str, Any]) -> Target:
    from pydantic import ValidationError

    from collector.targets.settings import OpenAISettings, SimulatorSettings
    from collector.validation import input_error

    prefix = f"targets.{name}"
    if entry["kind"] == "simulator":
        from collector.targets.simulator import Simulator

        try:
            simulator = SimulatorSettings.model_validate(entry)
        except ValidationError as error:
            raise input_error(path, error, SimulatorSettings, prefix) from None
        return Simulator(name, **simulator.model_dump(exclude={"kind"}))

    from collector.targets.openai import OpenAITarget

    try:
        endpoint = OpenAISettings.model_validate(entry)
    except ValidationError as error:
        raise input_error(path, error, OpenAISettings, prefix) from None
    _require_key(path, prefix, endpoint.api_key_env)
    return OpenAITarget(name, **endpoint.model_dump(exclude={"kind"}))


def _require_key(path: Path, prefix: str, variable: str | None) -> None:
    """Raise InputError where the named environment variable is not set, before a run is opened for nothing."""
    import os

    if variable is not None and not os.environ.get(variable, "").strip():
        raise InputError(
            f"{path}: {prefix}.api_key_env names the environment variable {variable}, which is not set; set it, or remove the "
            f"line if the endpoint wants no key."
        )


def _secrets(value: object, at: str) -> Iterator[str]:
    """Yield the key path of everything that looks like a secret: by a key's name, or inside an address."""
    if isinstance(value, dict):
        for key, inner in value.items():
            path = f"{at}.{key}" if at else str(key)
            # A target may be called "key"; its settings are a mapping, and a secret is not.
            if _is_secret_name(str(key)) and not isinstance(inner, dict):
                yield path
            yield from _secrets(inner, path)
    elif isinstance(value, list):
        for index, inner in enumerate(value):
            yield from _secrets(inner, f"{at}[{index}]")
    elif isinstance(value, str) and (
        ("://" in value and _address_has_secret(value)) or re.match(r"(?:sk|pk)-\w{6}", value)
    ):
        yield at


def _address_has_secret(address: str) -> bool:
    try:
        parts = urlsplit(address)
    except ValueError:
        return False
    return "@" in parts.netloc or any(
        _is_secret_name(name) for name, _ in parse_qsl(parts.query, keep_blank_values=True)
    )


def _is_secret_name(name: str) -> bool:
    return re.sub(r"[^a-z]", "", name.lower()) in _SECRET_NAMES
