"""Turning what pydantic found wrong into one sentence: file, key path, what is wrong, what would be right."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError, WithJsonSchema
from pydantic.config import JsonDict

from collector.errors import InputError
from collector.files.yaml import TRUTH_VALUES
from collector.hints import did_you_mean, ended, shown

Problem = tuple[str, str]
"""Key path, and what is wrong and what would be right."""

EXPECTED = {
    "string_type": "text",
    "int_type": "a whole number",
    "int_from_float": "a whole number",
    "float_type": "a number",
    "finite_number": "a finite number",
    "bool_type": "true or false",
    "bool_parsing": "true or false",
    "list_type": "a list",
    "tuple_type": "a list",
    "dict_type": "a mapping of keys to values",
    "mapping_type": "a mapping of keys to values",
    "model_type": "a mapping of keys to values",
    "model_attributes_type": "a mapping of keys to values",
}
# Names that the models use inside and a person does not write.
HIDDEN_KEYS = {"[key]"}


class Section(BaseModel):
    """Base of every part of a file the user writes: unknown keys are errors, nothing is coerced, nothing changes later."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True, populate_by_name=True)


def spec_key(
    description: str,
    *examples: Any,
    default: Any = ...,
    default_factory: Callable[[], Any] | None = None,
    alias: str | None = None,
    json_schema_extra: JsonDict | Callable[[JsonDict], None] | None = None,
) -> Any:
    """Return the declaration of a key of a section, which is required unless it has a default.

    Args:
        description: what the key says, for the reference and for editors.
        examples: values of it.
        default: what an absent key means.
        default_factory: returns what an absent key means; takes precedence over `default`.
        alias: the key's name in the file, where the field's is another one.
        json_schema_extra: additions to the key's JSON schema, as in pydantic's Field.
    """
    absent = {"default": default} if default_factory is None else {"default_factory": default_factory}
    return Field(
        **absent,
        alias=alias,
        description=description,
        examples=list(examples),
        json_schema_extra=json_schema_extra,
    )


def list_to_tuple(value: Any) -> Any:
    """Return a list as a tuple, which is what frozen models hold, and anything else as it is."""
    return tuple(value) if isinstance(value, list) else value


def _not_blank(value: str) -> str:
    if not value.strip():
        raise ValueError("is blank and should be text")
    return value


Text = Annotated[str, Field(strict=True)]
NonBlank = Annotated[
    str,
    BeforeValidator(lambda value: _not_blank(value) if isinstance(value, str) else value),
    WithJsonSchema({"type": "string", "pattern": r"\S"}),
]
Names = Annotated[tuple[NonBlank, ...], BeforeValidator(list_to_tuple)]


def key_path(location: tuple[str | int, ...]) -> str:
    """Return `templates[0].text` for ("templates", 0, "text")."""
    path = ""
    for step in location:
        if isinstance(step, int):
            path += f"[{step}]"
        elif step not in HIDDEN_KEYS:
            path += f".{step}" if path else step
    return path


def input_error(path: Path, error: ValidationError, model: type[BaseModel], prefix: str = "") -> InputError:
    """Return the InputError for the first problem of a failed validation, with the count of the others."""
    (_, sentence), *others = structure_problems(error, model, prefix)
    return InputError(f"{path}: {sentence}{more_problems(len(others))}")


def more_problems(n: int) -> str:
    """Return what follows a sentence about the first of several problems; empty if there are no others."""
    return f" ({n} more problem{'s' if n > 1 else ''} in this file)" if n else ""


def structure_problems(
    error: ValidationError, model: type[BaseModel], prefix: str = ""
) -> list[tuple[str, str]]:
    """Return the key path of every problem of a failed validation, with the whole sentence about it.

    An unknown key explains a missing one ("templtes" for "templates"), so unknown keys come first.
    """
    found = error.errors(include_url=False)
    found.sort(key=lambda one: one["type"] != "extra_forbidden")
    return [_structure_problem(one, model, prefix) for one in found]


def _structure_problem(problem: Mapping[str, Any], model: type[BaseModel], prefix: str) -> tuple[str, str]:
    location = tuple(problem["loc"])
    at = key_path(location)
    at = f"{prefix}.{at}" if prefix and at else prefix or at
    kind, given = problem["type"], problem.get("input")
    if kind == "extra_forbidden":
        known = _keys_at(model, location[:-1])
        sentence = f"the key {at} is unknown{did_you_mean(str(location[-1]), known)}"
    elif kind == "missing":
        sentence = f"the key {at} is missing"
    elif kind in EXPECTED:
        sentence = f"{at} {no_text(given) if kind == 'string_type' else f'should be {EXPECTED[kind]} and is {_shown(given)}'}"
    elif kind in ("value_error", "assertion_error"):
        sentence = f"{at} {problem['ctx']['error']}"
    elif kind == "literal_error":
        sentence = f"{at} is {_shown(given)} and should be {problem['ctx']['expected']}"
    else:
        message = problem["msg"]
        sentence = f"{at} is {_shown(given)}: {message[0].lower()}{message[1:]}"
    return at, ended(sentence.rstrip("."))


def _keys_at(model: type[BaseModel], location: tuple[str | int, ...]) -> list[str]:
    """Return the keys a section knows, following the location's steps through nested models."""
    current: type[BaseModel] = model
    for step in location:
        field = next(
            (field for name, field in current.model_fields.items() if step in (name, field.alias)),
            None,
        )
        inner = _model_in(field.annotation) if field is not None else None
        if inner is not None:
            current = inner
    return [field.alias or name for name, field in current.model_fields.items()]


def _model_in(annotation: Any) -> type[BaseModel] | None:
    """Return the first model inside an annotation such as tuple[Template, ...] or Words | None."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation
    found = (_model_in(argument) for argument in getattr(annotation, "__args__", ()))
    return next((model for model in found if model is not None), None)


def no_text(given: Any) -> str:
    """Return what a value that is no text should be."""
    sentence = f"should be {EXPECTED['string_type']} and is {_shown(given)}"
    if isinstance(given, bool):
        return f"{sentence} ({TRUTH_VALUES}); put it in quotes"
    return sentence if given is None or isinstance(given, dict | list) else f"{sentence}; put it in quotes"


def _shown(value: Any) -> str:
    if value is None:
        return "empty"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, dict):
        return "a mapping"
    if isinstance(value, list | tuple):
        return "a list"
    if isinstance(value, str):
        return shown(value)
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "..."
