"""Targets: the systems that can be asked, described in targets.yml.

Each kind is one module of this package that holds three names: KIND, what `kind:` says in targets.yml; Settings, a pydantic
Section of what an entry may say; and build(name, settings, folder), which returns the target (base.Target says what that
offers). Modules are found by their KIND, so a new kind is a new file and nothing else.
"""

from __future__ import annotations

import importlib
import json
import os
import pkgutil
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qsl, urlsplit

from collector.errors import InputError
from collector.files.yaml import read_yaml_mapping
from collector.hints import did_you_mean
from collector.targets.base import NAME
from collector.targets.key_forms import holds_key

if TYPE_CHECKING:
    from collector.targets.base import Target
    from collector.validation import Section

# A function can be asked without an entry in targets.yml: --target python:module:function.
_FUNCTION_PREFIX = "python:"
# The settings that name environment variables that have to be set.
_KEY_SETTINGS = ("api_key_env", "secret_env")
# Names of secrets, by their letters in lower case. A bare "key" is a secret, an Idempotency-Key is not.
_SECRET_NAME = re.compile(
    r"key|bearer|.*(?:(?:access|api|auth|private|secret|subscription)key|secret|password|passwd|cookie|authorization|token)"
)
# The tokens of texts, not of services.
_TEXT_TOKEN = re.compile(r"(?:bos|cls|eos|mask|max|pad|sep|stop|unk)token")
# A secret's place may hold the name of an environment variable or a slot, and next to it the short word that some headers put
# before a key, or a cookie's name.
_REFERENCE = re.compile(r"(?:[A-Za-z][A-Za-z-]*[\s=]\s*|[a-z]+-)?\$?\{[A-Za-z_][A-Za-z0-9_]*\}")
# Slots that may be unquoted in JSON, as numbers are.
_BARE_SLOT = re.compile(r"(?:\{(?:seed|trial)\}|\$\{[A-Za-z_][A-Za-z0-9_]*\})(?=\s*[,}\]])")
# The names of variables as everybody writes them; anything else that is not set may be a key in the wrong place.
_USUAL_VARIABLE = re.compile(r"[A-Z]+|[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+")


def kinds() -> Mapping[str, ModuleType]:
    """Return the modules that ask targets, by the kind they ask."""
    modules = (importlib.import_module(f"{__name__}.{info.name}") for info in pkgutil.iter_modules(__path__))
    return {module.KIND: module for module in modules if hasattr(module, "KIND")}


def load_targets(path: Path, names: Sequence[str]) -> list[Target]:
    """Read several targets; all of them before any is asked, so that a mistake in the last one costs nothing.

    Args:
        path: as in load_target.
        names: the targets' names, each once.

    Raises:
        InputError: as in load_target; no name, or a name given twice.
    """
    if not names or not all(names):
        raise InputError(
            "No target is named: give --target a name of the targets file, or several with commas."
        )
    for name in names:
        if names.count(name) > 1:
            raise InputError(f"The target {name!r} is named twice; each is asked once.")
    return [load_target(path, name) for name in names]


def load_target(path: Path, name: str) -> Target:
    """Read one target of targets.yml.

    Args:
        path: the file.
        name: the target's name in it, or python:module:function, which needs no file.

    Raises:
        InputError: the file cannot be read, knows no such target, holds a secret, or describes the target wrongly.
    """
    if name.startswith(_FUNCTION_PREFIX):
        entry = {"kind": "python", "function": name.removeprefix(_FUNCTION_PREFIX)}
        return _build(Path("--target"), name, name, entry, path.parent)
    document = read_yaml_mapping(path, what="targets")
    # Before anything else, because no other error may show the value.
    for at in _secrets(document, ""):
        raise InputError(
            f"{path}: {at} looks like a secret; keys do not belong in files: put it in an environment variable and name that "
            f"variable with api_key_env (in a target of kind http with secret_env, and write ${{NAME}} in its place)."
        )
    unknown = [key for key in document if key != "targets"]
    if unknown:
        raise InputError(f"{path}: the key {unknown[0]} is unknown{did_you_mean(unknown[0], ['targets'])}")
    targets = document.get("targets")
    if not isinstance(targets, dict) or not targets:
        raise InputError(f"{path}: targets is empty and should be a mapping of names to targets.")
    if name not in targets:
        raise InputError(f"{path} has no target {name!r}{did_you_mean(name, targets)}")
    if not re.fullmatch(NAME, name):
        raise InputError(f"{path}: targets.{name} should be named with lower-case letters, digits, - and _.")
    entry = targets[name]
    if not isinstance(entry, dict):
        raise InputError(f"{path}: targets.{name} should be a mapping with at least the key kind.")
    return _build(path, name, f"targets.{name}", entry, path.parent)


