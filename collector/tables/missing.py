"""Texts that programs write into a cell without a value: errors of spreadsheets, nan and the like."""

from __future__ import annotations

import re
from collections.abc import Mapping

# Excel and LibreOffice in the languages of their users; a CSV file holds what the sheet showed.
SPREADSHEET_ERRORS = frozenset(
    """
    #n/a #ref! #value! #div/0! #name? #null! #num! #spill! #calc! #getting_data #field! #blocked! #connect! #busy! #unknown!
    #nv #bezug! #wert! #zahl! #überlauf!
    #valeur! #nom? #nombre! #nul! #propagation!
    #n/d #n/d! #¡ref! #¡valor! #¡div/0! #¿nombre? #¡nulo! #¡num! #valor! #nome? #nulo! #núm! #rif! #valore!
    #n/b #verw! #waarde! #deel/0! #naam? #getal! #leeg!
    #adr! #arg! #dziel/0! #nazwa? #liczba! #zero!
    #yok #başv! #değer! #sayı/0! #ad? #boş! #sayı! #sayi/0!
    #otillgänglig #referens! #värdefel! #division/0! #namn? #skärning! #ogiltigt!
    #err! #error! #err:501 #err:502 #err:504 #err:508 #err:509 #err:510 #err:511 #err:512 #err:519 #err:520 #err:522 #err:523
    err:501 err:502 err:504 err:508 err:509 err:510 err:511 err:512 err:519 err:520 err:522 err:523 err:532
    """.split()
)
# Spelled as programs do: Nan, Null and Na are names of people.
WORDS = frozenset(
    """
    nan NaN NAN -nan -NaN null NULL nil NIL None none NONE NA N/A n/a na <NA> <na> NaT nat NIL undefined #NA
    - -- --- – — ―
    """.split()
)
EMPTY = "empty"


def is_missing(text: str) -> bool:
    """Return whether a cell's trimmed text means a missing value; an empty one does."""
    return not text or text in WORDS or is_spreadsheet_error(text)


def is_spreadsheet_error(text: str) -> bool:
    """Return whether a text is an error of a spreadsheet, such as #N/A."""
    return len(text) < 20 and text.lower() in SPREADSHEET_ERRORS


def sql_is_missing(expression: str) -> str:
    """Return as SQL whether a trimmed text that is not empty means no value."""
    # One pattern of constant words is far quicker in DuckDB than a list of them.
    return f"regexp_full_match({expression}, '{_PATTERN}')"


def _alternatives(words: frozenset[str]) -> str:
    return "|".join(_SPECIAL.sub(r"\\\g<0>", word) for word in sorted(words))


_SPECIAL = re.compile(r"[\\.^$*+?{}\[\]|()]")
_PATTERN = f"{_alternatives(WORDS)}|(?i:{_alternatives(SPREADSHEET_ERRORS)})"


def missing_sentence(column: str, counts: Mapping[str, int]) -> str:
    """Return "AI Decision: 53 missing (29 empty, 24 #N/A)." for the counts of each mark of a missing value."""
    ordered = sorted(counts.items(), key=lambda one: (-one[1], one[0]))
    listed = ", ".join(f"{n:,} {word or EMPTY}" for word, n in ordered[:8])
    others = f", {len(ordered) - 8} more" if len(ordered) > 8 else ""
    return f"{column}: {sum(counts.values()):,} missing ({listed}{others})."
