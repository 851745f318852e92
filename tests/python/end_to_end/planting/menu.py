"""Named items without prices, which a catalogue supplies."""

from __future__ import annotations

from collector.importers.catalogue import import_items
from collector.importers.predictions import import_predictions
from tests.python.project import Project

MENU = """
audit: menu
attributes:
  race: {reference: white, groups: {white: [Ann, Bob], black: [Cat, Dan]}}
answer: {kind: items, k: 2}
analysis:
  prices: {catalogue: dishes}
import:
  columns: {text: reply, domain: city, descriptor: name, attributes: {race: race}}
"""
REPLIES = """name,race,city,reply
Ann,white,Boston,"[""BLUE DOOR"", ""Green-Gate""]"
Bob,white,Boston,"1. Green Gate
2. Nowhere"
Cat,black,Boston,"[""Blue Door"", ""Blue Door"", ""Green Gate""]"
Dan,black,Boston,"I'm sorry, I can't help with that."
"""
# Two users; the second user's text is about a venue that the recommender cannot name.
PREDICTIONS = """city,review_id,user_id,business_id,predicted_business_id,rank,popularity_rank,category_precision_at_5,\
category_precision_at_10,category_precision_at_20,category_r_precision,category_map,category_mrr,category_ndcg
Boston,r1,u1,blue,blue,1.0,2.0,0.2,0.1,0.1,1.0,1.0,1.0,1.0
Boston,r2,u1,green,blue,2.0,1.0,,,,,,,
Boston,r3,u2,grey,green,,,0.2,0.1,0.1,0.0,0.5,0.5,0.6
"""


MORE_REPLIES = """name,race,city,reply
Ann,white,Boston,"[""Blue Door"", ""Nowhere""]"
Bob,white,Boston,"[""Green Gate"", ""Blue Door""]"
Cat,black,Boston,"[""Blue Door"", ""Nowhere""]"
Dan,black,Boston,"[""Green Gate""]"
"""


def plant(project: Project) -> None:
    _write_dishes(project, "$$$")
    (project.folder / "audits" / "menu.yml").write_text(MENU, encoding="utf-8")
    (project.folder / "predictions.csv").write_text(PREDICTIONS, encoding="utf-8")
    import_predictions([project.folder / "predictions.csv"], project.ledger, name="waiter")
    _import(project, "menu.csv", REPLIES)


def plant_more(project: Project) -> None:
    """A second run, with other replies."""
    _import(project, "more.csv", MORE_REPLIES)


def raise_prices(project: Project) -> None:
    """The Green Gate becomes dearer than anything, and a pub."""
    _write_dishes(project, "$$$$", "pubs")


def _write_dishes(project: Project, price: str, category: str = "") -> None:
    dishes = project.folder / "dishes.csv"
    dishes.write_text(
        'name,price_level,categories,city,n_reviews\nBlue Door,$,"bars, pubs",Boston,7\n'
        f"Green Gate,{price},{category},Boston,2\n",
        encoding="utf-8",
    )
    import_items(dishes, project.ledger, name="dishes")


def _import(project: Project, name: str, replies: str) -> None:
    (project.folder / name).write_text(replies, encoding="utf-8")
    project.import_file("audits/menu.yml", project.folder / name)
