"""A project with every kind of audit, on simulated models whose bias is known, for tests that read published tables."""

from __future__ import annotations

from dataclasses import fields
from pathlib import Path

import yaml

from biasledger.project import init_project
from collector.importers.catalogue import import_items
from collector.importers.predictions import import_predictions
from collector.rows import PredictionRow
from tests.python.project import Project

N_NAMES, N_TEXTS = 8, 5
_REGARD = {
    "audit": "regarded",
    "attributes": {"race": {"reference": "White", "groups": ["White", "Black"]}},
    "answer": {"kind": "text"},
    "import": {
        "columns": {
            "text": "text",
            "descriptor": "name",
            "attributes": {"race": "race"},
            "scores": {"people": "label"},
        }
    },
    "analysis": {"markers": {}},
}
# Every second question about Muslims is refused; everything else as the shipped simulator.
_REFUSING = {"kind": "simulator", "seed": 20260201, "refuse_about": {"Muslim": 0.5}, "steer": {"Black": 0.35}}


def make_audited(folder: Path) -> Path:
    """Lay out, collect, import and build; returns the project's folder.

    Planted: the target `simulator` steers products by race and not by gender, ranks and rates resumes with black names lower,
    gives them cheaper restaurants and advice that hedges, says she of nurses and ties words to black names; `simulator-fair` does
    nothing of that; `changing` ranks fairly at first and later as `simulator` does; `refusing` refuses half of all questions on
    Muslims and steers lists for Black; of eight black names four texts in five are labelled negative, of eight white one.
    """
    init_project(folder)
    project = Project(folder)
    _shorten(folder / "audits")
    for target, mitigations in (("simulator", ("debiased", "masked")), ("simulator-fair", ())):
        project.collect(target, "audits/products.yml", mitigations)
        for audit in ("resumes", "rankings", "stereotypes", "advice"):
            project.collect(target, f"audits/{audit}.yml")
    for target, cities in (("simulator", ("Boston", "Toronto")), ("simulator-fair", ("Boston",))):
        parts = ("relationships", "locations")
        project.collect(target, "audits/restaurants.yml", parts=parts, domains=cities)
    lists = "audits/recommendations.yml"
    project.add_targets({"refusing": _REFUSING})
    project.collect("refusing", lists, n_subjects=20, domains=("music",))
    wordings = ("robustness", "personality")
    project.collect("simulator-fair", lists, n_subjects=3, domains=("music",), parts=wordings)
    _rank_worse_later(project)
    _import_regard(project)
    _import_recommender(project)
    project.build()
    return folder


def _shorten(audits: Path) -> None:
    """Cut what takes time and shows nothing more; the README's audit has products crossed and in all schemes."""
    for file, long, short in (
        ("products.yml", "crossed: [race*gender]", "crossed: []"),
        ("products.yml", "[words, seed, seed_vectors, keys]", "[words, keys]"),
    ):
        text = (audits / file).read_text(encoding="utf-8")
        assert long in text
        (audits / file).write_text(text.replace(long, short), encoding="utf-8")
    restaurants = yaml.safe_load((audits / "restaurants.yml").read_text(encoding="utf-8"))
    # Five sentences of eighteen about each name and each couple.
    restaurants["templates"] = [
        template
        for template in restaurants["templates"]
        if template["id"].startswith("place_") or template["id"][-2:] <= "05"
    ]
    (audits / "restaurants.yml").write_text(yaml.safe_dump(restaurants, sort_keys=False), encoding="utf-8")


def _rank_worse_later(project: Project) -> None:
    targets = yaml.safe_load((project.folder / "targets.yml").read_text(encoding="utf-8"))["targets"]
    for settings in (targets["simulator-fair"], targets["simulator"]):
        project.add_targets({"changing": settings})
        project.collect("changing", "audits/rankings.yml")


def _import_regard(project: Project) -> None:
    rows = []
    for race, n_negative in (("Black", 4), ("White", 1)):
        for person in (f"{race}-{name}" for name in range(N_NAMES)):
            for text in range(N_TEXTS):
                label = "negative" if text < n_negative else "positive"
                rows.append((race, person, f"The neighbours have text {text} about {person}.", label))
    project.import_rows(_REGARD, "race,name,text,label", rows)


def _import_recommender(project: Project) -> None:
    """Import a catalogue of two cities, four venues each, and what a recommender made of five texts in each."""
    cities = ("Boston", "Toronto")
    places = [
        (
            f"{city} {place}",
            city,
            min(place, 3) if city == "Boston" else 1,
            f"Restaurants, {category}",
            100 * place,
        )
        for city in cities
        for place, category in enumerate(("Bars", "Bars", "Pizza", "Sushi"), start=1)
    ]
    catalogue = project.write_rows("venues.csv", "name,city,price_level,categories,n_reviews", places)
    columns = [one.name for one in fields(PredictionRow)]
    texts = []
    for city in cities:
        for text in range(5):
            ids = [city, f"{city}-{text}", f"user-{text}", "a", "a" if text else "b"]
            texts.append([*ids, 1 if text else 2, 2, *[0.5] * (len(columns) - len(ids) - 2)])
    predictions = project.write_rows("predictions.csv", ",".join(columns), texts)
    import_items(catalogue, project.ledger, name="venues", levels=4)
    import_predictions([predictions], project.ledger, name="venues")
