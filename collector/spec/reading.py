"""The `reading` part of an audit spec: how answers become what is compared, a part for each room."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from pydantic import Field, create_model

from collector.spec.rooms import rooms
from collector.validation import Names, Section


class _Shared(Section):
    """How answers are read: it can change without asking again. Every room has a part of it, under its name.

    `same` are derived attributes: name -> two attributes whose groups have the same names; the derived group is 'same' or
    'different', which is its reference.
    """

    crossed: Names = ()
    pairwise: bool = False
    same: Mapping[str, Names] = Field(default_factory=dict)


if TYPE_CHECKING:

    class Reading(_Shared):
        """As below: the parts are those of the rooms, which are found when this runs."""

        def __getattr__(self, room: str) -> Any: ...
else:
    Reading = create_model(
        "Reading",
        __base__=_Shared,
        __doc__=_Shared.__doc__,
        __module__=__name__,
        **{name: room.field for name, room in rooms().items()},
    )
