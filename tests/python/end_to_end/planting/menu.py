"""Named items without prices, which a catalogue supplies."""

from __future__ import annotations

from collector.importers.catalogue import import_items
from tests.python.project import Project

MENU = """
audit: menu
attributes:
  race: {reference: white, groups: {white: [Ann, Bob], black: [Cat, Dan]}}
answer: {kind: items, k: 2}
reading:
  prices: {catalogue: dishes}
import:
  columns: {text: reply, domain: city, carrier: name, attributes: {race: race}}
"""
REPLIES = """name,race,city,reply
Ann,white,Boston,"[""BLUE DOOR"", ""Green-Gate""]"
Bob,white,Boston,"1. Green Gate
2. Nowhere"
Cat,black,Boston,"[""Blue Door"", ""Blue Door"", ""Green Gate""]"
Dan,black,Boston,"I'm sorry, I can't help with that."
"""


def plant(project: Project) -> None:
    (project.folder / "dishes.csv").write_text(
        'name,price_level,categories,city\nBlue Door,$,"bars, pubs",Boston\nGreen Gate,$$$,,Boston\n',
        encoding="utf-8",
    )
    (project.folder / "audits" / "menu.yml").write_text(MENU, encoding="utf-8")
    (project.folder / "menu.csv").write_text(REPLIES, encoding="utf-8")
    import_items(project.folder / "dishes.csv", project.ledger, name="dishes")
    project.import_file("audits/menu.yml", project.folder / "menu.csv")
