"""The settings of the build that judged a pack, as plain values.

A pack comes from somebody else, and these values become variables of dbt, parts of its SQL: values of another kind are refused.
"""

from __future__ import annotations

import json
from datetime import date
from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError

from biasledger.packing.archive import BUILD, Pack, json_bytes
from collector.errors import InputError


def _day(value: Any) -> date:
    if not isinstance(value, str):
        raise ValueError("no text")
    return date.fromisoformat(value)


_Count = Annotated[int, Field(ge=0, lt=1 << 63, description="a whole number from 0 on")]


class Judged(BaseModel):
    """The engine, the settings and the day of exceptions with which findings were judged; descriptions say what is right."""

    model_config = ConfigDict(strict=True, frozen=True)

    engine_version: str = Field(pattern=r"^[0-9A-Za-z.]{1,20}\z", description="a version such as '3'")
    alpha: float = Field(gt=0, lt=1, allow_inf_nan=False, description="a number between 0 and 1")
    permutations: bool = Field(description="true or false")
    min_permutations: _Count
    all_groups: bool = Field(description="true or false")
    seed: _Count
    judged_on: Annotated[date, BeforeValidator(_day)] = Field(description="a date such as 2027-06-30")

    def variables(self) -> dict[str, Any]:
        """Return the settings as variables of the dbt project."""
        settings = self.model_dump(exclude={"engine_version", "judged_on"})
        return settings | {"today": self.judged_on.isoformat()}


def read_judged(pack: Pack) -> Judged:
    """Read a pack's build.json.

    Raises:
        InputError: a key is missing or is not of its kind; names it.
    """
    try:
        build = json.loads(pack.files[BUILD])
    except (ValueError, RecursionError):
        raise InputError(f"{BUILD} of the pack is no JSON: it should be an object of settings.") from None
    if not isinstance(build, dict):
        raise InputError(f"{BUILD} of the pack should be an object of settings.")
    if json_bytes(build) != pack.files[BUILD]:
        raise InputError(
            f"{BUILD} of the pack is not written as one is: a key occurs twice, or the spacing differs."
        )
    try:
        return Judged.model_validate(build)
    except ValidationError as error:
        name = str(error.errors()[0]["loc"][0])
        kind = Judged.model_fields[name].description
        if name not in build:
            raise InputError(f"{BUILD} of the pack lacks the key {name!r}; it should be {kind}.") from None
        raise InputError(
            f"{BUILD} of the pack has {_shortened(build[name])} as {name!r}; it should be {kind}."
        ) from None


def _shortened(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else text[:60] + " …"