def _build(path: Path, name: str, at: str, entry: Mapping[str, Any], folder: Path) -> Target:
    from pydantic import ValidationError

    from collector.validation import input_error

    kind, known = entry.get("kind"), kinds()
    if not isinstance(kind, str) or kind not in known:
        problem = "is missing" if kind is None else f"is {kind!r}, which is no known kind"
        raise InputError(f"{path}: {at}.kind {problem}{did_you_mean(str(kind), sorted(known))}")
    module = known[kind]
    try:
        settings: Section = module.Settings.model_validate(entry)
    except ValidationError as error:
        raise input_error(path, error, module.Settings, at) from None
    _require_keys(path, at, settings)
    try:
        target: Target = module.build(name, settings, folder)
    except InputError as error:
        raise InputError(f"{path}: {at}: {error}") from None
    return target


def _require_keys(path: Path, at: str, settings: Section) -> None:
    """Raise InputError where a named environment variable is not set or unfit, before a run is opened for nothing.

    Also if its value is written in the settings.
    """
    from collector.redaction import MIN_SECRET_CHARACTERS, key_problem, spellings

    for setting in _KEY_SETTINGS:
        named = getattr(settings, setting, None) or ()
        for variable in (named,) if isinstance(named, str) else named:
            value = os.environ.get(variable, "").strip()
            if not value:
                is_optional = type(settings).model_fields[setting].default is None
                advice = ", or remove the line if the endpoint wants no key" if is_optional else ""
                is_usual = _USUAL_VARIABLE.fullmatch(variable) is not None
                message = (
                    f"the environment variable {variable}, which"
                    if is_usual
                    else "an environment variable that"
                )
                raise InputError(f"{path}: {at}.{setting} names {message} is not set; set it{advice}.")
            if problem := key_problem(value):
                raise InputError(f"{path}: {at}.{setting} names {variable}, whose value {problem}.")
            written = settings.model_dump_json()
            if len(value) >= MIN_SECRET_CHARACTERS and any(form in written for form in spellings(value)):
                raise InputError(
                    f"{path}: {at} holds the value of {variable}; keys do not belong in files: leave it to the variable."
                )


def _secrets(value: object, at: str) -> Iterator[str]:
    """Yield the key path of everything that looks like a secret: by a key's name, inside an address, or by how keys begin."""
    if isinstance(value, dict):
        for key, inner in value.items():
            path = f"{at}.{key}" if at else str(key)
            # A target may be called "key"; its settings are a mapping, and a secret is not.
            if holds_key(str(key)):
                yield f"a name under {at}" if at else "a name"
            elif _is_secret_name(str(key)) and _may_be_secret(inner):
                yield path
            yield from _secrets(inner, path)
    elif isinstance(value, list):
        for index, inner in enumerate(value):
            yield from _secrets(inner, f"{at}[{index}]")
    elif isinstance(value, str):
        if ("://" in value and _address_has_secret(value)) or holds_key(value):
            yield at
        else:
            yield from _secrets(_written_inside(value), at)


def _written_inside(text: str) -> dict[str, Any] | list[Any] | None:
    """Return the JSON or the form that a text is, such as the body of a request."""
    try:
        document = json.loads(_BARE_SLOT.sub("0", text))
    except (ValueError, RecursionError):
        return dict(parse_qsl(text)) if re.fullmatch(r"[^\s=&]+=\S*", text) else None
    return document if isinstance(document, dict | list) else None


def _may_be_secret(value: object) -> bool:
    """Say whether a value may be a key: texts may, but for those that only name a variable, lists of them, and long numbers."""
    if isinstance(value, str):
        return bool(value.strip()) and not _is_reference(value)
    return isinstance(value, list) or (isinstance(value, int) and value >= 10**7)


def _is_reference(value: str) -> bool:
    """Say whether a value only names an environment variable: ${MY_KEY}, Bearer ${MY_KEY}, session=${MY_KEY}."""
    return _REFERENCE.fullmatch(value.strip()) is not None


def _address_has_secret(address: str) -> bool:
    try:
        parts = urlsplit(address)
    except ValueError:
        return False
    return "@" in parts.netloc or any(
        _is_secret_name(name) and not _is_reference(value)
        for name, value in parse_qsl(parts.query, keep_blank_values=True)
    )


def _is_secret_name(name: str) -> bool:
    letters = re.sub(r"[^a-z]", "", name.lower())
    return _SECRET_NAME.fullmatch(letters) is not None and _TEXT_TOKEN.fullmatch(letters) is None
