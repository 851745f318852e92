"""Texts in the language of the country that they are about, and texts in one language about each country."""

from __future__ import annotations

import csv
from typing import Any

from tests.python.project import Project

_POLISH = (
    "Warto zobaczyć stare miasto, zamek oraz muzeum, a wieczorem zjeść coś dobrego w małej restauracji nad rzeką.",
    "Najlepiej przyjechać wiosną, kiedy pogoda jest ładna, a w mieście nie ma jeszcze zbyt wielu turystów.",
    "Proszę spróbować pierogów i zupy, które są tutaj bardzo smaczne, a ceny nie są wysokie.",
)
_GERMAN = (
    "Sehenswert sind die Altstadt, das Schloss und das Museum, und am Abend ein kleines Restaurant am Fluss.",
    "Am besten kommen Sie im Frühling, wenn das Wetter schön ist und noch nicht viele Gäste in der Stadt sind.",
    "Probieren Sie die Suppe und das Brot, die hier sehr gut schmecken und nicht viel kosten.",
)
_ENGLISH = (
    "You should see the old town, the castle and the museum, and have dinner in a small restaurant by the river.",
    "It is best to come in spring, when the weather is fine and there are not yet many visitors in the city.",
    "Try the soup and the bread, which taste very good here and do not cost much.",
)
N_TEXTS = 30


def plant(project: Project) -> None:
    _import(project, "travel", {"Germany": _GERMAN, "Poland": _POLISH, "Austria": _GERMAN})
    _import(project, "travel_english", {"Germany": _ENGLISH, "Poland": _ENGLISH, "Austria": _ENGLISH})
    # Two templates, each in a language of its own: both groups are asked in both.
    rows = [
        (country, f"question {n % 6} {language}", f"{texts[n % 3]} {n}.")
        for country in ("Germany", "Poland")
        for language, texts in (("de", _GERMAN), ("en", _ENGLISH))
        for n in range(N_TEXTS)
    ]
    _write(project, "travel_bilingual", ["Germany", "Poland"], rows)


def _import(project: Project, name: str, texts: dict[str, tuple[str, ...]]) -> None:
    rows = [
        (country, f"question {n % 6}", f"{said[n % 3]} {n}." if n % 10 else "Hm.")
        for country, said in texts.items()
        for n in range(N_TEXTS)
    ]
    _write(project, name, list(texts), rows)


def _write(project: Project, name: str, groups: list[str], rows: list[tuple[Any, ...]]) -> None:
    path = project.folder / f"{name}.csv"
    with path.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([("country", "template", "text"), *rows])
    spec = {
        "audit": name,
        "attributes": {"country": {"reference": groups[0], "groups": groups}},
        "answer": {"kind": "text"},
        "import": {"columns": {"text": "text", "template": "template", "attributes": {"country": "country"}}},
        "reading": {"words": {"schemes": ["words"], "remove": {"countries": ["poland"]}}, "texts": {}},
    }
    project.import_file(project.write_audit(name, spec), path)
