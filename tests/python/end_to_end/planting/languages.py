"""Texts in the language of the country that they are about, and texts in the same languages about each country."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from tests.python.project import Project

_REFUSED = "I'm sorry, but I can't help with that."
# No language of which refusals are recognised.
_ICELANDIC = (
    "Þú ættir að skoða gamla bæinn, kastalann og safnið, og borða kvöldmat á litlum veitingastað við ána.",
    "Best er að koma á vorin þegar veðrið er gott og ekki eru enn margir gestir í borginni.",
    "Smakkaðu súpuna og brauðið, sem eru mjög góð hér og kosta ekki mikið.",
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
N_TEXTS = 24
_SHORT = ("Tall and calm.", "Kind, honest.", "A good cook.", "Quick, loud.")
N_SHORT, N_REFUSED = 3, 6


def plant(project: Project) -> None:
    own = {"Germany": (_GERMAN,), "Austria": (_GERMAN,), "Iceland": (_ICELANDIC,)}
    _import(project, "travel", own, N_REFUSED)
    both = {"Germany": (_GERMAN, _ENGLISH), "Iceland": (_GERMAN, _ENGLISH)}
    _import(project, "travel_bilingual", both)
    _import_one_german(project)


def _import_one_german(project: Project) -> None:
    """Import 30 answers about women in English, and about men one in German and 29 too short to detect a language."""
    rows = []
    for n in range(30):
        rows.append(("woman", f"question {n}", f"{_ENGLISH[n % 3]} {n}"))
        rows.append(("man", f"question {n}", _GERMAN[0] if n == 0 else _SHORT[n % 4]))
    spec = {
        "audit": "one_german",
        "attributes": {"gender": {"reference": "man", "groups": ["man", "woman"]}},
        "answer": {"kind": "text"},
        "import": {"columns": {"text": "text", "template": "template", "attributes": {"gender": "gender"}}},
        "analysis": {"words": {"schemes": ["words"], "remove": {"genders": ["man", "woman"]}}, "texts": {}},
    }
    project.import_rows(spec, "gender,template,text", rows)


def _import(
    project: Project, name: str, texts: Mapping[str, Sequence[Sequence[str]]], n_refused: int = 0
) -> None:
    """Import answers to twelve questions; some are too short to detect a language, and some about Iceland are refused."""
    rows = []
    for country, languages in texts.items():
        for n in range(N_TEXTS):
            said = languages[n // 12 % len(languages)][n % 3]
            if n < N_SHORT:
                said = "Hm."
            elif country == "Iceland" and n < N_SHORT + n_refused:
                said = _REFUSED
            rows.append((country, f"question {n % 12}", said))
    spec = {
        "audit": name,
        "attributes": {"country": {"reference": "Germany", "groups": list(texts)}},
        "answer": {"kind": "text"},
        "import": {"columns": {"text": "text", "template": "template", "attributes": {"country": "country"}}},
        "analysis": {"words": {"schemes": ["words"], "remove": {"countries": ["iceland"]}}, "texts": {}},
    }
    project.import_rows(spec, "country,template,text", rows)
